//! Variables that load code, and addresses that redirect the host.

use plugward_commands::{
    CommandContext, CommandLimits, CommandLine, PathText, VariableEffect, base_name, read_command,
    read_variable,
};
use plugward_manifest::json::{JsonMember, JsonNode, JsonValue};
use plugward_types::Address;

use super::{FileOwner, Judge, NamedSetting};
use crate::collector::shown;
use crate::parts::{Parts, Value};
use crate::trust_roots::is_trust_root;

/// Loads code into every program, also into plugward.
pub(crate) const HIJACK: &str = "env/hijack";
/// Puts a directory of the project into the search path of programs.
pub(crate) const SEARCH_PATH: &str = "env/search-path";
/// Sends the requests of a model to another address.
pub(crate) const ENDPOINT: &str = "env/endpoint";
/// Sends connections through another machine.
pub(crate) const PROXY: &str = "env/proxy";
/// Takes packages from elsewhere.
pub(crate) const REGISTRY: &str = "env/registry";
/// Trusts certificates of the project.
pub(crate) const CERTIFICATE: &str = "env/certificate";

/// Starts plugward with pins of the project.
pub(crate) const STORES: &str = "settings/stores";

/// The directories of a project with the programs of its dependencies. Anyone who can write there already runs in the
/// builds of the project.
pub const DEPENDENCY_PROGRAMS: [&str; 3] = ["node_modules/.bin", ".venv/bin", "venv/bin"];

/// Variables with the directory of the project, which some hosts expand in values.
const PROJECT: [&str; 3] = ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "PWD"];

/// The hosts of the public registries, which are the defaults.
const PUBLIC_REGISTRIES: [&str; 4] =
    ["registry.npmjs.org", "registry.yarnpkg.com", "pypi.org", "files.pythonhosted.org"];

/// Where a variable is set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum VariableReach {
    /// For the host and all programs that it starts.
    Host,
    /// For one server.
    Server,
}

