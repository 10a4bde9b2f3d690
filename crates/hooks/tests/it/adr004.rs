//! ADR-004, sentence by sentence (section 2 of the design page).

use std::sync::Arc;

use plugward_hooks::{
    AgentLoop, AgentRound, Answer, AskUntilVerdict, Dispatcher, Event, HookServices, LocalHook, LocalReply,
    LocalStep, PermissionRule, Plan, RawOutput, Scope, Step, ToolCall,
};
use plugward_manifest::Dialect;
use plugward_redact::{
    Firewall, LlmAccess, LocalProof, ModelRequest, Output, OutputContent, Raw, RequestRole, RuleSelection,
    SafeProvider, Settings, ToolStatus, TransportError,
};
use serde_json::{Value, json};

use crate::common::{
    FIREWALL, MARKER, Permit, Recorder, Room, Spy, after, bash, claude, dispatcher, entry, entry_with, gnoma,
    handler, has, hex, ids, out, output, plan_of, prompt_entry, ran, secret, services, shown, steps,
    text_output,
};

const OK: &str = "{\"ok\": true}";

#[test]
fn adr004_one_event() {
    let words: Vec<&str> = Event::ALL.iter().map(|event| event.as_str()).collect();
    let after_use: Vec<&&str> = words.iter().filter(|word| word.starts_with("post_tool_use")).collect();
    assert_eq!(
        after_use,
        [&"post_tool_use", &"post_tool_use_failure"],
        "one event; the second is Claude's word"
    );

    // The file lists the hooks in the opposite order: the type of a hook decides when it runs.
    let text = [
        prompt_entry("judge", "post_tool_use", "prompt", "{{.Result}}"),
        entry("transform", "post_tool_use", "echo transform >> log"),
        entry_with("observe", "post_tool_use", "echo observe >> log", "phase = \"observe\""),
    ];
    let plan = gnoma(&text.concat());
    assert_eq!(ids(&plan), ["user:observe", "user:transform", "user:judge"]);
    assert!(plan.hooks().iter().all(|hook| hook.event() == Event::PostToolUse));

    let (room, model) = (Room::new(), Recorder::new(&[OK]));
    let services = services(Answer::Allow).model(model.behind_firewall());
    let report = Dispatcher::new(plan, services).unwrap().post_tool_use(&ran(), text_output("x"), &room.at());
    assert_eq!(
        steps(&report.hooks),
        [
            "user:observe observe raw skip -",
            "user:transform transform raw skip -",
            "user:judge judge redacted skip -"
        ]
    );
    assert_eq!(room.text("log"), "observe\ntransform\n");
}

/// Looks at the output and keeps its length, which is not a secret.
struct Length(std::sync::Mutex<Vec<usize>>);

impl LocalHook for Length {
    fn look(&self, output: &Raw<Output>, proof: &LocalProof<'_>) -> LocalReply {
        if let OutputContent::Text(text) = &output.expose(proof).content {
            self.0.lock().unwrap().push(text.len());
        }
        LocalReply::Keep
    }
}

#[test]
fn adr004_raw_for_local_uses() {
    let room = Room::new();
    // The transform has the lower priority, and the observer still sees what the tool left.
    let text = [
        entry_with(
            "cut",
            "post_tool_use",
            "cat > second.json; echo '{\"transformed\": {\"output\": \"cut\"}}'",
            "priority = -9",
        ),
        entry_with("forensics", "post_tool_use", "cat > first.json", "phase = \"observe\"\npriority = 9"),
    ];
    let length = Arc::new(Length(std::sync::Mutex::default()));
    let mut builder = Plan::builder(RawOutput::ManagedAndUser);
    builder.file(Scope::User, Dialect::Gnoma, "hooks.toml", text.concat().as_bytes());
    builder.local("length", LocalStep::Observe, Arc::<Length>::clone(&length));
    let raw = format!("key {}", secret());
    let report = after(builder.build(), &room, &raw);
    for file in ["first.json", "second.json"] {
        assert_eq!(room.json(file)["result"]["output"], Value::String(raw.clone()), "{file}");
    }
    assert_eq!(*length.0.lock().unwrap(), [raw.len()]);
    assert_eq!(out(&report), "cut");
}

