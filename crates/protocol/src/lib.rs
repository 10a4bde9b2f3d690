#![doc = include_str!("../README.md")]

mod command;
mod error;
mod json;
mod lines;
mod mcp;

pub use command::{
    CommandSession, HostServices, Init, LogLevel, MAX_UNKNOWN, PluginDescription, ServiceAnswer,
    SessionEvent, SessionLimits, Workspace,
};
pub use error::{CODES, ProtocolError, ProtocolErrorKind};
pub use json::{MAX_DEPTH, parse_object};
pub use lines::Lines;
pub use mcp::{
    ClientCapabilities, Item, ItemDiff, ItemKind, ItemState, MAX_ITEMS, NewItemRule, Offer, OfferCheck,
    OfferDiff, OfferExtent, PinnedOffer, PinnedSet, ProxySession, ProxyStep,
};
pub use plugward_types as types;
