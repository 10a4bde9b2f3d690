use plugward_redact::{LlmAccess, Raw, Redacted, Request, Role, TransportError};

fn judge(output: Raw<String>, llm: &dyn LlmAccess) -> Result<Redacted, TransportError> {
    llm.ask(Request::new().with(Role::ToolResult, output))
}

fn main() {
    let _ = judge;
}
