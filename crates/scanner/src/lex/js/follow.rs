//! Which tokens the walk has to see: brackets without an event are passed over.
//!
//! The lexer marks the words of the tables; here each that can lead to a finding or bind a name becomes an event, by
//! what stands beside it. What a bracket without an event does to what is around it does not depend on what it holds, so
//! the walk goes from its opening to its closing mark. Names that the walk bound, and names whose value it lacked, are
//! events of the next round.

use std::collections::{BTreeMap, BTreeSet};

use super::bind::{Val, name_of};
use super::call::WalkNodes;
use super::token::{Brace, DULL, ESCAPED, EVENT, K, Kw, NO_MATE, Tok};
use super::walk::Via;
use crate::names::{Names, Node, ROOT, STARRED, Word, prefix, prefix_at};

/// Which tokens of a name count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follow {
    /// Those that do something with what it stands for.
    Value(Val),
    /// Each.
    Everywhere,
}

/// Names whose tokens may be events.
#[derive(Debug, Default)]
pub(super) struct Followed {
    names: BTreeMap<Vec<u8>, Follow>,
    /// One bit a hash, so that most words cost one load.
    seen: Vec<u64>,
}

const SLOTS: u32 = 12;

fn slot(head: u64, len: usize) -> (usize, u64) {
    let mixed = (head ^ ((len as u64) << 56)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - SLOTS);
    (usize::try_from(mixed >> 6).unwrap_or(0), 1 << (mixed & 63))
}

impl Followed {
    /// Follows a name; says whether that is news.
    pub(super) fn add(&mut self, name: &[u8], follow: Follow) -> bool {
        if let Some(known) = self.names.get_mut(name) {
            if *known == follow || *known == Follow::Everywhere {
                return false;
            }
            // It stands for two things: each of its tokens counts.
            *known = Follow::Everywhere;
            return true;
        }
        if self.seen.is_empty() {
            self.seen = vec![0; 1 << (SLOTS - 6)];
        }
        let (word, bit) = slot(prefix(name), name.len());
        if let Some(word) = self.seen.get_mut(word) {
            *word |= bit;
        }
        self.names.insert(name.to_vec(), follow);
        true
    }

    fn get(&self, src: &[u8], tok: Tok) -> Option<Follow> {
        let (start, end) = (tok.start as usize, tok.end as usize);
        if tok.flags & ESCAPED != 0 {
            return self.names.get(name_of(src, tok).as_ref()).copied();
        }
        let (word, bit) = slot(prefix_at(src, start, end), end.saturating_sub(start));
        if self.seen.get(word).is_none_or(|word| word & bit == 0) {
            return None;
        }
        self.names.get(src.get(start..end).unwrap_or_default()).copied()
    }
}

/// What becomes of a value in a bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    /// It may be handed on.
    Open,
    /// It goes no further: arguments, indices, the members of an object.
    Inert,
}

/// A bracket that is open.
#[derive(Debug, Clone, Copy)]
struct Opened {
    index: u32,
    /// Events before it.
    events: u32,
    around: Around,
}

/// Marks the brackets that hold no event.
pub(super) struct Marking<'a> {
    pub(super) src: &'a [u8],
    pub(super) names: &'a Names,
    pub(super) nodes: &'a WalkNodes,
    pub(super) followed: &'a Followed,
}

