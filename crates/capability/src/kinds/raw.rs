//! Reading tool output before secrets are removed.

use std::collections::BTreeSet;

use plugward_ledger::RecordValue;

use crate::error::{HOOK, ScopeError, TOOL};
use crate::kinds::kind::{Operation, common, sealed};
use crate::kinds::{names, texts};
use crate::mint::Grant;
use crate::name::is_printable;

/// A hook, and the tools whose output it may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawScope {
    hook: String,
    tools: BTreeSet<String>,
}

/// An exposure of raw output to a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the closed set of operations of this kind")]
pub enum RawOp<'a> {
    /// Exposes the output.
    Expose {
        /// The hook.
        hook: &'a str,
        /// The tool.
        tool: &'a str,
    },
}

/// Permission to read the output of certain tools before secrets are removed.
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

    fn value(&self) -> RecordValue {
        RecordValue::object([("hook", RecordValue::text(&self.hook)), ("tools", texts(&self.tools))])
    }
}

impl RawScope {
    /// Creates a scope for a hook and tools. `*` alone means every tool.
    ///
    /// # Errors
    ///
    /// - `scope/hook`: the id does not have 1 to 256 printable bytes.
    /// - `scope/tool`: a name contains `*`, or `*` is not alone.
    /// - `scope/empty`, `scope/too-long`.
    pub fn new(hook: &str, tools: &[&str]) -> Result<Self, ScopeError> {
        if hook.is_empty() || hook.len() > 256 || !is_printable(hook) {
            return Err(ScopeError::new(HOOK, "raw output scope", hook, "it is not a hook id"));
        }
        let alone = tools == ["*"];
        let good = |tool: &str| alone || (!tool.is_empty() && is_printable(tool) && !tool.contains('*'));
        let tools =
            names("raw output scope", tools, TOOL, "it is neither an exact name nor `*` alone", good)?;
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
