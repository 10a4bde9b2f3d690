use plugward_redact::{Firewall, Raw, Redacted};

fn make(firewall: &Firewall, text: &str) -> Option<Redacted> {
    let _ = firewall; serde_json::from_str::<Redacted>(text).ok()
}

fn main() {
    let _: (fn(&Firewall, &str) -> Option<Redacted>, Option<Raw<String>>) = (make, None);
}
