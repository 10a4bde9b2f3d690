//! `plugward ledger`: shows and verifies the log of grants and decisions.

use plugward_loader::capability::{
    BudgetQuery, BudgetReport, BudgetRow, ListedRecord, ShowQuery, VerifyReport, budget_report, show,
    verify_report,
};
use plugward_loader::ledger::{ChainCheck, Checkpoint, LedgerError, LedgerEvent, LedgerFiles, LedgerTime};
use plugward_loader::{CheckMode, PluginKey, ledger_name};

use crate::args::{LedgerBudgetArgs, LedgerShowArgs, LedgerVerb, LedgerVerifyArgs, ListFormat};
use crate::command_host::{command_id, command_ledger_name};
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::stores;
use crate::table::grid;
use crate::verbs::select;
use plugward_loader::escape::{block, line};

pub(crate) fn run(what: &LedgerVerb, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let path = host.state_dir()?;
    // These verbs must not create a ledger, which would hide that the old one is lost.
    if !path.join("ledger.jsonl").exists() {
        return Err(Failure::usage(format!("there is no ledger in {path}"))
            .help("name another directory: --state-dir DIR"));
    }
    let dir = host::own_directory(path)?;
    let files = LedgerFiles::open(&dir).map_err(|error| failed(&error))?;
    match what {
        LedgerVerb::Show(args) => show_records(args, &files, host, out),
        LedgerVerb::Verify(args) => verify(args, &files, out),
        LedgerVerb::Budget(args) => budget(args, &files, host, out),
        LedgerVerb::Checkpoint => checkpoint(host, out),
    }
}

/// Returns the failure for a ledger that cannot be read. It exits with 1; only `check`, which then loads nothing, exits
/// with 7.
fn failed(error: &LedgerError) -> Failure {
    Failure::internal(format!("cannot read the ledger: {error}")).code(error.code()).help(error.help())
}

/// Returns the name that a plugin has in the records. Like other verbs, these accept its directory or its unique name.
fn recorded(
    plugin: Option<&str>,
    files: &LedgerFiles,
    host: &Host,
    out: &Out,
) -> Result<Option<String>, Failure> {
    let Some(text) = plugin else { return Ok(None) };
    let has_records = |name: &str| -> Result<bool, Failure> {
        let mut is_there = false;
        let query = ShowQuery { plugin: Some(name), ..ShowQuery::default() };
        let _chain = show(files, &query, None, &mut |_| is_there = true).map_err(|error| failed(&error))?;
        Ok(is_there)
    };
    if has_records(text)? {
        return Ok(Some(text.to_owned()));
    }
    if let Ok(key) = text.parse::<PluginKey>() {
        return Ok(Some(ledger_name(&key)));
    }
    let pins = stores::pins(host, CheckMode::LookOnly, out)?;
    let command = command_id(text).map(command_ledger_name);
    match (command, select::pinned(text, &pins)) {
        (Some(name), Ok(key)) if has_records(&name)? => {
            let message = format!("`{text}` is the name of a plugin and the id of a command plugin");
            Err(Failure::usage(message).help(format!("write `{name}`, or `{}`", line(&key.to_string()))))
        }
        (_, Ok(key)) => Ok(Some(ledger_name(&key))),
        (Some(name), Err(_)) if has_records(&name)? => Ok(Some(name)),
        (_, Err(failure)) if pins.pins().is_some() => Err(failure),
        // The ledger can be read without the pins, and a record has the name of its plugin.
        (_, Err(failure)) => {
            out.report(&failure.into_note("names of plugins are not looked up"));
            Ok(Some(text.to_owned()))
        }
    }
}

fn show_records(
    args: &LedgerShowArgs,
    files: &LedgerFiles,
    host: &Host,
    out: &mut Out,
) -> Result<u8, Failure> {
    // A date is the start of its day.
    let since = args.since.as_ref().map(|text| match text.len() {
        10 => format!("{text}T00:00:00.000000Z"),
        _ => text.clone(),
    });
    let since = match since {
        Some(text) => Some(text.parse::<LedgerTime>().map_err(|error| {
            Failure::usage(format!("invalid value for --since: {error}"))
                .code(error.code())
                .help(error.help())
        })?),
        None => None,
    };
    let plugin = recorded(args.plugin.as_deref(), files, host, out)?;
    let query = ShowQuery {
        workflow: args.workflow.as_deref(),
        plugin: plugin.as_deref(),
        type_name: args.type_name.as_deref(),
        since,
        last: args.last,
    };
    let mut text = String::new();
    let mut each = |shown: ListedRecord| {
        let row = match args.format {
            ListFormat::Json => shown.line,
            ListFormat::Table => shown.to_text(),
        };
        text.push_str(&line(&row));
        text.push('\n');
    };
    let chain = show(files, &query, None, &mut each).map_err(|error| failed(&error))?;
    if text.is_empty() {
        nothing_shown(args, out)?;
    }
    out.result(&text)?;
    if !matches!(chain.check, ChainCheck::Whole { .. }) {
        out.complain("warning: the hash chain is broken; to see where: plugward ledger verify");
    }
    Ok(0)
}

