//! Runs the hooks of one event in order.

use plugward_redact::{KnownSecrets, Output, OutputContent, Raw, Redacted, SecretFinding, ToolStatus};
use plugward_types::Part;
use serde_json::{Map, Value};

use crate::definitions::hook::{CommandForm, Handler, Hook, OnFailure, Scope, Step, View};
use crate::definitions::plan::Plan;
use crate::error::{HookError, HookErrorKind};
use crate::events::call::{FireContext, GateCall, Nesting, Payload, ResultView, ToolCall, envelope};
use crate::events::event::{Event, EventClass};
use crate::execution::environment::command;
use crate::execution::judge::{self, Subject};
use crate::execution::services::{HookServices, LendCheck, LocalReply, RawGrants};
use crate::execution::{command as program, local};
use crate::replies::reply::{self, Failure, Reply, Rewrite};
use crate::replies::report::{
    Answer, GateReport, HookReport, Laundered, PostToolReport, ProposedArgs, StepReport, StepResult,
};
use crate::replies::rewrite::rewritten;

/// The limit for a reason, message or context of a hook, in characters.
const LONGEST_TEXT: usize = 10_000;
/// The limit for the standard input of a hook: a payload of 16 MiB, and the host's additions.
const STDIN_BYTES: usize = (16 << 20) + (64 << 10);
/// The number of consecutive stops that hooks can deny. The next stop is allowed, so that a hook cannot
/// keep the agent working forever.
const STOP_DENIALS: u32 = 8;

/// Runs the hooks of a plan.
///
/// # Guarantees
/// Hooks run one after another in the order of the plan. Raw output reaches only hooks whose view is raw,
/// and never a model. A gate that fails denies, unless its definition says otherwise.
#[derive(Debug, Clone)]
pub struct Dispatcher {
    plan: Plan,
    services: HookServices,
}

impl Dispatcher {
    /// Creates a dispatcher for a plan.
    ///
    /// # Errors
    /// [`HookError`] if the services cannot run a hook of the plan: `hook/no-starter`, `hook/no-model` or
    /// `hook/no-agent`.
    pub fn new(plan: Plan, services: HookServices) -> Result<Self, HookError> {
        for hook in plan.hooks() {
            let lacks = match &hook.handler {
                Handler::Command(_) if services.start.is_none() => Some(HookErrorKind::NoStarter),
                Handler::Prompt(_) | Handler::Agent(_) | Handler::Judge(_) if services.model.is_none() => {
                    Some(HookErrorKind::NoModel)
                }
                Handler::Agent(_) if services.agent.is_none() => Some(HookErrorKind::NoAgent),
                _ => None,
            };
            if let Some(kind) = lacks {
                return Err(HookError::new(kind, &hook.id));
            }
        }
        Ok(Self { plan, services })
    }

