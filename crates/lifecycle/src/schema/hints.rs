//! The hints of a plugin for the model.

use super::export::exported;
use super::literal::{Literal, LiteralReader, LiteralValue, Member};
use super::{SchemaError, check_literal};

/// The hints of a manifest, by the plugin's author.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Hints {
    /// What the plugin is for.
    pub overview: String,
    /// Rules to follow.
    pub critical_rules: Vec<String>,
    /// Mistakes to avoid.
    pub anti_patterns: Vec<String>,
    /// Examples of use.
    pub common_patterns: Vec<String>,
    /// The names of plugins that must be enabled, too.
    pub required_plugins: Vec<String>,
}

impl Hints {
    /// Reads the JSON text of `hints`. Parts that do not reach a prompt are ignored.
    ///
    /// # Errors
    /// `schema/not-literal` if the text is not an object of texts and lists of texts.
    pub fn from_manifest(hints: &str) -> Result<Self, SchemaError> {
        let (literal, mut faults) = LiteralReader::new(hints).document();
        let mut read = Self::default();
        match literal.value {
            LiteralValue::Object(members) => members.iter().for_each(|member| read.take(member, &mut faults)),
            _ => faults.push((literal.range.start, "expected an object of hints".to_owned())),
        }
        check_literal(hints, faults).map(|()| read)
    }

    fn take(&mut self, member: &Member, faults: &mut Vec<(usize, String)>) {
        let mut list = Vec::new();
        texts(&member.value, &mut list, faults);
        match member.key.as_str() {
            "overview" => self.overview = list.join("\n"),
            "criticalRules" => self.critical_rules = list,
            "antiPatterns" => self.anti_patterns = list,
            "commonPatterns" => self.common_patterns = list,
            "requiredPlugins" => self.required_plugins = list,
            _ => {}
        }
    }

    /// Returns the hints for the model, as HyperAgent writes them.
    pub(crate) fn text(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        lines.extend((!self.overview.is_empty()).then(|| self.overview.clone()));
        for (title, items) in [
            ("Critical rules:", &self.critical_rules),
            ("Avoid:", &self.anti_patterns),
            ("Common patterns:", &self.common_patterns),
        ] {
            if !items.is_empty() {
                lines.push(title.to_owned());
                lines.extend(items.iter().map(|item| format!("- {item}")));
            }
        }
        lines.join("\n")
    }
}

fn texts(literal: &Literal, list: &mut Vec<String>, faults: &mut Vec<(usize, String)>) {
    match &literal.value {
        LiteralValue::Text(text) => list.push(text.clone()),
        LiteralValue::Array(items) => items.iter().for_each(|item| texts(item, list, faults)),
        _ => faults.push((literal.range.start, format!("expected a string, got {}", literal.describe()))),
    }
}

/// Reads `export const _HINTS = …` of an entry file, or returns `None` if it does not export `_HINTS`.
///
/// # Errors
/// `schema/not-literal` if the value is not one text.
pub fn exported_hints(source: &str) -> Result<Option<String>, SchemaError> {
    let (literal, mut faults) = exported(source, "_HINTS");
    let text = literal.and_then(|literal| {
        if let LiteralValue::Text(text) = literal.value {
            return Some(text);
        }
        faults.push((literal.range.start, format!("expected a string, got {}", literal.describe())));
        None
    });
    check_literal(source, faults).map(|()| text)
}
