use plugward_redact::{Raw, on_this_machine};

fn main() {
    let raw = Raw::new(String::new());
    let mut kept = "";
    on_this_machine(|proof| kept = if raw.expose(proof).is_empty() { "empty" } else { "full" });
    println!("{kept}");
}
