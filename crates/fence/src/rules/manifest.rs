//! F11: settings in manifests, the lockfile and cargo's config that change the capability crate.

use std::borrow::Cow;
use std::collections::BTreeSet;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::config::FenceConfig;
use crate::input::{DependencyKind, FeatureResolver, Manifest, Package, Sources};
use crate::names::modules::World;
use crate::report::{LintFinding, Site};
use crate::syntax::toml_table::{dependency_sections, dig, entries, get, line_at};
use crate::{LintRule, UndecidedReason};

struct ManifestChecker<'a> {
    config: &'a FenceConfig,
    names: BTreeSet<&'a str>,
    findings: Vec<LintFinding>,
}

/// Checks every manifest.
pub(crate) fn check(
    world: &World<'_>,
    sources: &Sources<'_>,
    config: &FenceConfig,
) -> (Vec<LintFinding>, Vec<UndecidedReason>) {
    let names = world.capability.iter().filter_map(|index| world.packages.get(*index));
    let mut check = ManifestChecker {
        config,
        names: names.map(|package| package.name.as_str()).collect(),
        findings: Vec::new(),
    };
    let mut undecided = Vec::new();
    let mut with = |manifest: &Manifest, look: &mut dyn FnMut(&DeTable<'_>, &Manifest)| match DeTable::parse(
        &manifest.text,
    ) {
        Ok(document) => look(document.get_ref(), manifest),
        Err(error) => undecided.push(UndecidedReason::new(
            "fence/manifest",
            format!("{} is not TOML: {}", manifest.path, error.message()),
        )),
    };
    if let Some(root) = &sources.root {
        with(root, &mut |table, manifest| check.root(table, manifest));
    }
    for config in &sources.cargo_config {
        with(config, &mut |table, manifest| check.cargo_config(table, manifest));
    }
    for (package, manifest) in sources.packages.iter().zip(&sources.manifests) {
        if let Some(manifest) = manifest {
            let resolver = sources.resolver;
            with(manifest, &mut |table, manifest| check.member(table, manifest, package, resolver));
        }
    }
    if let Some(lock) = &sources.lock {
        with(lock, &mut |table, manifest| check.lock(table, manifest));
    }
    (check.findings, undecided)
}

