//! What is said about a place: where and what kind, never the value.

use core::fmt;
use core::ops::Range;

use crate::Kind;

/// What a checksum that a value carries says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum ChecksumCheck {
    /// The kind carries none.
    None,
    /// It holds: nobody wrote this value by hand.
    Holds,
    /// It does not hold. The value is treated as one that carries none.
    Fails,
}

impl ChecksumCheck {
    /// Gives the word that reports use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Holds => "holds",
            Self::Fails => "fails",
        }
    }
}

/// One layer that was undone before a value could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layer {
    /// Terminal sequences, invisible characters, overstrike, full-width forms.
    Strip,
    /// UTF-16 in either byte order.
    Utf16,
    /// Escapes of JSON, C, URLs, HTML and mail.
    Unescape,
    /// A uniform prefix of lines.
    Prefix,
    /// Hard line wraps.
    Join,
    /// String literals that stand side by side.
    Concat,
    /// Base64 of either alphabet.
    Base64,
    /// Hex digits.
    Hex,
    /// Gzip or zlib.
    Inflate,
    /// Rows of a hex dump.
    Dump,
    /// Spelled backwards.
    Reverse,
    /// Found by its value: a transform had encoded it.
    Laundered,
}

impl Layer {
    /// Gives the word that reports use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Strip => "strip",
            Self::Utf16 => "utf16",
            Self::Unescape => "unescape",
            Self::Prefix => "prefix",
            Self::Join => "join",
            Self::Concat => "concat",
            Self::Base64 => "base64",
            Self::Hex => "hex",
            Self::Inflate => "inflate",
            Self::Dump => "dump",
            Self::Reverse => "reverse",
            Self::Laundered => "laundered",
        }
    }
}

/// The layers that were undone, outermost first; none where the value stood there as it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Via {
    layers: [Option<Layer>; Self::MOST],
}

impl Via {
    /// So many layers are undone at most.
    pub const MOST: usize = 4;

    /// Gives the layers, outermost first.
    pub fn layers(&self) -> impl Iterator<Item = Layer> + '_ {
        self.layers.iter().filter_map(|layer| *layer)
    }

    /// Tells how many layers were undone.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.layers().count()
    }

    pub(crate) fn count(self, layer: Layer) -> usize {
        self.layers().filter(|own| *own == layer).count()
    }

    /// Adds an inner layer; none if there are too many.
    pub(crate) fn with(mut self, layer: Layer) -> Option<Self> {
        let slot = self.layers.iter_mut().find(|slot| slot.is_none())?;
        *slot = Some(layer);
        Some(self)
    }

    /// Adds the layer that says how the value was found, in place of the innermost if there is no room.
    pub(crate) fn laundered(mut self) -> Self {
        let depth = self.depth().min(Self::MOST.saturating_sub(1));
        if let Some(slot) = self.layers.get_mut(depth) {
            *slot = Some(Layer::Laundered);
        }
        self
    }
}

impl fmt::Display for Via {
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

impl fmt::Debug for Via {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What was done about a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum Did {
    /// A marker stands there.
    Cut,
    /// The bytes stay: they are a documented example key and the settings keep those.
    KeptExample,
    /// The bytes stay: the rule only notes.
    Noted,
    /// The whole text was replaced.
    Withheld,
}

impl Did {
    /// Gives the word that reports use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cut => "cut",
            Self::KeptExample => "kept-example",
            Self::Noted => "noted",
            Self::Withheld => "withheld",
        }
    }
}

/// Where and what kind; never the value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// What kind of secret.
    pub kind: Kind,
    /// The bytes of the marker, or of what stayed, in the output. In JSON: in the string at [`Found::pointer`].
    pub at: Range<usize>,
    /// How many bytes stood there before.
    pub raw_len: usize,
    /// The layers that hid it.
    pub via: Via,
    /// What its checksum said.
    pub checksum: ChecksumCheck,
    /// What was done.
    pub did: Did,
    /// Line in the output, from 1. In JSON: 1.
    pub line: usize,
    /// Column in the output in bytes, from 1. In JSON: in the string.
    pub column: usize,
    /// Where in a JSON value, as a JSON pointer; empty for plain text.
    pub pointer: String,
}

impl Found {
    /// Gives the stable code of the finding.
    #[must_use]
    pub fn code(&self) -> &'static str {
        if self.kind.as_str() == "unscanned" {
            "redact/unscanned"
        } else {
            match self.did {
                Did::Cut if self.via.count(Layer::Laundered) > 0 => "redact/laundered",
                Did::Cut => "redact/found",
                Did::KeptExample => "redact/example",
                Did::Noted => "redact/noted",
                Did::Withheld => "redact/withheld",
            }
        }
    }

    /// Gives one line of a report: a JSON object of kind, line, column, sizes and codes, without a value.
    #[must_use]
    pub fn to_json_line(&self) -> String {
        // Kind names and layers are letters, digits and hyphens; a pointer is the only text to escape.
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
            self.did.as_str(),
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
