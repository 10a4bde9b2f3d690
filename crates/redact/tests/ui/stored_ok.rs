use plugward_redact::{Raw, on_this_machine};

fn main() {
    let raw = Raw::new(String::new());
    let mut kept = 0;
    on_this_machine(|proof| kept = raw.expose(proof).len());
    println!("{kept}");
}
