//! The verbs that record a user's decision: accept, forget, deny, undeny, revoke, unrevoke.

use plugward_loader::pinstore::{ChangeOutcome, DigestMismatch, ReviewedDigests, Revocation};
use plugward_loader::{
    CheckMode, DecisionError, Denied, Digest, Gate, PinStore, PluginKey, TreeDigest, Trust, UserDecision,
    Weight, decide,
};

use crate::advice::Commands;
use crate::args::{AcceptArgs, DiscoveryOptions, FindArgs, ForgetArgs, IdArgs, RevokeArgs, UnrevokeArgs};
use crate::command_host::{self, is_same_name};
use crate::diagnostic::Diagnostic;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::prompt::confirm;
use crate::stores;
use crate::text::{command, count, wrapped};
use crate::verbs::select;
use crate::verbs::shared::{self, PluginBytes, SelectedPlugin};

pub(crate) fn accept(args: &AcceptArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let named = args.reviewed.tree.as_deref();
    let reviewed = named.map(|tree| reviewed(tree, &args.reviewed.with)).transpose()?;
    let SelectedPlugin { shown, plugin, subject, recorded } =
        shared::find_tree(&args.plugin, Some(Trust::Tofu), PluginBytes::Keep, named, host, out)?;
    let selector = shared::quoted(&shown);
    let Some(subject) = subject else {
        let codes: Vec<&str> = plugin.reasons.iter().map(|reason| reason.code.as_str()).collect();
        return Err(Failure::refused(format!("{shown} has no digest that can be accepted"))
            .code(codes.first().copied().unwrap_or("tree/problem"))
            .help(format!("plugward explain {selector}")));
    };
    if plugin.dialects.is_empty() {
        return Err(Failure::refused(format!("{shown} has no manifest any more"))
            .code("pin/changed")
            .help(format!("restore it, or delete its pin: plugward forget {selector}")));
    }
    let Some(reviewed) = reviewed else {
        let commands = shared::commands(&plugin, &shared::as_typed(&args.plugin.finding), None);
        show_digests(&shown, &commands, &ReviewedDigests::wanted(subject.facts(), None), out)?;
        return Ok(3);
    };
    // A refusal by another gate stays. Accepting the bytes answers only the questions about them.
    let answered = |code: &str| {
        matches!(
            code,
            "audit/risk" | "policy/namesake" | "policy/denied" | "scan/suspicious" | "surface/unresolved"
        )
    };
    let others: Vec<&str> = plugin
        .reasons
        .iter()
        .filter(|reason| reason.gate != Gate::Pin && !answered(&reason.code))
        .map(|reason| reason.code.as_str())
        .collect();
    let mut store = stores::pins(host, CheckMode::Commit, out)?;
    // The baseline is stored before the pin. A pin without one would make the next diff list digests only.
    if let (Some(material), Some(baselines)) = (&subject.material, store.baselines())
        && let Err(error) = material.keep(baselines)
    {
        out.report(&Diagnostic::note_of(format!("a later diff will not show the changed lines: {error}")));
    }
    let tree = subject.facts().tree;
    if tree != reviewed.tree {
        return Err(not_reviewed(&shown, &reviewed.tree.to_string(), &tree.to_string()));
    }
    let asked = reviewed.tree;
    let decision = UserDecision::Accept { observed: subject.to_accept(), reviewed, recorded };
    match store_decision(decision, &mut store, host)? {
        ChangeOutcome::Done => {
            // Texts that no pin refers to any more are deleted. If that fails, they only cost space.
            if let Err(error) = store.collect() {
                out.report(&Diagnostic::note_of(format!(
                    "old texts for diffs could not be removed: {error}"
                )));
            }
            out.result(&wrapped(
                "",
                "  ",
                &format!("Pinned {} at", plugward_loader::escape::line(&shown)),
                out.width,
            ))?;
            out.result(&format!("  {tree}\n"))?;
            if !others.is_empty() {
                out.report(
                    &Diagnostic::warning(format!(
                        "{shown} is pinned and still does not load: {}",
                        others.join(", ")
                    ))
                    .help(&format!("plugward explain {selector}")),
                );
            }
            Ok(0)
        }
        ChangeOutcome::Already => {
            let text = format!("{} is already pinned at", plugward_loader::escape::line(&shown));
            out.result(&format!("{text}\n  {tree}\n"))?;
            Ok(0)
        }
        ChangeOutcome::NotShown { actual, .. } => {
            Err(not_reviewed(&shown, &asked.to_string(), &actual.to_string()))
        }
        ChangeOutcome::NotShownBeside(DigestMismatch::Unnamed { what, actual }) => {
            Err(Failure::refused(format!("{shown}: the digest of {what} was not named"))
                .code("pin/not-shown")
                .note("found", actual)
                .help(format!("review it: plugward diff {selector}")))
        }
        ChangeOutcome::NotShownBeside(DigestMismatch::Nowhere { named }) => {
            Err(Failure::refused(format!("nothing in {shown} has the digest that --with names"))
                .code("pin/not-shown")
                .note("named", named)
                .help(format!("review it: plugward diff {selector}")))
        }
        ChangeOutcome::Raced { .. } => Err(Failure::refused(format!("the pin of {shown} changed meanwhile"))
            .code("pin/raced")
            .help(format!("review it again: plugward diff {selector}"))),
        other => Err(refused("accept", &shown, &other)),
    }
}

