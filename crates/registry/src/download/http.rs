//! Downloads over https, and over http on loopback.

use std::io::{self, Read as _, Write};
use std::sync::Arc;
use std::time::Duration;

use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Proxy};

use super::{Fetch, FetchFault, LocalFetch, SourceUrl, UrlPlace};
use crate::error::{RegistryError, RegistryErrorKind};

/// The most redirects of one download.
const REDIRECTS: usize = 5;

/// How long a download waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "every host must decide both")]
pub struct HttpTimeouts {
    /// For a connection.
    pub connect: Duration,
    /// For the next byte.
    pub idle: Duration,
}

impl HttpTimeouts {
    /// Returns 10 seconds for a connection and 30 seconds for the next byte.
    #[must_use]
    pub const fn standard() -> Self {
        Self { connect: Duration::from_secs(10), idle: Duration::from_secs(30) }
    }
}

/// Downloads `https` URLs, `http` URLs on loopback and `file` URLs.
///
/// No credentials or cookies are sent, and the answer is not compressed. Certificates are verified by the platform.
#[derive(Debug)]
pub struct HttpFetch {
    /// For https, through the proxy if there is one.
    remote: Agent,
    /// For loopback, which a proxy on another machine would not reach.
    direct: Agent,
    local: LocalFetch,
    idle: Duration,
}

impl HttpFetch {
    /// Creates a source. `proxy` is the URL of an http proxy, which the host reads from its environment or settings.
    ///
    /// # Errors
    /// `registry/network` if the URL of the proxy is not valid.
    pub fn new(
        timeouts: HttpTimeouts,
        proxy: Option<&str>,
        local: LocalFetch,
    ) -> Result<Self, RegistryError> {
        let invalid = |url: &str| RegistryErrorKind::Network {
            url: "through the proxy".to_owned(),
            why: format!("{url} is not the URL of a proxy"),
        };
        let proxy = proxy.map(|url| Proxy::new(url).map_err(|_error| invalid(url))).transpose()?;
        let agent = |proxy: Option<Proxy>| {
            // ureq would otherwise take the proxy from the environment, which only the command line reads.
            let config = Agent::config_builder().proxy(proxy);
            let tls = TlsConfig::builder()
                .root_certs(RootCerts::PlatformVerifier)
                .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .build();
            // Redirects are followed here, because ureq would also follow them to http.
            let config = config.tls_config(tls).max_redirects(0).http_status_as_error(false);
            let config = config.user_agent(concat!("plugward/", env!("CARGO_PKG_VERSION")));
            let config =
                config.timeout_resolve(Some(timeouts.connect)).timeout_connect(Some(timeouts.connect));
            Agent::new_with_config(config.timeout_per_read(Some(timeouts.idle)).build())
        };
        Ok(Self { remote: agent(proxy), direct: agent(None), local, idle: timeouts.idle })
    }

    fn fault(&self, error: ureq::Error) -> FetchFault {
        match error {
            ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
                FetchFault::Network("no connection in time".to_owned())
            }
            ureq::Error::Timeout(_) => FetchFault::Stalled(self.idle.as_secs()),
            other => FetchFault::Network(other.to_string()),
        }
    }
}

impl Fetch for HttpFetch {
    fn fetch(&self, url: &SourceUrl, sink: &mut dyn Write) -> Result<Option<u64>, FetchFault> {
        let mut here = url.clone();
        for _ in 0..=REDIRECTS {
            let agent = match here.place() {
                UrlPlace::File => return self.local.fetch(&here, sink),
                UrlPlace::Https => &self.remote,
                UrlPlace::Loopback => &self.direct,
            };
            let response = agent.get(here.as_str()).call().map_err(|error| self.fault(error))?;
            let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
            if response.status().is_redirection() {
                let target = header("location").ok_or_else(|| "to no address".to_owned());
                here = target.and_then(|target| here.redirected(target)).map_err(FetchFault::Redirect)?;
                continue;
            }
            if response.status() != 200 {
                return Err(FetchFault::Network(format!("the server answered {}", response.status())));
            }
            let length = header("content-length").and_then(|text| text.parse().ok());
            let mut body = response.into_body().into_reader();
            let mut piece = vec![0; 64 << 10];
            loop {
                let read = match (body.read(&mut piece), length) {
                    (Err(error), Some(expected)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                        return Err(FetchFault::Short { expected });
                    }
                    (read, _) => read.map_err(|error| self.fault(error.into()))?,
                };
                let Some(bytes) = piece.get(..read).filter(|bytes| !bytes.is_empty()) else {
                    return Ok(length);
                };
                sink.write_all(bytes).map_err(|error| FetchFault::Network(error.to_string()))?;
            }
        }
        Err(FetchFault::Redirect(format!("more than {REDIRECTS} times")))
    }
}
