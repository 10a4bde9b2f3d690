//! `plugward hook fire`: checks the plugins as `check` does, and runs the hooks of one event.

use std::collections::BTreeSet;
use std::io::{self, Read as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context as _;
use camino::Utf8PathBuf;
use plugward_loader::capability::{AnyScope, RawScope, ScopeError, UseOutcome, Workflow};
use plugward_loader::hook_events::{
    Answer, AskUntilVerdict, Dispatcher, Event, EventClass, FireContext, GateCall, HookReport, HookServices,
    HostSession, Laundered, Nesting, Payloads, PermissionRule, Plan, PlanBuilder, RawOutput, RefusedSource,
    Start, StepReport, read_payload, read_session,
};
use plugward_loader::redact::{
    Firewall, OutputContent, Raw, Redacted, RuleSelection, SafeProvider, Settings as RedactSettings,
};
use plugward_loader::{
    CheckMode, DeclaredModules, Grants, HookPlugins, Host as Sides, NoPerson, PinStatus, PluginKey,
    PluginReport, Record, Stores, Trust, Weight, load, record_exposures, record_laundered,
};
use serde::Serialize;
use serde_json::Value;

use super::model::ReplayedModel;
use super::start::{HookStarter, running};
use super::{add_files, event_of, need_source, notes, user_file_is_refused};
use crate::access::LaunchRules;
use crate::args::{FireFormat, HookFireArgs, PermitArg};
use crate::diagnostic::Diagnostic;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::json;
use crate::out::Out;
use crate::output_file;
use crate::progress::Progress;
use crate::settings::{RawGrant, Settings};
use crate::verbs::shared;
use crate::{starts, stores};
use plugward_loader::escape::line;

/// The most bytes of a payload.
const PAYLOAD: u64 = 16 << 20;

pub(super) fn run(args: &HookFireArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let FireFormat::Json = args.format;
    let event = event_of(&args.event)?;
    need_source(&args.sources)?;
    let settings = Settings::read(host)?;
    let mut builder = Plan::builder(settings.raw);
    add_files(&mut builder, &args.sources)?;
    let files = builder.clone().build();
    if user_file_is_refused(&files) {
        out.complain(notes(&files, &args.sources, out.width).trim_matches('\n'));
        return Ok(2);
    }
    let model = args.replies.as_deref().map(ReplayedModel::read).transpose()?.unwrap_or_default();
    let (payload, told) = payload(event)?;
    // A record that cannot be written stops the run before any hook starts.
    let prepare = |path| output_file::prepare(path).with_context(|| format!("cannot write {path}"));
    let requests = args.record.as_deref().map(prepare).transpose()?;
    let at = context(told)?;
    let mut session = FireSession::default();
    if !args.sources.dirs.is_empty() {
        session.load(args, &settings, &mut builder, host, out)?;
    }
    let plan = builder.build().only(event);
    let notes = notes(&plan, &args.sources, out.width);
    if !notes.is_empty() {
        out.say(notes.trim_matches('\n'));
    }
    if settings.raw == RawOutput::All {
        session.open_record(host)?;
    }
    let plan = match session.seal(plan, &settings, host, out) {
        Ok(plan) => plan,
        Err(failure) => {
            session.close(host, None, out)?;
            return Err(failure);
        }
    };
    let answered = session.run(args, payload, &at, plan, &model);
    // The hooks have ended. An interrupt must not kill a process group whose id the system has reused.
    *running() = 0;
    let closed = session.close(host, answered.as_ref().ok(), out);
    let answered = answered?;
    let unrecorded = session.starter.finish(out);
    if let Some(failure) = &unrecorded {
        out.complain(starts::not_recorded(failure).render(out.width).trim_end());
    }
    let code = match answered.hooks.answer {
        // Without the stores, hooks of plugins are missing from the answer, so the failure takes precedence.
        _ if session.exit == Weight::Store.exit() || answered.is_unrecorded() || unrecorded.is_some() => {
            Weight::Store.exit()
        }
        Answer::Skip | Answer::Allow => 0,
        Answer::Ask | Answer::Defer => 3,
        Answer::Deny => 5,
    };
    if model.is_used_up() {
        let note = Diagnostic::note_of("a hook requested more replies of the model than there are");
        out.report(&note.help("add a line to the file of --replies"));
    }
    let mut written = out.result(&json::render(&answered.report())?);
    if let Some(output) = requests {
        written = written.and(output.write(model.requests().as_bytes()));
    }
    closed?;
    Ok(match written {
        Ok(()) => code,
        Err(error) => {
            // A deny stays a deny if its report cannot be written.
            crate::write_failed(&error);
            crate::with_failed_write(code)
        }
    })
}

/// Reads the payload, and what it says about the session of the host, from standard input, before anything runs.
fn payload(event: Event) -> Result<(Payloads, HostSession), Failure> {
    let mut bytes = Vec::new();
    io::stdin().lock().take(PAYLOAD.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        let example = match (event.is_tool_event(), event.class()) {
            (true, EventClass::Content) => {
                r#"{"tool":"Bash","args":{"command":"ls"},"result":{"output":"src"}}"#
            }
            (true, _) => r#"{"tool":"Bash","args":{"command":"ls"}}"#,
            (false, _) => r#"{"data":{}}"#,
        };
        return Err(Failure::usage("no payload on standard input")
            .code("hook/payload")
            .note("example", example)
            .help("pipe one JSON object in"));
    }
    read_payload(event, &bytes)
        .and_then(|payload| Ok((payload, read_session(event, &bytes)?)))
        .map_err(|error| Failure::usage(error.to_string()).code(error.code()).help(error.help()))
}

/// The plugins whose hooks run. They are in a static, because an interrupt removes their private copies.
static PLUGINS: Mutex<Option<HookPlugins>> = Mutex::new(None);

fn plugins() -> MutexGuard<'static, Option<HookPlugins>> {
    PLUGINS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The stores and the workflow that stay open while hooks run.
#[derive(Default)]
struct FireSession {
    stores: Option<Stores>,
    /// The ledger, if a hook of a project sees raw output and no plugin is checked.
    record: Option<Record>,
    workflow: Option<Workflow>,
    starter: Arc<HookStarter>,
    exit: u8,
}

impl FireSession {
    fn record(&self) -> Option<&Record> {
        self.stores.as_ref().map(|stores| &stores.record).or(self.record.as_ref())
    }

    /// Opens the ledger, if no plugin is checked.
    fn open_record(&mut self, host: &Host) -> Result<(), Failure> {
        if self.record().is_none() {
            self.record = Some(stores::record(host, None)?);
        }
        Ok(())
    }

    fn workflow_name(&self) -> &str {
        self.workflow.as_ref().map_or("hook-fire", |workflow| workflow.id().as_str())
    }

    /// Checks the plugins and takes those that load.
    fn load(
        &mut self,
        args: &HookFireArgs,
        settings: &Settings,
        builder: &mut PlanBuilder,
        host: &Host,
        out: &Out,
    ) -> Result<(), Failure> {
        let trust = shared::trust(args.sources.trust, settings);
        let mut options = shared::options(
            args.sources.trust.map(shared::trust_of),
            CheckMode::Commit,
            &args.sources.finding,
            settings,
            host,
        )?;
        let roots = shared::roots(&args.sources.dirs)?;
        shared::refuse_own_policy(&roots, &options, host, out)?;
        if trust != Trust::Locked {
            // A host fires an event for each call of a tool, and most plugins have not changed since the last call.
            let paths = args.sources.dirs.iter().map(Utf8PathBuf::as_path);
            options.records = stores::records(host, "hook", paths).ok().map(Arc::new);
        }
        let mut stores = stores::to_write(host, settings, None, out)?;
        let progress = Progress::new(out.live);
        let grants = SettingsGrants(&settings.raw_grants);
        let mut sides = Sides { watch: &progress, person: &mut NoPerson, grants: &grants };
        let mut checked = load(&roots, &mut stores, &mut options, &mut sides);
        progress.done();
        if let Some(Err(error)) = options.records.as_ref().map(|pack| pack.keep()) {
            stores::unrecorded(out, error.into());
        }
        if checked.report().plugins.is_empty() {
            // A mistyped directory must not look like one without hooks.
            let dirs: Vec<&str> = args.sources.dirs.iter().map(|dir| dir.as_str()).collect();
            return Err(Failure::usage(format!("no plugin in {}", line(&dirs.join(", ")))));
        }
        let enrolled = checked.report().plugins.iter().filter(|row| row.pin.state == PinStatus::Enrolled);
        for row in enrolled {
            out.say(&format!("note: pinned on first use: {}", line(&row.id)));
        }
        self.exit = checked.report().exit;
        self.workflow = checked.take_workflow();
        *plugins() = Some(HookPlugins::take(checked, builder));
        self.stores = Some(stores);
        Ok(())
    }

    /// Writes the private copies of the plugins that have commands in the plan, and opens what they are granted.
    fn seal(&mut self, plan: Plan, settings: &Settings, host: &Host, out: &Out) -> Result<Plan, Failure> {
        let mut plugins = plugins();
        let Some(plugins) = plugins.as_mut().filter(|_| !plan.plugins_with_commands().is_empty()) else {
            return Ok(plan);
        };
        let place = host.state_dir().map(|state| state.join("sealed")).and_then(|path| {
            let dir = host::own_directory(&path)?;
            Ok((dir, host::real_path(&path)?))
        });
        let (dir, path) = match place {
            Ok(place) => place,
            Err(error) => {
                // The hooks of these plugins fail with the same code, so that gates deny.
                let warning = format!("the private copies of the plugins could not be written: {error}");
                out.report(&Diagnostic::warning(warning).code("hook/seal"));
                return Ok(plan);
            }
        };
        let data = |key: &PluginKey| {
            let made = stores::plugin_data(host, &key.to_string());
            made.map(Utf8PathBuf::into_string).map_err(|error| io::Error::other(format!("{error}")))
        };
        let (plan, errors) = plugins.seal(plan, &dir, path.as_str(), data);
        for error in errors {
            out.complain(&format!("warning: {error} (hook/seal)"));
        }
        if let Some(stores) = &self.stores {
            let rules = LaunchRules::here(settings, host);
            self.starter = Arc::new(HookStarter::new(plugins, &path, rules, &stores.record, host, out)?);
        }
        Ok(plan)
    }

    fn run(
        &mut self,
        args: &HookFireArgs,
        payload: Payloads,
        at: &FireContext,
        plan: Plan,
        model: &ReplayedModel,
    ) -> Result<EventResult, Failure> {
        let firewall = Firewall::new(RuleSelection::all(), RedactSettings::reference()).map_err(|error| {
            Failure::internal(format!("cannot compile the secret rules: {error}")).code(error.code())
        })?;
        let firewall = Arc::new(firewall);
        let provider = SafeProvider::new(Arc::clone(&firewall), model.clone());
        let mut services = HookServices::new(Arc::clone(&firewall), Arc::new(FixedRule(args.permit)))
            .start(Arc::clone(&self.starter) as Arc<dyn Start>)
            .model(Arc::new(provider))
            .agent(Arc::new(AskUntilVerdict));
        if let Some(trail) = self.record().and_then(Record::trail) {
            let workflow = self.workflow_name();
            let plugins = plugins().as_mut().map(|plugins| plugins.grants(trail, workflow));
            services = services.grants(plugins.unwrap_or_else(|| record_exposures(trail, workflow)));
        }
        let refused = plan.refused().to_vec();
        let dispatcher = Dispatcher::new(plan, services)
            .map_err(|error| Failure::usage(error.to_string()).code(error.code()).help(error.help()))?;
        let answered = |hooks: HookReport, tool: Option<&str>| {
            // The name of the tool is recorded in the ledger, and even a name can be a secret.
            let tool = firewall.redact(Raw::new(tool.unwrap_or_default().to_owned())).into_value();
            EventResult { hooks, refused, tool, args: None, output: None, metadata: None }
        };
        Ok(match payload {
            Payloads::Gate(call) => {
                let done = dispatcher.gate(&call, at);
                let args = call.tool_name().map(|_| done.proposed.redacted().as_ref().clone());
                let output = done.reply.map(Redacted::into_value);
                EventResult { args, output, ..answered(done.hooks, call.tool_name()) }
            }
            Payloads::Tool(call, output) => {
                let done = dispatcher.post_tool_use(&call, output, at);
                let output = done.output.into_value();
                let content = match output.content {
                    OutputContent::Text(text) => Value::String(text),
                    OutputContent::Json(value) => value,
                };
                let (output, metadata) = (Some(content), Some(output.metadata));
                EventResult { output, metadata, ..answered(done.hooks, Some(&call.tool)) }
            }
            Payloads::Notice(call) => answered(dispatcher.notify(&call, at), call.tool_name()),
        })
    }

    /// Records secrets that hooks printed in another encoding, closes the workflow, and removes the private copies.
    fn close(&mut self, host: &Host, done: Option<&EventResult>, out: &Out) -> Result<(), Failure> {
        let mut result = Ok(());
        if let Some(done) = done.filter(|done| !done.hooks.laundered.is_empty()) {
            self.open_record(host)?;
            let workflow = self.workflow_name();
            let written = self
                .record()
                .map_or(Ok(()), |record| record_laundered(record, workflow, &done.tool, &done.hooks));
            result = written
                .map_err(|failure| Failure::store(format!("cannot record what a hook printed: {failure}")));
        }
        if let (Some(stores), Some(workflow)) = (&self.stores, self.workflow.take())
            && let Err(failure) = stores.record.close(workflow, UseOutcome::Ok)
        {
            result = result.and(Err(Failure::store(format!("cannot close the workflow: {failure}"))));
        }
        if let Some(Err(error)) = plugins().take().map(HookPlugins::remove) {
            out.complain(&format!("warning: cannot remove a private copy of a plugin: {error}"));
        }
        result
    }
}

/// Returns the state of the host. What the host does not say about its session has a default.
fn context(told: HostSession) -> Result<FireContext, Failure> {
    let here = host::working_directory().context("cannot find the working directory")?.as_str().to_owned();
    let session = match told.session_id {
        Some(session) => session,
        None => format!("{:032x}", u128::from_le_bytes(host::random()?)),
    };
    Ok(FireContext {
        directory: here.clone(),
        project: here,
        env: host::environment(),
        granted_env: BTreeSet::new(),
        session,
        transcript: told.transcript_path,
        permission_mode: told.permission_mode.unwrap_or_else(|| "default".to_owned()),
        nesting: Nesting::Outside,
        stop_denials: 0,
    })
}

/// The result of the hooks of one event.
struct EventResult {
    hooks: HookReport,
    refused: Vec<RefusedSource>,
    tool: String,
    args: Option<Value>,
    output: Option<Value>,
    metadata: Option<Value>,
}

/// The report of `hook fire`, in the order in which it is printed.
#[derive(Serialize)]
struct FireReport<'a> {
    version: u8,
    event: Event,
    answer: Answer,
    reasons: Vec<&'a str>,
    args: Option<&'a Value>,
    output: Option<&'a Value>,
    metadata: Option<&'a Value>,
    context: Vec<&'a str>,
    messages: Vec<&'a str>,
    stop_turn: bool,
    laundered: &'a [Laundered],
    refused: &'a [RefusedSource],
    steps: &'a [StepReport],
}

