//! Finds what the hosts of this machine would load: the input of `check` without a directory, and the keys for all verbs.

use std::sync::{Arc, OnceLock};

use camino::{Utf8Path, Utf8PathBuf};
use plugward_loader::installs::{
    HostInventory, HostRow, HostTable, InstallLayer, InstallProblemKind, Machine, project_directory_names,
    read_host,
};
use plugward_loader::{InstallRecords, PROJECT_LABEL, PlacePath, Root, RootSearch, project_of};

use crate::failure::Failure;
use crate::host;
use crate::machine::MachineFiles;
use crate::places::{self, NestedPlaces, PlacesUse};

/// The hosts of this run: the compiled-in table with the rows of the user's settings.
static TABLE: OnceLock<HostTable> = OnceLock::new();

/// Sets the hosts of this run. The settings can be read several times, and they do not change.
pub(crate) fn set_hosts(table: HostTable) {
    TABLE.get_or_init(|| table);
}

/// Returns the hosts of this run.
pub(crate) fn hosts() -> Result<&'static HostTable, Failure> {
    match TABLE.get() {
        Some(table) => Ok(table),
        None => HostTable::compiled().map_err(Failure::internal),
    }
}

/// Which hosts and projects are read.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostScope {
    /// The hosts; all if empty.
    pub(crate) hosts: Vec<&'static HostRow>,
    pub(crate) project: ProjectScope,
    pub(crate) places: PlacesUse,
}

/// The project whose settings count.
#[derive(Debug, Clone, Default)]
pub(crate) enum ProjectScope {
    /// The project that contains the working directory, if any.
    #[default]
    Here,
    /// The project that contains this directory, or the directory itself.
    Named(Utf8PathBuf),
    None,
}

/// What is installed, and where a check looks for it.
pub(crate) struct Installed {
    pub(crate) roots: Vec<Root>,
    pub(crate) records: Arc<InstallRecords>,
    /// What each host would load, in the order of the table.
    pub(crate) inventories: Vec<HostInventory>,
    pub(crate) project: Option<PlacePath>,
}

/// Reads the records of all hosts in the scope, and opens the directories that they are in.
///
/// # Errors
/// A named host is not on this machine, or a named project does not exist.
pub(crate) fn everything(scope: &HostScope) -> Result<Installed, Failure> {
    if let Some(name) = host::unreadable_variables().first() {
        return Err(Failure::store(format!("the value of {name} is not UTF-8")).code("install/unreadable"));
    }
    if host::home_directory().is_none() {
        return Err(Failure::store(
            "HOME is not set to an absolute path, so the records of hosts are not known",
        )
        .code("install/unreadable")
        .help("set HOME to your home directory, or name the directories to check"));
    }
    let project = project(&scope.project)?;
    let directory = match &scope.project {
        ProjectScope::Here => host::working_directory().cloned(),
        ProjectScope::Named(dir) => MachineFiles::real_of(dir.as_str()),
        ProjectScope::None => None,
    };
    let nested = match &project {
        Some(place) => places::nested(&host::root_at(place, PROJECT_LABEL.to_owned(), None)?, &scope.places)?,
        None => NestedPlaces::default(),
    };
    let mut inventories = read(&scope.hosts, project.as_ref(), directory.as_ref(), &nested)?;
    if matches!(scope.project, ProjectScope::None) {
        for inventory in &mut inventories {
            inventory.installs.retain(|one| one.layer == InstallLayer::User);
        }
    }
    for wanted in &scope.hosts {
        if !inventories.iter().any(|one| one.host.as_str() == wanted.id) {
            return Err(Failure::usage(format!("{} was not found on this machine", wanted.name))
                .code("install/no-host")
                .help("list what was found: plugward check"));
        }
    }
    let mut roots = Vec::new();
    for inventory in &inventories {
        if let Some(home) = root_place(inventory) {
            let root = host::root_at(&home, inventory.host.to_string(), None)?;
            roots.push(Root { search: RootSearch::Recorded, ..root });
        }
    }
    // Without a project, a host takes the settings of the directory that it is started in.
    let is_ours = |one: &HostInventory| one.installs.iter().any(|one| one.layer == InstallLayer::Project);
    let place = project.clone().or_else(|| directory.clone().filter(|_| inventories.iter().any(is_ours)));
    if let Some(place) = &place {
        let root = host::root_at(place, PROJECT_LABEL.to_owned(), None)?;
        // A single host does not load what is for others, so only its own rows of the project count.
        let is_searched = scope.hosts.is_empty() && project.is_some();
        let search = if is_searched { RootSearch::Below } else { RootSearch::Recorded };
        roots.push(Root { search, ..root });
    }
    let records = Arc::new(InstallRecords::new(inventories.iter().cloned()));
    Ok(Installed { roots, records, inventories, project })
}

