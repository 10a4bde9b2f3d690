//! The report of a check as text: the verdict, one row for each plugin that needs attention, and one block for each problem.

use std::collections::BTreeSet;

use plugward_loader::scanner::Rules;
use plugward_loader::{
    Decision, Finding, LockState, Notice, PinStatus, PluginKey, PluginKind, PluginReport, Reason, Report,
    Severity, UnresolvedReport, Weight,
};

use crate::advice::{self, Commands};
use crate::diagnostic::{Diagnostic, Level, Location};
use crate::host;
use crate::out::{ASK, LOAD, REFUSE, STRONG, paint};
use crate::table::grid;
use crate::text::{command, count, first_line, wrapped};
use plugward_loader::escape::line;

/// The most findings of one plugin that the report shows; the others are counted. More would push the other problems off
/// the screen, and `explain` shows all.
const SHOWN: usize = 5;

/// The length of the start of a digest: `pt1:` and 8 digits. It only helps to recognize a digest.
const DIGEST: usize = 12;

/// How much of a report is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Problems and new plugins.
    Brief,
    /// All plugins, findings and notes.
    Full,
}

/// The options of rendering a report.
pub(crate) struct View<'a> {
    /// The width in columns.
    pub(crate) width: usize,
    pub(crate) detail: Detail,
    /// Returns the commands for a plugin.
    pub(crate) commands: &'a dyn Fn(&PluginReport) -> Commands,
}

/// Renders the whole report.
pub(crate) fn render(report: &Report, view: &View<'_>) -> String {
    let mut plugins: Vec<&PluginReport> = report.plugins.iter().collect();
    // A stable sort: plugins with one decision stay in the order of their ids.
    plugins.sort_by_key(|plugin| match plugin.decision {
        _ if !plugin.on => 3,
        Decision::Refuse => 0,
        Decision::Ask => 1,
        Decision::Load => 2,
    });
    let mut out = headline(report);
    let rows: Vec<&PluginReport> =
        plugins.iter().copied().filter(|plugin| view.detail == Detail::Full || needs_row(plugin)).collect();
    if !rows.is_empty() {
        out.push('\n');
        out.push_str(&overview(&rows, &plugins, view.width));
    }
    let blocks = blocks(report, &plugins, view);
    for block in &blocks {
        out.push('\n');
        out.push_str(&block.render(view.width));
    }
    for one in
        // A directory whose name is not UTF-8 cannot be selected by any verb, so even a brief report lists it.
        report
            .skipped
            .iter()
            .filter(|one| view.detail == Detail::Full || one.why == "name is not UTF-8")
    {
        let text = format!("skipped {}: {}", line(&one.path), line(&one.why));
        out.push_str(&wrapped("", "  ", &text, view.width));
    }
    // Every verb that opens a store gives the same answer to a moved trust root.
    let is_explained = |plugin: &&&PluginReport| {
        let is_moved = plugin.reasons.iter().any(|reason| reason.code == "settings/trust-root");
        plugin.on && plugin.decision != Decision::Load && !is_moved
    };
    if let Some(plugin) = plugins.iter().find(is_explained) {
        let explain = (view.commands)(plugin).explain();
        out.push_str("\nFor the result of each gate:\n");
        out.push_str(&command("  ", &explain, view.width));
    }
    out
}

/// Returns one block for each problem, those that explain others first.
fn blocks(report: &Report, plugins: &[&PluginReport], view: &View<'_>) -> Vec<Diagnostic> {
    let mut blocks: Vec<Diagnostic> = report.notices.iter().map(notice).collect();
    // A store that cannot be read explains the reasons below it, so errors come first.
    blocks.sort_by_key(Diagnostic::level);
    let mut told = BTreeSet::new();
    // A store that cannot be read is a notice of the report, and also a reason of each plugin. It is printed once.
    for notice in &report.notices {
        let message = notice.message.split_once("\nnext: ").map_or(notice.message.as_str(), |(text, _)| text);
        told.insert((notice.code.as_str(), message));
    }
    for plugin in plugins {
        // What its host does not load does not fail this run. Its row says that it has one.
        if plugin.on || view.detail == Detail::Full {
            blocks.extend(problems(plugin, plugins, view, &mut told));
        }
        // A pin that was not saved makes the run fail, so its reason is always printed.
        let is_shown = |one: &&Notice| view.detail == Detail::Full || one.code == "pin/not-saved";
        blocks.extend(plugin.notices.iter().filter(is_shown).map(|one| of_plugin(plugin, one)));
        if view.detail == Detail::Full && plugin.decision == Decision::Load {
            blocks.extend(findings(plugin, view));
        }
    }
    blocks
}

