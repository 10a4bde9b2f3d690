//! The file's name, and those of what stands beside it.

use crate::error::{StateError, StateErrorKind};

const MAX_NAME: usize = 200;

/// The names below the folder that belong to one state file.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    pub(crate) main: String,
    pub(crate) lock: String,
    pub(crate) queue: String,
    pub(crate) temp: String,
    pub(crate) last_good: String,
    pub(crate) last_good_temp: String,
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
            last_good: format!("{name}.last-good"),
            last_good_temp: format!(".{name}.last-good.tmp"),
        })
    }

    /// Gives the name with a suffix, where the suffix is as plain as a name.
    pub(crate) fn with_suffix(&self, suffix: &str) -> Result<String, StateError> {
        if is_plain(suffix) {
            Ok(format!("{}.{suffix}", self.main))
        } else {
            Err(StateError::new("name", &printable(suffix), StateErrorKind::Name))
        }
    }
}

/// One part of a path, that every file system and every message can carry as it is.
pub(crate) fn is_plain(name: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(good)
        && name.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
}

fn printable(name: &str) -> String {
    name.chars().take(MAX_NAME).flat_map(char::escape_default).collect()
}
