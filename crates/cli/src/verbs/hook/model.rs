//! The model of `plugward hook fire`: replies from a file, and a record of the requests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use camino::Utf8Path;
use plugward_loader::redact::{
    ModelRequest, Raw, RequestRole, Transport, TransportError, TransportErrorKind,
};
use serde::Serialize;

use crate::failure::Failure;
use crate::host;

/// The most bytes of the file of replies.
const REPLIES: u64 = 16 << 20;

/// A model that reads its replies from a file. Without a file, or after the last reply, it fails as unreachable.
#[derive(Clone, Default)]
pub(super) struct ReplayedModel(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    replies: VecDeque<String>,
    requests: String,
    used_up: bool,
}

#[derive(Serialize)]
struct RequestRow<'a> {
    parts: Vec<PartRow<'a>>,
}

#[derive(Serialize)]
struct PartRow<'a> {
    role: &'static str,
    text: &'a str,
}

impl ReplayedModel {
    /// Reads one JSON string per line.
    pub(super) fn read(path: &Utf8Path) -> Result<Self, Failure> {
        let bytes = host::named_file(path, REPLIES)?;
        let text = String::from_utf8(bytes).map_err(|error| {
            Failure::usage(format!("{path} is not UTF-8 at byte {}", error.utf8_error().valid_up_to()))
        })?;
        let mut replies = VecDeque::new();
        for (number, row) in text.lines().enumerate().filter(|(_, row)| !row.trim().is_empty()) {
            let reply = serde_json::from_str::<String>(row).map_err(|error| {
                let (line, column) = (number.saturating_add(1), error.column());
                Failure::usage(format!(
                    "cannot read {path}:{line}:{column}: expected one JSON string per line"
                ))
            })?;
            replies.push_back(reply);
        }
        Ok(Self(Arc::new(Mutex::new(State { replies, ..State::default() }))))
    }

    /// Returns `true` if there were more requests than replies.
    pub(super) fn is_used_up(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).used_up
    }

    /// Returns the requests to the model, one JSON object per line.
    pub(super) fn requests(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).requests.clone()
    }
}

impl Transport for ReplayedModel {
    fn send(&self, request: &ModelRequest) -> Result<Raw<String>, TransportError> {
        let parts = request.parts().iter().map(|part| {
            let role = match part.role() {
                RequestRole::System => "system",
                RequestRole::User => "user",
                RequestRole::Assistant => "assistant",
                RequestRole::Thinking => "thinking",
                RequestRole::ToolCall => "tool_call",
                RequestRole::ToolResult => "tool_result",
            };
            PartRow { role, text: part.text() }
        });
        let row = serde_json::to_string(&RequestRow { parts: parts.collect() })
            .map_err(|_not_text| TransportError::new(TransportErrorKind::Unreadable))?;
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.requests.push_str(&row);
        state.requests.push('\n');
        state.used_up |= state.replies.is_empty();
        state.replies.pop_front().map(Raw::new).ok_or(TransportError::new(TransportErrorKind::Unreachable))
    }
}
