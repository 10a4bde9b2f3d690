//! A checked plugin that runs under node, from a private copy of its checked bytes.

use std::time::Duration;

use plugward_loader::escape::line;
use plugward_loader::host_modules::{
    HostModule, ModuleConfig, PLUGIN_SHIM, PluginInit, PluginLimits, RejectedModule, RunningPlugin,
    SessionFault,
};
use plugward_loader::launch::{EnforceRule, RunningProgram};
use plugward_loader::lifecycle::AuditFacts;
use plugward_loader::manifest::Coverage;
use plugward_loader::pinstore::{AuditVerdict, Risk};
use plugward_loader::{
    ApprovalState, ClearanceError, Confirmation, LaunchSubject, LoadedPlugin, ModuleEntry, PluginReport,
    Record, SealedCopy, Stores, clear, contents_of, ledger_name, module_entry, sha256, static_facts,
};

use super::home::PrivateHome;
use super::node::NodeStart;
use super::{EnabledPlugin, session_failure};
use crate::access::{GrantList, GrantTarget, Grantee, LaunchRules, StartAccess};
use crate::diagnostic::Diagnostic;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::prompt;
use crate::settings::Settings;
use crate::starts::{self, RecordedStart};
use crate::verbs::{mcp, shared};

/// The most findings in a question.
const SHOWN: usize = 3;
/// The most KiB of memory of a process of a plugin.
const MEMORY: u32 = 1 << 20;

/// A plugin that passed the check, and its settings.
pub(super) struct CheckedPlugin {
    loaded: LoadedPlugin,
    entry: ModuleEntry,
    config: ModuleConfig,
    /// What `launch.grants` lists for it. It never has the access of the user.
    granted: GrantList,
}

/// A plugin that runs.
pub(super) struct StartedPlugin {
    plugin: Option<RunningPlugin>,
    program: RunningProgram,
    recorded: RecordedStart,
    files: PrivateFiles,
}

/// The modules of a started plugin, and what is not registered.
pub(super) struct ModuleOffer {
    pub(super) modules: Vec<Box<dyn HostModule>>,
    pub(super) rejected: Vec<RejectedModule>,
    pub(super) skipped: Vec<String>,
}

/// The result of a start.
pub(super) enum PluginStart {
    Running(Box<StartedPlugin>),
    /// Its factory threw.
    Failed(SessionFault),
}

/// The private copy of a plugin and its private directory. Dropping it removes both.
struct PrivateFiles {
    copy: Option<SealedCopy>,
    home: PrivateHome,
}

impl Drop for PrivateFiles {
    fn drop(&mut self) {
        // What remains has the checked bytes, and no later start uses it.
        let _copy = self.copy.take().map(SealedCopy::remove);
    }
}

impl CheckedPlugin {
    /// Checks a plugin and its settings.
    pub(super) fn find(
        plugin: &EnabledPlugin<'_>,
        settings: &Settings,
        stores: &mut Stores,
        host: &Host,
        out: &Out,
    ) -> Result<Self, Failure> {
        let loaded = mcp::server::checked(plugin.id, &[], settings, stores, host, out)?;
        confirm(&loaded, plugin.id, stores, settings, host, out)?;
        let entry = module_entry(&loaded).map_err(|error| {
            starts::failed(2, &error).code(error.code()).help("write `SCHEMA` as a literal")
        })?;
        let Some(entry) = entry else {
            return Err(Failure::usage(format!("{} does not declare modules", line(plugin.id))));
        };
        let config = ModuleConfig::resolve(&entry.schema, &plugin.settings)
            .map_err(|error| starts::failed(2, &error).code(error.code()).help(error.help()))?;
        let granted = LaunchRules::here(settings, host)?.grants(GrantTarget::Plugin(loaded.key()))?;
        Ok(Self { loaded, entry, config, granted: granted.unwrap_or_default() })
    }

    pub(super) fn ledger_name(&self) -> String {
        ledger_name(self.loaded.key())
    }

    pub(super) fn modules(&self) -> &[String] {
        &self.entry.modules
    }

