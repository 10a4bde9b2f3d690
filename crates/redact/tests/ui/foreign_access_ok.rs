use plugward_redact::{Raw, Request, Transport, TransportError};

struct Mine;

impl Transport for Mine {
    fn send(&self, _: &Request) -> Result<Raw<String>, TransportError> {
        Ok(Raw::new(String::new()))
    }
}

fn main() {
    let _ = Mine;
}
