//! The manifest gate: are the manifests valid?

use std::collections::{BTreeMap, BTreeSet};

use plugward_manifest::{
    Dialect, DialectResult, FileMode, Files, MAIN_FILES, Manifest, ManifestErrors, MapFiles,
    MarketplaceEntry, MissingManifest, PluginContext,
};
use plugward_pinstore::ReviewedDigests;
use plugward_sandbox_path::Jail;
use plugward_tree_lock::Snapshot;
use plugward_types::{CalledName, Digest, PluginKey};

use super::{Context, passed};
use crate::contents::view::{TreeFiles, View, manifests};
use crate::discovery::discover::{MAIN_LIMIT, PluginPlace};
use crate::discovery::unmarked::PlaceForm;
use crate::report::Gate;
use crate::run::examined::Examined;
use crate::run::options::CheckOptions;
use crate::run::outcome::{GateOutcome, Notice, Reason, ReasonPlace, Weight};

/// The code for a manifest that says that it follows another version of its schema.
pub(crate) const SCHEMA_VERSION: &str = "manifest/schema-version";

/// Reads the manifests of all dialects in a directory.
pub(crate) fn gate(
    place: &PluginPlace,
    snapshot: &Snapshot,
    options: &CheckOptions,
) -> (Vec<View>, GateOutcome) {
    let files = TreeFiles::new(snapshot);
    let excluded: Vec<&str> = snapshot.exclude().iter().collect();
    let at = at(place, &excluded, options);
    let one =
        |dialect| vec![DialectResult { dialect, manifest: plugward_manifest::read(dialect, &files, &at) }];
    let is_main = |path: &str| path.eq_ignore_ascii_case("plugin.json");
    let has_main = files.under("").any(is_main);
    let (found, others) = match options.dialect {
        // gnoma skips a directory without its file.
        Some(Dialect::Gnoma) if place.is_of_gnoma() && !has_main => (Vec::new(), Vec::new()),
        Some(dialect) => (one(dialect), Vec::new()),
        // gnoma reads a file in another case if the file system ignores the case.
        None if place.is_of_gnoma() && has_main && files.get("plugin.json").is_none() => {
            (one(Dialect::Gnoma), Vec::new())
        }
        None => for_hosts(plugward_manifest::read_all(&files, &at), place),
    };
    // A directory that only a marketplace entry describes has the marketplace's dialect.
    // So has one that only a host's record names.
    let is_known = place.named.is_some() || (place.installed.is_some() && !place.is_of_gnoma());
    let found = if found.is_empty() && is_known { one(Dialect::Claude) } else { found };
    let (mut read, mut outcome) = views(found);
    outcome.notices.extend(others);
    for entry in unmerged(place, &read, &files, options) {
        let manifest = plugward_manifest::read(Dialect::Claude, &files, &at.with_entry(&entry));
        let (more, found) = views(vec![DialectResult { dialect: Dialect::Claude, manifest }]);
        read.extend(more.into_iter().map(|view| View { entry: Some(entry.clone()), ..view }));
        outcome.reasons.extend(found.reasons);
        outcome.notices.extend(found.notices);
    }
    refuse_hidden_name(place, &mut outcome);
    (read, outcome)
}

/// Returns the marketplace entries that no manifest of the directory merges, and that add something that runs. Claude Code
/// also loads its standard directories, whatever other manifest is next to them.
fn unmerged(
    place: &PluginPlace,
    views: &[View],
    files: &TreeFiles<'_>,
    options: &CheckOptions,
) -> Vec<MarketplaceEntry> {
    if options.dialect.is_some_and(|only| !merges(only)) {
        return Vec::new();
    }
    let is_merged = views.iter().any(|view| merges(view.dialect));
    let is_prompt = |path: &str| path.rsplit_once('.').is_some_and(|(_, extension)| extension == "md");
    let has_layout = || {
        [".mcp.json", "hooks/hooks.json"].iter().any(|file| files.get(file).is_some())
            || ["commands", "agents"].iter().any(|directory| files.under(directory).any(is_prompt))
    };
    let adds = |entry: &MarketplaceEntry| entry.has_components() || has_layout();
    let named = place.named.iter().filter(|named| !is_merged && adds(&named.entry));
    named.chain(&place.further).map(|listing| listing.entry.clone()).collect()
}

/// Asks about a manifest of an unknown version of its schema, unless a person agreed to these contents.
pub(crate) fn ask_about_schema(one: &mut Examined, context: &Context<'_>) {
    let Some(subject) = &one.subject else { return };
    let warnings = manifests(&one.views).flat_map(Manifest::warnings);
    let Some(unknown) = warnings.into_iter().find(|warning| warning.code() == SCHEMA_VERSION) else { return };
    if super::pin::is_agreed_by_person(one, subject, context) {
        return;
    }
    let message = format!("{}: {}", unknown.place(), unknown.message());
    let help = "review what it contains, then accept this version if you trust it";
    let mut reason = Reason::new(SCHEMA_VERSION, Gate::Manifest, Weight::Undecided, message, help);
    reason.accept = Some(ReviewedDigests::wanted(subject.facts(), None));
    one.gate(Gate::Manifest).reasons.push(reason);
}

