//! Collects what an adapter finds.

use std::collections::BTreeMap;

use plugward_commands::PathText;
use plugward_manifest::json::{JsonMember, JsonNode};
use plugward_types::{HostName, InstalledId, PlacePath, PluginKey, escape, pointer};

use crate::judge::{ENVIRONMENT_LIMIT, Judge};
use crate::parts::Parts;
use crate::pattern::SEARCHED;
use crate::source_file::{SourceFile, Syntax};
use crate::table::HostRow;
use crate::{
    EntryKind, HostEntry, HostInventory, HostState, HostSwitch, Install, InstallContents, InstallKind,
    InstallLayer, InstallProblem, InstallProblemKind, Machine, ReadFault, RecordPlace,
    project_directory_names,
};

/// The inventory of one host while it is read.
pub(crate) struct Collector<'m> {
    pub(crate) machine: &'m Machine<'m>,
    pub(crate) host: HostName,
    pub(crate) home: String,
    pub(crate) row: &'m HostRow,
    installs: Vec<Install>,
    problems: Vec<InstallProblem>,
    // Two records can lead to one directory, and the home can be inside the project.
    // The place comes first, because two places are compared faster than two keys.
    known: BTreeMap<(PlacePath, PluginKey), usize>,
    // One file can be read in several roles, for example if `.mcp.json` is a symlink to the settings.
    parts: BTreeMap<PlacePath, Parts>,
    /// The directories that patterns may still be looked for in.
    pub(crate) left_to_search: usize,
}

impl<'m> Collector<'m> {
    pub(crate) fn new(machine: &'m Machine<'m>, host: HostName, home: String, row: &'m HostRow) -> Self {
        let (installs, problems) = (Vec::new(), Vec::new());
        let (known, parts) = (BTreeMap::new(), BTreeMap::new());
        Self { machine, host, home, row, installs, problems, known, parts, left_to_search: SEARCHED }
    }

    /// Returns the inventory, or `None` if the host is not on this machine and the project has nothing of it.
    pub(crate) fn finish(self) -> Option<HostInventory> {
        let is_here = self.is_here();
        let Self { host, home, installs, problems, .. } = self;
        is_here.then_some(HostInventory { host, home, installs, problems })
    }

