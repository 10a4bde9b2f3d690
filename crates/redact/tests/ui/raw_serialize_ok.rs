use plugward_redact::Raw;

fn main() {
    let raw = Raw::new(String::new());
    let _ = serde_json::to_string(&raw.len());
}
