//! The reports that the command line prints.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "the test looks at the files, and changes them")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use plugward_capability::{
    BudgetLimit, BudgetQuery, Budgets, EnvOp, Lifetime, Mint, MintCheck, MintRules, NoScrub, PluginName,
    RawWithNetwork, Request, ShowQuery, Trail, TrailRules, UseOutcome, WorkflowId, budget_report, folds,
    show, verify_report,
};
use plugward_ledger::{Checkpoint, Durability, Ledger, LedgerEvent, LedgerFiles};

use super::{Hand, ID, env, using};

struct State {
    directory: tempfile::TempDir,
    dir: Dir,
    checkpoint: Checkpoint,
}

/// A ledger on disk with one workflow, one capability, two uses and one refusal.
fn state() -> State {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let dir = Dir::open_ambient_dir(directory.path(), ambient_authority()).unwrap();
    let ledger = Ledger::open(&dir, ID, Hand::new().clock(), Durability::Decisions, folds()).unwrap().ledger;
    let trail = Trail::open(ledger.clone(), TrailRules { scrub: Box::new(NoScrub) }).unwrap();
    let mint = Mint::new(trail.clone(), MintRules { raw_with_network: RawWithNetwork::Refuse });
    let limit = BudgetLimit { max_mints: Some(3), max_uses: Some(2), max_units: Some(9) };
    let workflow = trail.open_workflow(WorkflowId::new("wf-7").unwrap(), &Budgets::otherwise(limit)).unwrap();
    let request = Request {
        plugin: PluginName::new("acme").unwrap(),
        workflow: &workflow,
        scope: env(),
        lifetime: Lifetime::Workflow,
    };
    let MintCheck::Minted(capability) = mint.mint(request).unwrap() else { panic!() };
    for _ in 0..3 {
        if let Ok(guard) = using(&trail, &capability, EnvOp::ReadVar { name: "HOME" }) {
            guard.end(UseOutcome::Ok, None).unwrap();
        }
    }
    let checkpoint = ledger.close().unwrap();
    State { directory, dir, checkpoint }
}

#[test]
fn verify_says_what_it_is_anchored_to() {
    let state = state();
    let files = LedgerFiles::open(&state.dir).unwrap();
    let report = verify_report(&files, &[], None).unwrap();
    assert_eq!(report.exit_code(), 0);
    let text = report.to_text(&[]);
    let mut lines = text.lines();
    assert!(lines.next().unwrap().starts_with("whole: 9 records, head "), "{text}");
    assert_eq!(lines.next(), Some("not anchored: removal of the last records would not be detected"));
    assert_eq!(lines.next(), None);

    let beside = files.checkpoint().unwrap();
    assert_eq!(*beside, state.checkpoint);
    let report = verify_report(&files, std::slice::from_ref(beside), None).unwrap();
    assert_eq!(report.anchor_line(&[("ledger.checkpoint", beside)]), "anchored to ledger.checkpoint");
    let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    assert_eq!((json["chain"]["check"].as_str(), json["exit"].as_u64()), (Some("whole"), Some(0)));
    assert_eq!(json["anchored"][0]["size"], 8);
}

