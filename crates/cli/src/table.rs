//! The report for people.

use std::fmt::Write as _;

use comfy_table::{ContentArrangement, Table, presets};
use plugward_loader::{Decision, LockState, PinStatus, PluginReport, Report, Severity};

use crate::escape::line;
use crate::out::{ASK, FAINT, LOAD, REFUSE, STRONG, Show, paint};
use crate::verbs::shared::quoted;

/// Findings of one plugin that the table shows; the rest is counted.
const SHOWN: usize = 5;

/// How much of a report is shown, and how it is called again.
pub(crate) struct View {
    /// Columns.
    pub(crate) width: usize,
    /// Whether findings and notices of plugins that load are shown too.
    pub(crate) wordy: bool,
}

/// Renders the whole report.
pub(crate) fn report(report: &Report, view: &View) -> String {
    let mut out = String::new();
    if !report.plugins.is_empty() {
        out.push_str(&overview(report, view.width));
        out.push('\n');
    }
    for plugin in report.plugins.iter().filter(|plugin| view.wordy || worth_words(plugin)) {
        out.push_str(&details(plugin, view, if view.wordy { Show::All } else { Show::Worst }));
        out.push('\n');
    }
    for notice in &report.notices {
        let (label, style) = if is_loud(&notice.code) { ("warning ", REFUSE) } else { ("notice ", ASK) };
        out.push_str(&item(label, style, &notice.code, &notice.message, view.width));
    }
    // A name that could not be read may hide a plugin; the others are for those who ask.
    for one in report.skipped.iter().filter(|one| view.wordy || one.why == "name is not UTF-8") {
        out.push_str(&wrapped(
            "  skipped ",
            "    ",
            &format!("{}: {}", line(&one.path), line(&one.why)),
            view.width,
        ));
    }
    out.push_str(&summary(report, view));
    out
}

/// What this machine remembers cannot be read: whatever became of the plugins, a person has to hear of it.
fn is_loud(code: &str) -> bool {
    code.starts_with("ledger/")
        || code == "mint/no-record"
        || matches!(code, "revocation/unreadable" | "lock/malformed" | "lock/signature-bad")
        || ["pin/store", "approval/store"].iter().any(|store| code.starts_with(store))
}

/// A plugin that loads and has neither warnings nor news needs one row and no words.
fn worth_words(plugin: &PluginReport) -> bool {
    plugin.decision != Decision::Load || !plugin.notices.is_empty() || plugin.count(Severity::Warning) > 0
}

fn overview(report: &Report, width: usize) -> String {
    let rows: Vec<Vec<String>> = report
        .plugins
        .iter()
        .map(|plugin| vec![plugin.decision.as_str().to_owned(), line(&plugin.id).into_owned(), why(plugin)])
        .collect();
    let mut out = String::new();
    for row in grid(&["DECISION", "PLUGIN", "WHY"], &rows, width).lines() {
        let painted = [(Decision::Load, LOAD), (Decision::Ask, ASK), (Decision::Refuse, REFUSE)]
            .into_iter()
            .find_map(|(decision, style)| {
                let rest = row.strip_prefix(decision.as_str())?;
                rest.starts_with(' ').then(|| format!("{}{rest}", paint(style, decision.as_str())))
            });
        match painted {
            Some(painted) => out.push_str(&painted),
            None if row.starts_with("DECISION") => out.push_str(&paint(STRONG, row)),
            None => out.push_str(row),
        }
        out.push('\n');
    }
    out
}

/// Columns without borders, broken at the width of the terminal.
pub(crate) fn grid(head: &[&str], rows: &[Vec<String>], width: usize) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(width.saturating_add(1)).unwrap_or(80)).set_header(head);
    for row in rows {
        table.add_row(row);
    }
    let lines: Vec<String> =
        table.lines().map(|row| row.strip_prefix(' ').unwrap_or(&row).trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}

/// What the approvals say, with who looked: an approval after the rules alone says so wherever it is shown.
pub(crate) fn approval(plugin: &PluginReport) -> String {
    let approval = &plugin.approval;
    match (approval.kind, approval.risk) {
        (Some(kind), Some(risk)) => format!("{} ({kind}, {risk})", approval.state.as_str()),
        _ => approval.state.as_str().to_owned(),
    }
}

/// One line that says why: the codes of all reasons, or what a plugin that loads is known as.
fn why(plugin: &PluginReport) -> String {
    let mut codes: Vec<&str> = plugin.reasons.iter().map(|reason| reason.code.as_str()).collect();
    codes.dedup();
    if codes.is_empty() {
        return match plugin.pin.state {
            PinStatus::None if plugin.lock.state == LockState::Match => "matches PLUGINS.lock",
            PinStatus::Same => "matches its pin",
            PinStatus::Older => "matches an older pin",
            PinStatus::Moved => "moved, matches its pin",
            PinStatus::Migrated => "matches its old pin",
            PinStatus::Enrolled => "pinned on first use",
            PinStatus::Unavailable => "loads without a pin",
            PinStatus::None
            | PinStatus::ManifestOnly
            | PinStatus::Changed
            | PinStatus::Denied
            | PinStatus::NotChecked => plugin.pin.state.as_str(),
        }
        .to_owned();
    }
    codes.join(", ")
}

