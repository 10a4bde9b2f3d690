//! `plugward explain ID`: shows the decision about a plugin, gate by gate.

use std::collections::BTreeSet;

use plugward_loader::installs::SETTINGS_RULES;
use plugward_loader::manifest::Coverage;
use plugward_loader::pinstore::ReviewedDigests;
use plugward_loader::scanner::Rules;
use plugward_loader::{
    ApprovalState, AuditReport, Decision, Finding, Gate, LockState, PinStatus, PluginReport, Reason,
    Severity, SurfaceReport, Weight,
};

use crate::advice::{self, Commands, ReviewVerb};
use crate::args::{ExplainArgs, ListFormat};
use crate::failure::Failure;
use crate::host::Host;
use crate::json;
use crate::out::{ASK, FAINT, LOAD, Out, REFUSE, STRONG, paint};
use crate::report::{
    Detail, View, approval, directory, inner_path, is_file, lowered, outside, problem, size, tier,
};
use crate::text::{capitalized, command, count, row, run_text, wrapped};
use crate::verbs::shared::{self, PluginBytes};
use plugward_loader::escape::line;

pub(crate) fn run(args: &ExplainArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let trust = args.trust.map(shared::trust_of);
    let mut named = shared::find(&args.plugin, trust, PluginBytes::Discard, host, out)?;
    let exit = shared::pins_unread([&named.plugin], out);
    match args.format {
        ListFormat::Json => out.result(&json::render(&named.plugin)?)?,
        ListFormat::Table => {
            named.plugin.id.clone_from(&named.shown);
            let typed = shared::as_typed(&args.plugin.finding);
            let commands = |plugin: &PluginReport| Commands {
                review: ReviewVerb::Diff,
                ..shared::commands(plugin, &typed, None)
            };
            let view = View { width: out.width, detail: Detail::Full, commands: &commands };
            let mut text = render(&named.plugin, &view);
            if let Some(subject) = &named.subject
                && waits_for_accept(&named.plugin)
            {
                text.push_str("\nIf you trust this version:\n");
                let accept = shared::accept_command(
                    &commands(&named.plugin),
                    &ReviewedDigests::wanted(subject.facts(), None),
                );
                text.push_str(&command("  ", &accept, out.width));
                let deny = format!("plugward deny {}", commands(&named.plugin).selector);
                text.push_str(&command("To keep it out: ", &deny, out.width));
            }
            text.push_str(&about_danger(&named.plugin, &commands(&named.plugin), out.width));
            out.result(&text)?;
        }
    }
    Ok(exit)
}

/// Returns `true` if the plugin loads once its bytes are accepted.
fn waits_for_accept(plugin: &PluginReport) -> bool {
    plugin.decision == Decision::Ask
        && plugin.reasons.iter().map(|reason| reason.code.as_str()).all(|code| {
            matches!(
                code,
                "pin/new" | "scan/suspicious" | "surface/unresolved" | "policy/namesake" | "audit/risk"
            )
        })
}

/// Returns what can be done about danger findings. Each finding has its own fix.
fn about_danger(plugin: &PluginReport, commands: &Commands, width: usize) -> String {
    let Some(reason) = plugin.reasons.iter().find(|reason| reason.code == "scan/danger") else {
        return String::new();
    };
    let mut out = String::from("\n");
    for text in advice::help(plugin, reason, commands).lines() {
        match text.split_once(": ") {
            Some((label, next)) => {
                out.push_str(&format!("{}:\n{}", capitalized(label), command("  ", next, width)));
            }
            None => out.push_str(&wrapped("", "", &capitalized(text), width)),
        }
    }
    out
}

