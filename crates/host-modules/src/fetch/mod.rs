//! The module `fetch`: requests to listed hosts over https.

mod address;
mod config;
mod net;
mod response;
mod url;
mod usage;

use std::net::SocketAddr;
use std::time::Instant;

use serde_json::{Value, json};

use crate::module::{CallResult, FunctionName, HostModule, ModuleName};
use address::is_global;
use response::{KeptResponse, Response};
use url::SafeUrl;
use usage::Usage;

pub use config::FetchConfig;
pub use net::{HttpNet, Net, NetFault, NetRequest, NetResponse};

const FUNCTIONS: [&str; 6] = ["get", "head", "read", "fetchJSON", "fetchText", "post"];
/// Headers that a guest cannot set, also if the settings list them. They belong to the connection or name the host.
const FORBIDDEN: &str = "host cookie set-cookie user-agent x-forwarded-for x-real-ip via proxy-authorization \
    proxy-connection transfer-encoding te trailer connection keep-alive upgrade content-length expect accept-encoding";
const MAX_HEADER: usize = 4096;
const HTTPS: u16 = 443;

/// Creates the module `fetch`. `clock` returns the time of its limits.
///
/// # Guarantees
/// A request is sent only if all addresses of the name are global, which is resolved once for it. A new connection goes to
/// one of these addresses. Each redirect passes the same checks.
#[must_use]
pub fn fetch(
    config: FetchConfig,
    net: Box<dyn Net>,
    clock: Box<dyn Fn() -> Instant + Send>,
) -> impl HostModule + use<> {
    let functions = FUNCTIONS.map(FunctionName::native).to_vec();
    Fetch {
        name: ModuleName::native("fetch"),
        functions,
        config,
        net,
        clock,
        usage: Usage::default(),
        kept: None,
    }
}

struct Fetch {
    name: ModuleName,
    functions: Vec<FunctionName>,
    config: FetchConfig,
    net: Box<dyn Net>,
    clock: Box<dyn Fn() -> Instant + Send>,
    usage: Usage,
    /// The last response, for `read`.
    kept: Option<KeptResponse>,
}

impl HostModule for Fetch {
    fn name(&self) -> &ModuleName {
        &self.name
    }

    fn functions(&self) -> &[FunctionName] {
        &self.functions
    }

    fn call(&mut self, function: &FunctionName, args: &[Value]) -> CallResult {
        let returned = match function.as_str() {
            "get" => self.answer("GET", args, args.get(1)),
            "head" => self.answer("HEAD", args, args.get(1)),
            "post" if self.config.allows_post => self.answer("POST", args, args.get(2)),
            "post" => Err("fetch blocked: POST not allowed".to_owned()),
            "read" => self.read(args),
            name @ ("fetchJSON" | "fetchText") => {
                return self.whole(name, args).map_or_else(CallResult::error, CallResult::Returned);
            }
            other => return CallResult::error(format!("`{other}` is not a function of fetch")),
        };
        CallResult::Returned(returned.unwrap_or_else(|error| json!({ "error": error })))
    }
}

impl Fetch {
    /// Sends a request, and returns the facts of the response. Its body can be read then.
    fn answer(
        &mut self,
        method: &'static str,
        args: &[Value],
        options: Option<&Value>,
    ) -> Result<Value, String> {
        let response = self.request(method, args, options)?;
        let facts = response.facts();
        if method != "HEAD" {
            let until = (self.clock)().checked_add(self.config.kept_time);
            let url = args.first().and_then(Value::as_str).unwrap_or_default();
            self.kept = Some(KeptResponse::new(url, response.body, until));
        }
        Ok(facts)
    }

    /// Returns the next part of the last response.
    fn read(&mut self, args: &[Value]) -> Result<Value, String> {
        let now = (self.clock)();
        let url = args.first().and_then(Value::as_str);
        let kept = self.kept.as_mut().filter(|kept| kept.is_for(url, now));
        let kept = kept.ok_or("fetch error: no cached response for this URL (cache may have expired)")?;
        let (data, is_done) = kept.next_part(self.config.read_size);
        if is_done {
            self.kept = None;
        }
        Ok(json!({ "data": data, "done": is_done }))
    }

    /// Returns the whole body of a response, which must be a success.
    fn whole(&mut self, name: &str, args: &[Value]) -> Result<Value, String> {
        let options = args.get(1);
        let response = self.request("GET", args, options)?;
        if !response.is_ok() {
            return Err(format!("{name}: {}", response.failure()));
        }
        let is_json = name == "fetchJSON";
        let (most, setting) = if is_json {
            (self.config.max_json, "maxJsonResponseBytes")
        } else {
            (self.config.max_text, "maxTextResponseBytes")
        };
        let size = response.body.len();
        if size > most {
            return Err(format!(
                "{name}: response too large ({size} bytes, max {most}). Use get() + read() loop to stream large responses \
                 instead, or reconfigure fetch with a larger {setting}."
            ));
        }
        if is_json {
            return serde_json::from_str(&response.body).map_err(|_not_json| {
                format!(
                    "fetchJSON: response is not valid JSON ({size} bytes). Use get() + read() to inspect the raw response."
                )
            });
        }
        let includes_meta = options.and_then(|options| options.get("includeMeta")).and_then(Value::as_bool);
        if includes_meta == Some(true) {
            return Ok(response.with_meta());
        }
        Ok(response.body.into())
    }

