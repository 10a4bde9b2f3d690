//! The rules for declared paths. Written by hand, because `std::path` differs by platform.

use crate::ManifestCode;

/// A path inside the plugin directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CleanPath {
    /// The path without `.` components; empty for the plugin directory itself.
    pub(crate) path: String,
    /// `true` if the path contains one of `* ? [`.
    pub(crate) glob: bool,
    /// `true` if the path was written with a leading `./` or root variable.
    pub(crate) prefixed: bool,
}

/// Checks a path and returns the code of the first rule that it breaks.
///
/// gnoma's own check refuses the substring `..` anywhere, and so also `a..b`. Here only a component `..` is refused.
pub(crate) fn clean_path(text: &str, roots: &[&str]) -> Result<CleanPath, ManifestCode> {
    if text.is_empty() {
        return Err(ManifestCode::PathEmpty);
    }
    if text.chars().any(char::is_control) {
        return Err(ManifestCode::PathChars);
    }
    // On Windows, a backslash separates components and could lead outside.
    if text.contains('\\') {
        return Err(ManifestCode::PathBackslash);
    }
    if text.starts_with('/') {
        return Err(ManifestCode::PathAbsolute);
    }
    // A shell or a host could expand it to the home directory.
    if text.starts_with('~') {
        return Err(ManifestCode::PathHome);
    }
    match scheme_of(text) {
        // A single letter before a colon is a Windows drive.
        Some(scheme) if scheme.len() == 1 => return Err(ManifestCode::PathDrive),
        Some(_) => return Err(ManifestCode::PathUrl),
        None => {}
    }
    let (rest, rooted) = without_root(text, roots);
    // Variables other than the root have no value at check time, so the path cannot be verified.
    if has_variable(rest) {
        return Err(ManifestCode::PathVariable);
    }
    if rest.split('/').any(|part| part == "..") {
        return Err(ManifestCode::PathParent);
    }
    // `PATH_MAX` without its NUL, and `NAME_MAX`: no common file system stores longer names.
    if rest.len() > 4095 || rest.split('/').any(|part| part.len() > 255) {
        return Err(ManifestCode::PathTooLong);
    }
    let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let prefixed = rooted || rest == "." || rest.starts_with("./");
    Ok(CleanPath { path: parts.join("/"), glob: rest.contains(['*', '?', '[']), prefixed })
}

/// Returns the text before the first colon if it is a URL scheme or a drive letter.
pub(crate) fn scheme_of(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let mut bytes = scheme.bytes();
    let good = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    good.then_some(scheme)
}

/// Removes a root variable and the slash after it.
fn without_root<'t>(text: &'t str, roots: &[&str]) -> (&'t str, bool) {
    for root in roots {
        let braced = text.strip_prefix("${").and_then(|rest| rest.strip_prefix(root)?.strip_prefix('}'));
        let plain = || text.strip_prefix('$').and_then(|rest| rest.strip_prefix(root));
        let rest = braced
            .or_else(plain)
            .and_then(|rest| if rest.is_empty() { Some("") } else { rest.strip_prefix('/') });
        if let Some(rest) = rest {
            return (rest, true);
        }
    }
    (text, false)
}

/// Returns `true` for `$NAME` and `${…}`; a `$` before another character is part of a name.
fn has_variable(text: &str) -> bool {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('$') {
        if after.starts_with(|first: char| first == '{' || first == '_' || first.is_ascii_alphabetic()) {
            return true;
        }
        rest = after;
    }
    false
}

/// Joins a path onto a directory of the tree.
pub(crate) fn join(directory: &str, path: &str) -> String {
    match (directory, path) {
        ("", path) => path.to_owned(),
        (directory, "") => directory.to_owned(),
        (directory, path) => format!("{directory}/{path}"),
    }
}
