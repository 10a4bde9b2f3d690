//! Pinned offers, and the comparison of an offer with them.

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::{Digest, Finding};

use crate::mcp::item::{ClientCapabilities, ItemKind, Offer};

/// The digests that were pinned for each label.
pub(crate) type KnownItems = BTreeMap<String, BTreeSet<Digest>>;

/// How many names the text of an error has.
const MAX_NAMES: usize = 5;

/// One pin of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "every host must decide about a new field")]
pub struct PinnedSet {
    /// The names of the capabilities of the client that got the offer.
    pub capabilities: BTreeSet<String>,
    /// The digest of each item, by its label.
    pub items: BTreeMap<String, Digest>,
}

/// All pins of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "every host must decide about a new field")]
pub struct PinnedOffer {
    /// The name of the server in commands of plugward.
    pub server: String,
    /// The pins, one for each client and command.
    pub sets: Vec<PinnedSet>,
}

plugward_types::named! {
    /// The rule for items that are new.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[expect(clippy::exhaustive_enums, reason = "every host must handle a new rule")]
    pub enum NewItemRule {
        /// Pin them, if the scan has nothing against it.
        Pin = "pin",
        /// Ask the user.
        Ask = "ask",
        /// Refuse them.
        Refuse = "refuse",
    }
}

plugward_types::named! {
    /// How an item differs from the pins.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum ItemState {
        /// A pinned name with another definition.
        Changed = "changed",
        /// Another name, although the server was pinned for such a client.
        Added = "added",
        /// A name of a server without a pin for such a client.
        New = "new",
    }
}

/// An item that differs from the pins.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ItemDiff {
    /// The kind.
    pub kind: ItemKind,
    /// The name, as the server sent it.
    pub name: String,
    /// The position among the items of its kind, from 1.
    pub position: usize,
    /// The difference.
    pub state: ItemState,
    /// The digest of the item.
    pub digest: Digest,
}

/// The differences between an offer and its pins.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OfferDiff {
    /// The items that differ, in the order of the server.
    pub items: Vec<ItemDiff>,
}

/// The judgment of an offer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new judgment")]
pub enum OfferCheck {
    /// Each item is pinned.
    Same,
    /// Items are new and are pinned now.
    Pinned,
    /// Items are new, and the user must decide.
    Ask(OfferDiff),
    /// Items changed or were added, or are new where nothing new is pinned.
    Changed(OfferDiff),
    /// The scan found dangers.
    Refused(Vec<Finding>),
}

impl PinnedOffer {
    /// Returns the labels that every pin has and the offer does not have. They are a note, not a reason.
    #[must_use]
    pub fn missing(&self, offer: &Offer) -> Vec<String> {
        let offered: BTreeSet<String> = offer.items().iter().map(super::Item::label).collect();
        let Some((first, others)) = self.sets.split_first() else { return Vec::new() };
        let labels = first.items.keys();
        let expected = labels.filter(|label| others.iter().all(|set| set.items.contains_key(*label)));
        expected.filter(|label| !offered.contains(*label)).cloned().collect()
    }

    /// Returns the differences between an offer and the pins.
    #[must_use]
    pub fn diff(&self, offer: &Offer) -> OfferDiff {
        OfferDiff::new(offer, &self.known(), self.unknown_for(offer.client()))
    }

    pub(crate) fn known(&self) -> KnownItems {
        let mut known = KnownItems::new();
        for (label, digest) in self.sets.iter().flat_map(|set| &set.items) {
            known.entry(label.clone()).or_default().insert(*digest);
        }
        known
    }

    /// Returns the state of unknown names: new without a pin, or if the client has a capability that no pin knows.
    pub(crate) fn unknown_for(&self, client: &ClientCapabilities) -> ItemState {
        let is_pinned = |name: &String| self.sets.iter().any(|set| set.capabilities.contains(name));
        let is_known = !self.sets.is_empty() && client.names().iter().all(is_pinned);
        if is_known { ItemState::Added } else { ItemState::New }
    }
}

impl OfferCheck {
    /// Returns `true` if the offer may pass.
    #[must_use]
    pub const fn passes(&self) -> bool {
        matches!(self, Self::Same | Self::Pinned)
    }

