//! Patterns for a whole text, in which `*` stands for any text.

/// Returns `true` if a text matches a pattern of `*`.
///
/// # Examples
/// ```
/// use plugward_types::glob;
///
/// assert!(glob::is_match("claude:*@team", "claude:hookify@team"));
/// assert!(!glob::is_match("h?t", "hat"));
/// assert!(glob::is_shell_match("h?t*", "hat"));
/// ```
#[must_use]
pub fn is_match(pattern: &str, text: &str) -> bool {
    find(pattern, text, None)
}

/// Returns `true` if a text matches a pattern of `*` and of `?`, which stands for any character.
#[must_use]
pub fn is_shell_match(pattern: &str, text: &str) -> bool {
    find(pattern, text, Some('?'))
}

fn find(pattern: &str, text: &str, any: Option<char>) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    let mut retry = None;
    loop {
        let mut rest = (pattern.clone(), text.clone());
        match (rest.0.next(), rest.1.next()) {
            (Some('*'), _) => {
                pattern = rest.0;
                retry = Some((pattern.clone(), text.clone()));
            }
            (None, None) => return true,
            (Some(wanted), Some(found)) if wanted == found || Some(wanted) == any => (pattern, text) = rest,
            _ => {
                // A mismatch gives the last `*` one more character. That is sufficient, and takes at most pattern × text
                // steps; a retry of every `*` would be exponential.
                let Some((after, from)) = &mut retry else { return false };
                if from.next().is_none() {
                    return false;
                }
                (pattern, text) = (after.clone(), from.clone());
            }
        }
    }
}
