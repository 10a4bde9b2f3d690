//! The mint, which alone creates capabilities.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

pub(crate) mod bundle;

use core::fmt;
use core::time::Duration;

use plugward_ledger::{LedgerDigest, LedgerEvent, LedgerId, LedgerTime, RecordValue};

use crate::error::{M_BUNDLE, M_CLOSED, M_LIFETIME, Row, TrailError};
use crate::kinds::kind::{CapabilityKind, Scope};
use crate::mint::bundle::{AnyScope, CapabilityBundle};
use crate::name::{PluginName, WorkflowId};
use crate::trail::fold::{GrantState, TrailFold};
use crate::trail::{Trail, Workflow};

/// The part of a capability that only this module can create.
#[derive(Debug)]
#[expect(unnameable_types, reason = "sealed: only this crate may name it, and only this module can make one")]
pub struct Grant {
    key: GrantKey,
    plugin: PluginName,
    expires: Option<LedgerTime>,
}

/// The key of a capability: its ledger, its workflow, and its number in the workflow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GrantKey {
    ledger: LedgerId,
    workflow: WorkflowId,
    serial: u64,
    /// The `seq` of its record, which distinguishes it from one of an earlier workflow with the same id.
    minted: Option<u64>,
}

impl GrantKey {
    /// Creates a key from its parts, to revoke a capability that is known from the ledger.
    #[must_use]
    pub const fn new(ledger: LedgerId, workflow: WorkflowId, serial: u64) -> Self {
        Self { ledger, workflow, serial, minted: None }
    }

    /// Returns the id of the ledger.
    #[must_use]
    pub const fn ledger(&self) -> LedgerId {
        self.ledger
    }

    /// Returns the workflow.
    #[must_use]
    pub const fn workflow(&self) -> &WorkflowId {
        &self.workflow
    }

    pub(crate) const fn minted(&self) -> Option<u64> {
        self.minted
    }

    /// Returns the number in the workflow, from 1, or 0 for a capability for tests.
    #[must_use]
    pub const fn serial(&self) -> u64 {
        self.serial
    }
}

impl Grant {
    pub(crate) const fn plugin(&self) -> &PluginName {
        &self.plugin
    }

    pub(crate) const fn workflow(&self) -> &WorkflowId {
        &self.key.workflow
    }

    pub(crate) fn key(&self) -> GrantKey {
        self.key.clone()
    }

    pub(crate) const fn minted(&self) -> u64 {
        match self.key.minted {
            Some(minted) => minted,
            None => 0,
        }
    }

    pub(crate) fn describe(
        &self,
        f: &mut fmt::Formatter<'_>,
        name: &str,
        kind: CapabilityKind,
        scope: &dyn fmt::Debug,
    ) -> fmt::Result {
        f.debug_struct(name)
            .field("kind", &kind.as_str())
            .field("plugin", &self.plugin.as_str())
            .field("workflow", &self.key.workflow.as_str())
            .field("serial", &self.key.serial)
            .field("expires", &self.expires)
            .field("scope", scope)
            .finish()
    }
}

/// The lifetime of a capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third way")]
pub enum Lifetime {
    /// Until the workflow is closed.
    Workflow,
    /// At most this long.
    For(Duration),
}

/// The rule for a plugin that would get both raw hook output and network access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third way")]
pub enum RawWithNetwork {
    /// The second of the two is refused.
    Refuse,
    /// The second of the two is granted, and its record has a warning.
    Record,
}

/// The rules of a mint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "required rules without defaults: a new one must stop every host from building"
)]
pub struct MintRules {
    /// The rule for raw hook output together with network access.
    pub raw_with_network: RawWithNetwork,
}

/// A request for one capability.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "all four parts are required")]
pub struct Request<'w, S> {
    /// The plugin that would receive it.
    pub plugin: PluginName,
    /// The workflow.
    pub workflow: &'w Workflow,
    /// The requested scope.
    pub scope: S,
    /// The requested lifetime.
    pub lifetime: Lifetime,
}

/// A refused grant, which was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MintRefusal(Row);

impl MintRefusal {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.0.0
    }

    /// Returns the help for the code.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        self.0.1
    }
}

