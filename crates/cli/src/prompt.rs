//! Questions on a terminal: whether to trust a new plugin, and confirmations.

use std::io::{BufRead as _, Write as _};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use plugward_loader::{Answer, Person, PinStatus, PluginReport, Question, Severity};

use crate::diagnostic::{Diagnostic, Level};
use crate::failure::Failure;
use crate::host::Host;
use crate::out::{ASK, Out, STRONG, paint};
use crate::progress::Progress;
use crate::report::{behaviors, outside, place_of, size, unresolved};
use crate::text::{count, wrapped};
use crate::verbs::explain::{item_text, items};
use plugward_loader::escape::line;

/// The most findings that a question shows. With more, the question would scroll its own text off the screen.
const FINDINGS: usize = 5;
/// The most items of the execution surface that a question shows; `s` shows all.
const ITEMS: usize = 12;
/// How long the question about unreadable pins waits. A host can be started by a program with a terminal of its own and
/// without a user, and then it must not hang.
const PATIENCE: Duration = Duration::from_secs(20);
/// The number of tries before a question counts as not answered, so that input without an answer cannot loop forever.
pub(crate) const TRIES: usize = 5;

const HELP: &str = "\
  y  yes: pin these bytes and load the plugin
  n  no: do not load it now, and ask again next time (the default)
  v  never: deny the plugin, until `plugward undeny`
  s  show its digests and everything that it can run
  ?  this text
  Ctrl-C stops; answers that were given are kept.
";

/// Discards what was typed before a question: a second Enter must not answer for a plugin that nobody has seen.
fn discard_typed() {
    #[cfg(unix)]
    if rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush).is_err() {
        // Not a terminal any more; the read then returns its end.
    }
}

/// An event of the terminal.
enum Input {
    Line(String),
    /// End of input.
    End,
    /// Ctrl-C.
    Interrupt,
}

/// The channel for an interrupt while a question is open. Without a question, an interrupt ends the program.
static OPEN: Mutex<Option<Sender<Input>>> = Mutex::new(None);

/// Sends an interrupt to the open question, and returns `false` if no question is open.
pub(crate) fn interrupt() -> bool {
    let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.as_ref().is_some_and(|sender| sender.send(Input::Interrupt).is_ok())
}

/// A user at a terminal, who is asked once per plugin.
pub(crate) struct Prompt<'a> {
    progress: &'a Progress,
    width: usize,
    questions: usize,
    asked: usize,
    /// Takes lines and interrupts from the first question on.
    input: Option<(Sender<Input>, Receiver<Input>)>,
    is_over: bool,
    is_interrupted: bool,
}

impl<'a> Prompt<'a> {
    pub(crate) const fn new(progress: &'a Progress, width: usize) -> Self {
        Self { progress, width, questions: 0, asked: 0, input: None, is_over: false, is_interrupted: false }
    }

    pub(crate) const fn is_interrupted(&self) -> bool {
        self.is_interrupted
    }

