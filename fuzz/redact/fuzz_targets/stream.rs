//! Any bytes in any chunks: the bytes of one piece. The first byte says how long a chunk is; the text is repeated
//! until it goes over the border of a block.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use plugward_redact::{Firewall, Raw, Rules, Settings};

static FIREWALL: LazyLock<Firewall> = LazyLock::new(|| Firewall::new(Rules::all(), Settings::reference()).unwrap());

fuzz_target!(|data: &[u8]| {
    let Some((step, unit)) = data.split_first() else { return };
    if unit.is_empty() {
        return;
    }
    let text: Vec<u8> = unit.iter().copied().cycle().take(unit.len().max(300 * 1024)).collect();
    let whole = FIREWALL.redact_bytes(Raw::new(text.clone()));
    let mut stream = FIREWALL.stream();
    let mut out = Vec::new();
    for chunk in text.chunks(usize::from(*step) * 517 + 1) {
        stream.push(chunk, &mut out);
    }
    let found = stream.finish(&mut out);
    assert!(&out == whole.as_ref());
    assert_eq!(found, whole.findings());
});
