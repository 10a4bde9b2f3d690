//! `plugward hook plan`: shows the order of hooks. It starts and writes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use plugward_loader::hook_events::{
    Event, Hook, HookNote, OnFailure, Plan, RefusedSource, Scope, Step, View,
};
use plugward_loader::{ByteRetention, add_looked};
use serde::Serialize;

use super::{add_files, event_of, need_source, notes, user_file_is_refused};
use crate::args::{HookPlanArgs, ListFormat};
use crate::diagnostic::Diagnostic;
use crate::failure::Failure;
use crate::host::Host;
use crate::json;
use crate::out::Out;
use crate::settings::{RawGrant, Settings};
use crate::table;
use crate::verbs::shared;
use plugward_loader::escape::line;

/// The width of the columns other than id and command.
const COLUMNS: usize = 46;

pub(super) fn run(args: &HookPlanArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let event = args.event.as_deref().map(event_of).transpose()?;
    need_source(&args.sources)?;
    let settings = Settings::read(host)?;
    let mut builder = Plan::builder(settings.raw);
    add_files(&mut builder, &args.sources)?;
    let mut granted = BTreeSet::<String>::new();
    if !args.sources.dirs.is_empty() {
        let roots = shared::roots(&args.sources.dirs)?;
        let trust = args.sources.trust.map(shared::trust_of);
        let looked = shared::look(&roots, trust, ByteRetention::Nothing, &args.sources.finding, host, out)?;
        if looked.report.plugins.is_empty() {
            out.say("warning: no plugin was found");
        }
        let ids = add_looked(&mut builder, &looked);
        let id = |grant: &RawGrant| Some(format!("{}:{}", ids.get(&grant.plugin)?, grant.hook));
        granted = settings.raw_grants.iter().filter_map(id).collect();
    }
    let mut plan = builder.build();
    for id in granted.iter().filter(|id| !plan.hooks().iter().any(|hook| hook.id() == id.as_str())) {
        let id = line(id);
        let warning = Diagnostic::warning(format!("`hooks.grants` names a hook that does not exist: `{id}`"));
        out.report(
            &warning.help("write the part of an id after the plugin and `:`, such as `PostToolUse.1`"),
        );
    }
    if let Some(event) = event {
        plan = plan.only(event);
    }
    let hooks = rows(&plan, &granted);
    match args.format {
        ListFormat::Json => {
            let (notes, refused) = (plan.notes(), plan.refused());
            out.result(&json::render(&PlanReport { version: 1, hooks, notes, refused })?)?;
        }
        ListFormat::Table => {
            let headings = if event.is_none() { Headings::Shown } else { Headings::IfSeveral };
            let mut text = table_of(&hooks, headings, out.width);
            text.push_str(&notes(&plan, &args.sources, out.width));
            out.result(&text)?;
        }
    }
    Ok(if user_file_is_refused(&plan) { 2 } else { 0 })
}

#[derive(Serialize)]
struct PlanReport<'a> {
    version: u8,
    hooks: Vec<HookRow<'a>>,
    notes: &'a [HookNote],
    refused: &'a [RefusedSource],
}

#[derive(Serialize)]
struct HookRow<'a> {
    place: usize,
    id: &'a str,
    event: Event,
    matcher: Option<&'a str>,
    handler: &'static str,
    step: Step,
    scope: Scope,
    plugin: Option<&'a str>,
    run: &'a [String],
    timeout_ms: u128,
    on_failure: OnFailure,
    sees: View,
    priority: i32,
}

fn rows<'a>(plan: &'a Plan, granted: &BTreeSet<String>) -> Vec<HookRow<'a>> {
    let mut places = BTreeMap::new();
    let row = |hook: &'a Hook| {
        let place = places.entry(hook.event()).or_insert(0_usize);
        *place = place.saturating_add(1);
        let by_grant = hook.handler() == "command" && granted.contains(hook.id());
        HookRow {
            place: *place,
            id: hook.id(),
            event: hook.event(),
            matcher: hook.matcher(),
            handler: hook.handler(),
            step: hook.step(),
            scope: hook.scope(),
            plugin: hook.plugin(),
            run: hook.run(),
            timeout_ms: hook.timeout().as_millis(),
            on_failure: hook.on_failure(),
            sees: if by_grant { View::Raw } else { hook.view() },
            priority: hook.priority(),
        }
    };
    plan.hooks().iter().map(row).collect()
}

impl HookRow<'_> {
    fn runs(&self) -> String {
        match self.handler {
            "command" => crate::text::run_text(&self.run.join(" ")),
            model => format!("({model})"),
        }
    }

    /// Returns the cells of a row, without those that can be long.
    fn cells(&self) -> [String; 5] {
        let timeout = Duration::from_millis(u64::try_from(self.timeout_ms).unwrap_or(u64::MAX));
        [
            self.place.to_string(),
            self.step.as_str().to_owned(),
            self.sees.as_str().to_owned(),
            format!("{}s", timeout.as_secs_f64()),
            self.on_failure.as_str().to_owned(),
        ]
    }
}

/// Whether each table has the name of its event above it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Headings {
    Shown,
    IfSeveral,
}

/// Draws one table per event. If an id and its command do not fit in a line, they get lines of their own.
fn table_of(hooks: &[HookRow<'_>], headings: Headings, width: usize) -> String {
    let long = |row: &HookRow<'_>| row.id.chars().count().saturating_add(row.runs().chars().count());
    let stacked = hooks.iter().map(long).max().unwrap_or(0).saturating_add(COLUMNS) > width;
    let mut out = String::new();
    for one in Event::ALL {
        let rows: Vec<&HookRow<'_>> = hooks.iter().filter(|row| row.event == *one).collect();
        if rows.is_empty() {
            continue;
        }
        if headings == Headings::Shown || hooks.len() > rows.len() {
            let gap = if out.is_empty() { "" } else { "\n" };
            out.push_str(&format!("{gap}{one}\n"));
        }
        if stacked {
            let cells: Vec<Vec<String>> = rows.iter().map(|row| row.cells().to_vec()).collect();
            let text = table::grid(&["#", "STEP", "SEES", "TIMEOUT", "ON FAILURE"], &cells, width);
            let mut lines = text.lines();
            out.extend(lines.next().map(|head| format!("{head}\n")));
            for (text, row) in lines.zip(rows) {
                out.push_str(&format!("{text}\n"));
                out.push_str(&crate::text::wrapped("   hook  ", "         ", &line(row.id), width));
                out.push_str(&crate::text::wrapped("   runs  ", "         ", &row.runs(), width));
            }
            continue;
        }
        let cells = rows.iter().map(|row| {
            let [place, step, sees, timeout, failure] = row.cells();
            vec![place, step, line(row.id).into_owned(), sees, timeout, failure, row.runs()]
        });
        let head = ["#", "STEP", "HOOK", "SEES", "TIMEOUT", "ON FAILURE", "RUNS"];
        out.push_str(&table::grid(&head, &cells.collect::<Vec<_>>(), width));
    }
    if out.is_empty() { "no hooks\n".to_owned() } else { out }
}
