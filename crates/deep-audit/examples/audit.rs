//! Plans the audit of one file, and prints the request that a model would receive.

use std::collections::BTreeMap;
use std::io::{self, Read as _};

use plugward_deep_audit::redact::{Firewall, RuleSelection, Settings};
use plugward_deep_audit::types::{Digest, FileRole, TreeDigest};
use plugward_deep_audit::{
    AuditFile, AuditLimits, AuditPlan, AuditSubject, AuditedBytes, AuditorId, Randomness, plant,
};

/// Reads the system's random source.
struct System;

impl Randomness for System {
    #[expect(clippy::disallowed_methods, reason = "the system's random source is a file")]
    fn fill(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        std::fs::File::open("/dev/urandom")?.read_exact(bytes)
    }
}

#[expect(clippy::print_stdout, reason = "the example prints the request")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    let file = AuditFile {
        path: "main.js",
        bytes: &bytes,
        digest: Digest::from_bytes([0; 32]),
        role: FileRole::Executed,
        is_manifest: false,
        is_link: false,
    };
    let tree = TreeDigest::from_bytes([0; 32]);
    let subject = AuditSubject {
        bytes: AuditedBytes { tree, shared: BTreeMap::new(), entry: None },
        rules: Digest::from_bytes([0; 32]),
        claims: Vec::new(),
        files: vec![file],
        findings: &[],
    };
    let firewall = Firewall::new(RuleSelection::all(), Settings::reference())?;
    let limits = AuditLimits { request_bytes: 256 << 10 };
    let plan = AuditPlan::new(&subject, AuditorId::new("none", "none"), None, &limits, &firewall);
    let planted = plant(&plan, &firewall, &mut System)?;
    println!("{}\n{}", planted.instructions(), planted.text());
    Ok(())
}
