//! What the settings of a host do, as findings of the scan.

use plugward_installs::{FindingScope, SettingsFinding};
use plugward_types::{FileRole, Finding, Severity};

use crate::report::PinStatus;
use crate::run::examined::Examined;

/// The path of a settings file relative to itself, in findings.
pub const SETTINGS_FILE: &str = ".";

/// Returns the findings of a settings file.
pub(crate) fn of(one: &Examined) -> Vec<Finding> {
    let is_new = matches!(one.pin.status(), PinStatus::None | PinStatus::NotChecked);
    let all = one.place.installed.iter().flat_map(|installed| &installed.findings);
    let severity = |found: &SettingsFinding| {
        let asks = is_new || found.scope == FindingScope::Contents;
        if asks { found.severity } else { Severity::Info }
    };
    all.filter_map(|found| finding(found, severity(found))).collect()
}

fn finding(found: &SettingsFinding, severity: Severity) -> Option<Finding> {
    Some(Finding {
        rule: found.code.parse().ok()?,
        severity,
        role: FileRole::Executed,
        path: SETTINGS_FILE.to_owned(),
        line: found.line,
        column: found.column,
        span: found.span,
        message: found.message.clone(),
        how: Vec::new(),
        // The value is not shown: it can be a secret.
        snippet: found.name.clone(),
        caret: 0..found.name.chars().count(),
        digest: found.digest,
    })
}
