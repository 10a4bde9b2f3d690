//! The rules for names, versions and digests.

use plugward_types::PluginId;

/// Returns `true` if a text is a valid plugin name in every dialect, and so a valid part of an id.
pub(crate) fn is_name(text: &str) -> bool {
    PluginId::check_part(text).is_ok()
}

/// Returns `true` for a gnoma name: `^[a-z][a-z0-9_-]*$`.
pub(crate) fn is_gnoma_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-'))
}

/// Returns `true` for a HyperAgent name: lowercase words of letters and digits, joined by single hyphens.
pub(crate) fn is_kebab(text: &str) -> bool {
    let word = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    text.split('-').all(word)
}

/// Returns `true` for three numbers with dots. Go's parser also accepts `+1` and `-1`, which are refused here.
pub(crate) fn is_three_numbers(text: &str) -> bool {
    let number =
        // A number of at most 18 digits fits 64 bits in every host.
        |part: &str| !part.is_empty() && part.len() <= 18 && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = text.split('.');
    parts.by_ref().take(3).filter(|part| number(part)).count() == 3 && parts.next().is_none()
}
