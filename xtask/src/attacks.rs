//! docs/attacks.md, rendered from the tables of `fixtures/`.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};

use crate::metadata::text;

/// The rendered file.
pub(crate) const FILE: &str = "docs/attacks.md";
const ATTACKS: &str = "fixtures/attacks.tsv";
const ORDINARY: &str = "fixtures/ordinary.tsv";
const HEAD: &str = "# Attacks\n\n\
    Written by `cargo xtask docs` from `fixtures/attacks.tsv` and `fixtures/ordinary.tsv`; edit the tables, not this file.\n\n\
    Each row is a harmless re-creation of a published incident or technique, in `fixtures/attacks/`. The tier is the least \
    that the scan reaches: plugward refuses a plugin with a danger finding, and asks about a suspicious one. Missed attacks \
    load; the reason follows below the table. Each ordinary plugin in `fixtures/ordinary/` does the nearest legitimate thing, \
    and loads without a question. `cargo test -p plugward-tests attacks` compares both tables with the loader.\n";

/// One attack.
struct Attack<'t> {
    id: &'t str,
    technique: &'t str,
    tier: &'t str,
    rule: &'t str,
    title: &'t str,
    sources: &'t str,
    reason: &'t str,
}

/// Returns the document.
pub(crate) fn render() -> Result<String> {
    let attacks = text(ATTACKS)?;
    let ordinary = text(ORDINARY)?;
    document(&attacks, &ordinary)
}

fn document(attacks: &str, ordinary: &str) -> Result<String> {
    let attacks = read_attacks(attacks)?;
    let count = |tier: &str| attacks.iter().filter(|attack| attack.tier == tier).count();
    let mut out = HEAD.to_owned();
    writeln!(
        out,
        "\n{} attacks: {} danger, {} suspicious, {} missed.\n\n## Attacks and their tiers\n\n\
         | id | technique | incident | tier | rule | sources |\n|---|---|---|---|---|---|",
        attacks.len(),
        count("danger"),
        count("suspicious"),
        count("missed"),
    )?;
    for attack in &attacks {
        let rule = if attack.rule == "-" { String::new() } else { format!("`{}`", attack.rule) };
        let Attack { id, technique, title, tier, .. } = attack;
        let sources = links(attack.sources)?;
        writeln!(out, "| `{id}` | {} | {} | {tier} | {rule} | {sources} |", cell(technique), cell(title))?;
    }
    writeln!(out, "\n## Missed attacks\n")?;
    for attack in attacks.iter().filter(|attack| attack.tier == "missed") {
        writeln!(out, "- `{}`: {}", attack.id, attack.reason)?;
    }
    writeln!(out, "\n## Ordinary plugins\n\n| id | twin of | what it does |\n|---|---|---|")?;
    for row in rows(ordinary) {
        let [id, twins, does] = row[..] else { bail!("{ORDINARY}: not three fields: {row:?}") };
        let twins: Vec<String> = twins.split(' ').map(|twin| format!("`{twin}`")).collect();
        writeln!(out, "| `{id}` | {} | {} |", twins.join(", "), cell(does))?;
    }
    Ok(out)
}

fn read_attacks(table: &str) -> Result<Vec<Attack<'_>>> {
    rows(table).map(|row| read_attack(&row)).collect()
}

fn read_attack<'t>(row: &[&'t str]) -> Result<Attack<'t>> {
    let [id, technique, tier, rule, title, sources, reason] = *row else {
        bail!("{ATTACKS}: not seven fields: {row:?}");
    };
    if !["danger", "suspicious", "missed"].contains(&tier) {
        bail!("{ATTACKS}: {id} has no tier: {tier}");
    }
    Ok(Attack { id, technique, tier, rule, title, sources, reason })
}

/// The rows of a table, without its heading.
fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    table.lines().skip(1).map(|line| line.split('\t').collect())
}

/// Markdown links to the addresses, each with its host as text.
fn links(sources: &str) -> Result<String> {
    let link = |url: &str| {
        let rest = url
            .strip_prefix("https://")
            .with_context(|| format!("{ATTACKS}: not an https address: {url}"))?;
        let host = rest.split('/').next().unwrap_or(rest);
        Ok(format!("[{}]({url})", host.strip_prefix("www.").unwrap_or(host)))
    };
    Ok(sources.split(' ').map(link).collect::<Result<Vec<_>>>()?.join(", "))
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_both_tables_and_the_reasons_of_missed_attacks() {
        let attacks = "id\ttechnique\ttier\trule\ttitle\tsources\treason\n\
                       01-a\tEnvironment | network\tdanger\tflow/env\tA hook\thttps://www.a.example/x https://b.example\t-\n\
                       02-b\tParaphrase\tmissed\t-\tA skill\thttps://b.example/y\tNo pattern covers it.\n";
        let ordinary = "id\ttwin of\tdoes\n01-c\t01-a 02-b\tPosts a branch.\n";
        let out = document(attacks, ordinary).unwrap_or_default();
        for line in [
            "2 attacks: 1 danger, 0 suspicious, 1 missed.",
            "| `01-a` | Environment \\| network | A hook | danger | `flow/env` | [a.example](https://www.a.example/x), [b.example](https://b.example) |",
            "| `02-b` | Paraphrase | A skill | missed |  | [b.example](https://b.example/y) |",
            "- `02-b`: No pattern covers it.",
            "| `01-c` | `01-a`, `02-b` | Posts a branch. |",
        ] {
            assert!(out.lines().any(|have| have == line), "{line}\nis not in\n{out}");
        }
    }

    #[test]
    fn an_unknown_tier_or_a_missing_column_is_an_error() {
        assert!(document("id\n01-a\tt\tgrave\t-\tx\thttps://a.example\t-\n", "id\n").is_err());
        assert!(document("id\n01-a\tt\tdanger\n", "id\n").is_err());
        assert!(document("id\n01-a\tt\tdanger\t-\tx\thttp://a.example\t-\n", "id\n").is_err());
        assert!(document("id\n", "id\n01-c\t01-a\n").is_err());
    }
}
