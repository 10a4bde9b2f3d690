//! Converts items of plugins and hooks files into hooks.

use std::collections::BTreeMap;
use std::time::Duration;

use plugward_manifest::{Dialect, ForeignText, SurfaceFact, SurfaceItem};

use crate::definitions::hook::{CommandForm, Handler, Hook, OnFailure, Scope, Step, View};
use crate::definitions::matcher::{Condition, ListSyntax, Matcher, matches_no_tool};
use crate::definitions::plan::HookNote;
use crate::events::event::{Event, EventClass, MatchKey};

/// The longest timeout of a hook.
const LONGEST: Duration = Duration::from_secs(600);
/// From this value on, a timeout was probably meant in milliseconds.
const MILLISECONDS: f64 = 1000.0;

/// The source of a definition.
pub(crate) struct Origin<'a> {
    pub(crate) scope: Scope,
    /// The first part of ids: `user`, `user2`, or the id of a plugin.
    pub(crate) prefix: &'a str,
    /// The prefix of places in messages: the label of a file, or the id of a plugin.
    pub(crate) label: &'a str,
    pub(crate) dialect: Dialect,
    pub(crate) source: (usize, String),
    pub(crate) view: View,
}

/// A definition that cannot become a hook.
pub(crate) struct Defect {
    pub(crate) note: HookNote,
    /// Whether the definition is of a gate. A missing gate must not count as consent, so its whole source
    /// is refused.
    pub(crate) of_gate: bool,
}

/// The definition of a hook by one item.
pub(crate) struct Definition<'a> {
    origin: &'a Origin<'a>,
    item: &'a SurfaceItem,
    event: Option<Event>,
    notes: Vec<HookNote>,
    /// Fields that the manifest parser does not interpret, as JSON text.
    other: BTreeMap<String, String>,
}

impl<'a> Definition<'a> {
    pub(crate) fn new(origin: &'a Origin<'a>, item: &'a SurfaceItem) -> Self {
        let other = match item.facts().get("other") {
            Some(SurfaceFact::Map(other)) => other.clone(),
            _ => BTreeMap::new(),
        };
        Self { origin, item, event: None, notes: Vec::new(), other }
    }

    /// Returns the hook, or `None` if it never runs, together with the notes.
    pub(crate) fn hook(
        mut self,
        number: &str,
        position: usize,
    ) -> (Result<Option<Hook>, Defect>, Vec<HookNote>) {
        if self.item.is_off() {
            if self.origin.scope != Scope::Plugin {
                return (Ok(None), Vec::new());
            }
            // No host documents these keys, so their hosts run the hook too.
            self.note("hook/unknown-field", "`enabled` and `disabled` have no effect".to_owned());
        }
        let Some(word) = self.item.event() else {
            let found = if self.item.why().is_empty() { "none" } else { self.item.why() };
            let defect = self.defect("hook/field", &format!("expected the event of a hook, found {found}"));
            return (Err(defect), Vec::new());
        };
        let gnoma = self.origin.dialect == Dialect::Gnoma;
        let Some(event) = Event::of_host(self.origin.dialect, word) else {
            let mut message = format!("{} fires no event `{}`", self.origin.dialect, shown(word, 64));
            // An event of another host is not a spelling of itself.
            let near = Event::nearest(word).filter(|near| near.as_str() != word && near.pascal() != word);
            if let Some(near) = near {
                message
                    .push_str(&format!("; `{}` is one", if gnoma { near.as_str() } else { near.pascal() }));
            }
            // A file of this machine must not lose a guard to its spelling. An event of a newer host is not a mistake.
            if self.origin.scope != Scope::Plugin && (gnoma || near.is_some()) {
                return (Err(self.defect("hook/unknown-event", &message)), self.notes);
            }
            self.note("hook/unknown-event", message);
            return (Ok(None), self.notes);
        };
        self.event = Some(event);
        let hook = self.of_event(event, number, position).map(Some);
        (hook, self.notes)
    }

