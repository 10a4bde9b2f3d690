//! Clients for model servers.

use core::fmt;
use core::time::Duration;
use std::io;
use std::sync::Arc;

use plugward_redact::{
    ModelRequest, Raw, RequestPart, RequestRole, Transport, TransportError, TransportErrorKind,
};
use plugward_types::Address;
use serde_json::{Value, json};
use thiserror::Error;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Proxy};

use crate::error;
use crate::reply::MOST_BYTES;
use crate::request::reply_schema;

/// The waits before the second and third attempt, unless the server names one.
const WAITS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(4)];
const LONGEST_WAIT: Duration = Duration::from_secs(60);
const CONNECT: Duration = Duration::from_secs(10);

/// The interface of a model server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new interface must be chosen by every host")]
pub enum ModelClient {
    /// Chat completions, as of `OpenAI`, Ollama, llama.cpp and `vLLM`.
    OpenAi,
    /// Messages, as of Anthropic.
    Anthropic,
}

/// A model server.
#[derive(Clone)]
#[expect(clippy::exhaustive_structs, reason = "a new setting must be chosen by every host")]
pub struct ModelServer {
    /// The interface.
    pub client: ModelClient,
    /// The URL without the path of the interface: https, or http on loopback.
    pub base_url: String,
    /// The name of the model.
    pub model: String,
    /// The key, if the server needs one.
    pub key: Option<String>,
    /// The most tokens of a reply.
    pub max_tokens: u32,
    /// The time for all attempts.
    pub timeout: Duration,
    /// The URL of an http proxy, which is not used for loopback.
    pub proxy: Option<String>,
}

impl fmt::Debug for ModelServer {
    // Key and proxy can contain credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("ModelServer");
        out.field("client", &self.client).field("base_url", &self.base_url).field("model", &self.model);
        out.finish_non_exhaustive()
    }
}

/// A model server that cannot be used. Nothing was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ModelServerError {
    /// The URL is not https or http on loopback, or contains credentials.
    #[error("`audit.base_url` is not a URL of https, or of http on this machine, without a password")]
    Url,
    /// The key is empty or has characters that a header cannot contain.
    #[error("the key of the model server is empty or has unusable characters")]
    Key,
    /// The URL of the proxy is not valid.
    #[error("the proxy is not the URL of a proxy")]
    Proxy,
}

impl ModelServerError {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Url | Self::Proxy => "policy/settings",
            Self::Key => "audit/no-key",
        }
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Url => {
                "set audit.base_url to a URL that starts with https://, or use a model on this machine"
            }
            Self::Proxy => "set the proxy to a URL such as http://proxy.example:8080",
            Self::Key => error::help(self.code()),
        }
    }
}

/// Measures and waits. The host implements it, since libraries read no clock.
pub trait ModelClock: Send + Sync {
    /// Returns the time since a fixed moment.
    fn now(&self) -> Duration;
    /// Waits before another attempt.
    fn wait(&self, time: Duration);
}

/// A connection to a model server.
///
/// # Guarantees
/// Redirects are not followed. At most 1 MiB of a reply is read. The key is in no error and no `Debug` output.
pub struct HttpModel {
    server: ModelServer,
    url: String,
    agent: Agent,
    clock: Box<dyn ModelClock>,
}

impl fmt::Debug for HttpModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpModel").field("server", &self.server).finish_non_exhaustive()
    }
}

/// Whether a request has fields that some servers refuse.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OptionalFields {
    Included,
    LeftOut,
}

/// A request that got no reply, and the wait before another attempt if one makes sense.
struct Failure {
    kind: TransportErrorKind,
    retry: Option<Duration>,
}

