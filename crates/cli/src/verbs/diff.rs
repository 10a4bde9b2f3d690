//! `plugward diff ID`: shows the changes since a plugin was pinned, worst first.

mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use plugward_loader::pinstore::{
    Baseline, Baselines, Diff, DiffSection, DiffSide, Facts, FileChange, Hunks, LineChange, OldSide, Pin,
    StoredText, TreeEntryKind, diff,
};
use plugward_loader::{
    ApprovalStore, AuditReport, BehaviorEvidence, CheckMode, Digest, Finding, Gate, Material, PinStore,
    PluginKey, PluginReport, Severity, Subject, TreeDigest, Trust, UnresolvedReport, Weight, audited_bytes,
    closure_paths, entry_parts, identity_of,
};

use camino::Utf8Path;
use serde_json::Value;

use crate::advice::{self, Commands};
use crate::args::{DiffArgs, FindArgs};
use crate::diagnostic::Diagnostic;
use crate::failure::Failure;
use crate::host::Host;
use crate::out::{ASK, LOAD, Out, REFUSE, STRONG, paint};
use crate::report::{self, tier};
use crate::stores;
use crate::text::{command, count, run_text as words, wrapped};
use crate::verbs::explain::about_audit;
use crate::verbs::shared::{self, PluginBytes, SelectedPlugin};
use plugward_loader::escape::line;

/// How long texts are compared. A plugin can contain texts for which a line diff takes hours.
const TIME: Duration = Duration::from_secs(2);

pub(crate) fn run(args: &DiffArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let named = shared::find(&args.plugin, Some(Trust::Tofu), PluginBytes::Keep, host, out)?;
    let commands = shared::commands(&named.plugin, &shared::as_typed(&args.plugin.finding), None);
    let text = if let Some(dir) = &args.against {
        Comparison::against(named, dir, args, &commands, host, out)?.page_against(dir, out.width)
    } else {
        let compared = Comparison::new(named, &commands, host, out)?;
        compared.page(&commands, out.width) + &compared.audits(out.width)
    };
    out.result(&text)?;
    Ok(0)
}

/// A plugin as it is on disk, compared with its pin.
pub(crate) struct Comparison {
    /// Its name for a terminal.
    pub(crate) shown: String,
    pub(crate) plugin: PluginReport,
    /// The changes, and the digests to confirm when accepting them.
    pub(crate) found: Diff,
    /// The pinned version, if the plugin is pinned and its manifest had one.
    pub(crate) pinned_version: Option<String>,
    /// The unresolved commands that were not agreed to with the pinned version.
    pub(crate) unresolved: Vec<UnresolvedReport>,
    /// The behaviors gained and lost; `None` if those of the pinned version are not known.
    pub(crate) news: Option<News>,
    /// The audit of the pinned version by a language model.
    audit_before: Option<AuditReport>,
    /// Whether the execution surface of the pinned version is known.
    surface: PinnedSurface,
    /// Whether a kept text had another digest.
    damaged: bool,
    /// The files that differ from PLUGINS.lock, if it lists files.
    unlocked: Vec<String>,
}

/// Whether the execution surface of the pinned version is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PinnedSurface {
    /// Its text was kept, or nothing was pinned.
    Known,
    Unknown,
}

