//! Limits of one workflow.

use plugward_ledger::BudgetLine;

use crate::kind::Kind;
use crate::name::Name;

/// How much is allowed; what is `None` is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a literal that names all three is the point")]
pub struct Limit {
    /// How many capabilities may be minted.
    pub max_mints: Option<u64>,
    /// How many uses may begin.
    pub max_uses: Option<u64>,
    /// How many units all uses together may have.
    pub max_units: Option<u64>,
}

impl Limit {
    /// Limits nothing. Whoever wants that must say so.
    pub const NONE: Self = Self { max_mints: None, max_uses: None, max_units: None };
    /// Allows nothing.
    pub const NOTHING: Self = Self { max_mints: Some(0), max_uses: Some(0), max_units: Some(0) };
}

/// Whom a limit counts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the three ways of the format")]
pub enum Per {
    /// Each plugin for itself.
    EachPlugin,
    /// All plugins of the workflow together.
    Workflow,
    /// One plugin alone.
    Plugin(Name),
}

/// The limits of one workflow. They are written into `workflow_opened`, so that anyone can count again.
///
/// For a plugin and a kind one entry decides alone, the most specific: that of the named plugin, then that for each plugin, then that for
/// the workflow; where there is none, `otherwise`, for each plugin and kind by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budgets {
    lines: Vec<BudgetLine>,
    otherwise: Limit,
}

const EACH: &str = "each-plugin";
const WORKFLOW: &str = "workflow";
const PLUGIN: &str = "plugin";
const OTHERWISE: &str = "otherwise";

impl Budgets {
    /// Starts with what counts where nothing else is said.
    #[must_use]
    pub const fn otherwise(limit: Limit) -> Self {
        Self { lines: Vec::new(), otherwise: limit }
    }

    /// Adds a limit. A second one for the same kind and the same `per` replaces the first.
    #[must_use]
    pub fn limit(mut self, kind: Kind, per: &Per, limit: Limit) -> Self {
        let (word, plugin) = match per {
            Per::EachPlugin => (EACH, None),
            Per::Workflow => (WORKFLOW, None),
            Per::Plugin(name) => (PLUGIN, Some(name.as_str())),
        };
        let line = line(kind.as_str(), word, plugin, limit);
        self.lines.retain(|other| {
            (&other.kind, &other.per, &other.plugin) != (&line.kind, &line.per, &line.plugin)
        });
        self.lines.push(line);
        self
    }

    /// Gives the lines of the record, in one order for equal budgets.
    #[must_use]
    pub fn lines(&self) -> Vec<BudgetLine> {
        let mut lines = self.lines.clone();
        lines.sort_by(|a, b| (&a.kind, &a.per, &a.plugin).cmp(&(&b.kind, &b.per, &b.plugin)));
        lines.push(line("*", OTHERWISE, None, self.otherwise));
        lines
    }
}

fn line(kind: &str, per: &str, plugin: Option<&str>, limit: Limit) -> BudgetLine {
    let Limit { max_mints, max_uses, max_units } = limit;
    let (kind, per, plugin) = (kind.to_owned(), per.to_owned(), plugin.map(str::to_owned));
    BudgetLine { kind, per, plugin, max_mints, max_uses, max_units }
}

/// Whose counters the deciding entry adds up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counts {
    /// Those of this plugin.
    Plugin,
    /// Those of all plugins of the workflow.
    All,
}

/// Finds the entry that decides. A workflow whose record has no entry at all limits nothing.
pub(crate) fn deciding(lines: &[BudgetLine], plugin: &str, kind: &str) -> (Limit, Counts) {
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
    let counts = if found.is_some_and(|line| line.per == WORKFLOW) { Counts::All } else { Counts::Plugin };
    let limit = found.map_or(Limit::NONE, |line| Limit {
        max_mints: line.max_mints,
        max_uses: line.max_uses,
        max_units: line.max_units,
    });
    (limit, counts)
}

/// Whether one more, or so many more, would be above a limit.
pub(crate) fn above(limit: Option<u64>, have: u64, more: u64) -> bool {
    limit.is_some_and(|limit| have.checked_add(more).is_none_or(|sum| sum > limit))
}