/// Everything about one plugin.
pub(crate) fn details(plugin: &PluginReport, view: &View, show: Show) -> String {
    let style = match plugin.decision {
        Decision::Load => LOAD,
        Decision::Ask => ASK,
        Decision::Refuse => REFUSE,
    };
    let mut out = String::new();
    put(
        &mut out,
        format_args!("{} {}", paint(style, plugin.decision.as_str()), paint(STRONG, &line(&plugin.id))),
    );
    out.push('\n');
    for reason in &plugin.reasons {
        out.push_str(&item("", style, &reason.code, &reason.message, view.width));
        out.push_str(&next(&reason.help, view.width));
    }
    out.push_str(&findings(plugin, view, show));
    for one in &plugin.capabilities {
        let text = format!("granted {} {} (number {} of this run)", one.kind, line(&one.scope), one.serial);
        out.push_str(&wrapped("  ", "    ", &text, view.width));
    }
    for notice in &plugin.notices {
        out.push_str(&item("note ", FAINT, &notice.code, &notice.message, view.width));
    }
    out
}

/// The word for people: JSON and SARIF keep `warning` and `info`.
pub(crate) const fn tier(severity: Severity) -> &'static str {
    match severity {
        Severity::Danger => "danger",
        Severity::Warning => "suspicious",
        Severity::Info => "note",
    }
}

/// What a plugin can do, each with the first place that shows it.
pub(crate) fn behaviors(plugin: &PluginReport, view: &View) -> String {
    let mut out = String::new();
    for (behavior, first) in plugin.first_evidence() {
        let text = format!(
            "{:<13} {} ({}:{}, {})",
            behavior.as_str(),
            behavior.phrase(),
            line(&first.path),
            first.line,
            first.role
        );
        out.push_str(&wrapped("    ", "                  ", &text, view.width));
    }
    out
}

/// The findings of one plugin, danger first.
pub(crate) fn findings(plugin: &PluginReport, view: &View, show: Show) -> String {
    let mut shown: Vec<_> =
        plugin.findings.iter().filter(|f| show == Show::All || f.severity >= Severity::Warning).collect();
    shown.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.cmp(b)));
    let limit = if show == Show::All { usize::MAX } else { SHOWN };
    let mut out = String::new();
    for finding in shown.iter().take(limit) {
        let style = match finding.severity {
            Severity::Danger => REFUSE,
            Severity::Warning => ASK,
            Severity::Info => FAINT,
        };
        let how: Vec<&str> = finding.how.iter().map(|how| how.as_str()).collect();
        let passed = plugin.suppression(finding).map(|reason| format!("suppressed: {reason}"));
        let hidden = if how.is_empty() { String::new() } else { format!(" hidden: {}", how.join(", ")) };
        put(
            &mut out,
            format_args!(
                "  {} {} at {}:{}:{}{hidden}\n",
                paint(style, tier(finding.severity)),
                finding.rule,
                line(&finding.path),
                finding.line,
                finding.column
            ),
        );
        out.push_str(&wrapped("    ", "    ", &line(&finding.message), view.width));
        if let Some(passed) = passed {
            out.push_str(&wrapped("    ", "    ", &line(&passed), view.width));
        }
        if !finding.snippet.is_empty() {
            let room = view.width.saturating_sub(6);
            let whole = line(&finding.snippet);
            let cut = whole.chars().count() > room;
            let mut snippet: String =
                whole.chars().take(if cut { room.saturating_sub(1) } else { room }).collect();
            if cut {
                snippet.push('\u{2026}');
            }
            put(&mut out, format_args!("    {}\n", paint(FAINT, &format!("| {snippet}"))));
        }
    }
    let rest = shown.len().saturating_sub(limit);
    if rest > 0 {
        let text = format!("{rest} more findings: plugward explain {}", quoted(&plugin.id));
        out.push_str(&wrapped("  ", "  ", &text, view.width));
    }
    out
}

/// What stands between the parts of a heading and its last ones: a blank, or a line's end where they do not fit one line.
pub(crate) fn gap(parts: &[&str], width: usize) -> &'static str {
    let length: usize = parts.iter().map(|part| part.chars().count().saturating_add(1)).sum();
    if length <= width.saturating_add(1) { " " } else { "\n  " }
}

