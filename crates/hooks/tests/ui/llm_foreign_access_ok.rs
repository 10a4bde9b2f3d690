use std::sync::Arc;

use plugward_hooks::HookServices;
use plugward_redact::{LlmAccess, Redacted, ModelRequest, TransportError};

struct Client;

trait Other {
    fn ask(&self, request: ModelRequest) -> Result<Redacted, TransportError>;
}

impl Other for Client {
    fn ask(&self, _: ModelRequest) -> Result<Redacted, TransportError> {
        unimplemented!()
    }
}

fn main() {
    let _: fn(HookServices, Arc<dyn LlmAccess>) -> HookServices = HookServices::model;
    let _: fn(&dyn Other, Client) = |_, _| {};
}
