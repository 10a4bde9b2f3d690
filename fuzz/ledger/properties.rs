//! What holds for any bytes: used by the fuzz targets, and by the test that replays their corpora.

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use plugward_ledger::{
    CODES, ChainCheck, ChainVerifier, Checkpoint, Durability, Folds, Ledger, LedgerFiles, LedgerId,
    LedgerRecord, LedgerTime, VerifyPlan,
};

/// A line that is a record of a known type renders to a record that says the same.
pub(crate) fn record(bytes: &[u8]) {
    let Ok(record) = LedgerRecord::parse(bytes) else { return };
    let Ok(line) = record.to_line() else {
        assert!(record.event().is_none() || bytes.len() > 60_000, "a record that was read can be written");
        return;
    };
    assert_eq!(line.last(), Some(&b'\n'));
    assert_eq!(LedgerRecord::parse(&line[..line.len() - 1]), Ok(record));
}

/// A text that is a checkpoint renders to its first three lines.
pub(crate) fn checkpoint(bytes: &[u8]) {
    let Ok(text) = core::str::from_utf8(bytes) else { return };
    let Ok(checkpoint) = Checkpoint::parse(text) else { return };
    assert!(text.starts_with(&checkpoint.to_string()));
}

/// However the bytes are cut into pieces, the answer is the same.
pub(crate) fn verify(bytes: &[u8]) {
    let check = |length: usize| {
        let mut verifier = ChainVerifier::new(VerifyPlan::new());
        bytes.chunks(length).for_each(|piece| verifier.feed(piece, &mut |_, _| ()));
        verifier.finish().check
    };
    let whole = check(usize::MAX);
    assert_eq!(check(1), whole);
    assert_eq!(check(301), whole);
}

/// Either an open refuses and leaves the file as it was, or what it leaves is whole and can be appended to.
pub(crate) fn open(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        let mut options = std::fs::OpenOptions::new();
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.write(true).create_new(true).open(folder.path().join("ledger.jsonl")).unwrap();
        std::io::Write::write_all(&mut file, bytes).unwrap();
    }
    let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
    let clock = || LedgerTime::from_unix_micros(1_795_297_683_123_456).unwrap();
    let id = LedgerId::from_bytes([7; 16]);
    match Ledger::open(&dir, id, Box::new(clock), Durability::Off, Folds::none()) {
        Err(error) => {
            assert!(CODES.iter().any(|(code, _)| *code == error.code()));
            assert_eq!(std::fs::read(folder.path().join("ledger.jsonl")).unwrap(), bytes);
        }
        Ok(opened) => {
            opened.ledger.close().unwrap();
            let files = LedgerFiles::open(&dir).unwrap();
            let check = files.verify(VerifyPlan::new(), &mut |_, _| ()).unwrap().check;
            // Damage before the last checkpoint, and a start that is gone, show here and not at the open.
            let later = matches!(check, ChainCheck::Broken { .. } | ChainCheck::StartsLate { .. });
            assert!(matches!(check, ChainCheck::Whole { .. }) || later, "{check:?}");
        }
    }
}
