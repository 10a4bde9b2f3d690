//! The settings of repositories: reads them for each plugin, and turns the policy into the options of its gates.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use plugward_pinstore::StoreErrorRule;
use plugward_policy::{BundleNames, LayerKind, SettingsFault, SettingsLayer, SettingsNote, TrustPolicy};
use plugward_sandbox_path::ErrorClass;
use plugward_tree_lock::TreeLimits;
use plugward_types::PlacePath;

use crate::discovery::discover::PluginPlace;
use crate::discovery::roots::{Root, ancestors, inside, is_project, join, reach};
use crate::report::Gate;
use crate::run::examined::Examined;
use crate::run::options::{ApprovalRule, CheckOptions, RepositorySettings, Trust};
use crate::run::outcome::Notice;
use crate::run::policy_options::PolicyOptions;

/// The settings file in the root of a project.
const WORKSPACE: &str = ".plugward/config.toml";
/// The settings file in any directory of a project.
const LOCAL: &str = ".plugward.toml";
/// The policy for some plugins, and the options that follow from it.
#[derive(Debug)]
pub(crate) struct PluginRules {
    pub(crate) policy: TrustPolicy,
    pub(crate) options: CheckOptions,
    /// The faults of each settings file that cannot be used. They refuse the plugins.
    pub(crate) broken: Vec<Vec<SettingsFault>>,
    /// The outermost project around the plugins.
    project: Option<PlacePath>,
}

/// The result of reading a settings file of a repository.
#[derive(Debug, Clone)]
enum RepositoryFile {
    Absent,
    Read(Arc<SettingsLayer>),
    Broken(Vec<SettingsFault>),
}

/// The files and directories for which a policy is the same.
type RulesKey = (Vec<PlacePath>, Vec<PlacePath>);

/// The rules of all plugins of a run. Plugins of one project share them, and each file is read once.
pub(crate) struct RuleBook<'a> {
    roots: &'a [Root],
    options: &'a CheckOptions,
    /// The layers that the user controls.
    user: Vec<Arc<SettingsLayer>>,
    repository: RepositoryFiles,
    known: RefCell<BTreeMap<RulesKey, Arc<PluginRules>>>,
}

/// The settings files of repositories, each read once.
#[derive(Default)]
struct RepositoryFiles {
    files: RefCell<BTreeMap<PlacePath, RepositoryFile>>,
    /// Whether a directory is the root of a project.
    marks: RefCell<BTreeMap<PlacePath, bool>>,
}

/// A directory whose settings files count, relative to the jail of a root.
struct SettingsDirectory {
    dir: String,
    is_project: bool,
}

impl<'a> RuleBook<'a> {
    pub(crate) fn new(roots: &'a [Root], options: &'a CheckOptions) -> Self {
        let user = if options.settings.is_empty() {
            options.as_layer().into_iter().map(Arc::new).collect()
        } else {
            options.settings.clone()
        };
        Self { roots, options, user, repository: RepositoryFiles::default(), known: RefCell::default() }
    }

    /// Returns the rules without a plugin, for rows of records whose plugins do not exist.
    pub(crate) fn base(&self) -> Arc<PluginRules> {
        self.with(Vec::new(), Vec::new(), None)
    }

    /// Returns the rules for the plugin at a place.
    pub(crate) fn of(&self, place: &PluginPlace) -> Arc<PluginRules> {
        let Some(root) = self.roots.get(place.root) else { return self.base() };
        if self.options.repository_settings == RepositorySettings::Ignore {
            return self.with(Vec::new(), vec![place.real.clone()], None);
        }
        let files = &self.repository;
        let own = files.directories(root, &place.dir, &place.reach.outer);
        let project = own.first().and_then(|first| root.top.join(&first.dir).ok());
        let mut sources = Vec::new();
        let mut places = vec![place.real.clone()];
        // An installed plugin is in no repository, so the project that uses it decides about it too.
        if place.installed.is_some()
            && let Some(around) = &self.options.project
            && let Some((root, dir)) = self.roots.iter().find_map(|root| Some((root, root.inside(around)?)))
        {
            sources.extend(files.sources(root, &files.directories(root, dir, &reach(root, dir).outer)));
            places.push(around.clone());
        }
        sources.extend(files.sources(root, &own));
        self.with(sources, places, project)
    }

