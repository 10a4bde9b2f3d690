//! What goes from calls to parameters, and from functions to calls.

use std::collections::BTreeMap;

use super::read::Found;
use super::settle::Settler;
use super::{Kind, NAMELESS, NONE, PLACES, Var};

impl Settler<'_> {
    /// Says what parameters are and what functions give.
    pub(super) fn functions(&mut self, found: &Found<'_>, slots: &mut [u32]) {
        for &(tok, scope, name) in &found.params {
            let own = self.own(scope, name);
            if let Some(slot) = slots.get_mut(tok as usize) {
                *slot = own;
            }
        }
        let mut gives = vec![NONE; found.scopes.len()];
        for function in &found.functions {
            let var = self.bound(function.outer, function.name);
            let next = u32::try_from(self.vars.len()).unwrap_or(NONE);
            // All functions of one variable give what any of them gives.
            let value = match self.vars.get_mut(var as usize).filter(|_| var != NONE) {
                Some(own) if own.gives != NONE => own.gives,
                Some(own) => {
                    own.gives = next;
                    next
                }
                None => continue,
            };
            if value == next {
                self.vars.push(Var { kind: Kind::Local, declared: true, name: NAMELESS, ..Var::default() });
            }
            if let Some(slot) = gives.get_mut(function.scope as usize) {
                *slot = value;
            }
        }
        for &(tok, scope) in &found.gives {
            let value = gives.get(scope as usize).copied().unwrap_or(NONE);
            if let Some(slot) = slots.get_mut(tok as usize) {
                *slot = value;
            }
        }
    }

    /// Makes variables without names; gives the first.
    fn more(&mut self, count: u32) -> u32 {
        let first = u32::try_from(self.vars.len()).unwrap_or(NONE);
        let var = Var { kind: Kind::Local, declared: true, name: NAMELESS, ..Var::default() };
        self.vars.extend((0..count).map(|_| var));
        first
    }

    /// Makes the variables that calls fill; gives those of methods by name.
    pub(super) fn calls(&mut self, found: &Found<'_>) -> BTreeMap<u32, (u32, u32)> {
        let mut places: Vec<(u32, u32)> = vec![(0, 0); found.scopes.len()];
        for ((scope, _), at) in found.places.iter().zip(0_u32..) {
            if let Some(place) = places.get_mut(*scope as usize) {
                if place.1 == 0 {
                    place.0 = at;
                }
                place.1 = at.saturating_add(1);
            }
        }
        let init = found.names.find(b"__init__");
        let mut methods: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        for function in &found.functions {
            let (from, to) = places.get(function.scope as usize).copied().unwrap_or_default();
            let method = self.kind(function.outer) == Kind::Class;
            // What a method is called on stands first.
            let from = from.saturating_add(u32::from(method)).min(to);
            let count = to.saturating_sub(from).min(PLACES);
            let named = method && Some(function.name) != init;
            let var = self.bound(function.outer, function.name);
            let known = match self.vars.get(var as usize) {
                _ if named => methods.get(&function.name).copied().unwrap_or_default(),
                Some(own) if var != NONE => (own.args, own.arity),
                _ => continue,
            };
            let (args, arity) = if known.1 >= count { known } else { (self.more(count), count) };
            if known.1 > 0 && known.0 != args {
                // What an earlier function of the name is called with goes on to this one.
                for place in 0..known.1 {
                    self.chain(args.saturating_add(place), known.0.saturating_add(place));
                }
            }
            if named {
                methods.insert(function.name, (args, arity));
            } else if let Some(own) = self.vars.get_mut(var as usize) {
                (own.args, own.arity) = (args, arity);
            }
            for place in 0..count {
                let Some(&(scope, name)) = found.places.get(from.saturating_add(place) as usize) else {
                    break;
                };
                let param = self.own(scope, name);
                self.chain(param, args.saturating_add(place));
                if let Some(arg) = self.vars.get_mut(args.saturating_add(place) as usize) {
                    arg.name = name;
                }
            }
        }
        for class in &found.classes {
            let Some(init) = init.map(|init| self.own(class.scope, init)).filter(|init| *init != NONE) else {
                continue;
            };
            let (args, arity) = self.vars.get(init as usize).map_or((0, 0), |init| (init.args, init.arity));
            let var = self.bound(class.outer, class.name);
            if let Some(own) = self.vars.get_mut(var as usize).filter(|own| var != NONE && own.arity == 0) {
                (own.args, own.arity) = (args, arity);
            }
        }
        methods
    }

    /// Lets a variable hold what another one does.
    fn chain(&mut self, var: u32, given: u32) {
        if let Some(own) = self.vars.get_mut(var as usize).filter(|_| var != NONE && var != given) {
            own.given = given;
        }
    }

    /// Makes the variables that hold what is matched.
    pub(super) fn subjects(&mut self, found: &Found<'_>) -> BTreeMap<u32, u32> {
        let first = self.more(if found.subjects.is_empty() { 0 } else { found.matches });
        let known = found.subjects.iter().filter(|(_, number)| *number < found.matches);
        known.map(|(tok, number)| (*tok, first.saturating_add(*number))).collect()
    }
}
