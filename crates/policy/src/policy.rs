//! The policy for some places: all layers, and the values that they result in.

use std::collections::BTreeSet;
use std::sync::Arc;

use plugward_types::{ApprovalRule, PlacePath, Profile, RawOutput, Risk, ScanAsk, StoreErrorRule, TrustMode};

use crate::command::{CommandRules, RunRule};
use crate::layer::{LayerKind, LayerValues, SettingsLayer};
use crate::resolved::{Fixing, Merged, Offer, OfferForce, ResolvedSetting, merge};
use crate::table::{SettingId, SettingKey};
use crate::value::{SettingRow, SettingValue};

/// The settings of all layers for a plugin, a project or a directory.
///
/// # Guarantees
/// For every key except `options`, the value is at least as strict as without the layers of repositories.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use plugward_policy::{LayerKind, SettingsLayer, TrustPolicy, types::TrustMode};
///
/// let user = SettingsLayer::parse(LayerKind::User, "config.toml", b"trust = \"prompt\"")?;
/// let here = SettingsLayer::parse(LayerKind::Workspace, ".plugward/config.toml", b"trust = \"tofu\"")?;
/// let policy = TrustPolicy::new([Arc::new(user), Arc::new(here)], []);
/// assert_eq!(policy.trust(), TrustMode::Prompt);
/// assert_eq!(policy.notes()[0].code, "policy/held-back");
/// # Ok::<(), plugward_policy::SettingsError>(())
/// ```
#[derive(Debug, Clone)]
pub struct TrustPolicy {
    /// From weak to strong; two of one kind are in the order of the caller.
    layers: Vec<Arc<SettingsLayer>>,
    places: Vec<PlacePath>,
}

impl TrustPolicy {
    /// Merges some layers. Of two layers of one kind, the later one is stronger, so files of outer directories come
    /// first. `places` are the directories that the policy is for.
    #[must_use]
    pub fn new(
        layers: impl IntoIterator<Item = Arc<SettingsLayer>>,
        places: impl IntoIterator<Item = PlacePath>,
    ) -> Self {
        let mut layers: Vec<_> = layers.into_iter().collect();
        layers.sort_by_key(|layer| layer.kind());
        Self { layers, places: places.into_iter().collect() }
    }

    /// Returns the layers, from weak to strong.
    #[must_use]
    pub fn layers(&self) -> &[Arc<SettingsLayer>] {
        &self.layers
    }