fn render(plugin: &PluginReport, view: &View<'_>) -> String {
    let mut out = headline(plugin, view.width);
    out.push('\n');
    if directory(plugin) != "." {
        let text = format!("{} ({})", line(&directory(plugin)), size(plugin));
        out.push_str(&row(if is_file(plugin) { "file" } else { "directory" }, &text, view.width));
    }
    for (dialect, digest) in &plugin.manifest {
        out.push_str(&row("manifest", &format!("{digest} {dialect}"), view.width));
    }
    if let Some(tree) = &plugin.tree {
        out.push_str(&row("tree", tree, view.width));
    }
    out.push_str(&format!("\n{}\n", paint(STRONG, "GATE      RESULT")));
    for gate in Gate::ALL {
        let (word, text) = result(plugin, gate);
        let row = format!("{:<10}{word:<9}{}", gate.as_str(), text);
        out.push_str(&wrapped("", "                   ", row.trim_end(), view.width).replacen(
            word,
            &painted(word),
            1,
        ));
    }
    for reason in plugin.reasons.iter().filter(|reason| !is_scan(reason)) {
        out.push('\n');
        out.push_str(&problem(plugin, reason, view).render(view.width));
    }
    for notice in &plugin.notices {
        out.push_str(&format!("\n{}", crate::report::of_plugin(plugin, notice).render(view.width)));
    }
    if let Some(audit) = &plugin.approval.audit {
        out.push_str(&format!("\n{}\n{}", paint(STRONG, "AUDIT"), about_audit(audit, view.width)));
    }
    out.push_str(&findings(plugin, view.width));
    out.push_str(&surface(plugin, view));
    out.push_str(&granted(plugin, view.width));
    out
}

/// Returns an audit by a language model in a few lines.
pub(crate) fn about_audit(audit: &AuditReport, width: usize) -> String {
    let AuditReport { model, at, risk, verdict, record, summary, .. } = audit;
    let mut out = wrapped("", "  ", &format!("risk {risk}, {verdict}, by {} at {at}", line(model)), width);
    // The model wrote the summary, and the record has it escaped.
    out.push_str(&summary.as_ref().map(|text| wrapped("  ", "  ", text, width)).unwrap_or_default());
    out.push_str(&format!("  {record}\n"));
    out
}

fn is_scan(reason: &Reason) -> bool {
    matches!(reason.code.as_str(), "scan/danger" | "scan/suspicious")
}

/// Returns the decision and its codes.
fn headline(plugin: &PluginReport, width: usize) -> String {
    let version = plugin.version.as_deref().map(|version| format!(" {}", line(version))).unwrap_or_default();
    let name = format!("{}{version}", line(&plugin.id));
    let mut codes: Vec<&str> = plugin.reasons.iter().map(|reason| reason.code.as_str()).collect();
    codes.dedup();
    let (word, style, codes) = match plugin.decision {
        Decision::Load => ("loads", LOAD, String::new()),
        Decision::Ask => ("needs a decision", ASK, format!(": {}", codes.join(", "))),
        Decision::Refuse => ("is refused", REFUSE, format!(": {}", codes.join(", "))),
    };
    let plain = wrapped("", "  ", &format!("{name} {word}{codes}"), width);
    // The name can contain the word.
    match plain.strip_prefix(&name) {
        Some(rest) => paint(STRONG, &name) + &rest.replacen(word, &paint(style, word), 1),
        None => plain.replacen(word, &paint(style, word), 1),
    }
}

fn painted(word: &str) -> String {
    let style = match word {
        "ok" => LOAD,
        "ask" => ASK,
        "REFUSE" => REFUSE,
        _ => FAINT,
    };
    paint(style, word)
}

