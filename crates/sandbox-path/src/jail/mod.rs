//! The jail: a directory handle that path lookups cannot leave.

pub(crate) mod change;
pub(crate) mod guarantee;
pub(crate) mod list;
mod strip;
pub(crate) mod walk;

use std::fmt;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;

use crate::error::jail::{JailError, JailErrorKind};
use crate::error::race::{FilesystemRaceDetected, RaceObserver};
use crate::error::{OpenError, PathEscape};
use crate::file::SandboxedFile;
use crate::jail::guarantee::{CaseFolding, Guarantee, JailPlace};
use crate::jail::list::{Directory, Listing};
use crate::jail::walk::{Walk, WalkLimits};
use crate::meta::{FileId, Metadata, Stamp};
use crate::path::check::{PathForm, check_path};
use crate::path::relative::{RelPath, Relative};
use crate::policy::Policy;
use crate::unix::{self, LastLink, OpenMode, Root, TopDirectory};

/// A directory handle that path lookups cannot leave.
///
/// # Guarantees
/// [`Jail::guarantee`] is determined when the jail is opened and never changes. The directory is the opened one, even
/// if it is moved; [`Jail::place`] compares it with its path.
///
/// # Examples
/// ```
/// use plugward_sandbox_path::{Jail, Policy};
///
/// # let directory = tempfile::tempdir()?;
/// # std::fs::write(directory.path().join("a.md"), "# A skill\n")?;
/// let jail = Jail::open(directory.path(), Policy::standard())?;
/// assert_eq!(jail.read("a.md", 1 << 20)?, b"# A skill\n");
/// assert_eq!(jail.read("../b.md", 1 << 20).unwrap_err().code(), "path/parent");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use = "open files through it"]
pub struct Jail {
    root: Arc<Root>,
    policy: Policy,
    observer: Option<Arc<dyn RaceObserver>>,
}

impl fmt::Debug for Jail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jail")
            .field("root", &self.root)
            .field("policy", &self.policy)
            .field("observed", &self.observer.is_some())
            .finish()
    }
}

/// Lends the handle of the directory, for example to grant it to a child process. A handle is not a jail: lookups from it
/// can leave the directory.
impl AsFd for Jail {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.root.handle()
    }
}

impl Jail {
    /// Opens a directory as a jail.
    ///
    /// The last component of the path must not be a symlink; its parents can be symlinks.
    ///
    /// # Errors
    /// `jail/not-found`, `jail/not-a-directory`, `jail/symlink`, `jail/is-root`, `jail/denied`, `jail/io`, and
    /// `jail/policy-unsupported` if the policy refuses mounts and the system cannot detect them.
    pub fn open(directory: impl AsRef<Path>, policy: Policy) -> Result<Self, JailError> {
        Root::open(directory.as_ref(), policy, LastLink::Refuse, TopDirectory::Refuse)
            .map(|root| Self::on(root, policy))
    }

    /// Opens a directory as a jail, and follows a symlink in the last component of its path.
    ///
    /// # Errors
    /// As [`Jail::open`], without `jail/symlink`.
    pub fn open_following(directory: impl AsRef<Path>, policy: Policy) -> Result<Self, JailError> {
        Root::open(directory.as_ref(), policy, LastLink::Follow, TopDirectory::Refuse)
            .map(|root| Self::on(root, policy))
    }

    /// Opens a directory as a jail, which can be the root of the file system.
    ///
    /// # Errors
    /// As [`Jail::open`], without `jail/is-root`.
    pub fn open_root(directory: impl AsRef<Path>, policy: Policy) -> Result<Self, JailError> {
        Root::open(directory.as_ref(), policy, LastLink::Refuse, TopDirectory::Accept)
            .map(|root| Self::on(root, policy))
    }

    /// Opens a directory as a jail, and creates it with mode 0700 if it does not exist.
    ///
    /// # Errors
    /// As [`Jail::open`]; `jail/not-found` if the parent directory does not exist.
    pub fn create(directory: impl AsRef<Path>, policy: Policy) -> Result<Self, JailError> {
        unix::make_directory(directory.as_ref())?;
        Self::open(directory, policy)
    }

    /// Creates a private directory in `parent` and opens it as a jail.
    ///
    /// Its name is `prefix` and 16 hex digits of `random`, which the caller draws. Owner and mode (0700) are checked on
    /// the handle.
    ///
    /// # Errors
    /// `jail/exists` if the name exists; `jail/not-ours` if the new directory belongs to another user or is open to
    /// others; `jail/io` if the prefix is not valid in a file name; and those of [`Jail::open`].
    pub fn create_unique(
        parent: impl AsRef<Path>,
        prefix: &str,
        random: [u8; 8],
        policy: Policy,
    ) -> Result<Self, JailError> {
        Root::create_unique(parent.as_ref(), prefix, random, policy).map(|root| Self::on(root, policy))
    }