    /// Returns the plan.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Runs the hooks of a gate event, and returns the strictest answer.
    ///
    /// After a rewrite, hooks that answered about earlier arguments answer again about the final ones, and
    /// cannot rewrite them. The host's rule answers about both.
    pub fn gate(&self, call: &GateCall, at: &FireContext) -> GateReport {
        let mut firing = Firing::new(self, call.event, at);
        firing.learn(call.value());
        let rule = &self.services.permission;
        let mut host = rule.answer(call);
        let all = self.hooks(call.event, ToolStatus::Ok);
        let mut current = call.clone();
        // The version of the arguments about which each hook answered.
        let mut answered: Vec<Option<usize>> = vec![None; all.len()];
        let (mut version, mut value) = (0_usize, None);
        for (place, hook) in all.iter().enumerate() {
            if !is_first_match(&all, place, &current, at) {
                continue;
            }
            let rewrites = if hook.step == Step::Observe { Rewrites::Ignored } else { Rewrites::Allowed };
            let reply = firing.ask(hook, &current, None, rewrites);
            if let Some(slot) = answered.get_mut(place) {
                *slot = Some(version);
            }
            let Some(mut reply) = reply else { continue };
            value = reply.value.take().or(value);
            if let Some(new) = reply.args.take().filter(|new| new != current.value()) {
                current = current.with_value(new);
                firing.writer = Some(hook.id.clone());
                // This comes before the new arguments are learned, so that an encoded secret in them is
                // reported once.
                let _reported = firing.redacted(current.value());
                firing.learn(current.value());
                version = version.saturating_add(1);
                // A hook's answer is about the arguments that it wrote.
                if let Some(slot) = answered.get_mut(place) {
                    *slot = Some(version);
                }
            }
        }
        if version > 0 {
            host = host.max(rule.answer(&current));
            for (place, hook) in all.iter().enumerate().filter(|(_, hook)| hook.step != Step::Observe) {
                let is_current = answered.get(place) == Some(&Some(version));
                if !is_current && is_first_match(&all, place, &current, at) {
                    firing.ask(hook, &current, None, Rewrites::Ignored);
                }
            }
        }
        firing.settle_gate(&current, host);
        let redacted = firing.redacted(current.value());
        let redacted = self.services.firewall.redact_json(Raw::new(redacted));
        let reply = value.map(|value| self.services.firewall.redact_json(Raw::new(firing.redacted(&value))));
        firing.mark_laundered();
        let answer = firing.report.answer;
        let proposed = ProposedArgs { value: current.into_value(), redacted, answer };
        GateReport { hooks: firing.report, proposed, reply }
    }

    /// Runs the hooks of `post_tool_use` and, after a failure, of `post_tool_use_failure`.
    ///
    /// ADR-004 in `docs/source-documents.md`: hooks see the output as the tool left it, and the firewall scans
    /// it after the transform step. The raw output is consumed, and only the redacted output is returned. A
    /// deny counts as skip, since the tool has already run.
    pub fn post_tool_use(&self, call: &ToolCall, output: Raw<Output>, at: &FireContext) -> PostToolReport {
        let ended = local::ended(&output);
        let payload = Payload::Tool { tool: call.tool.clone(), args: call.args.clone() };
        let call = GateCall { event: Event::PostToolUse, payload };
        let mut firing = Firing::new(self, Event::PostToolUse, at);
        self.services.firewall.remember(&output, &mut firing.known);
        firing.learn(call.value());
        let all = self.hooks(Event::PostToolUse, ended);
        let mut current = Current { raw: output, scanned: None };
        for (place, hook) in all.iter().enumerate() {
            if hook.step == Step::Judge {
                // The firewall step: hooks after this point see redacted output.
                firing.scan(&mut current, None);
            }
            if !is_first_match(&all, place, &call, at) {
                continue;
            }
            let rewrites = if hook.step == Step::Transform { Rewrites::Allowed } else { Rewrites::Ignored };
            let new = match &hook.handler {
                Handler::Local(own) => firing.look(hook, own.as_ref(), &current.raw),
                _ => firing.ask(hook, &call, Some(&mut current), rewrites).and_then(|wanted| wanted.output),
            };
            if let Some(new) = new {
                current = Current { raw: new, scanned: None };
                firing.scan(&mut current, Some(&hook.id));
            }
        }
        firing.report.answer = Answer::Skip;
        let Current { raw, scanned } = current;
        let output = scanned.unwrap_or_else(|| self.services.firewall.redact_output(raw, &firing.known).0);
        firing.mark_laundered();
        PostToolReport { hooks: firing.report, output }
    }

    /// Runs the hooks of a notice. The answer is skip. For a gate event, which should go to
    /// [`Dispatcher::gate`], it is the strictest answer of the hooks.
    #[must_use]
    pub fn notify(&self, call: &GateCall, at: &FireContext) -> HookReport {
        let mut firing = Firing::new(self, call.event, at);
        firing.learn(call.value());
        let all = self.hooks(call.event, ToolStatus::Ok);
        for (place, hook) in all.iter().enumerate() {
            if is_first_match(&all, place, call, at) {
                firing.ask(hook, call, None, Rewrites::Ignored);
            }
        }
        firing.mark_laundered();
        firing.report
    }

