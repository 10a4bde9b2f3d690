//! The only way to a capability.

use core::fmt;
use core::time::Duration;

use plugward_ledger::{Event, LedgerId, Sum, Timestamp, Value};

use crate::bundle::{AnyScope, CapabilityBundle};
use crate::error::{M_BUNDLE, M_CLOSED, M_LIFETIME, Row, TrailError};
use crate::fold::{Minted, TrailFold};
use crate::kind::{Kind, Scope};
use crate::name::{Name, WorkflowId};
use crate::trail::{Trail, Workflow};

/// What makes a scope a capability. Nothing outside this module makes one.
#[derive(Debug)]
#[expect(unnameable_types, reason = "sealed: only this crate may name it, and only this module can make one")]
pub struct Grant {
    key: GrantKey,
    plugin: Name,
    expires: Option<Timestamp>,
}

/// Identifies a capability: the ledger, the unit of work, and its number there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GrantKey {
    ledger: LedgerId,
    workflow: WorkflowId,
    serial: u64,
    /// The `seq` of its record: tells it from one of an earlier unit of work under the same id.
    minted: Option<u64>,
}

impl GrantKey {
    /// Puts the three parts together, to revoke a capability that is known from the ledger alone.
    #[must_use]
    pub const fn new(ledger: LedgerId, workflow: WorkflowId, serial: u64) -> Self {
        Self { ledger, workflow, serial, minted: None }
    }

    /// Names the ledger.
    #[must_use]
    pub const fn ledger(&self) -> LedgerId {
        self.ledger
    }

    /// Names the unit of work.
    #[must_use]
    pub const fn workflow(&self) -> &WorkflowId {
        &self.workflow
    }

    pub(crate) const fn minted(&self) -> Option<u64> {
        self.minted
    }

    /// Gives the number, from 1 in its unit of work; 0 for one that is for tests.
    #[must_use]
    pub const fn serial(&self) -> u64 {
        self.serial
    }
}

impl Grant {
    pub(crate) const fn plugin(&self) -> &Name {
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
        kind: Kind,
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

/// How long a capability lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third way")]
pub enum Lifetime {
    /// Until its unit of work is closed.
    Workflow,
    /// At most so long.
    For(Duration),
}

/// What to do where one plugin would get raw hook output and a way to the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third way")]
pub enum RawWithNetwork {
    /// The later of the two is not minted.
    Refuse,
    /// It is minted, and its record carries a warning.
    Record,
}

/// What a mint goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "required rules without defaults: a new one must stop every host from building"
)]
pub struct MintRules {
    /// Raw hook output together with a way to the network.
    pub raw_with_network: RawWithNetwork,
}

/// A wish for one capability.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "all four parts are required")]
pub struct Request<'w, S> {
    /// Who would have it.
    pub plugin: Name,
    /// The unit of work.
    pub workflow: &'w Workflow,
    /// What it would be for.
    pub scope: S,
    /// How long it would last.
    pub lifetime: Lifetime,
}

/// Why a mint said no. The no is on the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MintRefusal(Row);

impl MintRefusal {
    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.0.0
    }

    /// Says what to do next.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        self.0.1
    }
}

/// The answer of a mint.
#[derive(Debug)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum MintCheck<C> {
    /// It was recorded, and here it is.
    Minted(C),
    /// It was not made, and that was recorded.
    Refused(MintRefusal),
}

/// The value that may mint. The loader makes one at its start and hands it down; who has none mints nothing.
///
/// # Source
/// SPEC 4.7: `mint(plugin, scope)`, whose event sink was empty. Here no capability exists whose record does not.
#[derive(Debug)]
pub struct Mint {
    trail: Trail,
    rules: MintRules,
}

struct Wish {
    plugin: String,
    kind: Kind,
    scope: Value,
    expires: Option<Timestamp>,
    bundle: Option<Sum>,
}