/// Returns one block for each reason that a plugin does not load, for a verb that prints no report.
pub(crate) fn refusals(report: &Report, view: &View<'_>) -> Vec<Diagnostic> {
    let mut shown = report.clone();
    crate::verbs::shared::localize(&mut shown.plugins);
    let plugins: Vec<&PluginReport> = shown.plugins.iter().collect();
    blocks(&shown, &plugins, view)
}

/// Returns the verdict in one line.
fn headline(report: &Report) -> String {
    let sum = &report.summary;
    let all = report.plugins.iter().filter(|plugin| plugin.on).count();
    let new = report.plugins.iter().filter(|plugin| plugin.pin.state == PinStatus::Enrolled).count();
    // Skills, settings and servers are judged like plugins, but are not called so.
    let is_plugins = report.plugins.iter().all(|plugin| plugin.kind == PluginKind::Plugin);
    let noun = if is_plugins { "plugin" } else { "item" };
    let mut out = match (sum.refuse, sum.ask) {
        (0, 0) if all == 0 => "No plugins.".to_owned(),
        (0, 0) => format!("{} {}", count(all, noun), if all == 1 { "loads" } else { "load" }),
        (refused, 0) => format!("{refused} of {} refused. {}", count(all, noun), loads(sum.load)),
        (0, asked) => {
            format!("{asked} of {} {} a decision. {}", count(all, noun), needs(asked), loads(sum.load))
        }
        (refused, asked) => format!(
            "{refused} of {} refused, {asked} {} a decision. {}",
            count(all, noun),
            needs(asked),
            loads(sum.load)
        ),
    };
    if new > 0 {
        out.push_str(&format!(", {new} pinned on first use"));
    }
    let mut out = out.trim_end().to_owned();
    if !out.ends_with('.') {
        out.push('.');
    }
    if sum.off > 0 {
        out.push_str(&format!(" {} off.", sum.off));
    }
    if sum.skipped > 0 {
        out.push_str(&format!(" {} skipped.", sum.skipped));
    }
    let style = match (sum.refuse, sum.ask) {
        (0, 0) => LOAD,
        (0, _) => ASK,
        _ => REFUSE,
    };
    format!("{}\n", paint(style, &out))
}

fn loads(number: u64) -> String {
    match number {
        0 => String::new(),
        1 => "1 loads".to_owned(),
        many => format!("{many} load"),
    }
}

const fn needs(number: u64) -> &'static str {
    if number == 1 { "needs" } else { "need" }
}

/// Returns `true` unless the plugin loads, is not new and has no warning.
fn needs_row(plugin: &PluginReport) -> bool {
    plugin.decision != Decision::Load || !news(plugin).is_empty()
}

fn overview(shown: &[&PluginReport], all: &[&PluginReport], width: usize) -> String {
    let rows: Vec<Vec<String>> = shown
        .iter()
        .map(|plugin| {
            let word = if plugin.on { word(plugin.decision) } else { OFF };
            let name = line(&plugin.id).into_owned();
            // Two versions of an installed plugin have one name.
            let is_one_of_several = all.iter().filter(|other| other.id == plugin.id).count() > 1;
            let version = plugin.version.as_deref().filter(|_| is_one_of_several);
            let name = version.map_or_else(|| name.clone(), |version| format!("{name} {}", line(version)));
            vec![word.to_owned(), name, why(plugin)]
        })
        .collect();
    let mut out = String::new();
    for row in grid(&[], &rows, width).lines() {
        // Colors are added after the layout, because their escape sequences would count as columns.
        let painted = [(Decision::Load, LOAD), (Decision::Ask, ASK), (Decision::Refuse, REFUSE)]
            .into_iter()
            .find_map(|(decision, style)| {
                let rest = row.strip_prefix(word(decision))?;
                rest.starts_with(' ').then(|| format!("{}{rest}", paint(style, word(decision))))
            });
        out.push_str(painted.as_deref().unwrap_or(row));
        out.push('\n');
    }
    out
}

