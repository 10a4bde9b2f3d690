//! What counts as inside for one row: its own directory, its reach, the directories of hosts, and the values of variables.

use std::collections::BTreeMap;

use plugward_commands::{CommandContext, CommandLimits, PathText, TOP_LEVEL};
use plugward_installs::{DEPENDENCY_PROGRAMS, InstallContents, InstallKind, project_directory_names};
use plugward_manifest::{Dialect, RelativeBase};

use super::place::{Landed, Places, directory, inside, normalized};
use crate::discovery::discover::PluginPlace;
use crate::discovery::installed::PROJECT_LABEL;
use crate::gates::Context;
use crate::run::options::MachineFacts;

/// Stands for the user's project, which a plugin and the user's own settings do not know.
pub(super) const PROJECT: &str = "/\u{1}project";
/// Stands for the directory in which a plugin keeps its data.
const DATA: &str = "/\u{1}data";
/// The directories below which imports are not followed. Anyone who can write there already runs in the project's builds.
const DEPENDENCIES: [&str; 6] = ["node_modules", ".venv", "venv", "site-packages", "vendor", "target"];
/// Scripts by which frameworks and build tools run the code of a project.
const PROJECT_TOOLS: [&str; 6] = ["artisan", "manage.py", "gradlew", "mvnw", "bin/console", "bin/rails"];

/// Whether a plugin is a copy that a host made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PluginUse {
    Copied,
    InPlace,
}

/// Whose files a row starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowOwner {
    /// A plugin, or another directory with a digest of its own.
    Plugin,
    /// Settings of a project.
    Project,
    /// Settings of the user.
    User,
}

/// What a path means for a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathVerdict {
    /// The row's own tree contains it.
    Own,
    /// It belongs to the closure.
    Closure,
    /// A program of the system, or of the caller's `PATH`.
    Fixed,
    /// Code that no digest covers: dependencies of the project, and a plugin's own data.
    Floating,
    /// A directory of a host, which only an attacker's plugin would use.
    Outside,
    /// A place where a program can write, and that no pin covers; the text says why.
    Unresolved(String),
}

