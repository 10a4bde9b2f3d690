//! `plugward review [DIR…]`: shows each plugin that changed or needs a decision, and asks what to do about it.

mod screen;

use std::collections::BTreeSet;
use std::sync::Arc;

use plugward_loader::{
    ByteRetention, CheckMode, Decision, Finding, Gate, InstallRecords, PluginKey, PluginReport, Reason, Root,
    Severity, Weight,
};

use crate::advice;
use crate::args::{AcceptArgs, AuditArgs, FindArgs, ReviewArgs, ReviewedArgs, SuppressArgs};
use crate::diagnostic::Diagnostic;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::installed::{self, Installed};
use crate::out::{ASK, LOAD, Live, Out, REFUSE, paint};
use crate::progress::Progress;
use crate::prompt::{Prompt, TRIES};
use crate::report::{self, word};
use crate::stores;
use crate::text::{command, count, wrapped};
use crate::verbs::diff::Comparison;
use crate::verbs::shared::{self, PluginBytes};
use crate::verbs::{audit, decide, review::screen::Screen, suppress};
use plugward_loader::escape::line;

const QUESTION: &str = "Accept this version? [a]ccept, [S]kip, [d]iff, deny, [q]uit, [?]";

const DANGER_QUESTION: &str = "Keep it refused? [K]eep, suppress, [d]iff, deny, [q]uit, [?]";

const DANGER_HELP: &str = "  k     keep it refused: decide nothing, and go on (the default; also: s)
  suppress  accept its danger findings with a reason, until their files change
  d     show the whole diff, in pages (also: v)
  deny  refuse the plugin whatever it contains, until `plugward undeny`
  q     quit: decide nothing about this plugin and those after it
  ?     this text
  Ctrl-C stops; answers that were given are kept.
";

const HELP: &str = "  a     accept: pin these bytes, so that the plugin loads while they are unchanged
  s     skip: decide nothing, and go on to the next plugin (the default)
  d     show the whole diff, in pages (also: v)
  audit let the language model of your settings read it (see `plugward audit`)
  deny  refuse the plugin whatever it contains, until `plugward undeny`
  q     quit: decide nothing about this plugin and those after it
  ?     this text
  Ctrl-C stops; answers that were given are kept.
";

/// The most plugins that a note lists. With more, it would push the result off the screen.
const LISTED: usize = 10;

pub(crate) fn run(args: &ReviewArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let (roots, records) = to_review(args)?;
    if let Some(failure) = stores::pins(host, CheckMode::LookOnly, out)?.failure() {
        // Without the pins, every plugin would look new, and no answer could be stored.
        return Err(shared::store_failure(&failure));
    }
    let trust = args.trust.map(shared::trust_of);
    let report =
        shared::look_at(&roots, records, trust, ByteRetention::Nothing, &args.finding, host, out)?.report;
    for notice in &report.notices {
        out.report(&report::notice(notice));
    }
    if report.plugins.is_empty() && !args.dirs.is_empty() {
        // A mistyped directory must not look like one in which there is nothing to review.
        let dirs: Vec<&str> = args.dirs.iter().map(|dir| dir.as_str()).collect();
        return Err(Failure::usage(format!("nothing to review: no plugin in {}", dirs.join(", ")))
            .help("name a directory that contains plugins"));
    }
    let queue = Queue::of(report.plugins, args);
    if queue.checked == 0 {
        out.result("No plugin is installed.\n")?;
        out.result(&command("To review a directory: ", "plugward review DIR", out.width))?;
    } else if queue.open.is_empty() {
        out.result(&format!("Nothing to review in {}.\n", count(queue.checked, "plugin")))?;
    } else if host.interactive {
        return walk(&queue, args, host, out);
    } else {
        list(&queue, out)?;
    }
    queue.report_others(out);
    Ok(queue.exit())
}

/// Returns what to review: the plugins in the directories of the command line, or else everything that is installed.
fn to_review(args: &ReviewArgs) -> Result<(Vec<Root>, Arc<InstallRecords>), Failure> {
    if args.dirs.is_empty() {
        let Installed { roots, records, .. } = installed::everything(&shared::scope(&args.hosts)?)?;
        return Ok((roots, records));
    }
    let roots = shared::roots(&args.dirs)?;
    let records = installed::inside(&roots)?;
    Ok((roots, records))
}

