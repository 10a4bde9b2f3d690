//! The command `plugward`: the reference host. It uses only the public API of the loader.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "columns, counts and offsets of texts in memory cannot overflow"
)]

mod advice;
mod args;
mod diagnostic;
mod escape;
mod failure;
mod field_labels;
mod host;
mod html;
mod json;
mod out;
mod output_file;
mod progress;
mod prompt;
mod report;
mod sarif;
mod settings;
mod settings_file;
mod stores;
mod table;
mod text;
mod verbs;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Cli, Verb};
use crate::diagnostic::Diagnostic;
use crate::failure::Failure;
use crate::host::{Host, PolicyUse};
use crate::out::Out;

fn main() -> ExitCode {
    // Without the handler an interrupt ends the program all the same, only with a signal instead of 130.
    ctrlc::set_handler(|| {
        // A question takes the interrupt, so that the answers before it are stored.
        if prompt::interrupt() {
            return;
        }
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
    let outcome = Host::new(&cli.global).and_then(|mut host| {
        if matches!(cli.verb, Verb::Suppress(_) | Verb::Unsuppress(_)) {
            host.policy_use = PolicyUse::Write;
        }
        let outcome = run(&cli.verb, &host, &mut out);
        for warning in host.warnings.take() {
            out.report(&warning);
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
            out.complain(failure.render(out.width).trim_end());
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
    let mut failure = Diagnostic::error(format!("cannot write the result: {error}"));
    if let Some(refused) =
        error.get_ref().and_then(|inner| inner.downcast_ref::<output_file::OutputRefused>())
    {
        failure = failure.help(&refused.help);
    }
    let text = anstream::adapter::strip_str(&failure.render(80)).to_string();
    let _nowhere_left = write!(io::stderr(), "{text}");
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
        Verb::Undeny(args) => verbs::decide::undeny(args, host, out),
        Verb::Approve(args) => verbs::decide::approve(args, host, out),
        Verb::Suppress(args) => verbs::suppress::suppress(args, host, out),
        Verb::Unsuppress(args) => verbs::suppress::unsuppress(args, host, out),
        Verb::Unrevoke(args) => verbs::decide::unrevoke(args, host, out),
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
