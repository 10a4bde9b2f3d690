//! Taking secrets out of what is recorded.

/// Takes secrets out of the detail of an operation before it is recorded. The host hands one in: this crate knows no secrets.
pub trait Scrub: Send + Sync {
    /// Gives the text without what must not be written down.
    fn scrub(&self, text: &str) -> String;
}

/// Leaves every text as it is. Whoever wants that must say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a unit that is spelled out where a trail is opened")]
pub struct NoScrub;

impl Scrub for NoScrub {
    fn scrub(&self, text: &str) -> String {
        text.to_owned()
    }
}
