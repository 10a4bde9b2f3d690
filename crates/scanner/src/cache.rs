//! What a caller may remember between two scans.

use plugward_types::Digest;

/// Keeps small records by key. The crate has no files; the caller does.
///
/// # Guarantees
/// A record that does not decode, names an unknown rule or a place outside the file is dropped, and the file is scanned.
/// Whoever can write the records can hide findings: keep them where the plugin cannot.
pub trait MatchCache: Sync {
    /// Gives the record of a key, if it is there.
    fn get(&self, key: &Digest) -> Option<Vec<u8>>;
    /// Keeps a record.
    fn put(&self, key: &Digest, record: &[u8]);
}