    /// Returns the hooks of an event in order. Claude's hooks for the other result of a tool are left out.
    fn hooks(&self, event: Event, ended: ToolStatus) -> Vec<&Hook> {
        use plugward_manifest::Dialect::Claude;
        let fires = |hook: &&Hook| match (hook.event, event) {
            (Event::PostToolUse, Event::PostToolUse) => hook.dialect != Claude || ended == ToolStatus::Ok,
            (Event::PostToolUseFailure, Event::PostToolUse) => ended == ToolStatus::Failed,
            (own, fired) => own == fired,
        };
        let mut hooks: Vec<&Hook> = self.plan.hooks().iter().filter(fires).collect();
        // Both events of a failed tool count as one event here.
        hooks.sort_by(|a, b| a.order().cmp(&b.order()));
        hooks
    }
}

/// Returns `true` if a hook applies to the call, and no earlier hook of its source runs the same command.
fn is_first_match(all: &[&Hook], place: usize, call: &GateCall, at: &FireContext) -> bool {
    let Some(hook) = all.get(place) else { return false };
    let earlier = all.iter().take(place);
    matches(hook, call, at)
        && !earlier.into_iter().any(|other| other.repeats(hook) && matches(other, call, at))
}

fn matches(hook: &Hook, call: &GateCall, at: &FireContext) -> bool {
    // A hook runs if the payload lacks the matched part: a gate that does not run has not agreed.
    if call.matched().is_some_and(|name| !hook.matcher.matches(name)) {
        return false;
    }
    match (&hook.condition, &call.payload) {
        (None, _) => true,
        (Some(condition), Payload::Tool { tool, args }) => condition.holds(tool, args, &at.project),
        // A hook with `if` never runs outside tool events.
        (Some(_), Payload::Data(_)) => false,
    }
}

/// Whether a hook can replace what it sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rewrites {
    Allowed,
    Ignored,
}

/// The present output of a tool, with the result of its scan.
struct Current {
    raw: Raw<Output>,
    scanned: Option<Redacted<Output>>,
}

/// The checked changes that a hook requests.
#[derive(Default)]
struct Wanted {
    args: Option<Value>,
    output: Option<Raw<Output>>,
    value: Option<Value>,
}

/// An event while its hooks run.
struct Firing<'d> {
    dispatcher: &'d Dispatcher,
    at: &'d FireContext,
    /// The secrets of the payload, which are searched for in the output of hooks.
    known: KnownSecrets,
    /// The hook that wrote the present arguments.
    writer: Option<String>,
    /// The encoded secrets in the output of the last hook that replaced it.
    output_laundered: Vec<SecretFinding>,
    report: HookReport,
}

impl<'d> Firing<'d> {
    fn new(dispatcher: &'d Dispatcher, event: Event, at: &'d FireContext) -> Self {
        Self {
            dispatcher,
            at,
            known: KnownSecrets::new(),
            writer: None,
            output_laundered: Vec::new(),
            report: HookReport::new(event),
        }
    }

    /// Stores the secrets of arguments or data.
    fn learn(&mut self, value: &Value) {
        self.dispatcher.services.firewall.remember(&as_output(value.clone()), &mut self.known);
    }

    /// Redacts arguments or data. Secrets of the payload are found without their names and in other
    /// encodings too, and are reported for the hook that wrote the arguments.
    fn redacted(&mut self, value: &Value) -> Value {
        let firewall = &self.dispatcher.services.firewall;
        let (redacted, laundered) = firewall.redact_output(as_output(value.clone()), &self.known);
        if let Some(writer) = self.writer.clone() {
            self.laundered(&writer, &laundered);
        }
        match redacted.into_value().content {
            OutputContent::Json(value) => value,
            OutputContent::Text(text) => Value::String(text),
        }
    }