impl Judge<'_> {
    /// Judges the members of an object of variables.
    pub(crate) fn variables(&self, parts: &mut Parts, members: &[JsonMember<'_>], reach: VariableReach) {
        for member in members {
            let value = match member.node().value() {
                JsonValue::String(text) => text.as_ref(),
                JsonValue::Number(number) => number.text(),
                _ => continue,
            };
            let setting = NamedSetting { name: member.key(), span: member.key_span() };
            self.variable(parts, setting, value, reach);
        }
    }

    /// Judges the variables of MCP servers.
    pub(crate) fn servers(&self, parts: &mut Parts, servers: &[JsonMember<'_>]) {
        for server in servers {
            let members = server.node().members_of("env");
            self.variables(parts, members, VariableReach::Server);
        }
    }

    /// Judges the variables that hooks have of their own, at any depth.
    pub(crate) fn hooks(&self, parts: &mut Parts, hooks: &[JsonMember<'_>]) {
        for member in hooks {
            match (member.key(), member.node().members()) {
                ("env" | "envs" | "environment", Some(members)) => {
                    self.variables(parts, members, VariableReach::Server);
                }
                _ if member.key() == "command" && member.node().as_str().is_some() => {
                    self.stores(parts, member);
                }
                _ => self.variables_in(parts, member.node()),
            }
        }
    }

    /// Judges the variables in the servers or hooks of a list or an object.
    pub(crate) fn variables_in(&self, parts: &mut Parts, node: &JsonNode<'_>) {
        self.hooks(parts, node.members_or_none());
        node.items_or_none().iter().for_each(|item| self.variables_in(parts, item));
    }

    /// Judges a command that starts plugward with a variable that decides what plugward trusts.
    fn stores(&self, parts: &mut Parts, command: &JsonMember<'_>) {
        let Some(text) = command.node().as_str() else { return };
        if !text.contains("plugward") {
            return;
        }
        let line = self.with_context(|context| read_command(text, context));
        let starts = |line: &CommandLine| {
            line.programs.iter().any(|one| one.name.literals().any(|name| base_name(&name) == "plugward"))
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let before =
            text.match_indices('=').filter_map(|(at, _)| text.get(..at)?.rsplit(|c| !is_name(c)).next());
        let name = before.into_iter().find(|name| is_trust_root(name));
        // A command that cannot be read to its end can start anything.
        if let (true, Some(name)) = (line.as_ref().map_or(true, starts), name) {
            let setting = NamedSetting { name: "command", span: command.key_span() };
            let message = format!("Starts plugward with {name}, so the project decides which pins count");
            self.add(parts, STORES, setting, message);
        }
    }

    fn with_context<T>(&self, read: impl FnOnce(&CommandContext<'_>) -> T) -> T {
        read(&CommandContext {
            variables: &|name| PROJECT.contains(&name).then(|| self.base.clone()),
            directory: PathText::new(&self.base),
            limits: CommandLimits::STANDARD,
        })
    }

    /// Judges one variable, and returns `true` if it adds files or it has a finding.
    pub(crate) fn variable(
        &self,
        parts: &mut Parts,
        setting: NamedSetting<'_>,
        value: &str,
        reach: VariableReach,
    ) -> bool {
        // A host that expands variables passes on the value that the user has set.
        let is_itself = value.strip_prefix('$').is_some_and(|rest| {
            let inner = rest.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
            inner.unwrap_or(rest) == setting.name
        });
        if value.trim().is_empty() || is_itself {
            return false;
        }
        if reach == VariableReach::Host && self.host.endpoints.iter().any(|name| name == setting.name) {
            return self.endpoint(parts, setting, value);
        }
        // A value that cannot be read to its end can do anything.
        let effect = self
            .with_context(|context| read_variable(setting.name, value, context))
            .map_or(VariableEffect::Hijack, |reading| reading.effect);
        let name = shown(setting.name);
        match effect {
            VariableEffect::Nothing => false,
            VariableEffect::AddsFiles => true,
            VariableEffect::SearchPath => self.search_path(parts, setting, value),
            VariableEffect::Registry => {
                let Some(place) = value.split_whitespace().find_map(|word| self.registry(word)) else {
                    return false;
                };
                self.add(parts, REGISTRY, setting, format!("Sets {name}, which takes packages from {place}"));
                true
            }
            VariableEffect::Proxy => {
                let Some(host) = far_host(value) else { return false };
                self.add(
                    parts,
                    PROXY,
                    setting,
                    format!("Sets {name}, which sends connections through {host}"),
                );
                true
            }
            VariableEffect::Certificate => {
                let what = match (setting.name, value.trim()) {
                    ("NODE_TLS_REJECT_UNAUTHORIZED", "0") => "accepts any certificate".to_owned(),
                    ("NODE_TLS_REJECT_UNAUTHORIZED", _) | ("GIT_SSL_NO_VERIFY", "0" | "false") => {
                        return false;
                    }
                    ("GIT_SSL_NO_VERIFY", _) => "accepts any certificate".to_owned(),
                    (_, path) => match self.inside(path) {
                        Some(path) => format!("trusts certificates in {path}"),
                        None => return false,
                    },
                };
                self.add(parts, CERTIFICATE, setting, format!("Sets {name}, which {what}"));
                true
            }
            _ => {
                self.add(parts, HIJACK, setting, format!("Sets {name}, which makes programs run other code"));
                true
            }
        }
    }

    /// Judges the address of a model, and returns `true` if it leads elsewhere.
    pub(crate) fn endpoint(&self, parts: &mut Parts, setting: NamedSetting<'_>, value: &str) -> bool {
        let is_default =
            |host: &String| value.starts_with("https://") && self.host.endpoint_hosts.contains(host);
        let Some(host) = far_host(value).filter(|host| !is_default(host)) else { return false };
        let message =
            format!("Sets {}, which redirects the requests of the model to {host}", shown(setting.name));
        self.add(parts, ENDPOINT, setting, message);
        true
    }

    /// Judges settings with the address of a model, whose pointers are in the table of hosts.
    pub(crate) fn endpoint_settings(&self, parts: &mut Parts, root: &JsonNode<'_>) {
        for pointer in &self.host.endpoint_settings {
            let steps: Vec<&str> = pointer.split('/').skip(1).collect();
            self.endpoint_at(parts, root, &steps, "");
        }
    }

    fn endpoint_at(&self, parts: &mut Parts, node: &JsonNode<'_>, steps: &[&str], before: &str) {
        let Some((first, rest)) = steps.split_first() else { return };
        let members = node.members_or_none().iter();
        for member in members.filter(|member| *first == "*" || *first == member.key()) {
            let name = format!("{before}.{}", member.key()).trim_start_matches('.').to_owned();
            let setting = NamedSetting { name: &name, span: member.key_span() };
            match member.node().as_str() {
                Some(value) if rest.is_empty() => {
                    if self.endpoint(parts, setting, value) && self.owner == FileOwner::Shared {
                        parts.add_permission(&name, Value::Text(value.to_owned()));
                    }
                }
                _ => self.endpoint_at(parts, member.node(), rest, &name),
            }
        }
    }

    /// Returns the host or file from which a word of a registry setting takes packages, unless it is a default one.
    fn registry(&self, word: &str) -> Option<String> {
        // An index can have a name: `name=https://host`.
        let word =
            word.split_once('=').filter(|(name, _)| !name.contains(':')).map_or(word, |(_, rest)| rest);
        match Address::parse(word) {
            Address::Other => self.inside(word),
            _ => far_host(word).filter(|host| !PUBLIC_REGISTRIES.contains(&host.as_str())),
        }
    }

    fn search_path(&self, parts: &mut Parts, setting: NamedSetting<'_>, value: &str) -> bool {
        let own = value.split(':').filter_map(|entry| self.inside(entry));
        let ends = |path: &str, tool: &str| {
            path.strip_suffix(tool).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        let is_tool = |path: &String| DEPENDENCY_PROGRAMS.iter().any(|tool| ends(path, tool));
        let mut own = own.filter(|path| !is_tool(path));
        let Some(path) = own.next() else { return false };
        let message = format!("Sets {}, which finds programs of the project in {path}", shown(setting.name));
        self.add(parts, SEARCH_PATH, setting, message);
        true
    }

    /// Returns a path relative to the project, if it leads into it.
    fn inside(&self, path: &str) -> Option<String> {
        let name_of = |path: &str| {
            let name = path.strip_prefix('$')?;
            let end = name.find('/').unwrap_or(name.len());
            let (name, rest) = name.split_at_checked(end)?;
            let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
            PROJECT.contains(&name).then(|| rest.to_owned())
        };
        let named = name_of(path);
        let path = match &named {
            Some(rest) => rest.trim_start_matches('/'),
            // A home directory, or another variable.
            None if path.starts_with(['~', '$']) => return None,
            None => path,
        };
        let project = PathText::new(&self.project);
        let path = PathText::new(&self.base).join(path).normalized();
        let rest = path.as_str().strip_prefix(project.as_str()).filter(|_| path.is_in(&project))?;
        let rest = rest.trim_start_matches('/');
        Some(if rest.is_empty() { ".".to_owned() } else { shown(rest) })
    }
}

/// Returns the host of an address that is neither this machine nor private, for a message.
fn far_host(value: &str) -> Option<String> {
    let address = Address::parse(value);
    // A proxy can be written without a scheme.
    let address =
        if address == Address::Other { Address::parse(&format!("http://{value}")) } else { address };
    // Not all parsers read an unusual address alike, so its host is not known.
    if address.is_well_formed() && (address.is_loopback() || address.is_private()) {
        return None;
    }
    Some(address.host_text().map_or_else(|| "an unknown host".to_owned(), shown))
}
