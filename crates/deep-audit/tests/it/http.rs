//! The clients against a server in this process that follows a script. Waits are recorded, and nothing sleeps.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use plugward_deep_audit::redact::{
    LlmAccess as _, ModelRequest, Raw, RequestRole, SafeProvider, TransportErrorKind,
};
use plugward_deep_audit::{
    AuditPlan, CanaryCheck, HttpModel, ModelClient, ModelClock, ModelServer, ModelServerError, deep_audit,
};

use crate::support::{LIMITS, Seeded, auditor, firewall, honest, now, quoted, word_count};

const TIMEOUT: Duration = Duration::from_secs(600);

/// The answer to one request.
#[derive(Clone)]
enum Answer {
    Status(u16, &'static str),
    Text(&'static str),
    /// The whole response.
    Raw(Vec<u8>),
    /// What an honest model replies.
    Honest,
    /// Nothing, until the client gives up.
    Silence,
}

/// A server that gives the answers in order, and records the requests.
struct Server {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(script: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://127.0.0.1:{}/base", listener.local_addr().unwrap().port());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&requests);
        std::thread::spawn(move || {
            for (answer, stream) in script.into_iter().zip(listener.incoming()) {
                drop(serve(stream.unwrap(), &answer, &log));
            }
        });
        Self { url, requests }
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, answer: &Answer, log: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut request = String::new();
    while !request.ends_with("\r\n\r\n") {
        if reader.read_line(&mut request)? == 0 {
            return Ok(());
        }
    }
    let lower = request.to_ascii_lowercase();
    let length = lower.split("content-length: ").nth(1).unwrap().lines().next().unwrap().parse().unwrap();
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = String::from_utf8(body).unwrap();
    log.lock().unwrap().push(format!("{request}{body}"));
    let response = |status: u16, headers: &str, body: &str| {
        format!(
            "HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n{body}",
            body.len()
        )
    };
    let chat = |text: &str| {
        response(200, "", &format!("{{\"choices\": [{{\"message\": {{\"content\": {}}}}}]}}", quoted(text)))
    };
    match answer {
        Answer::Status(status, headers) => stream.write_all(response(*status, headers, "{}").as_bytes()),
        Answer::Text(text) => stream.write_all(chat(text).as_bytes()),
        Answer::Raw(bytes) => stream.write_all(bytes),
        Answer::Honest => {
            let text = body.replace("\\n", "\n").replace("\\\"", "\"");
            stream.write_all(chat(&honest(&text).unwrap()).as_bytes())
        }
        Answer::Silence => reader.read_line(&mut String::new()).map(drop),
    }
}

/// A clock that stands still except for its waits, which it records.
#[derive(Clone, Default)]
struct Clock(Arc<Mutex<Vec<u64>>>);

impl ModelClock for Clock {
    fn now(&self) -> Duration {
        Duration::from_secs(self.0.lock().unwrap().iter().sum())
    }

    fn wait(&self, time: Duration) {
        self.0.lock().unwrap().push(time.as_secs());
    }
}

fn server(url: &str) -> ModelServer {
    ModelServer {
        client: ModelClient::OpenAi,
        base_url: url.to_owned(),
        model: "test-model".to_owned(),
        key: Some(["k3y-of-", "the-server"].concat()),
        max_tokens: 4_096,
        timeout: TIMEOUT,
        proxy: None,
    }
}

/// Sends one request, and returns the reply, the requests and the waits.
fn ask(
    script: Vec<Answer>,
    change: impl Fn(&mut ModelServer),
) -> (Result<String, TransportErrorKind>, Vec<String>, Vec<u64>) {
    let scripted = Server::start(script);
    let clock = Clock::default();
    let mut settings = server(&scripted.url);
    change(&mut settings);
    let firewall = firewall();
    let provider =
        SafeProvider::new(Arc::clone(&firewall), HttpModel::new(settings, Box::new(clock.clone())).unwrap());
    let text = |text: &str| firewall.redact(Raw::new(text.to_owned()));
    let request = ModelRequest::new()
        .with(RequestRole::System, text("be strict"))
        .with(RequestRole::User, text("files"));
    let reply = provider.ask(request).map(|reply| reply.as_str().to_owned()).map_err(|error| error.kind());
    let waits = clock.0.lock().unwrap().clone();
    (reply, scripted.requests(), waits)
}

fn refused(status: u16) -> Result<String, TransportErrorKind> {
    Err(TransportErrorKind::Refused { status })
}

#[test]
fn a_reply_arrives() {
    let (reply, requests, waits) = ask(vec![Answer::Text("hello")], |_| {});
    assert_eq!((reply, waits), (Ok("hello".to_owned()), vec![]));
    assert!(requests[0].starts_with("POST /base/chat/completions HTTP/1.1\r\n"));
    assert!(requests[0].to_ascii_lowercase().contains("authorization: bearer k3y-of-the-server\r\n"));
    for part in
        [r#""model":"test-model""#, r#""type":"json_schema""#, r#"{"content":"be strict","role":"system"}"#]
    {
        assert!(requests[0].contains(part), "{part}: {}", requests[0]);
    }
}

#[test]
fn messages_are_the_other_interface() {
    let body = br#"{"content": [{"type": "thinking"}, {"type": "text", "text": "hel"}, {"type": "text", "text": "lo"}]}"#;
    let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
    let answer = Answer::Raw([head.as_bytes(), body].concat());
    let (reply, requests, _) = ask(vec![answer], |server| server.client = ModelClient::Anthropic);
    assert_eq!(reply, Ok("hello".to_owned()));
    assert!(requests[0].starts_with("POST /base/v1/messages HTTP/1.1\r\n"));
    let lower = requests[0].to_ascii_lowercase();
    assert!(
        lower.contains("x-api-key: k3y-of-the-server\r\n")
            && lower.contains("anthropic-version: 2023-06-01\r\n")
    );
    for part in [
        r#""system":"be strict""#,
        r#""max_tokens":4096"#,
        r#""messages":[{"content":"files","role":"user"}]"#,
    ] {
        assert!(requests[0].contains(part), "{part}: {}", requests[0]);
    }
}

#[test]
fn an_unknown_field_is_left_out_once() {
    let (reply, requests, waits) = ask(vec![Answer::Status(400, ""), Answer::Text("plain")], |_| {});
    assert_eq!((reply, waits), (Ok("plain".to_owned()), vec![]));
    assert!(requests[0].contains("response_format") && !requests[1].contains("response_format"));
    let (reply, requests, _) = ask(vec![Answer::Status(400, ""), Answer::Status(400, "")], |_| {});
    assert_eq!((reply, requests.len()), (refused(400), 2));
}

#[test]
fn a_busy_server_is_asked_three_times() {
    let busy = |status| Answer::Status(status, "");
    let (reply, requests, waits) = ask(vec![busy(503), busy(503), Answer::Text("late")], |_| {});
    assert_eq!((reply, requests.len(), waits), (Ok("late".to_owned()), 3, vec![1, 4]));
    let (reply, requests, _) = ask(vec![busy(500), busy(408), busy(503), Answer::Text("late")], |_| {});
    assert_eq!((reply, requests.len()), (refused(503), 3));
    let named = Answer::Status(429, "Retry-After: 30\r\n");
    let long = Answer::Status(429, "Retry-After: 9000\r\n");
    let (reply, _, waits) = ask(vec![named.clone(), long, Answer::Text("late")], |_| {});
    assert_eq!((reply, waits), (Ok("late".to_owned()), vec![30, 60]));
    // No time is left for another attempt.
    let (reply, requests, waits) = ask(vec![named], |server| server.timeout = Duration::from_secs(30));
    assert_eq!((reply, requests.len(), waits), (refused(429), 1, vec![]));
}

#[test]
fn a_refusal_is_final() {
    for status in [401, 403, 404, 422] {
        let (reply, requests, _) = ask(vec![Answer::Status(status, ""), Answer::Text("no")], |_| {});
        assert_eq!((reply, requests.len()), (refused(status), 1));
    }
    let redirect = Answer::Status(307, "Location: /elsewhere\r\n");
    let (reply, requests, _) = ask(vec![redirect, Answer::Text("no")], |_| {});
    assert_eq!((reply, requests.len()), (refused(307), 1));
}

#[test]
fn a_broken_body_is_unreadable() {
    let raw = |text: &str| vec![Answer::Raw(text.as_bytes().to_owned())];
    let long = format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}", " ".repeat((1 << 20) + 1));
    for script in [
        raw("HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{\"choices\""),
        raw(&long),
        raw("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>"),
        raw("HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{\"choices\": []}"),
        raw(
            "HTTP/1.1 200 OK\r\nContent-Length: 46\r\n\r\n{\"choices\": [{\"message\": {\"content\": [\"a\"]}}]} ",
        ),
        raw("220 mail ready\r\n\r\n"),
    ] {
        let (reply, requests, _) = ask(script, |_| {});
        assert_eq!((reply, requests.len()), (Err(TransportErrorKind::Unreadable), 1));
    }
}

#[test]
fn silence_ends_in_time() {
    let (reply, _, _) = ask(vec![Answer::Silence], |server| server.timeout = Duration::from_millis(300));
    assert_eq!(reply, Err(TransportErrorKind::TimedOut));
    // Nobody listens at the port of a server that has ended.
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (reply, _, waits) = ask(vec![], |server| server.base_url = format!("http://{gone}"));
    assert_eq!((reply, waits), (Err(TransportErrorKind::Unreachable), vec![1, 4]));
}

#[test]
fn only_https_and_loopback_are_asked() {
    let new = |url: &str| HttpModel::new(server(url), Box::new(Clock::default()));
    for url in
        ["https://api.example.org/v1", "http://localhost:11434/v1", "http://[::1]:8080", "http://127.0.0.1:1"]
    {
        assert!(new(url).is_ok(), "{url}");
    }
    for url in [
        "http://example.org/v1",
        "http://10.0.0.1",
        "file:///x",
        "https://user:x@example.org",
        "http://a.localhost",
        "",
        "x",
    ] {
        let error = new(url).unwrap_err();
        assert_eq!((error, error.code()), (ModelServerError::Url, "policy/settings"), "{url}");
        assert!(!error.help().is_empty());
    }
}

#[test]
fn the_key_is_usable_and_never_shown() {
    let with = |key: &str| {
        let settings = ModelServer { key: Some(key.to_owned()), ..server("http://127.0.0.1:1") };
        HttpModel::new(settings, Box::new(Clock::default()))
    };
    for key in ["", "a b", "a\nb", "é"] {
        assert_eq!(with(key).unwrap_err().code(), "audit/no-key");
    }
    let model = with("visible").unwrap();
    assert!(!format!("{model:?}").contains("visible"));
    let settings = ModelServer { proxy: Some("::".to_owned()), ..server("http://127.0.0.1:1") };
    let error = HttpModel::new(settings, Box::new(Clock::default())).unwrap_err();
    assert_eq!((error, error.help().is_empty()), (ModelServerError::Proxy, false));
}

#[test]
fn an_audit_over_http() {
    let scripted = Server::start(vec![Answer::Honest]);
    let (plugin, firewall) = (word_count(), firewall());
    let subject = plugin.subject();
    let plan = AuditPlan::new(&subject, auditor(), None, &LIMITS, &firewall);
    let model = HttpModel::new(server(&scripted.url), Box::new(Clock::default())).unwrap();
    let provider = SafeProvider::new(Arc::clone(&firewall), model);
    let audit = deep_audit(&plan, &provider, &firewall, &mut Seeded(3), now()).unwrap();
    assert_eq!(audit.canary, Some(CanaryCheck::Ok));
    assert_eq!(scripted.requests().len(), 1);
}
