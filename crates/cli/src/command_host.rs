//! What the verbs about command plugins share: settings, directories, the registry and revocations.

use camino::Utf8PathBuf;
use plugward_loader::policy::{SettingId, SettingKey, TrustPolicy};
use plugward_loader::registry::{
    CommandHost, CommandNames, CommandStore, Fetch, KeptRegistries, LoadedRegistry, LocalFetch,
    RegistryError, RegistryErrorKind, RegistryNote, SearchPath, SourceUrl, host_targets, is_command_id,
};
use plugward_loader::{Digest, Stores, ambient_authority};

use crate::access::LaunchRules;
use crate::diagnostic::Diagnostic;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::settings::Settings;
use crate::stores;

/// How long a change waits for another process, which may be downloading.
const WAIT: std::time::Duration = std::time::Duration::from_secs(60);

/// The start of a command plugin's name in the ledger, before its id.
const LEDGER_PREFIX: &str = "jp:";

/// Returns the name that a command plugin has in the ledger.
pub(crate) fn command_ledger_name(id: &str) -> String {
    format!("{LEDGER_PREFIX}{id}")
}

/// Returns the id of a command plugin: the text, or the rest of its name in the ledger.
pub(crate) fn command_id(text: &str) -> Option<&str> {
    Some(text.strip_prefix(LEDGER_PREFIX).unwrap_or(text)).filter(|id| is_command_id(id))
}

/// The settings and sources of this machine for command plugins.
pub(crate) struct CommandSetup {
    pub(crate) policy: TrustPolicy,
    stores: Stores,
    prefix: String,
    url: Option<SourceUrl>,
    targets: Vec<String>,
    pub(crate) path: SearchPath,
    pub(crate) launch: LaunchRules,
}

impl CommandSetup {
    /// Reads the settings that the user controls, and the revocations.
    pub(crate) fn open(host: &Host, out: &Out) -> Result<Self, Failure> {
        let settings = Settings::read(host)?;
        let policy = TrustPolicy::new(settings.layers.iter().cloned(), []);
        Self::with(policy, &settings, host, out)
    }

    /// Reads the settings for a directory: those of the user, and of the projects around it.
    pub(crate) fn of_project(project: Option<&Utf8PathBuf>, host: &Host, out: &Out) -> Result<Self, Failure> {
        let settings = Settings::read(host)?;
        let policy = crate::verbs::config::resolve(project, &settings, host)?;
        Self::with(policy, &settings, host, out)
    }

    fn with(policy: TrustPolicy, settings: &Settings, host: &Host, out: &Out) -> Result<Self, Failure> {
        let stores = stores::to_look(host, settings, out)?;
        if let Some(failure) = stores.pins.failure() {
            return Err(crate::verbs::shared::store_failure(&failure));
        }
        if let Some(reason) = stores.revocations.failure() {
            return Err(Failure::store(reason.message.as_str()).code(&reason.code).help(&reason.help));
        }
        let url = policy.registry_url().map(|text| SourceUrl::parse(&text));
        Ok(Self {
            url: url.transpose().map_err(|error| failure(&error))?,
            prefix: policy.command_prefix(),
            stores,
            launch: LaunchRules::new(settings, &policy),
            policy,
            targets: host_targets(),
            path: SearchPath::new(host::search_path(), ambient_authority()),
        })
    }

    /// Calls a function with the decisions of this host.
    pub(crate) fn with_host<T>(&self, call: impl FnOnce(&CommandHost<'_>) -> T) -> T {
        let rules = |id: &str| self.policy.command(id);
        let revoked = |names: &CommandNames<'_>, digest: &Digest| {
            let CommandNames { name, id, file } = names;
            let names = [command_ledger_name(id), (*id).to_owned(), (*name).to_owned(), (*file).to_owned()];
            self.stores.revocations.file_reason(&self.stores.pins, &names, digest)
        };
        call(&CommandHost {
            prefix: &self.prefix,
            registry: self.url.as_ref(),
            targets: &self.targets,
            path: &self.path,
            rules: &rules,
            revoked: &revoked,
        })
    }

    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns the configured URL, or fails.
    pub(crate) fn url(&self) -> Result<&SourceUrl, Failure> {
        self.url.as_ref().ok_or_else(|| failure(&RegistryErrorKind::NoRegistry.into()))
    }

    /// Returns the last good copy of the registry, without network.
    pub(crate) fn kept(&self, host: &Host) -> Result<Option<LoadedRegistry>, Failure> {
        let Some(url) = &self.url else { return Ok(None) };
        // A verb that only looks creates no directory.
        if !host.state_dir()?.is_dir() {
            return Ok(None);
        }
        let dir = host::own_directory(host.state_dir()?)?;
        KeptRegistries::new(&dir, host::owner(), WAIT).kept(url).map_err(|error| failure(&error))
    }

