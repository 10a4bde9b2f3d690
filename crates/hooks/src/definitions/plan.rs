//! The hooks of all sources in one order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plugward_manifest::{Dialect, ManifestCode, SurfaceItem, SurfaceKind};

use plugward_types::RawOutput;

use crate::definitions::define::{Definition, Origin, place, shown};
use crate::definitions::hook::{Handler, Hook, PluginDirectories, Scope, Step, View};
use crate::definitions::matcher::Matcher;
use crate::events::event::{Event, EventClass};
use crate::execution::services::{JudgeHook, LocalHook};

/// A note about a definition.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct HookNote {
    /// The stable code.
    pub code: &'static str,
    /// The place: file, line and column.
    pub at: String,
    /// The problem; text from the file is escaped.
    pub message: String,
    /// The help for the code.
    pub help: &'static str,
}

impl HookNote {
    pub(crate) fn new(code: &'static str, at: String, message: String) -> Self {
        Self { code, at, message, help: crate::error::help(code) }
    }
}

/// A source whose hooks do not run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[non_exhaustive]
pub struct RefusedSource {
    /// The scope of the source.
    #[serde(skip)]
    pub scope: Scope,
    /// The name of the source: `user`, `project2`, or the id of a plugin.
    pub source: String,
    /// The stable code.
    pub code: String,
}

/// The hooks of all sources, in the order in which they run.
///
/// # Guarantees
/// The order depends only on the definitions and the order of the files. It does not depend on the order in
/// which plugins are added or files were created.
#[derive(Debug, Clone)]
pub struct Plan {
    hooks: Vec<Hook>,
    notes: Vec<HookNote>,
    refused: Vec<RefusedSource>,
}

impl Plan {
    /// Returns a builder without sources.
    #[must_use]
    pub const fn builder(raw: RawOutput) -> PlanBuilder {
        let plan = Self { hooks: Vec::new(), notes: Vec::new(), refused: Vec::new() };
        PlanBuilder { raw, plan, files: BTreeMap::new(), plugins: BTreeSet::new() }
    }

    /// Returns the hooks by event and order.
    #[must_use]
    pub fn hooks(&self) -> &[Hook] {
        &self.hooks
    }

    /// Returns the notes about definitions, by place.
    #[must_use]
    pub fn notes(&self) -> &[HookNote] {
        &self.notes
    }

    /// Keeps only the hooks that run when an event fires.
    #[must_use]
    pub fn only(mut self, event: Event) -> Self {
        let content = event.class() == EventClass::Content;
        self.hooks
            .retain(|hook| hook.event == event || (content && hook.event.class() == EventClass::Content));
        self
    }

    /// Returns the ids of the plugins that have commands in the plan.
    #[must_use]
    pub fn plugins_with_commands(&self) -> BTreeSet<&str> {
        let commands = self.hooks.iter().filter(|hook| matches!(hook.handler, Handler::Command(_)));
        commands.filter_map(Hook::plugin).collect()
    }

    /// Sets the private directories of plugins, by the ids that [`PlanBuilder::plugin`] returned. Without
    /// them, the commands of a plugin fail with `hook/seal`.
    #[must_use]
    pub fn with_directories(mut self, directories: &BTreeMap<String, PluginDirectories>) -> Self {
        for hook in &mut self.hooks {
            hook.directories = hook.plugin().and_then(|id| directories.get(id)).cloned().map(Arc::new);
        }
        self
    }

    /// Returns the sources whose hooks do not run.
    #[must_use]
    pub fn refused(&self) -> &[RefusedSource] {
        &self.refused
    }
}

/// Collects the sources of a plan.
#[derive(Debug, Clone)]
pub struct PlanBuilder {
    raw: RawOutput,
    plan: Plan,
    files: BTreeMap<Scope, usize>,
    plugins: BTreeSet<String>,
}

