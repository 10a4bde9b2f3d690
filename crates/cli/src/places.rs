//! The directories of a project that hosts search, with a list in the state directory that saves most of the work.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use plugward_loader::state_file::{Backup, StateFile};
use plugward_loader::{PlacePath, ProjectDirectories, Root};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::host;

const NAME: &str = "places.toml";
const VERSION: u32 = 1;
/// The most bytes of the file. The projects that were checked longest ago are left out.
const CAP: u64 = 8 << 20;
/// How long a write waits for that of another process. Without the list, the next check only takes longer.
const WAIT: Duration = Duration::from_millis(500);
/// With more directories that had to be read, storing the list costs less than reading them again.
const MANY: usize = 500;

/// The use of the stored list.
#[derive(Debug, Clone, Default)]
pub(crate) enum PlacesUse {
    /// Every directory is read.
    #[default]
    None,
    /// Every directory is read, and the list is stored in this state directory.
    Store(Utf8PathBuf),
    /// Only directories that differ from the list in this state directory are read.
    Compare(Utf8PathBuf),
}

/// What was found inside a project.
#[derive(Debug, Default)]
pub(crate) struct NestedPlaces {
    /// The directories that contain a directory of a host.
    pub(crate) directories: Vec<PlacePath>,
    /// The places that were not searched, with the reasons.
    pub(crate) unsearched: Vec<(String, String)>,
}

/// The stored file. It says where to look and is never a grant.
#[derive(Debug, Default, Serialize, Deserialize)]
struct PlacesFile {
    version: u32,
    #[serde(default)]
    project: Vec<ProjectRow>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ProjectRow {
    place: String,
    hosts: BTreeSet<String>,
    /// The time and the path of each directory, separated by a space.
    directories: Vec<String>,
}

/// Searches a project. The home directory is not searched, since all projects of the user can be inside.
///
/// # Errors
/// The project cannot be opened.
pub(crate) fn nested(project: &Root, list: &PlacesUse) -> Result<NestedPlaces, Failure> {
    let place = project.real();
    if project.stops.contains(&place) {
        let why = "it is your home directory".to_owned();
        return Ok(NestedPlaces { directories: Vec::new(), unsearched: vec![(place.to_string(), why)] });
    }
    let jail = project.jail.subjail(project.dir.as_str()).map_err(|error| {
        Failure::usage(format!("cannot open {place}: {error}")).code(error.code()).help(error.help())
    })?;
    let (known, store) = match list {
        PlacesUse::None => (None, None),
        PlacesUse::Store(state) => (None, Some(state)),
        PlacesUse::Compare(state) => (earlier(state, &place), Some(state)),
    };
    let found = ProjectDirectories::search(&jail, ".", known.as_ref(), host::nanoseconds());
    let is_hook = matches!(list, PlacesUse::Compare(_));
    if let Some(state) = store.filter(|_| !is_hook || known.is_none() || found.read > MANY) {
        // A list that cannot be stored only costs time.
        let _stored = store_list(state, &place, &found);
    }
    let directories = found.hosts.iter().filter_map(|path| place.join(path.rsplit_once('/')?.0).ok());
    let directories: BTreeSet<PlacePath> = directories.collect();
    let unsearched = found.unsearched.into_iter().map(|(path, why)| (format!("{place}/{path}"), why));
    Ok(NestedPlaces { directories: directories.into_iter().collect(), unsearched: unsearched.collect() })
}

fn file(state: &Utf8Path) -> Option<StateFile> {
    let dir = host::own_directory(state).ok()?;
    StateFile::at(&dir, NAME, CAP, host::owner(), Backup::None).ok()
}

/// Reads the file. One that is damaged or that another user can write is ignored, and everything is searched.
fn read(file: &StateFile) -> Option<PlacesFile> {
    let content = file.read().ok()??;
    let read: PlacesFile = toml::from_str(std::str::from_utf8(content.bytes()).ok()?).ok()?;
    (read.version == VERSION).then_some(read)
}

/// Returns the stored list of a project.
fn earlier(state: &Utf8Path, project: &PlacePath) -> Option<ProjectDirectories> {
    let row = read(&file(state)?)?.project.into_iter().find(|row| row.place == project.as_str())?;
    let mut known = ProjectDirectories::default();
    let split = |line: &String| line.split_once(' ').map(|(time, path)| (path.to_owned(), time.to_owned()));
    known.times = row.directories.iter().map(split).collect::<Option<BTreeMap<_, _>>>()?;
    known.hosts = row.hosts;
    Some(known)
}

/// Stores the list of a project in front of those of other projects.
fn store_list(state: &Utf8Path, project: &PlacePath, found: &ProjectDirectories) -> Option<()> {
    let file = file(state)?;
    let lock = file.lock(WAIT).ok()?;
    let mut rows = read(&file).unwrap_or_default().project;
    rows.retain(|row| row.place != project.as_str());
    let directories = found.times.iter().map(|(path, time)| format!("{time} {path}")).collect();
    rows.insert(0, ProjectRow { place: project.to_string(), hosts: found.hosts.clone(), directories });
    let mut places = PlacesFile { version: VERSION, project: rows };
    loop {
        let text = toml::to_string(&places).ok()?;
        if u64::try_from(text.len()).is_ok_and(|length| length <= CAP) {
            return lock.replace(text.as_bytes()).ok();
        }
        places.project.pop()?;
    }
}
