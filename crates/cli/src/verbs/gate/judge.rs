//! Checks what a host is about to install. Nothing is pinned: the host copies the directory later.

use std::num::NonZeroUsize;

use plugward_loader::installs::InstallKind;
use plugward_loader::ledger::{LedgerEvent, LoadVerdict};
use plugward_loader::pinstore::{PinState, Pins};
use plugward_loader::{
    CheckMode, Host as Sides, HostName, InstallRecords, NoGrants, NoPerson, NoWatch, ParseError, PinStore,
    PlacePath, PluginKey, PluginReport, Report, RootSearch, look,
};

use super::answer::{GateAnswer, GateDecision, GateFinding, GateSeverity};
use super::request::{GateRequest, PathKind, RequestMode, RequestStep, TargetType};
use super::single_file;
use super::verdict::{self, Verdict};
use crate::args::DiscoveryOptions;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::settings::Settings;
use crate::stores;
use crate::verbs::shared;

/// The host in keys and records.
const HOST: &str = "openclaw";
/// The most threads. The answer does not depend on the number.
const JOBS: usize = 4;

/// Returns the answer to a request.
pub(super) fn answer(request: &GateRequest, host: &Host, out: &Out) -> Result<GateAnswer, Failure> {
    match request.step() {
        RequestStep::Probe => return Ok(GateAnswer::new(GateDecision::Allow, "", Vec::new())),
        RequestStep::Download => {
            let message = "nothing to judge before the download; OpenClaw asks again with the files";
            let finding = GateFinding::new("gate/download", GateSeverity::Info, message);
            return Ok(GateAnswer::new(GateDecision::Allow, "", vec![finding]));
        }
        RequestStep::Contents | RequestStep::Dependencies => {}
    }
    // The directory in which OpenClaw starts the program says nothing about the target.
    let host = host.without_questions();
    let settings = Settings::read(&host)?;
    if request.source_path_kind == PathKind::File {
        return single_file::answer(request.path(), &settings);
    }
    let Checked { report, verdict } = check(request, &settings, &host, out)?;
    if verdict.decision != GateDecision::Block {
        record(request, &report, verdict.decision, &host)?;
    }
    Ok(verdict.into_answer())
}

/// The result of the check of a directory.
struct Checked {
    report: Report,
    verdict: Verdict,
}

fn check(request: &GateRequest, settings: &Settings, host: &Host, out: &Out) -> Result<Checked, Failure> {
    let mut options =
        shared::options(None, CheckMode::LookOnly, &DiscoveryOptions::default(), settings, host)?;
    options.project = None;
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(JOBS);
    options.jobs = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
    let real = host::real_path(request.path())?;
    let place = PlacePath::new(real.as_str())
        .map_err(|error| Failure::usage(format!("cannot open {real}: {error}")))?;
    let mut root = host::root_at(&place, place.name().to_owned(), None)?;
    if request.step() == RequestStep::Contents {
        root.search = RootSearch::Only;
        options.installs =
            InstallRecords::about_to_install(host_name()?, place, key(request), kind(request)).into();
    }
    shared::refuse_own_policy(std::slice::from_ref(&root), &options, host, out)?;
    let mut stores = stores::to_look(host, settings, out)?;
    // An earlier answer must not change this one: OpenClaw asks twice, and compares.
    stores.pins = stores.pins.with_ledger(None);
    let mut sides = Sides { watch: &NoWatch, person: &mut NoPerson, grants: &NoGrants };
    let report = look(&[root], &mut stores, &options, &mut sides).report;
    let mut verdict = Verdict::of(&report, request.request.mode);
    if request.target_type == TargetType::Skill {
        verdict.add(pinned_skill(request, &report.plugins, &stores.pins));
    }
    Ok(Checked { report, verdict })
}

fn host_name() -> Result<HostName, Failure> {
    HOST.parse().map_err(|error: ParseError| Failure::internal(error.to_string()))
}

const fn kind(request: &GateRequest) -> InstallKind {
    match request.target_type {
        TargetType::Plugin => InstallKind::Plugin,
        TargetType::Skill => InstallKind::Skill,
    }
}

/// Returns the key that the installed plugin will have. The key of a skill is its path, which the request does not name.
fn key(request: &GateRequest) -> Option<PluginKey> {
    if request.target_type == TargetType::Skill {
        return None;
    }
    Some(PluginKey::Installed { host: host_name().ok()?, id: request.id().parse().ok()? })
}

/// Compares a skill with the pins of installed skills of this name.
fn pinned_skill(request: &GateRequest, plugins: &[PluginReport], pins: &PinStore) -> Option<Verdict> {
    let is_skill = |place: &PlacePath| {
        place.name() == request.id() && place.parent().is_some_and(|parent| parent.name() == "skills")
    };
    let tree = plugins.first().and_then(|plugin| plugin.tree.as_deref());
    let known = pins.pins().into_iter().flat_map(Pins::iter);
    let known = known.filter(|(key, _)| key.placed().is_some_and(is_skill));
    let mut differs = None;
    for (key, pin) in known {
        let shown = host::display(key);
        if pin.state == PinState::Denied {
            let message = format!(
                "the skill at {shown} is denied; to allow it: plugward undeny {}",
                shared::quoted(&shown)
            );
            return Some(Verdict::one("policy/denied", GateDecision::Block, "denied", &message));
        }
        let pinned = pin.latest().map(|agreed| agreed.facts.tree.to_string());
        if request.request.mode != RequestMode::Update || pinned.as_deref() == tree {
            continue;
        }
        let message = format!("differs from the pinned skill at {shown}; {}", verdict::AFTER_UPDATE);
        differs.get_or_insert(Verdict::one(
            "pin/changed",
            GateDecision::Warn,
            "changed since it was pinned",
            &format!("{message}: plugward diff {}", shared::quoted(&shown)),
        ));
    }
    differs
}

/// Records the answer, for the first check of what is then installed.
fn record(
    request: &GateRequest,
    report: &Report,
    decision: GateDecision,
    host: &Host,
) -> Result<(), Failure> {
    let outcome = if decision == GateDecision::Allow { LoadVerdict::Load } else { LoadVerdict::Ask };
    let trees = report.plugins.iter().filter_map(|plugin| plugin.tree.clone());
    let events: Vec<LedgerEvent> = trees
        .map(|digest| LedgerEvent::PluginGated {
            host: HOST.to_owned(),
            plugin: request.id().to_owned(),
            digest,
            outcome,
        })
        .collect();
    stores::record(host, None)?
        .note(&events)
        .map_err(|failure| Failure::store(failure.to_string()).code(failure.code()).help(failure.help()))
}
