//! The plugins of a session, as they are in their directories now.

use std::collections::BTreeMap;
use std::sync::Arc;

use plugward_loader::capability::UseOutcome;
use plugward_loader::deep_audit::{Audit, AuditedBytes};
use plugward_loader::lifecycle::{ApprovalFacts, AuditFacts, FoundPlugin, PluginState, Plugins, SchemaError};
use plugward_loader::redact::{Firewall, RuleSelection, Settings as RedactSettings};
use plugward_loader::{
    ApprovalState, ByteRetention, CheckMode, Digest, FoundPluginFacts, Host as Sides, InstallRecords,
    LoadedPlugin, NoGrants, NoPerson, NoWatch, Outcome, PluginKey, PluginReport, Root, contents_of,
    found_plugin, load, static_audit, static_facts,
};

use super::answer::Fault;
use super::audits::{KeptAudit, bytes_of};
use super::stops::Stop;
use crate::args::SessionArgs;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::installed;
use crate::out::Out;
use crate::settings::Settings;
use crate::stores;
use crate::verbs::audit::Auditor;
use crate::verbs::shared;

/// The code for danger findings.
pub(super) const DANGER: &str = "scan/danger";

/// The plugins, their states, and the latest check of each.
pub(super) struct Catalog<'a> {
    pub(super) args: &'a SessionArgs,
    pub(super) host: &'a Host,
    /// The model, if `--send` permits to ask it.
    pub(super) auditor: Option<Auditor>,
    /// The tokens of all requests so far.
    pub(super) sent_tokens: u64,
    pub(super) settings: Settings,
    root: [Root; 1],
    records: Arc<InstallRecords>,
    firewall: Firewall,
    pub(super) plugins: Plugins,
    pub(super) entries: BTreeMap<PluginKey, CatalogEntry>,
    pub(super) unlisted: Vec<UnlistedPlugin>,
    /// The plugins that were disabled without a command to do so.
    pub(super) stops: BTreeMap<PluginKey, Stop>,
}

/// A plugin without a usable manifest or without a digest, which no command can use.
pub(super) struct UnlistedPlugin {
    pub(super) name: String,
    pub(super) key: PluginKey,
    /// The first reason of its check.
    pub(super) fault: Fault,
}

/// The latest check of a plugin.
pub(super) struct CatalogEntry {
    pub(super) report: PluginReport,
    found: FoundPlugin,
    /// The reason why the plugin cannot be configured.
    pub(super) fault: Option<SchemaError>,
    pub(super) audit: AuditFacts,
    /// The digest of the kept audit, or else of the scan's result.
    pub(super) digest: Digest,
    pub(super) kept: KeptAudit,
    /// What the audits are about.
    bytes: AuditedBytes,
}

impl CatalogEntry {
    pub(super) fn is_approved(&self) -> bool {
        self.report.approval.state == ApprovalState::Given
    }

    /// Returns the facts for an approval of these contents.
    pub(super) fn approval(&self) -> ApprovalFacts {
        let AuditFacts { contents, kind, risk, verdict, .. } = self.audit.clone();
        ApprovalFacts { contents, kind, risk, verdict }
    }
}

impl<'a> Catalog<'a> {
    pub(super) fn open(args: &'a SessionArgs, host: &'a Host) -> Result<Self, Failure> {
        let root = [host::root(&args.dir)?];
        let firewall = Firewall::new(RuleSelection::all(), RedactSettings::reference())
            .map_err(|error| Failure::internal(error.to_string()))?;
        let settings = Settings::read(host)?;
        Ok(Self {
            args,
            host,
            auditor: args.send.then(|| Auditor::of(&settings)).transpose()?,
            sent_tokens: 0,
            settings,
            records: installed::inside(&root)?,
            root,
            firewall,
            plugins: Plugins::new(),
            entries: BTreeMap::new(),
            unlisted: Vec::new(),
            stops: BTreeMap::new(),
        })
    }

    /// Checks the directory again. A plugin whose contents are the same is not read a second time.
    pub(super) fn refresh(&mut self, out: &Out) -> Result<(), Failure> {
        let looked = self.look(ByteRetention::Nothing, out)?;
        if let Some(failure) = shared::pins_failure(&looked.report.plugins) {
            return Err(failure);
        }
        let rules = looked.report.tool.rules.clone();
        let approvals = stores::approvals(self.host)?;
        if let Some(failure) = approvals.failure() {
            return Err(shared::store_failure(failure));
        }
        let records = approvals.audits().filter(|_| !self.args.after_scan);
        let mut before = core::mem::take(&mut self.entries);
        self.unlisted.clear();
        for report in looked.report.plugins {
            let fault = report.reasons.first().map_or_else(
                || Fault::new("scan/error", "the plugin could not be scanned"),
                |reason| Fault::new(&reason.code, &*reason.message),
            );
            let unlisted = UnlistedPlugin { name: report.name.clone(), key: report.key.clone(), fault };
            let known = before.remove(&report.key);
            let is_same = |one: &CatalogEntry| contents_of(&report).as_ref() == Some(&one.found.contents);
            let read = match known.filter(is_same) {
                Some(CatalogEntry { found, fault, bytes, .. }) => {
                    let bytes = bytes_of(looked.subjects.get(&report.place)).unwrap_or(bytes);
                    Some((report, FoundPluginFacts { found, fault }, bytes))
                }
                // Everything about the plugin comes from the second check, which can find other contents than the first.
                None => self.read(&report, out)?,
            };
            let Some((report, FoundPluginFacts { found, fault }, bytes)) = read else {
                self.unlisted.push(unlisted);
                continue;
            };
            let digest = rules.parse().map(|rules| static_audit(&report, &bytes, &rules));
            let digest = digest.map_err(|error| Failure::internal(error.to_string()))?;
            let kept = records.map(|records| KeptAudit::of(records, &bytes)).transpose()?.unwrap_or_default();
            let digest = kept.audit.as_ref().map_or(digest, Audit::digest);
            let scan = static_facts(&report, &found.contents);
            let audit = match records {
                Some(records) => {
                    records.facts(&bytes, scan).map_err(|failure| shared::store_failure(&failure))?
                }
                None => scan,
            };
            let entry = CatalogEntry { report, found, fault, audit, digest, kept, bytes };
            self.entries.insert(entry.report.key.clone(), entry);
        }
        self.stop_changed();
        self.forget_returned();
        self.plugins.rediscover(self.entries.values().map(|entry| entry.found.clone()));
        for (key, entry) in &self.entries {
            // An approval of other contents than those of an enabled plugin does not count for it.
            let approval = entry.is_approved().then(|| entry.approval());
            if approval.is_none_or(|approval| self.plugins.approve(key, &approval).is_err()) {
                let _is_known = self.plugins.unapprove(key);
            }
        }
        Ok(())
    }

