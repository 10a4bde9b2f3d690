//! Name resolution: replaces names by variables, in one pass with a stack of declarations per name.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

use crate::program::{Node, Program, ScopeKind, Text, Variable};

/// A change of the visible names, recorded while a program is built.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event {
    /// A scope opens before the expression `at`. The event `close` closes it.
    Open { at: u32, kind: ScopeKind, close: u32 },
    /// The scope of the event `open` closes before the expression `at`.
    Close { at: u32, open: u32 },
    /// The names of the innermost scope are hidden from the expression `at` on.
    Suspend { at: u32 },
    /// The hidden names are visible again.
    Resume { at: u32 },
    /// The scope of the event `scope` declares a name.
    Declare { name: Text, scope: u32 },
    /// In the scope of the event `scope`, a name refers to an enclosing scope (`nonlocal`).
    Outside { name: Text, scope: u32 },
    /// In the scope of the event `scope`, a name refers to the scope of the file (`global`).
    File { name: Text, scope: u32 },
}

/// A visible declaration.
#[derive(Debug, Clone, Copy)]
struct Declaration {
    /// The variable; `None` for a global.
    variable: Option<Variable>,
    /// For a declaration in a class, the nesting depth of the class. Functions inside the class do not see
    /// it.
    class_depth: Option<usize>,
}

/// Replaces each name by its variable, or by a global if no scope declares it.
pub(crate) fn resolve(program: &mut Program, events: &[Event]) {
    let Declared { names: declared, of_file } = declared(events);
    let mut stacks: Vec<Vec<Declaration>> = Vec::new();
    let mut in_force: Vec<Vec<Text>> = Vec::new();
    let mut suspended: Vec<Vec<Declaration>> = Vec::new();
    let mut depth = 0_usize;
    let mut next = 0_usize;
    let mut variables = program.variables;
    program.variable_names = vec![None; variables];
    for at in 0..=program.nodes.len() {
        // Events and expressions are both in source order, so one pass merges them.
        while let Some(event) = events.get(next).filter(|event| position(event) <= at) {
            match *event {
                Event::Open { kind, .. } => {
                    let names = declared.get(next).cloned().unwrap_or_default();
                    depth += usize::from(kind != ScopeKind::Block);
                    let of_file = of_file.get(next).map(Vec::as_slice).unwrap_or_default();
                    for name in of_file {
                        let known = program.file_names.binary_search_by_key(name, |(known, _)| *known);
                        let variable =
                            known.ok().and_then(|at| program.file_names.get(at)).map(|known| known.1);
                        push(&mut stacks, *name, Declaration { variable, class_depth: None });
                    }
                    for name in &names {
                        let variable = Variable::from_index(variables);
                        variables += 1;
                        program.variable_names.push(Some(*name));
                        if in_force.is_empty() {
                            program.file_names.push((*name, variable));
                        }
                        if kind == ScopeKind::Class {
                            let around = stacks.get(name.index()).and_then(|stack| visible(stack, depth));
                            program.outer.insert(variable, around);
                        }
                        let class_depth = (kind == ScopeKind::Class).then_some(depth);
                        push(&mut stacks, *name, Declaration { variable: Some(variable), class_depth });
                    }
                    in_force.push([names.as_slice(), of_file].concat());
                }
                Event::Close { open, .. } => {
                    for name in in_force.pop().unwrap_or_default() {
                        if let Some(stack) = stacks.get_mut(name.index()) {
                            stack.pop();
                        }
                    }
                    let block =
                        matches!(events.get(open as usize), Some(Event::Open { kind: ScopeKind::Block, .. }));
                    depth = depth.saturating_sub(usize::from(!block));
                }
                Event::Suspend { .. } => {
                    let names = in_force.last().into_iter().flatten();
                    let hidden = names.filter_map(|name| stacks.get_mut(name.index())?.pop()).collect();
                    suspended.push(hidden);
                }
                Event::Resume { .. } => {
                    let names = in_force.last().into_iter().flatten();
                    for (name, declaration) in names.zip(suspended.pop().unwrap_or_default()) {
                        if let Some(stack) = stacks.get_mut(name.index()) {
                            stack.push(declaration);
                        }
                    }
                }
                Event::Declare { .. } | Event::Outside { .. } | Event::File { .. } => {}
            }
            next += 1;
        }
        if let Some(Node::Name(name)) = program.nodes.get(at).copied() {
            let known = stacks.get(name.index()).and_then(|stack| visible(stack, depth));
            let node = known.map_or(Node::Global(name), Node::Variable);
            if let Some(slot) = program.nodes.get_mut(at) {
                *slot = node;
            }
        }
    }
    program.variables = variables;
}

/// Returns the innermost declaration that is visible at a depth.
///
/// Declarations in enclosing classes are skipped.
fn visible(stack: &[Declaration], depth: usize) -> Option<Variable> {
    let seen = |known: &&Declaration| known.class_depth.is_none_or(|class| class == depth);
    stack.iter().rev().take(MOST_CLASSES).find(seen)?.variable
}

/// The most class declarations of one name that are skipped, so that nested classes take linear time.
const MOST_CLASSES: usize = 64;

/// Returns the expression before which an event applies. Declarations apply with their scope.
fn position(event: &Event) -> usize {
    match event {
        Event::Open { at, .. } | Event::Close { at, .. } | Event::Suspend { at } | Event::Resume { at } => {
            *at as usize
        }
        Event::Declare { .. } | Event::Outside { .. } | Event::File { .. } => 0,
    }
}

fn push(stacks: &mut Vec<Vec<Declaration>>, name: Text, declaration: Declaration) {
    if stacks.len() <= name.index() {
        stacks.resize(name.index() + 1, Vec::new());
    }
    if let Some(stack) = stacks.get_mut(name.index()) {
        stack.push(declaration);
    }
}

/// The names that each scope declares, by the index of the event that opens the scope.
struct Declared {
    /// The names that are local to the scope.
    names: Vec<Vec<Text>>,
    /// The names that refer to the scope of the file.
    of_file: Vec<Vec<Text>>,
}

/// Collects the declared names of each scope.
fn declared(events: &[Event]) -> Declared {
    let mut of_file: Vec<Vec<Text>> = vec![Vec::new(); events.len()];
    let mut names: Vec<Vec<Text>> = vec![Vec::new(); events.len()];
    let mut outside: Vec<Vec<Text>> = vec![Vec::new(); events.len()];
    for event in events {
        match event {
            Event::Declare { name, scope } => {
                if let Some(list) = names.get_mut(*scope as usize) {
                    list.push(*name);
                }
            }
            Event::Outside { name, scope } => {
                if let Some(list) = outside.get_mut(*scope as usize) {
                    list.push(*name);
                }
            }
            Event::File { name, scope } => {
                if let Some(list) = of_file.get_mut(*scope as usize) {
                    list.push(*name);
                }
            }
            Event::Open { .. } | Event::Close { .. } | Event::Suspend { .. } | Event::Resume { .. } => {}
        }
    }
    for (list, outside) in names.iter_mut().zip(&mut outside) {
        list.sort_unstable();
        list.dedup();
        outside.sort_unstable();
        list.retain(|name| outside.binary_search(name).is_err());
    }
    for list in &mut of_file {
        list.sort_unstable();
        list.dedup();
    }
    Declared { names, of_file }
}
