//! The command `plugward`: the reference host. Everything it does, it does through the public API of the loader.

mod args;
mod escape;
mod failure;
mod host;
mod html;
mod json;
mod out;
mod progress;
mod sarif;
mod settings;
mod stores;
mod table;
mod verbs;

use std::io;
use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Cli, Verb};
use crate::failure::Failure;
use crate::host::Host;
use crate::out::{Out, REFUSE, paint};

fn main() -> ExitCode {
    // Without the handler an interrupt ends the program all the same, only with a signal instead of 130.
    ctrlc::set_handler(|| std::process::exit(130)).unwrap_or_default();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let loudness = if cli.global.quiet { -1 } else { i8::try_from(cli.global.verbose).unwrap_or(i8::MAX) };
    let mut out = Out::new(cli.global.color, loudness, cli.global.output.clone());
    let host = Host::new(&cli.global);
    let outcome = run(&cli.verb, &host, &mut out);
    let (code, failure) = match outcome {
        Ok(code) => (code, None),
        // Whoever read the result has seen enough of it.
        Err(failure) if failure.is_closed_pipe() => (0, Some(failure)),
        Err(failure) => (failure.exit(), Some(failure)),
    };
    if let Some(failure) = failure {
        if failure.is_closed_pipe() {
            return ExitCode::from(code);
        }
        out.complain(&format!("{} {}", paint(REFUSE, "error:"), escape::block(&failure.to_string())));
    } else if let Err(error) = out.finish()
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        return complain_plainly(&error);
    }
    ExitCode::from(code)
}

/// Help and versions go to standard output and are no error; everything else is exit 2.
fn usage(error: &clap::Error) -> ExitCode {
    match error.print() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => complain_plainly(&error),
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)),
    }
}

#[expect(clippy::print_stderr, reason = "the last resort where no stream of ours works")]
fn complain_plainly(error: &io::Error) -> ExitCode {
    eprintln!("error: write the result: {error}");
    ExitCode::from(1)
}

fn run(verb: &Verb, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    match verb {
        Verb::Check(args) => verbs::check::run(args, host, out),
        Verb::Scan(args) => verbs::scan::run(args, host, out),
        Verb::List(args) => verbs::list::run(args, host, out),
        Verb::Explain(args) => verbs::explain::run(args, host, out),
        Verb::Info(args) => verbs::info::run(args, host, out),
        Verb::Diff(args) => verbs::diff::run(args, host, out),
        Verb::Accept(args) => verbs::decide::accept(args, host, out),
        Verb::Forget(args) => verbs::decide::forget(args, host, out),
        Verb::Deny(args) => verbs::decide::deny(args, host, out),
        Verb::Allow(args) => verbs::decide::allow(args, host, out),
        Verb::Revoke(args) => verbs::decide::revoke(args, host, out),
        Verb::Lock(args) => verbs::lock::run(args, host, out),
        Verb::Redact(args) => verbs::redact::run(args, out),
        Verb::Ledger { what } => verbs::ledger::run(what, host, out),
        Verb::Digest(args) => verbs::digest::run(args, host, out),
        Verb::Codes(args) => verbs::codes::run(args, out),
        Verb::Completions { shell } => verbs::completions::run(*shell, out),
        Verb::Man => verbs::completions::man(out),
    }
}
