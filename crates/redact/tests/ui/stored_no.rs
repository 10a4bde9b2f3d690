use plugward_redact::{Raw, on_this_machine};

fn main() {
    let raw = Raw::new(String::new());
    let mut kept = "";
    on_this_machine(|proof| kept = raw.expose(proof).as_str());
    println!("{kept}");
}