    /// Returns the call for hooks that must not see raw text. The name of a tool can be a secret too.
    fn redacted_call(&mut self, call: &GateCall) -> GateCall {
        let name = call.tool_name().unwrap_or_default().to_owned();
        let name = self.dispatcher.services.firewall.redact(Raw::new(name)).into_value();
        let value = self.redacted(call.value());
        call.with_value(value).with_tool(name)
    }

    /// Scans the present output, once. Encoded secrets are reported for the hook that wrote the output.
    fn scan(&mut self, current: &mut Current, writer: Option<&str>) {
        if current.scanned.is_some() {
            return;
        }
        let copy = local::copy(&current.raw);
        let (redacted, laundered) = self.dispatcher.services.firewall.redact_output(copy, &self.known);
        if let Some(hook) = writer {
            // A secret that an earlier hook printed is not reported again for this one.
            let mut before = core::mem::take(&mut self.output_laundered);
            let is_new = |found: &&SecretFinding| {
                let same =
                    before.iter().position(|old| old.kind == found.kind && old.raw_len == found.raw_len);
                same.map(|at| before.swap_remove(at)).is_none()
            };
            let new: Vec<SecretFinding> = laundered.iter().filter(is_new).cloned().collect();
            self.laundered(hook, &new);
            self.output_laundered = laundered;
        }
        current.scanned = Some(redacted);
    }

    fn laundered(&mut self, hook: &str, found: &[SecretFinding]) {
        let kinds: Vec<String> = found.iter().map(|found| found.kind.as_str().to_owned()).collect();
        if kinds.is_empty() {
            return;
        }
        let rows = &mut self.report.laundered;
        let place = rows.iter().position(|row| row.hook == hook).unwrap_or_else(|| {
            rows.push(Laundered { hook: hook.to_owned(), kinds: Vec::new() });
            rows.len().saturating_sub(1)
        });
        if let Some(row) = rows.get_mut(place) {
            row.kinds.extend(kinds);
            row.kinds.sort();
            row.kinds.dedup();
        }
    }

    /// Sets the code of the steps whose hooks printed a secret in another encoding.
    fn mark_laundered(&mut self) {
        let HookReport { steps, laundered, .. } = &mut self.report;
        for step in steps.iter_mut().filter(|step| laundered.iter().any(|row| row.hook == step.hook)) {
            step.code = step.code.or(Some("hook/laundered"));
        }
    }

    /// Redacts a hook's output, searches it for secrets of the payload, and truncates it.
    fn clean(&mut self, hook: &str, text: String) -> Redacted {
        let firewall = &self.dispatcher.services.firewall;
        let (mut redacted, laundered) = firewall.redact_transformed(Raw::new(text), &self.known);
        self.laundered(hook, &laundered);
        if let Some((end, _)) = redacted.as_str().char_indices().nth(LONGEST_TEXT) {
            // Truncating comes after the scan, since half a secret is not recognized.
            redacted = firewall.redact(Raw::new(redacted.as_str().part(..end).to_owned()));
        }
        redacted
    }

    fn look(&mut self, hook: &Hook, own: &dyn crate::LocalHook, raw: &Raw<Output>) -> Option<Raw<Output>> {
        let (result, new) = match local::look(own, raw) {
            LocalReply::Replace(new) if hook.step == Step::Transform => {
                (StepResult::Transformed, Some(Raw::new(new)))
            }
            LocalReply::Keep | LocalReply::Replace(_) => (StepResult::Answered(Answer::Skip), None),
        };
        self.report.steps.push(StepReport { saw: View::Raw, result, ..row(hook) });
        new
    }

