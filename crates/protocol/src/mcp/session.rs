//! The state of a proxy session, and what passes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;

use crate::error::{ProtocolError, ProtocolErrorKind};
use crate::json;
use crate::mcp::item::{ClientCapabilities, ItemKind, Offer};
use crate::mcp::later::Purpose;
use crate::mcp::message::{
    INTERNAL_ERROR, INVALID_REQUEST, Id, Message, PARSE_ERROR, Request, WITHHELD, answer, error, id_of,
    notification,
};
use crate::mcp::pins::{ItemState, KnownItems, NewItemRule, OfferCheck, OfferDiff, PinnedOffer};
use crate::mcp::state::{Judgment, OwnRequest, Phase, ProxyStep};

/// How many requests may be without an answer. A server that does not answer must not fill the memory.
const MAX_OPEN: usize = 10_000;

/// What each message of JSON-RPC contains.
const MARK: &[u8] = b"\"jsonrpc\"";

/// How many requests may wait for the judgment, and their bytes.
const MAX_WAITING: usize = 1000;
const MAX_WAITING_BYTES: usize = 32 << 20;

/// The proxy between a host and an MCP server.
///
/// # Guarantees
/// The host gets no tool, prompt, resource template and instructions that were not judged, and the server gets no call before the
/// judgment. Results of calls, resources, logs, sampling and elicitation are not judged.
#[derive(Debug)]
pub struct ProxySession {
    pub(crate) pinned: PinnedOffer,
    pub(crate) rule: NewItemRule,
    pub(crate) phase: Phase,
    /// The first request of the host that began a session.
    pub(crate) first: Option<String>,
    pub(crate) own: Option<OwnRequest>,
    pub(crate) next_id: u64,
    pub(crate) judgment: Option<Judgment>,
    /// Digests that may pass: of pins, and of what was judged in this session.
    pub(crate) known: KnownItems,
    /// The capabilities of the client.
    pub(crate) client: ClientCapabilities,
    /// Labels that the server offered in this session.
    pub(crate) offered: BTreeSet<String>,
    /// The state of unknown names.
    pub(crate) unknown: ItemState,
    /// Requests of the host that the server has not answered.
    pub(crate) open: BTreeMap<Id, Purpose>,
    /// Requests of the server that the host has not answered.
    pub(crate) asked: BTreeSet<Id>,
    /// Requests that wait for the judgment.
    pub(crate) waiting: Vec<Request>,
    pub(crate) held: Vec<Request>,
    /// Kinds with a withheld list.
    pub(crate) blocked: BTreeSet<ItemKind>,
    /// Kinds whose pages were all as pinned since the first one.
    pub(crate) clean: BTreeSet<ItemKind>,
    lines: u64,
    unread: UnreadLines,
}

/// The lines of the server that were not messages, before the judgment.
#[derive(Debug, Default)]
struct UnreadLines {
    count: u32,
    first: Option<u64>,
}

impl ProxySession {
    /// Starts a session with the pins of a server.
    #[must_use]
    pub fn new(pinned: PinnedOffer, rule: NewItemRule) -> Self {
        Self {
            known: pinned.known(),
            pinned,
            rule,
            phase: Phase::Start,
            first: None,
            own: None,
            next_id: 1,
            judgment: None,
            client: ClientCapabilities::default(),
            offered: BTreeSet::new(),
            unknown: ItemState::Added,
            open: BTreeMap::new(),
            asked: BTreeSet::new(),
            waiting: Vec::new(),
            held: Vec::new(),
            blocked: BTreeSet::new(),
            clean: BTreeSet::new(),
            lines: 0,
            unread: UnreadLines::default(),
        }
    }

    /// Starts a session without a server, in which each request is answered with an error.
    #[must_use]
    pub fn refusing(reason: &str) -> Self {
        let none = PinnedOffer { server: String::new(), sets: Vec::new() };
        Self { phase: Phase::Ended(reason.to_owned()), ..Self::new(none, NewItemRule::Refuse) }
    }

    /// Returns the line of the request with which the host began. A session that gets it again has the same client.
    #[must_use]
    pub fn first_request(&self) -> Option<&str> {
        self.first.as_deref()
    }

