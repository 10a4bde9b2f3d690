//! The output of a command plugin.

use std::io;

use plugward_loader::SessionOutput;
use plugward_loader::escape::line;
use plugward_loader::launch::LaunchReport;
use plugward_loader::protocol::{LogLevel, PluginDescription, SessionEvent};
use serde::Serialize;

use crate::args::ListFormat;
use crate::failure::Failure;
use crate::out::Out;
use crate::{json, starts};

#[derive(Serialize)]
struct PrintRow<'a> {
    print: &'a str,
    channel: &'a str,
}

#[derive(Serialize)]
struct ExitRow<'a> {
    exit: ExitFacts<'a>,
}

#[derive(Serialize)]
struct ExitFacts<'a> {
    by: &'a str,
    code: u8,
    reason: Option<&'a str>,
}

/// Prints what a plugin prints and logs, and remembers how it ended.
pub(super) struct Printer<'a> {
    out: &'a mut Out,
    format: ListFormat,
    exit: Option<(u8, Option<String>)>,
    description: Option<PluginDescription>,
}

impl<'a> Printer<'a> {
    pub(super) const fn new(out: &'a mut Out, format: ListFormat) -> Self {
        Self { out, format, exit: None, description: None }
    }

    pub(super) fn announce(&self, report: &LaunchReport, name: &str) {
        starts::announce(report, name, self.out);
    }

    pub(super) fn take_description(&mut self) -> Option<PluginDescription> {
        self.description.take()
    }

    /// Prints the end of a run, and returns the plugin's exit code.
    pub(super) fn finish(mut self, ended: Result<(), Failure>) -> Result<u8, Failure> {
        let (by, code, reason) = match (&ended, self.exit.take()) {
            (Err(failure), _) => ("plugward", failure.exit(), Some(failure.to_string())),
            (Ok(()), Some((code, reason))) => ("plugin", code, reason),
            // Only an interrupted session ends without an exit code.
            (Ok(()), None) => ("interrupt", 130, None),
        };
        match (self.format, &reason) {
            (ListFormat::Json, _) => {
                self.row(&ExitRow { exit: ExitFacts { by, code, reason: reason.as_deref() } })?;
            }
            (ListFormat::Table, Some(reason)) if ended.is_ok() => self.out.say(&line(reason)),
            (ListFormat::Table, _) => {}
        }
        ended.map(|()| code)
    }

    fn row(&mut self, row: &impl Serialize) -> io::Result<()> {
        self.out.verbatim(&format!("{}\n", json::visible(&serde_json::to_string(row)?)))
    }
}

impl SessionOutput for Printer<'_> {
    fn event(&mut self, event: SessionEvent) -> io::Result<()> {
        match event {
            SessionEvent::Print { text, channel, .. } if self.format == ListFormat::Json => {
                return self.row(&PrintRow { print: &text, channel: &channel });
            }
            SessionEvent::Print { text, channel, .. } if channel == "content" => {
                return self.out.verbatim(&text);
            }
            SessionEvent::Print { text, .. } => Out::verbatim_error(text.as_bytes()),
            SessionEvent::Log { level, message, fields } => {
                if level == LogLevel::Error || self.out.loudness >= 0 {
                    let fields = fields.iter().map(|(key, value)| format!(" {key}={value}"));
                    let text = format!("{}: {message}{}", level.as_str(), fields.collect::<String>());
                    self.out.complain(&line(&text));
                }
            }
            SessionEvent::Described(description) => self.description = Some(description),
            SessionEvent::Exit { code, reason } => self.exit = Some((code, reason)),
            SessionEvent::Ready | SessionEvent::Send(_) => {}
        }
        Ok(())
    }

    fn errors(&mut self, bytes: &[u8]) {
        Out::verbatim_error(bytes);
    }
}

/// Returns a labeled row of a text.
pub(super) fn field(label: &str, value: &str) -> String {
    format!("  {label:<9} {}\n", line(value))
}
