//! Structured output. JSON stays JSON, and the name of a member is context for its value.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one text stay below isize::MAX")]

use core::fmt;
use core::ops::Range;

use plugward_types::pointer;
use serde_json::{Map, Value};
use zeroize::{Zeroize as _, Zeroizing};

use crate::bytes::part;
use crate::bytes::wiped::Wiped;
use crate::firewall::merge::merge;
use crate::known::KnownSecrets;
use crate::raw::{Raw, Wipe, sealed};
use crate::redacted::Redacted;
use crate::redacted::finding::{RedactAction, SecretFinding};
use crate::redacted::marker;
use crate::rules::{MarkerEncoding, Match};
use crate::{Firewall, firewall::is_laundered};

/// The output of a tool: its content, its metadata, and whether it succeeded.
///
/// `PostToolUse` hooks run after success and after failure. After a failure the error text is the content.
#[derive(Clone, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a further part of an output must stop every host from building"
)]
pub struct Output {
    /// The output, or the error text.
    pub content: OutputContent,
    /// The metadata that the tool returned.
    pub metadata: Value,
    /// Whether the tool succeeded.
    pub ended: ToolStatus,
}

/// The content of a tool's output.
#[derive(Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a further form must stop every host from building")]
pub enum OutputContent {
    /// Plain text.
    Text(String),
    /// A JSON value.
    Json(Value),
}

/// Whether a tool succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a further end must stop every host from building")]
pub enum ToolStatus {
    /// The tool succeeded.
    Ok,
    /// The tool failed, and the content is its error text.
    Failed,
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").field("ended", &self.ended).finish_non_exhaustive()
    }
}

impl fmt::Debug for OutputContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text(_) => "Text(..)",
            Self::Json(_) => "Json(..)",
        })
    }
}

impl sealed::Sealed for Value {}
impl sealed::Sealed for Output {}

impl Wipe for Value {
    fn wipe(&mut self) {
        match core::mem::take(self) {
            Self::String(mut text) => text.zeroize(),
            Self::Array(list) => list.into_iter().for_each(|mut value| value.wipe()),
            Self::Object(members) => members.into_iter().for_each(|(mut name, mut value)| {
                name.zeroize();
                value.wipe();
            }),
            Self::Null | Self::Bool(_) | Self::Number(_) => {}
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::String(text) => text.len(),
            Self::Array(list) => list.iter().map(Wipe::size).sum(),
            Self::Object(members) => members.iter().map(|(name, value)| name.len() + value.size()).sum(),
            Self::Null | Self::Bool(_) | Self::Number(_) => 1,
        }
    }
}

impl Wipe for Output {
    fn wipe(&mut self) {
        match &mut self.content {
            OutputContent::Text(text) => text.zeroize(),
            OutputContent::Json(value) => value.wipe(),
        }
        self.metadata.wipe();
    }

    fn size(&self) -> usize {
        let content = match &self.content {
            OutputContent::Text(text) => text.len(),
            OutputContent::Json(value) => value.size(),
        };
        content + self.metadata.size()
    }
}

/// A string, name or number of a value, and its range in the searched text.
struct Leaf {
    at: Range<usize>,
    /// The matches in it, removed and kept.
    hits: Vec<Match>,
}

/// A value as one text: strings unescaped, with the names and punctuation around them.
#[derive(Default)]
struct Document {
    text: Wiped,
    leaves: Vec<Leaf>,
}

impl Document {
    fn add(&mut self, value: &Value) {
        match value {
            Value::Object(members) => {
                self.text.push(b'{');
                for (index, (name, member)) in members.iter().enumerate() {
                    self.text.extend(if index == 0 { b"\"" } else { b",\"" });
                    self.leaf(name.as_bytes());
                    self.text.extend(b"\":");
                    self.add(member);
                }
                self.text.push(b'}');
            }
            Value::Array(list) => {
                self.text.push(b'[');
                for (index, member) in list.iter().enumerate() {
                    if index > 0 {
                        self.text.push(b',');
                    }
                    self.add(member);
                }
                self.text.push(b']');
            }
            Value::String(text) => {
                self.text.push(b'"');
                self.leaf(text.as_bytes());
                self.text.push(b'"');
            }
            Value::Number(number) => self.leaf(Zeroizing::new(number.to_string()).as_bytes()),
            // Neither can be a secret. A placeholder keeps the document well-formed for rules that look at
            // neighbors.
            Value::Bool(_) | Value::Null => self.text.extend(b"null"),
        }
    }