    fn of_event(&mut self, event: Event, number: &str, position: usize) -> Result<Hook, Defect> {
        let gnoma = self.origin.dialect == Dialect::Gnoma;
        let handler = self.handler()?;
        let timeout = self.timeout(event, &handler)?;
        let (matcher, matcher_text) = self.matcher(event)?;
        let condition = self.condition(event)?;
        let on_failure = self.on_failure(event)?;
        let priority = match self.item.fact("priority") {
            Some(text) => text.parse().map_err(|error: core::num::ParseIntError| {
                let message = format!("expected `priority` as a whole number of 32 bits: {error}");
                self.defect("hook/field", &message)
            })?,
            None => 0,
        };
        let step = self.step(event, &handler)?;
        if !gnoma {
            self.unknown_fields();
        }
        let name = if gnoma { self.item.name() } else { "" };
        let name = if name.is_empty() { number.to_owned() } else { shown(name, 128) };
        let env = match self.item.facts().get("env") {
            Some(SurfaceFact::List(names)) => names.clone(),
            _ => Vec::new(),
        };
        Ok(Hook {
            id: format!("{}:{name}", self.origin.prefix),
            event,
            dialect: self.origin.dialect,
            scope: self.origin.scope,
            source: self.origin.source.clone(),
            position,
            step,
            matcher,
            matcher_text,
            condition,
            run: match handler {
                Handler::Command(_) => self.shown_run(),
                _ => Vec::new(),
            },
            handler,
            timeout,
            on_failure,
            priority,
            env,
            view: if step == Step::Judge { View::Redacted } else { self.origin.view },
            directories: None,
        })
    }

    /// Returns the words of a command, or its text if a shell would expand some of them.
    fn shown_run(&self) -> Vec<String> {
        let own = |text: &str| text.replace("${CLAUDE_PLUGIN_ROOT}", "").replace("${PLUGIN_ROOT}", "");
        match self.item.text().map(ForeignText::as_untrusted) {
            Some(text) if own(text).contains(['$', '`', '\'', '\\']) => vec![text.to_owned()],
            _ => self.item.run().to_vec(),
        }
    }

    fn handler(&self) -> Result<Handler, Defect> {
        let kind = self.item.fact("handler").unwrap_or("command");
        let text = self.item.text().map(ForeignText::as_untrusted);
        match kind {
            "command" => self.command(text),
            "prompt" | "agent" => match text {
                Some(text) if kind == "prompt" => Ok(Handler::Prompt(text.to_owned())),
                Some(text) => Ok(Handler::Agent(text.to_owned())),
                None => Err(self.defect("hook/field", "expected the text of the prompt, found none")),
            },
            "http" | "mcp_tool" | "message" | "suggestion" => {
                let message = format!("handlers of type `{kind}` are not supported");
                Err(self.defect("hook/unsupported", &message))
            }
            other => {
                let message =
                    format!("expected the type command, prompt or agent, found `{}`", shown(other, 64));
                Err(self.defect("hook/unknown-type", &message))
            }
        }
    }

    fn command(&self, text: Option<&str>) -> Result<Handler, Defect> {
        if self.other.contains_key("cwd") {
            // In another directory, a relative name refers to another file.
            return Err(self.defect("hook/unsupported", "`cwd` is not supported; hooks start in the project"));
        }
        let has_option = |text: &str| text.contains("${user_config.");
        if let Some(text) = text {
            if has_option(text) {
                let message = "shell text contains `${user_config.…}`, whose value could run as code";
                return Err(self.defect("hook/user-config-in-shell", message));
            }
            let shell = match self.item.fact("shell") {
                None | Some("sh" | "/bin/sh") => "sh",
                Some("bash" | "/bin/bash") => "bash",
                Some(other) => {
                    let message = format!("expected the shell `sh` or `bash`, found `{}`", shown(other, 64));
                    return Err(self.defect("hook/unsupported", &message));
                }
            };
            return Ok(Handler::Command(CommandForm::Shell { shell, text: text.to_owned() }));
        }
        if self.item.argv().iter().any(|argument| has_option(argument)) {
            let message = "an argument contains `${user_config.…}`, whose value is not known";
            return Err(self.defect("hook/unsupported", message));
        }
        let is_gnoma_plugin = self.origin.dialect == Dialect::Gnoma && self.origin.scope == Scope::Plugin;
        match (self.item.argv(), self.item.run()) {
            // In a gnoma plugin, the first argument is a file of the plugin.
            ([path, arguments @ ..], _) if is_gnoma_plugin => {
                let (path, arguments) = (path.clone(), arguments.to_vec());
                Ok(Handler::Command(CommandForm::PluginFile { path, arguments }))
            }
            ([], [path, ..]) if self.origin.scope == Scope::Plugin => {
                Ok(Handler::Command(CommandForm::PluginFile { path: path.clone(), arguments: Vec::new() }))
            }
            ([], _) => Err(self.defect("hook/field", "expected a command, found none")),
            (argv, _) if argv.first().is_some_and(|program| !program.is_empty()) => {
                Ok(Handler::Command(CommandForm::Arguments(argv.to_vec())))
            }
            _ => Err(self.defect("hook/field", "expected a program, found an empty string")),
        }
    }

