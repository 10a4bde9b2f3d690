//! Where earlier checks looked, so that a plugin is found by its name. It saves typing and decides nothing.

use anyhow::{Context as _, anyhow};
use camino::{Utf8Path, Utf8PathBuf};
use plugward_loader::state_file::{LastGood, StateFile};
use serde::{Deserialize, Serialize};

use crate::host::{self, Host};

/// Most roots that are remembered.
const MOST: usize = 64;

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownRoots {
    version: u32,
    roots: Vec<String>,
}

fn known_file(host: &Host) -> anyhow::Result<StateFile> {
    let dir = host::own_folder(host.state_dir()?)?;
    StateFile::at(&dir, "roots.json", 1 << 20, host::owner(), LastGood::No)
        .map_err(|error| anyhow!("{error}"))
}

/// The folders of earlier checks, newest first. It only saves typing: whatever is wrong with it, the list is empty.
pub(crate) fn roots(host: &Host) -> Vec<Utf8PathBuf> {
    let read = || -> anyhow::Result<KnownRoots> {
        let Some(content) = known_file(host)?.read().map_err(|error| anyhow!("{error}"))? else {
            return Ok(KnownRoots::default());
        };
        serde_json::from_slice(content.bytes()).context("read roots.json")
    };
    read().map(|known| known.roots.into_iter().map(Utf8PathBuf::from).collect()).unwrap_or_default()
}

/// Remembers where a check looked, so that `explain` and `diff` find a plugin by its name.
pub(crate) fn remember(dirs: &[Utf8PathBuf], host: &Host) -> anyhow::Result<()> {
    let old = roots(host);
    if !old.is_empty() && with(dirs, &old) == old {
        // Nothing is held, written or synced for what is known.
        return Ok(());
    }
    let file = known_file(host)?;
    let hold = file.hold(std::time::Duration::from_secs(1)).map_err(|error| anyhow!("{error}"))?;
    let roots = with(dirs, &roots(host)).into_iter().map(String::from).collect();
    let bytes = serde_json::to_vec(&KnownRoots { version: 1, roots })?;
    hold.replace(&bytes).map_err(|error| anyhow!("{error}"))?;
    Ok(())
}

/// Puts folders in front of those that were there.
fn with(dirs: &[Utf8PathBuf], old: &[Utf8PathBuf]) -> Vec<Utf8PathBuf> {
    let mut all: Vec<Utf8PathBuf> = dirs.iter().filter_map(|dir| absolute(dir)).collect();
    for old in old {
        if !all.contains(old) {
            all.push(old.clone());
        }
    }
    all.truncate(MOST);
    all
}

fn absolute(dir: &Utf8Path) -> Option<Utf8PathBuf> {
    let path = std::path::absolute(dir).ok()?;
    Utf8PathBuf::from_path_buf(path).ok()
}
