//! Measures how fast Python files are read: `cargo run --release --example read_py -- FILE…`.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "an example has no caller that gives it bytes and takes its result"
)]

use std::hint::black_box;
use std::time::Instant;

use plugward_readers::py::{PyOptions, read};

fn main() -> std::io::Result<()> {
    let files = std::env::args().skip(1).map(std::fs::read).collect::<Result<Vec<_>, _>>()?;
    let bytes: usize = files.iter().map(Vec::len).sum();
    let (mut nodes, mut best) = (0_usize, u128::MAX);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let read = |file: &Vec<u8>| black_box(read(file, PyOptions::default())).program.len();
        nodes = files.iter().map(read).sum();
        best = best.min(start.elapsed().as_micros());
    }
    let speed = u128::try_from(bytes).unwrap_or(0).checked_div(best).unwrap_or(0);
    println!("{bytes} bytes, {nodes} expressions, {speed} MB/s");
    Ok(())
}

/// The number of rounds. The fastest one counts, because other processes slow some rounds down.
const ROUNDS: usize = 5;
