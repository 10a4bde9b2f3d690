//! The module `fetch`, with scripted names and servers on loopback.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use plugward_host_modules::{
    CallResult, FetchConfig, FunctionName, HostModule, HttpNet, Net, NetFault, NetRequest, NetResponse, fetch,
};
use serde_json::{Value, json};

use crate::{error, value};

const PUBLIC: &str = "93.184.215.14";
const OK: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nhi";

/// Names with scripted addresses. Requests that pass the checks go to a server of the test, without encryption.
struct TestNet {
    inner: HttpNet,
    /// The addresses of the next lookups. The last ones stay.
    answers: VecDeque<Vec<IpAddr>>,
    server: SocketAddr,
    sent: Sent,
}

type Sent = Arc<Mutex<Vec<(NetRequest, Vec<SocketAddr>)>>>;

impl Net for TestNet {
    fn resolve(&mut self, _: &str) -> Result<Vec<IpAddr>, NetFault> {
        let answer = self.answers.front().cloned().ok_or(NetFault::Name)?;
        if self.answers.len() > 1 {
            self.answers.pop_front();
        }
        Ok(answer)
    }

    fn send(&mut self, request: &NetRequest, addresses: &[SocketAddr]) -> Result<NetResponse, NetFault> {
        self.sent.lock().unwrap().push((request.clone(), addresses.to_vec()));
        let rest = request.url.strip_prefix("https://").unwrap();
        let (_, path) = rest.split_once('/').unwrap();
        let url = format!("http://{}/{path}", self.server);
        self.inner.send(&NetRequest { url, ..request.clone() }, &[self.server])
    }
}

/// The module, its server, and what was sent.
struct World {
    module: Box<dyn HostModule>,
    sent: Sent,
    now: Arc<Mutex<Instant>>,
    /// The requests as the server read them.
    read: Arc<Mutex<Vec<String>>>,
}

impl World {
    /// Starts a server with these responses, one for each connection.
    fn new(settings: &[&str], addresses: &[&[&str]], responses: &[&str]) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let server = listener.local_addr().unwrap();
        let responses: Vec<String> = responses.iter().map(|text| (*text).to_owned()).collect();
        let read: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&read);
        std::thread::spawn(move || {
            for response in responses {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = String::new();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                while reader.read_line(&mut request).unwrap() > 2 {}
                log.lock().unwrap().push(request);
                let response = response.replacen("\r\n", "\r\nconnection: close\r\n", 1);
                // A client that has enough closes the connection.
                let _closed = stream.write_all(response.as_bytes());
            }
        });
        let settings = [&["allowedDomains=a.example,*.b.example"], settings].concat();
        let config = FetchConfig::from_args(&settings).unwrap();
        let answers =
            addresses.iter().map(|row| row.iter().map(|text| text.parse().unwrap()).collect()).collect();
        let sent = Sent::default();
        let net = TestNet { inner: HttpNet::new(&config), answers, server, sent: Arc::clone(&sent) };
        let now = Arc::new(Mutex::new(Instant::now()));
        let clock = Arc::clone(&now);
        let module = fetch(config, Box::new(net), Box::new(move || *clock.lock().unwrap()));
        Self { module: Box::new(module), sent, now, read }
    }

    fn public(settings: &[&str], responses: &[&str]) -> Self {
        Self::new(settings, &[&[PUBLIC]], responses)
    }

    fn call(&mut self, function: &str, args: Value) -> Value {
        let Value::Array(args) = args else { panic!("{args}") };
        value(self.module.call(&FunctionName::new(function).unwrap(), &args))
    }

    fn get(&mut self, url: &str) -> Value {
        self.call("get", json!([url]))
    }

    fn sent_count(&self) -> usize {
        self.sent.lock().unwrap().len()
    }
}

fn redirect(status: u16, location: &str) -> String {
    format!("HTTP/1.1 {status} Moved\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n")
}

