//! `plugward lock DIR`: writes, checks, accepts and migrates PLUGINS.lock.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;

use plugward_loader::pinstore::ChangeOutcome;
use plugward_loader::sandbox_path::{ErrorClass, Perm, ReplaceOutcome};
use plugward_loader::tree_lock::{AnyLockFile, LOCK_BYTES, LockFile, MigratedPlugin, Migration};
use plugward_loader::{
    ByteRetention, CheckMode, Gate, LockState, LookReport, PluginReport, Root, Trust, UnresolvedReport,
    UserDecision, Weight, project_of, sha256,
};

use crate::args::LockArgs;
use crate::diagnostic::Diagnostic;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::{LOAD, Out, REFUSE, paint};
use crate::prompt::confirm;
use crate::report::{Detail, View, problem};
use crate::stores;
use crate::text::{count, wrapped};
use crate::verbs::decide::store_decision;
use crate::verbs::shared;
use plugward_loader::escape::line;

const NAME: &str = "PLUGINS.lock";

pub(crate) fn run(args: &LockArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let root = host::root(&args.dir)?;
    // `tofu`, because the plugins of a new lockfile are neither pinned nor listed yet.
    let looked = shared::look(
        std::slice::from_ref(&root),
        Some(Trust::Tofu),
        if args.files { ByteRetention::Digests } else { ByteRetention::Nothing },
        &args.finding,
        host,
        out,
    )?;
    let exit = shared::pins_unread(&looked.report.plugins, out);
    if exit != 0 {
        // Without the pins, plugward does not know whether these plugins are the pinned ones. So it writes and confirms
        // nothing.
        return Ok(exit);
    }
    let old = read(&root)?;
    if args.check {
        return check(args, &root, &looked, old.as_deref(), out);
    }
    if args.accept {
        return accept(args.dir.as_str(), old, host, out);
    }
    let fresh = fresh(args, &root, &looked, out)?;
    let left_out = looked.report.plugins.iter().any(|plugin| plugin.lock.state != LockState::Missing);
    if fresh.entries().count() == 0 && left_out {
        // An empty lockfile would say that there is no plugin.
        out.say("Nothing was written.");
        return Ok(looked.report.exit);
    }
    let unlisted = unlisted(&looked, &root, old.as_deref());
    if !args.unresolved && !unlisted.is_empty() && !agree(&unlisted, host, out)? {
        out.say("Nothing was written.");
        return Ok(3);
    }
    let text = match (args.migrate, &old) {
        (true, Some(bytes)) => migrate(bytes, &root, &looked, &fresh)?,
        (true, None) => {
            return Err(Failure::usage(format!("no {NAME} in {}, so there is nothing to migrate", args.dir)));
        }
        (false, _) => fresh.render(),
    };
    if let (true, Some(bytes)) = (args.migrate, &old) {
        keep(&root, bytes)?;
    }
    let others = others(args, &looked.report.plugins);
    write(args, &root, old.as_deref(), &text, fresh.entries().count(), &others, out)
}

/// Returns the path of a file in the named directory, relative to the root's jail.
fn at(root: &Root, name: &str) -> String {
    if root.dir == "." { name.to_owned() } else { format!("{}/{name}", root.dir) }
}

pub(super) fn read(root: &Root) -> Result<Option<Vec<u8>>, Failure> {
    match root.jail.read(at(root, NAME).as_str(), u64::try_from(LOCK_BYTES).unwrap_or(u64::MAX)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.class() == ErrorClass::NotFound => Ok(None),
        Err(error) => {
            Err(Failure::store(format!("cannot read {NAME}: {error}")).code(error.code()).help(error.help()))
        }
    }
}

/// Returns the lockfile for the current plugins.
///
/// A plugin that cannot be digested is left out with a warning, so that one broken plugin does not keep the others from
/// being locked.
fn fresh(args: &LockArgs, root: &Root, looked: &LookReport, out: &Out) -> Result<LockFile, Failure> {
    let mut file = LockFile::new();
    let real = root.real();
    for plugin in &looked.report.plugins {
        // A plugin that only the old lockfile has is not in the new one.
        if plugin.lock.state == LockState::Missing {
            continue;
        }
        let shown = host::display(&plugin.key);
        let Some(subject) = looked.subjects.get(&plugin.place) else {
            out.report(&left_out(plugin, &shown));
            continue;
        };
        let path = plugin.key.placed().and_then(|place| place.relative_to(&real)).ok_or_else(|| {
            Failure::usage(format!("{} is inside the plugin {shown}", args.dir))
                .help("name the plugin's directory, or one above it")
        })?;
        if path == "." && project_of(root).is_none_or(|project| project != real) {
            let dir = shared::lock_directory(plugin, &args.dir);
            return Err(Failure::usage(format!("{shown} is a plugin, and a plugin cannot vouch for itself"))
                .help(format!(
                    "lock the directory that contains it: plugward lock {}",
                    shared::quoted(dir.as_str())
                )));
        }
        file.insert(path, subject.lock_entry(path))
            .map_err(|error| Failure::refused(format!("cannot lock {shown}: {error}")))?;
    }
    Ok(file)
}

