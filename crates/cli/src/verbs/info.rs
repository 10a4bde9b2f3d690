//! `plugward info ID`: one plugin in full.

use crate::args::{ExplainArgs, ListFormat};
use crate::escape::line;
use crate::failure::Failure;
use crate::host::Host;
use crate::json;
use crate::out::{FAINT, Out, STRONG, paint};
use crate::table::{View, approval, behaviors, bytes, words, wrapped};
use crate::verbs::shared::{self, WithBytes};

pub(crate) fn run(args: &ExplainArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let trust = args.trust.map(shared::trust_of);
    let named = shared::find(&args.id, &args.dirs, trust, WithBytes::No, &args.finding, host, out)?;
    let plugin = &named.plugin;
    let exit = shared::pins_unread([plugin], out);
    if args.format == ListFormat::Json {
        out.result(&json::render(plugin)?)?;
        return Ok(exit);
    }
    let mut text = format!("{}\n", paint(STRONG, &line(&named.shown)));
    let manifests: Vec<String> =
        plugin.manifest.iter().map(|(dialect, digest)| format!("{digest} {dialect}")).collect();
    let facts = [
        ("name", Some(plugin.name.clone())),
        ("version", plugin.version.clone()),
        ("dialects", Some(plugin.dialects.join(", "))),
        ("directory", Some(plugin.path.clone())),
        ("manifest", (!manifests.is_empty()).then(|| manifests.join("\n"))),
        ("tree", plugin.tree.clone()),
        ("size", Some(format!("{}, {}", entries(plugin.files), bytes(plugin.bytes)))),
        ("pin", Some(plugin.pin.state.as_str().to_owned())),
        ("pinned", plugin.pin.tree.clone()),
        ("lock", Some(plugin.lock.state.as_str().to_owned())),
        ("signed by", plugin.lock.signer.clone()),
        ("comment", plugin.lock.comment.clone()),
        ("approval", Some(approval(plugin))),
        ("decision", Some(plugin.decision.as_str().to_owned())),
    ];
    for (name, value) in facts {
        if let Some(value) = value {
            for value in value.lines() {
                text.push_str(&row(name, &line(value), out.width));
            }
        }
    }
    for (name, tree) in &plugin.shared {
        text.push_str(&row("shared", &format!("{} {tree}", line(name)), out.width));
    }
    let seen = behaviors(plugin, &View { width: out.width, wordy: true });
    if !seen.is_empty() {
        text.push_str("  what its code does:\n");
        text.push_str(&seen);
    }
    if !plugin.surface.is_empty() {
        text.push_str("  what it can run, and what enters a prompt:\n");
    }
    for item in &plugin.surface {
        let name = item.name.as_deref().or(item.event.as_deref()).unwrap_or_default();
        let run = item.url.clone().unwrap_or_else(|| item.run.join(" "));
        let row = format!("{} {} {}", item.kind, line(name), words(&run));
        text.push_str(&wrapped("    ", "      ", row.trim_end(), out.width));
        let files =
            if item.files.is_empty() { String::new() } else { format!(": {}", line(&item.files.join(", "))) };
        text.push_str(&wrapped(
            "      ",
            "      ",
            &format!("{}{files}", paint(FAINT, item.coverage)),
            out.width,
        ));
    }
    out.result(&text)?;
    Ok(exit)
}

fn entries(count: u64) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}

/// One fact; what is too long for the line stands below its name.
fn row(name: &str, value: &str, width: usize) -> String {
    let row = format!("  {name:9} {value}\n");
    if row.chars().count() <= width.saturating_add(1) {
        return row;
    }
    format!("  {name}\n{}", wrapped("    ", "    ", value, width))
}
