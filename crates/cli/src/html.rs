//! The report of a check as one HTML file without external references: for light and dark screens, narrow ones, and paper.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use plugward_loader::scanner::Rules;
use plugward_loader::{Decision, Finding, PinStatus, PluginReport, Report, Severity};

use crate::advice::{self, Commands};
use crate::report::{tier, unresolved};
use crate::text::{bytes, count as counted};
use crate::verbs::explain::covered;
use plugward_loader::escape::line;

/// The filter works without a script: a checked radio button hides the other decisions.
const STYLE: &str = "\
:root{color-scheme:light dark;--fg:#1b1b1f;--bg:#fff;--soft:#5c5c66;--line:#d8d8e0;--no:#a3162a;--ask:#8a5a00;--yes:#1d6b34}\
@media(prefers-color-scheme:dark){:root{--fg:#e6e6ea;--bg:#16161a;--soft:#a0a0ac;--line:#34343d;--no:#ff8a96;--ask:#f0c060;--yes:#7fd99a}}\
body{font:16px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg);max-width:72rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}\
h1{font-size:1.4rem}h2{font-size:1.05rem;margin:1.2rem 0 .3rem}code,pre{font:14px/1.45 ui-monospace,monospace}\
details{border-top:1px solid var(--line);padding:.5rem 0}summary{cursor:pointer}\
pre{margin:.2rem 0 .6rem;padding:.4rem .6rem;border:1px solid var(--line);white-space:pre-wrap}\
table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;padding:.15rem .8rem .15rem 0}\
.refuse,.danger{color:var(--no)}.ask,.warning{color:var(--ask)}.load{color:var(--yes)}.soft,.info{color:var(--soft)}\
.share{display:flex;height:.8rem;border:1px solid var(--line)}.share span{background:currentColor}\
.filter label{margin-right:1rem;white-space:nowrap}\
body:has(#only-refuse:checked) .d:not(.is-refuse),body:has(#only-ask:checked) .d:not(.is-ask),\
body:has(#only-load:checked) .d:not(.is-load){display:none}\
@media(max-width:40rem){body{margin:1rem auto}table,tbody,tr,td,th{display:block;padding:0}tr{padding:.3rem 0}}\
@media print{.filter{display:none}details::details-content{content-visibility:visible;height:auto}body{max-width:none;margin:0}}";

