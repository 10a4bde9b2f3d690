//! `plugward explain ID`: why a plugin got its decision, gate by gate.

use plugward_loader::{ApprovalState, Gate, LockState, PinStatus, PluginReport};

use crate::args::{ExplainArgs, ListFormat};
use crate::escape::line;
use crate::failure::Failure;
use crate::host::Host;
use crate::json;
use crate::out::{ASK, FAINT, LOAD, Out, REFUSE, STRONG, Show, paint};
use crate::table::{View, approval, bytes, count, findings, item, next, words, wrapped};
use crate::verbs::shared::{self, WithBytes};

pub(crate) fn run(args: &ExplainArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let trust = args.trust.map(shared::trust_of);
    let mut named = shared::find(&args.id, &args.dirs, trust, WithBytes::No, &args.finding, host, out)?;
    let exit = shared::pins_unread([&named.plugin], out);
    match args.format {
        ListFormat::Json => out.result(&json::render(&named.plugin)?)?,
        ListFormat::Table => {
            shared::localize(std::slice::from_mut(&mut named.plugin), &shared::as_typed(&args.finding));
            let view = View { width: out.width, wordy: true };
            out.result(&render(&named.plugin, &view))?;
        }
    }
    Ok(exit)
}

fn render(plugin: &PluginReport, view: &View) -> String {
    let version = plugin.version.as_deref().map(|version| format!(" {}", line(version))).unwrap_or_default();
    let mut out = format!("{}{version}\n", paint(STRONG, &line(&plugin.id)));
    for gate in Gate::ALL {
        let reasons: Vec<_> = plugin.reasons.iter().filter(|reason| reason.gate == gate).collect();
        let notices: Vec<_> = plugin.notices.iter().filter(|notice| notice.gate == gate).collect();
        let word = match (reasons.first(), gate) {
            (Some(reason), _) if reason.weight == plugward_loader::Weight::Undecided => paint(ASK, "ask   "),
            (Some(_), _) => paint(REFUSE, "refuse"),
            (None, Gate::Approval) if plugin.approval.state != ApprovalState::Given => paint(FAINT, "unset "),
            (None, Gate::Mint) => paint(FAINT, "-     "),
            (None, Gate::Lock) if plugin.lock.state == LockState::Absent => paint(FAINT, "absent"),
            (None, _) if not_reached(plugin, gate) => paint(FAINT, "-     "),
            (None, _) => paint(LOAD, "pass  "),
        };
        out.push_str(format!("  {:9} {word} {}", gate.as_str(), seen(plugin, gate)).trim_end());
        out.push('\n');
        if let Some(digest) = digest(plugin, gate) {
            out.push_str(&format!("    {}\n", paint(FAINT, digest)));
        }
        for reason in reasons {
            out.push_str(&item("", REFUSE, &reason.code, &reason.message, view.width));
            out.push_str(&next(&reason.help, view.width));
        }
        for notice in notices {
            out.push_str(&item("note ", FAINT, &notice.code, &notice.message, view.width));
        }
        match gate {
            Gate::Scan => out.push_str(&findings(plugin, view, Show::All)),
            Gate::Surface => out.push_str(&surface(plugin, view)),
            _ => {}
        }
    }
    let style = match plugin.decision {
        plugward_loader::Decision::Load => LOAD,
        plugward_loader::Decision::Ask => ASK,
        plugward_loader::Decision::Refuse => REFUSE,
    };
    out.push_str(&format!("  decision  {}\n", paint(style, plugin.decision.as_str())));
    out
}

fn not_reached(plugin: &PluginReport, gate: Gate) -> bool {
    match gate {
        Gate::Tree | Gate::Scan | Gate::Policy => plugin.tree.is_none(),
        Gate::Pin => plugin.pin.state == PinStatus::NotChecked,
        _ => false,
    }
}

/// The evidence of one gate in one line.
fn seen(plugin: &PluginReport, gate: Gate) -> String {
    match gate {
        Gate::Discover => plugin.dialects.join(", "),
        Gate::Manifest if plugin.manifest.is_empty() => "no file that was read".to_owned(),
        Gate::Tree if plugin.tree.is_some() => {
            format!("{}, {}", count_entries(plugin.files), bytes(plugin.bytes))
        }
        Gate::Tree => "not digested".to_owned(),
        Gate::Pin => plugin.pin.state.as_str().to_owned(),
        Gate::Scan if plugin.tree.is_none() => "not scanned".to_owned(),
        Gate::Scan => count(plugin.findings.len(), "finding"),
        Gate::Surface => count(plugin.surface.len(), "item"),
        Gate::Lock => plugin
            .lock
            .signer
            .as_ref()
            .map(|signer| format!("signed by {}", line(signer)))
            .unwrap_or_default(),
        Gate::Approval => approval(plugin),
        _ => String::new(),
    }
}

fn count_entries(number: u64) -> String {
    if number == 1 { "1 entry".to_owned() } else { format!("{number} entries") }
}

/// The digest that a gate rests on.
fn digest(plugin: &PluginReport, gate: Gate) -> Option<&str> {
    match gate {
        Gate::Manifest => plugin.manifest.values().next().map(String::as_str),
        Gate::Tree => plugin.tree.as_deref(),
        _ => None,
    }
}

fn surface(plugin: &PluginReport, view: &View) -> String {
    let mut out = String::new();
    for item in &plugin.surface {
        let name = item.name.as_deref().or(item.event.as_deref()).unwrap_or_default();
        let run = item.url.clone().unwrap_or_else(|| item.run.join(" "));
        let text = format!("{} {} {}", item.kind, line(name), words(&run));
        out.push_str(&wrapped("    ", "      ", text.trim_end(), view.width));
        out.push_str(&format!("      {}\n", paint(FAINT, item.coverage)));
    }
    out
}
