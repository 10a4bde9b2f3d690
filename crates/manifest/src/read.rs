//! Finds the dialects of a directory and reads them.

use crate::at::PluginContext;
use crate::code::ManifestCode;
use crate::dialect::{Dialect, MAIN_FILES};
use crate::error::{ManifestErrors, ManifestWarning, WarningLevel};
use crate::files::Files;
use crate::json::{self, JsonNode, ParseLimits};
use crate::manifest::{Manifest, Meta};
use crate::reader::{Reader, Reading};
use crate::surface::SurfaceItem;
use crate::{claude, codex, gemini, gnoma, hyperagent};

/// The dialect of a root `plugin.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum RootCheck {
    /// The file has `hostModules`, or an entry file is next to it.
    Hyperagent,
    /// The file has `capabilities` or `gnoma_version`, or only keys of gnoma.
    Gnoma,
    /// JSON that belongs to no known dialect: it does not make the directory a plugin.
    Unknown,
    /// The file is not valid JSON. The directory is reported as a broken plugin of the more likely dialect.
    Unreadable,
}

/// Determines the dialect of a root `plugin.json` from its contents and from the presence of `index.ts` or `index.js`.
pub fn classify(files: &dyn Files) -> Option<RootCheck> {
    let file = files.get("plugin.json")?;
    let entry = files.get("index.ts").is_some() || files.get("index.js").is_some();
    if entry {
        return Some(RootCheck::Hyperagent);
    }
    Some(match json::parse(file.bytes, &ParseLimits::standard()) {
        Ok(root) if root.get("hostModules").is_some() => RootCheck::Hyperagent,
        Ok(root) => of_gnoma(&root),
        Err(_) if mentions_host_modules(file.bytes) => RootCheck::Hyperagent,
        Err(_) => RootCheck::Unreadable,
    })
}

/// Returns `true` if a broken file mentions `hostModules`, which makes it a broken HyperAgent plugin.
fn mentions_host_modules(bytes: &[u8]) -> bool {
    let head = bytes.get(..ParseLimits::standard().bytes()).unwrap_or(bytes);
    head.windows(13).any(|window| window == b"\"hostModules\"")
}

fn of_gnoma(root: &JsonNode<'_>) -> RootCheck {
    let Some(members) = root.members() else { return RootCheck::Unknown };
    let is = |key: &str, word: &str| gnoma::same_key(key, word);
    let marked =
        members.iter().any(|member| is(member.key(), "capabilities") || is(member.key(), "gnoma_version"));
    let only = members.iter().all(|member| gnoma::TOP.iter().any(|word| is(member.key(), word)));
    if marked || (only && !members.is_empty()) { RootCheck::Gnoma } else { RootCheck::Unknown }
}

/// Finds the dialects whose main file is in the directory, in table order.
///
/// A directory without a main file has none, even if it contains `skills/` or `commands/`. A root `plugin.json` that is
/// not valid JSON counts as gnoma, so that a broken plugin is reported instead of skipped.
#[must_use]
pub fn find_dialects(files: &dyn Files) -> Vec<Dialect> {
    let root = classify(files);
    let is_there = |(dialect, file): &(Dialect, &str)| match dialect {
        Dialect::Hyperagent => root == Some(RootCheck::Hyperagent),
        Dialect::Gnoma => matches!(root, Some(RootCheck::Gnoma | RootCheck::Unreadable)),
        _ => files.get(file).is_some(),
    };
    let mut found: Vec<Dialect> =
        MAIN_FILES.iter().filter(|entry| is_there(entry)).map(|(dialect, _)| *dialect).collect();
    if found.len() > 1 && root == Some(RootCheck::Unreadable) {
        found.retain(|dialect| *dialect != Dialect::Gnoma);
    }
    found
}