impl Comparison {
    /// Compares a plugin whose bytes were kept with its pin.
    pub(crate) fn new(
        named: SelectedPlugin,
        commands: &Commands,
        host: &Host,
        out: &Out,
    ) -> Result<Self, Failure> {
        let (shown, plugin, subject, material) = taken(named, commands)?;
        let store = stores::pins(host, CheckMode::LookOnly, out)?;
        if let Some(failure) = store.failure() {
            // A plugin whose pin cannot be read must not be shown as never pinned.
            return Err(shared::store_failure(&failure));
        }
        let pinned_version =
            pin_of(&store, &subject).and_then(Pin::latest).and_then(|one| one.version.clone());
        let agreed = pin_of(&store, &subject).and_then(Pin::latest).map(|one| &one.facts.unresolved);
        let is_agreed = |one: &UnresolvedReport| {
            agreed.into_iter().flatten().any(|known| known.to_string() == one.command)
        };
        let unresolved = plugin.unresolved.iter().filter(|one| !is_agreed(one)).cloned().collect();
        let news = news(&store, &subject, &plugin);
        let facts = pin_of(&store, &subject).and_then(Pin::latest).map(|agreed| &agreed.facts);
        let old = OldTexts::Baselines(store.baselines());
        let audit_before = match facts {
            Some(facts) => audit_of(&stores::approvals(host)?, facts)?,
            None => None,
        };
        let Compared { found, surface, damaged } = compare(facts, &old, &subject, &material);
        let unlocked = unlocked(&plugin, &material);
        Ok(Self {
            shown,
            plugin,
            found,
            pinned_version,
            unresolved,
            news,
            audit_before,
            surface,
            damaged,
            unlocked,
        })
    }

    /// Compares a plugin whose bytes were kept with the plugin in another directory.
    fn against(
        named: SelectedPlugin,
        dir: &Utf8Path,
        args: &DiffArgs,
        commands: &Commands,
        host: &Host,
        out: &Out,
    ) -> Result<Self, Failure> {
        // A bare name would be searched among the pins.
        let selector = if dir.as_str().contains('/') { dir.to_string() } else { format!("./{dir}") };
        let other = FindArgs::new(selector, args.plugin.finding.clone());
        let other = shared::find(&other, Some(Trust::Tofu), PluginBytes::Keep, host, out)?;
        let their_commands = shared::commands(&other.plugin, &shared::as_typed(&args.plugin.finding), None);
        let (_, _, was, old) = taken(other, &their_commands)?;
        let (shown, plugin, subject, material) = taken(named, commands)?;
        let old = OldTexts::Directory { facts: was.facts(), material: &old };
        let Compared { found, surface, damaged } = compare(Some(was.facts()), &old, &subject, &material);
        let (pinned_version, unresolved, unlocked) = (None, Vec::new(), Vec::new());
        let (news, audit_before) = (None, None);
        Ok(Self {
            shown,
            plugin,
            found,
            pinned_version,
            unresolved,
            news,
            audit_before,
            surface,
            damaged,
            unlocked,
        })
    }

    /// Returns the output of `diff --against`.
    fn page_against(&self, dir: &Utf8Path, width: usize) -> String {
        let id = line(&self.shown);
        let files = self.found.sections.iter().map(|section| section.files.len()).sum::<usize>();
        let summary = match files {
            0 if self.found.sections.is_empty() => format!("{id}: the same as in {dir}"),
            _ => format!("{id}: {} changed since {dir}, worst first", count(files, "file")),
        };
        wrapped("", "  ", &summary, width).replacen(&*id, &paint(STRONG, &id), 1) + &self.changes(width)
    }

