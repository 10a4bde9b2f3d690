//! What several verbs need: stores, options, and finding a plugin by its name.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use camino::Utf8PathBuf;
use plugward_loader::manifest::Dialect;
use plugward_loader::pinstore::{StoreErrorRule, Terminal};
use plugward_loader::tree_lock::Excludes;
use plugward_loader::{
    CheckOptions, Gate, Host as Sides, Keep, NoGrants, NobodyThere, PluginReport, Report, Root, Subject,
    Trust, Weight, Whole, Writes,
};

use crate::args::{Finding, TrustArg};
use crate::escape::line;
use crate::failure::{Failure, usage};
use crate::host::{self, Host};
use crate::known;
use crate::out::Out;
use crate::progress::Progress;
use crate::settings::Settings;
use crate::stores;

pub(crate) const fn trust_of(arg: TrustArg) -> Trust {
    match arg {
        TrustArg::Tofu => Trust::Tofu,
        TrustArg::Prompt => Trust::Prompt,
        TrustArg::Locked => Trust::Locked,
    }
}

/// The mode of the flag, else of the settings, else ADR-003's.
pub(crate) fn trust(arg: Option<TrustArg>, settings: &Settings) -> Trust {
    arg.map(trust_of).or(settings.trust).unwrap_or(Trust::Tofu)
}

/// ADR-003's downgrade needs a person who sees the warning; without one, a broken store refuses unless the user's
/// settings say otherwise.
fn on_store_error(trust: Trust, settings: &Settings, host: &Host) -> StoreErrorRule {
    let terminal = if host.interactive { Terminal::Present } else { Terminal::Absent };
    settings.on_store_error.unwrap_or_else(|| StoreErrorRule::for_command_line(trust, terminal))
}

pub(crate) fn dialect(text: Option<&str>) -> Result<Option<Dialect>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let all: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.as_str()).collect();
    let found = Dialect::ALL.iter().copied().find(|dialect| dialect.as_str() == text);
    found
        .map(Some)
        .ok_or_else(|| usage(format!("read --dialect: `{}` is none of {}", line(text), all.join(", "))))
}

pub(crate) fn excludes(names: &[String]) -> Result<Excludes, Failure> {
    Excludes::new(names.iter().map(String::as_str))
        .map_err(|error| usage(format!("read --exclude: {error}\n  next: {}", error.help())))
}

pub(crate) fn options(
    trust: Trust,
    writes: Writes,
    finding: &Finding,
    (settings, host): (&Settings, &Host),
) -> Result<CheckOptions, Failure> {
    let mut left_out = finding.exclude.clone();
    if settings.exclude_vcs == Some(true) {
        left_out.extend([".git", ".hg", ".jj", ".svn"].map(str::to_owned));
    }
    Ok(CheckOptions {
        trust,
        on_store_error: on_store_error(trust, settings, host),
        whole: Whole::EachAlone,
        writes,
        keep: Keep::Nothing,
        dialect: dialect(finding.dialect.as_deref())?,
        enabled: None,
        excludes: excludes(&left_out)?,
        tree: settings.tree,
        scan: plugward_loader::scanner::Limits::DEFAULT,
        jobs: finding.jobs.unwrap_or(NonZeroUsize::MIN),
        records: None,
        profile: settings.profile,
        packages: settings.packages.clone(),
        rules: settings.rules(&[])?.map(Arc::new),
        suppressions: settings.suppressions.clone(),
        today: host::today(),
        approval: settings.approval,
        max_risk: settings.max_risk,
        shared: settings.shared.clone(),
        verifiers: settings.verifiers.clone(),
        host_version: finding.host_version.clone(),
        now: host::now()?,
        by: host::user(),
    })
}

/// Opens each folder; a missing one is said with what to do.
pub(crate) fn roots(dirs: &[Utf8PathBuf]) -> Result<Vec<Root>, Failure> {
    dirs.iter().map(|dir| host::root(dir).map_err(Failure::Internal)).collect()
}

