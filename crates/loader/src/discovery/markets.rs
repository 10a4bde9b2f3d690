//! Marketplace files, which list plugins and their directories.

use std::collections::{BTreeMap, BTreeSet};

use plugward_manifest::{
    CommandSources, MARKETPLACE_FILES, Marketplace, MarketplaceEntry, Source, json, read_marketplace,
};

use crate::discovery::discover::{Names, exists};
use crate::discovery::roots::{Reach, Root, ancestors, inside, join};
use crate::report::Gate;
use crate::run::outcome::{Notice, Reason, Weight};

/// Bytes of a marketplace file that are read; its parser has the same limit.
const MARKET_LIMIT: u64 = 4 << 20;

/// A marketplace entry for one directory.
#[derive(Debug, Clone)]
pub(crate) struct MarketListing {
    pub(crate) market: String,
    pub(crate) entry: MarketplaceEntry,
    /// Former names of the plugin, according to the marketplace.
    pub(crate) was: Vec<String>,
}

/// The marketplace files around the plugins of one root, each read once.
#[derive(Debug, Default)]
pub(crate) struct Markets {
    /// By the directory of the file, relative to the root's jail.
    read: BTreeMap<String, DirectoryMarkets>,
    /// All directories with an entry, relative to the root's jail.
    named: BTreeSet<String>,
}

/// The marketplace files of one directory.
#[derive(Debug, Default)]
struct DirectoryMarkets {
    /// By the plugin's directory, relative to the root's jail. The first entry for a directory names the plugin.
    named: BTreeMap<String, Vec<MarketListing>>,
    /// By the name of the entry, whatever its source is. Hosts copy plugins, so a copy is found by its name.
    by_name: BTreeMap<String, MarketListing>,
    broken: Option<Reason>,
    notices: Vec<Notice>,
}

impl Markets {
    /// Reads the marketplace files of a directory, once.
    pub(crate) fn load(&mut self, root: &Root, dir: &str, names: &Names) {
        if !self.read.contains_key(dir) {
            let here = DirectoryMarkets::read(root, dir, names);
            self.named.extend(here.named.keys().cloned());
            self.read.insert(dir.to_owned(), here);
        }
    }

    /// Reads the marketplace files above a directory, within its reach.
    pub(crate) fn load_above(&mut self, root: &Root, dir: &str, reach: &Reach) {
        for above in ancestors(dir).take_while(|above| inside(above, &reach.outer).is_some()) {
            self.load(root, above, &Names::Unknown);
        }
    }

    /// Returns the entry for a directory from the nearest file above it, else from a file inside
    /// it.
    ///
    /// A plugin's own file comes last, so that it cannot hide what the marketplace above it adds.
    pub(crate) fn entry(&self, dir: &str, reach: &Reach) -> Option<&MarketListing> {
        let above = ancestors(dir).take_while(|above| inside(above, &reach.outer).is_some());
        above.chain([dir]).find_map(|at| self.read.get(at)?.named.get(dir)?.first())
    }

    /// Returns the other entries for a directory that add something to it. A host can load the directory as any of them.
    pub(crate) fn further_entries(&self, dir: &str, reach: &Reach) -> Vec<MarketListing> {
        let above = ancestors(dir).take_while(|above| inside(above, &reach.outer).is_some());
        let all = above.chain([dir]).filter_map(|at| self.read.get(at)?.named.get(dir)).flatten();
        let mut seen: BTreeSet<&str> =
            self.entry(dir, reach).map(|first| first.entry.canonical()).into_iter().collect();
        all.filter(|one| one.entry.has_components() && seen.insert(one.entry.canonical())).cloned().collect()
    }

    /// Returns the error of a marketplace file above a directory, if one cannot be used.
    pub(crate) fn broken(&self, dir: &str, reach: &Reach) -> Option<&Reason> {
        let above = ancestors(dir).take_while(|above| inside(above, &reach.outer).is_some());
        above.chain([dir]).find_map(|at| self.read.get(at)?.broken.as_ref())
    }

    /// Returns the entry with a name in the marketplace file of one directory, or the error of that file.
    pub(crate) fn entry_named(&self, dir: &str, name: &str) -> (Option<MarketListing>, Option<Reason>) {
        let Some(here) = self.read.get(dir) else { return (None, None) };
        match here.by_name.get(name) {
            Some(entry) => (Some(entry.clone()), None),
            None => (None, here.broken.clone()),
        }
    }

