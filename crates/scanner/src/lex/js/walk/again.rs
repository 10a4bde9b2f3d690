//! Which function bodies a later round goes through again: those that read a name which came to be something else since, and
//! those in which more tokens count. What the others gave stays as it is.

use core::cell::Cell;
use std::collections::BTreeMap;

use super::super::reads::{News, Read, Reads};
use super::super::token::{NO_MATE, Tok};
use crate::sink::Sink;

/// A function's body that was gone through.
#[derive(Debug)]
struct Body {
    open: u32,
    /// The body around it.
    around: u32,
    /// The rounds in which it was last gone through, and last come to.
    walked: u32,
    met: u32,
    /// What was read in it, and in no body in it, in rising order.
    reads: Box<[Read]>,
    /// Tokens and bytes that were read in place of names in it, and in no body in it.
    put_in: usize,
    /// It would give something else now, or more of its tokens count.
    due: bool,
    /// The walk left it elsewhere than at its end, by a bracket that closes none.
    torn: bool,
}

/// No body: what stands in none is gone through in each round.
const OUTSIDE: u32 = u32::MAX;

/// How a body that is open was before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entered {
    body: u32,
    around: u32,
    reads: usize,
}

/// What of a list came from where.
#[derive(Debug, Default)]
struct Origin {
    /// Where in the list the walk began to add, and how much it held of earlier rounds.
    base: usize,
    before: usize,
    /// The body of each.
    owners: Vec<u32>,
}

/// The bodies of a file, and what came from them.
#[derive(Debug, Default)]
pub(super) struct Again {
    bodies: Vec<Body>,
    /// So many of them are in the order in which they open; the others are found by where they do.
    sorted: usize,
    late: BTreeMap<u32, u32>,
    owner: u32,
    round: u32,
    hits: Origin,
    embedded: Origin,
    named: Origin,
    /// What was read in place of names outside of bodies in this round, and in all that counts now.
    outside: usize,
    counted: usize,
    pub(super) total: usize,
}

impl Origin {
    const fn new(base: usize) -> Self {
        Self { base, before: 0, owners: Vec::new() }
    }

    /// Says where all came from that the list holds now and did not before.
    fn note(&mut self, len: usize, owner: u32) {
        self.owners.resize(len.saturating_sub(self.base), owner);
    }

    /// Leaves out what earlier rounds found in bodies that this one went through.
    fn settle<T>(&mut self, list: &mut Vec<T>, stays: impl Fn(u32) -> bool) {
        let before = self.before;
        let keeps = |index: usize, owner: u32| index >= before || stays(owner);
        let mut index = 0_usize;
        let (base, owners) = (self.base, &self.owners);
        list.retain(|_| {
            let own = index.checked_sub(base);
            index = index.wrapping_add(1);
            own.is_none_or(|own| owners.get(own).is_none_or(|owner| keeps(own, *owner)))
        });
        let mut index = 0_usize;
        self.owners.retain(|owner| {
            index = index.wrapping_add(1);
            keeps(index.wrapping_sub(1), *owner)
        });
        self.before = self.owners.len();
    }
}

fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(OUTSIDE)
}

impl Again {
    pub(super) fn new(sink: &Sink<'_>) -> Self {
        Self {
            bodies: Vec::new(),
            sorted: 0,
            late: BTreeMap::new(),
            owner: OUTSIDE,
            round: 0,
            hits: Origin::new(sink.hits.len()),
            embedded: Origin::new(sink.embedded.len()),
            named: Origin::new(sink.named.len()),
            outside: 0,
            counted: 0,
            total: 0,
        }
    }

    /// Starts a round.
    pub(super) fn begin(&mut self) {
        self.round = self.round.wrapping_add(1);
        self.owner = OUTSIDE;
        (self.outside, self.counted) = (0, 0);
    }

    fn find(&self, open: u32) -> Option<u32> {
        let sorted = self.bodies.get(..self.sorted).unwrap_or_default();
        let index = sorted.partition_point(|body| body.open < open);
        match sorted.get(index) {
            Some(body) if body.open == open => Some(number(index)),
            _ => self.late.get(&open).copied(),
        }
    }

    /// Notes where what the sink holds came from, up to here.
    fn note(&mut self, sink: &Sink<'_>, put_in: usize) {
        self.hits.note(sink.hits.len(), self.owner);
        self.embedded.note(sink.embedded.len(), self.owner);
        self.named.note(sink.named.len(), self.owner);
        let fresh = put_in.saturating_sub(core::mem::replace(&mut self.counted, put_in));
        let counter = match self.bodies.get_mut(self.owner as usize) {
            Some(body) => &mut body.put_in,
            None => &mut self.outside,
        };
        *counter = counter.saturating_add(fresh);
    }

