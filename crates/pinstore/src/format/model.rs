//! The contents of a pins file.

use std::collections::BTreeMap;

use plugward_types::{Behavior, Digest, PluginKey};

use crate::error::{FormatError, FormatErrorKind};
use crate::format::old_formats;
use crate::format::reader::{self, Node};
use crate::format::writer::{self, Block};
use crate::pins::facts::{Facts, PinOrigin, ReadScope};
use crate::pins::pin::{AgreedState, Denial, McpPin, Pin, PinState, most_agreed, most_states};
use crate::revocations::entry::Revocation;
use plugward_types::Timestamp;

pub(crate) const VERSION: i64 = 4;
const VERSION_THREE: i64 = 3;
// The limit of entries, which bounds time and memory for a crafted file.
pub(crate) const MAX_ENTRIES: usize = 20_000;

/// The version of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Format {
    One,
    Three,
    #[default]
    Four,
}

/// The number of entries of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    pub(crate) pins: u64,
    pub(crate) locks: u64,
    pub(crate) revoked: u64,
    pub(crate) names: u64,
    pub(crate) offers: u64,
}

impl Counts {
    pub(crate) fn all(self) -> u64 {
        [self.pins, self.names, self.locks, self.revoked, self.offers]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    const fn has_more_than(self, other: Self) -> bool {
        self.pins > other.pins
            || self.locks > other.locks
            || self.revoked > other.revoked
            || self.names > other.names
            || self.offers > other.offers
    }
}

/// The contents of a pins file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Model {
    pub(crate) format: Format,
    pub(crate) serial: u64,
    pub(crate) pins: BTreeMap<PluginKey, Pin>,
    pub(crate) locks: BTreeMap<Digest, Timestamp>,
    pub(crate) revoked: Vec<Revocation>,
    /// The manifest digests of a version 1 file, by name.
    pub(crate) v1: BTreeMap<String, Digest>,
    /// The pinned offers of MCP servers that belong to no plugin.
    pub(crate) mcp: BTreeMap<String, McpPin>,
    /// The counts at the end of the file.
    pub(crate) stated: Counts,
}

impl Model {
    pub(crate) fn counts(&self) -> Counts {
        let count = |len: usize| u64::try_from(len).unwrap_or(u64::MAX);
        Counts {
            pins: count(self.pins.len()),
            locks: count(self.locks.len()),
            revoked: count(self.revoked.len()),
            names: count(self.v1.len()),
            offers: count(self.mcp.len()),
        }
    }

    pub(crate) fn is_too_large(&self) -> bool {
        self.counts().all() > u64::try_from(MAX_ENTRIES).unwrap_or(u64::MAX)
    }

    /// Reads a file of any version up to this one.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, FormatError> {
        let text = reader::text_of(bytes)?;
        let lines = reader::lines_of(text);
        let table = reader::parse(text, &lines)?;
        let root = Node::root(&table, &lines);
        let version = root.integer("version")?;
        if version.is_some() && !text.ends_with('\n') {
            // A number in the last line can be truncated and still be a number.
            let missing = "the end of its last line";
            return Err(FormatError::anywhere(FormatErrorKind::CutOff { missing }));
        }
        let model = match version {
            Some(VERSION) => parse_current(&root, Format::Four)?,
            Some(VERSION_THREE) => parse_current(&root, Format::Three)?,
            Some(found) if found > VERSION => {
                return Err(FormatError::anywhere(FormatErrorKind::Version { found }));
            }
            Some(_) => return Err(root.wrong(&(0..0), "version", "3 or 4 (version 1 has no such key)")),
            None => old_formats::parse_v1(&root)?,
        };
        if model.is_too_large() {
            return Err(FormatError::anywhere(FormatErrorKind::TooMany { most: MAX_ENTRIES }));
        }
        Ok(model)
    }
}

fn parse_current(root: &Node<'_, '_>, format: Format) -> Result<Model, FormatError> {
    // An unknown key is an error, since a damaged header must not hide a pin.
    root.only(&["version", "locks", "revoked", "pins", "mcp", "v1", "end"])?;
    let mut model = Model { locks: root.times("locks")?, ..parse_end(root, format)? };
    for node in root.list("revoked")? {
        node.only(writer::REVOKED_KEYS)?;
        let entry = Revocation::read(&node)?;
        verify(&node, &writer::revoked(&entry))?;
        model.revoked.push(entry);
    }
    if let Some(pins) = root.table("pins")? {
        let mut found = Vec::new();
        for (text, node) in pins.tables()? {
            let key = node.name_as::<PluginKey>(text)?;
            let pin = parse_pin(&node, &key, format)?;
            verify(&node, &writer::pin(&key, &pin))?;
            found.push((key, pin));
        }
        // Comparing keys is expensive. The table is sorted, so building the map compares neighbors only.
        model.pins = found.into_iter().collect();
    }
    if let Some(offers) = root.table("mcp")? {
        for (name, node) in offers.tables()? {
            let pin = parse_offer(&node, writer::offer_keys(format), &["check"])?;
            verify(&node, &writer::offer(name, &pin))?;
            model.mcp.insert(name.to_owned(), pin);
        }
    }
    if let Some(names) = root.table("v1")? {
        for (name, node) in names.tables()? {
            node.only(&["manifest", "check"])?;
            let manifest = node.must("manifest")?;
            verify(&node, &writer::name(name, &manifest))?;
            model.v1.insert(name.to_owned(), manifest);
        }
    }
    if model.counts().has_more_than(model.stated) {
        return Err(FormatError::anywhere(FormatErrorKind::Uncounted));
    }
    Ok(model)
}

