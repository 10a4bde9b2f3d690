//! Discovery: which directories are plugins. It reads names only, and the contents of marketplace
//! files.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plugward_installs::InstallKind;
use plugward_manifest::{Dialect, MAIN_FILES, MARKETPLACE_FILES};
use plugward_pinstore::{Pin, PinState, Pins};
use plugward_sandbox_path::{ErrorClass, FileKind, Jail, Listing, OpenError};
use plugward_types::{HostName, PlacePath, PluginKey};

use crate::discovery::installed::{InstalledPlace, PROJECT_LABEL, definition};
use crate::discovery::markets::{MarketListing, Markets};
use crate::discovery::roots::{Reach, Root, RootSearch, Upward, ancestors, inside, join, normalized};
use crate::discovery::unmarked::{PlaceForm, contains_plugins, dialects_by_contents, form_of};
use crate::report::{Gate, Skipped};
use crate::run::options::{CheckOptions, Watch};
use crate::run::outcome::{Notice, Reason};

/// Directory levels under a root that are searched. Repositories keep plugins in the first few
/// levels.
const DEPTH: usize = 16;
/// Names in one directory that are read. The limits bound the time that a planted tree can cost.
pub(crate) const NAMES: usize = 20_000;
/// Directories of one root that are searched.
const DIRECTORIES: usize = 50_000;
/// Bytes of a main file that are read; the manifest parser has the same limit.
pub(crate) const MAIN_LIMIT: u64 = 1 << 20;
/// The file of a skill, in any case.
const SKILL: &[u8] = b"SKILL.md";
/// The names, besides those of manifests and marketplace files, that make a directory one that a host may load.
const OTHER_NAMES: [&str; 7] =
    [".lsp.json", ".mcp.json", "agents", "commands", "hooks", "mcp.json", "package.json"];
/// Directories of version control, which contain no plugins.
pub(crate) const CONTROL: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

/// A directory that is a plugin by its files, by a marketplace entry, or by a pin.
#[derive(Debug, Clone)]
pub(crate) struct PluginPlace {
    /// The index of the root.
    pub(crate) root: usize,
    /// The directory, relative to the root's jail.
    pub(crate) dir: String,
    /// Its real path.
    pub(crate) real: PlacePath,
    pub(crate) reach: Reach,
    pub(crate) form: PlaceForm,
    pub(crate) named: Option<MarketListing>,
    /// The marketplace entry of the directory itself, which a lockfile next to the marketplace file lists.
    pub(crate) listed: Option<MarketListing>,
    /// The other entries for the directory that add something to it.
    pub(crate) further: Vec<MarketListing>,
    /// What a host's records say about the place.
    pub(crate) installed: Option<Arc<InstalledPlace>>,
    /// The error of a marketplace file above the directory: its entry for this plugin is unknown.
    pub(crate) broken: Option<Reason>,
}

impl PluginPlace {
    /// Returns `true` for a plugin that only gnoma loads. gnoma reads the `plugin.json` in the root, and skips a directory
    /// without one. Another host can load what a marketplace lists.
    pub(crate) fn is_of_gnoma(&self) -> bool {
        self.is_in_gnoma() && self.named.is_none() && self.listed.is_none()
    }

    /// Returns `true` for a plugin that gnoma loads, and no other host by its records.
    pub(crate) fn is_in_gnoma(&self) -> bool {
        self.installed.as_ref().is_some_and(|one| {
            let hosts = one.hosts.iter().map(HostName::as_str);
            one.kind == InstallKind::Plugin && hosts.eq([Dialect::Gnoma.as_str()])
        })
    }
}

/// The result of searching one root.
#[derive(Debug, Default)]
pub(crate) struct Discovery {
    pub(crate) places: Vec<PluginPlace>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) seen: SearchExtent,
    /// Pinned places that are not directories any more.
    pub(crate) absent: Vec<AbsentPin>,
}

/// Whether a root was searched completely.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum SearchExtent {
    #[default]
    Complete,
    Partial,
}

/// A pinned place that is not a directory any more.
#[derive(Debug)]
pub(crate) struct AbsentPin {
    /// The index of the root.
    pub(crate) root: usize,
    pub(crate) place: PlacePath,
    /// The cause if it could not be opened; `None` if nothing is there.
    pub(crate) error: Option<OpenError>,
}

