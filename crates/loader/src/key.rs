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
}

impl Identity {
    /// Returns the key of an open directory. Nothing that is inside it is looked at.
    pub(crate) fn of(real: &PlacePath, folder: Option<FolderId>, context: &Context<'_>) -> Self {
        let key = PluginKey::Placed(real.clone());
        let own = Self { key, folder, predecessor: None };
        let (Some(pins), Some(id)) = (context.stores.pins.pins(), folder) else { return own };
        if pins.get(&own.key).is_some() {
            return own;
        }
        for known in pins.by_folder(&id) {
            let PluginKey::Placed(place) = known else { continue };
            if leads_to(context.root, place, id) {
                // The same directory by another path: a bind mount, or a file system that ignores case.
                return Self { key: known.clone(), ..own };
            }
            return Self { predecessor: Some(known.clone()), ..own };
        }
        own
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

/// Whether a path still leads to the directory with this identity.
fn leads_to(root: &Root, place: &PlacePath, id: FolderId) -> bool {
    let Some(dir) = root.inside(place) else { return false };
    root.jail.subjail(dir).is_ok_and(|jail| folder_id(&jail) == Some(id))
}
