//! Ledgers in real files.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "the tests play the other programs that touch the files")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use tempfile::TempDir;

use crate::{Counter, ID, append, clock, counted, note};
use plugward_ledger::{ChainCheck, Durability, Folds, LedgerError, LedgerFiles, OpenedLedger, VerifyPlan};

fn directory() -> (TempDir, Dir) {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), Permissions::from_mode(0o700)).unwrap();
    let dir = Dir::open_ambient_dir(directory.path(), ambient_authority()).unwrap();
    (directory, dir)
}

fn open_dir(dir: &Dir) -> Result<OpenedLedger, LedgerError> {
    Ledger::open(dir, ID, clock(), Durability::Off, Folds::none().with(Counter::default()))
}

use plugward_ledger::Ledger;

#[test]
fn the_files_are_for_their_owner_alone() {
    let (directory, dir) = directory();
    let ledger = open_dir(&dir).unwrap().ledger;
    ledger.close().unwrap();
    let mut names: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap()).collect();
    names.sort_by_key(fs::DirEntry::file_name);
    for entry in &names {
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o7777, 0o600, "{entry:?}");
    }
    let names: Vec<_> = names.iter().map(|entry| entry.file_name().into_string().unwrap()).collect();
    assert_eq!(names, ["ledger.checkpoint", "ledger.jsonl", "ledger.lock"]);
}

