//! The modules that a loaded plugin may register.

/// The decision about one returned module.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new decision")]
pub enum ModuleDecision {
    /// The host may register it.
    Admitted(String),
    /// The plugin does not declare it: `lifecycle/module`.
    Undeclared(String),
    /// It was returned before: `lifecycle/module`.
    Repeated(String),
}

/// Decides about each module that a plugin returned, by name and in order.
///
/// A plugin returns its functions and does not get the host's registry. So it can offer only what it declared and what
/// was audited.
///
/// # Examples
/// ```
/// use plugward_lifecycle::{ModuleDecision, admit_modules};
///
/// let decisions = admit_modules(&["fetch"], &["fetch", "fs-write"]);
/// assert_eq!(decisions[0], ModuleDecision::Admitted("fetch".to_owned()));
/// assert_eq!(decisions[1], ModuleDecision::Undeclared("fs-write".to_owned()));
/// ```
#[must_use]
pub fn admit_modules(declared: &[impl AsRef<str>], returned: &[impl AsRef<str>]) -> Vec<ModuleDecision> {
    let mut admitted: Vec<&str> = Vec::new();
    let mut decide = |name| {
        if admitted.contains(&name) {
            return ModuleDecision::Repeated(name.to_owned());
        }
        if !declared.iter().any(|own| own.as_ref() == name) {
            return ModuleDecision::Undeclared(name.to_owned());
        }
        admitted.push(name);
        ModuleDecision::Admitted(name.to_owned())
    };
    returned.iter().map(|name| decide(name.as_ref())).collect()
}
