//! Which tokens the walk has to see: brackets without an event are passed over.
//!
//! The lexer marks the words of the tables; here each that can lead to a finding or bind a name becomes an event, by
//! what stands beside it. What a bracket without an event does to what is around it does not depend on what it holds, so
//! the walk goes from its opening to its closing mark. Variables that the walk bound, and those whose value it lacked, are
//! events of the next round.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::bind::{Val, bit, name_of};
use super::built::iterates;
use super::call::WalkNodes;
use super::reads::{News, Of, Read, Reads, When};
use super::scan::{Bracket, Flag, Scanned};
use super::table::{GROUPS, Table, group_of};
use super::text_of;
use super::token::{DULL, K, Kw, LIVE, NO_MATE, Tok};
use super::walk::Via;
use crate::names::{Names, Node, ROOT, STARRED, Word};

/// Values of one variable that are told apart; with more of them each of its tokens counts.
const VALUES: usize = 4;
/// Brackets around a name that are looked at.
const DEPTH: usize = 40;

/// Which tokens of a variable count.
#[derive(Debug, Clone, Copy, Default)]
struct Follow {
    /// Those that do something with one of the things that it stands for.
    vals: [Val; VALUES],
    count: usize,
    /// Those that bind it.
    bound: bool,
    /// Those that use it as a text.
    text: bool,
    /// Those that take a member of it.
    holder: bool,
}

/// Why a variable is followed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Why {
    /// It stands for a value.
    Value(Val),
    /// It stands for a text that rules look for.
    Text,
    /// Its value is asked for.
    Asked,
    /// A member of it holds a value.
    Holder,
}

impl Follow {
    /// Takes a reason; says whether it is news.
    fn add(&mut self, why: Why) -> bool {
        let before = (self.count, self.bound, self.text, self.holder);
        match why {
            Why::Value(val) => {
                let mut known = self.vals.iter().take(self.count);
                if self.count <= VALUES && !known.any(|known| *known == val) {
                    if let Some(slot) = self.vals.get_mut(self.count) {
                        *slot = val;
                    }
                    self.count = self.count.saturating_add(1);
                }
            }
            Why::Text => (self.bound, self.text) = (true, true),
            Why::Asked => self.bound = true,
            Why::Holder => self.holder = true,
        }
        before != (self.count, self.bound, self.text, self.holder)
    }
}

/// Variables whose tokens may be events.
#[derive(Debug, Default)]
pub(super) struct Followed<'a> {
    /// Names by number.
    names: Table<'a, u32>,
    /// By name and variable.
    follows: BTreeMap<(u32, u32), Follow>,
    /// Those of which there was news since the tokens were marked.
    news: Table<'a, u32>,
    fresh: BTreeSet<(u32, u32)>,
}

impl<'a> Followed<'a> {
    /// Follows a variable.
    pub(super) fn add(&mut self, name: Cow<'a, [u8]>, variable: u32, why: Why) {
        let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let Some(&mut number) = self.names.entry(name.clone(), || next) else { return };
        if self.follows.entry((number, variable)).or_default().add(why) {
            self.news.entry(name, || number);
            self.fresh.insert((number, variable));
        }
    }

    /// Gives how a token of a name counts, if there is news of its variable.
    fn news_of(&self, src: &[u8], tok: Tok, variable: impl FnOnce() -> u32) -> Option<&Follow> {
        let number = *self.news.get_at(src, tok)?;
        let key = (number, variable());
        self.follows.get(&key).filter(|_| self.fresh.contains(&key))
    }

    /// Says whether there is news.
    pub(super) fn is_fresh(&self) -> bool {
        !self.fresh.is_empty()
    }
}

/// What becomes of a value in a bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    /// It may be handed on.
    Open,
    /// It goes no further: arguments, indices.
    Inert,
}

/// Where the words of a file stand, by their keys.
#[derive(Debug, Default)]
pub(super) struct WordTokens {
    asked: u32,
    /// Where each group of keys ends in the list.
    ends: Vec<u32>,
    list: Vec<u32>,
}

