//! Text before redaction: a type that cannot be printed, cloned, compared or handed on.

use core::fmt;
use core::marker::PhantomData;

use zeroize::Zeroize as _;

/// What can be wiped from memory: `String`, `Vec<u8>`, and with the feature `json` a value and an output.
pub trait Wipe: sealed::Sealed {
    /// Overwrites the bytes and makes the value empty.
    fn wipe(&mut self);

    /// Gives the number of bytes, which is no secret.
    fn size(&self) -> usize;
}

pub(crate) mod sealed {
    /// Only this crate says what can be wiped.
    #[expect(unnameable_types, reason = "a sealed trait is meant to have no name outside")]
    pub trait Sealed {}
}

impl sealed::Sealed for String {}
impl sealed::Sealed for Vec<u8> {}

impl Wipe for String {
    fn wipe(&mut self) {
        self.zeroize();
    }

    fn size(&self) -> usize {
        self.len()
    }
}

impl Wipe for Vec<u8> {
    fn wipe(&mut self) {
        self.zeroize();
    }

    fn size(&self) -> usize {
        self.len()
    }
}

/// Text as a tool left it. It goes into a [`Firewall`](crate::Firewall), or is lent to code on this machine.
///
/// # Guarantees
/// It is no `Display`, `Deref`, `AsRef`, `Clone`, `PartialEq` or `Serialize`; `Debug` writes `Raw(..)`.
/// Its bytes are overwritten when it is dropped. Copies that the caller made before are the caller's.
///
/// # Source
/// ADR-004, concern 2: the boundary is held by types.
pub struct Raw<T: Wipe> {
    value: T,
}

impl<T: Wipe> Raw<T> {
    /// Takes what a tool left.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self { value }
    }

    /// Gives the number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.value.size()
    }

    /// Tells whether nothing is there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lends the value to code on this machine. This is the one door.
    ///
    /// # Guarantees
    /// What is lent cannot outlive the proof, which cannot outlive its call of [`on_this_machine`].
    pub fn expose<'a>(&'a self, proof: &'a LocalOnly<'_>) -> &'a T {
        let LocalOnly { _call: PhantomData } = proof;
        &self.value
    }

    pub(crate) const fn inside(&self) -> &T {
        &self.value
    }
}

impl<T: Wipe> Drop for Raw<T> {
    fn drop(&mut self) {
        self.value.wipe();
    }
}

impl<T: Wipe> fmt::Debug for Raw<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Raw(..)")
    }
}

/// Proof that what is lent stays on this machine for the length of one call.
///
/// Nobody can make one: [`on_this_machine`] lends it.
pub struct LocalOnly<'a> {
    // Invariant, so that a proof of one call does not pass for a proof of a longer one.
    _call: PhantomData<fn(&'a ()) -> &'a ()>,
}

impl fmt::Debug for LocalOnly<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LocalOnly")
    }
}

/// Runs code that may see raw text, and lends it the proof that it needs.
///
/// The compiler holds that nothing lent is kept; that the code stays on this machine is what its author says by
/// calling this. The callers are a list that the fence checks.
pub fn on_this_machine<R>(code: impl for<'a> FnOnce(&LocalOnly<'a>) -> R) -> R {
    code(&LocalOnly { _call: PhantomData })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_value_is_printed() {
        let raw = Raw::new("hunter2".to_owned());
        assert_eq!((format!("{raw:?}"), raw.len(), raw.is_empty()), ("Raw(..)".to_owned(), 7, false));
    }

    #[test]
    fn the_door_lends_the_value() {
        let raw = Raw::new(b"abc".to_vec());
        assert_eq!(on_this_machine(|proof| raw.expose(proof).len()), 3);
    }

    #[test]
    fn wiping_leaves_nothing() {
        let mut text = "hunter2".to_owned();
        text.wipe();
        assert!(text.is_empty());
        let mut bytes = vec![7; 9];
        bytes.wipe();
        assert!(bytes.is_empty());
    }
}