/// What to do next, each line of the help by itself; a command stays one that can be copied.
pub(crate) fn next(help: &str, width: usize) -> String {
    let mut out = String::new();
    for (index, text) in help.split('\n').enumerate() {
        let label = if index == 0 { "    next: " } else { "    " };
        out.push_str(&advice(label, text, width));
    }
    out
}

/// One line of advice: a command as [`command`] breaks it, all else as [`wrapped`] does.
pub(crate) fn advice(label: &str, text: &str, width: usize) -> String {
    let then = " ".repeat(label.chars().count());
    let text = line(text);
    let spoken = [", ", "; ", ": ", " or "].iter().any(|mark| text.contains(mark));
    if text.starts_with("plugward ") && !spoken {
        command(label, &text, width)
    } else {
        wrapped(label, &then, &text, width)
    }
}

/// Breaks a command between its words so that a shell takes the lines, pasted together, for the one command: all but
/// the last end in a backslash. An option keeps its value; a word that is longer than a line stays whole.
///
/// A digest is never cut. A prefix of twelve digits can be met by a second folder that somebody searches for (2^48
/// tries), and two folders with one such prefix, of which the harmless one is shown, take 2^24.
pub(crate) fn command(label: &str, text: &str, width: usize) -> String {
    const MORE: &str = " \\";
    let chunks = chunks(text);
    let last = chunks.len().saturating_sub(1);
    let mut out = String::from(label);
    let mut column = label.chars().count();
    let indent = column.min(4);
    for (index, chunk) in chunks.iter().enumerate() {
        let length = chunk.chars().count();
        let tail = if index == last { 0 } else { MORE.len() };
        if index == 0 {
            column = column.saturating_add(length);
        } else if column.saturating_add(1).saturating_add(length).saturating_add(tail) <= width {
            out.push(' ');
            column = column.saturating_add(1).saturating_add(length);
        } else {
            out.push_str(MORE);
            out.push('\n');
            let room = width.saturating_sub(length.saturating_add(tail)).min(indent);
            out.push_str(&" ".repeat(room));
            column = room.saturating_add(length);
        }
        out.push_str(chunk);
    }
    out.push('\n');
    out
}

/// The words of a command, each option with its value; a quoted word stays whole.
fn chunks(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut quote = Quote::Closed;
    for word in text.split(' ') {
        let value = words.last().is_some_and(|last| last.starts_with("--") && !last.contains(' '));
        match words.last_mut() {
            Some(last) if quote == Quote::Open || (value && !word.starts_with('-')) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
        quote = quote_behind(word, quote);
    }
    words
}

/// Whether a single quote is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    Open,
    Closed,
}

/// How the single quotes stand behind a piece of a shell's text.
fn quote_behind(text: &str, mut quote: Quote) -> Quote {
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        quote = match (character, quote) {
            ('\'', Quote::Open) => Quote::Closed,
            ('\'', Quote::Closed) => Quote::Open,
            ('\\', Quote::Closed) => {
                // Outside of quotes it takes away what the next character means.
                let _skipped = characters.next();
                quote
            }
            _ => quote,
        };
    }
    quote
}

/// A code and its message, each line by itself.
pub(crate) fn item(label: &str, style: anstyle::Style, code: &str, message: &str, width: usize) -> String {
    format!("  {label}{}\n{}", paint(style, &line(code)), lines(message, width))
}

/// The lines of a message, each by itself.
pub(crate) fn lines(message: &str, width: usize) -> String {
    let mut out = String::new();
    for text in message.split('\n') {
        let text = line(text);
        // A digest is one word: it moves to the left rather than over the edge.
        let room = width.saturating_sub(text.chars().count()).min(4);
        let indent =
            if text.contains(' ') && room < 2 { "    " } else { "    ".get(..room).unwrap_or_default() };
        out.push_str(&wrapped(indent, "    ", &text, width));
    }
    out
}

fn summary(report: &Report, view: &View) -> String {
    let sum = &report.summary;
    let plugins = report.plugins.len();
    let mut out = String::new();
    put(
        &mut out,
        format_args!(
            "{} in {}: {} load, {} ask, {} refuse; {} skipped; {}, {}\n",
            count(plugins, "plugin"),
            line(&report.roots.join(", ")),
            sum.load,
            sum.ask,
            sum.refuse,
            sum.skipped,
            count(usize::try_from(sum.files).unwrap_or(usize::MAX), "file"),
            bytes(sum.bytes)
        ),
    );
    if plugins == 0 {
        out.push_str(
            "next: name a directory that contains plugins; plugward check --help lists what is recognized\n",
        );
    } else if let Some(plugin) = report.plugins.iter().find(|plugin| plugin.decision != Decision::Load) {
        let text = format!("plugward explain {}", quoted(&plugin.id));
        out.push_str(&command("next: ", &text, view.width));
    }
    out
}

