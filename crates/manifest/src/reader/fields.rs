//! Typed access to the values of a document. Wrong types, hidden characters and invalid paths are reported.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use std::collections::BTreeMap;

use plugward_types::{Part, Span};

use crate::dialects::Dialect;
use crate::error::ManifestCode;
use crate::json::{JsonMember, JsonNode, JsonValue};
use crate::manifest::UnknownKeys;
use crate::reader::path::{CleanPath, clean_path};
use crate::reader::text::{ForeignText, Joiners, escape, hidden_in};
use crate::reader::{Document, Reader, Requirement};

impl Reader<'_> {
    /// Reports a value of the wrong type.
    pub(crate) fn wrong(
        &mut self,
        doc: &Document<'_>,
        node: &JsonNode<'_>,
        expected: &str,
        requirement: Requirement,
    ) {
        let message = format!("expected {expected}, got {}", node.type_name());
        match requirement {
            Requirement::Strict => self.error(doc, node.span(), ManifestCode::Type, message),
            Requirement::Lenient => self.notice(doc, node.span(), ManifestCode::Type, message),
        }
    }

    pub(crate) fn text<'n>(
        &mut self,
        doc: &Document<'_>,
        node: &'n JsonNode<'_>,
        requirement: Requirement,
    ) -> Option<&'n str> {
        let text = node.as_str();
        if text.is_none() {
            self.wrong(doc, node, "a string", requirement);
        }
        text
    }

    pub(crate) fn list<'n, 'd>(
        &mut self,
        doc: &Document<'_>,
        node: &'n JsonNode<'d>,
        requirement: Requirement,
    ) -> &'n [JsonNode<'d>] {
        let items = node.items();
        if items.is_none() {
            self.wrong(doc, node, "a list", requirement);
        }
        items.unwrap_or_default()
    }

    pub(crate) fn object<'n, 'd>(
        &mut self,
        doc: &Document<'_>,
        node: &'n JsonNode<'d>,
        requirement: Requirement,
    ) -> &'n [JsonMember<'d>] {
        let members = node.members();
        if members.is_none() {
            self.wrong(doc, node, "an object", requirement);
        }
        members.unwrap_or_default()
    }

    /// Returns the nodes of a string or a list of strings; other types are reported.
    pub(crate) fn texts<'n, 'd>(
        &mut self,
        doc: &Document<'_>,
        node: &'n JsonNode<'d>,
        requirement: Requirement,
    ) -> Vec<&'n JsonNode<'d>> {
        match node.value() {
            JsonValue::String(_) => vec![node],
            JsonValue::Array(items) => {
                let mut good = Vec::with_capacity(items.len());
                for item in items {
                    if self.text(doc, item, requirement).is_some() {
                        good.push(item);
                    }
                }
                good
            }
            _ => {
                self.wrong(doc, node, "a string or a list of strings", requirement);
                Vec::new()
            }
        }
    }

    /// Returns free text, marked as foreign.
    pub(crate) fn foreign(&mut self, doc: &Document<'_>, node: &JsonNode<'_>) -> Option<ForeignText> {
        self.text(doc, node, Requirement::Lenient).map(|text| ForeignText::new(text.to_owned()))
    }

    /// Returns a string that must not contain hidden characters: a name, path, command, argument or URL.
    pub(crate) fn plain<'n>(
        &mut self,
        doc: &Document<'_>,
        node: &'n JsonNode<'_>,
        requirement: Requirement,
    ) -> Option<&'n str> {
        let text = self.text(doc, node, requirement)?;
        self.refuse_hidden(doc, node.span(), text);
        Some(text)
    }

    /// Reports a hidden character as an error, once per string.
    pub(crate) fn refuse_hidden(&mut self, doc: &Document<'_>, span: Span, text: &str) {
        if let Some(hidden) = hidden_in(text, Joiners::Never)
            && self.flagged.insert(flag(doc, span))
        {
            let message = format!("expected visible characters, got U+{:04X}", u32::from(hidden));
            self.error(doc, span, ManifestCode::HiddenText, message);
        }
    }

    /// Refuses hidden characters in all keys of a value.
    pub(crate) fn refuse_hidden_keys(&mut self, doc: &Document<'_>, node: &JsonNode<'_>) {
        for member in inside(doc, node).flat_map(JsonNode::members_or_none) {
            self.refuse_hidden(doc, member.key_span(), member.key());
        }
    }

    /// Warns about hidden characters in every string that was not checked before.
    pub(crate) fn find_hidden(&mut self, doc: &Document<'_>) {
        for node in inside(doc, &doc.root) {
            if let Some(hidden) = hidden_in(node.as_str().unwrap_or_default(), Joiners::InEmoji)
                && !self.flagged.contains(&flag(doc, node.span()))
            {
                let message = format!("hidden character U+{:04X} in text", u32::from(hidden));
                self.warning(doc, node.span(), ManifestCode::HiddenText, message);
            }
        }
    }

    /// Returns a value that must be a path inside the plugin directory.
    pub(crate) fn path(&mut self, doc: &Document<'_>, node: &JsonNode<'_>) -> Option<CleanPath> {
        let written = self.text(doc, node, Requirement::Strict)?;
        // Gemini CLI replaces this variable with the path separator.
        let separated = (self.dialect == Dialect::Gemini).then(|| written.replace("${/}", "/"));
        let text = separated.as_deref().unwrap_or(written);
        match clean_path(text, self.dialect.root_variables()) {
            Ok(path) => {
                self.refuse_hidden(doc, node.span(), text);
                self.check_excluded(doc, node, &path)?;
                // Claude Code and Codex document `./` as required, but accept paths without it.
                let asks_prefix = matches!(self.dialect, Dialect::Claude | Dialect::Codex);
                if asks_prefix && !path.prefixed {
                    let message = format!("expected `./` in front of `{}`", escape(text, 128));
                    self.notice(doc, node.span(), ManifestCode::PathPrefix, message);
                }
                Some(path)
            }
            Err(code) => {
                // The path error covers hidden characters too, so they are not reported again.
                self.flagged.insert(flag(doc, node.span()));
                let message =
                    format!("expected a path inside the plugin directory, got `{}`", escape(text, 128));
                self.error(doc, node.span(), code, message);
                None
            }
        }
    }

    /// Refuses a path into a directory that the digest excludes, because no pin would cover the file.
    fn check_excluded(&mut self, doc: &Document<'_>, node: &JsonNode<'_>, path: &CleanPath) -> Option<()> {
        let first = path.path.split('/').next().unwrap_or(&path.path);
        if self.context.excluded.contains(&first) {
            let message = format!("expected a path that the digest covers, got one under `{first}`");
            self.error(doc, node.span(), ManifestCode::PathExcluded, message);
            return None;
        }
        Some(())
    }

    /// Reports unknown keys, and keys that differ from a known one only in case.
    ///
    /// Two spellings of one key are an error, because hosts disagree about which of them applies.
    pub(crate) fn keys(&mut self, doc: &Document<'_>, members: &[JsonMember<'_>], known: &[&str]) {
        let twin_of = |key: &str| known.iter().copied().find(|word| word.eq_ignore_ascii_case(key));
        // Computed only if a key differs in case, which is rare.
        let mut spellings: Option<BTreeMap<&str, usize>> = None;
        for member in members {
            let key = member.key();
            if known.contains(&key) {
                continue;
            }
            let twin = twin_of(key);
            if let Some(word) = twin {
                let count = |members: &[JsonMember<'_>]| {
                    let mut count = BTreeMap::new();
                    for word in members.iter().filter_map(|member| twin_of(member.key())) {
                        let seen = count.entry(word).or_insert(0_usize);
                        *seen += 1;
                    }
                    count
                };
                if spellings.get_or_insert_with(|| count(members)).get(word).is_some_and(|seen| *seen > 1) {
                    let message = format!(
                        "expected one spelling of `{word}`, got `{}` and another that differs only in case",
                        escape(key, 64)
                    );
                    self.error(doc, member.key_span(), ManifestCode::CaseVariant, message);
                    continue;
                }
            }
            let hint = match twin.or_else(|| near(key, known)) {
                Some(word) => format!(" (did you mean `{word}`?)"),
                None => String::new(),
            };
            let message = format!("unknown key `{}`{hint}", escape(key, 64));
            self.unknown_key(doc, member, message);
        }
    }

    pub(crate) fn unknown_key(&mut self, doc: &Document<'_>, member: &JsonMember<'_>, message: String) {
        match self.context.unknown_keys {
            UnknownKeys::Noticed => self.notice(doc, member.key_span(), ManifestCode::UnknownKey, message),
            UnknownKeys::Refused => self.error(doc, member.key_span(), ManifestCode::UnknownKey, message),
        }
    }
}

