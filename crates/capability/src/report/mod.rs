//! The reports that the command line prints for a ledger.

pub(crate) mod listing;
pub(crate) mod review;

use plugward_ledger::{
    ChainCheck, ChainVerification, Checkpoint, LedgerDigest, LedgerError, LedgerFiles, RecordValue,
    VerifyPlan,
};

use crate::report::review::{Review, ReviewItem, Reviewer, Tally, TallyKey};
use crate::trail::budget::{BudgetLimit, deciding};
use crate::trail::folds;

/// The result of a full verification: the chain, the checkpoints, and the review of grants and uses.
#[derive(Debug)]
#[non_exhaustive]
#[must_use]
pub struct VerifyReport {
    /// The result for the chain.
    pub chain: ChainVerification,
    /// The review of grants and uses.
    pub review: Review,
}

/// Verifies all files of a ledger, recomputes the counters, and reviews grants and uses.
///
/// `from` allows that the records before it are missing.
///
/// # Errors
///
/// `ledger/io` if a file cannot be read.
pub fn verify_report(
    files: &LedgerFiles,
    against: &[Checkpoint],
    from: Option<u64>,
) -> Result<VerifyReport, LedgerError> {
    let plan = against.iter().cloned().fold(VerifyPlan::new().folds(folds()), VerifyPlan::against);
    let plan = from.into_iter().fold(plan, VerifyPlan::from);
    let mut reviewer = Reviewer::default();
    let chain = files.verify(plan, &mut |record, _| reviewer.apply(record))?;
    Ok(VerifyReport { chain, review: reviewer.finish() })
}

