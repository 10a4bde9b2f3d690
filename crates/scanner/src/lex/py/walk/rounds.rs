//! Walks over a file until what its names stand for has settled.

use std::collections::BTreeSet;

use super::Walk;
use super::nodes::WalkNodes;
use crate::lex::py::bind::Bindings;
use crate::lex::py::scan::Scanned;
use crate::lex::py::scope::Scopes;
use crate::names::Names;
use crate::sink::{Embedded, Hit, Sink, Unread};

/// Rounds until aliases that are used before they are bound have settled, whatever changes.
const ROUNDS: u32 = 6;
/// Rounds as long as each finds one more alias; what is new after them is reported as not seen.
const MOST_ROUNDS: u32 = 32;
/// Walks over a file in all its rounds.
const MOST_WALKS: u32 = 96;

pub(in crate::lex::py) fn walk(src: &[u8], scanned: &Scanned, names: &Names, sink: &mut Sink<'_>) {
    let mut walked = 0_u32;
    let scopes = Scopes::new(src, &scanned.toks);
    let mut bindings = Bindings::new(scopes.len());
    let mut items = Vec::new();
    let nodes = WalkNodes::new(names);
    let before = (sink.hits.len(), sink.embedded.len(), sink.named.len());
    for round in 1.. {
        sink.hits.truncate(before.0);
        sink.embedded.truncate(before.1);
        sink.named.truncate(before.2);
        let (changes, learned) = (bindings.changes, bindings.learned);
        let mut number = 0;
        while number <= bindings.walks && walked < MOST_WALKS {
            walked = walked.saturating_add(1);
            bindings.walk = number;
            let kept = Kept::of(sink);
            let mut walk = Walk::new((src, &scanned.toks), &scopes, names, &nodes, bindings, sink);
            walk.before = core::mem::take(&mut items);
            walk.number = u8::try_from(walked).unwrap_or(u8::MAX);
            walk.run();
            items = walk.kept;
            bindings = walk.bindings;
            if number > 0 {
                kept.drop_known(sink, before);
            }
            number = number.saturating_add(1);
        }
        // Values may go to and fro for ever; an alias that is found stays one.
        let fresh = bindings.learned != learned;
        let over = round >= MOST_ROUNDS || walked >= MOST_WALKS;
        let cut = number <= bindings.walks;
        if (fresh && over) || cut || bindings.too_many {
            sink.unread.push(Unread { start: 0, end: src.len() });
        }
        if bindings.changes == changes || (!fresh && round >= ROUNDS) || over || cut {
            break;
        }
    }
}

/// How much there was before one more walk.
#[derive(Debug, Clone, Copy)]
struct Kept {
    hits: usize,
    embedded: usize,
    named: usize,
}

impl Kept {
    const fn of(sink: &Sink<'_>) -> Self {
        Self { hits: sink.hits.len(), embedded: sink.embedded.len(), named: sink.named.len() }
    }

    /// Drops what the walks before have found as well.
    fn drop_known(self, sink: &mut Sink<'_>, (hits, embedded, named): (usize, usize, usize)) {
        let known: BTreeSet<Hit> = sink.hits.iter().take(self.hits).skip(hits).copied().collect();
        let new = sink.hits.split_off(self.hits);
        sink.hits.extend(new.into_iter().filter(|hit| !known.contains(hit)));
        let texts: BTreeSet<_> =
            sink.embedded.iter().take(self.embedded).skip(embedded).map(Embedded::key).collect();
        let fresh: Vec<bool> =
            sink.embedded.iter().skip(self.embedded).map(|own| !texts.contains(&own.key())).collect();
        let new = sink.embedded.split_off(self.embedded);
        sink.embedded.extend(new.into_iter().zip(fresh).filter(|(_, fresh)| *fresh).map(|(own, _)| own));
        let files: BTreeSet<String> = sink.named.iter().take(self.named).skip(named).cloned().collect();
        let new = sink.named.split_off(self.named);
        sink.named.extend(new.into_iter().filter(|name| !files.contains(name)));
    }
}