    /// Returns `true` from the first request to the end of the judgment. The input of the server is still needed then, even if
    /// the host sends nothing more.
    #[must_use]
    pub const fn is_opening(&self) -> bool {
        matches!(self.phase, Phase::Opening(_))
    }

    /// Handles a line of the host.
    pub fn from_host(&mut self, line: &[u8], now: Instant) -> Vec<ProxyStep> {
        match Message::read(line) {
            Ok(Message::Request(request)) => self.host_request(request, now),
            Ok(Message::Notification { method, params }) => {
                self.host_notification(&method, params.as_deref())
            }
            Ok(Message::Answer { id, outcome }) => {
                // An answer that the server did not ask for could belong to a request of the proxy.
                let is_asked = self.asked.remove(&id);
                let line = answer(&id, outcome.as_deref().map_err(String::as_str));
                is_asked.then_some(ProxyStep::ToServer(line)).into_iter().collect()
            }
            Err(fault) => vec![ProxyStep::ToHost(unreadable(line, &fault))],
        }
    }

    pub(crate) fn host_request(&mut self, request: Request, now: Instant) -> Vec<ProxyStep> {
        let refuse = |code, text: &str| vec![ProxyStep::ToHost(error(Some(&request.id), code, text))];
        if let Phase::Ended(text) = &self.phase {
            return refuse(WITHHELD, text);
        }
        let is_used =
            self.open.contains_key(&request.id) || self.waiting.iter().any(|other| other.id == request.id);
        if request.id.is_own() || is_used || self.open.len() >= MAX_OPEN {
            return refuse(INVALID_REQUEST, "the id is in use, or too many requests are open");
        }
        match &self.phase {
            Phase::Open => self.open_request(request),
            // Hosts use it to see whether the server is alive, and the answer is always the same.
            _ if request.method == "ping" => vec![ProxyStep::ToHost(answer(&request.id, Ok("{}")))],
            Phase::Start => self.begin(request, now),
            Phase::Opening(opening) if opening.request.id == request.id || request.method == "initialize" => {
                refuse(INVALID_REQUEST, "the session is being initialized")
            }
            Phase::Opening(_) | Phase::Ended(_) => {
                enqueue(&mut self.waiting, request).map(ProxyStep::ToHost).into_iter().collect()
            }
        }
    }

    fn host_notification(&mut self, method: &str, params: Option<&str>) -> Vec<ProxyStep> {
        if let Some(id) = cancelled(method, params) {
            self.waiting.retain(|request| request.id != id);
            if self.open.remove(&id).is_none() {
                return Vec::new();
            }
        }
        match &self.phase {
            // The proxy has sent it.
            _ if method == "notifications/initialized" => Vec::new(),
            Phase::Start | Phase::Ended(_) => Vec::new(),
            // A call without an id is not a notification of the protocol, and it would pass before the judgment.
            _ if !method.starts_with("notifications/") => Vec::new(),
            Phase::Opening(_) | Phase::Open => vec![ProxyStep::ToServer(notification(method, params))],
        }
    }

    /// Handles a line of the server. A line that is not a message is dropped, as are answers to no open request. Before the
    /// judgment, more than [`MAX_UNKNOWN`](crate::MAX_UNKNOWN) of them are a failure, and so is one that contains a message.
    pub fn from_server(&mut self, line: &[u8], now: Instant) -> Vec<ProxyStep> {
        self.lines = self.lines.saturating_add(1);
        let message = match Message::read(line) {
            Ok(message) => message,
            Err(_) if is_batch(line) => {
                return vec![ProxyStep::ToServer(error(None, INVALID_REQUEST, "batches are not supported"))];
            }
            Err(fault) => return self.unreadable_answer(line, fault),
        };
        match message {
            _ if matches!(self.phase, Phase::Ended(_)) => Vec::new(),
            Message::Request(request) => self.server_request(request),
            Message::Notification { method, params } => {
                if let Some(id) = cancelled(&method, params.as_deref()) {
                    self.held.retain(|request| request.id != id);
                    if !self.asked.remove(&id) {
                        return Vec::new();
                    }
                }
                // The host has not seen a list yet.
                let is_early = !matches!(self.phase, Phase::Open);
                if matches!(self.phase, Phase::Start) || (is_early && method.ends_with("/list_changed")) {
                    return Vec::new();
                }
                vec![ProxyStep::ToHost(notification(&method, params.as_deref()))]
            }
            Message::Answer { id, outcome } => {
                let outcome = outcome.as_deref().map_err(String::as_str);
                match self.own.take_if(|own| own.id == id) {
                    Some(own) => self.own_answer(own.method, outcome, now),
                    None => self.answer(id, outcome),
                }
            }
        }
    }

