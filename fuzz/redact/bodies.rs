//! What each target does with some bytes; `crates/redact/tests/it/corpus.rs` replays the corpora through the same.

use std::sync::LazyLock;

use plugward_redact::{Firewall, Raw, RuleSelection, Settings};

static FIREWALL: LazyLock<Firewall> =
    LazyLock::new(|| Firewall::new(RuleSelection::all(), Settings::reference()).unwrap());

/// Any bytes: no panic, findings lie in the output, and what no finding names is the input.
pub(crate) fn redact(data: &[u8]) {
    let once = FIREWALL.redact_bytes(Raw::new(data.to_vec()));
    if once.findings().is_empty() {
        assert_eq!(once.as_ref(), data);
    }
    for found in once.findings() {
        assert!(found.at.end <= once.as_ref().len());
        assert!(found.to_json_line().starts_with("{\"code\":\"redact/"));
    }
}

/// Any bytes in any chunks, with and without settling: the bytes of one piece. The first byte says how long a chunk
/// is; the text is repeated until it goes over the border of a block.
pub(crate) fn stream(data: &[u8]) {
    let Some((step, unit)) = data.split_first() else { return };
    if unit.is_empty() {
        return;
    }
    let text: Vec<u8> = unit.iter().copied().cycle().take(unit.len().max(300 * 1024)).collect();
    let whole = FIREWALL.redact_bytes(Raw::new(text.clone()));
    for settles in [false, true] {
        let mut stream = FIREWALL.stream();
        let mut out = Vec::new();
        for (index, chunk) in text.chunks(usize::from(*step) * 517 + 1000).enumerate() {
            stream.push(chunk, &mut out);
            if settles && index < 16 {
                stream.settle(&mut out);
            }
        }
        let found = stream.finish(&mut out);
        assert!(&out == whole.as_ref());
        assert_eq!(found, whole.findings());
    }
}

/// Any JSON: it stays JSON of the same shape.
#[cfg(feature = "json")]
pub(crate) fn json(data: &[u8]) {
    use serde_json::Value;

    fn same_shape(left: &Value, right: &Value) -> bool {
        match (left, right) {
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_shape(a, b))
            }
            (Value::Object(a), Value::Object(b)) => a.len() == b.len(),
            (Value::Number(_), Value::Number(_) | Value::String(_)) => true,
            _ => core::mem::discriminant(left) == core::mem::discriminant(right),
        }
    }

    let Ok(value) = serde_json::from_slice::<Value>(data) else { return };
    let redacted = FIREWALL.redact_json(Raw::new(value.clone()));
    assert!(same_shape(&value, redacted.as_ref()));
}
