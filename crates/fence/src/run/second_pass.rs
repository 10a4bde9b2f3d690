//! The second pass: walks every file that mentions a name that a finding needs.

use std::collections::BTreeMap;

use crate::LintRule;
use crate::config::FenceConfig;
use crate::input::Sources;
use crate::names::inventory::Inventory;
use crate::names::macro_index::MacroIndex;
use crate::names::modules::World;
use crate::names::resolve::Resolver;
use crate::report::{FenceReport, LintFinding, UndecidedReason};
use crate::rules::source::Checker;
use crate::run::word_filter::WordFilter;
use crate::run::{Bytes, RunOptions, fingerprint, one_at_a_time, parallel};
use crate::syntax::parse::{self, FileShape};

/// The data that all files are walked with.
pub(crate) struct SecondPass<'p> {
    pub(crate) world: &'p World<'p>,
    pub(crate) inventory: &'p Inventory,
    pub(crate) config: &'p FenceConfig,
    pub(crate) marks: &'p MacroIndex,
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
    pub(crate) fn all(
        &self,
        sources: &Sources<'_>,
        bytes: &Bytes,
        report: &mut FenceReport,
    ) -> Vec<LintFinding> {
        let mut modules: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, module) in self.world.modules.iter().enumerate() {
            if module.table == 0 && !module.test {
                modules.entry(module.file).or_default().push(index);
            }
        }
        let work: Vec<(usize, Vec<usize>)> = modules.into_iter().collect();
        let looked = parallel(&work, self.options, |(file, modules), (): &mut ()| {
            self.second_look(*file, modules, sources, bytes)
        });
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

    fn second_look(
        &self,
        file: usize,
        modules: &[usize],
        sources: &Sources<'_>,
        bytes: &Bytes,
    ) -> FileFindings {
        let Some(info) = self.world.files.get(file) else { return FileFindings::default() };
        if info.table.is_err() {
            return FileFindings::default();
        }
        let read;
        let text = if let Some(kept) = bytes.get(&file) {
            kept.as_slice()
        } else {
            match (sources.reader)(&info.path) {
                Ok(Some(fresh)) => read = fresh,
                Ok(None) | Err(_) => return FileFindings { changed: true, ..FileFindings::default() },
            }
            read.as_slice()
        };
        let capability =
            modules.iter().any(|module| self.world.capability.contains(&self.world.package_of(*module)));
        if !capability && !self.words.in_text(text) {
            return FileFindings::default();
        }
        if fingerprint(text) != info.print {
            return FileFindings { changed: true, ..FileFindings::default() };
        }
        let shape = if info.statements { FileShape::Included } else { FileShape::Module };
        let mut looked = FileFindings::default();
        let alone = one_at_a_time(text);
        if let Ok(tree) = parse::parse(text, shape) {
            let resolver = Resolver::new(self.world, self.inventory);
            for module in modules {
                // One file may be several modules, and a path can mean something else in each of them.
                let checker = Checker::new(&resolver, self.config, self.marks, self.options.off, *module);
                let (findings, grants) = checker.run(&tree);
                looked.findings.extend(findings);
                looked.grants.extend(grants);
            }
        }
        drop(alone);
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
        if self.config.grant_type.is_none() || self.options.off.has(LintRule::F10) {
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
