//! The progress of long work on a terminal.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use plugward_loader::Watch;

use crate::out::Live;
use crate::text::bytes;
use plugward_loader::escape::line;

/// A spinner that appears after a second of work.
pub(crate) struct Progress {
    bar: ProgressBar,
    start: Option<Instant>,
    state: Mutex<ProgressState>,
}

#[derive(Default)]
struct ProgressState {
    task: String,
    shown: bool,
}

impl Progress {
    /// Creates a spinner, which draws only if standard error is a terminal.
    pub(crate) fn new(live: Live) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style);
        }
        #[expect(clippy::disallowed_methods, reason = "progress is for people and decides nothing")]
        let start = (live == Live::Watched).then(Instant::now);
        Self { bar, start, state: Mutex::new(ProgressState::default()) }
    }

    /// Removes the spinner from the terminal.
    pub(crate) fn done(&self) {
        self.bar.finish_and_clear();
    }

    fn show(&self, task: Option<String>, detail: &str) {
        let Some(start) = self.start else { return };
        let Ok(mut state) = self.state.lock() else { return };
        if let Some(task) = task {
            state.task = task;
        }
        // A spinner for short work would only flicker.
        if start.elapsed() < Duration::from_secs(1) {
            return;
        }
        if !state.shown {
            state.shown = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_message(format!("{}{detail}", state.task));
        self.bar.tick();
    }
}

impl Watch for Progress {
    fn discovering(&self, directory: &str) {
        self.show(Some(format!("looking for plugins in {}", line(directory))), "");
    }

    fn plugin(&self, id: &str, number: usize, of: usize) {
        self.show(Some(format!("{number}/{of} {}", line(id))), "");
    }

    fn reading(&self, entries: u64, size: u64) {
        self.show(None, &format!(": {entries} entries, {}", bytes(size)));
    }
}
