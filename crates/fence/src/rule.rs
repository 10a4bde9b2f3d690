//! The rules and the blind spots, each named once.

use core::fmt;

/// A rule of the fence.
///
/// # Source
/// `capability.md`, sections 4.4 to 4.6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a host that lists rules must hear of a new one")]
pub enum Rule {
    /// A struct literal, tuple call, unit value or variant of a capability type.
    F01,
    /// A path to a constructor.
    F02,
    /// A general constructor (`Default`, `From`, `FromStr`, `Deserialize`, …) with the type in sight.
    F03,
    /// Unsafe code that makes a value of the type.
    F04,
    /// Tokens in a macro that make a value of the type.
    F05,
    /// A derive on a holder that makes the value it holds.
    F06,
    /// A new type whose name looks like a capability.
    F07,
    /// Something that could not be read.
    F08,
    /// A capability type that others can make by its definition.
    F09,
    /// A grant or capability literal outside the chokepoint.
    F10,
    /// A manifest that changes what the capability crate is.
    F11,
    /// A call of the mint, or of a restricted function, outside its callers.
    F12,
    /// An allow that no longer fits.
    F13,
    /// A result that may name a race and is dropped.
    E01,
}

impl Rule {
    /// Lists every rule, in order.
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

    /// Gives the stable code, `F01` and so on.
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

    /// Gives the rule's name, one or two words.
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

    /// Says what to do about a finding.
    #[must_use]
    pub const fn help(self) -> &'static str {
        match self {
            Self::F01 | Self::F02 | Self::F03 | Self::F04 | Self::F05 => {
                "take the value as a parameter from code that was given one by the mint"
            }
            Self::F06 => "write the impl by hand, or keep the capability outside this type",
            Self::F07 => "choose another name, or define the type in the capability crate",
            Self::F08 => {
                "put the code where the fence can read it, or allow this place with a count and a reason"
            }
            Self::F09 => "keep the fields private and let only the mint make the value",
            Self::F10 => "take a grant by value, and make grants in the chokepoint alone",
            Self::F11 => "remove the setting, or move the feature to dev-dependencies",
            Self::F12 => "ask one of the listed callers for the value, or list this function in the config",
            Self::F13 => "correct `count`, renew `expires`, or remove the allow",
            Self::E01 => "hand the result on with `?`, or name the race in an arm, a guard or a condition",
        }
    }

    /// Finds a rule by its code.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.code() == code)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// Rules that are not applied in this run. Empty but in the test that shows each rule missing.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Off(u16);

impl Off {
    #[cfg(test)]
    pub(crate) fn only(rule: Rule) -> Self {
        Self(1 << (rule as u16))
    }

    pub(crate) const fn has(self, rule: Rule) -> bool {
        self.0 & (1 << (rule as u16)) != 0
    }
}

/// The known misses, printed by number after every run: code and what is not seen.
///
/// # Source
/// `capability.md`, section 4.10.
pub const BLIND_SPOTS: &[(&str, &str)] = &[
    (
        "B01",
        "the type told by nothing near: a value that is bound and used later, an argument of a generic or foreign function, an error that `?` converts",
    ),
    ("B02", "identifiers pasted together (`paste!`)"),
    ("B03", "token streams made from text; proc macros and attribute macros of dependencies"),
    ("B04", "functions of registry dependencies that construct, or path dependencies outside the workspace"),
    (
        "B05",
        "associated types: `<X as Tr>::Out { .. }`, `Self::Out`; a function of a generic type, `Maker::<T>::make()`",
    ),
    (
        "B06",
        "memory written through a pointer whose type is not the capability, `Vec::set_len`, a generic union whose field is inferred; foreign code; assembly",
    ),
    ("B07", "code written to `OUT_DIR` (the `include!` is reported, its text is not read)"),
    ("B08", "a copy of the definitions under names that the glob does not match"),
    (
        "B09",
        "a macro that hands a type on to another macro more than one level down; a type that a macro gives",
    ),
    (
        "B10",
        "E01: a result stored and dropped elsewhere, or dropped by a macro that it is handed to; `?` into an error type that forgets; unknown receivers",
    ),
    ("B11", "scripts that belong to no package; flags given on the command line or in the environment"),
];
