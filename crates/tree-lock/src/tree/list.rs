//! The list of a tree: the hashed text, which a user can also review.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use plugward_types::{Digest, Part, TreeDigest, hex, valid_head};
use sha2::{Digest as _, Sha256};

use crate::tree::exclude::Excludes;
use crate::tree::name;

const FIRST: &str = "plugtree-v1";

/// The kind of an entry. Directories are not entries: they occur only in the paths of their files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "a new kind is a new scheme")]
pub enum EntryKind {
    /// A file without the owner's execute bit.
    File,
    /// A file with the owner's execute bit.
    Executable,
    /// A symlink.
    Link,
}

impl EntryKind {
    /// Returns the letter of the kind in the list: `f`, `x` or `l`.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::File => 'f',
            Self::Executable => 'x',
            Self::Link => 'l',
        }
    }
}

/// One line of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListLine<'a> {
    /// The kind of the entry.
    pub kind: EntryKind,
    /// The SHA-256 digest of the contents, or of the symlink target.
    pub digest: Digest,
    /// The size of the contents or of the symlink target, in bytes.
    pub size: u64,
    /// The relative path, with `/`.
    pub path: &'a str,
}

impl ListLine<'_> {
    /// Returns the length of the line with its newline, in bytes.
    pub(crate) fn len(&self) -> usize {
        let digits = self.size.checked_ilog10().map_or(0, |log| usize::try_from(log).unwrap_or(0));
        // 70 bytes are the kind, three spaces, 64 hex digits, the first digit of the size, and the newline.
        self.path.len() + digits + 70
    }
}

/// The list of a tree under the scheme `plugtree-v1`: the exact text that is hashed.
///
/// # Guarantees
/// The text is canonical: equal entries and excludes give equal text, and a text that parses renders to itself.
///
/// # Examples
/// ```
/// use plugward_tree_lock::TreeList;
/// let list = TreeList::parse("plugtree-v1\n")?;
/// assert_eq!(list.digest().hex(), "398c6f1a75c17261ae0249426e01a17645fbf9976343d61149c79c55eee854a4");
/// # Ok::<(), plugward_tree_lock::ListError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeList {
    text: String,
    digest: TreeDigest,
}

impl TreeList {
    /// Renders lines. They must be sorted by the bytes of their paths, and the paths must be valid.
    pub(crate) fn render<'a>(exclude: &Excludes, lines: impl Iterator<Item = ListLine<'a>> + Clone) -> Self {
        let head = head(exclude);
        // The exact size is computed first, so that a list of megabytes is not copied while it grows.
        let size = lines.clone().fold(head.len(), |sum, line| sum + line.len());
        let mut text = String::with_capacity(size);
        text.push_str(&head);
        for line in lines {
            push_line(&mut text, &line);
        }
        Self { digest: hash(&text), text }
    }

    /// Returns the offset of the first entry.
    pub(crate) fn first_line(&self) -> usize {
        head(&self.exclude()).len()
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the digest of the text.
    #[must_use]
    pub const fn digest(&self) -> &TreeDigest {
        &self.digest
    }

    /// Parses a stored list.
    ///
    /// # Errors
    /// `tree/list` with the line if the text is not exactly what this crate writes: another first line, a name that
    /// cannot be excluded, an invalid path, entries out of order, or a path that occurs twice or below a file.
    pub fn parse(text: &str) -> Result<Self, ListError> {
        let mut lines = Numbered { rest: text, line: 0 };
        let first = lines.next().ok_or(ListError::new(1, "the line `plugtree-v1`"))??;
        if first != FIRST {
            return Err(ListError::new(1, "the line `plugtree-v1`"));
        }
        let mut names = Vec::new();
        let mut before: Option<String> = None;
        while let Some(line) = lines.next() {
            let line = line?;
            let at = lines.line;
            if let (Some(name), None) = (line.strip_prefix("exclude "), &before) {
                if names.last().is_some_and(|last| *last >= name) {
                    return Err(ListError::new(at, "exclude lines in bytewise order, each once"));
                }
                names.push(name);
                continue;
            }
            let line = parse_line(line).ok_or(ListError::new(at, "`KIND SHA256 SIZE PATH`"))?;
            check_order(before.as_deref(), line.path).map_err(|expected| ListError::new(at, expected))?;
            before = Some(line.path.to_owned());
        }
        let exclude = Excludes::new(names.iter().copied()).map_err(|error| {
            let at = names.iter().position(|name| *name == error.name()).unwrap_or(0);
            ListError::new(at + 2, "a name that may be excluded")
        })?;
        let list = Self { text: text.to_owned(), digest: hash(text) };
        let mut paths = std::collections::BTreeSet::new();
        for (index, line) in list.lines().enumerate() {
            let at = index + 2 + exclude.iter().count();
            let root = line.path.split('/').next().unwrap_or(line.path);
            if exclude.contains(root) {
                return Err(ListError::new(at, "no path that is excluded"));
            }
            if parents(line.path).any(|parent| paths.contains(parent)) {
                return Err(ListError::new(at, "no path below a file or link"));
            }
            paths.insert(line.path);
        }
        Ok(list)
    }

    /// Returns the excluded names.
    #[must_use]
    pub fn exclude(&self) -> Excludes {
        let names = self.text.lines().skip(1).map_while(|line| line.strip_prefix("exclude "));
        Excludes::new(names).unwrap_or_default()
    }

    /// Returns the entries in the order of the list.
    pub fn lines(&self) -> impl Iterator<Item = ListLine<'_>> {
        self.text.lines().skip(1).skip_while(|line| line.starts_with("exclude ")).filter_map(parse_line)
    }
}

