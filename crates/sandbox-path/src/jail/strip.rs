//! Absolute paths of a guest, made relative to the jail.

use std::path::Path;

use crate::error::{PathEscape, PathEscapeKind};
use crate::path::check::{PathForm, check_path};
use crate::path::relative::RelPath;
use crate::policy::Policy;

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
    // The error shows only the rest, because components are counted in it and the jail's path is private.
    check_path(rest, policy, PathForm::Name).map_err(|error| PathEscape::new("strip", rest, error))
}

/// Returns the rest after the jail's path; empty if the paths are equal.
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
