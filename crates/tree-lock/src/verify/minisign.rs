//! Detached minisign signatures over PLUGINS.lock.

use core::fmt;

use minisign_verify::{PublicKey, Signature};
use plugward_types::{PluginId, base64, escape, glob};
use thiserror::Error;

use super::{
    Claim, SIGN, SignerId, Verifier, VerifierCheck, VerifierError, VerifierRefusal, VerifierSubject,
};
use crate::lock::{LockError, LockFile};

/// The largest signature file that is read, in bytes. Real ones have about 300.
const SIGNATURE_BYTES: usize = 4096;
/// The longest path in a pattern, in bytes.
const PATH_BYTES: usize = 4095;
const SCHEME: &str = "minisign";

/// A public key as `minisign -G` prints it: `RW` and 54 more base64 digits.
#[derive(Clone, PartialEq, Eq)]
pub struct MinisignKey {
    key: PublicKey,
    id: [u8; 8],
}

impl MinisignKey {
    /// Parses a key.
    ///
    /// # Errors
    /// `lock/signer` if the text is not a key.
    pub fn parse(text: &str) -> Result<Self, SignerError> {
        let bad = || SignerError { what: "a minisign public key: RW and 54 more base64 digits" };
        let key = PublicKey::from_base64(text).ok().ok_or_else(bad)?;
        let bytes = base64::decode_canonical(text).ok_or_else(bad)?;
        // Two bytes of algorithm, eight of key id, 32 of key.
        if bytes.len() != 42 || !bytes.starts_with(b"Ed") {
            return Err(bad());
        }
        let id = bytes.get(2..10).and_then(|id| id.try_into().ok()).ok_or_else(bad)?;
        Ok(Self { key, id })
    }

    /// Returns the key id in the form that `minisign` prints: 16 uppercase hex digits.
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

/// A key, and the plugins that must be signed with it.
///
/// The setting is `lock.signers = [{ key = "RW…", ids = ["claude:*@team"] }]` of the user or the organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    key: MinisignKey,
    patterns: Vec<String>,
}

impl Signer {
    /// Creates a signer from a key and patterns of plugin names.
    ///
    /// In a pattern, `*` matches any text, also across `:`, `@` and `/`. So `claude:*@team` matches the plugins of one
    /// marketplace, `claude:*` all plugins of one host, and `path:/srv/plugins/*` everything below a directory.
    ///
    /// # Errors
    /// `lock/signer` if there is no pattern, or one that no name can match: other than `host:name`,
    /// `host:name@market` and `path:/directory`.
    pub fn new<'a>(
        key: MinisignKey,
        patterns: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, SignerError> {
        let patterns: Vec<String> = patterns.into_iter().map(str::to_owned).collect();
        if patterns.is_empty() || !patterns.iter().all(|pattern| is_pattern(pattern)) {
            return Err(SignerError { what: PATTERNS });
        }
        Ok(Self { key, patterns })
    }

    /// Returns `true` if a plugin with these names must be signed with the key.
    ///
    /// One name that matches one pattern is enough.
    #[must_use]
    pub fn is_for(&self, names: &[String]) -> bool {
        let matches_any = |name: &String| self.patterns.iter().any(|pattern| glob::is_match(pattern, name));
        names.iter().any(matches_any)
    }
}

const PATTERNS: &str =
    "at least one pattern `host:name`, `host:name@market` or `path:/directory`, with `*` for any text";

/// Returns `true` if a pattern can match the name of a plugin.
///
/// It catches typos: a pattern that matches nothing would leave plugins unsigned without a message.
fn is_pattern(pattern: &str) -> bool {
    // A star stands for valid text, so a pattern is valid if the name with `x` in its place is.
    let text = pattern.replace('*', "x");
    let Some((host, rest)) = text.split_once(':') else {
        return false;
    };
    let is_part = |part: &str| PluginId::check_part(part).is_ok();
    if host == "path" {
        let is_absolute = rest.starts_with('/') || pattern.starts_with("path:*");
        return is_absolute && rest.len() <= PATH_BYTES && !rest.chars().any(escape::is_hidden);
    }
    is_part(host)
        && match rest.split_once('@') {
            Some((name, market)) => is_part(name) && is_part(market),
            None => is_part(rest),
        }
}

/// An invalid signer in the settings.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("invalid signer: expected {what}")]
pub struct SignerError {
    what: &'static str,
}

