//! Approvals: HyperAgent's cases, and those that it misses.

use plugward_pinstore::{
    ApprovalCheck, ApprovalDraft, Approvals, ApproveOutcome, ApprovedBytes, AuditKind, AuditVerdict, Risk,
    RulesChanged, UnapproveOutcome,
};

use crate::support::{Home, called, digest, key, now, tree};

const FILE: &str = "plugins.approvals.toml";
const ID: &str = "path:/plugins/fs-read";
const NAMES: &[&str] = &["hyperagent:fs-read"];

fn open(home: &Home) -> Approvals {
    Approvals::open(&Approvals::file(&home.dir(), home.owner()).unwrap()).unwrap()
}

fn bytes(number: u64) -> ApprovedBytes {
    ApprovedBytes { tree: tree(number), shared: [("../shared".to_owned(), tree(number + 100))].into() }
}

fn draft(number: u64) -> ApprovalDraft {
    ApprovalDraft {
        audited: bytes(number),
        audit: digest(number),
        kind: AuditKind::Deep,
        risk: Risk::Low,
        verdict: AuditVerdict::Approve,
        rules: digest(50),
        by: Some("anna".to_owned()),
    }
}

fn approve(approvals: &mut Approvals, draft: &ApprovalDraft, max: Risk) -> ApproveOutcome {
    let shown = (draft.audited.tree, draft.audit);
    approvals.approve(&key(ID), draft, &draft.audited, &shown.0, &shown.1, max, now()).unwrap()
}

fn check(approvals: &Approvals, number: u64, max: Risk) -> ApprovalCheck {
    approvals.check(&key(ID), &called(NAMES), &bytes(number), max, &digest(50))
}

#[test]
fn nothing_is_approved_by_itself() {
    let home = Home::new();
    let approvals = open(&home);
    assert_eq!(check(&approvals, 1, Risk::Critical), ApprovalCheck::None);
    assert_eq!(ApprovalCheck::None.code(), Some("approval/none"));
    assert!(home.names().is_empty());
}

#[test]
fn an_approval_holds_for_its_bytes_and_outlives_the_session() {
    let home = Home::new();
    assert_eq!(approve(&mut open(&home), &draft(1), Risk::Medium), ApproveOutcome::Stored);
    let approvals = open(&home);
    let ApprovalCheck::Given { approval, rules } = check(&approvals, 1, Risk::Medium) else { panic!() };
    assert_eq!((approval.by.as_deref(), approval.at, rules), (Some("anna"), now(), RulesChanged::Same));
    assert_eq!(
        (approval.kind, approval.risk, approval.verdict),
        (AuditKind::Deep, Risk::Low, AuditVerdict::Approve)
    );
    assert_eq!(approvals.iter().count(), 1);
}

#[test]
fn other_bytes_are_stale_and_name_both() {
    let home = Home::new();
    let mut approvals = open(&home);
    let _stored = approve(&mut approvals, &draft(1), Risk::Medium);
    assert_eq!(
        check(&approvals, 2, Risk::Medium),
        ApprovalCheck::Stale { approved: bytes(1), actual: bytes(2) }
    );
    // A file outside that the plugin imports is part of it.
    let mut actual = bytes(1);
    actual.shared.insert("../shared".to_owned(), tree(9));
    let found = approvals.check(&key(ID), &called(NAMES), &actual, Risk::Medium, &digest(50));
    assert_eq!(found.code(), Some("approval/stale"));
    actual.shared.clear();
    let found = approvals.check(&key(ID), &called(NAMES), &actual, Risk::Medium, &digest(50));
    assert_eq!(found.code(), Some("approval/stale"));
    // Approved anew, it holds again.
    assert_eq!(approve(&mut approvals, &draft(2), Risk::Medium), ApproveOutcome::Stored);
    assert_eq!(check(&approvals, 2, Risk::Medium).code(), None);
    assert_eq!(check(&approvals, 1, Risk::Medium).code(), Some("approval/stale"));
}

