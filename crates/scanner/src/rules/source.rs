//! The text form of a rule file, as serde reads it.

use serde::Deserialize;
use toml::Spanned;

use super::{Check, KeyCheck};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileSource {
    pub(crate) version: u32,
    #[serde(default)]
    pub(crate) rule: Vec<Spanned<RuleSource>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleSource {
    pub(crate) id: Spanned<String>,
    pub(crate) title: String,
    pub(crate) langs: Vec<String>,
    pub(crate) severity: SeveritySource,
    /// What a match shows the plugin to do.
    #[serde(default)]
    pub(crate) behavior: Vec<String>,
    #[serde(default)]
    pub(crate) class: RuleClass,
    /// Rules that have to match in the same file too; `a|b` stands for one of them.
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

/// What a rule is about, which decides how much the role of a file counts.
#[derive(Debug, Deserialize, Clone, Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RuleClass {
    /// One operation: full weight in executed code, suspicious at most elsewhere.
    #[default]
    Single,
    /// Data or code on its way from one place to another: full weight also in code that runs on request.
    Flow,
    /// An instruction to a model, or text hidden from people: full weight in what a model reads.
    Instruction,
    /// A limit of the scan itself: suspicious at most, and only in code that runs.
    Limit,
    /// A fact about a file or its bytes, whatever runs it: full weight wherever the file counts.
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

/// What the first argument of a call has to be.
#[derive(Debug, Deserialize, Clone, Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Arg0 {
    /// Nothing is asked.
    #[default]
    Any,
    /// One constant text.
    Literal,
    /// A text, or something joined with one.
    Text,
    /// Anything but a constant text.
    Computed,
}

/// The `kind` chooses the fields; a field of another kind is an error.
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
        /// Programs of which none may feed it.
        #[serde(default)]
        not_piped_from: Vec<String>,
        #[serde(default)]
        redirect: String,
        /// Files that it looks at; all where there are none.
        #[serde(default)]
        files: Vec<String>,
        /// What else the arguments have to be: see `KeyCheck`.
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
        /// What else the value has to be: see `KeyCheck`.
        #[serde(default)]
        check: Option<KeyCheck>,
        #[serde(default)]
        roles: Vec<String>,
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
    /// Gives the languages that the match looks at; none stands for those of its rule.
    pub(crate) fn langs(&self) -> &[String] {
        match self {
            Self::Call(names) | Self::Member(names) | Self::Assign(names) => &names.langs,
            Self::Bytes { langs, .. }
            | Self::Text { langs, .. }
            | Self::Code { langs, .. }
            | Self::Module { langs, .. }
            | Self::Command { langs, .. }
            | Self::Key { langs, .. }
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
    /// A pattern that the constant arguments, joined by blanks, have to hold.
    #[serde(default)]
    pub(crate) argv: String,
    /// What else the constant arguments have to be: see `KeyCheck`.
    #[serde(default)]
    pub(crate) check: Option<KeyCheck>,
    /// Whether a name that the file itself declares around the use is left alone.
    #[serde(default)]
    pub(crate) declared: Declared,
    /// Roles of files that it looks at; all where there are none.
    #[serde(default)]
    pub(crate) roles: Vec<String>,
    #[serde(default)]
    pub(crate) profiles: Vec<String>,
}

/// What a declaration of the same name around the use means.
#[derive(Debug, Deserialize, Clone, Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Declared {
    /// It is the same name: the rule holds.
    #[default]
    Same,
    /// It is the file's own name: the rule does not hold.
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
