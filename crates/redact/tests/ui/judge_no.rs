use plugward_redact::{LlmAccess, Redacted, ModelRequest, RequestRole, TransportError};

fn judge(output: plugward_redact::Raw<String>, llm: &dyn LlmAccess) -> Result<Redacted, TransportError> {
    llm.ask(ModelRequest::new().with(RequestRole::ToolResult, output))
}

fn main() {
    let _ = judge;
}
