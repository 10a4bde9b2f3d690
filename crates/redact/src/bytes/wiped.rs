//! A buffer whose bytes are overwritten when it is dropped, and when it grows.
#![expect(clippy::arithmetic_side_effects, reason = "sizes of buffers in memory stay below isize::MAX")]

use core::fmt;
use core::ops::Deref;

use zeroize::Zeroize as _;

/// Bytes that may be secret. Only the written part is wiped: the rest of the allocation was never used.
#[derive(Default)]
pub(crate) struct Wiped {
    bytes: Vec<u8>,
}

impl Wiped {
    pub(crate) const fn new() -> Self {
        Self { bytes: Vec::new() }
    }

    pub(crate) fn with_room(room: usize) -> Self {
        Self { bytes: Vec::with_capacity(room) }
    }

    /// Grows the capacity in one step.
    pub(crate) fn make_room(&mut self, room: usize) {
        if room > self.bytes.capacity() {
            let mut grown = Vec::with_capacity(room);
            grown.extend_from_slice(&self.bytes);
            self.bytes.as_mut_slice().zeroize();
            self.bytes = grown;
        }
    }

    pub(crate) fn push(&mut self, byte: u8) {
        self.extend(&[byte]);
    }

    /// Appends bytes. A plain vector that grows would leave its old bytes behind.
    pub(crate) fn extend(&mut self, more: &[u8]) {
        let wanted = self.bytes.len() + more.len();
        if wanted > self.bytes.capacity() {
            self.make_room(wanted.max(self.bytes.capacity() * 2).max(256));
        }
        self.bytes.extend_from_slice(more);
    }

    /// Removes the bytes before an offset.
    pub(crate) fn drop_front(&mut self, count: usize) {
        let count = count.min(self.bytes.len());
        self.bytes.copy_within(count.., 0);
        let left = self.bytes.len() - count;
        if let Some(rest) = self.bytes.get_mut(left..) {
            rest.zeroize();
        }
        self.bytes.truncate(left);
    }
}

impl Deref for Wiped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Wiped {
    fn drop(&mut self) {
        self.bytes.as_mut_slice().zeroize();
    }
}

impl fmt::Debug for Wiped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Wiped({} bytes)", self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_and_shrinks_like_a_vector() {
        let mut buffer = Wiped::new();
        for round in 0..1000_usize {
            buffer.extend(&round.to_le_bytes());
        }
        buffer.drop_front(8 * 999);
        assert_eq!(&*buffer, 999_usize.to_le_bytes());
        assert_eq!(format!("{buffer:?}"), "Wiped(8 bytes)");
    }
}