impl Marking<'_> {
    pub(super) fn run(&self, toks: &mut [Tok]) {
        let mut open: Vec<Opened> = Vec::new();
        let mut events = 0_u32;
        let follows = !self.followed.names.is_empty();
        for index in 0..toks.len() {
            let Some(&tok) = toks.get(index) else { break };
            let number = u32::try_from(index).unwrap_or(u32::MAX);
            match tok.kind {
                K::Word => {
                    let around = open.last().map_or(Around::Open, |open| open.around);
                    let known = tok.flags & EVENT != 0 && self.word(toks, index, tok, around);
                    if known || (follows && self.name(toks, index, tok, around)) {
                        events = events.wrapping_add(1);
                    }
                }
                K::LParen | K::LBracket | K::LBrace => {
                    if let Some(opening) = toks.get_mut(index) {
                        opening.flags &= !DULL;
                    }
                    if tok.aux != NO_MATE && tok.aux > number {
                        open.push(Opened { index: number, events, around: around(toks, index, tok) });
                    }
                }
                K::RParen | K::RBracket | K::RBrace => {
                    if tok.flags & EVENT != 0 {
                        events = events.wrapping_add(1);
                    }
                    let Some(&opened) = open.last().filter(|opened| opened.index == tok.aux) else {
                        continue;
                    };
                    open.truncate(open.len().saturating_sub(1));
                    if let Some(opening) =
                        toks.get_mut(opened.index as usize).filter(|_| opened.events == events)
                    {
                        opening.flags |= DULL;
                    }
                }
                _ if tok.flags & EVENT != 0 => events = events.wrapping_add(1),
                _ => {}
            }
        }
    }

    /// Says whether a word that the lexer marked is an event where it stands.
    fn word(&self, toks: &[Tok], index: usize, tok: Tok, around: Around) -> bool {
        let word = Word::try_from(tok.aux).unwrap_or(0);
        let interest = self.names.interest(word);
        if interest & STARRED != 0 || matches!(Kw::of(tok.aux), Kw::Import | Kw::Export | Kw::This) {
            return true;
        }
        let global = self.nodes.is_global(word) || self.nodes.is_weak_global(word);
        let node = if global { ROOT } else { self.names.global(word) };
        // Declared by the file or bound to something else, it is what the walk finds.
        self.counts(toks, index, Val::node(node), around)
    }

    fn name(&self, toks: &[Tok], index: usize, tok: Tok, around: Around) -> bool {
        match self.followed.get(self.src, tok) {
            None => false,
            Some(Follow::Everywhere) => true,
            Some(Follow::Value(val)) => self.counts(toks, index, val, around),
        }
    }

    /// Says whether a name that stands for something leads to a finding, or hands on what it stands for.
    fn counts(&self, toks: &[Tok], index: usize, val: Val, around: Around) -> bool {
        let at = |index: usize| toks.get(index);
        let next = at(index.wrapping_add(1));
        match next.map(|tok| tok.kind) {
            Some(K::Dot | K::QDot) => {
                let member = at(index.wrapping_add(2)).filter(|tok| tok.kind == K::Word);
                let Some(member) = member else { return true };
                let word = Word::try_from(member.aux).unwrap_or(0);
                let after = at(index.wrapping_add(3)).map(|tok| tok.kind);
                self.steps(val, word, after) || index.checked_sub(1).and_then(at).is_some_and(is_delete)
            }
            Some(K::LParen | K::Tpl | K::TplHead | K::LBracket | K::Bang | K::Lt) => true,
            Some(K::Word) if next.is_some_and(|tok| matches!(Kw::of(tok.aux), Kw::As | Kw::Satisfies)) => {
                true
            }
            _ => {
                let told = |node: Node| self.names.node(node).is_some_and(|data| !data.member.is_empty());
                told(val.node) || told(val.star) || is_handed_on(index.checked_sub(1).and_then(at), around)
            }
        }
    }

    /// Says whether a member of a known name is known.
    fn steps(&self, val: Val, word: Word, after: Option<K>) -> bool {
        if self.nodes.via(word) != Via::Direct
            || (val.node == ROOT && self.names.interest(word) != 0)
            || (self.nodes.is_default(word) && self.names.node(val.node).is_some_and(|data| data.module))
        {
            return true;
        }
        let writes = matches!(after, Some(K::Assign | K::EitherAssign | K::OpAssign | K::IncDec));
        [val.node, val.star].into_iter().any(|node| {
            let member = self.names.step(node, word);
            member != 0 && (writes || !self.names.is_written_only(node, member))
        })
    }
}

