//! Which key a directory has, and which one it had before.

use plugward_pinstore::{FolderId, PinState};
use plugward_types::{PlacePath, PluginKey};

use crate::gates::Context;
use crate::roots::{Root, folder_id};

/// The key of a directory.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) key: PluginKey,
    pub(crate) folder: Option<FolderId>,
    /// A pin of the same directory whose path no longer leads to it.
    pub(crate) predecessor: Option<PluginKey>,
    pub(crate) old_place: OldPlace,
}

/// What is at the path of a predecessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OldPlace {
    /// Nothing, so its pin can move.
    Free,
    /// Something else, which has to be compared with that pin, so the pin stays.
    Taken,
}

impl Identity {
    /// Returns the key of an open directory. Nothing that is inside it is looked at.
    pub(crate) fn of(real: &PlacePath, folder: Option<FolderId>, context: &Context<'_>) -> Self {
        let key = PluginKey::Placed(real.clone());
        let own = Self { key, folder, predecessor: None, old_place: OldPlace::Free };
        let (Some(pins), Some(id)) = (context.stores.pins.pins(), folder) else { return own };
        if pins.get(&own.key).is_some() {
            return own;
        }
        let known: Vec<(&PluginKey, &PlacePath)> =
            pins.by_folder(&id).filter_map(|key| Some((key, key.placed()?))).collect();
        if let Some((key, _)) = known.iter().find(|(_, place)| leads_to(context.root, place, id)) {
            // The same directory by another path: a bind mount, or a file system that ignores case.
            return Self { key: (*key).clone(), ..own };
        }
        // Several pins know a directory that moved while something else took its place: a denial counts first, then a
        // pin that can move along, then what was agreed to last.
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

    /// Returns the key, and the one that the directory had before.
    pub(crate) fn keys(&self) -> Vec<&PluginKey> {
        core::iter::once(&self.key).chain(&self.predecessor).collect()
    }

    /// Adds the plugin that the marketplace says it was, if that one is pinned.
    pub(crate) fn or_renamed(mut self, names: &[String], context: &Context<'_>) -> Self {
        let Some(pins) = context.stores.pins.pins() else { return self };
        if self.predecessor.is_some() || pins.get(&self.key).is_some() {
            return self;
        }
        let Some(parent) = self.key.placed().and_then(PlacePath::parent) else { return self };
        // A marketplace that is used in place renames a plugin together with its directory.
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

/// Whether nothing is at a path. One that cannot be looked up counts as free: its plugin cannot be loaded from there.
fn is_free(root: &Root, place: &PlacePath) -> bool {
    root.inside(place).is_none_or(|dir| !crate::discover::exists(&root.jail, dir))
}

/// Whether a path still leads to the directory with this identity.
fn leads_to(root: &Root, place: &PlacePath, id: FolderId) -> bool {
    let Some(dir) = root.inside(place) else { return false };
    root.jail.subjail(dir).is_ok_and(|jail| folder_id(&jail) == Some(id))
}
