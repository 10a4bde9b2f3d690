//! The arguments of a call, as rules see them.

use plugward_readers::{
    Alternative, Argument, Call, CallKind, Evaluation, Item, Language, NamePart, Node, NodeId, Value,
};
use plugward_types::Part;

use super::watched::Groups;
use super::{Resolved, RuleAnalysis};
use crate::scan::sink::{Args, Declaration, FirstArg, Hit};
use crate::text::view::Obfuscations;

/// The most items that are written for one call.
const MOST_ITEMS: usize = 256;
/// The longest text of arguments.
const LONGEST: usize = 1 << 14;
/// The most alternatives of the first argument that are reported separately.
const MOST_CHOICES: usize = 8;
/// The deepest nesting of texts that are written.
const DEEPEST: usize = 6;
/// The index of `shell` among the arguments of a process.
const SHELL_PLACE: usize = 8;

/// The constants of some arguments, in the form that rules match.
#[derive(Debug)]
struct Written {
    text: Vec<u8>,
    how: Obfuscations,
    left: usize,
    /// The only alternative of the next value that is written.
    choice: Option<usize>,
}

impl RuleAnalysis<'_, '_, '_> {
    /// Reports a call to the rules.
    pub(super) fn tell_call(&mut self, call: &Call<'_, '_>, resolved: Resolved) {
        let facts = call.facts;
        let span = Self::span(facts, call.node);
        let first = self.first(facts, call.arguments);
        let how = facts.how(call.name);
        for node in [resolved.node, resolved.star].into_iter().filter(|node| *node != 0) {
            let is_star = node == resolved.star;
            // `new x.constructor("…")` creates another `x`.
            if is_star && call.kind == CallKind::New && self.watched.of(node).has(Groups::CONSTRUCTOR) {
                continue;
            }
            let mut args = Args { first, constants: Vec::new() };
            if !self.sink.wants_constants(self.names, node) {
                self.sink.call(self.names, node, Declaration::Elsewhere, &args, span, how);
                continue;
            }
            let receiver = call.receiver.filter(|_| is_star && self.language == Language::Python);
            let known = self.sink.hits.len();
            for choice in 0..self.choices(facts, call.arguments, receiver) {
                let written = self.write_arguments(facts, call.arguments, receiver, resolved, choice);
                args.constants = written.text;
                let before = self.sink.hits.len();
                self.sink.call(self.names, node, Declaration::Elsewhere, &args, span, how.and(written.how));
                // An alternative may produce a hit that exists already.
                let new = self.sink.hits.split_off(before);
                let earlier = self.sink.hits.part(known..);
                let new: Vec<Hit> = new.into_iter().filter(|hit| !earlier.contains(hit)).collect();
                self.sink.hits.extend(new);
            }
        }
        self.shapes(call, resolved, span, how);
        self.code(call, resolved);
    }

    /// Reports a write of a constant, as if the name were called with it.
    pub(super) fn tell_written(
        &mut self,
        facts: &Evaluation<'_>,
        resolved: Resolved,
        value: Value,
        span: (usize, usize),
        how: Obfuscations,
    ) {
        let node = resolved.node;
        if node != 0 && facts.has_text(value) && self.sink.wants_constants(self.names, node) {
            let mut written =
                Written { text: Vec::new(), how: Obfuscations::NONE, left: MOST_ITEMS, choice: None };
            self.write_value(facts, value, 0, &mut written);
            let args = Args { first: FirstArg::Literal, constants: written.text };
            self.sink.call(self.names, node, Declaration::Elsewhere, &args, span, how.and(written.how));
        }
    }

    /// Returns how many alternatives of the first argument are reported separately, and in Python of the receiver.
    fn choices(&self, facts: &Evaluation<'_>, arguments: &[Argument], receiver: Option<NodeId>) -> usize {
        let first = arguments.first().map(|first| first.value);
        let values = first.into_iter().chain(receiver.map(|node| facts.value(node)));
        let count = |value| match self.language {
            Language::Python => choices_of(facts, value, DEEPEST),
            Language::JavaScript => facts.alternatives(value).count(),
        };
        values.map(count).max().unwrap_or(1).clamp(1, MOST_CHOICES)
    }

    fn first(&mut self, facts: &Evaluation<'_>, arguments: &[Argument]) -> FirstArg {
        let Some(first) = arguments.iter().find(|argument| !(argument.is_spread && argument.key.is_some()))
        else {
            return FirstArg::None;
        };
        if first.is_spread {
            return if self.language == Language::JavaScript { FirstArg::Text } else { FirstArg::Other };
        }
        let (mut is_text, mut is_constant, mut is_other) = (false, false, facts.is_open(first.value));
        for alternative in facts.alternatives(first.value) {
            match alternative {
                Alternative::Text(..) => (is_text, is_constant) = (true, true),
                Alternative::Partial(_) => (is_text, is_other) = (true, true),
                _ => is_other = true,
            }
        }
        if self.is_temporary(facts, first.value) {
            return FirstArg::Literal;
        }
        match (is_text, is_constant && !is_other) {
            (_, true) => FirstArg::Literal,
            (true, _) => FirstArg::Text,
            _ => FirstArg::Other,
        }
    }

    /// Returns `true` if a value is certainly a temporary directory that the file created, or a path in one.
    pub(super) fn is_temporary(&mut self, facts: &Evaluation<'_>, value: Value) -> bool {
        self.is_temporary_below(facts, value, DEEPEST)
    }

    /// The same up to a depth: in a loop, a path can be joined from itself.
    fn is_temporary_below(&mut self, facts: &Evaluation<'_>, value: Value, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        if facts.is_open(value) {
            return false;
        }
        let mut alternatives = facts.alternatives(value);
        let (Some(only), None) = (alternatives.next(), alternatives.next()) else { return false };
        match only {
            Alternative::Name(name) => {
                let Some(parent) = facts.parent(name).filter(|_| facts.step(name) == NamePart::Result) else {
                    return false;
                };
                let parent = self.resolve(facts, parent);
                self.groups(parent).has(Groups::TEMPORARY)
            }
            Alternative::Partial(node) => {
                let first = facts.parts(node).first().copied();
                // `Path(directory) / name`
                let wrapped = first.and_then(|first| match facts.program().node(first) {
                    Node::Call { arguments, .. } => facts.program().items(arguments).first().copied(),
                    _ => None,
                });
                if wrapped.is_some_and(|wrapped| self.is_temporary_below(facts, facts.value(wrapped), depth))
                {
                    return true;
                }
                let inner = first.map(|first| facts.value(first));
                inner.is_some_and(|inner| {
                    inner != value && !facts.has_text(inner) && self.is_temporary_below(facts, inner, depth)
                })
            }
            _ => false,
        }
    }

    /// Returns the constants of a call's receiver and arguments, each with a blank after it.
    pub(super) fn constants(&mut self, facts: &Evaluation<'_>, call: &Call<'_, '_>) -> Vec<u8> {
        self.constants_of(facts, call.receiver, call.arguments)
    }

    /// Returns the same of a receiver and some arguments.
    pub(super) fn constants_of(
        &mut self,
        facts: &Evaluation<'_>,
        receiver: Option<NodeId>,
        arguments: &[Argument],
    ) -> Vec<u8> {
        let mut written =
            Written { text: Vec::new(), how: Obfuscations::NONE, left: MOST_ITEMS, choice: None };
        let receiver = receiver.map(|node| facts.value(node)).filter(|value| facts.has_text(*value));
        for value in receiver.into_iter().chain(arguments.iter().map(|argument| argument.value)) {
            self.write_value(facts, value, 1, &mut written);
            written.text.push(b' ');
        }
        written.text
    }

    fn write_arguments(
        &mut self,
        facts: &Evaluation<'_>,
        arguments: &[Argument],
        receiver: Option<NodeId>,
        resolved: Resolved,
        choice: usize,
    ) -> Written {
        let mut written =
            Written { text: Vec::new(), how: Obfuscations::NONE, left: MOST_ITEMS, choice: None };
        if let Some(receiver) = receiver {
            // The receiver of a method is written first; a blank stands for an unknown one.
            let value = facts.value(receiver);
            if facts.has_text(value) && !self.is_temporary(facts, value) {
                written.choice = Some(choice);
                self.write_value(facts, facts.value(receiver), 0, &mut written);
                trim(&mut written.text);
            }
            written.text.push(b' ');
        } else if self.language == Language::Python && resolved.node == 0 {
            written.text.push(b' ');
        }
        for (argument, place) in arguments.iter().zip(0_usize..) {
            written.choice = (place == 0).then_some(choice);
            if place == 0 && self.is_temporary(facts, argument.value) {
                written.text.push(b' ');
                continue;
            }
            let is_call = |node: &NodeId| matches!(facts.program().node(*node), Node::Call { .. });
            if let Some(node) = argument.node.filter(is_call)
                && place == 0
                && self.language == Language::JavaScript
                && !facts.has_text(argument.value)
            {
                // The constant parts of a call of an unknown function that may join a path.
                self.write_parts(facts, node, 0, &mut written);
                trim(&mut written.text);
                written.text.push(b' ');
                continue;
            }
            let item_key = argument.key.map(|key| facts.bytes(key).to_vec());
            self.write_item(facts, item_key.as_deref(), argument.value, 0, &mut written);
        }
        if self.language == Language::Python && self.watched.of(resolved.node).has(Groups::STARTER) {
            Self::write_shell(facts, arguments, &mut written.text);
        }
        written
    }

    /// Writes the ninth argument of a process as the keyword `shell`.
    fn write_shell(facts: &Evaluation<'_>, arguments: &[Argument], out: &mut Vec<u8>) {
        let placed = arguments.iter().take_while(|argument| argument.key.is_none() && !argument.is_spread);
        let Some(argument) = placed.into_iter().nth(SHELL_PLACE) else { return };
        let shown = facts.alternatives(argument.value).find_map(|one| match one {
            Alternative::Number(number) => Some(number != 0),
            Alternative::Text(text, _) => Some(!text.is_empty()),
            Alternative::Name(name) => truth(facts, name),
            _ => None,
        });
        let shown: &[u8] = match shown {
            Some(true) => b"shell=True ",
            Some(false) => b"shell=False ",
            None => b"shell=? ",
        };
        out.extend_from_slice(shown);
    }

    fn write_item(
        &mut self,
        facts: &Evaluation<'_>,
        key: Option<&[u8]>,
        value: Value,
        depth: usize,
        out: &mut Written,
    ) {
        if out.left == 0 || out.text.len() > LONGEST {
            return;
        }
        out.left = out.left.saturating_sub(1);
        if let Some(key) = key.filter(|_| self.language == Language::Python) {
            out.text.extend_from_slice(key);
            out.text.push(b'=');
            let before = out.text.len();
            self.write_value(facts, value, depth, out);
            if out.text.len() == before {
                // A key with an unknown value is still set.
                out.text.push(b'?');
            }
        } else {
            self.write_value(facts, value, depth, out);
        }
        out.text.push(b' ');
    }

    /// Writes the constants of a value.
    fn write_value(&mut self, facts: &Evaluation<'_>, value: Value, depth: usize, out: &mut Written) {
        if depth > DEEPEST || out.text.len() > LONGEST {
            return;
        }
        let python = self.language == Language::Python;
        let mut is_first = true;
        let mut all: Vec<Alternative<'_>> = facts.alternatives(value).collect();
        let choice = out.choice.take();
        if let Some(choice) = choice.filter(|_| all.len() > 1) {
            all = choice.checked_rem(all.len()).and_then(|at| all.get(at)).copied().into_iter().collect();
        } else if python && matches!(*all, [Alternative::Partial(_)]) {
            // `home / name`: the name is one of several.
            out.choice = choice;
        }
        for alternative in all {
            let start = out.text.len();
            if !is_first {
                out.text.push(b' ');
            }
            let before = out.text.len();
            match alternative {
                Alternative::Text(bytes, how) => {
                    out.text.extend_from_slice(bytes);
                    out.how = out.how.and(how);
                }
                Alternative::Number(number) if python => {
                    out.text.extend_from_slice(number.to_string().as_bytes());
                }
                Alternative::Partial(node) => self.write_parts(facts, node, depth, out),
                Alternative::Name(name) if python => {
                    if let Some(is) = truth(facts, name) {
                        out.text.extend_from_slice(if is { b"True" } else { b"False" });
                    } else if self.is_in(facts, value, Groups::EXECUTABLE) {
                        out.text.extend_from_slice(b"python3");
                    }
                }
                Alternative::List(collection) | Alternative::Record(collection) if python || depth > 0 => {
                    let items: Vec<Item> = facts.items_of(collection);
                    for item in items {
                        let key = item.key.map(|key| facts.bytes(key).to_vec());
                        self.write_item(facts, key.as_deref(), item.value, depth + 1, out);
                    }
                    trim(&mut out.text);
                }
                _ => {}
            }
            if out.text.len() == before {
                out.text.truncate(start);
            } else {
                is_first = false;
            }
        }
    }

    /// Writes the known parts of a text. Parts of a path are joined by a slash.
    fn write_parts(&mut self, facts: &Evaluation<'_>, node: NodeId, depth: usize, out: &mut Written) {
        let is_path = matches!(facts.program().node(node), Node::Call { .. } | Node::Mix(_));
        let choice = out.choice.take();
        for part in facts.parts(node) {
            out.choice = choice;
            if is_path && out.text.last().is_some_and(|last| *last != b'/') {
                out.text.push(b'/');
            }
            let before = out.text.len();
            if facts.value(part) != facts.value(node) {
                self.write_value(facts, facts.value(part), depth + 1, out);
            }
            let doubled = is_path
                && before
                    .checked_sub(1)
                    .and_then(|at| out.text.get(at..))
                    .is_some_and(|text| text.starts_with(b"//"));
            if doubled {
                out.text.remove(before);
            }
            if out.text.len() == before && is_path && out.text.last() != Some(&b'/') {
                out.text.push(b'/');
            } else if out.text.len() == before && self.language == Language::Python && !is_path {
                out.text.extend_from_slice(b"x_");
            }
        }
        out.choice = None;
    }
}

/// Returns the number of alternatives of a value, or of the part of a path that has most.
fn choices_of(facts: &Evaluation<'_>, value: Value, depth: usize) -> usize {
    let mut all = facts.alternatives(value);
    match (all.next(), all.next(), depth.checked_sub(1)) {
        (Some(Alternative::Partial(node)), None, Some(depth)) => {
            let parts = facts.parts(node).into_iter().map(|part| facts.value(part));
            parts.filter(|part| *part != value).map(|part| choices_of(facts, part, depth)).max().unwrap_or(1)
        }
        _ => facts.alternatives(value).count(),
    }
}

fn trim(text: &mut Vec<u8>) {
    while text.last() == Some(&b' ') {
        text.pop();
    }
}

/// Returns the value of `True`, `False` and similar names.
pub(super) fn truth(facts: &Evaluation<'_>, name: plugward_readers::Name) -> Option<bool> {
    let NamePart::Member(text) = facts.step(name) else { return None };
    let parent = facts.parent(name)?;
    match facts.bytes(text) {
        _ if facts.step(parent) != NamePart::Global => None,
        b"True" | b"true" => Some(true),
        b"False" | b"None" | b"false" => Some(false),
        _ => None,
    }
}
