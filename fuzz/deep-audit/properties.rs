//! Properties of each reply; `crates/deep-audit/tests/it/corpus.rs` checks them for the corpus.

use plugward_deep_audit::{ParsedReply, parse_reply};

/// Any bytes: the fields keep their limits, and text without a brace around the reply changes nothing.
pub(crate) fn reply(bytes: &[u8]) -> ParsedReply {
    let text = String::from_utf8_lossy(bytes);
    let parsed = parse_reply(&text);
    if let ParsedReply::Object(fields) = &parsed {
        assert!(fields.summary.as_ref().is_none_or(|summary| summary.chars().count() <= 300));
        assert!(fields.capabilities.len() <= 50 && fields.risk_reasons.len() <= 20);
        assert!(fields.findings.len() <= 200 && fields.injections.len() <= 50);
        assert!(fields.findings.iter().all(|finding| finding.message.chars().count() <= 500));
        assert!(fields.findings.windows(2).all(|pair| pair[0].severity >= pair[1].severity));
    }
    assert_eq!(parse_reply(&format!("Here it is: \"\n{text}\n\" Done.")), parsed);
    parsed
}