/// The word for a plugin that its host's settings disable.
pub(crate) const OFF: &str = "off";

/// Returns the decision as a row shows it. A refusal is in capitals, so that color is not the only sign.
pub(crate) const fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Load => "load",
        Decision::Ask => "ask",
        Decision::Refuse => "REFUSE",
    }
}

/// Returns the last column: the causes in a few words, or the news about a plugin that loads.
fn why(plugin: &PluginReport) -> String {
    let mut words: Vec<String> = causes(plugin).map(advice::words).collect();
    words.dedup();
    if words.is_empty() {
        words = news(plugin);
    }
    if words.is_empty() {
        words.push(loaded_as(plugin).to_owned());
    }
    if !plugin.on {
        words.push("disabled".to_owned());
    }
    // More than three causes do not fit on a row of 80 columns.
    let more = words.len().saturating_sub(3);
    words.truncate(3);
    if more > 0 {
        words.push(format!("{more} more"));
    }
    line(&words.join("; ")).into_owned()
}

/// Returns the reasons to show. A plugin that is missing from the lockfile has one cause, so its `pin/new` is left out.
fn causes(plugin: &PluginReport) -> impl Iterator<Item = &Reason> {
    let by_lock = plugin.reasons.iter().any(|reason| reason.code.starts_with("lock/"));
    let doubled =
        move |reason: &&Reason| !(by_lock && reason.code == "pin/new" && reason.weight == Weight::Integrity);
    plugin.reasons.iter().filter(doubled)
}

/// Returns a few words for each new or suspicious fact about a plugin that loads.
fn news(plugin: &PluginReport) -> Vec<String> {
    let mut words = Vec::new();
    match plugin.pin.state {
        PinStatus::Enrolled => words.extend(first_use(plugin)),
        PinStatus::Unavailable => words.push("loads without a pin".to_owned()),
        PinStatus::Moved => words.push("moved, matches its pin".to_owned()),
        PinStatus::Migrated if plugin.closure.is_some() && plugin.trust != "locked" => {
            words.push("matches its old pin; the files outside are now pinned, too".to_owned());
        }
        PinStatus::Migrated => words.push("matches its old pin".to_owned()),
        PinStatus::Older => words.push("matches an older pin".to_owned()),
        _ => {}
    }
    let open = plugin
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Warning && plugin.suppression(finding).is_none());
    let suspicious = open.count();
    if suspicious > 0 && plugin.decision == Decision::Load {
        words.push(count(suspicious, "suspicious finding"));
    }
    if !plugin.suppressed.is_empty() {
        words.push(count(plugin.suppressed.len(), "suppressed finding"));
    }
    let is_new = plugin.pin.state == PinStatus::Enrolled;
    let warnings = plugin.notices.iter().filter(|notice| {
        notice.code != "pin/new" && !is_quiet(notice) && (is_new || !describes_contents(notice))
    });
    let warnings = warnings.count();
    if warnings > 0 {
        words.push(count(warnings, "notice"));
    }
    words
}

/// Returns what was pinned, by the start of its digest, and what it can do. `-v` prints the whole digest.
fn first_use(plugin: &PluginReport) -> Vec<String> {
    let digest = plugin.tree.as_deref().and_then(|tree| tree.get(..DIGEST)).unwrap_or_default();
    let mut words = vec![format!("pinned on first use ({digest}\u{2026})")];
    let can: Vec<&str> = plugin.first_evidence().keys().map(|behavior| behavior.as_str()).collect();
    if !can.is_empty() {
        words.push(format!("can: {}", can.join(", ")));
    }
    words
}

/// Returns `true` for notices that the row already shows as the state of the pin.
fn is_quiet(notice: &Notice) -> bool {
    matches!(notice.code.as_str(), "pin/moved" | "pin/migrated" | "pin/older")
}

/// Returns `true` for notices about the contents themselves. They are the same at each check of unchanged contents, so they
/// are shown with a new pin, and later with `-v` only.
fn describes_contents(notice: &Notice) -> bool {
    ["surface/", "manifest/", "market/"].iter().any(|family| notice.code.starts_with(family))
}

