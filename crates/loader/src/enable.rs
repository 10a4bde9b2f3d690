//! The facts and the clearance with which a host enables a plugin at run time.

use std::collections::BTreeMap;

use plugward_lifecycle::{
    AuditFacts, Clearance, FoundPlugin, Hints, PluginContents, PluginTexts, Schema, SchemaError,
    exported_hints,
};
use plugward_manifest::Dialect;
use plugward_manifest::json::{JsonNode, ParseLimits, parse};
use plugward_types::{AuditKind, AuditVerdict, Part, Risk, Severity};
use thiserror::Error;

use crate::contents::audit::CLOSURE;
use crate::contents::material::Material;
use crate::report::{ApprovalState, PluginReport};
use crate::run::result::LoadedPlugin;

const MANIFEST: &str = "plugin.json";

/// The answer of a user about some contents.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new answer")]
pub enum Confirmation {
    /// The user read the audit of these contents, and confirmed them in this session.
    Given(PluginContents),
    /// No user confirmed anything. Only an approval counts.
    NotGiven,
}

/// The reason why a plugin has no clearance.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ClearanceError {
    /// The scan or an audit found a risk above the threshold.
    #[error("the risk is {}, and the highest accepted risk is {}", risk.as_str(), max.as_str())]
    Risk {
        /// The highest risk.
        risk: Risk,
        /// The threshold.
        max: Risk,
    },
    /// The contents are not approved, and an audit advises against them.
    #[error("the audit advises against the plugin")]
    Rejected,
    /// The contents are not approved, and no user confirmed them.
    #[error("these contents are neither approved nor confirmed")]
    NotConfirmed,
    /// A user confirmed other contents.
    #[error("the contents of the plugin are not those that were confirmed")]
    OtherContents,
}

impl ClearanceError {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Risk { .. } => "lifecycle/risk",
            Self::Rejected => "lifecycle/rejected",
            Self::NotConfirmed => "lifecycle/not-confirmed",
            Self::OtherContents => "lifecycle/other-bytes",
        }
    }
}

/// Creates the permission to enable a plugin that every gate let pass. `audit` is about its contents: the facts of the scan,
/// or those of [`AuditRecords::facts`](crate::AuditRecords::facts).
///
/// # Guarantees
/// After `Ok`, the risks of the scan and of `audit` are at most `max_risk`. The contents of `plugin` are approved, or they are
/// those that `confirmation` names and `audit` does not advise against them.
///
/// # Errors
/// [`ClearanceError`] with the first condition that is not met.
pub fn clear(
    plugin: &LoadedPlugin,
    audit: &AuditFacts,
    max_risk: Risk,
    confirmation: Confirmation,
) -> Result<Clearance, ClearanceError> {
    let report = plugin.report();
    let contents = contents_of(report).ok_or(ClearanceError::OtherContents)?;
    if audit.contents != contents {
        return Err(ClearanceError::OtherContents);
    }
    let risk = static_facts(report, &contents).risk.max(audit.risk);
    if risk > max_risk {
        return Err(ClearanceError::Risk { risk, max: max_risk });
    }
    match confirmation {
        _ if report.approval.state == ApprovalState::Given => {}
        _ if audit.verdict == AuditVerdict::Reject => return Err(ClearanceError::Rejected),
        Confirmation::Given(confirmed) if confirmed == contents => {}
        Confirmation::Given(_) => return Err(ClearanceError::OtherContents),
        Confirmation::NotGiven => return Err(ClearanceError::NotConfirmed),
    }
    Ok(Clearance::of(contents, max_risk))
}

/// Returns the digests of everything that a plugin loads, or `None` if its directory has none.
#[must_use]
pub fn contents_of(report: &PluginReport) -> Option<PluginContents> {
    let outside = report.shared.iter().map(|(name, digest)| (name.as_str(), digest));
    let outside = outside.chain(report.closure.iter().map(|digest| (CLOSURE, digest)));
    let shared = outside.map(|(name, digest)| Some((name.to_owned(), digest.parse().ok()?)));
    Some(PluginContents {
        tree: report.tree.as_deref()?.parse().ok()?,
        shared: shared.collect::<Option<BTreeMap<_, _>>>()?,
    })
}

/// Returns what the rules alone conclude about a plugin. Suppressed findings do not count.
#[must_use]
pub fn static_facts(report: &PluginReport, contents: &PluginContents) -> AuditFacts {
    let dangers = report.open_findings().filter(|finding| finding.severity == Severity::Danger).count();
    let verdict = if dangers > 0 { AuditVerdict::Reject } else { AuditVerdict::ApproveWithConditions };
    let risk = Risk::of_findings(report.open_findings());
    AuditFacts { contents: contents.clone(), kind: AuditKind::Static, risk, verdict, dangers }
}