fn head(exclude: &Excludes) -> String {
    let mut head = format!("{FIRST}\n");
    for name in exclude.iter() {
        head.push_str("exclude ");
        head.push_str(name);
        head.push('\n');
    }
    head
}

fn hash(text: &str) -> TreeDigest {
    TreeDigest::from_bytes(Sha256::digest(text.as_bytes()).into())
}

fn push_line(text: &mut String, line: &ListLine<'_>) {
    let mut digest = [0_u8; 64];
    for (pair, byte) in digest.chunks_exact_mut(2).zip(line.digest.as_bytes()) {
        pair.copy_from_slice(&hex::digits_of(*byte));
    }
    // Digits are computed from the last one; a `u64` has at most 20. Formatting would allocate for every line.
    let (mut digits, mut rest, mut many) = ([0_u8; 20], line.size, 0_usize);
    for slot in digits.iter_mut().rev() {
        *slot = b"0123456789".get(usize::try_from(rest % 10).unwrap_or(0)).copied().unwrap_or(b'?');
        (rest, many) = (rest / 10, many + 1);
        if rest == 0 {
            break;
        }
    }
    let size = digits.part(digits.len() - many..);
    text.push(line.kind.letter());
    text.push(' ');
    for part in [&digest, &b" "[..], size] {
        text.push_str(valid_head(part));
    }
    text.push(' ');
    text.push_str(line.path);
    text.push('\n');
}

fn parse_line(line: &str) -> Option<ListLine<'_>> {
    let (kind, rest) = line.split_once(' ')?;
    let kind = match kind {
        "f" => EntryKind::File,
        "x" => EntryKind::Executable,
        "l" => EntryKind::Link,
        _ => return None,
    };
    let (digest, rest) = rest.split_once(' ')?;
    let digest: Digest = format!("sha256:{digest}").parse().ok()?;
    let (size, path) = rest.split_once(' ')?;
    // A sign or a leading zero would give the same list a second text.
    let canonical = size.bytes().all(|b| b.is_ascii_digit()) && (size == "0" || !size.starts_with('0'));
    let size = size.parse().ok().filter(|_| canonical)?;
    is_path(path).then_some(ListLine { kind, digest, size, path })
}

fn is_path(path: &str) -> bool {
    name::text(path.as_bytes()).is_some() && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

fn check_order(before: Option<&str>, path: &str) -> Result<(), &'static str> {
    if before.is_some_and(|before| before >= path) {
        return Err("entries in bytewise order of their full paths, each once");
    }
    Ok(())
}

/// Returns the directories above a path, the nearest one last.
pub(crate) fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(at, _)| path.get(..at))
}

/// An iterator over lines that counts them and requires LF at the end of each.
struct Numbered<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Iterator for Numbered<'a> {
    type Item = Result<&'a str, ListError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        self.line += 1;
        let Some((line, rest)) = self.rest.split_once('\n') else {
            return Some(Err(ListError::new(self.line, "a newline at the end")));
        };
        self.rest = rest;
        Some(Ok(line))
    }
}

/// A text that is not a tree list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("parse the tree list: line {line}: expected {expected}")]
pub struct ListError {
    line: usize,
    expected: &'static str,
}

impl ListError {
    const fn new(line: usize, expected: &'static str) -> Self {
        Self { line, expected }
    }

    /// Returns the line of the error, from 1.
    #[must_use]
    pub const fn line(&self) -> usize {
        self.line
    }

    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "tree/list"
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> String {
        format!("use the output of `plugward digest --list`: line {} must be {}", self.line, self.expected)
    }
}