#[derive(Debug)]
pub(super) struct Scope<'a> {
    pub(super) owner: RowOwner,
    /// The directory that the row's own tree covers.
    pub(super) own: Option<String>,
    /// The directory to which the names in the list are relative.
    base: String,
    /// The project in which its commands start.
    project: String,
    home: Option<String>,
    /// The directories whose files belong to the closure.
    reach: Vec<String>,
    hosts: Vec<String>,
    usage: PluginUse,
    /// The directory in which the plugin keeps its data.
    data: String,
    machine: &'a MachineFacts,
    variables: BTreeMap<String, String>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(place: &PluginPlace, context: &'a Context<'_>) -> Self {
        let machine = &context.options.machine;
        let home = home(context);
        let installed = place.installed.as_deref();
        let parts = installed.is_some_and(|one| matches!(one.contents, InstallContents::Parts(_)));
        let real = place.real.to_string();
        let given = installed.and_then(|one| one.directory.as_ref()).map(ToString::to_string);
        let base = if parts { given.unwrap_or_else(|| project_of(&real).to_owned()) } else { real.clone() };
        let owner = match installed {
            _ if !parts => RowOwner::Plugin,
            Some(one) if one.label == PROJECT_LABEL => RowOwner::Project,
            _ => RowOwner::User,
        };
        let base = if owner == RowOwner::User { home.clone().unwrap_or(base) } else { base };
        let top =
            context.root.top.join(&place.reach.top).map_or_else(|_| base.clone(), |top| top.to_string());
        let project = match installed {
            Some(one) if one.label == PROJECT_LABEL && parts => Some(base.clone()),
            Some(one) if one.label == PROJECT_LABEL => project_around(&real).map(str::to_owned),
            _ => None,
        };
        let reach = match owner {
            RowOwner::Plugin => project.iter().cloned().chain([top]).collect(),
            RowOwner::Project => [base.clone(), top].into_iter().chain(home.clone()).collect(),
            RowOwner::User => vec![base.clone()],
        };
        let mut hosts: Vec<String> = machine.host_directories.iter().map(ToString::to_string).collect();
        hosts.extend(
            home.iter().flat_map(|home| host_directories().map(move |name| format!("{home}/{name}"))),
        );
        let is_plugin = installed.is_some_and(|one| one.kind == InstallKind::Plugin);
        // The clone of a marketplace is used as it is, and a copy of its plugins is elsewhere.
        let copied = |host: &String| {
            inside(&real, host)
                .is_some_and(|rest| !rest.is_empty() && !rest.starts_with("plugins/marketplaces/"))
        };
        let is_copied = is_plugin && hosts.iter().any(copied);
        let usage = if is_copied { PluginUse::Copied } else { PluginUse::InPlace };
        let data = hosts.iter().find_map(|host| data_of(host, &real)).unwrap_or_else(|| DATA.to_owned());
        let own = (!parts).then_some(real);
        let mut scope = Self {
            owner,
            own,
            base,
            project: project.unwrap_or_else(|| PROJECT.to_owned()),
            home,
            reach,
            hosts,
            usage,
            data,
            machine,
            variables: BTreeMap::new(),
        };
        scope.set_variables(installed.map(|one| one.environment.as_slice()).unwrap_or_default());
        scope
    }

    /// Sets the variables that hosts set, and those of the settings.
    fn set_variables(&mut self, environment: &[(String, String)]) {
        let (project, data) = (self.project.clone(), self.data.clone());
        let file = format!("{project}/file");
        let own = self.own.clone().unwrap_or_else(|| self.base.clone());
        let fixed = [
            ("CLAUDE_PROJECT_DIR", project.as_str()),
            ("GEMINI_PROJECT_DIR", &project),
            ("workspacePath", &project),
            ("PWD", &project),
            (TOP_LEVEL, &project),
            ("TOP_LEVEL", &project),
            ("CLAUDE_FILE_PATHS", &file),
            ("CLAUDE_PLUGIN_DATA", &data),
            ("PLUGIN_DATA", &data),
            ("SHELL", "/bin/sh"),
            ("/", "/"),
        ];
        // What the settings set does not replace what the host sets.
        self.variables.extend(environment.iter().cloned());
        self.variables.extend(fixed.map(|(name, value)| (name.to_owned(), value.to_owned())));
        self.variables.extend(self.home.iter().map(|home| ("HOME".to_owned(), home.clone())));
        let roots = Dialect::ALL.iter().flat_map(|dialect| dialect.root_variables());
        self.variables.extend(roots.map(|name| ((*name).to_owned(), own.clone())));
    }

    /// Returns the directory in which the commands of a dialect start.
    pub(super) fn start(&self, dialect: Dialect) -> &str {
        match (&self.own, dialect.relative_base()) {
            (Some(own), RelativeBase::Root) => own,
            _ => &self.project,
        }
    }

    /// Returns the directory that a closure is about: the project or the home directory.
    pub(super) fn top(&self) -> &str {
        self.reach.first().map_or(&self.base, String::as_str)
    }

    /// Returns `true` for a plugin that is not a copy.
    pub(super) fn is_in_place(&self) -> bool {
        self.own.is_some() && self.usage == PluginUse::InPlace
    }

    /// Returns `true` for a directory that can be the one from which a script names others.
    pub(super) fn is_around(&self, path: &str) -> bool {
        self.own.as_ref().map_or_else(|| self.reaches(path), |own| inside(path, own).is_some())
    }

    /// Returns `true` for a path whose files can belong to the closure.
    pub(super) fn reaches(&self, path: &str) -> bool {
        let is_home = |top: &&String| self.owner == RowOwner::Project && self.home.as_ref() == Some(*top);
        let own = self.own.iter().chain(self.reach.iter().filter(|top| !is_home(top)));
        own.into_iter().any(|top| inside(path, top).is_some())
    }

    /// Returns the value of a variable at the start of a path in code, such as `${HOME}/x.js`.
    pub(super) fn expand(&self, path: &str) -> Option<String> {
        let named = match path.strip_prefix('$') {
            Some(rest) if rest.starts_with('{') => {
                rest.strip_prefix('{').and_then(|rest| rest.split_once('}'))
            }
            Some(rest) => {
                let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
                Some(rest.split_at(rest.find(|c: char| !is_letter(c)).unwrap_or(rest.len())))
            }
            None => None,
        };
        match named {
            Some((name, rest)) => Some(format!("{}{rest}", self.variables.get(name)?)),
            None => match path.strip_prefix('~') {
                Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                    Some(format!("{}{rest}", self.home.as_ref()?))
                }
                _ => Some(path.to_owned()),
            },
        }
    }

    /// Calls a reader with the context of a command. A script has its own path as `0`.
    pub(super) fn with_context<T>(
        &self,
        start: &str,
        script: Option<&str>,
        more: &BTreeMap<String, String>,
        read: impl FnOnce(&CommandContext<'_>) -> T,
    ) -> T {
        let variables = |name: &str| match name {
            "0" | "BASH_SOURCE" => script.map(str::to_owned),
            "PWD" => Some(start.to_owned()),
            _ => self.variables.get(name).or_else(|| more.get(name)).cloned(),
        };
        read(&CommandContext {
            variables: &variables,
            directory: PathText::new(start),
            limits: CommandLimits::STANDARD,
        })
    }

    /// Calls a reader with the context of a command that sets no variables of its own.
    pub(super) fn read<T>(
        &self,
        start: &str,
        script: Option<&str>,
        read: impl FnOnce(&CommandContext<'_>) -> T,
    ) -> T {
        self.with_context(start, script, &BTreeMap::new(), read)
    }

    /// Applies the table of places to a path, with the text that names it.
    pub(super) fn verdict(&self, named: &str, landed: &Landed, places: &Places<'_>) -> PathVerdict {
        // What does not exist yet has its steps upward left.
        let clean = normalized(&landed.path);
        let path = clean.as_str();
        let within = |directory: &String| inside(path, directory).is_some();
        if self.own.as_ref().is_some_and(within) {
            return PathVerdict::Own;
        }
        if inside(path, &self.data).is_some()
            || is_dependency_program(path)
            || is_dependency_program(&normalized(named))
        {
            return PathVerdict::Floating;
        }
        if let Some(rest) = inside(path, PROJECT) {
            if PROJECT_TOOLS.contains(&rest) {
                return PathVerdict::Floating;
            }
            return PathVerdict::Unresolved(format!("{rest} (a file of the project in which it starts)"));
        }
        let in_host = self.hosts.iter().find(|host| within(host));
        // The place of the data is not known for every host, and `..` leads out of it.
        let has_left = named.starts_with(DATA);
        if (in_host.is_some() || has_left) && self.usage == PluginUse::Copied {
            return PathVerdict::Outside;
        }
        let in_project = self.owner == RowOwner::Project && inside(path, &self.base).is_some();
        let on_path =
            |path: &str| self.machine.program_directories.iter().any(|dir| dir.as_str() == directory(path));
        if !in_project && (on_path(path) || on_path(&normalized(named))) {
            return PathVerdict::Fixed;
        }
        if self.reach.iter().any(within) && self.usage == PluginUse::InPlace {
            return match &landed.exposed {
                None => PathVerdict::Closure,
                Some((directory, cause)) => {
                    let (shown, directory) = (self.shown(path), self.shown(directory));
                    PathVerdict::Unresolved(format!("{shown} ({cause} {directory})"))
                }
            };
        }
        if places.is_system(landed) {
            return PathVerdict::Fixed;
        }
        PathVerdict::Unresolved(format!("{} (no pin covers it)", self.shown(path)))
    }

    /// Returns a path for a person: relative to the row's directory, or to the home directory.
    pub(super) fn shown(&self, path: &str) -> String {
        if let Some(rest) = inside(path, &self.base) {
            return if rest.is_empty() { ".".to_owned() } else { rest.to_owned() };
        }
        if let Some(rest) = self.home.as_ref().and_then(|home| inside(path, home)) {
            // Directories that a plugin shares with its neighbors are named from the plugin.
            let is_near = self.own.is_some() && self.reach.iter().any(|top| inside(path, top).is_some());
            if !is_near {
                return format!("~/{rest}");
            }
        }
        let near =
            self.reach.iter().any(|top| inside(path, top).is_some() && inside(&self.base, top).is_some());
        if near { relative(&self.base, path) } else { path.to_owned() }
    }
}

/// Returns the home directory of the user.
pub(crate) fn home(context: &Context<'_>) -> Option<String> {
    context.options.machine.home.as_ref().or(context.root.stops.first()).map(ToString::to_string)
}

/// Returns the directory in which a host keeps the data of a plugin in its cache.
fn data_of(host: &str, plugin: &str) -> Option<String> {
    let mut parts = inside(plugin, host)?.strip_prefix("plugins/cache/")?.split('/');
    let (market, name) = (parts.next()?, parts.next()?);
    Some(format!("{host}/plugins/data/{name}-{market}"))
}

/// Returns the names of the directories of hosts, in a project or home directory.
fn host_directories() -> impl Iterator<Item = &'static str> {
    project_directory_names().iter().copied().chain([".copilot", ".openclaw"])
}

