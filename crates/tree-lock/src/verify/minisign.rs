//! Detached minisign signatures over PLUGINS.lock.

use core::fmt;

use minisign_verify::{PublicKey, Signature};
use plugward_types::PluginId;
use thiserror::Error;

use super::{Claim, SIGN, SignerId, Subject, Verifier, VerifierCheck, VerifierError, VerifierRefusal};
use crate::base64;
use crate::lock::{LockError, LockFile};

/// The most bytes of a signature file; a real one has about 300.
const SIGNATURE_BYTES: usize = 4096;
const SCHEME: &str = "minisign";

/// A public key, as `minisign -G` prints it: `RW` and 54 more base64 digits.
#[derive(Clone, PartialEq, Eq)]
pub struct MinisignKey {
    key: PublicKey,
    id: [u8; 8],
}

impl MinisignKey {
    /// Reads a key.
    ///
    /// # Errors
    /// `lock/signer` where it is none.
    pub fn parse(text: &str) -> Result<Self, SignerError> {
        let bad = || SignerError { what: "a minisign public key: RW and 54 more base64 digits" };
        let key = PublicKey::from_base64(text).ok().ok_or_else(bad)?;
        let bytes = base64::decode(text).ok_or_else(bad)?;
        if bytes.len() != 42 || !bytes.starts_with(b"Ed") {
            return Err(bad());
        }
        let id = bytes.get(2..10).and_then(|id| id.try_into().ok()).ok_or_else(bad)?;
        Ok(Self { key, id })
    }

    /// Gives the key id in the form that `minisign` prints: 16 upper-case hex digits.
    #[must_use]
    pub fn id(&self) -> String {
        key_id(self.id)
    }
}

impl fmt::Debug for MinisignKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MinisignKey({})", self.id())
    }
}

fn key_id(bytes: [u8; 8]) -> String {
    format!("{:016X}", u64::from_le_bytes(bytes))
}

/// A key, and the plugins that it has to sign for.
///
/// # Source
/// `lock.signers = [{ key = "RW…", ids = ["claude:*@team"] }]` of the user's and the managed settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    key: MinisignKey,
    ids: Vec<String>,
}

impl Signer {
    /// Takes a key and id patterns: a full id, in which `*` stands for any text without `:` and `@`.
    ///
    /// # Errors
    /// `lock/signer` where there is no pattern, or one that can be no id's.
    pub fn new<'a>(key: MinisignKey, ids: impl IntoIterator<Item = &'a str>) -> Result<Self, SignerError> {
        let ids: Vec<String> = ids.into_iter().map(str::to_owned).collect();
        let bad =
            SignerError { what: "at least one id pattern `dialect:name@source`, `*` for any text in a part" };
        let all = !ids.is_empty()
            && ids.iter().all(|pattern| pattern.replace('*', "x").parse::<PluginId>().is_ok());
        if all { Ok(Self { key, ids }) } else { Err(bad) }
    }

    /// Says whether the key has to sign for a plugin.
    #[must_use]
    pub fn is_for(&self, id: &PluginId) -> bool {
        self.ids.iter().any(|pattern| matches(pattern.as_bytes(), id.as_str().as_bytes()))
    }
}

/// Matches with one step back to the last `*`, so in at most pattern × text steps.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0_usize, 0_usize);
    let mut star: Option<(usize, usize)> = None;
    while let Some(byte) = text.get(t) {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p = p.saturating_add(1);
                continue;
            }
            Some(expected) if expected == byte => {
                p = p.saturating_add(1);
                t = t.saturating_add(1);
                continue;
            }
            _ => {}
        }
        // The last star takes one byte more; it does not take the marks between the parts of an id.
        match star {
            Some((at, from)) if !matches!(text.get(from), Some(b':' | b'@')) => {
                star = Some((at, from.saturating_add(1)));
                p = at.saturating_add(1);
                t = from.saturating_add(1);
            }
            _ => return false,
        }
    }
    pattern.get(p..).unwrap_or_default().iter().all(|byte| *byte == b'*')
}

/// A setting that names no signer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("read a signer: expected {what}")]
pub struct SignerError {
    what: &'static str,
}