    /// Runs one hook and applies its answer. Returns the changes it requests, if it answered.
    fn ask(
        &mut self,
        hook: &Hook,
        call: &GateCall,
        mut current: Option<&mut Current>,
        rewrites: Rewrites,
    ) -> Option<Wanted> {
        let (saw, result, mut note) = match &hook.handler {
            Handler::Command(form) => self.command(hook, form, call, current.as_deref_mut()),
            _ => (View::Redacted, self.model(hook, call, current.as_deref_mut()), None),
        };
        let mut wanted = Wanted::default();
        let outcome = result.and_then(|mut reply| {
            if let Some(rewrite) = reply.rewrite.take() {
                if rewrites == Rewrites::Ignored {
                    reply.has_ignored = true;
                } else {
                    self.take(rewrite, call, saw, current.as_deref(), &mut wanted)?;
                }
            }
            wanted.value = reply.value.take().filter(|_| rewrites == Rewrites::Allowed);
            Ok(reply)
        });
        match outcome {
            Ok(reply) => {
                if reply.has_ignored {
                    note = note.or(Some("hook/ignored-field"));
                }
                let (answer, message) = self.take_reply(hook, reply);
                let rewrites = wanted.args.is_some() || wanted.output.is_some();
                let result = match answer {
                    Answer::Skip | Answer::Allow if rewrites => StepResult::Transformed,
                    answer => StepResult::Answered(answer),
                };
                self.report.steps.push(StepReport { saw, result, code: note, message, ..row(hook) });
                Some(wanted)
            }
            Err(failure) => {
                let withholds = self.fail(hook, saw, failure) == OnFailure::Withhold;
                let output =
                    current.filter(|_| withholds).map(|current| local::withheld(local::ended(&current.raw)));
                output.map(|output| Wanted { output: Some(output), ..Wanted::default() })
            }
        }
    }

    /// Checks the changes that a hook requests.
    fn take(
        &mut self,
        rewrite: Rewrite,
        call: &GateCall,
        saw: View,
        current: Option<&Current>,
        wanted: &mut Wanted,
    ) -> Result<(), Failure> {
        match (rewrite, current) {
            (Rewrite::Output { output, metadata }, Some(current)) => {
                wanted.output = local::replace(&current.raw, output, metadata)?;
            }
            (Rewrite::Output { .. }, None) | (Rewrite::Replace(_) | Rewrite::Merge(_), Some(_)) => {}
            (Rewrite::Replace(args), None) => {
                wanted.args = Some(self.args(call, Value::Object(args), saw)?);
            }
            (Rewrite::Merge(new), None) => {
                let seen =
                    if saw == View::Redacted { self.redacted(call.value()) } else { call.value().clone() };
                let mut args = seen.as_object().cloned().unwrap_or_else(Map::new);
                args.extend(new);
                wanted.args = Some(self.args(call, Value::Object(args), saw)?);
            }
        }
        Ok(())
    }

    fn args(&mut self, call: &GateCall, new: Value, saw: View) -> Result<Value, Failure> {
        let seen = (saw == View::Redacted).then(|| self.redacted(call.value()));
        rewritten(call.value(), seen.as_ref(), new)
    }

    /// Applies a reply. Returns the answer that counts, and the reason.
    fn take_reply(&mut self, hook: &Hook, reply: Reply) -> (Answer, Option<Redacted>) {
        let has_say = hook.event.class() == EventClass::Gate && hook.step != Step::Observe;
        let answer = if has_say { reply.answer } else { Answer::Skip };
        let reason = reply.reason.map(|reason| self.clean(&hook.id, reason));
        if reply.answer > Answer::Allow || reply.stop_turn {
            self.report.reasons.extend(reason.clone());
        }
        if let Some(context) = reply.context.filter(|text| !text.is_empty()) {
            let context = self.clean(&hook.id, context);
            self.report.context.push(context);
        }
        for message in reply.messages {
            let message = self.clean(&hook.id, message);
            self.report.messages.push(message);
        }
        self.report.stop_turn |= reply.stop_turn && hook.step != Step::Observe;
        self.report.tighten(answer);
        (answer, reason)
    }

