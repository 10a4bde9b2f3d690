//! A host in one file: `plugward-embed PLUGINS STATE` checks the plugins in one directory and runs the hooks of those
//! that load, from the checked bytes. STATE has the pins, the ledger and the private copies.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a host knows paths, clock and terminal"
)]

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use plugward_loader::capability::{BudgetLimit, Budgets, RawWithNetwork, WorkflowId};
use plugward_loader::launch::{
    Access, EnforceRule, LaunchCheck, LaunchReport, LaunchSpec, Program, launch, run_if_launcher,
};
use plugward_loader::ledger::{LedgerId, LedgerTime};
use plugward_loader::manifest::SurfaceKind;
use plugward_loader::pinstore::Timestamp;
use plugward_loader::sandbox_path::{Jail, Policy};
use plugward_loader::state_file::Owner;
use plugward_loader::{
    Checker, Dir, LaunchLog, LaunchSubject, LoadedPlugin, Outcome, RecordOptions, Root, Stores, Trust,
    ambient_authority, ledger_name, sha256_of,
};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    // A host that limits programs becomes their launcher here.
    run_if_launcher();
    let mut args = std::env::args().skip(1);
    let (plugins, state) = args.next().zip(args.next()).ok_or("usage: plugward-embed PLUGINS STATE")?;
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let micros = u64::try_from(since_1970.as_micros())?;
    let started = LedgerTime::from_unix_micros(micros).ok_or("the clock is wrong")?;
    let dir = Dir::open_ambient_dir(&state, ambient_authority())?;
    let owner = Owner::uid(std::fs::metadata(&state)?.uid());
    let record = RecordOptions {
        // A real host draws 16 random bytes.
        new_id: LedgerId::from_bytes(since_1970.as_nanos().to_le_bytes()),
        clock: Box::new(move || started),
        workflow: WorkflowId::new(&format!("embed-{micros}"))?,
        budgets: Budgets::otherwise(BudgetLimit::NONE),
        raw_with_network: RawWithNetwork::Refuse,
    };
    let mut stores = Stores::open(&dir, owner, record);
    let log = stores.record.launches()?;
    let plugins = std::fs::canonicalize(plugins)?;
    let place = plugins.to_str().ok_or("the path is not UTF-8")?.parse()?;
    let root = Root::placed(Jail::open(&plugins, Policy::standard())?, place);
    let now = Timestamp::from_unix_seconds(since_1970.as_secs()).ok_or("the clock is after the year 9999")?;
    let checker = Checker::new(&mut stores, now);
    for outcome in checker.trust(Trust::Tofu).check(&[root])?.into_outcomes() {
        match outcome {
            Outcome::Load(plugin) => run_hooks(&plugin, &dir, &state, &log)?,
            Outcome::Ask { report } | Outcome::Refuse { report } => println!("not loaded: {}", report.id),
        }
    }
    Ok(())
}

fn run_hooks(plugin: &LoadedPlugin, dir: &Dir, state: &str, log: &LaunchLog) -> Result<(), Failure> {
    let sealed = plugin.seal_into(dir)?;
    let directory = format!("{state}/{}", sealed.path());
    for (_, hook) in plugin.surface().filter(|(_, item)| item.kind() == SurfaceKind::Hook) {
        let Some(name) = hook.run().first() else { continue };
        let search = std::env::var("PATH")?;
        let mut files = search.split(':').map(|dir| format!("{dir}/{name}"));
        let path = files.find(|path| Path::new(path).is_file()).ok_or("a hook has no program")?;
        let digest = sha256_of(&File::open(&path)?)?;
        let subject = LaunchSubject {
            plugin: &ledger_name(plugin.key()),
            file: &path,
            digest: Some(&digest),
            coverage: hook.coverage(),
        };
        let spec = LaunchSpec {
            program: Program::System { path: &path },
            argv: hook.run().to_vec(),
            directory: directory.clone(),
            env: std::env::vars().collect(),
        };
        // Each start is recorded before the first instruction. `Access::Granted` would limit the program.
        let mut number = None;
        let mut record = |report: &LaunchReport| {
            number = Some(log.started(&subject, report).map_err(io::Error::other)?);
            Ok(())
        };
        let started = launch(&spec, Access::User, EnforceRule::Require, &mut record)?;
        let LaunchCheck::Running(mut running) = started else { return Err("the hook is not limited".into()) };
        let mut text = String::new();
        running.take_stdout().ok_or("no output")?.read_to_string(&mut text)?;
        let end = running.end(Duration::from_secs(1))?;
        log.ended(number.ok_or("no record")?, Some(end))?;
        println!("{}: {}", plugin.report().name, text.trim());
    }
    Ok(sealed.remove()?)
}
