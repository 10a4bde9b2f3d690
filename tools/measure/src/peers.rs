//! `cargo xtask peers hosts`: what the real hosts do with a plugin that changed after it was installed. Outside CI.
//!
//! The hosts come from npm. Each runs without an account, in an empty home directory and without network access.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "installs and starts the hosts, and writes their home directories"
)]

mod model;
mod scan;
mod servers;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use clap::Subcommand;
use serde::Deserialize;

use xtask::{Outcome, target_directory, text};

/// The hosts and their observations.
const TABLE: &str = "tools/measure/peers.toml";
/// The most time that one command of a host may take. A first start on a busy machine takes up to 20 seconds.
const LIMIT: Duration = Duration::from_secs(60);
/// The time that a plugin gets to run after the control has run. Hosts start both at the same time.
const GRACE: Duration = Duration::from_secs(4);
/// The time between two looks at a running host.
const STEP: Duration = Duration::from_millis(100);
/// A hook or server of the user that every run has to start. Without it, "did not run" would mean nothing.
const CONTROL: &str = "control";

/// The comparisons with other programs.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Peers {
    /// Start Claude Code, Codex and Gemini CLI and print what they do with plugins
    ///
    /// Installs the missing hosts with `npm install --prefix DIR`; delete DIR for newer versions. Prints a line for
    /// each observation. An observation that differs from what the crate `installs` relies on is an error.
    #[command(after_help = "Examples:\n  \
        cargo xtask peers hosts\n  \
        cargo xtask peers hosts --host codex --prefix ../hosts  # one host, installed elsewhere")]
    Hosts {
        /// Directory that npm installs to [default: peers in the target directory]
        #[arg(long, value_name = "DIR")]
        prefix: Option<PathBuf>,
        /// Only this host
        #[arg(long, value_name = "NAME")]
        host: Option<String>,
        /// Program to start the hosts with [default: debug/plugward in the target directory]
        #[arg(long, value_name = "FILE")]
        plugward: Option<PathBuf>,
    },
    /// Install a small language model and its server, for the test of an audit by a real model
    Model,
    /// Run plugward and other scanners over attacks and ordinary plugins
    ///
    /// DIR has the directories `attacks` and `honest`, each with one directory per plugin. Installs the missing scanners
    /// with pip below `peers/scan` in the target directory, and prints a row for each scanner. A plugin counts as flagged
    /// by the scanner's own verdict, with its default threshold. A scanner that fails is an error.
    #[command(after_help = "Examples:\n  \
        cargo xtask peers scan ../attacks-1\n  \
        cargo xtask peers scan ../attacks-1 --plugward ./plugward  # another build")]
    Scan {
        /// Directory of attacks and ordinary plugins
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        /// Program to measure [default: debug/plugward in the target directory]
        #[arg(long, value_name = "FILE")]
        plugward: Option<PathBuf>,
    },
    /// Install public MCP servers, for the tests of `plugward mcp run`
    Servers,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    host: Vec<Host>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Host {
    /// The command, which is also the name that plugward uses.
    name: String,
    package: String,
    #[serde(default)]
    env: Vec<(String, String)>,
    files: Vec<Vec<String>>,
    setup: Vec<Vec<String>>,
    records: Vec<(String, String, bool)>,
    after: Vec<Vec<String>>,
    /// Arguments of a start, before and after those of a case.
    #[serde(default)]
    first: Vec<String>,
    last: Vec<String>,
    case: Vec<Case>,
}

/// A change, a start of the host, and a word that is written or not.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    what: String,
    #[serde(default)]
    edits: Vec<Vec<String>>,
    /// Edits after `plugward check` has pinned what is there. If there are any, the host is also started by `plugward
    /// run`, under which the word must not be written.
    #[serde(default)]
    change: Vec<Vec<String>>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default = "intact")]
    mark: String,
    relied: bool,
}

/// The word of a plugin that was not changed.
fn intact() -> String {
    "intact".to_owned()
}