/// Returns the commands whose text does not determine what runs and that a lockfile does not list, with their plugins.
fn unlisted<'r>(
    looked: &'r LookReport,
    root: &Root,
    lock: Option<&[u8]>,
) -> Vec<(&'r PluginReport, &'r UnresolvedReport)> {
    let Ok(Some(AnyLockFile::Plugins(lock))) = lock.map(AnyLockFile::parse).transpose() else {
        return looked.report.plugins.iter().flat_map(of_plugin).collect();
    };
    let real = root.real();
    let is_listed = |plugin: &PluginReport, one: &UnresolvedReport| {
        let path = plugin.key.placed().and_then(|place| place.relative_to(&real));
        let listed = path.and_then(|path| lock.get(path)).map(|entry| &entry.unresolved);
        listed.into_iter().flatten().any(|known| known.to_string() == one.command)
    };
    let all = looked.report.plugins.iter().flat_map(of_plugin);
    all.filter(|(plugin, one)| !is_listed(plugin, one)).collect()
}

fn of_plugin(plugin: &PluginReport) -> impl Iterator<Item = (&PluginReport, &UnresolvedReport)> {
    plugin.unresolved.iter().map(move |one| (plugin, one))
}

/// Prints the commands that the lockfile would agree to, and asks about them.
fn agree(
    unlisted: &[(&PluginReport, &UnresolvedReport)],
    host: &Host,
    out: &mut Out,
) -> Result<bool, Failure> {
    for row in unlisted {
        out.complain(&unlisted_row(row, out.width));
    }
    if !host.interactive {
        return Err(Failure::usage(format!(
            "{NAME} would agree to {}, and standard input is not a terminal",
            count(unlisted.len(), "command")
        ))
        .help("review the commands, then agree to them: add --unresolved"));
    }
    confirm("The lockfile agrees to these commands.", "Write it?", host, out)
}

fn unlisted_row((plugin, one): &(&PluginReport, &UnresolvedReport), width: usize) -> String {
    let shown = host::display(&plugin.key);
    wrapped("", "  ", &format!("{}: {}", line(&shown), crate::report::unresolved(one)), width)
}

fn left_out(plugin: &PluginReport, shown: &str) -> Diagnostic {
    let help = format!("plugward explain {}", shared::quoted(shown));
    let Some(reason) = plugin.reasons.first() else {
        return Diagnostic::warning(format!("{shown} is left out of {NAME}: it cannot be digested"))
            .help(&help);
    };
    let why = crate::advice::words(reason);
    Diagnostic::warning(format!("{shown} is left out of {NAME}: {why}")).code(&reason.code).help(&help)
}

fn migrate(bytes: &[u8], root: &Root, looked: &LookReport, fresh: &LockFile) -> Result<String, Failure> {
    let old = AnyLockFile::parse(bytes).map_err(|error| {
        Failure::store(format!("cannot read {NAME}: {error}")).code(error.code()).help(error.help())
    })?;
    let AnyLockFile::Json(old) = old else {
        return Err(Failure::usage(format!(
            "{NAME} is not the older JSON lockfile, so there is nothing to migrate"
        )));
    };
    let mut migrants = Vec::new();
    for plugin in &looked.report.plugins {
        let path = plugin.key.placed().and_then(|place| place.relative_to(&root.real()).map(str::to_owned));
        let digest = looked.subjects.get(&plugin.place).and_then(|subject| subject.codewizard);
        if let (Some(path), Some(digest)) = (path, digest)
            && let Some(entry) = fresh.get(&path).cloned()
        {
            migrants.push(MigratedPlugin { name: plugin.name.clone(), digest, path, entry });
        }
    }
    let done = old
        .migrate(migrants)
        .map_err(|error| Failure::refused(format!("cannot migrate {NAME}: {error}")).code(error.code()))?;
    match done {
        Migration::Done(file) => Ok(file.render()),
        Migration::Refused { differ, missing } => {
            let differ = differ.iter().map(|(name, check)| (name, check.code().unwrap_or("lock/mismatch")));
            let rows = differ.chain(missing.iter().map(|name| (name, "lock/missing")));
            let failure = Failure::refused(format!(
                "cannot migrate {NAME}: some plugins differ from the JSON lockfile"
            ));
            Err(rows
                .fold(failure, |failure, (name, code)| failure.note("plugin", format!("{name} ({code})"))))
        }
    }
}

