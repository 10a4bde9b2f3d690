//! Settings whose values are names. Settings files and the crates that obey them share the names.

use crate::named;

named! {
    /// Whether new plugins are trusted: the setting `trust`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[expect(clippy::exhaustive_enums, reason = "every host must handle a new mode")]
    pub enum TrustMode {
        /// Trust on first use, with a notice.
        Tofu = "tofu",
        /// Ask the user.
        Prompt = "prompt",
        /// Nothing is enrolled, and a missing or different pin is refused.
        Locked = "locked",
    }
}

named! {
    /// Whether a plugin needs an approval after an audit: the setting `plugins.approval`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[expect(clippy::exhaustive_enums, reason = "off or required")]
    pub enum ApprovalRule {
        /// Approvals are reported, but not required.
        Off = "off",
        /// A plugin without an approval of the same contents does not load.
        Required = "required",
    }
}

named! {
    /// The decision about plugins if the pins cannot be read or written: the setting `pins.on_store_error`.
    ///
    /// There is no default: every host must choose.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[expect(clippy::exhaustive_enums, reason = "every host must handle a new rule")]
    pub enum StoreErrorRule {
        /// Plugins load without pins, with a warning. The exit code is still 7.
        Warn = "warn",
        /// The user is asked once whether plugins load without pins this time.
        Ask = "ask",
        /// Plugins are refused.
        Refuse = "refuse",
    }
}

named! {
    /// The effect of suspicious findings: the setting `scan.ask`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[expect(clippy::exhaustive_enums, reason = "a setting with two values")]
    pub enum ScanAsk {
        /// The findings are listed, and the plugin loads.
        Note = "note",
        /// The decision is `Ask` until a person accepts the plugin's contents.
        Ask = "person",
    }
}

named! {
    /// Which of a rule's two severities applies: the setting `scan.profile`.
    ///
    /// `strict-plugin` keeps HyperAgent's contract (see `docs/source-documents.md`); `general` serves every other host.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[expect(clippy::exhaustive_enums, reason = "a new profile must stop every host from building")]
    pub enum Profile {
        /// Guest plugins: only relative imports and modules of the host; any other way to load code is danger.
        StrictPlugin = "strict-plugin",
        /// Ordinary code that may import packages.
        General = "general",
    }
}

named! {
    /// The hooks that see text before the secret scan: the setting `hooks.raw`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[expect(clippy::exhaustive_enums, reason = "every host must handle a new choice")]
    pub enum RawOutput {
        /// All command hooks.
        All = "all",
        /// Managed and user hooks, and others with a grant.
        ManagedAndUser = "user",
    }
}
