//! The hints of a plugin for the model.

use super::SchemaError;
use super::export::exported;
use super::literal::{Literal, LiteralReader, LiteralValue};

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
        let wrong = |faults| SchemaError::not_literal(hints, faults);
        let literal = LiteralReader::new(hints).document().map_err(wrong)?;
        let LiteralValue::Object(members) = literal.value else {
            return Err(wrong(vec![(literal.range.start, "expected an object of hints".to_owned())]));
        };
        let mut read = Self::default();
        for member in members {
            let texts = texts(&member.value).map_err(|fault| wrong(vec![fault]))?;
            match member.key.as_str() {
                "overview" => read.overview = texts.join("\n"),
                "criticalRules" => read.critical_rules = texts,
                "antiPatterns" => read.anti_patterns = texts,
                "commonPatterns" => read.common_patterns = texts,
                "requiredPlugins" => read.required_plugins = texts,
                _ => {}
            }
        }
        Ok(read)
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

fn texts(literal: &Literal) -> Result<Vec<String>, (usize, String)> {
    match &literal.value {
        LiteralValue::Text(text) => Ok(vec![text.clone()]),
        LiteralValue::Array(items) => Ok(items.iter().map(texts).collect::<Result<Vec<_>, _>>()?.concat()),
        _ => Err((literal.range.start, format!("expected a string, got {}", literal.describe()))),
    }
}

/// Reads `export const _HINTS = …` of an entry file, or returns `None` if it does not export `_HINTS`.
///
/// # Errors
/// `schema/not-literal` if the value is not one text.
pub fn exported_hints(source: &str) -> Result<Option<String>, SchemaError> {
    let wrong = |faults| SchemaError::not_literal(source, faults);
    match exported(source, "_HINTS").map_err(wrong)? {
        None => Ok(None),
        Some(Literal { value: LiteralValue::Text(text), .. }) => Ok(Some(text)),
        Some(other) => {
            Err(wrong(vec![(other.range.start, format!("expected a string, got {}", other.describe()))]))
        }
    }
}
