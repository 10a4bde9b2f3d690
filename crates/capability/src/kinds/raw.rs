//! Seeing what tools printed, before secrets are taken out.

use std::collections::BTreeSet;

use plugward_ledger::Value;

use crate::error::{HOOK, ScopeError, TOOL};
use crate::kind::{Operation, common, sealed};
use crate::kinds::{names, texts};
use crate::mint::Grant;
use crate::name::is_printable;

/// One hook, and the tools whose output it may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawScope {
    hook: String,
    tools: BTreeSet<String>,
}

/// Handing raw output to a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the closed set of operations of this kind")]
pub enum RawOp<'a> {
    /// Shows it.
    Expose {
        /// The hook.
        hook: &'a str,
        /// The tool.
        tool: &'a str,
    },
}

/// May see what certain tools printed, before secrets are taken out.
#[must_use]
pub struct HookRawOutputCapability {
    scope: RawScope,
    grant: Grant,
}

common!(HookRawOutputCapability, RawScope, RawOp, HookRawOutput);

impl sealed::Build for RawScope {
    type Made = HookRawOutputCapability;

    fn build(self, grant: Grant) -> HookRawOutputCapability {
        HookRawOutputCapability { scope: self, grant }
    }

    fn value(&self) -> Value {
        Value::object([("hook", Value::text(&self.hook)), ("tools", texts(&self.tools))])
    }
}

impl RawScope {
    /// Names the hook and the tools; `*` alone is every tool.
    ///
    /// # Errors
    /// `scope/hook` for an id that is not 1 to 256 printable bytes; `scope/tool` for a name with `*` beside others or inside;
    /// `scope/empty`, `scope/too-long`.
    pub fn new(hook: &str, tools: &[&str]) -> Result<Self, ScopeError> {
        if hook.is_empty() || hook.len() > 256 || !is_printable(hook) {
            return Err(ScopeError::new(HOOK, "raw output scope", hook, "it is no id of a hook"));
        }
        let alone = tools == ["*"];
        let good = |tool: &str| alone || (!tool.is_empty() && is_printable(tool) && !tool.contains('*'));
        let tools = names("raw output scope", tools, TOOL, "it is no exact name, and not `*` alone", good)?;
        Ok(Self { hook: hook.to_owned(), tools })
    }

    pub(crate) fn covers(&self, op: &RawOp<'_>) -> bool {
        let RawOp::Expose { hook, tool } = op;
        self.hook == *hook && (self.tools.contains(*tool) || self.tools.contains("*"))
    }
}

impl Operation for RawOp<'_> {
    fn name(&self) -> &'static str {
        "expose"
    }

    fn detail(&self) -> String {
        let RawOp::Expose { hook, tool } = self;
        format!("{hook} {tool}")
    }
}
