//! Keys whose literal is in the middle, or that depend on the text around them.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

use crate::bytes::measure::{base64, entropy};
use crate::bytes::{
    AN, B64, DIGIT, EQUALS, LHEX, LOWER, U64, at, before, find, has_exact, is, part, run, run_back,
};
use crate::redacted::finding::ChecksumCheck;
use crate::redacted::kind::rank;
use crate::rules::prefixed::table::AZURE_AD;
use crate::rules::prefixed::{Edge, Part, Prefixed, edge_ok, entropy_at_least, follow};
use crate::rules::{Match, MatchContext};

/// Returns `true` if a match of a row counts. An AWS key id without a digit needs a word next to it.
pub(crate) fn key_stands(ctx: &MatchContext<'_>, row: &Prefixed, start: usize, sum: ChecksumCheck) -> bool {
    if sum == ChecksumCheck::Holds || row.rank != rank("aws-key-id") {
        return true;
    }
    let value = part(ctx.text, start + row.literal.len()..start + 20);
    let near = start.saturating_sub(40)..start;
    value.iter().any(|byte| is(*byte, DIGIT))
        || find(ctx.text, near.clone(), "aws").is_some()
        || find(ctx.text, near, "key").is_some()
}

/// Finds `sk-…T3BlbkFJ…`, whose literal is in the middle.
pub(crate) fn openai(ctx: &MatchContext<'_>, at: Range<usize>, out: &mut Vec<Match>) {
    if !has_exact(ctx.text, at.start, concat!("T3Blb", "kFJ")) {
        return;
    }
    let start = at.start - run_back(ctx.text, at.start, U64, 180);
    let after = run(ctx.text, at.end, U64, 400);
    // The run can begin before the key: the key begins at the last `sk-` that leaves enough bytes.
    let begins =
        (start..at.start).rev().find(|place| has_exact(ctx.text, *place, "sk-") && at.start - place >= 20);
    if let Some(begin) = begins.filter(|begin| edge_ok(ctx.text, *begin, Edge::Hard))
        && after >= 18
    {
        ctx.hit(rank("openai"), begin..at.end + after, out);
    }
}

/// Finds a Terraform Cloud token: 14 letters and digits, `.atlasv1.`, 60 to 70 bytes.
pub(crate) fn atlas(ctx: &MatchContext<'_>, at: Range<usize>, out: &mut Vec<Match>) {
    let ahead = run_back(ctx.text, at.start, AN, 40);
    let after = run(ctx.text, at.end, U64, 200);
    if ahead >= 14 && after >= 60 {
        ctx.hit(rank("cloud-key"), at.start - ahead..at.end + after, out);
    }
}

/// Finds an Azure AD client secret: three bytes, a digit, `Q~`, 31 to 34 bytes.
pub(crate) fn azure_ad(ctx: &MatchContext<'_>, at: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    let after = run(text, at.end, AZURE_AD, 60);
    // A full stop or dash at the end belongs to the sentence.
    let after = after - run_back(text, at.end + after, crate::bytes::DOT, 3.min(after.saturating_sub(31)));
    let start = at.start.saturating_sub(3);
    let head = run_back(text, at.start, AZURE_AD, 3) == 3 && !is(before(text, start), AN);
    if has_exact(text, at.start + 1, "Q~") && head && (31..=34).contains(&after) {
        let range = start..at.end + after;
        if entropy_at_least(part(text, range.clone()), 3.0) {
            ctx.hit(rank("cloud-key"), range, out);
        }
    }
}

/// Finds Azure keys with a mark at a fixed offset: storage, functions, search, registry, database, hub,
/// `DevOps`.
pub(crate) fn azure_marked(ctx: &MatchContext<'_>, at: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    let exactly = |ahead: usize, class, after: usize, pad: usize| {
        let start = at.start.checked_sub(ahead)?;
        let end = at.end + after + pad;
        let inside = run(text, start, class, ahead) == ahead && run(text, at.end, class, after) == after;
        let ends = run(text, at.end + after, EQUALS, 3) == pad && !is(crate::bytes::at(text, end), AN);
        let fits = inside && ends && !is(before(text, start), AN);
        (fits && entropy_at_least(part(text, start..at.start), 3.5)).then_some(start..end)
    };
    let range = match part(text, at.clone()) {
        b"+ASt" | b"ACDb" => exactly(76, B64, 6, 2),
        b"AzFu" => exactly(44, U64, 6, 2),
        b"AzSe" => exactly(42, AN, 6, 0),
        b"AzCa" => exactly(42, B64, 6, 0).or_else(|| exactly(33, B64, 5, 1)),
        b"AIoT" => exactly(33, B64, 5, 1),
        b"JQQJ99" => exactly(52, AN, 26, 0),
        _ => None,
    };
    if let Some(range) = range {
        ctx.hit(rank("cloud-key"), range, out);
    }
}

/// Finds an Airtable token around a dot: `pat`, 14 bytes, the dot, 64 hex digits.
pub(crate) fn airtable(ctx: &MatchContext<'_>, dot: usize, out: &mut Vec<Match>) {
    let text = ctx.text;
    let Some(start) = dot.checked_sub(17).filter(|start| has_exact(text, *start, "pat")) else { return };
    let head = run(text, start + 3, AN, 15) == 14 && edge_ok(text, start, Edge::Word);
    if head && run(text, dot + 1, LHEX, 65) == 64 {
        ctx.hit(rank("service-key"), start..dot + 65, out);
    }
}

