//! `plugward hook plan | fire`: the hooks of agent hosts, in one order.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Read as _;
use std::process::Child;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, anyhow};
use camino::Utf8Path;
use plugward_loader::capability::{AnyScope, Outcome, RawScope, ScopeError};
use plugward_loader::hook_events::{
    Answer, AskUntilVerdict, Dispatcher, Event, FireContext, GateCall, Hook, HookCommand, HookNote,
    HookReport, HookServices, Nesting, Payloads, PermissionRule, Plan, PlanBuilder, Scope, Start,
    StartDirectly, StepReport, View, read_payload,
};
use plugward_loader::manifest::Dialect;
use plugward_loader::redact::{
    Content, Firewall, Raw, Redacted, Request, Role, Rules, SafeProvider, Settings as RedactSettings,
    Transport, TransportError, TransportErrorKind,
};
use plugward_loader::{
    Checked, DeclaredModules, Grants, HookPlugins, Host as Sides, Keep, Looked, NobodyThere, PluginReport,
    Stores, Weight, Writes, add_looked, load, record_laundered,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::{HookFireArgs, HookPlanArgs, HookSources, HookVerb, ListFormat, PermitArg};
use crate::escape::line;
use crate::failure::{Failure, usage};
use crate::host::{self, Host};
use crate::json;
use crate::out::{ASK, Out, REFUSE};
use crate::output_file;
use crate::progress::Progress;
use crate::settings::{RawGrant, Settings};
use crate::stores;
use crate::table;
use crate::verbs::shared;

/// The most bytes of a hooks file that are read; the reader's own limit of 1 MiB then has line and column.
const FILE: u64 = 4 << 20;
/// The most bytes of a payload.
const PAYLOAD: u64 = 16 << 20;
/// The most bytes of a file of replies.
const REPLIES: u64 = 16 << 20;

pub(crate) fn run(verb: &HookVerb, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    match verb {
        HookVerb::Plan(args) => plan(args, host, out),
        HookVerb::Fire(args) => fire(args, host, out),
    }
}

fn event_of(word: &str) -> Result<Event, Failure> {
    Event::from_word(word).ok_or_else(|| {
        let words = Event::ALL.iter().map(|event| event.as_str());
        let near = words.min_by_key(|known| strsim::damerau_levenshtein(known, word)).unwrap_or_default();
        usage(format!(
            "no such event: `{}` (hook/event)\n  next: use `{near}`, or list all with: plugward hook plan",
            line(word)
        ))
    })
}

/// Adds the files of the command line, in their order.
fn add_files(plan: &mut PlanBuilder, sources: &HookSources) -> Result<(), Failure> {
    let codex = sources.finding.dialect.as_deref() == Some("codex");
    let user = sources.hooks.iter().map(|path| (Scope::User, path));
    let project = sources.project_hooks.iter().map(|path| (Scope::Project, path));
    for (scope, path) in user.chain(project) {
        let dialect = match path.extension() {
            Some("toml") => Dialect::Gnoma,
            Some("json") if codex => Dialect::Codex,
            Some("json") => Dialect::Claude,
            _ => {
                return Err(usage(format!(
                    "read {}: expected a file name that ends in `.toml` or `.json`",
                    line(path.as_str())
                )));
            }
        };
        let bytes = host::named_file(path, FILE).map_err(Failure::Usage)?;
        // A report is the same on every machine, so it has no absolute path.
        let label = if path.is_absolute() { path.file_name().unwrap_or_default() } else { path.as_str() };
        plan.file(scope, dialect, label, &bytes);
    }
    Ok(())
}

fn plan(args: &HookPlanArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let event = args.event.as_deref().map(event_of).transpose()?;
    if args.sources.is_empty() {
        return Err(usage(
            "no hooks to show\n  next: name their source with --in DIR, --hooks FILE or --project-hooks FILE",
        ));
    }
    let settings = Settings::read(host)?;
    let mut builder = Plan::builder(settings.raw);
    add_files(&mut builder, &args.sources)?;
    let mut granted = BTreeSet::new();
    if !args.sources.dirs.is_empty() {
        let roots = shared::roots(&args.sources.dirs)?;
        let trust = args.sources.trust.map(shared::trust_of);
        let looked = shared::look(&roots, trust, Keep::Nothing, &args.sources.finding, host, out)?;
        add_looked(&mut builder, &looked);
        granted = granted_ids(&settings.raw_grants, &looked);
    }
    let mut plan = builder.build();
    if let Some(event) = event {
        plan = plan.only(event);
    }
    match args.format {
        ListFormat::Json => out.result(&json::render(&plan_report(&plan, &granted))?)?,
        ListFormat::Table => out.result(&plan_table(&plan, &granted, event.is_none(), out.width))?,
    }
    Ok(if user_file_refused(&plan) { 2 } else { 0 })
}

fn user_file_refused(plan: &Plan) -> bool {
    plan.refused().iter().any(|source| source.scope == Scope::User)
}

fn granted_ids(grants: &[RawGrant], looked: &Looked) -> BTreeSet<String> {
    let rows = &looked.report.plugins;
    let of = |grant: &RawGrant| {
        let row = rows.iter().find(|row| row.key == grant.plugin)?;
        Some(format!("{}:{}", row.id, grant.hook))
    };
    grants.iter().filter_map(of).collect()
}

fn sees(hook: &Hook, granted: &BTreeSet<String>) -> View {
    let by_grant = hook.handler() == "command" && granted.contains(hook.id());
    if by_grant { View::Raw } else { hook.view() }
}

#[derive(Serialize)]
struct PlanReport<'a> {
    version: u8,
    hooks: Vec<HookRow<'a>>,
    notes: Vec<NoteRow<'a>>,
    refused: Vec<RefusedRow<'a>>,
}

