//! The report of a check that stops before it opens a store, because a project decides where the stores are.

use std::collections::BTreeSet;
use std::sync::Arc;

use plugward_installs::{InstallKind, TrustRoot};
use plugward_types::{HostName, PlacePath, Span};

use crate::discovery::installed::InstalledPlace;
use crate::discovery::roots::Root;
use crate::gates::settings_findings::SETTINGS_FILE;
use crate::record::Run;
use crate::report::text::plain;
use crate::report::{Gate, Report};
use crate::run::check::{RunNotes, finish, place_of};
use crate::run::options::{CheckOptions, RepositorySettings};
use crate::run::outcome::{Notice, Reason, ReasonPlace, Weight};
use crate::run::rules::RuleBook;

/// The code of a variable that moves what plugward trusts.
pub const TRUST_ROOT: &str = "settings/trust-root";

const HELP: &str =
    "remove the variable from the file; if you set it yourself, set it in your shell or in your own settings";

/// A file of a project with the variables in it that move what plugward trusts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "a place, and what was found in it")]
pub struct TrustRootFile {
    /// The real path of the file.
    pub place: PlacePath,
    /// Its path in the directory in which its host looks for it.
    pub file: &'static str,
    /// The variables; not empty.
    pub roots: Vec<TrustRoot>,
}

impl TrustRootFile {
    /// Returns what a variable of the file does, with file and line. `file` is the path to show.
    #[must_use]
    pub fn message(file: &str, root: &TrustRoot) -> String {
        let TrustRoot { line, name, .. } = root;
        format!("{}:{line} sets {}, which decides what plugward trusts", plain(file), plain(name))
    }
}

/// Returns the report that refuses the files of a project and judges nothing else.
///
/// # Guarantees
/// No store and no settings file was read for it.
#[must_use]
pub fn refuse_trust_roots(root: &Root, files: &[TrustRootFile], options: &CheckOptions) -> Report {
    let options = CheckOptions {
        repository_settings: RepositorySettings::Ignore,
        settings: Vec::new(),
        ..options.clone()
    };
    let roots = [root.clone()];
    let rules = RuleBook::new(&roots, &options);
    let mut all = Vec::new();
    for TrustRootFile { place, file, roots: set } in files {
        let mut one = place_of(place.clone(), 0, root, &rules);
        one.place.installed = Some(Arc::new(settings_file(place)));
        for variable in set {
            let TrustRoot { line, name, .. } = variable;
            // The place in front of a message is shown on a line of its own.
            let message =
                format!("{}:{line}:1: sets {}, which decides what plugward trusts", plain(file), plain(name));
            let mut reason = Reason::new(TRUST_ROOT, Gate::Discover, Weight::Scan, message, HELP);
            let (path, span) = (SETTINGS_FILE.to_owned(), Span::new(0, 0));
            reason.place = Some(ReasonPlace { path, line: *line, column: 1, span });
            one.gate(Gate::Discover).reasons.push(reason);
        }
        all.push(one);
    }
    let mut notes = RunNotes::default();
    let message = "nothing else was judged, because this file decides which pins and settings count";
    notes.notices.push(Notice::new(TRUST_ROOT, Gate::Discover, message));
    finish(&mut all, &roots, &options, notes, &mut Run::Look)
}

/// Returns the notice about a variable in a file of the user.
#[must_use]
pub fn trust_root_notice(file: &str, root: &TrustRoot) -> Notice {
    let message = format!("{}; the file is your own", TrustRootFile::message(file, root));
    Notice::new(TRUST_ROOT, Gate::Discover, message)
}

fn settings_file(place: &PlacePath) -> InstalledPlace {
    let hosts: [(&str, &str); 3] = [(".claude", "claude"), (".codex", "codex"), (".gemini", "gemini")];
    let directory = place.parent().map(|parent| parent.name().to_owned()).unwrap_or_default();
    let of = hosts.into_iter().filter(|(name, _)| *name == directory);
    let hosts: BTreeSet<HostName> = of.filter_map(|(_, host)| host.parse().ok()).collect();
    InstalledPlace::new(place.clone(), InstallKind::Settings, hosts)
}