    /// Applies a failure, and returns its consequence.
    fn fail(&mut self, hook: &Hook, saw: View, failure: Failure) -> OnFailure {
        // A replacement of the wrong shape may have been meant to hide something, so the output is
        // withheld.
        let creates = matches!(hook.event, Event::WorktreeCreate | Event::WorktreeRemove);
        let withholds =
            hook.step == Step::Transform && hook.on_failure.is_none() && failure.code == "hook/bad-shape";
        let action = match hook.on_failure() {
            _ if creates => OnFailure::Block,
            _ if withholds => OnFailure::Withhold,
            action => action,
        };
        let message = self.clean(&hook.id, failure.message);
        if action == OnFailure::Block && hook.event.class() == EventClass::Gate {
            self.report.tighten(Answer::Deny);
            let text = format!("{}: {} ({})", hook.id, message.as_str(), failure.code);
            let reason = self.clean(&hook.id, text);
            self.report.reasons.push(reason);
        }
        let (result, code, message) = (StepResult::Failed, Some(failure.code), Some(message));
        self.report.steps.push(StepReport { saw, result, code, message, ..row(hook) });
        action
    }

    /// Runs a command with the input that it is allowed to see.
    fn command(
        &mut self,
        hook: &Hook,
        form: &CommandForm,
        call: &GateCall,
        current: Option<&mut Current>,
    ) -> (View, Result<Reply, Failure>, Option<&'static str>) {
        let services = &self.dispatcher.services;
        let mut note = None;
        let raw = current.as_ref().map(|current| &current.raw);
        // What the user wrote needs no record; what others wrote sees raw output only by the setting.
        let is_own = hook.scope.is_own();
        let recorded = |grants: &dyn RawGrants| {
            call.tool_name().is_none_or(|tool| is_own || grants.record_exposure(hook, tool))
        };
        if hook.view == View::Raw && services.grants.as_deref().is_none_or(recorded) {
            let result = local::with_envelope(hook, call, raw, self.at, |input| self.run(hook, form, input));
            return (View::Raw, result, note);
        }
        if hook.view == View::Raw {
            note = Some("hook/raw-unrecorded");
        }
        // A grant belongs to a plugin. A project hook must not get it by a similar name.
        let grants = services.grants.as_ref().filter(|_| hook.scope == Scope::Plugin);
        if let (Some(grants), Some(tool)) = (grants, call.tool_name()) {
            let mut result = None;
            let check = grants.lend(hook, tool, &mut || {
                let lent =
                    local::with_envelope(hook, call, raw, self.at, |input| self.run(hook, form, input));
                result = Some(lent);
            });
            match (check, result) {
                (_, Some(result)) => return (View::Raw, result, note),
                (LendCheck::Unrecorded, None) => note = Some("hook/raw-unrecorded"),
                (LendCheck::NotGranted | LendCheck::Lent, None) => {}
            }
        }
        let input = self.redacted_envelope(hook, call, current).to_string();
        (View::Redacted, self.run(hook, form, input.as_bytes()), note)
    }

    fn redacted_envelope(&mut self, hook: &Hook, call: &GateCall, current: Option<&mut Current>) -> Value {
        let call = self.redacted_call(call);
        let output = current.and_then(|current| {
            self.scan(current, None);
            current.scanned.as_ref()
        });
        let result = output.map(Redacted::as_ref).map(view);
        envelope(hook, &call, result.as_ref(), self.at)
    }

    fn run(&self, hook: &Hook, form: &CommandForm, input: &[u8]) -> Result<Reply, Failure> {
        if hook.scope == Scope::Plugin && hook.directories.is_none() {
            return Err(Failure::new("hook/seal", "the plugin has no private copy"));
        }
        if input.len() > STDIN_BYTES {
            return Err(Failure::new("hook/oversize", "the payload has more than 16 MiB"));
        }
        let Some(start) = &self.dispatcher.services.start else {
            return Err(Failure::new("hook/no-starter", "no `Start` is set"));
        };
        let command = command(hook, form, self.at);
        let ran = program::run(start.as_ref(), &command, input, hook.timeout).map_err(|error| {
            let gone = !std::path::Path::new(&command.directory).is_dir();
            match error.kind() {
                _ if gone => Failure::new("hook/spawn", "the working directory does not exist"),
                std::io::ErrorKind::NotFound => {
                    Failure::new("hook/not-found", "the program or its interpreter does not exist")
                }
                _ => Failure::new("hook/spawn", format!("the program could not be started: {error}")),
            }
        })?;
        reply::read(hook.dialect, hook.event, form, &ran)
    }

