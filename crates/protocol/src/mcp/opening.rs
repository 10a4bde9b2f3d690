//! From the first request of the host to the judgment of the offer.

use std::time::Instant;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::ProtocolError;
use crate::mcp::item::{ClientCapabilities, Item, ItemKind, Offer, OfferExtent};
use crate::mcp::listing::{Listing, ServerFacts};
use crate::mcp::message::{INVALID_REQUEST, Id, NO_METHOD, Request, answer, code_of, error, notification};
use crate::mcp::session::ProxySession;
use crate::mcp::state::{Judgment, OwnRequest, Phase, ProxyStep};

pub(crate) const INITIALIZE: &str = "initialize";
pub(crate) const DISCOVER: &str = "server/discover";

/// The state until the offer is judged.
#[derive(Debug)]
pub(crate) struct Opening {
    /// The first request of the host.
    pub(crate) request: Request,
    /// Whether the host has got the answer.
    pub(crate) answered: bool,
    /// `_meta` of a client without a handshake.
    meta: Option<Value>,
    /// The result of `initialize` or `server/discover`.
    result: Option<String>,
    listing: Listing,
}

#[derive(Deserialize)]
struct FirstParams {
    #[serde(default)]
    capabilities: Map<String, Value>,
    #[serde(default, rename = "_meta")]
    meta: Map<String, Value>,
}

impl ProxySession {
    /// Begins with the first request of the host. Revision 2026-07-28 of MCP has no handshake and sends the same facts in `_meta`.
    pub(crate) fn begin(&mut self, request: Request, now: Instant) -> Vec<ProxyStep> {
        let params: Option<FirstParams> = request.read();
        let has_handshake = request.method == INITIALIZE;
        let (client, meta) = match params {
            Some(params) if has_handshake => (params.capabilities, None),
            Some(FirstParams { mut meta, .. })
                if meta.contains_key("io.modelcontextprotocol/protocolVersion") =>
            {
                // It belongs to one request.
                meta.remove("progressToken");
                let client =
                    meta.get("io.modelcontextprotocol/clientCapabilities").and_then(Value::as_object);
                (client.cloned().unwrap_or_default(), Some(Value::Object(meta)))
            }
            _ => {
                return vec![ProxyStep::ToHost(error(
                    Some(&request.id),
                    INVALID_REQUEST,
                    "send `initialize` first",
                ))];
            }
        };
        let (own, method) = if has_handshake {
            (request.clone(), INITIALIZE)
        } else {
            let params = meta.as_ref().map(|meta| format!("{{\"_meta\":{meta}}}"));
            (Request { id: self.own_id(), method: DISCOVER.to_owned(), params }, DISCOVER)
        };
        self.first = Some(request.line());
        self.client = ClientCapabilities::new(client);
        self.unknown = self.pinned.unknown_for(&self.client);
        let (answered, result, listing) = (false, None, Listing::default());
        self.phase = Phase::Opening(Box::new(Opening { request, answered, meta, result, listing }));
        self.send(own, method, now)
    }

    fn own_id(&mut self) -> Id {
        let number = self.next_id;
        self.next_id = number.saturating_add(1);
        Id::own(number)
    }

    fn send(&mut self, request: Request, method: &'static str, now: Instant) -> Vec<ProxyStep> {
        let line = request.line();
        self.own = Some(OwnRequest { id: request.id, method, sent: now });
        vec![ProxyStep::ToServer(line)]
    }

    /// Handles the answer to a request of the proxy.
    pub(crate) fn own_answer(
        &mut self,
        method: &'static str,
        outcome: Result<&str, &str>,
        now: Instant,
    ) -> Vec<ProxyStep> {
        let Phase::Opening(opening) = &mut self.phase else { return Vec::new() };
        let is_first = opening.result.is_none() && (method == INITIALIZE || method == DISCOVER);
        let done = match outcome {
            Err(text) if opening.must_pass(method, text) => {
                let id = opening.request.id.clone();
                return self.start_again(&id, text);
            }
            _ if is_first => opening.list(method, outcome),
            _ => opening.listing.add(outcome),
        };
        if let Err(fault) = done {
            return self.fail(fault);
        }
        let mut steps = Vec::new();
        if method == INITIALIZE {
            steps.push(ProxyStep::ToServer(notification("notifications/initialized", None)));
        }
        steps.extend(self.next_list(now));
        steps
    }