struct Walk<'a> {
    root: &'a Root,
    number: usize,
    options: &'a CheckOptions,
    watch: &'a dyn Watch,
    /// Pinned directories, relative to the jail.
    pinned: BTreeSet<String>,
    directories: usize,
    found: Discovery,
    markets: Markets,
    upward: Upward,
    taken: BTreeSet<String>,
    /// The plugin that contains the current directory.
    inside: Option<String>,
    /// `true` inside a directory without a manifest that is judged, in which only plugins with a manifest are looked for.
    is_inside_unmarked: bool,
    /// Whether a directory contains plugins, which decides about those in it without a manifest.
    parents: RefCell<BTreeMap<String, bool>>,
}

/// Searches one root.
pub(crate) fn discover(
    root: &Root,
    number: usize,
    pins: Option<&Pins>,
    options: &CheckOptions,
    watch: &dyn Watch,
) -> Discovery {
    let mut walk = Walk {
        root,
        number,
        options,
        watch,
        pinned: BTreeSet::new(),
        directories: 0,
        found: Discovery::default(),
        markets: Markets::default(),
        upward: Upward::default(),
        taken: BTreeSet::new(),
        inside: None,
        is_inside_unmarked: false,
        parents: RefCell::default(),
    };
    let here = match root.search {
        RootSearch::Below => {
            walk.find_pinned(pins);
            walk.enter();
            let here = walk.directory(&root.dir, 0);
            walk.left_over();
            walk.recorded();
            here
        }
        RootSearch::Recorded => {
            walk.find_pinned(pins);
            walk.recorded();
            DirectoryClass::Below
        }
        RootSearch::Only => {
            walk.take_known(&root.dir);
            DirectoryClass::Plugin
        }
    };
    let Walk { mut found, markets, .. } = walk;
    found.notices.extend(markets.notices().cloned());
    let nothing = found.places.is_empty() && found.skipped.is_empty() && found.absent.is_empty();
    // A project need not contain a plugin; it is searched because its user works there.
    if here == DirectoryClass::Nothing && nothing && root.label != PROJECT_LABEL {
        found.skipped.push(Skipped { path: ".".to_owned(), why: "no manifest".to_owned() });
    }
    found
}

/// What a directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DirectoryClass {
    Plugin,
    /// Not a plugin, but it contains one, or is already reported.
    Below,
    Nothing,
}

