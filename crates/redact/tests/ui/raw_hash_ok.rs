use plugward_redact::Raw;

fn main() {
    let raw = Raw::new(String::new());
    std::hash::Hash::hash(&raw.len(), &mut std::hash::DefaultHasher::new());
}
