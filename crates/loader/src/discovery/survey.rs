//! Lists plugins with their names, without checking them. Selectors use it.

use plugward_types::{CalledName, PluginKey};

use crate::discovery::discover::{MAIN_LIMIT, discover};
use crate::discovery::roots::{Root, join};
use crate::run::options::{CheckOptions, Watch};
use crate::state::pins::PinStore;
use plugward_manifest::{FileMode, MAIN_FILES, MapFiles, PluginContext};

/// A plugin that can be selected.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SurveyedPlugin {
    /// The key.
    pub key: PluginKey,
    /// The names in its manifests that could be read.
    pub called: Vec<CalledName>,
}

/// Returns the plugins of some roots by key and name. Nothing is digested, scanned or decided.
#[must_use]
pub fn survey(
    roots: &[Root],
    pins: &PinStore,
    options: &CheckOptions,
    watch: &dyn Watch,
) -> Vec<SurveyedPlugin> {
    let mut all = Vec::new();
    for (number, root) in roots.iter().enumerate() {
        for place in discover(root, number, pins.pins(), options, watch).places {
            let mut files = MapFiles::new();
            for (_, file) in MAIN_FILES {
                if let Ok(bytes) = root.jail.read(join(&place.dir, file).as_str(), MAIN_LIMIT) {
                    files.insert(file, bytes, FileMode::Plain);
                }
            }
            for source in ["index.ts", "index.js"] {
                if root.jail.metadata(join(&place.dir, source).as_str()).is_ok() {
                    files.insert(source, Vec::new(), FileMode::Plain);
                }
            }
            let at = PluginContext::for_directory(place.real.name());
            let manifests = plugward_manifest::find_dialects(&files).into_iter().filter_map(|dialect| {
                let manifest = plugward_manifest::read(dialect, &files, &at).ok()?;
                CalledName::new(dialect.as_str(), manifest.name()).ok()
            });
            let called: Vec<CalledName> = manifests.collect();
            let recorded = place.installed.as_ref().map(|one| one.keys.clone()).unwrap_or_default();
            let keys =
                if recorded.is_empty() { vec![PluginKey::Placed(place.real.clone())] } else { recorded };
            all.extend(keys.into_iter().map(|key| SurveyedPlugin { key, called: called.clone() }));
        }
    }
    all.sort_by(|a, b| a.key.cmp(&b.key));
    all.dedup_by(|a, b| a.key == b.key);
    all
}
