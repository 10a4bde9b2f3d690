use plugward_redact::{LlmAccess, Redacted, Request, Role, TransportError};

fn judge(output: Redacted, llm: &dyn LlmAccess) -> Result<Redacted, TransportError> {
    llm.ask(Request::new().with(Role::ToolResult, output))
}

fn main() {
    let _ = judge;
}
