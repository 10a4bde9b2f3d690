//! Finds the command plugin that a start is about, and asks or installs it first.

use std::fs::File;

use camino::Utf8Path;
use plugward_loader::Digest;
use plugward_loader::escape::line;
use plugward_loader::registry::{
    CommandSource, FoundCommand, InstallConsent, LoadedRegistry, RegistryError, RegistryErrorKind,
    RunDecision,
};

use crate::command_host::{self, CommandSetup};
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::prompt;
use crate::verbs::install::{explained, explanation};

/// A plugin that may start: the settings allow it, or the user agreed.
pub(super) struct PluginStart {
    pub(super) name: String,
    pub(super) id: String,
    pub(super) file: String,
    pub(super) digest: Digest,
    pub(super) handle: File,
}

impl PluginStart {
    /// Finds the plugin, and asks for consent or installs it as the settings require.
    pub(super) fn ready(
        setup: &CommandSetup,
        words: &[&str],
        host: &Host,
        out: &Out,
    ) -> Result<Self, Failure> {
        let mut kept = setup.kept(host)?;
        let mut found = find(setup, kept.as_ref(), words, host)?;
        let is_unknown =
            matches!(found.reason.as_ref().map(RegistryError::kind), Some(RegistryErrorKind::Unknown { .. }));
        // A configured registry that was never read can know the name.
        if is_unknown && kept.is_none() && setup.url().is_ok() {
            let loaded = setup.fetched(&*command_host::fetcher()?, host, out)?;
            found = find(setup, Some(&loaded), words, host)?;
            kept = Some(loaded);
        }
        command_host::notes(&found.notes, out);
        let consent = match (found.decision, &found.reason) {
            (RunDecision::Run | RunDecision::Install, None) => InstallConsent::NotAsked,
            (RunDecision::Ask, Some(reason)) => {
                if !agree(&found, kept.as_ref(), host, out)? {
                    return Err(command_host::failure(reason));
                }
                InstallConsent::Given
            }
            (_, reason) => return Err(refused(reason.as_ref(), setup)),
        };
        if found.source != CommandSource::Registry {
            return Self::of(found);
        }
        let fetch = command_host::fetcher()?;
        let loaded = setup.fetched(&*fetch, host, out)?;
        let (store, now) = (command_host::store(host)?, host::now()?);
        let id = found.id.as_deref().unwrap_or(&found.name);
        let installed = setup.with_host(|of| store.install(of, &loaded.registry, id, consent, &*fetch, now));
        let installed = installed.map_err(|error| explained(&error, setup))?;
        out.say(&format!("Installed {} as {}.", line(&installed.name), line(&installed.file)));
        let again = find(setup, Some(&loaded), words, host)?;
        match again.decision {
            RunDecision::Run => Self::of(again),
            // The question named this plugin and covered the installation and the start.
            RunDecision::Ask if consent == InstallConsent::Given && again.id == found.id => Self::of(again),
            _ => Err(refused(again.reason.as_ref(), setup)),
        }
    }

    fn of(found: FoundCommand) -> Result<Self, Failure> {
        let FoundCommand {
            name,
            id: Some(id),
            file: Some(file),
            digest: Some(digest),
            handle: Some(handle),
            ..
        } = found
        else {
            return Err(Failure::internal("a command plugin without a verified file"));
        };
        Ok(Self { name, id, file, digest, handle })
    }
}

fn find(
    setup: &CommandSetup,
    registry: Option<&LoadedRegistry>,
    words: &[&str],
    host: &Host,
) -> Result<FoundCommand, Failure> {
    let store = command_host::store_to_look(host)?;
    let registry = registry.map(|loaded| &loaded.registry);
    let found = setup.with_host(|of| of.find(store.as_ref(), registry, words));
    found.map_err(|error| command_host::failure(&error))
}

/// Asks whether the plugin may run this time. The answer is not stored. Without a terminal, nobody agrees.
pub(crate) fn agree(
    found: &FoundCommand,
    registry: Option<&LoadedRegistry>,
    host: &Host,
    out: &Out,
) -> Result<bool, Failure> {
    if !host.interactive {
        return Ok(false);
    }
    let listed = registry.filter(|_| found.source == CommandSource::Registry);
    let (text, question) = if let Some(loaded) = listed {
        (explanation(&loaded.registry, &found.name), "May it be installed and run?")
    } else {
        let directory = Utf8Path::new(found.directory.as_deref().unwrap_or_default());
        let file = directory.join(found.file.as_deref().unwrap_or_default());
        let digest = found.digest.map(|digest| digest.to_string()).unwrap_or_default();
        (format!("{} is {} ({digest}).", line(&found.name), line(file.as_str())), "May it run this time?")
    };
    let text = format!("{text} It runs with your access to files, connections and processes.");
    prompt::confirm(&text, question, host, out)
}

fn refused(reason: Option<&RegistryError>, setup: &CommandSetup) -> Failure {
    reason.map_or_else(|| Failure::usage("the plugin cannot run"), |reason| explained(reason, setup))
}