impl VerifyReport {
    /// Returns the exit code of `ledger verify`: 0 for a whole chain without findings, otherwise 4.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        let whole = matches!(self.chain.check, ChainCheck::Whole { .. });
        if whole && self.review.findings.is_empty() { 0 } else { 4 }
    }

    /// Returns one line about the chain.
    #[must_use]
    pub fn headline(&self) -> String {
        match &self.chain.check {
            ChainCheck::Whole { records, head, .. } => format!("whole: {records} records, head {head}"),
            ChainCheck::Torn { file, offset, bytes } => {
                format!(
                    "torn: {file}: {bytes} bytes from offset {offset} are not a complete record; the next run sets them aside"
                )
            }
            ChainCheck::Broken { file, line, seq, why } => {
                format!("broken: {file}:{line} is not record {seq} of the ledger: {why} ({})", why.code())
            }
            ChainCheck::StartsLate { seq } => {
                format!("starts late: the first record is {seq}; to accept that, use --from {seq}")
            }
            ChainCheck::Truncated { checkpoint, have } => {
                format!("truncated: a checkpoint covers {} records, but there are {have}", checkpoint.size())
            }
            ChainCheck::Diverged { checkpoint } => {
                format!("diverged: the first {} records do not match a checkpoint", checkpoint.size())
            }
        }
    }

    /// Returns one line about the checkpoints that match.
    ///
    /// `names` are the files of the checkpoints, in the order in which they were passed.
    #[must_use]
    pub fn anchor_line(&self, names: &[(&str, &Checkpoint)]) -> String {
        let fits = |checkpoint: &Checkpoint| self.chain.anchored.contains(checkpoint);
        let anchored: Vec<&str> =
            names.iter().filter(|(_, checkpoint)| fits(checkpoint)).map(|(name, _)| *name).collect();
        if anchored.is_empty() {
            "not anchored: removal of the last records would not be detected".to_owned()
        } else {
            format!("anchored to {}", anchored.join(", "))
        }
    }

    /// Returns the report as lines of text.
    #[must_use]
    pub fn to_text(&self, names: &[(&str, &Checkpoint)]) -> String {
        let mut lines = vec![self.headline(), self.anchor_line(names)];
        for (word, list) in [("finding", &self.review.findings), ("note", &self.review.notes)] {
            for ReviewItem { code, seq, workflow, detail } in list {
                let workflow =
                    workflow.as_deref().map_or(String::new(), |id| format!(" in {}", id.escape_debug()));
                lines.push(format!("{word} {code}: record {seq}{workflow}: {}", detail.escape_debug()));
            }
        }
        lines.push(String::new());
        lines.join("\n")
    }

    /// Returns the report as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let noticed = |list: &[ReviewItem]| {
            let row = |noticed: &ReviewItem| {
                let mut row = RecordValue::object([
                    ("code", RecordValue::text(noticed.code)),
                    ("seq", RecordValue::Number(noticed.seq)),
                    ("detail", RecordValue::text(&noticed.detail)),
                ]);
                put(&mut row, "workflow", noticed.workflow.as_deref().map(RecordValue::text));
                row
            };
            RecordValue::List(list.iter().map(row).collect())
        };
        let checkpoints = |list: &[Checkpoint]| RecordValue::List(list.iter().map(checkpoint).collect());
        let mut report = RecordValue::object([
            ("chain", self.chain_value()),
            ("records", RecordValue::Number(self.chain.records)),
            ("first_seq", RecordValue::Number(self.chain.first_seq)),
            ("anchored", checkpoints(&self.chain.anchored)),
            ("unchecked", checkpoints(&self.chain.unchecked)),
            ("findings", noticed(&self.review.findings)),
            ("notes", noticed(&self.review.notes)),
            ("exit", RecordValue::Number(u64::from(self.exit_code()))),
        ]);
        put(&mut report, "ledger", self.chain.ledger.map(|id| RecordValue::Text(id.to_string())));
        report.render()
    }

    fn chain_value(&self) -> RecordValue {
        let sum = |sum: &LedgerDigest| RecordValue::Text(sum.to_string());
        match &self.chain.check {
            ChainCheck::Whole { records, head, root } => RecordValue::object([
                ("check", RecordValue::text("whole")),
                ("records", RecordValue::Number(*records)),
                ("head", sum(head)),
                ("root", sum(root)),
            ]),
            ChainCheck::Torn { file, offset, bytes } => RecordValue::object([
                ("check", RecordValue::text("torn")),
                ("file", RecordValue::text(file)),
                ("offset", RecordValue::Number(*offset)),
                ("bytes", RecordValue::Number(*bytes)),
            ]),
            ChainCheck::Broken { file, line, seq, why } => RecordValue::object([
                ("check", RecordValue::text("broken")),
                ("code", RecordValue::text(why.code())),
                ("file", RecordValue::text(file)),
                ("line", RecordValue::Number(*line)),
                ("seq", RecordValue::Number(*seq)),
                ("why", RecordValue::Text(why.to_string())),
            ]),
            ChainCheck::StartsLate { seq } => RecordValue::object([
                ("check", RecordValue::text("starts-late")),
                ("seq", RecordValue::Number(*seq)),
            ]),
            ChainCheck::Truncated { checkpoint: of, have } => RecordValue::object([
                ("check", RecordValue::text("truncated")),
                ("checkpoint", checkpoint(of)),
                ("have", RecordValue::Number(*have)),
            ]),
            ChainCheck::Diverged { checkpoint: of } => RecordValue::object([
                ("check", RecordValue::text("diverged")),
                ("checkpoint", checkpoint(of)),
            ]),
        }
    }
}

fn checkpoint(checkpoint: &Checkpoint) -> RecordValue {
    RecordValue::object([
        ("ledger", RecordValue::Text(checkpoint.ledger().to_string())),
        ("size", RecordValue::Number(checkpoint.size())),
        ("root", RecordValue::Text(checkpoint.root().to_string())),
    ])
}

fn put(object: &mut RecordValue, name: &str, value: Option<RecordValue>) {
    if let (RecordValue::Object(members), Some(value)) = (object, value) {
        members.insert(name.to_owned(), value);
    }
}

/// A filter for the rows of counters.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "the three filters of the command")]
pub struct BudgetQuery<'a> {
    /// The workflow.
    pub workflow: &'a str,
    /// Only this plugin.
    pub plugin: Option<&'a str>,
    /// Only this kind.
    pub kind: Option<&'a str>,
}

