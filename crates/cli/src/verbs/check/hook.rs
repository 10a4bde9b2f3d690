//! `plugward check --hook`: answers a hook of a host.

use std::io::{IsTerminal as _, Read as _};

use camino::{Utf8Path, Utf8PathBuf};
use plugward_loader::{Decision, Report};

use super::{Judgement, Target, judge};
use crate::advice;
use crate::args::CheckArgs;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::installed::ProjectScope;
use crate::out::Out;
use crate::places::PlacesUse;
use crate::settings::Settings;
use crate::trust_roots;
use crate::verbs::shared;
use plugward_loader::escape::line;

/// The time after which the answer is to block. A host waits longer than that for its hooks.
const LIMIT: std::time::Duration = std::time::Duration::from_secs(15);
/// The most lines on standard error. A host shows them to the user or the model.
const LINES: usize = 10;
/// The exit code with which a hook blocks.
const BLOCK: u8 = 2;

/// The most bytes that are read from standard input. The result of a tool can be in it.
const INPUT: u64 = 64 << 20;
/// How long plugward waits for it. A host writes it at once, and a hook that is started by hand has none.
const INPUT_WAIT: std::time::Duration = std::time::Duration::from_secs(1);

/// Returns the directory of the session that a host writes to the standard input of its hooks, as `cwd`. Other input than
/// an object is not from a host.
fn given_directory() -> Result<Option<Utf8PathBuf>, Failure> {
    if std::io::stdin().is_terminal() {
        return Ok(None);
    }
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().take(INPUT + 1).read_to_end(&mut bytes);
        send.send(read.map(|_| bytes))
    });
    let Ok(read) = receive.recv_timeout(INPUT_WAIT) else { return Ok(None) };
    let bytes = read.map_err(|error| Failure::internal(format!("standard input cannot be read: {error}")))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > INPUT {
        return Err(Failure::usage(format!("standard input has more than {} MiB", INPUT >> 20)));
    }
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return Ok(None);
    }
    let input: serde_json::Value = serde_json::from_slice(&bytes)
        .map_err(|error| Failure::usage(format!("standard input is not the JSON of a hook: {error}")))?;
    Ok(input.get("cwd").and_then(serde_json::Value::as_str).map(Utf8PathBuf::from))
}

/// Checks what a host would load. The exit code is 0 if all of it loads, and 2 otherwise, also for failures.
///
/// Nothing is written to standard output, because hosts pass it to the model.
pub(super) fn run(args: &CheckArgs, host: &Host, out: &mut Out) -> u8 {
    // A check that hangs must block as well. Nothing of this thread has to be kept.
    std::thread::spawn(|| {
        std::thread::sleep(LIMIT);
        crate::write_error("plugward: the check took more than 15 s, so this is blocked\n");
        std::process::exit(i32::from(BLOCK));
    });
    match answer(args, host, out) {
        Ok(lines) if lines.is_empty() => 0,
        Ok(lines) => {
            block(&lines, out);
            BLOCK
        }
        Err(failure) => {
            let text = failure.render(out.width);
            block(&text.lines().map(str::to_owned).collect::<Vec<_>>(), out);
            BLOCK
        }
    }
}

fn block(lines: &[String], out: &mut Out) {
    let more = lines.len().saturating_sub(LINES);
    let shown = if more > 0 { LINES - 1 } else { lines.len() };
    let mut text: Vec<String> = lines.iter().take(shown).cloned().collect();
    if more > 0 {
        text.push(format!("and {} more: plugward check", lines.len() - shown));
    }
    out.complain(&text.join("\n"));
}

/// Returns one line for each plugin that does not load.
fn answer(args: &CheckArgs, host: &Host, out: &mut Out) -> Result<Vec<String>, Failure> {
    let given = given_directory()?;
    let projects: Vec<&Utf8Path> = args.hosts.project.iter().chain(&given).map(AsRef::as_ref).collect();
    let moved = trust_roots::find(&projects)?;
    if !moved.projects.is_empty() {
        return Ok(moved.lines());
    }
    let settings = Settings::read(host)?;
    let mut scope = shared::scope(&args.hosts)?;
    scope.places = PlacesUse::Compare(host.state_dir()?.to_owned());
    // The working directory of a session can change, and its project does not.
    if let (ProjectScope::Here, Some(project)) =
        (&scope.project, host::session_projects().into_iter().next().or(given))
    {
        scope.project = ProjectScope::Named(project);
    }
    let target = Target::installed(&scope)?;
    // Nobody can answer a question here.
    let Judgement { report, .. } = judge(args, &target, &settings, &host.without_questions(), out)?;
    Ok(lines(&report))
}

fn lines(report: &Report) -> Vec<String> {
    let mut lines: Vec<String> = report
        .plugins
        .iter()
        .filter(|plugin| plugin.on && plugin.decision != Decision::Load)
        .map(|plugin| {
            let why = advice::codes(plugin);
            let name = host::display(&plugin.key);
            let next = match plugin.decision {
                // A review shows what is asked, and takes the answer.
                Decision::Ask => "plugward review".to_owned(),
                Decision::Load | Decision::Refuse => format!("plugward explain {}", shared::quoted(&name)),
            };
            format!("plugward: {} does not load ({why}): {next}", line(&name))
        })
        .collect();
    if lines.is_empty() && report.exit != 0 {
        let notice = report.notices.first().map_or("the check failed", |notice| notice.message.as_str());
        lines.push(format!("plugward: {}", line(crate::text::first_line(notice))));
    }
    lines
}
