//! What a plugin runs outside its own directory, and what its text leaves open.

use plugward_types::{Digest, TreeDigest};

use crate::report::UnresolvedReport;

/// The closure of a plugin or settings file, and its unresolved commands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ClosureFacts {
    /// The digest of the files outside the plugin that can run; `None` if there are none.
    pub(crate) digest: Option<TreeDigest>,
    /// The commands whose text does not determine what runs.
    pub(crate) unresolved: Vec<UnresolvedCommand>,
}

/// A command whose text does not determine what runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnresolvedCommand {
    /// The SHA-256 of the command's text before masking.
    pub(crate) digest: Digest,
    /// The file that contains the command.
    pub(crate) place: String,
    /// The line in that file, from 1.
    pub(crate) line: u64,
    /// The word that is open.
    pub(crate) word: String,
}

impl UnresolvedCommand {
    pub(crate) fn report(&self) -> UnresolvedReport {
        let Self { digest, place, line, word } = self;
        UnresolvedReport { command: digest.to_string(), path: place.clone(), line: *line, word: word.clone() }
    }
}

/// Returns the list of a closure with paths for a person. A path inside the row's directory starts with `./`, so that no
/// part of a settings file has the same one.
#[must_use]
pub fn closure_paths(list: &str) -> String {
    let mut text = String::with_capacity(list.len());
    for row in list.lines() {
        // Kind, digest and size contain no spaces; the rest of the row is the name.
        let at = row.match_indices(' ').nth(2).map_or(0, |(at, _)| at.saturating_add(1));
        let Some((columns, name)) = row.split_at_checked(at).filter(|_| at > 0) else {
            text.push_str(&format!("{row}\n"));
            continue;
        };
        let name = name.replace("%2E%2E/", "../");
        let path = match name.strip_prefix("%/") {
            Some(rest) => format!("/{rest}"),
            None if name.starts_with("../") || name.starts_with("~/") => name,
            None => format!("./{name}"),
        };
        text.push_str(&format!("{columns}{path}\n"));
    }
    text
}
