//! The directories in the cache that no row names.

use plugward_types::{InstalledId, PlacePath};

use super::Context;
use super::markets::Markets;
use super::plugins::{Covered, missing};
use crate::collector::{Collector, join, place, shown};
use crate::{HostState, HostSwitch, Install, InstallProblem, InstallProblemKind};

/// Adds the versions that the host adopts at its next start, and a problem for each plugin with others.
///
/// An id that is on and has no directory gets one from the cache, and which one is not documented.
pub(super) fn add(found: &mut Collector<'_>, context: &Context, markets: &mut Markets, mut covered: Covered) {
    let cache = join(&context.roots.plugins, "cache");
    for market in found.directories(&cache) {
        for name in found.directories(&join(&cache, &market)) {
            let directory = join(&cache, &format!("{market}/{name}"));
            let unnamed = unnamed(found, &directory, &covered);
            if unnamed.is_empty() {
                continue;
            }
            let id: Option<InstalledId> = format!("{name}@{market}").parse().ok();
            if let Some((id, wanted)) = id.as_ref().and_then(|id| covered.wanted.remove_entry(id)) {
                let marketplace = markets.of(found, &id).directory.clone();
                for (version, real) in unnamed {
                    let install = context.recorded(found, &id, real, wanted.record.clone());
                    let marketplace = marketplace.clone();
                    found.add(Install { version: Some(version), marketplace, ..install });
                }
                continue;
            }
            let recorded = id.as_ref().and_then(|id| covered.versions.get(id));
            let newest = recorded.into_iter().flatten().filter_map(|version| numbers(version)).max();
            let is_newer = |(version, _): &(String, PlacePath)| newest.is_some() && numbers(version) > newest;
            let (newer, older): (Vec<_>, Vec<_>) = unnamed.into_iter().partition(is_newer);
            for (version, real) in newer {
                if let Some(id) = &id {
                    add_newer(found, context, id, version, real);
                }
            }
            if !older.is_empty() {
                leftover(found, context, &directory, id.as_ref(), older.len());
            }
        }
    }
    for (id, wanted) in covered.wanted.into_iter().filter(|(_, wanted)| !wanted.is_reported) {
        missing(found, context, &id, wanted.record);
    }
}

/// Returns the versions in a directory of the cache that no row names.
fn unnamed(found: &mut Collector<'_>, directory: &str, covered: &Covered) -> Vec<(String, PlacePath)> {
    let versions = found.directories(directory).into_iter();
    let real = versions.filter_map(|version| {
        let real = found.machine.files.real(&join(directory, &version))?;
        Some((version, real))
    });
    real.filter(|(_, real)| !covered.places.contains(real)).collect()
}

/// Adds a version that is newer than those in the record. It does not load now, but can at the next start.
fn add_newer(
    found: &mut Collector<'_>,
    context: &Context,
    id: &InstalledId,
    version: String,
    real: PlacePath,
) {
    let message = format!("{} is newer than the recorded version, and no record names it", shown(&version));
    let help = "update the plugin with its host, or delete the directory";
    let problem = found.draft(InstallProblemKind::Newer, place(real.as_str(), ""), message, help);
    context.report(found, id, problem);
    let record = place(real.as_str(), "");
    let install = context.recorded(found, id, real, record);
    // The id switches the recorded version.
    let (state, switch) = (HostState::Off, HostSwitch::None);
    found.add(Install { version: Some(version), state, switch, ..install });
}

/// Returns the numbers of a version such as `1.10.0`, to compare versions. Other names of directories have no order.
fn numbers(version: &str) -> Option<Vec<u64>> {
    version.split('.').map(|part| part.parse().ok()).collect()
}

fn leftover(
    found: &mut Collector<'_>,
    context: &Context,
    directory: &str,
    id: Option<&InstalledId>,
    count: usize,
) {
    let message = match count {
        1 => "1 older version is still in the cache; running sessions may use it".to_owned(),
        count => format!("{count} older versions are still in the cache; running sessions may use them"),
    };
    let help = "end all sessions, then delete the directories that you do not need";
    let problem = found.draft(InstallProblemKind::Leftover, place(directory, ""), message, help);
    match id {
        Some(id) => context.report(found, id, problem),
        None => found.report(InstallProblem { state: HostState::Off, ..problem }),
    }
}