#[test]
fn adr004_scan_after_transform() {
    let room = Room::new();
    // The secret is not in the output of the tool: only a scan behind the transform can find it.
    let exec = "printf '{\"transformed\": {\"output\": \"new sk-ant-%sabcdefghijklmnopqrstuvwxyz\"}}' api03-";
    let report = after(gnoma(&entry("add", "post_tool_use", exec)), &room, "harmless");
    assert_eq!(out(&report), format!("new {MARKER}"));
    // And the transform itself saw raw text: it can act on what a scan would have removed.
    let exec = "if grep -q api03-abc; then echo '{\"transformed\": {\"output\": \"saw it\"}}'; fi";
    let report = after(gnoma(&entry("look", "post_tool_use", exec)), &room, &secret());
    assert_eq!(out(&report), "saw it");
}

#[test]
fn adr004_firewall_is_required() {
    // The only constructor takes a firewall; `ui/llm_no_firewall_no.rs` is the call without one.
    let new: fn(Arc<Firewall>, Arc<dyn PermissionRule>) -> HookServices = HookServices::new;
    let services = new(Arc::clone(&FIREWALL), Arc::new(Permit(Answer::Allow)));
    // Without any hook the output is scanned too.
    let dispatcher = Dispatcher::new(Plan::builder(RawOutput::All).build(), services).unwrap();
    let report = dispatcher.post_tool_use(&ran(), text_output(&secret()), &Room::new().at());
    assert_eq!((out(&report).as_str(), report.hooks.steps.len()), (MARKER, 0));
}

#[test]
fn adr004_command_hook_has_no_model() {
    let (room, model, spy) = (Room::new(), Recorder::new(&[]), Spy::default());
    let mut at = room.at();
    let keys = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "GEMINI_API_KEY"];
    for key in keys {
        at.env.insert(key.to_owned(), "value-of-the-model".to_owned());
    }
    let text = [
        entry("gate", "pre_tool_use", "cat > gate.json; env > gate.env"),
        entry("after", "post_tool_use", "cat > after.json; env > after.env"),
        entry("note", "session_start", "cat > note.json; env > note.env"),
    ];
    let services = services(Answer::Allow).start(Arc::new(spy.clone())).model(model.behind_firewall());
    let dispatcher = Dispatcher::new(gnoma(&text.concat()), services).unwrap();
    let _gate = dispatcher.gate(&bash("ls"), &at);
    let _after = dispatcher.post_tool_use(&ran(), text_output("out"), &at);
    let _note = dispatcher.notify(&plugward_hooks::GateCall::data(Event::SessionStart, json!({})), &at);
    assert!(model.texts().is_empty(), "a command hook made a request");

    let commands = spy.0.lock().unwrap().clone();
    assert_eq!(commands.len(), 3);
    for command in &commands {
        let names: Vec<&str> = command.env.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["HOME", "PATH", "CLAUDE_PROJECT_DIR"]);
        assert_eq!(command.argv.len(), 3);
        assert!(!format!("{command:?}").contains("value-of-the-model"));
    }
    for hook in ["gate", "after", "note"] {
        assert!(!room.text(&format!("{hook}.env")).contains("value-of-the-model"));
        let input = room.json(&format!("{hook}.json"));
        let members: Vec<&String> = input.as_object().unwrap().keys().collect();
        let known = ["args", "event", "result", "tool"];
        assert!(members.iter().all(|name| known.contains(&name.as_str())), "{members:?}");
    }
}

/// A call whose arguments have the secret, and its output, whose text, metadata and JSON string have it too.
fn leaky(form: Form) -> (ToolCall, Raw<Output>) {
    let key = secret();
    let args = json!({"command": format!("curl -H 'x-api-key: {key}' https://a.example"), "n": 1});
    let inner = json!({"inside": format!("line 1\nkey {key}")}).to_string();
    let (content, ended) = match form {
        Form::Text => (OutputContent::Text(format!("first {key} and {inner}")), ToolStatus::Ok),
        Form::Json => {
            (OutputContent::Json(json!({"body": inner, "list": [key, 2], &key: "as a name"})), ToolStatus::Ok)
        }
        Form::Error => (OutputContent::Text(format!("error: refused {key}")), ToolStatus::Failed),
    };
    let metadata = json!({"header": format!("Bearer {key}"), "plain": "stays"});
    (ToolCall { tool: "Bash".to_owned(), args }, Raw::new(Output { content, metadata, ended }))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Json,
    Error,
}

const FORMS: [Form; 3] = [Form::Text, Form::Json, Form::Error];