impl WordTokens {
    /// Gives the tokens whose keys are those of names in a table, in rising order: few are of another name.
    fn of<T>(&mut self, src: &[u8], toks: &[Tok], names: &Table<'_, T>) -> Vec<u32> {
        self.asked = self.asked.saturating_add(1);
        let is_word = |tok: &Tok| tok.kind == K::Word;
        if self.asked == 1 {
            // Most files ask once.
            let Some(filter) = names.filter() else { return Vec::new() };
            let all = toks.iter().zip(0_u32..);
            let known = all.filter(|(tok, _)| is_word(tok) && filter.has(tok.key(src)));
            return known.map(|(_, index)| index).collect();
        }
        if self.ends.is_empty() {
            self.sort(src, toks);
        }
        let mut found = Vec::new();
        for group in names.groups() {
            let end_of = |group: usize| self.ends.get(group).map_or(0, |end| *end as usize);
            let start = group.checked_sub(1).map_or(0, end_of);
            let places = self.list.get(start..end_of(group)).unwrap_or_default();
            let known =
                |place: &&u32| toks.get(**place as usize).is_some_and(|tok| names.may_hold(tok.key(src)));
            found.extend(places.iter().filter(known));
        }
        found.sort_unstable();
        found
    }

    /// Sorts the words of a file by the groups of their keys.
    fn sort(&mut self, src: &[u8], toks: &[Tok]) {
        let words = || toks.iter().zip(0_u32..).filter(|(tok, _)| tok.kind == K::Word);
        let mut next = vec![0_u32; GROUPS];
        for (tok, _) in words() {
            if let Some(count) = next.get_mut(group_of(tok.key(src))) {
                *count = count.wrapping_add(1);
            }
        }
        let mut sum = 0_u32;
        for count in &mut next {
            sum = sum.wrapping_add(core::mem::replace(count, sum));
        }
        self.list = vec![0; sum as usize];
        for (tok, index) in words() {
            if let Some(at) = next.get_mut(group_of(tok.key(src))) {
                if let Some(place) = self.list.get_mut(*at as usize) {
                    *place = index;
                }
                *at = at.wrapping_add(1);
            }
        }
        self.ends = next;
    }
}

/// Which bracket is around a token, for tokens in rising order.
#[derive(Debug)]
struct Nest {
    bracket: u32,
    next: u32,
}

impl Nest {
    const fn new() -> Self {
        Self { bracket: NO_MATE, next: 0 }
    }

    /// Gives the bracket around a token: the last that opens before it, or one around that.
    fn around(&mut self, toks: &[Tok], brackets: &[Bracket], index: usize) -> u32 {
        let rest = brackets.get(self.next as usize..).unwrap_or_default();
        let more = rest.partition_point(|own| (own.open as usize) < index);
        if more > 0 {
            self.next = self.next.wrapping_add(u32::try_from(more).unwrap_or(NO_MATE));
            self.bracket = self.next.wrapping_sub(1);
        }
        self.leave(toks, brackets, index);
        self.bracket
    }

    /// Goes out of the brackets that are closed before a token.
    fn leave(&mut self, toks: &[Tok], brackets: &[Bracket], index: usize) {
        while let Some(own) = brackets.get(self.bracket as usize) {
            let close = toks.get(own.open as usize).map_or(NO_MATE, |open| open.mate());
            if close == NO_MATE || close as usize > index {
                break;
            }
            self.bracket = own.parent;
        }
    }
}

/// Marks the brackets that hold no event. The lexer takes each for one.
pub(super) struct Marking<'a> {
    pub(super) src: &'a [u8],
    pub(super) names: &'a Names,
    pub(super) nodes: &'a WalkNodes,
    pub(super) types: Flag,
}

