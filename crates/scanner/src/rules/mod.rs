//! Rules: what is looked for, how much it weighs, why, and the cases that prove it alive.

mod check;
mod commands;
mod compile;
mod load;
mod source;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use plugward_types::{Behavior, Digest, RuleId, Severity};
use serde::Deserialize;

use crate::analysis::Watched;
use crate::engine::{Compiled, PatternSet, ShortRegex};
use crate::entry::Role;
use crate::lex::data::{KeyIndex, KeyPattern};
use crate::names::{Names, Words};
use crate::options::Profile;
use crate::{RuleError, text::Within};

pub use check::SelfCheck;
pub(crate) use commands::{CommandMatcher, CommandTable};
pub(crate) use source::{Arg0, Declared, RuleClass};

/// A rule file of the user's own.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a name and its text")]
pub struct RuleFile<'a> {
    /// What errors call it.
    pub name: &'a str,
    /// Its TOML text.
    pub text: &'a str,
}

/// One rule.
#[derive(Debug, Clone)]
pub struct Rule {
    pub(crate) id: RuleId,
    pub(crate) title: String,
    pub(crate) why: String,
    pub(crate) fix: String,
    pub(crate) refs: Vec<String>,
    pub(crate) langs: Vec<String>,
    pub(crate) severity: [Option<Severity>; 2],
    pub(crate) behaviors: Vec<Behavior>,
    pub(crate) class: RuleClass,
    /// Rules that have to match in the same file too; `a|b` stands for one of them.
    pub(crate) needs: Vec<String>,
}

impl Rule {
    /// Gives the stable id.
    #[must_use]
    pub const fn id(&self) -> &RuleId {
        &self.id
    }

    /// Gives one line that says what was found.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Gives why it matters.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }

    /// Gives what an author does about it.
    #[must_use]
    pub fn fix(&self) -> &str {
        &self.fix
    }

    /// Gives references such as `CWE-95`.
    #[must_use]
    pub fn refs(&self) -> &[String] {
        &self.refs
    }

    /// Gives the languages it looks at; `all` stands for every file.
    #[must_use]
    pub fn langs(&self) -> &[String] {
        &self.langs
    }

    /// Returns what a match of the rule shows the plugin to do.
    #[must_use]
    pub fn behaviors(&self) -> &[Behavior] {
        &self.behaviors
    }

    /// Gives its weight in a profile; `None` where it is off.
    #[must_use]
    pub fn severity(&self, profile: Profile) -> Option<Severity> {
        match profile {
            Profile::StrictPlugin => self.severity[0],
            Profile::General => self.severity[1],
        }
    }
}

/// A file on which a rule is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleExample<'a> {
    /// The path inside the plugin.
    pub path: &'a str,
    /// The content.
    pub text: &'a str,
}

/// A bad or good case.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) files: Vec<(String, Vec<u8>)>,
    pub(crate) role: Option<Role>,
    pub(crate) with: Vec<String>,
}

impl Case {
    /// Returns the file of a case that is one text file.
    fn example(&self) -> Option<RuleExample<'_>> {
        let [(path, bytes)] = self.files.as_slice() else { return None };
        let text = core::str::from_utf8(bytes).ok()?;
        Some(RuleExample { path, text })
    }
}

/// The cases of one rule.
#[derive(Debug, Clone)]
pub(crate) struct Cases {
    pub(crate) bad: Vec<Case>,
    pub(crate) good: Vec<Case>,
}

/// Languages that a rule looks at: lens bits, and one bit for files that no lens reads.
pub(crate) const NO_LENS: u8 = 128;

/// One way to match a rule.
#[derive(Debug)]
pub(crate) struct Matcher {
    pub(crate) rule: u16,
    pub(crate) profiles: u8,
    pub(crate) langs: u8,
    pub(crate) kind: MatcherKind,
}

#[derive(Debug)]
pub(crate) enum MatcherKind {
    Bytes { check: Option<Check> },
    Text { within: u8, roles: u8 },
    Code,
    Name { arg0: Arg0, argv: Option<Box<ShortRegex>>, declared: Declared, roles: u8, check: Option<KeyCheck> },
    Module { names: Vec<String>, sets: u8 },
    Command(CommandMatcher),
    Key(KeyMatcher),
    Shape,
}

/// What else a match of a `bytes` pattern has to be, looked at in the match alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Check {
    /// A token of varied characters that is no placeholder and no published example.
    Secret,
    /// A base64 part that decodes to the head of a JSON web token.
    Jwt,
    /// A user and password that are no placeholders.
    Password,
    /// A URL with a literal address of the public net.
    Address,
    /// A URL of a host that is no official index of packages and no loopback.
    Index,
    /// A URL of a host that is no vendor of models and no loopback.
    ModelHost,
}

/// Sets of module specifiers, as bits.
pub(crate) mod set {
    pub(crate) const EXTERNAL: u8 = 1;
    pub(crate) const REMOTE: u8 = 2;
    pub(crate) const OUTSIDE: u8 = 4;
    pub(crate) const NATIVE: u8 = 8;
    pub(crate) const COMPUTED: u8 = 16;
}

#[derive(Debug)]
pub(crate) struct KeyMatcher {
    pub(crate) files: Vec<String>,
    pub(crate) path: KeyPattern,
    pub(crate) value: Option<ShortRegex>,
    pub(crate) check: Option<KeyCheck>,
    pub(crate) roles: u8,
}

