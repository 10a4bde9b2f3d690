//! How much the reader takes in.

/// What the reader accepts at most. There is no `Default`: whoever reads says how much.
///
/// # Source
/// `design/manifest.md`, 2.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    bytes: usize,
    depth: usize,
    values: usize,
    string: usize,
}

impl Limits {
    /// Gives the limits of one file of a plugin: 1 MiB, depth 32, 200,000 values, 256 KiB a string.
    #[must_use]
    pub const fn standard() -> Self {
        Self { bytes: 1 << 20, depth: 32, values: 200_000, string: 256 << 10 }
    }

    /// Gives the limits of a marketplace or registry file: 4 MiB, the rest as [`Limits::standard`].
    #[must_use]
    pub const fn market() -> Self {
        Self { bytes: 4 << 20, ..Self::standard() }
    }

    /// Replaces the limit of bytes in the file.
    #[must_use]
    pub const fn with_bytes(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }

    /// Replaces the limit of nested lists and objects, at most 128.
    #[must_use]
    pub const fn with_depth(self, depth: usize) -> Self {
        Self { depth: if depth > 128 { 128 } else { depth }, ..self }
    }

    /// Replaces the limit of values in the file.
    #[must_use]
    pub const fn with_values(self, values: usize) -> Self {
        Self { values, ..self }
    }

    /// Replaces the limit of bytes of one string, after its escapes were undone.
    #[must_use]
    pub const fn with_string(self, string: usize) -> Self {
        Self { string, ..self }
    }

    /// Gives the limit of bytes in the file; never above 4 GiB, so that a place fits 32 bits.
    #[must_use]
    pub const fn bytes(self) -> usize {
        let most = u32::MAX as usize;
        if self.bytes > most { most } else { self.bytes }
    }

    /// Gives the limit of nested lists and objects.
    #[must_use]
    pub const fn depth(self) -> usize {
        self.depth
    }

    /// Gives the limit of values in the file.
    #[must_use]
    pub const fn values(self) -> usize {
        self.values
    }

    /// Gives the limit of bytes of one string.
    #[must_use]
    pub const fn string(self) -> usize {
        self.string
    }
}