/// Leaves out the broken manifests that no host of a recorded plugin reads, with a notice for each.
fn for_hosts(found: Vec<DialectResult>, place: &PluginPlace) -> (Vec<DialectResult>, Vec<Notice>) {
    let Some(installed) =
        place.installed.as_ref().filter(|one| one.keys.iter().all(|key| key.placed().is_none()))
    else {
        return (found, Vec::new());
    };
    let mut notices = Vec::new();
    let is_read = |one: &DialectResult| installed.hosts.iter().any(|host| reads(host.as_str(), one.dialect));
    let (read, other): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|one| one.manifest.is_ok() || is_read(one));
    for one in other {
        let first = one.manifest.err().and_then(|errors| errors.iter().next().map(ToString::to_string));
        let message = format!("the manifest for {} is broken: {}", one.dialect, first.unwrap_or_default());
        notices.push(Notice::new("manifest/other-host", Gate::Manifest, message));
    }
    (read, notices)
}

/// Returns `true` if a host can read manifests of a dialect. Several hosts also load plugins made for Claude Code.
fn reads(host: &str, dialect: Dialect) -> bool {
    dialect.as_str() == host
        || match dialect {
            Dialect::Claude => host != "gemini",
            Dialect::Skill => true,
            Dialect::AgentPlugins => !matches!(host, "claude" | "gemini" | "gnoma"),
            _ => !matches!(host, "claude" | "codex" | "gemini" | "gnoma"),
        }
}

/// Refuses a plugin whose path looks like another one on a terminal: a command that a user copies would name the other.
fn refuse_hidden_name(place: &PluginPlace, outcome: &mut GateOutcome) {
    let hidden = place.real.as_str().chars().any(plugward_types::escape::is_hidden);
    if hidden || place.real.name().contains('\\') {
        let message =
            "the directory's path contains a control character, an invisible character or a backslash";
        let help = "rename the directory";
        outcome.reasons.push(Reason::new("tree/name", Gate::Tree, Weight::Integrity, message, help));
    }
}

/// Reads the manifests of a directory that could not be digested, so that their own errors are reported
/// too.
pub(crate) fn without_tree(
    place: &PluginPlace,
    jail: &Jail,
    options: &CheckOptions,
) -> (Vec<View>, GateOutcome) {
    let mut files = MapFiles::new();
    for (_, file) in MAIN_FILES {
        if let Ok(bytes) = jail.read(*file, MAIN_LIMIT) {
            files.insert(file, bytes, FileMode::Plain);
        }
    }
    for source in ["index.ts", "index.js"] {
        if jail.metadata(source).is_ok() {
            files.insert(source, Vec::new(), FileMode::Plain);
        }
    }
    let excluded: Vec<&str> = options.excludes.iter().collect();
    let mut dialects = match options.dialect {
        Some(only) => vec![only],
        None if place.is_of_gnoma() && files.get("plugin.json").is_some() => vec![Dialect::Gnoma],
        None => plugward_manifest::find_dialects(&files),
    };
    if dialects.is_empty() {
        dialects = guess(place, options);
    }
    let at = at(place, &excluded, options);
    let readable =
        dialects.iter().filter(|dialect| dialect.main_files().any(|file| files.get(file).is_some()));
    let found = readable.map(|dialect| DialectResult {
        dialect: *dialect,
        manifest: plugward_manifest::read(*dialect, &files, &at),
    });
    let (mut read, mut outcome) = views(found.collect());
    // The other files are not available, so nothing is known about the paths in the manifests.
    outcome.reasons.retain(|reason| reason.code != "manifest/missing-file");
    outcome.notices.clear();
    for dialect in dialects {
        if !read.iter().any(|view| view.dialect == dialect) {
            read.push(View { dialect, manifest: None, entry: None });
        }
    }
    (read, outcome)
}

/// Returns the dialects of a directory whose files cannot be read.
pub(crate) fn guess(place: &PluginPlace, options: &CheckOptions) -> Vec<Dialect> {
    match (options.dialect, &place.named) {
        (Some(only), _) => vec![only],
        (None, Some(_)) => vec![Dialect::Claude],
        (None, None) => Vec::new(),
    }
}

fn views(found: Vec<DialectResult>) -> (Vec<View>, GateOutcome) {
    let mut outcome = passed(Gate::Manifest);
    let mut views = Vec::new();
    for DialectResult { dialect, manifest } in found {
        let manifest = match manifest {
            Ok(manifest) => {
                if let Err(error) = CalledName::new(dialect.as_str(), manifest.name()) {
                    outcome.add("manifest/name", Weight::Integrity, error.to_string(), error.help());
                }
                for notice in
                    manifest.warnings().iter().filter(|notice| !notice.code().starts_with("surface/"))
                {
                    outcome.note(notice.code(), format!("{}: {}", notice.place(), notice.message()));
                }
                Some(manifest)
            }
            Err(errors) => {
                refuse(&mut outcome, &errors);
                None
            }
        };
        views.push(View { dialect, manifest, entry: None });
    }
    (views, outcome)
}