    pub(super) fn look(
        &self,
        keep: ByteRetention,
        out: &Out,
    ) -> Result<plugward_loader::LookReport, Failure> {
        shared::look_at(&self.root, Arc::clone(&self.records), None, keep, &self.args.finding, self.host, out)
    }

    /// Checks a plugin again, and reads its manifest and entry file.
    fn read(
        &self,
        report: &PluginReport,
        out: &Out,
    ) -> Result<Option<(PluginReport, FoundPluginFacts, AuditedBytes)>, Failure> {
        let looked = self.look(ByteRetention::Of(report.key.clone()), out)?;
        let subject = looked.subjects.get(&report.place);
        let material = subject.and_then(|subject| subject.material.as_ref());
        let own = looked.report.plugins.into_iter().find(|plugin| plugin.key == report.key);
        Ok(own.zip(material).and_then(|(own, material)| {
            let facts = found_plugin(&own, material)?;
            Some((own, facts, bytes_of(subject)?))
        }))
    }

    /// Checks one plugin with all gates, as `check` does, and returns it if it loads.
    pub(super) fn load(
        &self,
        report: &PluginReport,
        out: &Out,
    ) -> Result<Result<Box<LoadedPlugin>, PluginReport>, Failure> {
        let finding = &self.args.finding;
        let mut options = shared::options(None, CheckMode::Commit, finding, &self.settings, self.host)?;
        options.installs = Arc::clone(&self.records);
        let mut stores = stores::to_write(self.host, &self.settings, None, out)?;
        let mut sides = Sides { watch: &NoWatch, person: &mut NoPerson, grants: &NoGrants };
        let root = host::root_of_place(&report.place)?;
        let mut checked = load(&[root], &mut stores, &mut options, &mut sides);
        if let Some(workflow) = checked.take_workflow() {
            let closed = stores.record.close(workflow, UseOutcome::Ok);
            closed.map_err(|failure| Failure::store(format!("cannot close the workflow: {failure}")))?;
        }
        for outcome in checked.into_outcomes() {
            match outcome {
                Outcome::Load(plugin) if *plugin.key() == report.key => return Ok(Ok(Box::new(plugin))),
                Outcome::Ask { report: own } | Outcome::Refuse { report: own } if own.key == report.key => {
                    return Ok(Err(own));
                }
                _ => {}
            }
        }
        Err(Failure::internal(format!("{} was not checked", host::display(&report.key))))
    }

    /// Returns the key of the plugin with an id: its name, if only one has it, or its key.
    pub(super) fn key(&self, id: &str) -> Result<PluginKey, Fault> {
        let is_at = |key: &PluginKey| key.to_string() == id || host::display(key) == id;
        let is_named = |key: &&PluginKey| self.id(key) == id || is_at(key);
        let keys = || self.plugins.iter().map(plugward_loader::lifecycle::AnyPlugin::key);
        keys().find(is_named).cloned().ok_or_else(|| {
            let unlisted = self.unlisted.iter().find(|one| one.name == id || is_at(&one.key));
            if let Some(unlisted) = unlisted {
                return unlisted.fault.clone();
            }
            if let Some(stop) = self.stops.values().find(|stop| stop.id == id) {
                return stop.fault.clone();
            }
            let ids: Vec<String> = keys().map(|key| self.id(key)).collect();
            Fault::unknown("session/plugin", "plugin", id, ids.iter().map(String::as_str))
        })
    }

    /// Returns the name of a plugin, or its place if several plugins have the name.
    pub(super) fn id(&self, key: &PluginKey) -> String {
        let name = |key| self.plugins.get(key).map(|plugin| plugin.found().name.as_str());
        let is_unique =
            self.plugins.iter().filter(|plugin| Some(plugin.found().name.as_str()) == name(key)).count() == 1;
        name(key).filter(|_| is_unique).map_or_else(|| host::display(key), str::to_owned)
    }

    pub(super) fn state(&self, key: &PluginKey) -> Option<PluginState> {
        self.plugins.get(key).map(plugward_loader::lifecycle::AnyPlugin::state)
    }

    /// Returns the latest check of a plugin.
    pub(super) fn entry(&self, key: &PluginKey) -> Result<&CatalogEntry, Fault> {
        self.entries
            .get(key)
            .ok_or_else(|| Fault::new("session/plugin", "the directory of the plugin is gone"))
    }

    /// Returns the text to show in place of a secret value.
    pub(super) fn mask(&self, key: &str, value: &str) -> Option<String> {
        let is_secret = !self.firewall.find(format!("{key}={value}").as_bytes()).is_empty();
        is_secret.then(|| "[redacted]".to_owned())
    }
}