/// Keeps the older lockfile next to the new one, so that the migration can be undone.
fn keep(root: &Root, bytes: &[u8]) -> Result<(), Failure> {
    let kept = "PLUGINS.lock.json";
    let perm = Perm::new(0o644).unwrap_or(Perm::PRIVATE_FILE);
    let mut file = root.jail.create_new(at(root, kept).as_str(), perm).map_err(|error| {
        Failure::internal(format!("cannot keep the older lockfile as {kept}: {error}"))
            .code(error.code())
            .help(error.help())
    })?;
    file.write_all(bytes)
        .map_err(|error| Failure::internal(format!("cannot keep the older lockfile as {kept}: {error}")))?;
    Ok(())
}

fn write(
    args: &LockArgs,
    root: &Root,
    old: Option<&[u8]>,
    text: &str,
    plugins: usize,
    others: &BTreeSet<String>,
    out: &mut Out,
) -> Result<u8, Failure> {
    let path = args.dir.join(NAME);
    let number = count(plugins, "plugin");
    if old == Some(text.as_bytes()) {
        out.result(&format!("{path} is up to date ({number}).\n"))?;
        return Ok(0);
    }
    let parsed = old.map(AnyLockFile::parse);
    if let (false, Some(Ok(AnyLockFile::Json(_)))) = (args.migrate, &parsed) {
        let warning =
            format!("the older JSON lockfile is replaced, and its digests were not compared: {path}");
        out.report(&Diagnostic::warning(warning).help(&format!(
            "to compare them, restore it, then: plugward lock --migrate {}",
            shared::quoted(args.dir.as_str())
        )));
    }
    if let Some(Err(error)) = parsed {
        // Replacing the file of a newer program would drop what this version does not know.
        if error.is_newer() {
            return Err(Failure::store(format!("cannot replace {path}: {error}"))
                .code(error.code())
                .help(error.help()));
        }
        let warning = format!("the old {NAME} could not be read and is replaced: {error}");
        out.report(&Diagnostic::warning(warning).code(error.code()));
    }
    let before = old.map(String::from_utf8_lossy).unwrap_or_default();
    if old.is_some() {
        changes(&tables(&before), &tables(text), out)?;
    }
    for other in others {
        out.report(&Diagnostic::warning(format!(
            "{other} covers these plugins as well, and both must match"
        )));
    }
    let perm = Perm::new(0o644).unwrap_or(Perm::PRIVATE_FILE);
    let done = root.jail.replace(at(root, NAME).as_str(), text.as_bytes(), perm).map_err(|error| {
        Failure::internal(format!("cannot write {path}: {error}")).code(error.code()).help(error.help())
    })?;
    let wrote = match done {
        ReplaceOutcome::Created => "Created",
        ReplaceOutcome::Overwrote => "Updated",
    };
    if root.jail.metadata(at(root, "PLUGINS.lock.minisig").as_str()).is_ok() {
        out.report(&Diagnostic::warning("PLUGINS.lock.minisig signs the old file; have the new one signed"));
    }
    let dir = shared::quoted(args.dir.as_str());
    out.result(&format!(
        "{wrote} {path} with {number}. Commit it.\nIn CI, run: plugward check --trust locked {dir}\n"
    ))?;
    Ok(0)
}

/// Returns the lockfiles of other directories that cover the plugins.
fn others(args: &LockArgs, plugins: &[PluginReport]) -> BTreeSet<String> {
    let covered = plugins.iter().filter(|plugin| plugin.lock.state != LockState::Absent);
    let dirs = covered.map(|plugin| shared::lock_directory(plugin, &args.dir));
    dirs.filter(|dir| *dir != args.dir).map(|dir| dir.join(NAME).to_string()).collect()
}

/// Returns the rows of a lockfile by the header of their table. Rows before the first table have an empty header.
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

/// Prints the changed rows, each below the header of its plugin.
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

