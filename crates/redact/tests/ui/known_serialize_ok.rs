use plugward_redact::Known;

fn main() {
    let known = Known::new();
    let _ = serde_json::to_string(&known.len());
}
