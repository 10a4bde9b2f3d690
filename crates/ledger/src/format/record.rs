//! Records: single lines of a ledger.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use plugward_types::hex;

use crate::error::{ChainFault, LedgerError, LedgerErrorKind};
use crate::format::digest::LedgerDigest;
use crate::format::event::LedgerEvent;
use crate::format::json::{JsonFault, Reader, Writer, is_object};
use crate::format::time::LedgerTime;
use crate::format::value::RecordValue;

/// The format version `v` that this crate writes.
pub const FORMAT: u64 = 1;
/// The maximum length of a caller's record, in bytes with its LF.
pub const MAX_RECORD: usize = 64 * 1024;
/// The maximum length of any line. A checkpoint has up to 64 KiB of counters next to its hashes.
pub(crate) const MAX_LINE: usize = 96 * 1024;

/// A record of a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerRecord {
    version: u64,
    seq: u64,
    ts: LedgerTime,
    prev: LedgerDigest,
    body: Body,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Body {
    Known(LedgerEvent),
    Unknown(String),
}

impl LedgerRecord {
    pub(crate) const fn new(seq: u64, ts: LedgerTime, prev: LedgerDigest, event: LedgerEvent) -> Self {
        Self { version: FORMAT, seq, ts, prev, body: Body::Known(event) }
    }

    /// Returns the format version of the record.
    #[must_use]
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// Returns the number of the record, counted from 0 without gaps.
    #[must_use]
    pub const fn seq(&self) -> u64 {
        self.seq
    }

    /// Returns the timestamp of the record.
    #[must_use]
    pub const fn ts(&self) -> LedgerTime {
        self.ts
    }

    /// Returns the digest of the line before, including its LF.
    #[must_use]
    pub const fn prev(&self) -> LedgerDigest {
        self.prev
    }

    /// Returns the event, or `None` if this crate does not know its type or version.
    #[must_use]
    pub const fn event(&self) -> Option<&LedgerEvent> {
        match &self.body {
            Body::Known(event) => Some(event),
            Body::Unknown(_) => None,
        }
    }

    /// Returns the `type`, known or not.
    #[must_use]
    pub fn type_name(&self) -> &str {
        match &self.body {
            Body::Known(event) => event.type_name(),
            Body::Unknown(name) => name,
        }
    }

    /// Parses one line without its LF.
    ///
    /// # Errors
    ///
    /// Whether the line is not a JSON object, or the offset at which it differs from the form of its type.
    pub fn parse(line: &[u8]) -> Result<Self, ChainFault> {
        if line.len() >= MAX_LINE {
            return Err(ChainFault::TooLong);
        }
        let Ok(text) = core::str::from_utf8(line) else { return Err(ChainFault::NotJson) };
        read(text).map_err(|JsonFault { at, expected }| {
            if is_object(line) { ChainFault::Shape { at, expected } } else { ChainFault::NotJson }
        })
    }

    /// Writes the line with its LF.
    ///
    /// # Errors
    ///
    /// `ledger/value` for a value that the format does not allow, `ledger/too-long` for a line above the
    /// limit.
    pub(crate) fn render(&self, out: &mut Vec<u8>) -> Result<(), LedgerError> {
        let Body::Known(event) = &self.body else {
            return Err(LedgerError::new(LedgerErrorKind::Value { what: "an unknown type" }));
        };
        let start = out.len();
        let mut writer = Writer { out: core::mem::take(out), fault: None };
        writer.raw("{\"v\":");
        writer.number(self.version);
        writer.field("seq", &self.seq);
        writer.field("ts", &self.ts);
        writer.field("prev", &self.prev);
        writer.key("type");
        writer.text(event.type_name());
        event.write(&mut writer);
        writer.raw("}\n");
        *out = writer.out;
        if let Some(what) = writer.fault {
            return Err(LedgerError::new(LedgerErrorKind::Value { what }));
        }
        let bytes = out.len() - start;
        let limit = if event.is_internal() { MAX_LINE } else { MAX_RECORD };
        if bytes > limit {
            return Err(LedgerError::new(LedgerErrorKind::TooLong { bytes, limit }));
        }
        Ok(())
    }

