use plugward_redact::{LlmAccess, Redacted, ModelRequest, RequestRole, TransportError};

fn judge(output: Redacted, llm: &dyn LlmAccess) -> Result<Redacted, TransportError> {
    llm.ask(ModelRequest::new().with(RequestRole::ToolResult, output))
}

fn main() {
    let _ = judge;
}
