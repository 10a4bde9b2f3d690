use plugward_redact::{LocalOnly, Raw};

fn look(raw: &Raw<String>, proof: &LocalOnly<'_>) -> usize {
    raw.expose(proof).len()
}

fn main() {
    let _ = look;
}
