//! The cache of matches that a caller can keep between two scans.

use std::collections::BTreeMap;

use plugward_types::{Digest, FileRole};
use sha2::{Digest as _, Sha256};

use crate::inventory::EntryState;
use crate::inventory::roles::{FileFacts, Roles};
use crate::rules::Rules;
use crate::scan::entry::{Content, Entry, FileKind, Lens};
use crate::scan::file::{FileRecord, Reading};
use crate::scan::options::ScanOptions;
use crate::scan::sink::{CodePart, Hit, Lowered, Named};
use crate::text::view::Obfuscations;

/// Stores small records by key. The crate does no I/O, so the caller implements it.
///
/// # Guarantees
///
/// The key covers the rules, the limits, the digest of the file, its path and role, and its readers. A record contains the
/// digest of its key and of its body. A record that is damaged, truncated, or of another key or version is ignored, and so
/// is one that refers to an unknown rule or to a position outside the file; the file is then scanned. This detects faults,
/// not attacks: anyone who can write the records can hide findings. The caller stores them where the plugin cannot write,
/// or authenticates them.
pub trait MatchCache: Sync {
    /// Returns the record of a key, if there is one.
    fn get(&self, key: &Digest) -> Option<Vec<u8>>;
    /// Stores a record.
    fn put(&self, key: &Digest, record: &[u8]);
}

/// Part of each key. Increase it with each change that finds something else in the same bytes by the same rules: in a
/// lexer, a view or a dependency.
const ENGINE: u32 = 15;
/// Larger records are not stored: reading one back would cost as much as scanning the file.
const MAX_RECORD: usize = 256 << 10;
/// The length of the digest at the start of a record.
const SEAL: usize = 32;

