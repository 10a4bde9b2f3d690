use plugward_redact::Known;

fn main() {
    let known = Known::new();
    let _ = known.clone();
}
