//! The table of hosts: its form, and that adapters read no place that it does not contain.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use plugward_installs::{
    EntryKind, HOSTS, HostEntry, HostFiles, HostRow, Machine, ReadFault, host_rows, read_host,
};
use plugward_types::PlacePath;

const HOME: &str = "/home/u";
const PROJECT: &str = "/home/u/work/site";

#[test]
fn the_table_has_a_valid_row_for_each_host() {
    let rows = host_rows().unwrap();
    let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    let known: Vec<&str> = HOSTS.iter().map(|host| host.as_str()).collect();
    assert_eq!(ids, known);
    for (row, host) in rows.iter().zip(HOSTS) {
        assert_eq!(row.name, host.title());
        assert!(!row.source.is_empty(), "{}", row.id);
        let mut places = BTreeSet::new();
        for place in row.places() {
            assert!(is_place(place), "{place}");
            assert!(places.insert(place), "{} has {place} twice", row.id);
        }
        let home = &row.home;
        assert!(home.default.starts_with("~/") && is_place(&home.default), "{}", row.id);
        assert!(home.join.is_none() || home.variable.is_some(), "{}", row.id);
        for name in &row.endpoints {
            assert!(name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'), "{name}");
        }
        assert!(row.endpoint_settings.iter().all(|pointer| pointer.starts_with('/')), "{}", row.id);
    }
}

/// Returns `true` for the notation of places.
fn is_place(place: &str) -> bool {
    let Some((root, rest)) = place.split_once('/') else { return false };
    let parts: Vec<&str> = rest.split('/').collect();
    let (last, before) = parts.split_last().unwrap();
    matches!(root, "" | "~" | "@" | ".")
        && parts.iter().all(|part| !matches!(*part, "" | "." | ".."))
        && before.iter().all(|part| !part.contains('*'))
        && !last.contains("**")
        && place != "~/.config"
}

/// An empty machine on which every directory exists, and which keeps the paths that are looked at.
struct Looks(RefCell<BTreeSet<String>>);

impl Looks {
    fn look(&self, path: &str) {
        self.0.borrow_mut().insert(path.to_owned());
    }
}

impl HostFiles for Looks {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, ReadFault> {
        self.look(path);
        Ok(None)
    }

    fn list(&self, path: &str) -> Result<Option<Vec<HostEntry>>, ReadFault> {
        self.look(path);
        Ok(Some(Vec::new()))
    }

    fn real(&self, path: &str) -> Option<PlacePath> {
        PlacePath::new(path).ok()
    }

    fn kind(&self, path: &str) -> Option<EntryKind> {
        self.look(path);
        Some(EntryKind::Directory)
    }
}

#[test]
fn adapters_read_only_places_of_the_table() {
    let place = PlacePath::new(PROJECT).unwrap();
    for (host, row) in HOSTS.iter().zip(host_rows().unwrap()) {
        let looks = Looks(RefCell::default());
        let machine = Machine {
            home: HOME,
            environment: &BTreeMap::new(),
            project: Some(&place),
            directory: Some(&place),
            files: &looks,
            nested: &[],
            unsearched: &[],
        };
        let _inventory = read_host(*host, &machine);
        let known: Vec<String> = row.places().flat_map(|place| paths(row, place)).collect();
        // Hosts look for the files of a project above it too.
        let above = ["/home/u/work", "/home/u", "/home", ""].map(|at| format!("{at}/"));
        for path in looks.0.borrow().iter() {
            let here = above.iter().find_map(|at| {
                let rest = path.strip_prefix(at.as_str())?;
                rest.starts_with('.').then(|| format!("{PROJECT}/{rest}"))
            });
            let homes = [HOME.to_owned(), row.home.default.replacen('~', HOME, 1), PROJECT.to_owned()];
            let mac = row.home.mac.as_ref().map(|mac| mac.replacen('~', HOME, 1));
            let is_known = homes.contains(path)
                || mac.is_some_and(|mac| path == &mac || path.starts_with(&format!("{mac}/")))
                || known
                    .iter()
                    .any(|known| is_in(path, known) || here.as_ref().is_some_and(|path| is_in(path, known)));
            assert!(is_known, "{}: {path} has no row", row.id);
        }
    }
}

/// Returns `true` if a path is in a place, or a directory that contains it.
fn is_in(path: &str, place: &str) -> bool {
    match place.split_once('*') {
        Some((before, after)) => {
            path.starts_with(before) && path.ends_with(after) || path == before.trim_end_matches('/')
        }
        None => {
            path == place || path.starts_with(&format!("{place}/")) || place.starts_with(&format!("{path}/"))
        }
    }
}

fn paths(row: &HostRow, place: &str) -> Vec<String> {
    match place.split_once('/') {
        Some(("~", rest)) => vec![format!("{HOME}/{rest}")],
        Some(("@", rest)) => vec![format!("{}/{rest}", row.home.default.replacen('~', HOME, 1))],
        Some((".", rest)) => vec![format!("{PROJECT}/{rest}")],
        _ => vec![place.to_owned()],
    }
}
