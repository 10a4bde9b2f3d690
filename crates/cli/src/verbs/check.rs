//! `plugward check`: decides which plugins may load.

mod homes;
mod hook;

use std::sync::Arc;

use camino::Utf8Path;
use plugward_loader::installs::{HostInventory, InstallProblemKind};
use plugward_loader::tree_lock::AnyLockFile;
use plugward_loader::{
    CheckMode, DeclaredModules, FailureScope, Host as Sides, InstallRecords, NoPerson, PlacePath,
    PluginReport, Report, Root, Trust, check,
};

use crate::advice::{Commands, ReviewVerb};
use crate::args::{CheckArgs, CheckFormat};
use crate::diagnostic::Diagnostic;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::html;
use crate::installed::{self, HostScope, Installed};
use crate::json;
use crate::out::Out;
use crate::places::PlacesUse;
use crate::progress::Progress;
use crate::prompt::Prompt;
use crate::report::{self, Detail, View};
use crate::sarif;
use crate::settings::Settings;
use crate::stores;
use crate::trust_roots;
use crate::verbs::shared;

pub(crate) fn run(args: &CheckArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    if args.hook {
        return Ok(hook::run(args, host, out));
    }
    let roots = trust_roots::find(args.hosts.project.as_deref().as_slice())?;
    if let Some(report) = roots.report()? {
        let exit = report.exit;
        // `--exit-zero` does not apply, because nothing was checked.
        render(args, report, None, out)?;
        return Ok(exit);
    }
    let settings = Settings::read(host)?;
    let target = Target::of(args, host)?;
    let Judgement { mut report, interrupted } = judge(args, &target, &settings, host, out)?;
    report.notices.extend(roots.notices());
    let unknown = unknown_names(args, &report, out);
    if is_empty(args, &report) && report.exit == 0 {
        if is_locked_empty(args, &target, &settings)? {
            out.report(&Diagnostic::note_of("no plugin was found, and PLUGINS.lock lists none"));
        } else {
            // A mistyped directory must not look like one whose plugins all load.
            report.exit = 2;
            out.report(&nothing(args, &target));
        }
    }
    let exit = report.exit;
    render(args, report, Some(&target), out)?;
    if interrupted {
        // The answers before the interrupt are stored, and the other plugins were not decided.
        return Ok(130);
    }
    if unknown && exit == 0 {
        // A plugin that the user named was not checked, so the run must not succeed.
        return Ok(2);
    }
    // `--exit-zero` hides verdicts, but not failures: a run that could not check the plugins must not succeed.
    Ok(if args.exit_zero && !matches!(exit, 1 | 2 | 7) { 0 } else { exit })
}

/// Prints a report in the requested format.
fn render(
    args: &CheckArgs,
    mut report: Report,
    target: Option<&Target>,
    out: &mut Out,
) -> Result<(), Failure> {
    let typed = shared::as_typed(&args.finding);
    let commands = |plugin: &PluginReport| {
        shared::commands(plugin, &typed, args.dirs.get(plugin.root).map(camino::Utf8PathBuf::as_path))
    };
    match args.format {
        CheckFormat::Json => out.result(&json::render(&report)?)?,
        CheckFormat::Sarif => out.result(&json::visible(&sarif::render(&report)))?,
        CheckFormat::Html => {
            // The page can be sent to other people, so its commands contain no absolute paths.
            let commands = |plugin: &PluginReport| Commands {
                review: ReviewVerb::Explain,
                selector: shared::quoted(&plugin.id),
                typed: typed.clone(),
                lock_dir: {
                    let named = args.dirs.get(plugin.root).filter(|dir| !dir.is_absolute());
                    named.map_or_else(|| "DIR".to_owned(), |dir| shared::quoted(dir.as_str()))
                },
            };
            out.result(&html::render(&report, &commands))?;
        }
        // The error says it all.
        CheckFormat::Table
            if report.plugins.is_empty() && report.notices.is_empty() && args.dirs.is_empty() => {}
        CheckFormat::Table => {
            shared::localize(&mut report.plugins);
            let detail = if out.loudness > 0 { Detail::Full } else { Detail::Brief };
            out.result(&target.map_or_else(String::new, |target| homes::render(&report, target, out.width)))?;
            out.result(&report::render(&report, &View { width: out.width, detail, commands: &commands }))?;
        }
    }
    Ok(())
}

/// What a check looks at.
pub(crate) struct Target {
    pub(crate) roots: Vec<Root>,
    pub(crate) records: Arc<InstallRecords>,
    /// What the hosts would load, if everything that is installed is checked.
    pub(crate) inventories: Vec<HostInventory>,
    pub(crate) project: Option<PlacePath>,
}

impl Target {
    /// Returns the named directories, or else everything that is installed.
    fn of(args: &CheckArgs, host: &Host) -> Result<Self, Failure> {
        if args.dirs.is_empty() {
            let places = PlacesUse::Store(host.state_dir()?.to_owned());
            return Self::installed(&HostScope { places, ..shared::scope(&args.hosts)? });
        }
        let roots = shared::roots(&args.dirs)?;
        let records = installed::inside(&roots)?;
        Ok(Self { roots, records, inventories: Vec::new(), project: None })
    }

    /// Returns everything that the hosts in a scope would load.
    pub(crate) fn installed(scope: &HostScope) -> Result<Self, Failure> {
        let Installed { roots, records, inventories, project } = installed::everything(scope)?;
        Ok(Self { roots, records, inventories, project })
    }
}

/// The result of checking a target.
pub(crate) struct Judgement {
    pub(crate) report: Report,
    /// Whether an interrupt ended the questions.
    pub(crate) interrupted: bool,
}