impl EventResult {
    /// Returns `true` if a hook saw redacted text because the ledger could not record its grant.
    fn is_unrecorded(&self) -> bool {
        self.hooks.steps.iter().any(|step| step.code == Some("hook/raw-unrecorded"))
    }

    fn report(&self) -> FireReport<'_> {
        fn texts(texts: &[Redacted]) -> Vec<&str> {
            texts.iter().map(Redacted::as_str).collect()
        }
        let hooks = &self.hooks;
        FireReport {
            version: 1,
            event: hooks.event,
            answer: hooks.answer,
            reasons: texts(&hooks.reasons),
            args: self.args.as_ref(),
            output: self.output.as_ref(),
            metadata: self.metadata.as_ref(),
            context: texts(&hooks.context),
            messages: texts(&hooks.messages),
            stop_turn: hooks.stop_turn,
            laundered: &hooks.laundered,
            refused: &self.refused,
            steps: &hooks.steps,
        }
    }
}

/// The host's rule of `--permit`: the same answer for every event.
struct FixedRule(PermitArg);

impl PermissionRule for FixedRule {
    fn answer(&self, _call: &GateCall) -> Answer {
        match self.0 {
            PermitArg::Allow => Answer::Allow,
            PermitArg::Ask => Answer::Ask,
            PermitArg::Deny => Answer::Deny,
        }
    }
}

