//! `plugward redact`: copies standard input to standard output without secrets.

use std::io::{self, Read as _, Write as _};

use plugward_loader::Part;
use plugward_loader::redact::{Firewall, RuleSelection, SecretFinding, Settings};

use crate::args::RedactArgs;
use crate::failure::Failure;
use crate::out::Out;
use crate::output_file;

/// The size of a read.
const CHUNK: usize = 32 << 10;
/// The initial capacity for settled output. The stream settles whole blocks, which are about this large.
const SETTLED: usize = 160 << 10;
/// The most bytes of the report in memory. Further findings are only counted, since input can consist of secrets.
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
        stream.push(chunk.part(..read), &mut settled);
        // A full chunk means that more input waits. Whole blocks are faster then, and the next chunk follows at once.
        if args.stream && read < CHUNK {
            stream.settle(&mut settled);
        }
        // The report covers all input, even if the output is closed.
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
    /// The lines of the report, if `--report` is given.
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
