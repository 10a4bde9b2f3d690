//! The one way to a model: every part is redacted text of this firewall's generation, the reply too.

use core::fmt;
use std::sync::Arc;

use thiserror::Error;

use crate::{Firewall, Raw, Redacted};

/// Whose words a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new role must stop every transport from building")]
pub enum Role {
    /// The instructions of the host.
    System,
    /// A person, or a host that asks in a person's place.
    User,
    /// What the model said before.
    Assistant,
    /// What the model thought before.
    Thinking,
    /// Name and arguments of a tool call.
    ToolCall,
    /// What a tool left.
    ToolResult,
}

/// One part of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestPart {
    role: Role,
    text: Redacted,
}

impl RequestPart {
    /// Says whose words it is.
    #[must_use]
    pub const fn role(&self) -> Role {
        self.role
    }

    /// Gives the text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.as_str()
    }
}

/// What goes to a model: parts, each of them [`Redacted`]. There is no way to put other text in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request {
    parts: Vec<RequestPart>,
}

impl Request {
    /// Starts without a part.
    #[must_use]
    pub const fn new() -> Self {
        Self { parts: Vec::new() }
    }

    /// Adds a part.
    #[must_use]
    pub fn with(mut self, role: Role, text: Redacted) -> Self {
        self.parts.push(RequestPart { role, text });
        self
    }

    /// Gives the parts in order.
    #[must_use]
    pub fn parts(&self) -> &[RequestPart] {
        &self.parts
    }
}

/// What a vendor implements: a request goes out, raw text comes back.
pub trait Transport: Send + Sync {
    /// Sends a request and waits for the reply.
    ///
    /// # Errors
    /// [`TransportError`] when no reply came. It carries no text of the request or the reply.
    fn send(&self, request: &Request) -> Result<Raw<String>, TransportError>;
}

/// Why no reply came. It carries no text of the request or the reply.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("ask the model: {kind}")]
pub struct TransportError {
    kind: TransportErrorKind,
}

/// What went wrong on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TransportErrorKind {
    /// The vendor could not be reached.
    #[error("no connection")]
    Unreachable,
    /// The vendor said no, with this status.
    #[error("refused with status {status}")]
    Refused {
        /// The status that the vendor gave.
        status: u16,
    },
    /// No reply came in time.
    #[error("no reply in time")]
    TimedOut,
    /// The reply could not be read.
    #[error("unreadable reply")]
    Unreadable,
}

impl TransportError {
    /// Makes an error of a kind.
    #[must_use]
    pub const fn new(kind: TransportErrorKind) -> Self {
        Self { kind }
    }

    /// Says what went wrong.
    #[must_use]
    pub const fn kind(&self) -> TransportErrorKind {
        self.kind
    }

    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.kind {
            TransportErrorKind::Unreachable => "transport/unreachable",
            TransportErrorKind::Refused { .. } => "transport/refused",
            TransportErrorKind::TimedOut => "transport/timed-out",
            TransportErrorKind::Unreadable => "transport/unreadable",
        }
    }

    /// Says what to do next.
    #[must_use]
    pub fn help(&self) -> &'static str {
        crate::CODES.iter().find(|(code, _)| *code == self.code()).map_or("", |(_, help)| help)
    }
}

mod sealed {
    /// Only this crate gives access to a model.
    #[expect(unnameable_types, reason = "a sealed trait is meant to have no name outside")]
    pub trait Sealed {}
}

/// What code that talks to a model is given. [`SafeProvider`] is the only one there is.
pub trait LlmAccess: Send + Sync + sealed::Sealed {
    /// Asks, and gives the redacted reply.
    ///
    /// # Errors
    /// [`TransportError`] when no reply came.
    fn ask(&self, request: Request) -> Result<Redacted, TransportError>;
}

/// A transport behind a firewall.
///
/// # Guarantees
/// Every part that goes out is of this firewall's generation: a part of another is looked at again. The reply is
/// redacted before anyone sees it. The transport cannot be taken out, and there is no state without a firewall.
///
/// # Source
/// ADR-004: prompt and agent hooks inherit the scan at the provider.
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
    fn ask(&self, request: Request) -> Result<Redacted, TransportError> {
        let parts = request.parts.into_iter();
        let fresh = parts.map(|part| RequestPart { role: part.role, text: self.firewall.refresh(part.text) });
        let reply = self.transport.send(&Request { parts: fresh.collect() })?;
        Ok(self.firewall.redact(reply))
    }
}

impl<T: Transport> fmt::Debug for SafeProvider<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SafeProvider").field("firewall", &self.firewall).finish_non_exhaustive()
    }
}
