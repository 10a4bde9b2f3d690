//! `plugward lock DIR`: PLUGINS.lock.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;

use anyhow::anyhow;
use plugward_loader::ledger::LedgerEvent;
use plugward_loader::pinstore::{Change, ChangeOutcome};
use plugward_loader::sandbox_path::{ErrorClass, Perm, ReplaceOutcome};
use plugward_loader::tree_lock::{LOCK_BYTES, AnyLockFile, LockFile, MigratedPlugin, Migration};
use plugward_loader::{
    Gate, ByteRetention, LockState, LookReport, PluginReport, Root, Trust, Weight, CheckMode, project_of, sha256,
};

use crate::args::LockArgs;
use crate::escape::line;
use crate::failure::{Failure, usage};
use crate::host::{self, Host};
use crate::out::{LOAD, Out, REFUSE, paint};
use crate::stores;
use crate::table::{count, item, lines, next, wrapped};
use crate::verbs::decide::note;
use crate::verbs::shared;

const NAME: &str = "PLUGINS.lock";

pub(crate) fn run(args: &LockArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let root = host::root(&args.dir)?;
    let looked = shared::look(
        std::slice::from_ref(&root),
        Some(Trust::Tofu),
        ByteRetention::Nothing,
        &args.finding,
        host,
        out,
    )?;
    let exit = shared::pins_unread(&looked.report.plugins, out);
    if exit != 0 {
        // Whether these plugins are the pinned ones cannot be told, so nothing is written or confirmed.
        return Ok(exit);
    }
    let old = read(&root)?;
    if args.check {
        return check(args, &looked, old.as_deref(), out);
    }
    if args.accept {
        return accept(args.dir.as_str(), old, host, out);
    }
    let fresh = fresh(args, &root, &looked)?;
    let text = match (args.migrate, &old) {
        (true, Some(bytes)) => migrate(bytes, &root, &looked, &fresh)?,
        (true, None) => return Err(usage(format!("migrate: {} has no {NAME}", args.dir))),
        (false, _) => fresh.render(),
    };
    if let (true, Some(bytes)) = (args.migrate, &old) {
        keep(&root, bytes)?;
    }
    write(args, &root, old.as_deref(), &text, out)
}

/// A file in the directory that was named, relative to the root's jail.
fn at(root: &Root, name: &str) -> String {
    if root.dir == "." { name.to_owned() } else { format!("{}/{name}", root.dir) }
}

fn read(root: &Root) -> Result<Option<Vec<u8>>, Failure> {
    match root.jail.read(at(root, NAME).as_str(), u64::try_from(LOCK_BYTES).unwrap_or(u64::MAX)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.class() == ErrorClass::NotFound => Ok(None),
        Err(error) => {
            Err(Failure::Store(anyhow!("read {NAME}: {error} ({})\n  next: {}", error.code(), error.help())))
        }
    }
}

/// The lockfile as the directory is: every plugin that has a digest; one that has none stops the write.
fn fresh(args: &LockArgs, root: &Root, looked: &LookReport) -> Result<LockFile, Failure> {
    let mut file = LockFile::new();
    let real = root.real();
    for plugin in &looked.report.plugins {
        // A plugin that the old lockfile names and that is gone leaves the new one.
        if plugin.lock.state == LockState::Missing {
            continue;
        }
        let shown = host::display(&plugin.key);
        let Some(subject) = looked.subjects.get(&plugin.key) else {
            let mut codes: Vec<&str> = plugin.reasons.iter().map(|reason| reason.code.as_str()).collect();
            codes.dedup();
            return Err(Failure::Refused(anyhow!(
                "write {NAME}: {} cannot be locked ({})\n  next: plugward explain {}",
                line(&shown),
                codes.join(", "),
                shared::quoted(&shown)
            )));
        };
        let path = plugin.key.placed().and_then(|place| place.relative_to(&real)).ok_or_else(|| {
            usage(format!(
                "write {NAME}: {} is inside the plugin {}; name that directory or one above it",
                real,
                line(&shown)
            ))
        })?;
        if path == "." && project_of(root).is_none_or(|project| project != real) {
            return Err(usage(format!(
                "write {NAME}: {} is a plugin and not a project of its own, and a plugin cannot vouch for itself\n  \
                 next: plugward lock {}",
                line(&shown),
                shared::quoted(shared::lock_folder(plugin, &args.dir).as_str())
            )));
        }
        file.insert(path, subject.lock_entry(path))
            .map_err(|error| Failure::Refused(anyhow!("write {NAME}: {error}")))?;
    }
    Ok(file)
}

