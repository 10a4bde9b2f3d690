//! Prompt, agent and in-process hooks: verdicts, and what a model that does not answer costs.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use plugward_hooks::{
    AgentLoop, AgentRound, Answer, AskUntilVerdict, Dispatcher, Event, GateCall, HookReport, JudgeHook,
    LocalHook, LocalReply, LocalStep, Nesting, Plan, RawOutput,
};
use plugward_redact::{
    LlmAccess, LocalProof, ModelRequest, Output, OutputContent, Raw, Redacted, RequestRole, SafeProvider,
    Transport, TransportError,
};
use serde_json::json;

use crate::common::{
    FIREWALL, MARKER, Recorder, Room, after, bash, claude, gnoma, handler, out, prompt_entry, ran, secret,
    services, steps, text_output, within,
};

/// Asks a model with fixed replies about a gate and about an output.
fn both(kind: &str, replies: &[&str], nesting: Nesting) -> [HookReport; 2] {
    ["pre_tool_use", "post_tool_use"].map(|event| {
        let model = Recorder::new(replies);
        let services =
            services(Answer::Allow).model(model.behind_firewall()).agent(Arc::new(AskUntilVerdict));
        let dispatcher =
            Dispatcher::new(gnoma(&prompt_entry("judge", event, kind, "{{.Args}}")), services).unwrap();
        let mut at = Room::new().at();
        at.nesting = nesting;
        if event == "pre_tool_use" {
            dispatcher.gate(&bash("ls"), &at).hooks
        } else {
            let report = dispatcher.post_tool_use(&ran(), text_output("out"), &at);
            assert_eq!(out(&report), "out", "a judge changes nothing");
            report.hooks
        }
    })
}

#[test]
fn a_verdict_answers_a_gate_and_is_skip_after_use() {
    for kind in ["prompt", "agent"] {
        for (reply, answer) in [
            ("{\"ok\": true}", Answer::Allow),
            ("```json\n{\"ok\": true}\n```", Answer::Allow),
            ("ALLOW", Answer::Allow),
            ("ALLOW\nbecause", Answer::Allow),
            ("SKIP", Answer::Allow),
            ("{\"ok\": false, \"reason\": \"no\"}", Answer::Deny),
            ("{\"ok\": false, \"impossible\": true}", Answer::Deny),
            ("DENY\nno", Answer::Deny),
        ] {
            let [gate, after] = both(kind, &[reply], Nesting::Outside);
            assert_eq!(gate.answer, answer, "{kind} {reply}");
            assert_eq!(after.answer, Answer::Skip, "{kind} {reply}");
            assert!(steps(&after)[0].ends_with("judge redacted skip -"), "{kind} {reply}");
        }
    }
}

#[test]
fn a_model_without_a_verdict_is_a_failure() {
    for reply in [
        "maybe",
        "DISALLOW",
        "{\"ok\": 1}",
        "{}",
        "{\"ok\": true} {\"ok\": true}",
        "{\"ok\": false, \"ok\": true}",
        "```{\"ok\": true}",
        "Sure: {\"ok\": true}",
        "[true]",
    ] {
        let [gate, after] = both("prompt", &[reply], Nesting::Outside);
        assert_eq!(gate.answer, Answer::Deny, "{reply}");
        assert_eq!(steps(&gate), ["user:judge judge redacted failure hook/model"], "{reply}");
        assert_eq!(steps(&after), ["user:judge judge redacted failure hook/model"], "{reply}");
    }
    for kind in ["prompt", "agent"] {
        let [gate, after] = both(kind, &[], Nesting::Outside);
        assert_eq!(gate.answer, Answer::Deny, "{kind}: no reply");
        assert_eq!(steps(&gate), ["user:judge judge redacted failure hook/model"]);
        assert_eq!(steps(&after), ["user:judge judge redacted failure hook/model"]);
    }
}

#[test]
fn an_agent_asks_five_times_at_most() {
    let model = Recorder::new(&["no", "no", "no", "no", "no", "{\"ok\": true}"]);
    let services = services(Answer::Allow).model(model.behind_firewall()).agent(Arc::new(AskUntilVerdict));
    let plan = gnoma(&prompt_entry("agent", "pre_tool_use", "agent", "{{.Args}}"));
    let report = Dispatcher::new(plan, services).unwrap().gate(&bash("ls"), &Room::new().at());
    assert_eq!((report.hooks.answer, model.texts().len()), (Answer::Deny, 5));
    assert_eq!(report.hooks.steps[0].code, Some("hook/model"));
    let [gate, _] = both("agent", &["no", "no", "no", "no", "{\"ok\": true}"], Nesting::Outside);
    assert_eq!(gate.answer, Answer::Allow);
}

#[test]
fn a_model_hook_inside_an_agent_hook_fails() {
    for kind in ["prompt", "agent"] {
        let [gate, after] = both(kind, &["{\"ok\": true}"], Nesting::InsideAgentHook);
        assert_eq!(gate.answer, Answer::Deny);
        assert_eq!(steps(&gate), ["user:judge judge redacted failure hook/depth"]);
        assert_eq!(steps(&after), ["user:judge judge redacted failure hook/depth"]);
    }
}

