//! Code in texts: shell commands and evaluated text.

use plugward_readers::{Alternative, Argument, Call, Evaluation, Item, Language, Node, NodeId, Value};

use super::watched::Groups;
use super::{Resolved, RuleAnalysis};
use crate::lex::quote::{self, Quoting};
use crate::scan::entry::Lens;
use crate::scan::sink::EmbeddedText;
use crate::text::view::{Obfuscations, View};

/// The deepest nesting of texts that are written, and the most texts in total.
const DEEPEST: usize = 6;
const MOST_PARTS: usize = 256;
/// The most words of one command.
const MOST_WORDS: usize = 64;
/// The most commands of one call, one for each alternative of a word.
const MOST_COMMANDS: usize = 4;

/// A part of an embedded text: its bytes with their position, or an unknown value.
struct Rendered {
    view: View,
    quoting: Quoting,
    left: usize,
}

impl RuleAnalysis<'_, '_, '_> {
    /// Reads the code that a call runs.
    pub(super) fn code(&mut self, call: &Call<'_, '_>, resolved: Resolved) {
        let facts = call.facts;
        let groups = self.watched.of(resolved.node);
        let code = Groups::EVALUATOR;
        if groups.has(code) {
            let own = if self.language == Language::JavaScript { Lens::Js } else { Lens::Py };
            let most = if self.language == Language::JavaScript { usize::MAX } else { 1 };
            for argument in call.arguments.iter().take(most) {
                self.embed(facts, own, argument.value, argument.node);
            }
        } else if groups.has(Groups::SHELL) {
            if let Some(first) = Self::command_argument(facts, call.arguments) {
                self.embed(facts, Lens::Sh, first.value, first.node);
                self.command_lists(facts, first.value, first.node);
            }
        } else if groups.has(Groups::PROGRAM) || groups.has(Groups::LISTED) {
            self.program(facts, call.arguments, groups);
        }
        if groups.has(Groups::FILE) {
            for argument in call.arguments {
                for alternative in facts.alternatives(argument.value) {
                    if let Alternative::Text(bytes, _) = alternative
                        && let Ok(text) = core::str::from_utf8(bytes)
                    {
                        self.sink.named.push(text.to_owned());
                    }
                }
            }
        }
    }

    fn command_argument(facts: &Evaluation<'_>, arguments: &[Argument]) -> Option<Argument> {
        let is_command = |argument: &&Argument| {
            argument.key.is_none_or(|key| matches!(facts.bytes(key), b"args" | b"cmd" | b"command"))
        };
        arguments.iter().find(is_command).copied()
    }

    /// Adds each text that a value can be as embedded code.
    fn embed(&mut self, facts: &Evaluation<'_>, lens: Lens, value: Value, node: Option<NodeId>) {
        let hole: &[u8] = if lens == Lens::Sh { b"${x}" } else { b"x_" };
        let all: Vec<Alternative<'_>> = facts.alternatives(value).collect();
        for alternative in all {
            if !matches!(alternative, Alternative::Text(..) | Alternative::Partial(_)) {
                continue;
            }
            // A part of an evaluated text is not a program of JavaScript.
            if lens == Lens::Js && matches!(alternative, Alternative::Partial(_)) {
                continue;
            }
            let mut rendered = Rendered { view: View::default(), quoting: Quoting::Single, left: MOST_PARTS };
            self.render(facts, &alternative, node, hole, 0, &mut rendered);
            if let Some(range) = self.range(facts, &alternative, node) {
                self.sink.embed(lens, EmbeddedText::Range(range.0, range.1));
            } else if !rendered.view.is_empty() {
                self.sink.embed(lens, EmbeddedText::View(rendered.view));
            }
        }
    }

    /// Returns the range of a text that is in the file unchanged.
    fn range(
        &mut self,
        facts: &Evaluation<'_>,
        text: &Alternative<'_>,
        node: Option<NodeId>,
    ) -> Option<(usize, usize)> {
        let Alternative::Text(bytes, how) = *text else { return None };
        let at = self.origin(facts, bytes, node)?;
        let (start, end) = facts.program().span(at);
        let found = memchr::memmem::find(self.src.get(start..end)?, bytes).filter(|_| how.is_plain())?;
        let start = start + found;
        Some((start, start + bytes.len()))
    }

    /// Returns the expression that writes a text: the given one, or the first one in the file.
    fn origin(&mut self, facts: &Evaluation<'_>, bytes: &[u8], node: Option<NodeId>) -> Option<NodeId> {
        let program = facts.program();
        let is_own =
            |node: &NodeId| matches!(program.node(*node), Node::Text(text) if program.bytes(text) == bytes);
        if let Some(node) = node.filter(is_own) {
            return Some(node);
        }
        let text = program.find_text(bytes)?;
        if self.origins.is_empty() {
            for id in program.ids() {
                let Node::Text(text) = program.node(id) else { continue };
                if self.origins.len() <= text.index() {
                    self.origins.resize(text.index() + 1, None);
                }
                if let Some(slot) = self.origins.get_mut(text.index()) {
                    slot.get_or_insert(id);
                }
            }
        }
        self.origins.get(text.index()).copied().flatten()
    }

    /// Writes a text, with its positions in the file as far as they are known.
    fn render(
        &mut self,
        facts: &Evaluation<'_>,
        text: &Alternative<'_>,
        node: Option<NodeId>,
        hole: &[u8],
        depth: usize,
        out: &mut Rendered,
    ) {
        let at = node.map_or((0, 0), |node| facts.program().span(node));
        if depth > DEEPEST || out.left == 0 {
            out.quoting = Quoting::Double;
            out.view.put(hole, at, Obfuscations::NONE, 0);
            return;
        }
        out.left = out.left.saturating_sub(1);
        match *text {
            Alternative::Text(bytes, how) => {
                // A word that a function of the file returns is found where the call is.
                let is_call = |node: &NodeId| matches!(facts.program().node(*node), Node::Call { .. });
                if node.as_ref().is_some_and(is_call) && !bytes.contains(&b'\n') {
                    return out.view.put(bytes, at, how, 0);
                }
                if let Some((start, _)) = self.range(facts, text, node) {
                    return out.view.copy(bytes, start, how, 0);
                }
                let origin = self.origin(facts, bytes, node);
                let span = origin.map_or(at, |origin| facts.program().span(origin));
                out.view.put(bytes, span, how, 0);
            }
            Alternative::Partial(partial) => {
                let is_call = matches!(facts.program().node(partial), Node::Call { .. });
                let mut parts = facts.parts(partial);
                if is_call {
                    // Only the receiver's text is known: `'…'.format(x)`.
                    parts.retain(|part| facts.has_text(facts.value(*part)));
                    parts.truncate(1);
                    out.quoting = Quoting::Double;
                }
                if parts.is_empty() {
                    out.view.put(hole, at, Obfuscations::NONE, 0);
                }
                for part in parts {
                    let value = facts.value(part);
                    let first = facts
                        .alternatives(value)
                        .find(|one| matches!(one, Alternative::Text(..) | Alternative::Partial(_)));
                    match first {
                        Some(Alternative::Partial(inner)) if inner == partial => {}
                        Some(first) if !facts.is_open(value) => {
                            self.render(facts, &first, Some(part), hole, depth + 1, out);
                        }
                        _ => {
                            out.quoting = Quoting::Double;
                            out.view.put(hole, facts.program().span(part), Obfuscations::NONE, 0);
                        }
                    }
                }
            }
            _ => {
                out.quoting = Quoting::Double;
                out.view.put(hole, at, Obfuscations::NONE, 0);
            }
        }
    }

    /// Adds each list of words that a value can be as a command.
    fn command_lists(&mut self, facts: &Evaluation<'_>, value: Value, node: Option<NodeId>) {
        let all: Vec<Alternative<'_>> = facts.alternatives(value).collect();
        for alternative in all {
            if let Alternative::List(collection) | Alternative::Record(collection) = alternative {
                let words = facts.items_of(collection);
                self.command(facts, &words, node);
            }
        }
    }

    /// Adds a program with its arguments, in a list or one by one.
    fn program(&mut self, facts: &Evaluation<'_>, arguments: &[Argument], groups: Groups) {
        let mut words: Vec<Item> = Vec::new();
        for argument in arguments.iter().filter(|argument| argument.key.is_none()) {
            let is_list = facts.alternatives(argument.value).any(|one| matches!(one, Alternative::List(_)));
            if is_list {
                words.extend(facts.items(argument.value));
                if self.language == Language::JavaScript {
                    break;
                }
            } else if self.language == Language::JavaScript && !words.is_empty() {
                break;
            } else {
                words.push(facts.item(argument));
            }
        }
        if groups.has(Groups::LISTED) {
            let at = words.iter().position(|word| facts.has_text(word.value)).unwrap_or(0);
            words.drain(..at.min(words.len()));
            if words.len() > 1 {
                words.remove(1);
            }
        }
        let node = arguments.first().and_then(|argument| argument.node);
        self.command(facts, &words, node);
    }

    /// Adds words as one command, once for each alternative of the first word that has several.
    fn command(&mut self, facts: &Evaluation<'_>, words: &[Item], node: Option<NodeId>) {
        if words.is_empty() {
            return;
        }
        let texts = |item: &Item| {
            facts.alternatives(item.value).filter(|one| matches!(one, Alternative::Text(..))).count()
        };
        let several = words.iter().take(MOST_WORDS).position(|word| texts(word) > 1);
        let count = several.and_then(|at| words.get(at)).map_or(1, texts).clamp(1, MOST_COMMANDS);
        for choice in 0..count {
            let mut line = View::default();
            for (place, word) in words.iter().take(MOST_WORDS).enumerate() {
                let chosen = if Some(place) == several { choice } else { 0 };
                self.word(facts, word, node, chosen, &mut line);
            }
            self.sink.embed(Lens::Sh, EmbeddedText::View(line));
        }
    }

    fn word(
        &mut self,
        facts: &Evaluation<'_>,
        word: &Item,
        node: Option<NodeId>,
        choice: usize,
        line: &mut View,
    ) {
        let own = word.node.or(node);
        let span = own.map_or((0, 0), |node| facts.program().span(node));
        if !line.is_empty() {
            line.put(b" ", (span.0, span.0), Obfuscations::NONE, 0);
        }
        let is_text = |one: &Alternative<'_>| matches!(one, Alternative::Text(..) | Alternative::Partial(_));
        let text = facts.alternatives(word.value).filter(is_text).nth(choice);
        let Some(text) = text else {
            let is_python = self.is_in(facts, word.value, Groups::EXECUTABLE);
            line.put(if is_python { b"python3" } else { b"${x}" }, span, Obfuscations::NONE, 0);
            return;
        };
        let mut rendered = Rendered { view: View::default(), quoting: Quoting::Single, left: MOST_PARTS };
        self.render(facts, &text, own, b"${x}", 0, &mut rendered);
        quote::word(&rendered.view, rendered.quoting, span.0, line);
    }
}
