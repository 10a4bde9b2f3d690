//! `plugward install`, `update` and `remove`: changes the installed command plugins.

use plugward_loader::registry::{InstallConsent, Registry, RegistryError, RegistryErrorKind};

use crate::args::{CommandNameArgs, UpdateArgs};
use crate::command_host::{self, CommandSetup, failure};
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::prompt;
use crate::text::count;
use crate::verbs::shared::quoted;
use plugward_loader::escape::line;

pub(crate) fn install(args: &CommandNameArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let setup = CommandSetup::open(host, out)?;
    let fetch = command_host::fetcher()?;
    let loaded = setup.fetched(&*fetch, host, out)?;
    let (store, now, name) = (command_host::store(host)?, host::now()?, args.name.join(" "));
    let install =
        |consent| setup.with_host(|of| store.install(of, &loaded.registry, &name, consent, &*fetch, now));
    let installed = match install(InstallConsent::NotAsked) {
        Err(error) if host.interactive && matches!(error.kind(), RegistryErrorKind::Ask { .. }) => {
            let explanation = explanation(&loaded.registry, &name);
            if !prompt::confirm(&explanation, "Install it?", host, out)? {
                return Err(failure(&error));
            }
            install(InstallConsent::Given)
        }
        other => other,
    };
    let installed = installed.map_err(|error| {
        // Several words are one name.
        let are_names =
            args.name.len() > 1 && args.name.iter().all(|word| loaded.registry.named(word).is_some());
        match error.kind() {
            RegistryErrorKind::Unknown { .. } if are_names => {
                let each = args.name.iter().map(|word| format!("plugward install {}", quoted(word)));
                let each = each.collect::<Vec<_>>().join("; ");
                Failure::exiting(error.exit(), error.to_string())
                    .code(error.code())
                    .help(format!("install each by itself: {each}"))
            }
            _ => explained(&error, &setup),
        }
    })?;
    out.result(&format!("Installed {} as {}.\n", line(&installed.name), line(&installed.file)))?;
    out.result(&format!("  sha256:{}\n", installed.digest.unwrap_or_default()))?;
    Ok(0)
}

/// Returns what a user has to know before a plugin of a registry is installed.
pub(crate) fn explanation(registry: &Registry, name: &str) -> String {
    let Some(entry) = registry.named(name) else { return String::new() };
    let repository = entry.repository.as_ref().map(|url| format!(" Its repository is {}.", line(url)));
    format!(
        "{} is {} official plugin of {}: {}.{}",
        line(&entry.name),
        if entry.official { "an" } else { "not an" },
        line(registry.url().as_str()),
        line(&entry.description),
        repository.unwrap_or_default()
    )
}

/// Returns an error as a failure, with the place of the setting that it is about.
pub(crate) fn explained(error: &RegistryError, setup: &CommandSetup) -> Failure {
    let shown = failure(error);
    match command_host::origin(error, &setup.policy) {
        Some(origin) => shown.note("set in", origin),
        None => shown,
    }
}

pub(crate) fn update(args: &UpdateArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let setup = CommandSetup::open(host, out)?;
    let fetch = command_host::fetcher()?;
    let registry = setup.fetched(&*fetch, host, out)?.registry;
    let (store, now) = (command_host::store(host)?, host::now()?);
    let named = (!args.name.is_empty()).then(|| args.name.join(" "));
    let updates = setup
        .with_host(|of| store.outdated(of, &registry, named.as_deref()))
        .map_err(|error| failure(&error))?;
    let mut worst = 0;
    for update in &updates {
        // One plugin that cannot be updated does not stop the others.
        let update = match update {
            Ok(update) => update,
            Err(error) => {
                worst = worse(worst, complain(error, &setup, out));
                continue;
            }
        };
        let name = line(&update.name);
        if !args.apply {
            out.result(&format!("{name}\n  from sha256:{}\n  to   {}\n", update.from, update.to))?;
            continue;
        }
        match setup.with_host(|of| store.update(of, &registry, &update.id, &*fetch, now)) {
            Ok(_) => out.result(&format!("Updated {name} to {}.\n", update.to))?,
            Err(error) => worst = worse(worst, complain(&error, &setup, out)),
        }
    }
    let available = updates.iter().filter(|update| update.is_ok()).count();
    if updates.is_empty() {
        out.result("Everything is up to date.\n")?;
    } else if available > 0 && !args.apply {
        let name = named.as_deref().map(|name| format!("{} ", quoted(name))).unwrap_or_default();
        let text = count(available, "update");
        out.result(&format!("{text}. To install: plugward update {name}--apply\n"))?;
    }
    Ok(worst)
}

/// Prints an error of one of several plugins, and returns its exit code.
fn complain(error: &RegistryError, setup: &CommandSetup, out: &Out) -> u8 {
    let shown = explained(error, setup);
    out.complain(shown.render(out.width).trim_end());
    shown.exit()
}

/// Returns the exit code that comes first in 7, 4, 6, 5, 2, 1, 3.
fn worse(one: u8, two: u8) -> u8 {
    let order = [7, 4, 6, 5, 2, 1, 3];
    order.into_iter().find(|code| *code == one || *code == two).unwrap_or(0)
}

pub(crate) fn remove(args: &CommandNameArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let setup = CommandSetup::open(host, out)?;
    let name = args.name.join(" ");
    let nothing = || RegistryErrorKind::NothingToRemove { name: name.clone(), installed: Vec::new() }.into();
    let store = command_host::store_to_look(host)?.ok_or_else(|| failure(&nothing()))?;
    let removed = setup.with_host(|of| store.remove(of, &name)).map_err(|error| failure(&error))?;
    out.result(&format!(
        "Removed {} ({}). Its settings are kept.\n",
        line(&removed.name),
        line(&removed.file)
    ))?;
    Ok(0)
}
