//! A plugin, a model that replies as a test says, and predictable random bytes.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use plugward_deep_audit::redact::{
    Firewall, ModelRequest, Raw, RequestPart, RuleSelection, SafeProvider, Settings, Transport,
    TransportError,
};
use plugward_deep_audit::types::{Digest, FileRole, Finding, Severity, Span, Timestamp, TreeDigest};
use plugward_deep_audit::{
    Audit, AuditClaim, AuditFile, AuditLimits, AuditPlan, AuditSubject, AuditedBytes, AuditorId, PlantedText,
    Randomness, deep_audit, judge, plant,
};

pub(crate) const LIMITS: AuditLimits = AuditLimits { request_bytes: 256 << 10 };

pub(crate) fn firewall() -> Arc<Firewall> {
    Arc::new(Firewall::new(RuleSelection::all(), Settings::reference()).unwrap())
}

pub(crate) fn now() -> Timestamp {
    at(0)
}

/// A time some seconds after the first audit.
pub(crate) fn at(seconds: u64) -> Timestamp {
    Timestamp::from_unix_seconds(1_795_297_683 + seconds).unwrap()
}

pub(crate) fn auditor() -> AuditorId {
    AuditorId::new("openai", "test-model")
}

/// Not SHA-256, but different for different bytes.
pub(crate) fn digest(bytes: &[u8]) -> Digest {
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, fold);
    let mut out = [0; 32];
    out[..8].copy_from_slice(&hash.to_le_bytes());
    Digest::from_bytes(out)
}

/// Random bytes of a seed.
pub(crate) struct Seeded(pub(crate) u64);

impl Seeded {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(limit).unwrap()).unwrap()
    }
}

impl Randomness for Seeded {
    fn fill(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        for chunk in bytes.chunks_mut(8) {
            let drawn = self.next().to_le_bytes();
            chunk.copy_from_slice(&drawn[..chunk.len()]);
        }
        Ok(())
    }
}

/// A plugin in memory.
#[derive(Clone, Default)]
pub(crate) struct Plugin {
    pub(crate) files: Vec<(String, Vec<u8>, FileRole)>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) shared: BTreeMap<String, TreeDigest>,
}

impl Plugin {
    pub(crate) fn with(mut self, path: &str, bytes: impl AsRef<[u8]>, role: FileRole) -> Self {
        self.files.retain(|(known, ..)| known != path);
        self.files.push((path.to_owned(), bytes.as_ref().to_owned(), role));
        self
    }

    pub(crate) fn finding(mut self, severity: Severity, path: &str, line: u32) -> Self {
        self.findings.push(Finding {
            rule: "shell/piped-download".parse().unwrap(),
            severity,
            role: FileRole::Executed,
            path: path.to_owned(),
            line,
            column: 1,
            span: Span::new(0, 1),
            message: "Runs a downloaded script".to_owned(),
            how: Vec::new(),
            snippet: String::new(),
            caret: 0..0,
            digest: digest(b"x"),
        });
        self
    }

    pub(crate) fn subject(&self) -> AuditSubject<'_> {
        let all: Vec<u8> =
            self.files.iter().flat_map(|(path, bytes, _)| [path.as_bytes(), bytes].concat()).collect();
        let files = self.files.iter().map(|(path, bytes, role)| AuditFile {
            path,
            bytes,
            digest: digest(bytes),
            role: *role,
            is_manifest: path == "plugin.json",
            is_link: path.contains(".link"),
        });
        AuditSubject {
            bytes: AuditedBytes {
                tree: TreeDigest::from_bytes(*digest(&all).as_bytes()),
                shared: self.shared.clone(),
                entry: None,
            },
            rules: digest(b"rules"),
            claims: vec![AuditClaim { name: "description".to_owned(), text: "Counts words".to_owned() }],
            files: files.collect(),
            findings: &self.findings,
        }
    }

    /// Audits the plugin with a reply that is made from the two canaries.
    pub(crate) fn judged(&self, reply: impl Fn(&[String; 2]) -> String) -> Audit {
        let subject = self.subject();
        let plan = AuditPlan::new(&subject, auditor(), None, &LIMITS, &firewall());
        let planted = plant(&plan, &firewall(), &mut Seeded(7)).unwrap();
        judge(&plan, &planted, &reply(&lines(&planted)), now())
    }
}

/// The texts of the canaries.
pub(crate) fn lines(planted: &PlantedText) -> [String; 2] {
    [0, 1].map(|index| planted.canaries()[index].line().to_owned())
}

pub(crate) const MAIN: &str =
    "import { count } from './count.js';\nconst text = read();\nprint(count(text));\n";

/// A plugin without anything to report.
pub(crate) fn word_count() -> Plugin {
    Plugin::default()
        .with("plugin.json", "{\n  \"name\": \"word-count\",\n  \"main\": \"main.js\"\n}\n", FileRole::Other)
        .with("main.js", MAIN, FileRole::Executed)
        .with("count.js", "export const count = (text) =>\n  text.split(' ').length;\n", FileRole::Executed)
        .with("README.md", "# word-count\n\nCounts words.\n", FileRole::Documentation)
}

/// A reply that reports texts as attempts.
pub(crate) fn reply(risk: &str, excerpts: &[&str]) -> String {
    reply_with(risk, excerpts, "[]")
}

pub(crate) fn reply_with(risk: &str, excerpts: &[&str], findings: &str) -> String {
    let entries: Vec<String> =
        excerpts.iter().map(|text| format!("{{\"excerpt\": {}, \"reason\": \"r\"}}", quoted(text))).collect();
    format!(
        "{{\"riskLevel\": \"{risk}\", \"descriptionAccurate\": true, \"summary\": \"Counts words\", \"capabilities\": [\"reads text\"],\
         \"riskReasons\": [], \"findings\": {findings}, \"injectionAttempts\": [{}],\
         \"recommendation\": {{\"verdict\": \"approve\", \"reason\": \"fine\"}}}}",
        entries.join(", ")
    )
}

pub(crate) fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t");
    format!("\"{escaped}\"")
}

/// A model that replies as a function says, and records the requests.
#[derive(Clone)]
pub(crate) struct Model {
    reply: fn(&str) -> Result<String, TransportError>,
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
}

impl Model {
    pub(crate) fn new(reply: fn(&str) -> Result<String, TransportError>) -> Self {
        Self { reply, requests: Arc::default() }
    }

    pub(crate) fn audit(&self, plan: &AuditPlan<'_>, firewall: &Arc<Firewall>, seed: u64) -> Audit {
        let provider = SafeProvider::new(Arc::clone(firewall), self.clone());
        deep_audit(plan, &provider, firewall, &mut Seeded(seed), now()).unwrap()
    }
}

impl Transport for Model {
    fn send(&self, request: &ModelRequest) -> Result<Raw<String>, TransportError> {
        let text: String = request.parts().iter().map(RequestPart::text).collect();
        self.requests.lock().unwrap().push(text.clone());
        (self.reply)(&text).map(Raw::new)
    }
}

/// Reports each line with an identifier in brackets, as a model does that reads the request as data.
#[expect(clippy::unnecessary_wraps, reason = "the reply of a model can be an error")]
pub(crate) fn honest(request: &str) -> Result<String, TransportError> {
    let is_canary = |line: &&str| line.contains('[') && line.matches('-').count() >= 4 && line.contains(']');
    let found: Vec<&str> = request.lines().filter(is_canary).collect();
    Ok(reply("LOW", &found))
}