fn migrate(bytes: &[u8], root: &Root, looked: &LookReport, fresh: &LockFile) -> Result<String, Failure> {
    let old = AnyLockFile::parse(bytes).map_err(|error| {
        Failure::Store(anyhow!("read {NAME}: {error} ({})\n  next: {}", error.code(), error.help()))
    })?;
    let AnyLockFile::Json(old) = old else {
        return Err(usage(format!("migrate: {NAME} is not the older JSON lockfile")));
    };
    let mut migrants = Vec::new();
    for plugin in &looked.report.plugins {
        let path = plugin.key.placed().and_then(|place| place.relative_to(&root.real()).map(str::to_owned));
        let digest = looked.subjects.get(&plugin.key).and_then(|subject| subject.codewizard);
        if let (Some(path), Some(digest)) = (path, digest)
            && let Some(entry) = fresh.get(&path).cloned()
        {
            migrants.push(MigratedPlugin { name: plugin.name.clone(), digest, path, entry });
        }
    }
    let done = old
        .migrate(migrants)
        .map_err(|error| Failure::Refused(anyhow!("migrate: {error} ({})", error.code())))?;
    match done {
        Migration::Done(file) => Ok(file.render()),
        Migration::Refused { differ, missing } => {
            let mut rows: Vec<String> = differ
                .iter()
                .map(|(name, check)| format!("  {} {}", line(name), check.code().unwrap_or("lock/mismatch")))
                .collect();
            rows.extend(missing.iter().map(|name| format!("  {} lock/missing", line(name))));
            Err(Failure::Refused(anyhow!(
                "migrate: not everything is as the JSON lock has it\n{}",
                rows.join("\n")
            )))
        }
    }
}

/// Keeps the older lock beside the new one.
fn keep(root: &Root, bytes: &[u8]) -> Result<(), Failure> {
    let kept = "PLUGINS.lock.json";
    let perm = Perm::new(0o644).unwrap_or(Perm::PRIVATE_FILE);
    let mut file = root.jail.create_new(at(root, kept).as_str(), perm).map_err(|error| {
        anyhow!("keep the older lock as {kept}: {error} ({})\n  next: {}", error.code(), error.help())
    })?;
    file.write_all(bytes).map_err(|error| anyhow!("keep the older lock as {kept}: {error}"))?;
    Ok(())
}

fn write(args: &LockArgs, root: &Root, old: Option<&[u8]>, text: &str, out: &mut Out) -> Result<u8, Failure> {
    if old == Some(text.as_bytes()) {
        out.result(&format!("{NAME} is as it should be: nothing was written\n"))?;
        return Ok(0);
    }
    if let Some(Err(error)) = old.map(AnyLockFile::parse) {
        if error.is_newer() {
            let text = anyhow!("write {NAME}: {error} ({})\n  next: {}", error.code(), error.help());
            return Err(Failure::Store(text));
        }
        out.say(&format!("warning: the old {NAME} could not be read, and is written anew: {error}"));
    }
    let before = old.map(String::from_utf8_lossy).unwrap_or_default();
    changes(&tables(&before), &tables(text), out)?;
    let perm = Perm::new(0o644).unwrap_or(Perm::PRIVATE_FILE);
    let done = root
        .jail
        .replace(at(root, NAME).as_str(), text.as_bytes(), perm)
        .map_err(|error| anyhow!("write {NAME}: {error} ({})\n  next: {}", error.code(), error.help()))?;
    let wrote = match done {
        ReplaceOutcome::Created => "wrote",
        ReplaceOutcome::Overwrote => "replaced",
    };
    let dir = shared::quoted(args.dir.as_str());
    if root.jail.metadata(at(root, "PLUGINS.lock.minisig").as_str()).is_ok() {
        out.say("warning: PLUGINS.lock.minisig is of the file before; have it signed again");
    }
    out.say(&format!(
        "{wrote} {dir}/{NAME}\n  commit it, and let CI run: plugward check --trust locked {dir}"
    ));
    Ok(0)
}

/// The rows of a lock by the table that they stand in; those before the first table come first.
fn tables(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut tables: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut head = "";
    for row in text.lines() {
        if row.starts_with('[') {
            head = row;
            tables.entry(head).or_default();
        } else {
            tables.entry(head).or_default().push(row);
        }
    }
    tables
}

/// Prints what changes, each row below the table of its plugin.
fn changes(
    before: &BTreeMap<&str, Vec<&str>>,
    after: &BTreeMap<&str, Vec<&str>>,
    out: &mut Out,
) -> Result<(), Failure> {
    let none = Vec::new();
    let heads: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
    for head in heads {
        let sign = match (before.contains_key(head), after.contains_key(head)) {
            (true, true) => ' ',
            (true, false) => '-',
            (false, _) => '+',
        };
        let (old, new) = (before.get(head).unwrap_or(&none), after.get(head).unwrap_or(&none));
        if sign == ' ' && old == new {
            continue;
        }
        if !head.is_empty() {
            out.result(&signed(sign, head))?;
        }
        let (was, is): (BTreeSet<_>, BTreeSet<_>) = (old.iter().collect(), new.iter().collect());
        for row in old.iter().filter(|row| !is.contains(row)) {
            out.result(&signed('-', row))?;
        }
        for row in new.iter().filter(|row| !was.contains(row)) {
            out.result(&signed('+', row))?;
        }
    }
    Ok(())
}

