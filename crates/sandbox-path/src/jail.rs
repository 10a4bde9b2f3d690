//! The jail: a folder, held open, that names may not leave.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::error::{OpenError, PathEscape};
use crate::file::SandboxedFile;
use crate::gate::{Form, gate};
use crate::guarantee::{CaseFolding, Guarantee, JailPlace};
use crate::imp::{self, LastLink, Mean, Root, TopFolder};
use crate::jail_error::{JailError, JailErrorKind};
use crate::list::{Folder, Listing};
use crate::meta::{FileId, Metadata, Stamp};
use crate::policy::Policy;
use crate::race::{FilesystemRaceDetected, RaceObserver};
use crate::rel::{RelPath, Relative};
use crate::walk::{Walk, WalkLimits};

/// A folder, held open, below which names are looked up.
///
/// # Guarantees
/// [`Jail::guarantee`] names what holds for its opens and at which moment; it is decided when the jail is opened and
/// never changes. The folder is the one that was opened, wherever it is moved; [`Jail::place`] compares.
///
/// # Source
/// ADR-0011.
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

impl Jail {
    /// Opens a folder as a jail. Its own last part may not be a link; the folders above it may.
    ///
    /// # Errors
    /// `jail/not-found`, `jail/not-a-directory`, `jail/symlink`, `jail/is-root`, `jail/denied`, `jail/io`, and
    /// `jail/policy-unsupported` where mounts are refused by the policy and cannot be told apart.
    pub fn open(folder: impl AsRef<Path>, policy: Policy) -> Result<Self, JailError> {
        Root::open(folder.as_ref(), policy, LastLink::Refuse, TopFolder::Refuse)
            .map(|root| Self::on(root, policy))
    }

    /// Opens a folder as a jail, and accepts a link as the last part of its own path.
    ///
    /// # Errors
    /// As [`Jail::open`], without `jail/symlink`.
    pub fn open_following(folder: impl AsRef<Path>, policy: Policy) -> Result<Self, JailError> {
        Root::open(folder.as_ref(), policy, LastLink::Follow, TopFolder::Refuse)
            .map(|root| Self::on(root, policy))
    }

    /// Opens a folder as a jail, and accepts the root of the file system.
    ///
    /// # Errors
    /// As [`Jail::open`], without `jail/is-root`.
    pub fn open_root(folder: impl AsRef<Path>, policy: Policy) -> Result<Self, JailError> {
        Root::open(folder.as_ref(), policy, LastLink::Refuse, TopFolder::Accept)
            .map(|root| Self::on(root, policy))
    }

    /// Makes one folder with mode 0700 and opens it as a jail, or opens the folder that is there.
    ///
    /// # Errors
    /// As [`Jail::open`]; `jail/not-found` where the folder above is missing.
    pub fn create(folder: impl AsRef<Path>, policy: Policy) -> Result<Self, JailError> {
        imp::make_folder(folder.as_ref())?;
        Self::open(folder, policy)
    }

    /// Makes a folder that nobody else has, `prefix` and 16 hex digits below `parent`, and opens it as a jail.
    ///
    /// The caller draws the randomness. Owner and mode (0700) are checked on the handle.
    ///
    /// # Errors
    /// `jail/exists` where the name is taken; `jail/not-ours` where somebody else owns what was made; `jail/io` for a
    /// prefix that is no part of one name; and those of [`Jail::open`].
    pub fn create_unique(
        parent: impl AsRef<Path>,
        prefix: &str,
        random: [u8; 8],
        policy: Policy,
    ) -> Result<Self, JailError> {
        Root::create_unique(parent.as_ref(), prefix, random, policy).map(|root| Self::on(root, policy))
    }

    /// Makes a jail of a folder that somebody else opened.
    ///
    /// # Errors
    /// `jail/not-a-directory`, `jail/is-root`, `jail/policy-unsupported`, `jail/io`.
    #[cfg(unix)]
    pub fn from_fd(folder: std::os::fd::OwnedFd, policy: Policy) -> Result<Self, JailError> {
        Root::from_fd(folder, None, policy, TopFolder::Refuse).map(|root| Self::on(root, policy))
    }

    fn on(root: Root, policy: Policy) -> Self {
        Self { root: Arc::new(root), policy, observer: None }
    }

    /// Returns the same jail with an observer that is told about each race.
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

    /// Gives the same jail with lookups made by the walk, for tests of that tier.
    ///
    /// # Errors
    /// As [`Jail::open`] on a system without `openat2`.
    #[doc(hidden)]
    #[cfg(unix)]
    pub fn with_walk_tier(&self) -> Result<Self, JailError> {
        let root = Arc::new(self.root.walking(self.policy)?);
        Ok(Self { root, policy: self.policy, observer: self.observer.clone() })
    }

    /// Names what holds for the opens of this jail.
    pub fn guarantee(&self) -> Guarantee {
        self.root.guarantee()
    }

    /// Gives the jail back if it holds what is asked for.
    ///
    /// # Errors
    /// `jail/weaker-guarantee`.
    pub fn require(self, at_least: Guarantee) -> Result<Self, JailError> {
        let has = self.guarantee();
        if has.at_least(at_least) {
            return Ok(self);
        }
        Err(JailError::new(JailErrorKind::WeakerGuarantee { has }))
    }

    /// Gives the policy.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Gives the identity of the folder.
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

    /// Gives the path that the folder was opened by, which may lead elsewhere by now.
    #[must_use]
    pub fn host_path(&self) -> Option<&Path> {
        self.root.path.as_deref()
    }

