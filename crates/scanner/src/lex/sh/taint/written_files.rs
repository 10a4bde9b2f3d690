//! Files that a script writes itself and then runs, and programs whose path it looks up.

use plugward_types::Part;

use crate::lex::sh::Parser;
use plugward_commands::CodeLanguage;

use crate::lex::sh::programs::names;
use crate::lex::sh::state::flat::FlatText;
use crate::lex::sh::syntax::simple::CommandWords;
use crate::lex::sh::taint::downloads::{FILES, NAME, makes_runnable, operands, plain};
use crate::scan::entry::Lens;
use crate::text::view::Obfuscations;

/// Whether a write replaces or extends a file (`>` and `>>`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lex::sh) enum WriteMode {
    Replace,
    Append,
}

/// Chooses the lexer of a written script: the interpreter's, otherwise by the first line.
fn lens_of(text: &FlatText, own: Option<Lens>) -> Option<Lens> {
    if own.is_some() || !text.bytes.starts_with(b"#!") {
        return Some(own.unwrap_or(Lens::Sh));
    }
    crate::inventory::names::shebang(&text.bytes)
}

impl Parser<'_, '_, '_> {
    /// Returns the file to which the output of a command goes.
    pub(in crate::lex::sh) fn target(&self, own: CommandWords) -> Option<(Vec<u8>, WriteMode)> {
        let redirects = self.redirects.part(own.redirects..);
        redirects.iter().rev().filter(|redirect| matches!(redirect.number, b'0' | b'1')).find_map(
            |redirect| {
                let text = redirect.text.strip_prefix(b">").or_else(|| redirect.text.strip_prefix(b"&>"))?;
                let (text, adds) = text
                    .strip_prefix(b">")
                    .map_or((text, WriteMode::Replace), |text| (text, WriteMode::Append));
                let text = text.strip_prefix(b"|").unwrap_or(text);
                let file = !text.is_empty() && !text.starts_with(b"&") && !text.starts_with(b"/dev/");
                (file && text.len() <= NAME).then(|| (text.to_vec(), adds))
            },
        )
    }

    /// Records text that a script writes to a file.
    pub(in crate::lex::sh) fn write(
        &mut self,
        file: &[u8],
        text: FlatText,
        adds: WriteMode,
        own: CommandWords,
    ) {
        if text.len() == 0 || file.len() > NAME {
            return;
        }
        if self.environment.written.len() >= FILES || !self.spend(text.len() + file.len()) {
            self.stopped.get_or_insert(own.span.0);
            return;
        }
        let file = plain(file);
        let file = self.in_directory(&file).unwrap_or(file);
        let held = self.environment.written.entry(file).or_default();
        if adds == WriteMode::Replace {
            *held = text;
        } else {
            if held.bytes.last().is_some_and(|last| *last != b'\n') {
                held.unit(b"\n", own.span, Obfuscations::NONE);
            }
            held.add(&text, 0, text.len());
        }
    }

    /// Processes `tee file` with a known input.
    pub(in crate::lex::sh) fn write_tee(&mut self, own: CommandWords) {
        let files = self.arg_texts(own);
        let Some(text) = self.given(own).filter(|_| files.len() <= 16) else { return };
        let adds = if files.iter().any(|arg| arg == b"-a" || arg == b"--append") {
            WriteMode::Append
        } else {
            WriteMode::Replace
        };
        for file in files.iter().filter(|arg| !arg.starts_with(b"-") && !arg.starts_with(b"/dev/")) {
            self.write(file, text.clone(), adds, own);
        }
    }

    /// Takes the content of a written file, so that it is lexed once, where it is first run.
    fn written_file(&mut self, file: &[u8]) -> Option<FlatText> {
        if file.len() > NAME {
            return None;
        }
        let file = plain(file);
        let below = self.in_directory(&file);
        let whole = below.and_then(|whole| self.environment.written.remove(&whole));
        whole.or_else(|| self.environment.written.remove(&file))
    }

    /// Handles a written file that is run, sourced or made executable.
    pub(in crate::lex::sh) fn runs_written(&mut self, name: &[u8], own: CommandWords) {
        if self.environment.written.is_empty() {
            return;
        }
        let args: Vec<Vec<u8>> = self.arg_texts(own).into_iter().take(64).collect();
        let args: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
        match name {
            b"mv" | b"cp" => {
                let words: Vec<&[u8]> = operands(&args).collect();
                if let [from, to] = words.as_slice()
                    && let Some(text) = self.written_file(from)
                {
                    self.write(to, text, WriteMode::Replace, own);
                }
                return;
            }
            _ => {}
        }
        let program = self.words.get(own.first).map(|word| self.text(*word).to_vec()).unwrap_or_default();
        let path = program.contains(&b'/') || program.starts_with(b"$");
        let mut run: Vec<(Vec<u8>, Option<Lens>)> = Vec::new();
        if path {
            run.push((program, None));
        }
        match name {
            b"source" | b"." => {
                run.extend(operands(&args).take(1).map(|file| (file.to_vec(), Some(Lens::Sh))));
            }
            b"chmod" if operands(&args).next().is_some_and(makes_runnable) => {
                run.extend(operands(&args).skip(1).map(|file| (file.to_vec(), None)));
            }
            b"install"
                if !args.iter().any(|arg| matches!(*arg, b"-m" | b"--mode"))
                    || args.contains(&&b"755"[..]) =>
            {
                run.extend(operands(&args).map(|file| (file.to_vec(), None)));
            }
            _ => {
                let lens = names::interpreter(name).and_then(|runs| match runs {
                    CodeLanguage::Shell => Some(Lens::Sh),
                    CodeLanguage::Python => Some(Lens::Py),
                    CodeLanguage::JavaScript => Some(Lens::Js),
                    _ => None,
                });
                if lens.is_some() {
                    run.extend(self.code_file(name, &args).map(|file| (file.to_vec(), lens)));
                    let redirects = self.redirects.part(own.redirects..);
                    let read = redirects.iter().filter_map(|redirect| redirect.text.strip_prefix(b"<"));
                    run.extend(read.map(|file| (file.to_vec(), lens)));
                }
            }
        }
        for (file, own_lens) in run {
            if let Some(text) = self.written_file(&file)
                && let Some(lens) = lens_of(&text, own_lens)
            {
                self.embed_flat(lens, &text);
            }
        }
    }

    /// Processes `command -v`, `which` and `type -P`: running the printed path runs that program.
    pub(in crate::lex::sh) fn locate(&mut self, name: &[u8], own: CommandWords) {
        let args = self.args(own).to_vec();
        let (options, words): (Vec<_>, Vec<_>) =
            args.into_iter().partition(|word| self.text(*word).starts_with(b"-"));
        let asks = options.iter().any(|word| match name {
            b"command" => matches!(self.text(*word), b"-v" | b"-pv" | b"-vp"),
            b"type" => matches!(self.text(*word), b"-p" | b"-P"),
            _ => true,
        });
        let [word] = words.as_slice() else { return };
        let plain =
            self.text(*word).iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.+/".contains(byte));
        if (asks || name == b"which") && plain && !word.open && self.located.is_none() {
            self.located = Some(self.flat.cut(word.start, word.end));
        }
    }
}