#[test]
fn a_page_is_read_in_parts() {
    let body = "é".repeat(5000);
    let text = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: Text/Plain; charset=utf-8\r\ncontent-length: {}\r\nx-ratelimit-remaining: 7\r\n\
         link: <https://a.example/2>; rel=\"next\", <http://a.example/9>; rel=\"last\"\r\n\r\n{body}",
        body.len()
    );
    let mut world = World::public(&["readSizeKb=8"], &[&text]);
    let facts = json!({
        "status": 200, "ok": true, "contentType": "text/plain", "contentLength": 10_000, "totalBytes": 10_000,
        "rateLimit": { "remaining": 7 }, "pagination": { "next": "https://a.example/2" },
    });
    assert_eq!(world.get("https://a.example/x"), facts);
    let first = world.call("read", json!(["https://a.example/x"]));
    assert_eq!((first["data"].as_str().unwrap().len(), &first["done"]), (8192, &json!(false)));
    let second = world.call("read", json!(["https://a.example/x"]));
    assert_eq!((second["data"].as_str().unwrap().len(), &second["done"]), (1808, &json!(true)));
    let gone = error("fetch error: no cached response for this URL (cache may have expired)");
    assert_eq!(world.call("read", json!(["https://a.example/x"])), gone);
    let sent = world.sent.lock().unwrap();
    assert_eq!(sent[0].1, [format!("{PUBLIC}:443").parse().unwrap()]);
    let request = world.read.lock().unwrap()[0].to_ascii_lowercase();
    for part in ["get /x http/1.1", "user-agent: hyperlight-fetch/1.0", "accept-encoding: identity"] {
        assert!(request.contains(part), "{request}");
    }
}

#[test]
fn a_kept_response_expires() {
    let mut world = World::public(&[], &[OK]);
    assert_eq!(world.get("https://a.example/")["status"], 200);
    *world.now.lock().unwrap() += Duration::from_secs(299);
    assert_eq!(world.call("read", json!(["https://a.example/other"])).get("data"), None);
    *world.now.lock().unwrap() += Duration::from_secs(1);
    assert_eq!(world.call("read", json!(["https://a.example/"])).get("data"), None);
}

#[test]
fn hyperagent_fetch_refuses_addresses() {
    let refused = error("fetch failed: request error");
    for address in [
        "0.0.0.0",
        "10.255.255.255",
        "100.64.0.1",
        "127.0.0.1",
        "168.63.129.16",
        "169.254.169.254",
        "172.31.0.1",
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.19.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::8.8.8.8",
        "2002:7f00:1::",
        "2002:a00:1::1",
        "2001::1",
        "2001:0:808:808::f5ff:fffe",
        "2001:2::1",
        "2001:20::1",
        "2001:db8::1",
        "3fff::1",
        "fc00::1",
        "fd00::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "100::1",
        "5f00::1",
    ] {
        let mut world = World::new(&[], &[&[address]], &[]);
        assert_eq!(world.get("https://a.example/"), refused, "{address}");
        // One of several is enough.
        let mut world = World::new(&[], &[&[PUBLIC, address]], &[]);
        assert_eq!(world.get("https://a.example/"), refused, "{address}");
        assert_eq!(world.sent_count(), 0);
    }
    for address in [
        "1.1.1.1",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "168.63.129.15",
        "168.63.129.17",
        "172.15.0.1",
        "172.32.0.1",
        "192.0.1.1",
        "198.17.0.1",
        "198.20.0.1",
        "223.255.255.255",
        "2606:4700::1",
        "2001:200::1",
        "2001:4860:4860::8888",
        "2a00::1",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2002:808:808::1",
        "2001:0:808:808::f7f7:f7f7",
    ] {
        let mut world = World::new(&[], &[&[address]], &[OK]);
        assert_eq!(world.get("https://a.example/")["status"], 200, "{address}");
    }
}

#[test]
fn a_name_that_changes_is_resolved_and_checked_again() {
    // Public, then private.
    let mut world = World::new(&[], &[&[PUBLIC], &["10.0.0.1"]], &[OK]);
    assert_eq!(world.get("https://a.example/")["status"], 200);
    assert_eq!(world.get("https://a.example/"), error("fetch failed: request error"));
    // Between a redirect and its target.
    let moved = redirect(302, "https://x.b.example/");
    let mut world = World::new(&[], &[&[PUBLIC], &["169.254.169.254"]], &[&moved]);
    assert_eq!(world.get("https://a.example/"), error("fetch failed: request error"));
    assert_eq!(world.sent_count(), 1);
    // One lookup for one request: the connection goes to its addresses.
    let mut world = World::new(&[], &[&[PUBLIC, "1.1.1.1"], &["10.0.0.1"]], &[OK]);
    assert_eq!(world.get("https://a.example/")["status"], 200);
    let addresses = world.sent.lock().unwrap()[0].1.clone();
    assert_eq!(addresses, ["93.184.215.14:443".parse().unwrap(), "1.1.1.1:443".parse().unwrap()]);
    let mut world = World::new(&[], &[], &[]);
    assert_eq!(world.get("https://a.example/"), error("fetch failed: DNS resolution failed"));
}