/// The result of a request for a capability.
#[derive(Debug)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum MintCheck<C> {
    /// The capability, which was recorded.
    Minted(C),
    /// No capability. The refusal was recorded.
    Refused(MintRefusal),
}

/// The only creator of capabilities. The loader creates one at startup and passes it on; code without one
/// cannot grant anything.
///
/// # Guarantees
///
/// No capability exists without its record.
/// # Examples
/// ```
/// use plugward_capability::{
///     BudgetLimit, Budgets, GitScope, Lifetime, Mint, MintCheck, MintRules, NoScrub, PluginName,
///     RawWithNetwork, Request, ScopeDirectory, Trail, TrailRules, WorkflowId, folds,
/// };
/// use plugward_ledger::{Ledger, LedgerId, LedgerTime};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let clock = || LedgerTime::from_unix_micros(1_795_297_683_123_456).unwrap();
/// let ledger = Ledger::in_memory(LedgerId::from_bytes([7; 16]), Box::new(clock), folds())?;
/// let trail = Trail::open(ledger, TrailRules { scrub: Box::new(NoScrub) })?;
/// let mint = Mint::new(trail.clone(), MintRules { raw_with_network: RawWithNetwork::Refuse });
///
/// let none = BudgetLimit { max_mints: Some(0), max_uses: None, max_units: None };
/// let workflow = trail.open_workflow(WorkflowId::new("wf-7")?, &Budgets::otherwise(none))?;
/// let request = Request {
///     plugin: PluginName::new("claude:acme@team")?,
///     workflow: &workflow,
///     scope: GitScope::new(ScopeDirectory::new("~/work/site", "dev 7 inode 42")?, "plugins/acme/")?,
///     lifetime: Lifetime::Workflow,
/// };
/// let MintCheck::Refused(refusal) = mint.mint(request)? else { panic!("granted") };
/// assert_eq!(refusal.code(), "mint/over-budget");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Mint {
    trail: Trail,
    rules: MintRules,
}

struct MintRequest {
    plugin: String,
    kind: CapabilityKind,
    scope: RecordValue,
    expires: Option<LedgerTime>,
    bundle: Option<LedgerDigest>,
}

impl MintRequest {
    fn minted(self, workflow: &WorkflowId, serial: u64, warning: Option<&'static str>) -> LedgerEvent {
        LedgerEvent::CapabilityMinted {
            workflow: workflow.as_str().to_owned(),
            plugin: self.plugin,
            kind: self.kind.as_str().to_owned(),
            serial,
            scope_digest: self.scope.digest(),
            scope: self.scope,
            expires: self.expires,
            bundle: self.bundle,
            warning: warning.map(str::to_owned),
        }
    }
}

fn end_of(lifetime: Lifetime, now: LedgerTime) -> Result<Option<LedgerTime>, Row> {
    match lifetime {
        Lifetime::Workflow => Ok(None),
        Lifetime::For(duration) if duration.is_zero() => Err(M_LIFETIME),
        Lifetime::For(duration) => now.checked_add(duration).map(Some).ok_or(M_LIFETIME),
    }
}

impl Mint {
    /// Creates a mint that writes to a trail.
    #[must_use]
    pub const fn new(trail: Trail, rules: MintRules) -> Self {
        Self { trail, rules }
    }

    /// Returns the trail.
    #[must_use]
    pub const fn trail(&self) -> &Trail {
        &self.trail
    }

