//! Orders matches, aligns them to characters, and joins the ones that overlap.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one text stay below isize::MAX")]

use crate::known::KnownSecrets;
use crate::redacted::finding::{LayerStack, RedactAction};
use crate::redacted::kind::rank;
use crate::rules::{MarkerEncoding, Match};

/// Moves the ends of a match outwards to the borders of characters.
pub(crate) fn to_characters(text: &[u8], hit: &mut Match) {
    if hit.wide != MarkerEncoding::Bytes {
        return;
    }
    let inside = |place: usize| (0x80..0xc0).contains(&crate::bytes::at(text, place)) && place > 0;
    for _ in 0..3 {
        hit.at.start -= usize::from(inside(hit.at.start));
        hit.at.end += usize::from(hit.at.end < text.len() && inside(hit.at.end));
    }
}

/// Sorts matches and joins the ones that overlap. A kept match is dropped if something is removed there.
pub(crate) fn merge(mut hits: Vec<Match>) -> Vec<Match> {
    hits.sort_by_key(|hit| (hit.at.start, hit.rank, hit.via.depth(), hit.at.end));
    let stay: Vec<Match> = hits
        .iter()
        .filter(|hit| !matches!(hit.action, RedactAction::Removed | RedactAction::Withheld))
        .cloned()
        .collect();
    // A part of a documented example key is as public as the whole key.
    let examples: Vec<&Match> = stay.iter().filter(|hit| hit.action == RedactAction::KeptExample).collect();
    let inside =
        |hit: &Match| examples.iter().any(|own| own.at.start <= hit.at.start && hit.at.end <= own.at.end);
    hits.retain(|hit| {
        hit.action == RedactAction::Withheld || hit.action == RedactAction::Removed && !inside(hit)
    });
    // In place, because a block can have thousands of matches.
    hits.dedup_by(|hit, last| {
        let overlap = hit.at.start < last.at.end;
        if overlap {
            join(last, hit);
        }
        overlap
    });
    let mut groups = hits;
    let mut kept: Vec<Match> = Vec::new();
    for hit in stay {
        let after = groups.partition_point(|group| group.at.end <= hit.at.start);
        let covered = groups.get(after).is_some_and(|group| group.at.start < hit.at.end);
        if !covered && kept.last().is_none_or(|last| last.at.end <= hit.at.start) {
            kept.push(hit);
        }
    }
    groups.append(&mut kept);
    groups.sort_by_key(|hit| hit.at.start);
    groups
}

/// Joins two matches that overlap. The kind is that of the rule that is first in the table.
fn join(last: &mut Match, hit: &Match) {
    let at = last.at.start..last.at.end.max(hit.at.end);
    let known = last.known || hit.known;
    let withheld = last.action == RedactAction::Withheld || hit.action == RedactAction::Withheld;
    let first = (hit.rank, hit.via.depth()) < (last.rank, last.via.depth());
    let told = if first { hit.clone() } else { last.clone() };
    // UTF-16 text can match in another view too, one that drops the NUL bytes. The marker must be UTF-16 in
    // either case.
    let wide = if last.wide == MarkerEncoding::Bytes { hit.wide } else { last.wide };
    *last = Match {
        at,
        known,
        wide,
        action: if withheld { RedactAction::Withheld } else { RedactAction::Removed },
        ..told
    };
}

/// Returns the layers of a match. A known value that is now written differently was laundered.
pub(crate) fn via_of(hit: &Match, raw: &[u8], known: Option<&KnownSecrets>) -> LayerStack {
    let same = hit.rank != rank("known") && known.is_some_and(|known| known.is_raw(raw));
    if hit.known && !same { hit.via.laundered() } else { hit.via }
}
