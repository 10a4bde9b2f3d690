//! The user's settings: the managed file, `config.toml` in the config directory, `--policy`, `PLUGWARD_CFG` and `--cfg`.
//!
//! `policy` merges them. This module reads the texts and turns the values into the types of the loader. An unknown key is
//! an error with its place, so that a mistyped setting is not silently ignored.

mod launch;

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use plugward_loader::capability::Budgets;
use plugward_loader::hook_events::RawOutput;
use plugward_loader::installs::HostTable;
use plugward_loader::pinstore::{Risk, StoreErrorRule};
use plugward_loader::policy::{
    HostSetting, LayerKind, PlacedText, SettingId, SettingRow, SettingsError, SettingsFault, SettingsLayer,
    TrustPolicy, ValueOrigin,
};
use plugward_loader::scanner::{Date, Profile, RuleFile, Rules, Suppression};
use plugward_loader::tree_lock::TreeLimits;
use plugward_loader::{
    ApprovalRule, Digest, HostSuppression, ParseError, Part, PluginKey, ScanAsk, SignerRow, Trust, Verifiers,
};

use crate::access::LaunchGrant;
use crate::diagnostic::{Diagnostic, Location};
use crate::failure::Failure;
use crate::host::{self, Host, PolicyUse, Warnings};
use crate::installed;
use crate::settings_file::{self, FileOwner, SettingsFile};

/// The name of the settings file in the config directory.
pub(crate) const NAME: &str = "config.toml";
/// The administrator's settings.
const MANAGED: &str = "/etc/plugward/config.toml";
/// The most bytes of a settings file.
pub(crate) const LIMIT: u64 = SettingsLayer::LIMIT;
/// The most bytes of a rules file.
const RULES: u64 = 1 << 20;

/// The settings that the user controls, after their layers are merged.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) trust: Trust,
    pub(crate) on_store_error: Option<StoreErrorRule>,
    pub(crate) approval: ApprovalRule,
    pub(crate) max_risk: Risk,
    pub(crate) revocation_lists: Vec<String>,
    pub(crate) shared: Vec<String>,
    pub(crate) verifiers: Verifiers,
    pub(crate) suppressions: Vec<HostSuppression>,
    /// Whether suspicious findings ask the user.
    pub(crate) scan_ask: ScanAsk,
    pub(crate) profile: Option<Profile>,
    pub(crate) packages: Vec<String>,
    /// The limits for reading a plugin's directory.
    pub(crate) tree: TreeLimits,
    /// Which hooks see text before the secret scan.
    pub(crate) raw: RawOutput,
    /// Hooks of plugins that see raw output all the same.
    pub(crate) raw_grants: Vec<RawGrant>,
    /// What programs of plugins can use.
    pub(crate) launch_grants: Vec<LaunchGrant>,
    /// The limits for capabilities in each workflow.
    pub(crate) budgets: Budgets,
    /// The layers, to which the loader adds those of a plugin's repositories.
    pub(crate) layers: Vec<Arc<SettingsLayer>>,
    /// Rules files to add to the built-in rules.
    rules: Vec<Utf8PathBuf>,
    warnings: Warnings,
}

/// A hook of one plugin that sees the raw output of some tools.
#[derive(Debug, Clone)]
pub(crate) struct RawGrant {
    pub(crate) plugin: PluginKey,
    /// The hook's id without that of the plugin.
    pub(crate) hook: String,
    pub(crate) tools: Vec<String>,
}

/// The layers that the user controls, and the paths of their files.
struct UserLayers {
    layers: Vec<Arc<SettingsLayer>>,
    /// The label of each file, with its path.
    files: Vec<(String, Utf8PathBuf)>,
}

impl Settings {
    /// Reads all layers of the user and the administrator.
    pub(crate) fn read(host: &Host) -> Result<Self, Failure> {
        let mut read = UserLayers { layers: Vec::new(), files: Vec::new() };
        read.read_files(host)?;
        read.read_assignments(host)?;
        let policy = TrustPolicy::new(read.layers.iter().cloned(), []);
        let rules = rule_files(&policy, &read);
        add_hosts(&policy, &read)?;
        // The loader turns the same values into options for each plugin, with the layers of its repositories.
        let values = plugward_loader::PolicyOptions::of(&policy);
        Ok(Self {
            trust: values.trust,
            on_store_error: values.on_store_error,
            approval: values.approval,
            max_risk: values.max_risk,
            revocation_lists: policy.texts(SettingId::RevocationLists),
            shared: shared_names(&policy, &read)?,
            verifiers: verifiers(&policy, &read)?,
            suppressions: suppressions(&policy, &read)?,
            scan_ask: policy.scan_ask(),
            profile: policy.scan_profile(),
            packages: policy.texts(SettingId::Packages),
            tree: values.tree,
            raw: policy.raw_output(),
            raw_grants: raw_grants(&policy, &read)?,
            launch_grants: launch::grants(&policy, &read)?,
            budgets: launch::budgets(&policy, &read)?,
            layers: read.layers,
            rules,
            warnings: host.warnings.clone(),
        })
    }

