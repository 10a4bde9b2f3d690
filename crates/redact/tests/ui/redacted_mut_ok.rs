use plugward_redact::Redacted;

fn look(mut text: Redacted) -> usize {
    text = text.clone(); text.as_ref().len()
}

fn main() {
    let _ = look;
}
