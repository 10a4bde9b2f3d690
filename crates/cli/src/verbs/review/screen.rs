//! One plugin to review, on one screen of a terminal.

use anstyle::Style;
use plugward_loader::PluginReport;
use plugward_loader::pinstore::{OldSide, ReviewedDigests};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::advice::Commands;
use crate::out::{REFUSE, STRONG, paint};
use crate::prompt::{Prompt, worst_findings};
use crate::report::{size, unresolved};
use crate::text::{command, first_line, wrapped};
use crate::verbs::diff::{Comparison, behavior_at};
use crate::verbs::shared;
use plugward_loader::escape::line;

/// The height if the terminal does not state one.
const HEIGHT: usize = 24;
/// The rows after the changes: the note about the rest, an empty line, and the question, which can take two.
const QUESTION_ROWS: usize = 4;
/// The least rows of changes on a screen. A lower terminal scrolls.
const LEAST: usize = 4;
/// The most rows of one field, and the most commands. A longer list would push the changes off the screen.
const FIELD_ROWS: usize = 3;
const STARTS: usize = 4;
/// The most characters of a name or version.
const NAME: usize = 48;

const PLAIN: Style = Style::new();
const INDENT: &str = "            ";

/// Returns the rows of the terminal that the questions are printed to.
pub(super) fn height() -> usize {
    match terminal_size::terminal_size_of(std::io::stderr()) {
        Some((_, terminal_size::Height(rows))) if rows > 0 => usize::from(rows),
        _ => HEIGHT,
    }
}

/// The texts about one plugin: what it gained, and every change.
pub(super) struct Screen {
    reviewed: ReviewedDigests,
    head: String,
    body: String,
    /// The end of the whole diff: the command with the digests.
    accept: String,
}

impl Screen {
    pub(super) fn new(place: &str, mut compared: Comparison, commands: &Commands, width: usize) -> Self {
        shared::localize(std::slice::from_mut(&mut compared.plugin));
        let (changes, findings) = (compared.changes(width), worst_findings(&compared.plugin, width));
        // Of a changed plugin, the change is what is new to the reviewer.
        let body = match compared.found.old {
            OldSide::Nothing => findings + &changes,
            OldSide::Listed | OldSide::DigestsOnly => changes + &findings,
        };
        let accept = shared::accept_command(commands, &compared.found.accept);
        Self {
            head: folded(&head(place, &compared, width), width),
            body: folded(&body, width),
            accept: format!("\nOutside of this review:\n{}", command("  ", &accept, width)),
            reviewed: compared.found.accept,
        }
    }

    /// Returns the digests that an answer confirms.
    pub(super) const fn reviewed(&self) -> &ReviewedDigests {
        &self.reviewed
    }

    /// Returns the fields and as many changes as fit the terminal.
    pub(super) fn summary(&self, height: usize) -> String {
        let room = height.saturating_sub(self.head.lines().count() + QUESTION_ROWS).max(LEAST);
        let mut text = self.head.clone();
        let mut rest = self.body.lines();
        for row in rest.by_ref().take(room) {
            text.push_str(&format!("{row}\n"));
        }
        let hidden = rest.count();
        if hidden > 0 {
            let lines = if hidden == 1 { "line" } else { "lines" };
            text.truncate(text.trim_end().len());
            let note = format!("  \u{2026} {hidden} more {lines}: d shows all");
            text.push_str(&format!("\n{}\n", paint(STRONG, &note)));
        }
        text
    }

    /// Prints the whole diff, one page of the terminal at a time.
    pub(super) fn page(&self, height: usize, prompt: &mut Prompt<'_>) {
        let text = format!("{}{}", self.body, self.accept);
        let rows: Vec<&str> = text.lines().collect();
        let mut shown = 0;
        for page in rows.chunks(height.saturating_sub(QUESTION_ROWS).max(LEAST)) {
            shown += page.len();
            if !Prompt::say(&format!("{}\n", page.join("\n"))) || shown == rows.len() {
                return;
            }
            let question = format!("{shown} of {} lines. [Enter] more, [b]ack to the question", rows.len());
            if prompt.line(&question).is_none_or(|answer| !answer.is_empty()) {
                return;
            }
        }
    }
}

/// Breaks lines that are wider than the terminal. A terminal would continue them in its first column, where a text could
/// imitate the next question, and they would take more rows than were counted.
fn folded(text: &str, width: usize) -> String {
    const MORE: &str = "    \u{2026}";
    let mut out = String::new();
    for row in text.lines() {
        let plain = anstream::adapter::strip_str(row).to_string();
        if plain.width() <= width {
            out.push_str(&format!("{row}\n"));
            continue;
        }
        let mut column = 0;
        for character in plain.chars() {
            let columns = character.width().unwrap_or_default();
            if column + columns > width {
                out.push_str(&format!("\n{MORE}"));
                column = MORE.width();
            }
            out.push(character);
            column += columns;
        }
        out.push('\n');
    }
    out
}