#[test]
fn the_audit_must_be_of_these_bytes_and_the_one_that_was_shown() {
    let home = Home::new();
    let mut approvals = open(&home);
    let draft = draft(1);
    let cases = [
        (bytes(2), tree(2), digest(1)),
        (bytes(1), tree(2), digest(1)),
        (bytes(1), tree(1), digest(2)),
        (ApprovedBytes { tree: tree(1), shared: std::collections::BTreeMap::new() }, tree(1), digest(1)),
    ];
    for (in_hand, shown_tree, shown_audit) in cases {
        let outcome = approvals
            .approve(&key(ID), &draft, &in_hand, &shown_tree, &shown_audit, Risk::Critical, now())
            .unwrap();
        assert_eq!(outcome, ApproveOutcome::NotAudited);
        assert_eq!(outcome.code(), Some("approval/not-audited"));
    }
    assert!(!home.dir().exists(FILE), "nothing was written");
}

#[test]
fn the_threshold_holds_at_approval_and_at_every_check() {
    let home = Home::new();
    let mut approvals = open(&home);
    let high = ApprovalDraft { risk: Risk::High, ..draft(1) };
    assert_eq!(
        approve(&mut approvals, &high, Risk::Medium),
        ApproveOutcome::Risk { risk: Risk::High, max: Risk::Medium }
    );
    // Equal is allowed.
    assert_eq!(approve(&mut approvals, &high, Risk::High), ApproveOutcome::Stored);
    // A fresh session, and a lower threshold since: HyperAgent looks at neither.
    let approvals = open(&home);
    assert_eq!(check(&approvals, 1, Risk::High).code(), None);
    assert_eq!(
        check(&approvals, 1, Risk::Medium),
        ApprovalCheck::Risk { risk: Risk::High, max: Risk::Medium }
    );
    assert!(Risk::Low < Risk::Medium && Risk::Medium < Risk::High && Risk::High < Risk::Critical);
}

#[test]
fn what_the_audit_rejects_is_not_approved() {
    let home = Home::new();
    let rejected = ApprovalDraft { verdict: AuditVerdict::Reject, ..draft(1) };
    let outcome = approve(&mut open(&home), &rejected, Risk::Critical);
    assert_eq!((outcome.code(), home.dir().exists(FILE)), (Some("approval/rejected"), false));
    // Nor is it believed where somebody wrote it into the file.
    let _stored = approve(&mut open(&home), &draft(1), Risk::Critical);
    home.write(FILE, &home.read(FILE).replace("verdict = \"approve\"", "verdict = \"reject\""));
    let error = Approvals::open(&Approvals::file(&home.dir(), home.owner()).unwrap()).unwrap_err();
    assert_eq!(error.code(), "approval/store");
}

#[test]
fn unapprove_says_whether_there_was_one() {
    let home = Home::new();
    let mut approvals = open(&home);
    assert_eq!(approvals.unapprove(&key(ID), &called(NAMES)).unwrap(), UnapproveOutcome::Absent);
    let _stored = approve(&mut approvals, &draft(1), Risk::Medium);
    assert_eq!(approvals.unapprove(&key(ID), &called(NAMES)).unwrap(), UnapproveOutcome::Removed);
    assert_eq!(check(&approvals, 1, Risk::Medium), ApprovalCheck::None);
    assert_eq!(check(&open(&home), 1, Risk::Medium), ApprovalCheck::None);
    assert_eq!(approvals.unapprove(&key(ID), &called(NAMES)).unwrap(), UnapproveOutcome::Absent);
}

#[test]
fn other_rules_since_are_a_notice() {
    let home = Home::new();
    let mut approvals = open(&home);
    let _stored = approve(&mut approvals, &draft(1), Risk::Medium);
    let found = approvals.check(&key(ID), &called(NAMES), &bytes(1), Risk::Medium, &digest(51));
    assert_eq!(found.code(), Some("approval/rules-changed"));
    assert!(matches!(found, ApprovalCheck::Given { rules: RulesChanged::Changed, .. }));
}

#[test]
fn an_approval_of_one_key_is_not_one_of_another() {
    let home = Home::new();
    let mut approvals = open(&home);
    let _stored = approve(&mut approvals, &draft(1), Risk::Medium);
    for plugin in ["path:/other/fs-read", "hyperagent:fs-read@plugins", "claude:fs-read"] {
        let found = approvals.check(&key(plugin), &called(NAMES), &bytes(1), Risk::Medium, &digest(50));
        assert_eq!(found, ApprovalCheck::None, "{plugin}");
    }
}