#[test]
fn verify_names_the_file_and_the_line_of_what_is_broken() {
    let state = state();
    let live = state.directory.path().join("ledger.jsonl");
    let text = fs::read_to_string(&live).unwrap();
    // One edit removes a use, another one raises a budget.
    fs::write(&live, text.replacen("\"max_uses\":2", "\"max_uses\":9", 1)).unwrap();
    let files = LedgerFiles::open(&state.dir).unwrap();
    let report = verify_report(&files, &[], None).unwrap();
    assert_eq!(report.exit_code(), 4);
    assert_eq!(
        report.headline(),
        "broken: ledger.jsonl:3 is not record 2 of the ledger: prev is not the SHA-256 of the line before (ledger/broken)"
    );
    let lines: Vec<&str> = text.lines().collect();
    fs::write(&live, lines[..5].join("\n") + "\n").unwrap();
    let files = LedgerFiles::open(&state.dir).unwrap();
    assert_eq!(verify_report(&files, &[], None).unwrap().exit_code(), 0);
    let report = verify_report(&files, std::slice::from_ref(&state.checkpoint), None).unwrap();
    assert_eq!(
        (report.exit_code(), report.headline().as_str()),
        (4, "truncated: a checkpoint covers 8 records, but there are 5")
    );
    assert!(report.to_json().contains(r#""check":"truncated","checkpoint":{"#));
}

#[test]
fn misuse_is_a_finding_on_a_whole_chain() {
    let state = state();
    let ledger = Ledger::open(&state.dir, ID, Hand::new().clock(), Durability::Off, folds()).unwrap().ledger;
    let forged = LedgerEvent::CapabilityUsed {
        workflow: "wf-7".into(),
        plugin: "acme".into(),
        kind: "net-connect".into(),
        serial: 7,
        op: "connect".into(),
        detail: "evil\u{1b}[2J".into(),
        units: 1,
    };
    ledger.append(&[forged]).unwrap();
    let report = verify_report(&LedgerFiles::open(&state.dir).unwrap(), &[], None).unwrap();
    assert_eq!(report.exit_code(), 4);
    let text = report.to_text(&[]);
    assert!(
        text.contains("finding use-without-mint: record 9 in wf-7: serial 7 was never granted"),
        "{text}"
    );
    assert!(text.contains("note use-not-ended: record 9 in wf-7: net-connect of `acme`, serial 7"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    assert_eq!(json["findings"][0]["code"], "use-without-mint");
}

#[test]
fn a_budget_is_counted_from_the_records_alone() {
    let state = state();
    let files = LedgerFiles::open(&state.dir).unwrap();
    let query = |workflow, plugin, kind| BudgetQuery { workflow, plugin, kind };
    let report = budget_report(&files, query("wf-7", None, None), None).unwrap();
    let [row] = report.rows.as_slice() else { panic!("{report:?}") };
    let tally = row.tally;
    assert_eq!((tally.mints, tally.uses, tally.units, tally.refused, tally.open_uses), (1, 2, 2, 1, 0));
    assert_eq!(row.left, [Some(2), Some(0), Some(7)]);
    assert_eq!(report.exit_code(), 5);
    let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    assert_eq!((json["rows"][0]["used"].as_u64(), json["rows"][0]["uses_left"].as_u64()), (Some(2), Some(0)));
    for (workflow, plugin, kind, count) in [
        ("wf-7", Some("acme"), Some("env-read"), 1),
        ("wf-7", Some("other"), None, 0),
        ("wf-7", None, Some("net-connect"), 0),
        ("wf-8", None, None, 0),
    ] {
        let report = budget_report(&files, query(workflow, plugin, kind), None).unwrap();
        assert_eq!((report.rows.len(), report.exit_code()), (count, if count == 0 { 0 } else { 5 }));
    }
    // If the chain is not whole, no count is trusted.
    let live = state.directory.path().join("ledger.jsonl");
    let text = fs::read_to_string(&live).unwrap();
    fs::write(&live, text.replacen("acme", "acmf", 1)).unwrap();
    let files = LedgerFiles::open(&state.dir).unwrap();
    assert_eq!(budget_report(&files, query("wf-8", None, None), None).unwrap().exit_code(), 4);
}

#[test]
fn records_are_shown_by_what_they_name() {
    let state = state();
    let files = LedgerFiles::open(&state.dir).unwrap();
    let shown = |query: ShowQuery<'_>| {
        let mut all = Vec::new();
        let verified = show(&files, &query, None, &mut |shown| all.push(shown)).unwrap();
        assert_eq!(verified.records, 9);
        all
    };
    let all = shown(ShowQuery::default());
    let text = fs::read_to_string(state.directory.path().join("ledger.jsonl")).unwrap();
    assert_eq!(
        all.iter().map(|shown| shown.line.clone()).collect::<Vec<_>>(),
        text.lines().collect::<Vec<_>>()
    );
    let used = shown(ShowQuery { type_name: Some("capability_used"), ..ShowQuery::default() });
    assert_eq!(used.len(), 2);
    assert_eq!(
        used[0].to_text(),
        "      3 2026-11-21T21:48:03.000000Z capability_used          \"workflow\":\"wf-7\",\"plugin\":\"acme\",\"kind\":\"env-read\",\"serial\":1,\"op\":\"read-var\",\"detail\":\"HOME\",\"units\":1"
    );
    assert_eq!(shown(ShowQuery { workflow: Some("wf-7"), ..ShowQuery::default() }).len(), 7);
    assert_eq!(shown(ShowQuery { plugin: Some("acme"), ..ShowQuery::default() }).len(), 4);
    assert_eq!(shown(ShowQuery { plugin: Some("acm"), ..ShowQuery::default() }).len(), 0);
    let last = shown(ShowQuery { last: Some(2), ..ShowQuery::default() });
    assert_eq!(last.iter().map(|shown| shown.record.seq()).collect::<Vec<_>>(), [7, 8]);
    let later = "2026-11-21T21:48:03.000001Z".parse().unwrap();
    assert_eq!(shown(ShowQuery { since: Some(later), ..ShowQuery::default() }).len(), 0);
}
