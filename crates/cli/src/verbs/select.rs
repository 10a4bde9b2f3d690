//! Finds the plugin that a selector on the command line names. A selector finds a key and is never part of one.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use plugward_loader::installs::project_directory_names;
use plugward_loader::pinstore::Pins;
use plugward_loader::{
    CheckMode, InstallRecords, NoWatch, PinStore, PlacePath, PluginKey, Root, RootSearch, project_of, survey,
};

use crate::args::DiscoveryOptions;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::installed::{self, HostScope, Installed, ProjectScope};
use crate::out::Out;
use crate::settings::Settings;
use crate::stores;
use crate::verbs::shared;

/// The help if neither the plugin nor a similar name was found.
const ANYWHERE: &str = "list the plugins: plugward list DIR\nor name the directory to search: --in DIR";
const PINS_ONLY: &str = "list what is pinned: plugward list DIR";

/// The names under which keys can be selected.
type Candidates = BTreeMap<PluginKey, Vec<String>>;

/// Finds a plugin that exists: among the pins, the plugins of the project, and those inside `dirs`.
pub(crate) fn on_disk(
    selector: &str,
    dirs: &[Utf8PathBuf],
    finding: &DiscoveryOptions,
    host: &Host,
    out: &Out,
) -> Result<(PluginKey, Arc<InstallRecords>), Failure> {
    if let Some(path) = path_of(selector) {
        return at_path(selector, &path, finding, host, out);
    }
    let installed = installed::everything(&HostScope::default())?;
    let records = installed.records.clone();
    let store = stores::pins(host, CheckMode::LookOnly, out)?;
    if let Some(failure) = store.failure() {
        return Err(shared::store_failure(&failure));
    }
    let mut all = of_pins(store.pins());
    all.retain(|key, _| records.of_key(key).next().is_some() || key.placed().is_some_and(is_directory));
    // A plugin is found by the name that was pinned, and by the one that it has now.
    for (key, names) in of_project(dirs, &installed, &store, finding, host)? {
        all.entry(key).or_default().extend(names);
    }
    Ok((one(selector, &all, ANYWHERE)?, records))
}

/// Returns the plugin at a path, with the records about that place.
fn at_path(
    selector: &str,
    path: &Utf8Path,
    finding: &DiscoveryOptions,
    host: &Host,
    out: &Out,
) -> Result<(PluginKey, Arc<InstallRecords>), Failure> {
    let real = host::real_path(path).ok().and_then(|real| PlacePath::new(real.as_str()).ok());
    // The servers of one project in a file of several have a path below that file.
    let real = real.or_else(|| PlacePath::new(path.as_str()).ok());
    let project = real.as_ref().map_or(ProjectScope::Here, project_with);
    let Installed { roots, records, .. } =
        installed::everything(&HostScope { project, ..HostScope::default() })?;
    let at = |place: &PlacePath| records.at(place)?.keys.first().cloned();
    // Reports that are the same on every machine have the name of the host in place of its directory.
    let labeled = || {
        roots.iter().find_map(|root| {
            let inside = selector.strip_prefix(&root.label)?.strip_prefix('/')?;
            at(&PlacePath::new(&format!("{}/{inside}", root.real())).ok()?)
        })
    };
    let known = real.as_ref().and_then(at).or_else(labeled);
    if let Some(key) = known {
        return Ok((key, records));
    }
    let root = host::root(path)?;
    Ok((inside(selector, root, finding, host, out)?, records))
}

/// Finds a key among the pins, whether its plugin still exists or not.
pub(crate) fn pinned(selector: &str, store: &PinStore) -> Result<PluginKey, Failure> {
    let Some(pins) = store.pins() else {
        // If the store could not be opened, its failure has the reason and the fix.
        return Err(match store.failure() {
            Some(failure) => shared::store_failure(&failure),
            None => Failure::store("there are no pins yet").help("pin the plugins: plugward check DIR"),
        });
    };
    if let Some(path) = path_of(selector) {
        let keys = places(&path).into_iter().map(PluginKey::Placed);
        let known = keys.into_iter().find(|key| pins.get(key).is_some());
        return known.ok_or_else(|| not_found(selector, &of_pins(Some(pins)), PINS_ONLY));
    }
    one(selector, &of_pins(Some(pins)), PINS_ONLY)
}

