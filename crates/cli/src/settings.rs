//! The user's settings: `config.toml` in the config directory, `--policy`, `PLUGWARD_CFG` and `--cfg`.
//!
//! An unknown key is an error with its place, so that a mistyped setting is not silently ignored. Files of a workspace
//! are not read, because a repository must not loosen the settings of its users.

use camino::{Utf8Path, Utf8PathBuf};
use plugward_loader::hook_events::RawOutput;
use plugward_loader::pinstore::{Risk, StoreErrorRule};
use plugward_loader::scanner::{Date, Profile, RuleFile, Rules, Suppression};
use plugward_loader::tree_lock::TreeLimits;
use plugward_loader::{
    ApprovalRule, HostSuppression, ParseError, PluginKey, ScanAsk, SignerRow, Trust, Verifiers,
};
use serde::Deserialize;
use toml::Spanned;

use crate::diagnostic::Location;
use crate::failure::Failure;
use crate::host::{self, Host, PolicyUse, Warnings};
use crate::settings_file::{self, SettingsFile};

/// The name of the settings file in the config directory.
pub(crate) const NAME: &str = "config.toml";
/// The most bytes of a settings file.
pub(crate) const LIMIT: u64 = 1 << 20;
/// The most bytes of a rules file.
const RULES: u64 = 1 << 20;

