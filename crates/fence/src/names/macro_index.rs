//! The macros of the scanned crates that make a value of a type that they are passed.

use std::collections::{BTreeMap, BTreeSet};

use crate::names::collect::Maker;
use crate::names::modules::World;
use crate::syntax::macro_rules::{MacroArm, MacroRules, ParamUse};
use crate::syntax::written::Name;

/// Macros by name, with the positions of each arm, including those of one macro that it calls.
#[derive(Debug, Default)]
pub(crate) struct MacroIndex {
    by_package: BTreeMap<(usize, Name), Vec<MacroArm>>,
    anywhere: BTreeMap<Name, Vec<MacroArm>>,
    methods: BTreeMap<Name, Vec<Maker>>,
}

impl MacroIndex {
    pub(crate) fn read(world: &World<'_>) -> Self {
        let mut methods: BTreeMap<Name, Vec<Maker>> = BTreeMap::new();
        let mut own: BTreeMap<(usize, Name), MacroRules> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for (index, module) in world.modules.iter().enumerate() {
            if module.table != 0 || !seen.insert((module.file, world.package_of(index))) {
                continue;
            }
            let Some(file) = world.files.get(module.file).and_then(|file| file.table.as_ref().ok()) else {
                continue;
            };
            for (name, maker) in &file.methods {
                methods.entry(Name::clone(name)).or_default().push(maker.clone());
            }
            for (name, rules) in &file.macros {
                let entry = own.entry((world.package_of(index), Name::clone(name))).or_default();
                entry.join(rules.clone());
            }
        }
        let mut anywhere: BTreeMap<Name, Vec<MacroArm>> = BTreeMap::new();
        for ((_, name), rules) in &own {
            anywhere.entry(Name::clone(name)).or_default().extend(rules.arms.iter().cloned());
        }
        let lookup = |package: usize, name: &Name| {
            own.get(&(package, Name::clone(name)))
                .map(|rules| rules.arms.as_slice())
                .or_else(|| anywhere.get(name).map(Vec::as_slice))
                .unwrap_or_default()
        };
        let by_package = own
            .iter()
            .map(|((package, name), rules)| {
                let arms = rules.arms.iter().map(|arm| with_handed(arm, |to| lookup(*package, to))).collect();
                ((*package, Name::clone(name)), arms)
            })
            .collect::<BTreeMap<_, Vec<MacroArm>>>();
        let mut all: BTreeMap<Name, Vec<MacroArm>> = BTreeMap::new();
        for ((_, name), arms) in &by_package {
            all.entry(Name::clone(name)).or_default().extend(arms.iter().cloned());
        }
        Self { by_package, anywhere: all, methods }
    }

    /// Returns the generic methods and associated functions of a name in all scanned crates.
    pub(crate) fn methods(&self, name: &str) -> &[Maker] {
        self.methods.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the arms of a macro: those of the package, else those of any package.
    pub(crate) fn find(&self, package: usize, name: &str) -> Option<&[MacroArm]> {
        self.by_package
            .get(&(package, Name::from(name)))
            .or_else(|| self.anywhere.get(name))
            .map(Vec::as_slice)
    }
}

/// Adds the positions of the macros that an arm calls. One level is followed; deeper calls are blind spot
/// B09.
fn with_handed<'m>(arm: &MacroArm, lookup: impl Fn(&Name) -> &'m [MacroArm]) -> MacroArm {
    let mut out = arm.clone();
    for handed in &arm.forwards {
        for target in lookup(&handed.to) {
            let by_place = target.params.as_ref().filter(|params| params.len() == handed.parts.len());
            for (at, params) in handed.parts.iter().enumerate() {
                let bound = by_place.and_then(|params| params.get(at).cloned());
                let uses: Vec<ParamUse> = target
                    .uses
                    .iter()
                    .filter(|(name, _)| match &bound {
                        Some(Some(bound)) => bound == name,
                        Some(None) => false,
                        None => true,
                    })
                    .map(|(_, param_use)| param_use.clone())
                    .collect();
                for param in params {
                    for param_use in &uses {
                        out.uses.insert((Name::clone(param), param_use.clone()));
                    }
                }
            }
        }
    }
    out
}