#[test]
fn urls_have_one_spelling() {
    for (text, expected) in [
        ("https://a.example", "https://a.example/"),
        ("HTTPS://A.Example:443/x?q=1#f", "https://a.example/x?q=1"),
        (" https://a.example/a/./b/../c/%2E%2e/d ", "https://a.example/a/d"),
        ("https://a.example/../..", "https://a.example/"),
        ("https://a.example/a/b/..", "https://a.example/a/"),
        ("https://a.example/a//b/", "https://a.example/a//b/"),
        ("https://a.example?q=a b\"ü", "https://a.example/?q=a%20b%22%C3%BC"),
        ("https://x.b.example/", "https://x.b.example/"),
    ] {
        let mut world = World::public(&[], &[OK]);
        assert_eq!(world.get(text)["status"], 200, "{text}");
        assert_eq!(world.sent.lock().unwrap()[0].0.url, expected);
    }
}

#[test]
fn other_urls_are_refused() {
    let mut world = World::public(&["maxRequestsPerMinute=1"], &[]);
    for (text, why) in [
        ("", "invalid URL"),
        ("a.example", "invalid URL"),
        ("https:a.example", "invalid URL"),
        ("https://a.example\\@x.b.example/", "credentials in URL not permitted"),
        ("https://a.example\\b", "invalid hostname"),
        ("https://a.example/\\b", "invalid URL"),
        ("https://a.example/\nb", "invalid URL characters"),
        ("http://a.example/", "only HTTPS is permitted"),
        ("file:///etc/passwd", "only HTTPS is permitted"),
        ("https://u:p@a.example/", "credentials in URL not permitted"),
        ("https://@a.example/", "credentials in URL not permitted"),
        ("https://a.example:8443/", "non-standard port not permitted"),
        ("https://a.example:x/", "invalid URL"),
        ("https://localhost/", "invalid hostname"),
        ("https://a..example/", "invalid hostname"),
        ("https://a.example./", "invalid hostname"),
        ("https://ä.example/", "invalid hostname"),
        ("https://a.exa%6dple/", "invalid hostname"),
        ("https://c.example/", "domain not in allowlist"),
        ("https://sub.a.example/", "domain not in allowlist"),
        ("https://b.example/", "domain not in allowlist"),
        ("https://x.y.b.example/", "domain not in allowlist"),
        ("https://xb.example/", "domain not in allowlist"),
    ] {
        assert_eq!(world.get(text), error(&format!("fetch blocked: {why}")), "{text}");
    }
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0X7F.1",
        "017700000001",
        "127.0.0.1.",
        "[::1]",
        "[::ffff:7f00:1]",
    ] {
        let why = "fetch blocked: IP addresses not permitted, use domain names";
        assert_eq!(world.get(&format!("https://{host}/")), error(why), "{host}");
    }
    for length in [1025, 2048] {
        let answer = world.get(&format!("https://a.example/{}", "x".repeat(length - 1)));
        assert!(answer["error"].as_str().unwrap().contains("too long"), "{answer}");
    }
    assert_eq!(
        world.get(&format!("https://c.example/{}", "x".repeat(1023))),
        error("fetch blocked: domain not in allowlist")
    );
    for args in [json!([]), json!([7]), json!([null]), json!([{ "href": "https://a.example/" }])] {
        assert_eq!(world.call("get", args), error("fetch blocked: invalid URL"));
    }
    assert_eq!(world.sent_count(), 0);
}

#[test]
fn redirects_pass_the_same_checks() {
    for (location, why) in [
        ("http://a.example/", "redirect to non-HTTPS URL"),
        ("//127.0.0.1/", "redirect to IP address"),
        ("https://0x7f000001/", "redirect to IP address"),
        ("https://u@a.example/", "redirect URL contains credentials"),
        ("https://a.example:22/", "redirect to non-standard port"),
        ("https://c.example/", "redirect to domain not in allowlist (c.example)"),
        ("https://localhost/", "redirect to invalid URL"),
        ("/x", "redirect loop detected"),
    ] {
        let mut world = World::public(&[], &[&redirect(302, location)]);
        assert_eq!(world.get("https://a.example/x"), error(&format!("fetch blocked: {why}")), "{location}");
    }
    let mut world = World::public(&["maxRedirects=1"], &[&redirect(302, "/1"), &redirect(302, "/2")]);
    let answer = world.get("https://a.example/");
    assert!(
        answer["error"].as_str().unwrap().starts_with("fetch blocked: too many redirects (max 1)"),
        "{answer}"
    );
    for (location, expected) in [
        ("../z", "https://a.example/z"),
        ("?p=2", "https://a.example/x/y?p=2"),
        ("z", "https://a.example/x/z"),
    ] {
        let mut world = World::public(&[], &[&redirect(301, location), OK]);
        assert_eq!(world.get("https://a.example/x/y?q=1")["status"], 200, "{location}");
        assert_eq!(world.sent.lock().unwrap()[1].0.url, expected);
    }
}

