use std::sync::Arc;

use plugward_hooks::HookServices;
use plugward_redact::{Firewall, Raw, Request, SafeProvider, Transport, TransportError};

struct Client;

impl Transport for Client {
    fn send(&self, _: &Request) -> Result<Raw<String>, TransportError> {
        unimplemented!()
    }
}

fn services(services: HookServices, firewall: Arc<Firewall>) -> HookServices {
    let provider = SafeProvider::new(firewall, Client);
    services.model(Arc::new((provider, Client).1))
}

fn main() {
    let _ = services;
}
