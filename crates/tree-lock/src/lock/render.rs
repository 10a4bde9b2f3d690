//! PLUGINS.lock, written: the same entries give the same bytes.

use super::file::LockFile;

const HEAD: &str = "# PLUGINS.lock: integrity check, written by `plugward lock`. Not a signature: review changes to it.\nversion = 1\n";

impl LockFile {
    /// Writes the file: UTF-8, LF, tables sorted by id, keys in a fixed order, no times, hosts or absolute paths.
    ///
    /// # Guarantees
    /// Equal entries give equal bytes, and [`LockFile::parse`] of them gives equal entries. Comments that somebody
    /// wrote into a file are not kept. A list with several elements has one a line, so that texts merge.
    #[must_use]
    pub fn render(&self) -> String {
        let mut out = String::from(HEAD);
        for (id, entry) in self.entries() {
            line(&mut out, &format!("[plugin.{}]", quoted(id.as_str())));
            pair(&mut out, "path", &quoted(&entry.path));
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
            if let Some(manifest) = &entry.manifest {
                pair(&mut out, "manifest", &quoted(&manifest.to_string()));
            }
            if let Some(merged) = &entry.entry {
                pair(&mut out, "entry", &quoted(&merged.to_string()));
            }
            list(&mut out, "tree", entry.tree.iter().map(ToString::to_string));
            list(&mut out, "exclude", entry.exclude.iter().map(str::to_owned));
            list(&mut out, "executable", entry.executable.iter().cloned());
            if !entry.shared.is_empty() {
                let parts = entry.shared.iter();
                let parts: Vec<_> = parts
                    .map(|(name, tree)| format!("{} = {}", quoted(name), quoted(&tree.to_string())))
                    .collect();
                pair(&mut out, "shared", &format!("{{ {} }}", parts.join(", ")));
            }
            if let Some(surface) = &entry.surface {
                pair(&mut out, "surface", &quoted(&surface.to_string()));
            }
            list(&mut out, "launchers", entry.launchers.iter().cloned());
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

/// Writes a TOML basic string. What does not show, or turns the direction of text, is written as an escape.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len().saturating_add(2));
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if crate::escape::is_hidden(c) => out.extend(format!("\\U{:08X}", u32::from(c)).chars()),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
