use plugward_redact::{Firewall, Raw, Redacted};

fn make(firewall: &Firewall, text: String) -> Redacted {
    Redacted::from(text)
}

fn main() {
    let _ = make;
}
