use std::sync::Arc;

use plugward_hooks::{HookServices, PermissionRule};
use plugward_redact::Firewall;

fn services(firewall: Arc<Firewall>, rule: Arc<dyn PermissionRule>) -> HookServices {
    let _ = Arc::clone(&firewall);
    HookServices::new(rule)
}

fn main() {
    let _ = services;
}