    /// Sends a request after all checks, and follows redirects.
    fn request(
        &mut self,
        method: &'static str,
        args: &[Value],
        options: Option<&Value>,
    ) -> Result<Response, String> {
        self.kept = None;
        let text = args.first().and_then(Value::as_str).unwrap_or_default();
        let mut url = SafeUrl::parse(text).map_err(url::UrlFault::text)?;
        if !self.config.allows_host(url.host()) {
            return Err("fetch blocked: domain not in allowlist".to_owned());
        }
        let now = (self.clock)();
        self.usage.check(url.host(), &self.config, now)?;
        let headers = options.and_then(|options| options.get("headers"));
        let mut request = NetRequest {
            method,
            url: url.text(),
            headers: self.own_headers(),
            body: if method == "POST" { self.body(args.get(1))? } else { Vec::new() },
        };
        let own = request.headers.len();
        request.headers.extend(self.guest_headers(headers)?);
        if method == "POST" && !request.headers.iter().any(|(name, _)| name == "content-type") {
            request.headers.push(("content-type".to_owned(), "application/json".to_owned()));
        }
        self.usage.add_request(url.host(), now);
        let mut seen = Vec::new();
        for _ in 0..=self.config.max_redirects {
            if seen.contains(&request.url) {
                return Err("fetch blocked: redirect loop detected".to_owned());
            }
            seen.push(request.url.clone());
            let response = self.send(&url, &request)?;
            if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
                return Response::read(&request, response, &self.config, &mut self.usage);
            }
            let next = self.redirected(&url, &response)?;
            // A page that another host selects must not get a key of this one.
            if next.host() != url.host() {
                request.headers.truncate(own);
            }
            if request.method == "POST" && matches!(response.status, 301..=303) {
                request.method = "GET";
                request.body.clear();
                request.headers.retain(|(name, _)| name != "content-type");
            }
            url = next;
            request.url = url.text();
        }
        Err(format!(
            "fetch blocked: too many redirects (max {}). To increase, reconfigure fetch with a larger maxRedirects.",
            self.config.max_redirects
        ))
    }

    /// Sends one request to a checked address.
    fn send(&mut self, url: &SafeUrl, request: &NetRequest) -> Result<NetResponse, String> {
        let text = |fault: NetFault| fault.text().to_owned();
        let addresses = self.net.resolve(url.host()).map_err(text)?;
        if addresses.is_empty() {
            return Err(text(NetFault::Name));
        }
        // A guest does not learn which names have addresses in the network of the machine.
        if !addresses.iter().copied().all(is_global) {
            return Err(text(NetFault::Other));
        }
        let addresses: Vec<_> =
            addresses.into_iter().map(|address| SocketAddr::new(address, HTTPS)).collect();
        self.net.send(request, &addresses).map_err(text)
    }

    fn redirected(&self, from: &SafeUrl, response: &NetResponse) -> Result<SafeUrl, String> {
        let location = response::header(&response.headers, "location").filter(|text| !text.is_empty());
        let location = location.ok_or("fetch blocked: redirect with no Location header")?;
        let next = from.join(location).map_err(url::UrlFault::redirect_text)?;
        if self.config.allows_host(next.host()) {
            return Ok(next);
        }
        Err(format!("fetch blocked: redirect to domain not in allowlist ({})", next.host()))
    }

    /// Returns the headers of every request.
    fn own_headers(&self) -> Vec<(String, String)> {
        let own = [("user-agent", self.config.user_agent.as_str()), ("accept-encoding", "identity")];
        own.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
    }

    /// Returns the allowed ones of the headers that a guest sets.
    fn guest_headers(&self, given: Option<&Value>) -> Result<Vec<(String, String)>, String> {
        let mut headers: Vec<(String, String)> = Vec::new();
        for (name, value) in given.and_then(Value::as_object).into_iter().flatten() {
            let name = name.to_ascii_lowercase();
            let Some(value) = value.as_str() else { continue };
            if FORBIDDEN.split(' ').any(|known| known == name) || !self.config.allows_header(&name) {
                continue;
            }
            if value.chars().any(|c| c.is_control() && c != '\t') {
                return Err("fetch blocked: invalid header value".to_owned());
            }
            if value.len() > MAX_HEADER {
                return Err("fetch blocked: header value too large".to_owned());
            }
            headers.retain(|(known, _)| *known != name);
            headers.push((name, value.to_owned()));
        }
        Ok(headers)
    }

    fn body(&self, given: Option<&Value>) -> Result<Vec<u8>, String> {
        let body = match given {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::String(text)) => text.as_bytes().to_vec(),
            Some(value @ (Value::Object(_) | Value::Array(_))) => value.to_string().into_bytes(),
            Some(_) => return Err("fetch blocked: body must be a string or object".to_owned()),
        };
        let most = self.config.max_request;
        if u64::try_from(body.len()).unwrap_or(u64::MAX) > most.bytes {
            return Err(format!(
                "fetch blocked: request body too large (max {}KB). To increase, reconfigure fetch with a larger \
                 maxRequestBodySizeKb.",
                most.kb
            ));
        }
        Ok(body)
    }
}
