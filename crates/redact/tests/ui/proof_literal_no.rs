use plugward_redact::{LocalOnly, Raw};

fn look(raw: &Raw<String>, proof: &LocalOnly<'_>) -> usize {
    raw.expose(&LocalOnly { _call: core::marker::PhantomData }).len()
}

fn main() {
    let _ = look;
}
