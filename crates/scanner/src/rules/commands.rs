//! Rules of kind `command`: the programs that they name, and the matchers of each.

use super::KeyCheck;
use super::source::MatchSource;
use crate::engine::{Compiled, ShortRegex};
use crate::rules::names::{Word, Words};
use crate::scan::error::RuleErrorKind;

/// The conditions of a rule on a command.
#[derive(Debug)]
pub(crate) struct CommandMatcher {
    pub(crate) args: Option<ShortRegex>,
    /// Programs one of which must feed it, as bits of [`CommandTable::source`]; 0 means no condition.
    pub(crate) piped_from: u128,
    /// Programs none of which may feed it.
    pub(crate) not_piped_from: u128,
    pub(crate) redirect: Option<ShortRegex>,
    /// Files to which it applies; empty for all.
    pub(crate) files: Vec<String>,
    /// An additional check of the arguments.
    pub(crate) check: Option<KeyCheck>,
}

/// The most programs that feed others. The bit set has 128 bits, and the shell lexer uses two for files.
const SOURCES: usize = 126;

/// Every program that a rule names.
#[derive(Debug)]
pub(crate) struct CommandTable {
    words: Words,
    /// The name of each program and its matchers, by word.
    programs: Vec<(Box<[u8]>, Vec<u16>)>,
    /// Matchers that apply to every program.
    any: Vec<u16>,
    /// Programs that feed others; the index is the bit.
    sources: Vec<Word>,
}

impl CommandTable {
    pub(super) fn new() -> Self {
        Self {
            words: Words::new(),
            programs: vec![(Box::default(), Vec::new())],
            any: Vec::new(),
            sources: Vec::new(),
        }
    }

    fn intern(&mut self, name: &str) -> Result<Word, RuleErrorKind> {
        let word = self.words.intern(name.as_bytes());
        if word == 0 || name.is_empty() {
            return Err(RuleErrorKind::TooLarge("too many programs, or one without a name".to_owned()));
        }
        while self.programs.len() <= usize::from(word) {
            self.programs.push((Box::from(name.as_bytes()), Vec::new()));
        }
        Ok(word)
    }

    /// Returns `true` if a rule names a program.
    pub(crate) fn knows(&self, name: &[u8]) -> bool {
        self.words.get(name) != 0
    }

    /// Adds a matcher.
    pub(super) fn add(
        &mut self,
        matcher: u16,
        source: &MatchSource,
        compiled: Compiled,
    ) -> Result<CommandMatcher, RuleErrorKind> {
        let MatchSource::Command {
            program, args, piped_from, not_piped_from, redirect, files, check, ..
        } = source
        else {
            return Err(RuleErrorKind::Parse("a command was asked for".to_owned()));
        };
        for name in program {
            let word = self.intern(name)?;
            if let Some((_, matchers)) = self.programs.get_mut(usize::from(word)) {
                matchers.push(matcher);
            }
        }
        if program.is_empty() {
            self.any.push(matcher);
        }
        let mut masks = [0, 0];
        for (mask, names) in masks.iter_mut().zip([piped_from, not_piped_from]) {
            for name in names {
                let word = self.intern(name)?;
                if !self.sources.contains(&word) {
                    self.sources.push(word);
                }
                *mask |= self.source(word);
            }
        }
        let [mask, not_piped_from] = masks;
        if self.sources.len() > SOURCES {
            return Err(RuleErrorKind::TooLarge(format!("more than {SOURCES} programs feed others")));
        }
        let args = super::compile::optional_regex(args, compiled)?;
        let redirect = super::compile::optional_regex(redirect, compiled)?;
        Ok(CommandMatcher {
            args,
            piped_from: mask,
            not_piped_from,
            redirect,
            files: files.clone(),
            check: *check,
        })
    }

    /// Returns the word of a program; 0 if no rule names it.
    pub(crate) fn program(&self, name: &[u8]) -> Word {
        self.words.get(name)
    }

    /// Returns the bit of a program that feeds others; 0 if no rule needs it.
    pub(crate) fn source(&self, word: Word) -> u128 {
        if word == 0 {
            return 0;
        }
        let at = self.sources.iter().position(|known| *known == word);
        at.and_then(|at| u32::try_from(at).ok()).and_then(|at| 1_u128.checked_shl(at)).unwrap_or(0)
    }

    /// Returns the matchers for a program.
    pub(crate) fn matchers(&self, word: Word) -> impl Iterator<Item = u16> {
        let own = self.programs.get(usize::from(word)).map_or(&[][..], |(_, own)| own.as_slice());
        own.iter().chain(&self.any).copied()
    }

    /// Returns the programs whose name satisfies a condition.
    pub(crate) fn fitting(&self, fits: impl Fn(&[u8]) -> bool) -> impl Iterator<Item = &[u8]> {
        self.programs.iter().skip(1).map(|(name, _)| &**name).filter(move |name| fits(name))
    }
}
