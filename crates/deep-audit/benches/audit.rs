//! The cost of an audit without its model: `cargo bench -p plugward-deep-audit --features http`.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark reads the clock and prints, and one that fails may panic"
)]

use std::hint::black_box;
use std::io;
use std::time::{Duration, Instant};

use plugward_deep_audit::redact::{Firewall, KINDS, RuleSelection, Settings, ViewMode};
use plugward_deep_audit::types::{Digest, FileRole, Timestamp, TreeDigest};
use plugward_deep_audit::{
    AuditClaim, AuditFile, AuditLimits, AuditPlan, AuditSubject, AuditedBytes, AuditorId, Randomness, judge,
    parse_reply, plant,
};

fn best(rounds: usize, mut work: impl FnMut()) -> Duration {
    let time = |()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    std::iter::repeat_n((), rounds).map(time).min().unwrap_or_default()
}

fn main() {
    hostile_replies();
    audits();
    #[cfg(feature = "http")]
    http::requests();
}

fn hostile_replies() {
    let nested = "{\"a\":[".repeat(16) + "1";
    for (name, part) in
        [("{", "{"), ("\"", "\""), ("space", " "), ("nested objects", "{\"a\":"), ("deep values", &nested)]
    {
        let text = part.repeat((1 << 20) / part.len());
        let (half, whole) = (
            best(7, || drop(black_box(parse_reply(text.get(..text.len() / 2).unwrap())))),
            best(7, || {
                drop(black_box(parse_reply(&text)));
            }),
        );
        println!("parse_reply, 1 MiB of {name}: {whole:?}, half of it: {half:?}");
    }
}

/// Counts, so that each run is the same.
struct Counter(u64);

impl Randomness for Counter {
    fn fill(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let drawn = self.0.to_le_bytes();
        bytes.iter_mut().zip(drawn.iter().cycle()).for_each(|(byte, drawn)| *byte = *drawn);
        Ok(())
    }
}

/// Audits 200 KiB in 40 files with a firewall that has no rules.
fn audits() {
    let all = KINDS.iter().try_fold(RuleSelection::all(), |rules, (kind, _)| rules.without(kind));
    let settings = Settings { views: ViewMode::Plain, ..Settings::reference() };
    let firewall = Firewall::new(all.expect("each kind is known"), settings).expect("no custom rule");
    let text = "export function count(text) { return text.split(' ').length; }\n".repeat(83);
    let paths: Vec<String> = (0..40).map(|number| format!("lib/part{number}.js")).collect();
    let file = |path| AuditFile {
        path,
        bytes: text.as_bytes(),
        digest: Digest::from_bytes([1; 32]),
        role: FileRole::Executed,
        is_manifest: false,
        is_link: false,
    };
    let tree = TreeDigest::from_bytes([2; 32]);
    let subject = AuditSubject {
        bytes: AuditedBytes { tree, shared: std::collections::BTreeMap::new(), entry: None },
        rules: Digest::from_bytes([3; 32]),
        claims: vec![AuditClaim { name: "description".to_owned(), text: "Counts words".to_owned() }],
        files: paths.iter().map(|path| file(path.as_str())).collect(),
        findings: &[],
    };
    let now = Timestamp::from_unix_seconds(1_795_297_683).unwrap();
    let limits = AuditLimits { request_bytes: 256 << 10 };
    let finding =
        r#"{"severity": "info", "message": "counts", "file": "lib/part39.js", "quote": "return text"}"#;
    let whole = best(21, || {
        let plan = AuditPlan::new(&subject, AuditorId::new("openai", "model"), None, &limits, &firewall);
        let planted = plant(&plan, &firewall, &mut Counter(1)).unwrap();
        let entries: Vec<String> = planted
            .canaries()
            .iter()
            .map(|canary| format!("{{\"excerpt\": \"{}\", \"reason\": \"r\"}}", canary.uuid()))
            .collect();
        let findings = vec![finding; 20].join(", ");
        let reply = format!(
            "{{\"riskLevel\": \"LOW\", \"findings\": [{findings}], \"injectionAttempts\": [{}]}}",
            entries.join(", ")
        );
        black_box(judge(&plan, &planted, &reply, now));
    });
    println!("plan, plant, parse and judge {} KiB: {whole:?}", text.len() * paths.len() / 1024);
    let redaction = best(21, || {
        for _ in 0..2 * paths.len() {
            black_box(firewall.redact(plugward_deep_audit::redact::Raw::new(text.clone())));
        }
        for _ in 0..paths.len() {
            black_box(firewall.find(text.as_bytes()));
        }
    });
    println!("of these, calls of a firewall without rules: {redaction:?}");
}

#[cfg(feature = "http")]
mod http {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::net::TcpListener;
    use std::sync::Arc;
    use std::time::Duration;

    use plugward_deep_audit::redact::{
        Firewall, ModelRequest, Raw, RequestRole, RuleSelection, Settings, Transport as _,
    };
    use plugward_deep_audit::{HttpModel, ModelClient, ModelClock, ModelServer};

    struct NoClock;

    impl ModelClock for NoClock {
        fn now(&self) -> Duration {
            Duration::ZERO
        }

        fn wait(&self, _: Duration) {}
    }

    fn serve(listener: &TcpListener) {
        let body = r#"{"choices": [{"message": {"content": "{}"}}]}"#;
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        for stream in listener.incoming() {
            let (mut stream, head) = (stream.unwrap(), head.clone());
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            std::thread::spawn(move || {
                loop {
                    let mut length = 0;
                    loop {
                        let mut line = String::new();
                        if reader.read_line(&mut line).unwrap_or_default() == 0 {
                            return;
                        }
                        if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                            length = text.trim().parse().unwrap();
                        }
                        if line == "\r\n" {
                            break;
                        }
                    }
                    reader.read_exact(&mut vec![0; length]).unwrap();
                    stream.write_all(head.as_bytes()).unwrap();
                    stream.write_all(body.as_bytes()).unwrap();
                }
            });
        }
    }

    /// Sends 100 requests of 200 KiB with the client, and the same bytes with ureq.
    pub(crate) fn requests() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || serve(&listener));
        let firewall = Arc::new(Firewall::new(RuleSelection::all(), Settings::reference()).unwrap());
        let server = ModelServer {
            client: ModelClient::OpenAi,
            base_url: url.clone(),
            model: "model".to_owned(),
            key: None,
            max_tokens: 1,
            timeout: Duration::from_secs(60),
            proxy: None,
        };
        let model = HttpModel::new(server, Box::new(NoClock)).unwrap();
        let text = "export const count = 1;\n".repeat(8_000);
        let part = firewall.redact(Raw::new(text.clone()));
        let request = ModelRequest::new().with(RequestRole::User, part);
        let own = super::best(5, || (0..100).for_each(|_| drop(model.send(&request).unwrap())));
        let agent = ureq::Agent::new_with_defaults();
        let url = format!("{url}/chat/completions");
        let alone = super::best(5, || {
            for _ in 0..100 {
                agent.post(&url).send(&text).unwrap().body_mut().read_to_string().unwrap();
            }
        });
        println!("100 requests: {own:?}, with ureq alone: {alone:?}");
    }
}
