//! Requests to models.

use std::collections::BTreeSet;

use plugward_ledger::RecordValue;

use crate::error::{MODEL, ScopeError};
use crate::kinds::kind::{Operation, common, sealed};
use crate::kinds::{names, texts};
use crate::mint::Grant;

/// Certain models, each as `provider/model`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LlmScope {
    models: BTreeSet<String>,
}

/// A request to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the closed set of operations of this kind")]
pub enum LlmOp<'a> {
    /// Sends a request.
    Ask {
        /// The model, as `provider/model`.
        model: &'a str,
        /// The maximum number of tokens for request and reply, which are the budget units.
        tokens: u64,
    },
}

/// Permission to use certain models.
#[must_use]
pub struct LlmAccessCapability {
    scope: LlmScope,
    grant: Grant,
}

common!(LlmAccessCapability, LlmScope, LlmOp, LlmAccess);

impl sealed::Build for LlmScope {
    type Made = LlmAccessCapability;

    fn build(self, grant: Grant) -> LlmAccessCapability {
        LlmAccessCapability { scope: self, grant }
    }

    fn value(&self) -> RecordValue {
        RecordValue::object([("models", texts(&self.models))])
    }
}

fn is_model(text: &str) -> bool {
    let part = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:@".contains(&byte);
    text.split_once('/').is_some_and(|(provider, model)| {
        let model_part = |byte: u8| part(byte) || byte == b'/';
        !provider.is_empty()
            && provider.bytes().all(part)
            && !model.is_empty()
            && model.bytes().all(model_part)
    })
}

impl LlmScope {
    /// Creates a scope for the models.
    ///
    /// # Errors
    ///
    /// `scope/model` for text other than `provider/model`; `scope/empty`, `scope/too-long`.
    pub fn new(models: &[&str]) -> Result<Self, ScopeError> {
        Ok(Self { models: names("model scope", models, MODEL, "it is not `provider/model`", is_model)? })
    }

    pub(crate) fn covers(&self, op: &LlmOp<'_>) -> bool {
        let LlmOp::Ask { model, .. } = op;
        self.models.contains(*model)
    }
}

impl Operation for LlmOp<'_> {
    fn name(&self) -> &'static str {
        "ask"
    }

    fn detail(&self) -> String {
        let LlmOp::Ask { model, .. } = self;
        (*model).to_owned()
    }

    fn units(&self) -> u64 {
        let LlmOp::Ask { tokens, .. } = self;
        *tokens
    }
}
