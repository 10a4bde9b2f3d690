use plugward_redact::{LlmAccess, Redacted, ModelRequest, TransportError};

struct Mine;

trait Other {
    fn ask(&self, request: ModelRequest) -> Result<Redacted, TransportError>;
}

impl LlmAccess for Mine {
    fn ask(&self, _: ModelRequest) -> Result<Redacted, TransportError> {
        unimplemented!()
    }
}

fn main() {
    let _: fn(&dyn LlmAccess, &dyn Other, Mine) = |_, _, _| {};
}