/// Returns the key of a plugin that does not exist any more: one of some keys, or the place that a path names.
pub(crate) fn gone(selector: &str, mut keys: impl Iterator<Item = PluginKey>) -> Option<PluginKey> {
    let Some(path) = path_of(selector) else {
        return keys.find(|key| key.to_string() == selector || key.name() == selector);
    };
    let places: Vec<PluginKey> = places(&path).into_iter().map(PluginKey::Placed).collect();
    let exists = places.iter().filter_map(PluginKey::placed).any(is_directory);
    keys.find(|key| places.contains(key)).or_else(|| places.first().filter(|_| !exists).cloned())
}

/// Returns the project whose settings include a file or directory such as `site/.claude/settings.json`.
fn project_with(place: &PlacePath) -> ProjectScope {
    let mut above = place.parent();
    let mut project = above.clone();
    while let Some(dir) = above {
        if project_directory_names().contains(dir.name()) {
            project = dir.parent();
            break;
        }
        above = dir.parent();
    }
    // What is in the home directory belongs to the user and not to a project.
    let home = host::home_directory().and_then(|home| host::real_path(&home).ok());
    match project {
        Some(dir) if home.as_deref() != Some(Utf8Path::new(dir.as_str())) => {
            ProjectScope::Named(dir.as_str().into())
        }
        Some(_) | None => ProjectScope::Here,
    }
}

/// Returns the path of a selector that is one, such as `plugins/a` or `path:/home/me/a`.
pub(crate) fn path_of(selector: &str) -> Option<Utf8PathBuf> {
    if let Some(path) = selector.strip_prefix("path:") {
        return Some(Utf8PathBuf::from(path));
    }
    let is_path = selector.contains('/') || matches!(selector, "." | ".." | "~");
    is_path.then(|| host::expand(selector))
}

/// Returns the places that a typed path can name: its real path, and the path itself if nothing exists there any more.
fn places(path: &Utf8Path) -> Vec<PlacePath> {
    let real = host::real_path(path).ok().map(Utf8PathBuf::into_string);
    let typed = host::typed_path(path).map(Utf8PathBuf::into_string);
    // The path of a deleted directory can contain a symlink in one of its parents.
    let parent = path.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let below = host::real_path(parent)
        .ok()
        .zip(path.file_name())
        .map(|(parent, name)| parent.join(name).into_string());
    [typed, below, real].into_iter().flatten().filter_map(|text| PlacePath::new(&text).ok()).collect()
}

/// Returns the plugin at a directory, or the plugin that contains the directory.
fn inside(
    selector: &str,
    root: Root,
    finding: &DiscoveryOptions,
    host: &Host,
    out: &Out,
) -> Result<PluginKey, Failure> {
    let real = root.real();
    let store = stores::pins(host, CheckMode::LookOnly, out)?;
    // A pin under the typed path counts first, even if a symlink has replaced the directory.
    let typed = root.typed.clone().map(PluginKey::Placed);
    if let Some(key) = typed.filter(|key| store.pins().is_some_and(|pins| pins.get(key).is_some())) {
        return Ok(key);
    }
    let installs = installed::inside(std::slice::from_ref(&root))?;
    let all: Candidates = surveyed(&[root], &installs, &store, finding, host)?;
    if let Some(key) = all.keys().find(|key| key.placed() == Some(&real)) {
        return Ok(key.clone());
    }
    let keys: Vec<&PluginKey> = all.keys().collect();
    match keys.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(Failure::usage(format!("not a plugin: {selector}"))
            .help(format!("list the plugins in it: plugward list {}", shared::quoted(selector)))),
        many => Err(several(format!("{selector} contains {} plugins", many.len()), many)),
    }
}

