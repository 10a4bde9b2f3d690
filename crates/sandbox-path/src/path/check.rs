//! Syntactic checks on the bytes of a path, before any system call. The first fault is reported.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use std::borrow::Cow;

use crate::error::{LookupError, PathEscapeKind};
use crate::path::names::{self, NameFault};
use crate::path::relative::RelPath;
use crate::policy::{Dotfiles, Names, Policy};

/// The longest path in bytes. Linux accepts 4,096 with the terminating NUL.
pub(crate) const PATH_MAX: usize = 4095;
/// The longest component in bytes, as on Linux file systems.
pub(crate) const NAME_MAX: usize = 255;

/// The kind of object that a path is expected to lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathForm {
    /// A file, or an entry to create. A trailing separator is refused.
    Name,
    /// A directory. Trailing separators are dropped.
    Directory,
}

/// Checks a path and drops `.` and doubled separators.
#[inline]
pub(crate) fn check_path(given: &[u8], policy: Policy, form: PathForm) -> Result<RelPath<'_>, LookupError> {
    match check_fast(given, policy) {
        Some(depth) => Ok(RelPath { bytes: Cow::Borrowed(given), depth }),
        None => check_components(given, policy, form),
    }
}

/// Returns the number of components if no component is empty, too long, or starts with a dot.
///
/// It is a fast path: nearly all paths are like that, and one pass over the bytes accepts them without a copy. It
/// accepts only paths that [`check_components`] accepts, and returns `None` for all others.
#[inline]
fn check_fast(given: &[u8], policy: Policy) -> Option<usize> {
    if policy.names == Names::Portable || policy.dotfiles == Dotfiles::Refuse || given.len() > PATH_MAX {
        return None;
    }
    // `start` is the offset of the current component.
    let (mut depth, mut start) = (1_usize, 0_usize);
    for (at, byte) in given.iter().enumerate() {
        // NUL, `.` and `/` are at or below `/` in ASCII, so one comparison skips all letters, digits and bytes
        // of UTF-8.
        if *byte > b'/' {
            continue;
        }
        match byte {
            0 => return None,
            b'.' if at == start => return None,
            b'/' => {
                if !(1..=NAME_MAX).contains(&(at - start)) {
                    return None;
                }
                depth += 1;
                start = at + 1;
            }
            _ => {}
        }
    }
    (1..=NAME_MAX).contains(&(given.len() - start)).then_some(depth)
}

/// Checks a path component by component.
fn check_components(given: &[u8], policy: Policy, form: PathForm) -> Result<RelPath<'_>, LookupError> {
    whole(given)?;
    let (mut depth, mut plain) = (0_usize, true);
    let mut last_is_name = false;
    for part in given.split(|byte| *byte == b'/') {
        last_is_name = !matches!(part, b"" | b".");
        if !last_is_name {
            plain = false;
            continue;
        }
        depth += 1;
        component(part, policy).map_err(|kind| LookupError::at(kind, depth))?;
    }
    // `.` is the jail itself. It passes here, so that the operation can name the jail in its error.
    let is_jail = given == b".";
    if form == PathForm::Name && !last_is_name && !is_jail {
        return Err(PathEscapeKind::TrailingSeparator.into());
    }
    let bytes = if plain { Cow::Borrowed(given) } else { normalize(given, depth) };
    Ok(RelPath { bytes, depth })
}

/// Checks the rules that concern the path as a whole.
fn whole(given: &[u8]) -> Result<(), LookupError> {
    let kind = if given.is_empty() {
        PathEscapeKind::Empty
    // A system call would see only the part before the NUL.
    } else if given.contains(&0) {
        PathEscapeKind::Nul
    } else if given.len() > PATH_MAX {
        PathEscapeKind::TooLong
    } else if given.starts_with(b"/") {
        PathEscapeKind::Absolute
    } else {
        return Ok(());
    };
    Err(kind.into())
}

