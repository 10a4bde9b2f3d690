//! The lists that the proxy asks for.

use std::collections::{BTreeSet, VecDeque};

use serde_json::{Map, Value, json};

use crate::error::{ProtocolError, ProtocolErrorKind, shown};
use crate::json as strict;
use crate::mcp::item::{Item, ItemKind, ListNames, MAX_ITEMS};
use crate::mcp::message::{Id, NO_METHOD, Request, code_of};

/// The most bytes of all pages.
pub(crate) const MAX_BYTES: usize = 4 << 20;

/// The progress of the lists.
#[derive(Debug, Clone, Default)]
pub(crate) struct Listing {
    lists: VecDeque<(ItemKind, ListNames)>,
    meta: Option<Value>,
    cursor: Option<String>,
    cursors: BTreeSet<String>,
    pages: usize,
    bytes: usize,
    pub(crate) items: Vec<Item>,
}

impl Listing {
    /// Starts with the lists that a server has, and with the `_meta` of a client without a handshake.
    pub(crate) fn new(has: impl Fn(&str) -> bool, instructions: Option<Item>, meta: Option<Value>) -> Self {
        let lists = ItemKind::ALL.into_iter().filter_map(|kind| Some((kind, kind.list()?)));
        let lists = lists.filter(|(_, list)| has(list.capability)).collect();
        Self { lists, meta, items: instructions.into_iter().collect(), ..Self::default() }
    }

    /// Returns the next request, or `None` if all lists are complete.
    pub(crate) fn request(&self, id: Id) -> Option<(Request, &'static str)> {
        let (_, list) = self.lists.front()?;
        let mut params = Map::new();
        params.extend(self.meta.clone().map(|meta| ("_meta".to_owned(), meta)));
        params.extend(self.cursor.clone().map(|cursor| ("cursor".to_owned(), cursor.into())));
        let params = (!params.is_empty()).then(|| json!(params).to_string());
        Some((Request { id, method: list.method.to_owned(), params }, list.method))
    }

    /// Adds the answer to the last request.
    pub(crate) fn add(&mut self, outcome: Result<&str, &str>) -> Result<(), ProtocolError> {
        let Some((kind, list)) = self.lists.front().copied() else { return Ok(()) };
        let method = list.method;
        let result = match outcome {
            Ok(result) => result,
            Err(error) if code_of(error) == Some(NO_METHOD) => {
                self.next_list();
                return Ok(());
            }
            Err(error) => {
                return Err(
                    ProtocolErrorKind::Answer { method, fault: format!("error {}", shown(error)) }.into()
                );
            }
        };
        self.bytes = self.bytes.saturating_add(result.len());
        self.pages = self.pages.saturating_add(1);
        // Before a page is parsed, which needs many times its size.
        if self.bytes > MAX_BYTES || self.pages > MAX_ITEMS {
            return Err(ProtocolErrorKind::TooMany.into());
        }
        let page = Page::read(kind, list, result)?;
        self.items.extend(page.items);
        if self.items.len() > MAX_ITEMS {
            return Err(ProtocolErrorKind::TooMany.into());
        }
        match page.next {
            None => self.next_list(),
            Some(next) if !self.cursors.insert(next.clone()) => {
                return Err(ProtocolErrorKind::CursorLoop { method }.into());
            }
            next => self.cursor = next,
        }
        Ok(())
    }

    fn next_list(&mut self) {
        self.lists.pop_front();
        self.cursor = None;
        self.cursors.clear();
    }
}

/// One page of a list.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) items: Vec<Item>,
    pub(crate) next: Option<String>,
}

impl Page {
    pub(crate) fn read(kind: ItemKind, list: ListNames, result: &str) -> Result<Self, ProtocolError> {
        let fault = |fault: &str| ProtocolErrorKind::Answer { method: list.method, fault: fault.to_owned() };
        let mut members = members(list.method, result, &[list.member, "nextCursor"])?;
        let Some(Value::Array(items)) = members.remove(list.member) else {
            return Err(fault("the list is missing").into());
        };
        let next = match members.remove("nextCursor") {
            None | Some(Value::Null) => None,
            Some(Value::String(cursor)) => Some(cursor),
            Some(_) => return Err(fault("`nextCursor` is not a string").into()),
        };
        let items = items.into_iter().map(|item| Item::new(kind, item)).collect::<Result<_, _>>()?;
        Ok(Self { items, next })
    }
}

/// The members of the first answer that matter for an offer.
#[derive(Debug)]
pub(crate) struct ServerFacts {
    pub(crate) capabilities: Map<String, Value>,
    pub(crate) instructions: Option<Item>,
}

impl ServerFacts {
    /// Reads the result of `initialize` or `server/discover`.
    pub(crate) fn read(method: &'static str, result: &str) -> Result<Self, ProtocolError> {
        let mut members = members(method, result, &["capabilities", "instructions"])?;
        let Some(Value::Object(capabilities)) = members.remove("capabilities") else {
            let fault = "`capabilities` is missing".to_owned();
            return Err(ProtocolErrorKind::Answer { method, fault }.into());
        };
        let instructions = members.remove("instructions").filter(|text| !text.is_null());
        let instructions = instructions.map(|text| Item::new(ItemKind::Instructions, text)).transpose()?;
        Ok(Self { capabilities, instructions })
    }
}

/// Returns the members of a result. A key that differs from a known one only in case is an error, because some clients read it, too.
fn members(method: &'static str, result: &str, known: &[&str]) -> Result<Map<String, Value>, ProtocolError> {
    let fault = |fault: String| ProtocolErrorKind::Answer { method, fault };
    let members: Map<String, Value> =
        strict::read(result).map_err(|_invalid| fault("not an object".to_owned()))?;
    let folded = |key: &str| key.to_lowercase().to_uppercase();
    for key in members.keys() {
        if known.iter().any(|name| name != key && folded(name) == folded(key)) {
            return Err(fault(format!("the key `{}`", shown(key))).into());
        }
    }
    Ok(members)
}
