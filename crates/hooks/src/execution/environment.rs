//! The command line and the environment of a hook.

use crate::definitions::hook::{CommandForm, Hook};
use crate::events::call::FireContext;
use crate::execution::services::HookCommand;
use plugward_manifest::Dialect;

/// The variables that every hook gets, in addition to `LC_*`.
const BASE: [&str; 7] = ["HOME", "LANG", "PATH", "TERM", "TMPDIR", "TZ", "USER"];

/// Builds the command of a hook.
pub(crate) fn command(hook: &Hook, form: &CommandForm, at: &FireContext) -> HookCommand {
    let own = own_variables(hook, at);
    let argv = match form {
        CommandForm::Shell { shell, text } => vec![(*shell).to_owned(), "-c".to_owned(), text.clone()],
        // No shell expands variables in an argument list, so the host's own variables are expanded here.
        CommandForm::Arguments(argv) => argv.iter().map(|argument| replaced(argument, &own)).collect(),
        CommandForm::PluginFile { path, arguments } => {
            let root = hook.directories.as_ref().map_or("", |directories| directories.root.as_str());
            core::iter::once(format!("{root}/{path}")).chain(arguments.iter().cloned()).collect()
        }
    };
    let is_base = |name: &str| BASE.contains(&name) || name.starts_with("LC_");
    let trusted = hook.scope.is_own();
    let is_granted =
        |name: &str| hook.env.iter().any(|own| own == name) && (trusted || at.granted_env.contains(name));
    let passed = at.env.iter().filter(|(name, _)| is_base(name) || is_granted(name));
    let env = passed.map(|(name, value)| (name.clone(), value.clone()));
    let env = env.chain(own.into_iter().map(|(name, value)| (name.to_owned(), value))).collect();
    let plugin = hook.plugin().map(str::to_owned);
    HookCommand { plugin, argv, directory: at.directory.clone(), env }
}

fn own_variables(hook: &Hook, at: &FireContext) -> Vec<(&'static str, String)> {
    let mut own = vec![("CLAUDE_PROJECT_DIR", at.project.clone())];
    if let Some(directories) = &hook.directories {
        let codex = hook.dialect == Dialect::Codex;
        let names = [("CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA"), ("PLUGIN_ROOT", "PLUGIN_DATA")];
        for (root, data) in names.into_iter().take(if codex { 2 } else { 1 }) {
            own.push((root, directories.root.clone()));
            own.push((data, directories.data.clone()));
        }
    }
    own
}

fn replaced(argument: &str, own: &[(&'static str, String)]) -> String {
    own.iter().fold(argument.to_owned(), |text, (name, value)| text.replace(&format!("${{{name}}}"), value))
}
