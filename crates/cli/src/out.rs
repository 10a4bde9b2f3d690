//! Writes results to standard output or a file, and messages to standard error.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write};

use anstyle::{AnsiColor, Style};
use plugward_loader::escape::block;

use crate::diagnostic::{Diagnostic, Level};
use crate::output_file;

/// When to use color.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Red and bold: a refusal.
pub(crate) const REFUSE: Style = AnsiColor::Red.on_default().bold();
/// Yellow: a question or a warning.
pub(crate) const ASK: Style = AnsiColor::Yellow.on_default();
/// Green: a plugin that loads.
pub(crate) const LOAD: Style = AnsiColor::Green.on_default();
/// Bold: headings and names.
pub(crate) const STRONG: Style = Style::new().bold();
/// Dim: context that a reader may skip.
pub(crate) const FAINT: Style = Style::new().dimmed();

/// Styles text. The output stream removes the style if color is off.
pub(crate) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Escapes hidden characters but line breaks and tabs, which lay out a text.
pub(crate) fn visible(text: &str) -> String {
    text.split('\t').map(block).collect::<Vec<_>>().join("\t")
}

/// Whether a user sees standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Live {
    /// It is a terminal.
    Watched,
    /// It is not a terminal, or `-q` was given.
    Unwatched,
}

/// Whether anyone reads standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// No write has failed so far.
    Reading,
    /// A write failed with `EPIPE`.
    Gone,
}

/// Standard output or a file, and standard error.
pub(crate) struct Out {
    results: Box<dyn Write>,
    reader: Reader,
    choice: anstream::ColorChoice,
    to_file: Option<FileSink>,
    /// The level of detail: negative for `-q`, positive for `-v`.
    pub(crate) loudness: i8,
    /// The width of the terminal in columns, or 80 if standard output is not a terminal.
    pub(crate) width: usize,
    /// Whether a user sees standard error, and so progress is shown.
    pub(crate) live: Live,
}

struct FileSink {
    buffer: Vec<u8>,
    path: camino::Utf8PathBuf,
}

impl Out {
    pub(crate) fn new(color: ColorWhen, loudness: i8, file: Option<camino::Utf8PathBuf>) -> Self {
        let choice = match color {
            ColorWhen::Auto => anstream::ColorChoice::Auto,
            ColorWhen::Always => anstream::ColorChoice::AlwaysAnsi,
            ColorWhen::Never => anstream::ColorChoice::Never,
        };
        // Questions are written without an `Out`.
        choice.write_global();
        let stdout = io::stdout();
        let width = match terminal_size::terminal_size_of(&stdout) {
            // Tables need 40 columns, and lines of more than 120 columns are hard to read.
            Some((terminal_size::Width(width), _)) if width >= 40 => usize::from(width).min(120),
            _ => 80,
        };
        Self {
            results: Box::new(anstream::AutoStream::new(stdout, choice)),
            reader: Reader::Reading,
            choice,
            to_file: file.map(|path| FileSink { buffer: Vec::new(), path }),
            loudness,
            width,
            live: if loudness >= 0 && io::stderr().is_terminal() { Live::Watched } else { Live::Unwatched },
        }
    }

    /// Writes a result. Once the reader of standard output is gone, results are dropped without an error.
    pub(crate) fn result(&mut self, text: &str) -> io::Result<()> {
        if let Some(sink) = &mut self.to_file {
            sink.buffer.extend_from_slice(anstream::adapter::strip_str(text).to_string().as_bytes());
            return Ok(());
        }
        if self.reader == Reader::Gone {
            return Ok(());
        }
        match self.results.write_all(text.as_bytes()) {
            // `plugward check | head` must not turn a refusal into success, so the verb continues to its own exit code.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.reader = Reader::Gone;
                Ok(())
            }
            other => other,
        }
    }

    /// Writes the text of a plugin as it is, at once. On a terminal, hidden characters are escaped.
    pub(crate) fn verbatim(&mut self, text: &str) -> io::Result<()> {
        if io::stdout().is_terminal() || self.to_file.is_some() || self.reader == Reader::Gone {
            return self.result(&visible(text));
        }
        // Not through the stream of `result`, which would remove what looks like a style.
        match crate::starts::write(text.to_owned()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.reader = Reader::Gone;
                Ok(())
            }
            other => other,
        }
    }

    /// Writes what a plugin wrote to its standard error. On a terminal, hidden characters are escaped.
    pub(crate) fn verbatim_error(bytes: &[u8]) {
        // A failed write to standard error cannot be reported anywhere.
        let _nowhere_left = io::stderr().write_all(&Self::shown_error(bytes));
    }

    /// Returns what a plugin wrote to its standard error. For a terminal, hidden characters are escaped.
    pub(crate) fn shown_error(bytes: &[u8]) -> Cow<'_, [u8]> {
        if io::stderr().is_terminal() {
            return visible(&String::from_utf8_lossy(bytes)).into_bytes().into();
        }
        bytes.into()
    }

    /// Prints a diagnostic to standard error, unless `-q`; an error is printed even then.
    pub(crate) fn report(&self, diagnostic: &Diagnostic) {
        if self.loudness >= 0 || diagnostic.level() == Level::Error {
            self.complain(diagnostic.render(self.width).trim_end());
        }
    }

    /// Prints a line to standard error, unless `-q`.
    pub(crate) fn say(&self, text: &str) {
        if self.loudness >= 0 {
            self.complain(text);
        }
    }

    /// Prints a line to standard error, even with `-q`.
    pub(crate) fn complain(&self, text: &str) {
        let mut stderr = anstream::AutoStream::new(io::stderr(), self.choice);
        // A failed write to standard error cannot be reported anywhere.
        if writeln!(stderr, "{text}").is_err() {}
    }

    /// Flushes standard output, or writes the file of `--output`.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        if let Some(sink) = self.to_file.take() {
            return output_file::write(&sink.path, &sink.buffer);
        }
        match self.results.flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }
}
