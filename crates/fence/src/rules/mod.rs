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
    /// A struct literal, tuple call or unit value of a capability type.
    F01,
    /// A new type with the name of a capability.
    F07,
    /// Code that could not be read.
    F08,
    /// A capability type whose definition lets others make values.
    F09,
    /// A literal of a grant or a capability outside the chokepoint.
    F10,
    /// A manifest that changes the capability crate, or a crate that does not forbid unsafe code.
    F11,
    /// A use of the mint, or of a restricted function, in code that is not a listed caller.
    F12,
    /// An allow that does not fit the findings.
    F13,
    /// A result that may report a race and is dropped.
    E01,
}

/// A rule's code, its name, and the fix for a finding.
struct Text(&'static str, &'static str, &'static str);

impl LintRule {
    /// Every rule, in order.
    pub const ALL: [Self; 9] =
        [Self::F01, Self::F07, Self::F08, Self::F09, Self::F10, Self::F11, Self::F12, Self::F13, Self::E01];

    const fn text(self) -> Text {
        match self {
            Self::F01 => {
                Text("F01", "literal", "take the value as a parameter from code that got it from the mint")
            }
            Self::F07 => Text("F07", "look-alike", "rename the type, or define it in the capability crate"),
            Self::F08 => {
                Text("F08", "opaque", "move the code to a module that the fence reads, or add an allow")
            }
            Self::F09 => {
                Text("F09", "definition", "keep the fields private and construct the type in the mint only")
            }
            Self::F10 => Text(
                "F10",
                "in-crate chokepoint",
                "take a grant by value, and construct grants in the chokepoint",
            ),
            Self::F11 => Text("F11", "manifest", "remove the setting, or forbid `unsafe_code` in the crate"),
            Self::F12 => Text(
                "F12",
                "caller",
                "get the value from a listed caller, or list this function in the config",
            ),
            Self::F13 => Text("F13", "allow", "correct `count`, renew `expires`, or remove the allow"),
            Self::E01 => Text(
                "E01",
                "race",
                "propagate the result with `?`, or handle the race by name in a pattern or a guard",
            ),
        }
    }

    /// Returns the stable code, such as `F01`.
    #[must_use]
    pub const fn code(self) -> &'static str {
        self.text().0
    }

    /// Returns the name of the rule in one to three words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.text().1
    }

    /// Returns the fix for a finding of this rule, as an imperative.
    #[must_use]
    pub const fn help(self) -> &'static str {
        self.text().2
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

/// The known false negatives, with code and description. Every summary line lists the codes.
pub const BLIND_SPOTS: &[(&str, &str)] = &[
    (
        "B01",
        "a constructor, a conversion, a variant, `Default`, `Clone` or `Deserialize` of a capability at the place of \
         use, also in a derive: F09 reports the definition that permits it, and without one rustc refuses the use",
    ),
    (
        "B02",
        "a value made from raw memory or by foreign code: F11 requires `forbid(unsafe_code)`, with which rustc \
         refuses it in the workspace; unsafe code of dependencies is not checked",
    ),
    (
        "B03",
        "macros beyond one level: names pasted together, a type and a function passed as two arguments, macros that \
         call macros, macros of crates that do not see the capability crate, proc macros and attributes; rustc \
         refuses a literal in them, nothing refuses a call of a public function",
    ),
    (
        "B04",
        "functions of registry dependencies, and of path dependencies outside the workspace: F11 and rustc hold inside \
         the workspace only; a lockfile and a review of dependencies are what is left",
    ),
    (
        "B05",
        "associated types and type parameters: `<X as Tr>::Out::new()`, `T::new()`; a literal is refused by rustc, a \
         call of a public function is not",
    ),
    (
        "B06",
        "`use` and items in a block inside the arguments of a macro: rustc refuses a literal there, nothing refuses a \
         call of a public function",
    ),
    ("B07", "the code of an `include!`, which F08 reports"),
    (
        "B08",
        "a copy of the definitions under names that do not match the glob: rustc refuses it wherever the real type is \
         expected",
    ),
    (
        "B09",
        "E01: a result in a tuple, an array or an iterator; one that is stored and dropped elsewhere, or dropped by a \
         macro; `?` into an error type that loses the cause; receivers whose type no annotation, field or signature \
         shows; `#[must_use]` reports a result that is dropped as a statement, nothing reports the others",
    ),
    (
        "B10",
        "scripts outside every package; compiler flags on the command line, in the environment or of a build script; \
         features of dev-dependencies under resolver 1: F11 reads manifests and `.cargo/config.toml`, nothing reads these",
    ),
];