    /// Returns the tables of all layers, from weak to strong.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (LayerKind, &SettingsLayer, &LayerValues)> {
        let from = |kind: LayerKind| self.layers.iter().filter(move |layer| layer.kind() == kind);
        let main = move |kind| from(kind).map(move |layer| (kind, &**layer, layer.values()));
        // The tables for a directory of the managed file are weaker than the user's file.
        let inside = move |kind, of| {
            from(of).flat_map(move |layer| {
                layer.workspaces(&self.places).map(move |values| (kind, &**layer, values))
            })
        };
        main(LayerKind::Managed)
            .chain(inside(LayerKind::Managed, LayerKind::Managed))
            .chain(main(LayerKind::User))
            .chain(main(LayerKind::Workspace))
            .chain(main(LayerKind::Local))
            .chain(inside(LayerKind::UserWorkspace, LayerKind::User))
            .chain(main(LayerKind::Env))
            .chain(main(LayerKind::Cli))
    }

    pub(crate) fn fixing(&self, key: &SettingKey) -> Fixing {
        if self.is_fixed(key) { Fixing::Managed } else { Fixing::None }
    }

    /// Returns `true` if the managed file fixes a key.
    pub(crate) fn is_fixed(&self, key: &SettingKey) -> bool {
        let managed = self.layers.iter().filter(|layer| layer.kind() == LayerKind::Managed);
        managed.flat_map(|layer| layer.fixed()).any(|fixed| key.is_in(fixed) || fixed.is_in(key))
    }

    fn merged(&self, key: &SettingKey) -> Merged<'_> {
        let offers = self.tables().filter_map(|(kind, layer, values)| {
            let (key, found) = values.get_key_value(key)?;
            Some(Offer { kind, layer, key, value: &found.value, at: found.at, force: OfferForce::ByLayer })
        });
        merge(key.id(), offers.collect(), self.fixing(key))
    }

    /// Returns the value of a setting, with the contribution of each layer.
    ///
    /// The key of a bundle is read as the plugin with this key or name, so the entries of all selectors that match it
    /// contribute.
    #[must_use]
    pub fn resolve(&self, key: &SettingKey) -> ResolvedSetting {
        match key.id() {
            SettingId::BundleRun => self.bundle_setting(key),
            SettingId::CommandOptions | SettingId::Wasm | SettingId::Hosts => self.resolved_options(key),
            _ => self.merged(key).resolved(key.clone()),
        }
    }

    /// Returns the value of a setting without names, or its default.
    #[must_use]
    pub fn value(&self, id: SettingId) -> Option<SettingValue> {
        self.merged(&SettingKey::of(id)).value().cloned().or_else(|| id.default_value())
    }

    /// Returns the layer that sets a setting without names, and the value there.
    ///
    /// The offsets in the value are those of the layer's text, for faults that the caller finds in it.
    #[must_use]
    pub fn set(&self, id: SettingId) -> Option<(&SettingsLayer, &SettingValue)> {
        let merged = self.merged(&SettingKey::of(id));
        let (offer, ..) = merged.fates.get(merged.used?)?;
        Some((offer.layer, offer.value))
    }

    pub(crate) fn word<T>(&self, id: SettingId, of: impl Fn(&str) -> Option<T>) -> Option<T> {
        of(self.value(id)?.as_text()?)
    }

    fn number(&self, id: SettingId) -> u64 {
        match self.value(id) {
            Some(SettingValue::Number(number)) => number,
            _ => 0,
        }
    }

    fn flag(&self, key: &SettingKey) -> Option<bool> {
        match self.merged(key).value().cloned().or_else(|| key.id().default_value()) {
            Some(SettingValue::Flag(flag)) => Some(flag),
            _ => None,
        }
    }

    /// Returns the keys that the layers set, in the order of the key table. Selectors and options have a key each.
    #[must_use]
    pub fn keys(&self) -> BTreeSet<SettingKey> {
        self.tables().flat_map(|(_, _, values)| values.keys().cloned()).collect()
    }

    /// Returns every setting that has a value, in the order of the key table.
    #[must_use]
    pub fn settings(&self) -> Vec<ResolvedSetting> {
        let single = SettingId::ALL.iter().filter(|id| !id.has_name());
        let keys =
            self.keys().into_iter().chain(single.map(|id| SettingKey::of(*id))).collect::<BTreeSet<_>>();
        let resolved = keys.iter().map(|key| self.resolve(key));
        resolved.filter(|one| one.value.is_some()).collect()
    }
}

/// The values of the key table, with their types.
impl TrustPolicy {
    /// Returns `trust`.
    #[must_use]
    pub fn trust(&self) -> TrustMode {
        // The table has a default, and the reader admits its words only.
        self.word(SettingId::Trust, TrustMode::from_name).unwrap_or(TrustMode::Locked)
    }

    /// Returns `plugins.approval`.
    #[must_use]
    pub fn approval(&self) -> ApprovalRule {
        self.word(SettingId::Approval, ApprovalRule::from_name).unwrap_or(ApprovalRule::Required)
    }

    /// Returns `plugins.max_risk`.
    #[must_use]
    pub fn max_risk(&self) -> Risk {
        self.word(SettingId::MaxRisk, Risk::from_name).unwrap_or(Risk::Low)
    }

