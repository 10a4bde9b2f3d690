//! The key of a directory, and the key it had before it was moved or renamed.

use plugward_pinstore::{DirectoryId, PinState};
use plugward_types::{PlacePath, PluginKey};

use crate::discovery::discover::PluginPlace;
use crate::discovery::installed::InstalledPlace;
use crate::discovery::roots::{Root, directory_id};
use crate::gates::Context;

/// The key of a directory.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) key: PluginKey,
    /// Further keys: a directory that two records name loads only if the pins of both match.
    pub(crate) further: Vec<PluginKey>,
    pub(crate) directory: Option<DirectoryId>,
    /// The key of a pin of the same directory whose path does not lead to it any more.
    pub(crate) predecessor: Option<PluginKey>,
    pub(crate) old_place: OldPlace,
}

/// What is at the path of the predecessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OldPlace {
    /// Nothing, so its pin can move.
    Free,
    /// Something else, which must be compared with that pin, so the pin stays.
    Taken,
}

impl Identity {
    /// Returns the key of an open directory. Its contents are not read.
    pub(crate) fn of(place: &PluginPlace, directory: Option<DirectoryId>, context: &Context<'_>) -> Self {
        if let Some(installed) = place.installed.as_deref().filter(|one| is_recorded(one)) {
            return Self::recorded(installed, context);
        }
        let key = PluginKey::Placed(place.real.clone());
        let own = Self { key, further: Vec::new(), directory, predecessor: None, old_place: OldPlace::Free };
        let (Some(pins), Some(id)) = (context.stores.pins.pins(), directory) else { return own };
        if pins.get(&own.key).is_some() {
            return own;
        }
        let known: Vec<(&PluginKey, &PlacePath)> =
            pins.by_directory(&id).filter_map(|key| Some((key, key.placed()?))).collect();
        if let Some((key, _)) = known.iter().find(|(_, place)| leads_to(context.root, place, id)) {
            // The same directory by another path, such as a bind mount or a case-insensitive path.
            return Self { key: (*key).clone(), ..own };
        }
        // Several pins know a directory that was moved while something else took its place. A
        // denial comes first, then a pin that can move along, then the pin with the latest
        // agreement.
        let rank = |(key, place): &&(&PluginKey, &PlacePath)| {
            let pin = pins.get(key);
            let denied = pin.is_some_and(|pin| pin.state == PinState::Denied);
            let agreed = pin.and_then(|pin| pin.latest()).map(|agreed| agreed.at);
            (denied, is_free(context.root, place), agreed)
        };
        let Some((key, place)) = known.iter().max_by_key(rank) else { return own };
        let old_place = if is_free(context.root, place) { OldPlace::Free } else { OldPlace::Taken };
        Self { predecessor: Some((*key).clone()), old_place, ..own }
    }

    /// Returns the keys of a recorded plugin. Its host can move it at any time, so they do not contain the directory.
    fn recorded(installed: &InstalledPlace, context: &Context<'_>) -> Self {
        let mut keys = installed.keys.iter().cloned();
        let key = keys.next().unwrap_or_else(|| PluginKey::Placed(installed.place.clone()));
        let pins = context.stores.pins.pins();
        let pinned = |key: &PluginKey| pins.is_some_and(|pins| pins.get(key).is_some());
        let former = || installed.former_keys.iter().find(|key| pinned(key)).cloned();
        let predecessor = if pinned(&key) { None } else { former() };
        Self { key, further: keys.collect(), directory: None, predecessor, old_place: OldPlace::Free }
    }

    /// Returns the key, followed by the predecessor's.
    pub(crate) fn keys(&self) -> Vec<&PluginKey> {
        core::iter::once(&self.key).chain(&self.further).chain(&self.predecessor).collect()
    }

    /// Sets the predecessor to the plugin's former name in the marketplace, if that name is pinned.
    pub(crate) fn or_renamed(mut self, names: &[String], context: &Context<'_>) -> Self {
        let Some(pins) = context.stores.pins.pins() else { return self };
        if self.predecessor.is_some() || pins.get(&self.key).is_some() {
            return self;
        }
        let Some(parent) = self.key.placed().and_then(PlacePath::parent) else { return self };
        // A marketplace that is used in place renames a plugin's directory together with the
        // plugin.
        let renamed = names.iter().find_map(|name| {
            let place = parent.join(name).ok()?;
            let gone =
                context.root.inside(&place).is_some_and(|dir| context.root.jail.metadata(dir).is_err());
            let key = PluginKey::Placed(place);
            let pinned =
                pins.get(&key).is_some_and(|pin| pin.state == PinState::Trusted || pin.denied.is_some());
            (gone && pinned).then_some(key)
        });
        self.predecessor = renamed;
        self
    }
}

fn is_recorded(installed: &InstalledPlace) -> bool {
    installed.keys.iter().any(|key| key.placed().is_none())
}

/// Returns `true` if nothing is at a path, or the path cannot be looked up: nothing can be loaded
/// from there.
fn is_free(root: &Root, place: &PlacePath) -> bool {
    root.inside(place).is_none_or(|dir| !crate::discovery::discover::exists(&root.jail, dir))
}

/// Returns `true` if a path still leads to the directory with this identity.
fn leads_to(root: &Root, place: &PlacePath, id: DirectoryId) -> bool {
    let Some(dir) = root.inside(place) else { return false };
    root.jail.subjail(dir).is_ok_and(|jail| directory_id(&jail) == Some(id))
}
