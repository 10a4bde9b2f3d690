//! Connecting to a host, and listening on a port.

use core::net::IpAddr;

use plugward_ledger::RecordValue;

use crate::error::{HOST, PORT, ScopeError};
use crate::kinds::kind::{Operation, common, sealed};
use crate::mint::Grant;

/// One host and port, or one port to listen on. Several need several capabilities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetScope {
    /// `None` for listening.
    host: Option<Host>,
    port: u16,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    Name(String),
    Ip(IpAddr),
    /// One or more labels before the name, but not the name itself.
    Subdomains(String),
}

/// A connection, or a port that accepts connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the closed set of operations of this kind")]
pub enum NetOp<'a> {
    /// Opens a connection.
    Connect {
        /// The requested host, before name resolution.
        host: &'a str,
        /// The port.
        port: u16,
    },
    /// Accepts connections.
    Listen {
        /// The port.
        port: u16,
    },
}

/// Permission to connect to one host and port, or to listen on one port.
#[must_use]
pub struct NetConnectCapability {
    scope: NetScope,
    grant: Grant,
}

common!(NetConnectCapability, NetScope, NetOp, NetConnect);

impl sealed::Build for NetScope {
    type Made = NetConnectCapability;

    fn build(self, grant: Grant) -> NetConnectCapability {
        NetConnectCapability { scope: self, grant }
    }

    fn value(&self) -> RecordValue {
        let port = RecordValue::Number(u64::from(self.port));
        match self.host() {
            Some(host) => RecordValue::object([("host", RecordValue::Text(host)), ("port", port)]),
            None => RecordValue::object([("listen", port)]),
        }
    }
}

/// Normalizes a host, so that two texts for the same host are equal: an address, or a lowercase name without
/// a final dot.
fn canonical(host: &str) -> Option<Host> {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    if let Ok(ip) = bare.parse::<IpAddr>() {
        return (bare == host || ip.is_ipv6()).then_some(Host::Ip(ip));
    }
    let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    is_dns(&name).then_some(Host::Name(name))
}

pub(crate) fn is_dns(name: &str) -> bool {
    let label = |label: &str| {
        let bytes = label.as_bytes();
        (1..=63).contains(&bytes.len())
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-' || *byte == b'_')
            && bytes.first() != Some(&b'-')
            && bytes.last() != Some(&b'-')
    };
    // Some resolvers parse a numeric last label as an IP address, in one of many spellings.
    let last = name.rsplit('.').next().unwrap_or("");
    let number = |label: &str| {
        label.bytes().all(|byte| byte.is_ascii_digit())
            || label.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    name.len() <= 253 && name.split('.').all(label) && !number(last)
}

impl NetScope {
    /// Creates a scope for the host and port.
    ///
    /// # Errors
    ///
    /// `scope/host` for text other than an ASCII name, an IP literal, or `*.` followed by a name;
    /// `scope/port` for 0.
    pub fn new(host: &str, port: u16) -> Result<Self, ScopeError> {
        let bad = |why| ScopeError::new(HOST, "network scope", host, why);
        let host = match host.strip_prefix("*.") {
            None => canonical(host).ok_or_else(|| bad("it is not a host"))?,
            Some(name) => match canonical(name) {
                Some(Host::Name(name)) if name.contains('.') => Host::Subdomains(name),
                Some(Host::Name(_)) => return Err(bad("a wildcard for a top-level domain is not allowed")),
                _ => return Err(bad("`*.` must be followed by a name")),
            },
        };
        Self::at(Some(host), port)
    }

    /// Creates a scope for listening on a port, at any address of this machine.
    ///
    /// # Errors
    ///
    /// `scope/port` for 0.
    pub fn listening(port: u16) -> Result<Self, ScopeError> {
        Self::at(None, port)
    }

    fn at(host: Option<Host>, port: u16) -> Result<Self, ScopeError> {
        if port == 0 {
            return Err(ScopeError::new(PORT, "network scope", "0", "it is not a port"));
        }
        Ok(Self { host, port })
    }

    /// Returns the host in its canonical form; `None` for listening.
    #[must_use]
    pub fn host(&self) -> Option<String> {
        self.host.as_ref().map(|host| match host {
            Host::Name(name) => name.clone(),
            Host::Ip(ip) => ip.to_string(),
            Host::Subdomains(name) => format!("*.{name}"),
        })
    }

    /// Returns the port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn covers(&self, op: &NetOp<'_>) -> bool {
        let (asked, port) = match op {
            NetOp::Connect { host, port } => (Some(canonical(host)), port),
            NetOp::Listen { port } => (None, port),
        };
        let same = match (&self.host, &asked) {
            (Some(Host::Subdomains(name)), Some(Some(Host::Name(asked)))) => {
                asked.strip_suffix(name.as_str()).is_some_and(|front| front.len() > 1 && front.ends_with('.'))
            }
            (Some(mine), Some(asked)) => Some(mine) == asked.as_ref(),
            (mine, asked) => mine.is_none() && asked.is_none(),
        };
        same && self.port == *port
    }
}

impl Operation for NetOp<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Connect { .. } => "connect",
            Self::Listen { .. } => "listen",
        }
    }

    fn detail(&self) -> String {
        match self {
            Self::Connect { host, port } => format!("{host}:{port}"),
            Self::Listen { port } => port.to_string(),
        }
    }
}