    /// Returns the built-in rules with those of the settings and of `named`, or `None` if there are no additional rules.
    pub(crate) fn rules(&self, named: &[Utf8PathBuf]) -> Result<Option<Rules>, Failure> {
        let mut texts = Vec::new();
        // A file of the command line may be a pipe or belong to another user, since the user names it for this run.
        let own = self.rules.iter().map(|path| (path, settings_file::read(path, RULES)));
        let named =
            named.iter().map(|path| (path, host::named_file(path, RULES).map(SettingsFile::unchecked)));
        for (path, read) in own.chain(named) {
            let SettingsFile { bytes, warning } = read?;
            self.warnings.add(warning);
            let text = String::from_utf8(bytes).map_err(|error| {
                Failure::usage(format!("{path} is not UTF-8 at byte {}", error.utf8_error().valid_up_to()))
            })?;
            texts.push((path.to_string(), text));
        }
        if texts.is_empty() {
            return Ok(None);
        }
        let files: Vec<RuleFile<'_>> = texts.iter().map(|(name, text)| RuleFile { name, text }).collect();
        Rules::with(&files)
            .map(Some)
            .map_err(|error| Failure::usage(error.to_string()).code(error.code()).help(error.help()))
    }
}

impl Settings {
    /// Returns the digest of the rules in use.
    pub(crate) fn rules_digest(&self) -> Result<Digest, Failure> {
        Ok(self.rules(&[])?.as_ref().unwrap_or_else(|| Rules::builtin()).digest())
    }
}

impl UserLayers {
    fn read_files(&mut self, host: &Host) -> Result<(), Failure> {
        let managed = Utf8Path::new(MANAGED);
        if let Some(file) = settings_file::read_if_present(managed, LIMIT, FileOwner::Root)? {
            self.add(LayerKind::Managed, MANAGED.to_owned(), managed, &file.bytes)?;
        }
        if let Some(path) = host.config_dir().ok().map(|dir| dir.join(NAME))
            && let Some(file) = settings_file::read_if_present(&path, LIMIT, FileOwner::User)
                .map_err(|error| unread(host, error))?
        {
            let SettingsFile { bytes, warning } = file;
            host.warnings.add(warning);
            self.add(LayerKind::User, NAME.to_owned(), &path, &bytes)?;
        }
        if let Some(path) = host.policy.as_ref().filter(|_| host.policy_use == PolicyUse::Read) {
            let bytes = host::named_file(path, LIMIT)?;
            // The label of the user's own file is its bare name.
            let label = if path == NAME { format!("./{path}") } else { path.to_string() };
            self.add(LayerKind::User, label, path, &bytes)?;
        }
        Ok(())
    }

    fn add(&mut self, kind: LayerKind, label: String, path: &Utf8Path, bytes: &[u8]) -> Result<(), Failure> {
        let read = SettingsLayer::parse(kind, &label, bytes);
        self.files.push((label, path.to_owned()));
        self.layers.push(Arc::new(read.map_err(|error| self.failure(&error))?));
        Ok(())
    }

    fn read_assignments(&mut self, host: &Host) -> Result<(), Failure> {
        let lines = host.cfg_lines();
        let rows: Vec<&str> = lines.lines().collect();
        let flags: Vec<&str> = host.cfg_flags().iter().map(String::as_str).collect();
        for (kind, label, rows) in [(LayerKind::Env, "PLUGWARD_CFG", rows), (LayerKind::Cli, "--cfg", flags)]
        {
            let read = SettingsLayer::assignments(kind, label, &rows);
            self.layers.push(Arc::new(read.map_err(|error| self.failure(&error))?));
        }
        Ok(())
    }

    /// Returns the path of a layer's file; `None` for assignments.
    fn path(&self, label: &str) -> Option<&Utf8Path> {
        self.files.iter().find(|(known, _)| known == label).map(|(_, path)| path.as_path())
    }

