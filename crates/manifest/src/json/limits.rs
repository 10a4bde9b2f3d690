//! The limits of the parser.

/// The limits that the parser enforces on one file.
///
/// There is no `Default`: each caller decides how much input it accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseLimits {
    bytes: usize,
    depth: usize,
    values: usize,
    string: usize,
}

impl ParseLimits {
    /// Returns the limits for one file of a plugin: 1 MiB, depth 32, 200,000 values, 256 KiB per string.
    #[must_use]
    pub const fn standard() -> Self {
        Self { bytes: 1 << 20, depth: 32, values: 200_000, string: 256 << 10 }
    }

    /// Returns the limits for a marketplace or registry file: 4 MiB, otherwise as [`ParseLimits::standard`].
    #[must_use]
    pub const fn marketplace() -> Self {
        Self { bytes: 4 << 20, ..Self::standard() }
    }

    /// Sets the maximum size of the file in bytes.
    #[must_use]
    pub const fn with_bytes(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }

    /// Sets the maximum nesting of lists and objects, at most 128.
    ///
    /// The parser is recursive, and a deeper nesting could overflow the stack.
    #[must_use]
    pub const fn with_depth(self, depth: usize) -> Self {
        Self { depth: if depth > 128 { 128 } else { depth }, ..self }
    }

    /// Sets the maximum number of values in the file.
    #[must_use]
    pub const fn with_values(self, values: usize) -> Self {
        Self { values, ..self }
    }

    /// Sets the maximum size of a string in bytes, after its escapes are decoded.
    #[must_use]
    pub const fn with_string(self, string: usize) -> Self {
        Self { string, ..self }
    }

    /// Returns the maximum size of the file in bytes; never above 4 GiB, so that an offset fits 32 bits.
    #[must_use]
    pub const fn bytes(self) -> usize {
        let most = u32::MAX as usize;
        if self.bytes > most { most } else { self.bytes }
    }

    /// Returns the maximum nesting of lists and objects.
    #[must_use]
    pub const fn depth(self) -> usize {
        self.depth
    }

    /// Returns the maximum number of values in the file.
    #[must_use]
    pub const fn values(self) -> usize {
        self.values
    }

    /// Returns the maximum size of a string in bytes.
    #[must_use]
    pub const fn string(self) -> usize {
        self.string
    }
}
