//! A temporary home directory, and the program run in it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

pub(crate) struct Home {
    pub(crate) temp: tempfile::TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { temp: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plugward"));
        command.args(args).current_dir(self.temp.path()).env_clear();
        command.env("HOME", self.path("home")).env("PLUGWARD_CONFIG_DIR", self.path("config"));
        command.env("PLUGWARD_STATE_DIR", self.path("state")).env("USER", "tester");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Returns exit code, standard output and standard error as text for a snapshot.
    pub(crate) fn shown(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let text = |bytes: &[u8]| undated(std::str::from_utf8(bytes).unwrap());
        format!(
            "$ plugward {}\n{}{}exit {}\n",
            args.join(" "),
            text(&output.stdout),
            text(&output.stderr),
            output.status.code().unwrap()
        )
    }

    pub(crate) fn good(&self) {
        self.write(
            "plugins/good/.claude-plugin/plugin.json",
            "{ \"name\": \"good\", \"version\": \"1.0.0\" }\n",
        );
        self.write("plugins/good/hooks/run.sh", "echo hello\n");
    }
}

/// Replaces the day of a pin, which is that of the test run.
pub(crate) fn undated(text: &str) -> String {
    let digit = |c: char| if c.is_ascii_digit() { 'd' } else { c };
    let replace = |part: &str| {
        if part.chars().take(10).map(digit).eq("dddd-dd-dd".chars()) {
            format!("YYYY-MM-DD{}", part.get(10..).unwrap())
        } else {
            part.to_owned()
        }
    };
    text.split("since ").map(replace).collect::<Vec<_>>().join("since ")
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}
