//! File types by their first bytes.

use plugward_types::{Part, words};

use super::EntryState;

/// A file type by magic number: its state, and the file extensions that agree with it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Magic {
    pub(crate) state: EntryState,
    pub(crate) endings: &'static [&'static str],
}

const fn magic(state: EntryState, endings: &'static [&'static str]) -> Magic {
    Magic { state, endings }
}

const ZIP: &[&str] = words!["zip jar whl crx xpi apk war ear egg nupkg vsix mcpb dxt aar cbz"];
const OFFICE: &[&str] = words![
    "docx xlsx pptx docm xlsm pptm dotx dotm xlsb xltx xltm xlam ppsx ppsm potx potm ppam vsdx vsdm odt ods",
    "odp odg odf ott ots otp epub pages numbers key",
];
/// Model weights: an archive that contains a pickle.
const PICKLED: &[&str] = &["pt", "pth", "ckpt", "bin", "model"];

/// Magic numbers at offset 0.
const HEADS: &[(&[u8], Magic)] = &[
    (b"\x7FELF", magic(EntryState::Native, &["so", "o", "node", "elf", "bin"])),
    (b"BC\xC0\xDE", magic(EntryState::Native, &["bc", "o"])),
    (b"\xDE\xC0\x17\x0B", magic(EntryState::Native, &["bc", "o"])),
    (b"MZ", magic(EntryState::Native, &["exe", "dll", "sys", "node", "ocx"])),
    (b"\xFE\xED\xFA\xCE", magic(EntryState::Native, &["dylib", "o", "node"])),
    (b"\xFE\xED\xFA\xCF", magic(EntryState::Native, &["dylib", "o", "node"])),
    (b"\xCE\xFA\xED\xFE", magic(EntryState::Native, &["dylib", "o", "node"])),
    (b"\xCF\xFA\xED\xFE", magic(EntryState::Native, &["dylib", "o", "node"])),
    (b"\xCA\xFE\xBA\xBE", magic(EntryState::Native, &["class", "dylib", "node"])),
    (b"\xCA\xFE\xBA\xBF", magic(EntryState::Native, &["dylib", "o", "node"])),
    (b"!<arch>\ndebian-binary", magic(EntryState::Archive, &["deb", "udeb"])),
    (b"!<arch>\n", magic(EntryState::Native, &["a", "lib"])),
    (b"\xC6\x1F\xBC\x03\xC1\x03\x19\x1F", magic(EntryState::Bytecode, &["hbc", "bundle"])),
    (b"\x00asm", magic(EntryState::Wasm, &["wasm"])),
    (b"\x1BLua", magic(EntryState::Bytecode, &["luac"])),
    (b"\x1BLJ", magic(EntryState::Bytecode, &["luac"])),
    (b"dex\n", magic(EntryState::Bytecode, &["dex"])),
    (b"PK\x03\x04", magic(EntryState::Archive, ZIP)),
    (b"PK\x05\x06", magic(EntryState::Archive, ZIP)),
    (b"\x1F\x8B", magic(EntryState::Archive, &["gz", "tgz", "svgz"])),
    (b"\xFD7zXZ\x00", magic(EntryState::Archive, &["xz", "txz"])),
    (b"BZh", magic(EntryState::Archive, &["bz2", "tbz2"])),
    (b"\x28\xB5\x2F\xFD", magic(EntryState::Archive, &["zst", "tzst"])),
    (b"7z\xBC\xAF\x27\x1C", magic(EntryState::Archive, &["7z"])),
    (b"Rar!\x1A\x07", magic(EntryState::Archive, &["rar"])),
    (b"Cr24", magic(EntryState::Archive, &["crx"])),
    (b"xar!", magic(EntryState::Archive, &["xar", "pkg"])),
    (b"MSCF", magic(EntryState::Archive, &["cab"])),
    (b"\xED\xAB\xEE\xDB", magic(EntryState::Archive, &["rpm"])),
    (b"\x04\x22\x4D\x18", magic(EntryState::Archive, &["lz4"])),
    (b"\x1F\x9D", magic(EntryState::Archive, &["z"])),
    (b"\x5D\x00\x00\x80\x00\xFF", magic(EntryState::Archive, &["lzma"])),
    (b"hsqs", magic(EntryState::Archive, &["squashfs", "sqsh", "snap"])),
    (b"070701", magic(EntryState::Archive, &["cpio"])),
    (b"PAR1", magic(EntryState::UnknownBinary, &["parquet"])),
    (b"\x93NUMPY", magic(EntryState::UnknownBinary, &["npy"])),
    (b"%PDF-", magic(EntryState::Document, &["pdf"])),
    (b"{\\rtf", magic(EntryState::Document, &["rtf"])),
    (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", magic(EntryState::Document, &["doc", "xls", "ppt", "msi", "msg"])),
    (b"SQLite format 3\x00", magic(EntryState::UnknownBinary, &["sqlite", "sqlite3", "db"])),
    (b"\x89PNG\r\n\x1A\n", magic(EntryState::Media, &["png", "apng"])),
    (b"\xFF\xD8\xFF", magic(EntryState::Media, &["jpg", "jpeg", "jfif"])),
    (b"GIF87a", magic(EntryState::Media, &["gif"])),
    (b"GIF89a", magic(EntryState::Media, &["gif"])),
    (b"BM", magic(EntryState::Media, &["bmp"])),
    (b"\x00\x00\x01\x00", magic(EntryState::Media, &["ico", "cur"])),
    (b"wOFF", magic(EntryState::Media, &["woff"])),
    (b"wOF2", magic(EntryState::Media, &["woff2"])),
    (b"\x00\x01\x00\x00\x00", magic(EntryState::Media, &["ttf"])),
    (b"true", magic(EntryState::Media, &["ttf"])),
    (b"OTTO", magic(EntryState::Media, &["otf"])),
    (b"ID3", magic(EntryState::Media, &["mp3"])),
    (b"\xFF\xFB", magic(EntryState::Media, &["mp3"])),
    (b"OggS", magic(EntryState::Media, &["ogg", "oga", "ogv", "opus"])),
    (b"\x1A\x45\xDF\xA3", magic(EntryState::Media, &["webm", "mkv"])),
];

/// Magic numbers so short that text can begin with them: they count only if the bytes are not text.
const SHORT: &[&[u8]] = &[
    b"MZ",
    b"BM",
    b"BZh",
    b"true",
    b"ID3",
    b"\xFF\xFB",
    b"\x1F\x8B",
    b"\x1F\x9D",
    b"Cr24",
    b"xar!",
    b"MSCF",
    b"OTTO",
    b"hsqs",
    b"070701",
    b"PAR1",
];

/// Returns the type of a file by its bytes.
pub(crate) fn find(bytes: &[u8], ending: &str) -> Option<Magic> {
    if is_pyc(bytes) {
        return Some(magic(EntryState::Bytecode, &["pyc", "pyo"]));
    }
    if is_v8_cache(bytes) {
        return Some(magic(EntryState::Bytecode, &["jsc", "cache"]));
    }
    if is_pickle(bytes) {
        return Some(magic(
            EntryState::UnknownBinary,
            &["pkl", "pickle", "joblib", "pt", "ckpt", "bin", "dat"],
        ));
    }
    if let Some(found) = container(bytes) {
        return Some(found);
    }
    let (head, found) = HEADS.iter().find(|(head, _)| bytes.starts_with(head))?;
    if SHORT.contains(head) && !found.endings.contains(&ending) && !super::looks_binary(bytes) {
        return None;
    }
    if *head == b"PK\x03\x04" {
        return Some(zip(bytes, ending));
    }
    Some(*found)
}

/// Returns the type of a ZIP file, by its name or else by the name of its first file.
fn zip(bytes: &[u8], ending: &str) -> Magic {
    let first = bytes.rest(30).head(160);
    let office = first.starts_with(b"[Content_Types].xml") || first.starts_with(b"mimetypeapplication/");
    let plain = ZIP.contains(&ending);
    if OFFICE.contains(&ending) || (office && !plain) {
        return magic(EntryState::Document, OFFICE);
    }
    let len = usize::from(*bytes.get(26).unwrap_or(&0));
    if !plain && first.get(..len).is_some_and(|name| name.ends_with(b"data.pkl")) {
        return magic(EntryState::UnknownBinary, PICKLED);
    }
    magic(EntryState::Archive, ZIP)
}

/// Returns the end of a ZIP file by its own directory: after the comment of the end record.
pub(crate) fn zip_end(bytes: &[u8]) -> Option<usize> {
    const RECORD: usize = 22;
    let at = memchr::memmem::rfind(bytes, b"PK\x05\x06")?;
    let comment = bytes.get(at.checked_add(RECORD - 2)?..at.checked_add(RECORD)?)?;
    let comment = usize::from(u16::from_le_bytes(comment.try_into().ok()?));
    at.checked_add(RECORD)?.checked_add(comment)
}

/// Returns `true` for a pickle of protocol 2 to 5, which can call any function when it is loaded.
fn is_pickle(bytes: &[u8]) -> bool {
    match bytes {
        [0x80, 4 | 5, 0x95, ..] => true,
        [0x80, 2 | 3, first, .., b'.'] => b"}])(cXKJMUq\x8a\x88\x89N".contains(first),
        _ => false,
    }
}

/// Returns `true` for Python bytecode: a magic number of 2 bytes, CR LF, flags below 4.
fn is_pyc(bytes: &[u8]) -> bool {
    match bytes {
        [0x03, 0xF3, b'\r', b'\n', ..] => true,
        [_, hi, b'\r', b'\n', flags, 0, 0, 0, ..] => {
            (*hi == 0x0C || *hi == 0x0D || *hi == 0x0E) && *flags < 4
        }
        _ => false,
    }
}

/// Returns `true` for a V8 code cache: a version hash after `0xC0DE`.
fn is_v8_cache(bytes: &[u8]) -> bool {
    matches!(bytes, [_, _, 0xDE, 0xC0, ..])
}

fn container(bytes: &[u8]) -> Option<Magic> {
    if bytes.starts_with(b"RIFF") {
        return match bytes.get(8..12)? {
            b"WEBP" => Some(magic(EntryState::Media, &["webp"])),
            b"WAVE" => Some(magic(EntryState::Media, &["wav"])),
            _ => None,
        };
    }
    if bytes.get(4..8) == Some(b"ftyp") {
        return match bytes.get(8..12)? {
            b"avif" | b"avis" => Some(magic(EntryState::Media, &["avif"])),
            _ => Some(magic(EntryState::Media, &["mp4", "m4a", "m4v", "mov"])),
        };
    }
    // Compiled Erlang, and Emacs Lisp with a version and three zeros.
    if bytes.starts_with(b"FOR1") && bytes.get(8..12) == Some(b"BEAM") {
        return Some(magic(EntryState::Bytecode, &["beam"]));
    }
    if bytes.starts_with(b";ELC") && bytes.get(5..8) == Some(b"\0\0\0") {
        return Some(magic(EntryState::Bytecode, &["elc"]));
    }
    if bytes.get(257..262) == Some(b"ustar") {
        return Some(magic(EntryState::Archive, &["tar"]));
    }
    if bytes.get(32_769..32_774) == Some(b"CD001") {
        return Some(magic(EntryState::Archive, &["iso"]));
    }
    // A pickled header before a JSON index.
    if bytes.starts_with(b"\x04\0\0\0") && bytes.get(16..25) == Some(b"{\"files\":") {
        return Some(magic(EntryState::Archive, &["asar"]));
    }
    None
}

/// File extensions of binary kinds, which count even without a magic number.
const BINARY_ENDINGS: &[(&str, EntryState)] = &[
    ("pyc", EntryState::Bytecode),
    ("pyo", EntryState::Bytecode),
    ("luac", EntryState::Bytecode),
    ("jsc", EntryState::Bytecode),
    ("node", EntryState::Native),
    ("so", EntryState::Native),
    ("dll", EntryState::Native),
    ("dylib", EntryState::Native),
    ("class", EntryState::Native),
    ("exe", EntryState::Native),
    ("o", EntryState::Native),
    ("a", EntryState::Native),
    ("wasm", EntryState::Wasm),
    ("zip", EntryState::Archive),
    ("jar", EntryState::Archive),
    ("tar", EntryState::Archive),
    ("gz", EntryState::Archive),
    ("tgz", EntryState::Archive),
    ("xz", EntryState::Archive),
    ("zst", EntryState::Archive),
    ("7z", EntryState::Archive),
    ("rar", EntryState::Archive),
    ("asar", EntryState::Archive),
    ("whl", EntryState::Archive),
    ("crx", EntryState::Archive),
    ("bz2", EntryState::Archive),
    ("lz4", EntryState::Archive),
    ("lzma", EntryState::Archive),
    ("br", EntryState::Archive),
    ("deb", EntryState::Archive),
    ("rpm", EntryState::Archive),
    ("cab", EntryState::Archive),
    ("iso", EntryState::Archive),
    ("dmg", EntryState::Archive),
    ("pyz", EntryState::Archive),
    ("vsix", EntryState::Archive),
    ("mcpb", EntryState::Archive),
    ("dxt", EntryState::Archive),
    ("egg", EntryState::Archive),
    ("docx", EntryState::Document),
    ("xlsx", EntryState::Document),
    ("pptx", EntryState::Document),
    ("docm", EntryState::Document),
    ("xlsm", EntryState::Document),
    ("pptm", EntryState::Document),
    ("odt", EntryState::Document),
    ("pdf", EntryState::Document),
    ("rtf", EntryState::Document),
    ("doc", EntryState::Document),
    ("xls", EntryState::Document),
    ("ppt", EntryState::Document),
    ("pkl", EntryState::UnknownBinary),
    ("pickle", EntryState::UnknownBinary),
    ("pt", EntryState::UnknownBinary),
    ("pth.tar", EntryState::UnknownBinary),
    ("joblib", EntryState::UnknownBinary),
    ("db", EntryState::UnknownBinary),
    ("sqlite", EntryState::UnknownBinary),
    ("sqlite3", EntryState::UnknownBinary),
];

/// Returns the kind that a file extension claims.
pub(crate) fn by_ending(ending: &str) -> Option<EntryState> {
    BINARY_ENDINGS.iter().find(|(known, _)| *known == ending).map(|(_, state)| *state)
}

/// Returns `true` for a file extension of a media kind.
pub(crate) fn is_media_ending(ending: &str) -> bool {
    HEADS.iter().any(|(_, magic)| magic.state == EntryState::Media && magic.endings.contains(&ending))
        || matches!(ending, "webp" | "wav" | "avif" | "mp4" | "m4a" | "m4v" | "mov")
}

/// Returns the end of a media file by its own structure: after its end mark, or where the structure breaks. `None` if the
/// file is truncated or its kind has no such structure.
pub(crate) fn media_end(bytes: &[u8]) -> Option<usize> {
    if bytes.starts_with(b"\x89PNG\r\n\x1A\n") {
        return png_end(bytes);
    }
    if bytes.starts_with(b"RIFF") {
        let size = u32::from_le_bytes(bytes.get(4..8)?.try_into().ok()?) as usize;
        return Some(size.saturating_add(8).saturating_add(size % 2));
    }
    if bytes.starts_with(b"\xFF\xD8\xFF") {
        return jpeg_end(bytes);
    }
    if bytes.starts_with(b"GIF8") {
        return gif_end(bytes);
    }
    None
}

fn png_end(bytes: &[u8]) -> Option<usize> {
    let mut at = 8_usize;
    loop {
        let name = bytes.get(at.checked_add(4)?..at.checked_add(8)?)?;
        if !name.iter().all(u8::is_ascii_alphabetic) {
            return Some(at);
        }
        let size = u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?) as usize;
        at = at.checked_add(size)?.checked_add(12)?;
        if name == b"IEND" {
            return Some(at);
        }
    }
}