/// Grants the modules that a plugin declares, and the raw output that the user's settings grant to its hooks.
struct SettingsGrants<'a>(&'a [RawGrant]);

impl Grants for SettingsGrants<'_> {
    fn scopes(&self, plugin: &PluginReport) -> Result<Vec<AnyScope>, ScopeError> {
        let mut scopes = DeclaredModules.scopes(plugin)?;
        for grant in self.0.iter().filter(|grant| grant.plugin == plugin.key) {
            let tools: Vec<&str> = grant.tools.iter().map(String::as_str).collect();
            let scope = RawScope::new(&format!("{}:{}", plugin.id, grant.hook), &tools)?;
            scopes.push(AnyScope::HookRawOutput(scope));
        }
        Ok(scopes)
    }
}

/// Ends the running hook and removes the private copies when the program is interrupted.
pub(crate) fn end_running() {
    let running = running();
    #[cfg(unix)]
    if let Some(group) = rustix::process::Pid::from_raw(*running) {
        // The group does not exist any more if the hook has ended.
        let _gone = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        // The first process can have left the group, so it is ended by its own id.
        let _ended = rustix::process::kill_process(group, rustix::process::Signal::KILL);
    }
    // The lock is never released, so no hook starts while the program ends.
    core::mem::forget(running);
    let open = PLUGINS.try_lock().ok().and_then(|mut plugins| plugins.take());
    if let Some(Err(error)) = open.map(HookPlugins::remove) {
        crate::write_failed(&error);
    }
}
