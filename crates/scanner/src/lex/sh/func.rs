//! Functions and aliases of one level.

use super::Parser;

/// What a function or an alias does, as far as one level shows.
#[derive(Debug, Clone, Default)]
pub(super) struct Func {
    /// The programs that it runs.
    pub(super) sources: u128,
    /// Its one command, word by word; empty where it has more than one.
    pub(super) words: Vec<Vec<u8>>,
    /// Where the arguments go, if the words do not say: behind them.
    pub(super) alias: bool,
    /// Where its body stands, if it has more than one command.
    pub(super) body: (usize, usize),
}

/// Says whether a body asks for what it is called with.
pub(super) fn takes_arguments(body: &[u8]) -> bool {
    memchr::memchr_iter(b'$', body).any(|at| {
        let next = body.get(at.saturating_add(1)..).unwrap_or_default();
        matches!(next.strip_prefix(b"{").unwrap_or(next), [b'1'..=b'9' | b'@' | b'*', ..])
    })
}

/// Longest command that is kept, and longest body.
const MAX: usize = 4096;

impl Parser<'_, '_, '_> {
    /// Keeps what a function does.
    pub(super) fn define(&mut self, name: Vec<u8>, mut func: Func) {
        if func.words.iter().map(Vec::len).sum::<usize>() > MAX {
            func.words.clear();
        }
        let (start, end) = func.body;
        let body = self.src.get(start..end).unwrap_or_default();
        if body.len() > MAX || !takes_arguments(body) {
            func.body = (0, 0);
        }
        let listed = func.sources != 0
            || func.body != (0, 0)
            || func.words.first().is_some_and(|program| {
                if matches!(program.as_slice(), b"$@" | b"$*" | b"${@}" | b"${*}" | [b'$', b'1'..=b'9']) {
                    return true;
                }
                let program = super::run::base_name(program);
                self.sink.rules.commands.program(program) != 0 || super::wrap::is_known(program)
            });
        if listed && self.used.contains(&name) {
            self.late = true;
        }
        if listed {
            self.known.funcs.insert(name, func);
        }
    }

    /// Gives the words that a call of a function stands for, and the programs that it runs.
    pub(super) fn called(&self, name: &[u8], args: &[Vec<u8>]) -> Option<(Vec<Vec<u8>>, u128)> {
        let func = self.known.funcs.get(name)?;
        let mut words: Vec<Vec<u8>> = Vec::new();
        for word in &func.words {
            match word.as_slice() {
                b"$@" | b"$*" | b"${@}" | b"${*}" => words.extend(args.iter().cloned()),
                [b'$', digit @ b'1'..=b'9'] => {
                    let at = usize::from(digit.wrapping_sub(b'1'));
                    words.extend(args.get(at).cloned());
                }
                _ => words.push(word.clone()),
            }
        }
        if func.alias {
            words.extend(args.iter().cloned());
        }
        Some((words, func.sources))
    }
}