    /// Returns the whole output of `diff`.
    pub(crate) fn page(&self, commands: &Commands, width: usize) -> String {
        let Self { plugin, found, .. } = self;
        let mut text = headline(&line(&self.shown), found, width);
        if let Some(news) = self.news.as_ref().and_then(News::sentence) {
            // New behaviors come first, because few users read every changed line.
            text.push_str(&paint(REFUSE, &wrapped("", "  ", &news, width)));
        }
        text.push_str(&self.changes(width));
        for one in &self.unresolved {
            text.push_str(&paint(REFUSE, &wrapped("", "  ", &report::unresolved(one), width)));
        }
        if !self.unlocked.is_empty() {
            text.push_str(&format!("\n{}\n", paint(ASK, "differs from PLUGINS.lock")));
            self.unlocked.iter().for_each(|file| text.push_str(&format!("  {}\n", line(file))));
        }
        if self.damaged {
            let note = Diagnostic::note_of("a kept text had another digest and was deleted")
                .code("baseline/damaged");
            text.push_str(&format!("\n{}", note.render(width)));
        }
        let is_locked_out = plugin.reasons.iter().any(|reason| reason.code == "lock/mismatch");
        let is_same = found.sections.is_empty() && found.old != OldSide::DigestsOnly;
        if is_same && !is_locked_out && self.unresolved.is_empty() {
            return text;
        }
        let refusing: Vec<&str> = plugin
            .reasons
            .iter()
            .filter(|reason| {
                reason.gate != Gate::Pin && reason.gate != Gate::Lock && reason.weight != Weight::Undecided
            })
            .map(|reason| reason.code.as_str())
            .collect();
        if let Some(first) = refusing.first() {
            let note = format!("Accepting this change will not make the plugin load: {first} refuses it.");
            text.push_str(&format!("\n{}", wrapped("", "", &note, width)));
            if let Some(suppress) = advice::suppress(plugin, commands).filter(|_| *first == "scan/danger") {
                text.push_str("To accept a finding that you reviewed:\n");
                text.push_str(&command("  ", &suppress, width));
            }
            return text;
        }
        if is_locked_out {
            text.push_str("\nTo update the lockfile with this version:\n");
            text.push_str(&command("  ", &commands.lock(), width));
            // Nothing else refuses it, so there is nothing to accept.
            if plugin.reasons.iter().all(|reason| reason.gate == Gate::Lock) {
                return text;
            }
        }
        text.push_str("\nTo trust this version:\n");
        // The digest that was shown comes last, alone on its line.
        let accept = shared::accept_command(commands, &found.accept);
        text.push_str(&command("  ", &accept, width));
        text
    }

    /// Returns the audits of both versions.
    fn audits(&self, width: usize) -> String {
        let versions =
            [("AUDIT OF THE PINNED VERSION", &self.audit_before), ("AUDIT", &self.plugin.approval.audit)];
        let shown = versions.into_iter().filter_map(|(title, audit)| {
            Some(format!("\n{}\n{}", paint(STRONG, title), about_audit(audit.as_ref()?, width)))
        });
        shown.collect()
    }

    /// Returns the changes, worst first, with the rules that match in each changed file.
    pub(crate) fn changes(&self, width: usize) -> String {
        self.found.sections.iter().map(|section| render_section(section, &self.plugin, width)).collect()
    }

    /// Returns what the plugin starts and the pinned version did not start; `None` if that is not known.
    pub(crate) fn started(&self) -> Option<Vec<String>> {
        if self.surface == PinnedSurface::Unknown {
            return None;
        }
        let lines = || self.found.sections.iter().flat_map(|section| &section.lines);
        let gone: BTreeSet<String> = lines()
            .filter_map(|change| match change {
                LineChange::Removed(row) => start_of(row),
                LineChange::Added(_) => None,
            })
            .collect();
        // A command whose coverage changed is a changed line of the surface, and nothing new is started.
        let came = lines().filter_map(|change| match change {
            LineChange::Added(row) => start_of(row).filter(|start| !gone.contains(start)),
            LineChange::Removed(_) => None,
        });
        Some(came.collect())
    }
}

/// The behaviors of a plugin compared with those of the pinned version.
pub(crate) struct News {
    /// The new behaviors, each with its first place.
    pub(crate) came: Vec<String>,
    /// The messages of the danger findings, worst first.
    messages: Vec<String>,
    /// The behaviors that the plugin does not have any more.
    pub(crate) gone: Vec<String>,
}

