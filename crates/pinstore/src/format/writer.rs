//! The writer for pins files.
//!
//! A file is always rendered completely, with sorted keys. Each entry has a check value over its own text,
//! so that a reader can tell entries that were deleted by hand from entries that were changed or damaged.
//! The text of an entry is the preimage of its check value, so every byte of it is part of the format.

use core::fmt::Display;
use std::collections::BTreeMap;

use plugward_types::{CalledName, Digest, Part, PluginKey, hex};
use sha2::{Digest as _, Sha256};

use crate::format::model::{Counts, Format, Model, VERSION};
use crate::pins::facts::{Facts, ReadScope};
use crate::pins::pin::{AgreedState, McpPin, Pin};
use crate::revocations::entry::Revocation;

const HEAD: &str = "\
# The plugins that were agreed to on this machine. plugward writes this file as a whole, without comments.
# To change it: plugward accept, forget, deny, allow. You can delete an entry with all its tables: the plugin is then
# new at the next check. Any other change makes the file invalid, because each entry has a check value.
";
/// A prefix that separates check values of this format from other uses of SHA-256. Version 4 writes the entries of
/// version 3 unchanged, so both have the same check values.
const DOMAIN: &str = "plugward pins 3\n";
/// The bytes of a check value: enough to detect damage. It does not stop a person who can write the file.
const CHECK_BYTES: usize = 8;

const AGREED_KEYS: &[&str] = &[
    "tree",
    "manifest",
    "entry",
    "exclude",
    "shared",
    "surface",
    "signer",
    "version",
    "behaviors",
    "via",
    "at",
    "by",
    "reads",
    "closure",
    "vcs",
    "unresolved",
    "loosens",
    "superseded",
];
/// The number of keys above that version 3 has.
const AGREED_KEYS_OF_THREE: usize = 12;
pub(crate) const REVOKED_KEYS: &[&str] =
    &["tree", "manifest", "binary", "id", "versions", "signer", "reason", "since", "check"];

/// Returns the keys of an agreed state.
pub(crate) fn agreed_keys(format: Format) -> &'static [&'static str] {
    match format {
        Format::One | Format::Three => AGREED_KEYS.part(..AGREED_KEYS_OF_THREE),
        Format::Four => AGREED_KEYS,
    }
}

/// Returns the keys of a pinned offer.
pub(crate) const fn offer_keys(format: Format) -> &'static [&'static str] {
    match format {
        Format::One | Format::Three => &["set", "key", "items"],
        Format::Four => &["set", "key", "capabilities", "items", "used"],
    }
}

/// Returns the keys of the last table. They differ, so a wrong version number is always an error.
pub(crate) const fn end_keys(format: Format) -> &'static [&'static str] {
    match format {
        Format::One | Format::Three => &["pins", "locks", "revoked", "v2", "v1", "serial", "check"],
        Format::Four => &["pins", "locks", "revoked", "v1", "mcp", "serial", "check"],
    }
}

/// The text of one entry, without its check value.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// The header and the keys of the entry's first table.
    head: String,
    /// Its other tables.
    tail: String,
}

impl Block {
    /// Returns the check value of the entry.
    pub(crate) fn check(&self) -> String {
        let digest = Sha256::new().chain_update(DOMAIN).chain_update(&self.head).chain_update(&self.tail);
        hex::encode(digest.finalize().part(..CHECK_BYTES))
    }

    fn write(&self, out: &mut String) {
        out.push('\n');
        out.push_str(&self.head);
        line(out, "check", quoted(&self.check()));
        out.push_str(&self.tail);
    }
}

/// Renders a whole file.
pub(crate) fn render(model: &Model) -> String {
    let mut out = format!("{HEAD}version = {VERSION}\n");
    if !model.locks.is_empty() {
        out.push_str("\n[locks]\n");
        for (lock, at) in &model.locks {
            line(&mut out, &quoted(&lock.to_string()), at);
        }
    }
    model.revoked.iter().for_each(|entry| revoked(entry).write(&mut out));
    model.pins.iter().for_each(|(key, one)| pin(key, one).write(&mut out));
    model.mcp.iter().for_each(|(name, pin)| offer(name, pin).write(&mut out));
    model.v1.iter().for_each(|(text, manifest)| name(text, manifest).write(&mut out));
    end(model.stated, model.serial, Format::Four).write(&mut out);
    out
}

pub(crate) fn pin(key: &PluginKey, pin: &Pin) -> Block {
    let path = format!("pins.{}", quoted(&key.to_string()));
    let mut block = Block { head: format!("[{path}]\n"), tail: String::new() };
    let head = &mut block.head;
    line(head, "state", quoted(pin.state.as_str()));
    words(head, "called", pin.called.iter().map(CalledName::as_str));
    text(head, "folder", pin.directory.as_ref());
    if let Some(denial) = &pin.denied {
        let mut fields = vec![format!("at = {}", denial.at)];
        fields.extend(denial.by.as_ref().map(|by| format!("by = {}", quoted(by))));
        fields.extend(denial.tree.as_ref().map(|tree| format!("tree = {}", quoted(&tree.to_string()))));
        line(head, "denied", format!("{{ {} }}", fields.join(", ")));
    }
    for one in &pin.agreed {
        block.tail.push_str(&format!("\n[[{path}.agreed]]\n"));
        agreed(&mut block.tail, one);
    }
    mcp(&mut block.tail, &path, &pin.mcp);
    block
}

