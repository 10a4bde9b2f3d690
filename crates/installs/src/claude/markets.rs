//! Marketplaces: which of them are used in place, and what they have renamed.

use std::collections::BTreeMap;

use plugward_manifest::json::{self, JsonNode, ParseLimits};
use plugward_manifest::{CommandSources, Marketplace, Source, read_marketplace};
use plugward_types::{InstalledId, escape};

use super::Roots;
use crate::RecordPlace;
use crate::collector::{Collector, join, place, shown, step};
use crate::source_file::Syntax;

/// The kinds of sources that are copied into the cache.
const COPIED: &[&str] = &["archive", "command", "git", "git-subdir", "github", "npm", "settings", "url"];

/// The marketplaces in the records; each marketplace file is read when its first plugin is found.
#[derive(Default)]
pub(super) struct Markets {
    known: BTreeMap<String, KnownMarket>,
    read: BTreeMap<String, Market>,
}

#[derive(Default, Clone)]
struct KnownMarket {
    location: String,
    is_in_place: bool,
    fault: Option<MarketFault>,
}

/// The reason that the plugins of a marketplace cannot be found.
#[derive(Clone)]
pub(super) struct MarketFault {
    pub(super) record: RecordPlace,
    pub(super) message: String,
}

/// A marketplace as far as it decides about installed plugins.
#[derive(Default)]
pub(super) struct Market {
    /// The directory, if the record names one.
    pub(super) directory: Option<String>,
    /// The directories that the host runs in place, by name.
    pub(super) in_place: BTreeMap<String, String>,
    /// The reason that none of its plugins can be found.
    fault: Option<MarketFault>,
    /// The reasons that single plugins cannot be found, by name.
    refused: BTreeMap<String, MarketFault>,
    /// The former names of an entry.
    former: BTreeMap<String, Vec<String>>,
}

impl Markets {
    /// Reads the records of marketplaces. Those of the seeds replace the user's.
    pub(super) fn read(found: &mut Collector<'_>, roots: &Roots) -> Self {
        let mut markets = Self::default();
        for name in ["known_marketplaces_claudeai.json", "known_marketplaces.json"] {
            markets.read_record(found, &join(&roots.plugins, name), None);
        }
        for seed in roots.seeds.iter().rev() {
            markets.read_record(found, &join(seed, "known_marketplaces.json"), Some(seed));
        }
        markets
    }

    fn read_record(&mut self, found: &mut Collector<'_>, path: &str, seed: Option<&String>) {
        let Some(file) = found.open(path, Syntax::Json) else { return };
        let Some(root) = found.parse(&file) else { return };
        for member in root.members().unwrap_or_default() {
            let fault = |message| MarketFault { record: place(path, &step("", member.key())), message };
            let mut known = known_market(member.node()).unwrap_or_else(|message| KnownMarket {
                fault: Some(fault(message)),
                ..KnownMarket::default()
            });
            if let Some(seed) = seed {
                // The paths in a seed are those of the machine on which it was made.
                known.location = join(seed, &format!("marketplaces/{}", member.key()));
            }
            self.known.insert(member.key().to_owned(), known);
        }
    }

    /// Returns the marketplace of an id.
    pub(super) fn of(&mut self, found: &Collector<'_>, id: &InstalledId) -> &Market {
        let name = id.market().unwrap_or_default();
        let known = &self.known;
        self.read.entry(name.to_owned()).or_insert_with(|| match known.get(name) {
            Some(known) => known.open(found),
            None => Market::default(),
        })
    }
}

fn known_market(node: &JsonNode<'_>) -> Result<KnownMarket, String> {
    let source = node.get("source").ok_or("expected an object with `source`")?;
    let kind = source
        .get("source")
        .and_then(JsonNode::as_str)
        .ok_or("expected the kind of the source as `source`")?;
    let is_in_place = matches!(kind, "directory" | "file");
    if !is_in_place && !COPIED.contains(&kind) {
        return Err(format!("unknown kind of source `{}`", shown(kind)));
    }
    let location = match node.get("installLocation") {
        Some(location) => location.as_str().ok_or("expected a string as `installLocation`")?,
        None => source.get("path").and_then(JsonNode::as_str).unwrap_or_default(),
    };
    Ok(KnownMarket { location: location.to_owned(), is_in_place, fault: None })
}

