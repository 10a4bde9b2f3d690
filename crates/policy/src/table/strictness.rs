//! The order of values from loose to strict.

use super::{RepositoryUse, SettingDefault, SettingId, SettingKind};
use crate::value::SettingValue;

impl SettingId {
    /// Returns `true` if the first value is at least as strict as the second. `None` is the value of a setting that no
    /// layer sets.
    ///
    /// Values that cannot be compared are not: neither is as strict as the other. An unset setting that the caller
    /// decides counts as the strictest possible default.
    #[must_use]
    pub fn is_as_strict(self, value: Option<&SettingValue>, than: Option<&SettingValue>) -> bool {
        let rule = self.rule();
        let default = self.default_value();
        match (value.or(default.as_ref()), than.or(default.as_ref())) {
            (Some(value), Some(than)) => value == than || rule.kind.is_as_strict(value, than),
            (None, None) => true,
            (Some(value), None) => match rule.default {
                SettingDefault::Decided { strictest, .. } => {
                    rule.kind.word_value(strictest).is_some_and(|bound| rule.kind.is_as_strict(value, &bound))
                }
                _ => true,
            },
            // The caller's default may be looser than a set value.
            (None, Some(_)) => false,
        }
    }

    /// Returns `true` if the value of a repository counts over the result of all weaker layers.
    pub(crate) fn repository_may(self, value: &SettingValue, over: Option<&SettingValue>) -> bool {
        match self.rule().repository {
            RepositoryUse::Tighten => self.is_as_strict(Some(value), over),
            RepositoryUse::Add => over.is_none_or(|over| over == value),
            RepositoryUse::Set => true,
            RepositoryUse::Ignore => false,
        }
    }

    /// Returns the default, or `None` if there is none or the caller decides.
    #[must_use]
    pub fn default_value(self) -> Option<SettingValue> {
        match self.rule().default {
            SettingDefault::Word(word) => Some(SettingValue::Text(word.to_owned())),
            SettingDefault::Flag(flag) => Some(SettingValue::Flag(flag)),
            SettingDefault::Number(number) => Some(SettingValue::Number(number)),
            SettingDefault::Unset | SettingDefault::Decided { .. } => None,
        }
    }

    /// Returns what decides about an unset setting, if the caller does.
    #[must_use]
    pub const fn decided_by(self) -> Option<&'static str> {
        match self.rule().default {
            SettingDefault::Decided { by, .. } => Some(by),
            _ => None,
        }
    }
}

impl SettingKind {
    /// Returns the value of a word in the key table.
    fn word_value(self, word: &str) -> Option<SettingValue> {
        match self {
            Self::Words(_) => Some(SettingValue::Text(word.to_owned())),
            Self::Flag { .. } => word.parse().ok().map(SettingValue::Flag),
            _ => None,
        }
    }

    fn is_as_strict(self, value: &SettingValue, than: &SettingValue) -> bool {
        use SettingValue as V;
        match (self, value, than) {
            (Self::Words(words), V::Text(value), V::Text(than)) => {
                let rank = |word: &str| words.iter().position(|one| *one == word);
                matches!((rank(value), rank(than)), (Some(value), Some(than)) if value >= than)
            }
            (Self::Flag { loose }, V::Flag(value), V::Flag(than)) => value == than || *value != loose,
            (Self::Number { .. }, V::Number(value), V::Number(than)) => value <= than,
            (Self::Allowlist, V::List(value), V::List(than)) => {
                value.iter().all(|one| than.iter().any(|wide| covers(&wide.text, &one.text)))
            }
            (Self::Denylist, V::List(value), V::List(than)) => {
                than.iter().all(|one| value.iter().any(|wide| covers(&wide.text, &one.text)))
            }
            _ => false,
        }
    }
}

/// Returns `true` if every plugin of the second selector is one of the first.
fn covers(wide: &str, one: &str) -> bool {
    wide == one || wide.strip_suffix('*').is_some_and(|start| one.starts_with(start))
}
