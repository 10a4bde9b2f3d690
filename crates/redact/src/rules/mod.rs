//! The rules: the table of prefixed keys, the matchers for keys in context, and what all matchers share.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

mod automaton;
pub(crate) mod context;
pub(crate) mod documents;
pub(crate) mod entropy;
pub(crate) mod examples;
pub(crate) mod placeholder;
pub(crate) mod prefixed;
pub(crate) mod set;

use core::cell::{Cell, RefCell};
use core::ops::Range;

use crate::bytes::{Class, part};
use crate::firewall::settings::ExampleMode;
use crate::redacted::finding::{ChecksumCheck, LayerStack, RedactAction};
use documents::{jwt, k8s, pem};
use prefixed::special;
pub(crate) use set::RuleSet;

/// The text under the matchers, with the settings that apply to them.
#[derive(Debug)]
pub(crate) struct MatchContext<'t> {
    pub(crate) text: &'t [u8],
    /// Whether documented example keys and masked values are kept.
    pub(crate) examples: ExampleMode,
    /// Whether only prefixed keys are searched. Set for views that join text, where a name and a value can
    /// meet by chance.
    pub(crate) prefixed_only: bool,
    /// Whether the pack of password hashes is on.
    pub(crate) hashes: bool,
    /// What was examined already, so that a repeated keyword costs as much as one.
    pub(crate) memo: Memo,
}

/// How far the matchers with a long reach have come. Marks arrive in the order of the text.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    secret: Cell<usize>,
    jwk: Cell<usize>,
    cookie: Cell<usize>,
    /// The end of the last prefixed key.
    key: Cell<usize>,
    /// The class and end of the last long run that was not a key.
    run: Cell<(Class, usize)>,
    custom: RefCell<Vec<usize>>,
}

impl Memo {
    pub(crate) fn seen_secret(&self, place: usize) -> bool {
        place < self.secret.get()
    }

    pub(crate) fn note_secret(&self, end: usize) {
        self.secret.set(end);
    }

    pub(crate) fn seen_jwk(&self, place: usize) -> bool {
        place < self.jwk.get()
    }

    pub(crate) fn note_jwk(&self, end: usize) {
        self.jwk.set(end);
    }

    pub(crate) fn seen_cookie(&self, place: usize) -> bool {
        place < self.cookie.get()
    }

    pub(crate) fn note_cookie(&self, end: usize) {
        self.cookie.set(end);
    }

    pub(crate) fn seen_key(&self, place: usize) -> bool {
        place < self.key.get()
    }

    pub(crate) fn note_key(&self, end: usize) {
        self.key.set(end);
    }

    /// Returns `true` if an offset is in a long run that was examined and was not a key.
    pub(crate) fn dull_run(&self, class: Class, place: usize) -> bool {
        let (known, end) = self.run.get();
        known == class && place < end
    }

    pub(crate) fn note_dull(&self, class: Class, start: usize, end: usize) {
        if end.saturating_sub(start) > 1024 {
            self.run.set((class, end));
        }
    }

    /// Returns how far a custom rule has read, and stores how far it will have read.
    pub(crate) fn custom(&self, index: usize, until: usize) -> usize {
        let mut list = self.custom.borrow_mut();
        if list.len() <= index {
            list.resize(index + 1, 0);
        }
        list.get_mut(index).map_or(0, |slot| core::mem::replace(slot, until.max(*slot)))
    }

    /// Returns how far a custom rule has read.
    pub(crate) fn custom_read(&self, index: usize) -> usize {
        self.custom.borrow().get(index).copied().unwrap_or(0)
    }
}

/// The encoding of a marker, which must be that of the text around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkerEncoding {
    Bytes,
    Little,
    Big,
}

/// A match in the text under the matchers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) at: Range<usize>,
    pub(crate) rank: u16,
    pub(crate) sum: ChecksumCheck,
    pub(crate) via: LayerStack,
    pub(crate) wide: MarkerEncoding,
    pub(crate) action: RedactAction,
    /// Whether it is at a value that was known before.
    pub(crate) known: bool,
}

impl MatchContext<'_> {
    /// Returns `true` if documented example keys and placeholders are kept.
    pub(crate) fn keeps(&self) -> bool {
        self.examples == ExampleMode::Keep
    }

    /// Returns `true` if a value is a documented example key that is kept.
    pub(crate) fn documented(&self, value: &[u8]) -> bool {
        self.keeps() && examples::is_documented(value)
    }

    /// Adds a match to the list. A documented example key is added as kept.
    pub(crate) fn take(&self, rank: u16, at: Range<usize>, sum: ChecksumCheck, out: &mut Vec<Match>) {
        if at.is_empty() || crate::redacted::marker::is_marker(part(self.text, at.clone())) {
            return;
        }
        let example = self.documented(part(self.text, at.clone()));
        let action = if example { RedactAction::KeptExample } else { RedactAction::Removed };
        out.push(Match {
            at,
            rank,
            sum,
            via: LayerStack::default(),
            wide: MarkerEncoding::Bytes,
            action,
            known: false,
        });
    }

    /// Adds a match without a checksum to the list.
    pub(crate) fn hit(&self, rank: u16, at: Range<usize>, out: &mut Vec<Match>) {
        self.take(rank, at, ChecksumCheck::None, out);
    }
}

/// Returns the offset of the first construct whose rule may examine later text, or the length of the text.
///
/// The text ends in a line end. Every rule that is not listed here examines a single line.
pub(crate) fn open(text: &[u8]) -> usize {
    [pem::open(text), k8s::open(text), jwt::open(text), special::discord_open(text)]
        .into_iter()
        .flatten()
        .fold(text.len(), usize::min)
}

/// Examines the text around a keyword and adds matches to the list.
pub(crate) type Matcher = fn(&MatchContext<'_>, Range<usize>, &mut Vec<Match>);
