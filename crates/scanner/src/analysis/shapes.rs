//! Detectors that a list of names cannot express.

use plugward_readers::{
    Alternative, Argument, Call, Evaluation, Item, Language, NamePart, NameUse, Node, NodeId, Value,
};

use super::arguments::truth;
use super::watched::Groups;
use super::{Resolved, RuleAnalysis};
use crate::text::view::Obfuscations;

/// The deepest nesting of expressions that are searched for literal bytes.
const DEEPEST: usize = 4;
/// Options that make a program load a file before its own.
const LOADER_OPTIONS: &[&[u8]] = &[b"--import", b"--loader", b"--experimental-loader", b"--require", b"-r"];
const SAFE_LOADERS: &[&[u8]] = &[b"SafeLoader", b"CSafeLoader", b"BaseLoader", b"CBaseLoader"];

impl RuleAnalysis<'_, '_, '_> {
    /// Reports a read of the whole environment.
    pub(super) fn environment(&mut self, used: NameUse, span: (usize, usize), how: Obfuscations) {
        match (self.language, used) {
            (Language::JavaScript, NameUse::All) => self.sink.shape("js-env-bulk", span, how),
            (Language::Python, NameUse::All | NameUse::Value) => self.sink.shape("py-env-bulk", span, how),
            _ => {}
        }
    }

    pub(super) fn shapes(
        &mut self,
        call: &Call<'_, '_>,
        resolved: Resolved,
        span: (usize, usize),
        how: Obfuscations,
    ) {
        match self.language {
            Language::JavaScript => self.shapes_of_javascript(call, resolved, span, how),
            Language::Python => self.shapes_of_python(call, resolved, span, how),
        }
    }

    fn shapes_of_javascript(
        &mut self,
        call: &Call<'_, '_>,
        resolved: Resolved,
        span: (usize, usize),
        how: Obfuscations,
    ) {
        let facts = call.facts;
        let named = self.watched.of(resolved.node);
        let groups = self.groups(resolved);
        let first = call.arguments.first();
        let mut bulk = named.has(Groups::ENVIRONMENT_COPY);
        if named.has(Groups::BULK) || named.has(Groups::COPY) {
            let is_env = |argument: &Argument| self.is_in(facts, argument.value, Groups::ENVIRONMENT);
            bulk |= call.arguments.iter().skip(usize::from(named.has(Groups::COPY))).any(is_env);
        }
        if bulk {
            self.sink.shape("js-env-bulk", span, how);
        }
        if groups.has(Groups::STARTER) && Self::loads_first(facts, call.arguments) {
            self.sink.shape("js-loader-flag", span, how);
        }
        if groups.has(Groups::WASM)
            && first.is_some_and(|first| Self::is_inline(facts, first.value, first.node, 0))
        {
            self.sink.shape("js-wasm-inline", span, how);
        }
        let deletes = groups.has(Groups::DELETE_ALL)
            || groups.has(Groups::DELETE) && Self::is_recursive(facts, call.arguments);
        if deletes && first.is_some_and(|first| self.is_far(facts, first.value)) {
            self.sink.shape("js-recursive-delete", span, how);
        }
    }

    fn loads_first(facts: &Evaluation<'_>, arguments: &[Argument]) -> bool {
        let is_option = |value: Value| {
            facts.alternatives(value).any(|one| match one {
                Alternative::Text(bytes, _) => {
                    let option = bytes.split(|byte| *byte == b'=').next().unwrap_or(bytes);
                    LOADER_OPTIONS.contains(&option)
                }
                _ => false,
            })
        };
        arguments.iter().any(|argument| {
            is_option(argument.value) || facts.items(argument.value).iter().any(|item| is_option(item.value))
        })
    }

    fn is_recursive(facts: &Evaluation<'_>, arguments: &[Argument]) -> bool {
        arguments.iter().flat_map(|argument| facts.items(argument.value)).any(|item| {
            item.key.is_some_and(|key| facts.bytes(key) == b"recursive") && Self::is_true(facts, item.value)
        })
    }

    /// Returns `true` unless a value is certainly false.
    fn is_true(facts: &Evaluation<'_>, value: Value) -> bool {
        let mut all = facts.alternatives(value);
        let is_false = |one: Alternative<'_>| match one {
            Alternative::Number(0) => true,
            Alternative::Name(name) => truth(facts, name) == Some(false),
            _ => false,
        };
        facts.is_open(value) || !all.all(is_false)
    }

    /// Returns `true` if a directory is computed or outside the plugin. A temporary directory is neither.
    fn is_far(&mut self, facts: &Evaluation<'_>, value: Value) -> bool {
        if self.is_temporary(facts, value) {
            return false;
        }
        let is_near = |one: Alternative<'_>| match one {
            Alternative::Text(text, _) => {
                let far = text.starts_with(b"/")
                    || text.starts_with(b"~")
                    || text.starts_with(b"..")
                    || text.get(1) == Some(&b':');
                !far
            }
            _ => false,
        };
        facts.is_open(value) || !facts.alternatives(value).all(is_near)
    }

    /// Returns `true` if bytes are literals of the file, or decoded from them.
    fn is_inline(facts: &Evaluation<'_>, value: Value, node: Option<NodeId>, depth: usize) -> bool {
        let is_data = |one: Alternative<'_>| matches!(one, Alternative::Text(..) | Alternative::List(_));
        if facts.alternatives(value).any(is_data) {
            return true;
        }
        let Some(node) = node.filter(|_| depth < DEEPEST) else { return false };
        let maker = facts.alternatives(value).find_map(|one| match one {
            Alternative::Partial(node) => Some(node),
            _ => None,
        });
        let Node::Call { callee, arguments, .. } = facts.program().node(maker.unwrap_or(node)) else {
            return Self::made_by(facts, value, depth);
        };
        let decodes = facts.names(facts.value(callee)).any(|name| {
            let NamePart::Member(text) = facts.step(name) else { return false };
            matches!(facts.bytes(text), b"atob" | b"decodeBase64" | b"base64Decode" | b"toByteArray")
        });
        let first = facts.program().items(arguments).first().copied();
        let wraps = facts.names(facts.value(callee)).any(|name| Self::is_buffer(facts, name));
        decodes
            || wraps
                && first
                    .is_some_and(|first| Self::is_inline(facts, facts.value(first), Some(first), depth + 1))
    }

    /// Returns `true` if a name is a class of byte arrays, or a member of one.
    fn is_buffer(facts: &Evaluation<'_>, name: plugward_readers::Name) -> bool {
        let is_class = |name| {
            let NamePart::Member(text) = facts.step(name) else { return false };
            matches!(
                facts.bytes(text),
                b"Uint8Array" | b"Int8Array" | b"Uint16Array" | b"Uint32Array" | b"Buffer" | b"DataView"
            )
        };
        is_class(name) || facts.parent(name).is_some_and(is_class)
    }

    /// Returns `true` if the value of a variable is the result of a call.
    fn made_by(facts: &Evaluation<'_>, value: Value, depth: usize) -> bool {
        let program = facts.program();
        let is_result = |name| {
            facts.step(name) == NamePart::Result
                && facts.parent(name).is_some_and(|of| Self::is_buffer(facts, of))
        };
        if depth > 0 || !facts.names(value).any(is_result) {
            return false;
        }
        program.ids().any(|id| {
            matches!(program.node(id), Node::Call { .. })
                && facts.value(id) == value
                && Self::is_inline(facts, value, Some(id), depth + 1)
        })
    }

    fn shapes_of_python(
        &mut self,
        call: &Call<'_, '_>,
        resolved: Resolved,
        span: (usize, usize),
        how: Obfuscations,
    ) {
        let facts = call.facts;
        let groups = self.watched.of(resolved.node);
        let is_setup = crate::inventory::names::parts(self.sink.path).0 == "setup.py";
        let starts = [Groups::SHELL, Groups::PROGRAM, Groups::LISTED, Groups::EVALUATOR, Groups::NETWORK];
        if is_setup && starts.iter().any(|group| groups.has(*group)) {
            self.sink.shape("py-setup-code", span, how);
        }
        if groups.has(Groups::YAML) && !Self::names_safe_loader(facts, call.arguments) {
            self.sink.shape("py-yaml-load", span, how);
        }
        if groups.has(Groups::TORCH) {
            let only = call.arguments.iter().any(|argument| {
                argument.key.is_some_and(|key| facts.bytes(key) == b"weights_only")
                    && facts.names(argument.value).any(|name| truth(facts, name) == Some(true))
            });
            if !only {
                self.sink.shape("py-torch-load", span, how);
            }
        }
        if is_setup && groups.has(Groups::SETUP) {
            self.setup_classes(facts, call.arguments, how);
        }
    }

    fn names_safe_loader(facts: &Evaluation<'_>, arguments: &[Argument]) -> bool {
        arguments.iter().any(|argument| {
            facts.names(argument.value).any(|name| match facts.step(name) {
                NamePart::Member(text) => SAFE_LOADERS.contains(&facts.bytes(text)),
                _ => false,
            })
        })
    }

    /// Reports commands of the plugin that an installation runs.
    fn setup_classes(&mut self, facts: &Evaluation<'_>, arguments: &[Argument], how: Obfuscations) {
        let all = arguments.iter().flat_map(|argument| {
            if argument.key.is_some() { vec![facts.item(argument)] } else { facts.items(argument.value) }
        });
        let all: Vec<Item> = all.collect();
        for item in all {
            let is_classes = item.key.is_some_and(|key| facts.bytes(key) == b"cmdclass");
            let is_record = facts.alternatives(item.value).any(|one| matches!(one, Alternative::Record(_)));
            let is_empty = is_record && facts.items(item.value).is_empty();
            if let Some(node) = item.node.filter(|_| is_classes && !is_empty) {
                let span = facts.program().span(node);
                self.sink.shape("py-setup-code", span, how);
            }
        }
    }
}
