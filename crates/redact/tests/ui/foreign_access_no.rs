use plugward_redact::{LlmAccess, Redacted, Request, TransportError};

struct Mine;

trait Other {
    fn ask(&self, request: Request) -> Result<Redacted, TransportError>;
}

impl LlmAccess for Mine {
    fn ask(&self, _: Request) -> Result<Redacted, TransportError> {
        unimplemented!()
    }
}

fn main() {
    let _: fn(&dyn LlmAccess, &dyn Other, Mine) = |_, _, _| {};
}
