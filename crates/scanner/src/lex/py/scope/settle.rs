//! The second pass: which variable each name is.

use core::cmp::Reverse;

use super::read::{Caught, Decl, FILE, Found, NO, Of, Scope};
use super::space::Space;
use super::{BINDS, Kind, NONE, Scopes, Var};

/// No entry of a stack.
const END: u32 = u32::MAX;

/// A name in force in a scope, and what was in force before.
#[derive(Debug, Clone, Copy)]
struct Entry {
    scope: u32,
    var: u32,
    before: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    Leave,
    Enter,
}

/// A scope is entered or left at a token. Inner ones are left first, outer ones entered first: of two that begin and end together, the
/// one that was found first is the outer one.
type Event = (u32, Turn, Reverse<u32>, u32, u32);

#[derive(Debug)]
pub(super) struct Settler<'f> {
    scopes: &'f [Scope],
    decls: &'f [Decl],
    /// By declaration: its variable; none where another scope owns it.
    own: Vec<u32>,
    /// By scope: its declarations.
    ranges: Vec<(u32, u32)>,
    pub(super) vars: Vec<Var>,
    /// By name: its variable of the file.
    modules: Vec<u32>,
    /// By name: what functions around hold, and what classes around hold.
    functions: Vec<u32>,
    classes: Vec<u32>,
    entries: Vec<Entry>,
    open: Vec<u32>,
}

