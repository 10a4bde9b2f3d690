//! The result of a run: findings, undecided parts, and a summary.

pub(crate) mod error;
pub(crate) mod render;
pub(crate) mod sarif;

use crate::LintRule;

/// A position in a file. Line and column start at 1, and columns count characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Site {
    /// The file relative to the workspace root, with `/` as separator.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// One match of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LintFinding {
    /// The rule that matched.
    pub rule: LintRule,
    /// The spelling that matched, such as `tuple` or `turbofish`.
    pub route: &'static str,
    /// The capability type, if the finding is about one.
    pub ty: Option<String>,
    /// The start of the matched code.
    pub site: Site,
    /// The line of the end.
    pub end_line: u32,
    /// The column after the end.
    pub end_column: u32,
    /// The path of the enclosing function or item.
    pub item: String,
    /// A description of the matched code.
    pub message: String,
}

impl LintFinding {
    /// Creates a finding on one line, which is not about a certain type or item.
    pub(crate) fn on_line(
        rule: LintRule,
        route: &'static str,
        site: Site,
        end_column: u32,
        message: String,
    ) -> Self {
        let end_line = site.line;
        Self { rule, route, ty: None, site, end_line, end_column, item: String::new(), message }
    }

    pub(crate) fn key(&self) -> (&str, u32, u32, LintRule) {
        (&self.site.file, self.site.line, self.site.column, self.rule)
    }
}

/// Something that the run could not decide. The exit code is then 2, whatever was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct UndecidedReason {
    /// The stable code.
    pub code: &'static str,
    /// The file, name or setting, and the fault.
    pub message: String,
}

impl UndecidedReason {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// Numbers and names that show what a run covered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FenceSummary {
    /// Source files in the scanned packages.
    pub files: usize,
    /// Files that were parsed.
    pub parsed: usize,
    /// Files that could not be parsed.
    pub unparsed: usize,
    /// Members that cannot see a capability or race crate, and packages that are not members.
    pub not_scanned: Vec<String>,
    /// The capability types.
    pub types: Vec<String>,
    /// Rules that did not apply in this run, with the reason.
    pub off: Vec<(LintRule, String)>,
    /// The number of findings that an allow covered.
    pub allowed: usize,
    /// The number of planted cases with the expected result, and the number of all planted cases.
    pub self_test: (usize, usize),
}

/// The result of a run.
#[derive(Debug, Clone, Default)]
pub struct FenceReport {
    pub(crate) findings: Vec<LintFinding>,
    pub(crate) undecided: Vec<UndecidedReason>,
    pub(crate) summary: FenceSummary,
    /// Lines with findings, for [`Format::Text`](crate::Format::Text).
    pub(crate) excerpts: std::collections::BTreeMap<String, std::collections::BTreeMap<u32, String>>,
}

impl FenceReport {
    /// Returns the findings, ordered by file, line, column and rule.
    #[must_use]
    pub fn findings(&self) -> &[LintFinding] {
        &self.findings
    }

    /// Returns the reasons why the run is undecided; empty for a complete run.
    #[must_use]
    pub fn undecided(&self) -> &[UndecidedReason] {
        &self.undecided
    }

    /// Returns what the run covered.
    #[must_use]
    pub const fn summary(&self) -> &FenceSummary {
        &self.summary
    }

    /// Returns 0 for a complete run without findings, 1 for findings, and 2 for an undecided run.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        // An undecided run may miss findings, so 2 has precedence over 1.
        if !self.undecided.is_empty() || self.summary.self_test.0 != self.summary.self_test.1 {
            2
        } else {
            u8::from(!self.findings.is_empty())
        }
    }

    /// Asserts that the run is complete and has no findings.
    ///
    /// # Panics
    /// Panics with the whole report if [`exit_code`](Self::exit_code) is not 0.
    #[track_caller]
    pub fn assert_clean(&self) {
        assert!(self.exit_code() == 0, "{}\n{}", self.render(crate::Format::Text), self.summary_line());
    }

    /// Keeps only findings in files that match a predicate.
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
