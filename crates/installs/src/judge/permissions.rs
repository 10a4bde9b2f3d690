//! Settings with which a host runs any command without asking.

use plugward_manifest::json::{JsonMember, JsonNode, JsonValue};
use plugward_types::Severity;

use super::{FileOwner, Judge, NamedSetting, member};
use crate::FindingScope;
use crate::collector::shown;
use crate::parts::{FoundSetting, Parts, Value};

/// Lets a host run commands without asking.
pub(crate) const CODE: &str = "settings/permissions";

/// How much a setting loosens a host.
enum Loosening {
    /// Any command runs without a question, because of this value.
    AnyCommand(Value),
    /// Less is asked.
    FewerQuestions,
}

/// Judges the permissions of Claude Code.
pub(crate) fn claude(judge: &Judge<'_>, root: &JsonNode<'_>, parts: &mut Parts) {
    let few = ["enableAllProjectMcpServers", "skipDangerousModePermissionPrompt"];
    for found in few.into_iter().filter_map(|name| member(root, name)).filter(|found| is_true(found.node())) {
        judge.loosen(parts, found, found.key(), Loosening::FewerQuestions);
    }
    let Some(permissions) = root.get("permissions") else { return };
    if let Some(mode) = member(permissions, "defaultMode") {
        let loosening = match mode.node().as_str() {
            Some("bypassPermissions" | "dontAsk") => Some(Loosening::AnyCommand(Value::of(mode.node()))),
            Some("acceptEdits" | "auto") => Some(Loosening::FewerQuestions),
            _ => None,
        };
        if let Some(loosening) = loosening {
            judge.loosen(parts, mode, "permissions.defaultMode", loosening);
        }
    }
    if let Some(allow) = member(permissions, "allow") {
        let is_any = |rule: &str| rule.trim() == "*" || allows_any(rule, "Bash");
        judge.allow(parts, allow, "permissions.allow", is_any);
    }
}

/// Judges the permissions of Codex: at the top, and of the selected profile.
pub(crate) fn codex(judge: &Judge<'_>, root: &JsonNode<'_>, parts: &mut Parts) {
    let selected = root.get("profile").and_then(JsonNode::as_str);
    let profile =
        selected.and_then(|name| Some((root.get("profiles")?.get(name)?, format!("profiles.{name}."))));
    for (table, before) in [(root, String::new())].into_iter().chain(profile) {
        for (name, value) in [("approval_policy", "never"), ("sandbox_mode", "danger-full-access")] {
            let found = member(table, name).filter(|found| found.node().as_str() == Some(value));
            if let Some(found) = found {
                let loosening = Loosening::AnyCommand(Value::of(found.node()));
                judge.loosen(parts, found, &format!("{before}{name}"), loosening);
            }
        }
    }
}

/// Judges the permissions of Gemini CLI.
pub(crate) fn gemini(judge: &Judge<'_>, root: &JsonNode<'_>, parts: &mut Parts) {
    let modes = [("general", "defaultApprovalMode"), ("tools", "approvalMode"), ("", "approvalMode")];
    for (object, key) in modes {
        let Some(mode) = in_object(root, object, key) else { continue };
        let loosening = match mode.node().as_str() {
            Some("yolo") => Loosening::AnyCommand(Value::of(mode.node())),
            Some("auto_edit" | "autoEdit") => Loosening::FewerQuestions,
            _ => continue,
        };
        judge.loosen(parts, mode, &dotted(object, key), loosening);
    }
    for (object, key) in [("tools", "autoAccept"), ("", "autoAccept")] {
        if let Some(found) = in_object(root, object, key).filter(|found| is_true(found.node())) {
            judge.loosen(parts, found, &dotted(object, key), Loosening::FewerQuestions);
        }
    }
    for (object, key) in [("tools", "allowed"), ("", "allowedTools")] {
        let Some(allowed) = in_object(root, object, key) else { continue };
        let is_any = |rule: &str| allows_any(rule, "run_shell_command") || allows_any(rule, "ShellTool");
        judge.allow(parts, allowed, &dotted(object, key), is_any);
    }
    for server in root.members_of("mcpServers") {
        let Some(trust) = member(server.node(), "trust").filter(|trust| is_true(trust.node())) else {
            continue;
        };
        let is_local = server.node().get("command").is_some();
        let any = || Loosening::AnyCommand(Value::of(trust.node()));
        let loosening = if is_local { any() } else { Loosening::FewerQuestions };
        judge.loosen(parts, trust, &format!("mcpServers.{}.trust", server.key()), loosening);
    }
}

