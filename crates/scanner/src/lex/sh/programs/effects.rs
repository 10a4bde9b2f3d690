//! Programs with a meaning of their own: those that run text, set variables or print their arguments.

use plugward_commands::CodeLanguage;
use plugward_types::Part;

use crate::known::credentials;
use crate::lex::quote::{self, Quoting};
use crate::lex::sh::programs::filters;
use crate::lex::sh::programs::names;
use crate::lex::sh::state::flat::FlatText;
use crate::lex::sh::state::functions::FunctionEffect;
use crate::lex::sh::syntax::simple::{AssignmentScope, CommandWords, Stage};
use crate::lex::sh::taint::calls::VariableScope;
use crate::lex::sh::{Parser, TextOrigin, Word};
use crate::scan::entry::Lens;
use crate::scan::sink::{CodePart, EmbeddedText, Named};
use crate::text::view::{Obfuscations, View};

/// Programs whose output is meant for the shell, as in `eval "$(ssh-agent)"`.
const SETUP: &[&[u8]] = plugward_types::byte_words![
    "ssh-agent direnv brew starship zoxide fnm pyenv rbenv nodenv goenv jenv plenv opam conda mamba",
    "micromamba mise rtx asdf dircolors gdircolors lesspipe lesspipe.sh keychain luarocks",
    "register-python-argcomplete thefuck atuin mcfly fzf op docker-machine minikube resize tset hub navi",
    "dbus-launch gpg-agent rustup pipx sheldon vfox proto volta locale",
];

/// The longest text with unknown parts that a variable keeps, and the most such texts.
const TEMPLATE: usize = 4096;
const TEMPLATES: usize = 256;

