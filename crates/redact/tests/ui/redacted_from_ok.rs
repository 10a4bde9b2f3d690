use plugward_redact::{Firewall, Raw, Redacted};

fn make(firewall: &Firewall, text: String) -> Redacted {
    firewall.redact(Raw::new(text))
}

fn main() {
    let _ = make;
}
