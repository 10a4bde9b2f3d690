//! The name of a state file, and those of the files next to it.

use crate::error::{StateError, StateErrorKind};

/// The longest name in bytes. File systems allow 255, and the suffixes need room.
const MAX_NAME: usize = 200;

/// The names of all files that belong to one state file.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    pub(crate) main: String,
    pub(crate) lock: String,
    pub(crate) queue: String,
    pub(crate) temp: String,
    pub(crate) backup: String,
    pub(crate) backup_temp: String,
}

impl Names {
    pub(crate) fn of(name: &str) -> Result<Self, StateError> {
        if !is_plain(name) {
            return Err(StateError::new("name", &printable(name), StateErrorKind::Name));
        }
        Ok(Self {
            main: name.to_owned(),
            lock: format!("{name}.lock"),
            queue: format!("{name}.queue"),
            temp: format!(".{name}.tmp"),
            backup: format!("{name}.last-good"),
            backup_temp: format!(".{name}.last-good.tmp"),
        })
    }

    /// Returns the name with a suffix, if the suffix is plain.
    pub(crate) fn with_suffix(&self, suffix: &str) -> Result<String, StateError> {
        if is_plain(suffix) {
            Ok(format!("{}.{suffix}", self.main))
        } else {
            Err(StateError::new("name", &printable(suffix), StateErrorKind::Name))
        }
    }
}

/// Returns `true` if a name is valid on every file system and needs no escapes in messages.
pub(crate) fn is_plain(name: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(good)
        && name.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
}

fn printable(name: &str) -> String {
    name.chars().take(MAX_NAME).flat_map(char::escape_default).collect()
}
