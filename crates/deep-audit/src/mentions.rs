//! Which files mention which: by file name, and files of code also by the name without its extension.

use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::AhoCorasick;

use crate::subject::{AuditFile, AuditedFile, name_of};

/// The most matches per byte of a file, since names can contain one another.
const MATCHES_PER_BYTE: usize = 8;

/// The files that each file mentions, by index.
pub(crate) struct Mentions {
    mentioned: Vec<BTreeSet<usize>>,
    /// The files that mention a removed one.
    of_removed: BTreeSet<usize>,
}

/// A name that is looked for. A name without its extension is often an ordinary word, so it counts only in code, and only
/// as a whole word.
struct SearchedName<'a> {
    text: &'a str,
    /// The index of the file, or `None` for a removed one.
    file: Option<usize>,
    is_word: bool,
}

impl Mentions {
    pub(crate) fn new(files: &[&AuditFile<'_>], removed: &[&AuditedFile]) -> Self {
        let mut names: Vec<SearchedName<'_>> = Vec::new();
        for (index, file) in files.iter().enumerate() {
            let name = file.name();
            names.push(SearchedName { text: name, file: Some(index), is_word: false });
            let stem = name.rsplit_once('.').map_or("", |(stem, _)| stem);
            if file.has_code_extension() && !stem.is_empty() {
                names.push(SearchedName { text: stem, file: Some(index), is_word: true });
            }
        }
        let removed = removed.iter().map(|file| name_of(&file.path));
        names.extend(removed.map(|text| SearchedName { text, file: None, is_word: false }));
        let mut mentions =
            Self { mentioned: vec![BTreeSet::new(); files.len()], of_removed: BTreeSet::new() };
        // Files often share a name, such as `index.js`.
        let mut by_text: BTreeMap<&str, Vec<&SearchedName<'_>>> = BTreeMap::new();
        for name in names.iter().filter(|name| !name.text.is_empty()) {
            by_text.entry(name.text).or_default().push(name);
        }
        let groups: Vec<&Vec<&SearchedName<'_>>> = by_text.values().collect();
        match AhoCorasick::new(by_text.keys()) {
            Ok(search) => mentions.search(files, &groups, &search),
            // Only names of gigabytes exceed the limits of the automaton. Each file then counts as mentioned.
            Err(_) => mentions.mentioned.fill((0..files.len()).collect()),
        }
        mentions
    }

    fn search(&mut self, files: &[&AuditFile<'_>], groups: &[&Vec<&SearchedName<'_>>], search: &AhoCorasick) {
        for (index, (file, mentioned)) in files.iter().zip(&mut self.mentioned).enumerate() {
            let bytes = file.text().unwrap_or_default().as_bytes();
            let mut seen = BTreeSet::new();
            let mut left = bytes.len().saturating_mul(MATCHES_PER_BYTE);
            let is_inside = |at: Option<usize>| {
                at.and_then(|at| bytes.get(at))
                    .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            };
            for found in search.find_overlapping_iter(bytes) {
                let is_word = file.has_code_extension()
                    && !is_inside(found.start().checked_sub(1))
                    && !is_inside(Some(found.end()));
                left = left.saturating_sub(1);
                if left == 0 {
                    // The file repeats the names of many files. It then counts as mentioning all of them.
                    mentioned.extend(0..files.len());
                    break;
                }
                let pattern = found.pattern().as_usize();
                if !seen.insert((pattern, is_word)) {
                    continue;
                }
                let group = groups.get(pattern).into_iter().copied().flatten();
                for name in group.filter(|name| is_word || !name.is_word) {
                    match name.file {
                        Some(file) => mentioned.insert(file),
                        None => self.of_removed.insert(index),
                    };
                }
            }
        }
    }

    /// Returns `true` if one of some files mentions a file.
    pub(crate) fn is_mentioned(&self, file: usize, by: impl Fn(usize) -> bool) -> bool {
        self.mentioned.iter().enumerate().any(|(index, mentioned)| by(index) && mentioned.contains(&file))
    }

    /// Returns the changed files, the files that mention a changed or removed one, and those that a changed one mentions.
    pub(crate) fn around(&self, changed: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mut around: BTreeSet<usize> = changed.union(&self.of_removed).copied().collect();
        for (index, mentioned) in self.mentioned.iter().enumerate() {
            if changed.contains(&index) {
                around.extend(mentioned);
            }
            if !mentioned.is_disjoint(changed) {
                around.insert(index);
            }
        }
        around
    }
}
