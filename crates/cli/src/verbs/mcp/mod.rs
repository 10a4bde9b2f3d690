//! `plugward mcp`: starts MCP servers behind a proxy, and reviews and pins what they offer.

mod list;
mod proxy;
pub(super) mod server;
mod table;
mod tools;
mod wrap;

use std::ffi::OsString;
use std::sync::Arc;

use camino::Utf8Path;
use plugward_loader::manifest::MAIN_FILES;
use plugward_loader::pinstore::{Change, ChangeOutcome, McpOwner, TrustMode};
use plugward_loader::policy::TrustPolicy;
use plugward_loader::protocol::NewItemRule;
use plugward_loader::scanner::Rules;
use plugward_loader::{
    CheckMode, Digest, InstallRecords, McpServer, OfferAcceptance, OfferFailure, OfferJudge, OfferRules,
    OfferStore, OfferStoreError, PinStore, PluginKey,
};

use crate::args::{DiscoveryOptions, McpAcceptArgs, McpServerArgs, McpVerb, Verb};
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::settings::Settings;
use crate::stores;
use crate::verbs::{config, select, shared};
use plugward_loader::escape::line;

pub(crate) fn run(verb: &McpVerb, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    match verb {
        McpVerb::Run(args) => proxy::run(args, host, out),
        McpVerb::Tools(args) => tools::run(args, host, out),
        McpVerb::Accept(args) => accept(args, host, out),
        McpVerb::Forget(args) => forget(args, host, out),
        McpVerb::Wrap(args) => wrap::run(args, host, out),
    }
}

/// Answers the host of `mcp run` if the verb fails before it is called.
pub(crate) fn answer_failure(verb: &Verb, failure: &Failure) {
    if let Verb::Mcp { verb: McpVerb::Run(args) } = verb {
        proxy::refuse(&proxy::refusal(args, failure));
    }
}

/// Answers the host of `mcp run` if the arguments are wrong.
pub(crate) fn answer_usage(words: impl Iterator<Item = OsString>) {
    let words: Vec<OsString> = words.take_while(|word| word != "--").collect();
    if words.windows(2).any(|pair| matches!(pair, [first, second] if first == "mcp" && second == "run")) {
        proxy::refuse("the arguments are wrong; run: plugward mcp run --help");
    }
}

/// The settings for the offers of servers.
struct OfferSetup {
    policy: TrustPolicy,
    rules: Option<Rules>,
}

impl OfferSetup {
    /// Reads the settings of the user, and those of the project in the working directory, which can tighten them.
    fn read(settings: &Settings, host: &Host) -> Result<Self, Failure> {
        Ok(Self { policy: config::resolve(None, settings, host)?, rules: settings.rules(&[])? })
    }

    fn rules(&self) -> Result<OfferRules<'_>, Failure> {
        let new = match self.policy.trust() {
            TrustMode::Tofu => NewItemRule::Pin,
            TrustMode::Prompt => NewItemRule::Ask,
            TrustMode::Locked => NewItemRule::Refuse,
        };
        let scan = self.rules.as_ref().unwrap_or_else(|| Rules::builtin());
        Ok(OfferRules { scan, new, ask: self.policy.scan_ask(), now: host::now()? })
    }
}

/// Opens the pins, or fails if they cannot be read.
fn pins(host: &Host, out: &Out) -> Result<PinStore, Failure> {
    let store = stores::pins(host, CheckMode::Commit, out)?;
    store.failure().map_or(Ok(store), |failure| Err(shared::store_failure(&failure)))
}

/// Opens the texts of the offers of a server.
fn texts(server: &McpServer, host: &Host) -> Result<OfferStore, Failure> {
    let dir = host::own_directory(&host.state_dir()?.join("mcp")).map_err(Failure::of_store)?;
    OfferStore::at(&dir, host::owner(), &server.owner, &server.name)
        .map_err(|error| store_failure(&error, host))
}

/// Returns the server that a command names, without its command.
fn named(text: &str, host: &Host, out: &Out) -> Result<McpServer, Failure> {
    let (owner, name) = match text.rsplit_once('/') {
        None => (McpOwner::User, wrapped_name(text)?),
        Some((id, server)) => (McpOwner::Plugin(plugin(id, host, out)?.0), server),
    };
    Ok(McpServer {
        owner,
        name: name.to_owned(),
        shown: shared::quoted(text),
        command: Vec::new(),
        directory: String::new(),
    })
}

/// Finds a plugin that a command names.
fn plugin(id: &str, host: &Host, out: &Out) -> Result<(PluginKey, Arc<InstallRecords>), Failure> {
    require_plugin_directory(id)?;
    select::on_disk(id, &[], &DiscoveryOptions::default(), host, out)
}