/// A model that replies when the test is over.
#[derive(Clone, Default)]
struct Hanging(Arc<(Mutex<bool>, Condvar)>);

impl Transport for Hanging {
    fn send(&self, _: &ModelRequest) -> Result<Raw<String>, TransportError> {
        let (over, signal) = &*self.0;
        let _over = signal.wait_while(over.lock().unwrap(), |over| !*over).unwrap();
        Ok(Raw::new("{\"ok\": true}".to_owned()))
    }
}

#[test]
fn a_model_that_hangs_is_left_after_the_timeout() {
    let hanging = Hanging::default();
    for kind in ["prompt", "agent"] {
        for event in ["pre_tool_use", "post_tool_use"] {
            let model = Arc::new(SafeProvider::new(Arc::clone(&FIREWALL), hanging.clone()));
            let services = services(Answer::Allow).model(model).agent(Arc::new(AskUntilVerdict));
            let text = format!("{}timeout = \"300ms\"\n", prompt_entry("judge", event, kind, "{{.Args}}"));
            let dispatcher = Dispatcher::new(gnoma(&text), services).unwrap();
            let at = Room::new().at();
            let report = within(Duration::from_millis(300), kind, || {
                if event == "pre_tool_use" {
                    let report = dispatcher.gate(&bash("ls"), &at).hooks;
                    assert_eq!(report.answer, Answer::Deny);
                    report
                } else {
                    let report = dispatcher.post_tool_use(&ran(), text_output("out"), &at);
                    assert_eq!(out(&report), "out");
                    report.hooks
                }
            });
            assert_eq!(
                steps(&report),
                ["user:judge judge redacted failure hook/timed-out"],
                "{kind} {event}"
            );
        }
    }
    *hanging.0.0.lock().unwrap() = true;
    hanging.0.1.notify_all();
}

/// A transport that panics.
struct Panics;

impl Transport for Panics {
    fn send(&self, _: &ModelRequest) -> Result<Raw<String>, TransportError> {
        panic!("this transport is broken")
    }
}

#[test]
fn a_transport_that_panics_is_a_failure() {
    let model = Arc::new(SafeProvider::new(Arc::clone(&FIREWALL), Panics));
    let plan = gnoma(&prompt_entry("judge", "pre_tool_use", "prompt", "{{.Args}}"));
    let dispatcher = Dispatcher::new(plan, services(Answer::Allow).model(model)).unwrap();
    let report = dispatcher.gate(&bash("ls"), &Room::new().at());
    assert_eq!(steps(&report.hooks), ["user:judge judge redacted failure hook/model"]);
    assert_eq!(report.hooks.answer, Answer::Deny);
}

#[test]
fn a_stop_hook_whose_condition_is_impossible_skips() {
    let model = Recorder::new(&["{\"ok\": false, \"impossible\": true}", "{\"ok\": false}"]);
    let plan = claude(&handler("Stop", "", &json!({"type": "prompt", "prompt": "Done?"})));
    let dispatcher = Dispatcher::new(plan, services(Answer::Allow).model(model.behind_firewall())).unwrap();
    let call = GateCall::data(Event::Stop, json!({"stop_hook_active": false}));
    assert_eq!(dispatcher.gate(&call, &Room::new().at()).hooks.answer, Answer::Allow);
    assert_eq!(dispatcher.gate(&call, &Room::new().at()).hooks.answer, Answer::Deny);
}

#[test]
fn a_template_is_rendered_once_and_cut() {
    let model = Recorder::new(&["ALLOW", "ALLOW", "ALLOW"]);
    let services = || services(Answer::Allow).model(model.behind_firewall());
    let at = Room::new().at();
    let plan = gnoma(&prompt_entry("judge", "pre_tool_use", "prompt", "{{.Tool}} {{.Args}} {{.Nope}}"));
    let call =
        GateCall::tool(Event::PreToolUse, "{{.Args}}".to_owned(), json!({"command": "{{.Tool}} $ARGUMENTS"}));
    let _report = Dispatcher::new(plan, services()).unwrap().gate(&call, &at);
    // A placeholder in a value is not filled, and an unknown one stays.
    assert_eq!(model.texts()[0][1], "{{.Args}} {\"command\":\"{{.Tool}} $ARGUMENTS\"} {{.Nope}}");

    let plan = gnoma(&prompt_entry("judge", "post_tool_use", "prompt", "{{.Result}}"));
    let long = text_output(&"ä ".repeat(50_000));
    let _report = Dispatcher::new(plan, services()).unwrap().post_tool_use(&ran(), long, &at);
    let cut = &model.texts()[1][1];
    assert!(cut.len() <= 64 << 10 && cut.len() > (64 << 10) - 8, "{}", cut.len());

    let plan = claude(&handler("PreToolUse", "", &json!({"type": "prompt", "prompt": "Is it fine?"})));
    let _report = Dispatcher::new(plan, services()).unwrap().gate(&bash("ls"), &at);
    let text = &model.texts()[2][1];
    assert!(text.starts_with("Is it fine?\n\n{") && text.contains("\"ls\""), "appended if missing: {text}");
}

