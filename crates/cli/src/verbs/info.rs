//! `plugward info ID`: shows what a plugin is and can do.

use crate::args::{ExplainArgs, ListFormat};
use crate::failure::Failure;
use crate::host::Host;
use crate::json;
use crate::out::{Out, STRONG, paint};
use crate::report::{approval, behaviors, directory, is_file, outside, size};
use crate::text::row;
use crate::verbs::explain::items;
use crate::verbs::shared::{self, PluginBytes};
use plugward_loader::escape::line;

pub(crate) fn run(args: &ExplainArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let trust = args.trust.map(shared::trust_of);
    let named = shared::find(&args.plugin, trust, PluginBytes::Discard, host, out)?;
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
        (if is_file(plugin) { "file" } else { "directory" }, Some(directory(plugin))),
        ("key", Some(plugin.key.to_string())),
        ("manifest", (!manifests.is_empty()).then(|| manifests.join("\n"))),
        ("tree", plugin.tree.clone()),
        ("size", Some(size(plugin))),
        ("outside", plugin.closure.clone()),
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
    let seen = behaviors(plugin, out.width);
    if !seen.is_empty() {
        text.push_str("  what its code does:\n");
        text.push_str(&seen);
    }
    if !plugin.surface.is_empty() {
        text.push_str("  what it can run, and what enters a prompt:\n");
    }
    text.push_str(&items(plugin, "    ", out.width));
    text.push_str(&outside(plugin, out.width));
    out.result(&text)?;
    Ok(exit)
}