const ARGS: &str = r#"{"command":"curl -H 'x-api-key: [REDACTED:anthropic]' https://a.example","n":1}"#;

/// The output of [`leaky`] as a prompt must show it.
fn expected_result(form: Form) -> &'static str {
    match form {
        Form::Text => r#"first [REDACTED:anthropic] and {"inside":"line 1\nkey [REDACTED:anthropic]"}"#,
        Form::Json => {
            r#"{"[REDACTED:anthropic]":"as a name","body":"{\"inside\":\"line 1\\nkey [REDACTED:anthropic]\"}","list":["[REDACTED:anthropic]",2]}"#
        }
        Form::Error => "error: refused [REDACTED:anthropic]",
    }
}

#[test]
fn adr004_prompt_hook_is_redacted() {
    let template = "{{.Event}}|{{.Tool}}|{{.Args}}|{{.Result}}";
    for form in FORMS {
        let (room, model) = (Room::new(), Recorder::new(&[OK]));
        let services = services(Answer::Allow).model(model.behind_firewall());
        let plan = gnoma(&prompt_entry("judge", "post_tool_use", "prompt", template));
        let (call, output) = leaky(form);
        let report = Dispatcher::new(plan, services).unwrap().post_tool_use(&call, output, &room.at());
        assert_eq!(steps(&report.hooks), ["user:judge judge redacted skip -"]);
        let requests = model.requests.lock().unwrap().clone();
        let [parts] = &requests[..] else { panic!("{form:?}: {requests:?}") };
        let [(RequestRole::System, system), (RequestRole::User, user)] = &parts[..] else {
            panic!("{parts:?}")
        };
        assert!(!system.contains(&secret()));
        assert_eq!(*user, format!("post_tool_use|Bash|{ARGS}|{}", expected_result(form)), "{form:?}");
    }
}

