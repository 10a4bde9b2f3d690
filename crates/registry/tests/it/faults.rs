//! Downloads from a server in this process, with each fault that a server can have.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cap_std::ambient_authority;
use plugward_registry::{
    HttpFetch, HttpTimeouts, KeptRegistries, LocalFetch, Registry, RegistryError, SourceUrl,
};

use crate::support::{Home, TARGET, digest, now, open, put, us};

const BODY: &[u8] = b"#!/bin/sh\necho hi\n";

/// A server on loopback. It ends with its listener, when the process ends.
struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let log = Arc::clone(&log);
                std::thread::spawn(move || drop(answer(stream.unwrap(), port, &log)));
            }
        });
        Self { port, requests }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }
}

fn answer(mut stream: TcpStream, port: u16, log: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut request = String::new();
    let mut lines = BufReader::new(stream.try_clone()?);
    while !request.ends_with("\r\n\r\n") {
        if lines.read_line(&mut request)? == 0 {
            return Ok(());
        }
    }
    let path = request.split(' ').nth(1).unwrap_or_default().trim_start_matches('/').to_owned();
    log.lock().unwrap().push(request);
    let length = BODY.len();
    let ok = |length: usize| format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
    let to = |url: String| format!("HTTP/1.1 302 Found\r\nLocation: {url}\r\nContent-Length: 0\r\n\r\n");
    match path.as_str() {
        "ok" => stream.write_all(&[ok(length).as_bytes(), BODY].concat()),
        "unannounced" => stream.write_all(&[b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", BODY].concat()),
        "wrong" => stream.write_all(&[ok(5).as_bytes(), b"other"].concat()),
        "short" => stream.write_all(&[ok(length + 10).as_bytes(), BODY].concat()),
        "chunks" => stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n#!/bi\r\n"),
        "endless" => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
            let piece = vec![b' '; 1 << 20];
            loop {
                stream.write_all(&piece)?;
            }
        }
        "stalled" | "silent" => {
            if path == "stalled" {
                stream.write_all(&[ok(length).as_bytes(), &BODY[..5]].concat())?;
            }
            // Waits until the other side closes the connection.
            lines.read_line(&mut String::new()).map(drop)
        }
        "to-http" => stream.write_all(to("http://example.org/a".to_owned()).as_bytes()),
        "to-loopback" => stream.write_all(to(format!("http://127.0.0.1:{port}/ok")).as_bytes()),
        "to-https" => stream.write_all(to("https://example.org/a".to_owned()).as_bytes()),
        "to-file" => stream.write_all(to("file:///etc/hostname".to_owned()).as_bytes()),
        "nonsense" => stream.write_all(b"220 mail ready\r\n\r\n"),
        "page" => stream.write_all(&[ok(6).as_bytes(), b"<html>"].concat()),
        _ => stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone"),
    }
}

fn fetch() -> HttpFetch {
    let idle = Duration::from_millis(400);
    let timeouts = HttpTimeouts { connect: Duration::from_secs(10), idle };
    HttpFetch::new(timeouts, None, LocalFetch::new(ambient_authority())).unwrap()
}

/// A machine whose registry lists `hi` with the digest of `BODY` at a URL.
fn listed(url: &str) -> Home {
    let mut home = Home::new();
    let registry = SourceUrl::parse("http://127.0.0.1:9/registry.json").unwrap();
    let text = format!(
        r#"{{"version": 1, "plugins": {{"hi": {{"id": "hi", "description": "d", "official": true,
        "binaries": {{"{TARGET}": {{"url": "{url}", "sha256": "{}"}}}}}}}}}}"#,
        digest(BODY).hex()
    );
    home.registry = Some(Registry::parse(text.as_bytes(), &registry).unwrap());
    home
}

fn failed(url: &str) -> RegistryError {
    let home = listed(url);
    let error = home.install("hi", &fetch()).unwrap_err();
    assert!(home.names().is_empty(), "{url}: {:?}", home.names());
    assert!(home.store().receipts().unwrap().is_empty(), "{url}");
    error
}

#[test]
fn an_honest_server_installs() {
    let server = Server::start();
    for path in ["ok", "unannounced"] {
        let home = listed(&server.url(path));
        home.install("hi", &fetch()).unwrap();
        assert_eq!(std::fs::read(home.file("hi")).unwrap(), BODY);
    }
    let requests = server.requests.lock().unwrap().join("").to_lowercase();
    for header in ["authorization", "cookie", "gzip", "deflate", "br"] {
        assert!(!requests.contains(header), "{requests}");
    }
    assert!(requests.contains("user-agent: plugward/"), "{requests}");
}

