//! Parts of a text or list at offsets that the caller has found in it.

use core::slice::SliceIndex;

/// Parts of a text or list.
///
/// An offset that is outside is a mistake of the caller. An empty part in its place would hide it, and a scanner would
/// find nothing. So each method checks with a debug assertion, which tests and fuzz targets run, that the part exists.
/// Without assertions it is empty. If the text may end before, say so with `rest`, `head` or
/// `tail`, or call `get` and handle `None`.
///
/// # Examples
/// ```
/// use plugward_types::Part;
///
/// assert_eq!(b"key=value".part(4..), b"value");
/// assert_eq!("key=value".head(3), "key");
/// assert_eq!("key".head(16), "key");
/// ```
pub trait Part {
    /// Returns the part in a range, which is inside.
    fn part<I: SliceIndex<Self, Output = Self>>(&self, range: I) -> &Self;

    /// Returns the parts before and after an offset, which is inside.
    fn parts_at(&self, at: usize) -> (&Self, &Self);

    /// Returns the part from an offset to the end, which is empty if the text or list ends before.
    fn rest(&self, from: usize) -> &Self;

    /// Returns at most the first `len` bytes or items.
    fn head(&self, len: usize) -> &Self;

    /// Returns at most the last `len` bytes or items.
    fn tail(&self, len: usize) -> &Self;
}

impl<T> Part for [T] {
    #[track_caller]
    fn part<I: SliceIndex<Self, Output = Self>>(&self, range: I) -> &Self {
        let part = self.get(range);
        debug_assert!(part.is_some(), "a range outside of {} items", self.len());
        part.unwrap_or_default()
    }

    #[track_caller]
    fn parts_at(&self, at: usize) -> (&Self, &Self) {
        (self.part(..at), self.part(at..))
    }

    fn rest(&self, from: usize) -> &Self {
        self.get(from..).unwrap_or(&[])
    }

    fn head(&self, len: usize) -> &Self {
        self.get(..len).unwrap_or(self)
    }

    fn tail(&self, len: usize) -> &Self {
        self.len().checked_sub(len).map_or(self, |start| self.part(start..))
    }
}

impl Part for str {
    #[track_caller]
    fn part<I: SliceIndex<Self, Output = Self>>(&self, range: I) -> &Self {
        let part = self.get(range);
        debug_assert!(part.is_some(), "a range outside of the text, or inside a character: {self:?}");
        part.unwrap_or_default()
    }

    #[track_caller]
    fn parts_at(&self, at: usize) -> (&Self, &Self) {
        (self.part(..at), self.part(at..))
    }

    fn rest(&self, from: usize) -> &Self {
        self.part(from.min(self.len())..)
    }

    fn head(&self, len: usize) -> &Self {
        self.part(..len.min(self.len()))
    }

    fn tail(&self, len: usize) -> &Self {
        self.part(self.len().saturating_sub(len)..)
    }
}

/// Returns the text before the first byte that is not UTF-8.
///
/// # Examples
/// ```
/// use plugward_types::valid_head;
///
/// assert_eq!(valid_head(b"caf\xe9 au lait"), "caf");
/// assert_eq!(valid_head("caf\u{e9}".as_bytes()), "caf\u{e9}");
/// ```
#[must_use]
pub fn valid_head(bytes: &[u8]) -> &str {
    bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_inside() {
        assert_eq!([1, 2, 3].part(1..), [2, 3]);
        assert_eq!([1, 2, 3].part(3..), [0; 0]);
        assert_eq!([1, 2, 3].parts_at(2), (&[1, 2][..], &[3][..]));
        assert_eq!("né".parts_at(1), ("n", "é"));
        assert_eq!([1, 2, 3].rest(1), [2, 3]);
        assert_eq!([1, 2, 3].rest(4), [0; 0]);
        assert_eq!([1, 2, 3].head(2), [1, 2]);
        assert_eq!([1, 2, 3].tail(2), [2, 3]);
        assert_eq!([1].tail(2), [1]);
        assert_eq!("né".part(1..), "é");
        assert_eq!("né".tail(2), "é");
    }

    #[test]
    #[should_panic(expected = "a range outside of 3 items")]
    fn a_part_after_the_end_fails() {
        let _ = [1, 2, 3].part(4..);
    }

    #[test]
    #[should_panic(expected = "inside a character")]
    fn a_part_of_a_character_fails() {
        let _ = "né".part(..2);
    }
}
