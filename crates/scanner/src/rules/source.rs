//! The text form of a rule file, as serde reads it.

use std::borrow::Cow;

use serde::Deserialize;
use toml::Spanned;

/// A text of a rule: its own where a file of the user's was read, a part of the table for a built-in rule.
pub(crate) type Text = Cow<'static, str>;

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
    pub(crate) title: Text,
    pub(crate) langs: Vec<String>,
    pub(crate) severity: SeveritySource,
    pub(crate) why: Text,
    pub(crate) fix: Text,
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
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum MatchSource {
    Bytes {
        #[serde(default)]
        langs: Vec<Text>,
        pattern: Text,
        #[serde(default)]
        profiles: Vec<Text>,
        #[serde(default)]
        check: Text,
    },
    Text {
        #[serde(default)]
        langs: Vec<Text>,
        pattern: Text,
        within: Vec<Text>,
        #[serde(default)]
        roles: Vec<Text>,
        #[serde(default)]
        profiles: Vec<Text>,
    },
    Code {
        #[serde(default)]
        langs: Vec<Text>,
        pattern: Text,
        #[serde(default)]
        profiles: Vec<Text>,
    },
    Call(NameSource),
    Member(NameSource),
    Assign(NameSource),
    Module {
        #[serde(default)]
        langs: Vec<Text>,
        names: Vec<Text>,
        #[serde(default)]
        profiles: Vec<Text>,
    },
    Command {
        #[serde(default)]
        langs: Vec<Text>,
        #[serde(default)]
        program: Vec<Text>,
        #[serde(default)]
        args: Text,
        #[serde(default)]
        piped_from: Vec<Text>,
        #[serde(default)]
        redirect: Text,
        /// Files that it looks at; all where there are none.
        #[serde(default)]
        files: Vec<Text>,
        /// What else the arguments have to be: see `KeyCheck`.
        #[serde(default)]
        check: Text,
        #[serde(default)]
        profiles: Vec<Text>,
    },
    Key {
        #[serde(default)]
        langs: Vec<Text>,
        #[serde(default)]
        files: Vec<Text>,
        path: Text,
        #[serde(default)]
        value: Text,
        /// What else the value has to be: see `KeyCheck`.
        #[serde(default)]
        check: Text,
        #[serde(default)]
        roles: Vec<Text>,
        #[serde(default)]
        profiles: Vec<Text>,
    },
    Shape {
        #[serde(default)]
        langs: Vec<Text>,
        name: Text,
        #[serde(default)]
        profiles: Vec<Text>,
    },
}

impl MatchSource {
    /// Gives the languages that the match looks at; none stands for those of its rule.
    pub(crate) fn langs(&self) -> &[Text] {
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

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NameSource {
    #[serde(default)]
    pub(crate) langs: Vec<Text>,
    pub(crate) names: Vec<Text>,
    #[serde(default)]
    pub(crate) arg0: Arg0,
    /// A pattern that the constant arguments, joined by blanks, have to hold.
    #[serde(default)]
    pub(crate) argv: Text,
    /// What else the constant arguments have to be: see `KeyCheck`.
    #[serde(default)]
    pub(crate) check: Text,
    /// Whether a name that the file itself declares around the use is left alone.
    #[serde(default)]
    pub(crate) declared: Declared,
    /// Roles of files that it looks at; all where there are none.
    #[serde(default)]
    pub(crate) roles: Vec<Text>,
    #[serde(default)]
    pub(crate) profiles: Vec<Text>,
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
