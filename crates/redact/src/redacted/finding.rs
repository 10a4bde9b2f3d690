//! Findings: the place and kind of a secret, never its value.

use core::fmt;
use core::ops::Range;

use crate::SecretKind;

plugward_types::named! {
    /// The result of verifying the checksum that some kinds of keys contain.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[must_use]
    #[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
    pub enum ChecksumCheck {
        /// The kind has no checksum.
        None = "none",
        /// The checksum is right, so the value was generated and not typed.
        Holds = "holds",
        /// The checksum is wrong. The value is treated like one without a checksum.
        Fails = "fails",
    }
}

plugward_types::named! {
    /// One encoding that was undone before a value could be read.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum Layer {
        /// Terminal sequences, invisible, repeated and separating characters, overstrike and full-width forms.
        Strip = "strip",
        /// UTF-16 in either byte order.
        Utf16 = "utf16",
        /// Escapes of JSON, C, URLs, HTML and mail.
        Unescape = "unescape",
        /// A prefix that all lines share.
        Prefix = "prefix",
        /// Hard line wraps.
        Join = "join",
        /// Adjacent string literals.
        Concat = "concat",
        /// Base64 of either alphabet.
        Base64 = "base64",
        /// Hex digits.
        Hex = "hex",
        /// Gzip, zlib, bzip2 or raw deflate.
        Inflate = "inflate",
        /// Lines of a hex dump.
        Dump = "dump",
        /// Reversed text.
        Reverse = "reverse",
        /// Found by its value, because a transform had encoded it.
        Laundered = "laundered",
    }
}

/// The encodings that were undone to read a value, outermost first. Empty for a value in plain text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct LayerStack {
    layers: [Option<Layer>; Self::MOST],
}

impl LayerStack {
    /// The maximum number of layers. Deeper nesting is rare, and each layer multiplies the work.
    pub const MOST: usize = 4;

    /// Returns the layers, outermost first.
    pub fn layers(&self) -> impl Iterator<Item = Layer> + '_ {
        self.layers.iter().filter_map(|layer| *layer)
    }

    /// Returns the number of layers.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.layers().count()
    }

    pub(crate) fn count(self, layer: Layer) -> usize {
        self.layers().filter(|own| *own == layer).count()
    }

    /// Adds an inner layer. Returns `None` if there are too many.
    pub(crate) fn with(mut self, layer: Layer) -> Option<Self> {
        let slot = self.layers.iter_mut().find(|slot| slot.is_none())?;
        *slot = Some(layer);
        Some(self)
    }

    /// Adds [`Layer::Laundered`], which replaces the innermost layer if there is no room.
    pub(crate) fn laundered(mut self) -> Self {
        let depth = self.depth().min(Self::MOST.saturating_sub(1));
        if let Some(slot) = self.layers.get_mut(depth) {
            *slot = Some(Layer::Laundered);
        }
        self
    }
}

impl fmt::Display for LayerStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.depth() == 0 {
            return f.write_str("plain");
        }
        for (place, layer) in self.layers().enumerate() {
            if place > 0 {
                f.write_str(">")?;
            }
            f.write_str(layer.as_str())?;
        }
        Ok(())
    }
}

impl fmt::Debug for LayerStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

plugward_types::named! {
    /// The effect of a match on the text.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[must_use]
    #[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
    pub enum RedactAction {
        /// The value was replaced by a marker.
        Removed = "cut",
        /// The value was kept, because it is a documented example key and the settings keep those.
        KeptExample = "kept-example",
        /// The value was kept, because the rule only notes.
        Noted = "noted",
        /// The whole text was replaced.
        Withheld = "withheld",
    }
}

/// A secret that was found: its kind and place, never its value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SecretFinding {
    /// The kind of secret.
    pub kind: SecretKind,
    /// The range of the marker, or of the kept value, in the output. For JSON: in the string at
    /// [`SecretFinding::pointer`].
    pub at: Range<usize>,
    /// The length of the value in bytes.
    pub raw_len: usize,
    /// The layers that were undone to read it.
    pub via: LayerStack,
    /// The result of verifying its checksum.
    pub checksum: ChecksumCheck,
    /// The effect on the text.
    pub action: RedactAction,
    /// The line in the output, from 1. For JSON: always 1.
    pub line: usize,
    /// The column in the output in bytes, from 1. For JSON: in the string.
    pub column: usize,
    /// The JSON pointer of the string. Empty for plain text.
    pub pointer: String,
}

impl SecretFinding {
    /// Returns the stable code, as listed in [`CODES`](crate::CODES).
    #[must_use]
    pub fn code(&self) -> &'static str {
        if self.kind.as_str() == "unscanned" {
            "redact/unscanned"
        } else {
            match self.action {
                RedactAction::Removed if self.via.count(Layer::Laundered) > 0 => "redact/laundered",
                RedactAction::Removed => "redact/found",
                RedactAction::KeptExample => "redact/example",
                RedactAction::Noted => "redact/noted",
                RedactAction::Withheld => "redact/withheld",
            }
        }
    }

    /// Returns the finding as one JSON line: kind, position, sizes and codes, without the value.
    #[must_use]
    pub fn to_json_line(&self) -> String {
        // Only the pointer needs escapes: kinds and layers are letters, digits and hyphens.
        let mut line = format!(
            "{{\"code\":\"{}\",\"kind\":\"{}\",\"line\":{},\"column\":{},\"start\":{},\"end\":{},\"raw_len\":{},\"via\":\"{}\",\"checksum\":\"{}\",\"did\":\"{}\"",
            self.code(),
            self.kind,
            self.line,
            self.column,
            self.at.start,
            self.at.end,
            self.raw_len,
            self.via,
            self.checksum.as_str(),
            self.action.as_str(),
        );
        if !self.pointer.is_empty() {
            line.push_str(",\"pointer\":\"");
            line.extend(self.pointer.chars().flat_map(escape));
            line.push('"');
        }
        line.push('}');
        line
    }
}

fn escape(character: char) -> impl Iterator<Item = char> {
    let text = match character {
        '"' | '\\' => format!("\\{character}"),
        control if control.is_control() => format!("\\u{:04x}", u32::from(control)),
        plain => plain.to_string(),
    };
    text.chars().collect::<Vec<char>>().into_iter()
}
