use plugward_redact::Raw;

fn main() {
    let raw = Raw::new(String::new());
    let _ = std::io::Write::write_all(&mut std::io::sink(), &raw);
}
