//! Which macros of the scanned crates make a value of a type that they are handed.

use std::collections::{BTreeMap, BTreeSet};

use crate::collect::Maker;
use crate::macros::{Arm, Build, MacroRules};
use crate::ty::Name;
use crate::world::World;

/// Macros by name, with what each arm makes, also through one macro that it hands a parameter to.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    by_package: BTreeMap<(usize, Name), Vec<Arm>>,
    anywhere: BTreeMap<Name, Vec<Arm>>,
    methods: BTreeMap<Name, Vec<Maker>>,
}

impl Marks {
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
        let mut anywhere: BTreeMap<Name, Vec<Arm>> = BTreeMap::new();
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
            .collect::<BTreeMap<_, Vec<Arm>>>();
        let mut all: BTreeMap<Name, Vec<Arm>> = BTreeMap::new();
        for ((_, name), arms) in &by_package {
            all.entry(Name::clone(name)).or_default().extend(arms.iter().cloned());
        }
        Self { by_package, anywhere: all, methods }
    }

    /// Gives the generic methods and associated functions of a name, wherever they are written.
    pub(crate) fn methods(&self, name: &str) -> &[Maker] {
        self.methods.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Gives the arms of a macro: those of the package first, else those of any package.
    pub(crate) fn find(&self, package: usize, name: &str) -> Option<&[Arm]> {
        self.by_package
            .get(&(package, Name::from(name)))
            .or_else(|| self.anywhere.get(name))
            .map(Vec::as_slice)
    }
}

/// Adds what the macros that an arm calls make of the parameters they get: one level down, and no further.
fn with_handed<'m>(arm: &Arm, lookup: impl Fn(&Name) -> &'m [Arm]) -> Arm {
    let mut out = arm.clone();
    for handed in &arm.hands {
        for target in lookup(&handed.to) {
            let by_place = target.places.as_ref().filter(|places| places.len() == handed.parts.len());
            for (at, params) in handed.parts.iter().enumerate() {
                let bound = by_place.and_then(|places| places.get(at).cloned());
                let builds: Vec<Build> = target
                    .builds
                    .iter()
                    .filter(|(name, _)| match &bound {
                        Some(Some(bound)) => bound == name,
                        Some(None) => false,
                        None => true,
                    })
                    .map(|(_, build)| build.clone())
                    .collect();
                for param in params {
                    for build in &builds {
                        out.builds.insert((Name::clone(param), build.clone()));
                    }
                }
            }
        }
    }
    out
}
