//! Collects what an adapter finds.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use plugward_manifest::json::{JsonMember, JsonNode, JsonValue};
use plugward_types::{HostName, InstalledId, PlacePath, PluginKey, escape};

use crate::parts::Parts;
use crate::source_file::{SourceFile, Syntax};
use crate::{
    EntryKind, HostEntry, HostInventory, HostState, HostSwitch, Install, InstallContents, InstallKind,
    InstallLayer, InstallProblem, InstallProblemKind, Machine, RecordPlace,
};

/// The inventory of one host while it is read.
pub(crate) struct Collector<'m> {
    pub(crate) machine: &'m Machine<'m>,
    pub(crate) host: HostName,
    pub(crate) home: String,
    installs: Vec<Install>,
    problems: Vec<InstallProblem>,
    // Two records can lead to one directory, and the home can be inside the project.
    known: BTreeMap<(PluginKey, PlacePath), usize>,
}

impl<'m> Collector<'m> {
    pub(crate) fn new(machine: &'m Machine<'m>, host: HostName, home: String) -> Self {
        Self { machine, host, home, installs: Vec::new(), problems: Vec::new(), known: BTreeMap::new() }
    }

    /// Returns the inventory, or `None` if the host is not on this machine and the project has nothing of it.
    pub(crate) fn finish(self) -> Option<HostInventory> {
        let is_here = self.is_directory(&self.home) || !self.installs.is_empty() || !self.problems.is_empty();
        let Self { host, home, installs, problems, .. } = self;
        is_here.then_some(HostInventory { host, home, installs, problems })
    }

    /// Returns the key of an id in this host's records.
    pub(crate) fn key(&self, id: &InstalledId) -> PluginKey {
        PluginKey::Installed { host: self.host.clone(), id: id.clone() }
    }

    /// Returns an install with the most common values: a directory of the user that is on.
    pub(crate) fn install(
        &self,
        key: PluginKey,
        kind: InstallKind,
        place: PlacePath,
        record: RecordPlace,
    ) -> Install {
        Install {
            host: self.host.clone(),
            key,
            kind,
            place,
            contents: InstallContents::Directory,
            version: None,
            state: HostState::On,
            switch: HostSwitch::None,
            layer: InstallLayer::User,
            record,
            is_outside: false,
            marketplace: None,
            former_ids: Vec::new(),
        }
    }

    /// Adds an install, or merges it with one of the same key and place.
    pub(crate) fn add(&mut self, install: Install) {
        match self.known.entry((install.key.clone(), install.place.clone())) {
            Entry::Vacant(entry) => {
                entry.insert(self.installs.len());
                self.installs.push(install);
            }
            Entry::Occupied(entry) => {
                let Some(first) = self.installs.get_mut(*entry.get()) else { return };
                // Of two states the one counts that loads, and of two switches the one that cannot be used.
                first.state = first.state.min(install.state);
                if install.switch == HostSwitch::None {
                    first.switch = HostSwitch::None;
                }
            }
        }
    }