impl Walk<'_> {
    /// Lists the pinned places inside the root, both by the typed path and by the real one.
    fn find_pinned(&mut self, pins: Option<&Pins>) {
        let real = self.root.real();
        // A host without a home directory is reported under that of the user, whose other pins are not its own.
        if self.root.search == RootSearch::Recorded && self.root.stops.contains(&real) {
            return;
        }
        let here = |place: &PlacePath| {
            let within = |dir: &PlacePath| place.relative_to(dir).is_some();
            within(&real) || self.root.typed.as_ref().is_some_and(within)
        };
        let placed =
            pins.into_iter().flat_map(Pins::iter).filter_map(|(key, pin)| Some((key.placed()?, pin)));
        // Plugins that are pinned for other dialects are not part of this check.
        let dialect = self.options.dialect;
        let wanted = |pin: &Pin| {
            let of = |only: Dialect| pin.called.iter().any(|name| name.dialect() == only.as_str());
            pin.called.is_empty() || dialect.is_none_or(of)
        };
        for (place, pin) in placed.filter(|(place, pin)| here(place) && wanted(pin)) {
            let Some(dir) = self.root.inside(place) else { continue };
            match self.root.jail.metadata(dir) {
                Ok(meta) if meta.kind() == FileKind::Directory => {
                    self.pinned.insert(dir.to_owned());
                }
                // A settings file that a host reads is judged as what it is.
                Ok(_) if self.options.installs.at(place).is_some() => {}
                // Only the parts of settings files are pinned without a name. If no part is left, nothing runs.
                Ok(meta) if meta.kind() == FileKind::File && is_file_pin(pin) => {
                    // If only one host is checked, the file can be one that another host reads.
                    if self.root.search == RootSearch::Below {
                        self.absent(place, None);
                    }
                }
                // A file at a pinned place is refused when it is opened as a directory.
                Ok(_) => self.absent(place, self.root.jail.subjail(dir).err()),
                // A path below a file is the key of one of its parts, which only the records know.
                Err(error) if error.code() == "path/not-a-directory" && is_file_pin(pin) => {}
                Err(error) if is_absent(&error) => {
                    if pin.state == PinState::Trusted {
                        self.absent(place, None);
                    }
                }
                Err(error) => self.absent(place, Some(error)),
            }
        }
    }

    fn absent(&mut self, place: &PlacePath, error: Option<OpenError>) {
        self.found.absent.push(AbsentPin { root: self.number, place: place.clone(), error });
    }

    /// Finds the plugin that contains the root's directory, if any. A directory inside a plugin is
    /// judged as part of it, whichever of the two the user named.
    fn enter(&mut self) {
        let dir = self.root.dir.clone();
        let own = self.upward.reach(self.root, &dir);
        self.markets.load_above(self.root, &dir, &own);
        let mut above: Vec<&str> =
            ancestors(&dir).take_while(|above| inside(above, &own.outer).is_some()).collect();
        above.reverse();
        for above in above {
            let named = self.is_named(above);
            let marked = || self.is_marked(above, &Names::Unknown);
            if named || (self.inside.is_none() && marked()) {
                self.inside = Some(above.to_owned());
            }
            // Above the project, nothing without a manifest is loaded together with it.
            let top = own.project.as_deref().unwrap_or(&own.top);
            let is_near = inside(above, top).is_some() && self.inside.is_none() && !self.is_inside_unmarked;
            if is_near && let Some(form @ (PlaceForm::Skill | PlaceForm::Layout)) = self.unmarked(above, None)
            {
                self.is_inside_unmarked = true;
                self.take(above, &Names::Unknown, form);
            }
        }
        if let Some(outer) = self.inside.clone()
            && !self.is_named(&dir)
            && !self.pinned.contains(&dir)
        {
            self.take(&outer, &Names::Unknown, PlaceForm::Marked);
        }
    }

    /// Returns what a directory without a manifest is.
    fn unmarked(&self, dir: &str, names: Option<&Names>) -> Option<PlaceForm> {
        if self.inside.is_some() || self.is_inside_unmarked || holds_main_files(dir) {
            return None;
        }
        let listed = || Names::of(self.root.jail.list(dir, NAMES).ok().as_ref());
        let own = if names.is_none() { listed() } else { Names::Unknown };
        let form = form_of(self.root, dir, names.unwrap_or(&own), || self.is_next_to_plugins(dir))?;
        let dialect = if form == PlaceForm::Skill { Dialect::Skill } else { Dialect::Claude };
        self.options.dialect.is_none_or(|only| only == dialect).then_some(form)
    }

    /// Returns `true` if the directory around another one contains plugins.
    fn is_next_to_plugins(&self, dir: &str) -> bool {
        let Some(parent) = ancestors(dir).next() else { return false };
        if let Some(known) = self.parents.borrow().get(parent) {
            return *known;
        }
        let is_plugin = |child: &str| self.is_named(child) || self.is_marked(child, &Names::Unknown);
        let found = contains_plugins(self.root, parent, is_plugin);
        self.parents.borrow_mut().insert(parent.to_owned(), found);
        found
    }

    fn is_named(&self, dir: &str) -> bool {
        // Computing the reach takes many lookups, and few directories are in any marketplace.
        self.markets.mentions(dir) && self.markets.entry(dir, &self.upward.reach(self.root, dir)).is_some()
    }

    fn directory(&mut self, dir: &str, depth: usize) -> DirectoryClass {
        self.directories = self.directories.saturating_add(1);
        if self.directories > DIRECTORIES {
            self.not_all(format!("{dir}: more than {DIRECTORIES} directories; the others were not searched"));
            return DirectoryClass::Below;
        }
        self.watch.discovering(dir);
        let listing = self.root.jail.list(dir, NAMES);
        let names = Names::of(listing.as_ref().ok());
        // A directory such as `.claude-plugin` belongs to the plugin above it.
        let marked = self.is_marked(dir, &names);
        if self.inside.is_none() && !holds_main_files(dir) {
            self.markets.load(self.root, dir, &names);
        }
        let own = self.is_named(dir) || self.pinned.contains(dir);
        if !own && !marked {
            return self.without_manifest(dir, depth, listing, &names);
        }
        if let (false, Some(outer)) = (own, self.inside.clone()) {
            self.skip(dir, &format!("inside the plugin in {}, which is checked with it", self.shown(&outer)));
            return self.descend(dir, depth, listing);
        }
        if marked {
            self.take(dir, &names, PlaceForm::Marked);
        } else {
            self.take_known(dir);
        }
        let outer = self.inside.replace(dir.to_owned());
        let _below: DirectoryClass = self.descend(dir, depth, listing);
        self.inside = outer;
        DirectoryClass::Plugin
    }

    /// Judges or names a directory without a manifest if a host may load it, and searches it.
    fn without_manifest(
        &mut self,
        dir: &str,
        depth: usize,
        listing: Result<Listing, OpenError>,
        names: &Names,
    ) -> DirectoryClass {
        let form = self.unmarked(dir, Some(names));
        match form {
            Some(form @ (PlaceForm::Skill | PlaceForm::Layout)) => {
                self.take(dir, names, form);
                self.is_inside_unmarked = true;
                let _below: DirectoryClass = self.descend(dir, depth, listing);
                self.is_inside_unmarked = false;
                return DirectoryClass::Plugin;
            }
            Some(form) => self.take(dir, names, form),
            None if self.inside.is_none() && !holds_main_files(dir) && names.has("plugin.json") => {
                self.skip(dir, "plugin.json of no known dialect");
            }
            None => {}
        }
        match self.descend(dir, depth, listing) {
            DirectoryClass::Nothing if form.is_some() => DirectoryClass::Below,
            other => other,
        }
    }

    fn descend(&mut self, dir: &str, depth: usize, listing: Result<Listing, OpenError>) -> DirectoryClass {
        if depth < DEPTH {
            return self.children(dir, depth, listing);
        }
        let is_directory =
            |entry: &plugward_sandbox_path::DirectoryEntry| entry.kind() == FileKind::Directory;
        if listing.is_ok_and(|listing| listing.entries().iter().any(is_directory)) {
            let dir = self.shown(dir);
            self.not_all(format!("{dir}: more than {DEPTH} levels; deeper directories were not searched"));
        }
        DirectoryClass::Nothing
    }

    /// Reports that something was not searched. Inside a plugin nothing is lost: its tree is read
    /// completely, or refused.
    fn not_all(&mut self, message: String) {
        if self.inside.is_none() {
            self.found.seen = SearchExtent::Partial;
            self.notice("discover/too-many", message);
        }
    }

    fn children(&mut self, dir: &str, depth: usize, listing: Result<Listing, OpenError>) -> DirectoryClass {
        let listing = match listing {
            Ok(listing) => listing,
            Err(error) => {
                if self.inside.is_none() {
                    self.found.seen = SearchExtent::Partial;
                    self.notice("discover/unreadable", format!("{}: {error}", self.shown(dir)));
                }
                return DirectoryClass::Below;
            }
        };
        if listing.is_truncated() {
            let dir = self.shown(dir);
            self.not_all(format!("{dir}: more than {NAMES} names; the others were not searched"));
        }
        let mut sight = DirectoryClass::Nothing;
        for entry in listing.entries() {
            let name = String::from_utf8_lossy(entry.name()).into_owned();
            let child = join(dir, &name);
            let utf8 = core::str::from_utf8(entry.name()).is_ok();
            match entry.kind() {
                FileKind::Directory if CONTROL.contains(&name.as_str()) => continue,
                FileKind::Directory if !utf8 => {
                    self.skip(&child, "name is not UTF-8");
                    // A host may load it, but a path that is not UTF-8 cannot be a key.
                    if self.inside.is_none() {
                        self.found.seen = SearchExtent::Partial;
                    }
                    sight = DirectoryClass::Below;
                    continue;
                }
                FileKind::Directory => {}
                FileKind::Symlink if self.inside.is_none() => {
                    // A pinned directory that became a symlink is reported separately.
                    if !self.is_absent(&child) {
                        self.link(&child);
                    }
                    continue;
                }
                _ => continue,
            }
            match self.directory(&child, depth.saturating_add(1)) {
                DirectoryClass::Plugin | DirectoryClass::Below => sight = DirectoryClass::Below,
                DirectoryClass::Nothing if depth == 0 && !holds_main_files(&child) => {
                    self.skip(&child, "no manifest");
                }
                DirectoryClass::Nothing => {}
            }
        }
        sight
    }

    /// Names a symlink. A host follows it, so a plugin behind it that this search does not reach is an open end.
    fn link(&mut self, link: &str) {
        // A name that is not UTF-8 does not change in which directory the target is.
        let target = self.root.jail.read_link(link).ok();
        let target = target.and_then(|target| {
            let target = String::from_utf8_lossy(&target);
            let place = self.root.top.join(link).ok()?.parent()?;
            let path = if target.starts_with('/') {
                target.into_owned()
            } else {
                format!("{}/{target}", place.as_str())
            };
            self.root.inside(&PlacePath::new(&normalized(&path)).ok()?).map(str::to_owned)
        });
        let is_searched = |target: &String| {
            inside(target, &self.root.dir).is_some() || inside(&self.root.dir, target).is_some()
        };
        let why = match target {
            Some(target) if is_searched(&target) => "a symlink to a directory or file that is searched",
            Some(target) if !self.holds_plugin(&target) => "a symlink to something else than a plugin",
            _ => {
                let message = format!(
                    "{}: a symlink that leads out of the search; check the directory that it names",
                    self.shown(link)
                );
                self.found.seen = SearchExtent::Partial;
                self.notice("discover/link", message);
                "a symlink, which is not followed"
            }
        };
        self.skip(link, why);
    }

    /// Returns `true` if a directory, or one directly in it, may be loaded by a host.
    fn holds_plugin(&self, dir: &str) -> bool {
        let Ok(listing) = self.root.jail.list(dir, NAMES) else {
            return self.root.jail.metadata(dir).is_err_and(|error| !is_absent(&error));
        };
        let is_one = |dir: &str| {
            let names = Names::of(self.root.jail.list(dir, NAMES).ok().as_ref());
            self.is_marked(dir, &names) || form_of(self.root, dir, &names, || true).is_some()
        };
        let mut names = listing.entries().iter().filter(|entry| entry.kind() == FileKind::Directory);
        listing.is_truncated()
            || is_one(dir)
            || names.any(|entry| is_one(&join(dir, &String::from_utf8_lossy(entry.name()))))
    }

    fn is_absent(&self, dir: &str) -> bool {
        self.root
            .top
            .join(dir)
            .is_ok_and(|place| self.found.absent.iter().any(|absent| absent.place == place))
    }

    /// Returns `true` if a directory contains a main file of a dialect, of any file type.
    ///
    /// A `plugin.json` at the top level can belong to many other programs, so its contents decide.
    fn is_marked(&self, dir: &str, names: &Names) -> bool {
        let wanted = |dialect| self.options.dialect.is_none_or(|only| only == dialect);
        // The `plugin.json` in a directory such as `.claude-plugin` belongs to the plugin above it.
        let inner = holds_main_files(dir);
        let there = |file: &str| names.can_have(file) && exists(&self.root.jail, &join(dir, file));
        let mut files =
            MAIN_FILES.iter().filter(|(dialect, file)| wanted(*dialect) && *file != "plugin.json");
        files.any(|(_, file)| there(file))
            || (!inner
                && (there("plugin.json") || there("package.json"))
                && dialects_by_contents(&self.root.jail, dir, names, self.options.dialect)
                    .into_iter()
                    .any(wanted))
    }

    /// Takes a directory that a pin, a marketplace entry or the user names. It need not be next to other plugins.
    fn take_known(&mut self, dir: &str) {
        let names = Names::of(self.root.jail.list(dir, NAMES).ok().as_ref());
        let unmarked = || form_of(self.root, dir, &names, || true);
        let form = if self.is_marked(dir, &names) { None } else { unmarked() };
        self.take(dir, &names, form.unwrap_or(PlaceForm::Marked));
    }

    fn take(&mut self, dir: &str, names: &Names, form: PlaceForm) {
        let Ok(real) = self.root.top.join(dir) else {
            return self.not_all(format!("{}: not searched, since the path is too long", self.shown(dir)));
        };
        if !self.taken.insert(dir.to_owned()) {
            return;
        }
        let reach = self.upward.reach(self.root, dir);
        self.markets.load_above(self.root, dir, &reach);
        // A place that is not a directory is refused when it is opened.
        if self.root.jail.metadata(dir).is_ok_and(|meta| meta.kind() == FileKind::Directory) {
            self.markets.load(self.root, dir, names);
        }
        let installed = self.options.installs.at(&real).cloned();
        let (listed, mut broken) = self.entry(dir, &reach);
        let named = match &installed {
            Some(installed) => {
                let named;
                (named, broken) = self.installed_entry(dir, &reach, installed);
                named
            }
            None => listed.clone(),
        };
        // A record names the entry that its host loads.
        let further =
            if installed.is_some() { Vec::new() } else { self.markets.further_entries(dir, &reach) };
        let (root, dir) = (self.number, dir.to_owned());
        self.found.places.push(PluginPlace {
            root,
            dir,
            real,
            reach,
            form,
            named,
            listed,
            further,
            installed,
            broken,
        });
    }

    /// Returns the marketplace entry of a directory, or else the error of a file that could have one.
    fn entry(&self, dir: &str, reach: &Reach) -> (Option<MarketListing>, Option<Reason>) {
        let entry = self.markets.entry(dir, reach).cloned();
        let broken = if entry.is_none() { self.markets.broken(dir, reach).cloned() } else { None };
        (entry, broken)
    }

    /// Returns the definition of an install: the entry of the marketplace that its record names, or what its kind
    /// means.
    fn installed_entry(
        &mut self,
        dir: &str,
        reach: &Reach,
        installed: &InstalledPlace,
    ) -> (Option<MarketListing>, Option<Reason>) {
        if let Some(entry) = definition(installed) {
            return (Some(MarketListing { market: String::new(), entry, was: Vec::new() }), None);
        }
        let name = installed.keys.first().filter(|key| key.placed().is_none()).map(PluginKey::name);
        let market = installed.marketplace.as_deref().and_then(|path| {
            let place = PlacePath::new(path).ok()?;
            self.root.inside(&place).map(str::to_owned)
        });
        let (Some(name), Some(market)) = (name, market) else { return self.entry(dir, reach) };
        self.markets.load(self.root, &market, &Names::Unknown);
        let (entry, broken) = self.markets.entry_named(&market, name);
        // An entry that only describes a plugin with a manifest changes with every release of its marketplace, and adds
        // nothing to what runs.
        let adds = |one: &MarketListing| one.entry.has_components() || !one.entry.is_strict();
        let entry = entry
            .filter(adds)
            .map(|listing| MarketListing { entry: listing.entry.without_metadata(), ..listing });
        (entry, broken)
    }

    /// Returns `true` for the `.mcp.json` of a plugin that is also a project. The plugin's own manifest reads it.
    fn is_file_of_a_plugin(&self, one: &InstalledPlace) -> bool {
        let above = one.place.parent().and_then(|dir| Some(self.root.inside(&dir)?.to_owned()));
        one.kind == InstallKind::Servers
            && one.place.name() == ".mcp.json"
            && above.is_some_and(|dir| self.taken.contains(&dir))
    }

    /// Adds what hosts would load of this root and the search did not find.
    fn recorded(&mut self) {
        let real = self.root.real();
        let mine: Vec<Arc<InstalledPlace>> = self
            .options
            .installs
            .places()
            .filter(|one| {
                let is_below =
                    self.root.search == RootSearch::Below && one.place.relative_to(&real).is_some();
                is_below || one.label == self.root.label
            })
            .cloned()
            .collect();
        for one in mine {
            if self.is_file_of_a_plugin(&one) {
                continue;
            }
            match self.root.inside(&one.place).map(str::to_owned) {
                Some(dir) => self.take(&dir, &Names::Unknown, PlaceForm::Marked),
                None => self.skip(one.place.name(), "outside of the directory that this check can open"),
            }
        }
    }

    /// Adds pinned directories and marketplace entries that the search did not reach, because they
    /// are inside a plugin or too deep, and entries whose directory does not exist.
    fn left_over(&mut self) {
        let base = self.root.dir.clone();
        let named: Vec<String> = self.markets.named_inside(&base).map(str::to_owned).collect();
        let pinned: Vec<String> = self.pinned.iter().cloned().collect();
        for dir in named.into_iter().chain(pinned) {
            if self.taken.contains(&dir) || !self.wanted(&dir) {
                continue;
            }
            // A symlink or a file at the place is refused by the gate that opens it.
            if exists(&self.root.jail, &dir) {
                self.take_known(&dir);
            } else {
                self.skip(&dir, "named by the marketplace, but does not exist");
            }
        }
    }

    /// Returns `true` if a place is inside the root. A pinned place can be under the typed path,
    /// but outside the directory that the path now leads to.
    fn wanted(&self, dir: &str) -> bool {
        inside(dir, &self.root.dir).is_some()
    }

    /// Returns a path for the report, relative to the root's directory.
    fn shown(&self, dir: &str) -> String {
        inside(dir, &self.root.dir).unwrap_or(dir).to_owned()
    }

    fn skip(&mut self, dir: &str, why: &str) {
        let path = self.shown(dir);
        self.found.skipped.push(Skipped { path, why: why.to_owned() });
    }

    fn notice(&mut self, code: &str, message: String) {
        self.found.notices.push(Notice::new(code, Gate::Discover, message));
    }
}

