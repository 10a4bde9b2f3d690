//! What a person decides: accept, forget, deny, allow, revoke.

use std::collections::BTreeSet;

use anyhow::anyhow;
use plugward_loader::ledger::{LedgerEvent, LoadVerdict};
use plugward_loader::pinstore::{Change, DirectoryId, ChangeOutcome, Pin, PinState, Pins, Revocation, ReviewedDigests, DigestMismatch};
use plugward_loader::{
    CalledName, Digest, Gate, PinStore, PluginId, PluginKey, PluginReport, StoreFailure, TreeDigest, Trust,
    Weight, CheckMode, ledger_name,
};

use crate::args::{AcceptArgs, ForgetArgs, IdArgs, RevokeArgs};
use crate::escape::line;
use crate::failure::{Failure, usage};
use crate::host::{self, Host};
use crate::next_steps;
use crate::out::Out;
use crate::stores;
use crate::table::{advice, gap};
use crate::verbs::select;
use crate::verbs::shared::{self, WithBytes};

pub(crate) fn accept(args: &AcceptArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let reviewed = shown(args)?;
    let named =
        shared::find(&args.id, &args.dirs, Some(Trust::Tofu), WithBytes::Yes, &args.finding, host, out)?;
    let id = line(&named.shown).into_owned();
    let Some(subject) = named.subject else {
        let codes: Vec<&str> = named.plugin.reasons.iter().map(|reason| reason.code.as_str()).collect();
        return Err(Failure::Refused(anyhow!(
            "accept {id}: it has no digest to accept ({})\n  next: plugward explain {}",
            codes.join(", "),
            shared::quoted(&named.shown)
        )));
    };
    if named.plugin.dialects.is_empty() {
        return Err(Failure::Refused(anyhow!(
            "accept {id}: no known manifest found (pin/changed)\n  next: restore it, or plugward forget {}",
            shared::quoted(&named.shown)
        )));
    }
    // What another gate refuses stays refused. Accepting the bytes answers the question about their suspicious findings.
    let others: Vec<&str> = named
        .plugin
        .reasons
        .iter()
        .filter(|reason| {
            reason.gate != Gate::Pin
                && !matches!(reason.code.as_str(), "policy/namesake" | "policy/denied" | "scan/suspicious")
        })
        .map(|reason| reason.code.as_str())
        .collect();
    let mut store = stores::pins(host, CheckMode::Commit, out)?;
    let observed = subject.to_accept();
    let old = |key: &PluginKey| store.pins().and_then(|pins| pins.get(key));
    let pinned = old(&observed.key).or_else(|| old(observed.predecessor.as_ref()?));
    let expected = pinned.and_then(Pin::latest).map(|agreed| agreed.facts.tree);
    let actual = observed.facts.tree;
    if let (Some(material), Some(baselines)) = (&subject.material, store.baselines())
        && let Err(error) = material.keep(baselines)
    {
        out.say(&format!("note: no text is kept for a later diff: {error}"));
    }
    if actual != reviewed.tree {
        return Err(not_shown(&named.shown, "its tree", &actual.to_string()));
    }
    let tree = reviewed.tree;
    let record = LedgerEvent::PinAccepted {
        plugin: ledger_name(&observed.key),
        digest: tree.to_string(),
        old: expected.map(|tree| tree.to_string()),
    };
    let change = Change::Accept { observed, shown: reviewed, expected, by: Some(host::user()) };
    let diff = format!("plugward diff {}", shared::quoted(&named.shown));
    match commit(&mut store, host, &[record], change)? {
        ChangeOutcome::Done => {
            if let Err(error) = store.collect() {
                out.say(&format!("note: old texts that are kept for diffs could not be removed: {error}"));
            }
            out.result(&format!("accepted {id}\n  tree {tree}\n"))?;
            if !others.is_empty() {
                out.say(&format!(
                    "note: it is pinned and does not load: {}\n  next: plugward explain {}",
                    others.join(", "),
                    shared::quoted(&named.shown)
                ));
            }
            Ok(0)
        }
        ChangeOutcome::Already => {
            out.result(&format!("{id} is pinned as it is: {tree}\n"))?;
            Ok(0)
        }
        ChangeOutcome::NotShown { actual, .. } => Err(not_shown(&named.shown, "its tree", &actual.to_string())),
        ChangeOutcome::NotShownBeside(DigestMismatch::Unnamed { what, actual }) => {
            Err(not_shown(&named.shown, &what, &actual))
        }
        ChangeOutcome::NotShownBeside(DigestMismatch::Nowhere { named }) => Err(Failure::Refused(anyhow!(
            "accept {id}: nothing of it has the digest that was named (pin/not-shown)\n  named {named}\n  next: {diff}"
        ))),
        ChangeOutcome::Raced { .. } => Err(Failure::Refused(anyhow!(
            "accept {id}: its pin changed in the meantime (pin/raced)\n  next: {diff}"
        ))),
        other => Err(refused("accept", &named.shown, &other)),
    }
}

