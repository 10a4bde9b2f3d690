//! Benchmarks and tests of this workspace next to other crates, which no other package then has to build.
//!
//! `cargo test -p plugward-compare` compares results, and `cargo bench -p plugward-compare --bench NAME` compares times.
