//! Parses the identity and description of a plugin.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use plugward_types::Span;

use crate::json::{JsonNode, JsonValue};
use crate::manifest::{Contact, Meta, RawValue};
use crate::reader::{Document, Reader, Requirement};

impl Reader<'_> {
    /// Reads the keys that most dialects share.
    pub(crate) fn common(&mut self, doc: &Document<'_>, meta: &mut Meta) {
        let root = &doc.root;
        if let Some(node) = root.get("description") {
            meta.description = self.foreign(doc, node).or(meta.description.take());
        }
        if let Some(node) = root.get("displayName") {
            meta.display_name = self.foreign(doc, node).or(meta.display_name.take());
        }
        if let Some(node) = root.get("author") {
            meta.author = self.person(doc, node).or(meta.author.take());
        }
        if let Some(node) = root.get("homepage") {
            meta.homepage =
                self.plain(doc, node, Requirement::Lenient).map(ToOwned::to_owned).or(meta.homepage.take());
        }
        if let Some(node) = root.get("repository") {
            meta.repository = self.repository(doc, node).or(meta.repository.take());
        }
        if let Some(node) = root.get("license") {
            meta.license =
                self.text(doc, node, Requirement::Lenient).map(ToOwned::to_owned).or(meta.license.take());
        }
        if let Some(node) = root.get("keywords") {
            let words = self.texts(doc, node, Requirement::Lenient);
            meta.keywords =
                words.into_iter().filter_map(|word| word.as_str().map(ToOwned::to_owned)).collect();
        }
        Self::keep_raw(doc, meta);
    }

    /// Stores the lists and objects of the top level as written.
    pub(crate) fn keep_raw(doc: &Document<'_>, meta: &mut Meta) {
        for member in doc.root.members_or_none() {
            let span = member.node().span();
            let kept = member.node().members().is_some() || member.node().items().is_some();
            if let Some(bytes) = doc.bytes.get(span.start..span.end).filter(|_| kept) {
                let text = String::from_utf8_lossy(bytes).into_owned();
                let offset = doc.base.offset;
                let span = Span::new(span.start + offset, span.end + offset);
                meta.raw.insert(member.key().to_owned(), RawValue { file: doc.file.to_owned(), span, text });
            }
        }
    }

    /// Reads a person: one line of text, or an object with `name`, `email` and `url`.
    pub(crate) fn person(&mut self, doc: &Document<'_>, node: &JsonNode<'_>) -> Option<Contact> {
        match node.value() {
            JsonValue::String(line) => {
                self.refuse_hidden(doc, node.span(), line);
                Some(Contact::from_line(line))
            }
            JsonValue::Object(members) => {
                self.keys(doc, members, &["email", "name", "url"]);
                let mut part = |key: &str| {
                    let value = node.get(key)?;
                    self.plain(doc, value, Requirement::Lenient).map(ToOwned::to_owned)
                };
                Some(Contact { name: part("name"), email: part("email"), url: part("url") })
            }
            _ => {
                self.wrong(doc, node, "a string or an object with name", Requirement::Lenient);
                None
            }
        }
    }

    fn repository(&mut self, doc: &Document<'_>, node: &JsonNode<'_>) -> Option<String> {
        match node.value() {
            JsonValue::Object(members) => {
                self.keys(doc, members, &["directory", "type", "url"]);
                let url = node.get("url")?;
                self.plain(doc, url, Requirement::Lenient).map(ToOwned::to_owned)
            }
            _ => self.plain(doc, node, Requirement::Lenient).map(ToOwned::to_owned),
        }
    }

    /// Reads a version of at most 64 bytes; one that is not SemVer is a notice.
    pub(crate) fn loose_version(&mut self, doc: &Document<'_>, node: &JsonNode<'_>) -> Option<String> {
        if node.is_null() {
            return None;
        }
        let text = self.plain(doc, node, Requirement::Strict)?.to_owned();
        // The limit keeps versions readable in tables, and is far above any real version.
        if text.len() > 64 {
            self.error(doc, node.span(), crate::ManifestCode::Version, "expected at most 64 bytes");
        } else if !plugward_commands::is_semver(&text) {
            let message = format!("`{}` is not a SemVer version", crate::reader::text::escape(&text, 64));
            self.notice(doc, node.span(), crate::ManifestCode::Version, message);
        }
        Some(text)
    }

    /// Reads a name that is valid in every dialect.
    pub(crate) fn name(&mut self, doc: &Document<'_>, node: &JsonNode<'_>) -> Option<String> {
        let text = self.plain(doc, node, Requirement::Strict)?;
        if !crate::reader::name::is_name(text) {
            let message = format!(
                "expected 1 to 128 of A-Z a-z 0-9 . _ -, got `{}`",
                crate::reader::text::escape(text, 128)
            );
            self.error(doc, node.span(), crate::ManifestCode::Name, message);
            return None;
        }
        Some(text.to_owned())
    }
}
