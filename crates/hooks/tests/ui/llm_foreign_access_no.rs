use std::sync::Arc;

use plugward_hooks::HookServices;
use plugward_redact::{LlmAccess, Redacted, Request, TransportError};

struct Client;

trait Other {
    fn ask(&self, request: Request) -> Result<Redacted, TransportError>;
}

impl LlmAccess for Client {
    fn ask(&self, _: Request) -> Result<Redacted, TransportError> {
        unimplemented!()
    }
}

fn main() {
    let _: fn(HookServices, Arc<dyn LlmAccess>) -> HookServices = HookServices::model;
    let _: fn(&dyn Other, Client) = |_, _| {};
}