    fn leaf(&mut self, bytes: &[u8]) {
        let start = self.text.len();
        self.text.extend(bytes);
        self.leaves.push(Leaf { at: start..self.text.len(), hits: Vec::new() });
    }

    /// Assigns each leaf the parts of the matches that are in it.
    fn search(&mut self, firewall: &Firewall, known: Option<&KnownSecrets>) {
        let mut hits = firewall.hits(&self.text, known);
        for leaf in &self.leaves {
            let bytes = part(&self.text, leaf.at.clone());
            // A string with several lines is also searched alone, because some rules need the first column.
            if bytes.contains(&b'\n') {
                hits.extend(firewall.hits(bytes, known).into_iter().map(|hit| Match {
                    at: hit.at.start + leaf.at.start..hit.at.end + leaf.at.start,
                    ..hit
                }));
            }
        }
        let groups = crate::known::repeats::add(&self.text, merge(hits));
        for leaf in &mut self.leaves {
            let from = groups.partition_point(|group| group.at.end <= leaf.at.start);
            let inside = groups.iter().skip(from).take_while(|group| group.at.start < leaf.at.end);
            leaf.hits = inside
                .map(|group| Match {
                    at: group.at.start.max(leaf.at.start)..group.at.end.min(leaf.at.end),
                    ..group.clone()
                })
                .filter(|hit| !hit.at.is_empty())
                .collect();
        }
    }
}

/// Writes the leaves of a document back into a value.
struct Writer<'d> {
    firewall: &'d Firewall,
    known: Option<&'d KnownSecrets>,
    text: &'d [u8],
    leaves: core::slice::Iter<'d, Leaf>,
    findings: Vec<SecretFinding>,
}

impl Writer<'_> {
    /// Returns a copy of the value with the redacted leaves.
    ///
    /// Pointers are built from redacted names, so that a name that is a secret is in no finding.
    fn write(&mut self, value: &Value, pointer: &str) -> Value {
        match value {
            Value::Object(members) => {
                let mut out = Map::new();
                for (name, member) in members {
                    let first = self.findings.len();
                    let mut name = self.leaf("").unwrap_or_else(|| name.clone());
                    // Two names can become the same marker.
                    while out.contains_key(&name) {
                        name.push('+');
                    }
                    let inner = pointer::step(pointer, &name);
                    for found in self.findings.iter_mut().skip(first) {
                        found.pointer.clone_from(&inner);
                    }
                    let member = self.write(member, &inner);
                    out.insert(name, member);
                }
                Value::Object(out)
            }
            Value::Array(list) => {
                let members = list.iter().enumerate();
                Value::Array(
                    members
                        .map(|(index, member)| self.write(member, &format!("{pointer}/{index}")))
                        .collect(),
                )
            }
            Value::String(text) => Value::String(self.leaf(pointer).unwrap_or_else(|| text.clone())),
            Value::Number(_) => self.leaf(pointer).map_or_else(|| value.clone(), Value::String),
            Value::Bool(_) | Value::Null => value.clone(),
        }
    }

    /// Returns the new text of the next leaf, or `None` if nothing was removed from it.
    fn leaf(&mut self, pointer: &str) -> Option<String> {
        let leaf = self.leaves.next()?;
        let mut out = Vec::new();
        let mut from = leaf.at.start;
        let mut cut = false;
        for hit in &leaf.hits {
            if hit.action == RedactAction::Removed {
                out.extend_from_slice(part(self.text, from..hit.at.start));
                let start = out.len();
                let kind = self.firewall.rules.kind(hit.rank);
                let length = marker::write(
                    &mut out,
                    self.firewall.settings.marker,
                    kind.as_str(),
                    MarkerEncoding::Bytes,
                );
                self.found(hit, start..start + length, pointer);
                from = hit.at.end;
                cut = true;
            } else {
                let start = out.len() + hit.at.start - from;
                self.found(hit, start..start + hit.at.len(), pointer);
            }
        }
        out.extend_from_slice(part(self.text, from..leaf.at.end));
        cut.then(|| String::from_utf8_lossy(&out).into_owned())
    }

    fn found(&mut self, hit: &Match, at: Range<usize>, pointer: &str) {
        let raw = part(self.text, hit.at.clone());
        let via = crate::firewall::merge::via_of(hit, raw, self.known);
        self.findings.push(SecretFinding {
            kind: self.firewall.rules.kind(hit.rank),
            raw_len: hit.at.len(),
            via,
            checksum: hit.sum,
            action: hit.action,
            line: 1,
            column: at.start + 1,
            pointer: pointer.to_owned(),
            at,
        });
    }
}

