use plugward_redact::Redacted;

fn change(mut text: Redacted) -> Redacted {
    text = text.clone();
    text
}

fn main() {
    let _ = change;
}