const fn loaded_as(plugin: &PluginReport) -> &'static str {
    match plugin.pin.state {
        PinStatus::None if matches!(plugin.lock.state, LockState::Match) => "matches PLUGINS.lock",
        PinStatus::Same => "matches its pin",
        state => state.as_str(),
    }
}

/// Returns the blocks of one plugin. `told` contains the shared causes that have a block already.
fn problems<'a>(
    plugin: &'a PluginReport,
    all: &[&'a PluginReport],
    view: &View<'_>,
    told: &mut BTreeSet<(&'a str, &'a str)>,
) -> Vec<Diagnostic> {
    let mut blocks = Vec::new();
    for reason in causes(plugin) {
        if advice::is_shared_cause(reason) {
            if !told.insert((&reason.code, &reason.message)) {
                continue;
            }
            let same = |one: &&&PluginReport| {
                causes(one).any(|other| (&other.code, &other.message) == (&reason.code, &reason.message))
            };
            let sharing: Vec<&str> = all.iter().filter(same).map(|one| one.id.as_str()).collect();
            if sharing.len() > 1 {
                blocks.push(shared(plugin, reason, &sharing, view));
                continue;
            }
        }
        blocks.push(problem(plugin, reason, view));
    }
    blocks
}

fn level(reason: &Reason) -> Level {
    if reason.weight == Weight::Undecided { Level::Warning } else { Level::Error }
}

/// Returns the block of a cause that several plugins share.
fn shared(plugin: &PluginReport, reason: &Reason, sharing: &[&str], view: &View<'_>) -> Diagnostic {
    let mut lines = reason.message.lines();
    let first = lines.next().unwrap_or_default();
    Diagnostic::new(level(reason), format!("{}: {first}", count(sharing.len(), "plugin")))
        .code(&reason.code)
        .details(lines)
        .note("plugins", sharing.join(", "))
        .help(&advice::help(plugin, reason, &(view.commands)(plugin)))
}

/// Returns the block of one reason, with the findings if they are the reason.
pub(crate) fn problem(plugin: &PluginReport, reason: &Reason, view: &View<'_>) -> Diagnostic {
    let commands = (view.commands)(plugin);
    let mut lines = reason.message.lines();
    let first = lines.next().unwrap_or_default();
    let is_scan = matches!(reason.code.as_str(), "scan/danger" | "scan/suspicious");
    let first = match &reason.place {
        _ if is_scan => first.split(',').next().unwrap_or(first),
        // The block shows the place on its own line, so the message need not repeat it.
        Some(place) => {
            let marker = format!(":{}:{}", place.line, place.column);
            first
                .split_once(&marker)
                .and_then(|(_, rest)| rest.split_once(": "))
                .map_or(first, |(_, rest)| rest)
        }
        None => first,
    };
    // The message of the library starts with the new behaviors; the block shows them as a note.
    let (gains, first) = match first.strip_prefix("new: ").and_then(|text| text.split_once("; changed")) {
        Some((gains, rest)) => (Some(gains), format!("changed{rest}")),
        None => (None, first.to_owned()),
    };
    let mut block =
        Diagnostic::new(level(reason), format!("{}: {first}", plugin.id)).code(&reason.code).details(lines);
    if let Some(gains) = gains {
        block = block.note("new", gains);
    }
    if let Some(place) = &reason.place {
        let path = path_of(plugin, &place.path);
        let at = Location::path(path).at(place.line, place.column);
        block = block.at(at);
    }
    if is_scan {
        let least = if reason.code == "scan/danger" { Severity::Danger } else { Severity::Warning };
        block = with_findings(block, plugin, least, view);
    } else if reason.place.is_none() && directory(plugin) != "." && reason.weight == Weight::Integrity {
        block = block.at(Location::path(directory(plugin)));
    }
    block.help(&advice::help(plugin, reason, &commands))
}

