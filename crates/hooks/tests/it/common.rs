//! A directory per test, hooks that are real processes, a model that records, and one line per step of a report.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::process::Child;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use plugward_hooks::{
    Answer, Dispatcher, Event, FireContext, GateCall, GateReport, HookCommand, HookReport, HookServices,
    Nesting, PermissionRule, Plan, PostToolReport, RawOutput, Scope, Start, StartDirectly, ToolCall,
};
use plugward_manifest::Dialect;
use plugward_redact::{
    Firewall, ModelRequest, Output, OutputContent, Raw, RequestRole, RuleSelection, SafeProvider, Settings,
    ToolStatus, Transport, TransportError, TransportErrorKind,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The reference firewall, compiled once.
pub(crate) static FIREWALL: LazyLock<Arc<Firewall>> = LazyLock::new(|| {
    Arc::new(Firewall::new(RuleSelection::all(), Settings::reference()).expect("the built-in rules compile"))
});

/// Writes bytes as hexadecimal digits.
pub(crate) fn hex(text: &str) -> String {
    text.bytes().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

/// What takes the place of [`secret`].
pub(crate) const MARKER: &str = "[REDACTED:anthropic]";

/// A key in the shape of ADR-004's regression test. It never was a live one.
pub(crate) fn secret() -> String {
    format!("sk-ant-{}abcdefghijklmnopqrstuvwxyz", "api03-")
}

/// A host's rule that always answers the same.
pub(crate) struct Permit(pub(crate) Answer);

impl PermissionRule for Permit {
    fn answer(&self, _: &GateCall) -> Answer {
        self.0
    }
}

/// A host's rule that denies each command with a word in it, and records each call that it was asked about.
#[derive(Clone)]
pub(crate) struct DenyWord {
    pub(crate) word: &'static str,
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
}

impl DenyWord {
    pub(crate) fn new(word: &'static str) -> Self {
        Self { word, asked: Arc::default() }
    }
}

impl PermissionRule for DenyWord {
    fn answer(&self, call: &GateCall) -> Answer {
        let text = call.value().to_string();
        let answer = if text.contains(self.word) { Answer::Deny } else { Answer::Allow };
        self.asked.lock().unwrap().push(text);
        answer
    }
}

/// The parts of a request.
pub(crate) type Parts = Vec<(RequestRole, String)>;

/// A model that records each request, and replies from a list. Without a reply left it is unreachable.
#[derive(Clone, Default)]
pub(crate) struct Recorder {
    pub(crate) requests: Arc<Mutex<Vec<Parts>>>,
    replies: Arc<Mutex<VecDeque<String>>>,
}

impl Recorder {
    pub(crate) fn new(replies: &[&str]) -> Self {
        let replies = replies.iter().map(|reply| (*reply).to_owned()).collect();
        Self { requests: Arc::default(), replies: Arc::new(Mutex::new(replies)) }
    }

    /// Returns the parts of each request, without the roles.
    pub(crate) fn texts(&self) -> Vec<Vec<String>> {
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|parts| parts.iter().map(|(_, text)| text.clone()).collect()).collect()
    }

    /// Puts the model behind the reference firewall.
    pub(crate) fn behind_firewall(&self) -> Arc<SafeProvider<Self>> {
        Arc::new(SafeProvider::new(Arc::clone(&FIREWALL), self.clone()))
    }
}

impl Transport for Recorder {
    fn send(&self, request: &ModelRequest) -> Result<Raw<String>, TransportError> {
        let parts = request.parts().iter().map(|part| (part.role(), part.text().to_owned())).collect();
        self.requests.lock().unwrap().push(parts);
        let reply = self.replies.lock().unwrap().pop_front();
        reply.map(Raw::new).ok_or_else(|| TransportError::new(TransportErrorKind::Unreachable))
    }
}

/// Starts commands, and records them.
#[derive(Clone, Default)]
pub(crate) struct Spy(pub(crate) Arc<Mutex<Vec<HookCommand>>>);

impl Start for Spy {
    fn start(&self, command: &HookCommand) -> io::Result<Child> {
        self.0.lock().unwrap().push(command.clone());
        StartDirectly.start(command)
    }
}

/// The directory of one test, in which its hooks run.
pub(crate) struct Room(TempDir);

impl Room {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("the system has a temporary directory"))
    }

    pub(crate) fn path(&self) -> String {
        self.0.path().to_str().expect("the path is UTF-8").to_owned()
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.0.path().join(name), bytes).unwrap();
    }

    /// Writes a file that can be executed.
    pub(crate) fn program(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        self.write(name, text);
        std::fs::set_permissions(self.0.path().join(name), std::fs::Permissions::from_mode(0o700)).unwrap();
    }

    /// Returns the text of a file; empty if there is no such file.
    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.path().join(name)).unwrap_or_default()
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name)).unwrap()
    }

    pub(crate) fn at(&self) -> FireContext {
        let names = ["PATH", "HOME"];
        let env = names.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)));
        FireContext {
            directory: self.path(),
            project: self.path(),
            env: env.collect::<BTreeMap<_, _>>(),
            granted_env: BTreeSet::new(),
            session: "session-1".to_owned(),
            transcript: None,
            permission_mode: "default".to_owned(),
            nesting: Nesting::Outside,
            stop_denials: 0,
        }
    }

    /// Asserts that no process is left in the group whose id a hook wrote to a file.
    #[track_caller]
    pub(crate) fn no_process_left(&self, pid_file: &str) {
        let text = self.text(pid_file);
        let Ok(group) = text.trim().parse::<u32>() else { panic!("no process id in {pid_file}: {text:?}") };
        let until = Instant::now() + Duration::from_secs(2);
        // The signal was sent before the report came back, but its effect can take a moment.
        while members(group) > 0 {
            assert!(Instant::now() < until, "{} processes of the group are left", members(group));
            std::thread::yield_now();
        }
    }
}

