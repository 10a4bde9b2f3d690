use plugward_lifecycle::{Clearance, Configured, Plugin};

fn enable(plugin: Plugin<Configured>, clearance: Clearance) {
    let _ = (&clearance, plugin.enable());
}

fn main() {
    let _ = enable;
}
