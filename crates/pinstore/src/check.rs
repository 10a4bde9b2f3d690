//! Is it what was pinned?

use plugward_types::{Digest, PluginId, SurfaceDigest};

use crate::facts::Facts;
use crate::model::Model;
use crate::pin::{Pin, PinState};
use crate::scope::Scope;
use crate::time::Timestamp;

/// What the pins say of one plugin.
///
/// # Source
/// ADR-003's decision table; pinstore page, 2.6.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum PinCheck {
    /// What was pinned.
    Same {
        /// Set where only the surface differs: this program sees more or less of it than the one that pinned it.
        surface: Option<SurfaceNew>,
    },
    /// An old pin covers the manifest alone, and that is the same.
    ManifestOnly {
        /// The line of the old pin.
        line: usize,
    },
    /// Nothing is pinned.
    Unpinned,
    /// Not what was pinned.
    Changed(Box<Changed>),
    /// A person said never.
    Denied {
        /// When, as the host said then.
        since: Timestamp,
        /// The line of the denial.
        line: usize,
    },
}

impl PinCheck {
    /// Gives the stable code of the refusal, the question or the notice that goes with the answer.
    #[must_use]
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::Same { surface: None } => None,
            Self::Same { surface: Some(_) } => Some("pin/surface-new"),
            Self::ManifestOnly { .. } | Self::Unpinned => Some("pin/new"),
            Self::Changed(changed) => Some(changed.code()),
            Self::Denied { .. } => Some("policy/denied"),
        }
    }
}

/// What differs from the pin.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changed {
    /// What was pinned.
    pub pinned: Pinned,
    /// What is there.
    pub actual: Facts,
    /// All that differs, in the order of [`What`]; never empty.
    pub what: Vec<What>,
    /// The line of the pin in the file.
    pub line: usize,
}

impl Changed {
    /// Gives the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        if self.what.contains(&What::Signer) { "pin/signer-changed" } else { "pin/changed" }
    }
}

/// What was pinned.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are two formats")]
pub enum Pinned {
    /// By a pin of version 2.
    Tree(Box<Facts>),
    /// By a pin of version 1: the manifest alone.
    Manifest(Digest),
}

/// What of a plugin differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "a new fact must stop every host from building")]
pub enum What {
    /// Another signer.
    Signer,
    /// Another manifest file.
    Manifest,
    /// Another tree.
    Tree,
    /// Another folder outside that it imports.
    Shared,
    /// Another marketplace entry.
    Entry,
}

impl What {
    /// Gives the word for a report.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Signer => "signer",
            Self::Manifest => "manifest",
            Self::Tree => "tree",
            Self::Shared => "shared",
            Self::Entry => "entry",
        }
    }
}

/// The same bytes, and another view of what they run: notice `pin/surface-new`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SurfaceNew {
    /// As pinned.
    pub pinned: Option<SurfaceDigest>,
    /// As seen.
    pub actual: Option<SurfaceDigest>,
}

pub(crate) fn check(model: &Model, scope: &Scope, id: &PluginId, facts: &Facts) -> PinCheck {
    // A never of the user's own holds in every workspace; a pin of the user's does not.
    if let Some(Pin { state: PinState::Denied, at, line, .. }) = model.pin(&Scope::USER, id) {
        return PinCheck::Denied { since: *at, line: *line };
    }
    let Some(pin) = model.pin(scope, id) else { return check_v1(model, id, facts) };
    let Pin { state, facts: pinned, at, line, .. } = pin;
    let Some(pinned) = pinned else { return PinCheck::Denied { since: *at, line: *line } };
    match state {
        PinState::Denied => PinCheck::Denied { since: *at, line: *line },
        PinState::Trusted => compare(pinned, facts, *line),
    }
}

fn compare(pinned: &Facts, actual: &Facts, line: usize) -> PinCheck {
    // A signature that comes or goes over the same bytes is the lock's matter; another signer is not.
    let signer = match (&pinned.signer, &actual.signer) {
        (Some(pinned), Some(actual)) => pinned != actual,
        _ => false,
    };
    // What is left out stands in the digest's preimage, and needs no look of its own.
    let tree = pinned.tree != actual.tree;
    let differs = [
        (What::Signer, signer),
        (What::Manifest, pinned.manifest != actual.manifest),
        (What::Tree, tree),
        (What::Shared, pinned.shared != actual.shared),
        (What::Entry, pinned.entry != actual.entry),
    ];
    let what: Vec<What> = differs.into_iter().filter(|(_, differs)| *differs).map(|(what, _)| what).collect();
    if !what.is_empty() {
        let pinned = Pinned::Tree(Box::new(pinned.clone()));
        return PinCheck::Changed(Box::new(Changed { pinned, actual: actual.clone(), what, line }));
    }
    let surface = (pinned.surface != actual.surface)
        .then_some(SurfaceNew { pinned: pinned.surface, actual: actual.surface });
    PinCheck::Same { surface }
}

/// A name matches in any scope and dialect: version 1 knew neither.
fn check_v1(model: &Model, id: &PluginId, facts: &Facts) -> PinCheck {
    let Some(old) = model.v1.get(id.name()) else { return PinCheck::Unpinned };
    let line = old.line;
    if facts.manifest == Some(old.manifest) {
        return PinCheck::ManifestOnly { line };
    }
    let pinned = Pinned::Manifest(old.manifest);
    PinCheck::Changed(Box::new(Changed { pinned, actual: facts.clone(), what: vec![What::Manifest], line }))
}
