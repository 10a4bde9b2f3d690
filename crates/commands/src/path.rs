//! Paths in commands, which can be relative to a directory that only the caller knows.

/// A path without `.` and repeated slashes: absolute, or relative to the unknown directory in which a command starts.
///
/// The steps `..` stay, because a symlink before them can change their meaning. The relative path of the start directory
/// itself is the empty text.
///
/// # Examples
/// ```
/// use plugward_commands::PathText;
///
/// let path = PathText::new("./hooks//../a.sh");
/// assert_eq!(path.as_str(), "hooks/../a.sh");
/// assert_eq!(path.normalized().as_str(), "a.sh");
/// assert_eq!(PathText::new("/srv").join("x/./y").as_str(), "/srv/x/y");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathText(String);

impl PathText {
    /// Creates a path from a text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let parts: Vec<&str> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        let root = if text.starts_with('/') { "/" } else { "" };
        Self(format!("{root}{}", parts.join("/")))
    }

    /// Returns the path of the directory in which a command starts.
    #[must_use]
    pub const fn start() -> Self {
        Self(String::new())
    }

    /// Returns the text; it is empty for the start directory.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns `true` if the path does not depend on the start directory.
    #[must_use]
    pub fn is_absolute(&self) -> bool {
        self.0.starts_with('/')
    }

    /// Returns the path of `text` seen from this directory.
    #[must_use]
    pub fn join(&self, text: &str) -> Self {
        let more = Self::new(text);
        if more.is_absolute() || self.0.is_empty() {
            return more;
        }
        let between = if more.0.is_empty() || self.0.ends_with('/') { "" } else { "/" };
        Self(format!("{}{between}{}", self.0, more.0))
    }

    /// Returns `true` if the path contains a step `..`.
    #[must_use]
    pub fn has_parent_steps(&self) -> bool {
        self.steps().any(|step| step == "..")
    }

    /// Returns the path with each `..` and the step before it removed. Leading `..` of a relative path stay.
    ///
    /// The result names the same file only if no removed step is a symlink.
    #[must_use]
    pub fn normalized(&self) -> Self {
        let mut steps: Vec<&str> = Vec::new();
        for step in self.steps() {
            match steps.last() {
                Some(last) if step == ".." && *last != ".." => drop(steps.pop()),
                None if step == ".." && self.is_absolute() => {}
                _ => steps.push(step),
            }
        }
        Self(format!("{}{}", if self.is_absolute() { "/" } else { "" }, steps.join("/")))
    }

    /// Returns `true` if the path is `directory` or a path inside it, by its steps alone.
    #[must_use]
    pub fn is_in(&self, directory: &Self) -> bool {
        let (path, directory) = (self.normalized(), directory.normalized());
        let outside = path.0.starts_with("..") && !directory.0.starts_with("..");
        let rest = path.0.strip_prefix(directory.0.trim_end_matches('/'));
        !outside
            && path.is_absolute() == directory.is_absolute()
            && (directory.0.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    }

    fn steps(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|step| !step.is_empty())
    }
}

impl core::fmt::Display for PathText {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(if self.0.is_empty() { "." } else { &self.0 })
    }
}
