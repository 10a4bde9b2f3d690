use plugward_redact::on_this_machine;

fn main() {
    let kept = on_this_machine(|_proof| 0);
    println!("{kept:?}");
}
