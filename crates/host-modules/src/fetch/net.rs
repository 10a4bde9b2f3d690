//! The network of the module `fetch`.

use std::fmt;
use std::io::Read;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ureq::http::{Request, Uri};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, config::Config};

use super::config::FetchConfig;

/// The most addresses of a host to which a connection is tried.
const ADDRESSES: usize = 16;

/// Resolves names and sends requests that the module has checked.
pub trait Net: Send {
    /// Returns all addresses of a host.
    ///
    /// # Errors
    /// The reason why there is none.
    fn resolve(&mut self, host: &str) -> Result<Vec<IpAddr>, NetFault>;

    /// Sends a request to one of the addresses. It does not resolve the host again, and follows no redirect.
    ///
    /// # Errors
    /// The reason why there is no response.
    fn send(&mut self, request: &NetRequest, addresses: &[SocketAddr]) -> Result<NetResponse, NetFault>;
}

/// A checked request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the parts of a request")]
pub struct NetRequest {
    /// `GET`, `HEAD` or `POST`.
    pub method: &'static str,
    /// The URL.
    pub url: String,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, which only `POST` has.
    pub body: Vec<u8>,
}

/// The start of a response.
#[expect(clippy::exhaustive_structs, reason = "the parts of a response")]
pub struct NetResponse {
    /// The status.
    pub status: u16,
    /// The headers whose values are text, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as it arrives.
    pub body: Box<dyn Read + Send>,
}

impl fmt::Debug for NetResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NetResponse").field("status", &self.status).finish_non_exhaustive()
    }
}

/// Why there is no response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NetFault {
    /// The name has no address.
    Name,
    /// The time is over.
    Timeout,
    /// The connection was refused.
    Refused,
    /// The connection was closed.
    Reset,
    /// The certificate or the encryption is not accepted.
    Tls,
    /// Another reason.
    Other,
}

impl NetFault {
    /// Returns the answer for the guest. It contains neither an address nor a path of the machine.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Name => "fetch failed: DNS resolution failed",
            Self::Timeout => "fetch failed: timeout",
            Self::Refused => "fetch failed: connection refused",
            Self::Reset => "fetch failed: connection reset",
            Self::Tls => "fetch failed: certificate error",
            Self::Other => "fetch failed: request error",
        }
    }

    fn of(error: ureq::Error) -> Self {
        use std::io::ErrorKind;
        match error {
            ureq::Error::HostNotFound => Self::Name,
            ureq::Error::Timeout(_) => Self::Timeout,
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) => Self::Tls,
            ureq::Error::ConnectionFailed => Self::Refused,
            ureq::Error::Io(error) => match error.kind() {
                ErrorKind::ConnectionRefused => Self::Refused,
                ErrorKind::ConnectionReset | ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe => Self::Reset,
                ErrorKind::TimedOut | ErrorKind::WouldBlock => Self::Timeout,
                ErrorKind::InvalidData => Self::Tls,
                _ => Self::Other,
            },
            _ => Self::Other,
        }
    }

    /// Returns the fault of a body.
    pub(super) fn of_read(error: std::io::Error) -> Self {
        Self::of(error.into())
    }
}

/// The network of the system, without a proxy, cookies and compression. The platform verifies certificates.
#[derive(Debug)]
pub struct HttpNet {
    agent: Agent,
    checked: CheckedAddresses,
    resolve_time: Duration,
}

impl HttpNet {
    /// Creates a network with the time limits of a configuration.
    #[must_use]
    pub fn new(config: &FetchConfig) -> Self {
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::PlatformVerifier)
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        // Redirects and the environment's proxy would reach hosts that were not checked.
        let agent = Agent::config_builder()
            .tls_config(tls)
            .proxy(None)
            .max_redirects(0)
            .http_status_as_error(false)
            .timeout_connect(Some(config.connect_time))
            .timeout_send_request(Some(config.read_time))
            .timeout_send_body(Some(config.read_time))
            .timeout_recv_response(Some(config.read_time))
            .timeout_recv_body(Some(config.read_time))
            .build();
        let checked = CheckedAddresses::default();
        let agent = Agent::with_parts(agent, DefaultConnector::default(), checked.clone());
        Self { agent, checked, resolve_time: config.connect_time }
    }
}

impl Net for HttpNet {
    fn resolve(&mut self, host: &str) -> Result<Vec<IpAddr>, NetFault> {
        let (sender, found) = channel();
        let name = host.to_owned();
        // The system has no time limit, so the thread can outlive the call.
        std::thread::spawn(move || sender.send((name.as_str(), 443_u16).to_socket_addrs()));
        let found = found.recv_timeout(self.resolve_time).map_err(|_late| NetFault::Timeout)?;
        Ok(found.map_err(|_error| NetFault::Name)?.map(|address| address.ip()).collect())
    }

    fn send(&mut self, request: &NetRequest, addresses: &[SocketAddr]) -> Result<NetResponse, NetFault> {
        self.checked.set(addresses);
        let mut builder = Request::builder().method(request.method).uri(&request.url);
        for (name, value) in &request.headers {
            builder = builder.header(name, value);
        }
        let response = if request.method == "POST" {
            let request = builder.body(&*request.body).map_err(|_error| NetFault::Other)?;
            self.agent.run(request)
        } else {
            let request = builder.body(()).map_err(|_error| NetFault::Other)?;
            self.agent.run(request)
        };
        let response = response.map_err(NetFault::of)?;
        let headers = response
            .headers()
            .iter()
            .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())));
        let headers = headers.collect();
        let status = response.status().as_u16();
        Ok(NetResponse { status, headers, body: Box::new(response.into_body().into_reader()) })
    }
}

/// The addresses of the request that is sent.
#[derive(Debug, Clone, Default)]
struct CheckedAddresses(Arc<Mutex<Vec<SocketAddr>>>);

impl CheckedAddresses {
    fn set(&self, addresses: &[SocketAddr]) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = addresses.to_vec();
    }
}

impl Resolver for CheckedAddresses {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let mut found = self.empty();
        for address in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().take(ADDRESSES) {
            found.push(*address);
        }
        if found.is_empty() { Err(ureq::Error::HostNotFound) } else { Ok(found) }
    }
}
