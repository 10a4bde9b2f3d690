//! Reads the dialects of a plugin directory and compares them.

use crate::dialects::{
    Dialect, RootCheck, agent_plugins, classify, claude, codex, find_dialects_of, gemini, gnoma, hyperagent,
    is_skill, openclaw, power, skill,
};
use crate::error::{ManifestCode, ManifestErrors, ManifestPlace, ManifestWarning, WarningLevel};
use crate::manifest::{Files, Manifest, Meta, MissingManifest, PluginContext};
use crate::reader::{Reader, Reading};
use crate::surface::SurfaceItem;

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
        Dialect::AgentPlugins => agent_plugins::read(&mut reader, &mut meta),
        Dialect::Power => power::read(&mut reader, &mut meta),
        Dialect::Openclaw => openclaw::read(&mut reader, &mut meta),
        Dialect::Skill => skill::read(&mut reader, &mut meta),
        Dialect::Jp => reader.error_at(
            ManifestPlace::of_file(""),
            ManifestCode::MissingFile,
            "a registry entry has no directory",
        ),
        _ => claude::read(&mut reader, &mut meta),
    }
    finish(reader, meta)
}

/// Builds the manifest, or returns the errors.
pub(crate) fn finish(reader: Reader<'_>, meta: Meta) -> Result<Manifest, ManifestErrors> {
    let dialect = reader.dialect;
    let main_file = dialect.main_files().find(|file| reader.read.contains(*file));
    // The other adapters ignore the entry, so its digest must not be pinned for them.
    let merges = matches!(dialect.adapter(), Dialect::Claude | Dialect::Codex);
    let entry = reader.context.entry.filter(|_| merges).map(|entry| entry.canonical().to_owned());
    let Reading { mut surface, warnings, files } = reader.finish()?;
    let key = |item: &SurfaceItem| {
        (item.layer, item.place.file.clone(), item.place.span, item.kind, item.name.clone())
    };
    // Reports and tests need an order that does not depend on the order in which adapters read files.
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
/// A directory without a main file is read in the layout of Claude Code if the context allows that, or else as a skill.
/// Adds `manifest/dialects-disagree` if names or versions differ, and `manifest/shadowed` if a root `plugin.json` is
/// not read.
#[must_use]
pub fn read_all(files: &dyn Files, at: &PluginContext<'_>) -> Vec<DialectResult> {
    let mut dialects = find_dialects_of(files, at.naming());
    if dialects.is_empty() && at.entry.is_none() {
        if at.missing_manifest == MissingManifest::StandardDirectories && has_layout(files, at) {
            dialects.push(Dialect::Claude);
        } else if is_skill(files) {
            dialects.push(Dialect::Skill);
        }
    }
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
        && found.iter().all(|one| one.dialect.main_files().all(|file| file != "plugin.json"));
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

/// Returns `true` if a directory has components in the layout of Claude Code.
fn has_layout(files: &dyn Files, at: &PluginContext<'_>) -> bool {
    Reader::new(files, Dialect::Claude, at).has_standard()
}

/// Inserts a warning at its place in the order by file.
fn add(manifest: &mut Manifest, file: &str, code: ManifestCode, message: &str) {
    let notice = ManifestWarning {
        code,
        level: WarningLevel::Notice,
        message: message.to_owned(),
        place: ManifestPlace::of_file(file),
    };
    let at = manifest.warnings.partition_point(|other| other.place.file.as_str() <= file);
    manifest.warnings.insert(at, notice);
}
