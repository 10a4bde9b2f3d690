//! `plugward gate openclaw --setup`: the settings for OpenClaw, with the path of this program.

use camino::{Utf8Path, Utf8PathBuf};

use crate::args::GateArgs;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::verbs::shared::quoted;

/// The permission bits that let the group and others write.
const WRITE: u32 = 0o022;
/// The sticky bit. In such a directory, only the owner of a file can move or remove it.
const STICKY: u32 = 0o1000;
/// The directory that fits on every system.
const PLACE: &str = "/usr/local/bin";

pub(super) fn run(args: &GateArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let program = host::own_program()?;
    check(&program)?;
    out.result(&settings(&program, args, host)?)?;
    out.say("Add this to openclaw.json, then try it: openclaw doctor --deep");
    Ok(0)
}

/// Checks what OpenClaw checks before it starts the program.
fn check(program: &Utf8Path) -> Result<(), Failure> {
    let facts = |path: &Utf8Path| {
        use std::os::unix::fs::MetadataExt as _;
        let meta = std::fs::symlink_metadata(path).map_err(|error| host::unreachable(path, &error))?;
        Ok::<_, Failure>((meta.uid(), meta.mode(), meta.is_file()))
    };
    for path in program.ancestors() {
        let is_program = path == program;
        let (owner, mode, is_file) = facts(path)?;
        if is_program && !is_file {
            return Err(refused(program, "it is not a regular file"));
        }
        if owner != 0 && owner != host::user_id() {
            return Err(refused(program, &format!("{path} belongs to another user (uid {owner})")));
        }
        // The sticky bit only protects what is in a directory.
        if mode & WRITE != 0 && (is_program || mode & STICKY == 0) {
            let failure = refused(program, &format!("other users can write {path}"));
            return Err(failure.help(format!("or fix the permissions: chmod go-w {}", quoted(path.as_str()))));
        }
    }
    Ok(())
}

fn refused(program: &Utf8Path, why: &str) -> Failure {
    let program = quoted(program.as_str());
    Failure::usage(format!("OpenClaw would not start {program}: {why}"))
        .code("gate/program")
        .help(format!("install plugward where only you or root can write: sudo install {program} {PLACE}"))
}

/// Renders the settings as JSON5.
fn settings(program: &Utf8Path, args: &GateArgs, host: &Host) -> Result<String, Failure> {
    // OpenClaw passes no variables, so the directories of this run are written out.
    let absolute = |dir: &Utf8Path| host::typed_path(dir).unwrap_or_else(|| dir.to_owned());
    let (config, state): (Utf8PathBuf, Utf8PathBuf) =
        (absolute(host.config_dir()?), absolute(host.state_dir()?));
    let timeout = args.timeout.to_string();
    let mut words = vec!["--config-dir", config.as_str(), "--state-dir", state.as_str(), "gate", "openclaw"];
    let mut waits = String::new();
    if args.timeout != GateArgs::TIMEOUT {
        words.extend(["--timeout", &timeout]);
        waits = format!("        timeoutMs: {},\n", args.timeout.saturating_add(2).saturating_mul(1000));
    }
    let words = serde_json::to_string(&words)?.replace("\",\"", "\", \"");
    let program = serde_json::to_string(program.as_str())?;
    Ok(format!(
        "{{\n  security: {{\n    installPolicy: {{\n      enabled: true,\n      exec: {{\n        source: \"exec\",\n        \
         command: {program},\n        args: {words},\n{waits}      }},\n    }},\n  }},\n}}\n"
    ))
}
