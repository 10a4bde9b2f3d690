use plugward_redact::Redacted;

fn change(mut text: Redacted) -> Redacted {
    text.value.push('x');
    text
}

fn main() {
    let _ = change;
}
