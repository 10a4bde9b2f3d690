//! Which folders hold plugins. Names are looked at here, contents are not, but for marketplace files.

mod markets;

use std::collections::{BTreeMap, BTreeSet};

use plugward_manifest::{Entry, MAIN_FILES};
use plugward_sandbox_path::{FileKind, Jail};

use crate::options::{CheckOptions, Root, Watch};
use crate::report::{Gate, Notice, Reason, Skipped};

/// Levels below a root that are looked through.
const DEPTH: usize = 6;
/// Names of one folder that are looked at.
const NAMES: usize = 20_000;
/// Folders of one root that are looked at.
const FOLDERS: usize = 50_000;
/// Folders of version control, which hold no plugins.
const CONTROL: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

/// A folder that holds a plugin, or that a marketplace says holds one.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) root: usize,
    /// Relative to the root; `.` is the root itself.
    pub(crate) path: String,
    pub(crate) source: String,
    pub(crate) entry: Option<Entry>,
    /// Names that the marketplace says it had before.
    pub(crate) was: Vec<String>,
    /// A marketplace above it that cannot be read: what it would have said of this plugin is not known.
    pub(crate) broken: Option<Reason>,
}

/// What a root holds.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) places: Vec<Place>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) notices: Vec<Notice>,
    /// Whether some part of the root was not looked at.
    pub(crate) seen: Seen,
}

/// How much of a root was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Seen {
    #[default]
    All,
    NotAll,
}

/// What a marketplace says of a folder.
struct Named {
    market: String,
    entry: Entry,
    was: Vec<String>,
}

struct Looking<'a> {
    root: &'a Root,
    number: usize,
    options: &'a CheckOptions,
    watch: &'a dyn Watch,
    folders: usize,
    found: Found,
    /// Folders that a marketplace names.
    named: BTreeMap<String, Named>,
    taken: BTreeSet<String>,
    /// Folders whose marketplace cannot be read, or has entries that cannot.
    broken: Vec<(String, Reason)>,
    /// The plugin whose folder is being looked through.
    inside: Option<String>,
}

/// Looks through one root.
pub(crate) fn discover(root: &Root, number: usize, options: &CheckOptions, watch: &dyn Watch) -> Found {
    let mut looking = Looking {
        root,
        number,
        options,
        watch,
        folders: 0,
        found: Found::default(),
        named: BTreeMap::new(),
        taken: BTreeSet::new(),
        broken: Vec::new(),
        inside: None,
    };
    let here = looking.folder(".", 0);
    looking.missing_entries();
    if here == Sight::Nothing && looking.found.places.is_empty() && looking.found.skipped.is_empty() {
        looking.skip(".", "no manifest");
    }
    looking.found
}

/// What a folder turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sight {
    Plugin,
    /// No plugin itself, and one somewhere below, or something was said about it already.
    Below,
    Nothing,
}

