//! `plugward run -- HOST ARGS…`: checks what a host would load, switches off what is refused, and becomes the host.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;

use camino::Utf8PathBuf;
use plugward_loader::installs::{
    HostInventory, HostRow, HostState, HostSwitch, Install, InstallProblem, InstallProblemKind, KnownHost,
};
use plugward_loader::{CalledName, Decision, PlacePath, PluginKind, PluginReport, Report};
use serde_json::{Value, json};

use crate::advice;
use crate::args::{CheckArgs, RunArgs};
use crate::diagnostic::Diagnostic;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::installed::{self, HostScope, ProjectScope};
use crate::out::Out;
use crate::places::PlacesUse;
use crate::report::{Detail, View};
use crate::settings::Settings;
use crate::trust_roots;
use crate::verbs::check::{Judgement, Target, judge};
use crate::verbs::shared;
use plugward_loader::escape::line;

pub(crate) fn run(args: &RunArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let (program, rest) = args.command.split_first().ok_or_else(|| Failure::usage("no host was named"))?;
    let settings = Settings::read(host)?;
    let row = startable(program)?;
    let known: Option<KnownHost> = row.id.parse().ok();
    let path = host::program(&row.program)?;
    host::refuse_loop(&row.program)?;
    let named = directory(known, rest);
    trust_roots::refuse_in(named.as_deref())?;
    let project = named.map_or(ProjectScope::Here, ProjectScope::Named);
    let state = host.state_dir()?.to_owned();
    let target = Target::installed(&HostScope {
        project: project.clone(),
        places: PlacesUse::Store(state.clone()),
        ..HostScope::default()
    })?;
    let target = only(row, project, PlacesUse::Compare(state), target)?;
    let check = CheckArgs { trust: args.trust, ..CheckArgs::default() };
    let Judgement { report, interrupted } = judge(&check, &target, &settings, host, out)?;
    if interrupted {
        return Ok(130);
    }
    let is_refused = report.plugins.iter().any(|one| one.on && one.decision != Decision::Load);
    if args.all_or_nothing && is_refused {
        return Ok(stop(row, &report, "--all-or-nothing", "a plugin does not load", out));
    }
    let switches = match Switches::of(row, known, &target.inventories, &report) {
        Ok(switches) => switches,
        Err(Blocked { what, why }) => return Ok(stop(row, &report, &what, why, out)),
    };
    for one in &switches.off {
        out.report(&warning(one));
    }
    for option in unchecked(known, rest) {
        out.report(
            &Diagnostic::warning(format!("what {option} names is not checked"))
                .help("check it before: plugward check DIR"),
        );
    }
    if !switches.off.is_empty() && args.all_or_nothing {
        return Ok(stop(row, &report, "--all-or-nothing", "a plugin does not load", out));
    }
    let arguments = switches.arguments(known, rest);
    let arguments = match arguments {
        Ok(arguments) => arguments,
        Err(Blocked { what, why }) => return Ok(stop(row, &report, &what, why, out)),
    };
    for warning in host.warnings.take() {
        out.report(&warning);
    }
    Err(start(&path, &arguments))
}

/// Returns the host with the name of a program.
fn startable(program: &OsStr) -> Result<&'static HostRow, Failure> {
    let name = program.to_string_lossy();
    let rows = installed::hosts()?.rows();
    let found =
        rows.iter().find(|row| row.program == name).or_else(|| rows.iter().find(|row| row.id == name));
    match found {
        Some(row) if row.evidence.is_tested() => Ok(row),
        Some(row) => {
            Err(Failure::usage(format!("cannot start {}: its places were not tested", line(&row.name)))
                .help("check it with `plugward check`, then start it yourself"))
        }
        None => {
            let all: Vec<&str> =
                rows.iter().filter(|row| row.evidence.is_tested()).map(|row| row.program.as_str()).collect();
            let near = plugward_loader::nearest(&name, all.iter().copied());
            let help = near.map_or_else(
                || format!("use one of {}", all.join(", ")),
                |near| format!("did you mean {near}?"),
            );
            Err(Failure::usage(format!("cannot start this host: {}", line(&name))).help(help))
        }
    }
}

/// Returns `true` for a host that can be told which plugins not to load. Another one starts only if everything loads.
const fn has_switches(known: Option<KnownHost>) -> bool {
    matches!(known, Some(KnownHost::Claude | KnownHost::Codex | KnownHost::Gemini))
}

