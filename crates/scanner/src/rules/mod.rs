//! Rules: patterns with severities, explanations and test cases.

pub(crate) mod keys;
pub(crate) mod names;
pub(crate) mod near;
pub(crate) mod secret;
pub(crate) mod shapes;

mod check;
mod commands;
mod compile;
mod load;
mod source;
mod taxonomy;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use plugward_types::{Behavior, Digest, RuleId, Severity};
use serde::Deserialize;

use crate::Profile;
use crate::analysis::Watched;
use crate::engine::{Compiled, PatternSet, ShortRegex};
use crate::known::calls::Calls;
use crate::lex::data::{KeyIndex, KeyPattern};
use crate::rules::names::{Names, Words};
use crate::scan::entry::FileKind;
use crate::{RuleError, text::Within};

pub use check::SelfCheck;
pub(crate) use commands::{CommandMatcher, CommandTable};
pub(crate) use source::{Arg0, Declared, RuleClass};
pub use taxonomy::Taxonomy;

/// A user's rule file.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a name and its text")]
pub struct RuleFile<'a> {
    /// The name of the file in errors.
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
    pub(crate) no_cwe: Option<String>,
    pub(crate) langs: Vec<String>,
    pub(crate) severity: [Option<Severity>; 2],
    pub(crate) behaviors: Vec<Behavior>,
    pub(crate) class: RuleClass,
    /// Rules that must match in the same file too; `a|b` is an alternative.
    pub(crate) needs: Vec<String>,
}

impl Rule {
    /// Returns the stable id.
    #[must_use]
    pub const fn id(&self) -> &RuleId {
        &self.id
    }

    /// Returns one line that describes the match.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns the risk.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }

    /// Returns the advice for the plugin's author.
    #[must_use]
    pub fn fix(&self) -> &str {
        &self.fix
    }

    /// Returns references such as `CWE-95`. Those of a built-in rule are entries of a [`Taxonomy`].
    #[must_use]
    pub fn refs(&self) -> &[String] {
        &self.refs
    }

    /// Returns the reason why no CWE number is among the references, if the rule file has one.
    #[must_use]
    pub fn no_cwe(&self) -> Option<&str> {
        self.no_cwe.as_deref().filter(|_| !self.refs.iter().any(|id| id.starts_with("CWE-")))
    }

    /// Returns the languages to which it applies; `all` means every file.
    #[must_use]
    pub fn langs(&self) -> &[String] {
        &self.langs
    }

    /// Returns the behaviors that a match shows.
    #[must_use]
    pub fn behaviors(&self) -> &[Behavior] {
        &self.behaviors
    }

    /// Returns its severity in a profile; `None` if it is off.
    #[must_use]
    pub fn severity(&self, profile: Profile) -> Option<Severity> {
        match profile {
            Profile::StrictPlugin => self.severity[0],
            Profile::General => self.severity[1],
        }
    }
}

/// A file that tests a rule.
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
    pub(crate) role: Option<FileKind>,
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

/// The lens bit of files that no lens reads, for sets of languages.
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
    Near(near::NearMatcher),
    Shape,
}

/// An additional check of a match of a `bytes` pattern. It sees only the match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Check {
    /// A token of varied characters, neither a placeholder nor a published example.
    Secret,
    /// A base64 part that decodes to the head of a JSON web token.
    Jwt,
    /// A user name and password that are not placeholders.
    Password,
    /// A URL with a public IP address.
    Address,
    /// A URL of a host that is neither an official package index nor loopback.
    Index,
    /// A URL of a host that is neither a model vendor nor loopback.
    ModelHost,
    /// A text that is not in a comment that begins its line.
    Uncommented,
    /// The same, and not on a line of prose in a text between triple quotes, such as a Python docstring.
    Undocumented,
    /// A setting in a file that does not leave its value to the user: a constant, or one for all projects.
    Chosen,
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

