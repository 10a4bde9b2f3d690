//! The other processes: this very program, told by a variable what to do.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use plugward_policy::CommandRules;
use plugward_registry::{
    CommandHost, CommandNames, CommandStore, Fetch, FetchFault, InstallConsent, Registry, SearchPath,
    SourceUrl,
};

use crate::support::{REGISTRY, TARGET, UNSET, digest, entry, now, open, us};

const TASK: &str = "PLUGWARD_TEST_TASK";
const PLACE: &str = "PLUGWARD_TEST_PLACE";

/// The bytes of a version: 1 MiB that shows whether it is complete.
pub(crate) fn version(number: u8) -> Vec<u8> {
    (0..256_u32).flat_map(|block| vec![block as u8 ^ number; 4096]).collect()
}

/// A registry that lists one version of `hi`.
pub(crate) fn registry(number: u8) -> Registry {
    let row = entry("hi", &digest(&version(number)), "official");
    let text = format!(r#"{{"version": 1, "plugins": {{{row}}}}}"#);
    Registry::parse(text.as_bytes(), &SourceUrl::parse(REGISTRY).unwrap()).unwrap()
}

/// Starts a child that runs one task in a plugin directory.
pub(crate) fn command(task: &str, place: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child::run", "--nocapture", "--test-threads=1"]);
    command.env(TASK, task).env(PLACE, place).stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// Prints a line after each piece, so that the parent can end the child at any of them.
struct Telling(Vec<u8>);

impl Fetch for Telling {
    fn fetch(&self, _: &SourceUrl, sink: &mut dyn Write) -> Result<Option<u64>, FetchFault> {
        for piece in self.0.chunks(64 << 10) {
            sink.write_all(piece).map_err(|error| FetchFault::Network(error.to_string()))?;
            say("piece");
        }
        Ok(None)
    }
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "child: {line}").unwrap();
    out.flush().unwrap();
}

/// Runs one operation on the plugin directory, and returns its code.
pub(crate) fn operate(task: &str, place: &Path, fetch: &dyn Fetch) -> Result<(), &'static str> {
    let rules = |_: &str| -> CommandRules { UNSET };
    let revoked = |_: &CommandNames<'_>, _: &plugward_types::Digest| None;
    let (targets, path) = ([TARGET.to_owned()], SearchPath::empty());
    let url = SourceUrl::parse(REGISTRY).unwrap();
    let host = CommandHost {
        prefix: "plugward",
        registry: Some(&url),
        targets: &targets,
        path: &path,
        rules: &rules,
        revoked: &revoked,
    };
    let store = CommandStore::open(&open(place), us(), Duration::from_secs(60)).unwrap();
    let done = match task {
        "install" => store.install(&host, &registry(1), "hi", InstallConsent::NotAsked, fetch, now()),
        "update" => store.update(&host, &registry(2), "hi", fetch, now()),
        "remove" => store.remove(&host, "hi"),
        other => panic!("no such task: {other}"),
    };
    done.map(drop).map_err(|error| error.code())
}

/// Not a test of its own: does what the parent asks for, and nothing without one.
#[test]
fn run() {
    let (Ok(task), Ok(place)) = (std::env::var(TASK), std::env::var(PLACE)) else { return };
    let fetch = Telling(version(if task == "update" { 2 } else { 1 }));
    say("ready");
    let done = operate(&task, Path::new(&place), &fetch);
    say(&format!("done {}", done.err().unwrap_or("ok")));
}