/// ` --in a --in b`, for the lines that say what to type next.
pub(crate) fn again(dirs: &[Utf8PathBuf]) -> String {
    if dirs.is_empty() || (dirs.len() == 1 && dirs.first().is_some_and(|dir| dir == ".")) {
        return String::new();
    }
    let flags: Vec<String> = dirs.iter().map(|dir| format!("--in {}", quoted(dir.as_str()))).collect();
    format!(" {}", flags.join(" "))
}

/// ` --exclude .git --dialect claude`, as they were typed: what was looked at with them is digested with them again.
pub(crate) fn as_typed(finding: &Finding) -> String {
    let excluded = finding.exclude.iter().map(|name| ("--exclude", name));
    let dialect = finding.dialect.iter().map(|name| ("--dialect", name));
    let version = finding.host_version.iter().map(|text| ("--host-version", text));
    let flags = excluded.chain(dialect).chain(version);
    flags.flat_map(|(flag, value)| [format!(" {flag} "), quoted(value)]).collect()
}

/// Puts the folder that was typed where a help says DIR, so that it can be typed as it is shown.
pub(crate) fn with_folder(help: &str, dir: Option<&Utf8PathBuf>) -> String {
    let Some(dir) = dir else { return help.to_owned() };
    let dir = quoted(dir.as_str());
    ["check", "lock", "lock --check", "list"].iter().fold(help.to_owned(), |help, verb| {
        help.replace(&format!("plugward {verb} DIR"), &format!("plugward {verb} {dir}"))
    })
}

/// As `with_folder`, in all reasons of a report.
pub(crate) fn name_folders(plugins: &mut [PluginReport], dirs: &[Utf8PathBuf]) {
    for plugin in plugins {
        let dir = dirs.get(plugin.root);
        for reason in &mut plugin.reasons {
            reason.help = with_folder(&reason.help, dir);
        }
    }
}

/// Quotes a word for a POSIX shell where it needs it.
pub(crate) fn quoted(word: &str) -> String {
    if word.chars().any(crate::escape::is_unprintable) {
        // To be read, not typed: nothing of it may reach a terminal as it is.
        return format!("'{}'", line(word));
    }
    let plain = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | ':' | '@' | '=' | ',')
    };
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Looks at folders without writing anything; gives only the report.
pub(crate) fn report(
    dirs: &[Utf8PathBuf],
    trust: Option<Trust>,
    finding: &Finding,
    host: &Host,
    out: &Out,
) -> Result<Report, Failure> {
    look(dirs, trust, finding, host, out).map(|looked| looked.report)
}

/// What a look gave.
pub(crate) struct Looked {
    pub(crate) report: Report,
    pub(crate) subjects: BTreeMap<String, Subject>,
    pub(crate) roots: Vec<Root>,
}

/// Looks at folders without writing anything.
pub(crate) fn look(
    dirs: &[Utf8PathBuf],
    trust: Option<Trust>,
    finding: &Finding,
    host: &Host,
    out: &Out,
) -> Result<Looked, Failure> {
    look_keeping(dirs, (trust, Keep::Nothing), finding, host, out)
}

/// As `look`, and keeps the bytes of one plugin.
fn look_keeping(
    dirs: &[Utf8PathBuf],
    (trust, keep): (Option<Trust>, Keep),
    finding: &Finding,
    host: &Host,
    out: &Out,
) -> Result<Looked, Failure> {
    let settings = Settings::read(host)?;
    let trust = trust.unwrap_or_else(|| self::trust(None, &settings));
    let mut options = options(trust, Writes::LookOnly, finding, (&settings, host))?;
    options.keep = keep;
    let roots = roots(dirs)?;
    let mut stores = stores::to_look(host, &settings, out)?;
    let progress = Progress::new(out.live);
    let mut sides = Sides { watch: &progress, person: &mut NobodyThere, grants: &NoGrants };
    let (report, subjects) = plugward_loader::look(&roots, &mut stores, &options, &mut sides);
    progress.done();
    Ok(Looked { report, subjects, roots })
}

