//! `plugward config show` and `config explain`: the resolved settings, and what each layer contributed.

use camino::{Utf8Path, Utf8PathBuf};
use plugward_loader::policy::{
    Contribution, KeyError, ResolvedSetting, SettingId, SettingKey, SettingValue, TrustPolicy, ValueOrigin,
};
use plugward_loader::policy_of;
use plugward_loader::redact::{Firewall, Raw, RuleSelection, Settings as RedactSettings};
use serde::Serialize;
use serde_json::Value;

use crate::args::{ConfigExplainArgs, ConfigShowArgs, ConfigVerb, ListFormat, SettingsFormat};
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::json;
use crate::out::Out;
use crate::settings::{Settings, diagnostic};
use plugward_loader::Part;
use plugward_loader::escape::line;

/// The value of an option that looks like a secret.
const MASKED: &str = "<masked>";
/// Parts of names whose values are not printed.
const SECRET_NAMES: [&str; 6] = ["secret", "token", "password", "passwd", "credential", "api_key"];

pub(crate) fn run(verb: &ConfigVerb, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    match verb {
        ConfigVerb::Show(args) => show(args, host, out),
        ConfigVerb::Explain(args) => explain(args, host, out),
    }
}

/// Resolves the settings for a directory. A broken file of a repository is an error here.
pub(crate) fn resolve(
    project: Option<&Utf8PathBuf>,
    settings: &Settings,
    host: &Host,
) -> Result<TrustPolicy, Failure> {
    let root = host::root(project.map_or(Utf8Path::new("."), |dir| dir))?;
    policy_of(&root, &settings.layers, host.repository_settings).map_err(|faults| {
        let mut faults = faults.iter().map(|fault| diagnostic(fault, None));
        let first = faults.next().map_or_else(|| Failure::internal("no settings"), Failure::settings);
        faults.fold(first, Failure::and)
    })
}

#[derive(Serialize)]
struct SettingsView {
    version: u32,
    settings: Vec<SettingView>,
}

#[derive(Serialize)]
struct SettingView {
    key: String,
    value: Option<Value>,
    layer: &'static str,
    origin: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
}

#[derive(Serialize)]
struct ExplanationView {
    version: u32,
    key: String,
    value: Option<Value>,
    contributions: Vec<ContributionView>,
}

#[derive(Serialize)]
struct ContributionView {
    layer: &'static str,
    origin: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
    value: Option<Value>,
    fate: &'static str,
    why: Option<&'static str>,
}

fn show(args: &ConfigShowArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let settings = resolve(args.project.as_ref(), &Settings::read(host)?, host)?.settings();
    let mask = SecretMask::new()?;
    let text = match args.format {
        SettingsFormat::Toml => settings.iter().map(|one| toml_row(one, &mask)).collect(),
        SettingsFormat::Json => {
            let settings = settings.iter().map(|one| {
                let (origin, line, column) = place(one.origin.as_ref());
                let value = one.value.as_ref().map(|value| to_json(&mask.of(&one.key, value)));
                SettingView {
                    key: one.key.to_string(),
                    value,
                    layer: one.layer.as_str(),
                    origin,
                    line,
                    column,
                }
            });
            json::render(&SettingsView { version: 1, settings: settings.collect() })?
        }
    };
    out.result(&text)?;
    Ok(0)
}

fn toml_row(one: &ResolvedSetting, mask: &SecretMask) -> String {
    let value = one.value.as_ref().map(|value| mask.of(&one.key, value).to_string()).unwrap_or_default();
    let at = one.origin.as_ref().map(|origin| format!(" {}", line(&origin.to_string()))).unwrap_or_default();
    format!("{} = {}  # {}{at}\n", line(&one.key.to_string()), line(&value), one.layer.as_str())
}

fn explain(args: &ConfigExplainArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let key: SettingKey = args.key.parse().map_err(|error: KeyError| {
        Failure::usage(format!("`{}` is not a setting: {error}", args.key)).help(error.help())
    })?;
    let resolved = resolve(args.project.as_ref(), &Settings::read(host)?, host)?.resolve(&key);
    let mask = SecretMask::new()?;
    let text = match args.format {
        ListFormat::Table => table(&resolved, &mask),
        ListFormat::Json => {
            let contributions = resolved.contributions.iter().map(|one| {
                let (origin, line, column) = place(one.origin.as_ref());
                let value =
                    one.value.as_ref().map(|value| to_json(&nested(&key, one, mask.of(&one.key, value))));
                let (layer, fate, why) = (one.layer.as_str(), one.fate.as_str(), one.why);
                ContributionView { layer, origin, line, column, value, fate, why }
            });
            let value = resolved.value.as_ref().map(|value| to_json(&mask.of(&key, value)));
            let contributions = contributions.collect();
            json::render(&ExplanationView { version: 1, key: key.to_string(), value, contributions })?
        }
    };
    out.result(&text)?;
    Ok(0)
}

