use plugward_redact::{Firewall, Raw, Request, Role};

fn request(firewall: &Firewall, text: String) -> Request {
    Request::new().with(Role::User, firewall.redact(Raw::new(text)))
}

fn main() {
    let _ = request;
}