impl Looking<'_> {
    fn folder(&mut self, path: &str, depth: usize) -> Sight {
        self.folders = self.folders.saturating_add(1);
        if self.folders > FOLDERS {
            self.not_all(format!("{path}: more than {FOLDERS} folders; the rest was not looked at"));
            return Sight::Below;
        }
        self.watch.discovering(path);
        // A folder such as `.claude-plugin` speaks for the folder above it, and is no root of its own.
        let marked = !holds_main_files(path) && self.is_marked(path);
        if self.inside.is_none() && !holds_main_files(path) {
            self.marketplace(path);
        }
        let named = self.named.contains_key(path);
        if !named && !marked {
            return self.descend(path, depth);
        }
        if let (false, Some(outer)) = (named, self.inside.clone()) {
            self.skip(path, &format!("inside the plugin in {outer}, which is checked with it"));
            return self.descend(path, depth);
        }
        self.take(path);
        let outer = self.inside.replace(path.to_owned());
        let _below: Sight = self.descend(path, depth);
        self.inside = outer;
        Sight::Plugin
    }

    fn descend(&mut self, path: &str, depth: usize) -> Sight {
        if depth < DEPTH {
            return self.children(path, depth);
        }
        let is_folder = |entry: &plugward_sandbox_path::FolderEntry| entry.kind() == FileKind::Folder;
        if self.root.jail.list(path, NAMES).is_ok_and(|listing| listing.entries().iter().any(is_folder)) {
            self.not_all(format!("{path}: more than {DEPTH} levels; what is deeper was not looked at"));
        }
        Sight::Nothing
    }

    /// Something was not looked at. Inside of a plugin that costs nothing: its tree is read whole, or refused.
    fn not_all(&mut self, message: String) {
        if self.inside.is_none() {
            self.found.seen = Seen::NotAll;
            self.notice("discover/too-many", message);
        }
    }

    fn children(&mut self, path: &str, depth: usize) -> Sight {
        let listing = match self.root.jail.list(path, NAMES) {
            Ok(listing) => listing,
            Err(error) => {
                if self.inside.is_none() {
                    self.found.seen = Seen::NotAll;
                    self.notice("discover/unreadable", format!("{path}: {error}"));
                }
                return Sight::Below;
            }
        };
        if listing.is_truncated() {
            self.notice(
                "discover/too-many",
                format!("{path}: more than {NAMES} names; the rest was not looked at"),
            );
        }
        let mut sight = Sight::Nothing;
        for entry in listing.entries() {
            let shown = String::from_utf8_lossy(entry.name()).into_owned();
            let child = join(path, &shown);
            let utf8 = core::str::from_utf8(entry.name()).is_ok();
            match entry.kind() {
                FileKind::Folder if CONTROL.contains(&shown.as_str()) => continue,
                FileKind::Folder if !utf8 => {
                    self.skip(&child, "name is not UTF-8");
                    sight = Sight::Below;
                    continue;
                }
                FileKind::Folder => {}
                FileKind::Symlink if self.inside.is_none() => {
                    self.skip(&child, "a link, which is not followed");
                    continue;
                }
                _ => continue,
            }
            match self.folder(&child, depth.saturating_add(1)) {
                Sight::Plugin | Sight::Below => sight = Sight::Below,
                Sight::Nothing if depth == 0 && !holds_main_files(&child) => self.skip(&child, "no manifest"),
                Sight::Nothing => {}
            }
        }
        sight
    }

    /// Whether one of the dialects' main files stands below a folder, as whatever kind of entry.
    fn is_marked(&self, path: &str) -> bool {
        let wanted = |dialect| self.options.dialect.is_none_or(|only| only == dialect);
        MAIN_FILES
            .iter()
            .filter(|(dialect, _)| wanted(*dialect))
            .any(|(_, file)| exists(&self.root.jail, &join(path, file)))
    }

    fn take(&mut self, path: &str) {
        if !self.taken.insert(path.to_owned()) {
            return;
        }
        let (source, entry, was) = match self.named.get(path) {
            Some(named) => (named.market.clone(), Some(named.entry.clone()), named.was.clone()),
            None => (self.root.source.clone(), None, Vec::new()),
        };
        let above =
            |(folder, _): &&(String, Reason)| entry.is_none() && (folder == path || inside(path, folder));
        let broken = self.broken.iter().find(above).map(|(_, reason)| reason.clone());
        let (root, path) = (self.number, path.to_owned());
        self.found.places.push(Place { root, path, source, entry, was, broken });
    }

    /// Entries whose folder is there but was not walked into (below a plugin, or deeper than we look), and those
    /// whose folder is not there.
    fn missing_entries(&mut self) {
        let missing: Vec<String> =
            self.named.keys().filter(|path| !self.taken.contains(*path)).cloned().collect();
        for path in missing {
            // A link or a file in the folder's place is refused at the gate that opens it.
            if exists(&self.root.jail, &path) {
                self.take(&path);
            } else {
                self.skip(&path, "named by the marketplace, not there");
            }
        }
    }

    fn skip(&mut self, path: &str, why: &str) {
        self.found.skipped.push(Skipped { path: path.to_owned(), why: why.to_owned() });
    }

    fn notice(&mut self, code: &str, message: String) {
        self.found.notices.push(Notice { code: code.to_owned(), gate: Gate::Discover, message });
    }
}

/// Whether something of any kind has this name; a name that cannot be looked up counts, so that a gate says why.
fn exists(jail: &Jail, path: &str) -> bool {
    match jail.metadata(path) {
        Ok(_) => true,
        Err(error) => {
            error.answer() != plugward_sandbox_path::Answer::NotThere
                && error.code() != "path/not-a-directory"
        }
    }
}

/// Folders such as `.claude-plugin` hold the main file of the plugin above them, and are no plugin themselves.
fn holds_main_files(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let folder = |file: &str| file.split_once('/').is_some_and(|(folder, _)| folder == name);
    MAIN_FILES.iter().any(|(_, file)| folder(file))
}

fn inside(path: &str, folder: &str) -> bool {
    folder == "." || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Joins two relative paths; `.` is the empty one.
pub(crate) fn join(folder: &str, name: &str) -> String {
    match (folder, name) {
        (folder, "." | "") => folder.to_owned(),
        (".", name) => name.to_owned(),
        (folder, name) => format!("{folder}/{name}"),
    }
}
