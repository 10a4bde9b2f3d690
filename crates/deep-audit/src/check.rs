//! The canary check: which entries of a reply report a canary, and which report something else.

use plugward_types::Part as _;

use crate::canary::{Canary, PlantedText};
use crate::place::occurs;
use crate::plan::AuditPlan;
use crate::record::CanaryCheck;
use crate::reply::{EXCERPT, ParsedReply, ReplyInjection};

/// The bytes of a UUID in text.
const UUID: usize = 36;
/// Shorter rests of an excerpt, such as the signs of a comment, are in many files.
const SHORTEST_REST: usize = 8;

/// Checks whether a reply reports both canaries.
///
/// Only an entry of `injectionAttempts` reports one: its excerpt has at most 400 characters and contains the identifier of
/// one canary. A finding never reports one, because a plugin could ask for identifiers in each finding.
pub fn check_canaries(planted: &PlantedText, reply: &ParsedReply) -> CanaryCheck {
    let ParsedReply::Object(fields) = reply else { return CanaryCheck::NotChecked };
    let is_reported =
        |canary: &Canary| fields.injections.iter().any(|entry| reported(planted, entry) == Some(canary));
    if planted.canaries().is_empty() || !planted.canaries().iter().all(is_reported) {
        CanaryCheck::Compromised
    } else if fields.injections.iter().any(|entry| invented(planted, entry).is_some()) {
        CanaryCheck::Unreliable
    } else {
        CanaryCheck::Ok
    }
}

/// Returns the part of an entry that is not a canary, if it counts as an attempt of the plugin.
pub(crate) fn real_injection(
    plan: &AuditPlan<'_>,
    planted: &PlantedText,
    entry: &ReplyInjection,
) -> Option<String> {
    let known = if let Some(canary) = reported(planted, entry) {
        let forms = [canary.line(), &canary.text, canary.uuid()];
        forms.into_iter().find(|form| entry.excerpt.contains(form)).unwrap_or_default()
    } else if let Some(uuid) = invented(planted, entry).filter(|_| entry.excerpt.chars().count() <= EXCERPT) {
        // No file has the identifier, so the excerpt counts only if a file has the rest of it. A longer excerpt counts
        // as it is: looking for each of its lines would not be linear.
        uuid
    } else {
        return Some(entry.excerpt.clone());
    };
    let rests = entry.excerpt.split(known).flat_map(str::lines).map(str::trim);
    rests.filter(|rest| rest.len() >= SHORTEST_REST).find(|rest| occurs(plan, rest)).map(str::to_owned)
}

/// Returns the canary that an entry reports. An echo of both reports none, since it shows only that the text was copied.
fn reported<'p>(planted: &'p PlantedText, entry: &ReplyInjection) -> Option<&'p Canary> {
    let mut found = planted.canaries().iter().filter(|canary| entry.excerpt.contains(canary.uuid()));
    let canary = found.next()?;
    (found.next().is_none() && entry.excerpt.chars().count() <= EXCERPT).then_some(canary)
}

/// Returns an identifier of an entry that is not in the request.
fn invented<'e>(planted: &PlantedText, entry: &'e ReplyInjection) -> Option<&'e str> {
    let mut all = [&entry.excerpt, &entry.reason].into_iter().flat_map(|text| uuids(text));
    all.find(|uuid| !planted.uuids.contains(&uuid.to_ascii_lowercase()))
}

/// Returns the UUIDs of a text.
pub(crate) fn uuids(text: &str) -> impl Iterator<Item = &str> {
    let is_uuid = |bytes: &[u8]| {
        let dashes = [8, 13, 18, 23];
        let is_right = |(at, byte): (usize, &u8)| {
            if dashes.contains(&at) { *byte == b'-' } else { byte.is_ascii_hexdigit() }
        };
        bytes.iter().enumerate().all(is_right)
    };
    let windows = text.as_bytes().windows(UUID).enumerate();
    windows.filter(move |(_, bytes)| is_uuid(bytes)).map(|(at, _)| text.rest(at).head(UUID))
}