/// A plugin for a list, and what is wrong with its settings or texts.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a plugin and its fault")]
pub struct FoundPluginFacts {
    /// The plugin, without the part that has the fault.
    pub found: FoundPlugin,
    /// The reason why it cannot be configured.
    pub fault: Option<SchemaError>,
}

/// Returns the facts of a plugin for a list, or `None` if its directory has no digest. `material` has the bytes of the
/// same read.
///
/// A plugin of another dialect than `hyperagent` has neither settings nor texts.
#[must_use]
pub fn found_plugin(report: &PluginReport, material: &Material) -> Option<FoundPluginFacts> {
    let is_own = report.dialects.contains(&"hyperagent");
    let bytes = material.bytes(MANIFEST).filter(|_| is_own).unwrap_or_default();
    let manifest = ManifestText::of(bytes);
    let source = entry(report).and_then(|file| core::str::from_utf8(material.bytes(file)?).ok());
    let mut found = FoundPlugin {
        key: report.key.clone(),
        name: report.name.clone(),
        version: report.version.clone(),
        description: manifest.texts("description").pop(),
        contents: contents_of(report)?,
        modules: manifest.texts("hostModules"),
        companions: manifest.texts("companions"),
        schema: Schema::default(),
        texts: PluginTexts {
            system_message: manifest.texts("systemMessage").pop(),
            ..PluginTexts::default()
        },
    };
    let fault = read_literals(&mut found, &manifest, source.unwrap_or_default()).err();
    Some(FoundPluginFacts { found, fault })
}

fn read_literals(
    found: &mut FoundPlugin,
    manifest: &ManifestText<'_>,
    source: &str,
) -> Result<(), SchemaError> {
    found.schema = schema_of(manifest, source)?;
    found.texts.hints = manifest.raw("hints").map(Hints::from_manifest).transpose()?;
    found.texts.exported = exported_hints(source)?;
    Ok(())
}

/// The part of a loaded plugin that has modules.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "what a host needs to run the entry")]
pub struct ModuleEntry {
    /// The path of the file that exports `createHostFunctions`.
    pub file: String,
    /// The names of the declared modules.
    pub modules: Vec<String>,
    /// The settings.
    pub schema: Schema,
}

/// Returns the entry of a plugin that declares modules, or `None` for another plugin.
///
/// # Errors
/// [`SchemaError`] if the settings cannot be read without running the plugin.
pub fn module_entry(plugin: &LoadedPlugin) -> Result<Option<ModuleEntry>, SchemaError> {
    let manifest = plugin.manifest(Dialect::Hyperagent);
    let Some((manifest, file)) = manifest.and_then(|manifest| Some((manifest, manifest.entry_file()?)))
    else {
        return Ok(None);
    };
    let text = ManifestText::of(plugin.bytes(MANIFEST).unwrap_or_default());
    let source = plugin.bytes(file).and_then(|bytes| core::str::from_utf8(bytes).ok());
    Ok(Some(ModuleEntry {
        file: file.to_owned(),
        modules: manifest.host_modules().to_vec(),
        schema: schema_of(&text, source.unwrap_or_default())?,
    }))
}

fn schema_of(manifest: &ManifestText<'_>, source: &str) -> Result<Schema, SchemaError> {
    match (Schema::from_source(source)?, manifest.raw("configSchema")) {
        (Some(schema), _) => Ok(schema),
        (None, Some(json)) => Schema::from_manifest(json, &manifest.texts("promptKeys")),
        (None, None) => Ok(Schema::default()),
    }
}

/// Returns the file that HyperAgent loads.
fn entry(report: &PluginReport) -> Option<&str> {
    let is_entry =
        |item: &&crate::report::SurfaceReport| item.dialect == "hyperagent" && item.kind == "entry";
    report.surface.iter().find(is_entry)?.files.first().map(String::as_str)
}

/// The manifest of a plugin that the manifest gate has read before. A fault in it is a reason of that gate.
struct ManifestText<'a> {
    bytes: &'a [u8],
    root: Option<JsonNode<'a>>,
}

impl<'a> ManifestText<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, root: parse(bytes, &ParseLimits::standard()).ok() }
    }

    fn raw(&self, key: &str) -> Option<&str> {
        let span = self.root.as_ref()?.get(key)?.span();
        core::str::from_utf8(self.bytes.part(span.start..span.end)).ok()
    }

    /// Returns a text or the texts of a list.
    fn texts(&self, key: &str) -> Vec<String> {
        let Some(node) = self.root.as_ref().and_then(|root| root.get(key)) else { return Vec::new() };
        let items = node.items().unwrap_or(core::slice::from_ref(node));
        items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
    }
}
