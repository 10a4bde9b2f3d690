//! Claude Code: its records, caches, settings and loose pieces.

mod cache;
mod markets;
mod plugins;
mod records;
mod settings;

use plugward_types::{InstalledId, PlacePath, PluginKey};

use crate::collector::{Collector, absolute, join, place};
use crate::loose::{add_directory, add_skills};
use crate::{
    HostState, Install, InstallContents, InstallKind, InstallLayer, InstallProblemKind, RecordPlace,
};
use settings::Settings;

/// The directories in which the host keeps plugins.
pub(super) struct Roots {
    /// The directory with the records and the cache.
    plugins: String,
    /// Read-only directories of the same layout, which take precedence.
    seeds: Vec<String>,
    /// The real paths of all of them.
    real: Vec<PlacePath>,
    /// The real paths of their caches.
    caches: Vec<PlacePath>,
}

impl Roots {
    fn of(found: &Collector<'_>) -> Self {
        let machine = found.machine;
        let default = join(&found.home, "plugins");
        let variable =
            machine.environment.get("CLAUDE_CODE_PLUGIN_CACHE_DIR").filter(|value| !value.is_empty());
        let plugins = variable.map_or(default, |path| absolute(machine, path));
        let seeds = path_list(found, "CLAUDE_CODE_PLUGIN_SEED_DIR");
        let all = || core::iter::once(&plugins).chain(&seeds);
        let real = all().filter_map(|root| machine.files.real(root)).collect();
        let caches = all().filter_map(|root| machine.files.real(&join(root, "cache"))).collect();
        Self { plugins, seeds, real, caches }
    }

    /// Returns `true` if the host keeps its copies around this place.
    fn contain(&self, place: &PlacePath) -> bool {
        self.real.iter().chain(&self.caches).any(|root| place.relative_to(root).is_some())
    }

    /// Returns `true` for `cache/MARKET/PLUGIN/VERSION`, in which the host also writes files of its own.
    fn is_version(&self, place: &PlacePath) -> bool {
        let parts = self.caches.iter().filter_map(|cache| place.relative_to(cache));
        parts.map(|rest| rest.split('/').count()).any(|count| count == 3)
    }
}

/// What decides about the plugins of a record.
struct Context {
    roots: Roots,
    settings: Settings,
    /// `false` if the rows are not known, so that nothing can be said about what is missing.
    is_record_readable: bool,
}

/// A problem of one row.
struct RowMessage {
    record: RecordPlace,
    message: String,
}

/// Reads everything that Claude Code would load.
pub(super) fn read(found: &mut Collector<'_>) {
    let (roots, settings) = (Roots::of(found), settings::read(found));
    let mut context = Context { roots, settings, is_record_readable: true };
    let mut markets = markets::Markets::read(found, &context.roots);
    let records = records::read(found, &context);
    context.is_record_readable = records.is_some();
    let records = records.unwrap_or_default();
    let covered = plugins::add(found, &context, &mut markets, &records);
    cache::add(found, &context, &mut markets, covered);
    add_inline(found);
    add_synced(found, &context.roots);
    add_loose(found, &context.settings);
}

impl Context {
    /// Returns an install of a plugin that a record or the settings name.
    fn recorded(
        &self,
        found: &Collector<'_>,
        id: &InstalledId,
        real: PlacePath,
        record: RecordPlace,
    ) -> Install {
        let contents = if self.roots.is_version(&real) {
            InstallContents::CacheDirectory
        } else {
            InstallContents::Directory
        };
        let is_outside = !self.roots.contain(&real);
        let install = found.install(found.key(id), InstallKind::Plugin, real, record);
        Install { contents, is_outside, switch: self.settings.switch(id), ..install }
    }

    /// Adds the problem of one row, which has the key of its id.
    fn row_problem(&self, found: &mut Collector<'_>, id: &InstalledId, state: HostState, row: RowMessage) {
        let key = found.key(id);
        let help = "install the plugin again";
        if let Some(problem) = found.problem(InstallProblemKind::Row, row.record, row.message, help) {
            problem.key = Some(key);
            problem.state = state;
            problem.switch = self.settings.switch(id);
        }
    }
}

/// Returns the directories in an environment variable.
fn path_list(found: &Collector<'_>, variable: &str) -> Vec<String> {
    let value = found.machine.environment.get(variable).map_or("", String::as_str);
    value.split(':').filter(|path| !path.is_empty()).map(|path| absolute(found.machine, path)).collect()
}

/// Adds the plugins that an environment variable names. The host reads them in place, and nothing disables them.
fn add_inline(found: &mut Collector<'_>) {
    for path in path_list(found, "CLAUDE_CODE_PLUGIN_DIRS") {
        let record = place("$CLAUDE_CODE_PLUGIN_DIRS", "");
        match found.machine.files.real(&path).filter(|real| found.is_directory(real.as_str())) {
            Some(real) => {
                let key = PluginKey::Placed(real.clone());
                found.add(found.install(key, InstallKind::Plugin, real, record));
            }
            None => {
                let message = format!("no such directory: {}", crate::collector::shown(&path));
                let help = "correct CLAUDE_CODE_PLUGIN_DIRS";
                found.problem(InstallProblemKind::Missing, record, message, help);
            }
        }
    }
}

/// Adds the plugins of the user's account, which have no record.
fn add_synced(found: &mut Collector<'_>, roots: &Roots) {
    let synced = join(&roots.plugins, "synced");
    for name in found.directories(&synced) {
        let Some(real) = found.machine.files.real(&join(&synced, &name)) else { continue };
        let key = PluginKey::Placed(real.clone());
        found.add(found.install(key, InstallKind::Plugin, real, place(&synced, "")));
    }
}

/// Adds skills, agents and commands of the user and the project.
fn add_loose(found: &mut Collector<'_>, settings: &Settings) {
    let state = |name: &str| match settings.enabled.get(&format!("{name}@skills-dir")) {
        Some(setting) if !setting.is_on => HostState::Off,
        _ => HostState::On,
    };
    let user = (found.home.clone(), InstallLayer::User);
    let project =
        found.project_directories().into_iter().map(|at| (join(&at, ".claude"), InstallLayer::Project));
    for (at, layer) in core::iter::once(user).chain(project).collect::<Vec<_>>() {
        add_skills(found, &join(&at, "skills"), layer, &[], Some(&state));
        add_directory(found, &join(&at, "agents"), InstallKind::Agents, layer);
        add_directory(found, &join(&at, "commands"), InstallKind::Commands, layer);
    }
}