#[test]
fn adr004_prompt_hook_is_redacted_for_claude() {
    for form in FORMS {
        let event = if form == Form::Error { "PostToolUseFailure" } else { "PostToolUse" };
        let (room, model) = (Room::new(), Recorder::new(&[OK]));
        let services = services(Answer::Allow).model(model.behind_firewall());
        let plan = claude(&handler(event, "Bash", &json!({"type": "prompt", "prompt": "Check: $ARGUMENTS"})));
        let (call, output) = leaky(form);
        let _report = Dispatcher::new(plan, services).unwrap().post_tool_use(&call, output, &room.at());
        let texts = model.texts();
        let [_, user] = &texts[0][..] else { panic!("{texts:?}") };
        assert!(!user.contains("api03"), "{user}");
        let envelope: Value = serde_json::from_str(user.strip_prefix("Check: ").unwrap()).unwrap();
        assert_eq!(envelope["tool_input"], serde_json::from_str::<Value>(ARGS).unwrap());
        let key = if form == Form::Error { "error" } else { "tool_response" };
        let shown = match &envelope[key] {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        assert_eq!(shown, expected_result(form), "{form:?}");
    }
}

#[test]
fn adr004_prompt_hook_is_redacted_in_template_and_gate() {
    let (room, model) = (Room::new(), Recorder::new(&[OK, OK]));
    let template = format!("Compare with {} first: {{{{.Args}}}}", secret());
    let text = [
        prompt_entry("template", "pre_tool_use", "prompt", &template),
        // The halves are harmless; what they render to is not.
        prompt_entry("seam", "pre_tool_use", "prompt", "sk-ant-{{.Tool}}abcdefghijklmnopqrstuvwxyz"),
    ];
    let services = services(Answer::Allow).model(model.behind_firewall());
    let dispatcher = Dispatcher::new(gnoma(&text.concat()), services).unwrap();
    let args = json!({"command": secret()});
    let call = plugward_hooks::GateCall::tool(Event::PreToolUse, "api03-".to_owned(), args);
    let report = dispatcher.gate(&call, &room.at());
    assert_eq!(report.hooks.answer, Answer::Allow);
    let users: Vec<String> = model.texts().into_iter().map(|parts| parts[1].clone()).collect();
    assert_eq!(users[0], format!("Compare with {MARKER} first: {{\"command\":\"{MARKER}\"}}"));
    assert_eq!(users[1], MARKER);
}

/// Asks twice, and quotes in the second request what a firewall with fewer rules let through.
struct Quotes(Firewall);

impl AgentLoop for Quotes {
    fn round(&self, request: ModelRequest, model: &dyn LlmAccess) -> Result<AgentRound, TransportError> {
        let reply = model.ask(request.clone())?;
        if request.parts().len() > 2 {
            return Ok(AgentRound::Done(reply));
        }
        let quote = self.0.redact(Raw::new(format!("the file says {}", secret())));
        assert!(quote.as_str().contains("api03"), "the weaker firewall lets it through");
        Ok(AgentRound::Continue(
            request.with(RequestRole::Assistant, reply).with(RequestRole::ToolResult, quote),
        ))
    }
}

#[test]
fn adr004_agent_hook_is_redacted() {
    let weaker =
        Firewall::new(RuleSelection::all().without("anthropic").unwrap(), Settings::reference()).unwrap();
    let loops: [(Arc<dyn AgentLoop>, Vec<String>); 2] = [
        (Arc::new(AskUntilVerdict), vec![format!("I see {MARKER}")]),
        (Arc::new(Quotes(weaker)), vec![format!("I see {MARKER}"), format!("the file says {MARKER}")]),
    ];
    for (agent, added) in loops {
        for form in FORMS {
            let reply = format!("I see {}", secret());
            let (room, model) = (Room::new(), Recorder::new(&[&reply, OK]));
            let services = services(Answer::Allow).model(model.behind_firewall()).agent(Arc::clone(&agent));
            let plan = gnoma(&prompt_entry("agent", "post_tool_use", "agent", "{{.Args}}|{{.Result}}"));
            let (call, output) = leaky(form);
            let report = Dispatcher::new(plan, services).unwrap().post_tool_use(&call, output, &room.at());
            assert_eq!(steps(&report.hooks), ["user:agent judge redacted skip -"]);
            let texts = model.texts();
            assert_eq!(texts.len(), 2);
            let user = format!("{ARGS}|{}", expected_result(form));
            assert_eq!((texts[0].len(), &texts[0][1]), (2, &user));
            assert_eq!(texts[1][1], user);
            assert_eq!(texts[1][2..], added[..]);
        }
    }
}

#[test]
fn adr004_deny_after_use_is_skip() {
    let room = Room::new();
    let denies = [
        gnoma(&entry("g", "post_tool_use", "echo too late >&2; exit 2")),
        claude(&handler(
            "PostToolUse",
            "",
            &json!({"type": "command", "command": "echo too late >&2; exit 2"}),
        )),
        claude(&handler(
            "PostToolUse",
            "",
            &json!({"type": "command", "command": "echo '{\"decision\": \"block\", \"reason\": \"too late\"}'"}),
        )),
    ];
    for plan in denies {
        let report = after(plan, &room, "the output");
        assert_eq!(report.hooks.answer, Answer::Skip);
        let reasons: Vec<&str> = report.hooks.reasons.iter().map(plugward_redact::Redacted::as_str).collect();
        assert_eq!(reasons, ["too late"]);
        assert_eq!(report.hooks.steps[0].message.as_ref().unwrap().as_str(), "too late");
        assert!(steps(&report.hooks)[0].ends_with("transform raw skip -"), "{:?}", steps(&report.hooks));
        assert_eq!(out(&report), "the output", "the output goes on");
    }
}

/// Encodes the fourth word of the output, as told by its argument, and writes the result to a file as well.
const ENCODE: &str = r#"
import base64, codecs, gzip, hashlib, json, sys
way = sys.argv[1]
words = json.load(sys.stdin)["result"]["output"].split(" ")
plain = words[3].encode()
words[3] = {
    "base64": lambda: base64.b64encode(plain).decode(),
    "hex": lambda: plain.hex(),
    "percent": lambda: "".join("%%%02X" % byte for byte in plain),
    "reversed": lambda: words[3][::-1],
    "gzip": lambda: base64.b64encode(gzip.compress(plain, mtime=0)).decode(),
    "summary": lambda: "%d-bytes-sha256-%s-from-%s" % (len(plain), hashlib.sha256(plain).hexdigest()[:12], words[3][:4]),
    "rot13": lambda: codecs.encode(words[3], "rot13"),
    "xor": lambda: bytes(byte ^ 0x5a for byte in plain).hex(),
}[way]()
text = " ".join(words)
open("printed", "w").write(text)
print(json.dumps({"transformed": {"output": text}}))
"#;

/// Runs the transform over `the key is WORD today`; returns the report and what the hook printed.
fn encoded(way: &str, word: &str) -> (plugward_hooks::PostToolReport, String) {
    let room = Room::new();
    room.write("encode.py", ENCODE);
    let plan = gnoma(&entry("encode", "post_tool_use", &format!("python3 encode.py {way}")));
    let report = after(plan, &room, &format!("the key is {word} today"));
    let printed = room.text("printed");
    assert!(!printed.is_empty(), "{way}: {}", shown(&report.hooks));
    (report, printed)
}

#[test]
fn adr004_transform_is_caught() {
    if !has("python3") {
        return;
    }
    for way in ["base64", "hex", "percent", "reversed", "gzip"] {
        let (report, printed) = encoded(way, &secret());
        let rows: Vec<(&str, &[String])> =
            report.hooks.laundered.iter().map(|row| (row.hook.as_str(), &row.kinds[..])).collect();
        assert_eq!(rows, [("user:encode", &["anthropic".to_owned()][..])], "{way}");
        let text = out(&report);
        assert!(text.starts_with("the key is [REDACTED:") && text.ends_with("] today"), "{way}: {text}");
        let word = printed.split(' ').nth(3).unwrap();
        let middle = &word[word.len() / 4..word.len() * 3 / 4];
        assert!(!text.contains(middle) && !text.contains(&secret()), "{way}: {text}");

        let (report, printed) = encoded(way, "an-ordinary-word-of-the-same-length-as-a-key");
        assert_eq!((out(&report), report.hooks.laundered.len()), (printed, 0), "{way}");
    }
}

#[test]
fn adr004_transform_limits() {
    if !has("python3") {
        return;
    }
    // These pass today. If one no longer does, the ADR and section 5 of the design page can be stricter.
    for way in ["summary", "rot13", "xor"] {
        let (report, printed) = encoded(way, &secret());
        assert_eq!((out(&report), report.hooks.laundered.len()), (printed, 0), "{way}");
    }
    // A password of seven bytes is found where a URL tells of it, and is too short to look for again.
    let short = ["k3!", "zQ9v"].concat();
    let url = format!("postgres://user:{short}@host/db");
    assert_eq!(
        FIREWALL.redact(Raw::new(url.clone())).as_str(),
        "postgres://user:[REDACTED:url-userinfo]@host/db"
    );
    let room = Room::new();
    for printed in [short.clone(), short.chars().rev().collect(), hex(&short)] {
        let exec = format!("echo '{{\"transformed\": {{\"output\": \"it is {printed} there\"}}}}'");
        let report = after(gnoma(&entry("short", "post_tool_use", &exec)), &room, &url);
        assert_eq!((out(&report), report.hooks.laundered.len()), (format!("it is {printed} there"), 0));
    }
    // A value of eight bytes is looked for.
    let long = format!("{short}w");
    let exec = format!("echo '{{\"transformed\": {{\"output\": \"it is {} there\"}}}}'", hex(&long));
    let url = format!("postgres://user:{long}@host/db");
    let report = after(gnoma(&entry("long", "post_tool_use", &exec)), &room, &url);
    assert_eq!((report.hooks.laundered.len(), out(&report).contains(&hex(&long))), (1, false));
}

#[test]
fn adr004_new_hook_type_needs_llm_access() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/llm_*_ok.rs");
    cases.compile_fail("tests/ui/llm_*_no.rs");
}