impl News {
    /// Returns the behaviors and danger findings that are new since the plugin was pinned, as one sentence.
    fn sentence(&self) -> Option<String> {
        let mut parts = Vec::new();
        if !self.came.is_empty() {
            parts.push(format!("new: {}", self.came.join(", ")));
        }
        // Three messages fill the first lines. The sections of the files name all rules.
        parts.extend(self.messages.iter().take(3).cloned());
        if !self.gone.is_empty() {
            parts.push(format!("no longer: {}", self.gone.join(", ")));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// Returns the pin of a plugin, or of the place that it had before.
fn pin_of<'a>(store: &'a PinStore, subject: &Subject) -> Option<&'a Pin> {
    let pin = |key: &PluginKey| store.pins().and_then(|pins| pins.get(key));
    pin(subject.key()).or_else(|| pin(subject.observed.predecessor.as_ref()?))
}

/// Returns the audit of some pinned contents that counts.
fn audit_of(approvals: &ApprovalStore, facts: &Facts) -> Result<Option<AuditReport>, Failure> {
    let Some(records) = approvals.audits() else { return Ok(None) };
    let audits = records.of_tree(&facts.tree).map_err(|failure| shared::store_failure(&failure))?;
    Ok(audits.deciding(&audited_bytes(facts)).map(AuditReport::of))
}

/// Returns a behavior with its first place.
pub(crate) fn behavior_at(one: &BehaviorEvidence) -> String {
    format!("{} ({}:{})", one.behavior, line(&one.path), one.line)
}

fn news(store: &PinStore, subject: &Subject, plugin: &PluginReport) -> Option<News> {
    let agreed = pin_of(store, subject)?.latest()?;
    let before = agreed.behaviors.as_ref()?;
    if agreed.facts.tree == subject.facts().tree {
        return None;
    }
    let now = plugin.first_evidence();
    let came = now.values().filter(|one| !before.contains(&one.behavior));
    let gone = before.iter().filter(|behavior| !now.contains_key(behavior));
    let mut worst: Vec<&Finding> =
        plugin.findings.iter().filter(|finding| finding.severity == Severity::Danger).collect();
    worst.sort();
    let mut messages: Vec<String> = worst.iter().map(|finding| lowered(&line(&finding.message))).collect();
    messages.dedup();
    Some(News {
        came: came.map(|one| behavior_at(one)).collect(),
        messages,
        gone: gone.map(|behavior| behavior.as_str().to_owned()).collect(),
    })
}

/// Returns a sentence with a lowercase start, as a part of another one.
fn lowered(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// The changes, and how much of the pinned version was kept.
struct Compared {
    found: Diff,
    surface: PinnedSurface,
    damaged: bool,
}

/// Returns the name, report, subject and bytes of a plugin.
fn taken(
    named: SelectedPlugin,
    commands: &Commands,
) -> Result<(String, PluginReport, Subject, Material), Failure> {
    let SelectedPlugin { shown, plugin, subject, .. } = named;
    let Some(mut subject) = subject else {
        let code = plugin.reasons.first().map_or("tree/problem", |reason| reason.code.as_str()).to_owned();
        let why = format!("{shown} cannot be digested, so there is nothing to compare");
        return Err(Failure::refused(why).code(&code).help(commands.explain()));
    };
    let Some(material) = subject.material.take() else {
        return Err(Failure::internal(format!("the contents of {shown} were not kept")));
    };
    Ok((shown, plugin, subject, material))
}

/// Returns the files that differ from the entry of PLUGINS.lock, each with its change, if the entry lists files.
fn unlocked(plugin: &PluginReport, material: &Material) -> Vec<String> {
    let Some(listed) = shared::locked_files(plugin) else { return Vec::new() };
    let row = |row: &str| {
        let mut words = row.splitn(4, ' ');
        let (_, digest, _, path) = (words.next()?, words.next()?, words.next()?, words.next()?);
        Some((path.to_owned(), digest.to_owned()))
    };
    let found: BTreeMap<String, String> = material.preimage.lines().skip(1).filter_map(row).collect();
    let paths: BTreeSet<&String> = listed.keys().chain(found.keys()).collect();
    let change = |path: &&String| match (listed.get(*path), found.get(*path)) {
        (Some(was), Some(is)) if was.hex() == is.trim_start_matches("sha256:") => None,
        (Some(_), Some(_)) => Some(format!("modified {path}")),
        (Some(_), None) => Some(format!("deleted  {path}")),
        (None, _) => Some(format!("added    {path}")),
    };
    paths.iter().filter_map(change).collect()
}

/// Where the texts of the old side are.
enum OldTexts<'a> {
    /// In the state directory, as far as they were kept.
    Baselines(Option<&'a Baselines>),
    /// In another directory.
    Directory { facts: &'a Facts, material: &'a Material },
}

impl OldTexts<'_> {
    fn tree(&self, tree: &TreeDigest, damaged: &mut bool) -> Option<String> {
        match self {
            Self::Baselines(baselines) => kept(baselines.map(|baselines| baselines.tree(tree)), damaged),
            Self::Directory { facts, material } if facts.tree == *tree => Some(material.preimage.clone()),
            Self::Directory { facts, material } if facts.closure == Some(*tree) => {
                material.closure().map(str::to_owned)
            }
            Self::Directory { facts, material } => {
                let (name, _) = facts.shared.iter().find(|(_, shared)| *shared == tree)?;
                material.shared.get(name).map(|text| text.preimage.clone())
            }
        }
    }

    fn surface(&self, facts: &Facts, damaged: &mut bool) -> Option<String> {
        match self {
            Self::Baselines(baselines) => {
                kept(baselines.zip(facts.surface).map(|(kept, surface)| kept.surface(&surface)), damaged)
            }
            Self::Directory { material, .. } => Some(material.surface.clone()),
        }
    }

    fn text(&self, digest: &Digest) -> Option<String> {
        match self {
            Self::Baselines(baselines) => kept(baselines.map(|kept| kept.object(digest)), &mut false),
            Self::Directory { facts, material } if facts.entry == Some(*digest) => material.entry.clone(),
            Self::Directory { material, .. } => material.text_of(digest),
        }
    }
}

/// Compares a plugin with an old state of it.
fn compare(facts: Option<&Facts>, old: &OldTexts<'_>, subject: &Subject, material: &Material) -> Compared {
    let mut damaged = false;
    let preimage = facts.and_then(|facts| old.tree(&facts.tree, &mut damaged));
    let surface = facts.and_then(|facts| old.surface(facts, &mut damaged));
    let (was, is) = shared_lists(facts, material, &mut |tree| old.tree(tree, &mut damaged));
    let old_text = |digest: &Digest| old.text(digest);
    let (old_identity, new_identity) = identities(facts, material, &old_text);
    let new_bytes = |path: &str| material.bytes(path).map(<[u8]>::to_vec);
    let old = facts.map(|facts| Baseline {
        facts,
        preimage: preimage.as_deref(),
        surface: surface.as_deref(),
        shared: &was,
        identity: &old_identity,
        text: &old_text,
    });
    let new = DiffSide {
        facts: subject.facts(),
        preimage: &material.preimage,
        surface: &material.surface,
        shared: &is,
        identity: &new_identity,
        bytes: &new_bytes,
    };
    #[expect(clippy::disallowed_methods, reason = "bounds the work; the output names what was not compared")]
    let start = Instant::now();
    let found = diff(old.as_ref(), &new, material, &|| start.elapsed() > TIME);
    let is_known = facts.is_none() || surface.is_some();
    let surface = if is_known { PinnedSurface::Known } else { PinnedSurface::Unknown };
    Compared { found, surface, damaged }
}

/// Returns the names, versions and authors on both sides, from the manifest and the marketplace entry.
///
/// A side is empty if the baselines do not have its text.
fn identities(
    pinned: Option<&Facts>,
    material: &Material,
    text: &dyn Fn(&Digest) -> Option<String>,
) -> (BTreeMap<String, String>, BTreeMap<String, String>) {
    let (mut was, mut is) = (BTreeMap::new(), BTreeMap::new());
    let Some(pinned) = pinned else { return (was, is) };
    let main =
        material.main.and_then(|main| Some((pinned.manifest.get(main.dialect)?, material.bytes(main.path)?)));
    if let Some((old, new)) = main.and_then(|(digest, new)| Some((text(digest)?, new))) {
        was.extend(identity_of(old.as_bytes()));
        is.extend(identity_of(new));
    }
    let old = pinned.entry.map(|digest| text(&digest));
    let named =
        |entry: &str| entry_parts(entry).into_iter().map(|(key, value)| (format!("entry {key}"), value));
    if let (Some(Some(old)), Some(new)) = (old, &material.entry) {
        was.extend(named(&old));
        is.extend(named(new));
    }
    (was, is)
}

/// The file lists of one side outside the plugin, each with the path of its directory.
type DirectoryLists = Vec<(String, String)>;

/// Returns the old and new lists of the shared directories, and of the files outside that the plugin runs.
///
/// A directory without an old list is left out, and only its digest is compared.
fn shared_lists(
    pinned: Option<&Facts>,
    material: &Material,
    kept: &mut dyn FnMut(&TreeDigest) -> Option<String>,
) -> (DirectoryLists, DirectoryLists) {
    let (mut was, mut is) = (DirectoryLists::new(), DirectoryLists::new());
    let closure = pinned.and_then(|facts| facts.closure);
    let old = closure.as_ref().map(&mut *kept);
    if old != Some(None) {
        was.extend(old.flatten().map(|list| (String::new(), closure_paths(&list))));
        is.extend(material.closure().map(|list| (String::new(), closure_paths(list))));
    }
    let nothing = BTreeMap::new();
    let pinned = pinned.map_or(&nothing, |facts| &facts.shared);
    for (name, text) in &material.shared {
        let new = (text.directory.clone(), text.preimage.clone());
        let Some(tree) = pinned.get(name) else {
            is.push(new);
            continue;
        };
        if let Some(list) = kept(tree) {
            was.push((text.directory.clone(), list));
            is.push(new);
        }
    }
    for (name, tree) in pinned.iter().filter(|(name, _)| !material.shared.contains_key(*name)) {
        was.extend(kept(tree).map(|list| (name.clone(), list)));
    }
    (was, is)
}

/// Returns a baseline's text. A missing or unreadable one only makes the diff coarser.
fn kept<E>(text: Option<Result<StoredText<String>, E>>, damaged: &mut bool) -> Option<String> {
    let text = text?.ok()?;
    *damaged |= text == StoredText::Damaged;
    text.found()
}

/// Returns the first lines: how much changed.
fn headline(id: &str, found: &Diff, width: usize) -> String {
    let files = found.sections.iter().map(|section| section.files.len()).sum::<usize>();
    let summary = match found.old {
        OldSide::Nothing => "never pinned: everything is new".to_owned(),
        OldSide::DigestsOnly => {
            "changed since it was pinned; its old texts were not kept, so the files are not known".to_owned()
        }
        OldSide::Listed if found.sections.is_empty() => "unchanged since it was pinned".to_owned(),
        OldSide::Listed if files == 0 => "changed since it was pinned".to_owned(),
        OldSide::Listed => format!("{} changed since it was pinned, worst first", count(files, "file")),
    };
    wrapped("", "  ", &format!("{id}: {summary}"), width).replacen(id, &paint(STRONG, id), 1)
}

fn render_section(section: &DiffSection, plugin: &PluginReport, width: usize) -> String {
    let mut text = format!("\n{}\n", paint(ASK, section.class.as_str()));
    for change in &section.lines {
        let (style, sign, row) = match change {
            LineChange::Removed(row) => (REFUSE, "- ", row),
            LineChange::Added(row) => (LOAD, "+ ", row),
        };
        let row = wrapped(&format!("  {sign}"), "    ", &line(&surface_words(row)), width);
        text.push_str(&format!("{}\n", paint(style, row.trim_end_matches('\n'))));
    }
    for file in &section.files {
        text.push_str(&render_file(file, width));
        text.push_str(&verdict(&file.path, plugin, width));
    }
    text
}

/// Returns a JSON line of the surface as words: kind, name, command and pin coverage.
fn surface_words(row: &str) -> String {
    let Ok(Value::Object(item)) = serde_json::from_str::<Value>(row) else { return row.to_owned() };
    let word = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
    let list = |key: &str| {
        let parts = item.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        parts.collect::<Vec<_>>().join(" ")
    };
    let run = [words(word("text")), words(&list("argv"))];
    let mut parts = vec![word("kind").to_owned(), word("name").to_owned()];
    parts.extend(run);
    if let Some(Value::Object(facts)) = item.get("facts") {
        parts.extend(facts.iter().filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?))));
    }
    parts.push(format!("({})", word("coverage")));
    parts.retain(|part| !part.is_empty());
    parts.join(" ")
}

