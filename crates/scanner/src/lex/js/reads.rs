//! What a walk reads of what a file binds, and what came to be something else after it was read.

use core::cell::{Cell, RefCell};

/// Something that may come to be something else: a variable, its members, whether it is asked for. Few are taken for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Read(u32);

/// What of a name is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Of {
    Value = 1,
    Members = 2,
    Asked = 3,
    Declared = 4,
}

impl Read {
    /// Something of one variable of a name.
    #[inline]
    pub(super) const fn variable(of: Of, key: u16, variable: u32) -> Self {
        let mixed = (key as u32).wrapping_mul(0x85EB_CA6B) ^ variable.wrapping_mul(0x9E37_79B1);
        Self(mixed.rotate_left(15).wrapping_mul(0xC2B2_AE35).wrapping_add(of as u32))
    }

    /// The same of a name of which no variable is known.
    #[inline]
    pub(super) const fn name(of: Of, key: u16) -> Self {
        Self::variable(of, key, u32::MAX)
    }
}

/// All that was read, in the order in which it was.
#[derive(Debug, Default)]
pub(super) struct Reads {
    list: RefCell<Vec<Read>>,
    /// Where what is being gone through begins.
    start: Cell<usize>,
}

impl Reads {
    #[inline]
    pub(super) fn note(&self, read: Read) {
        let mut list = self.list.borrow_mut();
        if list.last() != Some(&read) || list.len() == self.start.get() {
            list.push(read);
        }
    }

    /// Starts something of its own; gives how much was read before.
    pub(super) fn start(&self) -> usize {
        let len = self.list.borrow().len();
        self.start.set(len);
        len
    }

    pub(super) fn forget(&self) {
        self.list.borrow_mut().clear();
        self.start.set(0);
    }

    /// Ends what was started: gives what was read in it, in rising order, and forgets that.
    pub(super) fn end(&self, start: usize) -> Box<[Read]> {
        let own = self.since(start);
        self.list.borrow_mut().truncate(start);
        self.start();
        own
    }

    /// Gives what was read since a start, in rising order.
    pub(super) fn since(&self, start: usize) -> Box<[Read]> {
        let mut own = self.list.borrow().get(start..).unwrap_or_default().to_vec();
        own.sort_unstable();
        own.dedup();
        own.into_boxed_slice()
    }

    /// Says that the same is read once more: a call that is repeated lists it once in what is being gone through.
    pub(super) fn add(&self, more: &[Read]) {
        let mut list = self.list.borrow_mut();
        if !list.get(self.start.get()..).is_some_and(|own| own.ends_with(more)) {
            list.extend_from_slice(more);
        }
    }
}

/// A set that may hold more than was put in.
#[derive(Debug)]
pub(super) struct Set {
    words: Vec<Cell<u64>>,
    /// How many bits of a hash are left out.
    shift: u32,
    any: Cell<bool>,
}

/// The fewest and the most words of a set.
const FEWEST: usize = 16;
const MOST: usize = 1 << 14;

impl Set {
    /// A set for what is read of so many tokens.
    pub(super) fn of(toks: usize) -> Self {
        let words = (toks / 64).clamp(FEWEST, MOST).next_power_of_two();
        let shift = 26_u32.saturating_sub(words.trailing_zeros());
        Self { words: vec![Cell::new(0); words], shift, any: Cell::new(false) }
    }

    #[inline]
    fn cell(&self, read: Read) -> Option<(&Cell<u64>, u64)> {
        let hash = read.0.wrapping_mul(0x9E37_79B1) >> self.shift;
        self.words.get((hash >> 6) as usize).map(|cell| (cell, 1 << (hash & 63)))
    }

    #[inline]
    pub(super) fn add(&self, read: Read) {
        if let Some((cell, bit)) = self.cell(read) {
            cell.set(cell.get() | bit);
            self.any.set(true);
        }
    }

    #[inline]
    pub(super) fn has(&self, read: Read) -> bool {
        self.cell(read).is_some_and(|(cell, bit)| cell.get() & bit != 0)
    }

    pub(super) const fn is_empty(&self) -> bool {
        !self.any.get()
    }

    pub(super) fn clear(&self) {
        if self.any.take() {
            for cell in &self.words {
                cell.set(0);
            }
        }
    }
}

/// Whether something was read in the round in which it came to be something else, before it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Read,
    Unread,
}

/// What came to be something else in a round: what was read before in it, and all.
#[derive(Debug)]
pub(super) struct News {
    pub(super) read: Set,
    pub(super) all: Set,
}

impl News {
    /// For a file of so many tokens.
    pub(super) fn of(toks: usize) -> Self {
        Self { read: Set::of(toks), all: Set::of(toks) }
    }

    /// Takes something that came to be something else.
    pub(super) fn add(&self, read: Read, when: When) {
        self.all.add(read);
        if when == When::Read {
            self.read.add(read);
        }
    }

    pub(super) fn clear(&self) {
        self.read.clear();
        self.all.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{Of, Read, Reads};

    #[test]
    fn what_is_read_again_is_listed_once_in_each_body() {
        let reads = Reads::default();
        let more = [Read::name(Of::Value, 1), Read::name(Of::Value, 2)];
        let outer = reads.start();
        for _ in 0..1000 {
            reads.add(&more);
        }
        assert_eq!(reads.list.borrow().len(), more.len(), "repeated calls take no room");
        let inner = reads.start();
        reads.add(&more);
        reads.note(more[1]);
        let mut sorted = more;
        sorted.sort_unstable();
        assert_eq!(*reads.end(inner), sorted, "what the body around read counts here too");
        assert_eq!(*reads.end(outer), sorted);
    }
}