/// The user's settings after all layers are merged.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) trust: Option<Trust>,
    pub(crate) on_store_error: Option<StoreErrorRule>,
    pub(crate) exclude_vcs: Option<bool>,
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

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Layer {
    trust: Option<TrustValue>,
    pins: Option<PinsTable>,
    plugins: Option<PluginsTable>,
    lock: Option<LockTable>,
    scan: Option<ScanTable>,
    limits: Option<LimitsTable>,
    hooks: Option<HooksTable>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct HooksTable {
    raw: Option<RawValue>,
    grants: Option<Vec<GrantTable>>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RawValue {
    User,
    All,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GrantTable {
    plugin: Spanned<String>,
    hook: String,
    tools: Vec<String>,
}

/// The limits of a tree; a `tree/limit` refusal names the one to raise.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsTable {
    tree_files: Option<usize>,
    tree_bytes: Option<u64>,
    file_bytes: Option<u64>,
    tree_depth: Option<usize>,
}

impl LimitsTable {
    /// Returns the limits of a weaker layer with those of this one in their place.
    fn over(self, before: TreeLimits) -> TreeLimits {
        TreeLimits {
            entries: self.tree_files.unwrap_or(before.entries),
            bytes: self.tree_bytes.unwrap_or(before.bytes),
            file_bytes: self.file_bytes.unwrap_or(before.file_bytes),
            depth: self.tree_depth.unwrap_or(before.depth),
            path_bytes: before.path_bytes,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PinsTable {
    on_store_error: Option<StoreErrorValue>,
    exclude_vcs: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PluginsTable {
    approval: Option<ApprovalValue>,
    max_risk: Option<RiskValue>,
    revocation_lists: Option<Vec<String>>,
    shared: Option<Vec<Spanned<String>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LockTable {
    signers: Option<Vec<Spanned<SignerTable>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignerTable {
    key: String,
    ids: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScanTable {
    ask: Option<AskValue>,
    suppress: Option<Vec<SuppressTable>>,
    profile: Option<ProfileValue>,
    packages: Option<Vec<String>>,
    rules: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SuppressTable {
    plugin: Option<Spanned<String>>,
    rule: Spanned<String>,
    path: String,
    digest: Spanned<String>,
    reason: Spanned<String>,
    expires: Option<Spanned<String>>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TrustValue {
    Tofu,
    Prompt,
    Locked,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AskValue {
    Person,
    Note,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ProfileValue {
    StrictPlugin,
    General,
}

impl ProfileValue {
    const fn profile(self) -> Profile {
        match self {
            Self::StrictPlugin => Profile::StrictPlugin,
            Self::General => Profile::General,
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StoreErrorValue {
    Warn,
    Refuse,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ApprovalValue {
    Off,
    Required,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum RiskValue {
    Low,
    Medium,
    High,
    Critical,
}

/// The text of one layer of settings.
struct SettingsText {
    /// The name of the layer in errors.
    name: String,
    body: String,
    /// The directory that relative paths in the text start from; empty for the working directory.
    directory: Utf8PathBuf,
}

impl Settings {
    /// Reads all layers. A later layer overrides an earlier one, key by key.
    pub(crate) fn read(host: &Host) -> Result<Self, Failure> {
        let mut all = Self {
            trust: None,
            on_store_error: None,
            exclude_vcs: None,
            approval: ApprovalRule::Off,
            max_risk: Risk::Medium,
            revocation_lists: Vec::new(),
            shared: Vec::new(),
            verifiers: Verifiers::none(),
            suppressions: Vec::new(),
            scan_ask: ScanAsk::Ask,
            profile: None,
            packages: Vec::new(),
            tree: TreeLimits::standard(),
            raw: RawOutput::ManagedAndUser,
            raw_grants: Vec::new(),
            rules: Vec::new(),
            warnings: host.warnings.clone(),
        };
        for text in texts(host)? {
            all.add(&text)?;
        }
        Ok(all)
    }

    fn add(&mut self, text: &SettingsText) -> Result<(), Failure> {
        let layer: Layer = toml::from_str(&text.body).map_err(|error| {
            let what = match error.message() {
                // The TOML reader's message for a missing pair of quotes.
                "wanted string or table" => "expected a string in quotes",
                message => message,
            };
            wrong(text, error.span().map_or(0, |span| span.start), what, &nearest(what))
        })?;
        let Layer { trust, pins, plugins, lock, scan, limits, hooks } = layer;
        self.tree = limits.unwrap_or_default().over(self.tree);
        self.trust = trust.map(TrustValue::trust).or(self.trust);
        let pins = pins.unwrap_or_default();
        self.on_store_error = pins.on_store_error.map(StoreErrorValue::rule).or(self.on_store_error);
        self.exclude_vcs = pins.exclude_vcs.or(self.exclude_vcs);
        let plugins = plugins.unwrap_or_default();
        self.approval = plugins.approval.map_or(self.approval, ApprovalValue::rule);
        self.max_risk = plugins.max_risk.map_or(self.max_risk, RiskValue::risk);
        if let Some(lists) = plugins.revocation_lists {
            self.revocation_lists = lists;
        }
        if let Some(shared) = plugins.shared {
            self.shared = shared.into_iter().map(|name| shared_name(text, name)).collect::<Result<_, _>>()?;
        }
        if let Some(signers) = lock.unwrap_or_default().signers {
            self.verifiers = signed_by(text, signers)?;
        }
        let hooks = hooks.unwrap_or_default();
        self.raw = hooks.raw.map_or(self.raw, |word| match word {
            RawValue::User => RawOutput::ManagedAndUser,
            RawValue::All => RawOutput::All,
        });
        if let Some(grants) = hooks.grants {
            self.raw_grants =
                grants.into_iter().map(|grant| raw_grant(text, grant)).collect::<Result<_, _>>()?;
        }
        let scan = scan.unwrap_or_default();
        self.scan_ask = match scan.ask {
            Some(AskValue::Note) => ScanAsk::Note,
            Some(AskValue::Person) => ScanAsk::Ask,
            None => self.scan_ask,
        };
        self.profile = scan.profile.map(ProfileValue::profile).or(self.profile);
        if let Some(packages) = scan.packages {
            self.packages = packages;
        }
        if let Some(rules) = scan.rules {
            // A relative path starts from the directory of the file that names it, not from the working directory.
            self.rules = rules.into_iter().map(|path| text.directory.join(path)).collect();
        }
        if let Some(entries) = scan.suppress {
            let read = |entry| suppression(text, entry);
            self.suppressions = entries.into_iter().map(read).collect::<Result<_, _>>()?;
        }
        Ok(())
    }
}

impl Settings {
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

fn raw_grant(text: &SettingsText, grant: GrantTable) -> Result<RawGrant, Failure> {
    let at = grant.plugin.span().start;
    let plugin = grant.plugin.into_inner().parse().map_err(|error: ParseError| {
        wrong(
            text,
            at,
            &format!("expected the key of a plugin: {error}"),
            "write `path:` and the absolute path of the plugin's directory",
        )
    })?;
    Ok(RawGrant { plugin, hook: grant.hook, tools: grant.tools })
}

/// Returns the texts of all layers, from weak to strong.
fn texts(host: &Host) -> Result<Vec<SettingsText>, Failure> {
    let mut texts = Vec::new();
    if let Some(path) = host.config_dir().ok().map(|dir| dir.join(NAME))
        && let Some(file) =
            settings_file::read_if_present(&path, LIMIT).map_err(|error| unread(host, error))?
    {
        let SettingsFile { bytes, warning } = file;
        host.warnings.add(warning);
        let text = String::from_utf8(bytes).map_err(|error| {
            Failure::usage(format!("{path} is not UTF-8 at byte {}", error.utf8_error().valid_up_to()))
        })?;
        let directory = path.parent().map(Utf8Path::to_owned).unwrap_or_default();
        texts.push(SettingsText { name: path.to_string(), body: text, directory });
    }
    if let Some(path) = host.policy.as_ref().filter(|_| host.policy_use == PolicyUse::Read) {
        let bytes = host::named_file(path, LIMIT)?;
        let body =
            String::from_utf8(bytes).map_err(|_error| Failure::usage(format!("{path} is not UTF-8")))?;
        let directory = path.parent().map(Utf8Path::to_owned).unwrap_or_default();
        texts.push(SettingsText { name: path.to_string(), body, directory });
    }
    let from_environment = host.cfg_lines();
    let rows = from_environment.lines().map(|row| ("PLUGWARD_CFG", row));
    let rows = rows.chain(host.cfg_flags().iter().map(|row| ("--cfg", row.as_str())));
    for (name, row) in rows.filter(|(_, row)| !row.trim().is_empty()) {
        let directory = Utf8PathBuf::new();
        texts.push(SettingsText { name: name.to_owned(), body: assignment(name, row)?, directory });
    }
    Ok(texts)
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

/// `KEY=VALUE`, where the value is TOML, else a bare string.
fn assignment(name: &str, row: &str) -> Result<String, Failure> {
    let Some((key, value)) = row.split_once('=') else {
        return Err(Failure::usage(format!("expected KEY=VALUE in {name}: {row}")));
    };
    let text = format!("{} = {}\n", key.trim(), value.trim());
    if toml::from_str::<toml::Table>(&text).is_ok() {
        return Ok(text);
    }
    Ok(format!("{} = {}\n", key.trim(), toml::Value::from(value.trim())))
}

/// Returns the help for a TOML error: the nearest of the names that the message expects.
fn nearest(message: &str) -> String {
    let mut words = message.split('`').skip(1).step_by(2);
    let Some(given) = words.next() else { return "fix the line".to_owned() };
    if message.starts_with("missing field") {
        return format!("add `{given}`");
    }
    if !message.starts_with("unknown ") {
        return "fix the line".to_owned();
    }
    let low = given.to_lowercase();
    let near = words
        .map(|word| (strsim::jaro_winkler(&low, &word.to_lowercase()), word))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match near {
        Some((score, word)) if score > 0.75 => format!("did you mean `{word}`?"),
        _ => "use one of the values above".to_owned(),
    }
}

fn wrong(text: &SettingsText, at: usize, what: &str, help: &str) -> Failure {
    invalid(&text.name, &text.body, at, what, help)
}

/// Returns an error at one place of a settings file, or of one assignment of the command line.
pub(crate) fn invalid(name: &str, body: &str, at: usize, what: &str, help: &str) -> Failure {
    let before = body.get(..at).unwrap_or_default();
    let row = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let source = body.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let column = before.get(start..).unwrap_or_default().chars().count();
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    let location = Location::path(name).at(number(row), number(column + 1));
    let location = location.source(&source.replace('\t', " "), column..column + 1, "");
    Failure::usage(what).code("policy/settings").at(location).help(help)
}

fn shared_name(text: &SettingsText, name: Spanned<String>) -> Result<String, Failure> {
    let at = name.span().start;
    let name = name.into_inner();
    let mut parts = name.split('/').skip_while(|part| *part == "..");
    let last = parts.next().filter(|part| !matches!(*part, "" | "." | ".."));
    if name.starts_with("../") && last.is_some() && parts.next().is_none() {
        return Ok(name);
    }
    let what = format!("`{name}` is not a directory next to a plugin");
    Err(wrong(text, at, &what, "write it as a plugin would import it: ../shared"))
}

fn signed_by(text: &SettingsText, rows: Vec<Spanned<SignerTable>>) -> Result<Verifiers, Failure> {
    let mut good = Vec::new();
    for row in rows {
        let at = row.span().start;
        let SignerTable { key, ids } = row.into_inner();
        let row = SignerRow { key, ids };
        // One at a time, so that an error has the place of its row.
        Verifiers::signed_by(std::slice::from_ref(&row))
            .map_err(|error| wrong(text, at, &error.to_string(), error.help()))?;
        good.push(row);
    }
    Verifiers::signed_by(&good).map_err(|error| wrong(text, 0, &error.to_string(), error.help()))
}

/// Returns the key that a settings file names. A plugin under the file's own directory can be named by a path that
/// starts with `./`, so that a file in a repository names it on every machine.
fn key_of(text: &SettingsText, plugin: &str) -> String {
    if !plugin.starts_with("./") {
        return plugin.to_owned();
    }
    // A path that does not exist names no plugin, and the entry then suppresses nothing.
    let directory = if text.directory.as_str().is_empty() { Utf8Path::new(".") } else { &text.directory };
    host::real_path(&directory.join(plugin)).map_or_else(
        |_gone| format!("path:/{}", plugin.trim_start_matches("./")),
        |real| format!("path:{real}"),
    )
}

fn suppression(text: &SettingsText, entry: SuppressTable) -> Result<HostSuppression, Failure> {
    let SuppressTable { plugin, rule, path, digest, reason, expires } = entry;
    // A suppression loosens a check, so it names the key: the plugin chooses its own name.
    let plugin = match plugin {
        None => None,
        Some(plugin) => {
            let bad = |error: ParseError| wrong(text, plugin.span().start, &error.to_string(), &error.help());
            Some(key_of(text, plugin.get_ref()).parse::<PluginKey>().map_err(bad)?)
        }
    };
    let parsed = |at: &Spanned<String>, error: &ParseError| {
        wrong(text, at.span().start, &error.to_string(), &error.help())
    };
    if reason.get_ref().trim().chars().count() < 10 {
        let what = "the reason has fewer than 10 characters";
        return Err(wrong(text, reason.span().start, what, "say who looked, at what, and when"));
    }
    let expires = match expires {
        None => None,
        Some(day) => {
            let bad = |_| wrong(text, day.span().start, "expected a day as YYYY-MM-DD", "fix the date");
            Some(day.get_ref().parse::<Date>().map_err(bad)?)
        }
    };
    let entry = Suppression {
        rule: rule.get_ref().parse().map_err(|error| parsed(&rule, &error))?,
        path,
        digest: digest.get_ref().parse().map_err(|error| parsed(&digest, &error))?,
        reason: reason.into_inner(),
        expires,
    };
    Ok(HostSuppression { plugin, entry })
}

impl TrustValue {
    const fn trust(self) -> Trust {
        match self {
            Self::Tofu => Trust::Tofu,
            Self::Prompt => Trust::Prompt,
            Self::Locked => Trust::Locked,
        }
    }
}

impl StoreErrorValue {
    const fn rule(self) -> StoreErrorRule {
        match self {
            Self::Warn => StoreErrorRule::Warn,
            Self::Refuse => StoreErrorRule::Refuse,
        }
    }
}

impl ApprovalValue {
    const fn rule(self) -> ApprovalRule {
        match self {
            Self::Off => ApprovalRule::Off,
            Self::Required => ApprovalRule::Required,
        }
    }
}

impl RiskValue {
    const fn risk(self) -> Risk {
        match self {
            Self::Low => Risk::Low,
            Self::Medium => Risk::Medium,
            Self::High => Risk::High,
            Self::Critical => Risk::Critical,
        }
    }
}
