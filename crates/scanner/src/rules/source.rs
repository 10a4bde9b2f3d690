//! The serde form of a rule file.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::{Check, KeyCheck};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileSource {
    pub(crate) version: u32,
    /// The references of rules that have none of their own.
    #[serde(default)]
    pub(crate) refs: Vec<String>,
    /// The reason why rules without a CWE number have none.
    #[serde(default, rename = "no-cwe")]
    pub(crate) no_cwe: Option<String>,
    #[serde(default)]
    pub(crate) rule: Vec<Spanned<RuleSource>>,
}

/// Parts of patterns that several rules share.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListsSource {
    #[serde(rename = "version")]
    _version: u32,
    lists: BTreeMap<String, String>,
}

impl ListsSource {
    /// Returns the text of a rule file with each `{{name}}` replaced. An unknown name remains, and is not a pattern.
    pub(crate) fn expanded(&self, text: &str) -> String {
        let replace =
            |text: String, (name, list): (&String, &String)| text.replace(&format!("{{{{{name}}}}}"), list);
        self.lists.iter().fold(text.to_owned(), replace)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleSource {
    pub(crate) id: Spanned<String>,
    pub(crate) title: String,
    pub(crate) langs: Vec<String>,
    pub(crate) severity: SeveritySource,
    /// The behaviors that a match shows.
    #[serde(default)]
    pub(crate) behavior: Vec<String>,
    #[serde(default)]
    pub(crate) class: RuleClass,
    /// Rules that must match in the same file too; `a|b` is an alternative.
    #[serde(default)]
    pub(crate) needs: Vec<String>,
    pub(crate) why: String,
    pub(crate) fix: String,
    #[serde(default)]
    pub(crate) refs: Vec<String>,
    #[serde(default)]
    pub(crate) slow: bool,
    #[serde(rename = "match")]
    pub(crate) matches: Vec<Spanned<MatchSource>>,
    #[serde(default)]
    pub(crate) bad: Vec<CaseSource>,
    #[serde(default)]
    pub(crate) good: Vec<CaseSource>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SeveritySource {
    #[serde(rename = "strict-plugin")]
    pub(crate) strict_plugin: Level,
    pub(crate) general: Level,
}

/// The class of a rule, which decides how the role of a file limits its severity.
#[derive(Debug, Deserialize, Clone, Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RuleClass {
    /// One operation: full severity in executed code, at most suspicious elsewhere.
    #[default]
    Single,
    /// Data or code that moves from one place to another: full severity also in code that runs on request.
    Flow,
    /// An instruction to a model, or text hidden from people: full severity in text that a model reads.
    Instruction,
    /// A limit of the scan itself: at most suspicious, and only in code that runs.
    Limit,
    /// A fact about a file or its bytes, whatever runs it: full severity wherever the file counts.
    File,
}

#[derive(Debug, Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    Danger,
    Warning,
    Info,
    Off,
}

/// A condition on the first argument of a call.
#[derive(Debug, Deserialize, Clone, Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Arg0 {
    /// No condition.
    #[default]
    Any,
    /// One constant text.
    Literal,
    /// A text, or something joined with one.
    Text,
    /// Anything but a constant text.
    Computed,
}