impl Judge<'_> {
    /// Judges a list of rules that allow commands. A rule that allows a single command does not count.
    fn allow(&self, parts: &mut Parts, list: &JsonMember<'_>, name: &str, is_any: impl Fn(&str) -> bool) {
        let rules = list.node().items_or_none().iter().filter_map(JsonNode::as_str);
        let any: Vec<Value> =
            rules.filter(|rule| is_any(rule)).map(|rule| Value::Text(rule.to_owned())).collect();
        if !any.is_empty() {
            self.loosen(parts, list, name, Loosening::AnyCommand(Value::List(any)));
        }
    }

    /// Adds a setting that loosens the host. In files that a repository can contain it is part of the contents; in the
    /// others it is not, because the host writes it when the user clicks.
    fn loosen(&self, parts: &mut Parts, found: &JsonMember<'_>, name: &str, loosening: Loosening) {
        let value = found.node().as_str().map(|value| format!(" = {value}")).unwrap_or_default();
        let setting = NamedSetting { name, span: found.key_span() };
        let Loosening::AnyCommand(kept) = loosening else {
            let message = format!("Asks less often: {}{value}", shown(name));
            parts.findings.insert(FoundSetting::note(CODE, setting, message));
            return;
        };
        let message = format!("Runs any command without asking: {}{value}", shown(name));
        self.add_loosening(parts, setting, kept, message);
    }

    /// Adds a setting of the table that loosens the host.
    pub(crate) fn loosens(&self, parts: &mut Parts, setting: NamedSetting<'_>, kept: Value) {
        let message = format!("Runs commands without asking, or asks less often: {}", shown(setting.name));
        self.add_loosening(parts, setting, kept, message);
    }

    fn add_loosening(&self, parts: &mut Parts, setting: NamedSetting<'_>, kept: Value, message: String) {
        let (severity, scope) = match self.owner {
            FileOwner::Shared => (Severity::Warning, FindingScope::Contents),
            FileOwner::Local => (Severity::Warning, FindingScope::FirstCheck),
            FileOwner::User => (Severity::Info, FindingScope::Contents),
        };
        if self.owner == FileOwner::Shared {
            parts.add_permission(setting.name, kept);
        } else {
            parts.loosens.insert(shown(setting.name));
        }
        let note = FoundSetting::note(CODE, setting, message);
        parts.findings.insert(FoundSetting { severity, scope, ..note });
    }
}

/// Returns `true` if a rule allows a tool whatever its arguments are, such as `Bash`, `Bash(*)` and `Bash(:*)`.
fn allows_any(rule: &str, tool: &str) -> bool {
    let Some(rest) = rule.trim().strip_prefix(tool) else { return false };
    let inner = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    rest.is_empty() || inner.is_some_and(|inner| inner.chars().all(|c| matches!(c, '*' | ':' | ' ')))
}

fn is_true(node: &JsonNode<'_>) -> bool {
    matches!(node.value(), JsonValue::Bool(true))
}

/// Returns a member of an object of the settings, or of the settings themselves.
fn in_object<'n, 'f>(root: &'n JsonNode<'f>, object: &str, key: &str) -> Option<&'n JsonMember<'f>> {
    member(if object.is_empty() { root } else { root.get(object)? }, key)
}

fn dotted(object: &str, key: &str) -> String {
    if object.is_empty() { key.to_owned() } else { format!("{object}.{key}") }
}
