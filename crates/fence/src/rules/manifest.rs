//! F11: settings in manifests, the lockfile and cargo's config that change the capability crate.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::config::FenceConfig;
use crate::input::{DependencyKind, Manifest, Package, Sources};
use crate::names::modules::World;
use crate::report::{LintFinding, Site};
use crate::syntax::toml_table::{dependency_sections, dig, entries, get, line_at};
use crate::{LintRule, UndecidedReason};

struct ManifestChecker<'a> {
    config: &'a FenceConfig,
    names: BTreeSet<&'a str>,
    /// The file that is checked.
    manifest: &'a Manifest,
    findings: &'a mut Vec<LintFinding>,
}

/// Checks every manifest.
pub(crate) fn check(
    world: &World<'_>,
    sources: &Sources<'_>,
    config: &FenceConfig,
) -> (Vec<LintFinding>, Vec<UndecidedReason>) {
    let (mut findings, mut undecided) = (Vec::new(), Vec::new());
    let names: BTreeSet<&str> = world.capability.iter().map(|index| world.package_name(*index)).collect();
    let mut with = |manifest: &Manifest, look: &dyn Fn(&mut ManifestChecker<'_>, &DeTable<'_>)| {
        let mut checker = ManifestChecker { config, names: names.clone(), manifest, findings: &mut findings };
        match DeTable::parse(&manifest.text) {
            Ok(document) => look(&mut checker, document.get_ref()),
            Err(error) => {
                let message = format!("{} is not TOML: {}", manifest.path, error.message());
                undecided.push(UndecidedReason::new("fence/manifest", message));
            }
        }
    };
    sources.root.iter().for_each(|root| with(root, &|checker, table| checker.root(table)));
    sources
        .cargo_config
        .iter()
        .for_each(|config| with(config, &|checker, table| checker.cargo_config(table)));
    for package in &sources.packages {
        let manifest = package.manifest.iter();
        manifest.for_each(|manifest| with(manifest, &|checker, table| checker.member(table, package)));
    }
    sources.lock.iter().for_each(|lock| with(lock, &|checker, table| checker.lock(table)));
    (findings, undecided)
}