    /// Answers a request whose answer cannot be read, so that nobody waits for it. Other lines, such as banners, are dropped.
    fn unreadable_answer(&mut self, line: &[u8], fault: ProtocolError) -> Vec<ProxyStep> {
        let Some(id) = id_of(line) else { return self.unread(line, &fault) };
        if self.own.as_ref().is_some_and(|own| own.id == id) {
            return self.fail(fault);
        }
        let is_open = self.open.remove(&id).is_some();
        let line = error(Some(&id), INTERNAL_ERROR, &fault.to_string());
        is_open.then_some(ProxyStep::ToHost(line)).into_iter().collect()
    }

    /// Drops a banner. A message in the same line as a banner would never be answered, and the host would wait for nothing.
    fn unread(&mut self, line: &[u8], fault: &ProtocolError) -> Vec<ProxyStep> {
        if !matches!(self.phase, Phase::Opening(_)) {
            return Vec::new();
        }
        self.unread.count = self.unread.count.saturating_add(1);
        let first = *self.unread.first.get_or_insert(self.lines);
        let has_message = line.windows(MARK.len()).any(|part| part == MARK);
        if !has_message && self.unread.count <= crate::MAX_UNKNOWN {
            return Vec::new();
        }
        let (line, code) = (if has_message { self.lines } else { first }, fault.code());
        self.fail(ProtocolErrorKind::ServerLine { line, code, fault: fault.to_string() }.into())
    }

    fn server_request(&mut self, request: Request) -> Vec<ProxyStep> {
        let is_answered = match &self.phase {
            Phase::Open => true,
            Phase::Opening(opening) => opening.answered,
            Phase::Start | Phase::Ended(_) => false,
        };
        if request.method == "ping" && !is_answered {
            return vec![ProxyStep::ToServer(answer(&request.id, Ok("{}")))];
        }
        let waits = self.held.iter().any(|other| other.id == request.id);
        if waits || self.asked.contains(&request.id) || self.asked.len() >= MAX_OPEN {
            return vec![ProxyStep::ToServer(error(Some(&request.id), INVALID_REQUEST, "the id is in use"))];
        }
        if !is_answered {
            return enqueue(&mut self.held, request).map(ProxyStep::ToServer).into_iter().collect();
        }
        self.ask_host(request)
    }

    fn ask_host(&mut self, request: Request) -> Vec<ProxyStep> {
        let line = request.line();
        self.asked.insert(request.id);
        vec![ProxyStep::ToHost(line)]
    }

    /// Passes the requests of the server that waited for the answer to the host.
    pub(crate) fn release_held(&mut self) -> Vec<ProxyStep> {
        let held = core::mem::take(&mut self.held);
        held.into_iter().flat_map(|request| self.ask_host(request)).collect()
    }

    /// Takes the judgment of the last offer.
    pub fn judged(&mut self, check: OfferCheck, now: Instant) -> Vec<ProxyStep> {
        let Some(judgment) = self.judgment.take() else { return Vec::new() };
        let (Judgment::Instructions(offer) | Judgment::Complete(offer) | Judgment::Later { offer, .. }) =
            &judgment;
        if let Some(text) = check.text(&self.pinned.server) {
            return match judgment {
                Judgment::Later { offer, list } => self.withhold_list(&list, offer, check),
                Judgment::Instructions(_) | Judgment::Complete(_) => self.close(&text, None),
            };
        }
        for item in offer.items() {
            self.known.entry(item.label()).or_default().insert(item.digest());
            self.offered.insert(item.label());
        }
        match judgment {
            Judgment::Instructions(_) => self.answer_host(),
            Judgment::Complete(_) => self.go_on(now),
            Judgment::Later { list, .. } => self.pass_list(&list),
        }
    }

    /// Compares an offer with what is known.
    pub(crate) fn check(&self, offer: &Offer) -> OfferCheck {
        OfferDiff::new(offer, &self.known, self.unknown).check(self.rule)
    }