impl ManifestChecker<'_> {
    fn report(
        &mut self,
        manifest: &Manifest,
        at: std::ops::Range<usize>,
        route: &'static str,
        message: String,
    ) {
        let line = line_at(&manifest.text, at.start);
        let start = manifest
            .text
            .get(..at.start)
            .and_then(|text| text.rfind('\n'))
            .map_or(0, |feed| feed.saturating_add(1));
        let column = manifest.text.get(start..at.start).map_or(0, |text| text.chars().count());
        let width = manifest
            .text
            .get(at)
            .map_or(1, |text| text.lines().next().map_or(1, |line| line.chars().count()));
        let column = u32::try_from(column).unwrap_or(u32::MAX).saturating_add(1);
        let site = Site { file: manifest.path.to_string(), line, column };
        let end = column.saturating_add(u32::try_from(width).unwrap_or(1));
        self.findings.push(LintFinding::on_line(LintRule::F11, route, site, end, message));
    }

    /// Returns `true` if a dependency entry means a capability crate.
    fn means(&self, key: &str, value: &DeValue<'_>) -> bool {
        let package = value.as_table().and_then(|table| get(table, "package")?.1.get_ref().as_str());
        self.names.contains(package.unwrap_or(key))
    }

    fn root(&mut self, table: &DeTable<'_>, manifest: &Manifest) {
        self.patches(table, manifest);
        for (key, _) in entries(table, &["replace"]) {
            let name = key.get_ref().rsplit_once(':').map_or(key.get_ref().as_ref(), |(name, _)| name);
            let name = name.rsplit('#').next().unwrap_or(name);
            if self.names.contains(name) {
                let message = format!("`[replace]` replaces `{name}` with another crate");
                self.report(manifest, key.span(), "replace", message);
            }
        }
    }

    fn patches(&mut self, table: &DeTable<'_>, manifest: &Manifest) {
        for (_, source) in entries(table, &["patch"]) {
            for (key, value) in source.get_ref().as_table().into_iter().flatten() {
                if self.means(key.get_ref(), value.get_ref()) {
                    let message = format!("`[patch]` replaces `{}` with another crate", key.get_ref());
                    self.report(manifest, key.span(), "patch", message);
                }
            }
        }
    }

    fn cargo_config(&mut self, table: &DeTable<'_>, manifest: &Manifest) {
        self.patches(table, manifest);
        if let Some((at, paths)) = get(table, "paths")
            && paths.get_ref().as_array().is_some_and(|list| !list.is_empty())
        {
            let message = "`paths` overrides crates with other directories".to_owned();
            self.report(manifest, at, "paths", message);
        }
        let mut flags = Vec::new();
        let mut collect = |value: Option<&Spanned<DeValue<'_>>>, names: &[&str]| {
            let inside = value.and_then(|value| value.get_ref().as_table());
            let found = inside.into_iter().flat_map(|table| names.iter().filter_map(|name| get(table, name)));
            flags.extend(found.map(|(at, value)| (at, strings(value.get_ref()))));
        };
        collect(dig(table, &["build"]), &["rustflags", "rustdocflags"]);
        entries(table, &["target"]).for_each(|(_, target)| collect(Some(target), &["rustflags"]));
        collect(dig(table, &["env"]), &["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS"]);
        for (at, words) in flags {
            if let Some(flag) = self.bad_flag(&words) {
                let message = format!("`{flag}` enables test-only code in every build");
                self.report(manifest, at, "rustflags", message);
            }
        }
    }

    /// Finds `--cfg test` and `--cfg feature="<test-only>"` among compiler flags.
    fn bad_flag(&self, words: &[String]) -> Option<String> {
        let split: Vec<&str> = words
            .iter()
            .flat_map(|word| word.split([' ', '\u{1f}']))
            .filter(|word| !word.is_empty())
            .collect();
        let mut rest = split.as_slice();
        while let [word, after @ ..] = rest {
            rest = after;
            let value = match word.strip_prefix("--cfg") {
                Some("") => after.first().copied().unwrap_or_default(),
                Some(value) => value.trim_start_matches('='),
                None => continue,
            };
            // Quoting differs between TOML, shells and environment variables. The option is the same without
            // quotes.
            let plain: String = value.chars().filter(|one| !matches!(one, '"' | '\'' | '\\')).collect();
            if self.config.is_test_cfg(&plain) {
                return Some(format!("--cfg {plain}"));
            }
        }
        None
    }

    fn member(
        &mut self,
        table: &DeTable<'_>,
        manifest: &Manifest,
        package: &Package,
        resolver: FeatureResolver,
    ) {
        let own = self.names.contains(package.name.as_str());
        for section in dependency_sections(table) {
            for (name, kind) in [
                ("dependencies", DependencyKind::Normal),
                ("build-dependencies", DependencyKind::Build),
                ("build_dependencies", DependencyKind::Build),
                ("dev-dependencies", DependencyKind::Dev),
                ("dev_dependencies", DependencyKind::Dev),
            ] {
                // Resolver 2 keeps features of dev-dependencies out of other builds.
                if kind == DependencyKind::Dev && resolver != FeatureResolver::Unifies {
                    continue;
                }
                for (key, value) in entries(section, &[name]) {
                    self.dependency(manifest, package, key, value.get_ref(), name);
                }
            }
        }
        let aliases: BTreeSet<String> = package
            .dependencies
            .iter()
            .filter(|dependency| self.names.contains(dependency.package.as_str()))
            .map(|dependency| dependency.rename.clone().unwrap_or_else(|| dependency.package.clone()))
            .collect();
        for (feature, list) in entries(table, &["features"]) {
            for entry in list.get_ref().as_array().into_iter().flatten() {
                let Some(text) = entry.get_ref().as_str() else { continue };
                let forwarded = text.split_once('/').is_some_and(|(to, name)| {
                    aliases.contains(to.trim_end_matches('?')) && self.config.is_test_only(name)
                });
                let default = own && feature.get_ref() == "default" && self.default_reaches(package, text);
                if forwarded {
                    let message = format!("`{text}` enables a feature that only tests may enable");
                    self.report(manifest, entry.span(), "forwarded", message);
                } else if default {
                    let message =
                        format!("the default features enable `{text}`, which only tests may enable");
                    self.report(manifest, entry.span(), "default", message);
                }
            }
        }
    }

    fn default_reaches(&self, package: &Package, start: &str) -> bool {
        let mut seen = BTreeSet::new();
        let mut stack = vec![start.to_owned()];
        while let Some(name) = stack.pop() {
            if self.config.is_test_only(&name) {
                return true;
            }
            if seen.insert(name.clone()) {
                stack.extend(package.features.get(&name).into_iter().flatten().cloned());
            }
        }
        false
    }

    fn dependency(
        &mut self,
        manifest: &Manifest,
        package: &Package,
        key: &Spanned<Cow<'_, str>>,
        value: &DeValue<'_>,
        section: &str,
    ) {
        if !self.means(key.get_ref(), value) && !self.is_renamed(package, key.get_ref()) {
            return;
        }
        let Some(table) = value.as_table() else { return };
        let inherited = get(table, "workspace").is_some();
        let features = get(table, "features");
        let listed = features.as_ref().map(|(_, list)| strings(list.get_ref())).unwrap_or_default();
        if let Some(feature) = listed.iter().find(|feature| self.config.is_test_only(feature)) {
            let at = features.map_or_else(|| key.span(), |(at, _)| at);
            let message = format!("`{section}` enables `{feature}`, which only tests may enable");
            self.report(manifest, at, "feature", message);
        } else if inherited {
            // The entry also has the features of `[workspace.dependencies]`, which `cargo metadata` lists.
            let on = package.dependencies.iter().find_map(|dependency| {
                let name = dependency.rename.as_deref().unwrap_or(&dependency.package);
                let same = name == key.get_ref()
                    && (dependency.kind == DependencyKind::Dev) == section.starts_with("dev");
                if same {
                    dependency.features.iter().find(|feature| self.config.is_test_only(feature))
                } else {
                    None
                }
            });
            if let Some(feature) = on {
                let message = format!("`{section}` inherits `{feature}`, which only tests may enable");
                self.report(manifest, key.span(), "inherited-feature", message);
            }
        }
    }

    /// Returns the package of a dependency that only `[workspace.dependencies]` renames.
    fn is_renamed(&self, package: &Package, key: &str) -> bool {
        package.dependencies.iter().any(|dependency| {
            dependency.rename.as_deref() == Some(key) && self.names.contains(dependency.package.as_str())
        })
    }

    fn lock(&mut self, table: &DeTable<'_>, manifest: &Manifest) {
        let Some(packages) = dig(table, &["package"]).and_then(|list| list.get_ref().as_array()) else {
            return;
        };
        let mut seen = BTreeSet::new();
        let mut twice = Vec::new();
        for package in packages {
            let Some((_, name)) = package.get_ref().as_table().and_then(|package| get(package, "name"))
            else {
                continue;
            };
            let Some(text) = name.get_ref().as_str() else { continue };
            if self.names.contains(text) && !seen.insert(text.to_owned()) {
                twice.push((name.span(), text.to_owned()));
            }
        }
        for (at, name) in twice {
            self.report(manifest, at, "lock", format!("the lockfile lists `{name}` more than once"));
        }
    }
}

fn strings(value: &DeValue<'_>) -> Vec<String> {
    match value {
        DeValue::String(text) => vec![text.to_string()],
        DeValue::Array(list) => {
            list.iter().filter_map(|item| item.get_ref().as_str().map(str::to_owned)).collect()
        }
        DeValue::Table(table) => {
            get(table, "value").map(|(_, value)| strings(value.get_ref())).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}
