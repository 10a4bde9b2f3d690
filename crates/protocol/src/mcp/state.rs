//! What a proxy session tells its caller, and what it waits for.

use std::time::Instant;

use crate::error::ProtocolError;
use crate::mcp::item::{ItemKind, Offer};
use crate::mcp::message::Id;
use crate::mcp::opening::Opening;
use crate::mcp::pins::OfferCheck;

/// What the caller must do, in this order.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "every caller must handle a new step")]
pub enum ProxyStep {
    /// Write the line to the server.
    ToServer(String),
    /// Write the line to the host.
    ToHost(String),
    /// Judge the offer, and call [`ProxySession::judged`](crate::ProxySession::judged) before any other method. The check is what the pins say. If it is
    /// [`OfferCheck::Pinned`], scan the texts first; without a danger, pin the offer.
    Judge(Offer, OfferCheck),
    /// A later list was withheld for these differences. The session goes on, without calls until a list is as pinned.
    ListWithheld(Offer, OfferCheck),
    /// End the server. The host has got the error; without one, the judged offer was withheld.
    EndServer(Option<ProtocolError>),
}

/// Where a session is.
#[derive(Debug)]
pub(crate) enum Phase {
    /// Before the first request of the host.
    Start,
    /// Until the offer is judged.
    Opening(Box<Opening>),
    /// Messages pass.
    Open,
    /// Each request is answered with this text.
    Ended(String),
}

/// The part of an offer that the caller judges now.
#[derive(Debug)]
pub(crate) enum Judgment {
    /// The instructions, while a list waits for the host.
    Instructions(Offer),
    /// All items.
    Complete(Offer),
    /// New items of a later list, whose answer is kept.
    Later { offer: Offer, list: LaterList },
}

/// The answer to a list of the host.
#[derive(Debug)]
pub(crate) struct LaterList {
    pub(crate) id: Id,
    pub(crate) kind: ItemKind,
    pub(crate) is_first: bool,
    pub(crate) is_last: bool,
    pub(crate) result: String,
}

/// A request of the proxy itself.
#[derive(Debug)]
pub(crate) struct OwnRequest {
    pub(crate) id: Id,
    pub(crate) method: &'static str,
    pub(crate) sent: Instant,
}
