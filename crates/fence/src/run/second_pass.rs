//! The second pass: walks every file that mentions a name that a finding needs.

use std::collections::BTreeMap;

use crate::config::FenceConfig;
use crate::input::Sources;
use crate::names::inventory::Inventory;
use crate::names::modules::World;
use crate::names::resolve::Resolver;
use crate::names::scopes::Scopes;
use crate::report::{FenceReport, LintFinding, UndecidedReason};
use crate::rules::source::Checker;
use crate::run::word_filter::WordFilter;
use crate::run::{RunOptions, fingerprint, parallel};
use crate::syntax::parse;

/// The data that all files are walked with.
pub(crate) struct SecondPass<'p> {
    pub(crate) world: &'p World<'p>,
    pub(crate) scopes: &'p Scopes,
    pub(crate) inventory: &'p Inventory,
    pub(crate) config: &'p FenceConfig,
    pub(crate) words: &'p WordFilter,
    pub(crate) options: RunOptions,
}

/// The result of the second pass over one file.
#[derive(Default)]
struct FileFindings {
    findings: Vec<LintFinding>,
    grants: Vec<LintFinding>,
    changed: bool,
}

impl SecondPass<'_> {
    pub(crate) fn all(&self, sources: &Sources<'_>, report: &mut FenceReport) -> Vec<LintFinding> {
        let mut modules: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, module) in self.world.modules.iter().enumerate() {
            if module.table == 0 && !module.test {
                modules.entry(module.file).or_default().push(index);
            }
        }
        let work: Vec<(usize, Vec<usize>)> = modules.into_iter().collect();
        let looked =
            parallel(&work, self.options, |(file, modules)| self.second_look(*file, modules, sources));
        let looked = match looked {
            Ok(looked) => looked,
            Err(undecided) => {
                report.undecided.push(undecided);
                return Vec::new();
            }
        };
        let mut findings = Vec::new();
        let mut grants = Vec::new();
        for ((file, _), one) in work.iter().zip(looked) {
            findings.extend(one.findings);
            grants.extend(one.grants);
            if one.changed {
                let path = self.world.files.get(*file).map_or("", |file| file.path.as_str());
                let message = format!("{path} changed during the run");
                report.undecided.push(UndecidedReason::new("fence/changed", message));
            }
        }
        self.grants(grants, &mut findings, report);
        findings
    }

    fn second_look(&self, file: usize, modules: &[usize], sources: &Sources<'_>) -> FileFindings {
        let mut looked = FileFindings::default();
        let Some(info) = self.world.files.get(file).filter(|info| info.table.is_ok()) else { return looked };
        let Ok(Some(text)) = (sources.reader)(&info.path) else {
            return FileFindings { changed: true, ..looked };
        };
        let mut packages = modules.iter().map(|module| self.world.package_of(*module));
        if !packages.any(|package| self.world.capability.contains(&package)) && !self.words.in_text(&text) {
            return looked;
        }
        let tree = parse::parse(&text);
        let (Ok(tree), true) = (tree, fingerprint(&text) == info.print) else {
            return FileFindings { changed: true, ..looked };
        };
        let resolver = Resolver::new(self.world, self.scopes, self.inventory);
        for module in modules {
            // One file may be several modules, and a path can mean something else in each of them.
            let (findings, grants) =
                Checker::new(&resolver, self.config, *module).run(&tree);
            looked.findings.extend(findings);
            looked.grants.extend(grants);
        }
        drop(tree);
        parse::forget_spans();
        looked
    }

    /// F10: exactly one literal of the grant type may exist, in the chokepoint.
    fn grants(
        &self,
        mut grants: Vec<LintFinding>,
        findings: &mut Vec<LintFinding>,
        report: &mut FenceReport,
    ) {
        if self.config.grant_type.is_none() {
            return;
        }
        grants.sort_by(|a, b| a.key().cmp(&b.key()));
        grants.dedup_by(|b, a| a.key() == b.key());
        let (inside, outside): (Vec<_>, Vec<_>) =
            // The first literal in the chokepoint is the intended one.
            grants.into_iter().partition(|grant| grant.route == "second-grant");
        if inside.is_empty() && outside.is_empty() {
            let name = self.config.grant_type.as_deref().unwrap_or_default();
            let message = format!("no capability crate has a literal of `{name}`");
            report.undecided.push(UndecidedReason::new("fence/no-grant", message));
        }
        findings.extend(outside);
        findings.extend(inside.into_iter().skip(1));
    }
}
