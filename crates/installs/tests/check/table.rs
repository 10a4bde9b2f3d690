//! The table of hosts: its form, and that adapters read no place that it does not contain.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use plugward_installs::{
    EntryKind, HostEntry, HostFiles, HostRow, HostTable, KnownHost, Machine, PartEffect, ReadFault, read_host,
};
use plugward_types::{HostName, PlacePath};

const HOME: &str = "/home/u";
const PROJECT: &str = "/home/u/work/site";

#[test]
fn the_table_has_a_valid_row_for_each_host() {
    let rows = HostTable::compiled().unwrap().rows();
    assert_eq!(rows.len(), 44);
    let ids: BTreeSet<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids.len(), rows.len());
    for row in rows {
        row.validate().unwrap_or_else(|error| panic!("{}: {error}", row.id));
        assert!(row.id.parse::<HostName>().is_ok() && (2..=20).contains(&row.id.len()), "{}", row.id);
        assert!(!row.source.is_empty() && !row.name.is_empty() && !row.home.default.is_empty(), "{}", row.id);
        assert!(row.home.join.is_none() || row.home.variable.is_some(), "{}", row.id);
        assert_eq!(row.seen.is_empty(), !row.evidence.is_tested(), "{}", row.id);
        for name in row.endpoints.iter().map(String::as_str).chain(row.moving_variables()) {
            assert!(name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'), "{name}");
        }
        assert!(row.endpoint_settings.iter().all(|pointer| pointer.starts_with('/')), "{}", row.id);
        let has_records = !row.records.is_empty() || !row.settings.is_empty();
        let has_records = has_records || row.parts.iter().any(|part| part.effect == PartEffect::Record);
        assert!(!has_records || row.reader.is_some(), "{} has no reader", row.id);
    }
    let readers: BTreeSet<&str> = rows.iter().filter_map(|row| row.reader.as_deref()).collect();
    let known: BTreeSet<&str> = KnownHost::ALL.iter().map(|host| host.as_str()).collect();
    assert_eq!(readers, known);
}

/// Returns the error of a row of the user, as `FIELD: MESSAGE`.
fn refused(id: &str, fields: &str) -> String {
    let mut table = HostTable::compiled().unwrap().clone();
    let error = table.add_row(id, toml::from_str(fields).unwrap()).unwrap_err();
    assert_eq!(table.rows(), HostTable::compiled().unwrap().rows());
    format!("{}: {error}", error.field().unwrap_or("-"))
}

#[test]
fn a_row_of_the_user_has_the_rules_of_the_table() {
    let home = "home = { default = \"~/.acme\" }\n";
    for (place, shown) in [
        ("/", "`/` is not a place"),
        ("~", "`~` is not a place"),
        ("~/", "`~/` is not a place"),
        ("~/.config", "`~/.config` is not a place"),
        ("~/*", "`~/*` is not a place"),
        ("/*", "`/*` is not a place"),
        ("@/../x", "`@/../x` is not a place"),
        ("@/**", "`@/**` is not a place"),
        ("skills", "`skills` is not a place"),
    ] {
        assert_eq!(refused("acme", &format!("{home}skills = [\"{place}\"]")), format!("skills: {shown}"));
    }
    assert_eq!(
        refused("acme", "home = { default = \"~/\" }"),
        "home: `~/` is not a directory in the home directory"
    );
    assert_eq!(
        refused("acme", "home = { default = \"/\" }"),
        "home: `/` is not a directory in the home directory"
    );
    assert_eq!(refused("acme", "skills = [\"@/skills\"]"), "-: the host `acme` has no home");
    assert_eq!(refused("claude", home), "home: the home of `claude` is known");
    assert_eq!(refused("a", home), "-: `a` is not an id of a host");
    assert_eq!(refused("path", home), "-: `path` is not an id of a host");
    assert_eq!(
        refused("acme", &format!("{home}evidence = \"V\"")),
        "evidence: `evidence` cannot be set in a row of the settings"
    );
    assert!(refused("acme", &format!("{home}skils = []")).starts_with("skils: unknown field `skils`"));
    assert!(refused("acme", &format!("{home}skills = \"@/x\"")).starts_with("skills: invalid type"));
    let twice = refused("acme", &format!("{home}code = [\"@/x\", \"@/x\"]"));
    assert_eq!(twice, "code: `@/x` is there twice");
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
    for row in HostTable::compiled().unwrap().rows() {
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
        let _inventory = read_host(row, &machine);
        let known: Vec<String> = row.places().flat_map(|place| paths(row, place)).collect();
        // Hosts look for the files of a project above it too.
        let above = ["/home/u/work", "/home/u", "/home", ""].map(|at| format!("{at}/"));
        for path in looks.0.borrow().iter() {
            let here = above.iter().find_map(|at| {
                let rest = path.strip_prefix(at.as_str())?;
                Some(format!("{PROJECT}/{rest}"))
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
