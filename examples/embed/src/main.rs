//! A host in one file: `plugward-embed PLUGINS STATE` checks the plugins in one directory and runs the hooks of those
//! that load, from the checked bytes. STATE has the pins, the ledger and the private copies.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a host knows paths, clock and terminal"
)]

use std::os::unix::fs::MetadataExt as _;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use plugward_loader::capability::{BudgetLimit, Budgets, RawWithNetwork, WorkflowId};
use plugward_loader::ledger::{LedgerId, LedgerTime};
use plugward_loader::manifest::SurfaceKind;
use plugward_loader::pinstore::Timestamp;
use plugward_loader::sandbox_path::{Jail, Policy};
use plugward_loader::state_file::Owner;
use plugward_loader::{
    Checker, Dir, LoadedPlugin, Outcome, RecordOptions, Root, Stores, Trust, ambient_authority,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
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
    let plugins = std::fs::canonicalize(plugins)?;
    let place = plugins.to_str().ok_or("the path is not UTF-8")?.parse()?;
    let root = Root::placed(Jail::open(&plugins, Policy::standard())?, place);
    let now = Timestamp::from_unix_seconds(since_1970.as_secs()).ok_or("the clock is after the year 9999")?;
    let checker = Checker::new(&mut stores, now);
    for outcome in checker.trust(Trust::Tofu).check(&[root])?.into_outcomes() {
        match outcome {
            Outcome::Load(plugin) => run_hooks(&plugin, &dir, &state)?,
            Outcome::Ask { report } | Outcome::Refuse { report } => println!("not loaded: {}", report.id),
        }
    }
    Ok(())
}

fn run_hooks(plugin: &LoadedPlugin, dir: &Dir, state: &str) -> Result<(), Box<dyn std::error::Error>> {
    let sealed = plugin.seal_into(dir)?;
    for (_, hook) in plugin.surface().filter(|(_, item)| item.kind() == SurfaceKind::Hook) {
        let Some((program, words)) = hook.run().split_first() else { continue };
        let output =
            Command::new(program).args(words).current_dir(format!("{state}/{}", sealed.path())).output()?;
        println!("{}: {}", plugin.report().name, String::from_utf8_lossy(&output.stdout).trim());
    }
    Ok(sealed.remove()?)
}
