//! The modules that one command enables.

use std::collections::{BTreeMap, BTreeSet};

use plugward_loader::capability::{HostModuleCapability, ModuleScope, PluginName, ScopeError, UseOutcome};
use plugward_loader::escape::line;
use plugward_loader::host_modules::{
    ConfigError, FsReadConfig, FsWriteConfig, HostModule, Modules, RegisterError, RejectedModule,
    SessionFault, fs_read, fs_write, register,
};
#[cfg(feature = "net")]
use plugward_loader::host_modules::{FetchConfig, HttpNet, fetch};
use plugward_loader::{Record, RecordFailure};

use super::plugin::{CheckedPlugin, PluginStart, StartedPlugin};
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::settings::Settings;
use crate::starts::{failed, not_recorded};
use crate::stores;

/// A plugin of the command line, with its settings.
#[derive(Debug, Clone)]
pub(crate) struct EnabledPlugin<'a> {
    pub(crate) id: &'a str,
    pub(crate) settings: Vec<&'a str>,
}

impl<'a> EnabledPlugin<'a> {
    pub(crate) fn new(id: &'a str, settings: &'a [String]) -> Self {
        Self { id, settings: settings.iter().map(String::as_str).collect() }
    }
}

/// The modules of a command, and what its plugins returned besides.
pub(crate) struct EnabledModules<'c> {
    pub(crate) modules: Modules<'c>,
    pub(crate) rejected: Vec<RejectedModule>,
    /// The members that are not functions.
    pub(crate) skipped: Vec<String>,
    pub(crate) failed: Vec<FailedPlugin>,
    pub(crate) record: &'c Record,
}

/// A plugin whose factory threw, which is not enabled.
pub(crate) struct FailedPlugin {
    pub(crate) id: String,
    pub(crate) fault: SessionFault,
}

/// The code of a module's functions.
enum ModuleSource {
    Builtin(Box<dyn HostModule>),
    Plugin(Box<CheckedPlugin>),
}

/// A plugin that can be enabled.
struct FoundPlugin<'a> {
    id: &'a str,
    /// The name in the ledger.
    name: String,
    declared: Vec<String>,
    source: ModuleSource,
}