impl Parser<'_, '_, '_> {
    /// Returns the words after the program.
    pub(in crate::lex::sh) fn args(&self, own: CommandWords) -> &[Word] {
        self.words.part(own.first..own.end).rest(1)
    }

    pub(in crate::lex::sh) fn arg_texts(&self, own: CommandWords) -> Vec<Vec<u8>> {
        self.args(own).iter().map(|word| self.text(*word).to_vec()).collect()
    }

    /// Passes a range of the words to another lexer.
    fn embed(&mut self, lens: Lens, start: usize, end: usize) {
        self.embed_in(lens, start, end, VariableScope::Own);
    }

    fn embed_in(&mut self, lens: Lens, start: usize, end: usize, scope: VariableScope) {
        if start < end {
            let mut view = self.flat.view(start, end);
            if lens == Lens::Sh {
                self.fill_templates(&mut view, self.flat.source(start, end));
                self.analyze(&view, scope);
            }
            self.sink.embed(lens, EmbeddedText::View(view));
        }
    }

    /// Keeps a text with unknown parts, which a shell may get as code: `add="echo $key >> file"`.
    fn keep_template(&mut self, name: &[u8], text: Vec<u8>) {
        if text.len() <= TEMPLATE && self.environment.templates.len() < TEMPLATES {
            self.environment.templates.insert(name.to_vec(), text);
        }
    }

    /// Replaces variables in the code of a shell by their texts with unknown parts.
    fn fill_templates(&mut self, view: &mut View, span: (usize, usize)) {
        if self.environment.templates.is_empty() {
            return;
        }
        let mut text = Vec::new();
        let mut rest = view.bytes.as_slice();
        let mut is_filled = false;
        while let Some(at) = memchr::memchr(b'$', rest) {
            text.extend_from_slice(rest.part(..at));
            let after = rest.part(at + 1..);
            let len = after.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
            let known = self
                .environment
                .templates
                .get(after.part(..len))
                .filter(|known| text.len() + known.len() <= TEMPLATE);
            if let Some(known) = known {
                text.extend_from_slice(known);
                is_filled = true;
            } else {
                text.extend_from_slice(rest.part(at..at + 1 + len));
            }
            rest = after.part(len..);
        }
        text.extend_from_slice(rest);
        if is_filled && self.spend(text.len()) {
            let mut filled = View::default();
            filled.put(&text, span, Obfuscations::NONE, 0);
            *view = filled;
        }
    }

    /// Passes a text to the lexer together with its arguments `$0`, `$1` and so on, as far as they are known.
    fn embed_with(&mut self, code: Word, given: &[Word], own: CommandWords) {
        if given.is_empty() || memchr::memchr(b'$', self.text(code)).is_none() {
            return self.embed(Lens::Sh, code.start, code.end);
        }
        let mut view = View::default();
        let place = self.flat.source(code.start, code.end).0;
        view.put(b"set --0", (place, place), Obfuscations::NONE, 0);
        for word in given {
            view.put(b" ", (place, place), Obfuscations::NONE, 0);
            if word.open {
                let raw = self.src.part(word.span.0..word.span.1);
                if word.span == own.span || raw.is_empty() {
                    break;
                }
                view.copy(raw, word.span.0, Obfuscations::NONE, 0);
            } else {
                let text = self.flat.view(word.start, word.end);
                quote::word(&text, Quoting::Single, place, &mut view);
            }
        }
        view.put(b"\n", (place, place), Obfuscations::NONE, 0);
        self.flat.show(code.start, code.end, &mut view);
        self.analyze(&view, VariableScope::Own);
        self.sink.embed(Lens::Sh, EmbeddedText::View(view));
    }

    /// Processes `exec 3< file`, which opens a descriptor for the commands after it.
    fn open_descriptor(&mut self, own: CommandWords) {
        let opened: Vec<(u8, u128, Option<Vec<u8>>)> = self
            .redirects
            .part(own.redirects..)
            .iter()
            .filter(|redirect| redirect.sources != 0 || redirect.input.is_some())
            .map(|redirect| {
                let text = redirect.input.as_ref().map(|input| input.bytes.clone());
                (redirect.number, redirect.sources, text)
            })
            .collect();
        let first = |redirect: &&crate::lex::sh::syntax::simple::Redirect| {
            redirect.number == b'0' && redirect.text.starts_with(b"<") && !redirect.text.starts_with(b"<&")
        };
        if let Some(read) = self.redirects.part(own.redirects..).iter().rfind(first) {
            self.stdin = read.sources;
        }
        for (number, sources, text) in opened {
            self.set_text(&[b'&', number], text.as_deref(), sources);
        }
    }

    pub(in crate::lex::sh) fn embed_flat(&mut self, lens: Lens, text: &FlatText) {
        if text.len() > 0 {
            let view = text.view(0, text.len());
            if lens == Lens::Sh {
                self.analyze(&view, VariableScope::Own);
            }
            self.sink.embed(lens, EmbeddedText::View(view));
        }
    }

    /// Applies the effect of a known program; returns `None` for other programs.
    pub(in crate::lex::sh) fn special(
        &mut self,
        name: &[u8],
        program: Word,
        own: CommandWords,
    ) -> Option<Stage> {
        if let Some(runs) = names::interpreter(name) {
            self.interpret(name, runs, own);
            return Some(Stage::default());
        }
        if self.receives(name, own) {
            return Some(Stage::default());
        }
        match name {
            b":" | b"true" if own.wanted && !self.is_function(name) => {
                return Some(Stage { printed: Some(FlatText::default()), ..Stage::default() });
            }
            b"awk" | b"gawk" | b"mawk" => {
                self.strings_run(own);
                return None;
            }
            b"eval" => self.eval(program, own),
            b"at" | b"batch" => {
                if let Some(text) = self.given(own) {
                    self.embed_flat(Lens::Sh, &text);
                }
            }
            b"exec" if self.args(own).is_empty() => self.open_descriptor(own),
            b"source" | b"." => self.source(own),
            b"watch" => self.watch(own),
            b"trap" => {
                let arg = self.args(own).iter().find(|word| !self.text(**word).starts_with(b"-")).copied();
                if let Some(arg) = arg {
                    self.embed_in(Lens::Sh, arg.start, arg.end, VariableScope::Shared);
                    self.trapped(self.flat.view(arg.start, arg.end));
                }
            }
            b"cd" | b"pushd" => {
                self.change_directory(own);
                return None;
            }
            b"which" | b"command" | b"type" if own.wanted => {
                self.locate(name, own);
                return None;
            }
            b"alias" => self.alias(own),
            b"ssh" => self.remote(own),
            b"env" => {
                let sources = self.split_text(own)?;
                self.wrapped(name, own);
                return Some(Stage { sources, ..Stage::default() });
            }
            b"cmd" => self.rest_of_line(own),
            b"find" | b"fd" => {
                let sources = self.find(own);
                return Some(Stage { sources, ..Stage::default() });
            }
            b"ln" | b"cp" | b"hash" => self.track_rename(own),
            b"export" | b"declare" | b"typeset" | b"local" | b"readonly" | b"setenv" => {
                self.declared(name, own);
            }
            b"unset" => {
                for name in self.arg_texts(own) {
                    self.environment.vars.remove(&name);
                }
            }
            b"read" | b"mapfile" | b"readarray" => self.read(name, own),
            b"set" => self.set(own),
            b"echo" | b"printf" => return Some(self.print(name, own)),
            b"cat" | b"tee" | b"rev" | b"tac" | b"tr" | b"base64" | b"base32" | b"openssl" | b"xxd" => {
                if name == b"tee" {
                    self.write_tee(own);
                }
                let printed = if own.wanted { self.filtered(name, own) } else { None };
                return Some(Stage { printed, ..Stage::default() });
            }
            _ => return None,
        }
        Some(Stage::default())
    }

    pub(in crate::lex::sh) fn is_function(&self, name: &[u8]) -> bool {
        self.environment.funcs.contains_key(name) || self.bodies.iter().any(|(body, _)| body == name)
    }

    /// Returns input that is text of the script: a here-document, a here-string, or the output of the
    /// previous stage.
    pub(in crate::lex::sh) fn given(&self, own: CommandWords) -> Option<FlatText> {
        let redirects = self.redirects.part(own.redirects..);
        // A file under another descriptor is not the input.
        let first = |redirect: &&crate::lex::sh::syntax::simple::Redirect| redirect.number == b'0';
        let input = redirects.iter().rev().filter(first).find_map(|redirect| redirect.input.clone());
        let reads = redirects.iter().filter(first).any(|redirect| redirect.text.starts_with(b"<"));
        if input.is_some() || reads { input } else { self.input.clone() }
    }

    fn print(&mut self, name: &[u8], own: CommandWords) -> Stage {
        let words: Vec<Word> = self.args(own).to_vec();
        let own_name = words.first().is_some_and(|word| self.text(*word) == b"-v");
        if name == b"printf" && own_name {
            let target = words.get(1).map(|word| self.text(*word).to_vec()).unwrap_or_default();
            let rest = words.part(2..);
            let printed = self.printed_by(name, rest);
            self.set_text(&target, printed.as_ref().map(|printed| printed.bytes.as_slice()), 0);
            let shown = printed.map_or_else(|| b"$".to_vec(), |printed| printed.bytes);
            self.report_set(&target, &shown, own);
            return Stage::default();
        }
        let stdout = self.redirects.part(own.redirects..);
        let away =
            stdout.iter().any(|redirect| redirect.text.starts_with(b">")) && self.target(own).is_none();
        let printed = if own.wanted && !away { self.printed_by(name, &words) } else { None };
        Stage { printed, ..Stage::default() }
    }

    fn printed_by(&mut self, name: &[u8], words: &[Word]) -> Option<FlatText> {
        let cost = words.iter().map(|word| word.end.saturating_sub(word.start)).sum::<usize>();
        if words.iter().any(|word| word.open && word.value) || cost > filters::MAX || !self.spend(cost) {
            return None;
        }
        let words: Vec<FlatText> = words.iter().map(|word| self.flat.cut(word.start, word.end)).collect();
        if name == b"echo" { Some(filters::echo(&words)) } else { filters::printf(&words) }
    }

    fn filtered(&mut self, name: &[u8], own: CommandWords) -> Option<FlatText> {
        let input = self.given(own)?;
        let args = self.arg_texts(own);
        if !self.spend(input.len().saturating_mul(2)) {
            return None;
        }
        filters::filter(name, &args, &input)
    }

    /// Processes an interpreter, whose code is in `-c` or `-e`, or in its input.
    fn interpret(&mut self, name: &[u8], runs: CodeLanguage, own: CommandWords) {
        let lens = match runs {
            CodeLanguage::Shell => Lens::Sh,
            CodeLanguage::Python => Lens::Py,
            CodeLanguage::JavaScript => Lens::Js,
            _ => return self.strings_run(own),
        };
        let args: Vec<Word> = self.args(own).to_vec();
        let mut at = 0_usize;
        let mut file = None;
        while let Some(word) = args.get(at).copied() {
            at += 1;
            let text = self.text(word).to_vec();
            if code_option(lens, name, &text) {
                if let Some(code) = args.get(at..).and_then(|rest| {
                    rest.iter().find(|word| lens != Lens::Sh || !is_option(self.text(**word)))
                }) {
                    let code = *code;
                    if lens == Lens::Sh {
                        let rest = args.iter().skip_while(|word| word.start <= code.start);
                        let rest: Vec<Word> = rest.copied().collect();
                        self.embed_with(code, &rest, own);
                    } else {
                        self.embed(lens, code.start, code.end);
                    }
                }
                return;
            }
            if let Some(code) = glued(lens, &text) {
                self.embed(lens, word.start + code, word.end);
                return;
            }
            if word.printed != 0 {
                let printed = self.printed.get((word.printed as usize).wrapping_sub(1)).cloned();
                if let Some(printed) = printed {
                    self.embed_flat(lens, &printed);
                }
                return;
            }
            match text.as_slice() {
                b"-o" | b"+o" | b"-O" | b"-W" | b"-X" | b"-r" | b"--require" | b"--import" | b"--rcfile"
                | b"--init-file" => at += 1,
                b"-s" | b"-" | b"/dev/stdin" | b"/dev/fd/0" => break,
                b"-m" => {
                    file = Some(Vec::new());
                    break;
                }
                option if is_option(option) => {}
                b"run" if lens == Lens::Js => {}
                other => {
                    file = Some(other.to_vec());
                    break;
                }
            }
        }
        match file {
            Some(file) => self.names_file(lens, &file),
            None => {
                if let Some(text) = self.given(own) {
                    self.embed_flat(lens, &text);
                }
            }
        }
    }

    /// Records a file that is run or read as code. Of a path behind a variable, such as the plugin's root,
    /// the rest is recorded.
    fn names_file(&mut self, lens: Lens, file: &[u8]) {
        let below = file.starts_with(b"$").then(|| memchr::memchr(b'/', file)).flatten();
        let file = file.part(below.map_or(0, |at| at + 1)..);
        if !file.is_empty() && !file.contains(&b'$') {
            let path = String::from_utf8_lossy(file).into_owned();
            self.sink.named_as.push(Named { lens, path, part: CodePart::File });
        }
    }

    fn eval(&mut self, program: Word, own: CommandWords) {
        let args: Vec<Word> = self.args(own).to_vec();
        let args = if program.value && args.is_empty() { vec![program] } else { args };
        if let (Some(first), Some(last)) = (args.first(), args.last()) {
            self.embed_in(Lens::Sh, first.start, last.end, VariableScope::Shared);
        }
        let open = args.iter().any(|word| word.open);
        if open && !program.value && !self.sets_up(own) {
            self.sink.shape("sh-eval", own.span, Obfuscations::NONE);
        }
    }

    /// Returns `true` if all code comes from a known program that sets up the shell.
    fn sets_up(&self, own: CommandWords) -> bool {
        let Some(word) = self.args(own).first() else { return false };
        let text = self.src.part(word.span.0..word.span.1);
        let inner = text.iter().position(|byte| !matches!(byte, b'"' | b'$' | b'(' | b'`' | b'<' | b' '));
        let inner = inner.map_or(&b""[..], |at| text.part(at..));
        let end = inner.iter().position(|byte| matches!(byte, b' ' | b')' | b'`' | b'\n'));
        let program = crate::lex::sh::syntax::simple::base_name(inner.part(..end.unwrap_or(inner.len())));
        let joined = inner.iter().any(|byte| matches!(byte, b'|' | b';' | b'&' | b'$'));
        let completes = memchr::memmem::find(inner, b"completion").is_some();
        self.args(own).len() == 1
            && !joined
            && ((SETUP.contains(&program) || completes) && self.sink.rules.commands.program(program) == 0)
    }

    fn source(&mut self, own: CommandWords) {
        let Some(word) = self.args(own).first().copied() else { return };
        let text = self.text(word).to_vec();
        if word.printed != 0 {
            let printed = self.printed.get((word.printed as usize).wrapping_sub(1)).cloned();
            if let Some(printed) = printed {
                self.embed_flat(Lens::Sh, &printed);
            }
        } else if matches!(text.as_slice(), b"/dev/stdin" | b"/dev/fd/0" | b"/proc/self/fd/0") {
            if let Some(text) = self.given(own) {
                self.embed_flat(Lens::Sh, &text);
            }
        } else if !word.open {
            self.names_file(Lens::Sh, &text);
        }
        if word.open && word.value && !self.sets_up(own) {
            self.sink.shape("sh-eval", own.span, Obfuscations::NONE);
        }
    }

    fn alias(&mut self, own: CommandWords) {
        let args: Vec<Word> = self.args(own).to_vec();
        for word in args {
            let text = self.text(word).to_vec();
            let Some(at) = memchr::memchr(b'=', &text) else { continue };
            let name = text.part(..at).to_vec();
            let value = text.part(at + 1..);
            // The bare name of a program is not code of its own.
            if !value.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')) {
                self.embed(Lens::Sh, word.start + at + 1, word.end);
            }
            let simple = !value.iter().any(|byte| matches!(byte, b'|' | b';' | b'&' | b'<' | b'>' | b'('));
            let words = value.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            let words: Vec<Vec<u8>> = words.map(<[u8]>::to_vec).collect();
            let program = words
                .first()
                .map(|program| crate::lex::sh::syntax::simple::base_name(program))
                .unwrap_or_default();
            let table = &self.sink.rules.commands;
            let sources = table.source(table.program(program));
            self.define(
                name,
                FunctionEffect {
                    sources,
                    words: if simple { words } else { Vec::new() },
                    alias: true,
                    body: None,
                },
            );
        }
    }

    /// Reads a word of a wrapper's arguments, from a byte on, as a text for a shell.
    pub(in crate::lex::sh) fn run_text(&mut self, word: Word, offset: usize, own: CommandWords) {
        let start = (word.start + offset).min(word.end);
        self.embed(Lens::Sh, start, word.end);
        let text = self.flat.bytes.part(start..word.end).to_vec();
        self.fed_text(&text, own);
    }

    /// Processes `cmd /c command words`.
    fn rest_of_line(&mut self, own: CommandWords) {
        let args = self.args(own);
        let runs = |word: &Word| matches!(self.text(*word), [b'/', b'c' | b'C' | b'k' | b'K' | b'r' | b'R']);
        let first = args.iter().position(runs).and_then(|at| args.get(at + 1));
        if let (Some(first), Some(last)) = (first.copied(), args.last().copied()) {
            self.embed(Lens::Sh, first.start, last.end);
        }
    }

    /// Processes `ssh host command words`.
    fn remote(&mut self, own: CommandWords) {
        let args: Vec<Word> = self.args(own).to_vec();
        let texts = self.arg_texts(own);
        let valued = |text: &[u8]| {
            matches!(
                text,
                [
                    b'-',
                    b'b' | b'c'
                        | b'D'
                        | b'E'
                        | b'e'
                        | b'F'
                        | b'I'
                        | b'i'
                        | b'J'
                        | b'L'
                        | b'l'
                        | b'm'
                        | b'O'
                        | b'o'
                        | b'p'
                        | b'Q'
                        | b'R'
                        | b'S'
                        | b'W'
                        | b'w'
                ]
            )
        };
        let mut at = 0_usize;
        while let Some(text) = texts.get(at).filter(|text| text.starts_with(b"-")) {
            at += if valued(text) { 2 } else { 1 };
        }
        let rest = args.rest(at + 1);
        if let (Some(first), Some(last)) = (rest.first().copied(), rest.last().copied()) {
            self.embed(Lens::Sh, first.start, last.end);
            let text = self.flat.bytes.part(first.start..last.end).to_vec();
            self.fed_text(&text, own);
        } else if args.len() > at && !texts.iter().any(|text| matches!(text.as_slice(), b"-N" | b"-W")) {
            // Without a command, the remote shell reads its input.
            self.fed_text(b"sh", own);
        }
    }

    /// Continues with a command line that an interpreter begins, if it has input to run.
    fn fed_text(&mut self, text: &[u8], own: CommandWords) {
        let odd = |byte: &u8| {
            matches!(
                byte,
                b'|' | b';' | b'&' | b'<' | b'>' | b'(' | b')' | b'$' | b'`' | b'\'' | b'"' | b'\\' | b'\n'
            )
        };
        let redirected = self.redirects.part(own.redirects..);
        let fed = self.pipe.from != 0
            || self.stdin != 0
            || redirected.iter().any(|redirect| redirect.sources != 0)
            || self.given(own).is_some();
        if !fed || text.len() > 256 || text.iter().any(odd) || own.nested >= 8 {
            return;
        }
        let words: Vec<Vec<u8>> =
            text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).map(<[u8]>::to_vec).collect();
        let first =
            words.first().map(|word| crate::lex::sh::syntax::simple::base_name(word)).unwrap_or_default();
        if (names::interpreter(first).is_some() || names::is_wrapper(first)) && self.spend(text.len()) {
            let own = CommandWords { nested: own.nested + 8, ..own };
            self.written(&words, own);
        }
    }

    /// Processes a program that passes its input to a program in its arguments: `docker exec -i box sh`,
    /// `watch sh`.
    fn receives(&mut self, name: &[u8], own: CommandWords) -> bool {
        if self.pipe.from == 0 || !matches!(name, b"docker" | b"podman" | b"nerdctl" | b"kubectl" | b"oc") {
            return false;
        }
        let texts = self.arg_texts(own);
        let Some(at) = texts.iter().take(8).position(|text| matches!(text.as_slice(), b"exec" | b"run"))
        else {
            return false;
        };
        let mut at = at + 1;
        if let Some(end) = texts.iter().position(|text| text == b"--") {
            at = end + 1;
        } else {
            while let Some(text) = texts.get(at).filter(|text| text.starts_with(b"-")) {
                let alone = text.contains(&b'=')
                    || matches!(
                        text.as_slice(),
                        b"--rm" | b"--interactive" | b"--tty" | b"--privileged" | b"--init"
                    )
                    || text.iter().skip(1).all(|byte| matches!(byte, b'i' | b't' | b'd' | b'T'));
                at += if alone { 1 } else { 2 };
            }
            at += 1;
        }
        // `docker exec -i` without a container has no such words.
        let rest = texts.rest(at);
        self.fed_text(&rest.join(&b' '), own);
        false
    }

    /// Finds strings that inline code of a language without a lexer passes to a shell.
    fn strings_run(&mut self, own: CommandWords) {
        for word in self.args(own).to_vec() {
            let text = self.text(word).to_vec();
            let mut from = 0_usize;
            while let Some(open) = text.get(from..).and_then(|rest| memchr::memchr2(b'"', b'\'', rest)) {
                let open = from + open;
                let start = open + 1;
                let quote = text.get(open).copied().unwrap_or(b'"');
                let Some(len) = text.get(start..).and_then(|rest| memchr::memchr(quote, rest)) else { break };
                let head = text.part(open.saturating_sub(32)..open).trim_ascii_end();
                let head = head.strip_suffix(b"(").unwrap_or(head).trim_ascii_end();
                let runs: [&[u8]; 13] = [
                    b"system",
                    b"exec",
                    b"popen",
                    b"passthru",
                    b"execute",
                    b"qx",
                    b"shell script",
                    b"shell_exec",
                    b"proc_open",
                    b"callcommand",
                    b"run-shell-command",
                    b"pcntl_exec",
                    b"sh",
                ];
                let head = head.to_ascii_lowercase();
                if runs.iter().any(|call| head.ends_with(call)) {
                    let start = word.start + start;
                    self.embed(Lens::Sh, start, start + len);
                }
                from = start + len + 1;
            }
        }
    }

    /// Processes `watch -n 1 command`.
    fn watch(&mut self, own: CommandWords) {
        let texts = self.arg_texts(own);
        let mut at = 0_usize;
        while let Some(text) = texts.get(at).filter(|text| text.starts_with(b"-")) {
            let valued = matches!(text.as_slice(), b"-n" | b"--interval" | b"-q" | b"--equexit");
            at += if valued { 2 } else { 1 };
        }
        let rest = self.args(own).part(at..);
        if let (Some(first), Some(last)) = (rest.first().copied(), rest.last().copied()) {
            self.embed(Lens::Sh, first.start, last.end);
            let text = self.flat.bytes.part(first.start..last.end).to_vec();
            self.fed_text(&text, own);
        }
    }

    /// Processes `find … -exec program … \;`, and returns the taint bits of the programs whose output `find`
    /// prints.
    fn find(&mut self, own: CommandWords) -> u128 {
        let texts = self.arg_texts(own);
        let mut from = None;
        let mut sources = 0;
        // The programs get the names of what `find` looks for.
        let words: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
        let table = &self.sink.rules.commands;
        let found =
            credentials::of_files(&words).map_or(0, |kind| table.source(table.program(kind.program())));
        let outer = self.pipe;
        self.pipe.from |= found;
        for (text, at) in texts.iter().zip(own.first + 1..) {
            if matches!(text.as_slice(), b"-exec" | b"-execdir" | b"-ok" | b"-okdir" | b"-x" | b"-X") {
                from = Some(at + 1);
            } else if matches!(text.as_slice(), b";" | b"+")
                && let Some(first) = from.take().filter(|first| *first < at)
            {
                let inner = CommandWords { first, end: at, nested: own.nested + 1, wanted: false, ..own };
                sources |= self.command_words(inner).sources;
            }
        }
        if let Some(first) = from.filter(|first| *first < own.end) {
            let inner = CommandWords { first, nested: own.nested + 1, wanted: false, ..own };
            sources |= self.command_words(inner).sources;
        }
        self.pipe = outer;
        sources
    }

    /// Processes `env -S 'program words'`, and returns the taint of its output.
    fn split_text(&self, own: CommandWords) -> Option<u128> {
        let texts = self.arg_texts(own);
        let at =
            texts.iter().position(|text| text.starts_with(b"-S") || text.starts_with(b"--split-string"))?;
        let text = texts.get(at)?;
        let glued = text.strip_prefix(b"--split-string=").or_else(|| text.strip_prefix(b"-S"));
        let text = glued.filter(|text| !text.is_empty()).or_else(|| texts.get(at + 1).map(Vec::as_slice))?;
        let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let program = words.find(|word| !names::is_assignment(word) && !word.starts_with(b"-"))?;
        let table = &self.sink.rules.commands;
        Some(table.source(table.program(crate::lex::sh::syntax::simple::base_name(program))))
            .filter(|sources| *sources != 0)
    }

    /// Processes `ln -s /bin/program name`, `cp` and `hash -p`, which give a known program another name.
    fn track_rename(&mut self, own: CommandWords) {
        let texts = self.arg_texts(own);
        let words: Vec<&[u8]> =
            texts.iter().map(Vec::as_slice).filter(|text| !text.starts_with(b"-")).collect();
        let [from, to] = words.as_slice() else { return };
        let directory =
            from.strip_suffix(crate::lex::sh::syntax::simple::base_name(from)).unwrap_or_default();
        let (program, name) =
            (crate::lex::sh::syntax::simple::base_name(from), crate::lex::sh::syntax::simple::base_name(to));
        let table = &self.sink.rules.commands;
        let sources = table.source(table.program(program));
        let known = |name: &[u8]| names::is_known(name) || names::interpreter(name).is_some();
        if directory.ends_with(b"bin/")
            && (sources != 0 || known(program))
            && !name.is_empty()
            && table.program(name) == 0
            && !known(name)
        {
            let func = FunctionEffect { sources, words: vec![program.to_vec()], alias: true, body: None };
            self.define(name.to_vec(), func);
        }
    }

    fn declared(&mut self, name: &[u8], own: CommandWords) {
        let mut options: Vec<u8> = Vec::new();
        let args = self.args(own).to_vec();
        if let ([target, value], b"setenv") = (args.as_slice(), name) {
            let (target, value) = (self.text(*target).to_vec(), self.text(*value).to_vec());
            return self.report_set(&target, &value, own);
        }
        for word in args {
            let text = self.text(word).to_vec();
            if let Some(letters) = text.strip_prefix(b"-") {
                options.extend_from_slice(letters);
            }
            // The name may be quoted, because these programs take words.
            let Some(target) = names::name_of(&text).filter(|_| word.assigns != 0 || !text.starts_with(b"-"))
            else {
                continue;
            };
            self.assignment(word, AssignmentScope::Script, own.span);
            if options.contains(&b'n') && name != b"export" {
                let to = self.value(target, None).filter(|to| names::is_name(to) && to != target);
                if let Some(to) = to {
                    self.environment.refs.insert(target.to_vec(), to);
                }
            }
            let value = self.value(target, None);
            if let Some(value) = value.filter(|_| options.contains(&b'l') || options.contains(&b'u')) {
                let lower = options.contains(&b'l');
                let value = if lower { value.to_ascii_lowercase() } else { value.to_ascii_uppercase() };
                let sources = self.value_sources(target);
                self.set_text(target, Some(&value), sources);
            }
        }
    }

    /// Reports a variable that a program sets, like an assignment.
    fn report_set(&mut self, name: &[u8], value: &[u8], own: CommandWords) {
        if !names::is_name(name) || !self.spend(value.len()) {
            return;
        }
        let mut piece = self.begin();
        piece.span = own.span;
        self.flat.unit(&[name, b"=", value].concat(), own.span, Obfuscations::NONE);
        piece.end = self.flat.len();
        self.report_assignment(piece, own.span);
    }

    /// Reports a variable that an expansion sets: `${NAME:=value}`.
    pub(in crate::lex::sh) fn report_default(&mut self, name: &[u8], value: &[u8], span: (usize, usize)) {
        if !names::is_name(name) || !self.spend(value.len()) {
            return;
        }
        let table = &self.sink.rules.commands;
        let command = crate::scan::sink::Command {
            program: table.program(b"="),
            how: Obfuscations::NONE,
            args: &[name, b"=", value].concat(),
            undone: &|_, _| Obfuscations::NONE,
            sources: 0,
            fed: Obfuscations::NONE,
            redirects: &[],
            span,
        };
        self.sink.command(&command);
    }

    fn read(&mut self, program: &[u8], own: CommandWords) {
        let redirects = self.redirects.part(own.redirects..);
        let sources = redirects.iter().fold(self.pipe.from, |sum, redirect| sum | redirect.sources);
        let reads = self.pipe.piped || redirects.iter().any(|redirect| redirect.text.starts_with(b"<"));
        let sources = if reads { sources } else { sources | self.stdin };
        let input = self.given(own);
        let mut names: Vec<Vec<u8>> = Vec::new();
        let mut valued = false;
        for text in self.arg_texts(own) {
            if names::is_name(&text) && !core::mem::take(&mut valued) {
                names.push(text);
                continue;
            }
            // These options of `read` take a prompt, a count, a descriptor or a delimiter.
            valued = matches!(text.as_slice(), [b'-', .., b'p' | b'd' | b'n' | b'N' | b't' | b'u' | b'i'])
                && (program == b"read" || text != b"-t");
        }
        let line = input.as_ref().map(|input| input.bytes.split(|byte| *byte == b'\n').next());
        let line = line.map(Option::unwrap_or_default);
        if program != b"read" || names.len() < 2 {
            for name in names {
                self.set_text(&name, line, sources);
            }
            return;
        }
        // `read` splits its input among the names; the last one gets the rest.
        let before = own.first.checked_sub(1).and_then(|at| self.words.get(at)).map(|word| self.text(*word));
        let own_ifs = before.and_then(|text| text.strip_prefix(b"IFS=")).map(<[u8]>::to_vec);
        let separators = own_ifs.unwrap_or_else(|| self.separators());
        let gap = |byte: &u8| byte.is_ascii_whitespace() || separators.contains(byte);
        let mut rest = line;
        let count = names.len();
        for (name, number) in names.iter().zip(1_usize..) {
            let text = rest.map(|text| text.get(text.iter().take_while(|byte| gap(byte)).count()..));
            let text = text.map(Option::unwrap_or_default);
            let len = text.and_then(|text| text.iter().position(gap).filter(|_| number < count));
            let word = text.map(|text| text.part(..len.unwrap_or(text.len())));
            rest = text.map(|text| text.part(len.unwrap_or(text.len())..));
            self.set_text(name, word, sources);
        }
    }

    fn set(&mut self, own: CommandWords) {
        let args: Vec<Word> = self.args(own).to_vec();
        if let [option, name, value, ..] = args.as_slice()
            && matches!(self.text(*option), [b'-', letters @ ..] if letters.contains(&b'x') && letters.len() < 4)
        {
            // fish sets variables with `set -gx NAME value`.
            let (name, value) = (self.text(*name).to_vec(), self.text(*value).to_vec());
            self.report_set(&name, &value, own);
        }
        let Some(from) = args.iter().position(|word| matches!(self.text(*word), b"--" | b"--0")) else {
            return;
        };
        let mut rest = args.part(from + 1..).to_vec();
        if args.get(from).is_some_and(|word| self.text(*word) == b"--0") && !rest.is_empty() {
            // `set --0` is written by `embed_with`; its first word is `$0`.
            let name = rest.remove(0);
            let text = self.text(name).to_vec();
            self.set_text(b"0", (!name.open).then_some(text.as_slice()), name.sources);
        }
        let items: Vec<Vec<u8>> = rest.iter().map(|word| self.text(*word).to_vec()).collect();
        let sources = rest.iter().fold(0, |sum, word| sum | word.sources);
        self.set_items(b"@".to_vec(), Some(items), sources);
        if rest.iter().any(|word| word.open)
            && let Some(var) = self.environment.vars.get_mut(&b"@"[..])
        {
            var.open = true;
        }
    }

    /// Processes `NAME=value`.
    pub(in crate::lex::sh) fn assignment(
        &mut self,
        word: Word,
        lasts: AssignmentScope,
        span: (usize, usize),
    ) {
        self.report_assignment(word, span);
        let text = self.text(word).to_vec();
        let Some(at) = memchr::memchr(b'=', &text) else { return };
        if core::str::from_utf8(text.part(..at)).is_ok_and(plugward_commands::takes_command) {
            // `less` reads a pipe from the command after `|`.
            let pipe = usize::from(text.get(at + 1) == Some(&b'|'));
            self.embed(Lens::Sh, word.start + at + 1 + pipe, word.end);
        }
        let (name, value) = (text.part(..at), text.get(at + 1..));
        let value = value.unwrap_or_default().to_vec();
        let added = name.strip_suffix(b"+").map(<[u8]>::to_vec);
        let name = added.clone().unwrap_or_else(|| name.to_vec());
        let base = name.split(|byte| *byte == b'[').next().unwrap_or_default();
        if lasts == AssignmentScope::Command
            || !names::is_name(base)
            || (base.len() != name.len() && !name.ends_with(b"]"))
            || self
                .src
                .get(word.span.0..word.span.1)
                .is_some_and(|raw| memchr::memmem::find(raw, b"=(").is_some() && value == b"()")
        {
            return;
        }
        let before = if added.is_some() { self.value(&name, None) } else { Some(Vec::new()) };
        let is_home = word.open && is_in_home(&value);
        let joined = before.clone().filter(|_| !word.open || is_home).map(|mut before| {
            before.extend_from_slice(&value);
            before
        });
        if word.open && !word.value && value.iter().any(u8::is_ascii_whitespace) {
            let text = [&before.unwrap_or_default(), value.as_slice()].concat();
            self.keep_template(&name, text);
        } else {
            self.environment.templates.remove(&name);
        }
        self.set_text(&name, joined.as_deref(), word.sources);
        if let Some(var) = self.environment.vars.get_mut(&name).filter(|_| is_home) {
            var.open = true;
        }
        if word.origin == TextOrigin::Located
            && let Some(var) = self.environment.vars.get_mut(&name)
        {
            var.origin = TextOrigin::Located;
        }
    }

    /// Reports an assignment to the rules as the command `=`.
    pub(in crate::lex::sh) fn report_assignment(&mut self, word: Word, span: (usize, usize)) {
        let table = &self.sink.rules.commands;
        let program = table.program(b"=");
        let flat = &self.flat;
        let command = crate::scan::sink::Command {
            program,
            how: Obfuscations::NONE,
            args: flat.bytes.part(word.start..word.end),
            undone: &|from, to| flat.how(word.start + from, word.start + to),
            sources: word.sources,
            fed: Obfuscations::NONE,
            redirects: &[],
            span: (word.span.0.max(span.0), word.span.1.max(word.span.0)),
        };
        self.sink.command(&command);
    }
}

