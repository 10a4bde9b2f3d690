use plugward_redact::Redacted;

fn look(mut text: Redacted) -> usize {
    text.as_mut().len()
}

fn main() {
    let _ = look;
}
