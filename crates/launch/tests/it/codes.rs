//! The list of codes.

use plugward_launch::{CODES, LaunchErrorKind};

#[test]
fn codes_are_those_of_the_kinds() {
    let mut kinds = [
        LaunchErrorKind::Spec,
        LaunchErrorKind::Record,
        LaunchErrorKind::Exec,
        LaunchErrorKind::Io,
        LaunchErrorKind::Handshake,
    ]
    .map(LaunchErrorKind::code)
    .to_vec();
    // The code of a refusal, which is not an error.
    kinds.push("launch/enforcement");
    kinds.sort_unstable();
    assert!(CODES.iter().map(|(code, _)| *code).eq(kinds));
    assert!(CODES.iter().all(|(_, help)| !help.is_empty() && !help.ends_with('.')));
}
