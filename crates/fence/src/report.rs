//! What a run found, could not decide, and looked at.

use crate::Rule;

/// A place in a file: line and column count from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Site {
    /// The file, with `/`, relative to the workspace root.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// One place that a rule reports.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// Which spelling of the rule it is, as in `tuple` or `turbofish`.
    pub route: &'static str,
    /// The capability type, where one is meant.
    pub ty: Option<String>,
    /// Where it starts.
    pub site: Site,
    /// The line where it ends.
    pub end_line: u32,
    /// The column after its end.
    pub end_column: u32,
    /// The function or item around it, as a path.
    pub item: String,
    /// What was found.
    pub message: String,
    /// The places that pulled this file in, where that was not a plain `mod`.
    pub via: Vec<Site>,
}

impl Finding {
    pub(crate) fn key(&self) -> (&str, u32, u32, Rule) {
        (&self.site.file, self.site.line, self.site.column, self.rule)
    }
}

/// Something that keeps the run from an answer: exit 2, whatever else was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Undecided {
    /// The stable code.
    pub code: &'static str,
    /// What it is about.
    pub message: String,
}

impl Undecided {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// What was looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Source files below the crates that were looked at.
    pub files: usize,
    /// Those of them that were parsed.
    pub parsed: usize,
    /// Those that could not be.
    pub unparsed: usize,
    /// Members that cannot see a capability or race crate, and packages that are no members.
    pub not_scanned: Vec<String>,
    /// The capability types.
    pub types: Vec<String>,
    /// The constructors that rule F02 knows, as `Type::function`.
    pub constructors: Vec<String>,
    /// Rules that did not apply in this run, with the reason.
    pub off: Vec<(Rule, String)>,
    /// Findings that an allow covered.
    pub allowed: usize,
    /// Planted cases that were answered as they must be, and all of them.
    pub self_test: (usize, usize),
}

/// The outcome of a run.
#[derive(Debug, Clone, Default)]
pub struct Report {
    pub(crate) findings: Vec<Finding>,
    pub(crate) undecided: Vec<Undecided>,
    pub(crate) summary: Summary,
    /// Lines of the files that have findings, for the form that shows them.
    pub(crate) excerpts: std::collections::BTreeMap<String, std::collections::BTreeMap<u32, String>>,
}

impl Report {
    /// Gives the findings, by file, line, column and rule.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Gives what keeps the run from an answer.
    #[must_use]
    pub fn undecided(&self) -> &[Undecided] {
        &self.undecided
    }

    /// Gives what was looked at.
    #[must_use]
    pub const fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Gives 0 where everything was decided and nothing found, 1 for findings, 2 where something was not decided.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        if !self.undecided.is_empty() || self.summary.self_test.0 != self.summary.self_test.1 {
            2
        } else {
            u8::from(!self.findings.is_empty())
        }
    }

    /// Holds in a test that nothing was found and nothing left undecided.
    ///
    /// # Panics
    /// With the whole report, where [`Report::exit_code`] is not 0.
    #[track_caller]
    pub fn assert_clean(&self) {
        assert!(self.exit_code() == 0, "{}\n{}", self.render(crate::Format::Text), self.summary_line());
    }

    /// Keeps the findings of the files that a test asks for.
    pub fn retain_files(&mut self, wanted: impl Fn(&str) -> bool) {
        self.findings.retain(|finding| wanted(&finding.site.file));
    }

    pub(crate) fn sort(&mut self) {
        self.findings.sort_by(|a, b| a.key().cmp(&b.key()).then_with(|| a.route.cmp(b.route)));
        self.findings.dedup_by(|b, a| a.key() == b.key());
        self.undecided.sort();
        self.undecided.dedup();
    }
}
