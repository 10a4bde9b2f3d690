//! The plan of an audit: the files that a request has, in their order and after redaction.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet};

use plugward_redact::{Firewall, KnownSecrets, Raw, RedactAction, SecretFinding, SecretKind};
use plugward_types::{LineEnds, LineIndex, Risk};

use crate::mentions::Mentions;
use crate::record::{Audit, AuditBase, AuditScope};
use crate::request;
use crate::subject::{AuditFile, AuditLimits, AuditSubject, AuditedFile, AuditorId, FileClass, FileState};

/// The bytes that count as one token. An estimate: models split texts differently.
const TOKEN: usize = 3;

/// A request that is ready to be planted and sent.
///
/// # Guarantees
/// The sent texts were redacted by the firewall. The plan depends on nothing but its arguments.
#[derive(Debug)]
pub struct AuditPlan<'a> {
    pub(crate) subject: &'a AuditSubject<'a>,
    pub(crate) auditor: AuditorId,
    pub(crate) base: Option<AuditBase>,
    pub(crate) files: Vec<PlannedFile<'a>>,
    /// The texts of [`request::LISTS`].
    pub(crate) lists: [String; 3],
    /// The secrets of the sent files.
    pub(crate) known: KnownSecrets,
    bytes: usize,
}

/// A file of a plan.
#[derive(Debug)]
pub(crate) struct PlannedFile<'a> {
    pub(crate) file: &'a AuditFile<'a>,
    pub(crate) class: FileClass,
    pub(crate) state: FileState,
    /// Whether the model must know the file to judge the plugin: it can run, it reaches a prompt, or a file that does so
    /// mentions it.
    pub(crate) matters: bool,
    /// The redacted text, if it is sent.
    pub(crate) text: String,
    pub(crate) masks: Vec<Mask>,
}

impl PlannedFile<'_> {
    /// Returns `true` if the model must know the file to judge the plugin, and does not.
    pub(crate) const fn is_partial(&self) -> bool {
        self.matters && matches!(self.state, FileState::LeftOut | FileState::Binary)
    }
}

/// A place that redaction changed.
#[derive(Debug, Clone)]
pub(crate) struct Mask {
    /// The bytes of the file.
    pub(crate) raw: Range<usize>,
    /// The marker in the redacted text.
    pub(crate) marker: Range<usize>,
    pub(crate) kind: SecretKind,
}

impl<'a> AuditPlan<'a> {
    /// Plans the audit of a plugin.
    ///
    /// `base` is the full audit that the audit of the approved or pinned version is, or names. If it is comparable, only
    /// the difference to it is sent. Pass `None` to send everything.
    #[must_use]
    pub fn new(
        subject: &'a AuditSubject<'a>,
        auditor: AuditorId,
        base: Option<&Audit>,
        limits: &AuditLimits,
        firewall: &Firewall,
    ) -> Self {
        let mut order: Vec<(FileClass, &AuditFile<'_>)> =
            subject.files.iter().map(|file| (file.class(), file)).collect();
        order.sort_by_key(|(class, file)| (*class, file.path));
        let files: Vec<&AuditFile<'_>> = order.iter().map(|(_, file)| *file).collect();
        let base = base.filter(|base| base.is_comparable(subject, &auditor));
        let known: BTreeMap<&str, &AuditedFile> =
            base.iter().flat_map(|base| &base.files).map(|file| (file.path.as_str(), file)).collect();
        let present: BTreeSet<&str> = files.iter().map(|file| file.path).collect();
        let removed: Vec<&AuditedFile> =
            known.values().filter(|file| !present.contains(file.path.as_str())).copied().collect();
        let mentions = Mentions::new(&files, &removed);
        let difference = base.and_then(|_| difference(&files, &known, &mentions));
        // Titles and lists count, too. Each of the first two lists takes at most an eighth.
        let most = limits.request_bytes / 8;
        let lists = [request::claims(subject, most), request::findings(subject, most)];
        let titles: usize = request::LISTS.iter().map(|title| request::section_bytes(title)).sum();
        let used = titles + lists.iter().map(String::len).sum::<usize>();
        let mut rest = limits.request_bytes.saturating_sub(used);
        let mut planned: Vec<PlannedFile<'_>> = Vec::new();
        for (index, (class, file)) in order.into_iter().enumerate() {
            let is_wanted = difference.as_ref().is_none_or(|wanted| wanted.contains(&index));
            let wanted = if is_wanted { FileState::Sent } else { FileState::Unchanged };
            planned.push(PlannedFile::new(file, class, wanted, &mut rest, firewall));
        }
        let matters: Vec<bool> = planned.iter().map(|file| file.class != FileClass::Rest).collect();
        let is_by = |index: usize| matters.get(index).copied().unwrap_or_default();
        for (index, file) in planned.iter_mut().enumerate() {
            file.matters = file.class != FileClass::Rest || mentions.is_mentioned(index, is_by);
        }
        let base = base.filter(|_| difference.is_some()).map(Audit::as_base);
        let mut known = KnownSecrets::new();
        for file in planned.iter().filter(|file| !file.masks.is_empty()) {
            firewall.remember_text(&Raw::new(file.file.text().unwrap_or_default().to_owned()), &mut known);
        }
        let [claims, findings] = lists;
        let lists = [claims, findings, request::absent(&planned, rest)];
        let mut plan = Self { subject, auditor, base, files: planned, lists, known, bytes: 0 };
        plan.bytes = request::size(&plan);
        plan
    }

    /// Returns whether everything is sent, or only the difference to the base.
    #[must_use]
    pub const fn scope(&self) -> AuditScope {
        if self.base.is_some() { AuditScope::Update } else { AuditScope::Full }
    }

    /// Returns the client and model that the plan is for.
    #[must_use]
    pub const fn auditor(&self) -> &AuditorId {
        &self.auditor
    }

    /// Returns the number of files whose text is sent. An audit without such files asks no model.
    #[must_use]
    pub fn sent_files(&self) -> usize {
        self.sent().count()
    }

    /// Returns the number of bytes of the request, without the canaries.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the estimated number of tokens of the request.
    #[must_use]
    pub const fn tokens(&self) -> usize {
        self.bytes.div_ceil(TOKEN)
    }

    /// Returns the number of places that redaction changed.
    #[must_use]
    pub fn masked_secrets(&self) -> usize {
        self.files.iter().map(|file| file.masks.len()).sum()
    }

    /// Returns the paths of the files that do not fit into the request.
    pub fn left_out(&self) -> impl Iterator<Item = &str> {
        self.files.iter().filter(|file| file.state == FileState::LeftOut).map(|file| file.file.path)
    }

    pub(crate) fn sent(&self) -> impl Iterator<Item = &PlannedFile<'a>> {
        self.files.iter().filter(|file| file.state == FileState::Sent)
    }

