//! Decides about offers: compares them with the pins, scans what is new, and pins it.

use std::collections::{BTreeMap, BTreeSet};

use plugward_pinstore::{Change, ChangeOutcome, McpOwner, McpPin, Timestamp};
use plugward_protocol::{
    ClientCapabilities, Item, ItemDiff, ItemState, NewItemRule, Offer, OfferCheck, OfferDiff, OfferExtent,
    PinnedOffer, PinnedSet, ProtocolError, ProxySession,
};
use plugward_scanner::{Content, Entry, FileKind, Profile, RoleHint, Rules, ScanError, ScanOptions};
use plugward_types::{Digest, FileRole, Finding, Severity};
use serde_json::Value;

use crate::contents::hash::sha256;
use crate::mcp::offers::{OfferStore, OfferStoreError, StoredOffer};
use crate::run::options::ScanAsk;
use crate::state::pins::{PinStore, StoreFailure};

/// How often a pin is tried again after another process changed the pins of the server.
const TRIES: usize = 8;

/// A server, and how pins and commands name it.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "every host must decide about a new field")]
pub struct McpServer {
    /// The owner of its pins.
    pub owner: McpOwner,
    /// The name in the pins.
    pub name: String,
    /// The name in commands of plugward.
    pub shown: String,
    /// The command that starts it, without private paths.
    pub command: Vec<String>,
    /// The directory in which the command of a user starts; empty for a server of a plugin.
    pub directory: String,
}

/// The rules for new items.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "every host must decide about a new rule")]
pub struct OfferRules<'r> {
    /// The rules of the scan.
    pub scan: &'r Rules,
    /// Whether new items are pinned.
    pub new: NewItemRule,
    /// What suspicious findings mean.
    pub ask: ScanAsk,
    /// The time of pins.
    pub now: Timestamp,
}

