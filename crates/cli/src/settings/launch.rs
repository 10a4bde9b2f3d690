//! The rows of `launch.grants` and `capability.budgets`.

use plugward_loader::capability::{BudgetLimit, Budgets, CapabilityKind, LimitTarget, PluginName};
use plugward_loader::policy::{PlacedText, SettingId, SettingRow, SettingsLayer, TrustPolicy};

use plugward_loader::{PluginKey, ledger_name};

use super::{UserLayers, location, text};
use crate::access::{GrantKind, GrantList, GrantText, KEY_HELP, LaunchGrant};
use crate::command_host::{command_id, command_ledger_name};
use crate::failure::Failure;

pub(super) fn grants(policy: &TrustPolicy, read: &UserLayers) -> Result<Vec<LaunchGrant>, Failure> {
    let Some((layer, rows)) = policy.rows(SettingId::LaunchGrants) else { return Ok(Vec::new()) };
    rows.iter().map(|row| grant(row, layer, read)).collect()
}

fn grant(row: &SettingRow, layer: &SettingsLayer, read: &UserLayers) -> Result<LaunchGrant, Failure> {
    let placed = |one: &PlacedText| {
        let fault = layer.fault(one.at, "", "");
        GrantText { text: one.text.clone(), location: Some(location(&fault, read.path(layer.label()))) }
    };
    let plugin = text(row, "plugin");
    let command: Vec<String> = row.texts("command").iter().map(|one| one.text.clone()).collect();
    if command.is_empty() {
        named(&plugin, layer, read)?;
    } else if plugin.text.parse::<PluginKey>().is_ok() {
        let message =
            format!("`command` is for a wrapped server, and `{}` is the key of a plugin", plugin.text);
        let help = "remove `command`: the entry is for all programs of the plugin";
        return Err(read.fault(&layer.fault(plugin.at, message, help)));
    }
    if let Some(directory) = row.text("directory").filter(|_| command.is_empty()) {
        let help = "add `command`, or remove `directory`: plugins start where their host starts them";
        return Err(read.fault(&layer.fault(
            directory.at,
            "`directory` is for an entry with `command`",
            help,
        )));
    }
    let fields = GrantKind::ALL.into_iter();
    let grants = fields.flat_map(|(name, kind)| row.texts(name).iter().map(move |one| (kind, placed(one))));
    let list = GrantList { grants: grants.collect(), directory: row.text("directory").map(placed) };
    Ok(LaunchGrant { plugin: placed(&plugin), command, list })
}

/// Returns the name that the ledger has for a plugin or command plugin. An entry that names nothing would limit nothing.
fn named(plugin: &PlacedText, layer: &SettingsLayer, read: &UserLayers) -> Result<String, Failure> {
    match (plugin.text.parse::<PluginKey>(), command_id(&plugin.text)) {
        (_, Some(id)) => Ok(command_ledger_name(id)),
        (Ok(key), None) => Ok(ledger_name(&key)),
        (Err(_), None) => {
            let message = format!("not the key of a plugin: `{}`", plugin.text);
            Err(read.fault(&layer.fault(plugin.at, message, KEY_HELP)))
        }
    }
}

pub(super) fn budgets(policy: &TrustPolicy, read: &UserLayers) -> Result<Budgets, Failure> {
    let unlimited = Budgets::otherwise(BudgetLimit::NONE);
    let Some((layer, rows)) = policy.rows(SettingId::Budgets) else { return Ok(unlimited) };
    let wrong =
        |one: &PlacedText, message: String, help: &str| read.fault(&layer.fault(one.at, message, help));
    // The limit for the other kinds comes first, because the entries are added to it.
    let otherwise = rows.iter().find(|row| text(row, "kind").text == "*").map_or(BudgetLimit::NONE, limit);
    let mut budgets = Budgets::otherwise(otherwise);
    for row in rows {
        let name = text(row, "kind");
        let per = match (row.text("plugin"), row.text("per")) {
            (None, None) => LimitTarget::EachPlugin,
            (None, Some(per)) if per.text == "workflow" => LimitTarget::Workflow,
            (None, Some(per)) if per.text == "plugin" => LimitTarget::EachPlugin,
            (Some(plugin), None) => LimitTarget::Plugin(
                PluginName::new(&named(plugin, layer, read)?)
                    .map_err(|error| wrong(plugin, error.to_string(), error.help()))?,
            ),
            (_, Some(per)) => {
                let message = format!("expected `workflow` or `plugin`, and no `plugin = …`: `{}`", per.text);
                return Err(wrong(per, message, "remove `per` to limit each plugin"));
            }
        };
        match (CapabilityKind::from_name(&name.text), &per) {
            (Some(kind), per) => budgets = budgets.limit(kind, per, limit(row)),
            (None, LimitTarget::EachPlugin) if name.text == "*" => {}
            (None, _) if name.text == "*" => {
                let kinds = CapabilityKind::NAMES.join(", ");
                let help = format!("remove `plugin` and `per`, or name one of {kinds}");
                return Err(wrong(&name, "`*` limits each plugin by itself".to_owned(), &help));
            }
            (None, _) => {
                let message = format!("not a kind of capability: `{}`", name.text);
                let help =
                    format!("write `*` for each plugin, or one of {}", CapabilityKind::NAMES.join(", "));
                return Err(wrong(&name, message, &help));
            }
        }
    }
    Ok(budgets)
}

fn limit(row: &SettingRow) -> BudgetLimit {
    let number = |field: &str| row.text(field).and_then(|one| one.text.parse().ok());
    BudgetLimit {
        max_mints: number("max_mints"),
        max_uses: number("max_uses"),
        max_units: number("max_units"),
    }
}
