use plugward_redact::{Firewall, Raw, Redacted};

fn make(firewall: &Firewall) -> Redacted {
    let _ = firewall; firewall.redact(Raw::new(String::new()))
}

fn main() {
    let _ = make;
}
