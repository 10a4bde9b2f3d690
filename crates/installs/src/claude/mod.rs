//! Claude Code: its records, caches, settings and loose pieces.

mod cache;
mod markets;
mod plugins;
mod records;
mod settings;

use plugward_types::{InstalledId, PlacePath, PluginKey};

use crate::collector::{Collector, absolute, join, place, shown};
use crate::loose::{add_directory, add_skills};
use crate::{
    HostState, Install, InstallContents, InstallKind, InstallLayer, InstallProblem, InstallProblemKind,
    RecordPlace,
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
    fn of(found: &Collector<'_>, settings: &Settings) -> Self {
        let machine = found.machine;
        let moved = settings.variable(found, "CLAUDE_CODE_PLUGIN_CACHE_DIR").filter(|path| !path.is_empty());
        let plugins = moved.map_or_else(|| join(&found.home, "plugins"), |path| absolute(machine, &path));
        let seeds = path_list(found, settings, "CLAUDE_CODE_PLUGIN_SEED_DIR");
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

/// Reads everything that Claude Code would load.
pub(super) fn read(found: &mut Collector<'_>) {
    let settings = settings::read(found);
    let roots = Roots::of(found, &settings);
    let mut context = Context { roots, settings, is_record_readable: true };
    let mut markets = markets::Markets::read(found, &context);
    let records = records::read(found, &context);
    context.is_record_readable = records.is_some();
    let records = records.unwrap_or_default();
    let covered = plugins::add(found, &context, &mut markets, &records);
    cache::add(found, &context, &mut markets, covered);
    add_inline(found, &context.settings);
    // The plugins of the user's account have no record.
    let synced = join(&context.roots.plugins, "synced");
    for name in found.directories(&synced) {
        found.add_placed(InstallKind::Plugin, &synced, &name, InstallLayer::User);
    }
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
        let is_version = self.roots.is_version(&real);
        let contents = if is_version { InstallContents::CacheDirectory } else { InstallContents::Directory };
        let is_outside = !self.roots.contain(&real);
        let install = found.install(found.key(id), InstallKind::Plugin, real, record);
        let (state, switch) = (self.settings.state(id), self.settings.switch(id));
        Install { contents, state, switch, is_outside, ..install }
    }

    /// Adds the problem that a row of one plugin cannot be used.
    fn refuse_row(&self, found: &mut Collector<'_>, id: &InstalledId, record: RecordPlace, message: String) {
        let problem = found.draft(InstallProblemKind::Row, record, message, "install the plugin again");
        self.report(found, id, problem);
    }

    /// Adds a problem of one plugin.
    fn report(&self, found: &mut Collector<'_>, id: &InstalledId, problem: InstallProblem) {
        let (key, state, switch) = (Some(found.key(id)), self.settings.state(id), self.settings.switch(id));
        found.report(InstallProblem { key, state, switch, ..problem });
    }
}

/// Returns the directories in an environment variable.
fn path_list(found: &Collector<'_>, settings: &Settings, variable: &str) -> Vec<String> {
    let value = settings.variable(found, variable).unwrap_or_default();
    value.split(':').filter(|path| !path.is_empty()).map(|path| absolute(found.machine, path)).collect()
}

/// Adds the plugins that an environment variable names. The host reads them in place, and nothing disables them.
fn add_inline(found: &mut Collector<'_>, settings: &Settings) {
    for path in path_list(found, settings, "CLAUDE_CODE_PLUGIN_DIRS") {
        let record = place("$CLAUDE_CODE_PLUGIN_DIRS", "");
        let Some(real) = found.machine.files.real(&path).filter(|real| found.is_directory(real.as_str()))
        else {
            let message = format!("no such directory: {}", shown(&path));
            let help = "correct CLAUDE_CODE_PLUGIN_DIRS";
            found.report(found.draft(InstallProblemKind::Missing, record, message, help));
            continue;
        };
        let key = PluginKey::Placed(real.clone());
        found.add(found.install(key, InstallKind::Plugin, real, record));
    }
}

/// Adds skills, agents and commands of the user and the project.
fn add_loose(found: &mut Collector<'_>, settings: &Settings) {
    let state = |name: &str| {
        let setting = format!("{name}@skills-dir").parse().ok().and_then(|id| settings.enabled.get(&id));
        if setting.is_some_and(|setting| !setting.is_on) { HostState::Off } else { HostState::On }
    };
    let mut levels = found.levels(".claude");
    let is_above = |path: &String| found.machine.files.kind(&join(path, ".git")).is_none();
    let ancestors = found.ancestors();
    if ancestors.iter().all(is_above) {
        // Without a repository, the host also searches the directories up to the home directory.
        let below = ancestors.into_iter().take_while(|path| path != found.machine.home);
        levels.extend(below.map(|at| (join(&at, ".claude"), InstallLayer::Project)));
    }
    for (at, layer) in levels {
        add_skills(found, &join(&at, "skills"), layer, &[], Some(&state));
        add_directory(found, &join(&at, "agents"), InstallKind::Agents, layer);
        for name in ["commands", "output-styles", "workflows"] {
            add_directory(found, &join(&at, name), InstallKind::Commands, layer);
        }
    }
    add_nested(found, &state);
}

/// Adds the skills of directories inside the project. The host finds them once it works with a file there.
fn add_nested(found: &mut Collector<'_>, state: &dyn Fn(&str) -> HostState) {
    let mut others = Vec::new();
    for at in found.nested(".claude") {
        add_skills(found, &join(&at, "skills"), InstallLayer::Project, &[], Some(state));
        let parts = ["agents", "commands"].map(|name| join(&at, name)).into_iter();
        others.extend(parts.filter(|path| found.is_directory(path)));
    }
    let more =
        |count: usize| if count > 1 { format!(" ({} more)", count.saturating_sub(1)) } else { String::new() };
    if let Some(first) = others.first() {
        let message =
            format!("not checked: it is loaded only by a session that starts there{}", more(others.len()));
        not_read(found, first, message);
    }
    let machine = found.machine;
    if let Some((path, why)) = machine.unsearched.first().filter(|_| found.is_directory(&found.home)) {
        let message = format!("not searched for skills: {why}{}", more(machine.unsearched.len()));
        not_read(found, path, message);
    }
}

/// Adds the problem that a place is not read, so that silence is not mistaken for approval.
fn not_read(found: &mut Collector<'_>, path: &str, message: String) {
    let help = "check it before a session starts there: plugward check --project DIR";
    found.report(found.draft(InstallProblemKind::NotRead, place(path, ""), message, help));
}