/// One row of counters with its limits.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BudgetRow {
    /// The workflow, plugin and kind.
    pub key: TallyKey,
    /// The counters.
    pub tally: Tally,
    /// The applicable limit.
    pub limit: BudgetLimit,
    /// The remaining grants, uses and units; `None` if unlimited.
    pub left: [Option<u64>; 3],
}

/// The counters of a workflow, recomputed from the records alone.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct BudgetReport {
    /// One row for each opening of the workflow, plugin and kind.
    pub rows: Vec<BudgetRow>,
    /// The result for the chain.
    pub chain: ChainCheck,
}

/// Recomputes the counters of a workflow.
///
/// # Errors
///
/// `ledger/io` if a file cannot be read.
pub fn budget_report(
    files: &LedgerFiles,
    query: BudgetQuery<'_>,
    from: Option<u64>,
) -> Result<BudgetReport, LedgerError> {
    let VerifyReport { chain, review } = verify_report(files, &[], from)?;
    Ok(BudgetReport { rows: rows(&review, query), chain: chain.check })
}

fn rows(review: &Review, query: BudgetQuery<'_>) -> Vec<BudgetRow> {
    let wanted = |key: &&TallyKey| {
        key.workflow == query.workflow
            && query.plugin.is_none_or(|plugin| key.plugin == plugin)
            && query.kind.is_none_or(|kind| key.kind == kind)
    };
    let row = |key: &TallyKey| {
        let lines = key.opened.and_then(|opened| review.budgets.get(&(key.workflow.clone(), opened)));
        let (limit, counts) = deciding(lines.map_or(&[], Vec::as_slice), &key.plugin, &key.kind);
        let sum = review.counted(key, counts);
        let left = |limit: Option<u64>, have: u64| limit.map(|limit| limit.saturating_sub(have));
        BudgetRow {
            key: key.clone(),
            tally: review.tallies.get(key).copied().unwrap_or_default(),
            limit,
            left: [
                left(limit.max_mints, sum.mints),
                left(limit.max_uses, sum.uses),
                left(limit.max_units, sum.units),
            ],
        }
    };
    review.tallies.keys().filter(wanted).map(row).collect()
}

impl BudgetReport {
    /// Returns the exit code of `ledger budget`: 4 if the chain is not whole, 5 if a limit was reached or
    /// something was refused, otherwise 0.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        if !matches!(self.chain, ChainCheck::Whole { .. }) {
            return 4;
        }
        let full = |row: &BudgetRow| row.tally.refused > 0 || row.left.contains(&Some(0));
        if self.rows.iter().any(full) { 5 } else { 0 }
    }

    /// Returns the rows as JSON, with limits and remaining amounts.
    #[must_use]
    pub fn to_json(&self) -> String {
        let number = |number: Option<u64>| number.map(RecordValue::Number);
        let row = |row: &BudgetRow| {
            let mut value = RecordValue::object([
                ("workflow", RecordValue::text(&row.key.workflow)),
                ("plugin", RecordValue::text(&row.key.plugin)),
                ("kind", RecordValue::text(&row.key.kind)),
                ("minted", RecordValue::Number(row.tally.mints)),
                ("used", RecordValue::Number(row.tally.uses)),
                ("units", RecordValue::Number(row.tally.units)),
                ("refused", RecordValue::Number(row.tally.refused)),
                ("open_uses", RecordValue::Number(row.tally.open_uses)),
            ]);
            let [mints, uses, units] = row.left;
            put(&mut value, "opened", number(row.key.opened));
            put(&mut value, "max_mints", number(row.limit.max_mints));
            put(&mut value, "max_uses", number(row.limit.max_uses));
            put(&mut value, "max_units", number(row.limit.max_units));
            put(&mut value, "mints_left", number(mints));
            put(&mut value, "uses_left", number(uses));
            put(&mut value, "units_left", number(units));
            value
        };
        RecordValue::object([
            ("rows", RecordValue::List(self.rows.iter().map(row).collect())),
            ("exit", RecordValue::Number(u64::from(self.exit_code()))),
        ])
        .render()
    }
}