/// Skips segments up to the image data, which ends at the first end mark: in data, `FF` is followed by `00`. Segments are
/// skipped whole, since a thumbnail inside one has its own end mark.
fn jpeg_end(bytes: &[u8]) -> Option<usize> {
    let mut at = 2_usize;
    loop {
        if *bytes.get(at)? != 0xFF {
            return Some(at);
        }
        let kind = *bytes.get(at.checked_add(1)?)?;
        let behind = at.checked_add(2)?;
        at = match kind {
            0xFF => at.checked_add(1)?,
            0xD9 => return Some(behind),
            0x01 | 0xD0..=0xD8 => behind,
            0x00 => return Some(at),
            _ => {
                let size = bytes.get(behind..behind.checked_add(2)?)?.try_into().ok()?;
                let next = behind.checked_add(usize::from(u16::from_be_bytes(size)).max(2))?;
                if kind == 0xDA { data_end(bytes, next)? } else { next }
            }
        };
    }
}

/// Returns the position of the first mark after the image data.
fn data_end(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    memchr::memchr_iter(0xFF, rest)
        .find(|at| !matches!(rest.get(at.saturating_add(1)), Some(0x00 | 0xD0..=0xD7)))
        .and_then(|at| from.checked_add(at))
}

fn gif_end(bytes: &[u8]) -> Option<usize> {
    let table = |flags: u8| if flags & 0x80 == 0 { 0 } else { 6_usize << (flags & 7) };
    let mut at = 13_usize.checked_add(table(*bytes.get(10)?))?;
    loop {
        at = match *bytes.get(at)? {
            0x3B => return at.checked_add(1),
            0x21 => blocks_end(bytes, at.checked_add(2)?)?,
            0x2C => {
                let flags = *bytes.get(at.checked_add(9)?)?;
                blocks_end(bytes, at.checked_add(11)?.checked_add(table(flags))?)?
            }
            _ => return Some(at),
        };
    }
}