/// Returns the name, the versions, and what the plugin gained.
fn head(place: &str, compared: &Comparison, width: usize) -> String {
    let plugin = &compared.plugin;
    let title = wrapped("", "  ", &format!("{place} {}", title(compared)), width);
    let mut out = format!("\n{}\n", paint(STRONG, title.trim_end()));
    out.push_str(&field("Place", &format!("{} ({})", line(&plugin.id), size(plugin)), PLAIN, width));
    let first = |message: &str| line(first_line(message)).into_owned();
    let why: Vec<String> =
        plugin.reasons.iter().map(|reason| first(without_gains(&reason.message))).collect();
    out.push_str(&field("Why", &why.join("; "), PLAIN, width));
    let gains = compared.news.as_ref().is_some_and(|news| !news.came.is_empty());
    out.push_str(&field("Behavior", &behavior(compared), if gains { REFUSE } else { PLAIN }, width));
    for (index, one) in compared.unresolved.iter().take(STARTS).enumerate() {
        let label = if index == 0 { "Not fixed" } else { "" };
        out.push_str(&field(label, &unresolved(one), REFUSE, width));
    }
    if let Some(audit) = &plugin.approval.audit {
        // The model wrote the summary, and the record has it escaped.
        let summary = audit.summary.as_deref().unwrap_or_default();
        let text = format!("risk {}, {}. {summary}", audit.risk, audit.verdict);
        out.push_str(&field("Audit", text.trim_end(), PLAIN, width));
    }
    for (index, start) in starts(compared).iter().enumerate() {
        let style = if start.starts_with('+') { REFUSE } else { PLAIN };
        out.push_str(&field(if index == 0 { "Starts" } else { "" }, start, style, width));
    }
    out
}

/// Returns the message without the behaviors that it starts with, which have a field of their own.
fn without_gains(message: &str) -> &str {
    match message.strip_prefix("new: ").and_then(|text| text.find("; changed")) {
        Some(at) => message.get("new: ".len() + at + "; ".len()..).unwrap_or(message),
        None => message,
    }
}

fn title(compared: &Comparison) -> String {
    let PluginReport { name, version, .. } = &compared.plugin;
    let name = clipped(&line(name), NAME);
    let shown = |version: &str| clipped(&line(version), NAME);
    let (old, new) = (compared.pinned_version.as_deref(), version.as_deref());
    match (compared.found.old, old, new) {
        (OldSide::Nothing, _, Some(new)) => format!("New plugin: {name} {}", shown(new)),
        (OldSide::Nothing, _, None) => format!("New plugin: {name}"),
        (_, Some(old), Some(new))
            if compared.plugin.reasons.iter().any(|reason| reason.code == "pin/rolled-back") =>
        {
            format!("{name}: rolled back from {} to {}", shown(old), shown(new))
        }
        (_, Some(old), Some(new)) if old != new => {
            format!("{name}: updated from {} to {}", shown(old), shown(new))
        }
        (_, Some(old), None) => format!("{name}: version {} is gone", shown(old)),
        (_, None, Some(new)) => format!("{name}: version is now {}", shown(new)),
        _ if compared.found.sections.is_empty() => format!("{name}: unchanged"),
        (_, Some(old), Some(_)) => format!("{name}: changed, still version {}", shown(old)),
        (_, None, None) => format!("{name}: changed, without a version"),
    }
}

/// Returns the behaviors that the pinned version did not have.
fn behavior(compared: &Comparison) -> String {
    let Some(news) = &compared.news else {
        let all: Vec<String> =
            compared.plugin.first_evidence().values().map(|one| behavior_at(one)).collect();
        return match compared.found.old {
            OldSide::Nothing if all.is_empty() => "none found".to_owned(),
            OldSide::Nothing => all.join(", "),
            OldSide::Listed if compared.found.sections.is_empty() => "as before".to_owned(),
            OldSide::Listed | OldSide::DigestsOnly if all.is_empty() => "none found".to_owned(),
            OldSide::Listed | OldSide::DigestsOnly => {
                format!("not known before; now {}", all.join(", "))
            }
        };
    };
    let mut parts = Vec::new();
    if !news.came.is_empty() {
        parts.push(format!("new: {}", news.came.join(", ")));
    }
    if !news.gone.is_empty() {
        parts.push(format!("no longer: {}", news.gone.join(", ")));
    }
    if parts.is_empty() { "nothing new".to_owned() } else { parts.join("; ") }
}

/// Returns the commands and servers that the pinned version did not have.
fn starts(compared: &Comparison) -> Vec<String> {
    let Some(all) = compared.started() else {
        return vec!["not known: the old texts were not kept".to_owned()];
    };
    if all.is_empty() {
        return vec!["nothing new".to_owned()];
    }
    let mut shown: Vec<String> = all.iter().take(STARTS).map(|start| format!("+ {}", line(start))).collect();
    if all.len() > STARTS {
        shown.push(format!("and {} more", all.len() - STARTS));
    }
    shown
}

/// Returns a field of at most about [`FIELD_ROWS`] rows.
fn field(label: &str, value: &str, style: Style, width: usize) -> String {
    let room = width.saturating_sub(INDENT.len()).max(20);
    let value = clipped(value, room.saturating_mul(FIELD_ROWS));
    let rows = wrapped("", "", &value, room);
    let label = format!("  {label:<10}");
    let labels = std::iter::once(label.as_str()).chain(std::iter::repeat(INDENT));
    // Colors are added after the layout, because their escape sequences would count as columns.
    let mut out = String::new();
    for (row, label) in rows.lines().zip(labels) {
        out.push_str(&format!("{label}{}\n", paint(style, row)));
    }
    out
}

/// Replaces the end of a long text with a count. The diff and the JSON report have all of it.
fn clipped(text: &str, most: usize) -> String {
    let all = text.chars().count();
    if all <= most {
        return text.to_owned();
    }
    let end = most.saturating_sub(24);
    let shown: String = text.chars().take(end).collect();
    format!("{shown}\u{2026} and {} more characters", all - end)
}
