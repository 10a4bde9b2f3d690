//! The list of codes, and what the errors give.

use std::collections::BTreeSet;

use plugward_sandbox_path::{
    CODES, ErrorClass, FileKind, Guarantee, JailErrorKind, OpenErrorKind, PathEscapeKind,
};

#[test]
fn the_list_holds_every_code_and_no_other() {
    use PathEscapeKind as K;
    let kinds = [
        K::Empty,
        K::Nul,
        K::TooLong,
        K::Absolute,
        K::Parent,
        K::TrailingSeparator,
        K::Dotfile,
        K::ReservedName,
        K::AlternateStream,
        K::NotUtf8,
        K::JailItself,
        K::Symlink,
        K::Outside,
        K::Mount,
        K::NotADirectory,
        K::NotRegular { is: FileKind::Fifo },
        K::HardLinked { links: 2 },
        K::NotFound,
        K::Denied,
        K::Contended,
        K::Exhausted,
        K::JailGone,
        K::BackendLost,
        K::Unsupported,
        K::Io,
    ];
    let open = [
        OpenErrorKind::Exists,
        OpenErrorKind::NotEmpty,
        OpenErrorKind::TooLarge { limit: 1 },
        OpenErrorKind::TooDeep { limit: 1 },
    ];
    let jail = [
        JailErrorKind::NotFound,
        JailErrorKind::NotADirectory,
        JailErrorKind::Symlink,
        JailErrorKind::IsRoot,
        JailErrorKind::Exists,
        JailErrorKind::NotOurs,
        JailErrorKind::WeakerGuarantee { has: Guarantee::AtOpenWalk },
        JailErrorKind::PolicyUnsupported,
        JailErrorKind::Denied,
        JailErrorKind::Io,
    ];
    let mut given: BTreeSet<_> = kinds.iter().map(|kind| kind.code()).collect();
    given.extend(open.iter().map(OpenErrorKind::code));
    given.extend(jail.iter().map(|kind| kind.code()));
    // A race has no public constructor: `reading::what_create_saw_is_what_open_gives` meets one.
    given.insert("path/race");
    let listed: BTreeSet<_> = CODES.iter().map(|(code, _)| *code).collect();
    assert_eq!(given, listed);
    assert!(CODES.is_sorted() && CODES.len() == listed.len());
    for (code, help) in CODES {
        assert!(!help.is_empty() && !help.ends_with('.'), "{code}");
    }
    // Texts are fragments: they name no code, start small and end without a full stop.
    for text in kinds.iter().map(ToString::to_string).chain(jail.iter().map(ToString::to_string)) {
        assert!(text.starts_with(|c: char| c.is_ascii_lowercase()) && !text.ends_with('.'), "{text}");
    }
    // Exactly one answer is "not there", and no failure of the system is a refusal.
    assert_eq!(kinds.iter().filter(|kind| kind.class() == ErrorClass::NotFound).count(), 1);
    assert_eq!(kinds.iter().filter(|kind| kind.class() == ErrorClass::Failed).count(), 7);
}
