use plugward_redact::Raw;

fn main() {
    println!("{:?}", Raw::new(String::new()));
}
