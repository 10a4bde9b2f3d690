//! Tokens of high entropy that no rule matches. Off by default.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

use crate::bytes::measure::entropy;
use crate::bytes::{HEX, PLUS_SLASH, U64, at, before, is, part, run};
use crate::firewall::settings::EntropyMode;
use crate::redacted::finding::{ChecksumCheck, LayerStack, RedactAction};
use crate::redacted::kind::rank;
use crate::rules::prefixed::special::is_uuid;
use crate::rules::{MarkerEncoding, Match, MatchContext};

/// Checks every token of at least 20 bytes of `[A-Za-z0-9_/-]`.
pub(crate) fn find(ctx: &MatchContext<'_>, range: Range<usize>, setting: EntropyMode, hits: &mut Vec<Match>) {
    let text = ctx.text;
    let class = U64 | PLUS_SLASH;
    let mut place = range.start;
    while place < range.end {
        let length = run(text, place, class, 4096);
        let token = part(text, place..place + length);
        let inside = is(before(text, place), class);
        if length >= 20
            && !inside
            && !token.contains(&b'+')
            && !is_known(text, place, token)
            // 4.5 bits per byte is what random base64 of this length reaches and identifiers do not.
            && entropy(token) >= 4.5
        {
            let action =
                if setting == EntropyMode::Note { RedactAction::Noted } else { RedactAction::Removed };
            let (sum, via) = (ChecksumCheck::None, LayerStack::default());
            hits.push(Match {
                at: place..place + length,
                rank: rank("entropy"),
                sum,
                via,
                wide: MarkerEncoding::Bytes,
                action,
                known: false,
            });
        }
        place += length.max(1);
    }
}

/// Returns `true` for UUIDs, hashes in hex, timestamps and parts of URLs: high entropy, and public.
fn is_known(text: &[u8], start: usize, token: &[u8]) -> bool {
    let hex = token.iter().all(|byte| is(*byte, HEX));
    let time = token.len() >= 10 && at(token, 4) == b'-' && at(token, 7) == b'-';
    let line = crate::bytes::line_start(text, start, 300);
    let head = part(text, line..start + token.len());
    let word = head
        .iter()
        .rposition(|byte| matches!(byte, b' ' | b'"' | b'\'' | b'\t'))
        .map_or(0, |place| place + 1);
    let url = memchr::memmem::find(part(head, word..head.len()), b"://").is_some();
    is_uuid(token) || hex || time || url
}