/// Returns the directory that the arguments name as the project of a session.
fn directory(known: Option<KnownHost>, rest: &[OsString]) -> Option<Utf8PathBuf> {
    let words: Vec<String> = rest.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let attached = |word: &String| {
        let value =
            word.strip_prefix("--cd=").or_else(|| word.strip_prefix("-C").filter(|dir| !dir.is_empty()));
        value.map(|dir| Utf8PathBuf::from(dir.strip_prefix('=').unwrap_or(dir)))
    };
    let named =
        words.windows(2).filter(|pair| pair.first().is_some_and(|word| word == "-C" || word == "--cd"));
    let named = named.filter_map(<[String]>::last).map(Utf8PathBuf::from);
    // The last of several counts.
    named.chain(words.iter().filter_map(attached)).last().filter(|_| known == Some(KnownHost::Codex))
}

/// Leaves out what other hosts would load.
fn only(
    row: &'static HostRow,
    project: ProjectScope,
    places: PlacesUse,
    target: Target,
) -> Result<Target, Failure> {
    if target.inventories.iter().any(|one| one.host.as_str() == row.id) {
        return Target::installed(&HostScope { hosts: vec![row], project, places });
    }
    // A host without a home directory has no plugins yet.
    Ok(Target { roots: Vec::new(), inventories: Vec::new(), ..target })
}

/// Why the host is not started.
struct Blocked {
    what: String,
    why: &'static str,
}

/// What the host must not load.
#[derive(Default)]
struct Switches {
    /// The ids of plugins that do not load, or that are not on disk yet.
    ids: BTreeSet<String>,
    /// The names of the plugins that load, for a host that can only be told what to load.
    loads: BTreeSet<String>,
    /// The names of all plugins in lower case, for the same host. A name that two have would choose both.
    names: BTreeSet<String>,
    /// The ids of plugins that do not load, and that the settings disable already.
    off_ids: BTreeSet<String>,
    /// The plugins that are switched off, as text.
    off: Vec<SwitchedOff>,
}

struct SwitchedOff {
    name: String,
    why: String,
    /// What to do about it, one instruction per line.
    help: String,
}

impl Switches {
    /// Decides how each plugin that does not load is kept from loading.
    fn of(
        row: &HostRow,
        known: Option<KnownHost>,
        inventories: &[HostInventory],
        report: &Report,
    ) -> Result<Self, Blocked> {
        let mut switches = Self::default();
        let own = || inventories.iter().filter(|one| one.host.as_str() == row.id);
        let installs: BTreeSet<&PlacePath> =
            own().flat_map(|one| &one.installs).map(Install::address).collect();
        let is_problem = |plugin: &PluginReport| {
            plugin
                .reasons
                .iter()
                .all(|one| matches!(&*one.code, "install/id" | "install/row" | "install/missing"))
        };
        let refused = report.plugins.iter().filter(|one| one.on && one.decision != Decision::Load);
        for plugin in refused {
            // A pinned file that became a symlink has no install any more, but what it leads to has.
            if !installs.contains(&plugin.place) && !is_problem(plugin) {
                return Err(blocked(
                    &host::display(&plugin.key),
                    "refused, and the host has no switch for it",
                ));
            }
        }
        for inventory in own() {
            for problem in &inventory.problems {
                if problem.kind == InstallProblemKind::NotRead && !has_switches(known) {
                    return Err(blocked(&problem.record.file, "a place of the host is not read"));
                }
                switches.problem(problem)?;
            }
            for install in &inventory.installs {
                let found = report.plugins.iter().find(|plugin| plugin.place == *install.address());
                match found {
                    Some(plugin) => switches.plugin(known, install, plugin)?,
                    None if install.state == HostState::Off => {}
                    // The settings leave it out, so it was not checked.
                    None => match &install.switch {
                        HostSwitch::Id(id) => {
                            let name = host::display(&install.key);
                            switches.ids.insert(id.clone());
                            let key = shared::quoted(&name);
                            switches.off.push(SwitchedOff {
                                why: "left out by your settings".to_owned(),
                                help: format!("see what decided: plugward explain {key}"),
                                name,
                            });
                        }
                        HostSwitch::ManifestName | HostSwitch::None => {
                            return Err(blocked(install.address().as_str(), "not checked"));
                        }
                    },
                }
            }
        }
        Ok(switches)
    }

