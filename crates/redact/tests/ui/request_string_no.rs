use plugward_redact::{Firewall, Raw, ModelRequest, RequestRole};

fn request(firewall: &Firewall, text: String) -> ModelRequest {
    ModelRequest::new().with(RequestRole::User, text)
}

fn main() {
    let _ = request;
}
