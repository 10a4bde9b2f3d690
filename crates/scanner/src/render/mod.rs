//! The JSON report. Rendering the same report twice gives the same bytes.

mod json;

pub use json::json;

use crate::scan::gate::ScanDecision;
use crate::scan::report::ScanReport;

/// The input of a rendering.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "made by every caller; a new part must stop every caller")]
pub struct Render<'a> {
    /// The tool's version.
    pub version: &'a str,
    /// The report.
    pub report: &'a ScanReport,
    /// The gate's decision about it.
    pub decision: &'a ScanDecision,
    /// The exit code that the caller will use.
    pub exit: u8,
}

impl Render<'_> {
    fn is_suppressed(&self, finding: &plugward_types::Finding) -> Option<&str> {
        let covers = |item: &&crate::scan::gate::Suppressed| item.finding == *finding;
        self.decision.suppressed.iter().find(covers).map(|item| item.reason.as_str())
    }
}