/// Returns the key of a file. It covers everything that its matches depend on; the profile is applied later.
pub(crate) fn key(
    rules: &Rules,
    options: &ScanOptions<'_>,
    entry: &Entry<'_>,
    digest: Digest,
    reading: Reading,
) -> Digest {
    let mut hasher = Sha256::new();
    let mut field = |bytes: &[u8]| {
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    field(b"plugward-scan/1");
    field(rules.digest().as_bytes());
    field(&ENGINE.to_le_bytes());
    field(env!("CARGO_PKG_VERSION").as_bytes());
    field(format!("{:?}", options.limits).as_bytes());
    field(format!("{:?} {reading:?}", entry.role).as_bytes());
    // The path decides whether a relative import leaves the plugin, and the name chooses the lens and the role.
    field(entry.path.as_bytes());
    for package in options.packages {
        field(package.as_bytes());
    }
    field(digest.as_bytes());
    Digest::from_bytes(hasher.finalize().into())
}

/// Returns the key of the roles of a plugin's files. It covers everything that they depend on.
pub(crate) fn roles_key(entries: &[Entry<'_>], facts: &[FileFacts<'_>]) -> Digest {
    let mut hasher = Sha256::new();
    let mut field = |bytes: &[u8]| {
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    field(b"plugward-scan-roles/2");
    field(&ENGINE.to_le_bytes());
    field(env!("CARGO_PKG_VERSION").as_bytes());
    for (entry, facts) in entries.iter().zip(facts) {
        let (kind, digest) = match entry.content {
            Content::Bytes { digest, .. } => (0, Some(digest)),
            Content::Link => (1, None),
            Content::Special => (2, None),
            Content::Unreadable { .. } => (3, None),
        };
        field(entry.path.as_bytes());
        field(&[kind, u8::from(facts.loads_computed)]);
        field(digest.as_ref().map_or(&[], |digest| digest.as_bytes()));
        field(format!("{:?} {:?}", entry.role, facts.named).as_bytes());
    }
    Digest::from_bytes(hasher.finalize().into())
}

/// Serializes the roles of a plugin's files and the references between them.
pub(crate) fn encode_roles(key: &Digest, roles: &Roles) -> Option<Vec<u8>> {
    let of: Option<Vec<u8>> = roles.of.iter().map(|role| index_of(&FileRole::ALL, role)).collect();
    let mut body = of?;
    for (from, targets) in &roles.references {
        for number in [*from, targets.len()].iter().chain(targets) {
            body.extend(u32::try_from(*number).ok()?.to_le_bytes());
        }
    }
    Some([&seal(key, &body)[..], &body].concat())
}

/// Deserializes the roles of a number of files; `None` if the record belongs to another key.
pub(crate) fn decode_roles(key: &Digest, bytes: &[u8], count: usize) -> Option<Roles> {
    let (given, body) = bytes.split_at_checked(SEAL)?;
    let (of, references) = body.split_at_checked(count)?;
    if given != seal(key, body) {
        return None;
    }
    let of: Option<Vec<FileRole>> =
        of.iter().map(|index| FileRole::ALL.get(usize::from(*index)).copied()).collect();
    let (numbers, []) = references.as_chunks::<4>() else { return None };
    let mut numbers = numbers.iter().map(|bytes| usize::try_from(u32::from_le_bytes(*bytes)));
    let mut references = BTreeMap::new();
    while let Some(from) = numbers.next() {
        let length = numbers.next()?.ok()?;
        let targets: Result<Vec<usize>, _> = numbers.by_ref().take(length).collect();
        let targets = targets.ok().filter(|targets| targets.len() == length)?;
        references.insert(from.ok()?, targets);
    }
    Some(Roles { of: of?, references })
}

const STATES: [EntryState; 13] = [
    EntryState::Scanned,
    EntryState::Decoded,
    EntryState::Native,
    EntryState::Bytecode,
    EntryState::Wasm,
    EntryState::Archive,
    EntryState::Document,
    EntryState::Media,
    EntryState::UnknownBinary,
    EntryState::Partial,
    EntryState::Unreadable,
    EntryState::Link,
    EntryState::Special,
];
const ROLES: [FileKind; 5] =
    [FileKind::Other, FileKind::Doc, FileKind::Manifest, FileKind::Build, FileKind::Prompt];

fn index_of<T: PartialEq>(all: &[T], item: &T) -> Option<u8> {
    all.iter().position(|known| known == item).and_then(|index| u8::try_from(index).ok())
}

/// Binds a record's body to its key.
fn seal(key: &Digest, body: &[u8]) -> [u8; SEAL] {
    let mut hasher = Sha256::new();
    hasher.update(b"plugward-scan-record/1");
    hasher.update(key.as_bytes());
    hasher.update(body);
    hasher.finalize().into()
}

/// Serializes a record; `None` if it is too large to store.
pub(crate) fn encode(key: &Digest, record: &FileRecord) -> Option<Vec<u8>> {
    let body = body(record)?;
    let mut out = seal(key, &body).to_vec();
    out.extend(body);
    (out.len() <= MAX_RECORD).then_some(out)
}

fn body(record: &FileRecord) -> Option<Vec<u8>> {
    let lens = match &record.lens {
        None => 0,
        Some(lens) => index_of(&Lens::ALL, lens)?.checked_add(1)?,
    };
    let mut out = vec![index_of(&STATES, &record.state)?, lens, index_of(&ROLES, &record.role)?];
    out.extend(u32::try_from(record.hits.len()).ok()?.to_le_bytes());
    for hit in &record.hits {
        out.extend(hit.start.to_le_bytes());
        out.extend(hit.end.to_le_bytes());
        out.extend(hit.matcher.to_le_bytes());
        out.extend([hit.how.bits(), hit.lowered as u8]);
    }
    out.extend(u32::try_from(record.named.len()).ok()?.to_le_bytes());
    for Named { lens, path, part } in &record.named {
        let (kind, start, end) = match *part {
            CodePart::File => (0, 0, 0),
            CodePart::Texts => (1, 0, 0),
            CodePart::GivenCredentials(start, end) => (2, start, end),
            CodePart::GivenTranscript(start, end) => (3, start, end),
            CodePart::Settings => (4, 0, 0),
        };
        out.extend([index_of(&Lens::ALL, lens)?, kind]);
        out.extend(start.to_le_bytes().into_iter().chain(end.to_le_bytes()));
        out.extend(u32::try_from(path.len()).ok()?.to_le_bytes());
        out.extend(path.as_bytes());
    }
    Some(out)
}

/// Reads fields from the front of a record.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(len)?;
        self.0 = tail;
        Some(head)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn short(&mut self) -> Option<u16> {
        self.take(2)?.try_into().ok().map(u16::from_le_bytes)
    }

    fn long(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }
}

/// Deserializes a record; `None` if it belongs to another key, rule table or text.
pub(crate) fn decode(
    key: &Digest,
    bytes: &[u8],
    rules: &Rules,
    digest: Digest,
    size: usize,
    text: usize,
) -> Option<FileRecord> {
    let (given, body) = bytes.split_at_checked(SEAL)?;
    if given != seal(key, body) {
        return None;
    }
    let mut reader = Reader(body);
    let state = *STATES.get(usize::from(reader.byte()?))?;
    let lens = match reader.byte()? {
        0 => None,
        index => Some(*Lens::ALL.get(usize::from(index.checked_sub(1)?))?),
    };
    let role = *ROLES.get(usize::from(reader.byte()?))?;
    let count = reader.long()?;
    let mut hits = Vec::new();
    for _ in 0..count {
        let (start, end, matcher) = (reader.long()?, reader.long()?, reader.short()?);
        let (how, lowered) = (Obfuscations::from_bits(reader.byte()?)?, reader.byte()?);
        rules.matcher(matcher)?;
        if start > end || end as usize > text {
            return None;
        }
        let lowered = match lowered {
            0 => Lowered::Executed,
            1 => Lowered::No,
            2 => Lowered::Shown,
            3 => Lowered::Yes,
            _ => return None,
        };
        hits.push(Hit { start, end, matcher, how, lowered });
    }
    let mut named = Vec::new();
    for _ in 0..reader.long()? {
        let lens = *Lens::ALL.get(usize::from(reader.byte()?))?;
        let (kind, start, end) = (reader.byte()?, reader.long()?, reader.long()?);
        if start > end || end as usize > text {
            return None;
        }
        let part = match kind {
            0 => CodePart::File,
            1 => CodePart::Texts,
            2 => CodePart::GivenCredentials(start, end),
            3 => CodePart::GivenTranscript(start, end),
            4 => CodePart::Settings,
            _ => return None,
        };
        let len = reader.long()? as usize;
        named.push(Named { lens, path: String::from_utf8(reader.take(len)?.to_vec()).ok()?, part });
    }
    if !reader.0.is_empty() {
        return None;
    }
    Some(FileRecord { state, lens, role, bytes: size as u64, digest: Some(digest), hits, named })
}