impl HttpModel {
    /// Prepares a connection. Nothing is sent.
    ///
    /// # Errors
    /// `policy/settings` for the URL or the proxy, and `audit/no-key` for the key.
    pub fn new(server: ModelServer, clock: Box<dyn ModelClock>) -> Result<Self, ModelServerError> {
        let is_local = is_local(&server.base_url).ok_or(ModelServerError::Url)?;
        let is_key = |key: &String| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
        if !server.key.as_ref().is_none_or(is_key) {
            return Err(ModelServerError::Key);
        }
        let proxy =
            server.proxy.as_deref().map(Proxy::new).transpose().map_err(|_error| ModelServerError::Proxy)?;
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::PlatformVerifier)
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        // ureq would otherwise take the proxy from the environment, which only the command line reads.
        let config = Agent::config_builder().proxy(proxy.filter(|_| !is_local)).tls_config(tls);
        let config = config.max_redirects(0).http_status_as_error(false).timeout_connect(Some(CONNECT));
        let config = config.user_agent(concat!("plugward/", env!("CARGO_PKG_VERSION")));
        let path = match server.client {
            ModelClient::OpenAi => "chat/completions",
            ModelClient::Anthropic => "v1/messages",
        };
        let url = format!("{}/{path}", server.base_url.trim_end_matches('/'));
        Ok(Self { server, url, agent: Agent::new_with_config(config.build()), clock })
    }

    fn exchange(&self, request: &ModelRequest) -> Result<String, TransportErrorKind> {
        let end = self.clock.now().saturating_add(self.server.timeout);
        let mut fields = OptionalFields::Included;
        let mut waits = WAITS.into_iter();
        loop {
            let rest = end.saturating_sub(self.clock.now());
            if rest.is_zero() {
                return Err(TransportErrorKind::TimedOut);
            }
            let Failure { kind, retry } = match self.post(&self.body(request, fields), rest) {
                Ok(reply) => return self.content(&reply).ok_or(TransportErrorKind::Unreadable),
                Err(failure) => failure,
            };
            // Servers answer 400 to a response format that they do not know.
            if kind == (TransportErrorKind::Refused { status: 400 }) && fields == OptionalFields::Included {
                fields = OptionalFields::LeftOut;
                continue;
            }
            let Some((wait, named)) = waits.next().zip(retry) else { return Err(kind) };
            let wait = wait.max(named).min(LONGEST_WAIT);
            if wait >= end.saturating_sub(self.clock.now()) {
                return Err(kind);
            }
            self.clock.wait(wait);
        }
    }

    fn post(&self, body: &Value, rest: Duration) -> Result<Vec<u8>, Failure> {
        let request = self.agent.post(&self.url).config().timeout_global(Some(rest)).build();
        let mut request = request.header("content-type", "application/json");
        if let Some(key) = &self.server.key {
            request = match self.server.client {
                ModelClient::OpenAi => request.header("authorization", format!("Bearer {key}")),
                ModelClient::Anthropic => request.header("x-api-key", key),
            };
        }
        if self.server.client == ModelClient::Anthropic {
            request = request.header("anthropic-version", "2023-06-01");
        }
        let mut response = request.send(body.to_string()).map_err(|error| unsent(&error))?;
        let status = response.status().as_u16();
        if status == 200 {
            let limit = u64::try_from(MOST_BYTES).unwrap_or(u64::MAX);
            return response
                .body_mut()
                .with_config()
                .limit(limit)
                .read_to_vec()
                .map_err(|error| unread(&error));
        }
        let is_temporary = matches!(status, 408 | 425 | 429 | 500..=599);
        let named =
            response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let retry = is_temporary.then(|| Duration::from_secs(named.unwrap_or_default()));
        Err(Failure { kind: TransportErrorKind::Refused { status }, retry })
    }

    fn body(&self, request: &ModelRequest, fields: OptionalFields) -> Value {
        let server = &self.server;
        let is_system = |role: RequestRole| role == RequestRole::System;
        let has_system_field = server.client == ModelClient::Anthropic;
        let parts = request.parts().iter().filter(|part| !(has_system_field && is_system(part.role())));
        let messages: Vec<Value> =
            parts.map(|part| json!({"role": role(part.role()), "content": part.text()})).collect();
        let mut body = json!({"model": server.model, "messages": messages});
        let mut set =
            |key: &str, value: Value| body.as_object_mut().map(|body| body.insert(key.to_owned(), value));
        if has_system_field {
            let system: Vec<&str> =
                request.parts().iter().filter(|part| is_system(part.role())).map(RequestPart::text).collect();
            set("system", system.join("\n").into());
            set("max_tokens", server.max_tokens.into());
        }
        if fields == OptionalFields::Included {
            set("temperature", 0.into());
            if server.client == ModelClient::OpenAi {
                let schema = json!({"name": "audit", "strict": true, "schema": reply_schema()});
                set("response_format", json!({"type": "json_schema", "json_schema": schema}));
                set("max_tokens", server.max_tokens.into());
            }
        }
        body
    }

    /// Returns the text of the model in a response.
    fn content(&self, reply: &[u8]) -> Option<String> {
        let reply: Value = serde_json::from_slice(reply).ok()?;
        match self.server.client {
            ModelClient::OpenAi => reply.pointer("/choices/0/message/content")?.as_str().map(str::to_owned),
            ModelClient::Anthropic => {
                let blocks = reply.get("content")?.as_array()?.iter();
                Some(blocks.filter_map(|block| block.get("text")?.as_str()).collect())
            }
        }
    }
}

impl Transport for HttpModel {
    fn send(&self, request: &ModelRequest) -> Result<Raw<String>, TransportError> {
        self.exchange(request).map(Raw::new).map_err(TransportError::new)
    }
}

const fn role(role: RequestRole) -> &'static str {
    match role {
        RequestRole::System => "system",
        RequestRole::Assistant | RequestRole::Thinking => "assistant",
        RequestRole::User | RequestRole::ToolCall | RequestRole::ToolResult => "user",
    }
}

/// Returns whether a URL leads to this machine, or `None` if it cannot be used.
fn is_local(url: &str) -> Option<bool> {
    // Parsers disagree about these characters, so one of them could see another host.
    let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic()) && !url.contains(['\\', '#', '?']);
    let address = Address::parse(url);
    // A resolver can send names below `localhost` elsewhere.
    let is_local = address.host() == Some("localhost") || address.ip().is_some_and(|ip| ip.is_loopback());
    let is_usable = is_plain && address.is_well_formed() && !address.has_user_info();
    match address.scheme().filter(|_| is_usable)? {
        "https" => Some(is_local),
        "http" => is_local.then_some(true),
        _ => None,
    }
}

/// Returns the failure of a request without a response. Only one without a connection is sent again.
fn unsent(error: &ureq::Error) -> Failure {
    use io::ErrorKind::{AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkUnreachable};
    let is_unconnected = match error {
        ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve)
        | ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed => true,
        ureq::Error::Io(error) => {
            matches!(
                error.kind(),
                AddrNotAvailable | ConnectionRefused | HostUnreachable | NetworkUnreachable
            )
        }
        _ => false,
    };
    let kind = match error {
        _ if is_unconnected => TransportErrorKind::Unreachable,
        ureq::Error::Timeout(_) => TransportErrorKind::TimedOut,
        ureq::Error::Protocol(_) => TransportErrorKind::Unreadable,
        _ => TransportErrorKind::Unreachable,
    };
    Failure { kind, retry: is_unconnected.then_some(Duration::ZERO) }
}

/// Returns the failure of a response whose body cannot be read.
const fn unread(error: &ureq::Error) -> Failure {
    let kind = match error {
        ureq::Error::Timeout(_) => TransportErrorKind::TimedOut,
        _ => TransportErrorKind::Unreadable,
    };
    Failure { kind, retry: None }
}
