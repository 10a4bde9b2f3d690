use plugward_redact::{LlmAccess, Raw, ModelRequest, SafeProvider, Transport, TransportError};

struct Vendor;

impl Transport for Vendor {
    fn send(&self, _: &ModelRequest) -> Result<Raw<String>, TransportError> {
        Ok(Raw::new(String::new()))
    }
}

fn ask(provider: &SafeProvider<Vendor>, request: ModelRequest) -> Option<usize> {
    provider.ask(request).ok().map(|reply| reply.as_str().len())
}

fn main() {
    let _: (fn(&SafeProvider<Vendor>, ModelRequest) -> Option<usize>, Option<&dyn LlmAccess>) = (ask, None);
}