pub(crate) fn run(task: &Peers) -> Result<Outcome> {
    let (prefix, host, plugward) = match task {
        Peers::Hosts { prefix, host, plugward } => (prefix, host, plugward),
        Peers::Model => return model::install(),
        Peers::Scan { dir, plugward } => {
            return scan::run(&std::path::absolute(dir)?, &built(plugward.as_ref())?);
        }
        Peers::Servers => return servers::install(),
    };
    let target = PathBuf::from(target_directory()?);
    let prefix = match prefix {
        Some(prefix) => std::path::absolute(prefix)?,
        None => target.join("peers"),
    };
    let plugward = built(plugward.as_ref())?;
    let mut chosen = toml::from_str::<Table>(&text(TABLE)?).context(TABLE)?.host;
    chosen.retain(|known| host.as_ref().is_none_or(|name| *name == known.name));
    ensure!(!chosen.is_empty(), "unknown host (known: claude, codex, gemini)");
    install(&prefix, &chosen)?;
    let mut wrong = Vec::new();
    let mut count: usize = 0;
    for host in &chosen {
        // A host that cannot be observed does not keep the others from it.
        if let Err(error) = observe(&prefix, &plugward, host, &mut wrong) {
            wrong.push(format!("{}: {error:#}", host.name));
        }
        let guarded = host.case.iter().filter(|case| !case.change.is_empty()).count();
        let plain = host.records.len().saturating_add(host.case.len());
        count = count.saturating_add(plain).saturating_add(guarded);
    }
    Ok(Outcome { looked_at: format!("{count} observations"), wrong })
}

/// Returns the program that the user names, or the debug build.
fn built(plugward: Option<&PathBuf>) -> Result<PathBuf> {
    let file = match plugward {
        Some(file) => std::path::absolute(file)?,
        None => PathBuf::from(target_directory()?).join("debug/plugward"),
    };
    ensure!(file.exists(), "{} does not exist: cargo build -p plugward", file.display());
    Ok(file)
}

/// Installs the hosts that are missing.
fn install(prefix: &Path, hosts: &[Host]) -> Result<()> {
    let missing = hosts.iter().filter(|host| !program(prefix, host).exists());
    // With a tag, npm takes the latest version even if its `engines` ask for a newer Node.
    let packages: Vec<String> = missing.map(|host| format!("{}@latest", host.package)).collect();
    if packages.is_empty() {
        return Ok(());
    }
    npm_install(prefix, &packages)
}

/// Installs packages below a directory.
fn npm_install<S: AsRef<OsStr>>(prefix: &Path, packages: &[S]) -> Result<()> {
    fs::create_dir_all(prefix).with_context(|| format!("create {}", prefix.display()))?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--loglevel", "error", "--prefix"]).arg(prefix);
    npm.args(packages).stdin(Stdio::null()).stdout(Stdio::null());
    let status = npm.status().context("start npm (https://nodejs.org)")?;
    ensure!(status.success(), "npm install ended with {status}");
    Ok(())
}

fn program(prefix: &Path, host: &Host) -> PathBuf {
    prefix.join("node_modules/.bin").join(&host.name)
}

/// Prints the observations of one host, and adds those that differ to `wrong`.
fn observe(prefix: &Path, plugward: &Path, host: &Host, wrong: &mut Vec<String>) -> Result<()> {
    let lab = Lab::create(prefix, host)?;
    let version = lab.version()?;
    let mut note = |what: &str, seen: Result<bool>, relied: bool| {
        let line = |answer: &str| format!("{} {version}: {what}: {answer}", host.name);
        match seen {
            Ok(seen) => {
                print(&line(if seen { "yes" } else { "no" }));
                if seen != relied {
                    wrong.push(line("this differs from what `installs` relies on"));
                }
            }
            Err(error) => wrong.push(line(&format!("{error:#}"))),
        }
    };
    lab.set_up()?;
    for (path, text, relied) in &host.records {
        let found = fs::read_to_string(lab.home().join(path)).unwrap_or_default();
        note(&format!("`{text}` is in ~/{path}"), Ok(found.contains(text)), *relied);
    }
    lab.edit(&host.after)?;
    lab.save()?;
    for case in &host.case {
        note(&case.what, lab.case(case), case.relied);
        lab.restore()?;
        if !case.change.is_empty() {
            note(&format!("{}, started by plugward", case.what), lab.guarded(plugward, case), false);
            lab.restore()?;
        }
    }
    Ok(())
}

/// A temporary home directory with a working directory next to it. Both are removed at the end.
struct Lab<'a> {
    root: PathBuf,
    program: PathBuf,
    path: OsString,
    host: &'a Host,
}

