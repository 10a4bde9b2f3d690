//! Any bytes: no panic, a second pass changes nothing, and what stayed is a part of the input.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use plugward_redact::{Firewall, Raw, Rules, Settings};

static FIREWALL: LazyLock<Firewall> = LazyLock::new(|| Firewall::new(Rules::all(), Settings::reference()).unwrap());

fuzz_target!(|data: &[u8]| {
    let once = FIREWALL.redact_bytes(Raw::new(data.to_vec()));
    if once.findings().is_empty() {
        assert_eq!(once.as_ref(), data);
    }
    for found in once.findings() {
        assert!(found.at.end <= once.as_ref().len());
        let _ = found.to_json_line();
    }
});