fn is_delete(tok: &Tok) -> bool {
    (tok.kind == K::Word && Kw::of(tok.aux) == Kw::Delete) || tok.kind == K::IncDec
}

/// Says whether a value goes on to another name or group from where it stands.
fn is_handed_on(before: Option<&Tok>, around: Around) -> bool {
    let Some(before) = before else { return false };
    match before.kind {
        K::Assign | K::EitherAssign | K::Either | K::Question | K::Gt | K::At => true,
        K::Colon | K::LParen | K::Comma => around == Around::Open,
        K::Word => matches!(Kw::of(before.aux), Kw::Await | Kw::Void | Kw::Yield | Kw::New | Kw::Extends),
        _ => false,
    }
}

/// Says what becomes of a value in a bracket.
fn around(toks: &[Tok], index: usize, tok: Tok) -> Around {
    let before = index.checked_sub(1).and_then(|before| toks.get(before));
    let inert = match (tok.kind, before) {
        (K::LBracket, _) => true,
        (K::LBrace, _) => tok.brace == Brace::Object,
        (_, Some(before)) => match before.kind {
            K::RParen | K::RBracket | K::Private => true,
            K::Word => !starts_value(Kw::of(before.aux)),
            _ => false,
        },
        (_, None) => false,
    };
    if inert { Around::Inert } else { Around::Open }
}

/// Says whether a value may begin after a keyword, so that a parenthesis there is no call.
const fn starts_value(kw: Kw) -> bool {
    matches!(
        kw,
        Kw::Return
            | Kw::Await
            | Kw::Yield
            | Kw::Void
            | Kw::Typeof
            | Kw::New
            | Kw::Delete
            | Kw::Case
            | Kw::In
            | Kw::Of
            | Kw::Instanceof
            | Kw::Throw
            | Kw::Else
            | Kw::Do
            | Kw::Default
            | Kw::Extends
            | Kw::Async
    )
}

/// What the walk asks for: names in places where their value counts.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) names: BTreeSet<Vec<u8>>,
    /// Names that are given a text, a name or anything else somewhere.
    given: Option<[BTreeSet<Vec<u8>>; 2]>,
}

/// How a name has to be given its value to be worth asking for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// A constant text, or a name that may stand for one.
    Text,
    /// Anything.
    Anything,
}

impl Asked {
    /// Asks for the value of a name, if the file gives it one.
    pub(super) fn ask(&mut self, src: &[u8], toks: &[Tok], tok: Tok, given: Given) {
        let name = name_of(src, tok);
        if self.names.contains(name.as_ref()) {
            return;
        }
        let [texts, all] = self.given.get_or_insert_with(|| given_names(src, toks));
        let wanted = if given == Given::Text { texts } else { all };
        if wanted.contains(name.as_ref()) {
            self.names.insert(name.into_owned());
        }
    }
}

/// Lists the names that are assigned: those that are given a text or a plain name, and all.
fn given_names(src: &[u8], toks: &[Tok]) -> [BTreeSet<Vec<u8>>; 2] {
    let mut given = [BTreeSet::new(), BTreeSet::new()];
    let [texts, all] = &mut given;
    for pair in toks.windows(4) {
        let [name, equals, value, after] = pair else { continue };
        if name.kind != K::Word || !matches!(equals.kind, K::Assign | K::EitherAssign | K::Colon) {
            continue;
        }
        let word = name_of(src, *name);
        let plain =
            matches!(after.kind, K::Semi | K::Comma | K::RParen | K::RBrace | K::RBracket) || after.newline();
        if matches!(value.kind, K::Str | K::Tpl | K::LParen) || (value.kind == K::Word && plain) {
            texts.insert(word.to_vec());
        }
        all.insert(word.into_owned());
    }
    given
}
