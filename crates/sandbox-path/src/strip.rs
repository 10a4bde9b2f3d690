//! Absolute names that a guest sends, made relative to the jail again.

use std::path::Path;

use crate::error::{No, PathEscape, PathEscapeKind};
use crate::gate::{Form, gate};
use crate::policy::Policy;
use crate::rel::RelPath;

pub(crate) fn strip<'a>(
    jail: Option<&Path>,
    absolute: &'a Path,
    policy: Policy,
) -> Result<RelPath<'a>, PathEscape> {
    let given = absolute.as_os_str().as_encoded_bytes();
    below(jail.map(|path| path.as_os_str().as_encoded_bytes()), given)
        .ok_or_else(|| No::from(PathEscapeKind::Outside))
        .and_then(|rest| if rest.is_empty() { Ok(RelPath::jail()) } else { gate(rest, policy, Form::Name) })
        .map_err(|no| PathEscape::new("strip", given, no))
}

/// Gives what follows the jail's own path; nothing where they are the same folder.
fn below<'a>(jail: Option<&[u8]>, given: &'a [u8]) -> Option<&'a [u8]> {
    let mut jail = jail?;
    while let [head @ .., b'/'] = jail {
        jail = head;
    }
    match given.strip_prefix(jail)? {
        [] => Some(&[]),
        [b'/', rest @ ..] => {
            let start = rest.iter().position(|byte| *byte != b'/').unwrap_or(rest.len());
            rest.get(start..)
        }
        _ => None,
    }
}
