use plugward_redact::Raw;

fn main() {
    let raw = Raw::new(String::new());
    std::hash::Hash::hash(&raw, &mut std::hash::DefaultHasher::new());
}