    /// Adds a problem of a row or file; the caller can change the key, state and switch of the result.
    pub(crate) fn problem(
        &mut self,
        kind: InstallProblemKind,
        record: RecordPlace,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Option<&mut InstallProblem> {
        self.problems.push(InstallProblem {
            host: self.host.clone(),
            kind,
            record,
            message: message.into(),
            help: help.into(),
            key: None,
            state: HostState::On,
            switch: HostSwitch::None,
        });
        self.problems.last_mut()
    }

    pub(crate) const fn problem_count(&self) -> usize {
        self.problems.len()
    }

    /// Adds the problem that a file cannot be understood.
    pub(crate) fn unreadable(&mut self, file: &str, pointer: &str, message: impl Into<String>) {
        let help = "restore the file from a backup, or correct it";
        self.problem(InstallProblemKind::Unreadable, place(file, pointer), message, help);
    }

    /// Reads a file, or returns `None` if it does not exist or cannot be used.
    pub(crate) fn open(&mut self, path: &str, syntax: Syntax) -> Option<SourceFile> {
        match self.machine.files.read(path) {
            Ok(bytes) => Some(SourceFile::new(path.to_owned(), bytes?, syntax)),
            Err(fault) => {
                self.problem(InstallProblemKind::Unreadable, place(path, ""), fault.message, fault.help);
                None
            }
        }
    }

    /// Parses a file, or adds a problem.
    pub(crate) fn parse<'f>(&mut self, file: &'f SourceFile) -> Option<JsonNode<'f>> {
        match file.parse() {
            Ok(root) => Some(root),
            Err(message) => {
                self.unreadable(&file.path, "", message);
                None
            }
        }
    }

    /// Returns the members of an object in a file that determines what runs; any other type makes it unreadable.
    pub(crate) fn members<'n, 'f>(
        &mut self,
        file: &str,
        root: &'n JsonNode<'f>,
        key: &str,
    ) -> &'n [JsonMember<'f>] {
        let Some(node) = root.get(key).filter(|node| !node.is_null()) else { return &[] };
        match node.value() {
            JsonValue::Object(members) => members,
            _ => {
                self.wrong_type(file, &format!("/{key}"), node, "an object");
                &[]
            }
        }
    }

    pub(crate) fn wrong_type(&mut self, file: &str, pointer: &str, node: &JsonNode<'_>, expected: &str) {
        self.unreadable(
            file,
            pointer,
            format!("expected {expected} at `{pointer}`, got {}", node.type_name()),
        );
    }

    /// Parses an id, or adds a problem.
    pub(crate) fn id(&mut self, text: &str, record: RecordPlace) -> Option<InstalledId> {
        if let Ok(id) = text.parse() {
            return Some(id);
        }
        let message = format!("expected an id such as `name@market`, got `{}`", shown(text));
        self.problem(
            InstallProblemKind::Id,
            record,
            message,
            "remove this entry: hosts do not write such ids",
        );
        None
    }

    /// Returns the entries of a directory, or nothing if it does not exist or cannot be listed.
    pub(crate) fn entries(&mut self, path: &str) -> Vec<HostEntry> {
        match self.machine.files.list(path) {
            Ok(entries) => entries.unwrap_or_default(),
            Err(fault) => {
                self.problem(InstallProblemKind::Unreadable, place(path, ""), fault.message, fault.help);
                Vec::new()
            }
        }
    }

    /// Returns the names of the directories in a directory, including symlinks to directories.
    pub(crate) fn directories(&mut self, path: &str) -> Vec<String> {
        let entries = self.entries(path).into_iter();
        let names = entries.filter(|entry| match entry.kind {
            EntryKind::Directory => true,
            EntryKind::Symlink => self.is_directory(&join(path, &entry.name)),
            EntryKind::File | EntryKind::Special => false,
        });
        names.map(|entry| entry.name).collect()
    }

    pub(crate) fn is_directory(&self, path: &str) -> bool {
        self.machine.files.kind(path) == Some(EntryKind::Directory)
    }

    pub(crate) fn is_file(&self, path: &str) -> bool {
        self.machine.files.kind(path) == Some(EntryKind::File)
    }

    /// Adds the parts of a settings file, if it has any.
    pub(crate) fn add_parts(&mut self, path: &str, parts: Parts, layer: InstallLayer) {
        let kind = parts.kind();
        let parts = parts.finish();
        if parts.is_empty() {
            return;
        }
        let Some(place_path) = self.machine.files.real(path) else {
            return self.unreadable(
                path,
                "",
                "the path of the file is not UTF-8, or the file has just disappeared",
            );
        };
        let key = PluginKey::Placed(place_path.clone());
        let install = self.install(key, kind, place_path, place(path, ""));
        self.add(Install { contents: InstallContents::Parts(parts), layer, ..install });
    }

    /// Returns the path of an environment variable, or the default relative to the user's home directory.
    pub(crate) fn home_of(machine: &Machine<'_>, variable: &str, default: &str) -> String {
        match machine.environment.get(variable).filter(|value| !value.is_empty()) {
            Some(value) => absolute(machine, value),
            None => join(machine.home, default),
        }
    }

    /// Returns the directories in which a host can look for the files of a project, from the project down.
    pub(crate) fn project_directories(&self) -> Vec<String> {
        let machine = self.machine;
        let Some(project) = machine.project.or(machine.directory) else { return Vec::new() };
        let mut directories = vec![project.as_str().to_owned()];
        let below = machine
            .directory
            .and_then(|directory| directory.relative_to(project))
            .filter(|rest| *rest != ".");
        for part in below.into_iter().flat_map(|rest| rest.split('/')) {
            let last = directories.last().map(|last| join(last, part));
            directories.extend(last);
        }
        directories
    }
}

/// Returns a place in a record.
pub(crate) fn place(file: &str, pointer: &str) -> RecordPlace {
    RecordPlace { file: file.to_owned(), pointer: pointer.to_owned() }
}

/// Returns the path of an entry of a directory.
pub(crate) fn join(directory: &str, name: &str) -> String {
    format!("{}/{name}", directory.trim_end_matches('/'))
}

/// Resolves a path against the working directory, or the home directory if it starts with `~`.
pub(crate) fn absolute(machine: &Machine<'_>, path: &str) -> String {
    match (path.strip_prefix('~'), machine.directory) {
        (Some(rest), _) if rest.is_empty() || rest.starts_with('/') => format!("{}{rest}", machine.home),
        (_, Some(directory)) if !path.starts_with('/') => join(directory.as_str(), path),
        _ => path.to_owned(),
    }
}

/// Returns a text of a record for a message: one line, at most 128 characters.
pub(crate) fn shown(text: &str) -> String {
    let short: String = text.chars().take(128).collect();
    let ellipsis = if short.len() < text.len() { "…" } else { "" };
    format!("{}{ellipsis}", escape::line(&short))
}

/// Returns a JSON pointer (RFC 6901) with one more step.
pub(crate) fn step(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", shown(key).replace('~', "~0").replace('/', "~1"))
}