/// Returns the kind, event, name and command of a JSON line of the surface, or nothing for text that reaches a prompt.
fn start_of(row: &str) -> Option<String> {
    let Ok(Value::Object(item)) = serde_json::from_str::<Value>(row) else { return None };
    let word = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
    let fact = |key: &str| item.get("facts").and_then(|facts| facts.get(key)).and_then(Value::as_str);
    if word("kind") == "prompt" || word("kind").is_empty() {
        return None;
    }
    let event = fact("event").unwrap_or_default();
    let name = if word("name") == event { "" } else { word("name") };
    let argv = item.get("argv").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let argv = argv.collect::<Vec<_>>().join(" ");
    let parts = [word("kind"), event, name, fact("url").unwrap_or_default(), word("text"), &argv];
    Some(parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" "))
}

/// Returns a label if a file became executable or a symlink, or stopped being one.
fn kind_of(file: &FileChange) -> &'static str {
    match (file.old.as_ref().map(|old| old.kind), file.new.as_ref().map(|new| new.kind)) {
        (Some(TreeEntryKind::File), Some(TreeEntryKind::Executable)) => " (now executable)",
        (Some(TreeEntryKind::Executable), Some(TreeEntryKind::File)) => " (no longer executable)",
        (None, Some(TreeEntryKind::Executable)) => " (executable)",
        (None, Some(TreeEntryKind::Link)) => " (a symlink)",
        (Some(TreeEntryKind::File | TreeEntryKind::Executable), Some(TreeEntryKind::Link)) => {
            " (now a symlink)"
        }
        (Some(TreeEntryKind::Link), Some(TreeEntryKind::Executable)) => " (now a file, executable)",
        (Some(TreeEntryKind::Link), Some(TreeEntryKind::File)) => " (now a file)",
        _ => "",
    }
}