    /// Records a capability and then creates it.
    ///
    /// # Guarantees
    ///
    /// After `GrantState` its `capability_minted` is in the ledger, on disk as far as the ledger's durability
    /// specifies. After `Refused` a `mint_refused` is. After `Err` there is no capability.
    ///
    /// # Errors
    ///
    /// `trail/poisoned`, and those of the ledger.
    pub fn mint<S: Scope>(&self, request: Request<'_, S>) -> Result<MintCheck<S::Capability>, TrailError> {
        let Request { plugin, workflow, scope, lifetime } = request;
        let kind = <S::Capability as crate::Capability>::KIND;
        let value = scope.to_value();
        // The decision and its record are one step under the lock of the ledger. Two threads could otherwise
        // both take the last unit of a budget.
        let decided = self.trail.append_if(|fold, now| {
            let answer = self
                .decide(fold, workflow, &plugin, kind)
                .and_then(|(serial, warning)| Ok((serial, warning, end_of(lifetime, now)?)));
            match answer {
                Ok((serial, warning, expires)) => {
                    let wish = MintRequest {
                        plugin: plugin.as_str().to_owned(),
                        kind,
                        scope: value,
                        expires,
                        bundle: None,
                    };
                    (vec![wish.minted(workflow.id(), serial, warning)], Ok((serial, expires)))
                }
                // Refusals are recorded as well, so that a review shows what a plugin asked for.
                Err(row) => (vec![refused(workflow.id(), &plugin, kind.as_str(), row)], Err(row)),
            }
        })?;
        Ok(match decided.value {
            Ok((serial, expires)) => {
                // The record of a single grant is the only event of its append.
                let minted = decided.receipt.map_or(0, |receipt| receipt.first_seq());
                let key = GrantKey {
                    ledger: self.trail.ledger_id(),
                    workflow: workflow.id().clone(),
                    serial,
                    minted: Some(minted),
                };
                MintCheck::Minted(scope.build(grant(key, plugin, expires)))
            }
            Err(row) => MintCheck::Refused(MintRefusal(row)),
        })
    }

    fn decide(
        &self,
        fold: &TrailFold,
        workflow: &Workflow,
        plugin: &PluginName,
        kind: CapabilityKind,
    ) -> Result<(u64, Option<&'static str>), Row> {
        // A workflow of another ledger has no budget here.
        // Two ledgers can have workflows of the same name, so names alone do not identify one.
        if workflow.ledger() != self.trail.ledger_id() {
            return Err(M_CLOSED);
        }
        let open = fold.may_mint_in(workflow.id().as_str(), workflow.opened())?;
        let warning = open.may_mint(plugin.as_str(), kind, self.rules.raw_with_network)?;
        Ok((open.next_serial(), warning))
    }

    /// Records several capabilities of one plugin in one write, and then creates them: all or none.
    ///
    /// # Errors
    ///
    /// Those of [`Mint::mint`].
    pub fn bundle(
        &self,
        plugin: &PluginName,
        workflow: &Workflow,
        scopes: Vec<AnyScope>,
        lifetime: Lifetime,
    ) -> Result<MintCheck<CapabilityBundle>, TrailError> {
        let members: Vec<(CapabilityKind, RecordValue)> =
            scopes.iter().map(|scope| (scope.kind(), scope.to_value())).collect();
        let digest = bundle_digest(plugin, &members);
        let decided = self.trail.append_if(|fold, now| {
            let answer = self
                .decide_bundle(fold, workflow, plugin, &members)
                .and_then(|serials| Ok((serials, end_of(lifetime, now)?)));
            match answer {
                Ok((serials, expires)) => {
                    let wish = |(kind, scope): &(CapabilityKind, RecordValue)| {
                        let (plugin, scope) = (plugin.as_str().to_owned(), scope.clone());
                        MintRequest { plugin, kind: *kind, scope, expires, bundle: Some(digest) }
                    };
                    let minted = members.iter().zip(&serials);
                    let mut events: Vec<_> = minted
                        .map(|(member, (serial, warning))| {
                            wish(member).minted(workflow.id(), *serial, *warning)
                        })
                        .collect();
                    let serials: Vec<u64> = serials.into_iter().map(|(serial, _)| serial).collect();
                    events.push(LedgerEvent::BundleMinted {
                        workflow: workflow.id().as_str().to_owned(),
                        plugin: plugin.as_str().to_owned(),
                        bundle_digest: digest,
                        serials: serials.clone(),
                    });
                    (events, Ok((serials, expires)))
                }
                Err(row) => {
                    // A bundle is refused as a whole, so the record has the kind `bundle`.
                    (vec![refused(workflow.id(), plugin, "bundle", row)], Err(row))
                }
            }
        })?;
        Ok(match decided.value {
            Ok((serials, expires)) => {
                let first = decided.receipt.map_or(0, |receipt| receipt.first_seq());
                // The events of one append have consecutive sequence numbers, in the order of the members.
                let numbered = scopes.into_iter().zip(serials).zip(first..);
                let made = numbered.map(|((scope, serial), minted)| {
                    let key = GrantKey {
                        ledger: self.trail.ledger_id(),
                        workflow: workflow.id().clone(),
                        serial,
                        minted: Some(minted),
                    };
                    scope.build(grant(key, plugin.clone(), expires))
                });
                MintCheck::Minted(CapabilityBundle::of(made.collect()))
            }
            Err(row) => MintCheck::Refused(MintRefusal(row)),
        })
    }