#[test]
fn any_line_is_checked_by_two_common_programs() {
    let (directory, dir) = directory();
    append(&open_dir(&dir).unwrap().ledger, 0..45);
    let script = "sed -n 41p ledger.jsonl | sha256sum | cut -c1-64; sed -n 42p ledger.jsonl | grep -o '\"prev\":\"[0-9a-f]*' | cut -c9-";
    let output = Command::new("sh").arg("-c").arg(script).current_dir(directory.path()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!((lines.len(), lines[0].len()), (2, 64));
    assert_eq!(lines[0], lines[1]);
}

fn refused(prepare: impl FnOnce(&Path)) -> String {
    let (directory, dir) = directory();
    prepare(directory.path());
    let error = open_dir(&dir).unwrap_err();
    assert_eq!(error.code(), "ledger/not-ours", "{error:?}");
    error.to_string()
}

#[test]
fn what_the_ledger_would_not_have_made_is_refused() {
    let live = |directory: &Path| directory.join("ledger.jsonl");
    assert_eq!(
        refused(|directory| symlink("elsewhere", live(directory)).unwrap()),
        "ledger.jsonl cannot be used for a ledger: it is not a regular file"
    );
    assert_eq!(
        refused(|directory| fs::create_dir(live(directory)).unwrap()),
        "ledger.jsonl cannot be used for a ledger: it is not a regular file"
    );
    assert_eq!(
        refused(|directory| assert!(
            Command::new("mkfifo").arg(live(directory)).arg("-m").arg("600").status().unwrap().success()
        )),
        "ledger.jsonl cannot be used for a ledger: it is not a regular file"
    );
    assert_eq!(
        refused(|directory| assert!(
            Command::new("mkfifo").arg(directory.join("ledger.lock")).status().unwrap().success()
        )),
        "ledger.lock cannot be used for a ledger: it is not a regular file"
    );
    assert_eq!(
        refused(|directory| {
            fs::write(live(directory), "").unwrap();
            fs::set_permissions(live(directory), Permissions::from_mode(0o602)).unwrap();
        }),
        "ledger.jsonl cannot be used for a ledger: every user can write it"
    );
    assert_eq!(
        refused(|directory| {
            fs::write(live(directory), "").unwrap();
            fs::set_permissions(live(directory), Permissions::from_mode(0o600)).unwrap();
            fs::hard_link(live(directory), directory.join("other")).unwrap();
        }),
        "ledger.jsonl cannot be used for a ledger: it has more than one hard link"
    );
    assert_eq!(
        refused(|directory| fs::set_permissions(directory, Permissions::from_mode(0o702)).unwrap()),
        ". cannot be used for a ledger: every user can write it"
    );
    let (directory, dir) = directory();
    open_dir(&dir).unwrap();
    fs::set_permissions(live(directory.path()), Permissions::from_mode(0o664)).unwrap();
    fs::set_permissions(directory.path(), Permissions::from_mode(0o775)).unwrap();
    open_dir(&dir).unwrap();
}

#[test]
fn what_is_done_to_the_file_under_a_handle_is_seen() {
    let (directory, dir) = directory();
    let live = directory.path().join("ledger.jsonl");
    let ledger = open_dir(&dir).unwrap().ledger;
    append(&ledger, 0..3);
    let bytes = fs::read(&live).unwrap();
    let code = |ledger: &Ledger| ledger.append(&[note(9)]).unwrap_err().code();
    // Truncated.
    fs::OpenOptions::new().write(true).open(&live).unwrap().set_len(10).unwrap();
    assert_eq!(code(&ledger), "ledger/broken");
    fs::write(&live, &bytes).unwrap();
    append(&ledger, 3..4);
    // A second hard link, other permissions.
    fs::hard_link(&live, directory.path().join("link")).unwrap();
    assert_eq!(code(&ledger), "ledger/not-ours");
    fs::remove_file(directory.path().join("link")).unwrap();
    append(&ledger, 4..5);
    // Moved away.
    fs::rename(&live, directory.path().join("moved")).unwrap();
    assert_eq!(code(&ledger), "ledger/other-ledger");
    fs::rename(directory.path().join("moved"), &live).unwrap();
    append(&ledger, 5..6);
    // A torn tail left by a crash of another process.
    let mut file = fs::OpenOptions::new().append(true).open(&live).unwrap();
    std::io::Write::write_all(&mut file, b"{\"v\":1,\"seq\":7,\"ts\":\"2026-1").unwrap();
    append(&ledger, 6..7);
    assert_eq!(counted(&ledger), 7);
    let files = LedgerFiles::open(&dir).unwrap();
    let mut seen = Vec::new();
    let verified =
        files.verify(VerifyPlan::new(), &mut |record, _| seen.push(record.type_name().to_owned())).unwrap();
    assert!(matches!(verified.check, ChainCheck::Whole { .. }), "{:?}", verified.check);
    assert!(seen.contains(&"ledger_recovered".to_owned()));
}

#[test]
fn a_lock_file_that_was_removed_holds_nobody() {
    let (directory, dir) = directory();
    let (one, two) = (open_dir(&dir).unwrap().ledger, open_dir(&dir).unwrap().ledger);
    append(&one, 0..2);
    fs::remove_file(directory.path().join("ledger.lock")).unwrap();
    // Each process detects the new lock file, and they take turns on it.
    append(&one, 2..4);
    append(&two, 4..6);
    let held = fs::File::open(directory.path().join("ledger.lock")).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let thread = std::thread::spawn(move || append(&two, 6..7));
    rustix::fs::flock(&held, rustix::fs::FlockOperation::Unlock).unwrap();
    thread.join().unwrap();
    assert_eq!(counted(&one), 7);
}

#[test]
fn a_file_that_is_larger_than_any_segment_is_not_read() {
    let (directory, dir) = directory();
    append(&open_dir(&dir).unwrap().ledger, 0..2);
    let live = directory.path().join("ledger.jsonl");
    fs::OpenOptions::new().write(true).open(&live).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(
        open_dir(&dir).unwrap_err().to_string(),
        "ledger.jsonl cannot be used for a ledger: it is larger than any segment"
    );
    let verified = LedgerFiles::open(&dir).unwrap().verify(VerifyPlan::new(), &mut |_, _| ()).unwrap();
    assert!(
        matches!(
            verified.check,
            ChainCheck::Broken { line: 4, why: plugward_ledger::ChainFault::TooLong, .. }
        ),
        "{:?}",
        verified.check
    );
}

#[test]
fn files_that_are_open_are_read_in_their_order() {
    let (directory, dir) = directory();
    append(&open_dir(&dir).unwrap().ledger, 0..2);
    let file = |name: &str| (name.to_owned(), fs::File::open(directory.path().join(name)).unwrap());
    let files = LedgerFiles::from_files(vec![file("ledger.jsonl")]).unwrap();
    let verified = files.verify(VerifyPlan::new(), &mut |_, _| ()).unwrap();
    assert!(matches!(verified.check, ChainCheck::Whole { records: 3, .. }), "{:?}", verified.check);
    let directory_itself = vec![("x".to_owned(), fs::File::open(directory.path()).unwrap())];
    assert_eq!(LedgerFiles::from_files(directory_itself).unwrap_err().code(), "ledger/not-ours");
}

#[test]
fn four_handles_write_at_once_and_the_chain_is_whole() {
    let (_directory, dir) = directory();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let dir = dir.try_clone().unwrap();
            std::thread::spawn(move || {
                let ledger = open_dir(&dir).unwrap().ledger;
                ledger.set_segment_bytes(200_000);
                append(&ledger, 0..1_000);
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let files = LedgerFiles::open(&dir).unwrap();
    assert!(files.names().len() > 3, "{files:?}");
    let plan = VerifyPlan::new()
        .folds(Folds::none().with(Counter::default()))
        .against(files.checkpoint().unwrap().clone());
    let verified = files.verify(plan, &mut |_, _| ()).unwrap();
    assert!(matches!(verified.check, ChainCheck::Whole { .. }), "{:?}", verified.check);
    assert_eq!(verified.folds.get::<Counter>().unwrap().notes, 4_000);
    assert_eq!(verified.anchored.len(), 1);
    assert_eq!(counted(&open_dir(&dir).unwrap().ledger), 4_000);
}

#[test]
fn reading_needs_no_rights_and_follows_no_link() {
    let (directory, dir) = directory();
    assert_eq!(LedgerFiles::open(&dir).unwrap_err().code(), "ledger/io");
    append(&open_dir(&dir).unwrap().ledger, 0..2);
    fs::set_permissions(directory.path().join("ledger.jsonl"), Permissions::from_mode(0o444)).unwrap();
    assert!(LedgerFiles::open(&dir).is_ok());
    fs::write(directory.path().join("ledger.checkpoint"), "nonsense").unwrap();
    assert_eq!(LedgerFiles::open(&dir).unwrap_err().code(), "ledger/text");
    fs::rename(directory.path().join("ledger.jsonl"), directory.path().join("a")).unwrap();
    symlink("a", directory.path().join("ledger.jsonl")).unwrap();
    assert_eq!(LedgerFiles::open(&dir).unwrap_err().code(), "ledger/not-ours");
}
