//! Stage 0: each entry gets one state and at most one lens. No file is skipped because of its name, directory, size or
//! extension.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

pub(crate) mod crates;
pub(crate) mod roles;

pub(crate) mod magic;
pub(crate) mod names;

use plugward_types::Part;

use crate::scan::entry::{FileKind, Lens, RoleHint};

plugward_types::named! {
    /// How an entry was read.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum EntryState {
        /// Read unchanged.
        Scanned = "scanned",
        /// Transcoded, then read.
        Decoded = "decoded",
        /// An executable or library of machine code, or a class file.
        Native = "native",
        /// Compiled bytecode that runs instead of a source.
        Bytecode = "bytecode",
        /// A WebAssembly module.
        Wasm = "wasm",
        /// An archive. It is not unpacked.
        Archive = "archive",
        /// An office document, PDF or RTF.
        Document = "document",
        /// An image, font, audio or video file.
        Media = "media",
        /// A binary file of an unknown type.
        UnknownBinary = "unknown-binary",
        /// Over a limit: only raw rules read a part.
        Partial = "partial",
        /// An unreadable file.
        Unreadable = "unreadable",
        /// A symlink.
        Link = "link",
        /// A FIFO, socket or device.
        Special = "special",
    }
}

impl EntryState {
    /// Returns the detector that fires for a binary file of this state.
    pub(crate) const fn detector(self) -> Option<&'static str> {
        match self {
            Self::Native => Some("opaque-native"),
            Self::Bytecode => Some("opaque-bytecode"),
            Self::Wasm => Some("opaque-wasm"),
            Self::Archive => Some("opaque-archive"),
            Self::Document => Some("opaque-document"),
            Self::UnknownBinary => Some("opaque-unknown"),
            _ => None,
        }
    }
}