    fn with(
        &self,
        sources: Vec<(PlacePath, RepositoryFile)>,
        places: Vec<PlacePath>,
        project: Option<PlacePath>,
    ) -> Arc<PluginRules> {
        let is_around = |dir: &&PlacePath| places.iter().any(|place| place.relative_to(dir).is_some());
        let tables = self.user.iter().flat_map(|layer| layer.workspace_dirs()).filter(is_around).cloned();
        let key = (sources.iter().map(|(place, _)| place.clone()).collect(), tables.collect());
        if let Some(known) = self.known.borrow().get(&key) {
            return Arc::clone(known);
        }
        let (mut layers, mut broken) = (self.user.clone(), Vec::new());
        for (_, file) in sources {
            match file {
                RepositoryFile::Read(layer) => layers.push(layer),
                RepositoryFile::Broken(fault) => broken.push(fault),
                RepositoryFile::Absent => {}
            }
        }
        let policy = TrustPolicy::new(layers, places);
        let options = self.options.under(&policy);
        let rules = Arc::new(PluginRules { policy, options, broken, project });
        self.known.borrow_mut().insert(key, Arc::clone(&rules));
        rules
    }

    /// Returns the notes about all settings files that were read.
    pub(crate) fn notices(&self, all: &[Examined], off: &[BundleNames]) -> Vec<Notice> {
        let plugins: Vec<BundleNames> =
            all.iter().map(Examined::bundle_names).chain(off.iter().cloned()).collect();
        let known = self.known.borrow();
        let mut notices: Vec<Notice> =
            known.values().flat_map(|rules| rules.policy.notes()).map(notice).collect();
        // An entry can be for a plugin that this run did not look at, unless it looked at the whole project.
        let is_whole = |rules: &&Arc<PluginRules>| {
            let project = rules.project.as_ref();
            project.is_some_and(|project| {
                self.roots.iter().any(|root| project.relative_to(&root.real()).is_some())
            })
        };
        let whole = known.values().filter(is_whole).flat_map(|rules| rules.policy.unmatched(&plugins));
        notices.extend(whole.filter(|note| note.layer.is_repository()).map(notice));
        if self.options.repository_settings == RepositorySettings::Ignore {
            let message = "settings files of repositories are ignored, including what they tighten";
            notices.push(Notice::new("policy/repository-ignored", Gate::Policy, message));
        }
        notices
    }
}

impl RepositoryFiles {
    /// Lists the directories from the outermost project to a plugin; none if it is in no project.
    fn directories(&self, root: &Root, dir: &str, outer: &str) -> Vec<SettingsDirectory> {
        let around = ancestors(dir).take_while(|above| inside(above, outer).is_some());
        let mut all: Vec<_> = core::iter::once(dir)
            .chain(around)
            .map(|dir| SettingsDirectory { dir: dir.to_owned(), is_project: self.is_project(root, dir) })
            .collect();
        all.reverse();
        let first = all.iter().position(|one| one.is_project).unwrap_or(all.len());
        all.split_off(first)
    }

    fn is_project(&self, root: &Root, dir: &str) -> bool {
        let Ok(place) = root.top.join(dir) else { return false };
        *self.marks.borrow_mut().entry(place).or_insert_with(|| is_project(root, dir))
    }

    /// Reads the files in some directories, of which the first is the outermost project.
    fn sources(&self, root: &Root, dirs: &[SettingsDirectory]) -> Vec<(PlacePath, RepositoryFile)> {
        let Some(outer) = dirs.first().map(|first| first.dir.as_str()) else { return Vec::new() };
        let projects =
            dirs.iter().filter(|one| one.is_project).map(|one| (one, LayerKind::Workspace, WORKSPACE));
        let locals = dirs.iter().map(|one| (one, LayerKind::Local, LOCAL));
        projects
            .chain(locals)
            .filter_map(|(one, kind, name)| {
                let path = join(&one.dir, name);
                let place = root.top.join(&path).ok()?;
                let label = inside(&path, outer).unwrap_or(name);
                let file = self.file(root, &path, &place, kind, label);
                (!matches!(file, RepositoryFile::Absent)).then_some((place, file))
            })
            .collect()
    }