#[test]
fn each_fault_has_its_code_and_leaves_nothing() {
    let server = Server::start();
    for (path, code) in [
        ("wrong", "registry/digest"),
        ("page", "registry/digest"),
        ("short", "registry/length"),
        ("chunks", "registry/network"),
        ("endless", "registry/too-large"),
        ("stalled", "registry/stalled"),
        ("silent", "registry/stalled"),
        ("to-http", "registry/redirect"),
        ("to-loopback", "registry/redirect"),
        ("to-https", "registry/redirect"),
        ("to-file", "registry/redirect"),
        ("nonsense", "registry/network"),
        ("missing", "registry/network"),
    ] {
        let error = failed(&server.url(path));
        assert_eq!(error.code(), code, "{path}: {error}");
        assert_eq!(error.exit(), if code == "registry/digest" { 4 } else { 1 }, "{path}");
        assert!(!error.help().is_empty());
    }
    assert!(failed(&server.url("missing")).to_string().contains("404"));
    // Nothing listens on the port of a listener that is gone.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    assert_eq!(failed(&format!("http://127.0.0.1:{port}/ok")).code(), "registry/network");
    // This server does not speak TLS.
    assert_eq!(failed(&format!("https://127.0.0.1:{}/ok", server.port)).code(), "registry/network");
}

#[test]
fn a_registry_is_fetched_with_the_same_faults() {
    let home = tempfile::tempdir().unwrap();
    let dir = open(home.path());
    let kept = KeptRegistries::new(&dir, us(), Duration::from_secs(60));
    let server = Server::start();
    for (path, code) in [
        ("page", "registry/syntax"),
        ("endless", "registry/syntax"),
        ("short", "registry/length"),
        ("stalled", "registry/stalled"),
        ("to-http", "registry/redirect"),
        ("missing", "registry/network"),
    ] {
        let url = SourceUrl::parse(&server.url(path)).unwrap();
        assert_eq!(kept.refresh(&url, &fetch(), now()).unwrap_err().code(), code, "{path}");
    }
    let file = put(&home.path().join("with blank.json"), br#"{"version": 1, "plugins": {}}"#, 0o644);
    let url = SourceUrl::parse(&format!("file://{}", file.display()).replace(' ', "%20")).unwrap();
    assert!(kept.refresh(&url, &fetch(), now()).unwrap().fault.is_none());
    std::fs::remove_file(&file).unwrap();
    assert_eq!(kept.refresh(&url, &fetch(), now()).unwrap().fault.unwrap().code(), "registry/network");
}

#[test]
fn a_file_is_installed_from_this_machine() {
    let home = tempfile::tempdir().unwrap();
    let file = put(&home.path().join("hi"), BODY, 0o644);
    let url = format!("file://{}", file.display());
    listed(&url).install("hi", &fetch()).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(failed(&url).code(), "registry/network");
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::RWXU).unwrap();
    assert_eq!(failed(&url).code(), "registry/network");
    assert_eq!(failed(&format!("file://{}", home.path().display())).code(), "registry/network");
}

#[test]
fn a_proxy_is_used_for_https_only() {
    let server = Server::start();
    let proxy = format!("http://127.0.0.1:{}", server.port);
    let local = LocalFetch::new(ambient_authority());
    let fetch = HttpFetch::new(HttpTimeouts::standard(), Some(&proxy), local).unwrap();
    listed(&server.url("ok")).install("hi", &fetch).unwrap();
    assert!(server.requests.lock().unwrap().iter().all(|request| request.starts_with("GET /ok ")));
    // The proxy refuses to connect, so the download fails and nothing reaches another host.
    let error = listed("https://plugward.invalid/hi").install("hi", &fetch).unwrap_err();
    assert_eq!(error.code(), "registry/network");
    assert!(
        server
            .requests
            .lock()
            .unwrap()
            .iter()
            .any(|request| request.starts_with("CONNECT plugward.invalid:443 "))
    );
    let error = HttpFetch::new(HttpTimeouts::standard(), Some("no proxy"), local).unwrap_err();
    assert_eq!(error.code(), "registry/network");
}
