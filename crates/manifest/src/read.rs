//! Which dialects a folder has, and reading one of them.

use crate::at::At;
use crate::code::Code;
use crate::dialect::{Dialect, MAIN_FILES};
use crate::error::{ManifestErrors, Notice, Weight};
use crate::files::Files;
use crate::json::{self, Limits, Node};
use crate::manifest::{Manifest, Meta};
use crate::reader::{Ctx, Read};
use crate::surface::SurfaceItem;
use crate::{claude, codex, gemini, gnoma, hyperagent};

/// What a root `plugin.json` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum RootCheck {
    /// It has `hostModules`, or an entry source lies beside it.
    Hyperagent,
    /// It has `capabilities` or `gnoma_version`, or only keys of gnoma.
    Gnoma,
    /// JSON of no known dialect: the folder is no plugin by it.
    Unknown,
    /// No JSON that can be read: the folder is reported as a plugin that is broken, under the likelier dialect.
    Unreadable,
}

/// Says what a root `plugin.json` is, from its bytes and from whether `index.ts` or `index.js` lies beside it.
///
/// # Source
/// `design/manifest.md`, 2.1.
pub fn classify(files: &dyn Files) -> Option<RootCheck> {
    let file = files.get("plugin.json")?;
    let entry = files.get("index.ts").is_some() || files.get("index.js").is_some();
    if entry {
        return Some(RootCheck::Hyperagent);
    }
    Some(match json::parse(file.bytes, &Limits::standard()) {
        Ok(root) if root.get("hostModules").is_some() => RootCheck::Hyperagent,
        Ok(root) => of_gnoma(&root),
        Err(_) if mentions_host_modules(file.bytes) => RootCheck::Hyperagent,
        Err(_) => RootCheck::Unreadable,
    })
}

/// A broken file that says `hostModules` is a broken HyperAgent plugin.
fn mentions_host_modules(bytes: &[u8]) -> bool {
    let head = bytes.get(..Limits::standard().bytes()).unwrap_or(bytes);
    head.windows(13).any(|window| window == b"\"hostModules\"")
}

fn of_gnoma(root: &Node<'_>) -> RootCheck {
    let Some(members) = root.members() else { return RootCheck::Unknown };
    let is = |key: &str, word: &str| gnoma::same_key(key, word);
    let marked =
        members.iter().any(|member| is(member.key(), "capabilities") || is(member.key(), "gnoma_version"));
    let only = members.iter().all(|member| gnoma::TOP.iter().any(|word| is(member.key(), word)));
    if marked || (only && !members.is_empty()) { RootCheck::Gnoma } else { RootCheck::Unknown }
}

/// Finds the dialects whose main file is in the folder, in the order of the table.
///
/// A folder without a main file has none, whatever its folders are called: `skills/` or `commands/` alone do not make a
/// plugin. A root `plugin.json` that is no JSON counts as gnoma, so that a broken plugin is reported and not passed
/// over.
#[must_use]
pub fn find(files: &dyn Files) -> Vec<Dialect> {
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

/// Reads one dialect of a plugin's files.
///
/// # Errors
/// Every reason for which the files are refused, with file, JSON pointer, line and column; `manifest/missing-file`
/// where the dialect's main file is not there.
///
/// # Guarantees
/// Any bytes give an answer; nothing is opened, run or looked up; the same files give the same answer.
///
/// # Source
/// ADR-003 pins a manifest; gnoma and HyperAgent refuse an invalid one and go on with the others.
pub fn read(dialect: Dialect, files: &dyn Files, at: &At<'_>) -> Result<Manifest, ManifestErrors> {
    let mut ctx = Ctx::new(files, dialect, at);
    let mut meta = Meta::default();
    match dialect.adapter() {
        Dialect::Codex => codex::read(&mut ctx, &mut meta),
        Dialect::Gemini => gemini::read(&mut ctx, &mut meta),
        Dialect::Hyperagent => hyperagent::read(&mut ctx, &mut meta),
        Dialect::Gnoma => gnoma::read(&mut ctx, &mut meta),
        Dialect::Jp => ctx.error_at(Ctx::whole(""), Code::MissingFile, "a registry entry has no folder"),
        _ => claude::read(&mut ctx, &mut meta),
    }
    finish(ctx, meta)
}

pub(crate) fn finish(ctx: Ctx<'_>, meta: Meta) -> Result<Manifest, ManifestErrors> {
    let dialect = ctx.dialect;
    let main_file = dialect.main_file().filter(|file| ctx.read.contains(*file));
    // Only these adapters merge an entry in; of the others it says nothing.
    let merges = matches!(dialect.adapter(), Dialect::Claude | Dialect::Codex);
    let entry = ctx.at.entry.filter(|_| merges).map(|entry| entry.canonical().to_owned());
    let Read { mut surface, notices, files } = ctx.finish()?;
    let key = |item: &SurfaceItem| {
        (item.layer, item.place.file.clone(), item.place.span, item.kind, item.name.clone())
    };
    surface.sort_by_cached_key(key);
    Ok(Manifest { dialect, meta, surface, notices, main_file, files: files.into_iter().collect(), entry })
}

/// One dialect of a folder and what reading it gave.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "a dialect and its answer")]
pub struct Found {
    /// The dialect.
    pub dialect: Dialect,
    /// What reading it gave.
    pub manifest: Result<Manifest, ManifestErrors>,
}

/// Reads every dialect of a folder and compares them: `manifest/dialects-disagree`, `manifest/shadowed`.
#[must_use]
pub fn read_all(files: &dyn Files, at: &At<'_>) -> Vec<Found> {
    let dialects = find(files);
    let mut found: Vec<Found> =
        dialects.into_iter().map(|dialect| Found { dialect, manifest: read(dialect, files, at) }).collect();
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
                Code::DialectsDisagree,
                "another manifest in the folder has another name or version",
            );
        }
        if shadowed {
            add(manifest, "plugin.json", Code::Shadowed, "plugin.json of no known dialect is not read");
        }
    }
    found
}

fn add(manifest: &mut Manifest, file: &str, code: Code, message: &str) {
    let notice =
        Notice { code, weight: Weight::Notice, message: message.to_owned(), place: Ctx::whole(file) };
    let at = manifest.notices.partition_point(|other| other.place.file.as_str() <= file);
    manifest.notices.insert(at, notice);
}
