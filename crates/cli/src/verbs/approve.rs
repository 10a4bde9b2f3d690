//! `plugward approve` and `plugward unapprove`.

use std::collections::BTreeSet;

use plugward_loader::deep_audit::Audit;
use plugward_loader::pinstore::{Approvals, ApproveOutcome, ReviewedDigests, Risk, UnapproveOutcome};
use plugward_loader::{
    ApprovalRequest, ApprovalStore, Digest, PluginReport, ReviewedAudit, Severity, Trust, escape,
};

use crate::args::{ApproveArgs, DiscoveryOptions, FindArgs, IdArgs};
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::settings::Settings;
use crate::stores;
use crate::text::{command, count, wrapped};
use crate::verbs::decide::{not_reviewed, not_stored, reviewed};
use crate::verbs::select;
use crate::verbs::shared::{self, PluginBytes, SelectedPlugin};

pub(crate) fn approve(args: &ApproveArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let settings = Settings::read(host)?;
    let SelectedPlugin { shown, plugin, subject, .. } =
        shared::find(&args.plugin, Some(Trust::Tofu), PluginBytes::Discard, host, out)?;
    let selector = shared::quoted(&shown);
    let Some(subject) = subject else {
        return Err(Failure::refused(format!("{shown} cannot be digested, so there is nothing to approve"))
            .help(format!("plugward explain {selector}")));
    };
    let tree = subject.facts().tree;
    let wanted = ReviewedDigests::wanted(subject.facts(), None);
    let named = args.reviewed.tree.as_deref().map(|tree| reviewed(tree, &args.reviewed.with)).transpose()?;
    if named.is_some() && !args.after_scan {
        return Err(Failure::usage("--tree names what the static scan was about").help("add --static"));
    }
    let audit = match &args.audit {
        Some(text) => Some(named_audit(text, &selector, &stores::approvals(host)?)?),
        None => None,
    };
    let reviewed = match (&audit, &named) {
        (Some(audit), _) => ReviewedAudit::Deep(audit),
        (None, Some(reviewed)) => ReviewedAudit::Static(reviewed),
        (None, None) => return show(args, &shown, &plugin, &wanted, out),
    };
    let mut approvals = stores::approvals_to_write(host)?;
    let request = ApprovalRequest {
        plugin: &plugin,
        subject: &subject,
        reviewed,
        rules: settings.rules_digest()?,
        max: settings.max_risk,
        by: &host::user(),
        now: host::now()?,
    };
    let outcome = plugward_loader::approve(&request, &mut approvals, &stores::record(host, None)?);
    match outcome.map_err(|error| not_stored(&error))? {
        ApproveOutcome::Stored => {
            let after = if audit.is_some() { "audit" } else { "static scan" };
            out.result(&format!("Approved {} after the {after} at\n  {tree}\n", escape::line(&shown)))?;
            Ok(0)
        }
        ApproveOutcome::NotAudited => Err(match named {
            Some(named) if named.tree != tree => {
                not_reviewed(&shown, &named.tree.to_string(), &tree.to_string())
            }
            Some(_) => Failure::refused(format!("a digest outside the directory of {shown} was not named"))
                .code("approval/not-audited")
                .help(format!("review it again: plugward approve {selector} --static")),
            None => Failure::refused(format!("{shown} has changed since the audit"))
                .code("approval/not-audited")
                .help(format!("audit it again: plugward audit {selector}")),
        }),
        refused => Err(not_approved(&refused, &plugin, &selector)),
    }
}

/// Returns the failure of an approval that the risk or the advice forbids.
fn not_approved(outcome: &ApproveOutcome, plugin: &PluginReport, selector: &str) -> Failure {
    let explain = format!("see the findings: plugward explain {selector}");
    let dangers = plugin.open_findings().filter(|finding| finding.severity == Severity::Danger).count();
    if dangers > 0 {
        return Failure::exiting(6, format!("the scan has {}", count(dangers, "danger finding")))
            .code("scan/danger")
            .help(explain);
    }
    let what = match outcome {
        ApproveOutcome::Risk { risk, max } => {
            format!("the risk is {}, and plugins.max_risk is {}", risk.as_str(), max.as_str())
        }
        _ => "the audit advises against it".to_owned(),
    };
    Failure::exiting(5, what).code(outcome.code().unwrap_or("approval/rejected")).help(explain)
}

/// Returns the record that the command line names.
fn named_audit(text: &str, selector: &str, approvals: &ApprovalStore) -> Result<Audit, Failure> {
    let digest: Digest = text.parse().map_err(|_error| {
        let failure = Failure::usage(format!("invalid digest for --audit: {text}"));
        failure.help(format!("copy it from the output of: plugward audit {selector}"))
    })?;
    let found = approvals.audits().map_or(Ok(None), |audits| audits.find(&digest));
    found.map_err(|failure| shared::store_failure(&failure))?.ok_or_else(|| {
        Failure::usage(format!("no audit has the digest {digest}"))
            .code("audit/unknown-record")
            .help(format!("plugward audit {selector}"))
    })
}

/// Prints the command that approves the plugin. The digest in it binds the approval to what is shown here.
fn show(
    args: &ApproveArgs,
    shown: &str,
    plugin: &PluginReport,
    wanted: &ReviewedDigests,
    out: &mut Out,
) -> Result<u8, Failure> {
    let selector = shared::quoted(shown);
    let commands = shared::commands(plugin, &shared::as_typed(&args.plugin.finding), None);
    let risk = Risk::of_findings(plugin.open_findings()).as_str();
    let findings = count(plugin.findings.len(), "finding");
    let mut text = format!("{}: {findings}, static risk {risk}\n  {}\n", escape::line(shown), wanted.tree);
    let audit = plugin.approval.audit.as_ref();
    if let Some(audit) = audit {
        text.push_str(&wrapped(
            "",
            "  ",
            &format!("An audit by {} found risk {}.", audit.model, audit.risk),
            out.width,
        ));
    }
    text.push_str(&format!("\nAfter you have read them (plugward explain {selector}):\n"));
    let approve = match audit.filter(|_| !args.after_scan) {
        Some(audit) => format!("plugward approve {selector}{} --audit {}", commands.typed, audit.record),
        None => {
            shared::with_digests(&format!("plugward approve {selector} --static{}", commands.typed), wanted)
        }
    };
    text.push_str(&command("  ", &approve, out.width));
    out.result(&text)?;
    Ok(3)
}

pub(crate) fn unapprove(args: &IdArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let plugin = FindArgs { named: args.clone(), finding: DiscoveryOptions::default() };
    let (key, called) = match shared::find(&plugin, Some(Trust::Tofu), PluginBytes::Discard, host, out) {
        Ok(found) => (found.plugin.key, found.plugin.called),
        Err(error) => {
            let approvals = stores::approvals(host)?;
            let approved = approvals.approvals().into_iter().flat_map(Approvals::iter);
            let key = select::gone(&args.id, approved.map(|(key, _)| key.clone())).ok_or(error)?;
            (key, BTreeSet::new())
        }
    };
    let shown = host::display(&key);
    let record = stores::record(host, None)?;
    let mut approvals = stores::approvals_to_write(host)?;
    let outcome = plugward_loader::unapprove(&key, &called, &mut approvals, &record);
    let text = match outcome.map_err(|error| not_stored(&error))? {
        UnapproveOutcome::Removed => format!("{} is no longer approved.", escape::line(&shown)),
        UnapproveOutcome::Absent => format!("{} is not approved.", escape::line(&shown)),
    };
    out.result(&wrapped("", "", &text, out.width))?;
    Ok(0)
}