/// Reads the last table. A truncated file lacks it.
fn parse_end(root: &Node<'_, '_>, format: Format) -> Result<Model, FormatError> {
    let Some(end) = root.table("end")? else {
        return Err(FormatError::anywhere(FormatErrorKind::CutOff { missing: "the table [end]" }));
    };
    end.only(writer::end_keys(format))?;
    let stated = Counts {
        pins: end.count("pins")?,
        locks: end.count("locks")?,
        revoked: end.count("revoked")?,
        names: end.count("v1")?,
        offers: end.optional_count("mcp")?,
    };
    let serial = end.count("serial")?;
    verify(&end, &writer::end(stated, serial, format))?;
    Ok(Model { format, serial, stated, ..Model::default() })
}

/// Compares the check value of an entry with that of its canonical text.
fn verify(node: &Node<'_, '_>, block: &Block) -> Result<(), FormatError> {
    let stated: String = node.must("check")?;
    if stated == block.check() { Ok(()) } else { Err(node.mismatch()) }
}

fn parse_pin(node: &Node<'_, '_>, key: &PluginKey, format: Format) -> Result<Pin, FormatError> {
    node.only(&["state", "called", "folder", "denied", "agreed", "mcp", "check"])?;
    let state = node.word("state", "`trusted` or `denied`", PinState::from_name)?;
    let denied = match node.table("denied")? {
        None => None,
        Some(node) => {
            node.only(&["at", "by", "tree"])?;
            Some(Denial { at: node.must_time("at")?, by: node.text("by")?, tree: node.text("tree")? })
        }
    };
    let mut agreed = Vec::new();
    for node in node.list("agreed")? {
        agreed.push(parse_agreed(&node, format)?);
    }
    match state {
        PinState::Denied if denied.is_none() => return Err(node.missing("denied")),
        PinState::Trusted if agreed.is_empty() => return Err(node.missing("agreed")),
        PinState::Trusted if denied.is_some() => return Err(node.unknown("denied")),
        PinState::Denied | PinState::Trusted => {}
    }
    if agreed.len() > most_states(key) {
        return Err(FormatError::anywhere(FormatErrorKind::TooMany { most: most_states(key) }));
    }
    if agreed.iter().filter(|state| state.superseded.is_none()).count() > most_agreed(key) {
        return Err(FormatError::anywhere(FormatErrorKind::TooMany { most: most_agreed(key) }));
    }
    let called = node.set("called")?;
    Ok(Pin { state, called, directory: node.text("folder")?, agreed, denied, mcp: parse_mcp(node, format)? })
}

fn parse_agreed(node: &Node<'_, '_>, format: Format) -> Result<AgreedState, FormatError> {
    node.only(writer::agreed_keys(format))?;
    let reads = node.read("reads", "2", |value| (value.as_integer()?.as_str() == "2").then_some(()))?;
    Ok(AgreedState {
        facts: Facts {
            tree: node.must("tree")?,
            manifest: node.map("manifest")?,
            entry: node.text("entry")?,
            exclude: node.words("exclude")?,
            shared: node.map("shared")?,
            surface: node.text("surface")?,
            signer: node.text("signer")?,
            closure: node.text("closure")?,
            vcs: node.text("vcs")?,
            unresolved: node.set("unresolved")?,
            loosens: node.set("loosens")?,
        },
        reads: if reads.is_some() { ReadScope::Execution } else { ReadScope::Directory },
        version: node.text("version")?,
        behaviors: node.read("behaviors", "a list of behaviors such as `network`", |value| {
            let name =
                |item: &toml::Spanned<toml::de::DeValue<'_>>| Behavior::from_name(item.get_ref().as_str()?);
            value.as_array()?.iter().map(name).collect()
        })?,
        via: node.word(
            "via",
            "`tofu`, `prompt`, `accept`, `lock`, `same` or `moved`",
            PinOrigin::from_name,
        )?,
        at: node.must_time("at")?,
        by: node.text("by")?,
        superseded: node.time("superseded")?,
    })
}

fn parse_mcp(node: &Node<'_, '_>, format: Format) -> Result<BTreeMap<String, McpPin>, FormatError> {
    let mut found = BTreeMap::new();
    let Some(servers) = node.table("mcp")? else { return Ok(found) };
    for (server, node) in servers.tables()? {
        found.insert(server.to_owned(), parse_offer(&node, writer::offer_keys(format), &[])?);
    }
    Ok(found)
}

fn parse_offer(node: &Node<'_, '_>, keys: &[&str], more: &[&str]) -> Result<McpPin, FormatError> {
    node.only(&[keys, more].concat())?;
    Ok(McpPin {
        set: node.must("set")?,
        key: node.must("key")?,
        capabilities: node.set("capabilities")?,
        items: node.map("items")?,
        used: node.time("used")?,
    })
}
