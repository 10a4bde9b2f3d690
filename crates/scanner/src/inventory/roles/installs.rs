//! Directories of the plugin that a command installs or builds, and the files in them that run then.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use plugward_types::Part;

use super::references::Target;
use crate::scan::entry::Entry;

/// Words of commands that install or build a directory.
const INSTALLERS: &[&str] = &[
    "install ",
    "install\"",
    "install'",
    "npm i ",
    "npm ci",
    "pnpm i ",
    " add ",
    "uvx ",
    "uv run",
    "pipx run",
    "make -C",
    "make --dir",
    "go run ",
    "cargo run",
    "cargo build",
    "npx ",
    "bunx ",
    "file:",
];
/// Files that a package manager or a build tool runs, or that name what it runs.
const BUILD_FILES: &[&str] = plugward_types::words![
    "CMakeLists.txt GNUmakefile Justfile Makefile Rakefile binding.gyp build.gradle build.rs build.zig composer.json configure",
    "extconf.rb justfile makefile noxfile.py package.json pom.xml pyproject.toml setup.cfg setup.py",
];
/// Options whose value is a directory.
const OPTIONS: &[&[u8]] = plugward_types::byte_words![
    "-C -e -f --cwd --dir --directory --editable --from --path --prefix --project cd"
];
/// The part of a line around the word that is read. Bundles have lines of megabytes.
const BEFORE: usize = 200;
const AFTER: usize = 400;

/// The build files of a plugin, by directory.
pub(super) struct Builds<'a> {
    files: Vec<(&'a str, usize)>,
}

impl<'a> Builds<'a> {
    pub(super) fn new(entries: &'a [Entry<'a>]) -> Self {
        let files = entries.iter().zip(0..).filter_map(|(entry, at)| {
            let (directory, name) = entry.path.rsplit_once('/')?;
            (BUILD_FILES.contains(&name) || name.ends_with(".gemspec")).then_some((directory, at))
        });
        Self { files: files.collect() }
    }

    /// Adds the build files of the directories that a text installs.
    pub(super) fn installed(&self, text: &[u8], out: &mut BTreeSet<Target>) {
        static SEARCH: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(INSTALLERS).ok());
        let Some(search) = SEARCH.as_ref().filter(|_| !self.files.is_empty()) else { return };
        let mut read = 0;
        for found in search.find_iter(text) {
            let before = text.head(found.start()).rest(found.start().saturating_sub(BEFORE).max(read));
            let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at.saturating_add(1));
            let after = text.rest(found.start()).head(AFTER);
            let end = memchr::memchr(b'\n', after).unwrap_or(after.len());
            read = found.end();
            self.words(&[before.rest(start), after.head(end)].concat(), out);
        }
    }

    /// Adds the build files of the directories among the words of a command.
    pub(super) fn words(&self, line: &[u8], out: &mut BTreeSet<Target>) {
        let is_gap = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`,;()[]|=".contains(byte);
        let mut is_value = false;
        for word in line.split(is_gap).filter(|word| !word.is_empty()) {
            let is_path = is_value || word.contains(&b'/') || word.starts_with(b"file:");
            is_value = OPTIONS.contains(&word);
            let word = word.strip_prefix(b"-C").unwrap_or(word);
            let word = word.strip_prefix(b"file:").unwrap_or(word);
            // `${ROOT}/vendor/x`: the variable can be any directory.
            let word = if word.starts_with(b"$") || word.starts_with(b"~") {
                memchr::memchr(b'/', word).map_or(&b""[..], |at| word.part(at.saturating_add(1)..))
            } else {
                word
            };
            let Ok(path) = core::str::from_utf8(word) else { continue };
            let path = path.rsplit("../").next().unwrap_or(path);
            let path = path.trim_start_matches("./").trim_end_matches("...").trim_matches('/');
            if !is_path || !path.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
                continue;
            }
            let inside = format!("/{path}/");
            for (directory, at) in &self.files {
                if format!("/{directory}/").contains(&inside) {
                    out.insert(Target { entry: *at, runs: true });
                }
            }
        }
    }
}
