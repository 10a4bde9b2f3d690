//! Removal of secrets from recorded text.

/// Removes secrets from the detail of an operation before it is recorded. The host provides it, because this
/// crate does not detect secrets.
pub trait Scrub: Send + Sync {
    /// Returns the text without secrets.
    fn scrub(&self, text: &str) -> String;
}

/// A scrubber that changes nothing. Named, so that a host that wants it has to say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a unit struct that is named where a trail is opened")]
pub struct NoScrub;

impl Scrub for NoScrub {
    fn scrub(&self, text: &str) -> String {
        text.to_owned()
    }
}
