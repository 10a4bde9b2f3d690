//! The second pass: walks every file that mentions a name that a finding needs.

use std::collections::BTreeMap;

use crate::UndecidedReason;
use crate::config::FenceConfig;
use crate::input::Sources;
use crate::names::inventory::Inventory;
use crate::names::modules::World;
use crate::names::resolve::Resolver;
use crate::names::scopes::Scopes;
use crate::report::LintFinding;
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
}

impl SecondPass<'_> {
    /// Walks all files and returns the findings. A file that another process changed makes the run undecided.
    pub(crate) fn all(
        &self,
        sources: &Sources<'_>,
        options: RunOptions,
        undecided: &mut Vec<UndecidedReason>,
    ) -> Vec<LintFinding> {
        let mut modules: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, module) in self.world.modules.iter().enumerate() {
            if module.table == 0 && !module.test {
                modules.entry(module.file).or_default().push(index);
            }
        }
        let work: Vec<(usize, Vec<usize>)> = modules.into_iter().collect();
        let looked = parallel(&work, options, |(file, modules)| self.file(*file, modules, sources));
        let mut findings = Vec::new();
        match looked {
            Err(reason) => undecided.push(reason),
            Ok(looked) => looked.into_iter().for_each(|one| match one {
                Ok(found) => findings.extend(found),
                Err(reason) => undecided.push(reason),
            }),
        }
        findings
    }

    fn file(
        &self,
        file: usize,
        modules: &[usize],
        sources: &Sources<'_>,
    ) -> Result<Vec<LintFinding>, UndecidedReason> {
        let mut found = Vec::new();
        let Some(info) = self.world.files.get(file).filter(|info| info.table.is_ok()) else {
            return Ok(found);
        };
        let text = (sources.reader)(&info.path).ok().flatten();
        let text = text.filter(|text| fingerprint(text) == info.print).ok_or_else(|| {
            UndecidedReason::new("fence/changed", format!("{} changed during the run", info.path))
        })?;
        let mut packages = modules.iter().map(|module| self.world.package_of(*module));
        if packages.any(|package| self.world.capability.contains(&package)) || self.words.in_text(&text) {
            let resolver = Resolver::new(self.world, self.scopes, self.inventory);
            let tree = parse::parse(&text);
            // One file may be several modules, and a path can mean something else in each of them.
            for (module, tree) in modules.iter().filter_map(|module| Some((module, tree.as_ref().ok()?))) {
                found.extend(Checker::new(&resolver, self.config, *module).run(tree));
            }
            drop(tree);
            parse::forget_spans();
        }
        Ok(found)
    }
}
