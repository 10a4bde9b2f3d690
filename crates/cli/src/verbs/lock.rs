//! `plugward lock DIR`: PLUGINS.lock.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;

use anyhow::anyhow;
use plugward_loader::ledger::Event;
use plugward_loader::pinstore::{Change, Outcome};
use plugward_loader::sandbox_path::{Answer, Perm, Replaced};
use plugward_loader::tree_lock::{LOCK_BYTES, Lock, LockFile, Migrant, Migration};
use plugward_loader::{Gate, Root, Trust, Weight, Writes, sha256};

use crate::args::LockArgs;
use crate::escape::line;
use crate::failure::{Failure, usage};
use crate::host::{self, Host};
use crate::out::{LOAD, Out, REFUSE, paint};
use crate::stores;
use crate::table::{count, item, lines, next, wrapped};
use crate::verbs::decide::note;
use crate::verbs::shared::{self, Looked};

const NAME: &str = "PLUGINS.lock";

pub(crate) fn run(args: &LockArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let dirs = [args.dir.clone()];
    let looked = shared::look(&dirs, Some(Trust::Tofu), &args.finding, host, out)?;
    let Some(root) = looked.roots.first() else {
        return Err(usage("name one folder"));
    };
    let old = read(root)?;
    if args.check {
        return check(args, &looked, old.as_deref(), out);
    }
    if args.accept {
        return accept((root, args.dir.as_str()), old, host, out);
    }
    let fresh = fresh(args, &looked)?;
    let text = match (args.migrate, &old) {
        (true, Some(bytes)) => migrate(bytes, &looked, &fresh)?,
        (true, None) => return Err(usage(format!("migrate: {} has no {NAME}", args.dir))),
        (false, _) => fresh.render(),
    };
    if let (true, Some(bytes)) = (args.migrate, &old) {
        keep(root, bytes)?;
    }
    write(args, root, old.as_deref(), &text, out)
}

fn read(root: &Root) -> Result<Option<Vec<u8>>, Failure> {
    match root.jail.read(NAME, u64::try_from(LOCK_BYTES).unwrap_or(u64::MAX)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.answer() == Answer::NotThere => Ok(None),
        Err(error) => {
            Err(Failure::Store(anyhow!("read {NAME}: {error} ({})\n  next: {}", error.code(), error.help())))
        }
    }
}

/// The lock as the folder is: every plugin that has a digest; one that has none stops the write.
fn fresh(args: &LockArgs, looked: &Looked) -> Result<LockFile, Failure> {
    let mut file = LockFile::new();
    for plugin in &looked.report.plugins {
        // A plugin that the old lock names and that is gone leaves the new one.
        if plugin.lock.state == "missing" {
            continue;
        }
        let Some(subject) = looked.subjects.get(&plugin.id) else {
            let mut codes: Vec<&str> = plugin.reasons.iter().map(|reason| reason.code.as_str()).collect();
            codes.dedup();
            return Err(Failure::Refused(anyhow!(
                "write {NAME}: {} cannot be locked ({})\n  next: plugward explain {}{}",
                line(&plugin.id),
                codes.join(", "),
                line(&plugin.id),
                shared::again(std::slice::from_ref(&args.dir))
            )));
        };
        let entry = subject.lock_entry();
        file.insert(subject.id.clone(), entry)
            .map_err(|error| Failure::Refused(anyhow!("write {NAME}: {error}")))?;
    }
    Ok(file)
}