/// Returns `true` for the pin of a settings file. Such a file has no name of its own.
fn is_file_pin(pin: &Pin) -> bool {
    pin.called.is_empty() && pin.directory.is_none() && pin.state == PinState::Trusted
}

fn is_absent(error: &OpenError) -> bool {
    error.class() == ErrorClass::NotFound || error.code() == "path/not-a-directory"
}

/// Returns `true` if an entry of any type has this name, or if it cannot be looked up. A gate then
/// reports the cause.
pub(crate) fn exists(jail: &Jail, path: &str) -> bool {
    jail.metadata(path).map_or_else(|error| !is_absent(&error), |_| true)
}

/// Returns `true` if a directory with an entry of this name can be a plugin.
#[must_use]
pub fn is_plugin_entry(name: &[u8]) -> bool {
    MAIN_FILES.iter().any(|(_, file)| is_first(file, name))
        || OTHER_NAMES.iter().any(|other| other.as_bytes() == name)
        || name.eq_ignore_ascii_case(SKILL)
}

/// Returns `true` if a name is the first component of a path.
fn is_first(path: &str, name: &[u8]) -> bool {
    path.split('/').next().is_some_and(|first| first.as_bytes() == name)
}

/// The names in a directory that matter to discovery. Reading them from a listing saves lookups of
/// absent names.
pub(crate) enum Names {
    /// The directory could not be listed completely, so any name can exist.
    Unknown,
    Known(BTreeSet<Vec<u8>>),
}

