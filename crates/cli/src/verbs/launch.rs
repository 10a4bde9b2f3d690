//! `plugward launch`: starts a file of a checked plugin with only the granted access.

use std::io::{self, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::thread::JoinHandle;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use plugward_loader::escape::line;
use plugward_loader::launch::{LaunchReport, LaunchSpec, Program, RunningProgram};
use plugward_loader::manifest::Coverage;
use plugward_loader::{Digest, LaunchSubject, LoadedPlugin, ledger_name, sha256_of};
use serde_json::json;

use crate::access::{GrantTarget, Grantee, LaunchRules, StartAccess};
use crate::args::LaunchArgs;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::output_file::{self, PreparedOutput};
use crate::settings::Settings;
use crate::starts::ProgramInterrupts;
use crate::verbs::mcp::server::checked;
use crate::{json, starts, stores};

/// How long one wait for the program takes.
const WAIT: Duration = Duration::from_secs(3_600);

pub(crate) fn run(args: &LaunchArgs, host: &Host, out: &Out) -> Result<u8, Failure> {
    let settings = Settings::read(host)?;
    let rules = LaunchRules::here(&settings, host)?;
    let workflow = format!("launch-{:08x}", u128::from_le_bytes(host::random()?) >> 96);
    let mut stores = stores::to_write(host, &settings, Some(&workflow), out)?;
    if let Some(failure) = stores.record.failure() {
        return Err(starts::not_recorded(failure));
    }
    let plugin = checked(&args.id, &args.dirs, &settings, &mut stores, host, out)?;
    let copies = host.state_dir()?.join("sealed");
    let sealed = plugin.seal_into(&host::own_directory(&copies)?);
    let sealed = sealed.map_err(|error| starts::not_sealed(&error))?;
    let root = host::real_path(&copies)?.join(sealed.path());
    let started = file_in(&root, args).and_then(|path| {
        PluginFile { plugin: &plugin, root: &root, path }.start(args, &rules, &stores.record, host, out)
    });
    let removed = sealed.remove();
    let code = started?.finish()?;
    removed?;
    Ok(code)
}

/// Returns the path of a file in the copy of a plugin.
fn file_in(root: &Utf8Path, args: &LaunchArgs) -> Result<Utf8PathBuf, Failure> {
    let file = Utf8Path::new(file_of(args));
    let path = root.join(file);
    let is_inside = file.is_relative() && file.components().all(|part| part.as_str() != "..");
    if is_inside && path.is_file() {
        if host::is_executable(&path) {
            return Ok(path);
        }
        return Err(Failure::usage(format!("`{}` of the plugin is not executable", line(file.as_str())))
            .code("launch/spec")
            .help("name a program or a script with `#!` whose execute bit is set"));
    }
    Err(Failure::usage(format!("the plugin has no file `{}`", line(file.as_str())))
        .code("launch/spec")
        .help("name a file by its path in the plugin, such as bin/tool"))
}

fn file_of(args: &LaunchArgs) -> &str {
    args.command.first().map_or("", String::as_str)
}

/// A file in the private copy of a plugin.
struct PluginFile<'a> {
    plugin: &'a LoadedPlugin,
    root: &'a Utf8Path,
    path: Utf8PathBuf,
}

/// What is known about the file before it starts.
struct FileFacts {
    digest: Digest,
    coverage: Coverage,
}