/// Returns the comments of a source file that name the ADR, each as one line.
fn adr_comments(source: &str) -> Vec<String> {
    let mut comments = vec![String::new()];
    for line in source.lines() {
        match line.trim_start().strip_prefix("//") {
            Some(text) => {
                let text = text.trim_start_matches(['/', '!']).trim();
                let last = comments.last_mut().unwrap();
                *last = format!("{last} {text}");
            }
            None => comments.push(String::new()),
        }
    }
    comments.retain(|comment| comment.contains("ADR-004"));
    comments
}

#[test]
fn adr004_doc_comments() {
    let rules: [(&str, &str, &[&str]); 3] = [
        ("event.rs", include_str!("../../src/events/event.rs"), &["one event", "not split", "reorder"]),
        (
            "dispatch.rs",
            include_str!("../../src/execution/dispatch.rs"),
            &["as the tool left it", "after the transform step", "deny counts as skip"],
        ),
        (
            "judge.rs",
            include_str!("../../src/execution/judge.rs"),
            &["reach a model only through", "LlmAccess", "scan"],
        ),
    ];
    for (file, source, words) in rules {
        let comments = adr_comments(source);
        let states = |comment: &String| words.iter().all(|word| comment.contains(word));
        assert!(comments.iter().any(states), "{file}: no comment on ADR-004 has {words:?}: {comments:?}");
    }
    // At the event itself, where a reader of the docs finds it, and not in a comment of the file alone.
    assert!(include_str!("../../src/events/event.rs").contains("/// ADR-004"));
    assert!(include_str!("../../src/execution/dispatch.rs").contains("/// ADR-004"));
}

