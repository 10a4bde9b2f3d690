//! Notes about values that have no effect, or another one than their author can expect.

use crate::bundle::BundleNames;
use crate::command::ChecksumAlgorithm;
use crate::error::ValueOrigin;
use crate::layer::LayerKind;
use crate::policy::TrustPolicy;
use crate::resolved::{Contribution, ContributionFate};
use crate::table::{SettingId, SettingKey};
use crate::value::SettingValue;

/// The codes of settings, with their help.
pub const CODES: &[(&str, &str)] = &[
    ("policy/settings", "fix the settings file at the place that the message names"),
    (
        "policy/ask",
        "answer the question at a terminal, or set `run` of the plugin's key to `unattended` in your own settings",
    ),
    (
        "policy/held-back",
        "a settings file tried to loosen what weaker layers decide; run `plugward config explain` with the key",
    ),
    ("policy/not-from-repository", "set the key in your own config.toml; repositories cannot set it"),
    ("policy/final", "the administrator fixed the key in the managed settings"),
    ("policy/unmatched", "fix the name or key of the entry, or remove it; no checked plugin matches it"),
    (
        "policy/repository-ignored",
        "check without `--no-repository-settings` to apply what the repository tightens",
    ),
    ("policy/weak-algorithm", "pin the plugin with sha256; sha1 does not stop a forged file"),
];

/// A note about a value in a layer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct SettingsNote {
    /// The code.
    pub code: &'static str,
    /// The layer of the value.
    pub layer: LayerKind,
    /// What happened to the value.
    pub message: String,
    /// The place of the value.
    pub origin: Option<ValueOrigin>,
}

impl TrustPolicy {
    /// Returns the notes about all layers, sorted.
    #[must_use]
    pub fn notes(&self) -> Vec<SettingsNote> {
        let mut notes: Vec<_> = self.keys().iter().flat_map(|key| self.notes_of(key)).collect();
        notes.sort();
        notes.dedup();
        notes
    }

    fn notes_of(&self, key: &SettingKey) -> Vec<SettingsNote> {
        let resolved = self.resolve(key);
        let own = resolved.contributions.iter().filter(|one| one.key == *key);
        let mut notes: Vec<_> = own.filter_map(note_of).collect();
        if let (SettingId::CommandChecksum, Some(SettingValue::Checksum(checksum))) =
            (key.id(), &resolved.value)
            && checksum.algorithm == ChecksumAlgorithm::Sha1
        {
            let message = format!("`{key}` uses sha1, for which forged files exist");
            notes.push(SettingsNote {
                code: "policy/weak-algorithm",
                layer: resolved.layer,
                message,
                origin: resolved.origin,
            });
        }
        notes
    }

    /// Returns the notes about entries that match none of the checked plugins, sorted.
    #[must_use]
    pub fn unmatched(&self, plugins: &[BundleNames]) -> Vec<SettingsNote> {
        let entries = self.unmatched_entries(plugins).into_iter();
        let mut notes: Vec<_> = entries
            .map(|(entry, layer, origin)| SettingsNote {
                code: "policy/unmatched",
                layer,
                message: format!("`{entry}` matches no plugin"),
                origin: Some(origin),
            })
            .collect();
        notes.sort();
        notes
    }
}

fn note_of(one: &Contribution) -> Option<SettingsNote> {
    let code = match one.fate {
        ContributionFate::HeldBack => "policy/held-back",
        ContributionFate::NotFromRepository => "policy/not-from-repository",
        ContributionFate::Final => "policy/final",
        ContributionFate::Used | ContributionFate::Overridden => return None,
    };
    let value = one.value.as_ref().filter(|_| one.key.id() != SettingId::CommandOptions);
    let value = match value {
        Some(SettingValue::Text(_) | SettingValue::Flag(_) | SettingValue::Number(_)) => {
            value.map(|value| format!(" = {}", value.as_written())).unwrap_or_default()
        }
        _ => String::new(),
    };
    let message = format!("`{}{value}` has no effect: {}", one.key, one.why.unwrap_or_default());
    Some(SettingsNote { code, layer: one.layer, message, origin: one.origin.clone() })
}
