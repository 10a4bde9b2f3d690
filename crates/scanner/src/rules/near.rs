//! Parts of instructions, from `rules/parts.toml`, and the rules that look for several parts in one section.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::engine::{Compiled, Pattern, PatternSet, ShortRegex, Speed};
use crate::scan::error::RuleErrorKind;

/// The text of the table. The digest of the rules covers it.
pub(crate) const TABLE: &str = include_str!("../../rules/parts.toml");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileSource {
    version: u32,
    parts: BTreeMap<String, Vec<String>>,
    words: BTreeMap<String, String>,
}

/// The parts that a text is searched for, and the words that a match is checked for.
#[derive(Debug)]
pub(crate) struct Parts {
    names: Vec<String>,
    /// The patterns of all parts. The matcher of a pattern is the index of its part.
    pub(crate) patterns: PatternSet,
    words: Vec<(String, ShortRegex)>,
}

/// Parts that form one instruction if they are near each other.
#[derive(Debug)]
pub(crate) struct NearMatcher {
    /// Indices of parts. Matches of the first one are expected to be the rarest.
    pub(crate) parts: Vec<u16>,
    /// The most bytes from the start of the first part to the end of the last one.
    pub(crate) span: usize,
    /// Words of which the text has one that is not negated.
    also: Option<usize>,
    /// Words of which the text has none.
    without: Option<usize>,
}

impl Parts {
    /// Parses the built-in table.
    pub(super) fn builtin(compiled: Compiled) -> Result<Self, RuleErrorKind> {
        let parse = |error: toml::de::Error| RuleErrorKind::Parse(error.message().to_owned());
        let source: FileSource = toml::from_str(TABLE).map_err(parse)?;
        if source.version != 1 {
            return Err(RuleErrorKind::Version(source.version));
        }
        let (mut names, mut patterns) = (Vec::new(), PatternSet::default());
        for ((name, sources), index) in source.parts.into_iter().zip(0_u16..) {
            for source in sources {
                let pattern = Pattern::new(index, u8::MAX, source);
                if compiled == Compiled::ByLoader {
                    pattern.check(Speed::Fast)?;
                }
                patterns.patterns.push(pattern);
            }
            names.push(name);
        }
        let words = source.words.into_iter();
        let words = words.map(|(name, text)| ShortRegex::new(text, compiled).map(|regex| (name, regex)));
        Ok(Self { names, patterns, words: words.collect::<Result<_, _>>()? })
    }

    /// Returns `true` if the patterns of a part contain negations.
    pub(crate) fn has_negation(&self, part: u16) -> bool {
        self.names.get(usize::from(part)).is_some_and(|name| name == "hiding")
    }

    /// Returns the matcher of a rule with the indices of its parts.
    pub(super) fn matcher(
        &self,
        parts: &[String],
        span: usize,
        also: &str,
        without: &str,
    ) -> Result<NearMatcher, RuleErrorKind> {
        let unknown =
            |name: &str| RuleErrorKind::Parse(format!("{name:?} is not a part of rules/parts.toml"));
        let part = |name: &String| {
            let at = self.names.binary_search(name).map_err(|_at| unknown(name))?;
            u16::try_from(at).map_err(|_too_many| unknown(name))
        };
        let words = |name: &str| {
            let found = self.words.binary_search_by(|(known, _)| known.as_str().cmp(name));
            (!name.is_empty()).then_some(found.map_err(|_at| unknown(name))).transpose()
        };
        Ok(NearMatcher {
            parts: parts.iter().map(part).collect::<Result<_, _>>()?,
            span,
            also: words(also)?,
            without: words(without)?,
        })
    }

    /// Returns the words that a match needs, and those that it must not have.
    pub(crate) fn words(&self, near: &NearMatcher) -> [Option<&ShortRegex>; 2] {
        [near.also, near.without].map(|index| Some(&self.words.get(index?)?.1))
    }
}