#[derive(Serialize)]
struct HookRow<'a> {
    place: usize,
    id: &'a str,
    event: &'static str,
    matcher: Option<&'a str>,
    handler: &'static str,
    step: &'static str,
    scope: &'static str,
    plugin: Option<&'a str>,
    run: &'a [String],
    timeout_ms: u128,
    on_failure: &'static str,
    sees: &'static str,
    priority: i32,
}

#[derive(Serialize)]
struct NoteRow<'a> {
    code: &'static str,
    at: &'a str,
    message: &'a str,
    help: &'static str,
}

#[derive(Serialize)]
struct RefusedRow<'a> {
    source: &'a str,
    code: &'a str,
}

fn plan_report<'a>(plan: &'a Plan, granted: &BTreeSet<String>) -> PlanReport<'a> {
    let mut places = BTreeMap::new();
    let row = |hook: &'a Hook| {
        let place = places.entry(hook.event()).or_insert(0_usize);
        *place = place.saturating_add(1);
        HookRow {
            place: *place,
            id: hook.id(),
            event: hook.event().as_str(),
            matcher: hook.matcher(),
            handler: hook.handler(),
            step: hook.step().as_str(),
            scope: hook.scope().as_str(),
            plugin: hook.plugin(),
            run: hook.run(),
            timeout_ms: hook.timeout().as_millis(),
            on_failure: hook.on_failure().as_str(),
            sees: sees(hook, granted).as_str(),
            priority: hook.priority(),
        }
    };
    let hooks = plan.hooks().iter().map(row).collect();
    let note = |note: &'a HookNote| NoteRow {
        code: note.code,
        at: &note.at,
        message: &note.message,
        help: note.help,
    };
    PlanReport {
        version: 1,
        hooks,
        notes: plan.notes().iter().map(note).collect(),
        refused: refused_rows(plan),
    }
}

fn refused_rows(plan: &Plan) -> Vec<RefusedRow<'_>> {
    plan.refused().iter().map(|one| RefusedRow { source: &one.source, code: &one.code }).collect()
}

