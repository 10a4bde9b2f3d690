//! A model server in this process, which can read the canaries of a request.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// The answer to one request.
pub(crate) enum ModelScript {
    Text(String),
    Status(u16),
}

/// A server that answers each request with the result of a function of its canaries, and records the requests.
pub(crate) struct Server {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&[String]) -> ModelScript + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                drop(serve(stream.unwrap(), &answer, &log));
            }
        });
        Self { url, requests }
    }

    /// Returns the texts of the requests.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(
    mut stream: TcpStream,
    answer: &impl Fn(&[String]) -> ModelScript,
    log: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut line, mut length) = (String::new(), 0);
    while line != "\r\n" {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
            length = text.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body: Value = serde_json::from_slice(&body).unwrap();
    let messages = body["messages"].as_array().unwrap();
    let text: Vec<&str> = messages.iter().map(|message| message["content"].as_str().unwrap()).collect();
    let text = text.join("\n");
    let is_canary = |line: &&str| line.contains('[') && line.contains(']') && line.matches('-').count() >= 4;
    let canaries: Vec<String> = text.lines().filter(is_canary).map(str::to_owned).collect();
    log.lock().unwrap().push(text);
    let (status, reply) = match answer(&canaries) {
        ModelScript::Text(text) => (200, json!({"choices": [{"message": {"content": text}}]}).to_string()),
        ModelScript::Status(status) => (status, "{}".to_owned()),
    };
    let length = reply.len();
    write!(stream, "HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{reply}")
}

/// Returns a reply that reports some texts as attempts to influence the audit.
pub(crate) fn reply(risk: &str, excerpts: &[String]) -> String {
    reply_with(risk, excerpts, "[]")
}

pub(crate) fn reply_with(risk: &str, excerpts: &[String], findings: &str) -> String {
    let attempts: Vec<Value> = excerpts.iter().map(|text| json!({"excerpt": text, "reason": "r"})).collect();
    json!({
        "riskLevel": risk,
        "descriptionAccurate": true,
        "summary": "Counts words",
        "capabilities": ["reads text"],
        "riskReasons": [],
        "findings": serde_json::from_str::<Value>(findings).unwrap(),
        "injectionAttempts": attempts,
        "recommendation": {"verdict": "approve", "reason": "fine"},
    })
    .to_string()
}
