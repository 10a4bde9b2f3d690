//! The access of programs: what the user granted in the settings or in a command.

pub(crate) mod open;
pub(crate) mod programs;

use camino::{Utf8Path, Utf8PathBuf};
use plugward_loader::launch::EnforceRule;
use plugward_loader::policy::{LaunchAccess, LaunchEnforcement, TrustPolicy};
use plugward_loader::{PluginKey, is_plugin_entry};

use crate::command_host::command_id;
use crate::diagnostic::{Diagnostic, Location};
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::settings::Settings;
use crate::verbs::config;
use plugward_loader::escape::line;

pub(crate) use open::{Grantee, StartAccess};

/// How to find the key for an entry of `launch.grants`.
pub(crate) const KEY_HELP: &str = "to see the key of a plugin, run `plugward info DIR` with its directory";

/// The kind of a grant. Its name is a field of `launch.grants`, and a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GrantKind {
    Read,
    Write,
    Connect,
    Listen,
    Env,
    Run,
}

impl GrantKind {
    pub(crate) const ALL: [(&'static str, Self); 6] = [
        ("read", Self::Read),
        ("write", Self::Write),
        ("connect", Self::Connect),
        ("listen", Self::Listen),
        ("env", Self::Env),
        ("run", Self::Run),
    ];
}

/// A text of a grant, and its place in a settings file. `None` is a flag.
#[derive(Debug, Clone)]
pub(crate) struct GrantText {
    pub(crate) text: String,
    pub(crate) location: Option<Location>,
}

impl GrantText {
    /// Returns the failure for a grant that is not possible.
    fn wrong(&self, message: impl Into<String>, expected: &str) -> Failure {
        let failure = Failure::usage(message).code("launch/spec").note("expected", expected);
        match &self.location {
            Some(location) => failure.at(location.clone()),
            None => failure,
        }
    }
}

/// The grants of one start.
#[derive(Debug, Clone, Default)]
pub(crate) struct GrantList {
    pub(crate) grants: Vec<(GrantKind, GrantText)>,
    /// The directory in which a wrapped server starts.
    pub(crate) directory: Option<GrantText>,
}

impl GrantList {
    /// Returns `true` if a variable is granted.
    pub(crate) fn has_variable(&self, name: &str) -> bool {
        self.grants.iter().any(|(kind, grant)| *kind == GrantKind::Env && grant.text == name)
    }

    /// Returns the granted variables that are set, with their values.
    pub(crate) fn set_variables(&self) -> Vec<(String, String)> {
        let names =
            self.grants.iter().filter(|(kind, _)| *kind == GrantKind::Env).map(|(_, grant)| &grant.text);
        names.filter_map(|name| Some((name.clone(), host::named_variable(name)?))).collect()
    }

