//! Text before redaction: a type that cannot be printed, cloned or compared.

use core::fmt;
use core::marker::PhantomData;

use zeroize::Zeroize as _;

/// A value whose bytes can be wiped from memory. With the feature `json`, also a JSON value and a tool's
/// output.
pub trait Wipe: sealed::Sealed {
    /// Overwrites the bytes and makes the value empty.
    fn wipe(&mut self);

    /// Returns the number of bytes, which is not secret.
    fn size(&self) -> usize;
}

pub(crate) mod sealed {
    /// Sealed, so that only types that are known to wipe all their bytes can be raw.
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

/// Unredacted tool output. Pass it to a [`Firewall`](crate::Firewall), or lend it to local code.
///
/// # Guarantees
///
/// The type implements neither `Display`, `Deref`, `AsRef`, `Clone`, `PartialEq` nor `Serialize`, and `Debug`
/// prints `Raw(..)`. Its bytes are overwritten when it is dropped. Copies that the caller made before are
/// not.
///
/// # Examples
///
/// ```
/// use plugward_redact::{Raw, on_this_machine};
///
/// let raw = Raw::new("secret".to_owned());
/// assert_eq!(format!("{raw:?}"), "Raw(..)");
/// assert_eq!(on_this_machine(|proof| raw.expose(proof).len()), 6);
/// ```
pub struct Raw<T: Wipe> {
    value: T,
}

impl<T: Wipe> Raw<T> {
    /// Wraps the output of a tool.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self { value }
    }

    /// Returns the number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.value.size()
    }

    /// Returns `true` if the value is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lends the value to local code. There is no other way to read it.
    ///
    /// # Guarantees
    ///
    /// The reference cannot outlive the proof, which cannot outlive its call of [`on_this_machine`].
    pub fn expose<'a>(&'a self, proof: &'a LocalProof<'_>) -> &'a T {
        let LocalProof { _call: PhantomData } = proof;
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

/// Proof that code runs inside a call of [`on_this_machine`], which alone can create one.
pub struct LocalProof<'a> {
    // Invariant in its lifetime, so that the proof of one call is not accepted as that of a longer one.
    _call: PhantomData<fn(&'a ()) -> &'a ()>,
}

impl fmt::Debug for LocalProof<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LocalProof")
    }
}

/// Runs code that may read raw text, and lends it the proof for [`Raw::expose`].
///
/// The compiler enforces that nothing lent is kept. It cannot enforce that the code keeps the text on this
/// machine: that is a promise of the caller. The fence checks the list of callers.
pub fn on_this_machine<R>(code: impl for<'a> FnOnce(&LocalProof<'a>) -> R) -> R {
    code(&LocalProof { _call: PhantomData })
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
