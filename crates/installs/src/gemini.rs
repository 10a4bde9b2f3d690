//! Gemini CLI: its extensions, settings and loose pieces.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "places are at most the length of the path, for which the list has one more item"
)]

use plugward_manifest::json::{JsonMember, JsonNode};
use plugward_types::{InstalledId, Part, PlacePath};

use crate::collector::{Collector, absolute, has_extension, join, path_of, place, shown, step};
use crate::judge::permissions;
use crate::loose::{add_directory, add_shared_skills, add_skills, manifest_name};
use crate::parts::Parts;
use crate::source_file::{SourceFile, Syntax};
use crate::{
    HostState, HostSwitch, Install, InstallKind, InstallLayer, InstallProblem, InstallProblemKind, ReadFault,
};

/// The directories of an administrator's files, on Linux and macOS.
const SYSTEM: &[&str] = &["/etc/gemini-cli", "/Library/Application Support/GeminiCli"];

/// The names of their settings files, and the variables that replace them.
const SYSTEM_FILES: &[(&str, &str)] = &[
    ("GEMINI_CLI_SYSTEM_DEFAULTS_PATH", "system-defaults.json"),
    ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "settings.json"),
];

/// The keys of `hooks` that are not events.
const NOT_EVENTS: &[&str] = &["disabled", "enabled", "notifications"];

/// The settings whose value is a command, by the object that contains them. In old files, they are at the top.
const COMMANDS: &[(&str, &str)] = &[
    ("mcp", "serverCommand"),
    ("tools", "callCommand"),
    ("tools", "discoveryCommand"),
    ("", "mcpServerCommand"),
    ("", "toolCallCommand"),
    ("", "toolDiscoveryCommand"),
];

/// The directories in which commands are looked for.
const COMMAND_DIRECTORIES: usize = 256;

/// The rules that are read for one extension.
const RULES: usize = 50_000;

/// Reads everything that Gemini CLI would load.
pub(crate) fn read(found: &mut Collector<'_>) {
    for (variable, name) in SYSTEM_FILES {
        let all = || SYSTEM.iter().map(|directory| join(directory, name)).collect();
        let paths: Vec<String> = path_of(found.machine, variable).map_or_else(all, |path| vec![path]);
        for path in paths {
            read_settings(found, &path, InstallLayer::User);
        }
    }
    for (at, layer) in found.levels(".gemini") {
        read_settings(found, &join(&at, "settings.json"), layer);
        add_skills(found, &join(&at, "skills"), layer, &[], None);
        add_directory(found, &join(&at, "agents"), InstallKind::Agents, layer);
        let commands = join(&at, "commands");
        add_directory(found, &commands, InstallKind::Commands, layer);
        add_shell_commands(found, commands, layer);
    }
    add_shared_skills(found);
    read_environment(found);
    add_extensions(found, &GEMINI);
}

/// The names of the files of extensions, which a fork changed.
pub(crate) struct ExtensionFiles {
    /// The manifests, the one that counts first.
    pub(crate) manifests: &'static [&'static str],
    /// The file that says where an extension comes from.
    pub(crate) source: &'static str,
    /// The sources of copies.
    pub(crate) copied: &'static [&'static str],
    /// Whether the host can be told which extensions to load.
    pub(crate) switch: HostSwitch,
}

const GEMINI: ExtensionFiles = ExtensionFiles {
    manifests: &["gemini-extension.json"],
    source: ".gemini-extension-install.json",
    copied: &["git", "github-release", "local"],
    switch: HostSwitch::ManifestName,
};

/// Adds the shell commands in the prompts of commands, each file as a row of its own. The directory is one of its own too.
pub(crate) fn add_shell_commands(found: &mut Collector<'_>, path: String, layer: InstallLayer) {
    let mut waiting = vec![path];
    let mut count = 0_usize;
    while let Some(directory) = waiting.pop() {
        count += 1;
        if count > COMMAND_DIRECTORIES {
            let message = format!("contains more than {COMMAND_DIRECTORIES} directories of commands");
            return found.unreadable(&directory, "", message);
        }
        waiting.extend(found.directories(&directory).into_iter().map(|name| join(&directory, &name)));
        for entry in found.entries(&directory) {
            let path = join(&directory, &entry.name);
            if !has_extension(&entry.name, "toml") || found.is_directory(&path) {
                continue;
            }
            let Some(file) = found.open(&path, Syntax::Toml) else { continue };
            let root = file.parse().ok();
            // The host leaves out a file that it cannot parse. Its parser can be another one, so all of the text counts.
            let prompt = match &root {
                Some(root) => root.get("prompt").and_then(JsonNode::as_str).unwrap_or_default(),
                None => file.text().unwrap_or_default(),
            };
            let mut parts = Parts::default();
            for (at, command) in shell_commands(prompt).into_iter().enumerate() {
                parts.add_command_text(&format!("prompt.{}", at + 1), command);
            }
            found.add_parts(&file, layer, parts);
        }
    }
}

