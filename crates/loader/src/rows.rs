//! The row of one plugin in the report, as far as its manifest fills it.

use plugward_manifest::{Dialect, Manifest, ManifestErrors};
use plugward_types::PluginId;

use crate::discover::Place;
use crate::gates::Walked;
use crate::lock;
use crate::options::CheckOptions;
use crate::report::{
    ApprovalReport, Decision, Gate, LockReport, Notice, PinState, PluginReport, Reason, SurfaceReport, Weight,
};

pub(crate) fn guess(place: &Place, options: &CheckOptions) -> Dialect {
    options.dialect.or_else(|| place.entry.as_ref().map(|_| Dialect::Claude)).unwrap_or(Dialect::Claude)
}

/// The last part of the plugin's folder.
pub(crate) fn folder_name(place: &Place) -> &str {
    if place.path == "." { &place.source } else { place.path.rsplit('/').next().unwrap_or(&place.path) }
}

/// A plugin that the lock names and that is not there.
pub(crate) fn missing(id: &str, path: &str, root: usize) -> Walked {
    let parsed: Option<PluginId> = id.parse().ok();
    let dialect = parsed
        .as_ref()
        .and_then(|id| Dialect::ALL.iter().copied().find(|dialect| dialect.as_str() == id.dialect()))
        .unwrap_or(Dialect::Claude);
    let place = Place {
        root,
        path: path.to_owned(),
        source: String::new(),
        entry: None,
        was: Vec::new(),
        broken: None,
    };
    let mut report = blank(&place, dialect);
    id.clone_into(&mut report.id);
    report.name = parsed.map_or_else(|| id.to_owned(), |id| id.name().to_owned());
    report.lock = LockReport::state("missing");
    let check = plugward_tree_lock::LockCheck::Missing;
    report.reasons.push(Reason {
        code: "lock/missing".to_owned(),
        gate: Gate::Lock,
        message: format!("{} names it, and it is not there", lock::NAME),
        help: check.help().to_owned(),
        weight: Weight::Integrity,
    });
    Walked::new(report, None)
}

pub(crate) fn blank(place: &Place, dialect: Dialect) -> PluginReport {
    let name = folder_name(place).to_owned();
    PluginReport {
        id: format!("{}:{name}@{}", dialect.as_str(), place.source),
        name,
        version: None,
        dialect: dialect.as_str(),
        path: place.path.clone(),
        decision: Decision::Refuse,
        reasons: Vec::new(),
        notices: Vec::new(),
        manifest: None,
        tree: None,
        files: 0,
        bytes: 0,
        pin: PinState { state: "not-checked", manifest: None, tree: None },
        lock: LockReport::state("absent"),
        approval: ApprovalReport::state("none"),
        shared: std::collections::BTreeMap::new(),
        findings: Vec::new(),
        suppressed: Vec::new(),
        surface: Vec::new(),
        capabilities: Vec::new(),
        root: place.root,
    }
}

pub(crate) fn unread(place: &Place, dialect: Dialect, reasons: Vec<Reason>) -> Walked {
    let mut report = blank(place, dialect);
    report.reasons = reasons;
    Walked::new(report, None)
}

/// The id, where the name and the source make one; else a reason.
pub(crate) fn identity(report: &mut PluginReport, place: &Place, manifest: &Manifest) -> Option<PluginId> {
    match PluginId::new(manifest.dialect().as_str(), manifest.name(), &place.source) {
        Ok(id) => {
            report.id = id.to_string();
            id.name().clone_into(&mut report.name);
            Some(id)
        }
        Err(error) => {
            report.reasons.push(Reason {
                code: "manifest/name".to_owned(),
                gate: Gate::Manifest,
                message: error.to_string(),
                help: error.help(),
                weight: Weight::Integrity,
            });
            None
        }
    }
}

pub(crate) fn refuse_manifest(report: &mut PluginReport, errors: &ManifestErrors) {
    for error in errors.iter() {
        report.reasons.push(Reason {
            code: error.code().to_owned(),
            gate: Gate::Manifest,
            message: error.to_string(),
            help: error.help().to_owned(),
            weight: Weight::Integrity,
        });
    }
}

pub(crate) fn describe(report: &mut PluginReport, manifest: &Manifest) {
    report.version = manifest.version().map(str::to_owned);
    for notice in manifest.notices() {
        let gate = if notice.code().starts_with("surface/") { Gate::Surface } else { Gate::Manifest };
        report.notices.push(Notice {
            code: notice.code().to_owned(),
            gate,
            message: format!("{}: {}", notice.place(), notice.message()),
        });
    }
    for item in manifest.surface() {
        report.surface.push(SurfaceReport {
            kind: item.kind().as_str(),
            event: item.event().map(str::to_owned),
            name: (!item.name().is_empty()).then(|| item.name().to_owned()),
            run: item.run().to_vec(),
            url: item.fact("url").map(str::to_owned),
            files: item.files().to_vec(),
            coverage: item.coverage().code(),
        });
    }
}
