use plugward_redact::{LlmAccess, Redacted, ModelRequest, SafeProvider, Transport, TransportError};

fn ask<T: Transport>(provider: &SafeProvider<T>, request: ModelRequest) -> Result<Redacted, TransportError> {
    provider.inner().ask(request)
}

fn main() {
    let _: Option<&dyn LlmAccess> = None;
    struct Never;
    impl Transport for Never {
        fn send(&self, _: &ModelRequest) -> Result<plugward_redact::Raw<String>, TransportError> {
            unimplemented!()
        }
    }
    let _ = ask::<Never>;
}
