use plugward_redact::{Firewall, Raw, Redacted};

fn make(firewall: &Firewall) -> Redacted {
    Redacted { value: String::new(), generation: firewall.generation(), findings: Vec::new() }
}

fn main() {
    let _ = make;
}