    /// Returns `true` if the host is on this machine, or the project has something of it.
    pub(crate) fn is_here(&self) -> bool {
        self.is_directory(&self.home) || !self.installs.is_empty() || !self.problems.is_empty()
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
            directory: None,
            environment: Vec::new(),
            findings: Vec::new(),
            loosens: Vec::new(),
        }
    }

    /// Adds an install, or merges it with one of the same key and place.
    pub(crate) fn add(&mut self, install: Install) {
        let key = (install.place.clone(), install.key.clone());
        let Some(first) = self.known.get(&key).and_then(|at| self.installs.get_mut(*at)) else {
            self.known.insert(key, self.installs.len());
            self.installs.push(install);
            return;
        };
        // Of two states the one counts that loads, and of two switches the one that cannot be used.
        first.state = first.state.min(install.state);
        if install.switch == HostSwitch::None {
            first.switch = HostSwitch::None;
        }
        if matches!(
            (&first.contents, &install.contents),
            (InstallContents::Parts(_), InstallContents::Parts(_))
        ) {
            (first.kind, first.contents) = (install.kind, install.contents);
            (first.environment, first.findings) = (install.environment, install.findings);
            first.loosens = install.loosens;
        }
    }

    /// Returns a problem with the most common values: it concerns no single plugin.
    pub(crate) fn draft(
        &self,
        kind: InstallProblemKind,
        record: RecordPlace,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> InstallProblem {
        let (host, message, help) = (self.host.clone(), message.into(), help.into());
        let (state, switch) = (HostState::On, HostSwitch::None);
        InstallProblem { host, kind, record, message, help, key: None, state, switch }
    }

    pub(crate) fn report(&mut self, problem: InstallProblem) {
        self.problems.push(problem);
    }

    /// Adds the problem that a file cannot be understood.
    pub(crate) fn unreadable(&mut self, file: &str, pointer: &str, message: impl Into<String>) {
        let fault = ReadFault::new(message, "restore the file from a backup, or correct it");
        self.fault(file, pointer, fault);
    }

    pub(crate) fn fault(&mut self, file: &str, pointer: &str, fault: ReadFault) {
        let record = place(file, pointer);
        let problem = self.draft(InstallProblemKind::Unreadable, record, fault.message, fault.help);
        // The row and the reader of a host can need the same file.
        let is_known = |one: &&InstallProblem| {
            one.kind == InstallProblemKind::Unreadable && one.record == problem.record
        };
        if self.problems.iter().find(is_known).is_none_or(|known| *known != problem) {
            self.report(problem);
        }
    }

    /// Reads a file, or returns `None` if it does not exist or cannot be used.
    pub(crate) fn open(&mut self, path: &str, syntax: Syntax) -> Option<SourceFile> {
        let read = self.machine.files.read(path);
        let bytes = read.map_err(|fault| self.fault(path, "", fault)).ok()??;
        Some(SourceFile::new(path.to_owned(), bytes, syntax))
    }

    /// Parses a file, or adds a problem.
    pub(crate) fn parse<'f>(&mut self, file: &'f SourceFile) -> Option<JsonNode<'f>> {
        file.parse().map_err(|message| self.unreadable(&file.path, "", message)).ok()
    }

    /// Returns the members of an object in a file that determines what runs; any other type makes it unreadable.
    pub(crate) fn members<'n, 'f>(
        &mut self,
        file: &str,
        root: &'n JsonNode<'f>,
        key: &str,
    ) -> &'n [JsonMember<'f>] {
        let Some(node) = root.get(key).filter(|node| !node.is_null()) else { return &[] };
        node.members().unwrap_or_else(|| {
            self.wrong_type(file, &format!("/{key}"), node, "an object");
            &[]
        })
    }

    pub(crate) fn wrong_type(&mut self, file: &str, pointer: &str, node: &JsonNode<'_>, expected: &str) {
        let message = format!("expected {expected} at `{pointer}`, got {}", node.type_name());
        self.unreadable(file, pointer, message);
    }

    /// Parses an id, or adds a problem.
    pub(crate) fn id(&mut self, text: &str, record: RecordPlace) -> Option<InstalledId> {
        if let Ok(id) = text.parse() {
            return Some(id);
        }
        let message = format!("expected an id such as `name@market`, got `{}`", shown(text));
        let help = "remove this entry: hosts do not write such ids";
        self.report(self.draft(InstallProblemKind::Id, record, message, help));
        None
    }

    /// Returns the entries of a directory, or nothing if it does not exist or cannot be listed.
    pub(crate) fn entries(&mut self, path: &str) -> Vec<HostEntry> {
        let listed = self.machine.files.list(path);
        listed.map_err(|fault| self.fault(path, "", fault)).ok().flatten().unwrap_or_default()
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

    /// Reads a file and adds the parts that `fill` takes from it, if there are any.
    pub(crate) fn parts_file(
        &mut self,
        path: &str,
        syntax: Syntax,
        layer: InstallLayer,
        fill: impl FnOnce(&mut Self, &JsonNode<'_>, &mut Parts),
    ) {
        let Some(file) = self.open(path, syntax).filter(|file| !file.is_blank()) else { return };
        self.source_parts(&file, layer, fill);
    }

    /// Parses a file and adds the parts that `fill` takes from it, if there are any.
    pub(crate) fn source_parts(
        &mut self,
        file: &SourceFile,
        layer: InstallLayer,
        fill: impl FnOnce(&mut Self, &JsonNode<'_>, &mut Parts),
    ) {
        let Some(root) = self.parse(file) else { return };
        let mut parts = Parts::default();
        fill(self, &root, &mut parts);
        self.add_parts(file, layer, parts);
    }

    /// Reads a file of text and adds the parts that `fill` takes from it. A file over the limit is unreadable.
    pub(crate) fn text_file(
        &mut self,
        path: &str,
        layer: InstallLayer,
        limit: usize,
        fill: impl FnOnce(&mut Self, &str, &mut Parts),
    ) {
        let Some(file) = self.open(path, Syntax::Text) else { return };
        let text = match file.text() {
            Ok(text) if text.len() <= limit => text,
            Ok(text) => {
                let message = format!("has {} bytes, at most {limit} are read", text.len());
                return self.unreadable(path, "", message);
            }
            Err(message) => return self.unreadable(path, "", message),
        };
        let mut parts = Parts::default();
        fill(self, text, &mut parts);
        self.add_parts(&file, layer, parts);
    }

    /// Reads a file of environment variables that the host loads.
    pub(crate) fn environment_file(&mut self, path: &str, layer: InstallLayer) {
        let judge = self.judge(path, layer);
        self.text_file(path, layer, ENVIRONMENT_LIMIT, |_, text, parts| judge.environment_file(parts, text));
    }

    /// Adds the parts of a file, if there are any.
    pub(crate) fn add_parts(&mut self, file: &SourceFile, layer: InstallLayer, parts: Parts) {
        let path = file.path.as_str();
        if parts.is_empty() {
            if !parts.loosens.is_empty() {
                let names: Vec<&str> = parts.loosens.iter().map(String::as_str).collect();
                let message = format!("runs commands without asking: {}", names.join(", "));
                let kind = InstallProblemKind::Loosens;
                self.report(self.draft(
                    kind,
                    place(path, ""),
                    message,
                    "remove the setting to be asked again",
                ));
            }
            return;
        }
        let Some(real) = self.machine.files.real(path) else {
            return self.unreadable(path, "", "the path is not UTF-8, or the file has just disappeared");
        };
        let all = self.parts.entry(real.clone()).or_default();
        if let Err(name) = all.merge(parts) {
            let message = format!("`{}` means different things in two roles of this file", shown(&name));
            return self.unreadable(path, "", message);
        }
        let (kind, contents) = (all.kind(), InstallContents::Parts(all.finish()));
        let (environment, findings) = (all.environment(), file.findings(&all.findings));
        let loosens = all.loosens.iter().cloned().collect();
        let install = self.install(PluginKey::Placed(real.clone()), kind, real, place(path, ""));
        let directory = self.base(path, layer);
        self.add(Install { contents, layer, directory, environment, findings, loosens, ..install });
    }

    /// Returns what judges the settings of a file.
    pub(crate) fn judge(&self, path: &str, layer: InstallLayer) -> Judge<'m> {
        Judge::new(self, path, layer)
    }

    /// Returns the directory in which relative paths of a file's commands start: that of the project, or the user's home.
    pub(crate) fn base(&self, path: &str, layer: InstallLayer) -> Option<PlacePath> {
        let directory = match layer {
            InstallLayer::User => self.machine.home,
            InstallLayer::Project => base_of(path),
        };
        PlacePath::new(directory).ok()
    }

    /// Reads a file of MCP servers.
    pub(crate) fn servers_file(&mut self, path: &str, syntax: Syntax, layer: InstallLayer) {
        let judge = self.judge(path, layer);
        self.parts_file(path, syntax, layer, |found, root, parts| {
            let servers = found.members(path, root, "mcpServers");
            judge.servers(parts, servers);
            parts.add_servers(servers);
        });
    }

    /// Adds an install whose place is also its key, unless nothing is there.
    pub(crate) fn add_placed(&mut self, kind: InstallKind, directory: &str, name: &str, layer: InstallLayer) {
        let Some(real) = self.machine.files.real(&join(directory, name)) else { return };
        let install = self.install(PluginKey::Placed(real.clone()), kind, real, place(directory, ""));
        self.add(Install { layer, ..install });
    }

    /// Returns the directories in which a host can look for the files of a project, from the project down.
    pub(crate) fn project_directories(&self) -> Vec<String> {
        let machine = self.machine;
        let Some(project) = machine.project.or(machine.directory) else { return Vec::new() };
        let mut directories = vec![project.as_str().to_owned()];
        let below = machine.directory.and_then(|directory| directory.relative_to(project));
        for part in below.into_iter().flat_map(|rest| rest.split('/')).filter(|part| *part != ".") {
            let last = directories.last().map(|last| join(last, part));
            directories.extend(last);
        }
        directories
    }

    /// Returns the directories of a host inside the project that no session in the working directory starts with.
    pub(crate) fn nested(&self, name: &str) -> Vec<String> {
        let above = self.project_directories();
        let nested = self.machine.nested.iter().map(PlacePath::as_str);
        let nested = nested.filter(|at| !above.iter().any(|known| known == at)).map(|at| join(at, name));
        nested.filter(|at| self.is_directory(at)).collect()
    }

    /// Returns all directories above the working directory, the nearest first, and itself.
    pub(crate) fn ancestors(&self) -> Vec<String> {
        let Some(directory) = self.machine.directory.or(self.machine.project) else { return Vec::new() };
        let directory = directory.as_str().trim_end_matches('/');
        let above = directory.rmatch_indices('/').filter_map(|(at, _)| directory.get(..at));
        let above = core::iter::once(directory).chain(above).filter(|path| !path.is_empty());
        above.map(ToOwned::to_owned).chain(["/".to_owned()]).collect()
    }

    /// Returns the host's home and its directories in the project.
    pub(crate) fn levels(&self, name: &str) -> Vec<(String, InstallLayer)> {
        let projects =
            self.project_directories().into_iter().map(|at| (join(&at, name), InstallLayer::Project));
        core::iter::once((self.home.clone(), InstallLayer::User)).chain(projects).collect()
    }
}

/// Returns the directory that a file of a project is about.
pub(crate) fn base_of(path: &str) -> &str {
    let names = project_directory_names().iter();
    let own = names.filter_map(|name| path.rfind(&format!("/{name}/"))).max();
    let end = own.or_else(|| path.rfind('/')).filter(|end| *end > 0);
    end.and_then(|end| path.get(..end)).unwrap_or("/")
}

/// Returns the path in an environment variable that is set and not empty.
pub(crate) fn path_of(machine: &Machine<'_>, variable: &str) -> Option<String> {
    let value = machine.environment.get(variable).filter(|value| !value.is_empty())?;
    Some(absolute(machine, value))
}

/// Returns a place in a record.
pub(crate) fn place(file: &str, pointer: &str) -> RecordPlace {
    RecordPlace { file: file.to_owned(), pointer: pointer.to_owned() }
}

/// Returns the path of an entry of a directory.
pub(crate) fn join(directory: &str, name: &str) -> String {
    format!("{}/{name}", directory.trim_end_matches('/'))
}

/// Returns `true` for the name of a JSON file.
pub(crate) fn is_json(name: &str) -> bool {
    has_extension(name, "json")
}

/// Returns `true` if the name of a file has an extension. Case counts, as it does for the hosts.
pub(crate) fn has_extension(name: &str, wanted: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| extension == wanted)
}

/// Resolves a path against the working directory, or the home directory if it starts with `~`.
pub(crate) fn absolute(machine: &Machine<'_>, path: &str) -> String {
    match (path.strip_prefix('~'), machine.directory) {
        (Some(rest), _) if rest.is_empty() || rest.starts_with('/') => format!("{}{rest}", machine.home),
        (_, Some(directory)) if !path.starts_with('/') => join(directory.as_str(), path),
        _ => path.to_owned(),
    }
}

/// Returns an absolute path without `.` and `..`, which do not look at symlinks.
pub(crate) fn clean(path: &str) -> String {
    PathText::new(&format!("/{path}")).normalized().to_string()
}

/// Returns a text of a record for a message: one line, at most 128 characters.
pub(crate) fn shown(text: &str) -> String {
    let short: String = text.chars().take(128).collect();
    let ellipsis = if short.len() < text.len() { "…" } else { "" };
    format!("{}{ellipsis}", escape::line(&short))
}

/// Returns a JSON pointer with one more step, as messages show it.
pub(crate) fn step(pointer: &str, key: &str) -> String {
    pointer::step(pointer, &shown(key))
}