    fn problem(&mut self, problem: &InstallProblem) -> Result<(), Blocked> {
        let name = problem.key.as_ref().map_or_else(|| problem.record.file.clone(), ToString::to_string);
        match (problem.kind, &problem.switch) {
            (
                InstallProblemKind::Leftover
                | InstallProblemKind::Newer
                | InstallProblemKind::NotRead
                | InstallProblemKind::NotJudged
                | InstallProblemKind::Loosens,
                _,
            ) => Ok(()),
            (InstallProblemKind::Missing, switch) if problem.state == HostState::Off => {
                if let HostSwitch::Id(id) = switch {
                    self.off_ids.insert(id.clone());
                }
                Ok(())
            }
            // The host would fetch it at the start, after this check.
            (InstallProblemKind::Missing, HostSwitch::Id(id)) => {
                self.ids.insert(id.clone());
                let help = "install the plugin without plugward, then run: plugward check".to_owned();
                self.off.push(SwitchedOff { name, why: "not on disk".to_owned(), help });
                Ok(())
            }
            (InstallProblemKind::Missing, _) => {
                Err(blocked(&name, "not on disk, and the host has no switch for it"))
            }
            (InstallProblemKind::Id | InstallProblemKind::Row, HostSwitch::Id(id)) => {
                self.ids.insert(id.clone());
                let (why, help) = (problem.kind.code().to_owned(), problem.help.clone());
                self.off.push(SwitchedOff { name, why, help });
                Ok(())
            }
            (InstallProblemKind::Unreadable | InstallProblemKind::Id | InstallProblemKind::Row, _) => {
                Err(blocked(&name, "a record of the host cannot be read"))
            }
        }
    }

    fn plugin(
        &mut self,
        known: Option<KnownHost>,
        install: &Install,
        plugin: &PluginReport,
    ) -> Result<(), Blocked> {
        let name = host::display(&plugin.key);
        let is_on = install.state == HostState::On;
        let loads = plugin.decision == Decision::Load;
        let is_extension = known == Some(KnownHost::Gemini) && plugin.kind == PluginKind::Plugin;
        if is_extension {
            match name_for(plugin, "gemini") {
                // Gemini CLI compares names without case, and a name chooses every extension that has it.
                Some(own) if own.eq_ignore_ascii_case("none") || !self.names.insert(own.to_lowercase()) => {
                    return Err(blocked(&name, "another extension has the same name"));
                }
                Some(own) if loads && is_on => _ = self.loads.insert(own.to_owned()),
                // Without a manifest for Gemini CLI, there is nothing to load.
                None if !loads && is_on => {
                    return Err(blocked(&name, "the name that the host gives it is not known"));
                }
                Some(_) | None => {}
            }
        }
        if loads {
            return Ok(());
        }
        let id = match &install.switch {
            HostSwitch::Id(id) => id.clone(),
            HostSwitch::ManifestName => match name_for(plugin, known.map_or("", KnownHost::as_str)) {
                Some(own) if known == Some(KnownHost::Claude) => format!("{own}@skills-dir"),
                Some(own) => own.to_owned(),
                // A manifest that plugward refuses can have a name for the host.
                None => return Err(blocked(&name, "the host switches it off by a name that is not known")),
            },
            HostSwitch::None if is_on => {
                return Err(blocked(&name, "refused, and the host has no switch for it"));
            }
            HostSwitch::None => return Ok(()),
        };
        if !is_on {
            self.off_ids.insert(id);
            return Ok(());
        }
        let commands = shared::commands(plugin, "", None);
        let help = advice::worst(plugin).map(|reason| advice::help(plugin, reason, &commands));
        self.ids.insert(id);
        self.off.push(SwitchedOff { name, why: advice::codes(plugin), help: help.unwrap_or_default() });
        Ok(())
    }

    /// Returns the arguments of the host with the switches in front.
    fn arguments(&self, known: Option<KnownHost>, rest: &[OsString]) -> Result<Vec<OsString>, Blocked> {
        let has = |flag: &str| {
            let with_value = format!("{flag}=");
            rest.iter().any(|word| word == flag || word.to_string_lossy().starts_with(&with_value))
        };
        // Another choice of settings files can turn on what is off here.
        let chooses = has("--setting-sources");
        let mut ids = self.ids.clone();
        let takes_settings = known == Some(KnownHost::Claude) && has("--settings");
        if !takes_settings || chooses {
            ids.extend(self.off_ids.iter().cloned());
        }
        if ids.is_empty() || (known == Some(KnownHost::Gemini) && self.ids.is_empty()) {
            return Ok(rest.to_vec());
        }
        let mut arguments: Vec<OsString> = Vec::new();
        match known {
            Some(KnownHost::Claude) => {
                if takes_settings {
                    return Err(blocked(
                        "--settings",
                        "the host takes this option once, and plugward needs it to switch off what is refused",
                    ));
                }
                let off: BTreeMap<&String, Value> = ids.iter().map(|id| (id, json!(false))).collect();
                arguments.extend(["--settings".into(), json!({ "enabledPlugins": off }).to_string().into()]);
            }
            Some(KnownHost::Codex) => {
                // The last value of the key counts, so it could enable again what is refused.
                if configures_plugins(rest) {
                    return Err(blocked("-c plugins", "the arguments configure plugins, and one is refused"));
                }
                let off: Vec<String> =
                    ids.iter().map(|id| format!("{}={{enabled=false}}", Value::from(id.as_str()))).collect();
                arguments.extend(["-c".into(), format!("plugins={{{}}}", off.join(",")).into()]);
            }
            _ => {
                if has("--extensions") || has("--e") || rest.iter().any(|word| is_short_option(word, 'e')) {
                    return Err(blocked("-e", "the arguments choose extensions, and one is refused"));
                }
                let loads: Vec<&str> = self.loads.iter().map(String::as_str).collect();
                let names = if loads.is_empty() { vec!["none"] } else { loads };
                arguments.extend(names.into_iter().flat_map(|name| [OsString::from("-e"), name.into()]));
            }
        }
        arguments.extend(rest.iter().cloned());
        Ok(arguments)
    }
}