/// What runs, as a plugin wrote it: escaped, and cut with a count where it is longer than anybody reads. The JSON report
/// has all of it.
pub(crate) fn words(run: &str) -> String {
    const MOST: usize = 1200;
    let text = line(run);
    let count = text.chars().count();
    if count <= MOST {
        return text.into_owned();
    }
    let shown: String = text.chars().take(MOST).collect();
    format!("{shown}\u{2026} and {} more characters", count.saturating_sub(MOST))
}

/// Breaks text at blanks; a word that is longer than a line stays whole, and so does what stands between backticks and
/// fits one.
pub(crate) fn wrapped(first: &str, then: &str, text: &str, width: usize) -> String {
    let mut out = String::from(first);
    let mut column = first.len();
    let mut fresh = true;
    for word in phrases(text, width.saturating_sub(then.len())) {
        let length = word.chars().count();
        if !fresh && column.saturating_add(1).saturating_add(length) > width {
            out.push('\n');
            out.push_str(then);
            column = then.len();
            fresh = true;
        }
        if !fresh {
            out.push(' ');
            column = column.saturating_add(1);
        }
        out.push_str(&word);
        column = column.saturating_add(length);
        fresh = false;
    }
    out.push('\n');
    out
}

/// The words of a text, and as one word what stands between backticks: most often it is there to be typed.
fn phrases(text: &str, width: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(' ').unwrap_or(rest.len());
        let marks = |piece: &str| piece.matches('`').count() % 2;
        let quoted = || {
            let more = rest.get(end..)?;
            let close = more.find('`')?.saturating_add(end);
            let tail = rest.get(close..)?;
            let stop = tail.find(' ').map_or(rest.len(), |blank| close.saturating_add(blank));
            let phrase = rest.get(..stop)?;
            (marks(phrase) == 0 && phrase.chars().count() <= width).then_some(stop)
        };
        let word = rest.get(..end).unwrap_or(rest);
        let end = if marks(word) == 1 { quoted().unwrap_or(end) } else { end };
        words.push(rest.get(..end).unwrap_or(rest).to_owned());
        let Some(after) = rest.get(end.saturating_add(1)..) else { break };
        rest = after;
        if rest.is_empty() {
            words.push(String::new());
        }
    }
    if text.is_empty() {
        words.push(String::new());
    }
    words
}

/// `1 plugin`, `2 plugins`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Bytes in the unit that reads best.
pub(crate) fn bytes(number: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = number;
    let mut rest = 0;
    let mut unit = 0_usize;
    while value >= 1024 && unit < 4 {
        rest = value % 1024;
        value /= 1024;
        unit = unit.saturating_add(1);
    }
    let name = units.get(unit).copied().unwrap_or_default();
    if unit == 0 {
        format!("{value} {name}")
    } else {
        format!("{value}.{} {name}", rest.saturating_mul(10) / 1024)
    }
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    if out.write_fmt(text).is_err() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_broken_where_a_shell_goes_on() {
        let hex = "0123456789abcdef".repeat(4);
        let text = format!(
            "plugward accept claude:good@plugins --with sha256:{hex} --in 'my plugins' --tree pt1:{hex}"
        );
        let shown = command("  ", &text, 80);
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines.len(), 4, "{shown}");
        assert_eq!(lines[0], "  plugward accept claude:good@plugins \\");
        assert_eq!(lines[1], format!("--with sha256:{hex} \\"));
        assert_eq!(lines[2], "  --in 'my plugins' \\");
        assert_eq!(lines[3], format!("  --tree pt1:{hex}"));
        // What the shell puts together is the line again.
        let joined: Vec<&str> = lines.iter().map(|line| line.trim_end_matches('\\').trim()).collect();
        assert_eq!(joined.join(" "), text);
        assert_eq!(command("next: ", "plugward diff x --in a", 80), "next: plugward diff x --in a\n");
        assert_eq!(chunks("a 'b'\\'' c' d"), ["a", "'b'\\'' c'", "d"]);
        let long = format!("plugward accept claude:{}@plugins --tree pt1:{hex}", "n".repeat(90));
        assert_eq!(command("  ", &long, 80).lines().count(), 3);
    }

    #[test]
    fn text_is_broken_at_blanks_and_not_in_what_is_to_be_typed() {
        for (text, expected) in [
            ("one two three", "one two\nthree\n"),
            ("say `a b c` x", "say\n`a b c` x\n"),
            ("say `a b c d e f` x", "say `a b c\nd e f` x\n"),
            ("it is ` alone", "it is `\nalone\n"),
            ("two  blanks", "two \nblanks\n"),
            ("", "\n"),
            ("end ", "end \n"),
        ] {
            assert_eq!(wrapped("", "", text, 10), expected, "{text}");
        }
    }
}