/// Enables plugins for one command, and calls `work` with their modules. They run only during the call.
pub(crate) fn with_modules<T>(
    verb: &str,
    plugins: &[EnabledPlugin<'_>],
    host: &Host,
    out: &Out,
    work: impl FnOnce(&mut EnabledModules<'_>, &Out) -> Result<(T, UseOutcome), Failure>,
) -> Result<T, Failure> {
    let settings = Settings::read(host)?;
    let workflow = format!("{verb}-{:08x}", u128::from_le_bytes(host::random()?) >> 96);
    let mut stores = stores::to_write(host, &settings, Some(&workflow), out)?;
    if let Some(failure) = stores.record.failure() {
        return Err(not_recorded(failure));
    }
    let mut found = Vec::new();
    for plugin in plugins {
        if let Some(builtin) = builtin(plugin)? {
            found.push(builtin);
            continue;
        }
        let checked = CheckedPlugin::find(plugin, &settings, &mut stores, host, out)?;
        let (name, declared) = (checked.ledger_name(), checked.modules().to_vec());
        found.push(FoundPlugin {
            id: plugin.id,
            name,
            declared,
            source: ModuleSource::Plugin(Box::new(checked)),
        });
    }
    check_names(&found)?;
    let record = &stores.record;
    let store = |failure: RecordFailure| not_recorded(&failure);
    let (mut granted, mut workflow) = (Vec::new(), None);
    for plugin in &found {
        let declared: Vec<&str> = plugin.declared.iter().map(String::as_str).collect();
        let scope = ModuleScope::new(&declared).map_err(|error| invalid(&error))?;
        let name = PluginName::new(&plugin.name).map_err(|error| invalid(&error))?;
        let (capability, opened) = record.grant_modules(name, scope).map_err(store)?;
        granted.push(capability);
        workflow = Some(opened);
    }
    let mut enabled = EnabledModules {
        modules: Modules::default(),
        rejected: Vec::new(),
        skipped: Vec::new(),
        failed: Vec::new(),
        record,
    };
    let mut started = Vec::new();
    let done =
        start(found, &granted, &mut enabled, &mut started, host, out).and_then(|()| work(&mut enabled, out));
    // The programs end when no module of them is left.
    drop(enabled);
    let ended =
        started.into_iter().map(|plugin: StartedPlugin| plugin.end(record, out)).fold(Ok(()), Result::and);
    let outcome = done.as_ref().map_or(UseOutcome::Failed, |(_, outcome)| *outcome);
    if let Some(workflow) = workflow {
        record.close(workflow, outcome).map_err(store)?;
    }
    let (value, _) = done?;
    ended.map(|()| value)
}

/// Checks that no name is declared by two plugins, before code of one of them runs.
fn check_names(found: &[FoundPlugin<'_>]) -> Result<(), Failure> {
    let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
    for plugin in found {
        // A plugin can repeat its own name.
        for module in plugin.declared.iter().collect::<BTreeSet<_>>() {
            if let Some(owner) = owners.insert(module, plugin.id) {
                let (module, plugin) = (module.clone(), owner.to_owned());
                return Err(unregistered(&RegisterError::Collision { module, plugin }));
            }
        }
    }
    Ok(())
}

/// Starts the plugins, and registers their modules.
fn start<'c>(
    found: Vec<FoundPlugin<'_>>,
    granted: &'c [HostModuleCapability],
    enabled: &mut EnabledModules<'c>,
    started: &mut Vec<StartedPlugin>,
    host: &Host,
    out: &Out,
) -> Result<(), Failure> {
    for (FoundPlugin { id, source, .. }, capability) in found.into_iter().zip(granted) {
        let offered = match source {
            ModuleSource::Builtin(module) => vec![module],
            ModuleSource::Plugin(checked) => {
                let mut plugin = match checked.start(host, enabled.record, out)? {
                    PluginStart::Running(plugin) => *plugin,
                    PluginStart::Failed(fault) => {
                        enabled.failed.push(FailedPlugin { id: id.to_owned(), fault });
                        continue;
                    }
                };
                let offer = plugin.take_offer();
                enabled.rejected.extend(offer.rejected);
                enabled.skipped.extend(offer.skipped);
                started.push(plugin);
                offer.modules
            }
        };
        let Some(trail) = enabled.record.trail() else {
            return Err(Failure::internal("a record without a ledger"));
        };
        let registered = register(id, capability, offered, &mut enabled.modules, trail);
        enabled.rejected.extend(registered.map_err(|error| unregistered(&error))?.rejected);
    }
    Ok(())
}

/// Returns the name and the functions of a module for files, which are the same in each directory.
pub(super) fn file_functions(
    plugin: &EnabledPlugin<'_>,
) -> Result<Option<(&'static str, &'static [&'static str])>, Failure> {
    let settings = plugin.settings.as_slice();
    Ok(match plugin.id {
        "builtin:fs-read" => {
            FsReadConfig::from_args(settings).map_err(|error| wrong(&error))?;
            Some(("fs-read", &FsReadConfig::FUNCTIONS))
        }
        "builtin:fs-write" => {
            FsWriteConfig::from_args(settings).map_err(|error| wrong(&error))?;
            Some(("fs-write", &FsWriteConfig::FUNCTIONS))
        }
        _ => None,
    })
}

fn wrong(error: &ConfigError) -> Failure {
    failed(2, error).code(error.code()).help(error.help())
}

/// Returns a module of this program, or `None` for the id of a plugin.
fn builtin<'a>(plugin: &EnabledPlugin<'a>) -> Result<Option<FoundPlugin<'a>>, Failure> {
    let Some(name) = plugin.id.strip_prefix("builtin:") else { return Ok(None) };
    let wrong = |error| wrong(&error);
    let (user, settings) = (host::user_id(), plugin.settings.as_slice());
    let module: Box<dyn HostModule> = match name {
        "fs-read" => {
            let config = FsReadConfig::from_args(settings).map_err(wrong)?;
            Box::new(fs_read(config.open_base(user).map_err(wrong)?, config))
        }
        "fs-write" => {
            let config = FsWriteConfig::from_args(settings).map_err(wrong)?;
            Box::new(fs_write(config.open_base(user).map_err(wrong)?, config))
        }
        #[cfg(feature = "net")]
        "fetch" => {
            let config = FetchConfig::from_args(settings).map_err(wrong)?;
            let net = Box::new(HttpNet::new(&config));
            Box::new(fetch(config, net, Box::new(host::moment)))
        }
        _ => {
            return Err(Failure::usage(format!("no such plugin with modules: {}", line(plugin.id)))
                .help("name `builtin:fs-read`, `builtin:fs-write` or `builtin:fetch`"));
        }
    };
    let (id, declared) = (plugin.id, vec![name.to_owned()]);
    Ok(Some(FoundPlugin { id, name: id.to_owned(), declared, source: ModuleSource::Builtin(module) }))
}

fn invalid(error: &ScopeError) -> Failure {
    failed(1, error).code(error.code()).help(error.help())
}

fn unregistered(error: &RegisterError) -> Failure {
    let exit = match error {
        RegisterError::NotRecorded(_) => 7,
        RegisterError::Collision { .. } => 2,
        _ => 5,
    };
    failed(exit, error).code(error.code()).help(error.help())
}
