//! One run over all plugins: options, the steps after the gates, and the result.

pub(crate) mod check;
pub(crate) mod examined;
pub(crate) mod options;
pub(crate) mod outcome;
pub(crate) mod policy_options;
pub(crate) mod records;
pub(crate) mod result;
pub(crate) mod rules;
pub(crate) mod trust_root;
