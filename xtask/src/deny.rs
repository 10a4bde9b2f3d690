//! Checks deny.toml on a machine without cargo-deny: licenses, duplicates, bans and sources, and the rust-version of each dependency.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use spdx::{Expression, LicenseReq};

use crate::Outcome;
use crate::metadata::{Metadata, Package, text};

pub(crate) fn check() -> Result<Outcome> {
    let metadata = Metadata::read()?;
    let deny: toml::Table = text("deny.toml")?.parse().context("read deny.toml")?;
    let allowed = strings(&deny, &["licenses", "allow"]);
    let limit = rust_version(&text("Cargo.toml")?.parse::<toml::Table>().context("read Cargo.toml")?);
    let mut wrong = Vec::new();
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut count = 0_usize;
    for package in metadata.packages().filter(|package| !package.source().is_empty()) {
        count = count.saturating_add(1);
        versions.entry(package.name()).or_default().insert(package.version());
        let more = exceptions(&deny, package.name());
        license(&package, &allowed.union(&more).cloned().collect(), &mut wrong);
        if !package.source().starts_with("registry+") {
            wrong.push(format!("{} {} comes from {}", package.name(), package.version(), package.source()));
        }
        if numbers(package.rust_version()) > numbers(&limit) {
            let (name, version, required) = (package.name(), package.version(), package.rust_version());
            wrong.push(format!("{name} {version} requires Rust {required}; the workspace supports {limit}"));
        }
    }
    let skipped = names(&deny, &["bans", "skip"]);
    for (name, found) in versions.iter().filter(|(_, found)| found.len() > 1) {
        if !skipped.contains(*name) {
            wrong.push(format!("{name} has {} versions: {found:?}", found.len()));
        }
    }
    for name in skipped.iter().filter(|name| versions.get(name.as_str()).is_none_or(|v| v.len() < 2)) {
        wrong.push(format!("deny.toml skips {name}, which has one version"));
    }
    for ban in names(&deny, &["bans", "deny"]) {
        let (name, below) = ban.split_once("@<").unwrap_or((&ban, ""));
        for version in versions.get(name).into_iter().flatten() {
            if below.is_empty() || numbers(version) < numbers(below) {
                wrong.push(format!("{name} {version} is banned ({ban})"));
            }
        }
    }
    Ok(Outcome { looked_at: format!("deny: {count} dependencies"), wrong })
}

/// Returns the licenses that deny.toml allows for one crate only.
fn exceptions(deny: &toml::Table, name: &str) -> BTreeSet<String> {
    let of = |entry: &&toml::Value| entry.get("crate").and_then(toml::Value::as_str) == Some(name);
    let allow = |entry: &toml::Value| {
        let list = entry.get("allow").and_then(toml::Value::as_array).cloned().unwrap_or_default();
        list.into_iter().filter_map(|text| text.as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    at(deny, &["licenses", "exceptions"]).iter().filter(of).flat_map(allow).collect()
}

fn license(package: &Package<'_>, allowed: &BTreeSet<String>, wrong: &mut Vec<String>) {
    // Old crates write `MIT/Apache-2.0`, which means OR.
    let text = package.license().replace('/', " OR ");
    let (name, version) = (package.name(), package.version());
    match Expression::parse(&text) {
        Err(error) => wrong.push(format!("{name} {version}: license `{text}`: {}", error.reason)),
        Ok(expression) => {
            if !expression.evaluate(|req: &LicenseReq| allowed.contains(&req.to_string())) {
                wrong.push(format!("{name} {version}: deny.toml does not allow the license `{text}`"));
            }
        }
    }
}

fn at<'a>(table: &'a toml::Table, path: &[&str]) -> &'a [toml::Value] {
    let mut here = table;
    let Some((last, parents)) = path.split_last() else { return &[] };
    for key in parents {
        let Some(next) = here.get(*key).and_then(toml::Value::as_table) else { return &[] };
        here = next;
    }
    here.get(*last).and_then(toml::Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn strings(table: &toml::Table, path: &[&str]) -> BTreeSet<String> {
    at(table, path).iter().filter_map(toml::Value::as_str).map(str::to_owned).collect()
}

/// Entries of bans are strings or tables with the key `crate`.
fn names(table: &toml::Table, path: &[&str]) -> BTreeSet<String> {
    let name = |entry: &toml::Value| {
        let text = entry.as_str().or_else(|| entry.get("crate").and_then(toml::Value::as_str));
        text.map(str::to_owned)
    };
    at(table, path).iter().filter_map(name).collect()
}

fn rust_version(cargo: &toml::Table) -> String {
    let value = cargo.get("workspace").and_then(|w| w.get("package")).and_then(|p| p.get("rust-version"));
    value.and_then(toml::Value::as_str).unwrap_or_default().to_owned()
}

fn numbers(version: &str) -> Vec<u64> {
    let core = version.split(['-', '+']).next().unwrap_or_default();
    let mut numbers: Vec<u64> = core.split('.').map(|part| part.parse().unwrap_or(0)).collect();
    numbers.resize(3, 0);
    numbers
}