/// Offers cannot be judged or pinned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OfferFailure {
    /// The pins cannot be read or written.
    #[error(transparent)]
    Pins(#[from] StoreFailure),
    /// The texts of offers cannot be read or written.
    #[error(transparent)]
    Texts(#[from] OfferStoreError),
    /// The scan failed.
    #[error("the scan of the offer failed: {0}")]
    Scan(#[from] ScanError),
    /// A stored offer cannot be used.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The plugin of the server has no pin, or other processes change the pins all the time.
    #[error("the offer cannot be pinned: {0}")]
    NotPinned(&'static str),
}

/// The judgment of the last offer that was not as pinned.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "every host must decide about a new field")]
pub struct OfferOutcome {
    /// The judgment.
    pub check: OfferCheck,
    /// The digest of the offer.
    pub set: Digest,
    /// The findings in new and changed items, each with the label of its item.
    pub findings: Vec<(String, Finding)>,
}

/// The result of accepting a stored offer.
#[derive(Debug)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new result")]
pub enum OfferAcceptance {
    /// The offer is pinned.
    Pinned,
    /// No offer with this digest is stored.
    Unknown,
    /// The server was ended before it had listed everything, so the rest was not reviewed.
    Part,
    /// The scan found dangers. Each finding has the label of its item.
    Refused(Vec<(String, Finding)>),
}

/// An offer next to its pins, for a review.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "every host must decide about a new field")]
pub struct OfferView {
    /// The digest of the offer.
    pub set: Digest,
    /// The digest of the pinned offer that was used last.
    pub pinned: Option<Digest>,
    /// The worst state of an item; `None` if all are pinned.
    pub state: Option<ItemState>,
    /// The items, in the order of the server.
    pub items: Vec<ViewedItem>,
    /// The labels of pinned items that are not offered.
    pub missing: Vec<String>,
    /// The findings in items that are not pinned, each with the label of its item.
    pub findings: Vec<(String, Finding)>,
}

/// An item next to its pin.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "every host must decide about a new field")]
pub struct ViewedItem {
    /// The item.
    pub item: Item,
    /// The state; `None` if it is pinned.
    pub state: Option<ItemState>,
    /// The names of the changed members; `None` if the pinned text is not known.
    pub fields: Option<Vec<String>>,
    /// The pinned text of a changed item, if it is known.
    pub old: Option<Value>,
}

/// Judges the offers of one session, and pins them.
#[derive(Debug)]
pub struct OfferJudge<'a> {
    server: McpServer,
    pins: &'a mut PinStore,
    texts: OfferStore,
    rules: OfferRules<'a>,
    /// The items of the complete offer, and what was judged later.
    seen: Option<Vec<Item>>,
    outcome: Option<OfferOutcome>,
}

impl<'a> OfferJudge<'a> {
    /// Creates a judge for a session of a server.
    #[must_use]
    pub const fn new(
        server: McpServer,
        pins: &'a mut PinStore,
        texts: OfferStore,
        rules: OfferRules<'a>,
    ) -> Self {
        Self { server, pins, texts, rules, seen: None, outcome: None }
    }

    /// Returns the pins of the server, for a session.
    #[must_use]
    pub fn pinned(&self) -> PinnedOffer {
        let set =
            |pin: &&McpPin| PinnedSet { capabilities: pin.capabilities.clone(), items: pin.items.clone() };
        PinnedOffer { server: self.server.shown.clone(), sets: self.pins_of().iter().map(set).collect() }
    }

    /// Starts a session with the pins of the server.
    #[must_use]
    pub fn session(&self) -> ProxySession {
        ProxySession::new(self.pinned(), self.rules.new)
    }

    /// Returns the judgment of the last offer that was not as pinned.
    pub const fn take_outcome(&mut self) -> Option<OfferOutcome> {
        self.outcome.take()
    }

    fn pins_of(&self) -> Vec<&McpPin> {
        let pins = self.pins.pins();
        pins.map(|pins| pins.mcp(&self.server.owner, &self.server.name)).unwrap_or_default()
    }

    /// Judges an offer of a session. A withheld offer is stored for a review, and a new one is pinned as the rules say.
    ///
    /// # Errors
    /// [`OfferFailure`]. The offer must then be withheld.
    pub fn judge(
        &mut self,
        session: &ProxySession,
        offer: &Offer,
        check: OfferCheck,
    ) -> Result<OfferCheck, OfferFailure> {
        let first = first_request(session)?;
        if check == OfferCheck::Same {
            return self.same(first, offer);
        }
        let diff = self.pinned().diff(offer);
        let findings = self.scan(offer, &diff)?;
        let has = |severity| findings.iter().any(|(_, one)| one.severity == severity);
        let is_asked = has(Severity::Warning) && self.rules.ask == ScanAsk::Ask;
        let check = match check {
            OfferCheck::Pinned | OfferCheck::Ask(_) | OfferCheck::Changed(_) if has(Severity::Danger) => {
                OfferCheck::Refused(
                    findings
                        .iter()
                        .map(|(_, one)| one.clone())
                        .filter(|one| one.severity == Severity::Danger)
                        .collect(),
                )
            }
            OfferCheck::Pinned if is_asked => OfferCheck::Ask(diff),
            OfferCheck::Pinned => self.enroll(first, offer)?,
            check => check,
        };
        if !check.passes() {
            self.keep_withheld(first, offer)?;
        }
        self.outcome = Some(OfferOutcome { check: check.clone(), set: offer.set_digest(), findings });
        Ok(check)
    }

    /// An offer whose items are all pinned is pinned for this client, too: later, its other items are added ones.
    fn same(&mut self, first: &str, offer: &Offer) -> Result<OfferCheck, OfferFailure> {
        let key = offer.key(&self.server.command);
        let is_pinned = self.pins_of().iter().any(|pin| pin.key == key && !self.is_old(pin));
        if !offer.is_complete() || is_pinned || self.rules.new != NewItemRule::Pin {
            if offer.is_complete() {
                self.seen = Some(offer.items().to_vec());
                // The user moved a damaged file away.
                if self.texts.is_new() {
                    self.texts.add(&StoredOffer { is_withheld: false, ..self.stored(first, offer) })?;
                }
            }
            return Ok(OfferCheck::Same);
        }
        self.enroll(first, offer).map(|check| if check.passes() { OfferCheck::Same } else { check })
    }

    /// Returns `true` if the last use of a pin must be written.
    fn is_old(&self, pin: &McpPin) -> bool {
        let used = pin.used.map_or(0, Timestamp::unix_seconds);
        self.rules.now.unix_seconds().abs_diff(used) >= 24 * 60 * 60
    }

    /// Pins an offer. A part of one is pinned with the items before it, and before the complete offer it waits for that.
    fn enroll(&mut self, first: &str, offer: &Offer) -> Result<OfferCheck, OfferFailure> {
        let items = match (&self.seen, offer.is_complete()) {
            (_, true) => offer.items().to_vec(),
            (None, false) => return Ok(OfferCheck::Pinned),
            (Some(seen), false) => seen.iter().chain(offer.items()).cloned().collect(),
        };
        let whole = Offer::new(items, offer.client().clone())?;
        let check = self.pin(&whole)?;
        if check.passes() {
            self.texts.add(&StoredOffer { is_withheld: false, ..self.stored(first, &whole) })?;
            self.seen = Some(whole.items().to_vec());
        }
        Ok(check)
    }

    fn pin(&mut self, offer: &Offer) -> Result<OfferCheck, OfferFailure> {
        for _ in 0..TRIES {
            let key = offer.key(&self.server.command);
            let old = self.pins_of().into_iter().find(|pin| pin.key == key).cloned();
            // Items that this client got before stay pinned if the server offers fewer.
            let kept = old.filter(|_| self.pinned().diff(offer).items.is_empty());
            let pin = kept
                .unwrap_or_else(|| pin_of(offer.set_digest(), key, offer.client().names(), offer.items()));
            match self.commit(pin)? {
                ChangeOutcome::Done | ChangeOutcome::Already => return Ok(OfferCheck::Pinned),
                // The pins are those of the other process now.
                ChangeOutcome::McpRaced { .. } => {
                    let check = self.pinned().diff(offer).check(self.rules.new);
                    if !check.passes() {
                        return Ok(check);
                    }
                }
                _ => return Err(OfferFailure::NotPinned("its plugin is not pinned")),
            }
        }
        Err(OfferFailure::NotPinned("other processes change the pins of the server"))
    }

    fn commit(&mut self, pin: McpPin) -> Result<ChangeOutcome, OfferFailure> {
        let expected = self.pins_of().iter().map(|pin| pin.set).collect();
        let (owner, server) = (self.server.owner.clone(), self.server.name.clone());
        let report =
            self.pins.commit(vec![Change::McpPin { owner, server, pin, expected }], self.rules.now)?;
        report.outcomes.into_iter().next().ok_or(OfferFailure::NotPinned("no change was made"))
    }

    /// Stores a later list that was withheld.
    ///
    /// # Errors
    /// [`OfferFailure`] if it cannot be scanned or stored.
    pub fn withheld(
        &mut self,
        session: &ProxySession,
        offer: &Offer,
        check: &OfferCheck,
    ) -> Result<(), OfferFailure> {
        // The list is one page, and a review is about all items: what is not in the page was judged before.
        let labels: BTreeSet<String> = offer.items().iter().map(Item::label).collect();
        let others = self.seen.iter().flatten().filter(|item| !labels.contains(&item.label()));
        let items = others.chain(offer.items()).cloned().collect();
        let whole = Offer::new(items, offer.client().clone())?;
        let findings = self.scan(offer, &self.pinned().diff(offer))?;
        let is_part = offer.extent() == OfferExtent::Part;
        self.texts.add(&StoredOffer { is_part, ..self.stored(first_request(session)?, &whole) })?;
        self.outcome = Some(OfferOutcome { check: check.clone(), set: whole.set_digest(), findings });
        Ok(())
    }

    fn keep_withheld(&self, first: &str, offer: &Offer) -> Result<(), OfferFailure> {
        Ok(self.texts.add(&self.stored(first, offer))?)
    }

    fn stored(&self, first: &str, offer: &Offer) -> StoredOffer {
        StoredOffer {
            set: offer.set_digest(),
            key: offer.key(&self.server.command),
            first: first.to_owned(),
            capabilities: offer.client().names(),
            items: offer.items().to_vec(),
            command: self.server.command.clone(),
            directory: self.server.directory.clone(),
            is_withheld: true,
            is_part: offer.extent() == OfferExtent::Part,
        }
    }

    /// Scans the items of a difference as prompts. Returns the findings with the labels of the items.
    fn scan(&self, offer: &Offer, diff: &OfferDiff) -> Result<Vec<(String, Finding)>, OfferFailure> {
        let differs: BTreeSet<Digest> = diff.items.iter().map(|item| item.digest).collect();
        let items = offer.items().iter().filter(|item| differs.contains(&item.digest()));
        let texts: Vec<(String, String, String)> = items
            .enumerate()
            // Names of items can contain any character.
            .map(|(at, item)| {
                (format!("{}-{at}.json", item.kind()), item.label(), format!("{:#}\n", item.json()))
            })
            .collect();
        let entries: Vec<Entry<'_>> = texts
            .iter()
            .map(|(path, _, text)| Entry {
                path,
                content: Content::Bytes { bytes: text.as_bytes(), digest: sha256(text.as_bytes()) },
                role: RoleHint::role(FileKind::Prompt).used_as(FileRole::ModelRead),
            })
            .collect();
        let report = plugward_scanner::scan(self.rules.scan, &ScanOptions::new(Profile::General), &entries)?;
        let labels: BTreeMap<&str, &str> =
            texts.iter().map(|(path, label, _)| (path.as_str(), label.as_str())).collect();
        let label = |one: &Finding| {
            labels.get(one.path.as_str()).map_or_else(|| one.path.clone(), ToString::to_string)
        };
        Ok(report.findings().iter().map(|one| (label(one), one.clone())).collect())
    }

    /// Returns an offer next to its pins.
    ///
    /// # Errors
    /// [`OfferFailure`] if the offer cannot be scanned, or the stored texts cannot be read.
    pub fn view(&self, offer: &Offer) -> Result<OfferView, OfferFailure> {
        let pinned = self.pinned();
        let diff = pinned.diff(offer);
        let texts = self.texts.read()?;
        let state = |item: &Item| {
            let found = diff.items.iter().find(|one| (one.kind, &*one.name) == (item.kind(), item.name()));
            found.map(|one: &ItemDiff| one.state)
        };
        let view = |item: &Item| {
            let state = state(item);
            let known = pinned.sets.iter().filter_map(|set| set.items.get(&item.label()));
            let known: BTreeSet<Digest> = known.copied().collect();
            let old = texts.iter().flat_map(|offer| &offer.items);
            let mut old = old.filter(|old| old.kind() == item.kind() && known.contains(&old.digest()));
            let old =
                old.next_back().filter(|_| state == Some(ItemState::Changed)).map(|old| old.json().clone());
            let fields = match state {
                Some(ItemState::Changed) => old.as_ref().map(|old| changed(old, item.json())),
                _ => Some(Vec::new()),
            };
            ViewedItem { item: item.clone(), state, fields, old }
        };
        let latest = self.pins_of().into_iter().max_by_key(|pin| pin.used);
        Ok(OfferView {
            set: offer.set_digest(),
            pinned: latest.map(|pin| pin.set),
            state: diff.items.iter().map(|item| item.state).min(),
            items: offer.items().iter().map(view).collect(),
            missing: pinned.missing(offer),
            findings: self.scan(offer, &diff)?,
        })
    }

    /// Stores an offer for a later [`accept`](Self::accept), whatever the pins say.
    ///
    /// # Errors
    /// [`OfferFailure`] if it cannot be stored.
    pub fn keep_for_review(&self, session: &ProxySession, offer: &Offer) -> Result<(), OfferFailure> {
        self.keep_withheld(first_request(session)?, offer)
    }

    /// Pins the stored offer with a digest, unless the scan finds dangers in it.
    ///
    /// # Errors
    /// [`OfferFailure`].
    pub fn accept(&mut self, set: Digest) -> Result<OfferAcceptance, OfferFailure> {
        let offers = self.texts.read()?;
        // The digest is computed again, because the stored texts are never a grant.
        let is_wanted = |offer: &StoredOffer| {
            let whole = Offer::new(offer.items.clone(), ClientCapabilities::default()).ok()?;
            (whole.set_digest() == set).then_some(whole)
        };
        let wanted = offers.into_iter().rev().filter_map(|offer| Some((is_wanted(&offer)?, offer)));
        // One with the same items can have been listed to its end.
        let Some((whole, offer)) = wanted.min_by_key(|(_, offer)| offer.is_part) else {
            return Ok(OfferAcceptance::Unknown);
        };
        if offer.is_part {
            return Ok(OfferAcceptance::Part);
        }
        let findings = self.scan(&whole, &self.pinned().diff(&whole))?;
        if findings.iter().any(|(_, one)| one.severity == Severity::Danger) {
            return Ok(OfferAcceptance::Refused(findings));
        }
        for _ in 0..TRIES {
            let pin = pin_of(set, offer.key, offer.capabilities.clone(), &offer.items);
            match self.commit(pin)? {
                ChangeOutcome::Done | ChangeOutcome::Already => {
                    self.texts.add(&StoredOffer { is_withheld: false, ..offer })?;
                    return Ok(OfferAcceptance::Pinned);
                }
                ChangeOutcome::McpRaced { .. } => {}
                _ => return Err(OfferFailure::NotPinned("its plugin is not pinned")),
            }
        }
        Err(OfferFailure::NotPinned("other processes change the pins of the server"))
    }
}

/// Returns the request with which a later review starts the server again.
fn first_request(session: &ProxySession) -> Result<&str, OfferFailure> {
    session.first_request().ok_or(OfferFailure::NotPinned("the host made no request"))
}

fn pin_of(set: Digest, key: Digest, capabilities: BTreeSet<String>, items: &[Item]) -> McpPin {
    let items = items.iter().map(|item| (item.label(), item.digest())).collect();
    McpPin { set, key, capabilities, items, used: None }
}

/// Returns the names of the members that differ.
fn changed(old: &Value, new: &Value) -> Vec<String> {
    let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else { return vec!["text".to_owned()] };
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    names.into_iter().filter(|name| old.get(*name) != new.get(*name)).cloned().collect()
}