/// Counts the living processes of a group. A process that has ended and was not waited for does not count.
fn members(group: u32) -> usize {
    if !cfg!(target_os = "linux") {
        let script = format!("kill -0 -- -{group} 2>/dev/null");
        return usize::from(
            std::process::Command::new("sh").args(["-c", &script]).status().unwrap().success(),
        );
    }
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let stats = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let is_member = |stat: &String| {
        // The name of the program is in parentheses and can contain spaces.
        let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let fields: Vec<&str> = rest.split_whitespace().take(3).collect();
        matches!(fields[..], [how, _, of] if !matches!(how, "Z" | "X") && of == group.to_string())
    };
    stats.filter(is_member).count()
}

/// Returns `true` if a program can be started; else prints why a test is skipped.
pub(crate) fn has(program: &str) -> bool {
    let output = std::process::Command::new(program).arg("--version").output();
    let works = output.is_ok_and(|output| output.status.success());
    if !works {
        println!("skipped: `{program} --version` does not work here");
    }
    works
}

/// One command hook of a gnoma file, with further lines.
pub(crate) fn entry_with(name: &str, event: &str, exec: &str, more: &str) -> String {
    let head = format!("[[hooks]]\nname = \"{name}\"\nevent = \"{event}\"\ntype = \"command\"\n");
    format!("{head}exec = '''{exec}'''\n{more}\n")
}

/// One command hook of a gnoma file.
pub(crate) fn entry(name: &str, event: &str, exec: &str) -> String {
    entry_with(name, event, exec, "")
}

/// One prompt or agent hook of a gnoma file.
pub(crate) fn prompt_entry(name: &str, event: &str, kind: &str, template: &str) -> String {
    format!("[[hooks]]\nname = \"{name}\"\nevent = \"{event}\"\ntype = \"{kind}\"\nexec = '''{template}'''\n")
}

/// A Claude file with one handler.
pub(crate) fn handler(event: &str, matcher: &str, handler: &Value) -> String {
    json!({"hooks": {event: [{"matcher": matcher, "hooks": [handler]}]}}).to_string()
}

/// A Claude file with one command.
pub(crate) fn command(event: &str, command: &str) -> String {
    handler(event, "", &json!({"type": "command", "command": command}))
}

/// A file of one scope and dialect.
pub(crate) type File<'a> = (Scope, Dialect, &'a str);