/// Returns `true` if the home directory is the only unknown part of a text.
fn is_in_home(text: &[u8]) -> bool {
    let rest = text.strip_prefix(b"$HOME").or_else(|| text.strip_prefix(b"${HOME}"));
    rest.is_some_and(|rest| {
        matches!(rest.first(), None | Some(b'/')) && memchr::memchr3(b'$', b'`', b'<', rest).is_none()
    })
}

fn is_option(text: &[u8]) -> bool {
    text.len() > 1 && matches!(text.first(), Some(b'-' | b'+'))
}

/// Returns `true` if the word after an option is code.
fn code_option(lens: Lens, name: &[u8], text: &[u8]) -> bool {
    match lens {
        Lens::Sh => {
            text.starts_with(b"-")
                && !text.starts_with(b"--")
                && text.len() > 1
                && text.get(1..).is_some_and(|rest| rest.contains(&b'c'))
                || text == b"--command"
        }
        Lens::Py => {
            text.starts_with(b"-")
                && !text.starts_with(b"--")
                && text.ends_with(b"c")
                && text.get(1..).is_some_and(|rest| rest.iter().all(u8::is_ascii_alphabetic))
        }
        Lens::Js => {
            matches!(text, b"-e" | b"--eval" | b"-p" | b"--print" | b"-pe" | b"-ep")
                || (name == b"deno" && text == b"eval")
        }
        _ => false,
    }
}

/// Returns the offset of code in the same word as its option, as in `-e'code'`.
fn glued(lens: Lens, text: &[u8]) -> Option<usize> {
    match lens {
        Lens::Py => (text.starts_with(b"-c") && text.len() > 2).then_some(2),
        Lens::Js => {
            text.strip_prefix(b"--eval=").map(|_| 7).or_else(|| text.strip_prefix(b"--print=").map(|_| 8))
        }
        _ => None,
    }
}