/// Returns the rules with findings in a file, to print next to the changed lines.
fn verdict(path: &str, plugin: &PluginReport, width: usize) -> String {
    let mut out = String::new();
    let own = path.strip_prefix("./").unwrap_or(path);
    for (severity, style) in [(Severity::Danger, REFUSE), (Severity::Warning, ASK)] {
        let found =
            plugin.findings.iter().filter(|finding| finding.severity == severity && finding.path == own);
        let rules: BTreeSet<&str> = found.map(|finding| finding.rule.as_str()).collect();
        if !rules.is_empty() {
            let text = format!("{}: {}", tier(severity), rules.into_iter().collect::<Vec<_>>().join(", "));
            out.push_str(&paint(style, wrapped("     ", "       ", &text, width).trim_end()));
            out.push('\n');
        }
    }
    out
}

/// Returns the kind of change of a file in git's terms.
fn change_of(file: &FileChange) -> &'static str {
    match file.what() {
        "added" => "added    ",
        "removed" => "deleted  ",
        "renamed" => "renamed  ",
        "mode" => "mode     ",
        "kind" => "replaced ",
        _ => "modified ",
    }
}

fn render_file(file: &FileChange, width: usize) -> String {
    let bit = kind_of(file);
    let path = paint(STRONG, &line(&file.path));
    let mut text = match &file.from {
        Some(from) => format!("  {}{}\n    to {path}{bit}\n", change_of(file), line(from)),
        None => format!("  {}{path}{bit}\n", change_of(file)),
    };
    match &file.hunks {
        Hunks::Same => {}
        Hunks::NotText => text.push_str("    not text: compared by its digest\n"),
        Hunks::NotKept => text.push_str("    the old text was not kept\n"),
        Hunks::OutOfTime => text.push_str("    not compared: the time limit was reached\n"),
        Hunks::Text { hunks, more_removed, more_added } => {
            text.push_str(&rows::of(hunks, width));
            if more_removed + more_added > 0 {
                text.push_str(&format!(
                    "    {more_removed} more lines deleted and {more_added} added, not shown\n"
                ));
            }
        }
    }
    text
}