impl Marking<'_> {
    /// Goes through what the lexer noted. Gives one bit a word that may be declared somewhere.
    pub(super) fn start(&self, scanned: &mut Scanned) -> u64 {
        let Scanned { toks, brackets, events, .. } = scanned;
        let mut declared = 0;
        for event in events.iter() {
            if let Some(tok) = toks.get(event.tok as usize).filter(|tok| tok.kind == K::Word)
                && may_declare(toks, event.tok as usize)
            {
                declared |= bit(tok.word());
            }
            if self.is_event(toks, brackets, event.tok as usize, event.bracket) {
                wake(toks, brackets, event.bracket);
            }
        }
        declared
    }

    /// Goes through the tokens of variables of which there is news; gives those that come to count. `variable` says which of its
    /// name a token is.
    pub(super) fn again(
        &self,
        scanned: &mut Scanned,
        words: &mut WordTokens,
        followed: &mut Followed<'_>,
        variable: impl Fn(&[Tok], usize) -> u32,
    ) -> Vec<u32> {
        let Scanned { toks, brackets, .. } = scanned;
        let mut nest = Nest::new();
        let mut live = Vec::new();
        for index in words.of(self.src, toks, &followed.news) {
            let index = index as usize;
            let Some(&tok) = toks.get(index) else { break };
            let of = || variable(toks, index);
            let Some(follow) = followed.news_of(self.src, tok, of) else { continue };
            let bracket = nest.around(toks, brackets, index);
            if self.name(toks, brackets, (index, bracket), follow) {
                wake(toks, brackets, bracket);
                if let Some(tok) = toks.get_mut(index).filter(|tok| tok.flags & LIVE == 0) {
                    tok.flags |= LIVE;
                    live.push(u32::try_from(index).unwrap_or(u32::MAX));
                }
            }
        }
        followed.news.clear();
        followed.fresh.clear();
        live
    }

    /// Says whether a token that the lexer noted is an event where it stands.
    fn is_event(&self, toks: &[Tok], brackets: &[Bracket], index: usize, bracket: u32) -> bool {
        let Some(&tok) = toks.get(index) else { return false };
        match tok.kind {
            K::Word => self.word(toks, index, tok, self.around(toks, brackets, bracket)),
            K::Plus => !is_next_element(toks, index),
            _ => true,
        }
    }

    fn around(&self, toks: &[Tok], brackets: &[Bracket], bracket: u32) -> Around {
        around(self.nodes, toks, brackets, bracket)
    }

    /// Says whether a word that the lexer marked is an event where it stands.
    fn word(&self, toks: &[Tok], index: usize, tok: Tok, around: Around) -> bool {
        let word = tok.word();
        let interest = self.names.interest(word);
        if interest & STARRED != 0 || matches!(Kw::of(tok.word()), Kw::Import | Kw::Export | Kw::This) {
            return true;
        }
        let global = self.nodes.is_global(word) || self.nodes.is_weak_global(word);
        let node = if global { ROOT } else { self.names.global(word) };
        // Declared by the file or bound to something else, it is what the walk finds.
        self.counts(toks, index, Val::node(node), around)
    }

    fn name(&self, toks: &[Tok], brackets: &[Bracket], at: (usize, u32), follow: &Follow) -> bool {
        let (index, bracket) = at;
        if follow.count > VALUES {
            return true;
        }
        let next = toks.get(index.wrapping_add(1)).map(|tok| tok.kind);
        if follow.holder
            && matches!(next, Some(K::Dot | K::QDot | K::LBracket | K::LParen | K::Assign | K::EitherAssign))
        {
            return true;
        }
        // `const { a } = o`.
        let kind = |at: usize| toks.get(index.wrapping_sub(at)).map(|tok| tok.kind);
        if follow.holder && kind(1) == Some(K::Assign) && matches!(kind(2), Some(K::RBrace | K::RBracket)) {
            return true;
        }
        let around = self.around(toks, brackets, bracket);
        follow.vals.iter().take(follow.count).any(|val| self.counts(toks, index, *val, around))
            || (follow.bound && self.binds(toks, brackets, at))
            || (follow.text
                && (is_handed_on(index.checked_sub(1).and_then(|at| toks.get(at)), around)
                    || is_index(toks, brackets, bracket)))
    }

    /// Says whether a name may be bound where it stands.
    fn binds(&self, toks: &[Tok], brackets: &[Bracket], (index, bracket): (usize, u32)) -> bool {
        let next = toks.get(index.wrapping_add(1)).map(|tok| tok.kind);
        if self.assigns(next) {
            return true;
        }
        let before = index.checked_sub(1).and_then(|at| toks.get(at)).map(|tok| tok.kind);
        if !matches!(before, Some(K::LBrace | K::Comma | K::Colon | K::Ellipsis)) {
            return false;
        }
        let mut own = bracket;
        for _ in 0..DEPTH {
            let Some(bracket) = brackets.get(own as usize) else { return false };
            let Some(open) = toks.get(bracket.open as usize) else { return false };
            if !matches!(open.kind, K::LBrace | K::LBracket) || open.mate() == NO_MATE {
                return false;
            }
            if self.assigns(toks.get((open.mate() as usize).wrapping_add(1)).map(|tok| tok.kind)) {
                return true;
            }
            own = bracket.parent;
        }
        true
    }

    /// Says whether what stands in front of a token may be assigned.
    fn assigns(&self, next: Option<K>) -> bool {
        match next {
            Some(K::Assign | K::EitherAssign) => true,
            Some(K::Colon | K::Bang | K::Question | K::Word) => self.types == Flag::On,
            _ => false,
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
                let word = member.word();
                let after = at(index.wrapping_add(3)).map(|tok| tok.kind);
                self.steps(val, word, after)
                    || index.checked_sub(1).and_then(at).copied().is_some_and(is_delete)
            }
            Some(K::LParen | K::Tpl | K::TplHead | K::LBracket | K::Bang | K::Lt) => true,
            Some(K::Word) if next.is_some_and(|tok| matches!(Kw::of(tok.word()), Kw::As | Kw::Satisfies)) => {
                true
            }
            Some(K::RParen) if self.is_each(toks, index, val) => true,
            _ => {
                let told = |node: Node| self.names.node(node).is_some_and(|data| !data.member.is_empty());
                let before = index.checked_sub(1).and_then(at);
                told(val.node)
                    || told(val.star)
                    || is_handed_on(before, around)
                    || (before.is_some_and(|tok| match tok.kind {
                        K::LBracket => true,
                        K::LParen | K::Comma => val.node != ROOT,
                        _ => false,
                    }) && (self.nodes.is_whole(self.names, val.node) || self.nodes.is_run(val.node)))
            }
        }
    }

    /// Says whether a function is given to what calls it with each element.
    fn is_each(&self, toks: &[Tok], index: usize, val: Val) -> bool {
        let method = index.checked_sub(2).and_then(|at| toks.get(at)).filter(|tok| tok.kind == K::Word);
        self.nodes.is_run(val.node) && method.is_some_and(|tok| iterates(text_of(self.src, *tok)))
    }

    /// Says whether a member of a known name is known.
    fn steps(&self, val: Val, word: Word, after: Option<K>) -> bool {
        if self.nodes.via(word) != Via::Direct
            || self.nodes.is_then(word)
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

fn is_delete(tok: Tok) -> bool {
    (tok.kind == K::Word && Kw::of(tok.word()) == Kw::Delete) || tok.kind == K::IncDec
}

/// Says whether a value goes on to another name or group from where it stands.
fn is_handed_on(before: Option<&Tok>, around: Around) -> bool {
    let Some(before) = before else { return false };
    match before.kind {
        // An argument may hold an assignment, of which this is one side.
        K::Assign | K::EitherAssign | K::Either | K::Question | K::Colon | K::Gt | K::At | K::Arrow => true,
        K::LParen | K::Comma | K::Ellipsis => around == Around::Open,
        K::Word => matches!(
            Kw::of(before.word()),
            Kw::Await | Kw::Void | Kw::Yield | Kw::New | Kw::Extends | Kw::Return
        ),
        _ => false,
    }
}

/// Says whether a name may be declared where it stands: most that are used are not.
fn may_declare(toks: &[Tok], index: usize) -> bool {
    let next = toks.get(index.wrapping_add(1)).map(|tok| tok.kind);
    if next == Some(K::Arrow) {
        return true;
    }
    let Some(before) = index.checked_sub(1).and_then(|at| toks.get(at)) else { return false };
    match before.kind {
        K::LParen | K::LBrace | K::LBracket | K::Comma | K::Colon | K::Ellipsis | K::Op => matches!(
            next,
            Some(
                K::Comma
                    | K::RParen
                    | K::RBrace
                    | K::RBracket
                    | K::Assign
                    | K::Colon
                    | K::Question
                    | K::LParen
                    | K::Word
            )
        ),
        K::Word => matches!(
            Kw::of(before.word()),
            Kw::Const
                | Kw::Let
                | Kw::Var
                | Kw::Using
                | Kw::Function
                | Kw::Class
                | Kw::Enum
                | Kw::As
                | Kw::Import
                | Kw::Async
                | Kw::Private
                | Kw::Public
                | Kw::Protected
                | Kw::Readonly
                | Kw::Override
        ),
        _ => false,
    }
}

/// Says that something in a bracket counts: it and those around it are gone through.
fn wake(toks: &mut [Tok], brackets: &[Bracket], bracket: u32) {
    let mut next = bracket;
    while let Some(bracket) = brackets.get(next as usize) {
        // Around one that is awake or never closed all are.
        let Some(tok) = toks.get_mut(bracket.open as usize).filter(|tok| tok.flags & DULL != 0) else {
            break;
        };
        tok.flags &= !DULL;
        next = bracket.parent;
    }
}

/// Says whether a sum is an index and a number: an element's place, and no name.
fn is_next_element(toks: &[Tok], index: usize) -> bool {
    let kind = |at: usize| toks.get(at).map(|tok| tok.kind);
    let two = (kind(index.wrapping_sub(1)), kind(index.wrapping_add(1)));
    matches!(two, (Some(K::Word), Some(K::Num)) | (Some(K::Num), Some(K::Word | K::Num)))
        && kind(index.wrapping_sub(2)) == Some(K::LBracket)
        && kind(index.wrapping_add(2)) == Some(K::RBracket)
}

/// Says whether an index is around a name, with parentheses between them at most.
fn is_index(toks: &[Tok], brackets: &[Bracket], bracket: u32) -> bool {
    let mut next = bracket;
    for _ in 0..DEPTH {
        let Some(bracket) = brackets.get(next as usize) else { return false };
        match toks.get(bracket.open as usize).map(|tok| tok.kind) {
            Some(K::LBracket) => return true,
            Some(K::LParen) => next = bracket.parent,
            _ => return false,
        }
    }
    true
}

/// Says what becomes of a value in a bracket.
fn around(nodes: &WalkNodes, toks: &[Tok], brackets: &[Bracket], bracket: u32) -> Around {
    let Some(bracket) = brackets.get(bracket as usize) else { return Around::Open };
    let index = bracket.open as usize;
    let Some(tok) = toks.get(index).filter(|tok| tok.mate() != NO_MATE) else { return Around::Open };
    let before = index.checked_sub(1).and_then(|before| toks.get(before));
    let inert = match (tok.kind, before) {
        (K::LBracket, _) => true,
        (K::LParen, Some(before)) => match before.kind {
            K::RParen => !is_function(toks, before.mate() as usize),
            K::RBracket | K::Private => true,
            K::Word => !starts_value(Kw::of(before.word())) && !nodes.is_copier(before.word()),
            _ => false,
        },
        // Members hold what they are given.
        (_, _) => false,
    };
    if inert { Around::Inert } else { Around::Open }
}

/// Says whether a function stands in parentheses: what it is called with goes to its parameters.
fn is_function(toks: &[Tok], group: usize) -> bool {
    let at = group.wrapping_add(1);
    let Some(first) = toks.get(at) else { return false };
    let arrow = |at: usize| toks.get(at).is_some_and(|tok| tok.kind == K::Arrow);
    match first.kind {
        K::Word => matches!(Kw::of(first.word()), Kw::Function | Kw::Async) || arrow(at.wrapping_add(1)),
        // Parameters, or one more parenthesis.
        K::LParen => true,
        _ => false,
    }
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

/// What the walk asks for: variables in places where their value counts.
#[derive(Debug, Default)]
pub(super) struct Asked<'a> {
    /// Names by number.
    names: Table<'a, u32>,
    /// By number and variable, with the name.
    variables: BTreeMap<(u32, u32), Cow<'a, [u8]>>,
    /// Names that are given a value somewhere: [`TEXT`] where it is a text or a name, else 0.
    given: Option<Table<'a, u8>>,
}

/// A name is given a constant text, or a name that may stand for one.
const TEXT: u8 = 1;

/// How a name has to be given its value to be worth asking for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// A constant text, or a name that may stand for one.
    Text,
    /// Anything.
    Anything,
}

