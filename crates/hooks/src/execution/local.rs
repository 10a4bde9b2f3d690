//! The only module that sees raw output. It passes the output to programs and hooks on this machine, and
//! compares shapes.
//!
//! Hooks see the output as the tool left it, and the secret scan runs after the transform step (ADR-004 in
//! `docs/source-documents.md`). Raw output must not reach a model: no code in this module has an
//! `LlmAccess`, and the fence allows `Raw::expose` and `on_this_machine` in no other module.

use plugward_redact::{Output, OutputContent, Raw, ToolStatus, on_this_machine};
use serde_json::{Map, Value};

use crate::definitions::hook::Hook;
use crate::events::call::{FireContext, GateCall, ResultView, envelope};
use crate::execution::services::{LocalHook, LocalReply};
use crate::replies::reply::Failure;

/// The text that replaces a withheld output.
const WITHHELD: &str = "[REDACTED:withheld]";

/// Returns whether the tool failed, which is not a secret.
pub(crate) fn ended(output: &Raw<Output>) -> ToolStatus {
    on_this_machine(|proof| output.expose(proof).ended)
}

/// Returns a copy for a scan, which consumes it.
pub(crate) fn copy(output: &Raw<Output>) -> Raw<Output> {
    on_this_machine(|proof| Raw::new(output.expose(proof).clone()))
}

/// Calls `run` with the raw envelope of a hook, to start a program on this machine. The copy is wiped
/// afterwards.
pub(crate) fn with_envelope<R>(
    hook: &Hook,
    call: &GateCall,
    output: Option<&Raw<Output>>,
    at: &FireContext,
    run: impl FnOnce(&[u8]) -> R,
) -> R {
    on_this_machine(|proof| {
        let result = output.map(|output| {
            let output = output.expose(proof);
            ResultView { output, failed: output.ended == ToolStatus::Failed }
        });
        let value = Raw::new(envelope(hook, call, result.as_ref(), at));
        let bytes = Raw::new(value.expose(proof).to_string().into_bytes());
        drop(value);
        run(bytes.expose(proof))
    })
}

/// Runs an in-process hook of the host.
pub(crate) fn look(hook: &dyn LocalHook, output: &Raw<Output>) -> LocalReply {
    on_this_machine(|proof| hook.look(output, proof))
}

/// Replaces an output, if the replacement has the same type and keys.
pub(crate) fn replace(
    output: &Raw<Output>,
    new: Value,
    metadata: Option<Value>,
) -> Result<Option<Raw<Output>>, Failure> {
    on_this_machine(|proof| {
        let old = output.expose(proof);
        let content = match (&old.content, new) {
            (OutputContent::Text(_), Value::String(text)) => OutputContent::Text(text),
            (OutputContent::Json(old), new) if same_shape(old, &new) => OutputContent::Json(new),
            _ => {
                return Err(Failure::new(
                    "hook/bad-shape",
                    "the new output has another JSON type or other keys",
                ));
            }
        };
        let metadata = match metadata {
            None => old.metadata.clone(),
            Some(new) if old.metadata.is_null() || same_shape(&old.metadata, &new) => new,
            Some(_) => {
                return Err(Failure::new(
                    "hook/bad-shape",
                    "the new metadata has another JSON type or other keys",
                ));
            }
        };
        let new = Output { content, metadata, ended: old.ended };
        Ok((new != *old).then(|| Raw::new(new)))
    })
}

/// Returns the output that replaces a withheld one.
pub(crate) fn withheld(ended: ToolStatus) -> Raw<Output> {
    let metadata = Value::Object(Map::new());
    Raw::new(Output { content: OutputContent::Text(WITHHELD.to_owned()), metadata, ended })
}

/// Returns `true` if two values have the same JSON type and, as objects, the same keys.
fn same_shape(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => old.keys().eq(new.keys()),
        _ => same_type(old, new),
    }
}

/// Returns `true` if two values have the same JSON type.
pub(crate) const fn same_type(old: &Value, new: &Value) -> bool {
    matches!(
        (old, new),
        (Value::Null, Value::Null)
            | (Value::Bool(_), Value::Bool(_))
            | (Value::Number(_), Value::Number(_))
            | (Value::String(_), Value::String(_))
            | (Value::Array(_), Value::Array(_))
            | (Value::Object(_), Value::Object(_))
    )
}