    /// Returns the directory that relative paths of a layer start from; empty for the working directory.
    fn directory(&self, layer: &SettingsLayer) -> Utf8PathBuf {
        self.path(layer.label()).and_then(Utf8Path::parent).map(Utf8Path::to_owned).unwrap_or_default()
    }

    fn failure(&self, error: &SettingsError) -> Failure {
        let mut failure = self.fault(error.first());
        for fault in error.rest() {
            failure = failure.and(diagnostic(fault, self.path(&fault.origin.file)));
        }
        failure
    }

    /// Returns the failure for a fault. The place names the whole path, so that the user can open the file.
    fn fault(&self, fault: &SettingsFault) -> Failure {
        Failure::settings(diagnostic(fault, self.path(&fault.origin.file)))
    }
}

/// Returns a fault with its source line.
pub(crate) fn diagnostic(fault: &SettingsFault, path: Option<&Utf8Path>) -> Diagnostic {
    Diagnostic::error(&fault.message).code("policy/settings").at(location(fault, path)).help(&fault.help)
}

fn location(fault: &SettingsFault, path: Option<&Utf8Path>) -> Location {
    let SettingsFault { origin: ValueOrigin { file, line, column }, source, .. } = fault;
    let caret = usize::try_from(*column).unwrap_or(usize::MAX).saturating_sub(1);
    let location = Location::path(path.map_or(file.as_str(), Utf8Path::as_str)).at(*line, *column);
    location.source(&source.replace('\t', " "), caret..caret.saturating_add(1), "")
}

/// Turns a failure to read the settings into one of the stores if the config directory cannot be opened: the pins and
/// denials are unreadable then too.
fn unread(host: &Host, error: Failure) -> Failure {
    #[expect(clippy::disallowed_methods, reason = "only tests whether the directory opens; reads no entry")]
    let opened = host.config_dir().map(|dir| std::fs::read_dir(dir).map(drop));
    if matches!(opened, Ok(Err(why)) if why.kind() == std::io::ErrorKind::PermissionDenied) {
        return error
            .of_store()
            .help("fix the permissions of the directory, or name another one with --config-dir");
    }
    error
}

/// Returns an error at one place of a settings file that this program changes.
pub(crate) fn invalid(name: &str, body: &str, at: usize, what: &str, help: &str) -> Failure {
    let before = body.part(..at);
    let row = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let source = body.part(start..).lines().next().unwrap_or("").to_owned();
    let column = before.part(start..).chars().count() + 1;
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    let caret = column - 1;
    let location = Location::path(name).at(number(row), number(column));
    let location = location.source(&source.replace('\t', " "), caret..column, "");
    Failure::usage(what).code("policy/settings").at(location).help(help)
}

/// Adds the rows of the user to the table of hosts.
fn add_hosts(policy: &TrustPolicy, read: &UserLayers) -> Result<(), Failure> {
    let rows = policy.hosts();
    if rows.is_empty() {
        return Ok(());
    }
    let mut table = HostTable::compiled().map_err(Failure::internal)?.clone();
    for HostSetting { layer, id, fields, places, .. } in rows {
        table.add_row(id, fields).map_err(|error| {
            let at = error.field().and_then(|field| places.get(field)).or_else(|| places.values().min());
            let message = format!("`hosts.{id}`: {error}");
            read.fault(&layer.fault(at.copied().unwrap_or_default(), message, error.help()))
        })?;
    }
    installed::set_hosts(table);
    Ok(())
}

fn rule_files(policy: &TrustPolicy, read: &UserLayers) -> Vec<Utf8PathBuf> {
    let Some((layer, value)) = policy.set(SettingId::ScanRules) else { return Vec::new() };
    // A relative path starts from the directory of the file that names it, not from the working directory.
    let directory = read.directory(layer);
    value.as_list().unwrap_or_default().iter().map(|path| directory.join(&path.text)).collect()
}

fn shared_names(policy: &TrustPolicy, read: &UserLayers) -> Result<Vec<String>, Failure> {
    let Some((layer, value)) = policy.set(SettingId::Shared) else { return Ok(Vec::new()) };
    let names = value.as_list().unwrap_or_default().iter();
    names
        .map(|PlacedText { text, at }| {
            let mut parts = text.split('/').skip_while(|part| *part == "..");
            let last = parts.next().filter(|part| !matches!(*part, "" | "." | ".."));
            if text.starts_with("../") && last.is_some() && parts.next().is_none() {
                return Ok(text.clone());
            }
            let what = format!("`{text}` is not a directory next to a plugin");
            let help = "write it as a plugin would import it: ../shared";
            Err(read.fault(&layer.fault(*at, what, help)))
        })
        .collect()
}