/// Reports that no record matches. An unknown type that no record has is an error, because it is mistyped.
fn nothing_shown(args: &LedgerShowArgs, out: &mut Out) -> Result<(), Failure> {
    if let Some(name) = args.type_name.as_deref().filter(|name| !LedgerEvent::TYPES.contains(name)) {
        return Err(Failure::usage(format!("no record has the type `{}`", line(name)))
            .note("known types", LedgerEvent::TYPES.join(", "))
            .help("plugward ledger show --type decision"));
    }
    out.complain("note: no record matches");
    Ok(())
}

/// Fails if `--from` names a record after the last one.
fn is_there(from: Option<u64>, report: &VerifyReport) -> Result<(), Failure> {
    let end = report.chain.first_seq.saturating_add(report.chain.records);
    match (from, end.checked_sub(1)) {
        (Some(from), Some(last)) if from > last && matches!(report.chain.check, ChainCheck::Whole { .. }) => {
            Err(Failure::usage(format!(
                "no record {from}: the ledger has the records {} to {last}",
                report.chain.first_seq
            ))
            .help("leave --from out, or name the first remaining record"))
        }
        _ => Ok(()),
    }
}

fn verify(args: &LedgerVerifyArgs, files: &LedgerFiles, out: &mut Out) -> Result<u8, Failure> {
    let mut checkpoints: Vec<(String, Checkpoint)> = Vec::new();
    for path in &args.checkpoint {
        let bytes = host::named_file(path, 1 << 20)?;
        let text = String::from_utf8_lossy(&bytes);
        let parsed = Checkpoint::parse(&text).map_err(|error| {
            Failure::usage(format!("cannot read {path}: {error}")).code(error.code()).help(error.help())
        })?;
        checkpoints.push((path.to_string(), parsed));
    }
    let against: Vec<Checkpoint> = checkpoints.iter().map(|(_, checkpoint)| checkpoint.clone()).collect();
    let mut report = verify_report(files, &against, args.from).map_err(|error| failed(&error))?;
    is_there(args.from, &report)?;
    detect_truncation(files, &mut report);
    let names: Vec<(&str, &Checkpoint)> = checkpoints.iter().map(|(name, c)| (name.as_str(), c)).collect();
    let text = match args.format {
        ListFormat::Json => report.to_json() + "\n",
        ListFormat::Table => report.to_text(&names),
    };
    out.result(&block(&text))?;
    Ok(report.exit_code())
}

/// Reports truncation if the ledger ends before the checkpoint file next to it.
///
/// That file proves nothing else: anyone who can change the ledger can change it too.
fn detect_truncation(files: &LedgerFiles, report: &mut VerifyReport) {
    let have = report.chain.first_seq.saturating_add(report.chain.records);
    if matches!(report.chain.check, ChainCheck::Whole { .. })
        && let Some(stored) = files.checkpoint()
        && report.chain.ledger == Some(stored.ledger())
        && have < stored.size()
    {
        report.chain.check = ChainCheck::Truncated { checkpoint: stored.clone(), have };
    }
}

/// Appends a checkpoint and prints it, so that the user can store it elsewhere.
fn checkpoint(host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let record = stores::record(host, None)?;
    let Some(trail) = record.trail() else {
        let why = record.failure().map(ToString::to_string).unwrap_or_default();
        return Err(Failure::internal(format!("cannot open the ledger: {why}")));
    };
    let made = trail.ledger().checkpoint().map_err(|error| failed(&error))?;
    out.result(&made.to_string())?;
    Ok(0)
}

fn budget(args: &LedgerBudgetArgs, files: &LedgerFiles, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let plugin = recorded(args.plugin.as_deref(), files, host, out)?;
    let query =
        BudgetQuery { workflow: &args.workflow, plugin: plugin.as_deref(), kind: args.kind.as_deref() };
    let report = budget_report(files, query, None).map_err(|error| failed(&error))?;
    let text = match args.format {
        ListFormat::Json => report.to_json() + "\n",
        ListFormat::Table => budget_table(&report, out.width),
    };
    out.result(&block(&text))?;
    Ok(report.exit_code())
}

fn budget_table(report: &BudgetReport, width: usize) -> String {
    let rows: Vec<Vec<String>> = report.rows.iter().map(budget_row).collect();
    if rows.is_empty() {
        return "the workflow has no grants and no uses\n".to_owned();
    }
    grid(&["PLUGIN", "KIND", "MINTED", "USED", "UNITS", "OPEN", "REFUSED", "LEFT"], &rows, width)
}

fn budget_row(row: &BudgetRow) -> Vec<String> {
    let left: Vec<String> = ["mints", "uses", "units"]
        .iter()
        .zip(row.left)
        .filter_map(|(what, left)| left.map(|left| format!("{what} {left}")))
        .collect();
    let left = if left.is_empty() { "no limit".to_owned() } else { left.join(" ") };
    vec![
        row.key.plugin.clone(),
        row.key.kind.clone(),
        row.tally.mints.to_string(),
        row.tally.uses.to_string(),
        row.tally.units.to_string(),
        row.tally.open_uses.to_string(),
        row.tally.refused.to_string(),
        left,
    ]
}
