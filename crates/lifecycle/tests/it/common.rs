//! Plugins and audits for tests.

use std::collections::BTreeMap;

use plugward_lifecycle::types::{AuditKind, AuditVerdict, PluginKey, Risk, TreeDigest};
use plugward_lifecycle::{
    ApprovalFacts, AuditFacts, Clearance, ConfigValues, FoundPlugin, GivenValues, PluginContents,
    PluginTexts, Plugins, Schema, inline,
};

pub(crate) const SCHEMA: &str = r#"{
    "maxLength": {"type": "number", "default": 100, "minimum": 1, "maximum": 1000, "promptKey": true},
    "label": {"type": "string", "default": "words", "maxLength": 10}
}"#;

pub(crate) fn key(name: &str) -> PluginKey {
    format!("path:/srv/plugins/{name}").parse().unwrap()
}

pub(crate) fn contents(byte: u8) -> PluginContents {
    let shared = BTreeMap::from([("../shared".to_owned(), TreeDigest::from_bytes([0; 32]))]);
    PluginContents { tree: TreeDigest::from_bytes([byte; 32]), shared }
}

pub(crate) fn schema() -> Schema {
    Schema::from_manifest(SCHEMA, &[]).unwrap()
}

pub(crate) fn found(name: &str, byte: u8) -> FoundPlugin {
    FoundPlugin {
        key: key(name),
        name: name.to_owned(),
        version: Some("1.0.0".to_owned()),
        description: None,
        contents: contents(byte),
        modules: vec![name.to_owned()],
        companions: Vec::new(),
        schema: schema(),
        texts: PluginTexts::default(),
    }
}

pub(crate) fn audit(byte: u8) -> AuditFacts {
    AuditFacts {
        contents: contents(byte),
        kind: AuditKind::Static,
        risk: Risk::Medium,
        verdict: AuditVerdict::ApproveWithConditions,
        dangers: 0,
    }
}

pub(crate) fn approval(byte: u8) -> ApprovalFacts {
    let AuditFacts { contents, kind, risk, verdict, .. } = audit(byte);
    ApprovalFacts { contents, kind, risk, verdict }
}

pub(crate) fn clearance(byte: u8) -> Clearance {
    Clearance::of(contents(byte), Risk::Medium)
}

pub(crate) fn values(args: &[&str]) -> ConfigValues {
    inline(&schema(), args.iter().copied()).unwrap().complete(&schema(), |_, _| None).unwrap()
}

pub(crate) fn defaults() -> ConfigValues {
    GivenValues::default().complete(&schema(), |_, _| None).unwrap()
}

/// Returns a list in which the named plugins are enabled, and no flag is set.
pub(crate) fn enabled(plugins: impl IntoIterator<Item = FoundPlugin>) -> Plugins {
    let mut list = Plugins::new();
    for found in plugins {
        let key = found.key.clone();
        let contents = found.contents.clone();
        let values = GivenValues::default().complete(&found.schema, |_, _| None).unwrap();
        list.rediscover(list.iter().map(|known| known.found().clone()).chain([found]).collect::<Vec<_>>());
        let facts = AuditFacts { contents: contents.clone(), ..audit(0) };
        let clearance = Clearance::of(contents, Risk::Medium);
        list.change(&key, |plugin| plugin.audited(facts)?.configure(values)?.enable(clearance)).unwrap();
    }
    list.take_sandbox_dirty();
    list.take_session_dirty();
    list
}
