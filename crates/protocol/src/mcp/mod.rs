//! The proxy between a host and an MCP server.

mod item;
mod later;
mod listing;
mod message;
mod opening;
mod pins;
mod session;
mod state;

pub use item::{ClientCapabilities, Item, ItemKind, MAX_ITEMS, Offer, OfferExtent};
pub use pins::{ItemDiff, ItemState, NewItemRule, OfferCheck, OfferDiff, PinnedOffer, PinnedSet};
pub use session::ProxySession;
pub use state::ProxyStep;