impl KnownMarket {
    fn open(&self, found: &Collector<'_>) -> Market {
        if self.fault.is_some() || self.location.is_empty() {
            return Market { fault: self.fault.clone(), ..Market::default() };
        }
        let (directory, file) = self.file(found);
        let mut market = Market { directory: Some(directory), ..Market::default() };
        match read_file(found, &file) {
            Ok(Some(read)) => market.fill(found, &read, self.is_in_place, &file),
            Ok(None) => {}
            // Of other marketplaces, the file only tells former names. The host runs their copies in the cache.
            Err(message) if self.is_in_place => {
                market.fault = Some(MarketFault { record: place(&file, ""), message });
            }
            Err(_) => {}
        }
        market
    }

    /// Returns the directory and the marketplace file. A record can name either.
    fn file(&self, found: &Collector<'_>) -> (String, String) {
        if !found.is_file(&self.location) {
            return (self.location.clone(), join(&self.location, ".claude-plugin/marketplace.json"));
        }
        let directory = self.location.rsplit_once('/').map_or("", |(directory, _)| directory);
        let root = directory.strip_suffix("/.claude-plugin").unwrap_or(directory);
        (root.to_owned(), self.location.clone())
    }
}

/// A marketplace file, with the names of the entries that are refused.
struct MarketFile {
    market: Marketplace,
    refused: Vec<Option<String>>,
}

fn read_file(found: &Collector<'_>, path: &str) -> Result<Option<MarketFile>, String> {
    let Some(bytes) = found.machine.files.read(path).map_err(|fault| fault.message)? else { return Ok(None) };
    let read = read_marketplace(path, &bytes, CommandSources::Allowed);
    let (market, _) = read.map_err(|errors| escape::line(&errors.to_string()).into_owned())?;
    // An entry with an invalid source has a name that only the JSON contains.
    let root = json::parse(&bytes, &ParseLimits::marketplace()).ok();
    let entries = root.as_ref().and_then(|root| root.get("plugins")?.items()).unwrap_or_default();
    let name = |index: usize| Some(entries.get(index)?.get("name")?.as_str()?.to_owned());
    let refused = market.refused().iter().map(|entry| name(entry.index())).collect();
    Ok(Some(MarketFile { market, refused }))
}

impl Market {
    fn fill(&mut self, found: &Collector<'_>, read: &MarketFile, is_in_place: bool, file: &str) {
        let MarketFile { market: read, refused } = read;
        for (old, new) in read.renames() {
            self.former.entry(new.clone()).or_default().push(old.clone());
        }
        if !is_in_place {
            return;
        }
        let directory = self.directory.clone().unwrap_or_default();
        for entry in read.entries() {
            if let Source::Local { path } = entry.source() {
                let at = if path.is_empty() { directory.clone() } else { join(&directory, path) };
                // Without the directory the host runs the copy in the cache.
                if found.is_directory(&at) {
                    self.in_place.insert(entry.name().to_owned(), at);
                }
            }
        }
        // The place of a refused entry is not known, so its plugin cannot be judged.
        for (entry, name) in read.refused().iter().zip(refused) {
            let Some(name) = name else { continue };
            let record = place(file, &format!("/plugins/{}", entry.index()));
            let message = escape::line(&entry.errors().to_string()).into_owned();
            self.refused.insert(name.clone(), MarketFault { record, message });
        }
    }

    /// Returns the reason that the directory of an id is not known.
    pub(super) fn fault(&self, id: &InstalledId) -> Option<&MarketFault> {
        self.fault.as_ref().or_else(|| self.refused.get(id.name()))
    }

    /// Returns the ids that the marketplace has renamed to this one.
    pub(super) fn former_ids(
        &self,
        id: &InstalledId,
        is_recorded: impl Fn(&InstalledId) -> bool,
    ) -> Vec<InstalledId> {
        let market = id.market().unwrap_or_default();
        let names = self.former.get(id.name()).into_iter().flatten();
        let ids = names.filter_map(|name| format!("{name}@{market}").parse().ok());
        ids.filter(|id| !is_recorded(id)).collect()
    }
}
