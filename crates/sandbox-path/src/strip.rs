//! Absolute names that a guest sends, made relative to the jail again.

use std::path::Path;

use crate::error::{PathEscape, PathEscapeKind};
use crate::gate::{Form, gate};
use crate::policy::Policy;
use crate::rel::RelPath;

pub(crate) fn strip<'a>(
    jail: Option<&Path>,
    absolute: &'a Path,
    policy: Policy,
) -> Result<RelPath<'a>, PathEscape> {
    let given = absolute.as_os_str().as_encoded_bytes();
    let rest = below(jail.map(|path| path.as_os_str().as_encoded_bytes()), given)
        .ok_or_else(|| PathEscape::new("strip", given, PathEscapeKind::Outside.into()))?;
    if rest.is_empty() {
        return Ok(RelPath::jail());
    }
    // The text has what the component is counted in, and the jail's own path is none of it.
    gate(rest, policy, Form::Name).map_err(|no| PathEscape::new("strip", rest, no))
}

/// Gives what follows the jail's own path; nothing where they are the same folder.
fn below<'a>(jail: Option<&[u8]>, given: &'a [u8]) -> Option<&'a [u8]> {
    let mut jail = jail?;
    while let [head @ .., b'/'] = jail {
        jail = head;
    }
    match given.strip_prefix(jail)? {
        [] if given.is_empty() => None,
        [] => Some(&[]),
        [b'/', rest @ ..] => {
            let start = rest.iter().position(|byte| *byte != b'/').unwrap_or(rest.len());
            rest.get(start..)
        }
        _ => None,
    }
}