/// What can be done about a plugin here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It loads.
    Loads,
    /// Accepting its contents answers at least one reason, and no other reason refuses it.
    Open,
    /// Danger findings refuse it, and accepting its contents answers all other reasons.
    Danger,
    /// It does not load for reasons that accepting does not answer.
    Elsewhere,
}

impl Standing {
    fn of(plugin: &PluginReport) -> Self {
        if plugin.decision == Decision::Load {
            return Self::Loads;
        }
        // The lockfile is a decision of its own: accepting a plugin neither needs nor changes it.
        let reasons = || plugin.reasons.iter().filter(|reason| !is_of_lock(reason));
        let is_digested = plugin.tree.is_some() && !plugin.dialects.is_empty();
        let is_danger = |reason: &Reason| reason.weight == Weight::Scan;
        let is_open = |reason: &Reason| reason.weight == Weight::Undecided || is_answered(reason);
        match is_digested && reasons().all(|reason| is_open(reason) || is_danger(reason)) {
            true if reasons().any(is_danger) => Self::Danger,
            true if reasons().any(is_answered) => Self::Open,
            _ => Self::Elsewhere,
        }
    }
}

fn is_of_lock(reason: &Reason) -> bool {
    reason.gate == Gate::Lock && reason.weight == Weight::Integrity
}

/// Returns `true` if accepting the contents answers a reason.
fn is_answered(reason: &Reason) -> bool {
    let is_undecided = reason.weight == Weight::Undecided && reason.accept.is_some();
    is_undecided || (reason.gate == Gate::Pin && reason.weight == Weight::Integrity)
}

/// Returns the reasons in a few words.
fn why(plugin: &PluginReport) -> String {
    let mut words: Vec<String> = plugin.reasons.iter().map(advice::words).collect();
    words.dedup();
    line(&words.join("; ")).into_owned()
}

/// A plugin to review. The rest of its report is dropped, since the screen reads the plugin again with its bytes.
struct QueuedPlugin {
    key: PluginKey,
    /// Its name for a terminal.
    shown: String,
    decision: Decision,
    standing: Standing,
    /// The effect of its reasons on the exit code of a check.
    weight: Weight,
    why: String,
    /// The command that shows the change.
    diff: String,
    /// The command that shows the result of each gate.
    explain: String,
}

struct Queue {
    open: Vec<QueuedPlugin>,
    others: Vec<QueuedPlugin>,
    /// The number of plugins in `others` that a person must decide.
    asked_elsewhere: usize,
    checked: usize,
}

impl Queue {
    fn of(plugins: Vec<PluginReport>, args: &ReviewArgs) -> Self {
        let typed = shared::as_typed(&args.finding);
        let mut queue =
            Self { open: Vec::new(), others: Vec::new(), asked_elsewhere: 0, checked: plugins.len() };
        // What its host does not load needs no decision.
        for plugin in plugins.into_iter().filter(|plugin| plugin.on) {
            let standing = Standing::of(&plugin);
            if standing == Standing::Loads {
                continue;
            }
            let commands = shared::commands(&plugin, &typed, None);
            let one = QueuedPlugin {
                shown: host::display(&plugin.key),
                decision: plugin.decision,
                standing,
                weight: plugin.reasons.iter().map(|reason| reason.weight).min().unwrap_or(Weight::Undecided),
                why: why(&plugin),
                diff: commands.diff(),
                explain: commands.explain(),
                key: plugin.key,
            };
            if matches!(standing, Standing::Open | Standing::Danger) {
                queue.open.push(one);
            } else {
                queue.asked_elsewhere += usize::from(one.decision == Decision::Ask);
                queue.others.push(one);
            }
        }
        queue
    }

    /// Returns the exit code of a list: that of a check if a danger finding waits, else that of a question.
    fn exit(&self) -> u8 {
        let has_danger = self.open.iter().any(|one| one.standing == Standing::Danger);
        let worst = self.open.iter().map(|one| one.weight).min();
        match worst {
            Some(worst) if has_danger => worst.exit(),
            Some(_) => Weight::Undecided.exit(),
            None if self.asked_elsewhere > 0 => Weight::Undecided.exit(),
            None => 0,
        }
    }