/// An additional check of the value of a `key` rule. It sees only the key and value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum KeyCheck {
    /// A path that leaves the plugin, resolved against the file.
    Outside,
    /// A URL whose host is neither an official package index nor this machine.
    ForeignIndex,
    /// A URL whose host is neither a model vendor's nor this machine.
    ForeignApi,
    /// A script, except known tools that only set up the author's own checkout.
    Script,
    /// A program, except switches and well-known programs.
    Program,
    /// The value of a variable that loads code: not empty, not in the plugin's own directory, not a harmless option.
    Hijack,
    /// A text that names a file of keys or tokens, except the public half of a key.
    KeyFile,
    /// A text with a public IP address.
    Address,
    /// A command of a task, except compilers and test runners of the project.
    Task,
}

/// The compiled table of rules.
///
/// # Guarantees
///
/// Either all rules are loaded, or none: one faulty rule refuses its whole file.
#[derive(Debug)]
pub struct Rules {
    pub(crate) table: Vec<Rule>,
    pub(crate) matchers: Vec<Matcher>,
    pub(crate) js: Names,
    pub(crate) js_watched: Watched,
    pub(crate) js_calls: Calls,
    pub(crate) py: Names,
    pub(crate) py_watched: Watched,
    pub(crate) py_calls: Calls,
    pub(crate) rs: Names,
    /// Names of keys in `key` rules.
    pub(crate) data: Words,
    pub(crate) bytes: PatternSet,
    pub(crate) text: PatternSet,
    /// Patterns of kind `text` that apply only to hidden text.
    pub(crate) hidden: PatternSet,
    pub(crate) code: PatternSet,
    pub(crate) parts: near::Parts,
    /// Matchers of kind `near`.
    pub(crate) near: Vec<u16>,
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
    /// Returns the built-in table, which is built once per process.
    ///
    /// # Panics
    ///
    /// If the table of this crate does not compile. The crate's tests load it.
    #[must_use]
    #[expect(clippy::expect_used, reason = "the rule files are part of the crate, and a test loads them")]
    pub fn builtin() -> &'static Self {
        static TABLE: OnceLock<Rules> = OnceLock::new();
        TABLE.get_or_init(|| load::load(&[], Compiled::ByTests).expect("the built-in rules load"))
    }

    /// Loads the built-in rules and the `local/…` rules of the user's files.
    ///
    /// # Errors
    ///
    /// Any `rules/*` code except `rules/dead` and `rules/eager`, which [`Rules::self_check`] returns.
    pub fn with(files: &[RuleFile<'_>]) -> Result<Self, RuleError> {
        load::load(files, Compiled::ByLoader)
    }

    /// Returns the digest of all loaded rules in canonical form.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns the rules in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.table.iter()
    }

    /// Returns the rule of an id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Rule> {
        let at = self.table.binary_search_by(|rule| rule.id.as_str().cmp(id)).ok()?;
        self.table.get(at)
    }

    /// Runs every case of every rule in both profiles.
    ///
    /// # Errors
    ///
    /// `rules/dead` for a bad case that does not match exactly its rules, `rules/eager` for a good case that matches.
    pub fn self_check(&self) -> Result<SelfCheck, RuleError> {
        check::self_check(self)
    }

    /// Does the same, and returns every case that fails.
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

    /// Returns the cases of all rules in the order of the rules.
    pub(crate) fn cases(&self) -> &[Cases] {
        &self.cases
    }

    pub(crate) fn matcher(&self, index: u16) -> Option<&Matcher> {
        self.matchers.get(usize::from(index))
    }

    /// Returns `true` if a matcher's rule is about instructions to a model.
    pub(crate) fn is_prompt(&self, matcher: &Matcher) -> bool {
        self.table.get(usize::from(matcher.rule)).is_some_and(|rule| rule.id.family() == "prompt")
    }

    /// Returns `true` if a negation reverses the meaning of the text that a matcher's rule looks for.
    pub(crate) fn may_be_negated(&self, matcher: &Matcher) -> bool {
        // Hidden text is suspicious even if it is negated.
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
