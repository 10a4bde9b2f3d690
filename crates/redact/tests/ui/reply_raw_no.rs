use plugward_redact::{LlmAccess, Raw, Request, SafeProvider, Transport, TransportError};

struct Vendor;

impl Transport for Vendor {
    fn send(&self, _: &Request) -> Result<Raw<String>, TransportError> {
        Ok(Raw::new(String::new()))
    }
}

fn ask(provider: &SafeProvider<Vendor>, request: Request) -> Option<usize> {
    provider.send(&request).ok().map(|reply: Raw<String>| reply.len())
}

fn main() {
    let _: (fn(&SafeProvider<Vendor>, Request) -> Option<usize>, Option<&dyn LlmAccess>) = (ask, None);
}
