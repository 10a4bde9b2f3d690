//! Text helpers for messages.

use std::borrow::Cow;

use crate::discovery::roots::{Root, ancestors};

/// Joins an error and its causes into one line.
pub(crate) fn chain(error: &dyn core::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

/// Escapes control characters, so that a name cannot start a new line of a message.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.chars().any(char::is_control) {
        return Cow::Borrowed(text);
    }
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(escaped).collect())
}

/// Shortens paths in a message. The jail of a root can be the whole file system, so error messages contain
/// paths from far above the root's directory, which must not reach a report.
pub(crate) fn shortened(message: &str, roots: &[Root]) -> String {
    let mut dirs: Vec<(&str, &str)> = Vec::new();
    for root in roots {
        dirs.push((&root.dir, &root.label));
        dirs.extend(ancestors(&root.dir).map(|above| (above, above.rsplit('/').next().unwrap_or(above))));
    }
    dirs.retain(|(dir, _)| *dir != ".");
    // The deepest directory comes first, and the label before the directory's own name.
    dirs.sort_by_key(|(dir, _)| core::cmp::Reverse(dir.len()));
    dirs.into_iter().fold(message.to_owned(), |text, (dir, name)| replaced(&text, dir, name))
}

/// Replaces a path where it is a whole word.
fn replaced(text: &str, path: &str, name: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(path) {
        let whole = !before.ends_with(|c| is_part(c) || c == '/') && !after.starts_with(is_part);
        out.push_str(before);
        out.push_str(if whole { name } else { path });
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_its_line() {
        assert_eq!(plain("plugins/ünï"), "plugins/ünï");
        assert_eq!(plain("a\nload ok\u{1b}[2J"), "a\\nload ok\\u{1b}[2J");
    }

    #[test]
    fn only_whole_paths_are_replaced() {
        let short = |text| replaced(text, "home/me/site", "site");
        assert_eq!(short("read home/me/site/a.json: home/me/site"), "read site/a.json: site");
        assert_eq!(short("`home/me/site/a`:1"), "`site/a`:1");
        for other in ["home/me/site2/a", "/home/me/site/a", "x/home/me/site", "home/me/site-b"] {
            assert_eq!(short(other), other);
        }
    }
}
