use plugward_redact::{Firewall, Raw, Redacted};

fn make(firewall: &Firewall) -> Redacted {
    let _ = firewall; Redacted::default()
}

fn main() {
    let _ = make;
}