fn signed(sign: char, row: &str) -> String {
    let text = format!("{sign} {}", line(row));
    match sign {
        '-' => format!("{}\n", paint(REFUSE, &text)),
        '+' => format!("{}\n", paint(LOAD, &text)),
        _ => format!("{text}\n"),
    }
}

fn check(args: &LockArgs, looked: &LookReport, old: Option<&[u8]>, out: &mut Out) -> Result<u8, Failure> {
    let covered = |plugin: &PluginReport| plugin.lock.state != LockState::Absent;
    if old.is_none() && !looked.report.plugins.iter().any(covered) {
        return Err(Failure::Refused(anyhow!(
            "check {NAME}: {} has none (lock/missing)\n  next: plugward lock {}",
            args.dir,
            args.dir
        )));
    }
    let mut wrong = 0_usize;
    let mut worst = 0_u8;
    for plugin in &looked.report.plugins {
        let mut reasons: Vec<_> = plugin.reasons.iter().filter(|reason| reason.gate == Gate::Lock).collect();
        if reasons.is_empty() && !looked.subjects.contains_key(&plugin.key) {
            // It has no digest to hold against the lock: whatever stands in the way is the answer.
            reasons = plugin.reasons.iter().collect();
        }
        for reason in reasons {
            wrong = wrong.saturating_add(1);
            worst = if reason.weight == Weight::Store || worst == 7 { 7 } else { reason.weight.exit() };
            let shown = host::display(&plugin.key);
            out.result(&format!("{} {} {}\n", paint(REFUSE, "refuse"), line(&shown), reason.code))?;
            out.result(&lines(&reason.message, out.width))?;
            let help = shared::with_folder(&reason.help, &shared::lock_folder(plugin, &args.dir));
            out.result(&next(&help, out.width))?;
        }
    }
    for notice in looked.report.notices.iter().filter(|notice| notice.gate == Gate::Lock) {
        // The lock itself, where no plugin is there to speak of it.
        wrong = wrong.saturating_add(1);
        worst = 7;
        let text = shared::with_folder(&notice.message, &args.dir);
        out.result(&item("refuse ", REFUSE, &notice.code, &text, out.width))?;
    }
    let signers: BTreeSet<(&String, Option<&String>)> = looked
        .report
        .plugins
        .iter()
        .filter_map(|plugin| Some((plugin.lock.signer.as_ref()?, plugin.lock.comment.as_ref())))
        .collect();
    for (signer, comment) in signers {
        let comment = comment.map(|comment| format!(", who says: {}", line(comment))).unwrap_or_default();
        out.result(&wrapped("", "  ", &format!("signed by {}{comment}", line(signer)), out.width))?;
    }
    out.result(&format!(
        "{} checked against {NAME}: {wrong} wrong\n",
        count(looked.report.plugins.len(), "plugin")
    ))?;
    Ok(worst)
}

fn accept(dir: &str, old: Option<Vec<u8>>, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let Some(bytes) = old else {
        return Err(usage(format!("accept {NAME}: there is none")));
    };
    let parsed = AnyLockFile::parse(&bytes).map_err(|error| {
        Failure::Store(anyhow!("read {NAME}: {error} ({})\n  next: {}", error.code(), error.help()))
    })?;
    if matches!(parsed, AnyLockFile::Json(_)) {
        return Err(usage(format!(
            "accept {NAME}: the older JSON lock covers too little\n  next: plugward lock --migrate"
        )));
    }
    let mut store = stores::pins(host, CheckMode::Commit, out)?;
    let lock = sha256(&bytes);
    note(host, &[LedgerEvent::PinAccepted { plugin: NAME.to_owned(), digest: lock.to_string(), old: None }])?;
    let change = Change::AcceptLock { lock };
    let committed = store
        .commit(vec![change], host::now()?)
        .map_err(|error| Failure::Store(anyhow!("{error}\n  next: {}", error.help())))?;
    match committed.outcomes.first() {
        Some(ChangeOutcome::Done | ChangeOutcome::Already) => {
            out.result(&format!("accepted {}/{NAME}\n  {lock}\n", line(dir)))?;
            Ok(0)
        }
        _ => Err(Failure::Internal(anyhow!("the store gave no answer"))),
    }
}
