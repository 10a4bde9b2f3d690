//! The selection of `plugward audit --changed`.

use camino::Utf8Path;
use plugward_loader::tree_lock::{AnyLockFile, LOCK_BYTES, LockEntry, LockFile};
use plugward_loader::{ByteRetention, CheckMode, LockState, PluginReport, Subject, Trust};

use crate::args::AuditArgs;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::stores;
use crate::text::count;
use crate::verbs::shared;

/// Returns the plugins in `--in` whose contents nobody agreed to: they are not in the lockfile that the command line
/// names, or else neither in PLUGINS.lock nor pinned.
///
/// A plugin without a digest is among them, so that it is reported.
pub(super) fn ids(args: &AuditArgs, host: &Host, out: &Out) -> Result<Vec<String>, Failure> {
    let lock = args.against.as_deref().map(read).transpose()?;
    let store = stores::pins(host, CheckMode::LookOnly, out)?;
    if let Some(failure) = store.failure() {
        return Err(shared::store_failure(&failure));
    }
    let roots = shared::roots(&args.dirs)?;
    let looked = shared::look(&roots, Some(Trust::Tofu), ByteRetention::Nothing, &args.finding, host, out)?;
    let is_agreed = |plugin: &PluginReport, subject: &Subject| {
        if let Some(lock) = &lock {
            return lock.entries().any(|(path, entry)| is_same(&subject.lock_entry(path), entry));
        }
        let is_pinned = store.pins().is_some_and(|pins| pins.agreed(&subject.observed).is_some());
        plugin.lock.state == LockState::Match || is_pinned
    };
    let plugins = &looked.report.plugins;
    let changed = plugins.iter().filter(|plugin| {
        looked.subjects.get(&plugin.place).is_none_or(|subject| !is_agreed(plugin, subject))
    });
    let ids: Vec<String> = changed.map(|plugin| host::display(&plugin.key)).collect();
    out.say(&format!("{} of {} changed", ids.len(), count(plugins.len(), "plugin")));
    Ok(ids)
}

/// Returns `true` if one of the listed trees is that of the plugin, and everything outside of it is the same.
fn is_same(own: &LockEntry, listed: &LockEntry) -> bool {
    own.tree.is_subset(&listed.tree)
        && (&own.shared, own.entry, own.closure) == (&listed.shared, listed.entry, listed.closure)
}

fn read(path: &Utf8Path) -> Result<LockFile, Failure> {
    let bytes = host::named_file(path, u64::try_from(LOCK_BYTES).unwrap_or(u64::MAX))?;
    match AnyLockFile::parse(&bytes) {
        Ok(AnyLockFile::Plugins(lock)) => Ok(lock),
        Ok(AnyLockFile::Json(_)) => Err(Failure::usage(format!("{path} is not a PLUGINS.lock"))
            .code("lock/weak-scheme")
            .help("its digests cover no shared files; name a lockfile that `plugward lock` wrote")),
        Err(error) => Err(Failure::store(format!("cannot read {path}: {error}")).code(error.code())),
    }
}
