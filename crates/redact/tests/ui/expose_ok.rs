use plugward_redact::{Raw, on_this_machine};

fn main() {
    let raw = Raw::new(String::new());
    let _ = on_this_machine(|proof| raw.expose(proof).len());
}