/// What the person names: the tree, and what stands beside it.
fn shown(args: &AcceptArgs) -> Result<ReviewedDigests, Failure> {
    let wrong = |flag: &str, error: &plugward_loader::ParseError| {
        usage(format!("read {flag}: {error}\n  next: {}", error.help()))
    };
    let mut shown = ReviewedDigests::of_tree(args.tree.parse().map_err(|error| wrong("--tree", &error))?);
    for text in &args.with {
        if let Ok(tree) = text.parse::<TreeDigest>() {
            shown.shared.insert(tree);
        } else {
            let entry = text.parse().map_err(|error| wrong("--with", &error))?;
            if shown.entry.replace(entry).is_some_and(|first| first != entry) {
                return Err(usage("read --with: a plugin has one marketplace entry, and two are named"));
            }
        }
    }
    Ok(shown)
}

fn not_shown(shown: &str, what: &str, actual: &str) -> Failure {
    Failure::Refused(anyhow!(
        "accept {}: {} is not what was named (pin/not-shown)\n  actual {actual}\n  next: plugward diff {}",
        line(shown),
        line(what),
        shared::quoted(shown)
    ))
}

pub(crate) fn forget(args: &ForgetArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let mut store = stores::pins(host, CheckMode::Commit, out)?;
    let Some(name) = &args.id else {
        let records = forgotten(&store);
        if store.pins().is_none() {
            note(host, &records)?;
            start_over(host)?;
            out.result(
                "started over: no pin, no denial, no revocation is left\n\
                 what could not be read is kept beside plugins.pins.toml, as plugins.pins.toml.damaged-*\n",
            )?;
            return Ok(0);
        }
        // Both answers leave no pin behind.
        match commit(&mut store, host, &records, Change::ForgetAll)? {
            ChangeOutcome::Done | ChangeOutcome::Already => {}
            other => {
                return Err(Failure::Refused(anyhow!(
                    "forget --all: {}",
                    other.code().unwrap_or("pin/none")
                )));
            }
        }
        out.result("forgot every pin; denials and revocations stay\n")?;
        return Ok(0);
    };
    if let Some(id) = pending(&store, name) {
        let records =
            [LedgerEvent::PinForgotten { plugin: id.to_string(), digest: String::new(), old: None }];
        return match commit(&mut store, host, &records, Change::ForgetPending { id: id.clone() })? {
            ChangeOutcome::Done => {
                out.result(&format!("forgot {id}, a pin of version 2\n"))?;
                Ok(0)
            }
            other => Err(refused("forget", id.as_str(), &other)),
        };
    }
    let key = select::pinned(name, &store)?;
    let shown = host::display(&key);
    let pin = store.pins().and_then(|pins| pins.get(&key));
    let records: Vec<LedgerEvent> = pin.map(|pin| dropped(&key, pin)).into_iter().collect();
    match commit(&mut store, host, &records, Change::Forget { key })? {
        ChangeOutcome::Done => {
            let shown = line(&shown);
            let gap = gap(&["forgot", &shown, "; the next check treats it as new"], out.width);
            out.result(&format!("forgot {shown};{gap}the next check treats it as new\n"))?;
            Ok(0)
        }
        other => Err(refused("forget", &shown, &other)),
    }
}

/// The pin of version 2 with this id, if no plugin was found for it yet.
fn pending(store: &PinStore, name: &str) -> Option<PluginId> {
    let id: PluginId = name.parse().ok()?;
    store.pins()?.pending().any(|(known, _)| *known == id).then_some(id)
}

/// The record of a pin that is about to be dropped.
fn dropped(key: &PluginKey, pin: &Pin) -> LedgerEvent {
    LedgerEvent::PinForgotten {
        plugin: ledger_name(key),
        digest: pin.latest().map(|agreed| agreed.facts.tree.to_string()).unwrap_or_default(),
        old: None,
    }
}

