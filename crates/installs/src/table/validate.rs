//! The rules for rows, which also apply to those of a user.

use std::collections::BTreeSet;

use serde::Deserialize as _;

use super::row::{HostHome, HostRow};

/// The fields that only the compiled-in table has.
const COMPILED_ONLY: [&str; 10] =
    ["id", "reader", "records", "settings", "named", "imports", "seen", "evidence", "trust", "source"];

/// The reason that a row of a user cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HostRowError {
    field: Option<String>,
    message: String,
    help: &'static str,
}

impl HostRowError {
    fn new(field: Option<&str>, message: impl Into<String>, help: &'static str) -> Self {
        Self { field: field.map(ToOwned::to_owned), message: message.into(), help }
    }

    /// Returns the field, or `None` if the id is the reason.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }

    /// Returns how to fix it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        self.help
    }
}

impl HostRow {
    /// Reads a row of a user's settings. `known` is the row with the same id, if there is one.
    pub(super) fn of_user(id: &str, fields: toml::Table, known: Option<&Self>) -> Result<Self, HostRowError> {
        let is_id = (2..=20).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && id.starts_with(|first: char| first.is_ascii_lowercase());
        if !is_id || matches!(id, "path" | "project") {
            let help = "use 2 to 20 of a-z 0-9 - with a letter in front";
            return Err(HostRowError::new(None, format!("`{id}` is not an id of a host"), help));
        }
        // One field at a time, so that an error has the place of its field.
        for (field, value) in &fields {
            if COMPILED_ONLY.contains(&field.as_str()) {
                let message = format!("`{field}` cannot be set in a row of the settings");
                return Err(HostRowError::new(Some(field), message, "remove it"));
            }
            let one = toml::Table::from_iter([(field.clone(), value.clone())]);
            Self::deserialize(one).map_err(|error| {
                HostRowError::new(Some(field), error.message(), "see the fields in docs/hosts.md")
            })?;
        }
        let mut row = Self::deserialize(fields)
            .map_err(|error| HostRowError::new(None, error.message(), "see the fields in docs/hosts.md"))?;
        id.clone_into(&mut row.id);
        match known {
            Some(known) if row.home != HostHome::default() && row.home != known.home => {
                let message = format!("the home of `{id}` is known");
                return Err(HostRowError::new(Some("home"), message, "remove it, and write whole paths"));
            }
            None if row.home.default.is_empty() => {
                let help = "write home = { default = \"~/.NAME\" }";
                return Err(HostRowError::new(None, format!("the host `{id}` has no home"), help));
            }
            _ => {}
        }
        row.validate()?;
        Ok(row)
    }

    /// Checks the places of a row.
    ///
    /// # Errors
    /// A place has an invalid notation, is too wide, or is there twice.
    pub fn validate(&self) -> Result<(), HostRowError> {
        let wrong = |field: &str, message: String, help| Err(HostRowError::new(Some(field), message, help));
        let homes = core::iter::once(&self.home.default).chain(&self.home.mac);
        for home in homes.filter(|home| !home.is_empty()) {
            if !home.starts_with("~/") || !is_place(home) || home.contains('*') {
                return wrong(
                    "home",
                    format!("`{home}` is not a directory in the home directory"),
                    "write ~/.NAME",
                );
            }
        }
        let help = "write a place such as ~/.acme/skills, @/skills or ./.acme/skills";
        for (field, list) in self.lists() {
            let mut seen = BTreeSet::new();
            for place in list {
                if !is_place(place) {
                    return wrong(field, format!("`{place}` is not a place"), help);
                }
                if !seen.insert(place) {
                    return wrong(field, format!("`{place}` is there twice"), "remove one of them");
                }
            }
        }
        let mut seen = BTreeSet::new();
        for (field, file, at) in self.files() {
            if !is_place(file) {
                return wrong(field, format!("`{file}` is not a place"), help);
            }
            if !at.is_empty() && !at.starts_with('/') {
                return wrong(
                    field,
                    format!("`{at}` is not a JSON pointer"),
                    "write /KEY, or nothing for the whole file",
                );
            }
            if !seen.insert((field, file, at)) {
                return wrong(field, format!("`{file}` is there twice"), "remove one of them");
            }
        }
        Ok(())
    }
}

/// Returns `true` for the notation of places. A whole home directory, the root and all of `~/.config` are too wide.
fn is_place(place: &str) -> bool {
    let Some((root, rest)) = place.split_once('/') else { return false };
    let parts: Vec<&str> = rest.split('/').collect();
    let is_part = |part: &&str| {
        let is_name = !matches!(*part, "" | "." | "..") && !part.contains(['\n', '\r', '\0']);
        // `*` is a whole component, or the name before a file extension.
        is_name
            && (!part.contains('*')
                || *part == "*"
                || part.strip_prefix("*.").is_some_and(|rest| !rest.contains('*')))
    };
    matches!(root, "" | "~" | "@" | ".")
        && parts.iter().all(is_part)
        && place != "~/.config"
        && !matches!(parts.as_slice(), ["*"] if root != "@" )
}
