use plugward_lifecycle::{Clearance, Configured, Plugin};

fn enable(one: Plugin<Configured>, two: Plugin<Configured>, clearance: Clearance) {
    let _ = one.enable(clearance);
    let _ = two.enable(clearance);
}

fn main() {
    let _ = enable;
}
