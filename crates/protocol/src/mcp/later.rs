//! Requests and lists after the judgment.

use serde::Deserialize;

use crate::error::{ProtocolError, ProtocolErrorKind};
use crate::mcp::item::{ItemKind, MAX_ITEMS, Offer, OfferExtent, label};
use crate::mcp::listing::{MAX_BYTES, Page, ServerFacts};
use crate::mcp::message::{INVALID_REQUEST, Id, Request, WITHHELD, answer, error};
use crate::mcp::opening::{DISCOVER, INITIALIZE};
use crate::mcp::pins::OfferCheck;
use crate::mcp::session::ProxySession;
use crate::mcp::state::{Judgment, LaterList, ProxyStep};

/// What the answer to a request of the host is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Passed as it is.
    Other,
    /// A part of an offer.
    Offer {
        kind: ItemKind,
        /// Whether it is the first page.
        is_first: bool,
    },
}

#[derive(Deserialize)]
struct Cursor {
    cursor: Option<String>,
}

#[derive(Deserialize)]
struct Called {
    name: String,
}

impl ProxySession {
    /// Passes a request of the host, if it calls nothing that was not judged.
    pub(crate) fn open_request(&mut self, request: Request) -> Vec<ProxyStep> {
        let refuse = |code, text: &str| vec![ProxyStep::ToHost(error(Some(&request.id), code, text))];
        let called = match &*request.method {
            INITIALIZE => return refuse(INVALID_REQUEST, "the session is initialized"),
            "tools/call" => Some(ItemKind::Tool),
            "prompts/get" => Some(ItemKind::Prompt),
            _ => None,
        };
        if let Some(kind) = called {
            if !self.blocked.is_empty() {
                let server = &self.pinned.server;
                let text = format!("a list changed, so calls do not pass; run: plugward mcp tools {server}");
                return refuse(WITHHELD, &text);
            }
            let name = request.read().map(|Called { name }| label(kind, &name));
            if !name.is_some_and(|name| self.offered.contains(&name)) {
                return refuse(WITHHELD, &format!("the server did not offer this {kind}"));
            }
        }
        let line = request.line();
        let purpose = purpose(&request);
        self.open.insert(request.id, purpose);
        vec![ProxyStep::ToServer(line)]
    }

    /// Handles the answer to a request of the host.
    pub(crate) fn answer(&mut self, id: Id, outcome: Result<&str, &str>) -> Vec<ProxyStep> {
        match (self.open.remove(&id), outcome) {
            (None, _) => Vec::new(),
            (Some(Purpose::Offer { kind, is_first }), Ok(result)) => {
                self.later_list(LaterList { id, kind, is_first, is_last: true, result: result.to_owned() })
            }
            (Some(_), _) => vec![ProxyStep::ToHost(answer(&id, outcome))],
        }
    }

    fn later_list(&mut self, mut list: LaterList) -> Vec<ProxyStep> {
        let offer = match self.read_later(&list) {
            Ok((offer, is_last)) => {
                list.is_last = is_last;
                offer
            }
            Err(fault) => {
                self.block(list.kind);
                return vec![ProxyStep::ToHost(error(Some(&list.id), WITHHELD, &fault.to_string()))];
            }
        };
        match self.check(&offer) {
            OfferCheck::Same => {
                self.offered.extend(offer.items().iter().map(super::Item::label));
                self.pass_list(&list)
            }
            // The caller scans and pins them, as it did with the first offer.
            OfferCheck::Pinned if self.judgment.is_none() => {
                self.judge(offer, |offer| Judgment::Later { offer, list })
            }
            check => self.withhold_list(&list, offer, check),
        }
    }

    fn read_later(&self, list: &LaterList) -> Result<(Offer, bool), ProtocolError> {
        let (kind, result) = (list.kind, list.result.as_str());
        if result.len() > MAX_BYTES {
            return Err(ProtocolErrorKind::TooMany.into());
        }
        let (items, is_last) = match kind.list() {
            Some(names) => {
                let page = Page::read(kind, names, result)?;
                (page.items, page.next.is_none())
            }
            None => (Vec::from_iter(ServerFacts::read(DISCOVER, result)?.instructions), true),
        };
        let count = items.iter().filter(|item| !self.offered.contains(&item.label())).count();
        if self.offered.len().saturating_add(count) > MAX_ITEMS {
            return Err(ProtocolErrorKind::TooMany.into());
        }
        let extent = if list.is_first && is_last { OfferExtent::List } else { OfferExtent::Part };
        Ok((Offer::partial(items, self.client.clone(), extent)?, is_last))
    }

    /// Passes a list in which each item was judged.
    pub(crate) fn pass_list(&mut self, list: &LaterList) -> Vec<ProxyStep> {
        if list.is_first {
            self.clean.insert(list.kind);
        }
        // Calls pass again after all pages of a list, not after the first one.
        if list.is_last && self.clean.contains(&list.kind) {
            self.blocked.remove(&list.kind);
        }
        vec![ProxyStep::ToHost(answer(&list.id, Ok(&list.result)))]
    }

    pub(crate) fn withhold_list(
        &mut self,
        list: &LaterList,
        offer: Offer,
        check: OfferCheck,
    ) -> Vec<ProxyStep> {
        self.block(list.kind);
        let text =
            check.text(&self.pinned.server).unwrap_or_else(|| "another list is being judged".to_owned());
        vec![ProxyStep::ToHost(error(Some(&list.id), WITHHELD, &text)), ProxyStep::ListWithheld(offer, check)]
    }

    fn block(&mut self, kind: ItemKind) {
        self.clean.remove(&kind);
        self.blocked.insert(kind);
    }
}

fn purpose(request: &Request) -> Purpose {
    if request.method == DISCOVER {
        return Purpose::Offer { kind: ItemKind::Instructions, is_first: true };
    }
    let kind =
        ItemKind::ALL.into_iter().find(|kind| kind.list().is_some_and(|list| list.method == request.method));
    let cursor = request.read().and_then(|Cursor { cursor }| cursor);
    kind.map_or(Purpose::Other, |kind| Purpose::Offer { kind, is_first: cursor.is_none() })
}
