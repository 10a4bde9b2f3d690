//! Renders the table of hosts in docs/hosts.md from the table that `plugward-installs` compiles in.

use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use toml::Value;

use crate::metadata::text;

/// The document with the table.
pub(crate) const FILE: &str = "docs/hosts.md";

const TABLE: &str = "crates/installs/hosts.toml";
const START: &str = "<!-- hosts: written by `cargo xtask docs` from crates/installs/hosts.toml -->\n";
const END: &str = "<!-- end of hosts -->\n";

/// The columns of places, with the fields of each.
const COLUMNS: [(&str, &[&str]); 4] = [
    ("plugins and code", &["records", "plugins", "code"]),
    ("skills, agents and commands", &["skills", "prompts"]),
    ("settings, servers and hooks", &["settings", "mcp", "hooks", "parts"]),
    ("only named", &["named", "imports"]),
];

/// Returns the document with its table replaced.
pub(crate) fn render() -> Result<String> {
    let document = text(FILE)?;
    let (before, rest) = document.split_once(START).with_context(|| format!("{FILE} has no line {START}"))?;
    let (_, after) = rest.split_once(END).with_context(|| format!("{FILE} has no line {END}"))?;
    Ok(format!("{before}{START}{}{END}{after}", table(&text(TABLE)?)?))
}

fn table(source: &str) -> Result<String> {
    let table: Value = toml::from_str(source).with_context(|| format!("read {TABLE}"))?;
    let hosts = table.get("host").and_then(Value::as_array).context("the table of hosts has no rows")?;
    let titles: Vec<&str> = COLUMNS.iter().map(|(title, _)| *title).collect();
    let mut out = format!(
        "\n| host | home | {} | known from |\n|---|---|{}---|\n",
        titles.join(" | "),
        "---|".repeat(4)
    );
    for host in hosts {
        let word = |key: &str| host.get(key).and_then(Value::as_str).unwrap_or_default();
        let home = host.get("home").and_then(|home| home.get("default")).and_then(Value::as_str);
        let mut cells = vec![format!("`{}`", word("id")), format!("`{}`", home.unwrap_or_default())];
        cells.extend(COLUMNS.iter().map(|(_, fields)| places(host, fields)));
        let evidence = match word("evidence") {
            "V" => format!("{} was run", word("seen")),
            "S" => format!("{} was read", word("seen")),
            "D" => "documentation, not tested".to_owned(),
            _ => "lists of others, not tested".to_owned(),
        };
        let known = [evidence.as_str(), word("note")].into_iter().filter(|text| !text.is_empty());
        cells.push(known.collect::<Vec<_>>().join("; "));
        writeln!(out, "| {} |", cells.join(" | ")).context("render")?;
    }
    out.push('\n');
    Ok(out)
}

/// Returns the places of some fields, each as code.
fn places(host: &Value, fields: &[&str]) -> String {
    let lists = fields.iter().filter_map(|field| host.get(field)?.as_array()).flatten();
    let place =
        |item: &Value| item.as_str().or_else(|| item.get("file")?.as_str()).map(|place| format!("`{place}`"));
    let mut places: Vec<String> = Vec::new();
    for place in lists.filter_map(place) {
        // One file can have servers, hooks and other settings.
        if !places.contains(&place) {
            places.push(place);
        }
    }
    if places.is_empty() { "–".to_owned() } else { places.join(", ") }
}
