//! Writing PLUGINS.lock: equal entries give equal bytes.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use plugward_types::escape;

use super::file::LockFile;

const HEAD: &str =
    "# Written by `plugward lock`. An integrity check, not a signature: review every change to this file.\n";

impl LockFile {
    /// Renders the file in version 3 if an entry has a key that only that version has, else in version 2.
    ///
    /// The text is UTF-8 with LF. Tables are sorted by path and keys have a fixed order. It contains no times, host
    /// names or absolute paths. Each element of a longer list is on a line of its own, so that version control can
    /// merge changes. Comments of a parsed file are not kept.
    ///
    /// # Guarantees
    /// Equal entries give equal bytes, and [`LockFile::parse`] of those bytes gives equal entries.
    #[must_use]
    pub fn render(&self) -> String {
        let is_of_version_3 = self.entries().any(|(_, entry)| entry.needs_version_3());
        let mut out = format!("{HEAD}version = {}\n", if is_of_version_3 { 3 } else { 2 });
        for (path, entry) in self.entries() {
            line(&mut out, &format!("[plugin.{}]", quoted(path)));
            if !entry.dialects.is_empty() {
                let dialects: Vec<_> = entry.dialects.iter().map(|dialect| quoted(dialect)).collect();
                pair(&mut out, "dialects", &format!("[{}]", dialects.join(", ")));
            }
            if let Some(source) = &entry.source {
                let mut parts = vec![format!("kind = {}", quoted(&source.kind))];
                let rest = [("url", &source.url), ("rev", &source.rev), ("path", &source.path)];
                let rest = rest.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?)));
                parts.extend(rest.map(|(key, value)| format!("{key} = {}", quoted(value))));
                pair(&mut out, "source", &format!("{{ {} }}", parts.join(", ")));
            }
            if let Some(version) = &entry.version {
                pair(&mut out, "version", &quoted(version));
            }
            digests(
                &mut out,
                "manifest",
                entry.manifest.iter().map(|(dialect, digest)| (key(dialect), digest)),
            );
            if let Some(merged) = &entry.entry {
                pair(&mut out, "entry", &quoted(&merged.to_string()));
            }
            list(&mut out, "tree", entry.tree.iter().map(ToString::to_string));
            list(&mut out, "exclude", entry.exclude.iter().map(str::to_owned));
            list(&mut out, "executable", entry.executable.iter().cloned());
            digests(&mut out, "shared", entry.shared.iter().map(|(name, tree)| (quoted(name), tree)));
            if let Some(surface) = &entry.surface {
                pair(&mut out, "surface", &quoted(&surface.to_string()));
            }
            list(&mut out, "launchers", entry.launchers.iter().cloned());
            if let Some(closure) = &entry.closure {
                pair(&mut out, "closure", &quoted(&closure.to_string()));
            }
            list(&mut out, "unresolved", entry.unresolved.iter().map(ToString::to_string));
            if !entry.files.is_empty() {
                // A table of its own, since an inline one has a single line.
                line(&mut out, &format!("[plugin.{}.files]", quoted(path)));
                for (name, digest) in &entry.files {
                    pair(&mut out, &quoted(name), &quoted(&digest.to_string()));
                }
            }
        }
        out
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

fn pair(out: &mut String, key: &str, value: &str) {
    line(out, &format!("{key} = {value}"));
}

/// Writes an inline table of digests, unless it is empty.
fn digests<T: ToString>(out: &mut String, name: &str, values: impl Iterator<Item = (String, T)>) {
    let parts: Vec<_> =
        values.map(|(key, digest)| format!("{key} = {}", quoted(&digest.to_string()))).collect();
    if !parts.is_empty() {
        pair(out, name, &format!("{{ {} }}", parts.join(", ")));
    }
}

/// Renders a key of an inline table, quoted only if TOML requires it.
fn key(name: &str) -> String {
    let is_bare = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    if !name.is_empty() && name.bytes().all(is_bare) { name.to_owned() } else { quoted(name) }
}

fn list(out: &mut String, key: &str, values: impl Iterator<Item = String>) {
    let values: Vec<_> = values.map(|value| quoted(&value)).collect();
    match values.as_slice() {
        [] => {}
        [one] => pair(out, key, &format!("[{one}]")),
        several => {
            line(out, &format!("{key} = ["));
            for value in several {
                line(out, &format!("  {value},"));
            }
            line(out, "]");
        }
    }
}

/// Renders a TOML basic string. Invisible and bidirectional characters are escaped.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if escape::is_hidden(c) => out.extend(format!("\\U{:08X}", u32::from(c)).chars()),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