/// Checks a target, asks about new plugins if the trust mode says so, and stores the pins.
pub(crate) fn judge(
    args: &CheckArgs,
    target: &Target,
    settings: &Settings,
    host: &Host,
    out: &mut Out,
) -> Result<Judgement, Failure> {
    let trust = shared::trust(args.trust, settings);
    let mut options =
        shared::options(args.trust.map(shared::trust_of), CheckMode::Commit, &args.finding, settings, host)?;
    options.whole = if args.all_or_nothing { FailureScope::AllOrNothing } else { FailureScope::EachAlone };
    options.enabled = (!args.enabled.is_empty()).then(|| args.enabled.clone());
    options.installs = target.records.clone();
    if let Some(dir) = &args.hosts.project {
        options.project = Some(host::root(dir)?.real());
    } else if args.hosts.no_project {
        options.project = None;
    }
    // `locked` is for CI, in which a restored cache directory could contain forged records.
    if !args.no_cache && trust != Trust::Locked {
        let places: Vec<PlacePath> = target.roots.iter().map(Root::real).collect();
        let paths = places.iter().map(|place| Utf8Path::new(place.as_str()));
        match stores::records(host, "check", paths) {
            Ok(pack) => options.records = Some(Arc::new(pack)),
            Err(error) => stores::unrecorded(out, error),
        }
    }
    shared::refuse_own_policy(&target.roots, &options, host, out)?;
    stores::start_over_if_lost(host, trust, out)?;
    let mut stores = stores::to_write(host, settings, args.workflow.as_deref(), out)?;
    let progress = Progress::new(out.live);
    let mut no_person = NoPerson;
    // Settings of a repository can ask as well, so the questions are known only later.
    let asks = host.interactive;
    let mut prompt = asks.then(|| Prompt::new(&progress, out.width));
    let mut sides = Sides {
        watch: &progress,
        person: match &mut prompt {
            Some(prompt) => prompt,
            None => &mut no_person,
        },
        grants: &DeclaredModules,
    };
    let report = check(&target.roots, &mut stores, &options, &mut sides);
    let interrupted = prompt.is_some_and(|prompt| prompt.is_interrupted());
    progress.done();
    if let Some(Err(error)) = options.records.as_ref().map(|pack| pack.keep()) {
        stores::unrecorded(out, error.into());
    }
    Ok(Judgement { report, interrupted })
}

/// Returns `true` if the lockfile of each named directory says that there is no plugin.
fn is_locked_empty(args: &CheckArgs, target: &Target, settings: &Settings) -> Result<bool, Failure> {
    let mut locks = !args.dirs.is_empty() && shared::trust(args.trust, settings) == Trust::Locked;
    for root in &target.roots {
        let lock = super::lock::read(root)?.map(|bytes| AnyLockFile::parse(&bytes));
        locks &= matches!(lock, Some(Ok(AnyLockFile::Plugins(file))) if file.entries().next().is_none());
    }
    Ok(locks)
}

/// Returns the error for a check that found nothing.
fn nothing(args: &CheckArgs, target: &Target) -> Diagnostic {
    if args.dirs.is_empty() {
        if !target.inventories.is_empty() {
            let problems = target.inventories.iter().flat_map(|one| &one.problems);
            let is_open = problems.into_iter().any(|problem| {
                matches!(problem.kind, InstallProblemKind::NotRead | InstallProblemKind::NotJudged)
            });
            let what = if is_open { "were not all read" } else { "load nothing that runs" };
            return Diagnostic::error(format!("nothing to check: the hosts that were found {what}"))
                .help("name a directory that contains plugins, or add --allow-empty");
        }
        let project = if target.project.is_some() { " and no plugin in this project" } else { "" };
        return Diagnostic::error(format!("nothing to check: found no supported host{project}"))
            .help("name a directory that contains plugins, or add --allow-empty");
    }
    let dirs: Vec<&str> = args.dirs.iter().map(|dir| dir.as_str()).collect();
    Diagnostic::error(format!("nothing to check: no plugin in {}", dirs.join(", ")))
        .help("name a directory that contains plugins, or add --allow-empty")
}

/// Returns `true` if there was nothing to check. A missing pinned plugin counts as checked.
fn is_empty(args: &CheckArgs, report: &Report) -> bool {
    let gone = report.notices.iter().any(|notice| notice.code == "pin/gone");
    report.plugins.is_empty() && args.enabled.is_empty() && !args.allow_empty && !gone
}

/// Reports each name of `--enabled` that matches no plugin, and returns `true` if there is one.
fn unknown_names(args: &CheckArgs, report: &Report, out: &Out) -> bool {
    let mut unknown = false;
    for id in &args.enabled {
        let called = |plugin: &PluginReport| {
            plugin.id == *id || plugin.name == *id || plugin.key.name() == id || plugin.key.to_string() == *id
        };
        if report.plugins.iter().any(called) {
            continue;
        }
        unknown = true;
        let dirs: Vec<&str> = args.dirs.iter().map(|dir| dir.as_str()).collect();
        let names = report.skipped.iter().filter_map(|one| one.path.rsplit('/').next());
        let near = plugward_loader::nearest(id, names);
        let error = Diagnostic::error(match dirs.as_slice() {
            [] => format!("--enabled {id} matches no installed plugin"),
            dirs => format!("--enabled {id} matches no plugin in {}", dirs.join(", ")),
        });
        out.report(&match near {
            Some(near) => error.help(&format!("did you mean {near}?")),
            None if dirs.is_empty() => error.help("list the plugins: plugward list"),
            None => error.help(&format!(
                "list the plugins: plugward list {}",
                shared::quoted(dirs.first().copied().unwrap_or("."))
            )),
        });
    }
    unknown
}
