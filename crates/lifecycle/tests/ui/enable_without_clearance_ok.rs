use plugward_lifecycle::{Clearance, Configured, Plugin};

fn enable(plugin: Plugin<Configured>, clearance: Clearance) {
    let _ = plugin.enable(clearance);
}

fn main() {
    let _ = enable;
}