    /// Returns the risk that an update has at least.
    pub(crate) fn base_risk(&self) -> Risk {
        self.base.as_ref().map_or(Risk::Low, |base| base.risk)
    }
}

impl<'a> PlannedFile<'a> {
    fn new(
        file: &'a AuditFile<'a>,
        class: FileClass,
        wanted: FileState,
        rest: &mut usize,
        firewall: &Firewall,
    ) -> Self {
        let mut planned = Self {
            file,
            class,
            state: FileState::Binary,
            matters: true,
            text: String::new(),
            masks: Vec::new(),
        };
        let Some(text) = file.text() else { return planned };
        let used = request::section_bytes(&request::title(file)) + text.len();
        planned.state = match rest.checked_sub(used) {
            _ if wanted == FileState::Unchanged => wanted,
            None => FileState::LeftOut,
            Some(left) => {
                *rest = left;
                let redacted = firewall.redact(Raw::new(text.to_owned()));
                planned.masks = masks(redacted.findings(), text, firewall);
                planned.text = redacted.into_value();
                FileState::Sent
            }
        };
        planned
    }

    /// Returns the line of the file that an offset of the redacted text is on.
    pub(crate) fn line_of(&self, offset: usize) -> u32 {
        let before = self.masks.iter().rev().find(|mask| mask.marker.start <= offset);
        let raw = before.map_or(offset, |mask| match offset.checked_sub(mask.marker.end) {
            Some(after) => mask.raw.end + after,
            None => mask.raw.start,
        });
        self.lines().line(raw)
    }

    pub(crate) fn lines(&self) -> LineIndex<'_> {
        LineIndex::new(self.file.bytes, LineEnds::Text)
    }
}

/// Returns `true` if the value is not in the redacted text.
pub(crate) const fn is_removed(found: &SecretFinding) -> bool {
    matches!(found.action, RedactAction::Removed | RedactAction::Withheld)
}

/// Pairs the markers of a redacted text with the bytes that they replace.
fn masks(markers: &[SecretFinding], text: &str, firewall: &Firewall) -> Vec<Mask> {
    if !markers.iter().any(is_removed) {
        return Vec::new();
    }
    let raw = firewall.find(text.as_bytes());
    // Both lists have the same order. `find` reports bytes, and `redact` the markers that replace them.
    let pairs =
        raw.iter().filter(|found| is_removed(found)).zip(markers.iter().filter(|found| is_removed(found)));
    pairs
        .map(|(raw, marker)| Mask { raw: raw.at.clone(), marker: marker.at.clone(), kind: raw.kind.clone() })
        .collect()
}

/// Returns the files to be sent as an update, or `None` if everything must be sent: they have no text, or more than half
/// of all text.
fn difference(
    files: &[&AuditFile<'_>],
    known: &BTreeMap<&str, &AuditedFile>,
    mentions: &Mentions,
) -> Option<BTreeSet<usize>> {
    // A file that was left out of the base was not seen by the model.
    let is_same = |file: &AuditFile<'_>, old: &AuditedFile| {
        old.digest == file.digest && old.state != FileState::LeftOut
    };
    let is_changed = |file: &AuditFile<'_>| known.get(file.path).is_none_or(|old| !is_same(file, old));
    let changed = files.iter().enumerate().filter(|(_, file)| is_changed(file)).map(|(index, _)| index);
    let wanted = mentions.around(&changed.collect());
    let size = |file: &AuditFile<'_>| file.text().map_or(0, str::len);
    let all: usize = files.iter().map(|file| size(file)).sum();
    let part: usize = wanted.iter().filter_map(|index| files.get(*index)).map(|file| size(file)).sum();
    (part > 0 && part <= all / 2).then_some(wanted)
}