/// The classification of an entry before it is read.
#[derive(Debug, Clone)]
pub(crate) struct Class {
    /// The lenses that read it, if it is text or claims to be.
    pub(crate) lenses: Vec<Lens>,
    pub(crate) role: FileKind,
    /// Its binary kind, by magic number, extension or bytes.
    pub(crate) binary: Option<EntryState>,
    /// Whether the name is that of a language without a lens.
    pub(crate) unread_language: Flag,
    /// A contradiction between magic number and name, or data after the end.
    pub(crate) mismatch: Option<Mismatch>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flag {
    No,
    Yes,
}

/// A contradiction between a name and the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mismatch {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Classifies an entry by its name, hint and bytes.
pub(crate) fn classify(path: &str, bytes: &[u8], hint: RoleHint) -> Class {
    let (_, ending) = names::parts(path);
    let named = names::lens(path);
    let shebang = names::shebang(bytes);
    let mut lenses: Vec<Lens> = Vec::new();
    for lens in [hint.hinted_lens(), shebang, named].into_iter().flatten() {
        if !lenses.contains(&lens) {
            lenses.push(lens);
        }
    }
    let unread = names::is_unread_language(path);
    let role = names::role(path).max(hint.hinted_role().unwrap_or(FileKind::Other));
    let found = magic::find(bytes, &ending);
    let binary = found.map(|magic| magic.state).or_else(|| magic::by_ending(&ending));
    let text_encoding = crate::text::decode::has_wide_encoding(bytes);
    let binary =
        binary.or_else(|| (!text_encoding && looks_binary(bytes)).then_some(EntryState::UnknownBinary));
    let code = named.is_some_and(|lens| !matches!(lens, Lens::Prose | Lens::Data))
        || unread
        || RUN_BY_SYSTEMS.contains(&ending.as_str());
    // `a.pdf.js` shows a document's extension; `pdf.js` is an ordinary name.
    let (name, _) = names::parts(path);
    let stem = name.rsplit_once('.').map_or("", |(stem, _)| stem);
    let before = stem.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map_or("", |(_, before)| before);
    // Blanks can push the real extension out of sight.
    let before = before.trim_end();
    let ran = if code { before } else { "" };
    let code = if named.is_some() || unread { Flag::Yes } else { Flag::No };
    let mismatch = mismatch(bytes, (ran, &ending), found, binary, code);
    if lenses.is_empty() && binary.is_none() && !unread {
        lenses.push(Lens::Prose);
    }
    Class { lenses, role, binary, unread_language: if unread { Flag::Yes } else { Flag::No }, mismatch }
}

/// Extensions of documents that users open without suspicion.
const DOCUMENTS: &[&str] = &["pdf", "docx", "xlsx", "pptx", "odt", "rtf"];
/// Extensions of plain text, next to which site generators write code (`robots.txt.ts`). A shell or a system runs none of
/// them.
const TEXTS: &[&str] = &["txt", "csv", "log"];
/// Extensions of programs that a system starts with a click.
const RUN_BY_SYSTEMS: &[&str] = &["exe", "com", "scr", "msi", "pif", "jar", "lnk"];
/// Extensions of programs and scripts that a user starts.
const STARTED: &[&str] = &[
    "sh", "bash", "zsh", "command", "bat", "cmd", "ps1", "py", "pyw", "rb", "pl", "vbs", "wsf", "hta", "exe",
    "com", "scr", "msi", "pif", "jar", "lnk",
];
/// Extensions of text that is neither code nor prose.
const PLAIN: &[&str] =
    &["css", "scss", "sass", "less", "xml", "csv", "tsv", "log", "map", "lock", "txt", "properties", "ics"];
/// Extensions of data that interpreters do not run as a script.
const DATA: &[&str] = &["json", "jsonc", "json5", "toml", "yaml", "yml"];

fn mismatch(
    bytes: &[u8],
    (before, ending): (&str, &str),
    found: Option<magic::Magic>,
    binary: Option<EntryState>,
    code: Flag,
) -> Option<Mismatch> {
    let all = Mismatch { start: 0, end: bytes.len().min(16) };
    // `photo.jpg.js`: the visible extension is not that of code.
    let shown = magic::is_media_ending(before)
        || DOCUMENTS.contains(&before)
        || (TEXTS.contains(&before) && STARTED.contains(&ending));
    if let Some(magic) = found {
        if !magic.endings.contains(&ending)
            && (code == Flag::Yes
                || PLAIN.contains(&ending)
                || magic.state == EntryState::Media
                || magic::by_ending(ending).is_some()
                || magic::is_media_ending(ending))
        {
            return Some(all);
        }
        let known_end = match magic.state {
            EntryState::Media => magic::media_end(bytes),
            _ if bytes.starts_with(b"PK\x03\x04") => magic::zip_end(bytes),
            _ => None,
        };
        if let Some(end) = known_end.filter(|end| *end < bytes.len()) {
            return Some(Mismatch { start: end, end: bytes.len() });
        }
        return shown.then_some(all);
    }
    if code == Flag::Yes && shown {
        return Some(all);
    }
    // A file whose first line selects an interpreter is not data.
    let head = bytes.head(512);
    if DATA.contains(&ending) && names::is_script(head) {
        return Some(all);
    }
    // The extension claims an image or archive, and the bytes are neither.
    let claims = magic::is_media_ending(ending)
        || matches!(magic::by_ending(ending), Some(EntryState::Archive | EntryState::Document));
    (claims && !bytes.is_empty() && (binary.is_none() || magic::by_ending(ending).is_some())).then_some(all)
}

/// Returns `true` if one of three samples of 4 KiB has more than 5 % control bytes.
pub(crate) fn looks_binary(bytes: &[u8]) -> bool {
    const SAMPLE: usize = 4096;
    let middle = (bytes.len() / 2).saturating_sub(SAMPLE / 2);
    let last = bytes.len().saturating_sub(SAMPLE);
    [0, middle, last].into_iter().any(|start| {
        let sample = bytes.part(start..(start + SAMPLE).min(bytes.len()));
        // Most text has no control bytes: one pass without a branch detects that.
        let any = sample.iter().fold(0, |any, &byte| {
            let usual = u8::from(byte.wrapping_sub(9) < 5) | u8::from(byte == 0x1B);
            any | (u8::from(byte < 0x20) ^ usual) | u8::from(byte == 0x7F)
        });
        if any == 0 {
            return false;
        }
        let controls = sample.iter().filter(|byte| is_control(**byte)).count();
        // A few stray control bytes in a short text do not make it binary.
        controls >= 4 && controls.saturating_mul(20) > sample.len()
    })
}

/// Returns `true` for control bytes that text does not use: not tab, line ends, form feed or escape.
const fn is_control(byte: u8) -> bool {
    (byte < 0x20 && byte != 0x1B && !matches!(byte, 9..=13)) || byte == 0x7F
}
