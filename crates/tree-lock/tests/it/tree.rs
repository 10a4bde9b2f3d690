//! Directories built for one test.

use std::ffi::OsStr;
use std::fs;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use plugward_sandbox_path::{Jail, Policy};
use plugward_tree_lock::{
    DigestCheck, DigestedTree, Excludes, Snapshot, TreeCheck, TreeError, TreeLimits, TreeRefusal,
};

/// A fresh directory that goes away with the value.
pub(crate) struct Tree {
    directory: tempfile::TempDir,
}

impl Tree {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    fn place(&self, path: &[u8]) -> PathBuf {
        let place = self.path().join(OsStr::from_bytes(path));
        let parent = place.parent().unwrap();
        if !parent.exists() {
            fs::create_dir_all(parent).unwrap();
        }
        place
    }

    pub(crate) fn file(&self, path: impl AsRef<[u8]>, bytes: impl AsRef<[u8]>) -> &Self {
        self.mode(path, bytes, 0o644)
    }

    pub(crate) fn exec(&self, path: impl AsRef<[u8]>, bytes: impl AsRef<[u8]>) -> &Self {
        self.mode(path, bytes, 0o755)
    }

    pub(crate) fn mode(&self, path: impl AsRef<[u8]>, bytes: impl AsRef<[u8]>, mode: u32) -> &Self {
        let place = self.place(path.as_ref());
        fs::write(&place, bytes).unwrap();
        // Set afterwards, so that the umask has no say.
        fs::set_permissions(&place, fs::Permissions::from_mode(mode)).unwrap();
        self
    }

    pub(crate) fn link(&self, path: impl AsRef<[u8]>, target: impl AsRef<[u8]>) -> &Self {
        symlink(OsStr::from_bytes(target.as_ref()), self.place(path.as_ref())).unwrap();
        self
    }

    pub(crate) fn directory(&self, path: impl AsRef<[u8]>) -> &Self {
        let place = self.path().join(OsStr::from_bytes(path.as_ref()));
        fs::create_dir_all(&place).unwrap();
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    pub(crate) fn fifo(&self, path: impl AsRef<[u8]>) -> &Self {
        let place = self.place(path.as_ref());
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &place,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from(0o644),
            0,
        )
        .unwrap();
        self
    }

    pub(crate) fn jail(&self) -> Jail {
        jail(self.path())
    }

    pub(crate) fn check(&self) -> TreeCheck {
        self.check_with(&TreeLimits::standard(), &Excludes::none())
    }

    pub(crate) fn check_with(&self, limits: &TreeLimits, exclude: &Excludes) -> TreeCheck {
        self.try_with(limits, exclude, 1).unwrap()
    }

    pub(crate) fn try_with(
        &self,
        limits: &TreeLimits,
        exclude: &Excludes,
        jobs: usize,
    ) -> Result<TreeCheck, TreeError> {
        let jobs = NonZeroUsize::new(jobs).unwrap();
        let check = Snapshot::read(&self.jail(), limits, exclude, jobs);
        self.agrees(check.as_ref(), limits, exclude, jobs);
        check
    }

    /// Whatever is said of a directory that keeps still, the same is said of it where its bytes are not kept.
    fn agrees(
        &self,
        check: Result<&TreeCheck, &TreeError>,
        limits: &TreeLimits,
        exclude: &Excludes,
        jobs: NonZeroUsize,
    ) {
        match (check, DigestedTree::read(&self.jail(), limits, exclude, jobs)) {
            (Ok(TreeCheck::Read(kept)), Ok(DigestCheck::Digested(digested))) => {
                assert_eq!(kept.list(), digested.list());
                assert_eq!(kept.digest(), digested.digest());
                assert_eq!(kept.warnings(), digested.warnings());
                assert_eq!(kept.warnings_left_out(), digested.warnings_left_out());
                assert_eq!(kept.total_bytes(), digested.total_bytes());
                assert_eq!(kept.exec_source(), digested.exec_source());
            }
            (Ok(TreeCheck::Refused(kept)), Ok(DigestCheck::Refused(digested))) => {
                assert_eq!(kept.problems(), digested.problems());
            }
            (Err(kept), Err(digested)) => assert_eq!(kept.to_string(), digested.to_string()),
            (kept, digested) => panic!("{kept:?}, and without bytes {digested:?}"),
        }
    }

    pub(crate) fn read(&self) -> Snapshot {
        read(self.check())
    }

    pub(crate) fn digest(&self) -> String {
        self.read().digest().to_string()
    }

    pub(crate) fn refused(&self) -> Vec<(String, String)> {
        blames(&refused(self.check()))
    }
}

pub(crate) fn jail(path: &Path) -> Jail {
    Jail::open(path, Policy::standard()).unwrap()
}

pub(crate) fn read(check: TreeCheck) -> Snapshot {
    match check {
        TreeCheck::Read(snapshot) => snapshot,
        TreeCheck::Refused(why) => panic!("refused: {why}"),
    }
}

pub(crate) fn refused(check: TreeCheck) -> TreeRefusal {
    match check {
        TreeCheck::Read(snapshot) => panic!("read: {}", snapshot.preimage()),
        TreeCheck::Refused(why) => why,
    }
}

/// Codes with the paths as they are shown.
pub(crate) fn blames(why: &TreeRefusal) -> Vec<(String, String)> {
    why.problems().iter().map(|problem| (problem.code().to_owned(), problem.shown_path())).collect()
}

/// The pairs that a test expects.
pub(crate) fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(code, path)| ((*code).to_owned(), (*path).to_owned())).collect()
}

pub(crate) fn excludes(names: &[&str]) -> Excludes {
    Excludes::new(names.iter().copied()).unwrap()
}

/// Reads a directory that is known to be a tree.
pub(crate) fn snapshot_of(directory: &Path) -> Snapshot {
    let read =
        Snapshot::read(&jail(directory), &TreeLimits::standard(), &Excludes::none(), NonZeroUsize::MIN);
    match read.unwrap() {
        TreeCheck::Read(tree) => tree,
        TreeCheck::Refused(why) => panic!("{why}"),
    }
}