    /// Reports the plugins that do not load and cannot be accepted here.
    fn report_others(&self, out: &Out) {
        let Some(first) = self.others.first() else { return };
        let verb = if self.others.len() == 1 { "does" } else { "do" };
        let title = format!(
            "{} {verb} not load for reasons that accepting does not resolve",
            count(self.others.len(), "plugin")
        );
        let mut block = Diagnostic::warning(title);
        for one in self.others.iter().take(LISTED) {
            block = block.note("plugin", format!("{}: {}", one.shown, one.why));
        }
        if self.others.len() > LISTED {
            block = block.note("note", format!("and {} more", self.others.len() - LISTED));
        }
        out.report(&block.help(&first.explain));
    }
}

/// Prints the plugins to review, with the command that shows each change.
fn list(queue: &Queue, out: &mut Out) -> Result<(), Failure> {
    let total = queue.open.len();
    let needs = if total == 1 { "needs" } else { "need" };
    let mut text = paint(ASK, &format!("{} {needs} a review.", count(total, "plugin")));
    text.push_str("\n\n");
    for one in &queue.open {
        let style = if one.decision == Decision::Refuse { REFUSE } else { ASK };
        let row = wrapped(
            "",
            "  ",
            &format!("{} {}: {}", word(one.decision), line(&one.shown), one.why),
            out.width,
        );
        text.push_str(&row.replacen(word(one.decision), &paint(style, word(one.decision)), 1));
        text.push_str(&command("  ", &one.diff, out.width));
    }
    out.result(&text)?;
    Ok(())
}

/// The answers so far.
#[derive(Debug, Default)]
struct Tally {
    accepted: usize,
    denied: usize,
    /// Plugins that need no decision any more.
    settled: usize,
    left: usize,
    /// The worst effect of a plugin that was not decided.
    worst: Option<Weight>,
}

impl Tally {
    /// Counts a plugin that was not decided.
    fn leave(&mut self, one: &QueuedPlugin) {
        self.left += 1;
        self.worst = self.worst.into_iter().chain([one.weight]).min();
    }

    fn text(&self) -> String {
        let mut parts = vec![format!("{} accepted", self.accepted), format!("{} denied", self.denied)];
        if self.settled > 0 {
            parts.push(format!("{} decided elsewhere", self.settled));
        }
        parts.push(format!("{} left undecided", self.left));
        format!("{}.\n", parts.join(", "))
    }
}

/// What the user decided about one plugin.
enum Answer {
    Accept,
    Deny,
    /// The danger findings are accepted, for this reason.
    Suppress(String),
    /// The model of the settings reads the plugin, and the question is asked again.
    Audit,
    Skip,
    /// Neither this plugin nor a later one is decided.
    Quit,
}

/// Asks about each plugin, and returns the exit code.
fn walk(queue: &Queue, args: &ReviewArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let progress = Progress::new(Live::Unwatched);
    let mut prompt = Prompt::new(&progress, out.width);
    let mut tally = Tally::default();
    let mut rest = queue.open.iter().enumerate();
    for (index, one) in rest.by_ref() {
        let place = format!("[{} of {}]", index + 1, queue.open.len());
        match review(one, &place, args, &mut prompt, &mut tally, host, out) {
            Ok(Answer::Quit) => {
                tally.leave(one);
                break;
            }
            Ok(Answer::Accept | Answer::Deny | Answer::Suppress(_) | Answer::Audit | Answer::Skip) => {}
            // The other plugins can still be reviewed, unless no answer can be stored.
            Err(failure) if matches!(failure.exit(), 2 | 4) => {
                out.complain(failure.render(out.width).trim_end());
                tally.leave(one);
            }
            Err(failure) => return Err(failure),
        }
    }
    rest.for_each(|(_, one)| tally.leave(one));
    let style = if tally.left == 0 { LOAD } else { ASK };
    out.result(&format!("\n{}", paint(style, &tally.text())))?;
    queue.report_others(out);
    Ok(match tally.worst {
        _ if prompt.is_interrupted() => 130,
        Some(worst) => worst.exit(),
        None if queue.asked_elsewhere > 0 => Weight::Undecided.exit(),
        None => 0,
    })
}