    /// Downloads the registry, or uses the last good copy and prints its age.
    pub(crate) fn fetched(
        &self,
        fetch: &dyn Fetch,
        host: &Host,
        out: &Out,
    ) -> Result<LoadedRegistry, Failure> {
        let (url, now) = (self.url()?, host::now()?);
        let dir = host::own_directory(host.state_dir()?)?;
        let loaded = KeptRegistries::new(&dir, host::owner(), WAIT)
            .refresh(url, fetch, now)
            .map_err(|error| failure(&error))?;
        if let Some(fault) = &loaded.fault {
            let age = now.unix_seconds().saturating_sub(loaded.fetched.unix_seconds());
            let title =
                format!("the registry cannot be read, so its copy from {} ago is used", duration(age));
            out.report(
                &Diagnostic::warning(title)
                    .code("registry/kept")
                    .note("reason", format!("{fault} ({})", fault.code()))
                    .help(&fault.help()),
            );
        }
        notes(loaded.registry.notes(), out);
        Ok(loaded)
    }
}

/// Returns a number of seconds in its largest unit.
fn duration(seconds: u64) -> String {
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")];
    let (length, unit) = units.into_iter().find(|(length, _)| seconds >= *length).unwrap_or((1, "second"));
    crate::text::count(usize::try_from(seconds / length).unwrap_or(usize::MAX), unit)
}

pub(crate) fn notes(notes: &[RegistryNote], out: &Out) {
    for note in notes {
        out.report(&Diagnostic::warning(note.to_string()).code(note.code()));
    }
}

/// Returns an error of the registry as the failure of a verb.
pub(crate) fn failure(error: &RegistryError) -> Failure {
    Failure::exiting(error.exit(), error.to_string()).code(error.code()).help(error.help())
}

/// Returns the place of the setting that an error is about, as `config.toml:7:1 (user)`.
pub(crate) fn origin(error: &RegistryError, policy: &TrustPolicy) -> Option<String> {
    let (id, row) = match error.kind() {
        RegistryErrorKind::Denied { id } => (id, SettingId::CommandRun),
        RegistryErrorKind::Checksum { id, .. } => (id, SettingId::CommandChecksum),
        _ => return None,
    };
    let found = policy.resolve(&SettingKey::named(row, id));
    let place = found.origin?;
    Some(format!("{}:{}:{} ({})", place.file, place.line, place.column, found.layer.as_str()))
}

fn store_path(host: &Host) -> Result<Utf8PathBuf, Failure> {
    Ok(host.data_dir()?.join("plugins/command"))
}

/// Opens the directory of installed command plugins, and creates it if it does not exist.
pub(crate) fn store(host: &Host) -> Result<CommandStore, Failure> {
    let dir = host::own_directory(&store_path(host)?)?;
    CommandStore::open(&dir, host::owner(), WAIT).map_err(|error| failure(&error))
}

/// Opens the directory of installed command plugins, or returns `None` if it does not exist.
pub(crate) fn store_to_look(host: &Host) -> Result<Option<CommandStore>, Failure> {
    match host.data_dir() {
        Ok(_) if store_path(host)?.is_dir() => store(host).map(Some),
        _ => Ok(None),
    }
}

/// Returns `true` if two texts mean one command plugin: the words of a name are joined in the id and the file name.
pub(crate) fn is_same_name(one: &str, two: &str) -> bool {
    one.replace(' ', "-").eq_ignore_ascii_case(&two.replace(' ', "-"))
}

/// Returns the name and the id of the command plugin with a name, id or file name, if it is installed, in the last good copy
/// of the registry, or on the search path.
pub(crate) fn named(text: &str, host: &Host, out: &Out) -> Result<Option<(String, String)>, Failure> {
    let setup = CommandSetup::open(host, out)?;
    let receipts = match store_to_look(host)? {
        Some(store) => store.receipts().map_err(|error| failure(&error))?,
        None => Vec::new(),
    };
    let kept = setup.kept(host)?;
    let listed = kept.iter().flat_map(|kept| kept.registry.entries());
    let listed = listed.map(|entry| (entry.name.clone(), entry.id.clone()));
    let on_path = setup.path.list(setup.prefix()).into_iter().map(|one| (one.name.clone(), one.name));
    let installed = receipts.into_iter().map(|receipt| (receipt.name, receipt.id));
    let text = text.strip_prefix("jp:").unwrap_or(text);
    let file = text.strip_prefix(setup.prefix()).and_then(|rest| rest.strip_prefix('-')).unwrap_or(text);
    let is_meant = |(name, id): &(String, String)| {
        [name, id].iter().any(|own| is_same_name(own, text) || is_same_name(own, file))
    };
    Ok(installed.chain(listed).chain(on_path).find(is_meant))
}

/// Returns the source of downloads.
pub(crate) fn fetcher() -> Result<Box<dyn Fetch>, Failure> {
    let local = LocalFetch::new(ambient_authority());
    #[cfg(feature = "net")]
    {
        use plugward_loader::registry::{HttpFetch, HttpTimeouts};
        let proxy = host::proxy();
        let fetch = HttpFetch::new(HttpTimeouts::standard(), proxy.as_deref(), local);
        Ok(Box::new(fetch.map_err(|error| failure(&error))?))
    }
    #[cfg(not(feature = "net"))]
    Ok(Box::new(local))
}
