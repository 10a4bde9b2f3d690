//! What a person decides: accept, forget, deny, allow, revoke.

use anyhow::anyhow;
use plugward_loader::ledger::{Event, Verdict};
use plugward_loader::pinstore::{Change, Outcome, Pin, PinState, Pins, Revoked, Scope, Shown, Unshown};
use plugward_loader::{Digest, Gate, PinStore, PluginId, StoreFailure, TreeDigest, Trust, Weight, Writes};

use crate::args::{AcceptArgs, ForgetArgs, IdArgs, RevokeArgs};
use crate::escape::line;
use crate::failure::{Failure, usage};
use crate::host::{self, Host};
use crate::out::Out;
use crate::stores;
use crate::table::{advice, gap};
use crate::verbs::shared;

pub(crate) fn accept(args: &AcceptArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let shown = shown(args)?;
    let named = shared::find(&args.id, &args.dirs, Some(Trust::Tofu), &args.finding, host, out)?;
    let Some(subject) = named.subject else {
        let codes: Vec<&str> = named.plugin.reasons.iter().map(|reason| reason.code.as_str()).collect();
        return Err(Failure::Refused(anyhow!(
            "accept {}: it has no digest to accept ({})\n  next: plugward explain {}{}",
            line(&named.plugin.id),
            codes.join(", "),
            line(&named.plugin.id),
            shared::again(&args.dirs)
        )));
    };
    // What is refused for another cause than its pin stays refused.
    let others: Vec<&str> = named
        .plugin
        .reasons
        .iter()
        .filter(|reason| {
            reason.gate != Gate::Pin && !matches!(reason.code.as_str(), "policy/namesake" | "policy/denied")
        })
        .map(|reason| reason.code.as_str())
        .collect();
    let mut store = stores::pins(host, Writes::Commit, out)?;
    let pinned = store.pins().and_then(|pins| pins.get(&subject.scope, &subject.id));
    let expected = pinned.and_then(|pin| pin.facts.as_ref()).map(|facts| facts.tree);
    let id = subject.id.clone();
    let actual = subject.facts.tree;
    if let (Some(material), Some(baselines)) = (&subject.material, store.baselines())
        && let Err(error) = material.keep(baselines)
    {
        out.say(&format!("note: no text is kept for a later diff: {error}"));
    }
    let change = Change::Accept {
        scope: subject.scope,
        id: subject.id,
        facts: subject.facts,
        shown: shown.clone(),
        expected,
        by: Some(host::user()),
    };
    let again = shared::again(&args.dirs);
    if actual != shown.tree {
        return Err(not_shown(&id, "its tree", &actual.to_string(), &again));
    }
    let shown = shown.tree;
    let record = Event::PinAccepted {
        plugin: id.to_string(),
        digest: shown.to_string(),
        old: expected.map(|tree| tree.to_string()),
    };
    let outcome = commit(&mut store, host, &[record], change)?;
    match outcome {
        Outcome::Done => {
            if let Err(error) = store.collect() {
                out.say(&format!("note: no room was made among the texts that are kept: {error}"));
            }
            out.result(&format!("accepted {id}\n  tree {shown}\n"))?;
            if !others.is_empty() {
                out.say(&format!(
                    "note: it is pinned and does not load: {}\n  next: plugward explain {id}{again}",
                    others.join(", ")
                ));
            }
            Ok(0)
        }
        Outcome::Already => {
            out.result(&format!("{id} is pinned as it is: {shown}\n"))?;
            Ok(0)
        }
        Outcome::NotShown { actual, .. } => Err(not_shown(&id, "its tree", &actual.to_string(), &again)),
        Outcome::NotShownBeside(Unshown::Unnamed { what, actual }) => {
            Err(not_shown(&id, &what, &actual, &again))
        }
        Outcome::NotShownBeside(Unshown::Nowhere { named }) => Err(Failure::Refused(anyhow!(
            "accept {id}: nothing of it is what you name (pin/not-shown)\n  named {named}\n  next: plugward diff {id}{again}"
        ))),
        Outcome::Raced { .. } => Err(Failure::Refused(anyhow!(
            "accept {id}: its pin changed meanwhile (pin/raced)\n  next: plugward diff {id}{again}"
        ))),
        other => Err(refused("accept", &id, &other)),
    }
}

