//! The mint gate: what the host grants to a plugin that passed every other gate.
//!
//! The fence checks that no code outside this module calls `Mint`.

use std::collections::BTreeMap;

use plugward_capability::{
    AnyCapability, AnyScope, Capability as _, CapabilityBundle, GrantKey, HostModuleCapability, Lifetime,
    Mint, MintCheck, MintRules, ModuleScope, PluginName, RawWithNetwork, Request, Scope as _, ScopeError,
    Trail, Workflow,
};

use plugward_types::PluginKey;

use crate::record::{RecordFailure, Run, ledger_name, refusal_help};
use crate::report::{CapabilityReport, Gate, PluginReport};
use crate::run::examined::Examined;
use crate::run::outcome::{Reason, Weight};

/// The capabilities that a host grants to a plugin.
///
/// The loader mints capabilities when it loads a plugin, and no other code does (ADR-0011 in
/// `docs/source-documents.md`).
pub trait Grants {
    /// Returns the scopes for one plugin. The loader calls it for plugins that pass every other gate.
    ///
    /// # Errors
    /// [`ScopeError`] if the plugin declares something that is not a valid scope. The plugin is then
    /// refused.
    fn scopes(&self, plugin: &PluginReport) -> Result<Vec<AnyScope>, ScopeError>;

    /// Returns how long the capabilities last.
    fn lifetime(&self, _plugin: &PluginReport) -> Lifetime {
        Lifetime::Workflow
    }
}

/// A rule that grants nothing.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "it has no state")]
pub struct NoGrants;

impl Grants for NoGrants {
    fn scopes(&self, _plugin: &PluginReport) -> Result<Vec<AnyScope>, ScopeError> {
        Ok(Vec::new())
    }
}

/// A rule that grants each plugin the host modules that its manifest declares.
///
/// A module that is not declared in `hostModules` is not registered (HyperAgent in
/// `docs/source-documents.md`).
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "it has no state")]
pub struct DeclaredModules;

impl Grants for DeclaredModules {
    fn scopes(&self, plugin: &PluginReport) -> Result<Vec<AnyScope>, ScopeError> {
        let declared = plugin.surface.iter().filter(|item| item.kind == "host-module");
        let names: Vec<&str> = declared.filter_map(|item| item.name.as_deref()).collect();
        if names.is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec![AnyScope::HostModule(ModuleScope::new(&names)?)])
    }
}

/// The minted capabilities of each plugin, by key.
pub(crate) type Granted = BTreeMap<PluginKey, Vec<AnyCapability>>;

/// Creates the mint of a host at its start.
pub(crate) const fn start(trail: Trail, raw_with_network: RawWithNetwork) -> Mint {
    Mint::new(trail, MintRules { raw_with_network })
}

/// Mints the permission to lend modules that the user named in a command.
pub(crate) fn modules(
    mint: &Mint,
    workflow: &Workflow,
    plugin: PluginName,
    scope: ModuleScope,
) -> Result<HostModuleCapability, RecordFailure> {
    let request = Request { plugin, workflow, scope, lifetime: Lifetime::Workflow };
    match mint.mint(request).map_err(|error| RecordFailure::of_trail(&error))? {
        MintCheck::Minted(capability) => Ok(capability),
        MintCheck::Refused(refusal) => Err(RecordFailure::of_refusal(refusal, workflow)),
    }
}

/// Mints what the user granted to one plugin in a command or in the settings: all or nothing.
pub(crate) fn bundle(
    mint: &Mint,
    workflow: &Workflow,
    plugin: &PluginName,
    scopes: Vec<AnyScope>,
) -> Result<CapabilityBundle, RecordFailure> {
    let minted = mint.bundle(plugin, workflow, scopes, Lifetime::Workflow);
    match minted.map_err(|error| RecordFailure::of_trail(&error))? {
        MintCheck::Minted(bundle) => Ok(bundle),
        MintCheck::Refused(refusal) => Err(RecordFailure::of_refusal(refusal, workflow)),
    }
}

/// Mints capabilities for every plugin that passes. A plugin whose capabilities are refused is refused.
pub(crate) fn grant(all: &mut [Examined], run: &mut Run<'_>, grants: &dyn Grants) -> Granted {
    let mut granted = Granted::new();
    for one in all.iter_mut().filter(|one| one.passes()) {
        match for_one(&one.report(), run, grants) {
            Ok(None) => {}
            Ok(Some(MintedCapabilities { capabilities, rows })) => {
                one.capabilities = rows;
                granted.insert(one.key.clone(), capabilities);
            }
            Err(MintFailure::Refused(reason)) => one.gate(Gate::Mint).reasons.push(*reason),
            Err(MintFailure::Failed(failure)) => {
                run.fail(failure);
                break;
            }
        }
    }
    granted
}

