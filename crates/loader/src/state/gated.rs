//! What a host was told before it installed a plugin, for the first check of that plugin.

use std::collections::BTreeSet;

use plugward_ledger::{LedgerEvent, LedgerFiles, LedgerRecord};
use plugward_types::TreeDigest;

/// The hosts that ask before they install something.
pub(crate) const HOSTS: [&str; 1] = ["openclaw"];

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
    /// Looks for the record of a plugin, which had one of these trees, in the ledger. A ledger that cannot be read has none:
    /// a run that writes opens it as well, and then loads nothing.
    pub(crate) fn find(ledger: &LedgerFiles, host: &str, id: &str, trees: &BTreeSet<TreeDigest>) -> Self {
        let find = |is_wanted: &dyn Fn(&str) -> bool| {
            let is = |record: &LedgerRecord| match record.event() {
                Some(LedgerEvent::PluginGated { host: by, plugin, digest, .. }) => {
                    by == host && plugin == id && is_wanted(digest)
                }
                _ => false,
            };
            ledger.find_last("plugin_gated", is).ok().flatten().is_some()
        };
        let trees: BTreeSet<String> = trees.iter().map(ToString::to_string).collect();
        if find(&|digest| trees.contains(digest)) {
            Self::Same
        } else if find(&|_any| true) {
            Self::Other
        } else {
            Self::None
        }
    }
}
