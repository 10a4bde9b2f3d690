//! Properties that apply to any bytes.

use std::collections::BTreeMap;

use plugward_installs::{
    EntryKind, HostEntry, HostFiles, HostInventory, HostTable, InstallContents, Machine, ReadFault, read_host,
};
use plugward_types::{PlacePath, PluginKey};

/// A machine on which every path exists. The texts between NUL bytes are the contents of the files.
struct Texts<'a> {
    files: &'a [&'a str],
    texts: Vec<&'a [u8]>,
}

impl HostFiles for Texts<'_> {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, ReadFault> {
        let at = self.files.iter().position(|file| path.ends_with(file));
        Ok(at.and_then(|at| self.texts.get(at)).map(|text| text.to_vec()))
    }

    fn list(&self, path: &str) -> Result<Option<Vec<HostEntry>>, ReadFault> {
        // Directories are nested, but not without end.
        let deep = path.matches('/').count() > 6;
        let entry = |name: &str, kind| HostEntry { name: name.to_owned(), kind };
        let entries = vec![entry("a", EntryKind::Directory), entry("a b", EntryKind::Symlink)];
        Ok((!deep).then_some(entries))
    }

    fn real(&self, path: &str) -> Option<PlacePath> {
        PlacePath::new(path).ok()
    }

    fn kind(&self, path: &str) -> Option<EntryKind> {
        let is_file = self.files.iter().any(|file| path.ends_with(file));
        Some(if is_file { EntryKind::File } else { EntryKind::Directory })
    }
}

pub(crate) fn claude(bytes: &[u8]) {
    let files = [
        "/installed_plugins.json",
        "/.claude/settings.json",
        "/known_marketplaces.json",
        "/marketplace.json",
        "/.claude.json",
        "/.mcp.json",
        "/plugin.json",
    ];
    read(&["claude"], &files, bytes);
}

pub(crate) fn codex(bytes: &[u8]) {
    read(&["codex"], &["/config.toml", "/hooks.json"], bytes);
}

pub(crate) fn gemini(bytes: &[u8]) {
    let files = [
        "/settings.json",
        "/extension-enablement.json",
        "/.gemini-extension-install.json",
        "/gemini-extension.json",
    ];
    read(&["gemini"], &files, bytes);
}

pub(crate) fn directory_hosts(bytes: &[u8]) {
    let hosts = ["copilot", "cursor", "vscode", "opencode", "pi", "qwen", "kimi", "droid"];
    let files = [
        "/mcp-config.json",
        "/mcp.json",
        "/hooks.json",
        "/settings.json",
        "/config.json",
        "/installed.json",
        "/installed_plugins.json",
        "/opencode.json",
    ];
    read(&hosts, &files, bytes);
}

/// Formats that are rewritten as JSON.
pub(crate) fn other_formats(bytes: &[u8]) {
    read(
        &["goose", "hermes", "openclaw", "kimi"],
        &["/config.yaml", "/openclaw.json", "/config.toml"],
        bytes,
    );
}

fn read(hosts: &[&str], files: &[&str], bytes: &[u8]) {
    let environment = BTreeMap::from([("CLAUDE_CODE_PLUGIN_SEED_DIR".to_owned(), "/seed".to_owned())]);
    let project = PlacePath::new("/home/u/site").ok();
    let texts = Texts { files, texts: bytes.splitn(files.len(), |byte| *byte == 0).collect() };
    let machine = Machine {
        home: "/home/u",
        environment: &environment,
        project: project.as_ref(),
        directory: project.as_ref(),
        nested: &[],
        unsearched: &[],
        files: &texts,
    };
    let table = HostTable::compiled().unwrap();
    for found in hosts.iter().filter_map(|host| read_host(table.row(host)?, &machine)) {
        check(&found);
    }
}

/// Keys and parts can be stored, and messages can be printed.
fn check(found: &HostInventory) {
    for install in &found.installs {
        assert_eq!(install.key.to_string().parse::<PluginKey>().as_ref(), Ok(&install.key));
        if let InstallContents::Parts(parts) = &install.contents {
            assert!(!parts.current.is_empty() || !install.findings.is_empty());
            assert!(
                parts.current.iter().all(|part| part.bytes.starts_with(b"{\"") && part.bytes.ends_with(b"}"))
            );
        }
    }
    for problem in &found.problems {
        let text = format!("{}{}{}", problem.message, problem.help, problem.record.pointer);
        assert!(!text.chars().any(char::is_control), "{text:?}");
    }
}