fn plan_table(plan: &Plan, granted: &BTreeSet<String>, headings: bool, width: usize) -> String {
    let mut out = String::new();
    for event in Event::ALL {
        let hooks = plan.hooks().iter().filter(|hook| hook.event() == *event);
        let row = |(place, hook): (usize, &Hook)| {
            let runs = match hook.handler() {
                "command" => table::words(&hook.run().join(" ")),
                model => format!("({model})"),
            };
            let seconds = hook.timeout().as_secs_f64();
            vec![
                place.saturating_add(1).to_string(),
                hook.step().as_str().to_owned(),
                line(hook.id()).into_owned(),
                sees(hook, granted).as_str().to_owned(),
                format!("{seconds}s"),
                hook.on_failure().as_str().to_owned(),
                runs,
            ]
        };
        let rows: Vec<Vec<String>> = hooks.enumerate().map(row).collect();
        if rows.is_empty() {
            continue;
        }
        if headings {
            out.push_str(&format!("{}{event}\n", if out.is_empty() { "" } else { "\n" }));
        }
        let head = ["#", "STEP", "HOOK", "SEES", "TIMEOUT", "ON FAILURE", "RUNS"];
        out.push_str(&table::grid(&head, &rows, width));
    }
    if out.is_empty() {
        out.push_str("no hooks\n");
    }
    out.push_str(&notes_text(plan, width));
    out
}

/// The notes and the refused sources, for people.
fn notes_text(plan: &Plan, width: usize) -> String {
    let mut out = String::new();
    for note in plan.notes() {
        out.push('\n');
        out.push_str(&table::item("", ASK, note.code, &format!("{}: {}", note.at, note.message), width));
        out.push_str(&table::next(note.help, width));
    }
    for one in plan.refused() {
        out.push('\n');
        let message = format!("no hook of {} runs", one.source);
        out.push_str(&table::item("refused ", REFUSE, &one.code, &message, width));
    }
    out
}

fn fire(args: &HookFireArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let event = event_of(&args.event)?;
    if args.sources.is_empty() {
        return Err(usage(
            "no hooks to run\n  next: name their source with --in DIR, --hooks FILE or --project-hooks FILE",
        ));
    }
    let settings = Settings::read(host)?;
    let mut builder = Plan::builder(settings.raw);
    add_files(&mut builder, &args.sources)?;
    let files = builder.clone().build();
    if user_file_refused(&files) {
        out.complain(notes_text(&files, out.width).trim_end());
        return Ok(2);
    }
    let model = Replay::new(args)?;
    let payload = payload(event)?;
    let mut fired = Fired { plugins: None, stores: None, workflow: None, exit: 0 };
    if !args.sources.dirs.is_empty() {
        fired.load(args, &settings, &mut builder, host, out)?;
    }
    let plan =
        builder.build().only(if event == Event::PostToolUseFailure { Event::PostToolUse } else { event });
    out.say(notes_text(&plan, out.width).trim());
    let plan = fired.seal(plan, host, out)?;
    let refused = plan.clone();
    let answered = fired.run(args, payload, plan, &model);
    let cleaned = fired.clean(host, answered.as_ref().ok(), out);
    let answered = answered?;
    let answer = answered.report.answer;
    out.result(&json::render(&answered.report_row(&refused))?)?;
    if let Some(path) = &args.record {
        output_file::write(path, model.requests().as_bytes()).with_context(|| format!("write {path}"))?;
    }
    cleaned?;
    if fired.exit == Weight::Store.exit() {
        return Ok(fired.exit);
    }
    Ok(match answer {
        Answer::Skip | Answer::Allow => 0,
        Answer::Ask | Answer::Defer => 3,
        Answer::Deny => 5,
    })
}

/// Reads the payload from standard input, before anything runs.
fn payload(event: Event) -> Result<Payloads, Failure> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(PAYLOAD.saturating_add(1)).read_to_end(&mut bytes)?;
    read_payload(event, &bytes)
        .map_err(|error| usage(format!("{error} ({})\n  next: {}", error.code(), error.help())))
}

/// What a firing has open.
struct Fired {
    plugins: Option<HookPlugins>,
    stores: Option<Stores>,
    workflow: Option<plugward_loader::capability::Workflow>,
    exit: u8,
}