    /// Comes to a body. Says whether it is passed over, or how to leave it.
    pub(super) fn enter(
        &mut self,
        open: usize,
        sink: &Sink<'_>,
        reads: &Reads,
        put_in: &Cell<usize>,
    ) -> Result<Entered, Passed> {
        let open = number(open);
        let known = if self.round > 1 { self.find(open) } else { None };
        if let Some(body) = known.and_then(|known| self.bodies.get_mut(known as usize)) {
            body.met = self.round;
            if body.walked != 0 && !body.due && !body.torn {
                return Err(Passed);
            }
        }
        self.note(sink, put_in.get());
        let body = known.unwrap_or_else(|| {
            let body = number(self.bodies.len());
            if self.round > 1 {
                self.late.insert(open, body);
            }
            let around = self.owner;
            self.bodies.push(Body {
                open,
                around,
                walked: 0,
                met: 0,
                reads: Box::default(),
                put_in: 0,
                due: false,
                torn: false,
            });
            body
        });
        if let Some(known) = self.bodies.get_mut(body as usize) {
            (known.walked, known.met, known.put_in, known.due) = (self.round, self.round, 0, false);
        }
        let around = core::mem::replace(&mut self.owner, body);
        // What is read outside of bodies is read in each round.
        if around == OUTSIDE {
            reads.forget();
        }
        let reads = reads.start();
        Ok(Entered { body, around, reads })
    }

    /// Leaves a body; says where.
    pub(super) fn leave(
        &mut self,
        entered: Entered,
        at: Left,
        sink: &Sink<'_>,
        reads: &Reads,
        put_in: &Cell<usize>,
    ) {
        self.note(sink, put_in.get());
        self.owner = entered.around;
        if let Some(body) = self.bodies.get_mut(entered.body as usize) {
            body.reads = reads.end(entered.reads);
            body.torn |= at == Left::Elsewhere;
        }
    }

    /// Ends a round: takes what earlier ones found in bodies that this one went through out of the sink.
    pub(super) fn end(&mut self, sink: &mut Sink<'_>, put_in: usize) {
        self.note(sink, put_in);
        let mut total = self.outside;
        if self.round > 1 {
            // A body stands behind the one around it, in which it was met unless that was passed over.
            let mut stays = vec![false; self.bodies.len()];
            for (body, index) in self.bodies.iter_mut().zip(0_usize..) {
                let own = match stays.get(body.around as usize) {
                    _ if body.met == self.round => body.walked != self.round,
                    around => around.copied().unwrap_or(false),
                };
                if let Some(stays) = stays.get_mut(index) {
                    *stays = own;
                }
                if own || body.walked == self.round {
                    total = total.saturating_add(body.put_in);
                } else {
                    // What it gave is gone.
                    body.walked = 0;
                }
            }
            let stays = |owner: u32| stays.get(owner as usize).copied().unwrap_or(false);
            self.hits.settle(&mut sink.hits, stays);
            self.embedded.settle(&mut sink.embedded, stays);
            self.named.settle(&mut sink.named, stays);
        } else {
            self.sorted = self.bodies.len();
            total = self.bodies.iter().fold(total, |total, body| total.saturating_add(body.put_in));
            for origin in [&mut self.hits, &mut self.embedded, &mut self.named] {
                origin.before = origin.owners.len();
            }
        }
        self.total = total;
    }

    /// Takes what came to be something else in the round. Says whether the next would give something else.
    pub(super) fn due(&mut self, news: &News) -> bool {
        let mut any = !news.read.is_empty();
        if news.all.is_empty() {
            return any;
        }
        for body in &mut self.bodies {
            let came = if body.walked == self.round { &news.read } else { &news.all };
            body.due = !came.is_empty() && body.reads.iter().any(|read| came.has(*read));
            any |= body.due;
        }
        any
    }

    /// Takes tokens in rising order that did not count before.
    pub(super) fn wake(&mut self, toks: &[Tok], live: &[u32]) {
        for body in &mut self.bodies {
            let close = toks.get(body.open as usize).map_or(NO_MATE, |open| open.mate());
            let next = live.partition_point(|at| *at < body.open);
            body.due |= live.get(next).is_some_and(|at| *at < close);
        }
        // What is around one that is due is gone through to it.
        for index in (0..self.bodies.len()).rev() {
            let around = self.bodies.get(index).filter(|body| body.due).map(|body| body.around as usize);
            if let Some(around) = around.and_then(|around| self.bodies.get_mut(around)) {
                around.due = true;
            }
        }
    }
}

/// Where a body is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    AtItsEnd,
    Elsewhere,
}

/// A body is passed over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passed;