impl<'a> Asked<'a> {
    /// Asks for the value of a variable, if the file gives its name one.
    pub(super) fn ask(
        &mut self,
        src: &'a [u8],
        toks: &[Tok],
        tok: Tok,
        given: Given,
        variable: impl FnOnce() -> u32,
        news: &News,
    ) {
        let names = self.given.get_or_insert_with(|| given_names(src, toks));
        let known = names.get_at(src, tok);
        if known.is_some_and(|known| given == Given::Anything || *known & TEXT != 0) {
            let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
            let name = name_of(src, tok);
            let Some(&mut number) = self.names.entry(name.clone(), || next) else { return };
            let variable = variable();
            self.variables.entry((number, variable)).or_insert_with(|| {
                news.add(Read::variable(Of::Asked, tok.key(src), variable), When::Read);
                news.add(Read::name(Of::Asked, tok.key(src)), When::Read);
                name
            });
        }
    }

    /// Says whether a variable was asked for.
    pub(super) fn holds(&self, src: &[u8], tok: Tok, variable: impl FnOnce() -> u32, reads: &Reads) -> bool {
        let Some(number) = self.names.get_at(src, tok) else {
            reads.note(Read::name(Of::Asked, tok.key(src)));
            return false;
        };
        let variable = variable();
        reads.note(Read::variable(Of::Asked, tok.key(src), variable));
        self.variables.contains_key(&(*number, variable))
    }

