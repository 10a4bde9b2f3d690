//! The rules for names, and the targets of this platform.

/// The most words of a command name.
pub(crate) const WORDS: usize = 4;

/// Returns `true` for a command name: 1 to 4 words of `[a-z0-9][a-z0-9-]*`, separated by one blank.
#[must_use]
pub fn is_command_name(text: &str) -> bool {
    text.split(' ').count() <= WORDS && text.split(' ').all(is_word)
}

/// Returns `true` for an id: `[a-z0-9][a-z0-9_-]{0,63}`.
#[must_use]
pub fn is_command_id(text: &str) -> bool {
    text.len() <= 64 && is_word(&text.replace('_', "-")) && !text.starts_with('_')
}

/// Returns `true` for one word of a command name.
pub(crate) fn is_word(text: &str) -> bool {
    let is_alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.bytes().next().is_some_and(is_alphanumeric)
        && text.bytes().all(|byte| is_alphanumeric(byte) || byte == b'-')
}

/// Returns the keys of `binaries` that run on this platform, best first.
#[must_use]
pub fn host_targets() -> Vec<String> {
    let systems: &[&str] = if cfg!(all(target_os = "linux", target_env = "musl")) {
        &["unknown-linux-musl"]
    } else if cfg!(target_os = "linux") {
        // A static executable for musl runs everywhere.
        &["unknown-linux-gnu", "unknown-linux-musl"]
    } else if cfg!(target_os = "macos") {
        &["apple-darwin"]
    } else if cfg!(target_os = "freebsd") {
        &["unknown-freebsd"]
    } else {
        &[]
    };
    systems.iter().map(|system| format!("{}-{system}", std::env::consts::ARCH)).collect()
}
