//! The questions about a configuration, which the host asks.

use super::{ConfigFault, GivenValues, ValueSource};
use crate::schema::{Schema, SchemaField};

/// How often one field is asked.
const ATTEMPTS: u32 = 3;

/// The questions that are left, and the values so far.
#[derive(Debug)]
pub struct Questions<'s> {
    open: Vec<&'s SchemaField>,
    attempts: u32,
    given: GivenValues,
    defaults: usize,
}

/// The effect of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new outcome")]
pub enum AnswerOutcome {
    /// The value counts, or the field keeps its default.
    Taken,
    /// The optional field stays unset.
    Unset,
    /// The same field must be asked again.
    Again(ConfigFault),
}

/// Returns the questions about the fields that have `promptKey` or no default, and that are not given.
///
/// # Examples
/// ```
/// use plugward_lifecycle::{GivenValues, Schema, questions};
///
/// let json = r#"{"dir": {"type": "string", "required": true}, "limit": {"type": "number", "default": 5}}"#;
/// let schema = Schema::from_manifest(json, &[])?;
/// let mut questions = questions(&schema, &GivenValues::default());
/// assert_eq!(questions.defaults_line().as_deref(), Some("1 other setting keeps its default"));
/// while let Some(field) = questions.next_field() {
///     assert_eq!(field.key, "dir");
///     let _ = questions.answer("/srv")?; // The host reads a line here.
/// }
/// let values = questions.finish().complete(&schema, |_, _| None)?;
/// assert_eq!(values.iter().count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn questions<'s>(schema: &'s Schema, given: &GivenValues) -> Questions<'s> {
    let left = || schema.fields().iter().filter(|field| given.get(&field.key).is_none());
    let is_asked = |field: &&SchemaField| field.is_prompted || field.default.is_none();
    let mut open: Vec<_> = left().filter(is_asked).collect();
    open.reverse();
    let defaults = left().count().saturating_sub(open.len());
    Questions { open, attempts: 0, given: given.clone(), defaults }
}

impl<'s> Questions<'s> {
    /// Returns the field to ask about.
    #[must_use]
    pub fn next_field(&self) -> Option<&'s SchemaField> {
        self.open.last().copied()
    }

    /// Returns the line that counts the fields which keep their default without a question.
    #[must_use]
    pub fn defaults_line(&self) -> Option<String> {
        match self.defaults {
            0 => None,
            1 => Some("1 other setting keeps its default".to_owned()),
            count => Some(format!("{count} other settings keep their defaults")),
        }
    }

    /// Takes the answer to the current question. An empty answer takes the default.
    ///
    /// # Errors
    /// `config/required` if a required field has no value after three questions, and the fault of the last answer if
    /// none of three was valid.
    pub fn answer(&mut self, text: &str) -> Result<AnswerOutcome, ConfigFault> {
        let Some(field) = self.next_field() else { return Ok(AnswerOutcome::Taken) };
        let parsed = match text {
            "" if field.default.is_some() => return Ok(self.close(AnswerOutcome::Taken)),
            "" if !field.is_required => return Ok(self.close(AnswerOutcome::Unset)),
            "" => Err(ConfigFault::required(&field.key)),
            text => field.parse(text),
        };
        let fault = match parsed {
            Ok(value) if !(value.is_empty() && field.is_required) => {
                self.given.set(&field.key, value, ValueSource::Prompt);
                return Ok(self.close(AnswerOutcome::Taken));
            }
            Ok(_) => ConfigFault::required(&field.key),
            Err(fault) => fault,
        };
        self.attempts = self.attempts.saturating_add(1);
        if self.attempts >= ATTEMPTS { Err(fault) } else { Ok(AnswerOutcome::Again(fault)) }
    }

    fn close(&mut self, outcome: AnswerOutcome) -> AnswerOutcome {
        self.open.pop();
        self.attempts = 0;
        outcome
    }

    /// Returns the values. A host without a terminal calls this without asking, and the defaults apply.
    #[must_use]
    pub fn finish(self) -> GivenValues {
        self.given
    }
}