pub(crate) fn is_directory(place: &PlacePath) -> bool {
    std::fs::symlink_metadata(place.as_str()).is_ok_and(|meta| meta.is_dir())
}

fn of_pins(pins: Option<&Pins>) -> Candidates {
    let row = |(key, pin): (&PluginKey, &plugward_loader::pinstore::Pin)| {
        let names = pin.called.iter().flat_map(|name| [name.as_str().to_owned(), name.name().to_owned()]);
        (key.clone(), names.collect())
    };
    pins.into_iter().flat_map(Pins::iter).map(row).collect()
}

/// Returns what is installed and the plugins inside `dirs`, or else those of the project that contains the working directory.
fn of_project(
    dirs: &[Utf8PathBuf],
    installed: &Installed,
    store: &PinStore,
    finding: &DiscoveryOptions,
    host: &Host,
) -> Result<Candidates, Failure> {
    let mut roots = shared::roots(dirs)?;
    if dirs.is_empty()
        && let Ok(here) = host::root(Utf8Path::new("."))
    {
        let project = project_of(&here).unwrap_or_else(|| here.real());
        roots.push(host::root_at(&project, ".".to_owned(), None)?);
    }
    roots.extend(installed.roots.iter().filter(|root| root.search == RootSearch::Recorded).cloned());
    surveyed(&roots, &installed.records, store, finding, host)
}

fn surveyed(
    roots: &[Root],
    installs: &Arc<InstallRecords>,
    store: &PinStore,
    finding: &DiscoveryOptions,
    host: &Host,
) -> Result<Candidates, Failure> {
    let settings = Settings::read(host)?;
    let mut options = shared::options(None, CheckMode::LookOnly, finding, &settings, host)?;
    options.installs = installs.clone();
    let found = survey(roots, store, &options, &NoWatch);
    let rows = found.into_iter().map(|one| {
        let names = one.called.iter().flat_map(|name| [name.as_str().to_owned(), name.name().to_owned()]);
        (one.key, names.collect())
    });
    Ok(rows.collect())
}

/// Returns the only key that a name matches: a key, a recorded id, the last part of a path, or a name in a manifest.
fn one(selector: &str, all: &Candidates, otherwise: &str) -> Result<PluginKey, Failure> {
    if let Ok(key) = selector.parse::<PluginKey>()
        && all.contains_key(&key)
    {
        return Ok(key);
    }
    let matches = |(key, names): &(&PluginKey, &Vec<String>)| {
        let id = match key {
            PluginKey::Installed { id, .. } => id.as_str() == selector,
            PluginKey::Placed(_) => false,
        };
        id || key.name() == selector || names.iter().any(|name| name == selector)
    };
    let found: Vec<&PluginKey> = all.iter().filter(matches).map(|(key, _)| key).collect();
    match found.as_slice() {
        [key] => Ok((*key).clone()),
        [] => Err(not_found(selector, all, otherwise)),
        many => Err(several(format!("{} plugins are called {selector}", many.len()), many)),
    }
}

fn several(title: String, keys: &[&PluginKey]) -> Failure {
    let names = keys.iter().map(|key| host::display(key));
    names
        .fold(Failure::usage(title), |failure, name| failure.note("plugin", name))
        .help("name one of them by its path")
}

fn not_found(selector: &str, all: &Candidates, otherwise: &str) -> Failure {
    let names = all.iter().flat_map(|(key, names)| names.iter().map(String::as_str).chain([key.name()]));
    let failure = Failure::usage(format!("no plugin named {selector}"));
    let Some(near) = plugward_loader::nearest(selector, names) else { return failure.help(otherwise) };
    let has = |(key, names): &(&PluginKey, &Vec<String>)| {
        key.name() == near || names.iter().any(|name| name == near)
    };
    let shown = all.iter().find(has).map(|(key, _)| host::display(key)).unwrap_or_default();
    failure.help(if shown == near {
        format!("did you mean {near}?")
    } else {
        format!("did you mean {near} ({shown})?")
    })
}
