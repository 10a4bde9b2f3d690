use plugward_hooks::JudgeHook;
use plugward_redact::{LlmAccess, Output, Raw, Redacted, ModelRequest, RequestRole, TransportError};

struct Judge(Redacted);

impl JudgeHook for Judge {
    fn judge(
        &self,
        _: &Redacted<Output>,
        model: &dyn LlmAccess,
    ) -> Result<Option<Redacted>, TransportError> {
        let part = self.0.as_str().to_owned();
        model.ask(ModelRequest::new().with(RequestRole::User, part)).map(Some)
    }
}

fn main() {
    let _: fn(Judge) -> Raw<String> = |_| Raw::new(String::new());
}
