//! opencode: the plugins, packages and commands that its configuration names.

use plugward_manifest::json::{JsonMember, JsonNode};

use super::{CodeNames, in_project, texts};
use crate::collector::{Collector, join, place, shown};
use crate::judge::{Judge, NamedSetting, member};
use crate::parts::{Parts, Value};
use crate::source_file::Syntax;
use crate::{InstallLayer, InstallProblemKind};

/// The names of the configuration in the host's home.
const HOME_FILES: [&str; 3] = ["opencode.json", "opencode.jsonc", "config.json"];
/// Those in the user's home.
const USER_FILES: [&str; 2] = [".opencode/opencode.json", ".opencode/opencode.jsonc"];
/// Those in a directory of the project.
const PROJECT_FILES: [&str; 4] =
    ["opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"];
/// The directory in which the host keeps packages.
const PACKAGES: &str = ".cache/opencode/node_modules";

pub(crate) fn read(found: &mut Collector<'_>) {
    let user = USER_FILES.map(|name| (join(found.machine.home, name), InstallLayer::User));
    let home = HOME_FILES.map(|name| (join(&found.home, name), InstallLayer::User)).into_iter().chain(user);
    let project = PROJECT_FILES.iter().flat_map(|name| in_project(found, name)).collect::<Vec<_>>();
    for (path, layer) in home.chain(project) {
        let mut names = CodeNames::new(&path, layer);
        let judge = found.judge(&path, layer);
        found.parts_file(&path, Syntax::JsonWithCommas, layer, |found, root, parts| {
            for (number, text) in texts(root.get("plugin"), "name") {
                add_package(found, parts, &mut names, &format!("plugin.{number}"), text);
            }
            for provider in members(root.get("provider")) {
                if let Some(package) = provider.node().get("npm").and_then(JsonNode::as_str) {
                    add_package(found, parts, &mut names, &format!("provider.{}", provider.key()), package);
                }
            }
            for key in ["formatter", "lsp"] {
                for one in members(root.get(key)) {
                    add_command(parts, &format!("{key}.{}", one.key()), one.node());
                }
            }
            if let Some(hooks) = root.get("experimental").and_then(|node| node.get("hook")) {
                add_command(parts, "experimental.hook", hooks);
            }
            permissions(&judge, parts, root);
            prompts(found, &path, root, parts);
        });
        names.finish(found);
    }
}

fn members<'n, 'f>(node: Option<&'n JsonNode<'f>>) -> &'n [JsonMember<'f>] {
    node.map_or(&[], JsonNode::members_or_none)
}

/// Adds a package, and its copy if the host has one.
fn add_package(found: &Collector<'_>, parts: &mut Parts, names: &mut CodeNames, name: &str, text: &str) {
    names.add(found, parts, name, text);
    if names.path(found, text).is_none() {
        let at = text.rfind('@').filter(|at| *at > 0).unwrap_or(text.len());
        let copy = join(found.machine.home, &format!("{PACKAGES}/{}", text.get(..at).unwrap_or(text)));
        names.directories.extend(Some(copy).filter(|copy| found.is_directory(copy)));
    }
}

/// Adds each command in a value, at any depth.
fn add_command(parts: &mut Parts, name: &str, node: &JsonNode<'_>) {
    if node.get("command").is_some() {
        parts.add_command(name, node);
    }
    for member in members(Some(node)).iter().filter(|member| member.key() != "command") {
        add_command(parts, &format!("{name}.{}", member.key()), member.node());
    }
    for (number, item) in node.items_or_none().iter().enumerate() {
        add_command(parts, &format!("{name}.{number}"), item);
    }
}

/// Adds the prompts, and the commands in them. The files that they name are only named.
fn prompts(found: &mut Collector<'_>, path: &str, root: &JsonNode<'_>, parts: &mut Parts) {
    let mut has_files = false;
    for (key, field) in [("command", "template"), ("agent", "prompt"), ("mode", "prompt")] {
        for one in members(root.get(key)) {
            let Some(text) = one.node().get(field).and_then(JsonNode::as_str) else { continue };
            let name = format!("{key}.{}.{field}", one.key());
            for (number, command) in commands_in(text).enumerate() {
                parts.add_command_text(&format!("{name}.{number}"), command);
            }
            has_files |= text.contains("{file:");
            parts.add_setting(&name, Value::Text(text.to_owned()));
        }
    }
    let instructions = root.get("instructions");
    if let Some(node) = instructions.filter(|node| node.items().is_some_and(|items| !items.is_empty())) {
        has_files = true;
        parts.add_setting("instructions", Value::of(node));
    }
    if has_files {
        let message = format!("not judged: the files that {} names in prompts and instructions", shown(path));
        let problem = found.draft(
            InstallProblemKind::NotJudged,
            place(path, "/instructions"),
            message,
            "review them by hand",
        );
        found.report(problem);
    }
}

/// Returns the commands of a template, which the host runs before the model sees it: "!`COMMAND`".
fn commands_in(text: &str) -> impl Iterator<Item = &str> {
    text.split("!`").skip(1).filter_map(|rest| Some(rest.split_once('`')?.0))
}

/// Judges the permission to run any command.
fn permissions(judge: &Judge<'_>, parts: &mut Parts, root: &JsonNode<'_>) {
    let Some(permission) = member(root, "permission") else { return };
    let bash = permission.node().get("bash");
    let any = bash.and_then(|bash| bash.get("*")).or(bash).unwrap_or_else(|| permission.node());
    if any.as_str() == Some("allow") {
        let setting = NamedSetting { name: "permission", span: permission.key_span() };
        judge.loosens(parts, setting, Value::of(permission.node()));
    }
}
