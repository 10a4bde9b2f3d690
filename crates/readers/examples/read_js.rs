//! Measures how fast JavaScript files are read: `cargo run --release --example read_js -- FILE…`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a tool for profiling"
)]

use std::time::Instant;

use plugward_readers::js::{JsOptions, read};

fn main() {
    let (mut bytes, mut nodes, mut seconds) = (0_usize, 0_usize, 0.0);
    for path in std::env::args().skip(1) {
        let Ok(source) = std::fs::read(&path) else { continue };
        let start = Instant::now();
        let reading = read(&source, JsOptions::for_path(&path));
        seconds += start.elapsed().as_secs_f64();
        bytes = bytes.saturating_add(source.len());
        nodes = nodes.saturating_add(reading.program.len());
        if let Some(at) = reading.stopped {
            println!("{path}: stopped at {at}");
        }
    }
    println!("{bytes} bytes, {nodes} expressions, {:.0} bytes/s", bytes as f64 / seconds);
}
