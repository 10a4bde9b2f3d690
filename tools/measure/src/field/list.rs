//! The list of repositories.
#![expect(clippy::disallowed_types, reason = "directories that the user names")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;

use xtask::text;

const FILE: &str = "benches/field.tsv";
const HEADER: &str = "repository\tcommit\tsplit";

/// The use of a repository: rules are tuned on one half, and their result is measured on the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Split {
    /// Rules may be changed because of these findings
    Tune,
    /// Only measured
    Check,
}

impl Split {
    /// Both splits, in the order of the tables.
    pub(crate) const ALL: [Self; 2] = [Self::Tune, Self::Check];

    /// Returns the word in the list.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Tune => "tune",
            Self::Check => "check",
        }
    }

    /// Returns the split that a word names.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|split| split.as_str() == word)
    }
}

/// One line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    /// `OWNER/NAME` on github.com.
    pub(crate) name: String,
    pub(crate) commit: String,
    pub(crate) split: Split,
}

impl Repository {
    /// Returns the name of its directory in a corpus.
    pub(crate) fn directory(&self) -> String {
        self.name.replacen('/', "+", 1)
    }

    /// Returns its directory in a corpus.
    pub(crate) fn path(&self, corpus: &Path) -> PathBuf {
        corpus.join(self.directory())
    }

    /// Returns the file next to the directory that names the fetched commit.
    pub(crate) fn commit_file(&self, corpus: &Path) -> PathBuf {
        corpus.join(format!("{}.commit", self.directory()))
    }

    /// Returns its state in a corpus.
    pub(crate) fn presence(&self, corpus: &Path) -> Presence {
        if !self.path(corpus).is_dir() {
            return Presence::Absent;
        }
        #[expect(clippy::disallowed_methods, reason = "reads what `field fetch` wrote")]
        let commit = std::fs::read_to_string(self.commit_file(corpus)).unwrap_or_default();
        match commit.trim() {
            commit if commit == self.commit => Presence::Fetched,
            "" => Presence::Other("no known commit".to_owned()),
            commit => Presence::Other(format!("commit {commit}")),
        }
    }
}

/// The state of a repository in a corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Presence {
    /// The listed commit is there.
    Fetched,
    /// The directory does not exist.
    Absent,
    /// The directory has another commit, which is named.
    Other(String),
}

/// Reads the list.
pub(crate) fn read() -> Result<Vec<Repository>> {
    parse(&text(FILE)?).context(FILE)
}

/// Parses a list: a header, then sorted lines of repository, commit and split.
fn parse(text: &str) -> Result<Vec<Repository>> {
    let mut lines = text.lines();
    if lines.next() != Some(HEADER) {
        bail!("the first line is not `{}`", HEADER.escape_default());
    }
    let repositories: Vec<Repository> =
        lines.map(|line| parse_line(line).with_context(|| format!("in `{line}`"))).collect::<Result<_>>()?;
    if !repositories.is_sorted_by(|one, next| one.name < next.name) {
        bail!("the repositories are not sorted, or one is listed twice");
    }
    let directories: BTreeSet<String> =
        repositories.iter().map(|one| one.directory().to_lowercase()).collect();
    if directories.len() != repositories.len() {
        bail!("the names of two repositories differ only in case");
    }
    Ok(repositories)
}

fn parse_line(line: &str) -> Result<Repository> {
    let [name, commit, split] = line.split('\t').collect::<Vec<_>>()[..] else {
        bail!("expected three fields, separated by tabs");
    };
    let is_part = |part: &str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        !part.is_empty() && !part.starts_with(['.', '-']) && part.chars().all(allowed)
    };
    if !name.split_once('/').is_some_and(|(owner, name)| is_part(owner) && is_part(name)) {
        bail!("`{name}` is not of the form OWNER/NAME");
    }
    if commit.len() != 40 || !commit.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        bail!("`{commit}` is not a full commit id");
    }
    let split = Split::from_word(split).with_context(|| format!("`{split}` is neither tune nor check"))?;
    Ok(Repository { name: name.to_owned(), commit: commit.to_owned(), split })
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn the_list_of_this_repository_is_valid() {
        let repositories = read().unwrap();
        assert!(repositories.len() >= 30);
        for split in Split::ALL {
            assert!(repositories.iter().any(|one| one.split == split));
        }
    }

    #[test]
    fn a_line_has_repository_commit_and_split() {
        let list = parse(&format!("{HEADER}\na/b.c\t{COMMIT}\ttune\nb/b\t{COMMIT}\tcheck\n")).unwrap();
        assert_eq!(list.len(), 2);
        assert_eq!((list[0].directory().as_str(), list[1].split), ("a+b.c", Split::Check));
    }

    #[test]
    fn bad_lists_are_refused() {
        for (lines, message) in [
            ("a/b\tC\ttune\n".replace('C', &COMMIT[1..]), "full commit id"),
            (format!("a/b\t{COMMIT}\tother\n"), "neither tune nor check"),
            (format!("a/b\t{COMMIT}\n"), "three fields"),
            (format!("../b\t{COMMIT}\ttune\n"), "OWNER/NAME"),
            (format!("a/b/c\t{COMMIT}\ttune\n"), "OWNER/NAME"),
            (format!("b/b\t{COMMIT}\ttune\na/b\t{COMMIT}\ttune\n"), "not sorted"),
            (format!("A/b\t{COMMIT}\ttune\na/b\t{COMMIT}\ttune\n"), "only in case"),
        ] {
            let error = format!("{:#}", parse(&format!("{HEADER}\n{lines}")).unwrap_err());
            assert!(error.contains(message), "{error}");
        }
        assert!(parse("").is_err());
    }
}
