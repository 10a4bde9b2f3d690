//! Items, offers and their digests.

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::{Digest, escape};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::error::{ProtocolError, ProtocolErrorKind, shown};

/// How many items an offer may have.
pub const MAX_ITEMS: usize = 1000;

/// The largest integer that all readers of JSON read alike, 2^53.
const MAX_INTEGER: u64 = 1 << 53;

plugward_types::named! {
    /// The kind of an item.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum ItemKind {
        /// A tool.
        Tool = "tool",
        /// A prompt.
        Prompt = "prompt",
        /// A resource template.
        Template = "template",
        /// The instructions of the server, which hosts add to the prompt.
        Instructions = "instructions",
    }
}

impl ItemKind {
    /// Returns the method that lists items of this kind, the member of its result, and the capability of the server.
    pub(crate) const fn list(self) -> Option<ListNames> {
        let (method, member, capability) = match self {
            Self::Tool => ("tools/list", "tools", "tools"),
            Self::Prompt => ("prompts/list", "prompts", "prompts"),
            Self::Template => ("resources/templates/list", "resourceTemplates", "resources"),
            Self::Instructions => return None,
        };
        Some(ListNames { method, member, capability })
    }
}

/// The names that belong to a list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListNames {
    pub(crate) method: &'static str,
    pub(crate) member: &'static str,
    pub(crate) capability: &'static str,
}

/// A part of an offer.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    kind: ItemKind,
    name: String,
    json: Value,
    digest: Digest,
}

impl Item {
    /// Creates an item from the JSON that the server sent.
    ///
    /// # Errors
    /// `mcp/answer` without a name, and `mcp/not-i-json`.
    pub fn new(kind: ItemKind, json: Value) -> Result<Self, ProtocolError> {
        let key = if kind == ItemKind::Template { "uriTemplate" } else { "name" };
        let name = match (kind, json.get(key).and_then(Value::as_str)) {
            (ItemKind::Instructions, _) => String::new(),
            (_, Some(name)) => name.to_owned(),
            (_, None) => {
                let method = kind.list().map_or("", |list| list.method);
                return Err(
                    ProtocolErrorKind::Answer { method, fault: format!("an item without `{key}`") }.into()
                );
            }
        };
        let Some(text) = canonical(&json) else {
            return Err(ProtocolErrorKind::NotIJson { label: shown(&label(kind, &name)) }.into());
        };
        let digest = digest(&[b"plugward-mcp-1\n", kind.as_str().as_bytes(), b"\n", &text]);
        Ok(Self { kind, name, json, digest })
    }

    /// Returns the kind.
    #[must_use]
    pub const fn kind(&self) -> ItemKind {
        self.kind
    }

    /// Returns the name, as the server sent it: the URI template of a template, and nothing for instructions.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the JSON that the server sent.
    #[must_use]
    pub const fn json(&self) -> &Value {
        &self.json
    }

    /// Returns the digest of the kind and the JSON in the form of RFC 8785.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns `kind name`, by which pins know the item. The name is escaped, so that two names never have one label.
    #[must_use]
    pub fn label(&self) -> String {
        label(self.kind, &self.name)
    }
}

pub(crate) fn label(kind: ItemKind, name: &str) -> String {
    if kind == ItemKind::Instructions {
        return kind.as_str().to_owned();
    }
    format!("{kind} {}", escape::name(name.as_bytes()))
}

/// Returns the form of RFC 8785, or `None` if an integer has more digits than a double.
fn canonical(json: &Value) -> Option<Vec<u8>> {
    is_i_json(json).then(|| serde_json_canonicalizer::to_vec(json).ok()).flatten()
}

fn is_i_json(json: &Value) -> bool {
    match json {
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(integer), _) => integer <= MAX_INTEGER,
            (None, Some(integer)) => integer.unsigned_abs() <= MAX_INTEGER,
            (None, None) => true,
        },
        Value::Array(items) => items.iter().all(is_i_json),
        Value::Object(members) => members.values().all(is_i_json),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

fn digest(parts: &[&[u8]]) -> Digest {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    Digest::from_bytes(hash.finalize().into())
}

/// The capabilities that a client sent. Servers offer other items to other clients.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClientCapabilities(Map<String, Value>);

impl ClientCapabilities {
    /// Creates them from the object that the client sent.
    #[must_use]
    pub const fn new(sent: Map<String, Value>) -> Self {
        Self(sent)
    }

    /// Returns the names of the capabilities, and of their parts as `name.part`.
    #[must_use]
    pub fn names(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for (name, value) in &self.0 {
            let parts = value.as_object().into_iter().flat_map(Map::keys);
            names.extend(parts.map(|part| format!("{name}.{part}")));
            names.insert(name.clone());
        }
        names
    }
}

/// What a server offers to a client.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    items: Vec<Item>,
    client: ClientCapabilities,
    extent: OfferExtent,
}

/// How much of what a server offers an offer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every host must decide about each extent")]
pub enum OfferExtent {
    /// All items.
    Whole,
    /// One list, from its first page to its last.
    List,
    /// The instructions alone, or a page of a list. The rest is not known, so it cannot be reviewed.
    Part,
}

impl Offer {
    /// Creates a complete offer. An item that occurs twice counts once.
    ///
    /// # Errors
    /// `mcp/duplicate-item` and `mcp/too-many`.
    pub fn new(items: Vec<Item>, client: ClientCapabilities) -> Result<Self, ProtocolError> {
        let mut labels = BTreeMap::new();
        let mut once: Vec<Item> = Vec::new();
        for item in items {
            match labels.insert(item.label(), item.digest) {
                None => once.push(item),
                Some(digest) if digest == item.digest => {}
                Some(_) => {
                    return Err(ProtocolErrorKind::DuplicateItem { label: shown(&item.label()) }.into());
                }
            }
        }
        if once.len() > MAX_ITEMS {
            return Err(ProtocolErrorKind::TooMany.into());
        }
        Ok(Self { items: once, client, extent: OfferExtent::Whole })
    }

    /// Creates an offer without the other items of the server.
    pub(crate) fn partial(
        items: Vec<Item>,
        client: ClientCapabilities,
        extent: OfferExtent,
    ) -> Result<Self, ProtocolError> {
        Ok(Self { extent, ..Self::new(items, client)? })
    }

    /// Returns the items, in the order of the server.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Returns the capabilities of the client.
    #[must_use]
    pub const fn client(&self) -> &ClientCapabilities {
        &self.client
    }

    /// Returns how much of what the server offers these items are.
    #[must_use]
    pub const fn extent(&self) -> OfferExtent {
        self.extent
    }

    /// Returns `true` if these are all items. The instructions alone and a later list are not.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        matches!(self.extent, OfferExtent::Whole)
    }

    /// Returns the digest over all items, whatever their order.
    #[must_use]
    pub fn set_digest(&self) -> Digest {
        let mut lines: Vec<String> =
            self.items.iter().map(|item| format!("{} {}\n", item.label(), item.digest)).collect();
        lines.sort_unstable();
        digest(&[b"plugward-mcp-1\nset\n", lines.concat().as_bytes()])
    }

    /// Returns the key of the pin: the digest of the server's command and of the capabilities of the client.
    #[must_use]
    pub fn key(&self, command: &[String]) -> Digest {
        let json = json!([command, self.client.0]);
        // Strings and numbers that were read from JSON always have a canonical form.
        digest(&[b"plugward-mcp-key-1\n", &serde_json_canonicalizer::to_vec(&json).unwrap_or_default()])
    }
}