/// Puts files in order, with the user's default for raw output.
pub(crate) fn plan_of(files: &[File<'_>]) -> Plan {
    let mut builder = Plan::builder(RawOutput::ManagedAndUser);
    for (scope, dialect, text) in files {
        let label = if *dialect == Dialect::Gnoma { "hooks.toml" } else { "hooks.json" };
        builder.file(*scope, *dialect, label, text.as_bytes());
    }
    builder.build()
}

/// The plan of one gnoma file of the user, which must have no defect.
#[track_caller]
pub(crate) fn gnoma(text: &str) -> Plan {
    whole(plan_of(&[(Scope::User, Dialect::Gnoma, text)]))
}

/// The plan of one Claude file of the user, which must have no defect.
#[track_caller]
pub(crate) fn claude(text: &str) -> Plan {
    whole(plan_of(&[(Scope::User, Dialect::Claude, text)]))
}

#[track_caller]
pub(crate) fn whole(plan: Plan) -> Plan {
    assert!(plan.refused().is_empty() && !plan.hooks().is_empty(), "{:?}", plan.notes());
    plan
}

/// Services that start commands, with a fixed rule.
pub(crate) fn services(permit: Answer) -> HookServices {
    services_with(Arc::new(Permit(permit)))
}

/// Services that start commands, with a rule.
pub(crate) fn services_with(rule: Arc<dyn PermissionRule>) -> HookServices {
    HookServices::new(Arc::clone(&FIREWALL), rule).start(Arc::new(StartDirectly))
}

pub(crate) fn dispatcher(plan: Plan) -> Dispatcher {
    Dispatcher::new(plan, services(Answer::Allow)).unwrap()
}

/// A call of Bash before it happens.
pub(crate) fn bash(command: &str) -> GateCall {
    GateCall::tool(Event::PreToolUse, "Bash".to_owned(), json!({"command": command}))
}

/// A call of Bash after it happened.
pub(crate) fn ran() -> ToolCall {
    ToolCall { tool: "Bash".to_owned(), args: json!({"command": "ls"}) }
}

/// The output of a tool.
pub(crate) fn text_output(text: &str) -> Raw<Output> {
    output(OutputContent::Text(text.to_owned()), ToolStatus::Ok)
}

pub(crate) fn output(content: OutputContent, ended: ToolStatus) -> Raw<Output> {
    Raw::new(Output { content, metadata: json!({}), ended })
}

/// Runs the hooks of a plan before a call of Bash.
pub(crate) fn gate(plan: Plan, room: &Room) -> GateReport {
    dispatcher(plan).gate(&bash("ls"), &room.at())
}

/// Runs the hooks of a plan after a call of Bash.
pub(crate) fn after(plan: Plan, room: &Room, text: &str) -> PostToolReport {
    dispatcher(plan).post_tool_use(&ran(), text_output(text), &room.at())
}

/// Returns the output that goes on, as text.
pub(crate) fn out(report: &PostToolReport) -> String {
    match &report.output.as_ref().content {
        OutputContent::Text(text) => text.clone(),
        OutputContent::Json(value) => value.to_string(),
    }
}

/// Writes each step as `hook step saw result code`.
pub(crate) fn steps(report: &HookReport) -> Vec<String> {
    let line = |step: &plugward_hooks::StepReport| {
        let (code, result) = (step.code.unwrap_or("-"), step.result.as_str());
        format!("{} {} {} {result} {code}", step.hook, step.step.as_str(), step.saw.as_str())
    };
    report.steps.iter().map(line).collect()
}

pub(crate) fn ids(plan: &Plan) -> Vec<&str> {
    plan.hooks().iter().map(plugward_hooks::Hook::id).collect()
}

/// Writes each note as `code at`.
pub(crate) fn notes(plan: &Plan) -> Vec<String> {
    plan.notes().iter().map(|note| format!("{} {}", note.code, note.at)).collect()
}

/// Writes each refused source as `source code`.
pub(crate) fn refused(plan: &Plan) -> Vec<String> {
    plan.refused().iter().map(|row| format!("{} {}", row.source, row.code)).collect()
}

/// Everything that a report shows, to look for a secret in.
pub(crate) fn shown(report: &HookReport) -> String {
    let texts = report.reasons.iter().chain(&report.context).chain(&report.messages);
    let texts = texts.chain(report.steps.iter().filter_map(|step| step.message.as_ref()));
    texts.map(plugward_redact::Redacted::as_str).collect::<Vec<_>>().join("\n")
}

/// One test at a time runs hooks whose time is measured: the machine can have two processors.
static CLOCK: Mutex<()> = Mutex::new(());

/// Runs code, and asserts that it returns within a timeout plus one second.
#[track_caller]
pub(crate) fn within<R>(timeout: Duration, about: &str, code: impl FnOnce() -> R) -> R {
    let turn = CLOCK.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let start = Instant::now();
    let result = code();
    let took = start.elapsed();
    drop(turn);
    assert!(took < timeout + Duration::from_secs(1), "{about}: {took:?}");
    result
}