fn agreed(out: &mut String, agreed: &AgreedState) {
    let Facts { tree, manifest, entry, exclude, shared, surface, signer, closure, vcs, unresolved, loosens } =
        &agreed.facts;
    text(out, "tree", Some(tree));
    map(out, "manifest", manifest);
    text(out, "entry", entry.as_ref());
    words(out, "exclude", exclude.iter().map(String::as_str));
    map(out, "shared", shared);
    text(out, "surface", surface.as_ref());
    text(out, "signer", signer.as_ref());
    text(out, "version", agreed.version.as_ref());
    if let Some(behaviors) = &agreed.behaviors {
        let list: Vec<String> = behaviors.iter().map(|behavior| quoted(behavior.as_str())).collect();
        line(out, "behaviors", format!("[{}]", list.join(", ")));
    }
    text(out, "via", Some(&agreed.via));
    line(out, "at", agreed.at);
    text(out, "by", agreed.by.as_ref());
    if agreed.reads == ReadScope::Execution {
        line(out, "reads", 2);
    }
    text(out, "closure", closure.as_ref());
    text(out, "vcs", vcs.as_ref());
    let unresolved: Vec<String> = unresolved.iter().map(Digest::to_string).collect();
    words(out, "unresolved", unresolved.iter().map(String::as_str));
    words(out, "loosens", loosens.iter().map(String::as_str));
    if let Some(at) = agreed.superseded {
        line(out, "superseded", at);
    }
}

fn mcp(out: &mut String, path: &str, servers: &BTreeMap<String, McpPin>) {
    for (server, pin) in servers {
        out.push_str(&format!("\n[{path}.mcp.{}]\n", quoted(server)));
        offer_fields(out, pin);
    }
}

/// Writes the pinned offer of a server that belongs to no plugin.
pub(crate) fn offer(name: &str, pin: &McpPin) -> Block {
    let mut head = format!("[mcp.{}]\n", quoted(name));
    offer_fields(&mut head, pin);
    Block { head, tail: String::new() }
}

fn offer_fields(out: &mut String, pin: &McpPin) {
    let McpPin { set, key, capabilities, items, used } = pin;
    text(out, "set", Some(set));
    text(out, "key", Some(key));
    words(out, "capabilities", capabilities.iter().map(String::as_str));
    map(out, "items", items);
    if let Some(used) = used {
        line(out, "used", used);
    }
}

pub(crate) fn revoked(entry: &Revocation) -> Block {
    let mut head = "[[revoked]]\n".to_owned();
    text(&mut head, "tree", entry.tree.as_ref());
    text(&mut head, "manifest", entry.manifest.as_ref());
    text(&mut head, "binary", entry.binary.as_ref());
    text(&mut head, "id", entry.id.as_ref());
    words(&mut head, "versions", entry.versions.iter().map(String::as_str));
    text(&mut head, "signer", entry.signer.as_ref());
    text(&mut head, "reason", Some(&entry.reason));
    if let Some(since) = entry.since {
        line(&mut head, "since", since);
    }
    Block { head, tail: String::new() }
}

pub(crate) fn name(name: &str, manifest: &Digest) -> Block {
    let mut head = format!("[v1.{}]\n", quoted(name));
    text(&mut head, "manifest", Some(manifest));
    Block { head, tail: String::new() }
}

pub(crate) fn end(counts: Counts, serial: u64, format: Format) -> Block {
    let mut head = "[end]\n".to_owned();
    line(&mut head, "pins", counts.pins);
    line(&mut head, "locks", counts.locks);
    line(&mut head, "revoked", counts.revoked);
    if format == Format::Three {
        // Version 3 also counted the pins of version 2, which was never released.
        line(&mut head, "v2", 0);
    }
    line(&mut head, "v1", counts.names);
    if counts.offers > 0 {
        line(&mut head, "mcp", counts.offers);
    }
    line(&mut head, "serial", serial);
    Block { head, tail: String::new() }
}

/// Writes a key with a value that is already TOML.
pub(crate) fn line(out: &mut String, key: &str, value: impl Display) {
    out.push_str(key);
    out.push_str(" = ");
    out.push_str(&value.to_string());
    out.push('\n');
}

pub(crate) fn text(out: &mut String, key: &str, value: Option<&impl Display>) {
    if let Some(value) = value {
        out.push_str(key);
        out.push_str(" = ");
        push_quoted(out, &value.to_string());
        out.push('\n');
    }
}

fn words<'w>(out: &mut String, key: &str, words: impl Iterator<Item = &'w str>) {
    let words: Vec<String> = words.map(quoted).collect();
    if !words.is_empty() {
        line(out, key, format!("[{}]", words.join(", ")));
    }
}

pub(crate) fn map(out: &mut String, key: &str, map: &BTreeMap<String, impl Display>) {
    let pair =
        |(name, value): (&String, _)| format!("{} = {}", bare_or_quoted(name), quoted(&format!("{value}")));
    let pairs: Vec<String> = map.iter().map(pair).collect();
    if !pairs.is_empty() {
        line(out, key, format!("{{ {} }}", pairs.join(", ")));
    }
}

fn bare_or_quoted(key: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !key.is_empty() && key.bytes().all(is_bare) { key.to_owned() } else { quoted(key) }
}

/// Returns a TOML basic string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len().saturating_add(2));
    push_quoted(&mut out, text);
    out
}

fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    // Digests, names and times need no escaping, and each file has thousands of them.
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte) && !matches!(byte, b'"' | b'\\')) {
        out.push_str(text);
    } else {
        for letter in text.chars() {
            match letter {
                '"' | '\\' => out.extend(['\\', letter]),
                _ if letter.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(letter))),
                _ => out.push(letter),
            }
        }
    }
    out.push('"');
}