    /// Reads a file once. A symlink or special file cannot be read, so it refuses: it could hide a denial.
    fn file(
        &self,
        root: &Root,
        path: &str,
        place: &PlacePath,
        kind: LayerKind,
        label: &str,
    ) -> RepositoryFile {
        let mut files = self.files.borrow_mut();
        let read = || match root.jail.read(path, SettingsLayer::LIMIT) {
            Ok(bytes) => match SettingsLayer::parse(kind, label, &bytes) {
                Ok(layer) => RepositoryFile::Read(Arc::new(layer)),
                Err(error) => RepositoryFile::Broken(error.into_faults()),
            },
            // A settings file has a path of its own, and nothing can be inside it.
            Err(error) if error.class() == ErrorClass::NotFound || error.code() == "path/not-a-directory" => {
                RepositoryFile::Absent
            }
            Err(error) => {
                RepositoryFile::Broken(vec![SettingsFault::of_file(label, error.to_string(), error.help())])
            }
        };
        files.entry(place.clone()).or_insert_with(read).clone()
    }
}

/// Resolves the settings for the directory of a root, with those of the projects around it.
///
/// # Errors
/// The faults of the settings files of these projects.
pub fn policy_of(
    root: &Root,
    user: &[Arc<SettingsLayer>],
    repository: RepositorySettings,
) -> Result<TrustPolicy, Vec<SettingsFault>> {
    let files = RepositoryFiles::default();
    let mut layers = user.to_vec();
    let mut faults = Vec::new();
    if repository == RepositorySettings::Honor {
        let dirs = files.directories(root, &root.dir, &reach(root, &root.dir).outer);
        for (_, file) in files.sources(root, &dirs) {
            match file {
                RepositoryFile::Read(layer) => layers.push(layer),
                RepositoryFile::Broken(broken) => faults.extend(broken),
                RepositoryFile::Absent => {}
            }
        }
    }
    if faults.is_empty() { Ok(TrustPolicy::new(layers, [root.real()])) } else { Err(faults) }
}

fn notice(note: SettingsNote) -> Notice {
    let at = note.origin.map(|origin| format!("{origin}: ")).unwrap_or_default();
    Notice::new(note.code, Gate::Policy, format!("{at}{}", note.message))
}

impl CheckOptions {
    /// Returns the options for plugins under a policy.
    fn under(&self, policy: &TrustPolicy) -> Self {
        let mut own = self.clone();
        let values = PolicyOptions::of(policy);
        own.trust = values.trust;
        own.approval = values.approval;
        own.max_risk = values.max_risk;
        own.tree = TreeLimits { path_bytes: self.tree.path_bytes, ..values.tree };
        own.on_store_error = values.on_store_error.unwrap_or(match values.trust {
            Trust::Locked => StoreErrorRule::Refuse,
            Trust::Tofu | Trust::Prompt => self.on_store_error,
        });
        own.exclude_vcs = self.exclude_vcs && policy.excludes_vcs();
        own
    }

    /// Returns the options that settings can change as a layer, for a host without settings of its own.
    fn as_layer(&self) -> Option<SettingsLayer> {
        let approval = match self.approval {
            ApprovalRule::Off => "off",
            ApprovalRule::Required => "required",
        };
        let store = match self.on_store_error {
            StoreErrorRule::Warn => "warn",
            StoreErrorRule::Ask => "ask",
            StoreErrorRule::Refuse => "refuse",
        };
        let limit = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let bytes = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let TreeLimits { entries, bytes: tree_bytes, file_bytes, depth, .. } = self.tree;
        let text = format!(
            "trust = \"{}\"\nplugins.approval = \"{approval}\"\nplugins.max_risk = \"{}\"\n\
             pins.on_store_error = \"{store}\"\nlimits.tree_files = {}\nlimits.tree_bytes = {}\n\
             limits.file_bytes = {}\nlimits.tree_depth = {}\n",
            self.trust_word(),
            self.max_risk.as_str(),
            limit(entries),
            bytes(tree_bytes),
            bytes(file_bytes),
            limit(depth),
        );
        SettingsLayer::parse(LayerKind::User, "options of the host", text.as_bytes()).ok()
    }
}
