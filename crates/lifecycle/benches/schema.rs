//! The time to read the schema of a plugin: `cargo bench -p plugward-lifecycle`.
//!
//! The source is `fetch/index.ts` of the plugins that `PLUGWARD_TEST_HYPERAGENT` names (see the test `npm_plugins`), or
//! else one of the same size, whose schema is in the middle.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark reads the clock and a file, prints, and stops if it cannot set up"
)]

use std::hint::black_box;
use std::time::Instant;

use plugward_lifecycle::Schema;

fn main() {
    let source = match std::env::var("PLUGWARD_TEST_HYPERAGENT") {
        Ok(directory) => std::fs::read_to_string(format!("{directory}/fetch/index.ts")).unwrap(),
        Err(_) => made(),
    };
    let fields = Schema::from_source(&source).unwrap().unwrap().fields().len();
    let read = |()| {
        let start = Instant::now();
        black_box(Schema::from_source(black_box(&source)).unwrap());
        start.elapsed()
    };
    let best = std::iter::repeat_n((), 101).map(read).min().unwrap_or_default();
    println!("from_source of {} bytes with {fields} fields: {best:?}", source.len());
}

fn made() -> String {
    let code =
        "  const words = text.split(/[ `'\"]+/).map((word) => `${word.length}`); // each word\n".repeat(850);
    let field = |number| {
        format!("  key{number}: {{ type: \"number\", description: \"Limit.\", default: {number} }},\n")
    };
    let fields: String = (0..26).map(field).collect();
    format!(
        "function before(text) {{\n{code}}}\nexport const SCHEMA = {{\n{fields}}};\nfunction after(text) {{\n{code}}}\n"
    )
}
