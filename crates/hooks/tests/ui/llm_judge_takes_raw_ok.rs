use plugward_hooks::JudgeHook;
use plugward_redact::{LlmAccess, Output, Raw, Redacted, TransportError};

struct Judge;

impl JudgeHook for Judge {
    fn judge(
        &self,
        _: &Redacted<Output>,
        _: &dyn LlmAccess,
    ) -> Result<Option<Redacted>, TransportError> {
        Ok(None)
    }
}

fn main() {
    let _: fn(Judge) -> Option<Raw<Output>> = |_| None;
}