fn migrate(bytes: &[u8], looked: &Looked, fresh: &LockFile) -> Result<String, Failure> {
    let old = Lock::parse(bytes).map_err(|error| {
        Failure::Store(anyhow!("read {NAME}: {error} ({})\n  next: {}", error.code(), error.help()))
    })?;
    let Lock::Json(old) = old else {
        return Err(usage(format!("migrate: {NAME} is not the older JSON lock")));
    };
    let mut migrants = Vec::new();
    for (id, entry) in fresh.entries() {
        let Some(digest) = looked.subjects.get(id.as_str()).and_then(|subject| subject.codewizard) else {
            continue;
        };
        migrants.push(Migrant { name: id.name().to_owned(), digest, id: id.clone(), entry: entry.clone() });
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
    let mut file = root.jail.create_new(kept, perm).map_err(|error| {
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
    if let Some(Err(error)) = old.map(Lock::parse) {
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
        .replace(NAME, text.as_bytes(), perm)
        .map_err(|error| anyhow!("write {NAME}: {error} ({})\n  next: {}", error.code(), error.help()))?;
    let wrote = match done {
        Replaced::Created => "wrote",
        Replaced::Overwrote => "replaced",
    };
    let dir = shared::quoted(args.dir.as_str());
    if root.jail.metadata("PLUGINS.lock.minisig").is_ok() {
        out.say("warning: PLUGINS.lock.minisig is of the file before; have it signed again");
    }
    out.say(&format!("{wrote} {dir}/{NAME}\n  commit it, and let CI run: plugward lock --check {dir}"));
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

fn check(args: &LockArgs, looked: &Looked, old: Option<&[u8]>, out: &mut Out) -> Result<u8, Failure> {
    if old.is_none() {
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
        if reasons.is_empty() && !looked.subjects.contains_key(&plugin.id) {
            // It has no digest to hold against the lock: whatever stands in the way is the answer.
            reasons = plugin.reasons.iter().collect();
        }
        for reason in reasons {
            wrong = wrong.saturating_add(1);
            worst = if reason.weight == Weight::Store || worst == 7 { 7 } else { reason.weight.exit() };
            out.result(&format!("{} {} {}\n", paint(REFUSE, "refuse"), line(&plugin.id), reason.code))?;
            out.result(&lines(&reason.message, out.width))?;
            let help = shared::with_folder(&reason.help, Some(&args.dir));
            out.result(&next(&help, out.width))?;
        }
    }
    for notice in looked.report.notices.iter().filter(|notice| notice.gate == Gate::Lock) {
        // The lock itself, where no plugin is there to speak of it.
        wrong = wrong.saturating_add(1);
        worst = 7;
        let text = shared::with_folder(&notice.message, Some(&args.dir));
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

fn accept(
    (root, dir): (&Root, &str),
    old: Option<Vec<u8>>,
    host: &Host,
    out: &mut Out,
) -> Result<u8, Failure> {
    let Some(bytes) = old else {
        return Err(usage(format!("accept {NAME}: there is none")));
    };
    let parsed = Lock::parse(&bytes).map_err(|error| {
        Failure::Store(anyhow!("read {NAME}: {error} ({})\n  next: {}", error.code(), error.help()))
    })?;
    if matches!(parsed, Lock::Json(_)) {
        return Err(usage(format!(
            "accept {NAME}: the older JSON lock covers too little\n  next: plugward lock --migrate"
        )));
    }
    let mut store = stores::pins(host, Writes::Commit, out)?;
    let lock = sha256(&bytes);
    let old = store.pins().and_then(|pins| pins.accepted_lock(&root.place)).map(ToString::to_string);
    let plugin = format!("{NAME} of {}", root.place);
    note(host, &[Event::PinAccepted { plugin, digest: lock.to_string(), old }])?;
    let change = Change::AcceptLock { scope: root.place.clone(), lock };
    let committed = store
        .commit(vec![change], host::now()?)
        .map_err(|error| Failure::Store(anyhow!("{error}\n  next: {}", error.help())))?;
    match committed.outcomes.first() {
        Some(Outcome::Done | Outcome::Already) => {
            out.result(&format!("accepted {}/{NAME}\n  {lock}\n", line(dir)))?;
            Ok(0)
        }
        _ => Err(Failure::Internal(anyhow!("the store gave no answer"))),
    }
}