/// Returns the commands that the host runs while it fills in a prompt: `!{COMMAND}`, with balanced braces inside.
fn shell_commands(prompt: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, mark) in prompt.match_indices("!{") {
        let rest = prompt.part(at + mark.len()..);
        let mut depth = 1_usize;
        let end = rest.bytes().position(|byte| {
            depth = match byte {
                b'{' => depth + 1,
                b'}' => depth - 1,
                _ => depth,
            };
            depth == 0
        });
        // The host refuses a prompt whose braces do not match.
        found.extend(end.and_then(|end| rest.get(..end)));
    }
    found
}

/// Reads the file of environment variables that the host loads: the nearest one, else that of the user.
fn read_environment(found: &mut Collector<'_>) {
    let directories = found.project_directories();
    let has_settings = directories.iter().any(|at| found.is_directory(&join(at, ".gemini")));
    // Without the host, a file of this name is for other programs.
    if !found.is_directory(&found.home) && !has_settings {
        return;
    }
    let own = |at: &String| [join(at, ".gemini/.env"), join(at, ".env")];
    let above = found.ancestors().into_iter().flat_map(|at| own(&at));
    let user = [join(&found.home, ".env"), join(found.machine.home, ".env")];
    let mut all = above.chain(user);
    let Some(path) = all.find(|path| found.machine.files.kind(path).is_some()) else { return };
    let is_user = user_of(found, &path);
    let layer = if is_user { InstallLayer::User } else { InstallLayer::Project };
    found.environment_file(&path, layer);
}

/// Returns `true` if a file is not in the project.
fn user_of(found: &Collector<'_>, path: &str) -> bool {
    let project = found.project_directories().into_iter().next();
    !project.is_some_and(|project| path.strip_prefix(&project).is_some_and(|rest| rest.starts_with('/')))
}

fn read_settings(found: &mut Collector<'_>, path: &str, layer: InstallLayer) {
    let judge = found.judge(path, layer);
    found.parts_file(path, Syntax::JsonWithComments, layer, |found, root, parts| {
        let hooks = found.members(path, root, "hooks");
        judge.hooks(parts, hooks);
        parts.add_hooks(hooks, NOT_EVENTS);
        let servers = found.members(path, root, "mcpServers");
        judge.servers(parts, servers);
        permissions::gemini(&judge, root, parts);
        parts.add_servers(servers);
        for (object, key) in COMMANDS {
            let members = match *object {
                "" => root.members_or_none(),
                object => found.members(path, root, object),
            };
            let node = members.iter().find(|member| member.key() == *key).map(JsonMember::node);
            let name = format!("{object}.{key}").trim_start_matches('.').to_owned();
            match node.filter(|node| !node.is_null()) {
                Some(node) if node.as_str().is_some() => parts.add_command(&name, node),
                Some(node) => found.wrong_type(path, &step("", &name), node, "a string"),
                None => {}
            }
        }
    });
}

/// Adds every directory and symlink in `extensions/`. The name of the entry is the id.
pub(crate) fn add_extensions(found: &mut Collector<'_>, files: &ExtensionFiles) {
    let extensions = join(&found.home, "extensions");
    let enablement = join(&extensions, "extension-enablement.json");
    let file = found.open(&enablement, Syntax::Json);
    let root = file.as_ref().and_then(|file| found.parse(file));
    for name in found.directories(&extensions) {
        let at = join(&extensions, &name);
        let Some(id) = found.id(&name, place(&at, "")) else { continue };
        let Some(real) = place_of(found, &id, &at, files) else { continue };
        let is_outside =
            found.machine.files.real(&extensions).is_none_or(|root| real.relative_to(&root).is_none());
        // The host disables extensions by the name in their manifest.
        let mut names = files.manifests.iter();
        let called = names.find_map(|name| manifest_name(found, &join(real.as_str(), name)));
        let state = match (&called, &root) {
            (Some(called), Some(root)) => state_of(found, &enablement, root, called),
            _ => HostState::On,
        };
        let install = found.install(found.key(&id), InstallKind::Plugin, real, place(&at, ""));
        found.add(Install { state, switch: files.switch.clone(), is_outside, ..install });
    }
}

