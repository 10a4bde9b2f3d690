//! What hosts read and plugward does not judge: it is named once, so that silence is not mistaken for approval.

use std::collections::BTreeSet;

use crate::InstallProblemKind;
use crate::collector::{Collector, absolute, clean, join, place, shown};
use crate::source_file::Syntax;

/// The most places of one host that are named.
const MOST: usize = 8;

/// Adds one problem with the places of a host that exist and are not judged.
pub(crate) fn report(found: &mut Collector<'_>) {
    let row = found.row;
    // A variable can bring settings to a host that has nothing on this machine.
    report_variables(found);
    if !found.is_here() {
        return;
    }
    let mut places: BTreeSet<String> = BTreeSet::new();
    for named in &row.named {
        places
            .extend(paths(found, named).into_iter().filter(|path| found.machine.files.kind(path).is_some()));
    }
    for text in &row.imports {
        for path in paths(found, text) {
            if has_imports(found, &path) {
                places.insert(format!("what {path} imports"));
            }
        }
    }
    let Some(first) = places.first() else { return };
    let more = places.len().saturating_sub(MOST);
    // A report contains no absolute path of the project or the home directory.
    let inside =
        |path: &str, directory: &str| path.replace(&format!("{}/", directory.trim_end_matches('/')), "");
    let project = found.project_directories().into_iter().next();
    let tidy = |path: &String| {
        let own = project.as_ref().map_or_else(|| path.clone(), |project| inside(path, project));
        let home = format!("{}/", found.machine.home.trim_end_matches('/'));
        shown(&own.replace(&home, "~/"))
    };
    let list: Vec<String> = places.iter().take(MOST).map(tidy).collect();
    let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
    let message = format!("not judged: {}{rest}", list.join(", "));
    let record = place(first, "");
    found.report(found.draft(InstallProblemKind::NotJudged, record, message, "review them by hand"));
}

/// Adds a problem for each variable that moves something of the host, unless the reader follows it.
fn report_variables(found: &mut Collector<'_>) {
    let row = found.row;
    let is_set = |name: &&String| found.machine.environment.get(*name).is_some_and(|value| !value.is_empty());
    let set: Vec<&String> = row.variables.iter().filter(is_set).collect();
    // Gemini CLI's are those of its administrator, which its reader follows.
    for name in set.into_iter().filter(|_| row.id != "gemini") {
        let message = format!("the variable {name} is set, and what it names is not read");
        let help = "review what it names by hand, or unset the variable";
        let record = place(&format!("${name}"), "");
        found.report(found.draft(InstallProblemKind::NotRead, record, message, help));
    }
}

/// Returns the paths of a place of the table, whose notation is at the top of the table.
fn paths(found: &Collector<'_>, place: &str) -> Vec<String> {
    match place.split_once('/') {
        Some(("~", rest)) => vec![join(found.machine.home, rest)],
        Some(("@", rest)) => vec![join(&found.home, rest)],
        Some((".", rest)) => found.project_directories().iter().map(|at| join(at, rest)).collect(),
        _ => vec![place.to_owned()],
    }
}

/// Returns `true` if a text imports a file that exists: a word `@PATH` outside of code.
fn has_imports(found: &mut Collector<'_>, path: &str) -> bool {
    let Some(file) = found.open(path, Syntax::Text) else { return false };
    let Ok(text) = file.text() else { return false };
    let directory = path.rsplit_once('/').map_or("/", |(directory, _)| directory);
    let words = text.lines().filter(|line| !line.contains('`')).flat_map(str::split_whitespace);
    let mut targets = words.filter_map(|word| word.strip_prefix('@')).filter(|target| !target.is_empty());
    targets.any(|target| {
        let target = if target.starts_with(['~', '/']) {
            absolute(found.machine, target)
        } else {
            join(directory, target)
        };
        found.machine.files.kind(&clean(&target)).is_some()
    })
}
