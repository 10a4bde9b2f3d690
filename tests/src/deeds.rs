//! What a person or a host does after a run, and what it answers: codes that no report holds.

use std::fs;

use plugward_loader::manifest::read_jp_entry;
use plugward_loader::pinstore::{
    ApprovalDraft, Approvals, ApprovedBytes, AuditKind, AuditVerdict, Change, PinOrigin, Pins,
    ReviewedDigests, Revocation, Risk, Timestamp,
};
use plugward_loader::tree_lock::{Excludes, TreeList};
use plugward_loader::{Dir, Report, SignerRow, TreeDigest, Verifiers, ambient_authority, sha256};
use serde::Deserialize;

use crate::{Bench, Run, owner};

/// One thing that is done. A plugin is named by its directory, such as `plugins/p`.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Deed {
    /// Accepts a plugin of the run. `shown` and `expected` are `there`, `nothing`, or a text whose digest they are.
    Accept { plugin: String, shown: String, expected: String },
    /// Drops a pin.
    Forget { plugin: String },
    /// Adds an id to the user's own revocation list.
    Revoke { id: String, reason: String },
    /// Pins the same bytes with another surface, as another release could have.
    PinWithOtherSurface { plugin: String },
    /// Approves a plugin of the run after an audit of `there`, or of other bytes.
    Approve { plugin: String, audited: String, verdict: String },
    /// Reads a file of the plugins' folder as an entry of a registry.
    Entry { path: String },
    /// Reads a file of the plugins' folder as the list of a tree.
    List { path: String },
    /// Reads `lock.signers` of the settings.
    Signer { key: String },
    /// Reads a name that is to be excluded.
    Exclude { name: String },
}

/// What a deed answers: its codes, and a line a code.
#[derive(Debug, Default)]
pub struct Answers {
    pub codes: Vec<String>,
    pub lines: Vec<String>,
}

impl Answers {
    fn of(codes: impl IntoIterator<Item = (String, String)>) -> Self {
        let (codes, lines) =
            codes.into_iter().map(|(code, said)| (code.clone(), format!("{code}: {said}"))).unzip();
        Self { codes, lines }
    }

    fn one(code: Option<&str>, said: String) -> Self {
        Self::of(code.map(|code| (code.to_owned(), said)))
    }
}

fn now() -> Timestamp {
    Timestamp::from_unix_seconds(1_790_000_000).unwrap()
}

fn tree_of(report: &Report, plugin: &str) -> TreeDigest {
    let row = report.plugins.iter().find(|row| row.id == plugin).unwrap();
    row.tree.as_deref().unwrap().parse().unwrap()
}

fn named(report: &Report, plugin: &str, word: &str) -> Option<TreeDigest> {
    match word {
        "nothing" => None,
        "there" => Some(tree_of(report, plugin)),
        other => Some(TreeDigest::from_bytes(*sha256(other.as_bytes()).as_bytes())),
    }
}

impl Bench {
    /// Does one thing after a run.
    #[must_use]
    pub fn act(&self, run: &Run, report: &Report, deed: &Deed) -> Answers {
        let read = |path: &str| fs::read(self.plugins.join(path)).unwrap();
        match deed {
            Deed::Accept { plugin, shown, expected } => self.change(Change::Accept {
                observed: self.subject(run, plugin).observed,
                shown: ReviewedDigests::of_tree(named(report, plugin, shown).unwrap()),
                expected: named(report, plugin, expected),
                recorded: std::collections::BTreeSet::new(),
                by: Some("tester".to_owned()),
            }),
            Deed::Forget { plugin } => self.change(Change::Forget { key: self.key(plugin) }),
            Deed::Revoke { id, reason } => self
                .change(Change::Revoke(Revocation { id: Some(id.clone()), ..Revocation::because(reason) })),
            Deed::PinWithOtherSurface { plugin } => {
                let mut observed = self.subject(run, plugin).observed;
                observed.facts.surface = Some(format!("sf1:{}", "0".repeat(64)).parse().unwrap());
                let forgotten = self.change(Change::Forget { key: observed.key.clone() });
                assert!(forgotten.codes.is_empty(), "{forgotten:?}");
                self.change(Change::Enroll { observed, via: PinOrigin::Tofu, by: None })
            }
            Deed::Approve { plugin, audited, verdict } => self.approve(
                tree_of(report, plugin),
                named(report, plugin, audited).unwrap(),
                plugin,
                verdict,
            ),
            Deed::Entry { path } => match read_jp_entry(path, &read(path)) {
                Ok(manifest) => Answers::of(
                    manifest
                        .warnings()
                        .iter()
                        .map(|notice| (notice.code().to_owned(), notice.message().to_owned())),
                ),
                Err(errors) => {
                    Answers::of(errors.iter().map(|error| (error.code().to_owned(), error.to_string())))
                }
            },
            Deed::List { path } => {
                let error = TreeList::parse(std::str::from_utf8(&read(path)).unwrap()).unwrap_err();
                Answers::one(Some(error.code()), error.to_string())
            }
            Deed::Signer { key } => {
                let rows = [SignerRow { key: key.clone(), ids: vec!["claude:*@team".to_owned()] }];
                let error = Verifiers::signed_by(&rows).unwrap_err();
                Answers::one(Some(error.code()), format!("{error}; {}", error.help()))
            }
            Deed::Exclude { name } => {
                let error = Excludes::new([name.as_str()]).unwrap_err();
                Answers::one(Some(error.code()), format!("{error}; {}", error.help()))
            }
        }
    }

    fn change(&self, change: Change) -> Answers {
        let config = Dir::open_ambient_dir(&self.config, ambient_authority()).unwrap();
        let (mut pins, _) = Pins::open(&Pins::file(&config, owner()).unwrap()).unwrap();
        let before = self.pins();
        let committed = pins.commit(vec![change], now()).unwrap();
        let outcome = committed.outcomes.first().unwrap();
        if outcome.code().is_some() {
            assert_eq!(self.pins(), before, "a refusal changes no pin");
        }
        Answers::one(outcome.code(), format!("{outcome:?}"))
    }

    fn approve(&self, there: TreeDigest, audited: TreeDigest, plugin: &str, verdict: &str) -> Answers {
        let config = Dir::open_ambient_dir(&self.config, ambient_authority()).unwrap();
        let mut approvals = Approvals::open(&Approvals::file(&config, owner()).unwrap()).unwrap();
        let bytes = |tree| ApprovedBytes { tree, shared: std::collections::BTreeMap::new() };
        let draft = ApprovalDraft {
            audited: bytes(audited),
            audit: sha256(b"the audit"),
            kind: AuditKind::Static,
            risk: Risk::Low,
            verdict: if verdict == "reject" { AuditVerdict::Reject } else { AuditVerdict::Approve },
            rules: sha256(b"the rules"),
            by: Some("tester".to_owned()),
        };
        let done = approvals.approve(
            &self.key(plugin),
            &draft,
            &bytes(there),
            &there,
            &draft.audit,
            Risk::Medium,
            now(),
        );
        match done {
            Ok(outcome) => Answers::one(outcome.code(), format!("{outcome:?}")),
            Err(error) => Answers::one(Some(error.code()), format!("{error}; {}", error.help())),
        }
    }
}