impl Firewall {
    /// Redacts a JSON value leaf by leaf. The names of members and their neighbors are context.
    ///
    /// # Guarantees
    ///
    /// Those of [`Firewall::redact`]. The result is JSON of the same shape, except that a number that is a
    /// secret becomes a string. Offsets of findings refer to the string at their pointer.
    #[must_use]
    pub fn redact_json(&self, value: Raw<Value>) -> Redacted<Value> {
        let redacted = self.json(value.inside(), None, "");
        drop(value);
        redacted
    }

    /// Adds the secrets of an output to `known`, so that they are found again after a transform.
    pub fn remember(&self, output: &Raw<Output>, known: &mut KnownSecrets) {
        let output = output.inside();
        let mut document = Document::default();
        match &output.content {
            OutputContent::Text(text) => self.learn(text.as_bytes(), known),
            OutputContent::Json(value) => document.add(value),
        }
        document.add(&output.metadata);
        self.learn(&document.text, known);
    }

    /// Redacts an output that transforms may have changed.
    ///
    /// The second part lists the laundered values: secrets in `known` that a transform encoded, or moved away
    /// from the name that identified them.
    #[must_use]
    pub fn redact_output(
        &self,
        output: Raw<Output>,
        known: &KnownSecrets,
    ) -> (Redacted<Output>, Vec<SecretFinding>) {
        let raw = output.inside();
        let (content, mut findings) = match &raw.content {
            OutputContent::Text(text) => {
                let text = self.bytes(text.as_bytes(), Some(known)).into_text();
                (OutputContent::Text(text.value), text.findings)
            }
            OutputContent::Json(value) => {
                let value = self.json(value, Some(known), "");
                (OutputContent::Json(value.value), value.findings)
            }
        };
        let metadata = self.json(&raw.metadata, Some(known), "/metadata");
        findings.extend(metadata.findings);
        let ended = raw.ended;
        drop(output);
        let laundered = findings.iter().filter(|found| is_laundered(found)).cloned().collect();
        let value = Output { content, metadata: metadata.value, ended };
        (Redacted { value, generation: self.generation(), findings }, laundered)
    }

    fn json(&self, value: &Value, known: Option<&KnownSecrets>, pointer: &str) -> Redacted<Value> {
        let mut document = Document::default();
        document.add(value);
        document.search(self, known);
        let withheld = document
            .leaves
            .iter()
            .flat_map(|leaf| &leaf.hits)
            .find(|hit| hit.action == RedactAction::Withheld);
        if let Some(hit) = withheld {
            let mut out = Vec::new();
            let kind = self.rules.kind(hit.rank);
            let length = marker::write(&mut out, self.settings.marker, kind.as_str(), MarkerEncoding::Bytes);
            let findings = vec![crate::firewall::withheld(self, hit.rank, document.text.len(), length)];
            let value = Value::String(String::from_utf8_lossy(&out).into_owned());
            return Redacted { value, generation: self.generation(), findings };
        }
        let (text, leaves) = (&document.text, document.leaves.iter());
        let mut writer = Writer { firewall: self, known, text, leaves, findings: Vec::new() };
        let value = writer.write(value, pointer);
        Redacted { value, generation: self.generation(), findings: writer.findings }
    }
}