    /// Returns the absolute path of the directory in which a server starts.
    pub(crate) fn start_directory(&self) -> Result<Option<Utf8PathBuf>, Failure> {
        self.directory.as_ref().map(open::absolute).transpose()
    }
}

/// One row of `launch.grants`.
#[derive(Debug, Clone)]
pub(crate) struct LaunchGrant {
    /// The key of a plugin, the id of a command plugin, or the name of a wrapped server.
    pub(crate) plugin: GrantText,
    /// The whole command of a wrapped server.
    pub(crate) command: Vec<String>,
    pub(crate) list: GrantList,
}

impl LaunchGrant {
    /// Returns the warning for the key of a directory that is not one of a plugin, whose entry limits no program.
    fn without_plugin(&self) -> Option<Diagnostic> {
        let key: PluginKey = self.plugin.text.parse().ok()?;
        let path = Utf8Path::new(key.placed()?.as_str());
        // A marketplace can list a directory that has only skills.
        let is_entry = |name: &str| is_plugin_entry(name.as_bytes()) || name == "skills";
        let has_entry = |mut entries: camino::ReadDirUtf8| {
            entries.any(|entry| entry.is_ok_and(|entry| is_entry(entry.file_name())))
        };
        // A plugin can be one file.
        let is_plugin = |real: &Utf8PathBuf| {
            real == path && (path.is_file() || path.read_dir_utf8().is_ok_and(has_entry))
        };
        if host::real_path(path).is_ok_and(|real| is_plugin(&real)) {
            return None;
        }
        let warning =
            Diagnostic::warning(format!("these grants are for no plugin: `{}`", line(&self.plugin.text)));
        let warning = match &self.plugin.location {
            Some(location) => warning.at(location.clone()),
            None => warning,
        };
        Some(warning.code("launch/spec").help(KEY_HELP))
    }
}

/// The program that starts, as `launch.grants` names it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum GrantTarget<'a> {
    Plugin(&'a PluginKey),
    Command(&'a str),
    Server { name: &'a str, command: &'a [String] },
}

/// The settings for starts.
#[derive(Debug, Clone)]
pub(crate) struct LaunchRules {
    rows: Vec<LaunchGrant>,
    /// The access of programs without an entry.
    unlisted: LaunchAccess,
    pub(crate) enforce: EnforceRule,
}

impl LaunchRules {
    pub(crate) fn new(settings: &Settings, policy: &TrustPolicy) -> Self {
        let enforce = match policy.launch_enforcement() {
            LaunchEnforcement::BestEffort => EnforceRule::BestEffort,
            LaunchEnforcement::Require => EnforceRule::Require,
        };
        Self { rows: settings.launch_grants.clone(), unlisted: policy.launch_access(), enforce }
    }

    /// Returns the rules in the working directory, whose project can tighten them.
    pub(crate) fn here(settings: &Settings, host: &Host) -> Result<Self, Failure> {
        let rules = Self::new(settings, &config::resolve(None, settings, host)?);
        for row in &rules.rows {
            host.warnings.add(row.without_plugin());
        }
        Ok(rules)
    }

    /// Returns the grants of a program: those of its entries, or else nothing with `launch.access = "none"`. `None` is
    /// everything that the user can do.
    pub(crate) fn grants(&self, target: GrantTarget<'_>) -> Result<Option<GrantList>, Failure> {
        let mut found: Option<GrantList> = None;
        let mut other = None;
        for row in &self.rows {
            let is_for = match target {
                GrantTarget::Plugin(key) => {
                    row.plugin.text.parse().is_ok_and(|named: PluginKey| named == *key)
                }
                GrantTarget::Command(id) => {
                    row.command.is_empty() && command_id(&row.plugin.text) == Some(id)
                }
                GrantTarget::Server { name, command } if row.plugin.text == name => {
                    if row.command != command {
                        other = Some(&row.plugin);
                    }
                    row.command == command
                }
                GrantTarget::Server { .. } => false,
            };
            if is_for {
                let list = found.get_or_insert_default();
                list.grants.extend(row.list.grants.iter().cloned());
                list.directory = row.list.directory.clone().or(list.directory.take());
            }
        }
        match (found, other) {
            (Some(list), _) => Ok(Some(list)),
            // Under the name of a limited server, another command must not have everything.
            (None, Some(plugin)) => Err(plugin
                .wrong(
                    format!("the grants of `{}` are for another command", line(&plugin.text)),
                    "the command of the entry, or another name",
                )
                .help("add an entry with this `command` to `launch.grants`")),
            (None, None) => {
                self.refuse_name(target)?;
                Ok((self.unlisted == LaunchAccess::None).then(GrantList::default))
            }
        }
    }

    /// Refuses a plugin for which there is an entry with its name. Such an entry is for a command plugin, so the plugin
    /// would have the access of the user although the user meant to limit it.
    fn refuse_name(&self, target: GrantTarget<'_>) -> Result<(), Failure> {
        let GrantTarget::Plugin(key) = target else { return Ok(()) };
        let is_named = |row: &&LaunchGrant| row.command.is_empty() && row.plugin.text == key.name();
        let Some(row) = self.rows.iter().find(is_named) else { return Ok(()) };
        let message = format!("the grants of `{}` are for a command plugin", line(&row.plugin.text));
        let key = key.to_string();
        Err(row
            .plugin
            .wrong(message, "the key of the plugin")
            .help(format!("write `plugin = \"{}\"`", line(&key))))
    }
}