    /// Returns `pins.on_store_error`, if a layer sets it.
    #[must_use]
    pub fn on_store_error(&self) -> Option<StoreErrorRule> {
        self.word(SettingId::StoreError, StoreErrorRule::from_name)
    }

    /// Returns `pins.exclude_vcs`.
    #[must_use]
    pub fn excludes_vcs(&self) -> bool {
        self.flag(&SettingKey::of(SettingId::ExcludeVcs)).unwrap_or_default()
    }

    /// Returns `limits.tree_files`.
    #[must_use]
    pub fn tree_files(&self) -> u64 {
        self.number(SettingId::TreeFiles)
    }

    /// Returns `limits.tree_bytes`.
    #[must_use]
    pub fn tree_bytes(&self) -> u64 {
        self.number(SettingId::TreeBytes)
    }

    /// Returns `limits.file_bytes`.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        self.number(SettingId::FileBytes)
    }

    /// Returns `limits.tree_depth`.
    #[must_use]
    pub fn tree_depth(&self) -> u64 {
        self.number(SettingId::TreeDepth)
    }

    /// Returns `scan.ask`.
    #[must_use]
    pub fn scan_ask(&self) -> ScanAsk {
        self.word(SettingId::ScanAsk, ScanAsk::from_name).unwrap_or(ScanAsk::Ask)
    }

    /// Returns `scan.profile`, if a layer sets it.
    #[must_use]
    pub fn scan_profile(&self) -> Option<Profile> {
        self.word(SettingId::Profile, Profile::from_name)
    }

    /// Returns `hooks.raw`.
    #[must_use]
    pub fn raw_output(&self) -> RawOutput {
        self.word(SettingId::RawOutput, RawOutput::from_name).unwrap_or(RawOutput::ManagedAndUser)
    }

    /// Returns a list of texts; empty if no layer sets it.
    #[must_use]
    pub fn texts(&self, id: SettingId) -> Vec<String> {
        let value = self.value(id);
        let list = value.as_ref().and_then(SettingValue::as_list).unwrap_or_default();
        list.iter().map(|one| one.text.clone()).collect()
    }

    /// Returns a list of tables with the layer that sets it; `None` if no layer does.
    #[must_use]
    pub fn rows(&self, id: SettingId) -> Option<(&SettingsLayer, &[SettingRow])> {
        match self.set(id)? {
            (layer, SettingValue::Rows(rows)) => Some((layer, rows)),
            _ => None,
        }
    }

    /// Returns the time that a command plugin has to end, in seconds.
    #[must_use]
    pub fn shutdown_timeout(&self) -> u64 {
        self.number(SettingId::ShutdownTimeout)
    }

    /// Returns the start of the file names of command plugins.
    #[must_use]
    pub fn command_prefix(&self) -> String {
        self.word(SettingId::Prefix, |word| Some(word.to_owned())).unwrap_or_default()
    }

    /// Returns the URL of the registry, if one is configured.
    #[must_use]
    pub fn registry_url(&self) -> Option<String> {
        match self.value(SettingId::Registry)? {
            SettingValue::Any(table) => table.get("url")?.as_str().map(str::to_owned),
            _ => None,
        }
    }

    /// Returns the rules for a command plugin.
    #[must_use]
    pub fn command(&self, id: &str) -> CommandRules {
        let key = |row| SettingKey::named(row, id);
        let run = key(SettingId::CommandRun);
        let checksum = key(SettingId::CommandChecksum);
        let checksum = self.merged(&checksum);
        CommandRules {
            auto_install: self.flag(&SettingKey::of(SettingId::AutoInstall)).unwrap_or_default(),
            install: self.flag(&key(SettingId::CommandInstall)),
            run: self.merged(&run).value().and_then(SettingValue::as_text).and_then(RunRule::from_name),
            checksum: match checksum.value() {
                Some(SettingValue::Checksum(checksum)) => Some(checksum.clone()),
                _ => None,
            },
        }
    }
}
