use plugward_hooks::{AgentLoop, AgentRound};
use plugward_redact::{LlmAccess, Request, TransportError};

struct Agent;

impl AgentLoop for Agent {
    fn round(&self, request: Request, model: &dyn LlmAccess) -> Result<AgentRound, TransportError> {
        let reply = model.ask(request)?;
        Ok(AgentRound::Done(reply))
    }
}

fn main() {
    let _ = Agent;
}
