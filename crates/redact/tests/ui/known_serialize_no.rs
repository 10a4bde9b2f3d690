use plugward_redact::KnownSecrets;

fn main() {
    let known = KnownSecrets::new();
    let _ = serde_json::to_string(&known);
}
