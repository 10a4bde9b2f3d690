//! What is read, and what is refused.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use plugward_state_file::{
    Backup, CODES, CopyFault, Owner, Recovered, StateErrorKind, StateFile, StateWarning, TrustFault,
};

use crate::support::{CAP, LONG, NAME, chmod, file_in, open, put, us};

fn refused(path: &Path) -> TrustFault {
    let error = file_in(path).read().unwrap_err();
    assert_eq!(error.code(), "state/not-ours");
    assert!(!error.help().is_empty());
    match error.kind() {
        StateErrorKind::NotTrusted(what) => what.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_file_is_none_and_a_directory_of_ours_is_asked_for_nothing() {
    let home = tempfile::tempdir().unwrap();
    assert!(file_in(home.path()).read().unwrap().is_none());
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn a_link_fifo_directory_or_socket_in_its_place_is_refused_at_once() {
    let home = tempfile::tempdir().unwrap();
    let (path, other) = (home.path().join(NAME), home.path().join("other"));
    std::fs::write(&other, "x").unwrap();
    symlink("other", &path).unwrap();
    assert_eq!(refused(home.path()), TrustFault::Link);
    std::fs::remove_file(&path).unwrap();
    symlink("nowhere", &path).unwrap();
    assert_eq!(refused(home.path()), TrustFault::Link);
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert_eq!(refused(home.path()), TrustFault::Kind);
    std::fs::remove_dir(&path).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(open(home.path()), NAME, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    assert_eq!(refused(home.path()), TrustFault::Kind);
    std::fs::remove_file(&path).unwrap();
    let _listener = UnixListener::bind(&path).unwrap();
    assert_eq!(refused(home.path()), TrustFault::Kind);
    // Replacing puts our own file there, and touches nothing that a link led to.
    std::fs::remove_file(&path).unwrap();
    symlink("other", &path).unwrap();
    put(home.path(), b"ours").unwrap();
    assert_eq!(file_in(home.path()).read().unwrap().unwrap().bytes(), b"ours");
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "x");
}

#[test]
fn a_second_name_is_refused() {
    let home = tempfile::tempdir().unwrap();
    put(home.path(), b"x").unwrap();
    assert!(file_in(home.path()).read().is_ok());
    std::fs::hard_link(home.path().join(NAME), home.path().join("second")).unwrap();
    assert_eq!(refused(home.path()), TrustFault::Links { count: 2 });
}

#[test]
fn a_mode_that_lets_others_write_is_refused_and_that_of_a_group_is_mended() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(NAME);
    put(home.path(), b"x").unwrap();
    for mode in [0o602, 0o666, 0o777] {
        chmod(&path, mode);
        assert_eq!(refused(home.path()), TrustFault::Writable, "{mode:o}");
    }
    for mode in [0o600, 0o644, 0o604] {
        chmod(&path, mode);
        assert!(file_in(home.path()).read().unwrap().unwrap().warnings().is_empty(), "{mode:o}");
    }
    chmod(&path, 0o664);
    let content = file_in(home.path()).read().unwrap().unwrap();
    assert_eq!(content.warnings(), [StateWarning::GroupWritable { name: NAME.to_owned() }]);
    assert_eq!(content.warnings()[0].code(), "state/group-writable");
    put(home.path(), b"y").unwrap();
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, 0o600);
    assert!(file_in(home.path()).read().unwrap().unwrap().warnings().is_empty());
}

#[test]
fn a_directory_that_others_may_write_is_refused_unless_it_is_sticky() {
    let home = tempfile::tempdir().unwrap();
    put(home.path(), b"x").unwrap();
    chmod(home.path(), 0o777);
    assert_eq!(refused(home.path()), TrustFault::DirectoryWritable);
    assert_eq!(file_in(home.path()).lock(LONG).unwrap_err().code(), "state/not-ours");
    chmod(home.path(), 0o1777);
    assert_eq!(file_in(home.path()).read().unwrap().unwrap().bytes(), b"x");
    chmod(home.path(), 0o770);
    let content = file_in(home.path()).read().unwrap().unwrap();
    assert_eq!(content.warnings(), [StateWarning::DirectoryGroupWritable]);
    chmod(home.path(), 0o700);
}

#[test]
fn what_belongs_to_somebody_else_is_refused() {
    let home = tempfile::tempdir().unwrap();
    put(home.path(), b"x").unwrap();
    let path = home.path().join(NAME);
    if us() == 0 {
        let owner =
            |uid| StateFile::at(&open(home.path()), NAME, CAP, Owner::uid(uid), Backup::Keep).unwrap();
        assert!(owner(4242).read().is_ok(), "what is root's is taken");
        chown(&path, Some(4243), None).unwrap();
        assert!(owner(4243).read().is_ok());
        let error = owner(4242).read().unwrap_err();
        assert_eq!(*error.kind(), StateErrorKind::NotTrusted(TrustFault::Owner { uid: 4243 }));
        chown(home.path(), Some(4244), None).unwrap();
        let error = owner(4242).read().unwrap_err();
        assert_eq!(*error.kind(), StateErrorKind::NotTrusted(TrustFault::DirectoryOwner { uid: 4244 }));
        let error = owner(4242).lock(LONG).unwrap_err();
        assert_eq!(*error.kind(), StateErrorKind::NotTrusted(TrustFault::DirectoryOwner { uid: 4244 }));
    } else {
        let uid = path.metadata().unwrap().uid();
        let other = StateFile::at(&open(home.path()), NAME, CAP, Owner::uid(uid + 1), Backup::Keep).unwrap();
        let error = other.read().unwrap_err();
        assert_eq!(*error.kind(), StateErrorKind::NotTrusted(TrustFault::DirectoryOwner { uid }));
    }
}

#[test]
fn at_most_the_cap_is_read() {
    let home = tempfile::tempdir().unwrap();
    let small = StateFile::at(&open(home.path()), NAME, 8, Owner::uid(us()), Backup::None).unwrap();
    small.lock(LONG).unwrap().replace(b"12345678").unwrap();
    assert_eq!(small.read().unwrap().unwrap().bytes(), b"12345678");
    assert_eq!(small.lock(LONG).unwrap().replace(b"123456789").unwrap_err().code(), "state/too-large");
    // A file of a petabyte costs nine bytes.
    std::fs::File::options().write(true).open(home.path().join(NAME)).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(*small.read().unwrap_err().kind(), StateErrorKind::TooLarge { cap: 8 });
}

#[test]
fn names_are_one_plain_part() {
    let home = tempfile::tempdir().unwrap();
    let long = "x".repeat(201);
    for name in ["", ".", "..", "a/b", ".hidden", "-x", "a\0b", "a b", "ä", "a\n", &long] {
        let error = StateFile::at(&open(home.path()), name, CAP, Owner::uid(us()), Backup::None).unwrap_err();
        assert_eq!(error.code(), "state/name", "{name:?}");
        assert!(error.to_string().is_ascii());
    }
    for name in ["a", "plugins.pins.toml", "0-9_x", &"x".repeat(200)] {
        assert!(
            StateFile::at(&open(home.path()), name, CAP, Owner::uid(us()), Backup::None).is_ok(),
            "{name:?}"
        );
    }
}

#[test]
fn recovery_says_which_copy_and_why() {
    let home = tempfile::tempdir().unwrap();
    let file = file_in(home.path());
    let valid = |bytes: &[u8]| bytes == b"good";
    assert!(matches!(file.recover(&valid).unwrap(), Recovered::Absent));
    put(home.path(), b"good").unwrap();
    assert!(matches!(file.recover(&valid).unwrap(), Recovered::Main(_)));
    std::fs::write(home.path().join(NAME), "bad").unwrap();
    let found = file.recover(&valid).unwrap();
    assert!(
        matches!(found, Recovered::Backup { fault: CopyFault::Invalid, ref content } if content.bytes() == b"good")
    );
    std::fs::remove_file(home.path().join(NAME)).unwrap();
    assert!(matches!(file.recover(&valid).unwrap(), Recovered::Backup { fault: CopyFault::Missing, .. }));
    symlink("/etc/passwd", home.path().join(NAME)).unwrap();
    let found = file.recover(&valid).unwrap();
    assert!(matches!(found, Recovered::Backup { fault: CopyFault::Unreadable(_), .. }));
    std::fs::write(home.path().join("pins.toml.last-good"), "bad").unwrap();
    let error = file.recover(&valid).unwrap_err();
    assert_eq!(error.code(), "state/damaged");
    assert!(error.to_string().contains("symbolic link") && error.to_string().contains("backup: damaged"));
    // A copy alone, and bad: it is no first use.
    std::fs::remove_file(home.path().join(NAME)).unwrap();
    assert_eq!(file.recover(&valid).unwrap_err().code(), "state/damaged");
}

#[test]
fn a_newer_copy_that_never_got_its_name_is_found() {
    let home = tempfile::tempdir().unwrap();
    let file = file_in(home.path());
    let valid = |bytes: &[u8]| bytes.starts_with(b"good");
    put(home.path(), b"good 1").unwrap();
    let temp = home.path().join(".pins.toml.last-good.tmp");
    // As a power cut leaves it: the file's name moved, the copy's did not, and then the file is damaged.
    std::fs::write(&temp, "good 2").unwrap();
    chmod(&temp, 0o600);
    std::fs::write(home.path().join(NAME), "bad").unwrap();
    let content = |found| match found {
        Recovered::Backup { content, .. } => content.into_bytes(),
        other => panic!("{other:?}"),
    };
    assert_eq!(content(file.recover(&valid).unwrap()), b"good 2");
    // It is ignored if it is torn, belongs to another user or is a symlink.
    for (bytes, mode) in [("go", 0o600), ("good 2", 0o666)] {
        std::fs::write(&temp, bytes).unwrap();
        chmod(&temp, mode);
        assert_eq!(content(file.recover(&valid).unwrap()), b"good 1");
    }
    std::fs::remove_file(&temp).unwrap();
    symlink("/etc/passwd", &temp).unwrap();
    assert_eq!(content(file.recover(&valid).unwrap()), b"good 1");
}

#[test]
fn an_editor_that_writes_in_place_reaches_one_copy_only() {
    let home = tempfile::tempdir().unwrap();
    put(home.path(), b"good").unwrap();
    let inode = |name: &str| home.path().join(name).metadata().unwrap().ino();
    assert_ne!(inode(NAME), inode("pins.toml.last-good"));
    std::fs::write(home.path().join(NAME), "edited").unwrap();
    assert_eq!(std::fs::read(home.path().join("pins.toml.last-good")).unwrap(), b"good");
}

#[test]
fn codes_are_listed_once_in_order_with_help() {
    let codes: Vec<&str> = CODES.iter().map(|(code, _)| *code).collect();
    let mut sorted = codes.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(codes, sorted);
    assert!(CODES.iter().all(|(code, help)| code.starts_with("state/") && !help.is_empty()));
}
