//! A project with settings, next to the home directory of the user.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::home::{Home, code};

/// A project next to the home directory of the user.
pub(crate) struct Project(pub(crate) Home);

impl Project {
    pub(crate) fn new() -> Self {
        let project = Self(Home::new());
        project.0.write("home/.claude/settings.json", "{}");
        project.write(".git/HEAD", "ref: refs/heads/main\n");
        project
    }

    /// Writes a file of the project.
    pub(crate) fn write(&self, name: &str, text: &str) {
        self.0.write(&format!("w/{name}"), text);
    }

    pub(crate) fn executable(&self, name: &str, text: &str) {
        self.write(name, text);
        let path = self.0.path(&format!("w/{name}"));
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Writes the settings of the project, with one hook.
    pub(crate) fn hook(&self, command: &str) {
        self.write(".claude/settings.json", &hooks(command));
    }

    pub(crate) fn run(&self, args: &[&str]) -> (i32, String) {
        let mut command = self.0.command(args);
        let path = format!("{}:/usr/bin:/bin", self.0.path("home/.local/bin").display());
        let output = command.current_dir(self.0.path("w")).env("PATH", path).output().unwrap();
        let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
        (code(&output), String::from_utf8(text).unwrap())
    }

    pub(crate) fn check(&self) -> (i32, String) {
        self.run(&["check"])
    }

    /// Runs the command that `diff` prints.
    pub(crate) fn accept(&self, selector: &str) {
        let (_, diff) = self.run(&["diff", selector]);
        let line = diff.split("plugward accept ").nth(1).unwrap().replace("\\\n", " ");
        let words: Vec<&str> = core::iter::once("accept").chain(line.split_whitespace()).collect();
        let (exit, text) = self.run(&words);
        assert_eq!(exit, 0, "{text}");
    }
}

/// Returns settings with one hook.
pub(crate) fn hooks(command: &str) -> String {
    json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": command }] }] } }).to_string()
}
