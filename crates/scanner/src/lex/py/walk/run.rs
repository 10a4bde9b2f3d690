//! Text and commands that a call runs.

use super::Walk;
use super::args::ITEMS;
use super::frame::Item;
use crate::entry::Lens;
use crate::lex::py::bind::Form;
use crate::lex::py::text::{self, Hole};
use crate::lex::quote::{self, Exact};
use crate::names::Node;
use crate::sink::EmbeddedText;
use crate::view::{How, View};

impl Walk<'_, '_, '_> {
    /// Text and argument lists that a call runs.
    pub(super) fn runs(&mut self, node: Node, items: &[Item]) {
        let nodes = self.nodes;
        let Some(first) = items
            .iter()
            .find(|item| {
                item.key == 0 || self.key_text(item.key) == b"args" || self.key_text(item.key) == b"cmd"
            })
            .copied()
        else {
            return;
        };
        if nodes.python.contains(&node) {
            if matches!(first.val.form, Form::Text | Form::Joined) {
                self.embed(Lens::Py, Hole::Python, &[first]);
            }
            return;
        }
        if nodes.shells.contains(&node) {
            match first.val.form {
                Form::Text | Form::Joined => self.embed(Lens::Sh, Hole::Shell, &[first]),
                Form::List => {
                    let words: Vec<Item> = self.list(first.val).iter().take(ITEMS).copied().collect();
                    self.command(&words);
                }
                _ => {}
            }
            return;
        }
        if !nodes.programs.contains(&node) {
            return;
        }
        // os.spawn* asks how first; the program stands twice, once as what it is called.
        let mut words: Vec<Item> = Vec::new();
        for item in items.iter().filter(|item| item.key == 0).take(ITEMS) {
            if item.val.form == Form::List {
                let inner = self.list(item.val).iter().take(ITEMS).copied();
                words.extend(inner);
            } else {
                words.push(*item);
            }
        }
        if nodes.listed.contains(&node) {
            let at = words.iter().position(|item| item.val.form == Form::Text).unwrap_or(0);
            words.drain(..at.min(words.len()));
            if words.len() > 1 {
                words.remove(1);
            }
        }
        self.command(&words);
    }

    /// Hands a text on as code.
    fn embed(&mut self, lens: Lens, hole: Hole, items: &[Item]) {
        let mut view = View::default();
        for item in items {
            let toks = self.toks(item.val.a, item.val.b);
            if toks.len() > 4096 || !self.spend(toks.len()) {
                return;
            }
            text::render(self.src, toks, hole, &mut view);
        }
        if !view.is_empty() {
            self.sink.embed(lens, EmbeddedText::View(view));
        }
    }

    /// Hands a list of words on as one command.
    fn command(&mut self, words: &[Item]) {
        let place = words.iter().position(|item| item.val.form == Form::Either);
        let vals = place.and_then(|place| words.get(place)).map(|item| self.choices(item.val));
        let (Some(place), Some(vals)) = (place, vals.filter(|vals| !vals.is_empty())) else {
            return self.command_of(words);
        };
        let mut words = words.to_vec();
        for val in vals {
            if let Some(item) = words.get_mut(place) {
                item.val = val;
            }
            self.command_of(&words);
        }
    }

    fn command_of(&mut self, words: &[Item]) {
        let mut view = View::default();
        for item in words {
            let start = self.span(item.first, item.last).0;
            if !view.is_empty() {
                view.put(b" ", (start, start), How::NONE, 0);
            }
            if !matches!(item.val.form, Form::Text | Form::Joined) {
                let known = item.val.node != 0 && item.val.node == self.nodes.executable;
                let span = self.span(item.first, item.last);
                view.put(if known { b"python3" } else { b"${x}" }, span, How::NONE, 0);
                continue;
            }
            let toks = self.toks(item.val.a, item.val.b);
            if toks.len() > 4096 || !self.spend(toks.len()) {
                return;
            }
            let mut word = View::default();
            text::render(self.src, toks, Hole::Shell, &mut word);
            let exact = if item.val.form == Form::Text { Exact::Yes } else { Exact::No };
            quote::word(&word, exact, start, &mut view);
        }
        if !view.is_empty() {
            self.sink.embed(Lens::Sh, EmbeddedText::View(view));
        }
    }
}
