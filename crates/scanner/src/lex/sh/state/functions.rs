//! Functions and aliases, without the functions that they call in turn.

use plugward_types::Part;

use crate::lex::sh::Parser;

/// The effect of a function or alias.
#[derive(Debug, Clone, Default)]
pub(in crate::lex::sh) struct FunctionEffect {
    /// The taint bits of the programs that it runs.
    pub(in crate::lex::sh) sources: u128,
    /// The words of its only command; empty if it has several commands.
    pub(in crate::lex::sh) words: Vec<Vec<u8>>,
    /// Set for an alias, whose arguments follow its words.
    pub(in crate::lex::sh) alias: bool,
    /// The body, if it has more than one command.
    pub(in crate::lex::sh) body: Option<BodyRange>,
}

/// The range of a function's body in the text that defines it. Code that runs in another text can call the function.
#[derive(Debug, Clone, Copy)]
pub(in crate::lex::sh) struct BodyRange {
    pub(in crate::lex::sh) start: usize,
    pub(in crate::lex::sh) end: usize,
    /// The number of the text.
    pub(in crate::lex::sh) text_of: u32,
}

/// Returns `true` if a body uses its arguments.
pub(in crate::lex::sh) fn takes_arguments(body: &[u8]) -> bool {
    memchr::memchr_iter(b'$', body).any(|at| {
        let next = body.part(at + 1..);
        matches!(next.strip_prefix(b"{").unwrap_or(next), [b'1'..=b'9' | b'@' | b'*', ..])
    })
}

/// The longest command, and the longest body, that is stored.
const MAX: usize = 4096;

impl Parser<'_, '_, '_> {
    /// Records the effect of a function.
    pub(in crate::lex::sh) fn define(&mut self, name: Vec<u8>, mut func: FunctionEffect) {
        if func.words.iter().map(Vec::len).sum::<usize>() > MAX {
            func.words.clear();
        }
        func.body = func.body.filter(|range| {
            let body = self.src.part(range.start..range.end);
            body.len() <= MAX && takes_arguments(body)
        });
        let listed = func.sources != 0
            || func.body.is_some()
            || func.words.first().is_some_and(|program| {
                if matches!(program.as_slice(), b"$@" | b"$*" | b"${@}" | b"${*}" | [b'$', b'1'..=b'9']) {
                    return true;
                }
                let program = crate::lex::sh::syntax::simple::base_name(program);
                self.sink.rules.commands.program(program) != 0
                    || crate::lex::sh::programs::names::is_known(program)
            });
        if listed && self.used.contains(&name) {
            self.late = true;
        }
        if listed {
            self.environment.funcs.insert(name, func);
        }
    }

    /// Returns the words that a call expands to, and the taint bits of the programs that it runs.
    pub(in crate::lex::sh) fn called(&self, name: &[u8], args: &[Vec<u8>]) -> Option<(Vec<Vec<u8>>, u128)> {
        let func = self.environment.funcs.get(name)?;
        let mut words: Vec<Vec<u8>> = Vec::new();
        for word in &func.words {
            match word.as_slice() {
                b"$@" | b"$*" | b"${@}" | b"${*}" => words.extend(args.iter().cloned()),
                _ => words.push(filled(word, args)),
            }
        }
        if func.alias {
            words.extend(args.iter().cloned());
        }
        Some((words, func.sources))
    }
}

/// Replaces `$1` and `${1}` in a word by the arguments of a call.
fn filled(word: &[u8], args: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some(at) = memchr::memchr(b'$', rest) {
        out.extend_from_slice(rest.part(..at));
        rest = rest.part(at + 1..);
        let (digit, length) = match rest {
            [digit @ b'1'..=b'9', ..] => (*digit, 1),
            [b'{', digit @ b'1'..=b'9', b'}', ..] => (*digit, 3),
            _ => {
                out.push(b'$');
                continue;
            }
        };
        if let Some(text) = args.get(usize::from(digit.wrapping_sub(b'1'))) {
            out.extend_from_slice(text);
        }
        rest = rest.part(length..);
    }
    out.extend_from_slice(rest);
    out
}
