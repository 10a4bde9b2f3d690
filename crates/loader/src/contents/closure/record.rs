//! The closure of a row as a record in the scan cache, so that unchanged code need not be read again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plugward_manifest::{ForeignText, Manifest};
use plugward_scanner::{Lens, MatchCache};
use plugward_tree_lock::{EntryKind, Snapshot};
use plugward_types::Digest;

use super::place::{Landing, Lookup, Places, inside};
use super::scope::Scope;
use super::{ClosureEntry, ClosureResult, runs};
use crate::contents::closure_facts::UnresolvedCommand;
use crate::contents::hash::sha256;
use crate::contents::secrets;
use crate::contents::view::manifests;
use crate::gates::Context;
use crate::report::Gate;
use crate::run::examined::Examined;
use crate::run::outcome::GateOutcome;
use crate::state::scan_records::record_key;

/// Part of each key. Increase it with each change that finds other files in the same bytes: here, in a reader of code or
/// commands, or in a dependency.
const READER: u32 = 3;
/// Larger records are not stored.
const MAX_RECORD: usize = 1 << 20;
/// The kinds of lookups, by the names of their rows in a record.
const LOOKUPS: [(&str, Lookup); 3] =
    [("metadata", Lookup::Metadata), ("contents", Lookup::Contents), ("names", Lookup::Names)];
/// The names of the other rows.
const ENTRY: &str = "entry";
const OPEN: &str = "open";

/// The record of one row.
///
/// Its key covers the row's own tree, the commands, and the places that count. What is found also depends on the objects
/// outside the tree that were looked up. So the record lists these, and applies only while all are the same. The files of
/// the closure are read and hashed in each check.
pub(super) struct ClosureRecord<'a> {
    cache: &'a dyn MatchCache,
    key: Digest,
    own: Option<String>,
    /// The paths in it that the row's tree leaves out.
    left_out: Vec<String>,
}

impl<'a> ClosureRecord<'a> {
    /// Returns the record of a row, or `None` if records are not used.
    pub(super) fn of(
        one: &Examined,
        snapshot: &Snapshot,
        scope: &Scope<'_>,
        context: &'a Context<'_>,
    ) -> Option<Self> {
        let cache = context.options.scan_cache()?;
        let installed = one.place.installed.as_ref().map(|one| (&one.place, &one.environment));
        let place = (&context.root.top, &one.place.real, installed);
        let items = |manifest: &Manifest| {
            let items = manifest.surface().iter().filter(|item| runs(item));
            // The debug form of a text contains its length alone.
            let items = items.map(|item| (item, item.text().map(ForeignText::as_untrusted)));
            format!("{:?} {:?}", manifest.dialect(), items.collect::<Vec<_>>())
        };
        let commands: Vec<String> = manifests(one.lookup_views()).map(items).collect();
        let key = record_key(
            "closure",
            &[
                &READER.to_le_bytes(),
                snapshot.digest().as_bytes(),
                format!("{scope:?} {place:?}").as_bytes(),
                format!("{commands:?}").as_bytes(),
            ],
        );
        let own = scope.own.clone();
        let left_out =
            own.iter().flat_map(|own| snapshot.exclude().iter().map(move |name| format!("{own}/{name}")));
        Some(Self { cache, key, left_out: left_out.collect(), own })
    }