impl<'a> Lab<'a> {
    fn create(prefix: &Path, host: &'a Host) -> Result<Self> {
        let temporary = std::env::temp_dir().canonicalize().context("find the temporary directory")?;
        let root = temporary.join(format!("plugward-peers-{}-{}", host.name, std::process::id()));
        fs::create_dir(&root).with_context(|| format!("create {}", root.display()))?;
        let mut path = prefix.join("node_modules/.bin").into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let lab = Self { root, program: program(prefix, host), path, host };
        fs::create_dir(lab.home())?;
        fs::create_dir(lab.work())?;
        Ok(lab)
    }

    fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// Replaces the placeholders for the two directories.
    fn fill(&self, text: &str) -> String {
        let text = text.replace("@HOME@", &self.home().to_string_lossy());
        text.replace("@WORK@", &self.work().to_string_lossy())
    }

    /// Starts the host, with standard output in a file. The host is the leader of a process group of its own.
    fn start(&self, args: &[String], input: &str) -> Result<Child> {
        self.spawn(&self.program, args, input)
    }

    fn spawn(&self, program: &Path, args: &[String], input: &str) -> Result<Child> {
        use std::os::unix::process::CommandExt as _;
        let output = fs::File::create(self.root.join("output")).context("create a file")?;
        let mut command = Command::new(program);
        command.args(args.iter().map(|arg| self.fill(arg))).current_dir(self.work()).process_group(0);
        command.env_clear().env("HOME", self.home()).env("PATH", &self.path).env("TERM", "dumb");
        // Nothing listens on the discard port, so no host reaches the network. The updater would replace the host.
        command.env("HTTPS_PROXY", "http://127.0.0.1:9").env("HTTP_PROXY", "http://127.0.0.1:9");
        command.env("DISABLE_AUTOUPDATER", "1").envs(self.host.env.iter().cloned());
        command.stdin(Stdio::piped()).stdout(output.try_clone()?).stderr(output);
        let mut child = command.spawn().with_context(|| format!("start {}", program.display()))?;
        if let Some(mut stdin) = child.stdin.take() {
            // A host that does not read its input may have closed it.
            drop(stdin.write_all(input.as_bytes()));
        }
        Ok(child)
    }

    /// Waits until the host ends or `done` returns `true`, and stops it. Returns the status if it ended by itself.
    fn wait(&self, mut child: Child, mut done: impl FnMut() -> bool) -> Result<Option<ExitStatus>> {
        let start = Instant::now();
        loop {
            if let Some(status) = child.try_wait().context("wait for the host")? {
                return Ok(Some(status));
            }
            let late = start.elapsed() > LIMIT;
            if late || done() {
                // The negative number names the group, with the servers that the host has started.
                let group = format!("-{}", child.id());
                let status = Command::new("kill").args(["-s", "KILL", "--", &group]).status();
                ensure!(status.context("start kill")?.success(), "the host could not be stopped");
                child.wait().context("wait for the host")?;
                ensure!(!late, "stopped after {} seconds: {}", LIMIT.as_secs(), self.output());
                return Ok(None);
            }
            std::thread::sleep(STEP);
        }
    }

