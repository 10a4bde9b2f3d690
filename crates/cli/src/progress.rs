//! How far long work is, on a terminal.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use plugward_loader::Watch;

use crate::escape::line;
use crate::out::Live;
use crate::text::bytes;

/// A spinner that appears after a second of work.
pub(crate) struct Progress {
    bar: ProgressBar,
    start: Option<Instant>,
    now: Mutex<Now>,
}

#[derive(Default)]
struct Now {
    what: String,
    shown: bool,
}

impl Progress {
    /// Draws only where standard error is a terminal.
    pub(crate) fn new(live: Live) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style);
        }
        #[expect(clippy::disallowed_methods, reason = "progress is for people and decides nothing")]
        let start = (live == Live::Watched).then(Instant::now);
        Self { bar, start, now: Mutex::new(Now::default()) }
    }

    /// Removes the spinner.
    pub(crate) fn done(&self) {
        self.bar.finish_and_clear();
    }

    fn show(&self, what: Option<String>, detail: &str) {
        let Some(start) = self.start else { return };
        let Ok(mut now) = self.now.lock() else { return };
        if let Some(what) = what {
            now.what = what;
        }
        if start.elapsed() < Duration::from_secs(1) {
            return;
        }
        if !now.shown {
            now.shown = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_message(format!("{}{detail}", now.what));
        self.bar.tick();
    }
}

impl Watch for Progress {
    fn discovering(&self, folder: &str) {
        self.show(Some(format!("looking for plugins in {}", line(folder))), "");
    }

    fn plugin(&self, id: &str, number: usize, of: usize) {
        self.show(Some(format!("{number}/{of} {}", line(id))), "");
    }

    fn reading(&self, entries: u64, size: u64) {
        self.show(None, &format!(": {entries} entries, {}", bytes(size)));
    }
}
