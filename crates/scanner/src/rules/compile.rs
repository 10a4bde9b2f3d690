//! Compilation of rules to tables: name trees, pattern sets, lists of matchers.

use plugward_readers::Language;

use crate::analysis::Watched;
use std::collections::BTreeMap;

use plugward_types::Digest;
use sha2::{Digest as _, Sha256};

use super::commands::CommandTable;
use super::load::CheckedRule;
use super::near::{self, Parts};
use super::source::{Arg0, MatchSource, NameSource};
use super::{Cases, KeyMatcher, Matcher, MatcherKind, NO_LENS, Rule, Rules, set, within_bit};
use crate::Profile;
use crate::RuleError;
use crate::engine::{Compiled, Pattern, PatternSet, ShortRegex, Speed};
use crate::known::calls::{Calls, TABLE};
use crate::lex::data::{KeyIndex, KeyPattern};
use crate::rules::names::{Names, Words};
use crate::rules::shapes::SHAPES;
use crate::scan::entry::{FileKind, Lens};
use crate::scan::error::RuleErrorKind;
use crate::text::Within;

/// Compiles parsed rules.
pub(super) fn compile(all: Vec<CheckedRule<'_>>, compiled: Compiled) -> Result<Rules, RuleError> {
    let parts = Parts::builtin(compiled).map_err(|kind| RuleError::new("parts.toml", None, kind))?;
    let mut builder = Builder::new(compiled, parts);
    let digest = digest(&all);
    let (mut rules, mut stored) = (Vec::new(), Vec::new());
    for (read, index) in all.into_iter().zip(0_u16..) {
        let CheckedRule { rule, cases, speed, matches, place } = read;
        let error = |kind| place.error(rule.id.as_str(), kind);
        let langs = languages(&rule.langs).map_err(error)?;
        if matches.is_empty() {
            return Err(error(RuleErrorKind::Parse("a rule needs a match".to_owned())));
        }
        for found in matches {
            let langs = narrowed(langs, found.langs()).map_err(error)?;
            builder.add(index, langs, speed, found).map_err(error)?;
        }
        rules.push(rule);
        stored.push(cases);
    }
    let calls = |language| {
        Calls::builtin(language)
            .map_err(|error| RuleError::new("calls.toml", None, RuleErrorKind::Parse(error)))
    };
    let calls = [calls(Language::JavaScript)?, calls(Language::Python)?];
    Ok(builder.finish(rules, stored, calls, digest))
}