/// Returns the directory that the host runs: that of a link, or the extension's own.
fn place_of(
    found: &mut Collector<'_>,
    id: &InstalledId,
    at: &str,
    files: &ExtensionFiles,
) -> Option<PlacePath> {
    let path = join(at, files.source);
    let (kind, message, help) = match link_source(found, &path, files.copied) {
        Ok(None) => return found.machine.files.real(at),
        Ok(Some(source)) => {
            let source = absolute(found.machine, &source);
            let real = found.machine.files.real(&source).filter(|real| found.is_directory(real.as_str()));
            if real.is_some() {
                return real;
            }
            let message = format!("the linked directory is not on disk: {}", shown(&source));
            let help = "restore the directory, or remove the link".to_owned();
            (InstallProblemKind::Missing, message, help)
        }
        Err(fault) => (InstallProblemKind::Row, fault.message, fault.help),
    };
    let problem = found.draft(kind, place(&path, ""), message, help);
    found.report(InstallProblem { key: Some(found.key(id)), switch: files.switch.clone(), ..problem });
    None
}

/// Returns the source of a linked extension, or `None` for a copied one.
fn link_source(found: &Collector<'_>, path: &str, copied: &[&str]) -> Result<Option<String>, ReadFault> {
    let Some(bytes) = found.machine.files.read(path)? else { return Ok(None) };
    let file = SourceFile::new(path.to_owned(), bytes, Syntax::Json);
    let invalid = |message: String| ReadFault::new(message, "install the extension again");
    let root = file.parse().map_err(invalid)?;
    let text = |key: &str| root.get(key).and_then(JsonNode::as_str);
    match (text("type"), text("source")) {
        (Some(kind), _) if copied.contains(&kind) => Ok(None),
        (Some("link"), Some(source)) => Ok(Some(source.to_owned())),
        (Some("link") | None, _) => Err(invalid("expected strings as `type` and `source`".to_owned())),
        (Some(other), _) => Err(invalid(format!("unknown type `{}`", shown(other)))),
    }
}

/// Returns the state of an extension in the working directory. Of its rules, the last one that matches decides.
fn state_of(found: &mut Collector<'_>, file: &str, root: &JsonNode<'_>, name: &str) -> HostState {
    let Some(directory) = found.machine.directory else { return HostState::On };
    let rules = root.get(name).and_then(|extension| extension.get("overrides"));
    let Some(rules) = rules else { return HostState::On };
    let Some(items) = rules.items().filter(|items| items.len() <= RULES) else {
        let pointer = format!("{}/overrides", step("", name));
        found.unreadable(file, &pointer, format!("expected a list of at most {RULES} rules at `{pointer}`"));
        return HostState::On;
    };
    let path = format!("{}/", directory.as_str().trim_end_matches('/'));
    let mut state = HostState::On;
    for rule in items.iter().filter_map(JsonNode::as_str) {
        let (pattern, to) = match rule.strip_prefix('!') {
            Some(pattern) => (pattern, HostState::Off),
            None => (rule, HostState::On),
        };
        if matches(pattern, &path) {
            state = to;
        }
    }
    state
}

/// Returns `true` if a pattern matches a directory, which ends with `/`.
///
/// `*` matches any text, and `/*` also nothing. The set of all places that can be reached replaces backtracking, so
/// the time is at most the product of both lengths.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, path) = (pattern.as_bytes(), path.as_bytes());
    let mut reached = vec![false; path.len() + 1];
    reached[0] = true;
    let mut at = 0;
    while at < pattern.len() && reached.contains(&true) {
        let rest = &pattern[at..];
        if rest.starts_with(b"/*") || rest.starts_with(b"*") {
            // From the first place at which the text can start, every later place is reached.
            let any = |place: usize| reached[place] && (rest[0] == b'*' || path.get(place) == Some(&b'/'));
            if let Some(first) = (0..=path.len()).find(|place| any(*place)) {
                let next = first + usize::from(rest[0] == b'/');
                reached[next..].fill(true);
            }
            at += 1 + usize::from(rest[0] == b'/');
        } else {
            for place in (0..path.len()).rev() {
                reached[place + 1] = reached[place] && path[place] == rest[0];
            }
            reached[0] = false;
            at += 1;
        }
    }
    reached[path.len()]
}