    /// Creates a jail from an open directory.
    ///
    /// # Errors
    /// `jail/not-a-directory`, `jail/is-root`, `jail/policy-unsupported`, `jail/io`.
    pub fn from_fd(directory: std::os::fd::OwnedFd, policy: Policy) -> Result<Self, JailError> {
        Root::from_fd(directory, None, policy, TopDirectory::Refuse).map(|root| Self::on(root, policy))
    }

    fn on(root: Root, policy: Policy) -> Self {
        Self { root: Arc::new(root), policy, observer: None }
    }

    /// Returns the same jail with an observer that receives each race.
    ///
    /// Clones and subjails share the observer.
    ///
    /// # Guarantees
    /// Each `path/race` error was reported exactly once before it is returned. Other codes that a race can cause,
    /// such as `path/not-found`, are not reported: a one-shot call cannot distinguish them from a path that was
    /// wrong from the start. A caller that can, because it listed the path before, calls [`Jail::report_race`].
    pub fn with_observer(self, watch: Arc<dyn RaceObserver>) -> Self {
        Self { observer: Some(watch), ..self }
    }

    /// Reports a race to the observer, if the jail has one.
    ///
    /// Use it for a race that only the caller can recognize, such as a listed file that no longer exists when it is
    /// read. Do not report an error whose [`OpenError::race`] is `Some`: the jail has reported it already.
    pub fn report_race(&self, race: &FilesystemRaceDetected) {
        if let Some(observer) = &self.observer {
            observer.race(race);
        }
    }

    /// Returns the same jail on the walk tier, for tests of that tier.
    ///
    /// # Errors
    /// As [`Jail::open`] on a system without `openat2`.
    #[doc(hidden)]
    pub fn with_walk_tier(&self) -> Result<Self, JailError> {
        let root = Arc::new(self.root.walking(self.policy)?);
        Ok(Self { root, policy: self.policy, observer: self.observer.clone() })
    }

    /// Returns the guarantee for the opens of this jail.
    pub fn guarantee(&self) -> Guarantee {
        self.root.guarantee()
    }

    /// Returns the jail if its guarantee is at least the required one.
    ///
    /// # Errors
    /// `jail/weaker-guarantee` if it is weaker.
    pub fn require(self, at_least: Guarantee) -> Result<Self, JailError> {
        let has = self.guarantee();
        if has.at_least(at_least) {
            return Ok(self);
        }
        Err(JailError::new(JailErrorKind::WeakerGuarantee { has }))
    }

    /// Returns the policy, with which the jail was opened.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the identity of the directory.
    #[must_use]
    pub fn id(&self) -> FileId {
        self.root.id
    }

    /// Returns when the jail's directory was created; `None` if the file system does not store that.
    ///
    /// Together with [`Jail::id`] it tells a directory that was moved from one that was created later and was given
    /// the same inode number.
    #[must_use]
    pub fn birth(&self) -> Option<Stamp> {
        self.root.birth()
    }

    /// Returns the path by which the directory was opened. It may lead to another object now.
    #[must_use]
    pub fn host_path(&self) -> Option<&Path> {
        self.root.path.as_deref()
    }

    /// Compares the directory with the object that its path leads to now.
    ///
    /// A jail without a path is `Moved` or `Gone`.
    ///
    /// # Errors
    /// `jail/denied` or `jail/io` if the path cannot be looked up.
    pub fn place(&self) -> Result<JailPlace, JailError> {
        self.root.place()
    }

    /// Determines whether names are case-sensitive, by looking up existing entries in the other case.
    pub fn case_folding(&self) -> CaseFolding {
        self.root.case_folding()
    }

    pub(crate) fn root(&self) -> &Root {
        &self.root
    }

