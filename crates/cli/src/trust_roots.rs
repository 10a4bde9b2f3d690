//! Looks, before any store is opened, for settings of a project that decide where the stores are.

use std::collections::BTreeSet;
use std::io::Read as _;

use camino::Utf8Path;
use plugward_loader::installs::{TrustRoot, trust_root_files, trust_roots};
use plugward_loader::{
    CheckOptions, Notice, PROJECT_LABEL, PlacePath, Report, TRUST_ROOT, TrustRootFile, refuse_trust_roots,
    trust_root_notice,
};

use crate::args::{CommandVerb, Verb};
use crate::diagnostic::Location;
use crate::failure::Failure;
use crate::host;
use crate::machine::MachineFiles;

/// The most bytes of a file. Hosts read no larger ones either.
const LIMIT: u64 = 64 << 20;
/// The exit code for a project that moves the stores.
const EXIT: u8 = 6;

/// The files that set such variables.
#[derive(Debug, Default)]
pub(crate) struct FoundTrustRoots {
    /// The files of projects. Nothing is judged while there is one.
    pub(crate) projects: Vec<TrustRootFile>,
    /// The user's own files.
    pub(crate) own: Vec<TrustRootFile>,
}

/// Looks in the projects of the working directory, of `named` and of the variables in which hosts name a project.
///
/// All directories above count, since hosts also read settings there.
///
/// # Errors
/// A file is too large to be read.
pub(crate) fn find(named: &[&Utf8Path]) -> Result<FoundTrustRoots, Failure> {
    let home = host::home_directory().and_then(|home| MachineFiles::real_of(home.as_str()));
    let starts = host::session_projects().into_iter().chain(named.iter().map(|path| (*path).to_owned()));
    let starts = starts.filter_map(|dir| MachineFiles::real_of(dir.as_str()));
    let mut directories: BTreeSet<PlacePath> = BTreeSet::new();
    for start in starts.chain(host::working_directory().cloned()) {
        directories.extend(std::iter::successors(Some(start), PlacePath::parent));
    }
    let mut found = FoundTrustRoots::default();
    for directory in &directories {
        let is_own = home.as_ref() == Some(directory) || directory.as_str() == "/";
        for name in trust_root_files() {
            let path = Utf8Path::new(directory.as_str()).join(name);
            let Some(file) = read(&path, name)? else { continue };
            // A project that calls itself the home directory must not become the user's own by that.
            if is_own && !file.roots.iter().any(|root| is_home_here(root, directory)) {
                found.own.push(file);
            } else {
                found.projects.push(file);
            }
        }
    }
    if let Some(home) = home.filter(|home| !directories.contains(home)) {
        for name in trust_root_files() {
            found.own.extend(read(&Utf8Path::new(home.as_str()).join(name), name)?);
        }
    }
    Ok(found)
}

/// Returns `true` if a variable can be the reason that a directory is the home directory.
fn is_home_here(root: &TrustRoot, directory: &PlacePath) -> bool {
    let Some(value) = root.value.as_deref().filter(|_| root.name == "HOME") else { return false };
    value.contains('$') || MachineFiles::real_of(value).as_ref() == Some(directory)
}

/// Reads a file, and returns what it sets, if that is anything.
///
/// Its owner and permissions do not matter: what another user wrote there moves the stores as well.
fn read(path: &Utf8Path, name: &'static str) -> Result<Option<TrustRootFile>, Failure> {
    use std::os::unix::fs::OpenOptionsExt as _;
    #[expect(clippy::disallowed_methods, reason = "only searched for names; hosts read the same file")]
    let opened = std::fs::OpenOptions::new().read(true).custom_flags(NONBLOCK).open(path);
    // A host that runs as the same user cannot read it either. A directory can be called `.env`.
    let Some(file) = opened.ok().filter(|file| file.metadata().is_ok_and(|meta| meta.is_file())) else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    let read = file.take(LIMIT.saturating_add(1)).read_to_end(&mut bytes);
    if read.is_err() || u64::try_from(bytes.len()).unwrap_or(u64::MAX) > LIMIT {
        return Err(Failure::store(format!("cannot read {path}: it has more than {LIMIT} bytes"))
            .code("install/unreadable")
            .help("make the file smaller, or remove it"));
    }
    let roots = trust_roots(name, &bytes);
    let place = (!roots.is_empty()).then(|| PlacePath::new(path.as_str()).ok()).flatten();
    Ok(place.map(|place| TrustRootFile { place, file: name, roots }))
}

/// Opening a pipe must not wait for its writer.
const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();

/// Fails if a project decides where the stores are, unless the verb opens none.
pub(crate) fn refuse(verb: &Verb) -> Result<(), Failure> {
    let named = match verb {
        // `check` renders a report, and `run` knows the project of the session.
        Verb::Check(_)
        | Verb::Run(_)
        | Verb::Redact(_)
        | Verb::Digest(_)
        | Verb::Config { .. }
        | Verb::Codes(_)
        | Verb::Completions { .. }
        | Verb::Man => return Ok(()),
        Verb::List(args) => args.hosts.project.as_deref(),
        Verb::Review(args) => args.hosts.project.as_deref(),
        Verb::Command { verb: CommandVerb::Run(args) } => args.project.as_deref(),
        _ => None,
    };
    refuse_in(named)
}

/// Fails if one of the projects that [`find`] searches decides where the stores are.
pub(crate) fn refuse_in(named: Option<&Utf8Path>) -> Result<(), Failure> {
    let found = find(named.as_slice())?;
    let Some((file, root)) = found.projects.first().and_then(|file| Some((file, file.roots.first()?))) else {
        return Ok(());
    };
    let shown = host::display_path(&file.place);
    Err(Failure::exiting(EXIT, TrustRootFile::message(&shown, root))
        .code(TRUST_ROOT)
        .at(Location::path(shown).at(root.line, 1))
        .note("note", "nothing else was judged, and no store was opened")
        .help("remove the variable from the file, or work in another directory"))
}

impl FoundTrustRoots {
    /// Returns the report that refuses the files of projects, if there are any.
    pub(crate) fn report(&self) -> Result<Option<Report>, Failure> {
        let Some(first) = self.projects.first() else { return Ok(None) };
        let depth = first.file.split('/').count();
        let above = std::iter::successors(Some(first.place.clone()), PlacePath::parent).nth(depth);
        let directory = above.unwrap_or_else(|| first.place.clone());
        let root = host::root_at(&directory, PROJECT_LABEL.to_owned(), None)?;
        let options = CheckOptions::new(host::now()?, host::user());
        Ok(Some(refuse_trust_roots(&root, &self.projects, &options)))
    }

    /// Returns a notice for each variable in the user's own files.
    pub(crate) fn notices(&self) -> Vec<Notice> {
        let of = |file: &TrustRootFile| {
            let shown = host::display_path(&file.place);
            let notices = file.roots.iter().map(|root| trust_root_notice(&shown, root));
            notices.collect::<Vec<_>>()
        };
        self.own.iter().flat_map(of).collect()
    }

    /// Returns one line for each file of a project, for a hook.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |file: &TrustRootFile| {
            let shown = host::display_path(&file.place);
            let root = file.roots.first().map(|root| TrustRootFile::message(&shown, root));
            format!("plugward: {} ({TRUST_ROOT}); nothing else was judged", root.unwrap_or(shown))
        };
        self.projects.iter().map(line).collect()
    }
}
