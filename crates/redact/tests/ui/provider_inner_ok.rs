use plugward_redact::{LlmAccess, Redacted, Request, SafeProvider, Transport, TransportError};

fn ask<T: Transport>(provider: &SafeProvider<T>, request: Request) -> Result<Redacted, TransportError> {
    provider.ask(request)
}

fn main() {
    let _: Option<&dyn LlmAccess> = None;
    struct Never;
    impl Transport for Never {
        fn send(&self, _: &Request) -> Result<plugward_redact::Raw<String>, TransportError> {
            unimplemented!()
        }
    }
    let _ = ask::<Never>;
}
