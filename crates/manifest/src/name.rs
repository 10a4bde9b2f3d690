//! The rules for names and versions.

use plugward_types::PluginId;

/// Says whether a text may be a plugin's name in any dialect, and so a part of an id.
pub(crate) fn is_name(text: &str) -> bool {
    PluginId::check_part(text).is_ok()
}

/// gnoma: `^[a-z][a-z0-9_-]*$`.
pub(crate) fn is_gnoma_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-'))
}

/// HyperAgent: words of lower-case letters and digits, joined by single hyphens.
pub(crate) fn is_kebab(text: &str) -> bool {
    let word = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    text.split('-').all(word)
}

/// Three dot parts of digits. Go's parser would take `+1` and `-1`; they are refused here.
pub(crate) fn is_three_numbers(text: &str) -> bool {
    let number =
        |part: &str| !part.is_empty() && part.len() <= 18 && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = text.split('.');
    parts.by_ref().take(3).filter(|part| number(part)).count() == 3 && parts.next().is_none()
}

/// SemVer 2.0.0, exact: `1.2.3`, `1.2.3-rc.1`, `1.2.3+build`.
pub(crate) fn is_semver(text: &str) -> bool {
    let (rest, build) = text.split_once('+').map_or((text, None), |(rest, build)| (rest, Some(build)));
    let (core, pre) = rest.split_once('-').map_or((rest, None), |(core, pre)| (core, Some(pre)));
    let plain = |part: &str| part.len() == 1 || !part.starts_with('0');
    let word = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    is_three_numbers(core)
        && core.split('.').all(plain)
        && pre.is_none_or(|pre| pre.split('.').all(|part| word(part) && (!digits(part) || plain(part))))
        && build.is_none_or(|build| build.split('.').all(word))
}

/// The named count of lower-case hex digits, as a commit or a digest has them.
pub(crate) fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
