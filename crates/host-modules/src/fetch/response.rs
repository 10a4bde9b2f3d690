//! A response, and the facts about it for a guest.

use std::io::Read as _;
use std::time::Instant;

use plugward_types::Part;
use serde_json::{Map, Value, json};

use super::config::FetchConfig;
use super::net::{NetRequest, NetResponse};
use super::usage::Usage;

/// The most bytes that are read at once.
const CHUNK: usize = 16 << 10;
/// The longest time until another try that a guest gets, in seconds.
const MAX_RETRY: u64 = 3600;

/// A complete response.
#[derive(Debug)]
pub(super) struct Response {
    status: u16,
    headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Response {
    /// Reads the body within the limits.
    pub(super) fn read(
        request: &NetRequest,
        response: NetResponse,
        config: &FetchConfig,
        usage: &mut Usage,
    ) -> Result<Self, String> {
        let NetResponse { status, headers, mut body } = response;
        let content_type = header(&headers, "content-type").unwrap_or_default().to_ascii_lowercase();
        if (200..300).contains(&status) && !config.allows_type(&content_type) {
            return Err("fetch blocked: content type not permitted".to_owned());
        }
        if header(&headers, "content-encoding").is_some_and(|name| !name.eq_ignore_ascii_case("identity")) {
            return Err("fetch failed: the response is compressed".to_owned());
        }
        let mut bytes = Vec::new();
        let mut chunk = vec![0; CHUNK];
        let mut has_body = request.method != "HEAD";
        while has_body {
            let count = match body.read(&mut chunk) {
                Ok(count) => count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(super::NetFault::of_read(error).text().to_owned()),
            };
            has_body = count > 0;
            usage.add_received(count);
            bytes.extend_from_slice(chunk.part(..count));
            if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > config.max_response {
                return Err(
                    "fetch blocked: response too large. To increase, reconfigure fetch with a larger \
                            maxResponseSizeKb."
                        .to_owned(),
                );
            }
        }
        Ok(Self { status, headers, body: String::from_utf8_lossy(&bytes).into_owned() })
    }

    pub(super) fn is_ok(&self) -> bool {
        (200..300).contains(&self.status)
    }

    fn content_type(&self) -> String {
        let text = header(&self.headers, "content-type").unwrap_or_default();
        text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// Returns the facts about the response, without its body.
    pub(super) fn facts(&self) -> Value {
        let mut facts = json!({
            "contentType": self.content_type(),
            "status": self.status,
            "ok": self.is_ok(),
            "totalBytes": self.body.len(),
        });
        let more = [
            ("contentLength", self.number("content-length").map(Value::from)),
            ("rateLimit", self.rate_limit().map(Value::from)),
            ("pagination", self.pagination().map(Value::from)),
        ];
        if let Some(members) = facts.as_object_mut() {
            members.extend(more.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        }
        facts
    }

    pub(super) fn with_meta(self) -> Value {
        let found = Some(self.content_type()).filter(|found| !found.is_empty());
        let content_type = found.unwrap_or_else(|| "text/plain".to_owned());
        json!({ "data": self.body, "contentType": content_type, "status": self.status })
    }

    /// Returns the reason why the response is not a success.
    pub(super) fn failure(&self) -> String {
        if self.status != 429 {
            return format!("HTTP {}", self.status);
        }
        let limit = self.rate_limit().unwrap_or_default();
        let retry = limit.get("retryAfterSecs").map(|seconds| format!(" Retry after {seconds}s."));
        let left = limit.get("remaining").zip(limit.get("limit"));
        let left = left.map(|(left, limit)| format!(" ({left}/{limit} remaining)"));
        format!("HTTP 429 (rate limited).{}{}", retry.unwrap_or_default(), left.unwrap_or_default())
    }

    fn number(&self, name: &str) -> Option<u64> {
        header(&self.headers, name)?.trim().parse().ok()
    }

    /// Returns what the server says about its own limit.
    fn rate_limit(&self) -> Option<Map<String, Value>> {
        let names = [("limit", "limit"), ("remaining", "remaining"), ("used", "used"), ("resetAt", "reset")];
        let mut found = Map::new();
        for (member, name) in names {
            let header = format!("ratelimit-{name}");
            if let Some(number) = self.number(&format!("x-{header}")).or_else(|| self.number(&header)) {
                found.insert(member.to_owned(), number.into());
            }
        }
        if matches!(self.status, 429 | 503)
            && let Some(seconds) = self.number("retry-after")
        {
            found.insert("retryAfterSecs".to_owned(), seconds.min(MAX_RETRY).into());
        }
        (!found.is_empty()).then_some(found)
    }

    /// Returns the pages next to this one, from the header `Link`.
    fn pagination(&self) -> Option<Map<String, Value>> {
        let mut found = Map::new();
        for link in header(&self.headers, "link")?.split('<').skip(1) {
            let Some((url, parameters)) = link.split_once('>') else { continue };
            let relation = ["next", "prev", "first", "last"]
                .into_iter()
                .find(|relation| parameters.contains(&format!("rel=\"{relation}\"")));
            if let Some(relation) = relation.filter(|_| url.starts_with("https://")) {
                found.insert(relation.to_owned(), url.into());
            }
        }
        (!found.is_empty()).then_some(found)
    }
}

pub(super) fn header<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// A body that a guest reads in parts.
#[derive(Debug)]
pub(super) struct KeptResponse {
    url: String,
    body: String,
    at: usize,
    until: Option<Instant>,
}

impl KeptResponse {
    pub(super) fn new(url: &str, body: String, until: Option<Instant>) -> Self {
        Self { url: url.to_owned(), body, at: 0, until }
    }

    pub(super) fn is_for(&self, url: Option<&str>, now: Instant) -> bool {
        url == Some(self.url.as_str()) && self.until.is_none_or(|until| now < until)
    }

    /// Returns the next part, and whether it is the last one. No character is divided.
    pub(super) fn next_part(&mut self, most: usize) -> (String, bool) {
        let mut end = self.at.saturating_add(most).min(self.body.len());
        while !self.body.is_char_boundary(end) {
            end = end.saturating_sub(1);
        }
        let part = self.body.get(self.at..end).unwrap_or_default().to_owned();
        self.at = end;
        (part, end == self.body.len())
    }
}