pub(super) fn settle(mut found: Found<'_>) -> Scopes<'_> {
    let names = found.names.len();
    if found.loose {
        found.decls.clear();
        found.params.clear();
        found.gives.clear();
        found.sure.clear();
        found.scopes.truncate(1);
        found.functions.clear();
        found.classes.clear();
        found.places.clear();
        found.subjects.clear();
    }
    found.decls.sort_unstable();
    found.decls.dedup_by_key(|decl| (decl.scope, decl.name));
    let decls = core::mem::take(&mut found.decls);
    let mut settler = Settler {
        scopes: &found.scopes,
        decls: &decls,
        own: vec![NONE; decls.len()],
        ranges: vec![(0, 0); found.scopes.len()],
        vars: vec![Var::default()],
        modules: vec![NONE; names],
        functions: vec![END; names],
        classes: vec![END; names],
        entries: Vec::new(),
        open: vec![FILE],
    };
    settler.number();
    let mut slots = settler.walk(&found.ids);
    settler.functions(&found, &mut slots);
    let methods = settler.calls(&found);
    let subjects = settler.subjects(&found);
    let sure = settler.sure(&found);
    let Settler { vars, modules, .. } = settler;
    for at in &found.binders {
        if let Some(slot) = slots.get_mut(*at as usize) {
            *slot |= BINDS;
        }
    }
    Scopes { slots, vars, sure, names: found.names, modules, subjects, methods, loose: found.loose }
}

impl Settler<'_> {
    fn module(&mut self, name: u32) -> u32 {
        let next = u32::try_from(self.vars.len()).unwrap_or(NONE);
        let Some(known) = self.modules.get_mut(name as usize) else { return NONE };
        if *known == NONE {
            *known = next;
            self.vars.push(Var { name, ..Var::default() });
        }
        *known
    }

    fn declared(&mut self, var: u32) {
        if let Some(var) = self.vars.get_mut(var as usize) {
            var.declared = true;
        }
    }

    /// Numbers the variables that scopes declare.
    fn number(&mut self) {
        let mut from = 0_u32;
        for group in self.decls.chunk_by(|one, other| one.scope == other.scope) {
            let to = from.saturating_add(u32::try_from(group.len()).unwrap_or(0));
            let scope = group.first().map_or(FILE, |decl| decl.scope);
            if let Some(range) = self.ranges.get_mut(scope as usize) {
                *range = (from, to);
            }
            let kind = self.scopes.get(scope as usize).map_or(Kind::Module, |scope| scope.kind);
            for (decl, index) in group.iter().zip(from as usize..) {
                let var = match (decl.of, kind) {
                    (Of::Nonlocal, _) => NONE,
                    (Of::Global, _) | (Of::Own, Kind::Module) => self.module(decl.name),
                    (Of::Own, _) => {
                        let var = u32::try_from(self.vars.len()).unwrap_or(NONE);
                        self.vars.push(Var { kind, name: decl.name, ..Var::default() });
                        var
                    }
                };
                self.declared(var);
                if let Some(own) = self.own.get_mut(index) {
                    *own = var;
                }
            }
            from = to;
        }
    }

    fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        for (scope, number) in self.scopes.iter().zip(0_u32..).skip(1) {
            let holds = self.ranges.get(number as usize).is_some_and(|(from, to)| from < to);
            let class = scope.kind == Kind::Class;
            // A function without names of its own still hides those of the class around it.
            if scope.start >= scope.end || !(holds || class || scope.kind == Kind::Local) {
                continue;
            }
            let (hole, behind) = scope.hole;
            let holed = hole < behind && behind <= scope.end && hole >= scope.start;
            let mut range = |start: u32, end: u32| {
                if start < end {
                    events.push((start, Turn::Enter, Reverse(scope.end), number, number));
                    events.push((end, Turn::Leave, Reverse(start), NO.saturating_sub(number), number));
                }
            };
            if holed {
                range(scope.start, hole);
                range(behind, scope.end);
            } else {
                range(scope.start, scope.end);
            }
        }
        events.sort_unstable();
        events
    }

    /// Goes over the tokens with the scopes that are open.
    fn walk(&mut self, ids: &[u32]) -> Vec<u32> {
        let events = self.events();
        let mut events = events.into_iter().peekable();
        let mut slots = Vec::with_capacity(ids.len());
        for (id, at) in ids.iter().zip(0_u32..) {
            while let Some((_, turn, _, _, scope)) = events.next_if(|event| event.0 <= at) {
                match turn {
                    Turn::Enter => self.enter(scope),
                    Turn::Leave => self.leave(scope),
                }
            }
            slots.push(id.checked_sub(1).map_or(NONE, |name| self.find(name)));
        }
        slots
    }

    fn declarations(&self, scope: u32) -> (usize, usize) {
        let (from, to) = self.ranges.get(scope as usize).copied().unwrap_or_default();
        (from as usize, to as usize)
    }

    pub(super) fn kind(&self, scope: u32) -> Kind {
        self.scopes.get(scope as usize).map_or(Kind::Module, |scope| scope.kind)
    }

    fn enter(&mut self, scope: u32) {
        let class = self.kind(scope) == Kind::Class;
        let (from, to) = self.declarations(scope);
        for index in from..to {
            let (Some(decl), Some(&var)) = (self.decls.get(index).copied(), self.own.get(index)) else {
                continue;
            };
            if var == NONE {
                continue;
            }
            if class && decl.of == Of::Own {
                let outer = self.around(decl.name);
                if let Some(own) = self.vars.get_mut(var as usize) {
                    own.outer = outer;
                }
            }
            let next = u32::try_from(self.entries.len()).unwrap_or(END);
            let heads = if class { &mut self.classes } else { &mut self.functions };
            if let Some(head) = heads.get_mut(decl.name as usize) {
                self.entries.push(Entry { scope, var, before: *head });
                *head = next;
            }
        }
        self.open.push(scope);
    }

    fn leave(&mut self, scope: u32) {
        if self.open.last() != Some(&scope) {
            return;
        }
        self.open.pop();
        let class = self.kind(scope) == Kind::Class;
        let (from, to) = self.declarations(scope);
        for index in (from..to).rev() {
            if self.own.get(index).is_none_or(|var| *var == NONE) {
                continue;
            }
            let Some(decl) = self.decls.get(index) else { continue };
            let heads = if class { &mut self.classes } else { &mut self.functions };
            let Some(head) = heads.get_mut(decl.name as usize) else { continue };
            if let Some(entry) = self.entries.pop() {
                *head = entry.before;
            }
        }
    }

    /// What functions around hold, else the file's.
    fn around(&mut self, name: u32) -> u32 {
        let head = self.functions.get(name as usize).copied().unwrap_or(END);
        match self.entries.get(head as usize) {
            Some(entry) => entry.var,
            None => self.module(name),
        }
    }

    fn find(&mut self, name: u32) -> u32 {
        let here = self.open.last().copied().unwrap_or(FILE);
        let head = self.classes.get(name as usize).copied().unwrap_or(END);
        match self.entries.get(head as usize).filter(|entry| entry.scope == here) {
            Some(entry) => entry.var,
            None => self.around(name),
        }
    }

    /// Gives the variable that a scope's name is, whosever it is.
    pub(super) fn bound(&self, scope: u32, name: u32) -> u32 {
        let at = self.decls.binary_search_by_key(&(scope, name), |decl| (decl.scope, decl.name));
        let own = at.ok().and_then(|at| self.own.get(at)).copied().unwrap_or(NONE);
        if own == NONE && scope == FILE {
            self.modules.get(name as usize).copied().unwrap_or(NONE)
        } else {
            own
        }
    }

    /// Gives the variable that a scope declares under a name; none where it is another scope's.
    pub(super) fn own(&self, scope: u32, name: u32) -> u32 {
        let at = self.decls.binary_search_by_key(&(scope, name), |decl| (decl.scope, decl.name));
        let own = at.ok().filter(|at| self.decls.get(*at).is_some_and(|decl| decl.of == Of::Own));
        own.and_then(|at| self.own.get(at)).copied().unwrap_or(NONE)
    }

    /// Lists where variables are certainly bound.
    fn sure(&mut self, found: &Found<'_>) -> Vec<(u32, u32)> {
        let mut undone = vec![false; self.vars.len()];
        let mut caught = undone.clone();
        let mark = |list: &mut Vec<bool>, var: u32| {
            if let Some(mark) = list.get_mut(var as usize) {
                *mark = true;
            }
        };
        for &(scope, name) in &found.undone {
            mark(&mut undone, self.bound(scope, name));
        }
        for sure in found.sure.iter().filter(|sure| sure.caught == Caught::Yes) {
            mark(&mut caught, self.bound(sure.scope, sure.name));
        }
        let is = |list: &[bool], var: u32| list.get(var as usize).copied().unwrap_or(true);
        let mut ranges: Vec<(u32, u32, u32)> = Vec::new();
        for sure in &found.sure {
            let var = self.own(sure.scope, sure.name);
            let kind = self.vars.get(var as usize).map_or(Kind::Module, |var| var.kind);
            let shared = kind != Kind::Local && found.space == Space::Shared;
            let gone = is(&caught, var) && sure.caught == Caught::No;
            if var != NONE && !shared && !gone && !is(&undone, var) {
                let end = found.ends.get(sure.block as usize).copied().unwrap_or(NO);
                ranges.push((var, sure.from, end));
            }
        }
        for &(_, scope, name) in &found.params {
            let var = self.own(scope, name);
            if var != NONE && !is(&caught, var) && !is(&undone, var) {
                ranges.push((var, 0, NO));
            }
        }
        ranges.sort_unstable();
        let mut sure: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for group in ranges.chunk_by(|one, other| one.0 == other.0) {
            let start = sure.len();
            for &(_, from, to) in group {
                let own = sure.len() > start;
                match sure.last_mut().filter(|last| own && last.1 >= from) {
                    Some(last) => last.1 = last.1.max(to),
                    None => sure.push((from, to)),
                }
            }
            let small = |value: usize| u32::try_from(value).unwrap_or(NO);
            let var = group.first().and_then(|first| self.vars.get_mut(first.0 as usize));
            if let Some(var) = var {
                var.sure = (small(start), small(sure.len()));
            }
        }
        sure
    }
}