/// Returns the result of a gate, and the evidence in a few words.
fn result(plugin: &PluginReport, gate: Gate) -> (&'static str, String) {
    let mut reasons = plugin.reasons.iter().filter(|reason| reason.gate == gate).peekable();
    if let Some(first) = reasons.peek() {
        let word = if first.weight == Weight::Undecided { "ask" } else { "REFUSE" };
        let mut words: Vec<String> = reasons.map(advice::words).collect();
        words.dedup();
        return (word, line(&words.join("; ")).into_owned());
    }
    let digested = plugin.tree.is_some();
    match gate {
        Gate::Discover => ("ok", plugin.dialects.join(", ")),
        Gate::Manifest if plugin.manifest.is_empty() => ("ok", "no manifest file".to_owned()),
        Gate::Manifest => ("ok", count(plugin.manifest.len(), "manifest")),
        Gate::Tree if digested => ("ok", size(plugin)),
        Gate::Policy if digested => ("ok", "not denied, not revoked".to_owned()),
        Gate::Scan if digested => ("ok", scanned(plugin)),
        Gate::Tree | Gate::Policy | Gate::Scan => {
            ("skipped", "the directory could not be digested".to_owned())
        }
        Gate::Lock => lock(plugin),
        Gate::Pin => pin(plugin.pin.state),
        Gate::Approval => match plugin.approval.state {
            ApprovalState::Given => ("ok", approval(plugin)),
            ApprovalState::None => ("skipped", "not required by your settings".to_owned()),
            _ => ("skipped", format!("{}, not required by your settings", approval(plugin))),
        },
        Gate::Surface => ("ok", count(plugin.surface.len(), "item")),
        Gate::Mint if plugin.decision != Decision::Load => ("skipped", "refused before this gate".to_owned()),
        Gate::Mint => ("skipped", "nothing to grant".to_owned()),
        _ => ("ok", String::new()),
    }
}

fn scanned(plugin: &PluginReport) -> String {
    let suspicious = plugin.count(Severity::Warning);
    let mut text = count(plugin.findings.len(), "finding");
    if suspicious > 0 {
        text.push_str(&format!(", {suspicious} suspicious"));
    }
    text
}

fn lock(plugin: &PluginReport) -> (&'static str, String) {
    match (plugin.lock.state, &plugin.lock.signer) {
        (LockState::Absent, _) => ("skipped", "no PLUGINS.lock".to_owned()),
        (_, Some(signer)) => ("ok", format!("signed by {}", line(signer))),
        (state, None) => ("ok", format!("PLUGINS.lock: {}", state.as_str())),
    }
}

fn pin(state: PinStatus) -> (&'static str, String) {
    match state {
        PinStatus::None => ("skipped", "not pinned yet".to_owned()),
        PinStatus::NotChecked => ("skipped", "nothing to compare".to_owned()),
        PinStatus::Same => ("ok", "matches its pin".to_owned()),
        other => ("ok", other.as_str().to_owned()),
    }
}

/// Returns every finding. The risk and the fix of a rule are printed once.
fn findings(plugin: &PluginReport, width: usize) -> String {
    let mut all: Vec<&Finding> = plugin.findings.iter().collect();
    if all.is_empty() {
        return String::new();
    }
    all.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.cmp(b)));
    let mut out = format!("\n{}\n", paint(STRONG, "FINDINGS"));
    let mut told = BTreeSet::new();
    for finding in all {
        let style = match finding.severity {
            Severity::Danger => REFUSE,
            Severity::Warning => ASK,
            Severity::Info => FAINT,
        };
        let shown = inner_path(plugin, &finding.path);
        let how: Vec<&str> = finding.how.iter().map(|how| how.as_str()).collect();
        let hidden = if how.is_empty() { String::new() } else { format!(" (hidden: {})", how.join(", ")) };
        let place = format!("{}:{}:{}", line(&shown), finding.line, finding.column);
        let (tier, rule) = (tier(finding.severity), format!("{}{hidden}", finding.rule));
        let length = place.chars().count().saturating_add(tier.len()).saturating_add(rule.len());
        let between = if length.saturating_add(4) > width { "\n    " } else { "  " };
        out.push_str(&format!("{place}{between}{}  {rule}\n", paint(style, tier)));
        out.push_str(&wrapped("    ", "    ", &line(&finding.message), width));
        if !finding.snippet.is_empty() {
            out.push_str(&format!("    {}\n", paint(FAINT, &format!("| {}", cut(&finding.snippet, width)))));
        }
        if let Some(reason) = plugin.suppression(finding) {
            out.push_str(&wrapped("    ", "    ", &format!("Suppressed: {}", line(reason)), width));
        }
        if told.insert(&finding.rule)
            && let Some(rule) = Rules::builtin().get(finding.rule.as_str())
        {
            out.push_str(&wrapped("    Why: ", "         ", &lowered_start(rule.why()), width));
            out.push_str(&wrapped("    Fix: ", "         ", &lowered_start(rule.fix()), width));
            if !rule.refs().is_empty() {
                out.push_str(&wrapped("    References: ", "         ", &rule.refs().join(", "), width));
            }
        } else if let Some((_, text)) = SETTINGS_RULES.iter().find(|(code, _)| finding.rule.as_str() == *code)
        {
            out.push_str(&wrapped("    ", "    ", text, width));
        }
    }
    out
}