fn check(
    args: &LockArgs,
    root: &Root,
    looked: &LookReport,
    old: Option<&[u8]>,
    out: &mut Out,
) -> Result<u8, Failure> {
    let covered = |plugin: &PluginReport| plugin.lock.state != LockState::Absent;
    if old.is_none() && !looked.report.plugins.iter().any(covered) {
        return Err(Failure::refused(format!("no {NAME} in {}", args.dir))
            .code("lock/missing")
            .help(format!("create it: plugward lock {}", args.dir)));
    }
    let mut wrong = 0_usize;
    let mut worst = 0_u8;
    // The lockfile of a directory further up is compared by the gate alone.
    let unlisted = if old.is_some() { unlisted(looked, root, old) } else { Vec::new() };
    for plugin in &looked.report.plugins {
        let mut reasons: Vec<_> = plugin.reasons.iter().filter(|reason| reason.gate == Gate::Lock).collect();
        if reasons.is_empty() && !looked.subjects.contains_key(&plugin.place) {
            // Without a digest there is nothing to compare, so the reasons for its absence are printed.
            reasons = plugin.reasons.iter().collect();
        }
        let open = unlisted.iter().filter(|(other, _)| other.key == plugin.key);
        let open: Vec<String> = open.map(|row| unlisted_row(row, out.width)).collect();
        if !open.is_empty() && worst != 7 {
            worst = Weight::Integrity.exit();
        }
        wrong += usize::from(!reasons.is_empty() || !open.is_empty());
        out.result(&open.concat())?;
        let mut shown = plugin.clone();
        shared::localize(std::slice::from_mut(&mut shown));
        let typed = shared::as_typed(&args.finding);
        let commands = |plugin: &PluginReport| shared::commands(plugin, &typed, Some(&args.dir));
        for reason in reasons {
            worst = if reason.weight == Weight::Store || worst == 7 { 7 } else { reason.weight.exit() };
            let view = View { width: out.width, detail: Detail::Brief, commands: &commands };
            out.result(&format!("{}\n", problem(&shown, reason, &view).render(out.width)))?;
        }
    }
    for notice in looked.report.notices.iter().filter(|notice| notice.gate == Gate::Lock) {
        // A problem of the lockfile itself, which no plugin reports.
        wrong += 1;
        worst = 7;
        out.result(&format!("{}\n", crate::report::notice(notice).render(out.width)))?;
    }
    // A directory that was not searched can hold plugins that no lockfile lists.
    for notice in looked.report.notices.iter().filter(|notice| is_open_end(&notice.code)) {
        worst = if worst == 0 { Weight::CouldNotTell.exit() } else { worst };
        out.result(&format!("{}\n", crate::report::notice(notice).render(out.width)))?;
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
    let all = looked.report.plugins.len();
    let path = lockfiles(args, &looked.report.plugins, old);
    let text = match wrong {
        0 if all == 1 => format!("The plugin matches {path}."),
        0 => format!("All {all} plugins match {path}."),
        1 => format!("1 of {} does not match {path}.", count(all, "plugin")),
        many => format!("{many} of {} do not match {path}.", count(all, "plugin")),
    };
    out.result(&wrapped("", "", &text, out.width))?;
    Ok(worst)
}

fn is_open_end(code: &str) -> bool {
    matches!(code, "discover/link" | "discover/too-many" | "discover/unreadable")
}

/// Returns the lockfiles that cover the plugins, which can be in other directories than the named one.
fn lockfiles(args: &LockArgs, plugins: &[PluginReport], own: Option<&[u8]>) -> String {
    let mut all = others(args, plugins);
    if own.is_some() || all.is_empty() {
        all.insert(args.dir.join(NAME).to_string());
    }
    all.into_iter().collect::<Vec<_>>().join(" and ")
}

fn accept(dir: &str, old: Option<Vec<u8>>, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let Some(bytes) = old else {
        return Err(
            Failure::usage(format!("no {NAME} in {dir}")).help(format!("create it: plugward lock {dir}"))
        );
    };
    let parsed = AnyLockFile::parse(&bytes).map_err(|error| {
        Failure::store(format!("cannot read {NAME}: {error}")).code(error.code()).help(error.help())
    })?;
    if matches!(parsed, AnyLockFile::Json(_)) {
        return Err(Failure::usage(format!(
            "{NAME} is the older JSON lockfile, which covers too little to be accepted"
        ))
        .help("plugward lock --migrate"));
    }
    let mut store = stores::pins(host, CheckMode::Commit, out)?;
    let digest = sha256(&bytes);
    match store_decision(UserDecision::AcceptLockfile { digest }, &mut store, host)? {
        ChangeOutcome::Done | ChangeOutcome::Already => {
            out.result(&format!("Accepted {}/{NAME} at\n  {digest}\n", line(dir)))?;
            Ok(0)
        }
        _ => Err(Failure::internal("the pins were not changed")),
    }
}
