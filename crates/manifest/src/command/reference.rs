//! References to downloaded code: how firmly a digest, version or tag identifies it.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use crate::reader::name::{is_hex, is_semver};
use crate::surface::Coverage;

/// Judges an npm package: `name@1.2.3`, or a git URL with `#<40 hex>`.
pub(super) fn npm(reference: &str) -> Coverage {
    let is_git = reference.contains("://") || reference.starts_with("git+") || is_short_git(reference);
    if is_git {
        return match reference.rsplit_once('#') {
            Some((_, commit)) if is_hex(commit, 40) => Coverage::LauncherDigest,
            _ => Coverage::LauncherFloating,
        };
    }
    // The first character is skipped because `@` there starts a scope.
    match reference.get(1..).and_then(|rest| rest.rsplit_once('@')) {
        Some((_, version)) if is_semver(version) => Coverage::LauncherVersion,
        _ => Coverage::LauncherFloating,
    }
}

/// Returns `true` for `owner/repo` and `github:owner/repo`.
fn is_short_git(reference: &str) -> bool {
    ["github:", "gitlab:", "bitbucket:", "gist:"].iter().any(|host| reference.starts_with(host))
        || (!reference.starts_with('@') && reference.contains('/'))
}

/// Judges a `PyPI` package: `name==1.2.3`, `name@1.2.3`, or a git URL with `@<40 hex>`.
pub(super) fn python(reference: &str) -> Coverage {
    let reference = reference.trim();
    if reference.contains("://") {
        let plain = reference.split_once('#').map_or(reference, |(plain, _)| plain);
        return match plain.rsplit_once('@') {
            Some((_, commit)) if is_hex(commit, 40) => Coverage::LauncherDigest,
            _ => Coverage::LauncherFloating,
        };
    }
    let version =
        reference.split_once("==").or_else(|| reference.split_once('@')).map(|(_, version)| version.trim());
    match version {
        Some(version) if is_exact_python(version) => Coverage::LauncherVersion,
        _ => Coverage::LauncherFloating,
    }
}

/// Returns `true` for a Python version without wildcards and lists: `1.2`, `1.2.3rc1`, `2024.1.post2`.
fn is_exact_python(version: &str) -> bool {
    version.starts_with(|first: char| first.is_ascii_digit())
        && version
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'!' | b'-' | b'_'))
        // A single number such as `3` can be a range in some tools.
        && version.contains('.')
}

/// Judges a container image: `name@sha256:<64 hex>`, `name:1.2`.
///
/// A tag with a digit counts as an exact version, because it usually is one; `latest` and names do not.
pub(super) fn image(reference: &str) -> Coverage {
    if let Some((_, digest)) = reference.rsplit_once("@sha256:") {
        // A truncated digest identifies nothing.
        return if is_hex(digest, 64) { Coverage::LauncherDigest } else { Coverage::LauncherFloating };
    }
    let last = reference.rsplit_once('/').map_or(reference, |(_, last)| last);
    match last.split_once(':') {
        Some((_, tag)) if tag != "latest" && tag.bytes().any(|byte| byte.is_ascii_digit()) => {
            Coverage::LauncherVersion
        }
        _ => Coverage::LauncherFloating,
    }
}

/// Judges the version of a Go module, the text after `@`: `v1.2.3`.
pub(super) fn go(version: &str) -> Coverage {
    match version.strip_prefix('v') {
        Some(version) if is_semver(version) => Coverage::LauncherVersion,
        _ => Coverage::LauncherFloating,
    }
}

/// Judges a module of deno: `npm:name@1.2.3`, `jsr:@scope/name@1.2.3`, or any URL.
pub(super) fn deno(reference: &str) -> Coverage {
    match reference.strip_prefix("npm:").or_else(|| reference.strip_prefix("jsr:")) {
        Some(package) => {
            let at = package.get(1..).and_then(|rest| rest.find('@')).map_or(package.len(), |at| at + 1);
            let version = package.get(at + 1..).unwrap_or_default();
            let version = version.split_once('/').map_or(version, |(version, _)| version);
            if is_semver(version) { Coverage::LauncherVersion } else { Coverage::LauncherFloating }
        }
        None => Coverage::LauncherFloating,
    }
}