#[test]
fn adr004_reopen_conditions() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/adr");
    let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let is_it = |path: &std::path::PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("0006-");
    let path = entries.into_iter().find(is_it).expect("docs/adr has the decision");
    let text = std::fs::read_to_string(&path).unwrap();
    let (_, list) = text.split_once("\n## Reopen when").expect("a section `Reopen when`");
    let list = list.split("\n## ").next().unwrap();
    // Each condition is an item of the list, and names its test.
    let items: Vec<String> = list.split("\n- ").skip(1).map(str::to_lowercase).collect();
    assert_eq!(items.len(), 4, "{items:?}");
    let conditions: [(&str, &[&str]); 4] = [
        ("reaches a model another way", &["new_hook_type_needs_llm_access", "rows"]),
        ("safeprovider gets weaker", &["safeprovider", "provider_scans_alone"]),
        ("many prompt hooks after use", &["prompt", "corpus"]),
        ("a transform defeats the scan", &["transform", "transform_limits"]),
    ];
    for (condition, words) in conditions {
        let names = |item: &String| words.iter().all(|word| item.contains(word));
        assert!(items.iter().any(names), "{condition}: no item has {words:?}: {items:?}");
    }
}

#[test]
fn adr004_provider_scans_alone() {
    let weaker =
        Firewall::new(RuleSelection::all().without("anthropic").unwrap(), Settings::reference()).unwrap();
    let weaker = Arc::new(weaker);
    let (room, model) = (Room::new(), Recorder::new(&[OK, OK]));
    let services = HookServices::new(Arc::clone(&weaker), Arc::new(Permit(Answer::Allow)));
    let all = Arc::new(Firewall::new(RuleSelection::all(), Settings::reference()).unwrap());
    let services = services.model(Arc::new(SafeProvider::new(all, model.clone())));
    let text = [
        prompt_entry("after", "post_tool_use", "prompt", "{{.Result}}"),
        prompt_entry("before", "pre_tool_use", "prompt", "{{.Args}}"),
    ];
    let dispatcher = Dispatcher::new(gnoma(&text.concat()), services).unwrap();
    let report = dispatcher.post_tool_use(&ran(), text_output(&secret()), &room.at());
    assert!(out(&report).contains("api03"), "the firewall of the dispatcher alone lets it through");
    let _gate = dispatcher.gate(&bash(&secret()), &room.at());
    let users: Vec<String> = model.texts().into_iter().map(|parts| parts[1].clone()).collect();
    assert_eq!(users, [MARKER.to_owned(), format!("{{\"command\":\"{MARKER}\"}}")]);
}

#[test]
fn adr004_the_event_fires_after_a_failed_tool() {
    let room = Room::new();
    let plan = plan_of(&[
        (Scope::User, Dialect::Gnoma, &entry("g", "post_tool_use", "cat > gnoma.json")),
        (Scope::User, Dialect::Codex, &crate::common::command("PostToolUse", "cat > codex.json")),
    ]);
    let failed = output(OutputContent::Text(format!("no such key {}", secret())), ToolStatus::Failed);
    let report = dispatcher(plan).post_tool_use(&ran(), failed, &room.at());
    assert_eq!(room.json("gnoma.json")["result"]["failed"], json!(true));
    assert_eq!(room.json("gnoma.json")["result"]["output"], json!(format!("no such key {}", secret())));
    assert!(room.text("codex.json").contains("no such key"));
    assert_eq!(out(&report), format!("no such key {MARKER}"));
    assert_eq!(report.output.as_ref().ended, ToolStatus::Failed);
    assert!(report.hooks.steps.iter().all(|step| step.step == Step::Transform));
}