/// Adds the errors of a manifest as reasons. An error in a file that several dialects read is added once.
fn refuse(outcome: &mut GateOutcome, errors: &ManifestErrors) {
    for error in errors.iter() {
        let message = error.to_string();
        if !outcome.reasons.iter().any(|known| known.code == error.code() && known.message == message) {
            let mut reason =
                Reason::new(error.code(), Gate::Manifest, Weight::Integrity, message, error.help());
            if error.place().position().is_some() {
                reason.place = Some(ReasonPlace {
                    path: error.file().to_owned(),
                    line: error.line(),
                    column: error.column(),
                    span: error.span(),
                });
            }
            outcome.reasons.push(reason);
        }
    }
}

/// Returns the names in the manifests.
pub(crate) fn called(views: &[View]) -> BTreeSet<CalledName> {
    let names = views.iter().filter_map(|view| Some((view.dialect, view.manifest.as_ref()?.name())));
    names.filter_map(|(dialect, name)| CalledName::new(dialect.as_str(), name).ok()).collect()
}

/// Returns the digest of each dialect's manifest file. A pin covers all dialects, not only those that this
/// run checks.
pub(crate) fn digests(dialects: &[Dialect], snapshot: &Snapshot) -> BTreeMap<&'static str, Digest> {
    let digest = |dialect: &Dialect| {
        let file = dialect.main_files().find_map(|file| snapshot.file(file))?;
        Some((dialect.as_str(), *file.digest()))
    };
    dialects
        .iter()
        .chain(&plugward_manifest::find_dialects(&TreeFiles::new(snapshot)))
        .filter_map(digest)
        .collect()
}

/// Returns the marketplace entry that a pin covers, even if this run does not check the dialect that it
/// changes.
pub(crate) fn entry_text(one: &Examined, snapshot: &Snapshot) -> Option<String> {
    let mut merged: Vec<&str> = manifests(&one.views).filter_map(Manifest::entry_text).collect();
    merged.dedup();
    let merged = (!merged.is_empty()).then(|| merged.join("\n"));
    let other = || {
        let named = one.place.named.as_ref().filter(|_| merges_entries(snapshot))?;
        Some(named.entry.canonical().to_owned())
    };
    merged.or_else(other)
}

/// Returns the entry of the marketplace file around the directory, as a lockfile lists it.
pub(crate) fn listed_entry(one: &Examined, snapshot: &Snapshot) -> Option<String> {
    let adds = one.dialects.iter().any(|dialect| merges(*dialect)) || merges_entries(snapshot);
    let listed: Vec<&str> =
        one.place.listed.iter().chain(&one.place.further).map(|listed| listed.entry.canonical()).collect();
    (adds && !listed.is_empty()).then(|| listed.join("\n"))
}

/// Returns `true` if a dialect of the directory merges marketplace entries.
fn merges_entries(snapshot: &Snapshot) -> bool {
    plugward_manifest::find_dialects(&TreeFiles::new(snapshot)).into_iter().any(merges)
}

const fn merges(dialect: Dialect) -> bool {
    matches!(dialect.adapter(), Dialect::Claude | Dialect::Codex)
}

/// Parses the manifests again when the shared directories are known, so that imports from them count as
/// covered.
pub(crate) fn label_shared(one: &mut Examined, snapshot: &Snapshot, options: &CheckOptions) {
    if one.shared.is_empty() {
        return;
    }
    let files = TreeFiles::new(snapshot);
    let excluded: Vec<&str> = snapshot.exclude().iter().collect();
    let names = one.shared.covers(&one.views);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let at = at(&one.place, &excluded, options).with_shared(&names);
    for view in &mut one.views {
        // The bytes are the same; only the coverage labels differ.
        let at = view.entry.as_ref().map_or(at, |entry| at.with_entry(entry));
        if view.manifest.is_some()
            && let Ok(labelled) = plugward_manifest::read(view.dialect, &files, &at)
        {
            view.manifest = Some(labelled);
        }
    }
}

fn at<'a>(place: &'a PluginPlace, excluded: &'a [&'a str], options: &'a CheckOptions) -> PluginContext<'a> {
    let path = place.real.as_str();
    let inside = path.strip_prefix('/').unwrap_or(path);
    // The last component of a cached plugin's path is a version.
    let recorded =
        place.installed.as_ref().and_then(|one| one.keys.iter().find(|key| key.placed().is_none()));
    let name = recorded.map_or_else(|| place.real.name(), PluginKey::name);
    let at = PluginContext::for_directory(name).with_path(inside).with_excluded(excluded);
    let is_layout = matches!(place.form, PlaceForm::Layout | PlaceForm::Named(_));
    let at = if place.is_in_gnoma() { at.of_gnoma() } else { at };
    // What a host's records or places name is loaded as it is.
    let at = if (place.installed.is_some() && !place.is_of_gnoma()) || is_layout {
        at.with_missing_manifest(MissingManifest::StandardDirectories)
    } else {
        at
    };
    let at = options.host_version.as_deref().map_or(at, |version| at.with_host_version(version));
    match &place.named {
        Some(named) => at.with_entry(&named.entry),
        None => at,
    }
}
