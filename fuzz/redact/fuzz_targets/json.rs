//! Any JSON: it stays JSON of the same shape.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use plugward_redact::{Firewall, Raw, Rules, Settings};
use serde_json::Value;

static FIREWALL: LazyLock<Firewall> = LazyLock::new(|| Firewall::new(Rules::all(), Settings::reference()).unwrap());

fn same_shape(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_shape(a, b)),
        (Value::Object(a), Value::Object(b)) => a.len() == b.len(),
        (Value::Number(_), Value::Number(_) | Value::String(_)) => true,
        _ => core::mem::discriminant(left) == core::mem::discriminant(right),
    }
}

fuzz_target!(|data: &[u8]| {
    let Ok(value) = serde_json::from_slice::<Value>(data) else { return };
    let redacted = FIREWALL.redact_json(Raw::new(value.clone()));
    assert!(same_shape(&value, redacted.as_ref()));
});