/// Finds a Firebase messaging key: `AAAA`, seven bytes, `:APA91b`, 134 bytes or more.
pub(crate) fn firebase(ctx: &MatchContext<'_>, at: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    let after = run(text, at.end, U64, 400);
    let head = at.start.checked_sub(12).filter(|start| {
        has_exact(text, *start, "AAAA") && run(text, *start, U64, 12) == 11 && before(text, at.start) == b':'
    });
    if let Some(start) = head.filter(|_| has_exact(text, at.start, "APA91b") && after >= 120) {
        ctx.hit(rank("service-key"), start..at.end + after, out);
    }
}

/// Finds a `MaxMind` license key: six bytes, `_`, 29 bytes, `_mmk`.
pub(crate) fn maxmind(ctx: &MatchContext<'_>, at: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    let start = at.start.saturating_sub(36);
    let shape = run(text, start, AN, 7) == 6
        && crate::bytes::at(text, start + 6) == b'_'
        && run(text, start + 7, AN, 30) == 29
        && has_exact(text, at.start, "_mmk")
        && !is(crate::bytes::at(text, at.end), AN);
    if shape && edge_ok(text, start, Edge::Word) {
        ctx.hit(rank("service-key"), start..at.end, out);
    }
}

/// Finds a Telegram bot token: 8 to 10 digits, `:AA`, 32 to 34 bytes.
pub(crate) fn telegram(ctx: &MatchContext<'_>, at: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    let digits = run_back(text, at.start, DIGIT, 11);
    let after = run(text, at.end, U64, 60);
    let start = at.start - digits;
    let edge = !is(before(text, start), AN)
        || part(text, start.saturating_sub(3)..start).eq_ignore_ascii_case(b"bot");
    let shape = (8..=10).contains(&digits) && (31..=34).contains(&after) && has_exact(text, at.start, ":AA");
    if shape && edge && entropy_at_least(part(text, at.end..at.end + after), 3.0) {
        ctx.hit(rank("chat-bot"), start..at.end + after, out);
    }
}

/// Returns where the first run begins that is a Discord token if its word follows after the text.
pub(crate) fn discord_open(text: &[u8]) -> Option<usize> {
    let from = text.len().saturating_sub(400);
    let mut dots = memchr::memchr_iter(b'.', part(text, from..text.len())).map(|place| from + place);
    dots.find(|dot| {
        let shape = at(text, dot + 7) == b'.' && run(text, dot + 1, U64, 7) == 6;
        shape && run(text, dot + 8, U64, 27) == 27 && run_back(text, *dot, AN, 23) == 23
    })
    .map(|dot| dot - run_back(text, dot, AN, 40))
}

/// Finds a Discord token around a dot, if its first part is the base64 of digits or the word is near.
pub(crate) fn discord(ctx: &MatchContext<'_>, dot: usize, near: VendorNear, out: &mut Vec<Match>) {
    let text = ctx.text;
    if at(text, dot + 7) != b'.' || run(text, dot + 1, U64, 7) != 6 {
        return;
    }
    let head = run_back(text, dot, AN, 40);
    let tail = run(text, dot + 8, U64, 80);
    if !(23..=28).contains(&head) || !(27..=60).contains(&tail) {
        return;
    }
    let range = dot - head..dot + 8 + tail;
    let id = base64(part(text, range.start..dot), 30);
    let digits = id.len() >= 17 && id.iter().all(u8::is_ascii_digit);
    if digits || near == VendorNear::Yes {
        ctx.hit(rank("chat-bot"), range, out);
    }
}

/// Whether the vendor's name is near.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VendorNear {
    Yes,
    No,
}

/// Finds Discord tokens within 100 bytes of the word `discord`, which need no id in their first part.
pub(crate) fn near_discord(ctx: &MatchContext<'_>, at: Range<usize>, out: &mut Vec<Match>) {
    let window = at.start.saturating_sub(200)..at.end + 130;
    for place in memchr::memchr_iter(b'.', part(ctx.text, window.clone())) {
        discord(ctx, window.start + place, VendorNear::Yes, out);
    }
}

/// Finds password hashes: `$id$…` with at least two further parts.
pub(crate) fn hashes(ctx: &MatchContext<'_>, at: Range<usize>, out: &mut Vec<Match>) {
    if !ctx.hashes || is(before(ctx.text, at.start), AN) {
        return;
    }
    let body = |byte: u8| is(byte, AN) || matches!(byte, b'.' | b'/' | b'$' | b'=' | b',' | b'+' | b'-');
    let length = part(ctx.text, at.start..at.start + 400).iter().take_while(|byte| body(**byte)).count();
    let range = at.start..at.start + length;
    if length >= 30 && entropy(part(ctx.text, range.clone())) >= 3.5 {
        ctx.hit(rank("hashes"), range, out);
    }
}

/// Returns `true` if a text is a UUID.
pub(crate) fn is_uuid(text: &[u8]) -> bool {
    use crate::bytes::HEX;
    let shape = [
        Part::Run(HEX, 8, 8),
        Part::Literal("-"),
        Part::Run(HEX, 4, 4),
        Part::Literal("-"),
        Part::Run(HEX, 4, 4),
        Part::Literal("-"),
        Part::Run(HEX, 4, 4),
        Part::Literal("-"),
        Part::Run(HEX, 12, 12),
    ];
    follow(text, 0, &shape) == Some(text.len())
}

/// Counts the changes between lowercase letters, capitals and digits. Identifiers have few, random values
/// many.
pub(crate) fn changes(value: &[u8]) -> usize {
    let class = |byte: &u8| {
        if is(*byte, LOWER) {
            1
        } else if is(*byte, AN) && !is(*byte, DIGIT) {
            2
        } else if is(*byte, DIGIT) {
            3
        } else {
            0
        }
    };
    // A capital before lowercase letters begins a word, which is one change.
    let pairs = value.iter().map(class).zip(value.iter().skip(1).map(class));
    pairs.filter(|(a, b)| *a != 0 && *b != 0 && a != b && !(*a == 2 && *b == 1)).count()
}