/// Says why nobody can tell what is pinned, where that is so; gives the exit code of a look that met it.
pub(crate) fn pins_unread<'a>(plugins: impl IntoIterator<Item = &'a PluginReport>, out: &Out) -> u8 {
    let Some(plugin) = plugins.into_iter().find(|plugin| plugin.pin.state == "unavailable") else {
        return 0;
    };
    if let Some(reason) = plugin.reasons.iter().find(|reason| reason.gate == Gate::Pin) {
        out.say(&format!(
            "warning: {} ({})\n  next: {}",
            line(&reason.message),
            reason.code,
            line(&reason.help)
        ));
    } else if let Some(notice) = plugin.notices.iter().find(|notice| notice.gate == Gate::Pin) {
        out.say(&format!("warning: {} ({})", line(&notice.message), notice.code));
    }
    Weight::Store.exit()
}

/// A plugin that was named, and where it was seen.
pub(crate) struct Named {
    pub(crate) plugin: PluginReport,
    pub(crate) subject: Option<Subject>,
    pub(crate) roots: Vec<Root>,
}

/// Finds a plugin by id or bare name: in the folders that were given, else in those of earlier checks, else here.
pub(crate) fn find(
    id: &str,
    dirs: &[Utf8PathBuf],
    trust: Option<Trust>,
    finding: &Finding,
    host: &Host,
    out: &Out,
) -> Result<Named, Failure> {
    let places: Vec<Vec<Utf8PathBuf>> = if dirs.is_empty() {
        let mut places: Vec<_> =
            known::roots(host).into_iter().filter(|dir| dir.is_dir()).map(|dir| vec![dir]).collect();
        places.push(vec![Utf8PathBuf::from(".")]);
        places
    } else {
        vec![dirs.to_vec()]
    };
    let mut seen: Vec<String> = Vec::new();
    let remembered = places.len().saturating_sub(1);
    for dirs in places {
        let mut looked = look_keeping(&dirs, (trust, Keep::Of(id.to_owned())), finding, host, out)?;
        let matching: Vec<&PluginReport> =
            looked.report.plugins.iter().filter(|plugin| plugin.id == id || plugin.name == id).collect();
        if let [plugin] = matching.as_slice() {
            let plugin = (*plugin).clone();
            let subject = looked.subjects.remove(&plugin.id);
            if remembered > 1 {
                // Another folder may hold one of the same name.
                let folders: Vec<String> = dirs.iter().map(|dir| quoted(dir.as_str())).collect();
                out.say(&format!("note: {} as it is in {}", line(&plugin.id), folders.join(", ")));
            }
            return Ok(Named { plugin, subject, roots: looked.roots });
        }
        if !matching.is_empty() {
            let mut ids: Vec<&str> = matching.iter().map(|plugin| plugin.id.as_str()).collect();
            ids.dedup();
            if let [_] = ids.as_slice() {
                let folder = |plugin: &&PluginReport| {
                    let root = looked.roots.get(plugin.root).map_or(".", |root| root.label.as_str());
                    line(&format!("{root}/{}", plugin.path)).into_owned()
                };
                let folders: Vec<String> = matching.iter().map(folder).collect();
                return Err(usage(format!(
                    "find `{}`: several folders hold one of that id: {}\n  \
                     next: name the folder above the one that is meant, with --in",
                    line(id),
                    folders.join(", ")
                )));
            }
            return Err(usage(format!(
                "find `{}`: several plugins are called so\n  next: name one of {}",
                line(id),
                ids.join(", ")
            )));
        }
        seen.extend(looked.report.plugins.into_iter().map(|plugin| plugin.id));
    }
    Err(usage(format!("find `{}`: no such plugin{}", line(id), suggestion(id, &seen))))
}

fn suggestion(id: &str, seen: &[String]) -> String {
    let name = |id: &str| {
        id.split(['@']).next().and_then(|rest| rest.split(':').next_back()).unwrap_or(id).to_owned()
    };
    let near = seen
        .iter()
        // Of two that are as near, the one in the folder that was looked at first.
        .rev()
        .map(|known| (strsim::jaro_winkler(&name(id), &name(known)), known))
        .filter(|(score, _)| *score > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match near {
        Some((_, known)) => format!("\n  next: did you mean {}?", line(known)),
        None => "\n  next: plugward list DIR shows what is there; --in DIR says where to look".to_owned(),
    }
}
