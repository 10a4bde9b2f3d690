//! Marketplaces: which of them are used in place, and what they have renamed.

use std::collections::{BTreeMap, BTreeSet};

use plugward_manifest::json::{self, JsonNode, ParseLimits};
use plugward_manifest::{CommandSources, Source, read_marketplace};
use plugward_types::{InstalledId, escape};

use super::Context;
use crate::collector::{Collector, absolute, clean, join, place, shown, step};
use crate::source_file::Syntax;
use crate::{EntryKind, InstallProblem, InstallProblemKind, RecordPlace};

/// The kinds of sources that are copied into the cache.
const COPIED: &[&str] = &["archive", "command", "git", "git-subdir", "github", "npm", "settings", "url"];

/// The marketplaces in the records and settings; each marketplace file is read when its first plugin is found.
#[derive(Default)]
pub(super) struct Markets {
    known: BTreeMap<String, Result<KnownMarket, InstallProblem>>,
    read: BTreeMap<String, Market>,
}

/// A marketplace in a record or in the settings.
#[derive(Clone)]
pub(super) struct KnownMarket {
    location: String,
    is_in_place: bool,
    /// `true` if the source is a marketplace file and not a directory.
    is_file: bool,
}

/// A marketplace as far as it decides about installed plugins.
#[derive(Default)]
pub(super) struct Market {
    /// The directory, if a record names one.
    pub(super) directory: Option<String>,
    /// The directories that the host runs in place, by name.
    pub(super) in_place: BTreeMap<String, String>,
    /// The reason that none of its plugins can be found.
    fault: Option<InstallProblem>,
    /// The reasons that single plugins cannot be found, by name.
    refused: BTreeMap<String, InstallProblem>,
    /// The former names of an entry.
    former: BTreeMap<String, Vec<String>>,
}

impl Markets {
    /// Reads the records of marketplaces. Those of the seeds replace the user's.
    pub(super) fn read(found: &mut Collector<'_>, context: &Context) -> Self {
        let mut markets = Self::default();
        // The host creates the row of a directory in the settings at its next start, and runs it in that start.
        for (name, known) in &context.settings.markets {
            markets.known.insert(name.clone(), Ok(known.clone()));
        }
        for name in ["known_marketplaces_claudeai.json", "known_marketplaces.json"] {
            markets.read_record(found, &join(&context.roots.plugins, name), None);
        }
        for seed in context.roots.seeds.iter().rev() {
            markets.read_record(found, &join(seed, "known_marketplaces.json"), Some(seed));
        }
        markets
    }

    fn read_record(&mut self, found: &mut Collector<'_>, path: &str, seed: Option<&String>) {
        let Some(file) = found.open(path, Syntax::Json) else { return };
        let Some(root) = found.parse(&file) else { return };
        for member in root.members_or_none() {
            let record = place(path, &step("", member.key()));
            let location = member.node().get("installLocation");
            let mut known =
                known_market(member.node(), location).map_err(|message| fault(found, record, message));
            if let (Some(seed), Ok(known)) = (seed, &mut known) {
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
            Some(Ok(known)) if !known.location.is_empty() => known.open(found),
            Some(Err(fault)) => Market { fault: Some(fault.clone()), ..Market::default() },
            Some(Ok(_)) | None => Market::default(),
        })
    }
}

fn fault(found: &Collector<'_>, record: RecordPlace, message: String) -> InstallProblem {
    found.draft(InstallProblemKind::Row, record, message, "correct the marketplace, or add it again")
}

fn known_market(node: &JsonNode<'_>, location: Option<&JsonNode<'_>>) -> Result<KnownMarket, String> {
    let source = node.get("source").ok_or("expected an object with `source`")?;
    let kind =
        source.get("source").and_then(JsonNode::as_str).ok_or("expected a kind as `source` of the source")?;
    let is_in_place = matches!(kind, "directory" | "file");
    if !is_in_place && !COPIED.contains(&kind) {
        return Err(format!("unknown kind of source `{}`", shown(kind)));
    }
    let location = match location {
        Some(location) => location.as_str().ok_or("expected a string as `installLocation`")?,
        None => source.get("path").and_then(JsonNode::as_str).unwrap_or_default(),
    };
    Ok(KnownMarket { location: location.to_owned(), is_in_place, is_file: kind == "file" })
}

/// Returns a marketplace in the settings, if the host uses it in place.
pub(super) fn market_of(found: &Collector<'_>, node: &JsonNode<'_>, base: &str) -> Option<KnownMarket> {
    // In settings, the host ignores `installLocation`.
    let known = known_market(node, None).ok().filter(|known| known.is_in_place)?;
    let is_full = known.location.starts_with(['/', '~']);
    let path = if is_full { absolute(found.machine, &known.location) } else { join(base, &known.location) };
    Some(KnownMarket { location: clean(&path), ..known })
}