/// One match of a rule. Its `kind` determines the fields; a field of another kind is an error.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum MatchSource {
    Bytes {
        #[serde(default)]
        langs: Vec<String>,
        pattern: String,
        #[serde(default)]
        profiles: Vec<String>,
        #[serde(default)]
        check: Option<Check>,
    },
    Text {
        #[serde(default)]
        langs: Vec<String>,
        pattern: String,
        within: Vec<String>,
        #[serde(default)]
        roles: Vec<String>,
        #[serde(default)]
        profiles: Vec<String>,
    },
    Code {
        #[serde(default)]
        langs: Vec<String>,
        pattern: String,
        #[serde(default)]
        profiles: Vec<String>,
    },
    Call(NameSource),
    Member(NameSource),
    Assign(NameSource),
    Module {
        #[serde(default)]
        langs: Vec<String>,
        names: Vec<String>,
        #[serde(default)]
        profiles: Vec<String>,
    },
    Command {
        #[serde(default)]
        langs: Vec<String>,
        #[serde(default)]
        program: Vec<String>,
        #[serde(default)]
        args: String,
        #[serde(default)]
        piped_from: Vec<String>,
        /// Programs none of which may feed it.
        #[serde(default)]
        not_piped_from: Vec<String>,
        #[serde(default)]
        redirect: String,
        /// Files to which it applies; empty for all.
        #[serde(default)]
        files: Vec<String>,
        /// An additional check of the arguments: see `KeyCheck`.
        #[serde(default)]
        check: Option<KeyCheck>,
        #[serde(default)]
        profiles: Vec<String>,
    },
    Key {
        #[serde(default)]
        langs: Vec<String>,
        #[serde(default)]
        files: Vec<String>,
        path: String,
        #[serde(default)]
        value: String,
        /// An additional check of the value: see `KeyCheck`.
        #[serde(default)]
        check: Option<KeyCheck>,
        #[serde(default)]
        roles: Vec<String>,
        #[serde(default)]
        profiles: Vec<String>,
    },
    /// Several parts of `rules/parts.toml` in one section.
    Near {
        #[serde(default)]
        langs: Vec<String>,
        parts: Vec<String>,
        span: usize,
        /// Words of which the text needs one.
        #[serde(default)]
        also: String,
        /// Words of which the text has none.
        #[serde(default)]
        without: String,
        #[serde(default)]
        profiles: Vec<String>,
    },
    Shape {
        #[serde(default)]
        langs: Vec<String>,
        name: String,
        #[serde(default)]
        profiles: Vec<String>,
    },
}

impl MatchSource {
    /// Returns the languages to which the match applies; empty for those of its rule.
    pub(crate) fn langs(&self) -> &[String] {
        match self {
            Self::Call(names) | Self::Member(names) | Self::Assign(names) => &names.langs,
            Self::Bytes { langs, .. }
            | Self::Text { langs, .. }
            | Self::Code { langs, .. }
            | Self::Module { langs, .. }
            | Self::Command { langs, .. }
            | Self::Key { langs, .. }
            | Self::Near { langs, .. }
            | Self::Shape { langs, .. } => langs,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NameSource {
    #[serde(default)]
    pub(crate) langs: Vec<String>,
    pub(crate) names: Vec<String>,
    #[serde(default)]
    pub(crate) arg0: Arg0,
    /// A pattern for the constant arguments, joined by blanks.
    #[serde(default)]
    pub(crate) argv: String,
    /// An additional check of the constant arguments: see `KeyCheck`.
    #[serde(default)]
    pub(crate) check: Option<KeyCheck>,
    /// Whether a declaration of the name in the file disables the rule.
    #[serde(default)]
    pub(crate) declared: Declared,
    /// Roles of files to which it applies; empty for all.
    #[serde(default)]
    pub(crate) roles: Vec<String>,
    #[serde(default)]
    pub(crate) profiles: Vec<String>,
}

/// The meaning of a declaration of the same name around the use.
#[derive(Debug, Deserialize, Clone, Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Declared {
    /// The declaration is the same object, so the rule applies.
    #[default]
    Same,
    /// The declaration is a different object, so the rule does not apply.
    Own,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CaseSource {
    #[serde(default)]
    pub(crate) path: String,
    #[serde(default)]
    pub(crate) text: String,
    /// Bytes as hex digits, for what TOML text cannot hold.
    #[serde(default)]
    pub(crate) hex: String,
    #[serde(default)]
    pub(crate) files: Vec<[String; 2]>,
    #[serde(default)]
    pub(crate) role: String,
    #[serde(default)]
    pub(crate) with: Vec<String>,
}