    /// Compares the folder with what its path leads to at this moment.
    ///
    /// # Errors
    /// `jail/denied` or `jail/io` where the path cannot be looked up. A jail that has no path is `Moved` or `Gone`.
    pub fn place(&self) -> Result<JailPlace, JailError> {
        self.root.place()
    }

    /// Tells whether names that differ in case are two names, by looking entries up in the other case.
    pub fn case_folding(&self) -> CaseFolding {
        self.root.case_folding()
    }

    pub(crate) fn root(&self) -> &Root {
        &self.root
    }

    /// Sends a path through the gate, and makes the call with it.
    #[inline]
    pub(crate) fn call<T, F: Into<crate::error::Fail>>(
        &self,
        verb: &'static str,
        relative: &(impl Relative + ?Sized),
        form: Form,
        make: impl FnOnce(&Root, Policy, &RelPath<'_>) -> Result<T, F>,
    ) -> Result<T, OpenError> {
        let given = relative.name_bytes();
        let rel = gate(given, self.policy, form).map_err(|no| OpenError::new(verb, given, no))?;
        make(&self.root, self.policy, &rel).map_err(|fail| OpenError::new(verb, given, fail))
    }

    /// Opens a regular file for reading.
    ///
    /// # Errors
    /// Any code of class A (the string), `path/symlink`, `path/not-found`, `path/not-regular` and the others of a
    /// lookup; `path/hard-linked` under a policy that refuses several names.
    ///
    /// # Guarantees
    /// [`Jail::guarantee`], at this open. It waits for nobody: a pipe is refused at once.
    pub fn open_read(&self, relative: impl Relative) -> Result<SandboxedFile, OpenError> {
        self.call("open", &relative, Form::Name, |root, policy, rel| {
            imp::open_file(root, policy, rel, Mean::Read, policy.hard_links_read)
        })
    }

    /// Reads a regular file as a whole, up to `limit` bytes.
    ///
    /// Bytes are counted as they are read: what the system states as size is not trusted.
    ///
    /// # Errors
    /// As [`Jail::open_read`], and `path/too-large` at one byte more than `limit`.
    pub fn read(&self, relative: impl Relative, limit: u64) -> Result<Vec<u8>, OpenError> {
        self.call("read", &relative, Form::Name, |root, policy, rel| {
            imp::open_file(root, policy, rel, Mean::Read, policy.hard_links_read)?.read_all(limit)
        })
    }

    /// Says what a path leads to: kind, size, bits, owner, times, number of names, identity.
    ///
    /// # Errors
    /// As a lookup; a link is `path/symlink` unless the policy follows it.
    pub fn metadata(&self, relative: impl Relative) -> Result<Metadata, OpenError> {
        self.call("look at", &relative, Form::Folder, imp::metadata)
    }

    /// Reads the target of a link as bytes, without resolving it.
    ///
    /// # Errors
    /// As a lookup; `path/not-regular` with the kind where it is no link.
    pub fn read_link(&self, relative: impl Relative) -> Result<Vec<u8>, OpenError> {
        self.call("read the link", &relative, Form::Name, imp::read_link)
    }

    /// Opens a folder to be listed, more than once if need be.
    ///
    /// # Errors
    /// As a lookup; `path/not-a-directory` where it is no folder.
    pub fn open_folder(&self, relative: impl Relative) -> Result<Folder, OpenError> {
        self.call("list", &relative, Form::Folder, |root, policy, rel| {
            let handle = imp::open_folder(root, policy, rel)?;
            Ok::<_, crate::error::No>(Folder::new(handle, rel.clone().into_owned(), policy.dotfiles))
        })
    }

    /// Lists a folder: the bytewise smallest `max` names, sorted, with their kinds.
    ///
    /// Links are listed and not followed. At most 1,000,000 entries are looked at.
    ///
    /// # Errors
    /// As [`Jail::open_folder`] and [`Folder::list`].
    pub fn list(&self, relative: impl Relative, max: usize) -> Result<Listing, OpenError> {
        self.open_folder(relative)?.list(max)
    }

    /// Walks everything below a folder, the folder itself left out.
    ///
    /// Where the policy resolves links or `..` on the way to that folder, the entries have the path that was resolved.
    ///
    /// # Errors
    /// As [`Jail::list`] for the folder itself; what is met below it are items.
    pub fn walk(&self, relative: impl Relative, limits: WalkLimits) -> Result<Walk, OpenError> {
        let given = relative.name_bytes();
        let rel = gate(given, self.policy, Form::Folder).map_err(|no| OpenError::new("walk", given, no))?;
        let start =
            imp::walk_start(&self.root, self.policy, rel).map_err(|no| OpenError::new("walk", given, no))?;
        Walk::new(self.clone(), start.into_owned(), limits)
    }

    /// Makes a jail of a folder below, with the same policy and observer.
    ///
    /// Its handle stays with the folder when that is carried elsewhere, out of the outer jail too: prefer whole paths
    /// from the outer jail.
    ///
    /// # Errors
    /// As a lookup, and what [`Jail::open`] gives as `path/io`.
    pub fn subjail(&self, relative: impl Relative) -> Result<Self, OpenError> {
        let root = self.call("open the jail", &relative, Form::Folder, imp::subroot)?;
        Ok(Self { root: Arc::new(root), policy: self.policy, observer: self.observer.clone() })
    }

    /// Takes the path that the jail was opened by off an absolute path, byte by byte, at a component border.
    ///
    /// # Errors
    /// `path/outside` where the path does not start with it, and any code of the gate for the rest.
    pub fn strip<'a>(&self, absolute: &'a Path) -> Result<RelPath<'a>, PathEscape> {
        crate::strip::strip(self.host_path(), absolute, self.policy)
    }
}
