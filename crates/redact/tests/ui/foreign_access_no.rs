use plugward_redact::{LlmAccess, Redacted, Request, TransportError};

struct Mine;

impl LlmAccess for Mine {
    fn ask(&self, _: Request) -> Result<Redacted, TransportError> {
        unimplemented!()
    }
}

fn main() {
    let _ = Mine;
}