    /// Checks a path and calls an operation with it.
    #[inline]
    pub(crate) fn call<T, F: Into<crate::error::OperationError>>(
        &self,
        verb: &'static str,
        relative: &(impl Relative + ?Sized),
        form: PathForm,
        make: impl FnOnce(&Root, Policy, &RelPath<'_>) -> Result<T, F>,
    ) -> Result<T, OpenError> {
        let given = relative.name_bytes();
        let rel = check_path(given, self.policy, form).map_err(|error| OpenError::new(verb, given, error))?;
        make(&self.root, self.policy, &rel).map_err(|fail| OpenError::new(verb, given, fail))
    }

    /// Opens a regular file for reading.
    ///
    /// # Errors
    /// Any code of [`RelPath::parse`], `path/symlink`, `path/not-found`, `path/not-regular` and the other codes of a
    /// lookup; `path/hard-linked` under a policy that refuses several hard links.
    ///
    /// # Guarantees
    /// [`Jail::guarantee`], at this open. The call does not block: a pipe is refused at once.
    pub fn open_read(&self, relative: impl Relative) -> Result<SandboxedFile, OpenError> {
        self.call("open", &relative, PathForm::Name, |root, policy, rel| {
            unix::open_file(root, policy, rel, OpenMode::Read, policy.hard_links_read)
        })
    }

    /// Reads a whole regular file of at most `limit` bytes.
    ///
    /// Bytes are counted as they are read, because the size in the metadata can be wrong.
    ///
    /// # Errors
    /// As [`Jail::open_read`], and `path/too-large` above the limit.
    pub fn read(&self, relative: impl Relative, limit: u64) -> Result<Vec<u8>, OpenError> {
        self.call("read", &relative, PathForm::Name, |root, policy, rel| {
            unix::open_file(root, policy, rel, OpenMode::Read, policy.hard_links_read)?.read_all(limit)
        })
    }

    /// Returns the metadata of the object that a path leads to.
    ///
    /// # Errors
    /// Those of a lookup; a symlink is `path/symlink` unless the policy follows it.
    pub fn metadata(&self, relative: impl Relative) -> Result<Metadata, OpenError> {
        self.call("read the metadata of", &relative, PathForm::Directory, unix::metadata)
    }

    /// Reads the target of a symlink without resolving it.
    ///
    /// # Errors
    /// Those of a lookup; `path/not-regular` with the kind if the entry is not a symlink.
    pub fn read_link(&self, relative: impl Relative) -> Result<Vec<u8>, OpenError> {
        self.call("read the link", &relative, PathForm::Name, unix::read_link)
    }

    /// Opens a directory for listing.
    ///
    /// # Errors
    /// Those of a lookup; `path/not-a-directory` if the entry is not a directory.
    pub fn open_directory(&self, relative: impl Relative) -> Result<Directory, OpenError> {
        self.call("list", &relative, PathForm::Directory, |root, policy, rel| {
            let handle = unix::open_directory(root, policy, rel)?;
            Ok::<_, crate::error::LookupError>(Directory::new(
                handle,
                rel.clone().into_owned(),
                policy.dotfiles,
            ))
        })
    }

    /// Lists a directory: the first `max` entries in byte order.
    ///
    /// Symlinks are listed and not followed. At most 1,000,000 entries are read.
    ///
    /// # Errors
    /// As [`Jail::open_directory`] and [`Directory::list`].
    pub fn list(&self, relative: impl Relative, max: usize) -> Result<Listing, OpenError> {
        self.open_directory(relative)?.list(max)
    }

    /// Walks a directory tree, without the directory itself.
    ///
    /// # Errors
    /// As [`Jail::list`] for the directory itself. Errors below it are items of the iterator.
    pub fn walk(&self, relative: impl Relative, limits: WalkLimits) -> Result<Walk, OpenError> {
        let given = relative.name_bytes();
        let rel = check_path(given, self.policy, PathForm::Directory)
            .map_err(|error| OpenError::new("walk", given, error))?;
        Walk::new(self.clone(), rel.into_owned(), limits)
    }

    /// Creates a jail for a directory inside this one, with the same policy and observer.
    ///
    /// Its handle stays with the directory even if that is moved out of the outer jail, so prefer paths relative to the
    /// outer jail.
    ///
    /// # Errors
    /// Those of a lookup; errors of [`Jail::open`] are `path/io`.
    pub fn subjail(&self, relative: impl Relative) -> Result<Self, OpenError> {
        let root = self.call("open the jail", &relative, PathForm::Directory, unix::subroot)?;
        Ok(Self { root: Arc::new(root), policy: self.policy, observer: self.observer.clone() })
    }

    /// Removes the jail's path from the start of an absolute path, at a component boundary.
    ///
    /// # Errors
    /// `path/outside` if the path does not start with it, and any code of [`RelPath::parse`] for the rest.
    pub fn strip<'a>(&self, absolute: &'a Path) -> Result<RelPath<'a>, PathEscape> {
        strip::strip(self.host_path(), absolute, self.policy)
    }
}
