//! Checkpoints: three lines of text that anchor a ledger outside its files.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use core::fmt;
use core::str::FromStr;

use crate::error::{LedgerError, LedgerErrorKind};
use crate::format::digest::{LedgerDigest, LedgerId};

const ORIGIN: &str = "plugward/ledger/";
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The id, size and tree hash of a ledger at one point.
///
/// The text form has three lines, each with an LF: `plugward/ledger/<id>`, the size in decimal, the root in
/// base64. This is the body of a C2SP tlog checkpoint, without signatures.
///
/// # Guarantees
///
/// `Display` and `parse` are inverse. Verification against a checkpoint that was stored elsewhere detects any
/// change or removal of the first `size` lines.
///
/// # Examples
///
/// ```
/// use plugward_ledger::{Checkpoint, LedgerId, LedgerDigest};
///
/// let checkpoint = Checkpoint::new(LedgerId::from_bytes([7; 16]), 2, LedgerDigest::ZERO);
/// assert_eq!(Checkpoint::parse(&checkpoint.to_string())?, checkpoint);
/// # Ok::<(), plugward_ledger::LedgerError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    ledger: LedgerId,
    size: u64,
    root: LedgerDigest,
}

impl Checkpoint {
    /// Creates a checkpoint from its parts.
    #[must_use]
    pub const fn new(ledger: LedgerId, size: u64, root: LedgerDigest) -> Self {
        Self { ledger, size, root }
    }

    /// Returns the id of the ledger.
    #[must_use]
    pub const fn ledger(&self) -> LedgerId {
        self.ledger
    }

    /// Returns the number of lines that it covers.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Returns the RFC 6962 tree hash of these lines.
    #[must_use]
    pub const fn root(&self) -> LedgerDigest {
        self.root
    }

    /// Parses the three lines. Anything after a blank line, such as C2SP signatures, is ignored.
    ///
    /// # Errors
    ///
    /// `ledger/text` if the text has another form.
    pub fn parse(text: &str) -> Result<Self, LedgerError> {
        parse(text).ok_or_else(|| {
            LedgerError::new(LedgerErrorKind::Text {
                what: "checkpoint",
                expected: "three lines: plugward/ledger/<id>, the size in decimal, the root in base64",
            })
        })
    }
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{ORIGIN}{}\n{}\n{}", self.ledger, self.size, encode(self.root.as_bytes()))
    }
}

impl FromStr for Checkpoint {
    type Err = LedgerError;

    fn from_str(text: &str) -> Result<Self, LedgerError> {
        Self::parse(text)
    }
}

fn parse(text: &str) -> Option<Checkpoint> {
    let (origin, rest) = text.split_once('\n')?;
    let (size, rest) = rest.split_once('\n')?;
    let (root, rest) = rest.split_once('\n')?;
    // After an empty line may come signatures, as in the checkpoint format of transparency logs.
    if !(rest.is_empty() || rest.starts_with('\n')) {
        return None;
    }
    let ledger = origin.strip_prefix(ORIGIN)?.parse().ok()?;
    let number: u64 = size.parse().ok()?;
    // `parse` accepts a plus sign and leading zeros. A checkpoint has one text form, since it may be signed or
    // compared as text.
    if number.to_string() != size {
        return None;
    }
    Some(Checkpoint { ledger, size: number, root: LedgerDigest::from_bytes(decode(root)?) })
}

fn encode(bytes: &[u8; 32]) -> String {
    let mut out = String::with_capacity(44);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for place in 0..4_u32 {
            let index = usize::try_from((bits >> (18_u32 - place * 6)) & 63).unwrap_or(0);
            let digit = BASE64.get(index).copied().map_or('=', char::from);
            // A group of n bytes has n + 1 digits.
            out.push(if usize::try_from(place).unwrap_or(4) > group.len() { '=' } else { digit });
        }
    }
    out
}

fn decode(text: &str) -> Option<[u8; 32]> {
    let digits = text.strip_suffix('=')?;
    // 32 bytes are 43 digits and one `=`.
    if digits.len() != 43 {
        return None;
    }
    let mut bytes = Vec::with_capacity(33);
    let (mut bits, mut have) = (0_u32, 0_u32);
    for digit in digits.bytes() {
        let value = BASE64.iter().position(|known| *known == digit)?;
        bits = (bits << 6) | u32::try_from(value).ok()?;
        have += 6;
        if have >= 8 {
            have -= 8;
            bytes.push(u8::try_from((bits >> have) & 255).ok()?);
        }
    }
    // The last digit has two bits beyond the 32 bytes. They must be zero, so that each hash has one text form.
    if bits & 3 != 0 {
        return None;
    }
    bytes.try_into().ok()
}
