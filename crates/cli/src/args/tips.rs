//! Tips for words that other package managers and hosts use for their commands.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};

/// A word that is not a command, the group of commands in which it was used, and what to type instead.
const TIPS: &[(&str, &str, &str)] = &[
    (
        "command",
        "list",
        "to list the command plugins of the registry and on PATH, and which are installed: plugward registry list",
    ),
    ("mcp", "list", "to list the servers of your hosts: plugward mcp tools"),
    ("", "disable", "to keep a plugin from loading: plugward deny ID"),
    ("", "enable", "a host enables plugins; to do it in a session of your own host: plugward session DIR"),
    ("", "plugin", "plugins have no prefix: plugward list, plugward install NAME"),
    ("", "plugins", "plugins have no prefix: plugward list, plugward install NAME"),
    (
        "",
        "uninstall",
        "to remove a command plugin: plugward remove NAME; to delete a pin: plugward forget ID",
    ),
];

/// Replaces the suggestion of a similar word, which can mean the opposite, by a tip for this word.
pub(crate) fn add_tip(error: &mut clap::Error) {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return };
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    let is_of = |group: &str| group.is_empty() || usage.contains(&format!("plugward {group} "));
    let Some((.., tip)) = TIPS.iter().find(|(group, own, _)| own == word && is_of(group)) else { return };
    error.remove(ContextKind::SuggestedSubcommand);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(*tip)]));
}
