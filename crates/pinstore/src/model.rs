//! What a pins file says.

use std::collections::BTreeMap;

use plugward_types::{Digest, PluginId};

use crate::doc::{self, FromText as _, Lines, Node};
use crate::error::{FormatError, FormatErrorKind};
use crate::facts::{Facts, Via};
use crate::pin::{McpPin, Pin, PinState};
use crate::quick;
use crate::revoked::Revoked;
use crate::scope::Scope;

pub(crate) const VERSION: i64 = 2;
pub(crate) const MAX_PINS: usize = 20_000;

/// Which format the bytes had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Format {
    One,
    #[default]
    Two,
}

/// A pin of version 1: the manifest alone, by the plugin's name.
#[derive(Debug, Clone)]
pub(crate) struct NamePin {
    pub(crate) manifest: Digest,
    pub(crate) line: usize,
}

impl PartialEq for NamePin {
    fn eq(&self, other: &Self) -> bool {
        self.manifest == other.manifest
    }
}

pub(crate) type Shelf = BTreeMap<PluginId, Pin>;

/// What a pins file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Model {
    pub(crate) format: Format,
    pub(crate) serial: u64,
    pub(crate) pins: BTreeMap<Scope, Shelf>,
    pub(crate) locks: BTreeMap<Scope, Digest>,
    pub(crate) revoked: Vec<Revoked>,
    pub(crate) v1: BTreeMap<String, NamePin>,
    /// The number of pins that `[end]` gives.
    pub(crate) said: u64,
}

impl Model {
    pub(crate) fn pin(&self, scope: &Scope, id: &PluginId) -> Option<&Pin> {
        self.pins.get(scope)?.get(id)
    }

    pub(crate) fn count(&self) -> u64 {
        let pins: usize = self.pins.values().map(BTreeMap::len).sum();
        u64::try_from(pins).unwrap_or(u64::MAX)
    }

    /// Reads a file of version 1 or 2.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, FormatError> {
        let text = doc::text_of(bytes)?;
        match quick::parse(text) {
            Some(model) => Ok(model),
            None => Self::parse_long(text),
        }
    }

    /// Reads any TOML, and says what is wrong with it and where.
    pub(crate) fn parse_long(text: &str) -> Result<Self, FormatError> {
        let lines = Lines::of(text);
        let table = doc::parse(text, &lines)?;
        let root = Node::root(&table, &lines);
        match root.integer("version")? {
            Some(VERSION) => {}
            Some(found) if found > VERSION => {
                return Err(FormatError::anywhere(FormatErrorKind::Version { found }));
            }
            Some(_) => return Err(root.wrong(&(0..0), "version", "2 (version 1 has no such key)")),
            None => return Self::parse_v1(&root),
        }
        // Within its last line a number can be cut off and still be a number.
        if !text.ends_with('\n') {
            return Err(FormatError::anywhere(FormatErrorKind::CutOff {
                missing: "the end of its last line",
            }));
        }
        let Some(end) = root.table("end")? else {
            return Err(FormatError::anywhere(FormatErrorKind::CutOff { missing: "the table [end]" }));
        };
        let mut model = Self { said: end.count("pins")?, serial: end.count("serial")?, ..Self::default() };
        model.locks = root.map("locks")?;
        for entry in root.list("revoked")? {
            model.revoked.push(Revoked::read(&entry)?);
        }
        if let Some(old) = root.table("v1")? {
            model.v1 = name_pins(&old)?;
        }
        if let Some(pins) = root.table("pins")? {
            for (scope, node) in pins.tables()? {
                let Some(scope) = Scope::from_text(scope) else {
                    return Err(node.missing("a scope: `user`, or `workspace:` and 16 hex digits"));
                };
                model.pins.insert(scope, shelf(&node)?);
            }
        }
        if model.count() > u64::try_from(MAX_PINS).unwrap_or(u64::MAX) {
            return Err(FormatError::anywhere(FormatErrorKind::TooMany { most: MAX_PINS }));
        }
        Ok(model)
    }

    fn parse_v1(root: &Node<'_, '_>) -> Result<Self, FormatError> {
        let Some(pins) = root.table("pins")? else { return Err(root.missing("version")) };
        Ok(Self { format: Format::One, v1: name_pins(&pins)?, ..Self::default() })
    }
}

fn name_pins(node: &Node<'_, '_>) -> Result<BTreeMap<String, NamePin>, FormatError> {
    const EXPECTED: &str = "64 lower-case hex digits";
    let mut found = BTreeMap::new();
    for (name, hex, span) in node.strings(EXPECTED)? {
        let manifest = Digest::from_text(&format!("{}{hex}", Digest::PREFIX))
            .ok_or_else(|| node.wrong(&span, name, EXPECTED))?;
        found.insert(name.to_owned(), NamePin { manifest, line: node.line_of(&span) });
    }
    if found.len() > MAX_PINS {
        return Err(FormatError::anywhere(FormatErrorKind::TooMany { most: MAX_PINS }));
    }
    Ok(found)
}

fn shelf(scope: &Node<'_, '_>) -> Result<Shelf, FormatError> {
    let mut found = BTreeMap::new();
    for (text, node) in scope.tables()? {
        let Some(id) = PluginId::from_text(text) else {
            return Err(node.missing("a plugin id: dialect:name@source"));
        };
        found.insert(id, pin(&node)?);
    }
    Ok(found)
}

fn pin(node: &Node<'_, '_>) -> Result<Pin, FormatError> {
    let word = node.read("state", "`trusted` or `denied`", |value| {
        let text = value.as_str()?;
        PinState::ALL.into_iter().find(|state| state.as_str() == text)
    })?;
    let state = word.ok_or_else(|| node.missing("state"))?;
    let via = node.read("via", "`tofu`, `prompt`, `accept` or `lock`", |value| {
        let text = value.as_str()?;
        Via::ALL.into_iter().find(|via| via.as_str() == text)
    })?;
    let facts = match (node.text("tree")?, state) {
        (Some(tree), _) => Some(Facts {
            manifest: node.text("manifest")?,
            entry: node.text("entry")?,
            tree,
            exclude: node.words("exclude")?,
            shared: node.map("shared")?,
            surface: node.text("surface")?,
            signer: node.text("signer")?,
        }),
        (None, PinState::Denied) => None,
        (None, PinState::Trusted) => return Err(node.missing("tree")),
    };
    let mut mcp = BTreeMap::new();
    if let Some(servers) = node.table("mcp")? {
        for (server, node) in servers.tables()? {
            let pin = McpPin { set: node.must("set")?, key: node.must("key")?, items: node.map("items")? };
            mcp.insert(server.to_owned(), pin);
        }
    }
    Ok(Pin {
        state,
        facts,
        via: via.ok_or_else(|| node.missing("via"))?,
        at: node.time("at")?.ok_or_else(|| node.missing("at"))?,
        by: node.text("by")?,
        previous: node.text("previous")?,
        denied: node.text("denied")?,
        mcp,
        line: node.line(),
    })
}