/// The records of a store that is about to be emptied; of one that cannot be read nobody knows what is in it.
fn forgotten(store: &PinStore) -> Vec<LedgerEvent> {
    let Some(pins) = store.pins() else {
        return vec![LedgerEvent::PinForgotten {
            plugin: "*".to_owned(),
            digest: "unreadable".to_owned(),
            old: None,
        }];
    };
    let trusted = pins.iter().filter(|(_, pin)| pin.state == PinState::Trusted);
    let pending = pins.pending().filter(|(_, pin)| pin.state == PinState::Trusted).map(|(id, pin)| {
        LedgerEvent::PinForgotten {
            plugin: id.to_string(),
            digest: pin.tree.map(|tree| tree.to_string()).unwrap_or_default(),
            old: None,
        }
    });
    let old = pins.manifest_only().map(|(name, digest)| LedgerEvent::PinForgotten {
        plugin: name.to_owned(),
        digest: digest.to_string(),
        old: None,
    });
    trusted.map(|(key, pin)| dropped(key, pin)).chain(pending).chain(old).collect()
}

/// What a person decided about a plugin, as the ledger keeps it: a decision of no unit of work.
fn decided(plugin: &str, outcome: LoadVerdict, code: Option<&str>, digest: Option<String>) -> LedgerEvent {
    let codes = code.map(str::to_owned).into_iter().collect();
    LedgerEvent::Decision { workflow: None, plugin: plugin.to_owned(), outcome, codes, digest }
}

fn start_over(host: &Host) -> Result<(), Failure> {
    let dir = host::own_folder(host.config_dir()?).map_err(Failure::Store)?;
    let file = Pins::file(&dir, host::owner()).map_err(|error| Failure::Store(anyhow!("{error}")))?;
    Pins::start_over(&file, std::time::Duration::from_secs(5)).map(drop).map_err(|error| {
        let help = next_steps::with_start_over(error.code(), &error.help());
        Failure::Store(anyhow!("start over: {error} ({})\n  next: {help}", error.code()))
    })
}

pub(crate) fn deny(args: &IdArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let mut store = stores::pins(host, CheckMode::Commit, out)?;
    let Denied { key, directory, called, seen } = to_deny(args, &store, host, out)?;
    let shown = host::display(&key);
    let digest = seen.map(|tree| tree.to_string());
    let records = [decided(&ledger_name(&key), LoadVerdict::Refuse, Some("policy/denied"), digest)];
    let change = Change::Deny { key, directory, called, seen, by: Some(host::user()) };
    match commit(&mut store, host, &records, change)? {
        ChangeOutcome::Done | ChangeOutcome::Already => {
            let undo = format!("plugward allow {}", shared::quoted(&shown));
            let back = advice("  to undo: ", &undo, out.width);
            out.result(&format!("denied {}\n{back}", line(&shown)))?;
            Ok(0)
        }
        other => Err(refused("deny", &shown, &other)),
    }
}

pub(crate) fn allow(args: &IdArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let mut store = stores::pins(host, CheckMode::Commit, out)?;
    let (shown, plugin, change) = if let Some(id) = pending(&store, &args.id) {
        (id.to_string(), id.to_string(), Change::AllowPending { id })
    } else {
        let key = select::pinned(&args.id, &store)?;
        (host::display(&key), ledger_name(&key), Change::Allow { key })
    };
    let records = [decided(&plugin, LoadVerdict::Ask, None, None)];
    match commit(&mut store, host, &records, change)? {
        ChangeOutcome::Done => {
            let shown = line(&shown);
            let gap = gap(&["allowed", &shown, "; nothing new is pinned"], out.width);
            out.result(&format!("allowed {shown};{gap}nothing new is pinned\n"))?;
            Ok(0)
        }
        ChangeOutcome::Already => {
            out.result(&format!("{} is not denied\n", line(&shown)))?;
            Ok(0)
        }
        other => Err(refused("allow", &shown, &other)),
    }
}

