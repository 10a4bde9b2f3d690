//! Keys of plain shape that are found by the vendor's name before them.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

use crate::bytes::{
    AN, DIGIT, HEX, LHEX, LOWER, NAME, TOKEN, U64, before, find, is, line_end, part, run, run_back,
};
use crate::redacted::kind::rank;
use crate::rules::prefixed::Part::{Literal as L, Run as R};
use crate::rules::prefixed::special::is_uuid;
use crate::rules::prefixed::{Part, entropy_at_least, follow};
use crate::rules::{Match, MatchContext};

/// The names of vendors.
pub(crate) const WORDS: &[&str] = plugward_types::words![
    "twilio mailgun heroku datadog dd_api dd_app mistral cloudflare okta snyk netlify circleci circle_token",
    "sonar algolia fastly square mailchimp launchdarkly vault cohere sendbird intercom zendesk asana rollbar",
    "travis codecov dropbox linode",
];

/// How far after the name a key may begin.
const REACH: usize = 80;

/// Examines each token that begins within reach of a vendor's name.
pub(crate) fn near(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    let vendor = part(text, word.clone()).to_ascii_lowercase();
    let window = word.end..word.end + REACH;
    // A key that only the name identifies must be on the same line.
    let line = line_end(text, word.end, REACH);
    let told =
        ["key", "token", "secret", "auth", "pass"].iter().any(|w| find(text, word.end..line, w).is_some());
    let mut place = word.end;
    while place < window.end.min(text.len()) {
        let length = run(text, place, NAME, 200);
        if length == 0 {
            place += 1;
            continue;
        }
        if place > word.end && !is(before(text, place), TOKEN) || before(text, place) == b'=' {
            // A full stop ends the sentence, not the key.
            let stops = run_back(text, place + length, crate::bytes::DOT, 3);
            let token = part(text, place..place + length - stops);
            let strong = has_own_mark(&vendor, token);
            let plain = told && place <= line && has_plain_shape(&vendor, token) && is_mixed(token);
            if (strong || plain)
                && entropy_at_least(token, 3.0)
                && !(ctx.keeps() && crate::rules::placeholder::is_masked(token))
            {
                ctx.hit(rank("near-word"), place..place + length - stops, out);
            }
        }
        place += length;
    }
}

fn is_mixed(token: &[u8]) -> bool {
    token.iter().filter(|byte| is(**byte, DIGIT)).count() >= 3 && token.iter().any(|byte| !is(*byte, DIGIT))
}

fn whole(token: &[u8], shape: &[Part]) -> bool {
    follow(token, 0, shape) == Some(token.len())
}

/// Returns `true` for shapes with a mark of the vendor.
fn has_own_mark(vendor: &[u8], token: &[u8]) -> bool {
    match vendor {
        b"twilio" => whole(token, &[L("SK"), R(HEX, 32, 32)]),
        b"mailgun" => {
            whole(token, &[L("key-"), R(AN, 32, 32)])
                || whole(token, &[R(LHEX, 32, 32), L("-"), R(LHEX, 8, 8), L("-"), R(LHEX, 8, 8)])
        }
        b"okta" => whole(token, &[L("00"), R(U64, 40, 40)]),
        b"square" => whole(token, &[L("EAAA"), R(U64, 22, 60)]),
        b"mailchimp" => whole(token, &[R(HEX, 32, 32), L("-us"), R(DIGIT, 1, 2)]),
        b"launchdarkly" => {
            [&b"sdk-"[..], b"mob-", b"api-"].iter().any(|mark| token.strip_prefix(*mark).is_some_and(is_uuid))
        }
        b"vault" => whole(token, &[L("s."), R(AN, 24, 24)]) || whole(token, &[L("b."), R(AN, 90, 300)]),
        _ => false,
    }
}

/// Returns `true` for shapes that only the vendor's name identifies.
fn has_plain_shape(vendor: &[u8], token: &[u8]) -> bool {
    let hex = |count| whole(token, &[R(HEX, count, count)]);
    let an = |count| whole(token, &[R(AN, count, count)]);
    let open = |least, most| whole(token, &[R(U64, least, most)]) && token.len() <= most;
    match vendor {
        b"heroku" | b"snyk" | b"travis" | b"codecov" => {
            is_uuid(token) || (vendor == b"travis" && open(20, 24))
        }
        b"datadog" | b"dd_api" | b"dd_app" => hex(32) || hex(40),
        b"mistral" | b"fastly" => an(32) || (vendor == b"fastly" && open(32, 32)),
        b"cloudflare" => hex(37) || open(40, 40),
        b"netlify" => open(40, 46),
        b"circleci" | b"circle_token" | b"sonar" | b"sendbird" | b"zendesk" => hex(40) || an(40),
        b"algolia" | b"rollbar" | b"twilio" => hex(32),
        b"cohere" => an(40),
        b"linode" => hex(64),
        b"dropbox" => open(60, 180) || whole(token, &[R(LOWER | DIGIT, 15, 15)]),
        _ => false,
    }
}
