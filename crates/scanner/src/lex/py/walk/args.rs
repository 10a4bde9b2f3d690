//! What the rules are told of a call and its arguments.

use super::Walk;
use super::frame::{Cur, Item};
use crate::lex::py::bind::{Form, Val};
use crate::lex::py::text;
use crate::lex::py::token::K;
use crate::names::Node;
use crate::sink::{Args, FirstArg, Own};
use crate::view::How;

/// Most items that are looked at in one call.
pub(super) const ITEMS: usize = 256;

impl Walk<'_, '_, '_> {
    /// Tells the rules one call.
    pub(super) fn tell(&mut self, val: Val, how: How, items: &[Item], span: (usize, usize)) {
        let first = match items.iter().find(|item| item.spread == 0) {
            None => FirstArg::None,
            Some(item) => match item.val.form {
                Form::Text | Form::Temp => FirstArg::Literal,
                Form::Joined => FirstArg::Text,
                _ => FirstArg::Other,
            },
        };
        for node in [val.node, val.star] {
            if node == 0 {
                continue;
            }
            let mut args = Args { first, constants: Vec::new() };
            let mut how = how;
            if self.sink.wants_constants(self.names, node) {
                let mut left = ITEMS;
                if node == val.star {
                    // What a method is called on stands first; a blank stands for what is not known.
                    let toks = if val.form == Form::Path { self.toks(val.a, val.b) } else { &[] };
                    let (receiver, undone) =
                        text::path(self.src, toks.get(..toks.len().min(ITEMS)).unwrap_or_default());
                    args.constants.extend_from_slice(&receiver);
                    args.constants.push(b' ');
                    how = how.and(undone);
                }
                how = how.and(self.constants(items, 3, &mut left, &mut args.constants));
                if self.nodes.spawners.contains(&node) {
                    self.shell_by_place(items, &mut args.constants);
                }
            }
            self.sink.call(self.names, node, Own::No, &args, span, how);
        }
        self.shapes(val.node, items, span, how);
    }

    /// The ninth argument of a process is its keyword `shell`.
    fn shell_by_place(&self, items: &[Item], out: &mut Vec<u8>) {
        let placed = items.iter().take_while(|item| item.key == 0 && item.spread == 0);
        if let Some(item) = placed.into_iter().nth(8) {
            out.extend_from_slice(match item.val.form {
                Form::True | Form::Text => b"shell=True ",
                Form::False => b"shell=False ",
                _ => {
                    match self.tok(item.first).map_or(&b""[..], |tok| crate::lex::py::text_of(self.src, tok))
                    {
                        [b'1'..=b'9', ..] => b"shell=True ",
                        _ => b"shell=? ",
                    }
                }
            });
        }
    }

    /// Writes the constants of arguments: texts, and `name=value` of keywords and keys.
    fn constants(&mut self, items: &[Item], depth: usize, left: &mut usize, out: &mut Vec<u8>) -> How {
        let mut how = How::NONE;
        for item in items {
            if *left == 0 || out.len() > 1 << 14 {
                break;
            }
            *left = left.saturating_sub(1);
            if item.key != 0 {
                let key = self.key_text(item.key);
                let token = item.key.checked_sub(1).and_then(|at| self.tok(at));
                how = how.and(token.filter(|tok| tok.kind == K::Name).map_or(How::NONE, Self::wide));
                if item.val.form == Form::Other && item.val.node == 0 {
                    // A key whose value is not known is still set.
                    out.extend_from_slice(&key);
                    out.extend_from_slice(b"=? ");
                    continue;
                }
                out.extend_from_slice(&key);
                out.push(b'=');
            }
            match item.val.form {
                Form::Text | Form::Joined => {
                    let (text, undone) = self.constant(item.val);
                    out.extend_from_slice(&text);
                    how = how.and(undone);
                }
                Form::Path => {
                    let toks = self.toks(item.val.a, item.val.b);
                    let toks = toks.get(..toks.len().min(ITEMS)).unwrap_or_default();
                    let (text, undone) = text::path(self.src, toks);
                    out.extend_from_slice(&text);
                    how = how.and(undone);
                }
                Form::Either => {
                    // Of several, the first.
                    let first = self.choices(item.val).first().copied().unwrap_or_default();
                    let inner = [Item { val: first, key: 0, ..*item }];
                    if depth > 0 && first.form != Form::Either {
                        how = how.and(self.constants(&inner, depth.saturating_sub(1), left, out));
                        continue;
                    }
                }
                Form::True => out.extend_from_slice(b"True"),
                Form::False => out.extend_from_slice(b"False"),
                Form::List if depth > 0 => {
                    let inner: Vec<Item> = self.list(item.val).iter().take(*left).copied().collect();
                    how = how.and(self.constants(&inner, depth.saturating_sub(1), left, out));
                }
                _ if item.val.node != 0 && item.val.node == self.nodes.executable => {
                    out.extend_from_slice(b"python3");
                }
                _ => {}
            }
            out.push(b' ');
        }
        how
    }

    /// A write whose value is a name that stands for a constant: the rules see it as if the name were called with it.
    pub(super) fn tell_written(&mut self, target: &Cur, value: Item) {
        let constant = matches!(value.val.form, Form::Text | Form::Joined);
        if constant && target.val.node != 0 && self.sink.wants_constants(self.names, target.val.node) {
            let span = self.span(target.first, value.last);
            self.tell(Val::node(target.val.node), target.how, &[value], span);
        }
    }

    /// Detectors that no list of names can say.
    fn shapes(&mut self, node: Node, items: &[Item], span: (usize, usize), how: How) {
        if node == 0 {
            return;
        }
        let nodes = self.nodes;
        let setup = crate::inventory::names::parts(self.sink.path).0 == "setup.py";
        let starts = [&nodes.shells, &nodes.programs, &nodes.python, &nodes.network];
        if setup && starts.iter().any(|known| known.contains(&node)) {
            self.sink.shape("py-setup-code", span, how);
        }
        if self.nodes.yaml.contains(&node)
            && !self.names_one(items, &[b"SafeLoader", b"CSafeLoader", b"BaseLoader", b"CBaseLoader"])
        {
            self.sink.shape("py-yaml-load", span, how);
        }
        if node == self.nodes.torch {
            let only = items.iter().any(|item| {
                item.key != 0 && self.key_text(item.key) == b"weights_only" && item.val.form == Form::True
            });
            if !only {
                self.sink.shape("py-torch-load", span, how);
            }
        }
        if setup && self.nodes.setup.contains(&node) {
            let spread = items.iter().filter(|item| item.spread == 2 && item.val.form == Form::List);
            let spread = spread.flat_map(|item| self.list(item.val));
            let classes = items
                .iter()
                .chain(spread)
                .find(|item| item.key != 0 && self.key_text(item.key) == b"cmdclass")
                .filter(|item| item.val.form != Form::List || item.val.b > 0)
                .copied();
            if let Some(item) = classes {
                let place = self.span(item.key.saturating_sub(1), item.last);
                self.sink.shape("py-setup-code", place, how);
            }
        }
    }

    /// Says whether an argument is one of some names.
    fn names_one(&self, items: &[Item], wanted: &[&[u8]]) -> bool {
        items.iter().any(|item| {
            let last = self.toks(item.first, item.last).iter().rev().find(|tok| tok.kind == K::Name);
            last.is_some_and(|tok| wanted.contains(&crate::lex::py::text_of(self.src, *tok)))
        })
    }
}