#[test]
fn headers_do_not_reach_another_host() {
    let key = "k".repeat(3);
    let options = json!({ "headers": {
        "authorization": key, "Accept": "text/plain", "Host": "c.example", "X-Other": "1", "Content-Length": "9",
    } });
    let names = |request: &NetRequest| -> Vec<String> {
        request.headers.iter().map(|(name, _)| name.clone()).collect()
    };
    let mut world = World::public(&[], &[&redirect(302, "/1"), &redirect(302, "https://x.b.example/"), OK]);
    assert_eq!(world.call("get", json!(["https://a.example/", options]))["status"], 200);
    let sent = world.sent.lock().unwrap();
    for request in &sent[..2] {
        assert_eq!(names(&request.0), ["user-agent", "accept-encoding", "accept", "authorization"]);
    }
    assert_eq!(names(&sent[2].0), ["user-agent", "accept-encoding"]);
    drop(sent);
    for (value, why) in
        [("a\r\nb: c".to_owned(), "invalid header value"), ("x".repeat(4097), "header value too large")]
    {
        let options = json!({ "headers": { "accept": value } });
        let answer = world.call("get", json!(["https://a.example/", options]));
        assert_eq!(answer, error(&format!("fetch blocked: {why}")));
    }
}

#[test]
fn a_post_needs_a_setting() {
    let url = "https://a.example/";
    let mut world = World::public(&[], &[]);
    assert_eq!(world.call("post", json!([url, "x"])), error("fetch blocked: POST not allowed"));
    let mut world = World::public(&["allowPost=true"], &[&redirect(307, "/1"), &redirect(303, "/2"), OK]);
    assert_eq!(world.call("post", json!([url, { "a": 1 }]))["status"], 200);
    let sent = world.sent.lock().unwrap();
    let methods: Vec<_> = sent.iter().map(|(request, _)| (request.method, request.body.len())).collect();
    assert_eq!(methods, [("POST", 7), ("POST", 7), ("GET", 0)]);
    drop(sent);
    let answer = world.call("post", json!([url, "x".repeat(4097)]));
    assert!(answer["error"].as_str().unwrap().contains("request body too large (max 4KB)"), "{answer}");
    assert_eq!(world.call("post", json!([url, 7])), error("fetch blocked: body must be a string or object"));
}

#[test]
fn responses_have_limits() {
    let large = format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n{}", "x".repeat(1025));
    let mut world = World::public(&["maxResponseSizeKb=1", "maxDataReceivedKb=1"], &[&large]);
    let answer = world.get("https://a.example/");
    assert!(answer["error"].as_str().unwrap().starts_with("fetch blocked: response too large"), "{answer}");
    // What was received counts, also if it was too much.
    let answer = world.get("https://a.example/");
    assert!(
        answer["error"].as_str().unwrap().starts_with("fetch blocked: data budget exhausted"),
        "{answer}"
    );
    for (headers, why) in [
        ("content-type: image/png", "fetch blocked: content type not permitted"),
        ("x: y", "fetch blocked: content type not permitted"),
        ("content-type: text/plain\r\ncontent-encoding: gzip", "fetch failed: the response is compressed"),
    ] {
        let response = format!("HTTP/1.1 200 OK\r\n{headers}\r\ncontent-length: 0\r\n\r\n");
        let mut world = World::public(&[], &[&response]);
        assert_eq!(world.get("https://a.example/"), error(why));
    }
    let short = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 9\r\n\r\nhi";
    let answer = World::public(&[], &[short]).get("https://a.example/");
    assert!(answer["error"].as_str().unwrap().starts_with("fetch failed: "), "{answer}");
    let image = "HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: 0\r\n\r\n";
    let mut world = World::public(&["allowedContentTypes=media-friendly"], &[image]);
    assert_eq!(world.call("head", json!(["https://a.example/"]))["contentType"], "image/png");
}