/// Iterates over a value and everything in it, in file order.
///
/// The iterator is empty if the document cannot contain hidden text, which is the usual case and saves a pass.
fn inside<'n, 'd>(doc: &Document<'_>, node: &'n JsonNode<'d>) -> impl Iterator<Item = &'n JsonNode<'d>> {
    // A stack instead of recursion keeps this independent of the nesting.
    let mut left: Vec<&JsonNode<'d>> = doc.may_hide.then_some(node).into_iter().collect();
    core::iter::from_fn(move || {
        let node = left.pop()?;
        left.extend(node.items_or_none().iter().rev());
        left.extend(node.members_or_none().iter().rev().map(JsonMember::node));
        Some(node)
    })
}

fn flag(doc: &Document<'_>, span: Span) -> (String, usize, usize) {
    (doc.file.to_owned(), span.start + doc.base.offset, span.end)
}

/// Finds a known key at edit distance 1: one letter inserted, removed or replaced, or two letters swapped.
fn near<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    // No known key is that long, so the comparison can be skipped.
    if key.len() > 64 {
        return None;
    }
    known.iter().copied().find(|word| is_near(key.as_bytes(), word.as_bytes()))
}

/// Compares the parts between the common start and the common end of two words.
fn is_near(one: &[u8], two: &[u8]) -> bool {
    // Short words are all near each other, and a suggestion would be a guess.
    if one.len() < 4 || one.len().abs_diff(two.len()) > 1 {
        return false;
    }
    let head = one.iter().zip(two).take_while(|(a, b)| a == b).count();
    let (one, two) = (one.part(head..), two.part(head..));
    let tail = one.iter().rev().zip(two.iter().rev()).take_while(|(a, b)| a == b).count();
    let left = (one.len().saturating_sub(tail), two.len().saturating_sub(tail));
    match left {
        (0 | 1, 0 | 1) => true,
        (2, 2) => one.first() == two.get(1) && one.get(1) == two.first(),
        _ => false,
    }
}
