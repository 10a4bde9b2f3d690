//! The binary `cargo-plugward-fence`.

use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut err = std::io::stderr().lock();
    let today = today();
    let mut streams = plugward_fence::Streams { out: &mut out, err: &mut err, today };
    let code = plugward_fence::command(std::env::args_os().skip(1), &mut streams);
    if out.flush().is_err() {
        return ExitCode::from(2);
    }
    ExitCode::from(code)
}

/// Returns the current day in UTC, as `YYYY-MM-DD`.
#[expect(clippy::disallowed_methods, reason = "the clock is read here and passed down")]
fn today() -> String {
    let seconds =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    plugward_fence::day_of(seconds)
}
