use plugward_redact::{LlmAccess, Redacted, Request, Role, TransportError};

fn judge(output: plugward_redact::Raw<String>, llm: &dyn LlmAccess) -> Result<Redacted, TransportError> {
    llm.ask(Request::new().with(Role::ToolResult, output))
}

fn main() {
    let _ = judge;
}