    /// Returns when [`ProxySession::check_deadline`] must be called.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let own = self.own.as_ref()?;
        own.sent.checked_add(if self.is_waited_for() { EARLY } else { limit(own.method) })
    }

    /// Does what is due.
    pub fn check_deadline(&mut self, now: Instant) -> Vec<ProxyStep> {
        if self.deadline().is_none_or(|deadline| now < deadline) {
            return Vec::new();
        }
        match &self.own {
            Some(_) if self.is_waited_for() => self.judge_instructions(),
            Some(own) => {
                let (method, unread) = (own.method, self.unread.first);
                self.fail(ProtocolErrorKind::ServerTimeout { method, unread }.into())
            }
            None => Vec::new(),
        }
    }

    /// Handles the end of the server's output. Requests without an answer get an error. Before the judgment it is a failure; after
    /// it, the exit code of the server counts.
    pub fn server_ended(&mut self) -> Vec<ProxyStep> {
        let fault: ProtocolError = ProtocolErrorKind::ServerEnded.into();
        match self.phase {
            Phase::Ended(_) => Vec::new(),
            Phase::Opening(_) => self.fail(fault),
            Phase::Start | Phase::Open => {
                let mut steps = self.close(&fault.for_host(), None);
                steps.retain(|step| matches!(step, ProxyStep::ToHost(_)));
                steps
            }
        }
    }

    /// Ends the session because of a fault, such as a line of the server that is too long. Requests without an answer get an error.
    pub fn fail(&mut self, fault: ProtocolError) -> Vec<ProxyStep> {
        self.close(&fault.for_host(), Some(fault))
    }

    /// Answers each request with an error, now and later.
    fn close(&mut self, text: &str, fault: Option<ProtocolError>) -> Vec<ProxyStep> {
        let phase = core::mem::replace(&mut self.phase, Phase::Ended(text.to_owned()));
        let mut ids: Vec<Id> = core::mem::take(&mut self.open).into_keys().collect();
        if let Phase::Opening(opening) = phase
            && !opening.answered
        {
            ids.push(opening.request.id);
        }
        ids.extend(core::mem::take(&mut self.waiting).into_iter().map(|request| request.id));
        (self.own, self.judgment) = (None, None);
        self.held.clear();
        self.asked.clear();
        let errors = ids.iter().map(|id| ProxyStep::ToHost(error(Some(id), WITHHELD, text)));
        errors.chain([ProxyStep::EndServer(fault)]).collect()
    }
}

/// Returns the id of the request that a notification cancels. It is not open any more.
fn cancelled(method: &str, params: Option<&str>) -> Option<Id> {
    #[derive(Deserialize)]
    struct Cancelled {
        #[serde(rename = "requestId")]
        request: Value,
    }
    let params = params.filter(|_| method == "notifications/cancelled")?;
    Id::of_value(&json::read::<Cancelled>(params).ok()?.request)
}

/// Adds a request to a queue, or returns an error for its sender if the queue is full.
fn enqueue(queue: &mut Vec<Request>, request: Request) -> Option<String> {
    let size = |request: &Request| request.params.as_ref().map_or(0, String::len);
    let bytes = queue.iter().map(size).fold(size(&request), usize::saturating_add);
    if queue.len() >= MAX_WAITING || bytes > MAX_WAITING_BYTES {
        return Some(error(Some(&request.id), INVALID_REQUEST, "too many requests wait"));
    }
    queue.push(request);
    None
}

/// How long a list may be unanswered while the server waits for the host.
const EARLY: Duration = Duration::from_secs(5);

/// How long the server may take for a request of the proxy.
fn limit(method: &str) -> Duration {
    Duration::from_secs(if method == "initialize" { 120 } else { 30 })
}

/// Returns the error for a line of the host that is not a message.
fn unreadable(line: &[u8], fault: &ProtocolError) -> String {
    match fault.kind() {
        _ if is_batch(line) => error(None, INVALID_REQUEST, "batches are not supported"),
        ProtocolErrorKind::Message { .. } => error(None, INVALID_REQUEST, &fault.to_string()),
        _ => error(None, PARSE_ERROR, &fault.to_string()),
    }
}

fn is_batch(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"[") && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
}