    /// Returns the recorded result, if all that it depends on is the same.
    pub(super) fn result(&self, places: &Places<'_>) -> Option<ClosureResult> {
        let record = self.cache.get(&self.key)?;
        let mut fields = core::str::from_utf8(&record).ok()?.split_terminator('\0');
        let mut contents: BTreeMap<String, Arc<[u8]>> = BTreeMap::new();
        let (mut entries, mut unresolved) = (BTreeMap::new(), Vec::new());
        while let Some(row) = fields.next() {
            if let Some((_, lookup)) = LOOKUPS.iter().find(|(name, _)| *name == row) {
                let (path, trace) = (fields.next()?, fields.next()?);
                if places.trace(*lookup, path)? != trace {
                    return None;
                }
                if *lookup == Lookup::Contents {
                    contents.insert(trace.to_owned(), places.read(path, u64::MAX).ok()?);
                }
            } else if row == ENTRY {
                let (name, shown, kind) = (fields.next()?, fields.next()?.to_owned(), fields.next()?);
                let (lens, digest, text) = (fields.next()?, fields.next()?, fields.next()?);
                let (digest, bytes) = match contents.get(digest) {
                    Some(bytes) => (digest.parse().ok()?, Arc::clone(bytes)),
                    None => (sha256(text.as_bytes()), text.as_bytes().into()),
                };
                let entry = ClosureEntry {
                    shown,
                    kind: KINDS.into_iter().find(|known| kind.chars().eq([known.letter()]))?,
                    digest,
                    lens: Lens::ALL.into_iter().find(|known| known.as_str() == lens),
                    bytes,
                    order: entries.len(),
                };
                entries.insert(name.to_owned(), entry);
            } else if row == OPEN {
                let (digest, place) = (fields.next()?.parse().ok()?, fields.next()?.to_owned());
                let (line, word) = (fields.next()?.parse().ok()?, fields.next()?.to_owned());
                unresolved.push(UnresolvedCommand { digest, place, line, word });
            } else {
                return None;
            }
        }
        Some(ClosureResult::new(entries, unresolved, GateOutcome::passed(Gate::Surface)))
    }

    /// Stores a result, unless it contains reasons. Those name their causes in words of one check.
    pub(super) fn store(&self, places: &Places<'_>, result: &ClosureResult) {
        if let Some(record) = self.text(places, result)
            && record.len() <= MAX_RECORD
        {
            self.cache.put(&self.key, record.as_bytes());
        }
    }

    fn text(&self, places: &Places<'_>, result: &ClosureResult) -> Option<String> {
        let ClosureResult { closure, facts, outcome } = result;
        if !outcome.reasons.is_empty() || !outcome.notices.is_empty() {
            return None;
        }
        let lookups = places.lookups();
        // A path of settings can contain what they keep secret.
        let paths = lookups.iter().map(|(_, path)| path.as_str()).collect::<Vec<_>>().join("\n");
        if secrets::without(&paths) != paths {
            return None;
        }
        let mut text = String::new();
        let mut put = |fields: &[&str]| {
            // A field with the separator cannot be stored.
            let fits = !fields.iter().any(|field| field.contains('\0'));
            text.extend(fields.iter().flat_map(|field| [*field, "\0"]));
            fits.then_some(())
        };
        // The digest of the own tree covers its files, and not who can write in its directories.
        let is_in = |path: &str, directory: &String| inside(path, directory).is_some();
        let is_covered = |lookup: Lookup, path: &str| {
            let is_directory = || places.land(path).landing == Landing::Directory;
            let is_own = self.own.as_ref().is_some_and(|own| is_in(path, own))
                && !self.left_out.iter().any(|one| is_in(path, one));
            is_own && !(lookup == Lookup::Metadata && is_directory())
        };
        let mut read = BTreeSet::new();
        for (lookup, path) in lookups.into_iter().filter(|(lookup, path)| !is_covered(*lookup, path)) {
            let (name, _) = LOOKUPS.iter().find(|(_, known)| *known == lookup)?;
            let trace = places.trace(lookup, &path)?;
            put(&[name, &path, &trace])?;
            read.insert(trace);
        }
        let mut entries: Vec<(&String, &ClosureEntry)> = closure.entries.iter().collect();
        entries.sort_by_key(|(_, entry)| entry.order);
        for (name, entry) in entries {
            let (kind, digest) = (entry.kind.letter().to_string(), entry.digest.to_string());
            let lens = entry.lens.map_or("", Lens::as_str);
            // Links and recipes are not among the files that were read.
            let inline = if read.contains(&digest) { "" } else { core::str::from_utf8(&entry.bytes).ok()? };
            put(&[ENTRY, name, &entry.shown, &kind, lens, &digest, inline])?;
        }
        for UnresolvedCommand { digest, place, line, word } in &facts.unresolved {
            put(&[OPEN, &digest.to_string(), place, &line.to_string(), word])?;
        }
        Some(text)
    }
}

/// The kinds of entries.
const KINDS: [EntryKind; 3] = [EntryKind::File, EntryKind::Executable, EntryKind::Link];
