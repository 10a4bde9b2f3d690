//! What is looked for: the table of keyed shapes, the matchers keyed by context, and what a matcher works with.

mod assign;
mod automaton;
mod cli;
mod cloud;
pub(crate) mod examples;
mod header;
mod jwt;
mod k8s;
mod login;
mod more;
mod near;
pub(crate) mod pem;
pub(crate) mod placeholder;
pub(crate) mod set;
pub(crate) mod shape;
pub(crate) mod special;
mod table;
mod url;
pub(crate) mod value;

use core::cell::{Cell, RefCell};
use core::ops::Range;

use crate::bytes::{Class, part};
use crate::found::{ChecksumCheck, Did, Via};
use crate::settings::Examples;
pub(crate) use set::RuleSet;

/// The text under the matchers, and what the settings say.
#[derive(Debug)]
pub(crate) struct Look<'t> {
    pub(crate) text: &'t [u8],
    /// Documented example keys and masked values stay.
    pub(crate) examples: Examples,
    /// Only the kinds that carry a literal of their own: for views that glue text together.
    pub(crate) prefixed_only: bool,
    /// The pack of password hashes is on.
    pub(crate) hashes: bool,
    /// What was looked at already, so that a keyword that is repeated costs what one costs.
    pub(crate) memo: Memo,
}

/// How far the matchers that look far have come. Marks come in the order of the text.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    secret: Cell<usize>,
    jwk: Cell<usize>,
    cookie: Cell<usize>,
    /// End of the last prefixed key that was found.
    key: Cell<usize>,
    /// Class and end of the last long run that was no key.
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

    /// Tells whether a place lies in a long run of the class that was followed and was no key.
    pub(crate) fn dull_run(&self, class: Class, place: usize) -> bool {
        let (known, end) = self.run.get();
        known == class && place < end
    }

    pub(crate) fn note_dull(&self, class: Class, start: usize, end: usize) {
        if end.saturating_sub(start) > 1024 {
            self.run.set((class, end));
        }
    }

    /// Gives how far a custom rule has read, and notes how far it will have.
    pub(crate) fn custom(&self, index: usize, until: usize) -> usize {
        let mut list = self.custom.borrow_mut();
        if list.len() <= index {
            list.resize(index.saturating_add(1), 0);
        }
        list.get_mut(index).map_or(0, |slot| core::mem::replace(slot, until.max(*slot)))
    }

    /// Tells how far a custom rule has read.
    pub(crate) fn custom_read(&self, index: usize) -> usize {
        self.custom.borrow().get(index).copied().unwrap_or(0)
    }
}

/// How the marker is written, so that it is read in the encoding around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wide {
    Bytes,
    Little,
    Big,
}

/// A place in the text under the matchers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) at: Range<usize>,
    pub(crate) rank: u16,
    pub(crate) sum: ChecksumCheck,
    pub(crate) via: Via,
    pub(crate) wide: Wide,
    pub(crate) did: Did,
    /// It stands where a value stands that was known before.
    pub(crate) known: bool,
}

impl Look<'_> {
    /// Tells whether documented example keys and placeholders stay.
    pub(crate) fn keeps(&self) -> bool {
        self.examples == Examples::Keep
    }

    /// Tells whether a value is a documented example key that stays.
    pub(crate) fn documented(&self, value: &[u8]) -> bool {
        self.keeps() && examples::is_documented(value)
    }

    /// Puts a place into the list; a documented example is put in as kept.
    pub(crate) fn take(&self, rank: u16, at: Range<usize>, sum: ChecksumCheck, out: &mut Vec<Hit>) {
        if at.is_empty() || crate::marker::is_marker(part(self.text, at.clone())) {
            return;
        }
        let example = self.documented(part(self.text, at.clone()));
        let did = if example { Did::KeptExample } else { Did::Cut };
        out.push(Hit { at, rank, sum, via: Via::default(), wide: Wide::Bytes, did, known: false });
    }

    /// Puts a place without a checksum into the list.
    pub(crate) fn hit(&self, rank: u16, at: Range<usize>, out: &mut Vec<Hit>) {
        self.take(rank, at, ChecksumCheck::None, out);
    }
}

/// Gives the offset of the first construct whose rule may look at what comes after the text; its length if there is
/// none. The text ends in a line end, and every rule that is not here looks at its own line alone.
pub(crate) fn open(text: &[u8]) -> usize {
    [pem::open(text), k8s::open(text), jwt::open(text), special::discord_open(text)]
        .into_iter()
        .flatten()
        .fold(text.len(), usize::min)
}

/// Looks around a keyword, which stands at the range, and puts what it finds into the list.
pub(crate) type Matcher = fn(&Look<'_>, Range<usize>, &mut Vec<Hit>);