impl ManifestChecker<'_> {
    fn report(&mut self, at: Range<usize>, route: &'static str, message: String) {
        let text = self.manifest.text.as_str();
        let width = |text: Option<&str>| {
            let line = text.and_then(|text| text.lines().next()).unwrap_or_default();
            u32::try_from(line.chars().count()).unwrap_or(u32::MAX)
        };
        let start =
            text.get(..at.start).and_then(|text| text.rfind('\n')).map_or(0, |feed| feed.saturating_add(1));
        let column = width(text.get(start..at.start)).saturating_add(1);
        let end = column.saturating_add(width(text.get(at.clone())));
        let site = Site { file: self.manifest.path.to_string(), line: line_at(text, at.start), column };
        self.findings.push(LintFinding::on_line(LintRule::F11, route, site, end, message));
    }

    /// Returns `true` if a dependency entry means a capability crate.
    fn means(&self, key: &str, value: &DeValue<'_>) -> bool {
        let package = value.as_table().and_then(|table| get(table, "package")?.1.get_ref().as_str());
        self.names.contains(package.unwrap_or(key))
    }

    fn root(&mut self, table: &DeTable<'_>) {
        self.patches(table);
        for (key, _) in entries(table, &["replace"]) {
            let name = key.get_ref().rsplit_once(':').map_or(key.get_ref().as_ref(), |(name, _)| name);
            let name = name.rsplit('#').next().unwrap_or(name);
            if self.names.contains(name) {
                let message = format!("`[replace]` replaces `{name}` with another crate");
                self.report(key.span(), "replace", message);
            }
        }
    }

    fn patches(&mut self, table: &DeTable<'_>) {
        for (_, source) in entries(table, &["patch"]) {
            for (key, value) in source.get_ref().as_table().into_iter().flatten() {
                if self.means(key.get_ref(), value.get_ref()) {
                    let message = format!("`[patch]` replaces `{}` with another crate", key.get_ref());
                    self.report(key.span(), "patch", message);
                }
            }
        }
    }

    fn cargo_config(&mut self, table: &DeTable<'_>) {
        self.patches(table);
        if let Some((at, paths)) = get(table, "paths")
            && paths.get_ref().as_array().is_some_and(|list| !list.is_empty())
        {
            self.report(at, "paths", "`paths` overrides crates with other directories".to_owned());
        }
        let targets = entries(table, &["target"]).map(|(_, target)| target);
        let tables = dig(table, &["build"]).into_iter().chain(targets).chain(dig(table, &["env"]));
        for (key, value) in tables.filter_map(|table| table.get_ref().as_table()).flatten() {
            let flags = "rustflags rustdocflags RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_RUSTFLAGS";
            if crate::syntax::is_one_of(flags, key.get_ref())
                && let Some(flag) = self.bad_flag(&strings(value.get_ref()))
            {
                let message = format!("`{flag}` enables test-only code in every build");
                self.report(key.span(), "rustflags", message);
            }
        }
    }

    /// Finds `--cfg test` and `--cfg feature="<test-only>"` among compiler flags.
    fn bad_flag(&self, words: &[String]) -> Option<String> {
        // Quoting differs between TOML, shells and environment variables. The option is the same without
        // quotes.
        let plain = words.join(" ").replace(['"', '\'', '\\'], "").replace("--cfg=", "--cfg ");
        let split: Vec<&str> = plain.split([' ', '\u{1f}']).filter(|word| !word.is_empty()).collect();
        split.windows(2).find_map(|pair| match pair {
            ["--cfg", option] if self.config.is_test_cfg(option) => Some(format!("--cfg {option}")),
            _ => None,
        })
    }

    fn member(&mut self, table: &DeTable<'_>, package: &Package) {
        // Resolver 2 keeps features of dev-dependencies out of other builds.
        for section in dependency_sections(table) {
            for name in ["dependencies", "build-dependencies", "build_dependencies"] {
                for (key, value) in entries(section, &[name]) {
                    self.dependency(package, key, value.get_ref(), name);
                }
            }
        }
        let aliases: BTreeSet<&str> = package
            .dependencies
            .iter()
            .filter(|dependency| self.names.contains(dependency.package.as_str()))
            .map(|dependency| dependency.rename.as_deref().unwrap_or(&dependency.package))
            .collect();
        let own = self.names.contains(package.name.as_str());
        for (feature, list) in entries(table, &["features"]) {
            for entry in list.get_ref().as_array().into_iter().flatten() {
                let Some(text) = entry.get_ref().as_str() else { continue };
                let forwarded = text.split_once('/').is_some_and(|(to, name)| {
                    aliases.contains(to.trim_end_matches('?')) && self.config.is_test_only(name)
                });
                let default = own && feature.get_ref() == "default" && self.default_reaches(package, text);
                if forwarded {
                    let message = format!("`{text}` enables a feature that only tests may enable");
                    self.report(entry.span(), "forwarded", message);
                } else if default {
                    let message =
                        format!("the default features enable `{text}`, which only tests may enable");
                    self.report(entry.span(), "default", message);
                }
            }
        }
    }

    fn default_reaches(&self, package: &Package, start: &str) -> bool {
        let mut seen = BTreeSet::new();
        let mut stack = vec![start];
        while let Some(name) = stack.pop() {
            if self.config.is_test_only(name) {
                return true;
            }
            if seen.insert(name) {
                stack.extend(package.features.get(name).into_iter().flatten().map(String::as_str));
            }
        }
        false
    }

    fn dependency(
        &mut self,
        package: &Package,
        key: &Spanned<Cow<'_, str>>,
        value: &DeValue<'_>,
        section: &str,
    ) {
        // `cargo metadata` knows the renames and features of `[workspace.dependencies]`, which an entry inherits.
        let known = package.dependencies.iter().filter(|dependency| {
            let name = dependency.rename.as_deref().unwrap_or(&dependency.package);
            name == key.get_ref() && dependency.kind != Some(DependencyKind::Dev)
        });
        let known: Vec<_> =
            known.filter(|dependency| self.names.contains(dependency.package.as_str())).collect();
        if !self.means(key.get_ref(), value) && known.is_empty() {
            return;
        }
        let listed = value.as_table().and_then(|table| get(table, "features"));
        let at = listed.as_ref().map_or_else(|| key.span(), |(at, _)| at.clone());
        let features = listed.map(|(_, list)| strings(list.get_ref())).unwrap_or_default();
        let mut all = features.iter().chain(known.iter().flat_map(|one| &one.features));
        if let Some(feature) = all.find(|feature| self.config.is_test_only(feature)) {
            let message = format!("`{section}` enables `{feature}`, which only tests may enable");
            self.report(at, "feature", message);
        }
    }

    fn lock(&mut self, table: &DeTable<'_>) {
        let packages = dig(table, &["package"]).and_then(|list| list.get_ref().as_array());
        let tables = packages.into_iter().flatten().filter_map(|package| package.get_ref().as_table());
        let mut seen = BTreeSet::new();
        for (_, name) in tables.filter_map(|package| get(package, "name")) {
            let Some(text) = name.get_ref().as_str().filter(|text| self.names.contains(text)) else {
                continue;
            };
            if !seen.insert(text) {
                self.report(name.span(), "lock", format!("the lockfile lists `{text}` more than once"));
            }
        }
    }
}

fn strings(value: &DeValue<'_>) -> Vec<String> {
    match value {
        DeValue::String(text) => vec![text.to_string()],
        DeValue::Array(list) => list.iter().flat_map(|item| strings(item.get_ref())).collect(),
        DeValue::Table(table) => {
            get(table, "value").map(|(_, value)| strings(value.get_ref())).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}