/// Returns the name in the manifest that a host reads.
fn name_for<'p>(plugin: &'p PluginReport, dialect: &str) -> Option<&'p str> {
    plugin.called.iter().find(|called| called.dialect() == dialect).map(CalledName::name)
}

/// Returns `true` for a word such as `-e` or `-ye`, in which several short options share a dash.
fn is_short_option(word: &OsStr, option: char) -> bool {
    let word = word.to_string_lossy();
    word.strip_prefix('-').is_some_and(|rest| {
        let letters: Vec<char> = rest.chars().take_while(char::is_ascii_alphabetic).collect();
        !rest.starts_with('-') && letters.contains(&option)
    })
}

/// Returns `true` if arguments of Codex set the key `plugins`, or a key below it.
fn configures_plugins(rest: &[OsString]) -> bool {
    let is_plugins = |value: &str| {
        let key = value.trim_start().strip_prefix("plugins").map(str::trim_start);
        key.is_some_and(|next| next.starts_with(['=', '.']))
    };
    let mut is_value = false;
    rest.iter().any(|word| {
        let word = word.to_string_lossy();
        let attached = word.strip_prefix("--config=").or_else(|| word.strip_prefix("-c"));
        let value = if is_value { Some(&*word) } else { attached };
        let value = value.map(|value| value.strip_prefix('=').unwrap_or(value));
        is_value = !is_value && (word == "-c" || word == "--config");
        value.is_some_and(is_plugins)
    })
}

/// Returns the options with which the user adds plugins, servers or directories for this session.
fn unchecked(known: Option<KnownHost>, rest: &[OsString]) -> Vec<&'static str> {
    let options: &[&'static str] = match known {
        Some(KnownHost::Claude) => &["--plugin-dir", "--add-dir", "--mcp-config", "--settings", "--agents"],
        Some(KnownHost::Gemini | KnownHost::Qwen) => &["--include-directories"],
        Some(KnownHost::Codex) => &["--add-dir", "--config", "-c"],
        Some(KnownHost::Copilot) => &["--add-dir", "--additional-mcp-config", "--plugin-dir"],
        Some(KnownHost::Pi) => &["--extension", "-e", "--skill"],
        _ => &[],
    };
    let given = |option: &&&str| {
        let with_value = format!("{option}=");
        rest.iter().any(|word| word == **option || word.to_string_lossy().starts_with(&with_value))
    };
    options.iter().filter(given).copied().collect()
}

fn blocked(what: &str, why: &'static str) -> Blocked {
    Blocked { what: what.to_owned(), why }
}

fn warning(one: &SwitchedOff) -> Diagnostic {
    let SwitchedOff { name, why, help } = one;
    Diagnostic::warning(format!("{} does not load in this session: {why}", line(name))).help(help)
}

/// Reports that nothing was started, and returns the exit code of the check.
fn stop(row: &HostRow, report: &Report, what: &str, why: &str, out: &Out) -> u8 {
    let commands = |plugin: &PluginReport| shared::commands(plugin, "", None);
    let view = View { width: out.width, detail: Detail::Brief, commands: &commands };
    for block in crate::report::refusals(report, &view) {
        out.report(&block);
    }
    let error = Diagnostic::error(format!("{} was not started: {}: {why}", line(&row.name), line(what)));
    let refused = report.plugins.iter().find(|one| one.on && one.decision != Decision::Load);
    out.report(&match refused {
        Some(plugin) => error.help(&commands(plugin).explain()),
        None => error.help("plugward check"),
    });
    if report.exit == 0 { 4 } else { report.exit }
}

/// Replaces this program with the host. It returns only if that fails.
fn start(path: &camino::Utf8Path, arguments: &[OsString]) -> Failure {
    #[expect(
        clippy::disallowed_methods,
        reason = "the host that the user named, after its plugins were checked"
    )]
    let error = std::process::Command::new(path)
        .args(arguments)
        // Python would write bytecode into the plugins, which the next check would report as a change.
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env(host::STARTED, std::process::id().to_string())
        .exec();
    Failure::internal(format!("cannot start {path}: {error}"))
}