/// Returns the path of an entry as the host reads it: the plugin root comes only before paths without `./`.
fn without_root<'p>(raw: &str, path: &'p str, root: &str) -> &'p str {
    let node = json::parse(raw.as_bytes(), &ParseLimits::marketplace()).ok();
    let source = node.as_ref().and_then(|node| node.get("source")?.as_str());
    if root.is_empty() || !source.is_some_and(|source| source.starts_with("./")) {
        return path;
    }
    path.strip_prefix(root).map_or(path, |rest| rest.trim_start_matches('/'))
}

impl KnownMarket {
    fn open(&self, found: &Collector<'_>) -> Market {
        let (directory, file) = self.file(found);
        let mut market = Market::default();
        let filled = market.fill(found, self, &directory, &file);
        market.directory = Some(directory);
        match filled {
            // Of other marketplaces, the file only tells former names. The host runs their copies in the cache.
            Err(message) if self.is_in_place => market.fault = Some(fault(found, place(&file, ""), message)),
            Ok(()) | Err(_) => {}
        }
        market
    }

    /// Returns the directory and the marketplace file. A record can name either.
    fn file(&self, found: &Collector<'_>) -> (String, String) {
        if found.machine.files.kind(&self.location) != Some(EntryKind::File) {
            return (self.location.clone(), join(&self.location, ".claude-plugin/marketplace.json"));
        }
        let directory = self.location.rsplit_once('/').map_or("", |(directory, _)| directory);
        let root = directory.strip_suffix("/.claude-plugin").unwrap_or(directory);
        (root.to_owned(), self.location.clone())
    }
}

impl Market {
    fn fill(
        &mut self,
        found: &Collector<'_>,
        known: &KnownMarket,
        directory: &str,
        file: &str,
    ) -> Result<(), String> {
        let Some(bytes) = found.machine.files.read(file).map_err(|fault| fault.message)? else {
            return Ok(());
        };
        let read = read_marketplace(file, &bytes, CommandSources::Allowed);
        let (read, _) = read.map_err(|errors| escape::line(&errors.to_string()).into_owned())?;
        for (old, new) in read.renames() {
            self.former.entry(new.clone()).or_default().push(old.clone());
        }
        if !known.is_in_place {
            return Ok(());
        }
        // The paths of a marketplace file that is the source itself are relative to the directory of that file.
        let parent = file.rsplit_once('/').map_or("", |(parent, _)| parent);
        let base = if known.is_file { parent } else { directory };
        for entry in read.entries() {
            let Source::Local { path } = entry.source() else { continue };
            let path = without_root(entry.raw(), path, read.plugin_root());
            let at = if path.is_empty() { base.to_owned() } else { join(base, path) };
            if found.is_directory(&at) {
                self.in_place.insert(entry.name().to_owned(), at);
                continue;
            }
            // The host runs nothing then, also if there is a copy in the cache. It can be created at any time.
            let message = format!("the directory in the marketplace is not on disk: {}", shown(&at));
            let help = "restore the directory, or uninstall the plugin";
            let problem = found.draft(InstallProblemKind::Missing, place(file, ""), message, help);
            self.refused.insert(entry.name().to_owned(), problem);
        }
        // The place of a refused entry is not known, so its plugin cannot be judged. If its source is invalid, only
        // the JSON contains its name.
        let root = json::parse(&bytes, &ParseLimits::marketplace()).ok();
        let entries = root.as_ref().map_or(&[][..], |root| root.items_of("plugins"));
        for entry in read.refused() {
            let name = entries.get(entry.index()).and_then(|node| node.get("name")?.as_str());
            let message = escape::line(&entry.errors().to_string()).into_owned();
            let record = place(file, &format!("/plugins/{}", entry.index()));
            self.refused.extend(name.map(|name| (name.to_owned(), fault(found, record, message))));
        }
        Ok(())
    }

    /// Returns the reason that the directory of an id is not known.
    pub(super) fn fault(&self, id: &InstalledId) -> Option<&InstallProblem> {
        self.fault.as_ref().or_else(|| self.refused.get(id.name()))
    }

    /// Returns the ids that the marketplace has renamed to this one.
    pub(super) fn former_ids(&self, id: &InstalledId, recorded: &BTreeSet<&InstalledId>) -> Vec<InstalledId> {
        let Some(market) = id.market() else { return Vec::new() };
        let names = self.former.get(id.name()).into_iter().flatten();
        let ids = names.filter_map(|name| format!("{name}@{market}").parse().ok());
        ids.filter(|id| !recorded.contains(id)).collect()
    }
}
