//! What must hold for any bytes. The fuzz targets call this, and so does the test that replays the corpus.

use plugward_tree_lock::{AnyLockFile, JsonLock, LockFile, MinisignVerifier, TreeList};
use plugward_types::TreeDigest;

/// PLUGINS.lock: what is read renders, and reads again as the same; what is not has a place inside the text.
pub(crate) fn lock(bytes: &[u8]) {
    match LockFile::parse(bytes) {
        Ok(file) => {
            let text = file.render();
            assert_eq!(LockFile::parse(text.as_bytes()).as_ref(), Ok(&file));
            assert!(file.entries().all(|(_, entry)| !entry.tree.is_empty()));
            if bytes.first() != Some(&b'{') {
                assert_eq!(AnyLockFile::parse(bytes), Ok(AnyLockFile::Plugins(file)));
            }
        }
        Err(error) => {
            let lines = bytes.split(|byte| *byte == b'\n').count();
            assert!(error.line().is_none_or(|line| (1..=lines).contains(&(line as usize))), "{error}");
            assert!(!error.to_string().contains(char::is_control), "{error:?}");
        }
    }
}

/// The JSON lock: every name is of its shape, and every digest 64 lower-case hex digits.
pub(crate) fn json(bytes: &[u8]) {
    match JsonLock::parse(bytes) {
        Ok(lock) => {
            for (name, digest) in lock.entries() {
                assert!(name.len() <= 130 && name.matches("--").count() >= 2, "{name}");
                assert_eq!(digest.to_string().len(), 64);
            }
        }
        Err(error) => assert_eq!((error.code(), error.plugin()), ("lock/malformed", "<lockfile>")),
    }
}

/// A kept list: what is read is put together again from its own lines.
pub(crate) fn list(bytes: &[u8]) {
    let Ok(text) = core::str::from_utf8(bytes) else { return };
    if let Ok(list) = TreeList::parse(text) {
        let mut again = "plugtree-v1\n".to_owned();
        for name in list.exclude().iter() {
            again.extend(["exclude ", name, "\n"]);
        }
        for line in list.lines() {
            let (kind, hex, size) =
                (line.kind.letter().to_string(), line.digest.hex(), line.size.to_string());
            again.extend([&kind, " ", &hex, " ", &size, " ", line.path, "\n"]);
        }
        assert_eq!(again, text);
        assert_ne!(list.digest(), &TreeDigest::from_bytes([0; 32]));
    }
}

/// A signature file that nobody made: it never holds, since no signer is known.
pub(crate) fn signature(bytes: &[u8]) {
    let verifier = MinisignVerifier::new(Vec::new(), b"version = 1\n", Some(bytes));
    assert_eq!(verifier.map(|verifier| verifier.trusted_comment().map(str::to_owned)), Ok(None));
}