impl SignerError {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "lock/signer"
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> String {
        format!("in `lock.signers`, write {}", self.what)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum SignatureState {
    Signed { by: usize, comment: String },
    Missing,
    Bad(&'static str),
    UnknownKey(String),
}

/// Checks that PLUGINS.lock is signed with the key that a plugin requires, and that the signed file lists its tree.
///
/// # Guarantees
/// The signature covers the given bytes, and the tree is looked up in those bytes, by the path in the
/// [`VerifierSubject`]. The lockfile in the [`VerifierSubject`] is not used. Only prehashed signatures are accepted.
/// The trusted comment is verified as well.
#[derive(Debug, Clone)]
pub struct MinisignVerifier {
    signers: Vec<Signer>,
    lock: LockFile,
    outcome: SignatureState,
}

impl MinisignVerifier {
    /// Creates a verifier from the signers in the settings and the bytes of PLUGINS.lock and, if it exists,
    /// PLUGINS.lock.minisig. The signature is checked once, here.
    ///
    /// # Errors
    /// `lock/malformed` if the lockfile cannot be parsed.
    pub fn new(signers: Vec<Signer>, lock: &[u8], signature: Option<&[u8]>) -> Result<Self, LockError> {
        // The signature covers the bytes, so it is checked on them and not on the parsed file.
        let outcome = signature.map_or(SignatureState::Missing, |signature| check(&signers, lock, signature));
        Ok(Self { signers, lock: LockFile::parse(lock)?, outcome })
    }

    /// Returns the trusted comment if the signature is valid. Escape it before you print it.
    #[must_use]
    pub fn trusted_comment(&self) -> Option<&str> {
        match &self.outcome {
            SignatureState::Signed { comment, .. } => Some(comment),
            SignatureState::Missing | SignatureState::Bad(_) | SignatureState::UnknownKey(_) => None,
        }
    }
}

/// Checks a signature with the key that it names. Other keys are not tried.
fn check(signers: &[Signer], lock: &[u8], signature: &[u8]) -> SignatureState {
    const SHAPE: &str = "not a minisign signature file";
    if signature.len() > SIGNATURE_BYTES {
        return SignatureState::Bad(SHAPE);
    }
    let Ok(text) = core::str::from_utf8(signature) else {
        return SignatureState::Bad(SHAPE);
    };
    let lines: Vec<&str> = text.lines().collect();
    // The key id is read before the library parses the file, because its API does not return it.
    let [_, packet, _, _] = lines.as_slice() else {
        return SignatureState::Bad(SHAPE);
    };
    let id: Option<[u8; 8]> =
        base64::decode_canonical(packet).and_then(|bytes| bytes.get(2..10)?.try_into().ok());
    let (Ok(signature), Some(id)) = (Signature::decode(text), id) else {
        return SignatureState::Bad(SHAPE);
    };
    let mut known = false;
    for (by, signer) in signers.iter().enumerate().filter(|(_, signer)| signer.key.id == id) {
        known = true;
        // Legacy signatures cover the bytes themselves and not their hash. They are not accepted.
        match signer.key.key.verify(lock, &signature, false) {
            Ok(()) => return SignatureState::Signed { by, comment: signature.trusted_comment().to_owned() },
            Err(minisign_verify::Error::UnexpectedAlgorithm) => {
                return SignatureState::Bad("legacy format (sign again with a current minisign)");
            }
            Err(_) => {}
        }
    }
    if known {
        SignatureState::Bad("it does not match the lockfile")
    } else {
        SignatureState::UnknownKey(key_id(id))
    }
}

impl Verifier for MinisignVerifier {
    fn name(&self) -> &'static str {
        SCHEME
    }

    fn verify(&self, subject: &VerifierSubject<'_>) -> Result<VerifierCheck, VerifierError> {
        if !self.signers.iter().any(|signer| signer.is_for(subject.names)) {
            return Ok(VerifierCheck::NotMentioned);
        }
        let refused =
            |code, text: String, help| Ok(VerifierCheck::Refused(VerifierRefusal::new(code, text, help)));
        let unknown = |id: &str| {
            let help = "if you trust the owner of the key, add it to `lock.signers` in your settings";
            refused(
                "lock/unknown-key",
                format!("the lockfile is signed with key {id}, which is not accepted for this plugin"),
                help,
            )
        };
        let (key, comment) = match &self.outcome {
            SignatureState::Missing => {
                return refused("lock/signature-missing", "the lockfile is not signed".into(), SIGN);
            }
            SignatureState::Bad(why) => {
                return refused("lock/signature-bad", format!("the signature is not valid: {why}"), SIGN);
            }
            SignatureState::UnknownKey(id) => return unknown(id),
            SignatureState::Signed { by, comment } => {
                // Several rows of the settings can have the same key, each for other plugins.
                let key = self.signers.get(*by).map(|signer| &signer.key);
                let may = |signer: &&Signer| Some(&signer.key) == key && signer.is_for(subject.names);
                match self.signers.iter().find(may) {
                    Some(signer) => (&signer.key, comment),
                    None => return unknown(&key.map(MinisignKey::id).unwrap_or_default()),
                }
            }
        };
        let Some(entry) = self.lock.get(subject.path) else {
            let help = "have the plugin added to the lockfile and the lockfile signed, or remove the plugin";
            return refused("lock/unlisted", "the signed lockfile has no entry for this plugin".into(), help);
        };
        if !entry.tree.contains(subject.digest) {
            let text = format!("the signed lockfile has another tree, found {}", subject.digest);
            return refused("lock/mismatch", text, "restore the signed tree, or have this one signed");
        }
        let signer = SignerId::new(&format!("{SCHEME}:{}", key.id()))
            .ok_or_else(|| VerifierError::new("the key id is not a valid signer id"))?;
        Ok(VerifierCheck::Confirmed(Claim::Signed { scheme: SCHEME, signer, comment: Some(comment.clone()) }))
    }
}