    /// Passes an error of the server on. The host can begin again, for example with another version.
    fn start_again(&mut self, id: &Id, text: &str) -> Vec<ProxyStep> {
        self.phase = Phase::Start;
        self.held.clear();
        let waiting = core::mem::take(&mut self.waiting);
        let ids = core::iter::once(id).chain(waiting.iter().map(|request| &request.id));
        ids.map(|id| ProxyStep::ToHost(answer(id, Err(text)))).collect()
    }

    fn next_list(&mut self, now: Instant) -> Vec<ProxyStep> {
        let id = self.own_id();
        let Phase::Opening(opening) = &mut self.phase else { return Vec::new() };
        if let Some((request, method)) = opening.listing.request(id) {
            return self.send(request, method, now);
        }
        let items = core::mem::take(&mut opening.listing.items);
        match Offer::new(items, self.client.clone()) {
            Ok(offer) => self.judge(offer, Judgment::Complete),
            Err(fault) => self.fail(fault),
        }
    }

    /// Returns `true` if a list is open, and the server waits for an answer of the host that it could need for the list.
    pub(crate) fn is_waited_for(&self) -> bool {
        let Phase::Opening(opening) = &self.phase else { return false };
        let is_open = opening.result.is_some() && !opening.answered && opening.meta.is_none();
        is_open && !self.held.is_empty() && self.judgment.is_none()
    }

    /// Judges the instructions before the lists, so that `initialize` can be answered.
    pub(crate) fn judge_instructions(&mut self) -> Vec<ProxyStep> {
        let Phase::Opening(opening) = &self.phase else { return Vec::new() };
        let items: Vec<Item> = opening
            .listing
            .items
            .iter()
            .filter(|item| item.kind() == ItemKind::Instructions)
            .cloned()
            .collect();
        match Offer::partial(items, self.client.clone(), OfferExtent::Part) {
            Ok(offer) => self.judge(offer, Judgment::Instructions),
            Err(fault) => self.fail(fault),
        }
    }

    pub(crate) fn judge(&mut self, offer: Offer, judgment: impl FnOnce(Offer) -> Judgment) -> Vec<ProxyStep> {
        let check = self.check(&offer);
        self.judgment = Some(judgment(offer.clone()));
        vec![ProxyStep::Judge(offer, check)]
    }

    /// Answers the first request of the host, and passes what the server asked meanwhile.
    pub(crate) fn answer_host(&mut self) -> Vec<ProxyStep> {
        let mut steps = Vec::new();
        if let Phase::Opening(opening) = &mut self.phase
            && let Some(result) = opening.result.as_deref()
            && !opening.answered
        {
            opening.answered = true;
            steps.push(ProxyStep::ToHost(answer(&opening.request.id, Ok(result))));
        }
        steps.extend(self.release_held());
        steps
    }

    /// Opens the session after the judgment.
    pub(crate) fn go_on(&mut self, now: Instant) -> Vec<ProxyStep> {
        let Phase::Opening(opening) = &self.phase else { return Vec::new() };
        let is_answer = matches!(&*opening.request.method, INITIALIZE | DISCOVER);
        let first = (!is_answer).then(|| opening.request.clone());
        let mut steps = if is_answer { self.answer_host() } else { self.release_held() };
        self.phase = Phase::Open;
        let waiting = core::mem::take(&mut self.waiting);
        for request in first.into_iter().chain(waiting) {
            steps.extend(self.host_request(request, now));
        }
        steps
    }
}

impl Opening {
    /// Returns `true` if an error of the server answers the host: no session begins. A client without a handshake gets each error but
    /// that of a missing method, which means that there is no such list.
    fn must_pass(&self, method: &str, error: &str) -> bool {
        let is_missing = code_of(error) == Some(NO_METHOD) && self.request.method != DISCOVER;
        method == INITIALIZE || (self.meta.is_some() && !is_missing)
    }

    /// Takes the first answer and prepares the lists.
    fn list(&mut self, method: &'static str, outcome: Result<&str, &str>) -> Result<(), ProtocolError> {
        let meta = self.meta.clone();
        let Ok(result) = outcome else {
            // A server without `server/discover` says with each list whether it has it.
            self.listing = Listing::new(|_| true, None, meta);
            return Ok(());
        };
        let facts = ServerFacts::read(method, result)?;
        self.listing = Listing::new(|name| facts.capabilities.contains_key(name), facts.instructions, meta);
        self.result = Some(result.to_owned());
        Ok(())
    }
}