/// Adds the places of the findings of at least one severity, each rule with its fix once.
fn with_findings(
    mut block: Diagnostic,
    plugin: &PluginReport,
    least: Severity,
    view: &View<'_>,
) -> Diagnostic {
    let limit = if view.detail == Detail::Full { usize::MAX } else { SHOWN };
    let mut open: Vec<&Finding> = plugin
        .findings
        .iter()
        // A suppressed finding does not refuse the plugin. Only the full report shows it.
        .filter(|finding| {
            finding.severity >= least && (least == Severity::Info || plugin.suppression(finding).is_none())
        })
        .collect();
    // Danger first, because the list can end before the other findings.
    open.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.cmp(b)));
    let mut fixes = BTreeSet::new();
    for finding in open.iter().take(limit) {
        let mut at = place_of(plugin, finding);
        if fixes.insert(&finding.rule)
            && let Some(rule) = Rules::builtin().get(finding.rule.as_str())
        {
            at = at.help(lowered(rule.fix()));
        }
        block = block.at(at);
        if let Some(reason) = plugin.suppression(finding) {
            let place = format!("{} at {}:{}: {reason}", finding.rule, finding.path, finding.line);
            block = block.note("suppressed", place);
        }
    }
    let rest = open.len().saturating_sub(limit);
    if rest > 0 {
        let text = format!("{}: {}", count(rest, "more finding"), (view.commands)(plugin).explain());
        block = block.note("note", text);
    }
    block
}

/// Returns the plugin's directory or file for a terminal.
pub(crate) fn directory(plugin: &PluginReport) -> String {
    // A row of a record whose plugin is not known has no directory.
    if plugin.key.placed().is_none() && plugin.path == plugin.id {
        return plugin.path.clone();
    }
    host::display(&PluginKey::Placed(plugin.place.clone()))
}

/// Returns `true` if a plugin is a part of one file: settings, or the servers in it.
pub(crate) const fn is_file(plugin: &PluginReport) -> bool {
    matches!(plugin.kind, PluginKind::Settings | PluginKind::Servers)
}

/// Returns the path of a plugin's file relative to the working directory.
pub(crate) fn path_of(plugin: &PluginReport, path: &str) -> String {
    match directory(plugin).as_str() {
        _ if is_file(plugin) => inner_path(plugin, path),
        "." => path.to_owned(),
        directory => format!("{directory}/{path}"),
    }
}

/// Returns the path of a plugin's file inside the plugin. Of settings, it is the file itself, or one that it starts: the
/// parts that are judged have names that the user does not know.
pub(crate) fn inner_path(plugin: &PluginReport, path: &str) -> String {
    if is_file(plugin) && !plugin.outside.iter().any(|outside| outside == path) {
        return directory(plugin);
    }
    path.to_owned()
}

/// Returns a finding's place with its source line. The label is the rule and the kind of obfuscation.
pub(crate) fn place_of(plugin: &PluginReport, finding: &Finding) -> Location {
    let at = Location::path(path_of(plugin, &finding.path)).at(finding.line, finding.column);
    if finding.snippet.is_empty() {
        return at;
    }
    let hidden: Vec<&str> = finding.how.iter().map(|how| how.as_str()).collect();
    let label = if hidden.is_empty() {
        finding.rule.to_string()
    } else {
        format!("{} (hidden: {})", finding.rule, hidden.join(", "))
    };
    at.source(&finding.snippet, finding.caret.clone(), label)
}

/// Returns the findings of a plugin that loads as one note.
fn findings(plugin: &PluginReport, view: &View<'_>) -> Option<Diagnostic> {
    let suspicious = plugin.count(Severity::Warning);
    let all = plugin.findings.len();
    (all > 0).then(|| {
        let title = format!("{}: {}, {suspicious} of them suspicious", plugin.id, count(all, "finding"));
        with_findings(Diagnostic::note_of(title), plugin, Severity::Info, view)
    })
}

/// Returns the block of a notice about the whole run.
pub(crate) fn notice(notice: &Notice) -> Diagnostic {
    let level = match notice.code.as_str() {
        code if is_loud(code) => Level::Error,
        "install/leftover"
        | "install/newer"
        | "install/not-read"
        | "install/not-judged"
        | "install/loosens"
        | "install/no-manifest" => Level::Note,
        _ => Level::Warning,
    };
    noted(Diagnostic::new(level, first_line(&notice.message)), notice)
}

/// Returns the block of a notice about one plugin.
pub(crate) fn of_plugin(plugin: &PluginReport, notice: &Notice) -> Diagnostic {
    let first = first_line(&notice.message);
    noted(Diagnostic::note_of(format!("{}: {first}", plugin.id)), notice)
}

