//! The settings for starts of programs.

use crate::policy::TrustPolicy;
use crate::table::SettingId;

plugward_types::named! {
    /// The access of programs without an entry in `launch.grants`: the setting `launch.access`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[expect(clippy::exhaustive_enums, reason = "every host must handle a new kind of access")]
    pub enum LaunchAccess {
        /// Everything that the user can do.
        User = "user",
        /// The files of the system, and nothing of the user.
        None = "none",
    }
}

plugward_types::named! {
    /// The reaction to a system that cannot enforce granted access: the setting `launch.enforce`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[expect(clippy::exhaustive_enums, reason = "every host must handle a new reaction")]
    pub enum LaunchEnforcement {
        /// The program starts, with a warning.
        BestEffort = "best-effort",
        /// Nothing starts.
        Require = "require",
    }
}

impl TrustPolicy {
    /// Returns `launch.access`.
    #[must_use]
    pub fn launch_access(&self) -> LaunchAccess {
        self.word(SettingId::LaunchAccess, LaunchAccess::from_name).unwrap_or(LaunchAccess::None)
    }

    /// Returns `launch.enforce`.
    #[must_use]
    pub fn launch_enforcement(&self) -> LaunchEnforcement {
        self.word(SettingId::LaunchEnforce, LaunchEnforcement::from_name)
            .unwrap_or(LaunchEnforcement::Require)
    }
}
