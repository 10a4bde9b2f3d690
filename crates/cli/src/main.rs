//! The command `plugward`: the reference host. Everything it does, it does through the public API of the loader.

mod args;
mod escape;
mod failure;
mod field_labels;
mod host;
mod html;
mod json;
mod next_steps;
mod out;
mod output_file;
mod progress;
mod sarif;
mod settings;
mod settings_file;
mod stores;
mod table;
mod verbs;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Cli, Verb};
use crate::failure::Failure;
use crate::host::Host;
use crate::out::{Out, REFUSE, paint};

fn main() -> ExitCode {
    // Without the handler an interrupt ends the program all the same, only with a signal instead of 130.
    ctrlc::set_handler(|| {
        verbs::hook::end_running();
        std::process::exit(130);
    })
    .unwrap_or_default();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let loudness = if cli.global.quiet { -1 } else { i8::try_from(cli.global.verbose).unwrap_or(i8::MAX) };
    let mut out = Out::new(cli.global.color, loudness, cli.global.output.clone());
    let outcome = Host::new(&cli.global).and_then(|host| {
        let outcome = run(&cli.verb, &host, &mut out);
        for warning in host.warnings.take() {
            out.say(&escape::block(&warning));
        }
        outcome
    });
    match outcome {
        Ok(code) => match out.finish() {
            Ok(()) => ExitCode::from(code),
            Err(error) => {
                write_failed(&error);
                ExitCode::from(with_failed_write(code))
            }
        },
        Err(failure) => {
            out.complain(&format!("{} {}", paint(REFUSE, "error:"), escape::block(&failure.to_string())));
            ExitCode::from(failure.exit())
        }
    }
}

/// Help and versions go to standard output and are no error; everything else is exit 2.
fn usage(error: &clap::Error) -> ExitCode {
    let code = u8::try_from(error.exit_code()).unwrap_or(2);
    match error.print() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            write_failed(&error);
            ExitCode::from(with_failed_write(code))
        }
        _ => ExitCode::from(code),
    }
}

/// Of several codes the first of 7, 4, 6, 5, 2, 1 and 3 applies: a refusal stays one if its report cannot be written.
pub(crate) const fn with_failed_write(code: u8) -> u8 {
    if matches!(code, 0 | 3) { 1 } else { code }
}

pub(crate) fn write_failed(error: &io::Error) {
    // `eprintln` would panic if standard error is closed, and there is no other place to report to.
    let text = escape::block(&format!("error: write the result: {error}"));
    let _nowhere_left = writeln!(io::stderr(), "{text}");
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
        Verb::Hook { verb } => verbs::hook::run(verb, host, out),
        Verb::Digest(args) => verbs::digest::run(args, host, out),
        Verb::Codes(args) => verbs::codes::run(args, out),
        Verb::Completions { shell } => verbs::completions::run(*shell, out),
        Verb::Man => verbs::completions::man(out),
    }
}
