//! The list of codes.

use plugward_launch::{CODES, LaunchErrorKind};

#[test]
fn codes_are_those_of_the_kinds() {
    let mut kinds =
        [LaunchErrorKind::Spec, LaunchErrorKind::Record, LaunchErrorKind::Exec, LaunchErrorKind::Io]
            .map(LaunchErrorKind::code);
    kinds.sort_unstable();
    assert!(CODES.iter().map(|(code, _)| *code).eq(kinds));
    assert!(CODES.iter().all(|(_, help)| !help.is_empty() && !help.ends_with('.')));
}