#[test]
fn requests_have_rates() {
    let mut world = World::public(
        &["maxRequestsPerMinute=2", "maxRequestsPerHour=3", "maxDomainsPerSession=1"],
        &[OK, OK, OK],
    );
    let url = "https://a.example/";
    let advance =
        |world: &mut World, seconds: u64| *world.now.lock().unwrap() += Duration::from_secs(seconds);
    assert_eq!(world.get(url)["status"], 200);
    let answer = world.get("https://x.b.example/");
    assert!(answer["error"].as_str().unwrap().contains("too many unique domains"), "{answer}");
    assert_eq!(world.get(url)["status"], 200);
    advance(&mut world, 59);
    let answer = world.get(url);
    assert!(answer["error"].as_str().unwrap().contains("(per-minute)"), "{answer}");
    advance(&mut world, 1);
    assert_eq!(world.get(url)["status"], 200);
    advance(&mut world, 60);
    let answer = world.get(url);
    assert!(answer["error"].as_str().unwrap().contains("(per-hour)"), "{answer}");
}

#[test]
fn whole_bodies_are_returned_or_thrown() {
    let response = |status: &str, body: &str| {
        format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let deep = format!("{}{}", "[".repeat(129), "]".repeat(129));
    for (function, body, expected) in [
        ("fetchJSON", "{\"a\":[1]}", json!({ "a": [1] })),
        ("fetchText", "{\"a\":[1]}", json!("{\"a\":[1]}")),
        (
            "fetchJSON",
            "{",
            json!({ "thrown": "fetchJSON: response is not valid JSON (1 bytes). Use get() + read() to inspect the raw response." }),
        ),
        (
            "fetchJSON",
            &deep,
            json!({ "thrown": "fetchJSON: response is not valid JSON (258 bytes). Use get() + read() to inspect the raw response." }),
        ),
    ] {
        let mut world = World::public(&[], &[&response("200 OK", body)]);
        assert_eq!(world.call(function, json!(["https://a.example/"])), expected);
    }
    let mut world = World::public(&[], &[&response("404 Not Found", "no")]);
    assert_eq!(
        world.call("fetchText", json!(["https://a.example/"])),
        json!({ "thrown": "fetchText: HTTP 404" })
    );
    let limited = "HTTP/1.1 429 Slow\r\nretry-after: 9\r\nratelimit-remaining: 0\r\nratelimit-limit: 5\r\ncontent-length: 0\r\n\r\n";
    let mut world = World::public(&[], &[limited]);
    let thrown = "fetchJSON: HTTP 429 (rate limited). Retry after 9s. (0/5 remaining)";
    assert_eq!(world.call("fetchJSON", json!(["https://a.example/"])), json!({ "thrown": thrown }));
    let mut world = World::public(&["maxTextResponseBytes=1024"], &[&response("200 OK", &"x".repeat(1025))]);
    let answer = world.call("fetchText", json!(["https://a.example/"]));
    assert!(answer["thrown"].as_str().unwrap().contains("(1025 bytes, max 1024)"), "{answer}");
    let mut world = World::public(&[], &[OK]);
    let meta = json!({ "data": "hi", "contentType": "text/plain", "status": 200 });
    assert_eq!(world.call("fetchText", json!(["https://a.example/", { "includeMeta": true }])), meta);
    assert!(matches!(
        world.module.call(&FunctionName::new("fetchText").unwrap(), &[json!("https://127.0.0.1/")]),
        CallResult::Thrown(_)
    ));
}

#[test]
fn wrong_settings_are_named() {
    for (args, text) in [
        (&[][..], "allowedDomains"),
        (&["allowedDomains="], "allowedDomains"),
        (&["allowedDomains=*"], "`*`"),
        (&["allowedDomains=*.com"], "`*.com`"),
        (&["allowedDomains=a.example,api.*.com"], "`api.*.com`"),
        (&["allowedDomains=https://a.example"], "`https://a.example`"),
        (&["allowedDomains=a.example", "diskCacheMaxMb=1"], "diskCacheMaxMb"),
        (&["allowedDomains=a.example", "maxRedirects=-1"], "maxRedirects"),
    ] {
        let error = FetchConfig::from_args(args).unwrap_err();
        assert_eq!(error.code(), "host-module/config");
        assert!(error.to_string().contains(text), "{error}");
    }
}