fn place(origin: Option<&ValueOrigin>) -> (Option<String>, Option<u32>, Option<u32>) {
    let origin = origin.cloned();
    origin.map_or((None, None, None), |at| (Some(at.file), Some(at.line), Some(at.column)))
}

/// Returns the value at its path, because a contribution to options can be a single leaf of them.
fn nested(key: &SettingKey, one: &Contribution, value: toml::Value) -> toml::Value {
    let inner = one.key.leaf().part(key.leaf().len()..);
    inner
        .iter()
        .rev()
        .fold(value, |value, name| toml::Value::Table(toml::Table::from_iter([(name.clone(), value)])))
}

/// Renders one row for each layer, in columns.
fn table(resolved: &ResolvedSetting, mask: &SecretMask) -> String {
    let key = &resolved.key;
    let shown = |value: &SettingValue, of: &SettingKey| mask.of(of, value);
    let mut text = match &resolved.value {
        Some(value) => format!("{key} = {}\n", shown(value, key)),
        None => format!("{key} is not set\n"),
    };
    let rows: Vec<[String; 4]> = resolved
        .contributions
        .iter()
        .map(|one| {
            let value = one.value.as_ref();
            let value =
                value.map_or("-".to_owned(), |value| nested(key, one, shown(value, &one.key)).to_string());
            let by = one.origin.as_ref().map(ToString::to_string);
            // The default has no place, but a caller can decide it.
            let by = by.or_else(|| one.why.map(str::to_owned)).unwrap_or_default();
            let why = one.why.filter(|_| one.origin.is_some());
            let mut fate = one.fate.as_str().replace('-', " ");
            if let Some(why) = why {
                fate.push_str(&format!(": {why}"));
            }
            if key.id() == SettingId::BundleRun && one.key != *key {
                fate.push_str(&format!(" (by `{}`)", one.key));
            }
            [one.layer.as_str().to_owned(), value, by, fate]
        })
        .collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| line(cell).chars().count()).max().unwrap_or_default()
    };
    let (layer_width, value_width, by_width) = (width(0), width(1), width(2));
    for [layer, value, by, fate] in &rows {
        let row = format!(
            "  {layer:<layer_width$}  {:<value_width$}  {:<by_width$}  {}",
            line(value),
            line(by),
            line(fate)
        );
        text.push_str(row.trim_end());
        text.push('\n');
    }
    if key.id() == SettingId::CommandOptions {
        text.push_str("  options grant nothing in plugward, and the plugin decides what they do\n");
    }
    text
}

/// Masks options that look like secrets, by their names and by the rules of `redact`.
struct SecretMask(Firewall);

impl SecretMask {
    fn new() -> Result<Self, Failure> {
        let firewall = Firewall::new(RuleSelection::all(), RedactSettings::reference());
        firewall
            .map(Self)
            .map_err(|error| Failure::internal(format!("make the rules: {error}")).code(error.code()))
    }

    fn of(&self, key: &SettingKey, value: &SettingValue) -> toml::Value {
        let value = value.to_toml();
        if key.id() == SettingId::CommandOptions { self.masked(key.leaf(), value) } else { value }
    }

    fn masked(&self, path: &[String], value: toml::Value) -> toml::Value {
        let is_secret_name = path.last().is_some_and(|name| {
            let name = name.to_lowercase().replace('-', "_");
            SECRET_NAMES.iter().any(|part| name.contains(part))
        });
        match value {
            toml::Value::Table(table) => toml::Value::Table(
                table.into_iter().map(|(name, value)| (name.clone(), self.masked(&[name], value))).collect(),
            ),
            _ if is_secret_name => MASKED.into(),
            toml::Value::Array(items) => {
                toml::Value::Array(items.into_iter().map(|item| self.masked(path, item)).collect())
            }
            toml::Value::String(text) => {
                let redacted = self.0.redact(Raw::new(text.clone()));
                if redacted.as_str() == text { text.into() } else { MASKED.into() }
            }
            other => other,
        }
    }
}

pub(crate) fn to_json(value: &toml::Value) -> Value {
    match value {
        toml::Value::String(text) => text.as_str().into(),
        toml::Value::Integer(number) => (*number).into(),
        toml::Value::Float(number) => (*number).into(),
        toml::Value::Boolean(flag) => (*flag).into(),
        // JSON has no times.
        toml::Value::Datetime(time) => time.to_string().into(),
        toml::Value::Array(items) => items.iter().map(to_json).collect(),
        toml::Value::Table(table) => {
            table.iter().map(|(name, value)| (name.clone(), to_json(value))).collect()
        }
    }
}
