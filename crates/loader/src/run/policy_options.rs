//! The options that settings can change for each plugin.

use plugward_policy::TrustPolicy;
use plugward_tree_lock::TreeLimits;
use plugward_types::{Risk, StoreErrorRule};

use crate::run::options::{ApprovalRule, Trust};

/// The values of a policy, as options of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyOptions {
    /// `trust`.
    pub trust: Trust,
    /// `pins.on_store_error`, if a layer sets it.
    pub on_store_error: Option<StoreErrorRule>,
    /// `plugins.approval`.
    pub approval: ApprovalRule,
    /// `plugins.max_risk`.
    pub max_risk: Risk,
    /// `limits`.
    pub tree: TreeLimits,
}

impl PolicyOptions {
    /// Returns the values of a policy.
    #[must_use]
    pub fn of(policy: &TrustPolicy) -> Self {
        let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        Self {
            trust: policy.trust(),
            on_store_error: policy.on_store_error(),
            approval: policy.approval(),
            max_risk: policy.max_risk(),
            tree: TreeLimits {
                entries: number(policy.tree_files()),
                bytes: policy.tree_bytes(),
                file_bytes: policy.file_bytes(),
                depth: number(policy.tree_depth()),
                ..TreeLimits::standard()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key table states the limits a second time, for `config show`.
    #[test]
    fn the_defaults_of_the_key_table_are_those_of_the_tree() {
        let values = PolicyOptions::of(&TrustPolicy::new([], []));
        assert_eq!(values.tree, TreeLimits::standard());
        assert_eq!(
            (values.trust, values.approval, values.max_risk),
            (Trust::Tofu, ApprovalRule::Off, Risk::Medium)
        );
    }
}