/// What hooks did, and the tool that it is about.
struct Answered {
    tool: String,
    args: Option<Value>,
    output: Option<Value>,
    metadata: Option<Value>,
    report: HookReport,
}

#[derive(Serialize)]
struct FireReport<'a> {
    version: u8,
    event: &'static str,
    answer: &'static str,
    reasons: Vec<&'a str>,
    args: &'a Option<Value>,
    output: &'a Option<Value>,
    metadata: &'a Option<Value>,
    context: Vec<&'a str>,
    messages: Vec<&'a str>,
    stop_turn: bool,
    laundered: Vec<LaunderedRow<'a>>,
    refused: Vec<RefusedRow<'a>>,
    steps: Vec<StepRow<'a>>,
}

#[derive(Serialize)]
struct LaunderedRow<'a> {
    hook: &'a str,
    kinds: &'a [String],
}

#[derive(Serialize)]
struct StepRow<'a> {
    hook: &'a str,
    step: &'static str,
    saw: &'static str,
    result: &'static str,
    code: Option<&'static str>,
    message: Option<&'a str>,
}

impl Answered {
    fn new(report: HookReport, tool: Option<&str>) -> Self {
        let tool = tool.unwrap_or_default().to_owned();
        Self { tool, args: None, output: None, metadata: None, report }
    }

    fn report_row<'a>(&'a self, plan: &'a Plan) -> FireReport<'a> {
        let texts = |texts: &'a [Redacted]| texts.iter().map(Redacted::as_str).collect();
        let step = |step: &'a StepReport| StepRow {
            hook: &step.hook,
            step: step.step.as_str(),
            saw: step.saw.as_str(),
            result: step.result.as_str(),
            code: step.code,
            message: step.message.as_ref().map(Redacted::as_str),
        };
        let report = &self.report;
        let laundered =
            report.laundered.iter().map(|row| LaunderedRow { hook: &row.hook, kinds: &row.kinds });
        FireReport {
            version: 1,
            event: report.event.as_str(),
            answer: report.answer.as_str(),
            reasons: texts(&report.reasons),
            args: &self.args,
            output: &self.output,
            metadata: &self.metadata,
            context: texts(&report.context),
            messages: texts(&report.messages),
            stop_turn: report.stop_turn,
            laundered: laundered.collect(),
            refused: refused_rows(plan),
            steps: report.steps.iter().map(step).collect(),
        }
    }
}