    /// Returns the text for a host, or `None` if the offer passes. Names of the server are in it only if they are plain.
    #[must_use]
    pub fn text(&self, server: &str) -> Option<String> {
        let reason = match self {
            Self::Same | Self::Pinned => return None,
            Self::Ask(diff) | Self::Changed(diff) => diff.text(),
            Self::Refused(findings) => {
                let count = findings.len();
                format!(
                    "the scan of the offer found {count} {}",
                    if count == 1 { "danger" } else { "dangers" }
                )
            }
        };
        Some(format!("{reason}; run: plugward mcp tools {server}"))
    }
}

impl OfferDiff {
    /// Compares an offer with known items. `unknown` is the state of unknown names.
    pub(crate) fn new(offer: &Offer, known: &KnownItems, unknown: ItemState) -> Self {
        let mut positions: BTreeMap<ItemKind, usize> = BTreeMap::new();
        let mut items = Vec::new();
        for item in offer.items() {
            let position = positions.entry(item.kind()).or_default();
            *position = position.saturating_add(1);
            let state = match known.get(&item.label()) {
                Some(digests) if digests.contains(&item.digest()) => continue,
                Some(_) => ItemState::Changed,
                None => unknown,
            };
            let (kind, name, position) = (item.kind(), item.name().to_owned(), *position);
            items.push(ItemDiff { kind, name, position, state, digest: item.digest() });
        }
        Self { items }
    }

    /// Judges the differences, without a scan.
    pub fn check(self, rule: NewItemRule) -> OfferCheck {
        if self.items.is_empty() {
            return OfferCheck::Same;
        }
        let all_new = self.items.iter().all(|item| item.state == ItemState::New);
        match rule {
            NewItemRule::Pin if all_new => OfferCheck::Pinned,
            NewItemRule::Ask if all_new => OfferCheck::Ask(self),
            NewItemRule::Pin | NewItemRule::Ask | NewItemRule::Refuse => OfferCheck::Changed(self),
        }
    }

    fn text(&self) -> String {
        // The caller could not compare or pin the offer.
        if self.items.is_empty() {
            return "the offer cannot be judged".to_owned();
        }
        let groups = ItemState::ALL.iter().flat_map(|state| ItemKind::ALL.map(|kind| (*state, kind)));
        let parts = groups.filter_map(|(state, kind)| {
            let count = self.items.iter().filter(|item| (item.state, item.kind) == (state, kind)).count();
            (count > 0).then(|| part(state, kind, count))
        });
        let parts: Vec<String> = parts.collect();
        let since = match &*self.items {
            items if items.iter().all(|item| item.state == ItemState::New) => "",
            [item] if item.kind != ItemKind::Instructions => " since it was pinned",
            _ => " since they were pinned",
        };
        let mut names: Vec<String> = self.items.iter().take(MAX_NAMES).map(ItemDiff::shown).collect();
        if self.items.len() > MAX_NAMES {
            names.push("…".to_owned());
        }
        format!("{}{since} ({})", parts.join(", "), names.join(", "))
    }
}

impl ItemDiff {
    /// Returns the name if it is plain, or else the position: names are texts of the server, and the host may show them to a model.
    fn shown(&self) -> String {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-');
        if (1..=64).contains(&self.name.len()) && self.name.bytes().all(is_plain) {
            return self.name.clone();
        }
        if self.kind == ItemKind::Instructions {
            self.kind.to_string()
        } else {
            format!("{} {}", self.kind, self.position)
        }
    }
}

fn part(state: ItemState, kind: ItemKind, count: usize) -> String {
    let (subject, is_one) = match (kind, count) {
        (ItemKind::Instructions, _) => (kind.to_string(), false),
        (_, 1) => (format!("1 {kind}"), true),
        (_, _) => (format!("{count} {kind}s"), false),
    };
    let verb = match state {
        ItemState::Changed => "changed",
        ItemState::Added if is_one => "was added",
        ItemState::Added => "were added",
        ItemState::New if is_one => "is not pinned",
        ItemState::New => "are not pinned",
    };
    format!("{subject} {verb}")
}
