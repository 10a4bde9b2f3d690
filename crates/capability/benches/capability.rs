//! The cost of a use beyond its two records: `cargo bench -p plugward-capability`.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark reads the clock and prints"
)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a benchmark that fails may panic")]

use std::time::{Duration, Instant, SystemTime};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use plugward_capability::{
    BudgetLimit, Budgets, EnvOp, EnvScope, LedgerEvent, Lifetime, Mint, MintCheck, MintRules, NoScrub,
    PluginName, RawWithNetwork, Request, Trail, TrailRules, UseCheck, UseOutcome, WorkflowId, folds,
};
use plugward_ledger::{Durability, Folds, Ledger, LedgerId, LedgerTime};

const COUNT: u32 = 20_000;

fn directory() -> (tempfile::TempDir, Dir) {
    let directory = tempfile::tempdir().unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    let dir = Dir::open_ambient_dir(directory.path(), ambient_authority()).unwrap();
    (directory, dir)
}

fn open(dir: &Dir, folds: Folds) -> Ledger {
    let clock = || LedgerTime::from_system(SystemTime::now()).unwrap();
    Ledger::open(dir, LedgerId::from_bytes([1; 16]), Box::new(clock), Durability::Off, folds).unwrap().ledger
}

fn best(mut f: impl FnMut() -> Duration) -> f64 {
    (0..7).map(|_| f()).min().unwrap().as_secs_f64() * 1e6 / f64::from(COUNT)
}

fn bare() -> Duration {
    let (_directory, dir) = directory();
    let ledger = open(&dir, Folds::none());
    let used = || LedgerEvent::CapabilityUsed {
        workflow: "wf-7".into(),
        plugin: "acme".into(),
        kind: "env-read".into(),
        serial: 1,
        op: "read-var".into(),
        detail: "HOME".into(),
        units: 1,
    };
    let ended = |begun| LedgerEvent::CapabilityUseEnded {
        workflow: "wf-7".into(),
        serial: 1,
        begun,
        outcome: UseOutcome::Ok,
        code: None,
        millis: 0,
    };
    let start = Instant::now();
    for _ in 0..COUNT {
        let begun = ledger.append(&[used()]).unwrap().first_seq();
        ledger.append(&[ended(begun)]).unwrap();
    }
    start.elapsed()
}

fn uses() -> Duration {
    let (_directory, dir) = directory();
    let trail = Trail::open(open(&dir, folds()), TrailRules { scrub: Box::new(NoScrub) }).unwrap();
    let mint = Mint::new(trail.clone(), MintRules { raw_with_network: RawWithNetwork::Refuse });
    let limit = BudgetLimit {
        max_mints: Some(1),
        max_uses: Some(u64::from(COUNT)),
        max_units: Some(u64::from(COUNT)),
    };
    let workflow = trail.open_workflow(WorkflowId::new("wf-7").unwrap(), &Budgets::otherwise(limit)).unwrap();
    let scope = EnvScope::new(&["HOME"]).unwrap();
    let request = Request {
        plugin: PluginName::new("acme").unwrap(),
        workflow: &workflow,
        scope,
        lifetime: Lifetime::Workflow,
    };
    let MintCheck::Minted(capability) = mint.mint(request).unwrap() else { panic!("refused") };
    let start = Instant::now();
    for _ in 0..COUNT {
        let UseCheck::Granted(guard) = trail.try_use(&capability, EnvOp::ReadVar { name: "HOME" }).unwrap()
        else {
            panic!("refused")
        };
        guard.end(UseOutcome::Ok, None).unwrap();
    }
    start.elapsed()
}

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let (bare, uses) = (best(bare), best(uses));
    println!("two bare appends          {bare:>8.2} µs");
    println!("try_use and end           {uses:>8.2} µs");
    println!("the difference            {:>8.2} µs", uses - bare);
}