    /// Starts the plugin, and waits for its modules.
    pub(super) fn start(&self, host: &Host, record: &Record, out: &Out) -> Result<PluginStart, Failure> {
        let copies = host.state_dir()?.join("sealed");
        let dir = host::own_directory(&copies)?;
        let copy = self.loaded.seal_into(&dir).map_err(|error| starts::not_sealed(&error))?;
        let copies = host::real_path(&copies)?;
        let root = copies.join(copy.path());
        // Shared directories are next to the plugin in the copy.
        let top = copy.path().split('/').next().map(|top| copies.join(top));
        let files = PrivateFiles { copy: Some(copy), home: PrivateHome::create(host)? };
        let plugin = self.ledger_name();
        let file = &self.entry.file;
        let digest = sha256(self.loaded.bytes(file).unwrap_or_default());
        let coverage = Coverage::ScriptInterpreterUncovered;
        let to = Grantee {
            plugin: &plugin,
            home: files.home.path(),
            tree: top.as_deref(),
            program: None,
            coverage,
        };
        let access = StartAccess::open(Some(&self.granted), &to, EnforceRule::Require, host, record)?;
        let access = access.in_open_workflow();
        let subject = LaunchSubject { plugin: &plugin, file, digest: Some(&digest), coverage };
        let node = NodeStart {
            node: &host::program("node")?,
            shim: PLUGIN_SHIM,
            directory: root.as_str(),
            access,
            memory: MEMORY,
            processes: None,
        };
        let (program, recorded, lines) = node.start(&subject, record)?;
        let init = PluginInit { entry: format!("{root}/{file}"), config: self.config.values().clone() };
        let mut started = StartedPlugin { plugin: None, program, recorded, files };
        match RunningPlugin::start(&init, PluginLimits::usual(), Box::new(lines)) {
            Ok(plugin) => {
                started.plugin = Some(plugin);
                Ok(PluginStart::Running(Box::new(started)))
            }
            Err(fault @ SessionFault::Factory(_)) => {
                started.end(record, out).map(|()| PluginStart::Failed(fault))
            }
            Err(fault) => started.end(record, out).and(Err(session_failure(&fault))),
        }
    }
}

/// Checks the risk of a plugin, and that its user confirms what runs: by an approval, or by an answer. For risk LOW,
/// naming the plugin in the command is enough.
fn confirm(
    loaded: &LoadedPlugin,
    id: &str,
    stores: &Stores,
    settings: &Settings,
    host: &Host,
    out: &Out,
) -> Result<(), Failure> {
    let (report, max, shown) = (loaded.report(), settings.max_risk, shared::quoted(id));
    let Some(contents) = contents_of(report) else {
        return Err(Failure::internal(format!("{} has no digest", line(id))));
    };
    let mut audit = static_facts(report, &contents);
    if let Some(records) = stores.approvals.audits() {
        let facts = records.facts(loaded.audited_bytes(), audit);
        audit = facts.map_err(|failure| shared::store_failure(&failure))?;
    }
    let is_open = report.approval.state != ApprovalState::Given
        && audit.risk <= max
        && audit.verdict != AuditVerdict::Reject;
    let is_confirmed = audit.risk == Risk::Low
        || (is_open
            && host.interactive
            && prompt::confirm(&explanation(report, id, &audit), "Enable it for this command?", host, out)?);
    let confirmation = if is_confirmed { Confirmation::Given(contents) } else { Confirmation::NotGiven };
    let Err(error) = clear(loaded, &audit, max, confirmation) else { return Ok(()) };
    let (exit, help) = match error {
        ClearanceError::Risk { .. } => (
            5,
            format!("see the findings: plugward explain {shown}\nor raise plugins.max_risk in your settings"),
        ),
        ClearanceError::Rejected => (5, format!("see the audit: plugward explain {shown}")),
        _ => (3, format!("read its findings and approve it: plugward approve {shown} --static")),
    };
    Err(Failure::exiting(exit, format!("{} is not enabled: {error}", line(id))).code(error.code()).help(help))
}

/// Returns what the scan and audits of a plugin found, for the question whether to enable it.
fn explanation(report: &PluginReport, id: &str, audit: &AuditFacts) -> String {
    let mut findings: Vec<_> = report.open_findings().collect();
    findings.sort_by_key(|finding| core::cmp::Reverse(finding.severity));
    let shown = findings.iter().take(SHOWN).map(|one| {
        format!("{} {}:{} ({}). ", line(&one.message), line(&one.path), one.line, one.severity.as_str())
    });
    format!(
        "The {} audit of {} found risk {}. {}To see everything: plugward explain {}",
        audit.kind.as_str(),
        line(id),
        audit.risk.as_str(),
        shown.collect::<Vec<_>>().concat(),
        shared::quoted(id)
    )
}

impl StartedPlugin {
    pub(super) fn take_offer(&mut self) -> ModuleOffer {
        let taken = self.plugin.as_mut().map(|plugin| {
            (
                std::mem::take(&mut plugin.modules),
                std::mem::take(&mut plugin.rejected),
                std::mem::take(&mut plugin.skipped),
            )
        });
        let (modules, rejected, skipped) = taken.unwrap_or_default();
        ModuleOffer { modules, rejected, skipped }
    }

    /// Ends the program, and records its end.
    pub(super) fn end(mut self, record: &Record, out: &Out) -> Result<(), Failure> {
        let (ended, grace) = match self.plugin.take() {
            Some(plugin) => (plugin.end(), PluginLimits::usual().grace),
            None => (Ok::<_, SessionFault>(()), Duration::ZERO),
        };
        let grace = if ended.is_ok() { grace } else { Duration::ZERO };
        let status = self.program.end(grace);
        let recorded = self.recorded.end(record, status.as_ref().ok().copied());
        if let Err(error) = self.files.home.remove() {
            let text = format!("cannot remove the private directory {}: {error}", self.files.home.path());
            out.report(&Diagnostic::warning(text));
        }
        ended.map_err(|fault| session_failure(&fault))?;
        status.map_err(|error| starts::launch_failure(&error))?;
        recorded.map_err(|failure| starts::not_recorded(&failure))
    }
}