/// Escapes text for HTML: no control characters, tags or character references of a plugin remain.
fn text(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for character in line(raw).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// Escapes text as [`text`] does, and keeps the line breaks of a message.
fn lines(raw: &str) -> String {
    raw.split('\n').map(text).collect::<Vec<_>>().join("<br>")
}

/// Appends formatted text. Writing to a `String` cannot fail.
fn put(out: &mut String, args: std::fmt::Arguments<'_>) {
    if out.write_fmt(args).is_err() {
        out.push('\u{fffd}');
    }
}

/// Renders a report. `commands` returns the commands for a plugin.
pub(crate) fn render(report: &Report, commands: &dyn Fn(&PluginReport) -> Commands) -> String {
    let mut out = head(report);
    let mut plugins: Vec<&PluginReport> = report.plugins.iter().collect();
    // Refusals come first. The sort is stable, so each group stays in the order of the ids.
    plugins.sort_by_key(|plugin| match plugin.decision {
        Decision::Refuse => 0,
        Decision::Ask => 1,
        Decision::Load => 2,
    });
    for plugin in plugins {
        row(&mut out, plugin, &commands(plugin));
    }
    if !report.skipped.is_empty() {
        out.push_str("<h2>Skipped</h2>\n<table>\n");
        for one in &report.skipped {
            put(&mut out, format_args!("<tr><td><code>{}</code><td>{}\n", text(&one.path), text(&one.why)));
        }
        out.push_str("</table>\n");
    }
    for notice in &report.notices {
        noted(&mut out, &notice.code, &notice.message);
    }
    put(
        &mut out,
        format_args!(
            "<p class=\"soft\">{} {}, rules <code>{}</code></p>\n</body>\n</html>\n",
            report.tool.name,
            report.tool.version,
            text(&report.tool.rules)
        ),
    );
    out
}

/// Returns the title, the verdict, the share of each decision, and the filter.
fn head(report: &Report) -> String {
    let sum = &report.summary;
    let mut out = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    let title = text(&report.roots.join(", "));
    put(
        &mut out,
        format_args!(
            "<meta name=\"viewport\" content=\"width=device-width\">\n<title>plugward check: {title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>plugward check: {title}</h1>\n"
        ),
    );
    put(
        &mut out,
        format_args!(
            "<p><b class=\"refuse\">{} refused</b>, <b class=\"ask\">{} to decide</b>, <b class=\"load\">{} load</b>, {} skipped; {}, {}; trust {}; exit {}</p>\n",
            sum.refuse,
            sum.ask,
            sum.load,
            sum.skipped,
            counted(usize::try_from(sum.files).unwrap_or(usize::MAX), "file"),
            bytes(sum.bytes),
            report.trust,
            report.exit
        ),
    );
    let share = [("refuse", sum.refuse), ("ask", sum.ask), ("load", sum.load)];
    out.push_str("<div class=\"share\" role=\"img\" aria-label=\"share of each decision\">");
    for (word, count) in share.iter().filter(|(_, count)| *count > 0) {
        put(
            &mut out,
            format_args!("<span class=\"{word}\" style=\"flex:{count}\" title=\"{count} {word}\"></span>"),
        );
    }
    out.push_str(
        "</div>\n<p class=\"filter\">Show: <label><input type=\"radio\" name=\"f\" checked> all</label>",
    );
    for (word, name) in [("refuse", "refused"), ("ask", "to decide"), ("load", "loading")] {
        put(
            &mut out,
            format_args!("<label><input type=\"radio\" name=\"f\" id=\"only-{word}\"> {name}</label>"),
        );
    }
    out.push_str("</p>\n");
    out
}

fn noted(out: &mut String, code: &str, message: &str) {
    put(out, format_args!("<p class=\"soft\"><code>{}</code> {}</p>\n", text(code), lines(message)));
}

/// Adds one plugin as a collapsible row, which is open unless the plugin loads.
fn row(out: &mut String, plugin: &PluginReport, commands: &Commands) {
    let word = plugin.decision.as_str();
    let open = if plugin.decision == Decision::Load { "" } else { " open" };
    put(
        out,
        format_args!(
            "<details class=\"d is-{word}\"{open}>\n<summary><b class=\"{word}\">{word}</b> <b>{}</b> {} <span class=\"soft\">in {}</span></summary>\n",
            text(&plugin.id),
            text(plugin.version.as_deref().unwrap_or_default()),
            text(&plugin.path)
        ),
    );
    for reason in &plugin.reasons {
        put(
            out,
            format_args!(
                "<p><code class=\"{word}\">{}</code> {}",
                text(&reason.code),
                lines(&reason.message)
            ),
        );
        let help = advice::help(plugin, reason, commands);
        if !help.is_empty() {
            put(out, format_args!("<br><span class=\"soft\">help: {}</span>", lines(&help)));
        }
        out.push_str("</p>\n");
    }
    for notice in &plugin.notices {
        noted(out, &notice.code, &notice.message);
    }
    findings(out, plugin);
    behaviors(out, plugin);
    surface(out, plugin);
    pinned(out, plugin, commands);
    out.push_str("</details>\n");
}

fn surface(out: &mut String, plugin: &PluginReport) {
    if plugin.surface.is_empty() {
        return;
    }
    out.push_str("<h2>What it can run</h2>\n<table>\n");
    for item in &plugin.surface {
        let name = item.event.as_deref().or(item.name.as_deref()).unwrap_or_default();
        let run = item.url.clone().unwrap_or_else(|| item.run.join(" "));
        put(
            out,
            format_args!(
                "<tr><td>{}<td>{}<td><code>{}</code><td class=\"soft\">{}\n",
                item.kind,
                text(name),
                text(&run),
                covered(plugin, item)
            ),
        );
    }
    out.push_str("</table>\n");
    let outside = plugin.outside.iter().map(|path| format!("runs outside of its directory: {path}"));
    let lines: Vec<String> = outside.chain(plugin.unresolved.iter().map(unresolved)).collect();
    if !lines.is_empty() {
        out.push_str("<ul>\n");
        for line in lines {
            put(out, format_args!("<li>{}\n", text(&line)));
        }
        out.push_str("</ul>\n");
    }
}

/// The pinned digests next to the present ones.
fn pinned(out: &mut String, plugin: &PluginReport, commands: &Commands) {
    let none = "none";
    put(
        out,
        format_args!("<h2>Pin: {}</h2>\n<table>\n<tr><th><th>pinned<th>found\n", plugin.pin.state.as_str()),
    );
    let dialects: BTreeSet<&str> =
        plugin.pin.manifest.keys().map(String::as_str).chain(plugin.manifest.keys().copied()).collect();
    let manifests = dialects.into_iter().map(|dialect| {
        let (was, is) = (plugin.pin.manifest.get(dialect), plugin.manifest.get(dialect));
        (format!("{dialect} manifest"), was.map(String::as_str), is.map(String::as_str))
    });
    let tree = ("tree".to_owned(), plugin.pin.tree.as_deref(), plugin.tree.as_deref());
    for (name, was, is) in manifests.chain([tree]) {
        let was = was.unwrap_or(none);
        let is = is.unwrap_or(none);
        let class = if was == is { "soft" } else { "ask" };
        put(
            out,
            format_args!(
                "<tr class=\"{class}\"><th>{name}<td><code>{}</code><td><code>{}</code>\n",
                text(was),
                text(is)
            ),
        );
    }
    out.push_str("</table>\n");
    if plugin.pin.state == PinStatus::Changed {
        put(out, format_args!("<p>What changed: <code>{}</code></p>\n", text(&commands.diff())));
    }
}

/// What the plugin can do, each with the first place that shows it.
fn behaviors(out: &mut String, plugin: &PluginReport) {
    if plugin.behaviors.is_empty() {
        return;
    }
    out.push_str("<h2>What its code does</h2>\n<table>\n");
    for (behavior, first) in plugin.first_evidence() {
        put(
            out,
            format_args!(
                "<tr><td><code>{behavior}</code><td>{}<td><code>{}:{}</code><td class=\"soft\">{}\n",
                behavior.phrase(),
                text(&first.path),
                first.line,
                first.role
            ),
        );
    }
    out.push_str("</table>\n");
}

/// The findings with their lines, danger first; the reason and the fix of a rule once.
fn findings(out: &mut String, plugin: &PluginReport) {
    let mut all: Vec<&Finding> = plugin.findings.iter().collect();
    if all.is_empty() {
        return;
    }
    all.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.cmp(b)));
    let count = |severity: Severity| all.iter().filter(|finding| finding.severity == severity).count();
    put(
        out,
        format_args!(
            "<h2>Findings: {} danger, {} suspicious, {}</h2>\n",
            count(Severity::Danger),
            count(Severity::Warning),
            counted(count(Severity::Info), tier(Severity::Info))
        ),
    );
    let mut told = BTreeSet::new();
    for finding in all {
        let how: Vec<&str> = finding.how.iter().map(|how| how.as_str()).collect();
        let hidden = if how.is_empty() { String::new() } else { format!(" hidden: {}", how.join(", ")) };
        let passed =
            plugin.suppression(finding).map(|reason| format!(" suppressed: {reason}")).unwrap_or_default();
        put(
            out,
            format_args!(
                "<p><b class=\"{0}\">{8}</b> <code>{1}</code> <code>{2}:{3}:{4}</code> <span class=\"soft\">{9}</span>{hidden}{5}<br>{6}</p>\n<pre>{3:>5} | {7}</pre>\n",
                finding.severity.as_str(),
                finding.rule,
                text(&finding.path),
                finding.line,
                finding.column,
                text(&passed),
                text(&finding.message),
                text(&finding.snippet),
                tier(finding.severity),
                finding.role
            ),
        );
        if told.insert(&finding.rule)
            && let Some(rule) = Rules::builtin().get(finding.rule.as_str())
        {
            put(out, format_args!("<p class=\"soft\">{} Fix: {}</p>\n", text(rule.why()), text(rule.fix())));
        }
    }
}