    fn decide_bundle(
        &self,
        fold: &TrailFold,
        workflow: &Workflow,
        plugin: &PluginName,
        members: &[(CapabilityKind, RecordValue)],
    ) -> Result<Vec<(u64, Option<&'static str>)>, Row> {
        if workflow.ledger() != self.trail.ledger_id() {
            return Err(M_CLOSED);
        }
        let twice = |at: usize| members.iter().skip(at + 1).any(|other| members.get(at) == Some(other));
        // The limit also bounds the search for duplicates, which is quadratic.
        if !(1..=64).contains(&members.len()) || (0..members.len()).any(twice) {
            return Err(M_BUNDLE);
        }
        // Each member counts before the next one is decided.
        // A copy, because the whole bundle may still be refused and nothing of it may count then.
        let mut open = fold.may_mint_in(workflow.id().as_str(), workflow.opened())?.clone();
        let mut serials = Vec::new();
        for (kind, _) in members {
            let warning = open.may_mint(plugin.as_str(), *kind, self.rules.raw_with_network)?;
            let serial = open.next_serial();
            serials.push((serial, warning));
            let (plugin, kind) = (plugin.as_str().to_owned(), kind.as_str().to_owned());
            open.mint(serial, GrantState { plugin, kind, at: 0, expires: None, revoked: false });
        }
        Ok(serials)
    }
}

fn refused(workflow: &WorkflowId, plugin: &PluginName, kind: &str, row: Row) -> LedgerEvent {
    LedgerEvent::MintRefused {
        workflow: workflow.as_str().to_owned(),
        plugin: plugin.as_str().to_owned(),
        kind: kind.to_owned(),
        code: row.0.to_owned(),
    }
}

/// Hashes a bundle without serials and times, so that equal requests have equal digests.
fn bundle_digest(plugin: &PluginName, members: &[(CapabilityKind, RecordValue)]) -> LedgerDigest {
    let member = |(kind, scope): &(CapabilityKind, RecordValue)| {
        RecordValue::object([("kind", RecordValue::text(kind.as_str())), ("scope", scope.clone())])
    };
    let mut members: Vec<RecordValue> = members.iter().map(member).collect();
    // Sorted, so that the order of the request does not change the digest.
    members.sort_by_key(RecordValue::render);
    RecordValue::object([
        ("plugin", RecordValue::text(plugin.as_str())),
        ("members", RecordValue::List(members)),
    ])
    .digest()
}

/// Creates a grant. The fence checks that nothing else does.
const fn grant(key: GrantKey, plugin: PluginName, expires: Option<LedgerTime>) -> Grant {
    Grant { key, plugin, expires }
}

/// Creates a capability with serial 0, which no ordinary trail accepts. For tests of crates that take one.
///
/// # Panics
///
/// Never, because the two names are constants.
#[cfg(feature = "test-util")]
pub fn for_tests<S: Scope>(scope: S) -> S::Capability {
    let names = WorkflowId::new("tests").and_then(|workflow| Ok((workflow, PluginName::new("tests")?)));
    #[expect(clippy::expect_used, reason = "the two names are valid constants")]
    let (workflow, plugin) = names.expect("both names are printable");
    // Serials start at 1, so a production trail can tell this grant apart and refuses it.
    let key = GrantKey { ledger: LedgerId::from_bytes([0; 16]), workflow, serial: 0, minted: None };
    scope.build(grant(key, plugin, None))
}