/// Returns `true` for the directory of a plugin with a manifest or servers.
fn has_manifest(directory: &Utf8Path) -> bool {
    let mut files = MAIN_FILES.iter().map(|(_, file)| *file).chain([".mcp.json"]);
    files.any(|file| directory.join(file).is_file())
}

/// Refuses a directory that is not a plugin itself: a search inside it would visit all that it contains.
fn require_plugin_directory(id: &str) -> Result<(), Failure> {
    let Some(path) = select::path_of(id).filter(|path| path.is_dir()) else { return Ok(()) };
    if has_manifest(&path) {
        return Ok(());
    }
    let help = "name a wrapped server, or a server of a plugin as DIR/SERVER with the plugin's directory";
    Err(Failure::usage(format!("not the directory of a plugin: {}", line(id))).help(help))
}

/// Checks the name of a wrapped server. It is shown in errors of hosts, and a `/` would name a server of a plugin.
fn wrapped_name(name: &str) -> Result<&str, Failure> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if (1..=64).contains(&name.len()) && !name.starts_with('-') && name.bytes().all(is_plain) {
        return Ok(name);
    }
    Err(Failure::usage(format!("not a name of a server: {}", line(name)))
        .help("use at most 64 letters, digits, `.`, `_` and `-`"))
}

fn accept(args: &McpAcceptArgs, host: &Host, out: &Out) -> Result<u8, Failure> {
    let set: Digest = args.set.parse().map_err(|_not_a_digest| {
        Failure::usage(format!("not a digest: {}", line(&args.set)))
            .help("name it as `plugward mcp tools` prints it")
    })?;
    let settings = Settings::read(host)?;
    let setup = OfferSetup::read(&settings, host)?;
    let server = named(&args.server, host, out)?;
    let (mut pins, texts) = (pins(host, out)?, texts(&server, host)?);
    let mut judge = OfferJudge::new(server, &mut pins, texts, setup.rules()?);
    match judge.accept(set).map_err(|error| failure(&error, host))? {
        OfferAcceptance::Pinned => {
            out.say(&format!("Pinned {set} for {}.", line(&args.server)));
            Ok(0)
        }
        OfferAcceptance::Unknown => {
            Err(Failure::refused(format!("no offer of {} with this digest", line(&args.server)))
                .code("mcp/unknown-set")
                .help(format!("review what it offers: plugward mcp tools {}", shared::quoted(&args.server))))
        }
        OfferAcceptance::Part => Err(Failure::refused(format!(
            "{} was ended before it had listed everything that it offers",
            line(&args.server)
        ))
        .code("mcp/part")
        .help(format!("list and review all of it: plugward mcp tools {}", shared::quoted(&args.server)))),
        OfferAcceptance::Refused(findings) => {
            Err(dangers(&args.server, &findings).help("use another version of the server"))
        }
    }
}

fn forget(args: &McpServerArgs, host: &Host, out: &Out) -> Result<u8, Failure> {
    let McpServer { owner, name: server, .. } = named(&args.server, host, out)?;
    let mut pins = pins(host, out)?;
    let report = pins
        .commit(vec![Change::McpForget { owner, server }], host::now()?)
        .map_err(|error| shared::store_failure(&error))?;
    if report.outcomes.contains(&ChangeOutcome::Done) {
        out.say(&format!("Deleted the pins of {}.", line(&args.server)));
        return Ok(0);
    }
    Err(Failure::usage(format!("{} is not pinned", line(&args.server))).code("pin/none"))
}

fn dangers(server: &str, findings: &[(String, plugward_loader::Finding)]) -> Failure {
    let shown = findings.iter().map(|(label, one)| format!("{} ({})", line(label), one.rule));
    Failure::exiting(6, format!("the scan of the offer of {} found a danger", line(server)))
        .code("mcp/danger")
        .note("findings", shown.collect::<Vec<_>>().join(", "))
}

fn store_failure(error: &OfferStoreError, host: &Host) -> Failure {
    let failure = Failure::store(error.to_string()).code(error.code());
    match (error, host.state_dir()) {
        (OfferStoreError::State(error), _) => failure.help(error.help()),
        (OfferStoreError::Damaged { file, .. }, Ok(dir)) => {
            let path = dir.join("mcp").join(file);
            let (from, to) = (shared::quoted(path.as_str()), shared::quoted(&format!("{path}.damaged")));
            failure.help(format!("move the file away (the pins stay): mv {from} {to}"))
        }
        _ => failure,
    }
}

fn failure(error: &OfferFailure, host: &Host) -> Failure {
    match error {
        OfferFailure::Pins(failure) => shared::store_failure(failure),
        OfferFailure::Texts(error) => store_failure(error, host),
        other => Failure::internal(other.to_string()).code("mcp/not-pinned"),
    }
}