    /// Returns the line with its LF, as the ledger writes it.
    ///
    /// # Errors
    ///
    /// `ledger/value` for an unknown type or a value that the format does not allow, `ledger/too-long` for a
    /// line above the limit.
    pub fn to_line(&self) -> Result<Vec<u8>, LedgerError> {
        let mut line = Vec::new();
        self.render(&mut line)?;
        Ok(line)
    }
}

fn read(text: &str) -> Result<LedgerRecord, JsonFault> {
    let mut reader = Reader::new(text);
    reader.want("{\"v\":", "{\"v\": and the version of the format")?;
    let fault = reader.fault("a version from 1");
    let version = reader.number()?;
    if version == 0 {
        return Err(fault);
    }
    let seq = reader.field("seq")?;
    let ts = reader.field("ts")?;
    let prev = reader.field("prev")?;
    if !reader.eat_key("type") {
        return Err(reader.fault("type"));
    }
    let name = reader.string()?;
    let known = if version == FORMAT { LedgerEvent::read(&name, &mut reader)? } else { None };
    let body = if let Some(event) = known {
        Body::Known(event)
    } else {
        // A record of a later version, whose fields can be any JSON.
        while reader.eat(",") {
            reader.string()?;
            reader.want(":", "a colon")?;
            reader.skip()?;
        }
        Body::Unknown(name.into_owned())
    };
    reader.want("}", "the end of the record, or a field in the order of its type")?;
    reader.end()?;
    Ok(LedgerRecord { version, seq, ts, prev, body })
}

/// The position of a line in the chain, parsed without the rest of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LinePosition {
    pub(crate) seq: u64,
    pub(crate) prev: LedgerDigest,
}

impl LinePosition {
    /// Parses the start of a line. Returns `None` if it is not that of a record.
    pub(crate) fn of(line: &[u8]) -> Option<Self> {
        let (_, rest) = number(line.strip_prefix(b"{\"v\":")?)?;
        let (seq, rest) = number(rest.strip_prefix(b",\"seq\":")?)?;
        let rest = rest.strip_prefix(b",\"ts\":\"")?;
        let rest = rest.get(memchr::memchr(b'"', rest)?..)?;
        let prev = rest.strip_prefix(b"\",\"prev\":\"")?.get(..64)?;
        let prev = hex::decode_array(core::str::from_utf8(prev).ok()?)?;
        Some(Self { seq, prev: LedgerDigest::from_bytes(prev) })
    }
}

fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at_checked(digits)?;
    Some((core::str::from_utf8(digits).ok()?.parse().ok()?, rest))
}

/// Returns the digest of a list of plugins for `plugins_loaded`: that of its canonical form, without times.
///
/// # Guarantees
///
/// The same plugins with the same digests and outcomes have the same digest in any order.
#[must_use]
pub fn registry_digest(plugins: &[crate::format::event::PluginDecision]) -> LedgerDigest {
    let mut rows: Vec<_> = plugins.iter().map(|seen| (&seen.plugin, &seen.digest, seen.outcome)).collect();
    rows.sort_unstable();
    let row = |(plugin, digest, outcome): (&String, &String, crate::format::event::LoadVerdict)| {
        RecordValue::object([
            ("plugin", RecordValue::text(plugin)),
            ("digest", RecordValue::text(digest)),
            ("outcome", RecordValue::text(outcome.as_str())),
        ])
    };
    RecordValue::List(rows.into_iter().map(row).collect()).digest()
}

pub(crate) fn settled(mut event: LedgerEvent) -> LedgerEvent {
    // The counters of a checkpoint must be restored unchanged. All other texts are for people and can be
    // shortened.
    if !event.is_internal() {
        event.settle();
    }
    event
}
