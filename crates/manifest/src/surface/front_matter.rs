//! Finds commands under `hooks:` and `mcpServers:` in the front matter of a prompt file.
//!
//! The text is read by marks, not as YAML: hosts use different parsers, and a mark that only one of them recognizes
//! must still be shown. A value that cannot be read becomes an unresolved item.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use crate::surface::prompts::ShellText;
use crate::surface::yaml_text::{Expected, Line, Scanner, Value, quoted_words};

const HOOKS: &str = "front-matter-hooks";
const SERVERS: &str = "front-matter-servers";

/// Finds the commands of the front matter, which is `text[start..end]`.
pub(crate) fn front_matter(text: &str, start: usize, end: usize, first_line: u32) -> Vec<ShellText> {
    let scanner = Scanner::new(text, start, end, first_line);
    let mut front = Front { scanner, mark: None, broken: false, blocks: Vec::new(), found: Vec::new() };
    front.read();
    front.close_blocks(0);
    front.found
}

/// A command, which is reported when its mapping ends.
struct Command {
    start: usize,
    value: Value,
}

/// The keys of a mapping that matter.
#[derive(Default)]
struct Mapping {
    /// The column of the keys in block style.
    column: usize,
    commands: Vec<Command>,
    args: Vec<Value>,
}

impl Mapping {
    fn set(&mut self, key: &str, start: usize, value: Value) {
        match key {
            "command" => self.commands.push(Command { start, value }),
            _ => self.args.push(value),
        }
    }
}

/// An open bracket of the flow style.
#[derive(Default)]
struct Flow {
    list: bool,
    key: Option<(String, usize)>,
    /// The value of the key was read, so that more text makes it unreadable.
    full: bool,
    mapping: Mapping,
    words: Vec<String>,
    /// The brackets contain more than words.
    nested: bool,
}

/// The position of brackets in the front matter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FlowLevel {
    /// The keys are top-level keys.
    Root,
    Inner,
}

struct Front<'a> {
    scanner: Scanner<'a>,
    /// The mark of the current top-level key; `None` if it does not declare commands.
    mark: Option<&'static str>,
    /// Brackets were not closed. They are then no longer read, which keeps the time linear.
    broken: bool,
    blocks: Vec<Mapping>,
    found: Vec<ShellText>,
}