    /// Sends redacted text to a model.
    fn model(
        &mut self,
        hook: &Hook,
        call: &GateCall,
        current: Option<&mut Current>,
    ) -> Result<Reply, Failure> {
        let services = &self.dispatcher.services;
        if self.at.nesting == Nesting::InsideAgentHook {
            return Err(Failure::new("hook/depth", "a hook inside an agent hook cannot ask a model"));
        }
        let Some(model) = &services.model else {
            return Err(Failure::new("hook/no-model", "no model is set"));
        };
        let call = self.redacted_call(call);
        let output = current.and_then(|current| {
            self.scan(current, None);
            current.scanned.as_ref()
        });
        let result = output.map(Redacted::as_ref).map(view);
        let subject = Subject { hook, call: &call, result: result.as_ref() };
        let (dialect, event, timeout) = (hook.dialect, hook.event, hook.timeout);
        match (&hook.handler, output) {
            (Handler::Prompt(template), _) => {
                let request = judge::request(&services.firewall, template, &subject, self.at)?;
                judge::prompt(model, request, dialect, event, timeout)
            }
            (Handler::Agent(template), _) => {
                let Some(agent) = &services.agent else {
                    return Err(Failure::new("hook/no-agent", "no agent is set"));
                };
                let request = judge::request(&services.firewall, template, &subject, self.at)?;
                judge::agent(agent, model, request, dialect, event, timeout)
            }
            (Handler::Judge(own), Some(output)) => judge::judge(own, model, output, timeout),
            _ => Err(Failure::new("hook/unsupported", "this hook does not ask a model")),
        }
    }

    /// Combines the answers of a gate event.
    fn settle_gate(&mut self, call: &GateCall, host: Answer) {
        let event = call.event;
        let report = &mut self.report;
        if report.answer == Answer::Deny {
            let stops = matches!(event, Event::Stop | Event::SubagentStop);
            let managed = event == Event::ConfigChange
                && call.value().get("source").and_then(Value::as_str) == Some("policy_settings");
            if stops && self.at.stop_denials >= STOP_DENIALS {
                report.answer = Answer::Allow;
                let denies = |step: &&mut StepReport| step.result == StepResult::Answered(Answer::Deny);
                if let Some(step) = report.steps.iter_mut().rfind(denies) {
                    step.code = Some("hook/stop-loop");
                }
            } else if managed {
                // The settings of the organization apply, regardless of hooks.
                report.answer = Answer::Allow;
            } else if event.prolongs() && report.stop_turn {
                // The agent cannot both continue and stop.
                report.answer = Answer::Allow;
            } else if event == Event::PostToolBatch {
                report.stop_turn = true;
            }
        }
        // Hooks cannot override the host's own rule.
        if matches!(host, Answer::Ask | Answer::Defer | Answer::Deny) && host >= report.answer {
            let reason = format!("the host's own rule answers {}", host.as_str());
            let reason = self.dispatcher.services.firewall.redact(Raw::new(reason));
            report.reasons.insert(0, reason);
        }
        report.tighten(host);
        if report.answer == Answer::Skip {
            report.answer = Answer::Allow;
        }
    }
}

fn as_output(value: Value) -> Raw<Output> {
    Raw::new(Output { content: OutputContent::Json(value), metadata: Value::Null, ended: ToolStatus::Ok })
}

/// Returns the report of a hook that has not answered.
fn row(hook: &Hook) -> StepReport {
    let result = StepResult::Answered(Answer::Skip);
    StepReport { hook: hook.id.clone(), step: hook.step, saw: hook.view, result, code: None, message: None }
}

fn view(output: &Output) -> ResultView<'_> {
    ResultView { output, failed: output.ended == ToolStatus::Failed }
}
