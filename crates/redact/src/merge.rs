//! Hits in order, at the borders of characters, and one where several overlap.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one text stay below isize::MAX")]

use crate::found::{Did, Via};
use crate::kind::rank;
use crate::known::Known;
use crate::rules::{Hit, Wide};

/// Moves the ends of a hit outwards to the borders of characters.
pub(crate) fn to_characters(text: &[u8], hit: &mut Hit) {
    if hit.wide != Wide::Bytes {
        return;
    }
    let inside = |place: usize| (0x80..0xc0).contains(&crate::bytes::at(text, place)) && place > 0;
    for _ in 0..3 {
        hit.at.start -= usize::from(inside(hit.at.start));
        hit.at.end += usize::from(hit.at.end < text.len() && inside(hit.at.end));
    }
}

/// Puts hits in order and makes one of those that overlap; what stays is dropped where something is cut.
pub(crate) fn merge(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by_key(|hit| (hit.at.start, hit.rank, hit.via.depth(), hit.at.end));
    let (mut cut, stay): (Vec<Hit>, Vec<Hit>) =
        hits.into_iter().partition(|hit| matches!(hit.did, Did::Cut | Did::Withheld));
    // A part of a documented example key is as public as the whole.
    let examples: Vec<&Hit> = stay.iter().filter(|hit| hit.did == Did::KeptExample).collect();
    cut.retain(|hit| {
        hit.did != Did::Cut
            || !examples.iter().any(|own| own.at.start <= hit.at.start && hit.at.end <= own.at.end)
    });
    let mut groups: Vec<Hit> = Vec::with_capacity(cut.len());
    for hit in cut {
        match groups.last_mut() {
            Some(last) if hit.at.start < last.at.end => {
                let end = last.at.end.max(hit.at.end);
                let known = last.known || hit.known;
                let withheld = last.did == Did::Withheld || hit.did == Did::Withheld;
                let first = (hit.rank, hit.via.depth()) < (last.rank, last.via.depth());
                if first {
                    *last = Hit { at: last.at.clone(), ..hit };
                }
                last.at.end = end;
                last.known = known;
                last.did = if withheld { Did::Withheld } else { Did::Cut };
            }
            _ => groups.push(hit),
        }
    }
    let mut kept: Vec<Hit> = Vec::new();
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

/// Gives the layers of a hit; a value that was known and stands there in another way was laundered.
pub(crate) fn via_of(hit: &Hit, raw: &[u8], known: Option<&Known>) -> Via {
    let same = hit.rank != rank("known") && known.is_some_and(|known| known.is_raw(raw));
    if hit.known && !same { hit.via.laundered() } else { hit.via }
}