/// A file as the releases before version 2 wrote it.
fn version_one() -> String {
    let (tree, shared, audit, rules) = (tree(1), tree(101), digest(1), digest(50));
    format!(
        "# Who agreed to which bytes.\nversion = 1\n\n[approvals.user.\"hyperagent:fs-read@plugins\"]\n\
         tree = \"{tree}\"\nshared = {{ \"../shared\" = \"{shared}\" }}\naudit = \"{audit}\"\nkind = \"deep\"\n\
         risk = \"LOW\"\nverdict = \"approve\"\nrules = \"{rules}\"\nby = \"anna\"\nat = 2026-11-21T21:48:03Z\n"
    )
}

#[test]
fn version_one_applies_to_its_names_until_a_key_has_an_approval() {
    let home = Home::new();
    home.write(FILE, &version_one());
    let mut approvals = open(&home);
    assert_eq!((approvals.iter().count(), approvals.pending().count()), (0, 1));
    assert_eq!(check(&approvals, 1, Risk::Medium).code(), None);
    assert_eq!(check(&approvals, 2, Risk::Medium).code(), Some("approval/stale"));
    let other = called(&["claude:fs-read"]);
    let found = approvals.check(&key(ID), &other, &bytes(1), Risk::Medium, &digest(50));
    assert_eq!(found, ApprovalCheck::None);
    // The first write keeps the old file, and the pending approval.
    assert_eq!(approve(&mut approvals, &draft(2), Risk::Medium), ApproveOutcome::Stored);
    assert_eq!(home.read("plugins.approvals.toml.v1"), version_one());
    let mut approvals = open(&home);
    assert_eq!(approvals.pending().count(), 1);
    assert_eq!(check(&approvals, 2, Risk::Medium).code(), None);
    assert_eq!(check(&approvals, 1, Risk::Medium).code(), Some("approval/stale"));
    // Nothing of the plugin's names applies after it was taken back.
    let outcome = approvals.unapprove(&key(ID), &called(NAMES)).unwrap();
    assert_eq!(outcome, UnapproveOutcome::Removed);
    for number in [1, 2] {
        assert_eq!(check(&open(&home), number, Risk::Medium), ApprovalCheck::None);
    }
}

#[test]
fn a_damaged_file_is_a_failure_and_not_an_empty_store() {
    let home = Home::new();
    let _stored = approve(&mut open(&home), &draft(1), Risk::Medium);
    let text = home.read(FILE);
    let mut approvals = open(&home);
    let reopen = || Approvals::open(&Approvals::file(&home.dir(), home.owner()).unwrap());
    let mut empty = 0;
    for end in 0..text.len() {
        home.write(FILE, &text[..end]);
        // Cut off between two tables, it is a whole file with fewer of them: asked again, and never approved.
        match reopen() {
            Err(error) => assert_eq!(error.code(), "approval/store", "{end}"),
            Ok(found) => {
                assert_eq!(found.iter().count(), 0, "{end}");
                empty += 1;
            }
        }
    }
    assert!(empty <= 2, "{empty} of {} bytes", text.len());
    for bad in ["{}", "[]", "null", "{\"fs-read\":{}}", "version = 3\n", "approvals = 1\n"] {
        home.write(FILE, bad);
        assert!(reopen().is_err(), "{bad}");
        assert!(approvals.unapprove(&key(ID), &called(NAMES)).is_err(), "and nothing is written over it");
        assert_eq!(home.read(FILE), bad);
    }
    home.write(FILE, "version = 3\n");
    assert_eq!(reopen().unwrap_err().code(), "approval/store-version");
    std::fs::remove_file(home.directory.path().join(FILE)).unwrap();
    std::os::unix::fs::symlink("/dev/null", home.directory.path().join(FILE)).unwrap();
    let error = reopen().unwrap_err();
    assert_eq!(error.code(), "approval/store");
    assert!(error.to_string().contains("symbolic link"), "{error}");
}

#[test]
fn it_is_for_us_alone_and_keeps_what_others_wrote() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let (mut first, mut second) = (open(&home), open(&home));
    let _stored = approve(&mut first, &draft(1), Risk::Medium);
    let mode = home.directory.path().join(FILE).metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
    // The second read before the first wrote, and loses nothing.
    let draft = draft(2);
    let other = key("path:/plugins/other");
    let shown = (tree(2), digest(2));
    let stored =
        second.approve(&other, &draft, &draft.audited, &shown.0, &shown.1, Risk::Medium, now()).unwrap();
    assert_eq!(stored, ApproveOutcome::Stored);
    assert_eq!(open(&home).iter().count(), 2);
    assert_eq!(check(&second, 1, Risk::Medium).code(), None);
}