impl Front<'_> {
    /// Reads the lines.
    fn read(&mut self) {
        let mut root = None;
        let mut next = 0_usize;
        while let Some(line) = self.scanner.line(next) {
            next += 1;
            let at = self.scanner.skip_blanks(line.start, line.end);
            if at == line.end || self.scanner.byte(at) == Some(b'#') {
                continue;
            }
            let indent = at - line.start;
            let flow = self.scanner.skip_properties(at, line.end);
            if root.is_none() && self.scanner.byte(flow) == Some(b'{') {
                root = Some(indent);
                let end = self.flow(flow, FlowLevel::Root);
                next = next.max(self.scanner.line_after(end));
                continue;
            }
            // Hosts accept a first line that is indented more than the others.
            let least = root.map_or(indent, |root: usize| root.min(indent));
            root = Some(least);
            let top = indent <= least && !matches!(self.scanner.byte(at), Some(b'-' | b':'));
            let end = if top { self.top_line(line, at) } else { self.inner_line(line, at) };
            next = next.max(self.scanner.line_after(end));
        }
    }

    /// Reads a line with a top-level key, and returns the end of the consumed text.
    fn top_line(&mut self, line: Line, at: usize) -> usize {
        self.close_blocks(0);
        let at = self.scanner.skip_indicators(at, line.end);
        let key = self.scanner.key(at, line.end);
        self.enter(key.as_ref().map_or("", |(key, _)| key), line.start);
        match key {
            Some((key, _)) if key == "<<" || key.starts_with('*') => self.alias(at, HOOKS),
            Some((_, after)) if self.mark.is_some() => return self.value(after, line, ""),
            _ => {}
        }
        line.end
    }

    /// Selects the mark of a top-level key.
    fn enter(&mut self, key: &str, start: usize) {
        self.mark = match key {
            "hooks" => Some(HOOKS),
            "mcpServers" => Some(SERVERS),
            _ => None,
        };
        if self.mark == Some(HOOKS) {
            self.unresolved(start, HOOKS, "hooks in the front matter");
        }
    }

    /// Reads a line under a top-level key.
    fn inner_line(&mut self, line: Line, indicators: usize) -> usize {
        let Some(mark) = self.mark else { return line.end };
        if self.scanner.byte(indicators) == Some(b':') {
            return self.value(indicators + 1, line, "");
        }
        let at = self.scanner.skip_indicators(indicators, line.end);
        let column = at - line.start;
        let Some((key, after)) = self.scanner.key(at, line.end) else {
            let key = self.scanner.text(at, line.end).trim().trim_matches(['"', '\'']);
            if key == "command" && self.scanner.text(indicators, at).contains('?') {
                self.unresolved(line.start, mark, "a key on a line of its own");
            }
            return self.value(at, line, "");
        };
        // A dash starts a new mapping in the same column.
        self.close_blocks(if at == indicators { column + 1 } else { column });
        if key.starts_with('*') {
            self.alias(at, mark);
        }
        if !matches!(key.as_str(), "command" | "args") {
            return self.value(after, line, &key);
        }
        let (value, end) = self.scanner.block_value(after, line, column);
        let mapping = matches!(value, Value::Mapping);
        if self.blocks.last().is_none_or(|block| block.column != column) {
            self.blocks.push(Mapping { column, ..Mapping::default() });
        }
        if let Some(block) = self.blocks.last_mut() {
            block.set(&key, line.start, value);
        }
        if mapping { self.value(after, line, &key) } else { end }
    }

    /// Reads the start of a value that is not a command: only brackets and aliases matter.
    fn value(&mut self, at: usize, line: Line, key: &str) -> usize {
        let at = self.scanner.skip_properties(at, line.end);
        match self.scanner.byte(at) {
            Some(b'{' | b'[') if at < line.end && !self.broken => self.flow(at, FlowLevel::Inner),
            // A pattern such as `*` is not an alias.
            Some(b'*') if key != "matcher" && self.scanner.is_alias(at) => {
                self.alias(at, self.mark.unwrap_or(HOOKS));
                line.end
            }
            _ => line.end,
        }
    }

    /// Reads brackets to their end, and returns the offset after it. At the root, the first keys select the mark.
    fn flow(&mut self, start: usize, level: FlowLevel) -> usize {
        let mut open: Vec<Flow> = Vec::new();
        let mut at = start;
        loop {
            at = self.scanner.skip_space(at);
            let Some(byte) = self.scanner.byte(at) else { break };
            let level = if open.len() == 1 { level } else { FlowLevel::Inner };
            match byte {
                b'{' | b'[' => {
                    if let Some(outer) = open.last_mut() {
                        outer.nested = true;
                        spoil(outer);
                    }
                    open.push(Flow { list: byte == b'[', ..Flow::default() });
                    at += 1;
                }
                b'}' | b']' => {
                    at += 1;
                    if let Some(flow) = open.pop() {
                        self.close_flow(flow, open.last_mut());
                    }
                    if open.is_empty() {
                        return at;
                    }
                }
                b',' => {
                    at += 1;
                    if let Some(flow) = open.last_mut() {
                        flow.key = None;
                        flow.full = false;
                        if flow.list {
                            let mapping = core::mem::take(&mut flow.mapping);
                            self.report(mapping);
                        }
                    }
                }
                b':' => at += 1,
                _ => at = self.flow_text(at, level, open.last_mut()),
            }
        }
        self.broken = true;
        while let Some(flow) = open.pop() {
            self.close_flow(flow, open.last_mut());
        }
        if let Some(mark) = self.mark {
            self.unresolved(start, mark, "brackets that are not closed");
        }
        // The following lines are read on their own.
        self.scanner.line_end(start)
    }

    /// Reads a key or a text in brackets.
    fn flow_text(&mut self, at: usize, level: FlowLevel, flow: Option<&mut Flow>) -> usize {
        let start = at;
        let at = self.scanner.skip_properties(at, self.scanner.end());
        if at > start {
            return at;
        }
        let Some(flow) = flow else { return at + 1 };
        let keyless = flow.key.is_none();
        let (value, end, colon) =
            self.scanner.flow_scalar(at, if keyless { Expected::Key } else { Expected::Text });
        let end = end.max(at + 1);
        if let Some(after) = colon.filter(|_| keyless) {
            let key = match value {
                Value::Text(key) => key,
                // An alias or an unreadable key can be any key.
                _ => "command".to_owned(),
            };
            if level == FlowLevel::Root {
                self.enter(&key, at);
                if key == "<<" {
                    self.alias(at, HOOKS);
                }
            }
            flow.key = Some((key, at));
            return after;
        }
        match &flow.key {
            _ if level == FlowLevel::Root => {}
            Some(_) if flow.full => spoil(flow),
            Some((key, start)) if matches!(key.as_str(), "command" | "args") => {
                flow.mapping.set(key, *start, value);
                flow.full = true;
            }
            key => match value {
                Value::Unresolved(_) if key.as_ref().is_none_or(|(key, _)| key != "matcher") => {
                    flow.nested = true;
                    if let Some(mark) = self.mark {
                        self.unresolved(at, mark, "an alias or a text that cannot be read");
                    }
                }
                Value::Text(text) => flow.words.push(text),
                _ => {}
            },
        }
        end
    }

    /// Ends brackets: their commands are reported, and their words become the value of a key.
    fn close_flow(&mut self, flow: Flow, outer: Option<&mut Flow>) {
        self.report(flow.mapping);
        let Some(outer) = outer else { return };
        if let Some((key, start)) = &outer.key
            && matches!(key.as_str(), "command" | "args")
            && !outer.full
        {
            let words = if flow.list && !flow.nested { Value::Words(flow.words) } else { Value::Mapping };
            outer.mapping.set(key, *start, words);
            outer.full = true;
        }
    }

    /// Ends the block mappings from a column on.
    fn close_blocks(&mut self, column: usize) {
        while let Some(block) = self.blocks.pop_if(|block| block.column >= column) {
            self.report(block);
        }
    }

    /// Adds the commands of a mapping.
    fn report(&mut self, mapping: Mapping) {
        let Some(mark) = self.mark else { return };
        let args = match mapping.args.as_slice() {
            [] => Ok(&[][..]),
            [Value::Words(words)] => Ok(words.as_slice()),
            [Value::Text(text)] if text.is_empty() => Ok(&[][..]),
            [Value::Text(text)] => Ok(core::slice::from_ref(text)),
            _ => Err("arguments that cannot be read"),
        };
        for command in mapping.commands {
            match (command.value, args) {
                (Value::Text(text), _) if text.is_empty() => {
                    let why = if mark == HOOKS { "hooks in the front matter" } else { "an empty command" };
                    self.unresolved(command.start, mark, why);
                }
                // A host may pass a command without arguments to a shell.
                (Value::Text(text), Ok([])) => self.push(command.start, mark, text, ""),
                (Value::Text(text), Ok(args)) => {
                    let words = core::iter::once(&text).chain(args);
                    self.push(command.start, mark, quoted_words(words), "");
                }
                (Value::Words(words), Ok(args)) if !words.is_empty() => {
                    self.push(command.start, mark, quoted_words(words.iter().chain(args)), "");
                }
                (Value::Unresolved(why), _) | (_, Err(why)) => self.unresolved(command.start, mark, why),
                _ => self.unresolved(command.start, mark, "a command that is not a text"),
            }
        }
    }

    fn alias(&mut self, start: usize, mark: &'static str) {
        self.unresolved(start, mark, "an alias");
    }

    fn unresolved(&mut self, start: usize, mark: &'static str, why: &'static str) {
        self.push(start, mark, String::new(), why);
    }

    fn push(&mut self, start: usize, mark: &'static str, text: String, why: &'static str) {
        let line = self.scanner.number(start);
        self.found.push(ShellText { mark, text, start, line, why });
    }
}

/// Makes the value that was read last unreadable, because more text follows it.
fn spoil(flow: &mut Flow) {
    if !flow.full {
        return;
    }
    let why = Value::Unresolved("text after a value");
    match &flow.key {
        Some((key, _)) if key == "command" => {
            if let Some(command) = flow.mapping.commands.last_mut() {
                command.value = why;
            }
        }
        _ => flow.mapping.args.push(why),
    }
}