    fn timeout(&mut self, event: Event, handler: &Handler) -> Result<Duration, Defect> {
        let bad = |text: &str, expected: &str| {
            let message = format!("expected {expected}, found {}", shown(text, 64));
            self.defect("hook/bad-timeout", &message)
        };
        if let Some(text) = self.other.get("timeout").filter(|text| *text != "null") {
            return Err(bad(text, "a number of seconds"));
        }
        let Some(text) = self.item.fact("timeout") else {
            return Ok(default_timeout(self.origin.dialect, event, handler));
        };
        let seconds = if self.origin.dialect == Dialect::Gnoma {
            go_seconds(text).ok_or_else(|| bad(text, "a duration above 0 such as 30s or 1m30s"))?
        } else {
            text.parse::<f64>()
                .ok()
                .filter(|seconds| *seconds > 0.0)
                .ok_or_else(|| bad(text, "seconds above 0"))?
        };
        if self.origin.dialect != Dialect::Gnoma && seconds >= MILLISECONDS {
            let message =
                format!("`timeout` {} is in seconds; the hook can take at most 600", shown(text, 32));
            self.note("hook/timeout-units", message);
        } else if seconds > LONGEST.as_secs_f64() {
            let message =
                format!("`timeout` {} is above the limit of 600 seconds, which applies", shown(text, 32));
            self.note("hook/timeout-capped", message);
        }
        Ok(Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST).min(LONGEST))
    }

    fn matcher(&mut self, event: Event) -> Result<(Matcher, Option<String>), Defect> {
        if let Some(value) = self.other.get("matcher").filter(|value| *value != "null") {
            let message = format!("expected `matcher` as a string, found {}", shown(value, 64));
            return Err(self.defect("hook/field", &message));
        }
        let Some(text) = self.item.fact("matcher") else { return Ok((Matcher::All, None)) };
        let gnoma = self.origin.dialect == Dialect::Gnoma;
        let has_key = if gnoma { event.is_tool_event() } else { event.key() != MatchKey::None };
        let text_shown = Some(shown(text, 256));
        if !has_key {
            if !matches!(text, "" | "*") {
                self.note(
                    "hook/matcher-ignored",
                    format!("`{event}` has nothing that a matcher is compared with"),
                );
            }
            return Ok((Matcher::All, text_shown));
        }
        let list = match event {
            Event::FileChanged | Event::StopFailure => ListSyntax::Narrow,
            _ => ListSyntax::Wide,
        };
        if !gnoma && event.is_tool_event() && matches_no_tool(text) {
            let message =
                format!("`{}` is not the name of a tool or an expression for one", shown(text, 128));
            self.note("hook/matcher-is-rule", message);
        }
        let matcher = if gnoma { Matcher::of_gnoma(text) } else { Matcher::of_claude(text, list) };
        if let Some(matcher) = matcher {
            return Ok((matcher, text_shown));
        }
        let (code, what) = if gnoma {
            ("hook/pattern", "a glob")
        } else {
            ("hook/matcher", "an expression that can be matched in linear time")
        };
        let message = format!("expected {what}, found `{}`", shown(text, 128));
        Err(self.defect(code, &message))
    }

    fn condition(&mut self, event: Event) -> Result<Option<Condition>, Defect> {
        if let Some(value) = self.other.get("if").filter(|value| *value != "null") {
            let message = format!("expected `if` as a string, found {}", shown(value, 64));
            return Err(self.defect("hook/field", &message));
        }
        let Some(text) = self.item.fact("if") else { return Ok(None) };
        if !event.is_tool_event() {
            let message = format!("`if` applies to tools only, and `{event}` is not about a tool");
            self.note("hook/never-fires", message);
        }
        Ok(Some(Condition::read(text)))
    }

    fn on_failure(&self, event: Event) -> Result<Option<OnFailure>, Defect> {
        let written = match self.other.get("onFailure") {
            Some(json) => Some(json.trim_matches('"')),
            None => self.item.fact("on_failure"),
        };
        match (written, self.item.fact("fail_open")) {
            (Some("skip"), _) | (None, Some("true")) => Ok(Some(OnFailure::Skip)),
            (Some("block"), _) => Ok(Some(OnFailure::Block)),
            (None, _) => Ok(None),
            (Some("withhold"), _) if event.class() == EventClass::Content => Ok(Some(OnFailure::Withhold)),
            (Some(other), _) => {
                let message = format!("`{}` is not an action of a failed `{event}` hook", shown(other, 64));
                Err(self.defect("hook/on-failure", &message))
            }
        }
    }

    fn step(&mut self, event: Event, handler: &Handler) -> Result<Step, Defect> {
        let mut observes = match self.item.fact("phase") {
            None => false,
            Some("observe") => true,
            Some(other) => {
                let message = format!("expected the phase `observe` or none, found `{}`", shown(other, 64));
                return Err(self.defect("hook/field", &message));
            }
        };
        for key in ["async", "asyncRewake"] {
            match self.other.get(key).map(String::as_str) {
                None | Some("false") => {}
                Some("true") => {
                    observes = true;
                    self.note(
                        "hook/async",
                        format!("`{key}` hooks run in the observe step and are waited for"),
                    );
                }
                Some(found) => {
                    let message = format!("expected `{key}` as true or false, found {}", shown(found, 64));
                    return Err(self.defect("hook/field", &message));
                }
            }
        }
        Ok(match (event.class(), handler) {
            (EventClass::Notice, _) => Step::Notice,
            (_, Handler::Prompt(_) | Handler::Agent(_) | Handler::Judge(_)) => Step::Judge,
            _ if observes => Step::Observe,
            (EventClass::Gate, _) => Step::Gate,
            (EventClass::Content, _) => Step::Transform,
        })
    }

    fn unknown_fields(&mut self) {
        // The fields that the hosts document, except those that the manifest parser interprets.
        const KNOWN: [&str; 10] = [
            "async",
            "asyncRewake",
            "description",
            "if",
            "matcher",
            "model",
            "onFailure",
            "once",
            "statusMessage",
            "timeout",
        ];
        let unknown: Vec<String> =
            self.other.keys().filter(|key| !KNOWN.contains(&key.as_str())).cloned().collect();
        for key in unknown {
            self.note("hook/unknown-field", format!("the field `{}` has no effect", shown(&key, 64)));
        }
    }

    fn note(&mut self, code: &'static str, message: String) {
        let note = HookNote::new(code, place(self.origin.label, self.item.place()), message);
        self.notes.push(note);
    }

    fn defect(&self, code: &'static str, message: &str) -> Defect {
        Defect {
            note: HookNote::new(code, place(self.origin.label, self.item.place()), message.to_owned()),
            of_gate: self.event.is_none_or(|event| event.class() == EventClass::Gate),
        }
    }
}

