use plugward_redact::KnownSecrets;

fn main() {
    let known = KnownSecrets::new();
    let _ = known.clone();
}
