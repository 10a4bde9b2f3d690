//! Starts MCP servers behind a proxy that judges their offers, and keeps the texts of offers.

mod exchange;
mod judge;
mod offers;

pub use exchange::{ProxyEnd, ProxyHost, ProxyStop};
pub use judge::{
    McpServer, OfferAcceptance, OfferFailure, OfferJudge, OfferOutcome, OfferRules, OfferView, ViewedItem,
};
pub use offers::{OfferServer, OfferStore, OfferStoreError, StoredOffer};
