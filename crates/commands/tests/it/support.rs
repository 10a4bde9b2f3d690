//! Renders readings as short texts.

use plugward_commands::{
    CommandContext, CommandError, CommandLimits, CommandLine, PathText, StartTarget, TOP_LEVEL, read_command,
};

/// The variables that a host sets in the tests.
pub(crate) fn variable(name: &str) -> Option<String> {
    let value = match name {
        "CLAUDE_PROJECT_DIR" => "/p",
        "CLAUDE_PLUGIN_ROOT" => "/plugin",
        "HOME" => "/home/me",
        TOP_LEVEL => "/top",
        _ => return None,
    };
    Some(value.to_owned())
}

pub(crate) fn context() -> CommandContext<'static> {
    CommandContext { variables: &variable, directory: PathText::start(), limits: CommandLimits::STANDARD }
}

/// Renders a target.
pub(crate) fn target(target: &StartTarget) -> String {
    match target {
        StartTarget::File(path) => path.to_string(),
        StartTarget::Pattern(path) => format!("glob:{path}"),
        StartTarget::OnPath { name, directories } => {
            let directories: Vec<&str> = directories.iter().map(PathText::as_str).collect();
            format!("path:{}@{}", name.shown(), directories.join(":"))
        }
        StartTarget::Code { language, .. } => format!("code:{language:?}"),
        StartTarget::Module(name) => format!("module:{}", name.shown()),
        StartTarget::Package(package) => format!("package:{}", package.reference.shown()),
        StartTarget::Environment(path) => format!("env:{path}"),
        StartTarget::Recipe { tool, name, files, in_workspaces, assignments, arguments } => {
            let files: Vec<String> = files.iter().map(|file| format!("@{file}")).collect();
            let files = files.concat();
            let workspaces = if *in_workspaces { "/*" } else { "" };
            let assignments = assignments.iter().map(|text| format!("[{text}]"));
            let arguments = arguments.iter().map(|word| format!("({})", word.shown()));
            let values: String = assignments.chain(arguments).collect();
            format!("recipe:{tool:?}{workspaces}:{}{files}{values}", name.shown())
        }
        other => format!("{other:?}"),
    }
}

/// Renders the targets and open words of a line, without the texts of shells.
pub(crate) fn render(line: Result<CommandLine, CommandError>) -> String {
    let line = match line {
        Ok(line) => line,
        Err(error) => return format!("error {}", error.limit()),
    };
    let mut parts: Vec<String> = line.starts().map(target).filter(|part| part != "code:Shell").collect();
    parts.extend(line.open_words.iter().map(|open| format!("{:?}({})", open.kind, open.word.shown())));
    parts.join(" ")
}

pub(crate) fn read(text: &str) -> String {
    render(read_command(text, &context()))
}

/// Compares readings with the expected ones, and prints all that differ.
pub(crate) fn check(table: &[(&str, &str)], read: fn(&str) -> String) {
    let mut wrong = Vec::new();
    for (text, expected) in table {
        let found = read(text);
        if found != *expected {
            wrong.push(format!("{text:?}\n  expected {expected:?}\n  found    {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), table.len(), wrong.join("\n"));
}

/// Programs in front of a command, with their options.
pub(crate) const WRAPPERS: [&str; 40] = [
    "env A=1",
    "sudo -u me",
    "timeout -k 1 5",
    "nice -n 3",
    "nohup",
    "xvfb-run -a",
    "tini --",
    "wsl",
    "doppler run --",
    "dotenvx run --",
    "direnv exec .",
    "setpriv --reuid=1000",
    "bwrap --dev-bind / /",
    "winpty",
    "perf stat",
    "strace -f",
    "flock /tmp/l",
    "unshare -r",
    "systemd-run --user",
    "busybox",
    "foo --flag",
    "foo run --",
    "uv run --",
    "dotenv --",
    "poetry run",
    "stdbuf -oL",
    "ionice -c 3",
    "exec",
    "command",
    "time",
    "!",
    "caffeinate -i",
    "mise exec --",
    "npm exec --",
    "pnpm exec",
    "foo a b",
    "npx foo",
    "coproc",
    "setsid -w",
    "chrt -i 0",
];