impl Wish {
    fn minted(self, workflow: &WorkflowId, serial: u64, warning: Option<&'static str>) -> Event {
        Event::CapabilityMinted {
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

fn end_of(lifetime: Lifetime, now: Timestamp) -> Result<Option<Timestamp>, Row> {
    match lifetime {
        Lifetime::Workflow => Ok(None),
        Lifetime::For(duration) if duration.is_zero() => Err(M_LIFETIME),
        Lifetime::For(duration) => now.checked_add(duration).map(Some).ok_or(M_LIFETIME),
    }
}

impl Mint {
    /// Makes a mint that writes to a trail.
    #[must_use]
    pub const fn new(trail: Trail, rules: MintRules) -> Self {
        Self { trail, rules }
    }

    /// Gives the trail that it writes to.
    #[must_use]
    pub const fn trail(&self) -> &Trail {
        &self.trail
    }

    /// Records a capability and then makes it.
    ///
    /// # Guarantees
    /// After `Minted` its `capability_minted` stands in the ledger, on the disk as far as the ledger's durability says. After `Refused` a
    /// `mint_refused` does. After `Err` there is no capability.
    ///
    /// # Errors
    /// Those of the ledger, and `trail/poisoned`.
    pub fn mint<S: Scope>(&self, request: Request<'_, S>) -> Result<MintCheck<S::Capability>, TrailError> {
        let Request { plugin, workflow, scope, lifetime } = request;
        let kind = <S::Capability as crate::Capability>::KIND;
        let value = scope.to_value();
        let decided = self.trail.append_if(|fold, now| {
            let answer = self
                .decide(fold, workflow, &plugin, kind)
                .and_then(|(serial, warning)| Ok((serial, warning, end_of(lifetime, now)?)));
            match answer {
                Ok((serial, warning, expires)) => {
                    let wish = Wish {
                        plugin: plugin.as_str().to_owned(),
                        kind,
                        scope: value,
                        expires,
                        bundle: None,
                    };
                    (vec![wish.minted(workflow.id(), serial, warning)], Ok((serial, expires)))
                }
                Err(row) => (vec![refused(workflow.id(), &plugin, kind.as_str(), row)], Err(row)),
            }
        })?;
        Ok(match decided.value {
            Ok((serial, expires)) => {
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
        plugin: &Name,
        kind: Kind,
    ) -> Result<(u64, Option<&'static str>), Row> {
        if workflow.ledger() != self.trail.ledger_id() {
            return Err(M_CLOSED);
        }
        let open = fold.may_mint_in(workflow.id().as_str(), workflow.opened())?;
        let warning = open.may_mint(plugin.as_str(), kind, self.rules.raw_with_network)?;
        Ok((open.next_serial(), warning))
    }

    /// Records several capabilities of one plugin in one write, and then makes them: all or none.
    ///
    /// # Errors
    /// Those of [`Mint::mint`].
    pub fn bundle(
        &self,
        plugin: &Name,
        workflow: &Workflow,
        scopes: Vec<AnyScope>,
        lifetime: Lifetime,
    ) -> Result<MintCheck<CapabilityBundle>, TrailError> {
        let members: Vec<(Kind, Value)> =
            scopes.iter().map(|scope| (scope.kind(), scope.to_value())).collect();
        let digest = bundle_digest(plugin, &members);
        let decided = self.trail.append_if(|fold, now| {
            let answer = self
                .decide_bundle(fold, workflow, plugin, &members)
                .and_then(|serials| Ok((serials, end_of(lifetime, now)?)));
            match answer {
                Ok((serials, expires)) => {
                    let wish = |(kind, scope): &(Kind, Value)| {
                        let (plugin, scope) = (plugin.as_str().to_owned(), scope.clone());
                        Wish { plugin, kind: *kind, scope, expires, bundle: Some(digest) }
                    };
                    let minted = members.iter().zip(&serials);
                    let mut events: Vec<_> = minted
                        .map(|(member, (serial, warning))| {
                            wish(member).minted(workflow.id(), *serial, *warning)
                        })
                        .collect();
                    let serials: Vec<u64> = serials.into_iter().map(|(serial, _)| serial).collect();
                    events.push(Event::BundleMinted {
                        workflow: workflow.id().as_str().to_owned(),
                        plugin: plugin.as_str().to_owned(),
                        bundle_digest: digest,
                        serials: serials.clone(),
                    });
                    (events, Ok((serials, expires)))
                }
                Err(row) => {
                    // A bundle is refused as a whole; its record says so in place of a kind.
                    (vec![refused(workflow.id(), plugin, "bundle", row)], Err(row))
                }
            }
        })?;
        Ok(match decided.value {
            Ok((serials, expires)) => {
                let first = decided.receipt.map_or(0, |receipt| receipt.first_seq());
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
        plugin: &Name,
        members: &[(Kind, Value)],
    ) -> Result<Vec<(u64, Option<&'static str>)>, Row> {
        if workflow.ledger() != self.trail.ledger_id() {
            return Err(M_CLOSED);
        }
        let twice =
            |at: usize| members.iter().skip(at.saturating_add(1)).any(|other| members.get(at) == Some(other));
        if !(1..=64).contains(&members.len()) || (0..members.len()).any(twice) {
            return Err(M_BUNDLE);
        }
        // Each member counts before the next one is decided.
        let mut open = fold.may_mint_in(workflow.id().as_str(), workflow.opened())?.clone();
        let mut serials = Vec::new();
        for (kind, _) in members {
            let warning = open.may_mint(plugin.as_str(), *kind, self.rules.raw_with_network)?;
            let serial = open.next_serial();
            serials.push((serial, warning));
            let (plugin, kind) = (plugin.as_str().to_owned(), kind.as_str().to_owned());
            open.mint(serial, Minted { plugin, kind, at: 0, expires: None, revoked: false });
        }
        Ok(serials)
    }
}

fn refused(workflow: &WorkflowId, plugin: &Name, kind: &str, row: Row) -> Event {
    Event::MintRefused {
        workflow: workflow.as_str().to_owned(),
        plugin: plugin.as_str().to_owned(),
        kind: kind.to_owned(),
        code: row.0.to_owned(),
    }
}

/// Hashes what was asked for, without serials and times: the same request has the same digest.
fn bundle_digest(plugin: &Name, members: &[(Kind, Value)]) -> Sum {
    let member = |(kind, scope): &(Kind, Value)| {
        Value::object([("kind", Value::text(kind.as_str())), ("scope", scope.clone())])
    };
    let mut members: Vec<Value> = members.iter().map(member).collect();
    members.sort_by_key(Value::render);
    Value::object([("plugin", Value::text(plugin.as_str())), ("members", Value::List(members))]).digest()
}

/// The one place where a grant is made.
const fn grant(key: GrantKey, plugin: Name, expires: Option<Timestamp>) -> Grant {
    Grant { key, plugin, expires }
}

/// Makes a capability that no ordinary trail accepts: it has serial 0. For tests of whoever takes one.
///
/// # Panics
/// Never: the two names are fixed.
#[cfg(feature = "test-util")]
pub fn for_tests<S: Scope>(scope: S) -> S::Capability {
    let names = WorkflowId::new("tests").and_then(|workflow| Ok((workflow, Name::new("tests")?)));
    #[expect(clippy::expect_used, reason = "two fixed names that are good")]
    let (workflow, plugin) = names.expect("both names are printable");
    let key = GrantKey { ledger: LedgerId::from_bytes([0; 16]), workflow, serial: 0, minted: None };
    scope.build(grant(key, plugin, None))
}