fn verifiers(policy: &TrustPolicy, read: &UserLayers) -> Result<Verifiers, Failure> {
    let Some((layer, rows)) = policy.rows(SettingId::Signers) else { return Ok(Verifiers::none()) };
    let mut good = Vec::new();
    for row in rows {
        let ids = row.texts("ids").iter().map(|one| one.text.clone()).collect();
        let signer = SignerRow { key: text(row, "key").text, ids };
        // One at a time, so that an error has the place of its row.
        Verifiers::signed_by(std::slice::from_ref(&signer))
            .map_err(|error| read.fault(&layer.fault(row.at(), error.to_string(), error.help())))?;
        good.push(signer);
    }
    Verifiers::signed_by(&good).map_err(|error| read.fault(&layer.fault(0, error.to_string(), error.help())))
}

/// Returns a required field, which the reader of the layer checked.
fn text(row: &SettingRow, field: &str) -> PlacedText {
    row.text(field).cloned().unwrap_or(PlacedText { text: String::new(), at: row.at() })
}

fn raw_grants(policy: &TrustPolicy, read: &UserLayers) -> Result<Vec<RawGrant>, Failure> {
    let Some((layer, rows)) = policy.rows(SettingId::RawGrants) else { return Ok(Vec::new()) };
    rows.iter()
        .map(|row| {
            let plugin = text(row, "plugin");
            let plugin = plugin.text.parse().map_err(|error: ParseError| {
                let what = format!("expected the key of a plugin: {error}");
                read.fault(&layer.fault(plugin.at, what, crate::access::KEY_HELP))
            })?;
            let tools = row.texts("tools").iter().map(|one| one.text.clone()).collect();
            Ok(RawGrant { plugin, hook: text(row, "hook").text, tools })
        })
        .collect()
}

/// Returns the key that a settings file names. A plugin under the file's own directory can be named by a path that
/// starts with `./`, so that a file in a repository names it on every machine.
fn key_of(directory: &Utf8Path, plugin: &str) -> String {
    if !plugin.starts_with("./") {
        return plugin.to_owned();
    }
    // A path that does not exist names no plugin, and the entry then suppresses nothing.
    let directory = if directory.as_str().is_empty() { Utf8Path::new(".") } else { directory };
    host::real_path(&directory.join(plugin)).map_or_else(
        |_gone| format!("path:/{}", plugin.trim_start_matches("./")),
        |real| format!("path:{real}"),
    )
}

fn suppressions(policy: &TrustPolicy, read: &UserLayers) -> Result<Vec<HostSuppression>, Failure> {
    let Some((layer, rows)) = policy.rows(SettingId::Suppressions) else { return Ok(Vec::new()) };
    rows.iter().map(|row| suppression(row, layer, read)).collect()
}

fn suppression(
    row: &SettingRow,
    layer: &SettingsLayer,
    read: &UserLayers,
) -> Result<HostSuppression, Failure> {
    let wrong = |at: usize, what: &str, help: &str| read.fault(&layer.fault(at, what, help));
    let bad = |at: usize| move |error: ParseError| wrong(at, &error.to_string(), &error.help());
    // A suppression loosens a check, so it names the key: the plugin chooses its own name.
    let plugin = match row.text("plugin") {
        None => None,
        Some(plugin) => {
            let key = key_of(&read.directory(layer), &plugin.text);
            Some(key.parse::<PluginKey>().map_err(bad(plugin.at))?)
        }
    };
    let reason = text(row, "reason");
    if reason.text.trim().chars().count() < 10 {
        let what = "the reason has fewer than 10 characters";
        return Err(wrong(reason.at, what, "say who looked, at what, and when"));
    }
    let expires = match row.text("expires") {
        None => None,
        Some(day) => {
            let bad = |_| wrong(day.at, "expected a day as YYYY-MM-DD", "fix the date");
            Some(day.text.parse::<Date>().map_err(bad)?)
        }
    };
    let (rule, digest) = (text(row, "rule"), text(row, "digest"));
    let entry = Suppression {
        rule: rule.text.parse().map_err(bad(rule.at))?,
        path: text(row, "path").text,
        digest: digest.text.parse().map_err(bad(digest.at))?,
        reason: reason.text,
        expires,
    };
    Ok(HostSuppression { plugin, entry })
}