    /// Returns the end of the output of the last command.
    fn output(&self) -> String {
        let text = fs::read(self.root.join("output")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        text.trim().lines().next_back().unwrap_or("no output").to_owned()
    }

    fn version(&self) -> Result<String> {
        self.wait(self.start(&["--version".to_owned()], "")?, || false)?;
        let line = self.output();
        let version = line.split(' ').find(|word| word.starts_with(|first: char| first.is_ascii_digit()));
        Ok(version.with_context(|| format!("no version in `{line}`"))?.to_owned())
    }

    /// Lets the host install the plugin.
    fn set_up(&self) -> Result<()> {
        self.edit(&self.host.files)?;
        for args in &self.host.setup {
            // Gemini CLI asks whether it may trust the source of an extension.
            let status = self.wait(self.start(args, "y\n")?, || false)?;
            let done = status.is_some_and(|status| status.success());
            ensure!(done, "`{} {}` failed: {}", self.host.name, args.join(" "), self.output());
        }
        Ok(())
    }

    /// Pins what is there, changes it, starts the host by `plugward run`, and returns whether the mark was written.
    fn guarded(&self, plugward: &Path, case: &Case) -> Result<bool> {
        self.edit(&case.edits)?;
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
        let check = words(&["check", "--host", &self.host.name, "--allow-empty"]);
        let before =
            self.wait(self.spawn(plugward, &check, "")?, || false)?.context("the check was stopped")?;
        self.edit(&case.change)?;
        let args =
            [words(&["run", "--", &self.host.name]), self.host.first.clone(), case.args.clone()].concat();
        let args = [args, self.host.last.clone()].concat();
        let mut since = Instant::now();
        let mut last = self.ran();
        // A host that starts has the control in its home. The time counts from its last word.
        self.wait(self.spawn(plugward, &args, "")?, || {
            let now = self.ran();
            if now != last {
                (since, last) = (Instant::now(), now);
            }
            !last.is_empty() && since.elapsed() > GRACE
        })?;
        // Nothing that is asked about at first sight has to be pinned.
        let known = before.code().is_some_and(|code| matches!(code, 0 | 3 | 6));
        ensure!(known, "the first check ended with {before}: {}", self.output());
        Ok(self.ran().lines().any(|line| line == case.mark))
    }

    /// Returns the words that hooks and servers have written.
    fn ran(&self) -> String {
        fs::read_to_string(self.home().join("ran")).unwrap_or_default()
    }

    /// Starts the host after a change, and returns whether the mark of the case was written.
    fn case(&self, case: &Case) -> Result<bool> {
        self.edit(&case.edits)?;
        self.edit(&case.change)?;
        let args = [&*self.host.first, &case.args, &self.host.last].concat();
        let has = |mark: &str| self.ran().lines().any(|line| line == mark);
        let mut control: Option<Instant> = None;
        self.wait(self.start(&args, "")?, || {
            if control.is_none() && has(CONTROL) {
                control = Some(Instant::now());
            }
            control.is_some_and(|since| has(&case.mark) || since.elapsed() > GRACE)
        })?;
        ensure!(has(CONTROL), "the control did not run: {}", self.output());
        Ok(has(&case.mark))
    }

    fn edit(&self, edits: &[Vec<String>]) -> Result<()> {
        edits.iter().try_for_each(|edit| {
            self.apply(edit).with_context(|| edit.iter().take(2).cloned().collect::<Vec<_>>().join(" "))
        })
    }

    fn apply(&self, edit: &[String]) -> Result<()> {
        let edit: Vec<&str> = edit.iter().map(String::as_str).collect();
        match edit[..] {
            ["write", path, text] => {
                let path = self.root.join(path);
                fs::create_dir_all(path.parent().context("no parent")?)?;
                fs::write(path, self.fill(text))?;
            }
            ["replace", path, from, to] => {
                let path = self.root.join(path);
                let (text, from) = (fs::read_to_string(&path)?, self.fill(from));
                ensure!(text.contains(&from), "the text is not there");
                fs::write(path, text.replace(&from, &self.fill(to)))?;
            }
            ["cut", path] => {
                let mut bytes = fs::read(self.root.join(path))?;
                bytes.truncate(bytes.len().div_euclid(2));
                fs::write(self.root.join(path), bytes)?;
            }
            ["copy", from, to] => copy(&self.root.join(from), &self.root.join(to))?,
            ["remove", path] => fs::remove_dir_all(self.root.join(path))?,
            _ => bail!("unknown edit"),
        }
        Ok(())
    }

    /// Keeps a copy of both directories, because each case starts with the same files.
    fn save(&self) -> Result<()> {
        copy(&self.home(), &self.root.join("saved/home"))?;
        copy(&self.work(), &self.root.join("saved/work"))
    }

    fn restore(&self) -> Result<()> {
        for name in ["home", "work"] {
            let dir = self.root.join(name);
            // A server that was stopped may still be writing its last file.
            for _ in 0..20 {
                if fs::remove_dir_all(&dir).is_ok() {
                    break;
                }
                std::thread::sleep(STEP);
            }
            copy(&self.root.join("saved").join(name), &dir)?;
        }
        Ok(())
    }
}

impl Drop for Lab<'_> {
    fn drop(&mut self) {
        // A directory that is left in the temporary directory does no harm.
        drop(fs::remove_dir_all(&self.root));
    }
}

/// Copies a directory to a name that does not exist yet.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        bail!("{} exists", to.display());
    }
    fs::create_dir_all(to.parent().context("no parent")?)?;
    let status = Command::new("cp").arg("-R").arg(from).arg(to).status().context("start cp")?;
    ensure!(status.success(), "cp ended with {status}");
    Ok(())
}

#[expect(clippy::print_stdout, reason = "a command's own output")]
fn print(line: &str) {
    println!("{line}");
}
