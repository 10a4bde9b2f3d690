use plugward_redact::{Firewall, Raw, ModelRequest, RequestRole};

fn request(firewall: &Firewall, text: String) -> ModelRequest {
    ModelRequest::new().with(RequestRole::User, firewall.redact(Raw::new(text)))
}

fn main() {
    let _ = request;
}