impl Fired {
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
        let mut options = shared::options(trust, Writes::Commit, &args.sources.finding, settings, host)?;
        let roots = shared::roots(&args.sources.dirs)?;
        let mut stores = stores::to_write(host, settings, None, out)?;
        let progress = Progress::new(out.live);
        let grants = HookGrants(&settings.raw_grants);
        let mut sides = Sides { watch: &progress, person: &mut NobodyThere, grants: &grants };
        let mut checked: Checked = load(&roots, &mut stores, &mut options, &mut sides);
        progress.done();
        let report = checked.report();
        if report.plugins.is_empty() {
            let dirs: Vec<&str> = args.sources.dirs.iter().map(|dir| dir.as_str()).collect();
            return Err(usage(format!("no plugin in {}", line(&dirs.join(", ")))));
        }
        self.exit = report.exit;
        self.workflow = checked.take_workflow();
        self.plugins = Some(HookPlugins::take(checked, builder));
        self.stores = Some(stores);
        Ok(())
    }

    /// Writes the private copies of the plugins that have commands in the plan.
    fn seal(&mut self, plan: Plan, host: &Host, out: &Out) -> Result<Plan, Failure> {
        let Some(plugins) = self.plugins.as_mut().filter(|_| !plan.plugins_with_commands().is_empty()) else {
            return Ok(plan);
        };
        let state = host.state_dir()?;
        let path = state.join("sealed");
        let dir = host::own_folder(&path)?;
        let real = host::real_path(&path)?;
        let data = |key: &plugward_loader::PluginKey| {
            let name = plugward_loader::sha256(key.to_string().as_bytes()).to_string();
            let path = state.join("plugin-data").join(name.replace(':', "-"));
            let made = host::own_folder(&path).and_then(|_dir| host::real_path(&path));
            made.map(camino::Utf8PathBuf::into_string).map_err(std::io::Error::other)
        };
        let (plan, errors) = plugins.seal(plan, &dir, real.as_str(), data);
        for error in errors {
            out.complain(&format!("warning: {:#} (hook/seal)", anyhow!(error)));
        }
        Ok(plan)
    }

    fn run(
        &mut self,
        args: &HookFireArgs,
        payload: Payloads,
        plan: Plan,
        model: &Replay,
    ) -> Result<Answered, Failure> {
        let firewall = Firewall::new(Rules::all(), RedactSettings::reference())
            .map_err(|error| anyhow!("make the rules: {error} ({})", error.code()))?;
        let firewall = Arc::new(firewall);
        let provider = SafeProvider::new(Arc::clone(&firewall), model.clone());
        let mut services = HookServices::new(firewall, Arc::new(Fixed(args.permit)))
            .start(Arc::new(StartTracked))
            .model(Arc::new(provider))
            .agent(Arc::new(AskUntilVerdict));
        let trail = self.stores.as_ref().and_then(|stores| stores.record.trail());
        if let (Some(plugins), Some(trail)) = (&mut self.plugins, trail) {
            services = services.grants(plugins.grants(trail));
        }
        let dispatcher = Dispatcher::new(plan, services)
            .map_err(|error| usage(format!("{error} ({})\n  next: {}", error.code(), error.help())))?;
        let at = context()?;
        Ok(match payload {
            Payloads::Gate(call) => {
                let done = dispatcher.gate(&call, &at);
                let args = call.tool_name().map(|_| done.proposed.redacted().as_ref().clone());
                let output = done.reply.map(Redacted::into_value);
                Answered { args, output, ..Answered::new(done.hooks, call.tool_name()) }
            }
            Payloads::Tool(call, output) => {
                let done = dispatcher.post_tool_use(&call, output, &at);
                let output = done.output.into_value();
                let content = match output.content {
                    Content::Text(text) => Value::String(text),
                    Content::Json(value) => value,
                };
                let metadata = Some(output.metadata);
                Answered { output: Some(content), metadata, ..Answered::new(done.hooks, Some(&call.tool)) }
            }
            Payloads::Notice(call) => Answered::new(dispatcher.notify(&call, &at), call.tool_name()),
        })
    }

    /// Records what hooks printed in another encoding, closes the unit of work, and removes the private copies.
    fn clean(&mut self, host: &Host, done: Option<&Answered>, out: &Out) -> Result<(), Failure> {
        let mut result = Ok(());
        if let Some(done) = done.filter(|done| !done.report.laundered.is_empty()) {
            let own;
            let record = match &self.stores {
                Some(stores) => &stores.record,
                None => {
                    own = stores::record(host, None)?;
                    &own
                }
            };
            let workflow = self.workflow.as_ref().map_or("hook-fire", |workflow| workflow.id().as_str());
            if let Err(failure) = record_laundered(record, workflow, &done.tool, &done.report) {
                result = Err(Failure::Store(anyhow!("record what a hook printed: {failure}")));
            }
        }
        if let (Some(stores), Some(workflow)) = (&self.stores, self.workflow.take())
            && let Err(failure) = stores.record.close(workflow, Outcome::Ok)
        {
            result = result.and(Err(Failure::Store(anyhow!("close the record: {failure}"))));
        }
        if let Some(Err(error)) = self.plugins.take().map(HookPlugins::remove) {
            out.complain(&format!("warning: remove a private copy of a plugin: {error}"));
        }
        result
    }
}

fn context() -> Result<FireContext, Failure> {
    let here = host::working_directory().context("find the working directory")?.as_str().to_owned();
    let session = host::random()?.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(FireContext {
        directory: here.clone(),
        project: here,
        env: host::environment(),
        granted_env: BTreeSet::new(),
        session,
        transcript: None,
        permission_mode: "default".to_owned(),
        nesting: Nesting::Outside,
        stop_denials: 0,
    })
}

