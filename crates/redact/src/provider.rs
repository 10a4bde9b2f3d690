//! Access to a model. Every part of a request, and the reply, is text redacted by one firewall.

use core::fmt;
use std::sync::Arc;

use thiserror::Error;

use crate::{Firewall, Raw, Redacted};

/// The author of a part of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new role must stop every transport from building")]
pub enum RequestRole {
    /// The instructions of the host.
    System,
    /// A person, or a host that asks on behalf of one.
    User,
    /// Earlier output of the model.
    Assistant,
    /// Earlier reasoning of the model.
    Thinking,
    /// The name and arguments of a tool call.
    ToolCall,
    /// The output of a tool.
    ToolResult,
}

/// One part of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestPart {
    role: RequestRole,
    text: Redacted,
}

impl RequestPart {
    /// Returns the author of the part.
    #[must_use]
    pub const fn role(&self) -> RequestRole {
        self.role
    }

    /// Returns the redacted text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.as_str()
    }
}

/// A request to a model. Each part is [`Redacted`]; there is no method that adds other text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelRequest {
    parts: Vec<RequestPart>,
}

impl ModelRequest {
    /// Creates an empty request.
    #[must_use]
    pub const fn new() -> Self {
        Self { parts: Vec::new() }
    }

    /// Adds a part.
    #[must_use]
    pub fn with(mut self, role: RequestRole, text: Redacted) -> Self {
        self.parts.push(RequestPart { role, text });
        self
    }

    /// Returns the parts in order.
    #[must_use]
    pub fn parts(&self) -> &[RequestPart] {
        &self.parts
    }
}

/// A connection to a model provider: sends a request and returns the raw reply.
pub trait Transport: Send + Sync {
    /// Sends a request and waits for the reply.
    ///
    /// # Errors
    ///
    /// [`TransportError`] if there was no reply. The error contains no text of the request or the reply.
    fn send(&self, request: &ModelRequest) -> Result<Raw<String>, TransportError>;
}

/// The error of a request that got no reply. Contains no text of the request or the reply.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{kind}")]
pub struct TransportError {
    kind: TransportErrorKind,
}

/// The kind of a [`TransportError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TransportErrorKind {
    /// The provider could not be reached.
    #[error("model provider is unreachable")]
    Unreachable,
    /// The provider refused the request with this status.
    #[error("model provider refused the request with status {status}")]
    Refused {
        /// The HTTP status.
        status: u16,
    },
    /// The reply did not arrive in time.
    #[error("model provider did not reply in time")]
    TimedOut,
    /// The reply was not understood.
    #[error("reply of the model provider is unreadable")]
    Unreadable,
}

impl TransportError {
    /// Creates an error of a kind.
    #[must_use]
    pub const fn new(kind: TransportErrorKind) -> Self {
        Self { kind }
    }

    /// Returns the kind of the error.
    #[must_use]
    pub const fn kind(&self) -> TransportErrorKind {
        self.kind
    }

    /// Returns the stable code, as listed in [`CODES`](crate::CODES).
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.kind {
            TransportErrorKind::Unreachable => "transport/unreachable",
            TransportErrorKind::Refused { .. } => "transport/refused",
            TransportErrorKind::TimedOut => "transport/timed-out",
            TransportErrorKind::Unreadable => "transport/unreadable",
        }
    }

    /// Returns the help for the code.
    #[must_use]
    pub fn help(&self) -> &'static str {
        crate::CODES.iter().find(|(code, _)| *code == self.code()).map_or("", |(_, help)| help)
    }
}

mod sealed {
    /// Sealed: only this crate gives access to a model.
    #[expect(unnameable_types, reason = "a sealed trait is meant to have no name outside")]
    pub trait Sealed {}
}

/// Access to a model for code such as prompt hooks. Sealed: [`SafeProvider`] is the only implementation.
pub trait LlmAccess: Send + Sync + sealed::Sealed {
    /// Sends a request and returns the redacted reply.
    ///
    /// # Errors
    ///
    /// [`TransportError`] if there was no reply.
    fn ask(&self, request: ModelRequest) -> Result<Redacted, TransportError>;
}

/// A model connection behind a firewall.
///
/// # Guarantees
///
/// Every part that is sent was redacted by this firewall; a part from another firewall is redacted again. The
/// reply is redacted before it is returned. The transport cannot be taken out, and a provider cannot exist
/// without a firewall.
pub struct SafeProvider<T: Transport> {
    firewall: Arc<Firewall>,
    transport: T,
}

impl<T: Transport> SafeProvider<T> {
    /// Puts a transport behind a firewall.
    #[must_use]
    pub const fn new(firewall: Arc<Firewall>, transport: T) -> Self {
        Self { firewall, transport }
    }
}

impl<T: Transport> sealed::Sealed for SafeProvider<T> {}

impl<T: Transport> LlmAccess for SafeProvider<T> {
    fn ask(&self, request: ModelRequest) -> Result<Redacted, TransportError> {
        let parts = request.parts.into_iter();
        let fresh = parts.map(|part| RequestPart { role: part.role, text: self.firewall.refresh(part.text) });
        let reply = self.transport.send(&ModelRequest { parts: fresh.collect() })?;
        Ok(self.firewall.redact(reply))
    }
}

impl<T: Transport> fmt::Debug for SafeProvider<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SafeProvider").field("firewall", &self.firewall).finish_non_exhaustive()
    }
}
