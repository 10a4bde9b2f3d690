use plugward_redact::Raw;

fn main() {
    let raw = Raw::new(String::new());
    let _: String = raw.into();
}
