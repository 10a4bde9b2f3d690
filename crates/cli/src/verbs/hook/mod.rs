//! `plugward hook plan | fire`: the hooks of agent hosts, in one order.

mod fire;
mod model;
mod plan;
mod start;

use plugward_loader::hook_events::{Event, Plan, PlanBuilder, Scope};
use plugward_loader::manifest::Dialect;
use plugward_loader::nearest;

use crate::args::{HookSources, HookVerb};
use crate::diagnostic::{Diagnostic, Location};
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::verbs::shared;
use plugward_loader::escape::line;

pub(crate) use fire::end_running;

/// The most bytes of a hooks file that are read. It is above the parser's limit of 1 MiB, so that the parser reports it.
const FILE: u64 = 4 << 20;

pub(crate) fn run(verb: &HookVerb, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    match verb {
        HookVerb::Plan(args) => plan::run(args, host, out),
        HookVerb::Fire(args) => fire::run(args, host, out),
    }
}

fn event_of(word: &str) -> Result<Event, Failure> {
    Event::from_word(word).ok_or_else(|| {
        let words = Event::ALL.iter().flat_map(|event| [event.as_str(), event.pascal()]);
        let all = || Event::ALL.iter().map(|event| event.as_str()).collect::<Vec<_>>().join(", ");
        let next = nearest(word, words)
            .map_or_else(|| format!("use one of {}", all()), |near| format!("did you mean `{near}`?"));
        Failure::usage(format!("no such event: `{}`", line(word))).code("hook/event").help(next)
    })
}

/// Refuses a command line without a source.
fn need_source(sources: &HookSources) -> Result<(), Failure> {
    if sources.dirs.is_empty() && sources.hooks.is_empty() && sources.project_hooks.is_empty() {
        let next = "name their source with --in DIR, --hooks FILE or --project-hooks FILE";
        return Err(Failure::usage("no source of hooks").help(next));
    }
    Ok(())
}

/// Adds the files of the command line, in their order.
fn add_files(plan: &mut PlanBuilder, sources: &HookSources) -> Result<(), Failure> {
    let codex = sources.finding.dialect.as_deref() == Some("codex");
    let user = sources.hooks.iter().map(|path| (Scope::User, path));
    let project = sources.project_hooks.iter().map(|path| (Scope::Project, path));
    for (scope, path) in user.chain(project) {
        let dialect = match path.extension() {
            Some("toml") => Dialect::Gnoma,
            Some("json") if codex => Dialect::Codex,
            Some("json") => Dialect::Claude,
            _ => {
                let path = line(path.as_str());
                return Err(Failure::usage(format!(
                    "cannot read {path}: expected a file name with `.toml` or `.json`"
                )));
            }
        };
        let bytes = host::named_file(path, FILE)?;
        // A report is the same on every machine, so it contains no absolute path.
        let label = if path.is_absolute() { path.file_name().unwrap_or_default() } else { path.as_str() };
        plan.file(scope, dialect, label, &bytes);
    }
    Ok(())
}

fn user_file_is_refused(plan: &Plan) -> bool {
    plan.refused().iter().any(|source| source.scope == Scope::User)
}

/// The notes and the refused sources, for people.
fn notes(plan: &Plan, sources: &HookSources, width: usize) -> String {
    let mut out = String::new();
    for note in plan.notes() {
        let warning = Diagnostic::warning(note.message.clone()).code(note.code);
        let warning = warning.at(Location::path(note.at.clone())).help(note.help);
        out.push_str(&format!("\n{}", warning.render(width)));
    }
    let dirs: Vec<String> = sources.dirs.iter().map(|dir| shared::quoted(dir.as_str())).collect();
    for one in plan.refused() {
        let mut error = Diagnostic::error(format!("no hook of {} runs", one.source)).code(one.code.clone());
        if one.scope == Scope::Plugin && !one.code.starts_with("hook/") {
            // With the same trust mode: another mode could pin what this one refused.
            let trust = sources.trust.and_then(|trust| clap::ValueEnum::to_possible_value(&trust));
            let trust = trust.map(|trust| format!("--trust {} ", trust.get_name())).unwrap_or_default();
            error = error.help(&format!("plugward check {trust}{}", dirs.join(" ")));
        }
        out.push_str(&format!("\n{}", error.render(width)));
    }
    out
}