impl PluginFile<'_> {
    fn start<'a>(
        &self,
        args: &'a LaunchArgs,
        rules: &LaunchRules,
        record: &plugward_loader::Record,
        host: &Host,
        out: &Out,
    ) -> Result<EndedProgram<'a>, Failure> {
        // A report that cannot be written stops the start.
        let output = args.report.as_deref().map(output_file::prepare).transpose()?;
        let list = match args.access.grants() {
            Some(list) => Some(list),
            None => rules.grants(GrantTarget::Plugin(self.plugin.key()))?,
        };
        let facts = self.facts()?;
        let owner = ledger_name(self.plugin.key());
        let to = Grantee {
            plugin: &owner,
            home: &stores::plugin_data(host, &self.plugin.key().to_string())?,
            tree: Some(self.root),
            program: Some(&self.path),
            coverage: facts.coverage,
        };
        // Without an entry and flags, the program gets nothing of the user.
        let mut access =
            StartAccess::open(Some(&list.unwrap_or_default()), &to, rules.enforce, host, record)?;
        access.set_variable("CLAUDE_PLUGIN_ROOT", self.root.as_str())?;
        let spec = LaunchSpec {
            program: Program::Copy { path: self.path.as_str(), reason: None },
            argv: std::iter::once(self.path.to_string())
                .chain(args.command.iter().skip(1).cloned())
                .collect(),
            directory: starts::directory()?,
            env: host::environment().into_iter().collect(),
        };
        let FileFacts { digest, coverage } = facts;
        let subject = LaunchSubject { plugin: &owner, file: file_of(args), digest: Some(&digest), coverage };
        let (running, started) = starts::start(&spec, &subject, access, record)?;
        starts::announce(running.report(), &line(&args.id), out);
        let report = running.report().clone();
        let ended = pass_on(running);
        let recorded = started.end(record, ended.as_ref().ok().map(|ended| ended.status));
        let mut ended = ended?;
        ended.report = match (recorded, output) {
            (Err(failure), _) => Err(starts::not_recorded(&failure)),
            (Ok(()), Some(output)) => self
                .report(args, &report, &FileFacts { digest, coverage }, ended.status)
                .map(|text| Some((output, text))),
            (Ok(()), None) => Ok(None),
        };
        Ok(ended)
    }

    fn facts(&self) -> Result<FileFacts, Failure> {
        let mut file = host::handle(&self.path)?;
        let digest = sha256_of(&file)?;
        let mut magic = [0; 4];
        io::Seek::rewind(&mut file)?;
        let is_elf = file.read(&mut magic)? == magic.len() && magic == *b"\x7fELF";
        let coverage = if is_elf { Coverage::Covered } else { Coverage::ScriptInterpreterUncovered };
        Ok(FileFacts { digest, coverage })
    }

    fn report(
        &self,
        args: &LaunchArgs,
        report: &LaunchReport,
        facts: &FileFacts,
        status: ExitStatus,
    ) -> Result<String, Failure> {
        let missing = report.missing.iter();
        let missing = missing.map(|one| json!({ "word": one.word, "why": one.why, "help": one.help }));
        Ok(json::render(&json!({
            "version": 1,
            "plugin": self.plugin.report().id,
            "file": file_of(args),
            "digest": facts.digest.to_string(),
            "form": report.form.as_str(),
            "coverage": facts.coverage.code(),
            "access": report.access,
            "held": report.held,
            "missing": missing.collect::<Vec<_>>(),
            "not_enforced": report.not_enforced,
            "env": report.env,
            "exit": status.code(),
            "signal": status.signal(),
        }))?)
    }
}

/// A program that has ended, and whose last output is passed on.
struct EndedProgram<'a> {
    status: ExitStatus,
    copies: Vec<JoinHandle<io::Result<()>>>,
    interrupts: ProgramInterrupts,
    /// The report that is not written yet, or the failure to record the end.
    report: Result<Option<(PreparedOutput<'a>, String)>, Failure>,
}

impl EndedProgram<'_> {
    /// Writes the report, waits for the output, and returns the exit code. An interrupt ends both.
    fn finish(self) -> Result<u8, Failure> {
        drop(self.interrupts);
        let written = self.report.and_then(|report| match report {
            Some((output, text)) => Ok(output.write(text.as_bytes())?),
            None => Ok(()),
        });
        // Also after a failure, because the end of this process would cut the output off.
        for thread in self.copies {
            let _closed = thread.join();
        }
        written?;
        let signal = || self.status.signal().map_or(1, |signal| signal.saturating_add(128));
        Ok(u8::try_from(self.status.code().unwrap_or_else(signal)).unwrap_or(1))
    }
}

/// Passes the standard streams on until the program ends.
fn pass_on<'a>(mut running: RunningProgram) -> Result<EndedProgram<'a>, Failure> {
    let interrupts = starts::interruptible_program(&running);
    if let Some(mut input) = running.take_stdin() {
        // It reads as long as there is input, and ends with this process.
        std::thread::spawn(move || io::copy(&mut io::stdin().lock(), &mut input));
    }
    let copies = [
        running.take_stdout().map(|from| std::thread::spawn(move || copy(from, io::stdout()))),
        running.take_stderr().map(|from| std::thread::spawn(move || copy(from, io::stderr()))),
    ];
    let failed = |error| starts::launch_failure(&error);
    while !running.wait(WAIT).map_err(failed)? {}
    interrupts.has_ended();
    let status = running.end(Duration::ZERO).map_err(failed)?;
    let copies = copies.into_iter().flatten().collect();
    Ok(EndedProgram { status, copies, interrupts, report: Ok(None) })
}

/// Copies each chunk when it comes. A reader that is gone ends the copy, and then the program notices it, too.
fn copy(mut from: impl io::Read, mut to: impl io::Write) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let count = match from.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            count => count?,
        };
        let Some(chunk) = buffer.get(..count).filter(|chunk| !chunk.is_empty()) else { return Ok(()) };
        to.write_all(chunk)?;
        to.flush()?;
    }
}