/// Returns the digest of rules in canonical form. Each field has a length prefix, so that different rules never have the
/// same canonical form.
fn digest(all: &[CheckedRule<'_>]) -> Digest {
    let mut hasher = Sha256::new();
    let mut field = |text: &str| {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    field(TABLE);
    field(near::TABLE);
    for CheckedRule { rule, matches, .. } in all {
        field(rule.id.as_str());
        for text in [&rule.title, &rule.why, &rule.fix] {
            field(text);
        }
        field(&format!("{:?} {:?} {:?}", rule.severity, rule.behaviors, rule.class));
        field(&rule.langs.join(" "));
        for found in matches {
            field(&format!("{found:?}"));
        }
    }
    Digest::from_bytes(hasher.finalize().into())
}

fn languages(names: &[String]) -> Result<u8, RuleErrorKind> {
    let mut bits = 0;
    for name in names {
        bits |= match name.as_str() {
            "all" => 0xFF,
            other => Lens::from_name(other)
                .map(Lens::bit)
                .ok_or_else(|| RuleErrorKind::Parse(format!("{other:?} is not a language")))?,
        };
    }
    if bits == 0 { Err(RuleErrorKind::Parse("a rule needs a language".to_owned())) } else { Ok(bits) }
}

/// Returns the languages of a match, which can be a subset of its rule's languages.
fn narrowed(rule: u8, own: &[String]) -> Result<u8, RuleErrorKind> {
    if own.is_empty() {
        return Ok(rule);
    }
    let own = languages(own)?;
    if own & !rule == 0 {
        Ok(own)
    } else {
        Err(RuleErrorKind::Parse("a match looks at a language that its rule does not name".to_owned()))
    }
}

fn profile_bits(names: &[String]) -> Result<u8, RuleErrorKind> {
    if names.is_empty() {
        return Ok(3);
    }
    names.iter().try_fold(0, |bits, name| {
        let profile = Profile::from_name(name)
            .ok_or_else(|| RuleErrorKind::Parse(format!("{name:?} is not a profile")))?;
        Ok(bits | crate::scan::options::profile_bit(profile))
    })
}

struct Builder {
    compiled: Compiled,
    matchers: Vec<Matcher>,
    js: Names,
    py: Names,
    rs: Names,
    data: Words,
    bytes: PatternSet,
    text: PatternSet,
    hidden: PatternSet,
    code: PatternSet,
    parts: Parts,
    near: Vec<u16>,
    modules: Vec<u16>,
    commands: CommandTable,
    keys: Vec<u16>,
    key_index: KeyIndex,
    shapes: BTreeMap<&'static str, Vec<u16>>,
}

#[derive(Clone, Copy)]
enum NameKind {
    Call,
    Member,
    Assign,
}

impl Builder {
    fn new(compiled: Compiled, parts: Parts) -> Self {
        Self {
            compiled,
            matchers: Vec::new(),
            js: crate::lex::js::names(),
            py: crate::lex::py::names(),
            rs: crate::lex::rs::names(),
            data: Words::new(),
            bytes: PatternSet::default(),
            text: PatternSet::default(),
            hidden: PatternSet::default(),
            code: PatternSet::default(),
            parts,
            near: Vec::new(),
            modules: Vec::new(),
            commands: CommandTable::new(),
            keys: Vec::new(),
            key_index: KeyIndex::default(),
            shapes: BTreeMap::new(),
        }
    }

    fn next(&self) -> Result<u16, RuleErrorKind> {
        u16::try_from(self.matchers.len())
            .map_err(|_too_many| RuleErrorKind::TooLarge("more than 65,535 matches".to_owned()))
    }

    fn push(&mut self, rule: u16, langs: u8, profiles: u8, kind: MatcherKind) {
        self.matchers.push(Matcher { rule, profiles, langs, kind });
    }

    fn add(&mut self, rule: u16, langs: u8, speed: Speed, found: MatchSource) -> Result<(), RuleErrorKind> {
        let matcher = self.next()?;
        let compiled = self.compiled;
        let pattern = |source: String| {
            let pattern = Pattern::new(matcher, langs, source);
            if compiled == Compiled::ByLoader {
                pattern.check(speed)?;
            }
            Ok(pattern)
        };
        match found {
            MatchSource::Bytes { pattern: source, profiles, check, .. } => {
                self.bytes.patterns.push(pattern(source)?);
                self.push(rule, langs, profile_bits(&profiles)?, MatcherKind::Bytes { check });
            }
            MatchSource::Text { pattern: source, within, roles, profiles, .. } => {
                let pattern = pattern(source)?;
                let within = within_bits(&within)?;
                let set = if within == Within::Hidden.bit() { &mut self.hidden } else { &mut self.text };
                set.patterns.push(pattern);
                let kind = MatcherKind::Text { within, roles: role_bits(&roles)? };
                self.push(rule, langs, profile_bits(&profiles)?, kind);
            }
            MatchSource::Code { pattern: source, profiles, .. } => {
                self.code.patterns.push(pattern(source)?);
                self.push(rule, langs, profile_bits(&profiles)?, MatcherKind::Code);
            }
            MatchSource::Call(names) => self.add_names(rule, langs, NameKind::Call, &names)?,
            MatchSource::Member(names) => self.add_names(rule, langs, NameKind::Member, &names)?,
            MatchSource::Assign(names) => self.add_names(rule, langs, NameKind::Assign, &names)?,
            MatchSource::Module { names, profiles, .. } => {
                let (sets, names) = split_sets(names)?;
                self.modules.push(matcher);
                self.push(rule, langs, profile_bits(&profiles)?, MatcherKind::Module { names, sets });
            }
            ref source @ MatchSource::Command { ref profiles, .. } => {
                let kind = self.commands.add(matcher, source, self.compiled)?;
                self.push(rule, langs, profile_bits(profiles)?, MatcherKind::Command(kind));
            }
            MatchSource::Key { files, path, value, check, roles, profiles, .. } => {
                self.keys.push(matcher);
                let path = KeyPattern::parse(&path);
                self.key_index.add(&path, matcher);
                for name in path.names() {
                    self.data.intern(name);
                }
                let value = optional_regex(&value, self.compiled)?;
                let kind = KeyMatcher { files, path, value, check, roles: role_bits(&roles)? };
                self.push(rule, langs, profile_bits(&profiles)?, MatcherKind::Key(kind));
            }
            MatchSource::Near { parts, span, also, without, profiles, .. } => {
                let kind = self.parts.matcher(&parts, span, &also, &without)?;
                self.near.push(matcher);
                self.push(rule, langs, profile_bits(&profiles)?, MatcherKind::Near(kind));
            }
            MatchSource::Shape { name, profiles, .. } => {
                let known = SHAPES.iter().find(|shape| **shape == name);
                let known = known.ok_or_else(|| {
                    RuleErrorKind::Parse(format!("{name:?} is not a detector of this version"))
                })?;
                self.shapes.entry(known).or_default().push(matcher);
                self.push(rule, langs, profile_bits(&profiles)?, MatcherKind::Shape);
            }
        }
        Ok(())
    }

    fn add_names(
        &mut self,
        rule: u16,
        langs: u8,
        kind: NameKind,
        source: &NameSource,
    ) -> Result<(), RuleErrorKind> {
        let matcher = self.next()?;
        for name in &source.names {
            for (lens, names) in
                [(Lens::Js, &mut self.js), (Lens::Py, &mut self.py), (Lens::Rs, &mut self.rs)]
            {
                if langs & lens.bit() == 0 {
                    continue;
                }
                let node = names.intern(name);
                let data = names.node_mut(node).filter(|_| node != 0);
                let data = data.ok_or_else(|| RuleErrorKind::TooLarge("too many names".to_owned()))?;
                match kind {
                    NameKind::Call => data.call.push(matcher),
                    NameKind::Member => data.member.push(matcher),
                    NameKind::Assign => data.assign.push(matcher),
                }
            }
        }
        if langs & NO_LENS != 0 || (source.arg0 != Arg0::Any && !matches!(kind, NameKind::Call)) {
            return Err(RuleErrorKind::Parse("names need languages, and arg0 needs a call".to_owned()));
        }
        let argv = optional_regex(&source.argv, self.compiled)?.map(Box::new);
        let kind = MatcherKind::Name {
            arg0: source.arg0,
            argv,
            declared: source.declared,
            roles: role_bits(&source.roles)?,
            check: source.check,
        };
        self.push(rule, langs, profile_bits(&source.profiles)?, kind);
        Ok(())
    }

    fn finish(mut self, rules: Vec<Rule>, cases: Vec<Cases>, calls: [Calls; 2], digest: Digest) -> Rules {
        let [js_calls, py_calls] = calls;
        self.js.spread();
        let js_watched = Watched::new(&self.js, Language::JavaScript);
        let py_watched = Watched::new(&self.py, Language::Python);
        Rules {
            js_watched,
            py_watched,
            js_calls,
            py_calls,
            table: rules,
            matchers: self.matchers,
            js: self.js,
            py: self.py,
            rs: self.rs,
            data: self.data,
            bytes: self.bytes,
            text: self.text,
            hidden: self.hidden,
            code: self.code,
            parts: self.parts,
            near: self.near,
            modules: self.modules,
            commands: self.commands,
            keys: self.keys,
            key_index: self.key_index,
            shapes: self.shapes,
            cases,
            digest,
        }
    }
}

pub(super) fn optional_regex(text: &str, compiled: Compiled) -> Result<Option<ShortRegex>, RuleErrorKind> {
    if text.is_empty() { Ok(None) } else { ShortRegex::new(text.to_owned(), compiled).map(Some) }
}

fn within_bits(names: &[String]) -> Result<u8, RuleErrorKind> {
    names.iter().try_fold(0, |bits, name| {
        let bit = within_bit(name);
        bit.map(|bit| bits | bit)
            .ok_or_else(|| RuleErrorKind::Parse(format!("{name:?} is not a kind of text")))
    })
}

fn role_bits(names: &[String]) -> Result<u8, RuleErrorKind> {
    if names.is_empty() {
        return Ok(0xFF);
    }
    names.iter().try_fold(0, |bits, name| Ok(bits | role(name)?.bit()))
}

pub(super) fn role(name: &str) -> Result<FileKind, RuleErrorKind> {
    let mut roles =
        [FileKind::Other, FileKind::Doc, FileKind::Manifest, FileKind::Build, FileKind::Prompt].into_iter();
    roles
        .find(|role| role.as_str() == name)
        .ok_or_else(|| RuleErrorKind::Parse(format!("{name:?} is not a role")))
}

fn split_sets(all: Vec<String>) -> Result<(u8, Vec<String>), RuleErrorKind> {
    let mut bits = 0;
    let mut names = Vec::new();
    for name in all {
        bits |= match name.as_str() {
            "@external" => set::EXTERNAL,
            "@remote" => set::REMOTE,
            "@outside" => set::OUTSIDE,
            "@native" => set::NATIVE,
            "@computed" => set::COMPUTED,
            other if other.starts_with('@') && !other.contains('/') => {
                return Err(RuleErrorKind::Parse(format!("{other:?} is not a set of modules")));
            }
            _ => {
                names.push(name);
                0
            }
        };
    }
    names.sort();
    Ok((bits, names))
}