#[test]
fn a_secret_at_the_cut_is_not_sent_in_part() {
    for before in 0..40 {
        let model = Recorder::new(&["ALLOW"]);
        let plan = gnoma(&prompt_entry("judge", "post_tool_use", "prompt", "{{.Result}}"));
        let dispatcher =
            Dispatcher::new(plan, services(Answer::Allow).model(model.behind_firewall())).unwrap();
        let text = format!("{} {} and more", "a".repeat((64 << 10) - before), secret());
        let _report = dispatcher.post_tool_use(&ran(), text_output(&text), &Room::new().at());
        assert!(!model.texts()[0][1].contains("sk-ant"), "{before}");
    }
}

#[test]
fn a_gate_is_not_judged_by_a_part_of_its_arguments() {
    let model = Recorder::new(&["ALLOW"]);
    let plan = gnoma(&prompt_entry("judge", "pre_tool_use", "prompt", "{{.Args}}"));
    let dispatcher = Dispatcher::new(plan, services(Answer::Allow).model(model.behind_firewall())).unwrap();
    let report = dispatcher.gate(&bash(&"a ".repeat(50_000)), &Room::new().at());
    assert_eq!(steps(&report.hooks), ["user:judge judge redacted failure hook/oversize"]);
    assert_eq!((report.hooks.answer, model.texts().len()), (Answer::Deny, 0));
}

/// A hook of the host that quotes the output to the model, and returns its reply as a message.
struct Quotes;

impl JudgeHook for Quotes {
    fn judge(
        &self,
        output: &Redacted<Output>,
        model: &dyn LlmAccess,
    ) -> Result<Option<Redacted>, TransportError> {
        let OutputContent::Text(text) = &output.as_ref().content else { return Ok(None) };
        let part = FIREWALL.redact(Raw::new(text.clone()));
        model.ask(ModelRequest::new().with(RequestRole::User, part)).map(Some)
    }
}

#[test]
fn a_judge_of_the_host_sees_redacted_output() {
    let mut builder = Plan::builder(RawOutput::All);
    builder.judge("quotes", Arc::new(Quotes));
    let plan = builder.build();
    assert_eq!((plan.hooks()[0].id(), plan.hooks()[0].handler()), ("host:quotes", "judge"));
    let model = Recorder::new(&["fine"]);
    let dispatcher =
        Dispatcher::new(plan.clone(), services(Answer::Allow).model(model.behind_firewall())).unwrap();
    let report = dispatcher.post_tool_use(&ran(), text_output(&secret()), &Room::new().at());
    assert_eq!(model.texts(), [[MARKER.to_owned()]]);
    assert_eq!(report.hooks.messages[0].as_str(), "fine");
    let mut at = Room::new().at();
    at.nesting = Nesting::InsideAgentHook;
    let report = dispatcher.post_tool_use(&ran(), text_output("x"), &at);
    assert_eq!(steps(&report.hooks), ["host:quotes judge redacted failure hook/depth"]);
    assert!(Dispatcher::new(plan, services(Answer::Allow)).is_err(), "no model");
}

/// A hook of the host that adds the secret.
struct Adds;

impl LocalHook for Adds {
    fn look(&self, output: &Raw<Output>, proof: &LocalProof<'_>) -> LocalReply {
        let output = output.expose(proof);
        let OutputContent::Text(text) = &output.content else { return LocalReply::Keep };
        let content = OutputContent::Text(format!("{text} {}", secret()));
        LocalReply::Replace(Output { content, metadata: output.metadata.clone(), ended: output.ended })
    }
}

#[test]
fn what_a_local_hook_writes_is_scanned_and_what_an_observer_writes_is_not_used() {
    for (step, expected) in
        [(LocalStep::Transform, format!("out {MARKER}")), (LocalStep::Observe, "out".to_owned())]
    {
        let mut builder = Plan::builder(RawOutput::ManagedAndUser);
        builder.local("adds", step, Arc::new(Adds));
        let report = after(builder.build(), &Room::new(), "out");
        assert_eq!(out(&report), expected);
    }
}

/// An agent that returns an error in its second round.
struct GivesUp;

impl AgentLoop for GivesUp {
    fn round(&self, request: ModelRequest, model: &dyn LlmAccess) -> Result<AgentRound, TransportError> {
        let reply = model.ask(request.clone())?;
        Ok(AgentRound::Continue(request.with(RequestRole::Assistant, reply)))
    }
}

#[test]
fn an_agent_that_gives_up_is_a_failure() {
    let model = Recorder::new(&["one"]);
    let services = services(Answer::Allow).model(model.behind_firewall()).agent(Arc::new(GivesUp));
    let plan = gnoma(&prompt_entry("agent", "pre_tool_use", "agent", "{{.Args}}"));
    let report = Dispatcher::new(plan, services).unwrap().gate(&bash("ls"), &Room::new().at());
    assert_eq!(steps(&report.hooks), ["user:agent judge redacted failure hook/model"]);
    assert_eq!(model.texts().len(), 2);
}