/// Parses the digests that the user reviewed.
pub(super) fn reviewed(tree: &str, with: &[String]) -> Result<ReviewedDigests, Failure> {
    let mut shown = ReviewedDigests::of_tree(tree.parse().map_err(|_error| invalid_digest("--tree", tree))?);
    for text in with {
        if let Ok(tree) = text.parse::<TreeDigest>() {
            shown.outside.insert(tree);
        } else {
            let entry = text.parse().map_err(|_error| invalid_digest("--with", text))?;
            if shown.entry.replace(entry).is_some_and(|first| first != entry) {
                return Err(Failure::usage("--with names two marketplace entries, and a plugin has one"));
            }
        }
    }
    Ok(shown)
}

/// Returns the failure for text that should be a digest; `of` is the flag or the verb.
fn invalid_digest(of: &str, text: &str) -> Failure {
    Failure::usage(format!("invalid digest for {of}: {text}"))
        .help("copy it from `plugward diff`; a tree digest starts with pt1:")
}

pub(super) fn not_reviewed(shown: &str, reviewed: &str, found: &str) -> Failure {
    Failure::refused(format!("{shown} has changed since you reviewed it"))
        .code("pin/not-shown")
        .note("reviewed", reviewed)
        .note("found", found)
        .help(format!("review it again: plugward diff {}", shared::quoted(shown)))
}

/// Prints the command that accepts these digests, and the one that shows what they stand for.
fn show_digests(
    shown: &str,
    commands: &Commands,
    wanted: &ReviewedDigests,
    out: &mut Out,
) -> Result<(), Failure> {
    let (name, selector) = (plugward_loader::escape::line(shown), shared::quoted(shown));
    let tree = wanted.tree;
    out.result(&format!("{name}\n  {tree}\n\nAfter you have read it (plugward diff {selector}):\n"))?;
    out.result(&command("  ", &shared::accept_command(commands, wanted), out.width))?;
    Ok(())
}

pub(crate) fn forget(args: &ForgetArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let mut store = stores::pins(host, CheckMode::Commit, out)?;
    let Some(name) = &args.id else { return forget_all(args, &mut store, host, out) };
    let key = select::pinned(name, &store)?;
    let shown = host::display(&key);
    match store_decision(UserDecision::Forget { key }, &mut store, host)? {
        ChangeOutcome::Done => {
            let text = format!("Deleted the pin of {}.", plugward_loader::escape::line(&shown));
            out.result(&wrapped("", "", &format!("{text} The next check treats it as new."), out.width))?;
            Ok(0)
        }
        other => Err(refused("forget", &shown, &other)),
    }
}

fn forget_all(args: &ForgetArgs, store: &mut PinStore, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let lost = match store.pins() {
        Some(pins) => {
            let pinned = pins.iter().count() + pins.manifest_only().count();
            format!(
                "This deletes {} and all accepted lockfiles. Denials and revocations stay.",
                count(pinned, "pin")
            )
        }
        None => format!("The pins cannot be read, and this starts over. {}", stores::lost_with_pins(store)),
    };
    if !args.yes && !confirm(&lost, "Delete all pins?", host, out)? {
        out.say("Nothing was deleted.");
        return Ok(3);
    }
    if store.pins().is_none() {
        let is_gone = store.failure().is_some_and(|failure| failure.code() == "pin/lost");
        stores::start_over(host, store)?;
        out.result(&wrapped("", "", &format!("Started over. {}", stores::lost_with_pins(store)), out.width))?;
        if !is_gone {
            out.result("The unreadable file is kept next to it, as plugins.pins.toml.damaged-*.\n")?;
        }
        return Ok(0);
    }
    // With either outcome, no pin is left.
    match store_decision(UserDecision::ForgetAll, store, host)? {
        ChangeOutcome::Done | ChangeOutcome::Already => {}
        other => return Err(refused("forget", "--all", &other)),
    }
    out.result("Deleted all pins. Denials and revocations stay.\n")?;
    Ok(0)
}

