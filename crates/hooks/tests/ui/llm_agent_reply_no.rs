use plugward_hooks::{AgentLoop, AgentRound};
use plugward_redact::{LlmAccess, ModelRequest, TransportError};

struct Agent;

impl AgentLoop for Agent {
    fn round(&self, request: ModelRequest, model: &dyn LlmAccess) -> Result<AgentRound, TransportError> {
        let reply = model.ask(request)?;
        Ok(AgentRound::Done(reply.as_str().to_owned()))
    }
}

fn main() {
    let _ = Agent;
}
