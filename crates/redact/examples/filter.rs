//! Copies standard input to standard output without secrets, and prints the findings to standard error.

use std::io::{Read as _, Write as _};

use plugward_redact::{Firewall, RuleSelection, Settings};

#[expect(clippy::print_stderr, reason = "the report of a filter goes to standard error")]
fn main() -> std::io::Result<()> {
    let firewall =
        Firewall::new(RuleSelection::all(), Settings::reference()).map_err(std::io::Error::other)?;
    let mut stream = firewall.stream();
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let (mut chunk, mut sink) = (vec![0; 64 * 1024], Vec::new());
    loop {
        let count = input.read(&mut chunk)?;
        stream.push(chunk.get(..count).unwrap_or_default(), &mut sink);
        output.write_all(&sink)?;
        sink.clear();
        for found in stream.take_findings() {
            eprintln!("{}", found.to_json_line());
        }
        if count == 0 {
            break;
        }
    }
    let found = stream.finish(&mut sink);
    output.write_all(&sink)?;
    for found in found {
        eprintln!("{}", found.to_json_line());
    }
    Ok(())
}