/// Returns `file:line:column`. The file of a plugin follows the plugin's id.
pub(crate) fn place(label: &str, place: &plugward_manifest::ManifestPlace) -> String {
    let mut text = label.to_owned();
    if !place.file().is_empty() {
        text = format!("{text}/{}", shown(place.file(), 256));
    }
    match place.position() {
        Some(position) => format!("{text}:{}:{}", position.line, position.column),
        None => text,
    }
}

/// Escapes untrusted text for one line and truncates it to `most` characters.
pub(crate) fn shown(text: &str, most: usize) -> String {
    let cut: String = text.chars().take(most).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("{}{more}", ForeignText::new(cut).escaped())
}

fn default_timeout(dialect: Dialect, event: Event, handler: &Handler) -> Duration {
    let millis = match (dialect, event, handler) {
        (Dialect::Gnoma, ..) | (_, _, Handler::Prompt(_)) => 30_000,
        (_, _, Handler::Agent(_)) => 60_000,
        (_, Event::UserPromptSubmit | Event::PreModelSwitch | Event::PostModelSwitch, _) => 30_000,
        (_, Event::MessageDisplay, _) => 10_000,
        (_, Event::SessionEnd, _) => 1_500,
        _ => 600_000,
    };
    Duration::from_millis(millis)
}

/// Parses a duration of Go's `time.ParseDuration` as seconds, if it is above 0.
fn go_seconds(text: &str) -> Option<f64> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(digits);
        // A unit that another one starts with comes after it.
        let units = [
            ("ns", 1e-9),
            ("us", 1e-6),
            ("µs", 1e-6),
            ("μs", 1e-6),
            ("ms", 1e-3),
            ("s", 1.0),
            ("m", 60.0),
            ("h", 3600.0),
        ];
        let (after, unit) =
            units.iter().find_map(|(unit, factor)| Some((after.strip_prefix(unit)?, *factor)))?;
        seconds += number.parse::<f64>().ok()? * unit;
        rest = after;
    }
    (seconds > 0.0).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_go() {
        let close = |text: &str, seconds: f64| (go_seconds(text).unwrap() - seconds).abs() < 1e-9;
        assert!(close("30s", 30.0) && close("1m30s", 90.0) && close("1.5h", 5400.0) && close("250ms", 0.25));
        for bad in ["", "0s", "-1s", "30", "s", "1x", "1..5s"] {
            assert_eq!(go_seconds(bad), None, "{bad}");
        }
    }
}
