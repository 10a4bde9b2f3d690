//! The report as text for people, editors and machines.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use serde_json::{Value, json};

use crate::report::error::help;
use crate::report::{FenceReport, LintFinding, Site};
use crate::rules::BLIND_SPOTS;

/// The output format of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a program that lists the formats should fail to compile when one is added"
)]
pub enum Format {
    /// Like rustc: the marked source line, a note and a help.
    Text,
    /// `path:line:col: F01 message`.
    Short,
    /// One JSON object per line. The last one is `{"summary":…}`.
    Json,
    /// Annotations in GitHub's workflow logs.
    Github,
    /// SARIF 2.1.0.
    Sarif,
}

impl Format {
    /// Every format with its name on the command line.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("text", Self::Text),
        ("short", Self::Short),
        ("json", Self::Json),
        ("github", Self::Github),
        ("sarif", Self::Sarif),
    ];

    /// Returns the format with a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, format)| format)
    }
}

impl FenceReport {
    /// Renders the findings, each followed by a newline.
    #[must_use]
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Text => self.text(),
            Format::Short => self.short(),
            Format::Json => self.json(),
            Format::Github => self.github(),
            Format::Sarif => crate::report::sarif::render(self),
        }
    }

    fn text(&self) -> String {
        let renderer = Renderer::plain();
        let findings = self.findings().iter().map(|finding| {
            let lines = self.excerpts.get(&finding.site.file);
            let line = lines.and_then(|lines| lines.get(&finding.site.line)).map_or("", String::as_str);
            format!("{}\n\n", snippet(&renderer, finding, line))
        });
        let undecided = self
            .undecided()
            .iter()
            .map(|one| format!("error[{}]: {}\n  = help: {}\n\n", one.code, one.message, help(one.code)));
        findings.chain(undecided).collect()
    }

    fn short(&self) -> String {
        let findings = self.findings().iter().map(|finding| {
            let Site { file, line, column } = &finding.site;
            format!("{}:{line}:{column}: {} {}\n", escape(file), finding.rule, finding.message)
        });
        let undecided =
            self.undecided().iter().map(|one| format!("error: {} {}\n", one.code, escape(&one.message)));
        findings.chain(undecided).collect()
    }

    fn json(&self) -> String {
        let findings = self.findings().iter().map(|finding| {
            let object = json!({
                "rule": finding.rule.code(),
                "route": finding.route,
                "type": finding.ty,
                "file": finding.site.file,
                "line": finding.site.line,
                "column": finding.site.column,
                "end_line": finding.end_line,
                "end_column": finding.end_column,
                "item": finding.item,
                "message": finding.message,
                "help": finding.rule.help(),
            });
            format!("{object}\n")
        });
        let summary = json!({"summary": self.summary_value()});
        findings.chain([format!("{summary}\n")]).collect()
    }

    fn summary_value(&self) -> Value {
        let summary = self.summary();
        let off: Vec<Value> =
            summary.off.iter().map(|(rule, why)| json!({"rule": rule.code(), "why": why})).collect();
        let undecided: Vec<Value> = self
            .undecided()
            .iter()
            .map(|one| json!({"code": one.code, "message": one.message, "help": help(one.code)}))
            .collect();
        let blind: Vec<&str> = BLIND_SPOTS.iter().map(|(code, _)| *code).collect();
        json!({
            "files": summary.files,
            "parsed": summary.parsed,
            "unparsed": summary.unparsed,
            "not_scanned": summary.not_scanned,
            "types": summary.types,
            "off": off,
            "allowed": summary.allowed,
            "blind_spots": blind,
            "self_test": {"held": summary.self_test.0, "of": summary.self_test.1},
            "findings": self.findings().len(),
            "undecided": undecided,
            "exit": self.exit_code(),
        })
    }

    fn github(&self) -> String {
        let findings = self.findings().iter().map(|finding| {
            let Site { file, line, column } = &finding.site;
            let LintFinding { rule, end_line, end_column, .. } = finding;
            let (file, text) =
                (property(file), data(&format!("{} (help: {})", finding.message, rule.help())));
            format!(
                "::error file={file},line={line},col={column},endLine={end_line},endColumn={end_column},\
                 title={rule}::{text}\n"
            )
        });
        let undecided = self.undecided().iter();
        let undecided =
            undecided.map(|one| format!("::error title={}::{}\n", property(one.code), data(&one.message)));
        findings.chain(undecided).collect()
    }

    /// Returns the summary line that every run prints last.
    #[must_use]
    pub fn summary_line(&self) -> String {
        let summary = self.summary();
        let off = if summary.off.is_empty() {
            "none".to_owned()
        } else {
            let list: Vec<String> = summary.off.iter().map(|(rule, why)| format!("{rule} ({why})")).collect();
            list.join(", ")
        };
        let blind: Vec<&str> = BLIND_SPOTS.iter().map(|(code, _)| *code).collect();
        let mut line = format!(
            "plugward-fence: {} files seen, {} parsed, {} not parsed; {} not scanned; {} types; \
             rules off: {off}; {} allowed; blind spots {}; self-test {}/{}; {} findings",
            summary.files,
            summary.parsed,
            summary.unparsed,
            summary.not_scanned.len(),
            summary.types.len(),
            summary.allowed,
            blind.join(" "),
            summary.self_test.0,
            summary.self_test.1,
            self.findings().len(),
        );
        if !self.undecided().is_empty() {
            line.push_str(&format!("; {} not decided", self.undecided().len()));
        }
        line
    }
}

/// Renders a finding as rustc does, below its source line.
fn snippet(renderer: &Renderer, finding: &LintFinding, line: &str) -> String {
    let (shown, file) = (escape(line), escape(&finding.site.file));
    let mut note = format!("route `{}`", finding.route);
    if !finding.item.is_empty() {
        note.push_str(&format!(", in `{}`", escape(&finding.item)));
    }
    let marked = AnnotationKind::Primary.span(marked(line, finding)).label(finding.rule.name());
    let source = Snippet::source(shown.as_str())
        .line_start(usize::try_from(finding.site.line).unwrap_or(1))
        .path(file.as_str())
        .annotation(marked);
    let title = Level::ERROR.primary_title(finding.message.as_str()).id(finding.rule.code());
    let group = title.element(source).element(Level::NOTE.message(note.as_str()));
    renderer.render(&[group.element(Level::HELP.message(finding.rule.help()))])
}

/// Escapes control and formatting characters, so that names in scanned code cannot control a terminal.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for one in text.chars() {
        // A tab moves the cursor only within the line, and source code is full of them.
        if one == '\t' {
            out.push(one);
        } else {
            plugward_types::escape::push(&mut out, one);
        }
    }
    out
}

/// Returns the byte range of the finding in the escaped line.
fn marked(line: &str, finding: &LintFinding) -> std::ops::Range<usize> {
    let column = |column: u32| usize::try_from(column.saturating_sub(1)).unwrap_or(0);
    let at = |column: usize| escape(&line.chars().take(column).collect::<String>()).len();
    let start = at(column(finding.site.column));
    let end = if finding.end_line == finding.site.line {
        at(column(finding.end_column))
    } else {
        escape(line).len()
    };
    start..end.max(start)
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