/// Skips length-prefixed blocks up to one of length 0.
fn blocks_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let size = usize::from(*bytes.get(at)?);
        at = at.checked_add(1)?.checked_add(size)?;
        if size == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIF: &[u8] =
        b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xfe\x03a;b\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";
    const JPEG: &[u8] =
        b"\xff\xd8\xff\xe1\0\x08\xff\xd8\xff\xd9ab\xff\xda\0\x04ab\x12\xff\0\x34\xff\xd0\x56\xff\xd9";
    const PNG: &[u8] = b"\x89PNG\r\n\x1A\n\0\0\0\x02IHDRabcccc\0\0\0\0IENDcccc";

    #[test]
    fn what_follows_the_end_is_seen_whatever_it_looks_like() {
        for whole in [GIF, JPEG, PNG] {
            assert_eq!(media_end(whole), Some(whole.len()), "{whole:?}");
            for tail in [&b"x"[..], b"eval(x);", b"\xff\xd9", b";", whole] {
                let longer = [whole, tail].concat();
                assert_eq!(media_end(&longer), Some(whole.len()), "{tail:?}");
            }
            for cut in 0..whole.len() {
                assert!(media_end(&whole[..cut]).is_none_or(|end| end >= cut), "{cut}");
            }
        }
        // A valid header, then something else.
        assert!(media_end(b"GIF89a=1;/*").is_none_or(|end| end < 20));
        assert_eq!(media_end(b"GIF89a/*\0\0\0\0*/=1;eval(x);"), Some(13));
        assert_eq!(media_end(b"\xff\xd8\xff\xe0\0\x02*/eval(x)\xff\xd9"), Some(6));
        assert_eq!(media_end(b"\x89PNG\r\n\x1A\n*/eval(x);"), Some(8));
    }
}