    /// From here on, an interrupt ends the questions instead of the program, also between two of them: the answers before
    /// it are stored.
    fn open(&mut self) {
        if self.input.is_none() {
            let (sender, receiver) = channel();
            *OPEN.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender.clone());
            self.input = Some((sender, receiver));
        }
    }

    /// Waits for a line or an interrupt.
    ///
    /// A separate thread reads each line, because nothing can cancel a read of the terminal. So an interrupt ends the
    /// question and the earlier answers are stored. The thread reads one line and ends: a line that was typed before its
    /// question is not an answer to it.
    fn read(&self, limit: Option<Duration>) -> Input {
        let Some((sender, receiver)) = &self.input else { return Input::End };
        let sender = sender.clone();
        std::thread::spawn(move || {
            let mut text = String::new();
            let input = match std::io::stdin().lock().read_line(&mut text) {
                Ok(0) | Err(_) => Input::End,
                Ok(_) => Input::Line(text),
            };
            // The question can be over by an interrupt.
            drop(sender.send(input));
        });
        match limit {
            Some(limit) => receiver.recv_timeout(limit).unwrap_or(Input::End),
            None => receiver.recv().unwrap_or(Input::End),
        }
    }

    pub(crate) fn say(text: &str) -> bool {
        let mut stderr = anstream::stderr();
        stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush()).is_ok()
    }

    /// Asks a question and returns the typed line in lower case, or `None` if there is no answer: the end of the input, or
    /// an interrupt.
    pub(crate) fn line(&mut self, question: &str) -> Option<String> {
        self.text(question).map(|text| text.to_ascii_lowercase())
    }

    /// As [`Prompt::line`], with the letters as they were typed.
    pub(crate) fn text(&mut self, question: &str) -> Option<String> {
        self.within(question, None)
    }

    /// As [`Prompt::text`]. Without an answer in this time, there is none.
    fn within(&mut self, question: &str, limit: Option<Duration>) -> Option<String> {
        if self.is_over {
            return None;
        }
        self.open();
        // The spinner would overwrite the question.
        self.progress.done();
        discard_typed();
        if !Self::say(&format!("\n{} ", paint(ASK, question))) {
            return None;
        }
        match self.read(limit) {
            Input::Line(text) => Some(text.trim().to_owned()),
            input => {
                self.is_over = true;
                self.is_interrupted = matches!(input, Input::Interrupt);
                Self::say("\n");
                None
            }
        }
    }

    /// Returns the text before the question: what the plugin is, can run and was found to do.
    fn introduction(&self, plugin: &PluginReport) -> String {
        let version = plugin.version.as_deref().map(|text| format!(" {}", line(text))).unwrap_or_default();
        let title = format!(
            "[{} of {}] {}: {}{version} ({})",
            self.asked,
            self.questions.max(self.asked),
            if plugin.pin.state == PinStatus::None { "New plugin" } else { "Plugin" },
            line(&plugin.id),
            size(plugin)
        );
        let mut out = format!("\n{}\n\n", paint(STRONG, &title));
        let (prompts, runs): (Vec<_>, Vec<_>) = plugin.surface.iter().partition(|item| item.kind == "prompt");
        let rows = [("Runs", runs), ("Prompts", prompts)];
        for (label, items) in rows.iter().filter(|(_, items)| !items.is_empty()) {
            for (index, item) in items.iter().take(ITEMS).enumerate() {
                let label = if index == 0 { format!("  {label:<10}") } else { " ".repeat(12) };
                out.push_str(&wrapped(&label, "              ", &item_text(item), self.width));
            }
            if items.len() > ITEMS {
                out.push_str(&format!("            and {} more\n", items.len() - ITEMS));
            }
        }
        for one in plugin.unresolved.iter().take(ITEMS) {
            out.push_str(&wrapped("  ", "    ", &unresolved(one), self.width));
        }
        if !plugin.outside.is_empty() {
            let text =
                format!("  Outside   runs {} outside the plugin\n", count(plugin.outside.len(), "file"));
            out.push_str(&text);
        }
        if !plugin.behaviors.is_empty() {
            out.push_str("  Its code\n");
            out.push_str(&behaviors(plugin, self.width));
        }
        let number = |severity| plugin.count(severity);
        out.push_str(&format!(
            "  Findings  {} danger, {} suspicious, {}\n",
            number(Severity::Danger),
            number(Severity::Warning),
            count(number(Severity::Info), "note")
        ));
        out.push_str(&worst_findings(plugin, self.width));
        out
    }

    /// Asks whether plugins load although the pins cannot be read. Anything but a yes is a no.
    fn ask_without_pins(&mut self, failure: &str, plugins: &[String]) -> Answer {
        let mut text =
            wrapped("", "  ", &format!("\nThe pins cannot be read: {}", line(failure)), self.width);
        let pins = if plugins.len() == 1 { "its pin" } else { "their pins" };
        let note = format!(
            "{} would load without a comparison with {pins}. What you denied stays refused, because the ledger has it; \
             what you revoked is not known.",
            count(plugins.len(), "plugin")
        );
        text.push_str(&wrapped("", "", &note, self.width));
        for id in plugins.iter().take(ITEMS) {
            text.push_str(&format!("  {}\n", line(id)));
        }
        if plugins.len() > ITEMS {
            text.push_str(&format!("  and {} more\n", plugins.len() - ITEMS));
        }
        if !Self::say(&text) {
            return Answer::Nobody;
        }
        let question =
            format!("Load this once, without pins? [y]es, [N]o (no after {} s)", PATIENCE.as_secs());
        match self.within(&question, Some(PATIENCE)).map(|text| text.to_ascii_lowercase()).as_deref() {
            Some("y" | "yes") => Answer::Yes,
            Some(_) => Answer::No,
            None => Answer::Nobody,
        }
    }

    /// Returns the digests, and the whole execution surface with its coverage.
    fn files(&self, plugin: &PluginReport) -> String {
        let mut out = String::new();
        for (dialect, digest) in &plugin.manifest {
            out.push_str(&format!("  manifest {digest} {dialect}\n"));
        }
        out.push_str(&format!("  tree {}\n", plugin.tree.as_deref().unwrap_or("none")));
        out.push_str(&items(plugin, "  ", self.width));
        out.push_str(&outside(plugin, self.width));
        out
    }
}

