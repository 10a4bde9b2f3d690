//! Removes secrets from what the ledger stores.

use plugward_capability::Scrub;
use plugward_redact::{Firewall, Raw, RuleSelection, Settings};

/// Removes known secrets from a detail before it is stored.
#[derive(Debug)]
pub(crate) struct SecretScrubber(Firewall);

impl SecretScrubber {
    pub(crate) fn new() -> Result<Self, String> {
        Firewall::new(RuleSelection::all(), Settings::reference())
            .map(Self)
            .map_err(|error| format!("failed to compile the redaction rules: {error} ({})", error.code()))
    }
}

impl Scrub for SecretScrubber {
    fn scrub(&self, text: &str) -> String {
        self.0.redact(Raw::new(text.to_owned())).as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_in_a_detail_is_not_written_down_and_a_path_is() {
        let scrub = SecretScrubber::new().unwrap();
        let token = concat!("AK", "IA", "Z7QJ4M2X9WTC5VBN");
        let out = scrub.scrub(&format!("deploy --key {token}"));
        assert!(!out.contains(token), "{out}");
        assert_eq!(scrub.scrub("hooks/run.sh"), "hooks/run.sh");
    }
}
