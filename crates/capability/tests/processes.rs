//! Several processes with one budget, which they never exceed together.
//!
//! The test starts itself again as those processes, so it has its own `main`.
#![expect(clippy::disallowed_methods, reason = "the test starts processes")]
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by a panic")]
#![expect(clippy::arithmetic_side_effects, reason = "an overflow in a test is a failed test")]
#![expect(clippy::print_stdout, reason = "the child says what it was granted")]

#[cfg(not(unix))]
fn main() {
    println!("skipped: on this system a ledger has no file form");
}

#[cfg(unix)]
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("--child") => unix::child(&arguments[2]),
        _ => unix::parent(),
    }
}

#[cfg(unix)]
mod unix {
    use std::path::Path;
    use std::process::{Command, Stdio};

    use cap_std::ambient_authority;
    use cap_std::fs::Dir;
    use plugward_capability::{
        BudgetLimit, BudgetQuery, Budgets, EnvOp, EnvScope, Lifetime, Mint, MintCheck, MintRules, NoScrub,
        PluginName, RawWithNetwork, Request, Trail, TrailRules, UseCheck, UseOutcome, WorkflowId,
        budget_report, folds,
    };
    use plugward_ledger::{Durability, Ledger, LedgerFiles, LedgerId, LedgerTime};

    const PROCESSES: usize = 3;
    const LIMIT: u64 = 500;

    fn dir(directory: &str) -> Dir {
        Dir::open_ambient_dir(Path::new(directory), ambient_authority()).unwrap()
    }

    pub(crate) fn child(directory: &str) {
        let clock = || LedgerTime::from_system(std::time::SystemTime::now()).unwrap();
        let ledger = Ledger::open(
            &dir(directory),
            LedgerId::from_bytes([9; 16]),
            Box::new(clock),
            Durability::Off,
            folds(),
        )
        .unwrap()
        .ledger;
        let trail = Trail::open(ledger, TrailRules { scrub: Box::new(NoScrub) }).unwrap();
        let mint = Mint::new(trail.clone(), MintRules { raw_with_network: RawWithNetwork::Refuse });
        let limit = BudgetLimit { max_mints: None, max_uses: Some(LIMIT), max_units: None };
        let workflow =
            trail.open_workflow(WorkflowId::new("shared").unwrap(), &Budgets::otherwise(limit)).unwrap();
        let scope = EnvScope::new(&["HOME"]).unwrap();
        let request = Request {
            plugin: PluginName::new("acme").unwrap(),
            workflow: &workflow,
            scope,
            lifetime: Lifetime::Workflow,
        };
        let MintCheck::Minted(capability) = mint.mint(request).unwrap() else { panic!("refused") };
        let mut granted = 0;
        // Until the shared budget is used up.
        while let UseCheck::Granted(guard) =
            trail.try_use(&capability, EnvOp::ReadVar { name: "HOME" }).unwrap()
        {
            granted += 1;
            guard.end(UseOutcome::Ok, None).unwrap();
        }
        println!("{granted}");
    }

    pub(crate) fn parent() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        let path = directory.path().to_str().unwrap();
        let start = |_| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--child", path]).stdout(Stdio::piped()).spawn().unwrap()
        };
        let children: Vec<_> = (0..PROCESSES).map(start).collect();
        let granted: Vec<u64> = children
            .into_iter()
            .map(|child| {
                let output = child.wait_with_output().unwrap();
                assert!(output.status.success());
                String::from_utf8_lossy(&output.stdout).trim().parse().unwrap()
            })
            .collect();
        assert_eq!(granted.iter().sum::<u64>(), LIMIT, "{granted:?}");
        // The records alone give the same counts.
        let files = LedgerFiles::open(&dir(path)).unwrap();
        let query = BudgetQuery { workflow: "shared", plugin: None, kind: None };
        let report = budget_report(&files, query, None).unwrap();
        let row = &report.rows[0];
        assert_eq!((report.rows.len(), row.tally.uses, row.left[1]), (1, LIMIT, Some(0)));
        assert_eq!((row.tally.mints, row.tally.refused), (3, 3));
        assert_eq!(report.exit_code(), 5);
        println!("{PROCESSES} processes on a budget of {LIMIT}: granted {granted:?}, together {LIMIT}");
    }
}