impl SignerError {
    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "lock/signer"
    }

    /// Says what to write instead.
    #[must_use]
    pub fn help(&self) -> String {
        format!("in `lock.signers`, write {}", self.what)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Outcome {
    Signed { by: usize, comment: String },
    Missing,
    Bad(&'static str),
    UnknownKey(String),
}

/// Checks that PLUGINS.lock is signed by who has to sign for a plugin, and that the signed lock names its tree.
///
/// # Guarantees
/// The signature is over the raw bytes that were handed in, and the tree is looked up in what those bytes say, not
/// in a lock file that came another way. Only prehashed signatures count; the trusted comment is part of what is
/// checked.
#[derive(Debug, Clone)]
pub struct MinisignVerifier {
    signers: Vec<Signer>,
    lock: LockFile,
    outcome: Outcome,
}

impl MinisignVerifier {
    /// Takes the signers of the settings, the raw bytes of PLUGINS.lock, and those of PLUGINS.lock.minisig where
    /// there is one, and checks the signature once.
    ///
    /// # Errors
    /// `lock/malformed` where the lock file is none.
    pub fn new(signers: Vec<Signer>, lock: &[u8], signature: Option<&[u8]>) -> Result<Self, LockError> {
        let outcome = signature.map_or(Outcome::Missing, |signature| check(&signers, lock, signature));
        Ok(Self { signers, lock: LockFile::parse(lock)?, outcome })
    }

    /// Gives the trusted comment, where the signature holds; it has to be escaped by whoever prints it.
    #[must_use]
    pub fn trusted_comment(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Signed { comment, .. } => Some(comment),
            Outcome::Missing | Outcome::Bad(_) | Outcome::UnknownKey(_) => None,
        }
    }
}

/// Checks a signature by the key that it names; no other key is tried.
fn check(signers: &[Signer], lock: &[u8], signature: &[u8]) -> Outcome {
    const SHAPE: &str = "it is no minisign signature file";
    if signature.len() > SIGNATURE_BYTES {
        return Outcome::Bad(SHAPE);
    }
    let Ok(text) = core::str::from_utf8(signature) else {
        return Outcome::Bad(SHAPE);
    };
    let lines: Vec<&str> = text.lines().collect();
    let [_, packet, _, _] = lines.as_slice() else {
        return Outcome::Bad(SHAPE);
    };
    let id: Option<[u8; 8]> = base64::decode(packet).and_then(|bytes| bytes.get(2..10)?.try_into().ok());
    let (Ok(signature), Some(id)) = (Signature::decode(text), id) else {
        return Outcome::Bad(SHAPE);
    };
    let mut known = false;
    for (by, signer) in signers.iter().enumerate().filter(|(_, signer)| signer.key.id == id) {
        known = true;
        // Legacy signatures, over the bytes and not over their hash, are not accepted.
        match signer.key.key.verify(lock, &signature, false) {
            Ok(()) => return Outcome::Signed { by, comment: signature.trusted_comment().to_owned() },
            Err(minisign_verify::Error::UnexpectedAlgorithm) => {
                return Outcome::Bad("it is of the legacy form; sign again with a current minisign");
            }
            Err(_) => {}
        }
    }
    if known { Outcome::Bad("it does not fit the lock file") } else { Outcome::UnknownKey(key_id(id)) }
}

impl Verifier for MinisignVerifier {
    fn name(&self) -> &'static str {
        SCHEME
    }

    fn verify(&self, subject: &Subject<'_>) -> Result<VerifierCheck, VerifierError> {
        if !self.signers.iter().any(|signer| signer.is_for(subject.id)) {
            return Ok(VerifierCheck::NotMentioned);
        }
        let refused =
            |code, text: String, help| Ok(VerifierCheck::Refused(VerifierRefusal::new(code, text, help)));
        let unknown = |id: &str| {
            let help = "add the key to `lock.signers` of your own settings, if you know whose it is";
            refused(
                "lock/unknown-key",
                format!("the lock file is signed by {id}, which may not sign for this plugin"),
                help,
            )
        };
        let (key, comment) = match &self.outcome {
            Outcome::Missing => {
                return refused("lock/signature-missing", "the lock file is not signed".into(), SIGN);
            }
            Outcome::Bad(why) => {
                return refused("lock/signature-bad", format!("the signature does not hold: {why}"), SIGN);
            }
            Outcome::UnknownKey(id) => return unknown(id),
            Outcome::Signed { by, comment } => {
                // The same key may stand in several rows of the settings, each with other plugins.
                let key = self.signers.get(*by).map(|signer| &signer.key);
                let may = |signer: &&Signer| Some(&signer.key) == key && signer.is_for(subject.id);
                match self.signers.iter().find(may) {
                    Some(signer) => (&signer.key, comment),
                    None => return unknown(&key.map(MinisignKey::id).unwrap_or_default()),
                }
            }
        };
        let Some(entry) = self.lock.get(subject.id) else {
            let help = "have it added to the lock file and that signed, or remove the plugin";
            return refused("lock/unlisted", "the signed lock file does not name this plugin".into(), help);
        };
        if !entry.tree.contains(subject.digest) {
            let text = format!("the signed lock file names another tree, and this is {}", subject.digest);
            return refused(
                "lock/mismatch",
                text,
                "go back to the tree that was signed, or have this one signed",
            );
        }
        let signer = SignerId::new(&format!("{SCHEME}:{}", key.id()))
            .ok_or_else(|| VerifierError::new("the key id makes no signer id"))?;
        Ok(VerifierCheck::Holds(Claim::Signed { scheme: SCHEME, signer, comment: Some(comment.clone()) }))
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stays_in_its_part() {
        for (pattern, id) in [
            ("claude:*@team", "claude:a@team"),
            ("claude:*@team", "claude:a.b-c@team"),
            ("*:*@*", "claude:a@team"),
            ("claude:a*b*c@team", "claude:aXbXbc@team"),
            ("claude:ab@team", "claude:ab@team"),
            ("claude:a*@team", "claude:a@team"),
        ] {
            assert!(matches(pattern.as_bytes(), id.as_bytes()), "{pattern} {id}");
        }
        for (pattern, id) in [
            ("claude:*@team", "claude:a@team2"),
            ("claude:*@team", "claude:a@te"),
            ("claude:*", "claude:a@team"),
            ("*@team", "claude:a@team"),
            ("claude:a*b@team", "claude:ab@x@team"),
            ("claude:*@team", "codex:a@team"),
            ("", "claude:a@team"),
        ] {
            assert!(!matches(pattern.as_bytes(), id.as_bytes()), "{pattern} {id}");
        }
    }
}