pub(crate) fn revoke(args: &RevokeArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let mut store = stores::pins(host, CheckMode::Commit, out)?;
    let mut entry = Revocation::because(&args.reason);
    if let Ok(tree) = args.what.parse::<TreeDigest>() {
        entry.tree = Some(tree);
    } else if let Ok(manifest) = args.what.parse::<Digest>() {
        entry.manifest = Some(manifest);
    } else {
        entry.id = Some(revoked_id(&args.what, &store)?);
    }
    let digest = entry.tree.map(|d| d.to_string()).or_else(|| entry.manifest.map(|d| d.to_string()));
    let what = entry.id.clone().unwrap_or_else(|| args.what.clone());
    let records = [decided(&what, LoadVerdict::Refuse, Some("policy/revoked"), digest)];
    match commit(&mut store, host, &records, Change::Revoke(entry))? {
        ChangeOutcome::Done | ChangeOutcome::Already => {
            out.result(&format!("revoked {}\n", line(&what)))?;
            Ok(0)
        }
        ChangeOutcome::Malformed(error) => Err(usage(format!("revoke: {error}\n  next: {}", error.help()))),
        other => Err(Failure::Refused(anyhow!("revoke: {}", other.code().unwrap_or("pin/none")))),
    }
}

/// The id to revoke: a name with its dialect, a recorded id, or the key of a plugin that is pinned.
fn revoked_id(what: &str, store: &PinStore) -> Result<String, Failure> {
    if what.parse::<PluginKey>().is_ok() || what.parse::<CalledName>().is_ok() {
        return Ok(what.to_owned());
    }
    select::pinned(what, store).map(|key| key.to_string())
}

/// Writes down what is about to be decided; if that fails, it is not.
pub(crate) fn note(host: &Host, events: &[LedgerEvent]) -> Result<(), Failure> {
    if events.is_empty() {
        return Ok(());
    }
    stores::record(host, None)?.note(events).map_err(|failure| {
        let error = anyhow!("write it down first: {failure}\n  next: {}", failure.help());
        match failure.weight() {
            Weight::Store => Failure::Store(error),
            _ => Failure::Internal(error),
        }
    })
}

fn commit(
    store: &mut PinStore,
    host: &Host,
    records: &[LedgerEvent],
    change: Change,
) -> Result<ChangeOutcome, Failure> {
    note(host, records)?;
    let failed =
        |error: StoreFailure| Failure::Store(anyhow!("{error}\n  next: {}", next_steps::of_store(&error)));
    let committed = store.commit(vec![change], host::now()?).map_err(failed)?;
    committed
        .outcomes
        .into_iter()
        .next()
        .ok_or_else(|| Failure::Internal(anyhow!("the store gave no answer")))
}

/// What is denied, and what was seen of it.
struct Denied {
    key: PluginKey,
    directory: Option<DirectoryId>,
    called: BTreeSet<CalledName>,
    seen: Option<TreeDigest>,
}

/// The plugin to deny: as it is on disk, so that its bytes are denied elsewhere too, else as it is pinned.
fn to_deny(args: &IdArgs, store: &PinStore, host: &Host, out: &Out) -> Result<Denied, Failure> {
    let finding = crate::args::Finding { dialect: None, exclude: Vec::new(), jobs: None, host_version: None };
    let found = shared::find(&args.id, &args.dirs, Some(Trust::Tofu), WithBytes::No, &finding, host, out);
    match found {
        Ok(named) => {
            // A plugin that cannot be digested is denied by its key, its directory and its names.
            let seen = named.subject.map(|subject| subject.observed.facts.tree);
            let PluginReport { key, directory, called, .. } = named.plugin;
            Ok(Denied { key, directory, called, seen })
        }
        Err(error) => match select::pinned(&args.id, store) {
            // Several plugins can have the name: then a user has to say which one is meant.
            Ok(key) if !key.placed().is_some_and(select::is_directory) => {
                out.say("note: the plugin is not on disk; its key and the pinned bytes are denied");
                Ok(Denied { key, directory: None, called: BTreeSet::new(), seen: None })
            }
            Ok(_) | Err(_) => Err(error),
        },
    }
}

fn refused(verb: &str, shown: &str, outcome: &ChangeOutcome) -> Failure {
    let code = outcome.code().unwrap_or("pin/none");
    let quoted = shared::quoted(shown);
    let next = match code {
        "policy/denied" => format!("plugward allow {quoted}"),
        _ => format!("plugward explain {quoted}"),
    };
    Failure::Refused(anyhow!("{verb} {}: {code}\n  next: {next}", line(shown)))
}
