use plugward_redact::{LocalProof, Raw};

fn look(raw: &Raw<String>, proof: &LocalProof<'_>) -> usize {
    raw.expose(proof).len()
}

fn main() {
    let _ = look;
}
