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
}

/// Longest command that is kept.
const MAX: usize = 4096;

impl Parser<'_, '_, '_> {
    /// Keeps what a function does.
    pub(super) fn define(&mut self, name: Vec<u8>, mut func: Func) {
        if func.words.iter().map(Vec::len).sum::<usize>() > MAX {
            func.words.clear();
        }
        let listed = func.sources != 0
            || func.words.first().is_some_and(|program| {
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