pub(crate) fn deny(args: &IdArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let mut store = stores::pins(host, CheckMode::Commit, out)?;
    let denied = to_deny(args, &store, host, out)?;
    let shown = host::display(&denied.key);
    match store_decision(UserDecision::Deny(denied), &mut store, host)? {
        ChangeOutcome::Done | ChangeOutcome::Already => {
            out.result(&format!("Denied {}.\n", plugward_loader::escape::line(&shown)))?;
            out.result(&command(
                "To undo: ",
                &format!("plugward undeny {}", shared::quoted(&shown)),
                out.width,
            ))?;
            Ok(0)
        }
        other => Err(refused("deny", &shown, &other)),
    }
}

pub(crate) fn undeny(args: &IdArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let mut store = stores::pins(host, CheckMode::Commit, out)?;
    let key = select::pinned(&args.id, &store)?;
    let shown = host::display(&key);
    let text = match store_decision(UserDecision::Undeny { key }, &mut store, host)? {
        ChangeOutcome::Done => {
            format!("{} is no longer denied. Nothing new is pinned.", plugward_loader::escape::line(&shown))
        }
        ChangeOutcome::Already => format!("{} is not denied.", plugward_loader::escape::line(&shown)),
        other => return Err(refused("undeny", &shown, &other)),
    };
    out.result(&wrapped("", "", &text, out.width))?;
    Ok(0)
}

pub(crate) fn revoke(args: &RevokeArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let mut store = stores::pins(host, CheckMode::Commit, out)?;
    let mut entry = Revocation::because(&args.reason);
    let mut file_entry = None;
    let is_digest = |text: &str| ["pt1:", "sha256:"].iter().any(|prefix| text.starts_with(prefix));
    if let Ok(tree) = args.what.parse::<TreeDigest>() {
        entry.tree = Some(tree);
    } else if let Ok(digest) = args.what.parse::<Digest>() {
        entry.manifest = Some(digest);
        // The digest is that of a manifest or of any file. The conditions of one entry must all match.
        let file = Revocation { manifest: None, binary: Some(digest), ..entry.clone() };
        file_entry = Some(file);
    } else if is_digest(&args.what) {
        return Err(invalid_digest("revoke", &args.what));
    } else if args.what.contains(['*', '?']) {
        return Err(Failure::usage(format!(
            "`{}` is a pattern, and a revocation names one plugin",
            args.what
        ))
        .help("revoke each name or digest by itself"));
    } else {
        entry.id = Some(revoked_id(&args.what, &store)?);
    }
    let what = entry.id.clone().unwrap_or_else(|| args.what.clone());
    if let Some(file) = file_entry {
        match store_decision(UserDecision::Revoke(file), &mut store, host)? {
            ChangeOutcome::Done | ChangeOutcome::Already => {}
            other => return Err(refused("revoke", &what, &other)),
        }
    }
    let name = entry.id.clone();
    match store_decision(UserDecision::Revoke(entry), &mut store, host)? {
        ChangeOutcome::Done | ChangeOutcome::Already => {
            out.result(&format!("Revoked {}.\n", plugward_loader::escape::line(&what)))?;
            let mut revoked = vec![what];
            if let Some(name) = name {
                revoked.extend(revoke_command(&name, &args.reason, &mut store, host, out)?);
            }
            for what in revoked {
                let undo = format!("plugward unrevoke {}", shared::quoted(&what));
                out.result(&command("To undo: ", &undo, out.width))?;
            }
            Ok(0)
        }
        ChangeOutcome::Malformed(error) => {
            Err(Failure::usage(format!("cannot revoke {what}: {error}")).help(error.help()))
        }
        other => Err(refused("revoke", &what, &other)),
    }
}

/// Revokes the id of the command plugin with a name as well, since a registry can give it another name. Returns the revoked
/// id if it is not the name itself.
fn revoke_command(
    name: &str,
    reason: &str,
    store: &mut PinStore,
    host: &Host,
    out: &mut Out,
) -> Result<Option<String>, Failure> {
    let found = match command_host::named(name, host, out) {
        Ok(found) => found,
        // The name itself is revoked already.
        Err(error) => {
            out.report(&error.into_warning());
            return Ok(None);
        }
    };
    let Some((own, id)) = found else {
        // It need not be known yet, but it can also be mistyped.
        if let Err(error) = select::pinned(name, store) {
            out.report(&error.into_note("no plugin of this name is pinned, and no command plugin has it"));
        }
        return Ok(None);
    };
    if id == own.replace(' ', "-") || !is_same_name(name, &own) {
        return Ok(None);
    }
    let id = command_host::command_ledger_name(&id);
    let entry = Revocation { id: Some(id.clone()), ..Revocation::because(reason) };
    match store_decision(UserDecision::Revoke(entry), store, host)? {
        ChangeOutcome::Done | ChangeOutcome::Already => {
            out.result(&format!("Revoked {}, its id.\n", plugward_loader::escape::line(&id)))?;
            Ok(Some(id))
        }
        other => Err(refused("revoke", &id, &other)),
    }
}