impl Names {
    pub(crate) fn of(listing: Option<&Listing>) -> Self {
        let matters = |name: &[u8]| {
            MARKETPLACE_FILES.iter().any(|(_, file)| is_first(file, name)) || is_plugin_entry(name)
        };
        match listing.filter(|listing| !listing.is_truncated()) {
            Some(listing) => {
                let names = listing.entries().iter().map(plugward_sandbox_path::DirectoryEntry::name);
                Self::Known(names.filter(|name| matters(name)).map(<[u8]>::to_vec).collect())
            }
            None => Self::Unknown,
        }
    }

    /// Returns `true` if a name is known to exist.
    fn has(&self, name: &str) -> bool {
        matches!(self, Self::Known(names) if names.contains(name.as_bytes()))
    }

    /// Returns `true` if a directory has a SKILL.md. Case is ignored, because file systems on macOS ignore it.
    pub(crate) fn has_skill(&self, jail: &Jail, dir: &str) -> bool {
        match self {
            Self::Known(names) => names.iter().any(|name| name.eq_ignore_ascii_case(SKILL)),
            Self::Unknown => exists(jail, &join(dir, "SKILL.md")),
        }
    }

    /// Returns `true` if a file can exist, judged by the first component of its path.
    pub(crate) fn can_have(&self, file: &str) -> bool {
        match self {
            Self::Unknown => true,
            Self::Known(names) => names.contains(file.split('/').next().unwrap_or(file).as_bytes()),
        }
    }
}

/// Returns `true` for directories such as `.claude-plugin`, which contain the main file of the
/// plugin above them.
fn holds_main_files(dir: &str) -> bool {
    let directories = MAIN_FILES.iter().filter_map(|(_, file)| file.rsplit_once('/'));
    directories
        .into_iter()
        .any(|(inner, _)| dir == inner || dir.strip_suffix(inner).is_some_and(|above| above.ends_with('/')))
}