/// Checks one component that is neither empty nor `.`.
fn component(part: &[u8], policy: Policy) -> Result<(), PathEscapeKind> {
    // Checked here and not left to the system, because the limit differs between file systems and the same path
    // must be accepted on each.
    if part.len() > NAME_MAX {
        return Err(PathEscapeKind::TooLong);
    }
    if part == b".." {
        return Err(PathEscapeKind::Parent);
    }
    if policy.dotfiles == Dotfiles::Refuse && names::is_dotfile(part) {
        return Err(PathEscapeKind::Dotfile);
    }
    if policy.names == Names::Portable {
        match names::portable_fault(part) {
            Some(NameFault::Reserved) => return Err(PathEscapeKind::ReservedName),
            Some(NameFault::Stream) => return Err(PathEscapeKind::AlternateStream),
            None => {}
        }
    }
    Ok(())
}

/// Joins the components without `.` and doubled separators.
fn normalize(given: &[u8], depth: usize) -> Cow<'_, [u8]> {
    let mut joined = Vec::with_capacity(given.len());
    for part in given.split(|byte| *byte == b'/').filter(|part| !matches!(*part, b"" | b".")) {
        if !joined.is_empty() {
            joined.push(b'/');
        }
        joined.extend_from_slice(part);
    }
    if depth == 0 { Cow::Borrowed(b"") } else { Cow::Owned(joined) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        given: &[u8],
        policy: Policy,
        form: PathForm,
    ) -> Result<Vec<u8>, (PathEscapeKind, Option<usize>)> {
        check_path(given, policy, form)
            .map(|rel| rel.bytes.into_owned())
            .map_err(|error| (error.kind, error.component))
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
            assert_eq!(check(given, policy, PathForm::Name), Err((kind, component)));
        }
    }

    proptest::proptest! {
        #[test]
        fn the_short_way_says_what_the_long_way_says(
            parts in proptest::collection::vec("(\\.{0,3}|[ab/.\0]{0,5}|a{253,257})", 0..6),
            length in proptest::option::weighted(0.2, 4080..4112_usize),
        ) {
            let mut given = parts.join("/").into_bytes();
            if let Some(length) = length {
                given.resize(length, b'a');
                given.iter_mut().skip(99).step_by(100).for_each(|byte| *byte = b'/');
            }
            let policies = [Policy::standard(), Policy::agent()];
            for (policy, form) in policies.into_iter().flat_map(|one| [(one, PathForm::Name), (one, PathForm::Directory)]) {
                let short = check_fast(&given, policy);
                let long = check_components(&given, policy, form);
                match (short, &long) {
                    (Some(depth), Ok(rel)) => {
                        proptest::prop_assert_eq!((depth, &given[..]), (rel.depth, &rel.bytes[..]));
                    }
                    (Some(_), Err(no)) => proptest::prop_assert!(false, "{:?}", no.kind),
                    (None, _) => {}
                }
            }
        }
    }

    #[test]
    fn the_short_way_is_taken() {
        let policy = Policy::standard();
        assert_eq!(check_fast(b"a/b.c/d", policy), Some(3));
        assert_eq!(check_fast(&[b'a'; 255], policy), Some(1));
        for left in
            [&b""[..], b"/a", b"a//b", b"a/", b"./a", b"a/.b", b"a\0", &[b'a'; 256], &b"a/".repeat(2048)]
        {
            assert_eq!(check_fast(left, policy), None);
        }
        assert_eq!(check_fast(b"a", Policy::agent()), None);
    }

    #[test]
    fn what_does_not_count_is_dropped() {
        let policy = Policy::standard();
        for (given, form, kept) in [
            (&b"./a//b/./f"[..], PathForm::Name, &b"a/b/f"[..]),
            (b".", PathForm::Name, b""),
            (b"./", PathForm::Directory, b""),
            (b"a///./", PathForm::Directory, b"a"),
            (b"...", PathForm::Name, b"..."),
            (b"%2e%2e/~/$HOME", PathForm::Name, b"%2e%2e/~/$HOME"),
        ] {
            assert_eq!(check(given, policy, form), Ok(kept.to_vec()));
        }
        assert!(matches!(check_path(b"a/b", policy, PathForm::Name).unwrap().bytes, Cow::Borrowed(_)));
    }
}
