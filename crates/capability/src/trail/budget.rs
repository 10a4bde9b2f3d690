//! The limits of a workflow.

use plugward_ledger::BudgetLine;

use crate::kinds::kind::CapabilityKind;
use crate::name::PluginName;

/// A limit on the use of capabilities. A number that is `None` does not limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a literal that names all three is the point")]
pub struct BudgetLimit {
    /// The maximum number of grants.
    pub max_mints: Option<u64>,
    /// The maximum number of uses.
    pub max_uses: Option<u64>,
    /// The maximum number of units over all uses.
    pub max_units: Option<u64>,
}

impl BudgetLimit {
    /// No limit. A named constant, so that a host that wants it has to say so.
    pub const NONE: Self = Self { max_mints: None, max_uses: None, max_units: None };
    /// A limit that allows nothing.
    pub const NOTHING: Self = Self { max_mints: Some(0), max_uses: Some(0), max_units: Some(0) };
}

/// The plugins to which a limit applies.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the three ways of the format")]
pub enum LimitTarget {
    /// Each plugin separately.
    EachPlugin,
    /// All plugins of the workflow together.
    Workflow,
    /// One plugin.
    Plugin(PluginName),
}

/// The limits of one workflow. They are part of `workflow_opened`, so that every reader can recompute the
/// counts.
///
/// For a plugin and a kind only the most specific entry applies: that of the plugin, then that for each
/// plugin, then that for the workflow. Without an entry, `otherwise` applies to each plugin and kind
/// separately.
///
/// # Examples
///
/// ```
/// use plugward_capability::{Budgets, CapabilityKind, BudgetLimit, LimitTarget};
///
/// let ten = BudgetLimit { max_mints: Some(1), max_uses: Some(10), max_units: None };
/// let budgets = Budgets::otherwise(BudgetLimit::NOTHING).limit(CapabilityKind::GitLocalOps, &LimitTarget::EachPlugin, ten);
/// assert_eq!(budgets.lines().len(), 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budgets {
    lines: Vec<BudgetLine>,
    otherwise: BudgetLimit,
}

const EACH: &str = "each-plugin";
const WORKFLOW: &str = "workflow";
const PLUGIN: &str = "plugin";
const OTHERWISE: &str = "otherwise";

impl Budgets {
    /// Creates budgets with a limit for all plugins and kinds without an entry.
    #[must_use]
    pub const fn otherwise(limit: BudgetLimit) -> Self {
        Self { lines: Vec::new(), otherwise: limit }
    }

    /// Adds an entry. It replaces an earlier one for the same kind and plugins.
    #[must_use]
    pub fn limit(mut self, kind: CapabilityKind, per: &LimitTarget, limit: BudgetLimit) -> Self {
        let (word, plugin) = match per {
            LimitTarget::EachPlugin => (EACH, None),
            LimitTarget::Workflow => (WORKFLOW, None),
            LimitTarget::Plugin(name) => (PLUGIN, Some(name.as_str())),
        };
        let line = line(kind.as_str(), word, plugin, limit);
        self.lines.retain(|other| {
            (&other.kind, &other.per, &other.plugin) != (&line.kind, &line.per, &line.plugin)
        });
        self.lines.push(line);
        self
    }

    /// Returns the lines for the record. Equal budgets have equal lines.
    #[must_use]
    pub fn lines(&self) -> Vec<BudgetLine> {
        let mut lines = self.lines.clone();
        // Sorted, so that two processes that join a workflow can compare their budgets.
        lines.sort_by(|a, b| (&a.kind, &a.per, &a.plugin).cmp(&(&b.kind, &b.per, &b.plugin)));
        lines.push(line("*", OTHERWISE, None, self.otherwise));
        lines
    }
}

fn line(kind: &str, per: &str, plugin: Option<&str>, limit: BudgetLimit) -> BudgetLine {
    let BudgetLimit { max_mints, max_uses, max_units } = limit;
    let (kind, per, plugin) = (kind.to_owned(), per.to_owned(), plugin.map(str::to_owned));
    BudgetLine { kind, per, plugin, max_mints, max_uses, max_units }
}

/// The counters that the applicable entry adds up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CounterScope {
    /// The counters of the plugin.
    Plugin,
    /// The counters of all plugins of the workflow.
    All,
}

/// Finds the applicable entry. A workflow without any entry is unlimited.
pub(crate) fn deciding(lines: &[BudgetLine], plugin: &str, kind: &str) -> (BudgetLimit, CounterScope) {
    let named = |line: &&BudgetLine| {
        line.per == PLUGIN && line.kind == kind && line.plugin.as_deref() == Some(plugin)
    };
    let per = |word: &'static str| move |line: &&BudgetLine| line.per == word && line.kind == kind;
    let found = lines
        .iter()
        .find(named)
        .or_else(|| lines.iter().find(per(EACH)))
        .or_else(|| lines.iter().find(per(WORKFLOW)))
        .or_else(|| lines.iter().find(|line| line.per == OTHERWISE));
    let counts =
        if found.is_some_and(|line| line.per == WORKFLOW) { CounterScope::All } else { CounterScope::Plugin };
    let limit = found.map_or(BudgetLimit::NONE, |line| BudgetLimit {
        max_mints: line.max_mints,
        max_uses: line.max_uses,
        max_units: line.max_units,
    });
    (limit, counts)
}

/// Returns `true` if `more` on top of `have` exceeds a limit.
pub(crate) fn above(limit: Option<u64>, have: u64, more: u64) -> bool {
    limit.is_some_and(|limit| have.checked_add(more).is_none_or(|sum| sum > limit))
}