/// `--permit`: the same answer for every event.
struct Fixed(PermitArg);

impl PermissionRule for Fixed {
    fn answer(&self, _call: &GateCall) -> Answer {
        match self.0 {
            // The default is no opinion of its own, so that the report shows what hooks said.
            PermitArg::Allow => Answer::Allow,
            PermitArg::Ask => Answer::Ask,
            PermitArg::Deny => Answer::Deny,
        }
    }
}

/// What plugins get: the modules that they declare, and the raw output that the user's settings grant.
struct HookGrants<'a>(&'a [RawGrant]);

impl Grants for HookGrants<'_> {
    fn scopes(&self, plugin: &PluginReport) -> Result<Vec<AnyScope>, ScopeError> {
        let mut scopes = DeclaredModules.scopes(plugin)?;
        for grant in self.0.iter().filter(|grant| grant.plugin == plugin.key) {
            let tools: Vec<&str> = grant.tools.iter().map(String::as_str).collect();
            scopes.push(AnyScope::HookRawOutput(RawScope::new(
                &format!("{}:{}", plugin.id, grant.hook),
                &tools,
            )?));
        }
        Ok(scopes)
    }
}

/// The process group of the hook that runs, or 0.
static RUNNING: AtomicI32 = AtomicI32::new(0);

/// Starts commands, and remembers the process group for an interrupt: it is not that of the terminal.
struct StartTracked;

impl Start for StartTracked {
    fn start(&self, command: &HookCommand) -> std::io::Result<Child> {
        let child = StartDirectly.start(command)?;
        RUNNING.store(i32::try_from(child.id()).unwrap_or(0), Ordering::SeqCst);
        Ok(child)
    }
}

/// Ends the hook that runs, when the program is interrupted.
pub(crate) fn end_running() {
    #[cfg(unix)]
    if let Some(group) = rustix::process::Pid::from_raw(RUNNING.load(Ordering::SeqCst)) {
        let _gone = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

/// A model that reads its replies from a file and remembers what it was asked.
#[derive(Clone)]
struct Replay(Arc<Mutex<ReplayState>>);

#[derive(Default)]
struct ReplayState {
    replies: VecDeque<String>,
    requests: String,
}

impl Replay {
    fn new(args: &HookFireArgs) -> Result<Self, Failure> {
        let mut state = ReplayState::default();
        if let Some(path) = &args.replies {
            state.replies = replies(path)?;
        }
        Ok(Self(Arc::new(Mutex::new(state))))
    }

    fn requests(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).requests.clone()
    }
}

fn replies(path: &Utf8Path) -> Result<VecDeque<String>, Failure> {
    let bytes = host::named_file(path, REPLIES).map_err(Failure::Usage)?;
    let text = String::from_utf8(bytes).map_err(|_| usage(format!("read {path}: expected UTF-8")))?;
    let rows = text.lines().enumerate().filter(|(_, row)| !row.trim().is_empty());
    rows.map(|(number, row)| {
        serde_json::from_str::<String>(row).map_err(|error| {
            let number = number.saturating_add(1);
            usage(format!("read {path}:{number}:{}: expected one JSON string per line", error.column()))
        })
    })
    .collect()
}

#[derive(Serialize)]
struct PartRow<'a> {
    role: &'static str,
    text: &'a str,
}

impl Transport for Replay {
    fn send(&self, request: &Request) -> Result<Raw<String>, TransportError> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let parts = request.parts().iter().map(|part| {
            let role = match part.role() {
                Role::System => "system",
                Role::User => "user",
                Role::Assistant => "assistant",
                Role::Thinking => "thinking",
                Role::ToolCall => "tool_call",
                Role::ToolResult => "tool_result",
            };
            PartRow { role, text: part.text() }
        });
        let row = json!({"parts": parts.collect::<Vec<_>>()});
        state.requests.push_str(&format!("{row}\n"));
        state.replies.pop_front().map(Raw::new).ok_or(TransportError::new(TransportErrorKind::Unreachable))
    }
}
