use plugward_redact::{Firewall, Raw, Redacted};

fn make(firewall: &Firewall, text: &str) -> Option<Redacted> {
    Some(firewall.redact(Raw::new(text.to_owned())))
}

fn main() {
    let _: (fn(&Firewall, &str) -> Option<Redacted>, Option<Raw<String>>) = (make, None);
}
