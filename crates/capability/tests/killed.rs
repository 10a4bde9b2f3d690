//! A process that is killed between a record and its effect: the record counts, and the effect did not
//! happen.
//!
//! The test starts itself again as the process that is killed, so it has its own `main`. A fold is applied
//! after its record was written and before the result is returned, so a fold that waits there stops the
//! process at exactly that point.
#![expect(clippy::disallowed_methods, reason = "the test starts and kills processes")]
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by a panic")]
#![expect(clippy::print_stdout, reason = "the child says how far it came")]

#[cfg(not(unix))]
fn main() {
    println!("skipped: on this system a ledger has no file form");
}

#[cfg(unix)]
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("--child") => unix::child(&arguments[2], &arguments[3], &arguments[4]),
        _ => unix::parent(),
    }
}

#[cfg(unix)]
mod unix {
    use std::io::{BufRead as _, BufReader};
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use cap_std::ambient_authority;
    use cap_std::fs::Dir;
    use plugward_capability::{
        BudgetLimit, BudgetQuery, Budgets, EnvOp, EnvReadCapability, EnvScope, Lifetime, Mint, MintCheck,
        MintRules, NoScrub, PluginName, RawWithNetwork, Request, Trail, TrailRules, UseCheck, Workflow,
        WorkflowId, budget_report, folds,
    };
    use plugward_ledger::{
        ChainCheck, Durability, Fold, Ledger, LedgerFiles, LedgerId, LedgerRecord, LedgerTime, RecordValue,
    };

    const KILLS: usize = 200;

    fn dir(directory: &str) -> Dir {
        Dir::open_ambient_dir(Path::new(directory), ambient_authority()).unwrap()
    }

    /// Waits forever at the first record of a type, once it is armed.
    struct Held {
        armed: Arc<AtomicBool>,
        at: String,
    }

    impl Fold for Held {
        fn name(&self) -> &'static str {
            "held"
        }

        fn apply(&mut self, record: &LedgerRecord) {
            if self.armed.load(Ordering::SeqCst) && record.type_name() == self.at {
                println!("held");
                loop {
                    std::thread::park();
                }
            }
        }

        fn snapshot(&self) -> RecordValue {
            RecordValue::Object(std::collections::BTreeMap::new())
        }

        fn restore(&mut self, _: &RecordValue) -> Option<()> {
            Some(())
        }

        fn reset(&mut self) {}
    }

    fn minted(mint: &Mint, workflow: &Workflow) -> EnvReadCapability {
        let request = Request {
            plugin: PluginName::new("acme").unwrap(),
            workflow,
            scope: EnvScope::new(&["HOME"]).unwrap(),
            lifetime: Lifetime::Workflow,
        };
        let MintCheck::Minted(capability) = mint.mint(request).unwrap() else { panic!("refused") };
        println!("minted");
        capability
    }

    fn used(trail: &Trail, capability: &EnvReadCapability) {
        let UseCheck::Granted(guard) = trail.try_use(capability, EnvOp::ReadVar { name: "HOME" }).unwrap()
        else {
            panic!("refused")
        };
        println!("used");
        guard.end(plugward_capability::UseOutcome::Ok, None).unwrap();
    }

    pub(crate) fn child(directory: &str, workflow: &str, at: &str) {
        let clock = || LedgerTime::from_system(std::time::SystemTime::now()).unwrap();
        let armed = Arc::new(AtomicBool::new(false));
        let folds = folds().with(Held { armed: Arc::clone(&armed), at: at.to_owned() });
        let id = LedgerId::from_bytes([9; 16]);
        let ledger =
            Ledger::open(&dir(directory), id, Box::new(clock), Durability::Off, folds).unwrap().ledger;
        let trail = Trail::open(ledger, TrailRules { scrub: Box::new(NoScrub) }).unwrap();
        let mint = Mint::new(trail.clone(), MintRules { raw_with_network: RawWithNetwork::Refuse });
        let limit = BudgetLimit { max_mints: Some(2), max_uses: Some(2), max_units: Some(2) };
        let workflow =
            trail.open_workflow(WorkflowId::new(workflow).unwrap(), &Budgets::otherwise(limit)).unwrap();
        let first = minted(&mint, &workflow);
        used(&trail, &first);
        armed.store(true, Ordering::SeqCst);
        if at == "capability_used" {
            used(&trail, &first);
        } else {
            let _second = minted(&mint, &workflow);
        }
        println!("too far");
    }

    pub(crate) fn parent() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        let path = directory.path().to_str().unwrap();
        for kill in 0..KILLS {
            let workflow = format!("wf-{kill}");
            let at = if kill % 2 == 0 { "capability_minted" } else { "capability_used" };
            let mut command = Command::new(std::env::current_exe().unwrap());
            let mut child =
                command.args(["--child", path, &workflow, at]).stdout(Stdio::piped()).spawn().unwrap();
            let mut said = Vec::new();
            for line in BufReader::new(child.stdout.take().unwrap()).lines() {
                said.push(line.unwrap());
                if said.last().is_some_and(|line| line == "held") {
                    child.kill().unwrap();
                }
            }
            assert!(!child.wait().unwrap().success(), "kill {kill} at {at}");
            // The effect of the first result happened; that of the second record did not.
            assert_eq!(said, ["minted", "used", "held"], "kill {kill} at {at}");
            let files = LedgerFiles::open(&dir(path)).unwrap();
            let query = BudgetQuery { workflow: &workflow, plugin: None, kind: None };
            let report = budget_report(&files, query, None).unwrap();
            assert!(matches!(report.chain, ChainCheck::Whole { .. }), "kill {kill}: {:?}", report.chain);
            let row = &report.rows[0];
            let wanted = if at == "capability_minted" { (2, 1) } else { (1, 2) };
            assert_eq!((row.tally.mints, row.tally.uses), wanted, "kill {kill} at {at}");
            let left = if at == "capability_minted" { [Some(0), Some(1)] } else { [Some(1), Some(0)] };
            assert_eq!([row.left[0], row.left[1]], left, "kill {kill} at {at}");
        }
        println!("{KILLS} kills between a record and what it tells of: each is on the record, none came out");
    }
}
