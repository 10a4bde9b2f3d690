//! `plugward review [DIR…]`: shows each plugin that changed or needs a decision, and asks what to do about it.

mod screen;

use std::sync::Arc;

use plugward_loader::{
    ByteRetention, CheckMode, Decision, Gate, InstallRecords, PluginKey, PluginReport, Reason, Root, Weight,
};

use crate::advice;
use crate::args::{AcceptArgs, IdArgs, ReviewArgs};
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
use crate::verbs::{decide, review::screen::Screen};
use plugward_loader::escape::line;

const QUESTION: &str = "Accept this version? [a]ccept, [S]kip, [d]iff, deny, [q]uit, [?]";

const HELP: &str = "  a     accept: pin these bytes, so that the plugin loads while they are unchanged
  s     skip: decide nothing, and go on to the next plugin (the default)
  d     show the whole diff, in pages (also: v)
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
    if queue.open.is_empty() {
        out.result(&format!("Nothing to review in {}.\n", count(queue.checked, "plugin")))?;
    } else if host.interactive {
        return walk(&queue, args, host, out);
    } else {
        list(&queue, out)?;
    }
    queue.report_others(out);
    Ok(if queue.open.is_empty() && queue.asked_elsewhere == 0 { 0 } else { 3 })
}

/// Returns what to review: the plugins in the directories of the command line, or else everything that is installed.
fn to_review(args: &ReviewArgs) -> Result<(Vec<Root>, Arc<InstallRecords>), Failure> {
    if args.dirs.is_empty() {
        let Installed { roots, records, .. } = installed::everything(&shared::scope(&args.hosts)?)?;
        return Ok((roots, records));
    }
    let roots = shared::roots(&args.dirs)?;
    let records = installed::inside(&roots);
    Ok((roots, records))
}

/// What can be done about a plugin here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It loads.
    Loads,
    /// Accepting its contents answers at least one reason, and no other reason refuses it.
    Open,
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
        let all = reasons().all(|reason| reason.weight == Weight::Undecided || is_answered(reason));
        if is_digested && all && reasons().any(is_answered) { Self::Open } else { Self::Elsewhere }
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
                why: why(&plugin),
                diff: commands.diff(),
                explain: commands.explain(),
                key: plugin.key,
            };
            if standing == Standing::Open {
                queue.open.push(one);
            } else {
                queue.asked_elsewhere += usize::from(one.decision == Decision::Ask);
                queue.others.push(one);
            }
        }
        queue
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
    refused: usize,
    asked: usize,
}

impl Tally {
    /// Counts a plugin that was not decided.
    const fn leave(&mut self, decision: Decision) {
        match decision {
            Decision::Refuse => self.refused += 1,
            Decision::Ask => self.asked += 1,
            Decision::Load => self.settled += 1,
        }
    }

    fn text(&self) -> String {
        let left = self.refused + self.asked;
        let mut parts = vec![format!("{} accepted", self.accepted), format!("{} denied", self.denied)];
        if self.settled > 0 {
            parts.push(format!("{} decided elsewhere", self.settled));
        }
        parts.push(format!("{left} left undecided"));
        format!("{}.\n", parts.join(", "))
    }
}

/// What the user decided about one plugin.
enum Answer {
    Accept,
    Deny,
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
                tally.leave(one.decision);
                break;
            }
            Ok(Answer::Accept | Answer::Deny | Answer::Skip) => {}
            // The other plugins can still be reviewed, unless no answer can be stored.
            Err(failure) if matches!(failure.exit(), 2 | 4) => {
                out.complain(failure.render(out.width).trim_end());
                tally.leave(one.decision);
            }
            Err(failure) => return Err(failure),
        }
    }
    rest.for_each(|(_, one)| tally.leave(one.decision));
    let style = if tally.refused + tally.asked == 0 { LOAD } else { ASK };
    out.result(&format!("\n{}", paint(style, &tally.text())))?;
    queue.report_others(out);
    Ok(match tally {
        _ if prompt.is_interrupted() => 130,
        Tally { refused: 1.., .. } => 4,
        Tally { asked: 1.., .. } => 3,
        _ if queue.asked_elsewhere > 0 => 3,
        _ => 0,
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
    let id = one.key.to_string();
    let named = shared::find(&id, &[], trust, PluginBytes::Keep, &args.finding, host, out)?;
    let commands = shared::commands(&named.plugin, &shared::as_typed(&args.finding), None);
    let standing = Standing::of(&named.plugin);
    if standing != Standing::Open {
        let state =
            if standing == Standing::Loads { "needs no decision any more" } else { "changed meanwhile" };
        out.say(&format!("\n{place} {}: {state}", line(&one.shown)));
        tally.leave(named.plugin.decision);
        return Ok(Answer::Skip);
    }
    let compared = Comparison::new(named, &commands, host, out)?;
    let screen = Screen::new(place, compared, &commands, out.width);
    let answer = ask(&screen, prompt);
    match answer {
        Answer::Accept => {
            let digests = screen.reviewed();
            let with = digests.outside.iter().map(ToString::to_string);
            let with = with.chain(digests.entry.iter().map(ToString::to_string)).collect();
            let (tree, finding) = (digests.tree.to_string(), args.finding.clone());
            decide::accept(&AcceptArgs { id, tree: Some(tree), with, dirs: Vec::new(), finding }, host, out)?;
            tally.accepted += 1;
        }
        Answer::Deny => {
            decide::deny(&IdArgs { id, dirs: Vec::new() }, host, out)?;
            tally.denied += 1;
        }
        Answer::Skip => tally.leave(one.decision),
        Answer::Quit => {}
    }
    Ok(answer)
}

/// Prints the screen and asks until there is an answer.
fn ask(screen: &Screen, prompt: &mut Prompt<'_>) -> Answer {
    if !Prompt::say(&screen.summary(screen::height())) {
        return Answer::Quit;
    }
    let mut tries = 0;
    while tries < TRIES {
        let Some(text) = prompt.line(QUESTION) else { return Answer::Quit };
        match text.as_str() {
            "a" | "accept" => return Answer::Accept,
            // Enter and a habitual "no" decide nothing.
            "" | "s" | "skip" | "n" | "no" => return Answer::Skip,
            // In full, because a denial stays in effect for every later version.
            "deny" => return Answer::Deny,
            "q" | "quit" => return Answer::Quit,
            "d" | "diff" | "v" | "view" => screen.page(screen::height(), prompt),
            _ => {
                tries += 1;
                _ = Prompt::say(HELP);
            }
        }
    }
    Answer::Quit
}