pub(crate) fn unrevoke(args: &UnrevokeArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let mut store = stores::pins(host, CheckMode::Commit, out)?;
    let listed =
        |what: &str| store.pins().is_some_and(|pins| pins.revoked().iter().any(|entry| entry.names(what)));
    let what = if listed(&args.what) {
        args.what.clone()
    } else {
        revoked_id(&args.what, &store).unwrap_or_else(|_unknown| args.what.clone())
    };
    if !listed(&what) {
        let entries = store.pins().map_or(&[][..], |pins| pins.revoked());
        let known = entries.iter().filter_map(|entry| {
            let digest = entry.tree.map(|tree| tree.to_string());
            entry.id.clone().or(digest).or_else(|| entry.manifest.map(|digest| digest.to_string()))
        });
        let failure = Failure::refused(format!("you have not revoked {}", args.what)).code("pin/none");
        return Err(known.fold(failure, |failure, one| failure.note("revoked", one)));
    }
    match store_decision(UserDecision::Unrevoke { what: what.clone() }, &mut store, host)? {
        ChangeOutcome::Done => {
            let text = format!("{} is no longer revoked by you.", plugward_loader::escape::line(&what));
            out.result(&wrapped("", "", &text, out.width))?;
            Ok(0)
        }
        other => Err(refused("unrevoke", &what, &other)),
    }
}

/// Returns the id to revoke: the key of a pinned path, or else what was typed. A name need not be known yet.
fn revoked_id(what: &str, store: &PinStore) -> Result<String, Failure> {
    match select::path_of(what) {
        Some(_) if what.parse::<PluginKey>().is_err() => {
            select::pinned(what, store).map(|key| key.to_string())
        }
        Some(_) | None => Ok(what.to_owned()),
    }
}

pub(super) fn not_stored(error: &DecisionError) -> Failure {
    let failure = match error {
        DecisionError::Store(failure) => return shared::store_failure(failure),
        DecisionError::Record(failure) if failure.weight() == Weight::Store => {
            Failure::store(error.to_string())
        }
        DecisionError::Record(_) => Failure::internal(error.to_string()),
    };
    failure.code(error.code()).help(error.help())
}

/// Records a decision in the ledger and stores it.
pub(crate) fn store_decision(
    decision: UserDecision,
    store: &mut PinStore,
    host: &Host,
) -> Result<ChangeOutcome, Failure> {
    let record = stores::record(host, None)?;
    decide(decision, store, &record, &host::user(), host::now()?).map_err(|error| not_stored(&error))
}

/// Returns the plugin to deny: as it is on disk, so that copies of its bytes are denied too, or else as it is pinned.
fn to_deny(args: &IdArgs, store: &PinStore, host: &Host, out: &Out) -> Result<Denied, Failure> {
    let plugin = FindArgs { named: args.clone(), finding: DiscoveryOptions::default() };
    match shared::find(&plugin, Some(Trust::Tofu), PluginBytes::Discard, host, out) {
        Ok(named) => Ok(Denied::of(&named.plugin, named.subject.as_ref())),
        Err(error) => match select::pinned(&args.id, store) {
            // If several plugins have the name, the user has to choose one.
            Ok(key) if !key.placed().is_some_and(select::is_directory) => {
                let text = "the plugin is not on disk; its key and the pinned contents are denied";
                out.report(&Diagnostic::note_of(text));
                Ok(Denied::of_key(key))
            }
            Ok(_) | Err(_) => Err(error),
        },
    }
}

fn refused(verb: &str, shown: &str, outcome: &ChangeOutcome) -> Failure {
    let code = outcome.code().unwrap_or("pin/none");
    let quoted = shared::quoted(shown);
    let (why, help) = match code {
        "policy/denied" => {
            (format!("{shown} is denied"), format!("to load it again: plugward undeny {quoted}"))
        }
        "pin/none" => {
            (format!("nothing is pinned as {shown}"), "list the pins: plugward list DIR".to_owned())
        }
        _ => (format!("cannot {verb} {shown}"), format!("plugward explain {quoted}")),
    };
    Failure::refused(why).code(code).help(help)
}
