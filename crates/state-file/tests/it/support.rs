//! What every test starts with.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use plugward_state_file::{Backup, Owner, StateError, StateFile};

pub(crate) const NAME: &str = "pins.toml";
pub(crate) const CAP: u64 = 1 << 20;
/// Long enough for a machine with much else to do; a guard, and no measure.
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) fn open(path: &Path) -> Dir {
    Dir::open_ambient_dir(path, ambient_authority()).unwrap()
}

pub(crate) fn us() -> u32 {
    rustix::process::geteuid().as_raw()
}

pub(crate) fn file_in(path: &Path) -> StateFile {
    StateFile::at(&open(path), NAME, CAP, Owner::uid(us()), Backup::Keep).unwrap()
}

pub(crate) fn put(path: &Path, bytes: &[u8]) -> Result<(), StateError> {
    file_in(path).lock(LONG)?.replace(bytes)
}

pub(crate) fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

pub(crate) fn names_in(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A record that shows whether it is complete: a number, and bytes that are computed from it.
pub(crate) fn record(number: u64) -> Vec<u8> {
    let mut text = format!("{number}\n").into_bytes();
    let mut state = number | 1;
    for _ in 0..2000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push(b'a' + (state >> 60) as u8);
    }
    text
}

pub(crate) fn number_of(bytes: &[u8]) -> Option<u64> {
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    let number = std::str::from_utf8(line).ok()?.parse().ok()?;
    (record(number) == bytes).then_some(number)
}