/// Reads the manifest of one dialect and everything that it declares.
///
/// # Guarantees
/// Any bytes produce a result. Nothing is opened, run or looked up outside `files`, and the same files produce the same
/// result.
///
/// # Errors
/// Every reason to refuse the files, with file, JSON pointer, line and column. `manifest/missing-file` if the main file
/// of the dialect does not exist.
///
/// # Examples
/// ```
/// use plugward_manifest::{PluginContext, Dialect, MapFiles, read};
///
/// let files = MapFiles::new().with(".claude-plugin/plugin.json", r#"{"name": "greeter"}"#);
/// let manifest = read(Dialect::Claude, &files, &PluginContext::for_directory("greeter"))?;
/// assert_eq!(manifest.name(), "greeter");
///
/// let errors = read(Dialect::Codex, &files, &PluginContext::for_directory("greeter")).unwrap_err();
/// assert_eq!(errors.first().code(), "manifest/missing-file");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
// ADR-003 pins a manifest. gnoma and HyperAgent refuse an invalid one and continue with the others; see
// docs/source-documents.md.
pub fn read(dialect: Dialect, files: &dyn Files, at: &PluginContext<'_>) -> Result<Manifest, ManifestErrors> {
    let mut reader = Reader::new(files, dialect, at);
    let mut meta = Meta::default();
    match dialect.adapter() {
        Dialect::Codex => codex::read(&mut reader, &mut meta),
        Dialect::Gemini => gemini::read(&mut reader, &mut meta),
        Dialect::Hyperagent => hyperagent::read(&mut reader, &mut meta),
        Dialect::Gnoma => gnoma::read(&mut reader, &mut meta),
        Dialect::Jp => {
            reader.error_at(Reader::whole(""), ManifestCode::MissingFile, "a registry entry has no directory")
        }
        _ => claude::read(&mut reader, &mut meta),
    }
    finish(reader, meta)
}

pub(crate) fn finish(reader: Reader<'_>, meta: Meta) -> Result<Manifest, ManifestErrors> {
    let dialect = reader.dialect;
    let main_file = dialect.main_file().filter(|file| reader.read.contains(*file));
    // The other adapters ignore the entry, so its digest must not be pinned for them.
    let merges = matches!(dialect.adapter(), Dialect::Claude | Dialect::Codex);
    let entry = reader.at.entry.filter(|_| merges).map(|entry| entry.canonical().to_owned());
    let Reading { mut surface, warnings, files } = reader.finish()?;
    let key = |item: &SurfaceItem| {
        (item.layer, item.place.file.clone(), item.place.span, item.kind, item.name.clone())
    };
    surface.sort_by_cached_key(key);
    Ok(Manifest { dialect, meta, surface, warnings, main_file, files: files.into_iter().collect(), entry })
}

/// One dialect of a directory and the result of reading it.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "a dialect and its result")]
pub struct DialectResult {
    /// The dialect.
    pub dialect: Dialect,
    /// The manifest, or the reasons to refuse it.
    pub manifest: Result<Manifest, ManifestErrors>,
}

/// Reads every dialect of a directory and compares them.
///
/// Adds `manifest/dialects-disagree` if names or versions differ, and `manifest/shadowed` if a root `plugin.json` is
/// not read.
#[must_use]
pub fn read_all(files: &dyn Files, at: &PluginContext<'_>) -> Vec<DialectResult> {
    let dialects = find_dialects(files);
    let mut found: Vec<DialectResult> = dialects
        .into_iter()
        .map(|dialect| DialectResult { dialect, manifest: read(dialect, files, at) })
        .collect();
    let who = |manifest: &Manifest| (manifest.name().to_owned(), manifest.version().map(ToOwned::to_owned));
    let mut known = found.iter().filter_map(|one| one.manifest.as_ref().ok()).map(who);
    let first = known.next();
    let disagree = first.as_ref().is_some_and(|first| known.any(|other| other != *first));
    drop(known);
    let shadowed = !found.is_empty()
        && matches!(classify(files), Some(RootCheck::Unknown | RootCheck::Unreadable))
        && found.iter().all(|one| one.dialect.main_file() != Some("plugin.json"));
    for manifest in found.iter_mut().filter_map(|one| one.manifest.as_mut().ok()) {
        let main = manifest.main_file.unwrap_or_default();
        if disagree {
            add(
                manifest,
                main,
                ManifestCode::DialectsDisagree,
                "another manifest in the directory has a different name or version",
            );
        }
        if shadowed {
            add(
                manifest,
                "plugin.json",
                ManifestCode::Shadowed,
                "plugin.json is not read: it matches no dialect",
            );
        }
    }
    found
}

fn add(manifest: &mut Manifest, file: &str, code: ManifestCode, message: &str) {
    let notice = ManifestWarning {
        code,
        level: WarningLevel::Notice,
        message: message.to_owned(),
        place: Reader::whole(file),
    };
    let at = manifest.warnings.partition_point(|other| other.place.file.as_str() <= file);
    manifest.warnings.insert(at, notice);
}
