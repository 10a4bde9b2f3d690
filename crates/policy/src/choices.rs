//! Settings whose values are words, from loose to strict.

/// Defines a setting with a fixed list of words. The order of the variants is the order from loose to strict.
macro_rules! choices {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(clippy::exhaustive_enums, reason = "every host must handle a new rule")]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $name {
            /// The words, from loose to strict.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// Returns the word in settings.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            pub(crate) fn of(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }
        }
    };
}
pub(crate) use choices;

choices! {
    /// What happens to a new plugin: the setting `trust`.
    TrustRule {
        /// It is pinned on first use.
        Tofu = "tofu",
        /// The user is asked.
        Prompt = "prompt",
        /// Only what the lockfile lists loads.
        Locked = "locked",
    }
}

choices! {
    /// Whether a plugin needs an approval: the setting `plugins.approval`.
    ApprovalSetting {
        /// It does not.
        Off = "off",
        /// It does.
        Required = "required",
    }
}

choices! {
    /// The highest risk that an approval may have: the setting `plugins.max_risk`.
    RiskLimit {
        /// Any risk.
        Critical = "CRITICAL",
        /// At most high.
        High = "HIGH",
        /// At most medium.
        Medium = "MEDIUM",
        /// At most low.
        Low = "LOW",
    }
}

choices! {
    /// What happens if the pins cannot be read: the setting `pins.on_store_error`.
    StoreErrorSetting {
        /// Plugins load with a warning.
        Warn = "warn",
        /// The user is asked once, and nothing is stored.
        Ask = "ask",
        /// They are refused.
        Refuse = "refuse",
    }
}

choices! {
    /// Whether suspicious findings ask: the setting `scan.ask`.
    ScanAskSetting {
        /// They are notes.
        Note = "note",
        /// The user is asked.
        Person = "person",
    }
}

choices! {
    /// The rules that a scan uses: the setting `scan.profile`.
    ProfileSetting {
        /// The rules for any files.
        General = "general",
        /// The rules for plugins.
        StrictPlugin = "strict-plugin",
    }
}

choices! {
    /// Which hooks see raw output: the setting `hooks.raw`.
    RawOutputSetting {
        /// All hooks.
        All = "all",
        /// Those of the administrator and the user.
        User = "user",
    }
}