/// Returns the worst findings with their source lines, without suppressed ones and notes.
pub(crate) fn worst_findings(plugin: &PluginReport, width: usize) -> String {
    let mut out = String::new();
    let mut worst: Vec<_> = plugin
        .findings
        .iter()
        .filter(|finding| finding.severity >= Severity::Warning && plugin.suppression(finding).is_none())
        .collect();
    worst.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.cmp(b)));
    if worst.len() > FINDINGS {
        out.push_str(&format!("            the first {FINDINGS} of {} follow\n", worst.len()));
    }
    if !plugin.suppressed.is_empty() {
        out.push_str(&format!("            {} suppressed by your settings\n", plugin.suppressed.len()));
    }
    for finding in worst.into_iter().take(FINDINGS) {
        let level = if finding.severity == Severity::Danger { Level::Error } else { Level::Warning };
        let block = Diagnostic::new(level, &finding.message).code(finding.rule.as_str());
        out.push('\n');
        out.push_str(&block.at(place_of(plugin, finding)).render(width));
    }
    out
}

impl Drop for Prompt<'_> {
    fn drop(&mut self) {
        // From now on, an interrupt ends the program again.
        *OPEN.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Person for Prompt<'_> {
    fn announce(&mut self, questions: usize) {
        self.questions = questions;
        if questions > 0 {
            self.open();
        }
    }

    fn ask(&mut self, question: &Question<'_>) -> Answer {
        if let Question::LoadUnpinned { failure, plugins } = question {
            return self.ask_without_pins(failure, plugins);
        }
        let (plugin, wording) = match question {
            Question::Enroll(plugin) => {
                (*plugin, "Trust this version? [y]es, [N]o, ne[v]er, [s]how more, [?]")
            }
            Question::Run { plugin: Some(plugin), .. } => {
                (*plugin, "Let it run this time? [y]es, [N]o, [s]how more, [?]")
            }
            // Command plugins have no report, and the verbs that start or install them ask themselves.
            Question::LoadUnpinned { .. } | Question::Run { plugin: None, .. } | Question::Install { .. } => {
                return Answer::Nobody;
            }
        };
        if self.is_over {
            return Answer::Nobody;
        }
        // An interrupt while the text is printed ends the questions, too.
        self.open();
        self.progress.done();
        self.asked += 1;
        // The report has names that are the same on every machine. The user gets the path that a command takes.
        let mut shown = plugin.clone();
        crate::verbs::shared::localize(std::slice::from_mut(&mut shown));
        if !Self::say(&self.introduction(&shown)) {
            return Answer::Nobody;
        }
        if let Question::Run { setting, .. } = question
            && !Self::say(&format!("\n  Asked by   {}\n", line(setting)))
        {
            return Answer::Nobody;
        }
        for _ in 0..TRIES {
            let Some(answer) = self.line(wording) else { return Answer::Nobody };
            match answer.as_str() {
                "y" | "yes" => return Answer::Yes,
                // Enter is a no, so that a habit does not trust a plugin.
                "" | "n" | "no" => return Answer::No,
                "v" | "never" => return Answer::Never,
                "s" | "show" => _ = Self::say(&self.files(&shown)),
                _ => _ = Self::say(HELP),
            }
        }
        Answer::Nobody
    }
}

/// Asks for confirmation of an action that cannot be undone. Without a terminal, it fails and names the flag `--yes`.
pub(crate) fn confirm(explanation: &str, question: &str, host: &Host, out: &Out) -> Result<bool, Failure> {
    if !host.interactive {
        return Err(Failure::usage("this needs a confirmation, and standard input is not a terminal")
            .note("note", explanation)
            .help("confirm it on the command line: --yes"));
    }
    out.complain(&wrapped("", "", explanation, out.width));
    discard_typed();
    if !Prompt::say(&format!("{} ", paint(ASK, &format!("{question} [y]es, [N]o")))) {
        return Ok(false);
    }
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