    /// Gives all variables that were asked for.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Cow<'a, [u8]>, u32)> {
        self.variables.iter().map(|((_, variable), name)| (name, *variable))
    }
}

/// Lists the names that are assigned, and whether they are given a text or a plain name.
fn given_names<'a>(src: &'a [u8], toks: &[Tok]) -> Table<'a, u8> {
    let mut given = Table::default();
    for (three, index) in toks.windows(3).zip(3_usize..) {
        let [name, equals, value] = three else { continue };
        if name.kind != K::Word || !matches!(equals.kind, K::Assign | K::EitherAssign | K::Colon) {
            continue;
        }
        let text = may_be_text(toks, *value, toks.get(index));
        if let Some(known) = given.entry(name_of(src, *name), || 0) {
            *known |= u8::from(text);
        }
    }
    given
}

/// Says whether what begins with a token may be a constant text, or a name that stands for one.
fn may_be_text(toks: &[Tok], value: Tok, after: Option<&Tok>) -> bool {
    let assigned = |tok: Option<&Tok>| tok.is_some_and(|tok| matches!(tok.kind, K::Assign | K::EitherAssign));
    match value.kind {
        K::Num | K::Regex | K::Private | K::TplHead | K::JsxStart => false,
        K::LBrace | K::LBracket => assigned(toks.get((value.mate() as usize).wrapping_add(1))),
        K::Word => match Kw::of(value.word()) {
            Kw::Function | Kw::Class => false,
            Kw::None => after.is_none_or(|after| {
                let ends = matches!(
                    after.kind,
                    K::Semi | K::Comma | K::RParen | K::RBrace | K::RBracket | K::Bang | K::Word
                );
                ends || after.newline() || assigned(Some(after))
            }),
            _ => true,
        },
        // A mark that nothing should stand behind is passed over.
        _ => true,
    }
}