/// What the person names: the tree, and what stands beside it.
fn shown(args: &AcceptArgs) -> Result<Shown, Failure> {
    let wrong = |flag: &str, error: &plugward_loader::ParseError| {
        usage(format!("read {flag}: {error}\n  next: {}", error.help()))
    };
    let mut shown = Shown::of_tree(args.tree.parse().map_err(|error| wrong("--tree", &error))?);
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

fn not_shown(id: &PluginId, what: &str, actual: &str, again: &str) -> Failure {
    Failure::Refused(anyhow!(
        "accept {id}: {} is not what you name (pin/not-shown)\n  actual {actual}\n  next: plugward diff {id}{again}",
        line(what)
    ))
}

pub(crate) fn forget(args: &ForgetArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let mut store = stores::pins(host, Writes::Commit, out)?;
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
            Outcome::Done | Outcome::Already => {}
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
    let (scope, id) = pinned(&store, name)?;
    let pin = store.pins().and_then(|pins| pins.get(&scope, &id));
    let records: Vec<Event> = pin.map(|pin| dropped(&id, pin)).into_iter().collect();
    match commit(&mut store, host, &records, Change::Forget { scope, id: id.clone() })? {
        Outcome::Done => {
            let gap = gap(&["forgot", id.as_str(), "; the next check sees it as new"], out.width);
            out.result(&format!("forgot {id};{gap}the next check sees it as new\n"))?;
            Ok(0)
        }
        other => Err(refused("forget", &id, &other)),
    }
}

/// The record of a pin that is about to be dropped.
fn dropped(id: &PluginId, pin: &Pin) -> Event {
    Event::PinForgotten {
        plugin: id.to_string(),
        digest: pin.facts.as_ref().map(|facts| facts.tree.to_string()).unwrap_or_default(),
        old: pin.previous.map(|tree| tree.to_string()),
    }
}

/// The records of a store that is about to be emptied; of one that cannot be read nobody knows what is in it.
fn forgotten(store: &PinStore) -> Vec<Event> {
    let Some(pins) = store.pins() else {
        return vec![Event::PinForgotten {
            plugin: "*".to_owned(),
            digest: "unreadable".to_owned(),
            old: None,
        }];
    };
    let trusted = pins.iter().filter(|(_, _, pin)| pin.state == PinState::Trusted);
    let old = pins.manifest_only().map(|(name, digest)| Event::PinForgotten {
        plugin: name.to_owned(),
        digest: digest.to_string(),
        old: None,
    });
    trusted.map(|(_, id, pin)| dropped(id, pin)).chain(old).collect()
}

/// What a person decided about a plugin, as the ledger keeps it: a decision of no unit of work.
fn decided(plugin: &str, outcome: Verdict, code: Option<&str>, digest: Option<String>) -> Event {
    let codes = code.map(str::to_owned).into_iter().collect();
    Event::Decision { workflow: None, plugin: plugin.to_owned(), outcome, codes, digest }
}

fn start_over(host: &Host) -> Result<(), Failure> {
    let dir = host::own_folder(host.config_dir()?).map_err(Failure::Store)?;
    let file = Pins::file(&dir, host::owner()).map_err(|error| Failure::Store(anyhow!("{error}")))?;
    Pins::start_over(&file, std::time::Duration::from_secs(5)).map(drop).map_err(|error| {
        Failure::Store(anyhow!("start over: {error} ({})\n  next: {}", error.code(), error.help()))
    })
}

pub(crate) fn deny(args: &IdArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let mut store = stores::pins(host, Writes::Commit, out)?;
    let is_pinned = store
        .pins()
        .is_none_or(|pins| pins.iter().any(|(_, id, _)| id.as_str() == args.id || id.name() == args.id));
    let (scope, id, tree) = if is_pinned {
        let (scope, id) = pinned(&store, &args.id)?;
        let tree = tree_of((&id, &scope), args, host, out);
        (scope, id, tree)
    } else {
        seen(args, host, out)?
    };
    let digest = tree.map(|tree| tree.to_string());
    let records = [decided(id.as_str(), Verdict::Refuse, Some("policy/denied"), digest)];
    let change = Change::Deny { scope, id: id.clone(), seen: tree, by: Some(host::user()) };
    match commit(&mut store, host, &records, change)? {
        Outcome::Done | Outcome::Already => {
            let back = advice("  to take it back: ", &format!("plugward allow {id}"), out.width);
            out.result(&format!("denied {id}\n{back}"))?;
            Ok(0)
        }
        other => Err(refused("deny", &id, &other)),
    }
}

pub(crate) fn allow(args: &IdArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let mut store = stores::pins(host, Writes::Commit, out)?;
    let (scope, id) = pinned(&store, &args.id)?;
    let records = [decided(id.as_str(), Verdict::Ask, None, None)];
    match commit(&mut store, host, &records, Change::Allow { scope, id: id.clone() })? {
        Outcome::Done => {
            let gap = gap(&["allowed", id.as_str(), "; nothing new is pinned"], out.width);
            out.result(&format!("allowed {id};{gap}nothing new is pinned\n"))?;
            Ok(0)
        }
        Outcome::Already => {
            out.result(&format!("{id} is not denied\n"))?;
            Ok(0)
        }
        other => Err(refused("allow", &id, &other)),
    }
}

pub(crate) fn revoke(args: &RevokeArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let mut store = stores::pins(host, Writes::Commit, out)?;
    let mut entry = Revoked::because(&args.reason);
    if let Ok(tree) = args.what.parse::<TreeDigest>() {
        entry.tree = Some(tree);
    } else if let Ok(manifest) = args.what.parse::<Digest>() {
        entry.manifest = Some(manifest);
    } else {
        entry.id = Some(revoked_id(&args.what, &store)?);
    }
    let digest = entry.tree.map(|d| d.to_string()).or_else(|| entry.manifest.map(|d| d.to_string()));
    let what = entry.id.as_ref().map_or_else(|| args.what.clone(), ToString::to_string);
    let records = [decided(&what, Verdict::Refuse, Some("policy/revoked"), digest)];
    match commit(&mut store, host, &records, Change::Revoke(entry))? {
        Outcome::Done | Outcome::Already => {
            out.result(&format!("revoked {}\n", line(&what)))?;
            Ok(0)
        }
        Outcome::Malformed(error) => Err(usage(format!("revoke: {error}\n  next: {}", error.help()))),
        other => Err(Failure::Refused(anyhow!("revoke: {}", other.code().unwrap_or("pin/none")))),
    }
}

/// The id to revoke: a full one, or the bare name of one plugin that is pinned.
fn revoked_id(what: &str, store: &PinStore) -> Result<PluginId, Failure> {
    let error = match what.parse::<PluginId>() {
        Ok(id) => return Ok(id),
        Err(error) => error,
    };
    let pins = store.pins().into_iter().flat_map(Pins::iter);
    let found: std::collections::BTreeSet<&PluginId> =
        pins.map(|(_, id, _)| id).filter(|id| id.name() == what).collect();
    let found: Vec<&PluginId> = found.into_iter().collect();
    match found.as_slice() {
        [id] => Ok((*id).clone()),
        [] => Err(usage(format!(
            "read what to revoke: {error}\n  next: name a full id or a digest (pt1:… or sha256:…)"
        ))),
        many => {
            let ids: Vec<String> = many.iter().map(ToString::to_string).collect();
            let ids = ids.join(", ");
            Err(usage(format!("revoke `{}`: several are pinned\n  next: name one of {ids}", line(what))))
        }
    }
}

/// Writes down what is about to be decided; if that fails, it is not.
pub(crate) fn note(host: &Host, events: &[Event]) -> Result<(), Failure> {
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

fn commit(store: &mut PinStore, host: &Host, records: &[Event], change: Change) -> Result<Outcome, Failure> {
    note(host, records)?;
    let failed = |error: StoreFailure| Failure::Store(anyhow!("{error}\n  next: {}", error.help()));
    let committed = store.commit(vec![change], host::now()?).map_err(failed)?;
    committed
        .outcomes
        .into_iter()
        .next()
        .ok_or_else(|| Failure::Internal(anyhow!("the store gave no answer")))
}

/// A plugin that the pins know, by id or bare name.
fn pinned(store: &PinStore, name: &str) -> Result<(Scope, PluginId), Failure> {
    let Some(pins) = store.pins() else {
        // Where nothing could be opened there is a reason, with what mends it.
        return Err(Failure::Store(match store.failure() {
            Some(failure) => anyhow!("find `{}`: {failure}\n  next: {}", line(name), failure.help()),
            None => anyhow!("find `{}`: there are no pins yet\n  next: plugward check DIR", line(name)),
        }));
    };
    let found: Vec<(&Scope, &PluginId)> = pins
        .iter()
        .map(|(scope, id, _)| (scope, id))
        .filter(|(_, id)| id.as_str() == name || id.name() == name)
        .collect();
    match found.as_slice() {
        [(scope, id)] => Ok(((*scope).clone(), (*id).clone())),
        [] => Err(usage(format!(
            "find `{}`: no pin of that name\n  next: plugward list DIR shows what is pinned",
            line(name)
        ))),
        many => {
            let ids: Vec<String> = many.iter().map(|(scope, id)| format!("{id} ({scope})")).collect();
            Err(usage(format!(
                "find `{}`: several are pinned\n  next: name one of {}",
                line(name),
                ids.join(", ")
            )))
        }
    }
}

/// The tree of a pinned plugin as it is on disk, so that a denial covers those bytes too; one that is gone has none.
fn tree_of((id, scope): (&PluginId, &Scope), args: &IdArgs, host: &Host, out: &Out) -> Option<TreeDigest> {
    let named = IdArgs { id: id.to_string(), dirs: args.dirs.clone() };
    match seen(&named, host, out) {
        Ok((at, _, tree)) if at == *scope => tree,
        Ok(_) | Err(_) => {
            out.say("note: it was not found on disk; the denial keeps the digest of its pin alone");
            None
        }
    }
}

/// A plugin that is on disk, with its scope and its tree where that can be digested.
fn seen(args: &IdArgs, host: &Host, out: &Out) -> Result<(Scope, PluginId, Option<TreeDigest>), Failure> {
    let finding = crate::args::Finding { dialect: None, exclude: Vec::new(), jobs: None, host_version: None };
    let named = shared::find(&args.id, &args.dirs, Some(Trust::Tofu), &finding, host, out)?;
    let scope = named.roots.get(named.plugin.root).map(|root| root.scope.clone());
    let id = named.plugin.id.parse::<PluginId>();
    match (scope, id) {
        (Some(scope), Ok(id)) => Ok((scope, id, named.subject.map(|subject| subject.facts.tree))),
        _ => Err(usage(format!("deny {}: it has no id that can be kept", line(&named.plugin.id)))),
    }
}

fn refused(verb: &str, id: &PluginId, outcome: &Outcome) -> Failure {
    let code = outcome.code().unwrap_or("pin/none");
    let next = match code {
        "policy/denied" => format!("plugward allow {id}"),
        _ => format!("plugward explain {id}"),
    };
    Failure::Refused(anyhow!("{verb} {id}: {code}\n  next: {next}"))
}