/// Returns a sentence for use after a label: with a lowercase start, and with its period.
fn lowered_start(text: &str) -> String {
    format!("{}.", lowered(text))
}

fn cut(snippet: &str, width: usize) -> String {
    let room = width.saturating_sub(6);
    let text = line(snippet);
    if text.chars().count() <= room {
        return text.into_owned();
    }
    text.chars().take(room.saturating_sub(1)).chain(['\u{2026}']).collect()
}

fn surface(plugin: &PluginReport, view: &View<'_>) -> String {
    if plugin.surface.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", paint(STRONG, "WHAT IT CAN RUN"));
    out.push_str(&items(plugin, "", view.width));
    out.push_str(&outside(plugin, view.width));
    out
}

/// Returns each item of the execution surface with its files and its pin coverage.
pub(crate) fn items(plugin: &PluginReport, indent: &str, width: usize) -> String {
    let deeper = format!("{indent}  ");
    let mut out = String::new();
    for item in &plugin.surface {
        out.push_str(&wrapped(indent, &deeper, &item_text(item), width));
        let files: BTreeSet<String> = item.files.iter().map(|file| inner_path(plugin, file)).collect();
        if !files.is_empty() {
            let files = files.into_iter().collect::<Vec<_>>().join(", ");
            out.push_str(&wrapped(&deeper, &deeper, &line(&files), width));
        }
        // Colors are added after the layout, because their escape sequences would count as columns.
        for row in wrapped(&deeper, &deeper, covered(plugin, item), width).lines() {
            out.push_str(&format!("{}\n", paint(FAINT, row)));
        }
    }
    out
}

/// Returns an item of the execution surface as one line: kind, name and command.
pub(crate) fn item_text(item: &SurfaceReport) -> String {
    let event = item.event.as_deref().unwrap_or_default();
    let name = item.name.as_deref().filter(|name| *name != event).unwrap_or_default();
    let run = item.url.clone().unwrap_or_else(|| item.run.join(" "));
    let parts = [item.kind, &line(event), &line(name), &run_text(&run)].map(str::to_owned);
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns the pin coverage of an item as a sentence.
pub(crate) fn covered(plugin: &PluginReport, item: &SurfaceReport) -> &'static str {
    // The label is about the plugin's own directory, and the closure about the files outside of it.
    if item.coverage == Coverage::PathBinary.code() && !plugin.outside.is_empty() {
        return "Of what it runs, the pin covers the files that are listed below.";
    }
    Coverage::ALL.iter().find(|one| one.code() == item.coverage).map_or(item.coverage, |one| one.sentence())
}

fn granted(plugin: &PluginReport, width: usize) -> String {
    if plugin.capabilities.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", paint(STRONG, "GRANTED"));
    for one in &plugin.capabilities {
        let text = format!("{} {} (number {} of this run)", one.kind, line(&one.scope), one.serial);
        out.push_str(&wrapped("", "  ", &text, width));
    }
    out
}