    /// Returns `true` if any marketplace has an entry for a directory.
    pub(crate) fn mentions(&self, dir: &str) -> bool {
        self.named.contains(dir)
    }

    /// Returns the directories inside `dir` that have an entry.
    pub(crate) fn named_inside<'m>(&'m self, dir: &'m str) -> impl Iterator<Item = &'m str> {
        self.named.iter().map(String::as_str).filter(move |named| inside(named, dir).is_some())
    }

    /// Returns the notices about the files.
    pub(crate) fn notices(&self) -> impl Iterator<Item = &Notice> {
        self.read.values().flat_map(|here| &here.notices)
    }
}

impl DirectoryMarkets {
    fn read(root: &Root, dir: &str, names: &Names) -> Self {
        let mut here = Self::default();
        // Paths in the file of a directory such as `.agents/plugins` are relative to the repository.
        let directories = MARKETPLACE_FILES.iter().filter_map(|(_, file)| file.rsplit_once('/'));
        let is_inner = directories.into_iter().any(|(inner, _)| {
            dir.strip_suffix(inner).is_some_and(|above| above.is_empty() || above.ends_with('/'))
        });
        for (_, name) in MARKETPLACE_FILES {
            let file = join(dir, name);
            let there = names.can_have(name) && exists(&root.jail, &file);
            if (is_inner && *name == "marketplace.json") || !there {
                continue;
            }
            let bytes = match root.jail.read(file.as_str(), MARKET_LIMIT) {
                Ok(bytes) => bytes,
                Err(error) => {
                    // An unsearchable directory hides every such file, and is reported once.
                    if !here.notices.iter().any(|notice| notice.code == "market/unreadable") {
                        here.breaks("market/unreadable", format!("{file}: {error}"), Weight::CouldNotTell);
                    }
                    continue;
                }
            };
            match read_marketplace(&file, &bytes, CommandSources::Refused) {
                Ok((market, notices)) => {
                    for notice in notices {
                        let message = format!("{}: {}", notice.place(), notice.message());
                        here.notices.push(Notice::new(notice.code(), Gate::Discover, message));
                    }
                    for error in market.refused().iter().flat_map(|entry| entry.errors().iter()) {
                        here.breaks(error.code(), error.to_string(), Weight::Integrity);
                    }
                    here.enlist(root, dir, &market);
                }
                Err(errors) => {
                    for error in errors.iter() {
                        here.breaks(error.code(), error.to_string(), Weight::Integrity);
                    }
                }
            }
        }
        here
    }

    /// Records an unusable marketplace file. Its entries are unknown, and an entry can add to what
    /// a plugin runs, so the plugins in its directory that no readable entry names are refused.
    fn breaks(&mut self, code: &str, message: String, weight: Weight) {
        self.notices.push(Notice::new(code, Gate::Discover, message.clone()));
        let help = "fix the marketplace file; until then, plugins without a readable entry are refused";
        self.broken.get_or_insert_with(|| Reason::new(code, Gate::Discover, weight, message, help));
    }

    fn enlist(&mut self, root: &Root, dir: &str, market: &Marketplace) {
        for entry in market.entries() {
            let renames = market.renames().iter().filter(|(_, new)| *new == entry.name());
            let listing = MarketListing {
                market: market.name().to_owned(),
                entry: entry.clone(),
                was: renames.map(|(old, _)| old.clone()).collect(),
            };
            self.by_name.entry(entry.name().to_owned()).or_insert_with(|| listing.clone());
            let Source::Local { path } = entry.source() else { continue };
            // Hosts put the plugin root before a bare name only, but many marketplaces repeat it in a path.
            let shorter = path.strip_prefix(market.plugin_root()).and_then(|rest| rest.strip_prefix('/'));
            let is_path = is_path(entry);
            let is_there = |path: &str| exists(&root.jail, &join(dir, path));
            let place = match shorter {
                Some(shorter) if is_path && (is_there(shorter) || !is_there(path)) => join(dir, shorter),
                Some(shorter) if !is_there(path) => join(dir, shorter),
                Some(_) | None => join(dir, path),
            };
            self.named.entry(place).or_default().push(listing);
        }
    }
}

/// Returns `true` if the source of an entry is written as a path.
fn is_path(entry: &MarketplaceEntry) -> bool {
    let root = json::parse(entry.raw().as_bytes(), &json::ParseLimits::standard());
    let source = root.as_ref().ok().and_then(|root| root.get("source")?.as_str());
    source.is_some_and(|source| source.starts_with("./"))
}