impl PlanBuilder {
    /// Adds a hooks or settings file. Hooks of earlier files of a scope run first.
    ///
    /// A file that cannot be parsed, that has a defect in a gate, a misspelled event or an unknown table, or of which no
    /// entry is usable, adds no hook and is in [`Plan::refused`]. With other defects, only their entries are left out.
    pub fn file(&mut self, scope: Scope, dialect: Dialect, label: &str, bytes: &[u8]) {
        let number = self.files.entry(scope).or_default();
        *number = number.saturating_add(1);
        let number = *number;
        let word = scope.as_str();
        let prefix = if number == 1 { word.to_owned() } else { format!("{word}{number}") };
        let label = shown(label, 256);
        let origin = Origin {
            scope,
            prefix: &prefix,
            label: &label,
            dialect,
            source: (number, String::new()),
            view: self.view(scope),
        };
        let file = match plugward_manifest::read_hooks_file(dialect, bytes) {
            Ok(file) => file,
            Err(errors) => {
                for error in errors.iter() {
                    let (at, message) = (place(&label, error.place()), error.message().to_owned());
                    self.plan.notes.push(HookNote::new("hook/config-syntax", at, message));
                }
                return self.refuse_as(scope, &prefix, "hook/config-syntax");
            }
        };
        let mut broken = None;
        for notice in file.warnings().iter().filter(|notice| notice.kind() == ManifestCode::UnknownKey) {
            let top = notice.place().pointer().split('/').nth(1).unwrap_or_default();
            let is_table = dialect == Dialect::Gnoma && !top.eq_ignore_ascii_case("hooks");
            let code = if is_table { "hook/unknown-table" } else { "hook/unknown-field" };
            if is_table {
                broken = Some(code);
            }
            let (at, message) = (place(&label, notice.place()), notice.message().to_owned());
            self.plan.notes.push(HookNote::new(code, at, message));
        }
        let said = match file.items() {
            [] if file.errors().is_empty() => Some(("hook/empty", "the file defines no hooks")),
            items if items.iter().any(SurfaceItem::is_off) => {
                Some(("hook/disabled", "`disableAllHooks` is true"))
            }
            _ => None,
        };
        let note = said.map(|(code, message)| HookNote::new(code, label.clone(), message.to_owned()));
        self.plan.notes.extend(note);
        for error in file.errors() {
            let (at, message) = (place(&label, error.place()), error.message().to_owned());
            self.plan.notes.push(HookNote::new("hook/field", at, message));
            let event = error.event().map(|word| Event::of_host(dialect, word));
            let of_gate = match event {
                None => true,
                Some(event) => event.is_some_and(|event| event.class() == EventClass::Gate),
            };
            if of_gate {
                broken = Some("hook/field");
            }
        }
        let items: Vec<&SurfaceItem> = file.items().iter().collect();
        let is_off = items.iter().any(|item| item.is_off());
        let before = self.plan.hooks.len();
        self.define(&origin, &items, broken);
        let has_entries = !is_off && (!items.is_empty() || !file.errors().is_empty());
        let is_refused = self.plan.refused.iter().any(|one| one.scope == scope && one.source == prefix);
        if has_entries && !is_refused && self.plan.hooks.len() == before {
            self.refuse_as(scope, &prefix, "hook/none-usable");
        }
    }

    /// Adds the hooks of a plugin that loads, from the first of the dialects claude, codex and gnoma that
    /// it has.
    ///
    /// Its commands need directories before they can run ([`Plan::with_directories`]). Returns the plugin's
    /// name in the plan: its id on one line, made unique. The name is never that of a scope, so a plugin in
    /// a directory called `user` cannot pass for the user.
    pub fn plugin<'a>(
        &mut self,
        id: &str,
        items: impl IntoIterator<Item = (Dialect, &'a SurfaceItem)>,
    ) -> String {
        let mut by_dialect: BTreeMap<Dialect, Vec<&SurfaceItem>> = BTreeMap::new();
        for (dialect, item) in items.into_iter().filter(|(_, item)| item.kind() == SurfaceKind::Hook) {
            by_dialect.entry(dialect).or_default().push(item);
        }
        let id = self.unique(id);
        let first = [Dialect::Claude, Dialect::Codex, Dialect::Gnoma]
            .into_iter()
            .find(|one| by_dialect.contains_key(one));
        for (dialect, items) in by_dialect.iter().filter(|(dialect, _)| Some(**dialect) != first) {
            let at = items.first().map_or_else(String::new, |item| place(&id, item.place()));
            let count = items.len();
            let message =
                format!("{count} {} of {dialect} never run here", if count == 1 { "hook" } else { "hooks" });
            self.plan.notes.push(HookNote::new("hook/other-dialect", at, message));
        }
        let Some((dialect, items)) = first.and_then(|dialect| by_dialect.remove_entry(&dialect)) else {
            return id;
        };
        let origin = Origin {
            scope: Scope::Plugin,
            prefix: &id,
            label: &id,
            dialect,
            source: (0, id.clone()),
            view: self.view(Scope::Plugin),
        };
        self.define(&origin, &items, None);
        id
    }

    fn unique(&mut self, id: &str) -> String {
        let id = shown(id, 256);
        let stem = id.split(':').next().unwrap_or(&id);
        let stem = stem.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_scope = matches!(stem, "managed" | "user" | "project" | "host");
        let id = if is_scope { format!("./{id}") } else { id };
        let numbered = (2..).map(|number: u32| format!("{id} ({number})"));
        let mut names = core::iter::once(id.clone()).chain(numbered);
        let unique = names.find(|name| !self.plugins.contains(name)).unwrap_or(id);
        self.plugins.insert(unique.clone());
        unique
    }