/// The plugins whose capabilities are taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TakeBack {
    /// All plugins, since none of the run loads.
    All,
    /// The plugins that are refused by now.
    OfRefused,
}

/// Takes capabilities back. They are dropped even if the revocation cannot be recorded.
pub(crate) fn take_back(granted: &mut Granted, all: &mut [Examined], run: &mut Run<'_>, which: TakeBack) {
    for one in all.iter_mut() {
        if which == TakeBack::OfRefused && one.passes() {
            continue;
        }
        one.capabilities.clear();
        for capability in granted.remove(&one.key).into_iter().flatten() {
            let Run::Open { mint, .. } = run else { continue };
            if let Err(error) = mint.trail().revoke(&key(&capability), "plugward", "its plugin does not load")
            {
                run.fail(RecordFailure::of_trail(&error));
            }
        }
    }
}

enum MintFailure {
    Refused(Box<Reason>),
    Failed(RecordFailure),
}

struct MintedCapabilities {
    capabilities: Vec<AnyCapability>,
    rows: Vec<CapabilityReport>,
}

fn for_one(
    plugin: &PluginReport,
    run: &Run<'_>,
    grants: &dyn Grants,
) -> Result<Option<MintedCapabilities>, MintFailure> {
    let Run::Open { mint, workflow, .. } = run else { return Ok(None) };
    let refused = |code: &str, message: String, help: &str, weight| {
        MintFailure::Refused(Box::new(Reason::new(code, Gate::Mint, weight, message, help)))
    };
    let no_scope =
        |error: ScopeError| refused(error.code(), error.to_string(), error.help(), Weight::Integrity);
    let scopes = grants.scopes(plugin).map_err(no_scope)?;
    if scopes.is_empty() {
        return Ok(None);
    }
    let name = PluginName::new(&ledger_name(&plugin.key)).map_err(no_scope)?;
    let rows: Vec<(&'static str, String)> =
        scopes.iter().map(|scope| (scope.kind().as_str(), scope_text(scope))).collect();
    match mint.bundle(&name, workflow, scopes, grants.lifetime(plugin)) {
        Ok(MintCheck::Minted(bundle)) => {
            let capabilities: Vec<AnyCapability> = bundle.into_iter().collect();
            let rows = rows.into_iter().zip(&capabilities).map(|((kind, scope), capability)| {
                CapabilityReport { kind: kind.to_owned(), scope, serial: key(capability).serial() }
            });
            let rows = rows.collect();
            Ok(Some(MintedCapabilities { capabilities, rows }))
        }
        Ok(MintCheck::Refused(refusal)) => {
            let asked: Vec<String> = rows.iter().map(|(kind, scope)| format!("{kind} {scope}")).collect();
            let message = format!("the requested capabilities were refused: {}", asked.join(", "));
            let help = refusal_help(refusal, workflow);
            Err(refused(refusal.code(), message, &help, Weight::Denied))
        }
        Err(error) => Err(MintFailure::Failed(RecordFailure::of_trail(&error))),
    }
}

/// Returns the scope as the ledger stores it.
fn scope_text(scope: &AnyScope) -> String {
    let value = match scope {
        AnyScope::NpmInstall(scope) => scope.to_value(),
        AnyScope::FsReadWrite(scope) => scope.to_value(),
        AnyScope::GitLocalOps(scope) => scope.to_value(),
        AnyScope::NetConnect(scope) => scope.to_value(),
        AnyScope::ProcessSpawn(scope) => scope.to_value(),
        AnyScope::EnvRead(scope) => scope.to_value(),
        AnyScope::HostModule(scope) => scope.to_value(),
        AnyScope::HookRawOutput(scope) => scope.to_value(),
        AnyScope::LlmAccess(scope) => scope.to_value(),
    };
    value.render()
}

fn key(capability: &AnyCapability) -> GrantKey {
    match capability {
        AnyCapability::NpmInstall(one) => one.key(),
        AnyCapability::FsReadWrite(one) => one.key(),
        AnyCapability::GitLocalOps(one) => one.key(),
        AnyCapability::NetConnect(one) => one.key(),
        AnyCapability::ProcessSpawn(one) => one.key(),
        AnyCapability::EnvRead(one) => one.key(),
        AnyCapability::HostModule(one) => one.key(),
        AnyCapability::HookRawOutput(one) => one.key(),
        AnyCapability::LlmAccess(one) => one.key(),
    }
}