fn noted(block: Diagnostic, notice: &Notice) -> Diagnostic {
    let (help, details): (Vec<&str>, Vec<&str>) =
        notice.message.lines().skip(1).partition(|text| text.starts_with("next: "));
    let block = block.code(&notice.code).details(details);
    let block = help.into_iter().fold(block, |block, text| block.help(text.trim_start_matches("next: ")));
    match notice.code.as_str() {
        "lock/weak-scheme" => block.help("to replace it: plugward lock --migrate DIR"),
        code if advice::is_about_pins(code) => block.help(advice::START_OVER),
        // The library does not know how the command line selects a plugin that is not in the report.
        "pin/gone" => match &notice.plugin {
            Some(key) => {
                let selector = crate::verbs::shared::quoted(&host::display(key));
                block.help(&format!("restore it, or delete its pin: plugward forget {selector}"))
            }
            None => block,
        },
        _ => block,
    }
}

/// Returns `true` for unreadable stores and lockfiles, which are errors whatever the plugins' decisions are.
fn is_loud(code: &str) -> bool {
    code.starts_with("ledger/")
        || code == "mint/no-record"
        || matches!(code, "revocation/unreadable" | "lock/malformed" | "lock/signature-bad")
        || ["pin/lost", "pin/store", "approval/store"].iter().any(|store| code.starts_with(store))
}

/// Returns the name of the tier for people. JSON and SARIF say `warning` and `info`.
pub(crate) const fn tier(severity: Severity) -> &'static str {
    match severity {
        Severity::Danger => "danger",
        Severity::Warning => "suspicious",
        Severity::Info => "note",
    }
}

/// Returns the state of the approval with the kind of the audit, so that a static approval is always marked as one.
pub(crate) fn approval(plugin: &PluginReport) -> String {
    let approval = &plugin.approval;
    match (approval.kind, approval.risk) {
        (Some(kind), Some(risk)) => format!("{} ({kind}, {risk})", approval.state.as_str()),
        _ => approval.state.as_str().to_owned(),
    }
}

/// Returns the behaviors of a plugin, each with the first place that shows it.
pub(crate) fn behaviors(plugin: &PluginReport, width: usize) -> String {
    let mut out = String::new();
    for (behavior, first) in plugin.first_evidence() {
        let place = match inner_path(plugin, &first.path) {
            path if path == first.path => format!("{}:{}", line(&path), first.line),
            // The line is that of the part.
            path => line(&path).into_owned(),
        };
        let name = behavior.as_str();
        let text = format!("{} ({place}, {})", behavior.phrase(), first.role);
        let text = wrapped(&format!("    {name:<13} "), "                  ", &text, width);
        // Colors are added after the layout, because their escape sequences would count as columns.
        out.push_str(&text.replacen(name, &paint(STRONG, name), 1));
    }
    out
}

/// Returns the files outside a plugin that can run, and the commands whose text does not determine what runs.
pub(crate) fn outside(plugin: &PluginReport, width: usize) -> String {
    let mut out = String::new();
    if !plugin.outside.is_empty() {
        out.push_str("  runs files outside the plugin:\n");
    }
    for path in &plugin.outside {
        out.push_str(&wrapped("    ", "      ", &line(path), width));
    }
    for one in &plugin.unresolved {
        out.push_str(&wrapped("  ", "    ", &unresolved(one), width));
    }
    out
}

/// Returns an unresolved command as a sentence.
pub(crate) fn unresolved(one: &UnresolvedReport) -> String {
    format!("the text does not determine what runs: {} at {}:{}", line(&one.word), line(&one.path), one.line)
}

/// Returns a sentence as a fragment: lowercase start and no final period.
pub(crate) fn lowered(text: &str) -> String {
    let text = text.trim().trim_end_matches('.');
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
    // An acronym such as `API` keeps its capitals.
    if chars.clone().next().is_some_and(char::is_uppercase) {
        text.to_owned()
    } else {
        first + chars.as_str()
    }
}

/// Returns the number of entries and the size of a plugin.
pub(crate) fn size(plugin: &PluginReport) -> String {
    let entries = if plugin.files == 1 { "1 entry".to_owned() } else { format!("{} entries", plugin.files) };
    format!("{entries}, {}", crate::text::bytes(plugin.bytes))
}
