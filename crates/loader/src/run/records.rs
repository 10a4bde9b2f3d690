//! The problems of install records, as plugins and notices of the report.

use std::sync::Arc;

use plugward_installs::{HostState, InstallProblem, InstallProblemKind};
use plugward_types::{PlacePath, PluginKey};

use crate::discovery::discover::PluginPlace;
use crate::discovery::roots::{Reach, Root};
use crate::discovery::unmarked::PlaceForm;
use crate::report::Gate;
use crate::report::text::plain;
use crate::run::examined::Examined;
use crate::run::options::{CheckOptions, Trust};
use crate::run::outcome::{Notice, Weight};
use crate::run::rules::PluginRules;

/// What the problems of the records add to a run.
#[derive(Debug, Default)]
pub(crate) struct RecordNotes {
    /// Rows that are refused or need a decision.
    pub(crate) rows: Vec<Examined>,
    pub(crate) notices: Vec<Notice>,
    /// `true` if a record cannot be read. Its plugins are unknown, so the run must not succeed.
    pub(crate) has_failed: bool,
}

impl RecordNotes {
    /// Judges the problems of the records that the caller passed in.
    pub(crate) fn of(options: &CheckOptions, roots: &[Root], rules: &Arc<PluginRules>) -> Self {
        let mut notes = Self::default();
        for problem in options.installs.problems() {
            notes.add(problem, options.trust, roots, rules);
        }
        notes
    }

    fn add(&mut self, problem: &InstallProblem, trust: Trust, roots: &[Root], rules: &Arc<PluginRules>) {
        let message = plain(&problem.message).into_owned();
        let file = shown_path(&problem.record.file, roots);
        match problem.kind {
            InstallProblemKind::Unreadable => {
                self.has_failed = true;
                let message = format!(
                    "failed to read `{file}`: {message}; the plugins of {} do not load",
                    problem.host
                );
                self.notice(problem, format!("{message}\nnext: {}", problem.help));
            }
            InstallProblemKind::Id | InstallProblemKind::Row => {
                let at = if problem.record.pointer.is_empty() {
                    file
                } else {
                    format!("{file}#{}", plain(&problem.record.pointer))
                };
                self.row(problem, roots, rules, Weight::Integrity, format!("`{at}`: {message}"));
            }
            // Nothing is loaded of a plugin that is neither enabled nor on disk.
            InstallProblemKind::Missing if problem.state == HostState::Off => {}
            InstallProblemKind::Missing => match trust {
                Trust::Tofu => {
                    let name = problem.key.as_ref().map(ToString::to_string).unwrap_or_default();
                    self.notice(problem, format!("{name}: {message}\nnext: {}", problem.help));
                }
                Trust::Prompt => self.row(problem, roots, rules, Weight::Undecided, message),
                Trust::Locked => self.row(problem, roots, rules, Weight::Integrity, message),
            },
            InstallProblemKind::NotJudged => {
                self.notice(problem, format!("{}: {message}", problem.host));
            }
            InstallProblemKind::Leftover
            | InstallProblemKind::Newer
            | InstallProblemKind::NotRead
            | InstallProblemKind::Loosens => {
                self.notice(problem, format!("`{file}`: {message}"));
            }
        }
    }

    fn notice(&mut self, problem: &InstallProblem, message: String) {
        self.notices.push(Notice::new(problem.kind.code(), Gate::Discover, message));
    }

    fn row(
        &mut self,
        problem: &InstallProblem,
        roots: &[Root],
        rules: &Arc<PluginRules>,
        weight: Weight,
        message: String,
    ) {
        let number = roots.iter().position(|root| root.label == problem.host.as_str()).unwrap_or_default();
        // The row of an invalid id has no key of its own. Its record has a place, and the pointer tells rows apart.
        let record = format!("{}#{}", problem.record.file, problem.record.pointer.replace('/', "."));
        let Ok(real) = PlacePath::new(&record).or_else(|_| PlacePath::new("/")) else { return };
        let key = problem.key.clone().unwrap_or_else(|| PluginKey::Placed(real.clone()));
        let dir = real.as_str().trim_start_matches('/').to_owned();
        let reach = Reach { top: dir.clone(), outer: dir.clone(), project: None };
        let place = PluginPlace {
            root: number,
            dir,
            real,
            reach,
            form: PlaceForm::Marked,
            named: None,
            listed: None,
            further: Vec::new(),
            installed: None,
            broken: None,
        };
        let mut one = Examined::new(place, key, Arc::clone(rules));
        one.id = match &problem.key {
            Some(key) => key.to_string(),
            None => format!("{}:{}", problem.host, plain(&problem.record.pointer)),
        };
        one.path.clone_from(&one.id);
        one.gate(Gate::Discover).add(problem.kind.code(), weight, message, problem.help.clone());
        self.rows.push(one);
    }
}

/// Returns a path for a report: relative to the home directory, because a report contains no absolute path of it.
fn shown_path(path: &str, roots: &[Root]) -> String {
    let homes = roots.iter().flat_map(|root| &root.stops);
    let mut inside = homes.filter_map(|home| path.strip_prefix(home.as_str())?.strip_prefix('/'));
    plain(&inside.next().map_or_else(|| path.to_owned(), |rest| format!("~/{rest}"))).into_owned()
}
