//! The `plugward` command. It checks plugins through the public API of the loader, as any other host can.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "columns, counts and offsets of texts in memory cannot overflow"
)]

mod access;
mod advice;
mod args;
mod command_host;
mod diagnostic;
mod failure;
mod field_labels;
mod host;
mod html;
mod installed;
mod json;
mod machine;
mod out;
mod output_file;
mod places;
mod progress;
mod prompt;
mod report;
mod sarif;
mod settings;
mod settings_file;
mod starts;
mod stores;
mod table;
mod text;
mod trust_roots;
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
    plugward_loader::launch::run_if_launcher();
    // Without the handler, an interrupt still ends the program, but by a signal instead of exit code 130.
    ctrlc::set_handler(|| {
        // An open question handles the interrupt itself, so that the earlier answers are stored.
        // A running plugin is shut down first.
        if prompt::interrupt() || starts::interrupt() {
            return;
        }
        verbs::hook::end_running();
        std::process::exit(130);
    })
    .unwrap_or_default();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(error),
    };
    let loudness = if cli.global.quiet { -1 } else { i8::try_from(cli.global.verbose).unwrap_or(i8::MAX) };
    let mut out = Out::new(cli.global.color, loudness, cli.global.output.clone());
    let host = Host::new(&cli.global).inspect_err(|failure| verbs::mcp::answer_failure(&cli.verb, failure));
    let outcome = host.and_then(|mut host| {
        // These verbs write the file of `--policy`. It need not exist yet, so it is not read as settings.
        if matches!(cli.verb, Verb::Suppress(_) | Verb::Unsuppress(_)) {
            host.policy_use = PolicyUse::Write;
        }
        host.enforce(cli.verb.enforce());
        let outcome = run(&cli.verb, &host, &mut out);
        starts::flush_errors();
        // A run can read the settings several times. Their warnings are collected, so that each is printed once.
        for warning in host.warnings.take() {
            out.report(&warning);
        }
        outcome
    });
    let outcome = match (outcome, &cli.verb) {
        // The host reads an answer, and takes another exit code for a failed scan.
        (Err(failure), Verb::Gate { verb }) if verbs::gate::answers(verb) => {
            verbs::gate::block(&failure, &mut out)
        }
        (outcome, _) => outcome,
    };
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

/// Prints help, a version or a usage error. Help and versions exit with 0, and usage errors with 2.
fn usage(mut error: clap::Error) -> ExitCode {
    args::add_tip(&mut error);
    let code = u8::try_from(error.exit_code()).unwrap_or(2);
    if code != 0 {
        verbs::mcp::answer_usage(std::env::args_os());
    }
    match error.print() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            write_failed(&error);
            ExitCode::from(with_failed_write(code))
        }
        _ => ExitCode::from(code),
    }
}

/// Returns the exit code of a verb whose result could not be written.
///
/// A refusal stays a refusal: of several codes, the first of 7, 4, 6, 5, 2, 1 and 3 applies.
pub(crate) const fn with_failed_write(code: u8) -> u8 {
    if matches!(code, 0 | 3) { 1 } else { code }
}

/// Writes to standard error. A closed one is ignored, since there is no other place to report to.
pub(crate) fn write_error(text: &str) {
    let _nowhere_left = io::stderr().write_all(text.as_bytes());
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
    trust_roots::refuse(verb).inspect_err(|failure| verbs::mcp::answer_failure(verb, failure))?;
    // Rows of the user decide which hosts there are. A verb that needs the settings reports what is wrong in them.
    let _reported_by_the_verb = settings::Settings::read(host);
    match verb {
        Verb::Check(args) => verbs::check::run(args, host, out),
        Verb::Run(args) => verbs::run::run(args, host, out),
        Verb::Scan(args) => verbs::scan::run(args, host, out),
        Verb::List(args) => verbs::list::run(args, host, out),
        Verb::Explain(args) => verbs::explain::run(args, host, out),
        Verb::Info(args) => verbs::info::run(args, host, out),
        Verb::Diff(args) => verbs::diff::run(args, host, out),
        Verb::Review(args) => verbs::review::run(args, host, out),
        Verb::Accept(args) => verbs::decide::accept(args, host, out),
        Verb::Forget(args) => verbs::decide::forget(args, host, out),
        Verb::Deny(args) => verbs::decide::deny(args, host, out),
        Verb::Undeny(args) => verbs::decide::undeny(args, host, out),
        Verb::Audit(args) => verbs::audit::run(args, host, out),
        Verb::Approve(args) => verbs::approve::approve(args, host, out),
        Verb::Unapprove(args) => verbs::approve::unapprove(args, host, out),
        Verb::Suppress(args) => verbs::suppress::suppress(args, host, out),
        Verb::Unsuppress(args) => verbs::suppress::unsuppress(args, host, out),
        Verb::Unrevoke(args) => verbs::decide::unrevoke(args, host, out),
        Verb::Revoke(args) => verbs::decide::revoke(args, host, out),
        Verb::Lock(args) => verbs::lock::run(args, host, out),
        Verb::Redact(args) => verbs::redact::run(args, out),
        Verb::Ledger { what } => verbs::ledger::run(what, host, out),
        Verb::Hook { verb } => verbs::hook::run(verb, host, out),
        Verb::Gate { verb } => verbs::gate::run(verb, host, out),
        Verb::Command { verb } => verbs::command::run(verb, host, out),
        Verb::Mcp { verb } => verbs::mcp::run(verb, host, out),
        Verb::Launch(args) => verbs::launch::run(args, host, out),
        Verb::Guest { verb } => verbs::guest::run(verb, host, out),
        Verb::Module { verb } => verbs::module::run(verb, host, out),
        Verb::Which(args) => verbs::which::run(args, host, out),
        Verb::Install(args) => verbs::install::install(args, host, out),
        Verb::Update(args) => verbs::install::update(args, host, out),
        Verb::Remove(args) => verbs::install::remove(args, host, out),
        Verb::Pin(args) => verbs::pin::run(args, host, out),
        Verb::Registry { verb } => verbs::registry::run(verb, host, out),
        Verb::Digest(args) => verbs::digest::run(args, host, out),
        Verb::Session(args) => verbs::session::run(args, host, out),
        Verb::Doctor(args) => verbs::doctor::run(args, out),
        Verb::Config { verb } => verbs::config::run(verb, host, out),
        Verb::Codes(args) => verbs::codes::run(args, out),
        Verb::Completions { shell } => verbs::completions::run(*shell, out),
        Verb::Man => verbs::completions::man(out),
    }
}