/// Returns the project with the directory of a host that contains a path.
fn project_around(path: &str) -> Option<&str> {
    let inner = host_directories().filter_map(|name| path.find(&format!("/{name}/"))).min()?;
    path.get(..inner)
}

/// Returns the directory that a settings file is about.
fn project_of(file: &str) -> &str {
    let parent = directory(file);
    let name = parent.rsplit('/').next().unwrap_or_default();
    if host_directories().any(|host| host == name) { directory(parent) } else { parent }
}

/// Returns `true` for the programs of a project's dependencies, which its package manager installs.
fn is_dependency_program(path: &str) -> bool {
    DEPENDENCY_PROGRAMS.iter().any(|directory| path.contains(&format!("/{directory}/")))
}

/// Returns `true` for a file of a dependency, unless a command names a file below the same directory.
pub(super) fn is_dependency(path: &str) -> bool {
    path.split('/').any(|part| DEPENDENCIES.contains(&part))
}

/// Returns a path relative to a directory, with `..` for each component that the two do not share.
pub(crate) fn relative(from: &str, to: &str) -> String {
    let parts =
        |path: &str| path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let (from, to) = (parts(from), parts(to));
    let shared = from.iter().zip(&to).take_while(|(one, two)| one == two).count();
    let ups = from.len().saturating_sub(shared);
    format!("{}{}", "../".repeat(ups), to.get(shared..).unwrap_or_default().join("/"))
}
