//! What a host was told before it installed a plugin, for the first check of that plugin.

use plugward_ledger::{LedgerEvent, LedgerFiles, LedgerRecord};
use plugward_types::TreeDigest;

/// The hosts that ask before they install something.
const HOSTS: [&str; 1] = ["openclaw"];

/// The record of a gate about a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GateRecord {
    /// The host did not ask about it.
    None,
    /// The gate judged the same contents.
    Same,
    /// The gate judged other contents.
    Other,
}

impl GateRecord {
    /// Looks for the record of a plugin in the ledger. A ledger that cannot be read has none: a run that writes opens it as
    /// well, and then loads nothing.
    pub(crate) fn find(ledger: &LedgerFiles, host: &str, id: &str, tree: &TreeDigest) -> Self {
        if !HOSTS.contains(&host) {
            return Self::None;
        }
        let tree = tree.to_string();
        let find = |wanted: Option<&str>| {
            let is = |record: &LedgerRecord| match record.event() {
                Some(LedgerEvent::PluginGated { host: by, plugin, digest, .. }) => {
                    by == host && plugin == id && wanted.is_none_or(|tree| tree == digest)
                }
                _ => false,
            };
            ledger.find_last("plugin_gated", is).ok().flatten().is_some()
        };
        if find(Some(&tree)) {
            Self::Same
        } else if find(None) {
            Self::Other
        } else {
            Self::None
        }
    }
}
