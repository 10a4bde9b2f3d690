use std::sync::Arc;

use plugward_hooks::HookServices;
use plugward_redact::{Firewall, Raw, ModelRequest, SafeProvider, Transport, TransportError};

struct Client;

impl Transport for Client {
    fn send(&self, _: &ModelRequest) -> Result<Raw<String>, TransportError> {
        unimplemented!()
    }
}

fn services(services: HookServices, firewall: Arc<Firewall>) -> HookServices {
    let provider = SafeProvider::new(firewall, Client);
    services.model(Arc::new((provider, Client).0))
}

fn main() {
    let _ = services;
}