    /// Adds an in-process hook of the host that sees raw output, before or in the transform step.
    pub fn local(&mut self, name: &str, step: LocalStep, hook: Arc<dyn LocalHook>) {
        let step = match step {
            LocalStep::Observe => Step::Observe,
            LocalStep::Transform => Step::Transform,
        };
        self.in_process(name, step, View::Raw, Handler::Local(hook));
    }

    /// Adds an in-process hook of the host that sends redacted output to a model.
    pub fn judge(&mut self, name: &str, hook: Arc<dyn JudgeHook>) {
        self.in_process(name, Step::Judge, View::Redacted, Handler::Judge(hook));
    }

    /// Lists a source that the host did not add, such as a plugin that does not load.
    pub fn refuse(&mut self, source: &str, code: &str) {
        self.refuse_as(Scope::Plugin, &shown(source, 256), code);
    }

    /// Sorts the hooks and notes.
    #[must_use]
    pub fn build(self) -> Plan {
        let mut plan = self.plan;
        plan.hooks.sort_by(|a, b| (a.event, a.order()).cmp(&(b.event, b.order())));
        plan.notes
            .sort_by(|a, b| (order(&a.at), a.code, &a.message).cmp(&(order(&b.at), b.code, &b.message)));
        plan.refused.sort();
        plan.refused.dedup();
        plan
    }

    fn view(&self, scope: Scope) -> View {
        match (self.raw, scope) {
            (RawOutput::All, _) | (_, Scope::Managed | Scope::User) => View::Raw,
            (RawOutput::ManagedAndUser, Scope::Project | Scope::Plugin) => View::Redacted,
        }
    }

    fn in_process(&mut self, name: &str, step: Step, view: View, handler: Handler) {
        let position = self.plan.hooks.len();
        self.plan.hooks.push(Hook {
            id: format!("host:{name}"),
            event: Event::PostToolUse,
            dialect: Dialect::Gnoma,
            scope: Scope::Managed,
            source: (0, String::new()),
            position,
            step,
            matcher: Matcher::All,
            matcher_text: None,
            condition: None,
            handler,
            run: Vec::new(),
            timeout: std::time::Duration::from_secs(600),
            on_failure: None,
            priority: 0,
            env: Vec::new(),
            view,
            directories: None,
        });
    }

    fn define(&mut self, origin: &Origin<'_>, items: &[&SurfaceItem], mut broken: Option<&'static str>) {
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        let mut hooks: Vec<Hook> = Vec::new();
        for (position, item) in items.iter().enumerate() {
            let word = item.event().unwrap_or("hook");
            let number = numbers.entry(word).or_default();
            *number = number.saturating_add(1);
            let number = format!("{}.{number}", shown(word, 64));
            let (hook, notes) = Definition::new(origin, item).hook(&number, position);
            self.plan.notes.extend(notes);
            let nameless =
                origin.dialect == Dialect::Gnoma && origin.scope != Scope::Plugin && item.name().is_empty();
            let defect = match hook {
                Ok(None) => None,
                Err(error) => Some((error.note, error.of_gate)),
                Ok(Some(hook)) => {
                    let message = if nameless {
                        Some("expected the key `name`, found none".to_owned())
                    } else if hooks.iter().any(|other| other.id == hook.id) {
                        Some(format!("the name `{}` is used twice", hook.id))
                    } else {
                        None
                    };
                    match message {
                        None => {
                            hooks.push(hook);
                            None
                        }
                        Some(message) => {
                            let at = place(origin.label, item.place());
                            let of_gate = hook.event.class() == EventClass::Gate;
                            Some((HookNote::new("hook/field", at, message), of_gate))
                        }
                    }
                }
            };
            if let Some((note, of_gate)) = defect {
                if of_gate {
                    broken = broken.or(Some(note.code));
                }
                self.plan.notes.push(note);
            }
        }
        match broken {
            Some(code) => self.refuse_as(origin.scope, origin.prefix, code),
            None => self.plan.hooks.append(&mut hooks),
        }
    }

    fn refuse_as(&mut self, scope: Scope, source: &str, code: &str) {
        self.plan.refused.push(RefusedSource { scope, source: source.to_owned(), code: code.to_owned() });
    }
}

/// Splits a place into file, line and column, so that line 8 sorts before line 14.
fn order(at: &str) -> (&str, u32, u32) {
    let split = |text: &'_ str| -> Option<(usize, u32)> {
        let (before, number) = text.rsplit_once(':')?;
        Some((before.len(), number.parse().ok()?))
    };
    let Some((end, column)) = split(at) else { return (at, 0, 0) };
    let rest = at.get(..end).unwrap_or(at);
    split(rest).map_or((rest, column, 0), |(end, line)| (rest.get(..end).unwrap_or(rest), line, column))
}

/// The step of an in-process hook of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an in-process hook observes or transforms")]
pub enum LocalStep {
    /// Before all transforms. Its reply has no effect.
    Observe,
    /// Among the transforms.
    Transform,
}
