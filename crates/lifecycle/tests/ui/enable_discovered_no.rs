use plugward_lifecycle::{Clearance, Plugin};

fn enable(plugin: Plugin<plugward_lifecycle::Discovered>, clearance: Clearance) {
    let _ = plugin.enable(clearance);
}

fn main() {
    let _ = enable;
}
