//! The readers for pins files of versions 1 and 2.
//!
//! These versions did not store places, so their pins are pending until a plugin of the same name is
//! checked.

use plugward_types::{Digest, PluginId};

use crate::error::{FormatError, FormatErrorKind};
use crate::format::model::{Counts, Format, Model, parse_mcp};
use crate::format::reader::{FromText as _, Node};
use crate::pins::facts::PinOrigin;
use crate::pins::pin::{PendingPin, PinState};
use crate::revocations::entry::Revocation;

pub(crate) const VERSION_TWO: i64 = 2;
const SCOPE: &str = "a scope: `user`, or `workspace:` and 16 hex digits";

/// Reads a version 1 file, which contains the manifest digest of each plugin by name.
pub(crate) fn parse_v1(root: &Node<'_, '_>) -> Result<Model, FormatError> {
    const EXPECTED: &str = "64 lower-case hex digits";
    let Some(pins) = root.table("pins")? else { return Err(root.missing("version")) };
    let mut model = Model { format: Format::One, ..Model::default() };
    for (name, hex, span) in pins.strings(EXPECTED)? {
        let manifest = Digest::from_text(&format!("{}{hex}", Digest::PREFIX))
            .ok_or_else(|| pins.wrong(&span, name, EXPECTED))?;
        model.v1.insert(name.to_owned(), manifest);
    }
    Ok(model)
}

/// Reads a version 2 file. Its accepted lockfiles are dropped, since they were stored by directory.
pub(crate) fn parse_v2(root: &Node<'_, '_>) -> Result<Model, FormatError> {
    let Some(end) = root.table("end")? else {
        return Err(FormatError::anywhere(FormatErrorKind::CutOff { missing: "the table [end]" }));
    };
    // One wrong bit turns a 3 into a 2, but only version 3 has a check value here.
    if end.has("check") {
        return Err(end.unknown("check"));
    }
    let stated = Counts { pending: end.count("pins")?, ..Counts::default() };
    let mut model = Model { format: Format::Two, serial: end.count("serial")?, stated, ..Model::default() };
    for node in root.list("revoked")? {
        let mut entry = Revocation::read(&node)?;
        // Version 2 compared the source too. Without it, the entry applies wherever the plugin is.
        if let Some(id) = entry.id.as_deref().and_then(PluginId::from_text) {
            entry.id = Some(format!("{}:{}", id.dialect(), id.name()));
        }
        model.revoked.push(entry);
    }
    if let Some(old) = root.table("v1")? {
        const EXPECTED: &str = "64 lower-case hex digits";
        for (name, hex, span) in old.strings(EXPECTED)? {
            let manifest = Digest::from_text(&format!("{}{hex}", Digest::PREFIX))
                .ok_or_else(|| old.wrong(&span, name, EXPECTED))?;
            model.v1.insert(name.to_owned(), manifest);
        }
    }
    for (scope, node) in root.table("pins")?.map_or_else(|| Ok(Vec::new()), |pins| pins.tables())? {
        if !is_scope(scope) {
            return Err(node.missing(SCOPE));
        }
        for (text, node) in node.tables()? {
            let id = node.name_as::<PluginId>(text)?;
            model.pending.entry(id).or_default().push(pin(&node)?);
        }
    }
    Ok(model)
}

/// Returns `true` if the text is a scope of version 2.
pub(crate) fn is_scope(text: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text == "user"
        || text.strip_prefix("workspace:").is_some_and(|hex| hex.len() == 16 && hex.bytes().all(is_hex))
}

/// Reads a version 2 pin, also a pending one in a version 3 file.
pub(crate) fn pin(node: &Node<'_, '_>) -> Result<PendingPin, FormatError> {
    let state = node.word("state", PinState::EXPECTED, PinState::of_word)?;
    let tree = node.text("tree")?;
    if tree.is_none() && state == PinState::Trusted {
        return Err(node.missing("tree"));
    }
    Ok(PendingPin {
        state,
        tree,
        manifest: node.text("manifest")?,
        exclude: node.words("exclude")?,
        shared: node.map("shared")?,
        entry: node.text("entry")?,
        signer: node.text("signer")?,
        via: node.word("via", PinOrigin::EXPECTED, PinOrigin::of_word)?,
        at: node.must_time("at")?,
        by: node.text("by")?,
        denied: node.text("denied")?,
        mcp: parse_mcp(node)?,
    })
}
