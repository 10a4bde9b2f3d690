//! JSON pointers (RFC 6901), such as `/plugins/a~1b`.

/// Returns a pointer with one more key.
///
/// # Examples
/// ```
/// use plugward_types::pointer;
///
/// let entry = pointer::step("/plugins", "a/b");
/// assert_eq!(entry, "/plugins/a~1b");
/// assert_eq!(pointer::keys(&entry), ["plugins", "a/b"]);
/// ```
#[must_use]
pub fn step(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Returns the keys of a pointer.
#[must_use]
pub fn keys(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|key| key.replace("~1", "/").replace("~0", "~")).collect()
}