/// Shows one plugin, asks about it and stores the answer.
fn review(
    one: &QueuedPlugin,
    place: &str,
    args: &ReviewArgs,
    prompt: &mut Prompt<'_>,
    tally: &mut Tally,
    host: &Host,
    out: &mut Out,
) -> Result<Answer, Failure> {
    let trust = args.trust.map(shared::trust_of);
    // A key selects exactly the plugin that was listed, whatever its directory is called.
    let chosen = FindArgs::new(one.key.to_string(), args.finding.clone());
    let named = shared::find(&chosen, trust, PluginBytes::Keep, host, out)?;
    let commands = shared::commands(&named.plugin, &shared::as_typed(&args.finding), None);
    let standing = Standing::of(&named.plugin);
    match standing {
        Standing::Loads => {
            out.say(&format!("\n{place} {}: needs no decision any more", line(&one.shown)));
            tally.settled += 1;
            return Ok(Answer::Skip);
        }
        Standing::Elsewhere => {
            out.say(&format!("\n{place} {}: changed meanwhile", line(&one.shown)));
            tally.leave(one);
            return Ok(Answer::Skip);
        }
        Standing::Open | Standing::Danger => {}
    }
    let rules = danger_rules(&named.plugin);
    let compared = Comparison::new(named, &commands, host, out)?;
    let screen = Screen::new(place, compared, &commands, out.width);
    let answer = ask(&screen, standing, prompt);
    match answer {
        Answer::Accept => {
            let digests = screen.reviewed();
            let with = digests.outside.iter().map(ToString::to_string);
            let with = with.chain(digests.entry.iter().map(ToString::to_string)).collect();
            let reviewed = ReviewedArgs { tree: Some(digests.tree.to_string()), with };
            decide::accept(&AcceptArgs { plugin: chosen, reviewed }, host, out)?;
            tally.accepted += 1;
        }
        Answer::Deny => {
            decide::deny(&chosen.named, host, out)?;
            tally.denied += 1;
        }
        Answer::Suppress(reason) => {
            for rule in rules {
                let (plugin, reason) = (chosen.clone(), reason.clone());
                let args = SuppressArgs { plugin, rule, path: None, reason, expires: None };
                suppress::suppress(&args, host, out)?;
            }
            // Its contents can still be new, and then they are the next question.
            return review(one, place, args, prompt, tally, host, out);
        }
        Answer::Audit => {
            // The open question reads the terminal, so an expensive audit is not confirmed here.
            let audited = audit::run(&AuditArgs::of(chosen), &host.without_questions(), out);
            if let Err(failure) = audited {
                out.complain(failure.render(out.width).trim_end());
            }
            return review(one, place, args, prompt, tally, host, out);
        }
        Answer::Skip => tally.leave(one),
        Answer::Quit => {}
    }
    Ok(answer)
}

/// Returns the rules of the danger findings that are not suppressed.
fn danger_rules(plugin: &PluginReport) -> BTreeSet<String> {
    let is_open =
        |finding: &&Finding| finding.severity == Severity::Danger && plugin.suppression(finding).is_none();
    plugin.findings.iter().filter(is_open).map(|finding| finding.rule.to_string()).collect()
}

/// Prints the screen and asks until there is an answer.
fn ask(screen: &Screen, standing: Standing, prompt: &mut Prompt<'_>) -> Answer {
    let is_danger = standing == Standing::Danger;
    let (question, help) = if is_danger { (DANGER_QUESTION, DANGER_HELP) } else { (QUESTION, HELP) };
    if !Prompt::say(&screen.summary(screen::height())) {
        return Answer::Quit;
    }
    let mut tries = 0;
    while tries < TRIES {
        let Some(text) = prompt.line(question) else { return Answer::Quit };
        match text.as_str() {
            "a" | "accept" if !is_danger => return Answer::Accept,
            "suppress" if is_danger => {
                match prompt.text("Why are they not a danger? (10 characters or more)") {
                    Some(reason) => return Answer::Suppress(reason),
                    None => return Answer::Quit,
                }
            }
            // Enter and a habitual "no" decide nothing.
            "" | "s" | "skip" | "k" | "keep" | "n" | "no" => return Answer::Skip,
            // In full, because the text of the plugin leaves this machine, unless the model is on it.
            "audit" => return Answer::Audit,
            // In full, because a denial stays in effect for every later version.
            "deny" => return Answer::Deny,
            "q" | "quit" => return Answer::Quit,
            "d" | "diff" | "v" | "view" => screen.page(screen::height(), prompt),
            _ => {
                tries += 1;
                _ = Prompt::say(help);
            }
        }
    }
    Answer::Quit
}
