//! The gate on the bytes of a path: pure code, no system call, first match wins.

use std::borrow::Cow;

use crate::error::{No, PathEscapeKind};
use crate::names::{self, NameFault};
use crate::policy::{Dotfiles, Names, Parents, Policy};
use crate::rel::RelPath;

/// The longest path, in bytes as given; what Linux can take with its closing NUL.
pub(crate) const PATH_MAX: usize = 4095;
/// The longest component, in bytes.
pub(crate) const NAME_MAX: usize = 255;

/// What the name is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A file, or something to make: a trailing separator is refused.
    Name,
    /// A folder: trailing separators are dropped.
    Folder,
}

/// Checks a path and drops `.` and doubled separators.
pub(crate) fn gate(given: &[u8], policy: Policy, form: Form) -> Result<RelPath<'_>, No> {
    whole(given)?;
    let (mut depth, mut parents, mut plain) = (0_usize, false, true);
    let mut last_is_name = false;
    for part in given.split(|byte| is_separator(*byte)) {
        last_is_name = !matches!(part, b"" | b".");
        if !last_is_name {
            plain = false;
            continue;
        }
        depth = depth.saturating_add(1);
        component(part, policy).map_err(|kind| No::at(kind, depth))?;
        parents |= part == b"..";
    }
    let is_jail = given == b".";
    if form == Form::Name && !last_is_name && !is_jail {
        return Err(PathEscapeKind::TrailingSeparator.into());
    }
    let bytes = if plain && !cfg!(windows) { Cow::Borrowed(given) } else { normalize(given, depth) };
    Ok(RelPath { bytes, depth, parents })
}

/// Checks what concerns the path as a whole.
fn whole(given: &[u8]) -> Result<(), No> {
    let kind = if given.is_empty() {
        PathEscapeKind::Empty
    } else if given.contains(&0) {
        PathEscapeKind::Nul
    } else if given.len() > PATH_MAX {
        PathEscapeKind::TooLong
    } else if cfg!(windows) && has_prefix(given) {
        PathEscapeKind::Prefix
    } else if given.first().copied().is_some_and(is_separator) {
        PathEscapeKind::Absolute
    } else {
        return Ok(());
    };
    Err(kind.into())
}

/// Checks one component that is neither empty nor `.`.
fn component(part: &[u8], policy: Policy) -> Result<(), PathEscapeKind> {
    if part.len() > NAME_MAX {
        return Err(PathEscapeKind::TooLong);
    }
    if part == b".." {
        return match policy.parents {
            Parents::Refuse => Err(PathEscapeKind::Parent),
            Parents::Resolve => Ok(()),
        };
    }
    if policy.dotfiles == Dotfiles::Refuse
        && (names::is_dotfile(part)
            || cfg!(windows) && names::portable_fault(part) == Some(NameFault::Reserved))
    {
        return Err(if names::is_dotfile(part) {
            PathEscapeKind::Dotfile
        } else {
            PathEscapeKind::ReservedName
        });
    }
    if policy.names == Names::Portable || cfg!(windows) {
        match names::portable_fault(part) {
            Some(NameFault::Reserved) => return Err(PathEscapeKind::ReservedName),
            Some(NameFault::Stream) => return Err(PathEscapeKind::AlternateStream),
            None => {}
        }
    }
    Ok(())
}

/// Joins the components that count. Borrows where only something at an end had to go.
fn normalize(given: &[u8], depth: usize) -> Cow<'_, [u8]> {
    let mut joined = Vec::with_capacity(given.len());
    for part in given.split(|byte| is_separator(*byte)).filter(|part| !matches!(*part, b"" | b".")) {
        if !joined.is_empty() {
            joined.push(b'/');
        }
        joined.extend_from_slice(part);
    }
    if depth == 0 { Cow::Borrowed(b"") } else { Cow::Owned(joined) }
}

const fn is_separator(byte: u8) -> bool {
    byte == b'/' || (cfg!(windows) && byte == b'\\')
}

/// A drive, a share or a device prefix of Windows.
fn has_prefix(given: &[u8]) -> bool {
    match given {
        [first, second, ..] if is_separator(*first) && is_separator(*second) => true,
        [letter, b':', ..] => letter.is_ascii_alphabetic(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(given: &[u8], policy: Policy, form: Form) -> Result<Vec<u8>, (PathEscapeKind, Option<usize>)> {
        gate(given, policy, form).map(|rel| rel.bytes.into_owned()).map_err(|no| (no.kind, no.component))
    }

    #[test]
    fn the_first_match_in_the_stated_order_wins() {
        let policy = Policy::agent();
        let long = [b"a/".repeat(2100), b"../.x".to_vec()].concat();
        let wide = b"a".repeat(256);
        for (given, kind, component) in [
            (&b""[..], PathEscapeKind::Empty, None),
            (b"/..\0", PathEscapeKind::Nul, None),
            (&long, PathEscapeKind::TooLong, None),
            (b"/../", PathEscapeKind::Absolute, None),
            (b"a/./../.x/", PathEscapeKind::Parent, Some(2)),
            (&[&b".x/"[..], &wide].concat(), PathEscapeKind::Dotfile, Some(1)),
            (&[&wide[..], b"/.x"].concat(), PathEscapeKind::TooLong, Some(1)),
            (b"a/", PathEscapeKind::TrailingSeparator, None),
            (b"a/.", PathEscapeKind::TrailingSeparator, None),
            (b"./.", PathEscapeKind::TrailingSeparator, None),
        ] {
            assert_eq!(check(given, policy, Form::Name), Err((kind, component)));
        }
    }

    #[test]
    fn what_does_not_count_is_dropped() {
        let policy = Policy::standard();
        for (given, form, kept) in [
            (&b"./a//b/./f"[..], Form::Name, &b"a/b/f"[..]),
            (b".", Form::Name, b""),
            (b"./", Form::Folder, b""),
            (b"a///./", Form::Folder, b"a"),
            (b"...", Form::Name, b"..."),
            (b"%2e%2e/~/$HOME", Form::Name, b"%2e%2e/~/$HOME"),
        ] {
            assert_eq!(check(given, policy, form), Ok(kept.to_vec()));
        }
        assert!(matches!(gate(b"a/b", policy, Form::Name).unwrap().bytes, Cow::Borrowed(_)));
    }
}
