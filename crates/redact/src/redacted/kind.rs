//! The kinds of secrets.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use core::fmt;
use std::sync::Arc;

/// A kind of secret: `github`, `pem`, `generic`, the name of a custom rule, or `unscanned`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretKind(Name);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Name {
    Own(&'static str),
    Custom(Arc<str>),
}

impl SecretKind {
    pub(crate) const fn own(name: &'static str) -> Self {
        Self(Name::Own(name))
    }

    pub(crate) fn custom(name: &str) -> Self {
        Self(Name::Custom(Arc::from(name)))
    }

    /// Returns the name, as in markers and reports.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Name::Own(name) => name,
            Name::Custom(name) => name,
        }
    }
}

impl fmt::Display for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Every built-in kind with a description. If matches overlap, the marker takes the kind that is first here.
pub const KINDS: &[(&str, &str)] = &[
    ("unscanned", "a part that exceeded a limit and was removed unread"),
    ("aws-key-id", "AWS access key id"),
    ("github", "GitHub token (ghp_, gho_, ghu_, ghs_, ghr_)"),
    ("github-fine", "GitHub fine-grained token"),
    ("gitlab", "GitLab token"),
    ("slack", "Slack token"),
    ("stripe", "Stripe secret or restricted key, webhook secret"),
    ("openai", "OpenAI key"),
    ("anthropic", "Anthropic key"),
    ("sk-other", "other key that starts with sk-"),
    ("model-key", "key of a model vendor"),
    ("registry-key", "token of a package registry"),
    ("cloud-key", "key of a cloud or infrastructure vendor"),
    ("service-key", "key of a service"),
    ("chat-bot", "token of a chat bot"),
    ("age", "age secret key"),
    ("pem", "private key in a PEM block"),
    ("putty", "PuTTY private key"),
    ("jwt", "JSON web token"),
    ("jwk", "private member of a JSON web key"),
    ("wireguard", "WireGuard private or preshared key"),
    ("hex-private-key", "private key or seed in hex"),
    ("k8s-secret", "value of a Kubernetes Secret"),
    ("docker-auth", "login in a Docker configuration"),
    ("netrc", "password in a netrc file"),
    ("pgpass", "password in a pgpass file"),
    ("url-userinfo", "password or token in the user part of a URL"),
    ("url-query", "token or signature in the query of a URL"),
    ("auth-header", "value of an Authorization header"),
    ("header-key", "value of a header that carries a key"),
    ("cookie", "session cookie"),
    ("aws-secret", "AWS secret access key"),
    ("aws-session", "AWS session token"),
    ("azure-connection", "key in an Azure connection string"),
    ("webhook", "webhook address that is a secret by itself"),
    ("near-word", "key of a vendor whose name is just before it"),
    ("cli", "password on a command line"),
    ("xml", "password in an XML element or attribute"),
    ("generic", "value given to a name such as password, token or api_key"),
    ("hashes", "password hash (pack `hashes`)"),
    ("entropy", "token of high entropy (setting `entropy`)"),
    ("known", "a value that was found before a transform and is here again"),
];

/// Returns the rank of a kind: its index in [`KINDS`].
pub(crate) const fn rank(name: &str) -> u16 {
    let mut place = 0;
    while place < KINDS.len() {
        if let Some((left, _)) = KINDS.split_at(place).1.first()
            && same(left.as_bytes(), name.as_bytes())
        {
            return narrow(place);
        }
        place += 1;
    }
    // No kind has this rank. A test looks up every name that the rules use.
    u16::MAX
}

#[expect(clippy::cast_possible_truncation, reason = "the table has far fewer than 65,536 rows")]
const fn narrow(place: usize) -> u16 {
    place as u16
}

const fn same(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let (mut left, mut right) = (left, right);
    while let (Some((a, left_rest)), Some((b, right_rest))) = (left.split_first(), right.split_first()) {
        if *a != *b {
            return false;
        }
        left = left_rest;
        right = right_rest;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_rank() {
        for (place, (name, help)) in KINDS.iter().enumerate() {
            assert_eq!(usize::from(rank(name)), place);
            assert!(!help.is_empty());
        }
        assert_eq!(rank("no-such-kind"), u16::MAX);
    }
}
