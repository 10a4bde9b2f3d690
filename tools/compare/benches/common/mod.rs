//! The ways to open a file below a directory that both benchmarks compare.

use std::fs::{File, OpenOptions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use path_jail::guard::{FdJail, OpenOptions as GuardOptions};
use plugward_sandbox_path::{Jail, Policy, SandboxedPath};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use strict_path::PathBoundary;

/// One way to open a file below a directory.
pub(crate) struct Way {
    pub(crate) name: &'static str,
    pub(crate) open: Opens,
}

/// Opens a path, or gives nothing.
pub(crate) type Opens = Box<dyn Fn(&str) -> Option<File> + Send>;

fn way(name: &'static str, open: impl Fn(&str) -> Option<File> + Send + 'static) -> Way {
    Way { name, open: Box::new(open) }
}

/// The least that one lookup by the kernel costs.
pub(crate) const FLOOR: &str = "openat2 (floor)";
/// One lookup and one look at the kind of what was found.
pub(crate) const TYPED: &str = "openat2 + fstat (any typed open)";
pub(crate) const OPEN_READ: &str = "ours: open_read";
pub(crate) const BOTH: &str = "ours: create + open";
pub(crate) const WALK: &str = "ours: walk tier";
pub(crate) const STD: &str = "std open of the joined path";
pub(crate) const GUARD: &str = "path_jail guard";
pub(crate) const CAP: &str = "cap-std";
pub(crate) const SEED: &str = "resolve + compare + O_NOFOLLOW";

/// Every way, on one directory.
pub(crate) fn ways(directory: &Path) -> Vec<Way> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let strict = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    let handle = || -> OwnedFd {
        rustix::fs::open(directory, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .unwrap()
    };
    let (raw2, typed, raw) = (handle(), handle(), handle());
    let jail = Jail::open(directory, Policy::standard()).unwrap();
    let pinned = jail.clone();
    let walking = jail.with_walk_tier().unwrap();
    let walking_pinned = walking.clone();
    let dir = Dir::open_ambient_dir(directory, ambient_authority()).unwrap();
    let guard = FdJail::new(directory).unwrap();
    let options = GuardOptions::new().read(true).no_symlinks(true).require_regular_file(true);
    let secure = path_jail::Jail::new(directory).unwrap();
    let boundary: PathBoundary = PathBoundary::try_new(directory).unwrap();
    let (joined, seed) = (directory.to_owned(), directory.to_owned());
    vec![
        way(FLOOR, move |path| {
            rustix::fs::openat2(&raw2, path, flags, Mode::empty(), strict).ok().map(File::from)
        }),
        way(TYPED, move |path| {
            let file = rustix::fs::openat2(&typed, path, flags, Mode::empty(), strict).ok()?;
            let kind = FileType::from_raw_mode(rustix::fs::fstat(&file).ok()?.st_mode);
            (kind == FileType::RegularFile).then(|| File::from(file))
        }),
        way(OPEN_READ, move |path| {
            jail.open_read(path).ok().map(plugward_sandbox_path::SandboxedFile::into_std)
        }),
        way(BOTH, move |path| Some(SandboxedPath::create(&pinned, path).ok()?.open().ok()?.into_std())),
        way(WALK, move |path| {
            walking.open_read(path).ok().map(plugward_sandbox_path::SandboxedFile::into_std)
        }),
        way("ours: walk tier, create + open", move |path| {
            Some(SandboxedPath::create(&walking_pinned, path).ok()?.open().ok()?.into_std())
        }),
        way("openat, no protection", move |path| {
            rustix::fs::openat(&raw, path, flags, Mode::empty()).ok().map(File::from)
        }),
        way(STD, move |path| File::open(joined.join(path)).ok()),
        way(CAP, move |path| dir.open(path).ok().map(cap_std::fs::File::into_std)),
        way(GUARD, move |path| {
            guard.open(path, options.clone()).ok().map(path_jail::guard::GuardedFile::into_file)
        }),
        way("path_jail secure-open", move |path| {
            secure.open(path).ok().map(path_jail::JailedFile::into_inner)
        }),
        way("strict-path", move |path| boundary.strict_join(path).ok()?.open_file().ok()),
        way(SEED, move |path| resolve_compare_open(&seed, path)),
    ]
}

/// The first design: resolve both by name, compare, open without following the last component.
fn resolve_compare_open(directory: &Path, path: &str) -> Option<File> {
    let directory: PathBuf = std::fs::canonicalize(directory).ok()?;
    let resolved = std::fs::canonicalize(directory.join(path))
        .ok()
        .filter(|resolved| resolved.starts_with(&directory))?;
    let no_follow = i32::try_from(OFlags::NOFOLLOW.bits()).ok()?;
    OpenOptions::new().read(true).custom_flags(no_follow).open(resolved).ok()
}

/// Tells whether an argument was given.
pub(crate) fn flag(name: &str) -> bool {
    std::env::args().any(|argument| argument == name)
}