/// What else the value of a `key` rule has to be, looked at in the key and value alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum KeyCheck {
    /// A path that leaves the plugin, seen from the file.
    Outside,
    /// A URL whose host is neither an official package index nor this machine.
    ForeignIndex,
    /// A URL whose host is neither a model vendor's nor this machine.
    ForeignApi,
    /// A script that is no known tool which only sets up the author's own checkout.
    Script,
    /// A program, not a switch or a well-known one.
    Program,
    /// A variable's value that brings in code: not empty, not of the plugin's own folder, no harmless option.
    Hijack,
    /// A text that names a file of keys or tokens, not only the public half of a key.
    KeyFile,
    /// A text that has an address of the public net in numbers.
    Address,
}

/// The compiled table of rules.
///
/// # Guarantees
/// Every loaded rule is in force: a file with one bad rule loads nothing. It is `Send` and `Sync`.
#[derive(Debug)]
pub struct Rules {
    pub(crate) table: Vec<Rule>,
    pub(crate) matchers: Vec<Matcher>,
    pub(crate) js: Names,
    pub(crate) js_watched: Watched,
    pub(crate) py: Names,
    pub(crate) py_watched: Watched,
    pub(crate) rs: Names,
    /// Names of keys that `key` rules ask for.
    pub(crate) data: Words,
    pub(crate) bytes: PatternSet,
    pub(crate) text: PatternSet,
    /// Patterns of kind `text` that look at nothing but what is not shown.
    pub(crate) hidden: PatternSet,
    pub(crate) code: PatternSet,
    /// Matchers of kind `module` and `key`.
    pub(crate) modules: Vec<u16>,
    pub(crate) commands: CommandTable,
    pub(crate) keys: Vec<u16>,
    pub(crate) key_index: KeyIndex,
    /// Matchers of kind `shape`, by the detector's name.
    pub(crate) shapes: BTreeMap<&'static str, Vec<u16>>,
    /// The cases of each rule.
    cases: Vec<Cases>,
    digest: Digest,
}

impl Rules {
    /// Gives the built-in table, built once per process.
    ///
    /// # Panics
    /// Never with the table that this crate carries; its tests load it.
    #[must_use]
    #[expect(clippy::expect_used, reason = "the rule files are part of the crate, and a test loads them")]
    pub fn builtin() -> &'static Self {
        static TABLE: OnceLock<Rules> = OnceLock::new();
        TABLE.get_or_init(|| load::load(&[], Compiled::ByTests).expect("the built-in rules load"))
    }

    /// Loads the built-in rules and `local/…` rules from files of the user's own.
    ///
    /// # Errors
    /// Any `rules/*` code but `rules/dead` and `rules/eager`, which [`Rules::self_check`] gives.
    pub fn with(files: &[RuleFile<'_>]) -> Result<Self, RuleError> {
        load::load(files, Compiled::ByLoader)
    }

    /// Gives the digest of all loaded rules in canonical form.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// Gives the rules in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.table.iter()
    }

    /// Finds a rule by its id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Rule> {
        let at = self.table.binary_search_by(|rule| rule.id.as_str().cmp(id)).ok()?;
        self.table.get(at)
    }

    /// Runs every case of every rule in both profiles.
    ///
    /// # Errors
    /// `rules/dead` for a bad case that does not show exactly its rules, `rules/eager` for a good case that is found.
    pub fn self_check(&self) -> Result<SelfCheck, RuleError> {
        check::self_check(self)
    }

    /// Runs the same, and gives every case that fails; none where all hold.
    #[must_use]
    pub fn failing_cases(&self) -> Vec<RuleError> {
        check::failing_cases(self)
    }

    /// Returns text files in which a rule matches, from the cases that test it.
    pub fn bad_examples(&self, id: &str) -> impl Iterator<Item = RuleExample<'_>> {
        self.cases_of(id).into_iter().flat_map(|cases| &cases.bad).filter_map(Case::example)
    }

    /// Returns text files in which a rule does not match, from the cases that test it.
    pub fn good_examples(&self, id: &str) -> impl Iterator<Item = RuleExample<'_>> {
        self.cases_of(id).into_iter().flat_map(|cases| &cases.good).filter_map(Case::example)
    }

    fn cases_of(&self, id: &str) -> Option<&Cases> {
        let at = self.table.binary_search_by(|rule| rule.id.as_str().cmp(id)).ok()?;
        self.cases.get(at)
    }

    /// Gives the cases of all rules in the order of the rules.
    pub(crate) fn cases(&self) -> &[Cases] {
        &self.cases
    }

    pub(crate) fn matcher(&self, index: u16) -> Option<&Matcher> {
        self.matchers.get(usize::from(index))
    }

    /// Says whether a matcher's rule is about orders to a model.
    pub(crate) fn is_prompt(&self, matcher: &Matcher) -> bool {
        self.table.get(usize::from(matcher.rule)).is_some_and(|rule| rule.id.family() == "prompt")
    }

    /// Says whether a matcher's rule looks for an order that a negation makes the opposite of itself.
    pub(crate) fn may_be_negated(&self, matcher: &Matcher) -> bool {
        // Hidden text is hidden whatever it says.
        let rule = self.table.get(usize::from(matcher.rule));
        rule.is_some_and(|rule| rule.id.family() == "prompt" && rule.id.as_str() != "prompt/hidden-text")
    }

    pub(crate) fn shape(&self, name: &str) -> &[u16] {
        self.shapes.get(name).map_or(&[], Vec::as_slice)
    }
}

pub(crate) fn within_bit(name: &str) -> Option<u8> {
    Within::ALL.into_iter().find(|within| within.as_str() == name).map(Within::bit)
}
