//! The rules and the blind spots.

pub(crate) mod manifest;
pub(crate) mod packages;
pub(crate) mod source;

use core::fmt;

/// A rule of the fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a program that lists the rules should fail to compile when one is added"
)]
pub enum LintRule {
    /// A struct literal, tuple call, unit value or variant of a capability type.
    F01,
    /// A path to a constructor.
    F02,
    /// A general constructor (`Default`, `From`, `FromStr`, `Deserialize`, …) next to the type.
    F03,
    /// Unsafe code that makes a value of a capability type.
    F04,
    /// Macro tokens that make a value of a capability type.
    F05,
    /// A derive that makes the capability inside a type.
    F06,
    /// A new type with the name of a capability.
    F07,
    /// Code that could not be read.
    F08,
    /// A capability type whose definition lets others make values.
    F09,
    /// A literal of a grant or a capability outside the chokepoint.
    F10,
    /// A manifest that changes the capability crate.
    F11,
    /// A call of the mint, or of a restricted function, from code that is not a listed caller.
    F12,
    /// An allow that does not fit the findings.
    F13,
    /// A result that may report a race and is dropped.
    E01,
}

impl LintRule {
    /// Every rule, in order.
    pub const ALL: [Self; 14] = [
        Self::F01,
        Self::F02,
        Self::F03,
        Self::F04,
        Self::F05,
        Self::F06,
        Self::F07,
        Self::F08,
        Self::F09,
        Self::F10,
        Self::F11,
        Self::F12,
        Self::F13,
        Self::E01,
    ];

    /// Returns the stable code, such as `F01`.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::F01 => "F01",
            Self::F02 => "F02",
            Self::F03 => "F03",
            Self::F04 => "F04",
            Self::F05 => "F05",
            Self::F06 => "F06",
            Self::F07 => "F07",
            Self::F08 => "F08",
            Self::F09 => "F09",
            Self::F10 => "F10",
            Self::F11 => "F11",
            Self::F12 => "F12",
            Self::F13 => "F13",
            Self::E01 => "E01",
        }
    }

    /// Returns the name of the rule in one to three words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::F01 => "literal",
            Self::F02 => "constructor",
            Self::F03 => "general constructor",
            Self::F04 => "unsafe",
            Self::F05 => "macro",
            Self::F06 => "holder",
            Self::F07 => "look-alike",
            Self::F08 => "opaque",
            Self::F09 => "definition",
            Self::F10 => "in-crate chokepoint",
            Self::F11 => "manifest",
            Self::F12 => "caller",
            Self::F13 => "allow",
            Self::E01 => "race",
        }
    }

    /// Returns the fix for a finding of this rule, as an imperative.
    #[must_use]
    pub const fn help(self) -> &'static str {
        match self {
            Self::F01 | Self::F02 | Self::F03 | Self::F04 | Self::F05 => {
                "take the value as a parameter from code that got it from the mint"
            }
            Self::F06 => "implement the trait by hand, or keep the capability out of this type",
            Self::F07 => "rename the type, or define it in the capability crate",
            Self::F08 => {
                "move the code to a file that the fence can read, or add an allow with a count and a reason"
            }
            Self::F09 => "keep the fields private and construct the type in the mint only",
            Self::F10 => "take a grant by value, and construct grants in the chokepoint only",
            Self::F11 => "remove the setting, or move the feature to dev-dependencies",
            Self::F12 => "get the value from a listed caller, or list this function in the config",
            Self::F13 => "correct `count`, renew `expires`, or remove the allow",
            Self::E01 => {
                "propagate the result with `?`, or handle the race by name in a match arm, a guard or a condition"
            }
        }
    }

    /// Returns the rule with a code.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.code() == code)
    }
}

impl fmt::Display for LintRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// Disabled rules. Only tests disable rules, to show that the self-test notices.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DisabledRules(u16);

impl DisabledRules {
    #[cfg(test)]
    pub(crate) fn only(rule: LintRule) -> Self {
        Self(1 << (rule as u16))
    }

    pub(crate) const fn has(self, rule: LintRule) -> bool {
        self.0 & (1 << (rule as u16)) != 0
    }
}

/// The known false negatives, with code and description. Every summary line lists the codes.
pub const BLIND_SPOTS: &[(&str, &str)] = &[
    (
        "B01",
        "a type that follows only from inference: a value bound first and used later, an argument of a generic or foreign function, an error that `?` converts",
    ),
    ("B02", "identifiers pasted together (`paste!`)"),
    ("B03", "token streams parsed from strings; proc macros and attribute macros of dependencies"),
    ("B04", "constructors in registry dependencies, and in path dependencies outside the workspace"),
    (
        "B05",
        "associated types: `<X as Tr>::Out { .. }`, `Self::Out`; a function of a generic type, `Maker::<T>::make()`",
    ),
    (
        "B06",
        "memory written through a pointer of another type, `Vec::set_len`, a generic union whose field is inferred; foreign code; assembly",
    ),
    ("B07", "code generated in `OUT_DIR` (the `include!` is reported, the included code is not read)"),
    ("B08", "a copy of the definitions under names that do not match the glob"),
    ("B09", "a type passed through more than two macros; a type that a macro expands to"),
    (
        "B10",
        "E01: a result stored and dropped elsewhere, or dropped by a macro; `?` into an error type that loses the cause; receivers of unknown type",
    ),
    ("B11", "scripts outside every package; compiler flags on the command line or in the environment"),
];
