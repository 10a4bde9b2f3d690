//! `plugward redact`: standard input to standard output with secrets taken out.

use std::io::{self, Read as _, Write as _};

use plugward_loader::redact::{Firewall, SecretFinding, RuleSelection, Settings};

use crate::args::RedactArgs;
use crate::failure::Failure;
use crate::out::Out;
use crate::output_file;

/// Bytes that are read at a time.
const CHUNK: usize = 32 << 10;
/// Bytes that are put out at a time, about: the stream settles whole blocks.
const SETTLED: usize = 160 << 10;
/// Bytes of the report that are kept; what is found beyond it is counted.
const REPORT: usize = 16 << 20;

pub(crate) fn run(args: &RedactArgs, out: &mut Out) -> Result<u8, Failure> {
    let firewall = Firewall::new(RuleSelection::all(), Settings::reference())
        .map_err(|error| Failure::internal(format!("make the rules: {error}")).code(error.code()))?;
    let mut stream = firewall.stream();
    let mut report = Report { lines: args.report.as_ref().map(|_| String::new()), ..Report::default() };
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut chunk = vec![0; CHUNK];
    let mut settled = Vec::with_capacity(SETTLED);
    let mut closed = false;
    loop {
        let read = input.read(&mut chunk)?;
        if read == 0 {
            break;
        }
        stream.push(chunk.get(..read).unwrap_or_default(), &mut settled);
        // A full chunk means that more waits; then whole blocks are faster, and nobody can read along anyway.
        if args.stream && read < CHUNK {
            stream.settle(&mut settled);
        }
        // The report covers what was read, whether or not anyone reads the output.
        report.add(stream.take_findings());
        let written =
            output.write_all(&settled).and_then(|()| if args.stream { output.flush() } else { Ok(()) });
        if is_closed(written)? {
            closed = true;
            break;
        }
        settled.clear();
    }
    if !closed {
        report.add(stream.finish(&mut settled));
        is_closed(output.write_all(&settled).and_then(|()| output.flush()))?;
    }
    if let (Some(path), Some(lines)) = (&args.report, &report.lines) {
        output_file::write(path, lines.as_bytes())
            .map_err(|error| Failure::internal(format!("cannot write the report: {error}")))?;
    }
    if report.left_out > 0 {
        out.complain(&format!("note: {} more findings are not in the report", report.left_out));
    }
    out.say(&format!("{} redacted", crate::text::count(report.count, "secret")));
    Ok(0)
}

/// Returns `true` if the reader of standard output is gone, which ends the output and is not a failure.
fn is_closed(written: io::Result<()>) -> io::Result<bool> {
    match written {
        Ok(()) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(true),
        Err(error) => Err(error),
    }
}

#[derive(Default)]
struct Report {
    /// Where a report was asked for.
    lines: Option<String>,
    count: usize,
    left_out: usize,
}

impl Report {
    fn add(&mut self, found: Vec<SecretFinding>) {
        for one in found {
            self.count = self.count.saturating_add(1);
            let Some(lines) = &mut self.lines else { continue };
            if lines.len() > REPORT {
                self.left_out = self.left_out.saturating_add(1);
                continue;
            }
            lines.push_str(&one.to_json_line());
            if !lines.ends_with('\n') {
                lines.push('\n');
            }
        }
    }
}