/// Returns the directory under which a host's own rows are reported: its home, or the nearest directory above it if only
/// other places of the host exist.
fn root_place(inventory: &HostInventory) -> Option<PlacePath> {
    let home = Utf8Path::new(&inventory.home);
    let has_rows = inventory.installs.iter().any(|one| one.layer == InstallLayer::User);
    let mut places = home.ancestors().take(if has_rows { usize::MAX } else { 1 });
    let real = places.find_map(|at| host::real_path(at).ok().filter(|real| real.is_dir()))?;
    PlacePath::new(real.as_str()).ok()
}

/// Returns what hosts would load inside some directories. The keys of plugins there are those of the records.
pub(crate) fn inside(roots: &[Root]) -> Result<Arc<InstallRecords>, Failure> {
    let mut found: Vec<HostInventory> = Vec::new();
    let mut projects: Vec<Option<PlacePath>> = roots.iter().map(project_around).collect();
    projects.sort();
    projects.dedup();
    let places: Vec<PlacePath> = roots.iter().map(Root::real).collect();
    let is_inside = |place: &PlacePath| places.iter().any(|dir| place.relative_to(dir).is_some());
    for project in projects {
        for mut inventory in read(&[], project.as_ref(), project.as_ref(), &NestedPlaces::default())? {
            inventory.installs.retain(|one| is_inside(&one.place));
            let home = MachineFiles::real_of(&inventory.home);
            inventory.problems.retain(|problem| {
                let file = PlacePath::new(&problem.record.file).ok();
                let in_home = home.as_ref().is_some_and(&is_inside)
                    || home
                        .as_ref()
                        .is_some_and(|home| places.iter().any(|dir| dir.relative_to(home).is_some()));
                // A broken record matters to the directories that it is about, and to no others.
                let is_ours = in_home || file.as_ref().is_some_and(is_inside);
                problem.kind == InstallProblemKind::Unreadable && is_ours
                    || matches!(problem.kind, InstallProblemKind::Id | InstallProblemKind::Row)
                        && file.as_ref().is_some_and(is_inside)
            });
            found.push(inventory);
        }
    }
    Ok(Arc::new(InstallRecords::new(found)))
}

/// Returns the project that is or contains the directory of a root, or the directory itself if a host reads settings there.
fn project_around(root: &Root) -> Option<PlacePath> {
    let real = root.real();
    let has = |name: &str| {
        let path = Utf8Path::new(real.as_str()).join(name);
        std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
    };
    // The directories of hosts in the home directory are not those of a project.
    let is_home = || {
        let home = host::home_directory();
        home.and_then(|home| MachineFiles::real_of(home.as_str())).as_ref() == Some(&real)
    };
    let is_read = || !is_home() && project_directory_names().iter().copied().any(has);
    project_of(root).or_else(|| is_read().then(|| real.clone()))
}

/// Returns the host with a name on the command line.
///
/// # Errors
/// No host has the name.
pub(crate) fn host_named(name: &str) -> Result<&'static HostRow, Failure> {
    let table = hosts()?;
    table.row(name).ok_or_else(|| {
        let all: Vec<&str> = table.rows().iter().map(|row| row.id.as_str()).collect();
        let failure = Failure::usage(format!("unknown host: {name}"));
        match plugward_loader::nearest(name, all.iter().copied()) {
            Some(near) => failure.help(format!("did you mean {near}?")),
            None => failure.help(format!("use one of {}", all.join(", "))),
        }
    })
}

fn project(scope: &ProjectScope) -> Result<Option<PlacePath>, Failure> {
    match scope {
        ProjectScope::None => Ok(None),
        ProjectScope::Here => Ok(host::root(Utf8Path::new(".")).ok().and_then(|root| project_around(&root))),
        ProjectScope::Named(dir) => {
            let root = host::root(dir)?;
            Ok(Some(project_of(&root).unwrap_or_else(|| root.real())))
        }
    }
}

/// Reads the records of hosts, with the settings of a project from its top down to a directory inside it.
fn read(
    hosts: &[&'static HostRow],
    project: Option<&PlacePath>,
    directory: Option<&PlacePath>,
    nested: &NestedPlaces,
) -> Result<Vec<HostInventory>, Failure> {
    let Some(home) = host::home_directory() else { return Ok(Vec::new()) };
    let environment = host::environment();
    let files = MachineFiles::new(&home, project);
    let NestedPlaces { directories, unsearched } = nested;
    let home = home.as_str();
    let machine = Machine {
        home,
        environment: &environment,
        project,
        directory,
        nested: directories,
        unsearched,
        files: &files,
    };
    let all = self::hosts()?.rows().iter();
    let wanted = all.filter(|row| hosts.is_empty() || hosts.iter().any(|host| host.id == row.id));
    let mut found: Vec<HostInventory> = wanted.filter_map(|row| read_host(row, &machine)).collect();
    // A record can name the home directory by a symlink, and a jail follows none.
    for install in found.iter_mut().flat_map(|one| &mut one.installs) {
        let real = install.marketplace.as_deref().and_then(MachineFiles::real_of);
        install.marketplace = real.map(|real| real.to_string()).or(install.marketplace.take());
    }
    Ok(found)
}
