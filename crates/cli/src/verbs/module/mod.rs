//! `plugward module`: lists and calls the modules of plugins and of this program.

mod enabled;
mod home;
mod node;
mod plugin;

use plugward_loader::capability::UseOutcome;
use plugward_loader::escape::line;
use plugward_loader::host_modules::{
    CallRefusal, CallResult, FunctionName, RejectReason, RejectedModule, SessionFault, ThrownError,
};
use serde_json::{Map, Value, json};

use crate::args::{ModuleCallArgs, ModuleListArgs, ModuleVerb};
use crate::diagnostic::Diagnostic;
use crate::failure::Failure;
use crate::host::Host;
use crate::json;
use crate::out::Out;
use crate::starts::failed;

pub(crate) use enabled::{EnabledModules, EnabledPlugin, FailedPlugin, with_modules};
pub(crate) use node::NodeStart;

pub(crate) fn run(verb: &ModuleVerb, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    match verb {
        ModuleVerb::List(args) => list(args, host, out),
        ModuleVerb::Call(args) => call(args, host, out),
    }
}

fn list(args: &ModuleListArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let plugin = EnabledPlugin::new(&args.id, &args.settings);
    let has_base = plugin.settings.iter().any(|setting| setting.starts_with("baseDir="));
    if !has_base && let Some((name, functions)) = enabled::file_functions(&plugin)? {
        let modules = json!({ name: functions });
        print(out, &json!({ "version": 1, "plugin": args.id, "modules": modules, "rejected": [] }))?;
        return Ok(0);
    }
    let (row, exit) = with_modules("module", &[plugin], host, out, |enabled, out| {
        report(enabled, out);
        report_failed(enabled, out);
        let names = enabled.modules.iter().map(|(name, functions)| {
            let functions: Vec<&str> = functions.iter().map(FunctionName::as_str).collect();
            (name.to_owned(), functions.into())
        });
        let modules: Map<String, Value> = names.collect();
        let rejected = enabled
            .rejected
            .iter()
            .map(|RejectedModule { module, why }| json!({ "module": module, "why": why.as_str() }));
        let rejected: Vec<Value> = rejected.collect();
        let exit = if rejected.is_empty() && enabled.failed.is_empty() { 0 } else { 4 };
        let mut row = json!({ "version": 1, "plugin": args.id, "modules": modules, "rejected": rejected });
        let failed = enabled.failed.iter().map(|one| json!({ "plugin": one.id, "code": one.fault.code() }));
        for (name, list) in [("skipped", Value::from(enabled.skipped.clone())), ("failed", failed.collect())]
        {
            if let (Some(members), true) = (row.as_object_mut(), list != json!([])) {
                members.insert(name.to_owned(), list);
            }
        }
        Ok(((row, exit), UseOutcome::Ok))
    })?;
    print(out, &row)?;
    Ok(exit)
}

fn call(args: &ModuleCallArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let Some((module, function)) = args.function.split_once('.') else {
        return Err(Failure::usage(format!("expected MODULE.FUNCTION, got `{}`", line(&args.function))));
    };
    let Ok(Value::Array(values)) = serde_json::from_str(&args.args) else {
        return Err(Failure::usage("the arguments of the function are not a JSON array")
            .help("quote them for the shell, as in `'[\"a.txt\"]'`"));
    };
    let plugin = EnabledPlugin::new(&args.id, &args.settings);
    let result = with_modules("module", &[plugin], host, out, |enabled, out| {
        report(enabled, out);
        check_enabled(enabled)?;
        let result = enabled.modules.call(module, function, &values).map_err(|refusal| refused(&refusal))?;
        let outcome = outcome(&result);
        Ok((result, outcome))
    })?;
    let (row, exit) = match result {
        CallResult::Returned(value) => (json!({ "returned": value }), 0),
        CallResult::Thrown(ThrownError { name, message }) => {
            (json!({ "thrown": { "name": name, "message": message } }), 1)
        }
    };
    print(out, &row)?;
    Ok(exit)
}

/// Warns of what a plugin returned and no guest can use.
pub(crate) fn report(enabled: &EnabledModules<'_>, out: &Out) {
    for RejectedModule { module, why } in &enabled.rejected {
        let why = match why {
            RejectReason::Undeclared => "the manifest does not declare it",
            RejectReason::Repeated => "it was returned before",
            RejectReason::Name => "its name is not valid",
            RejectReason::Empty => "it is not an object with functions",
        };
        out.report(&Diagnostic::warning(format!("module `{module}` is not registered: {why}")));
    }
    for member in &enabled.skipped {
        out.report(&Diagnostic::note_of(format!("`{member}` is not a function that a guest can call")));
    }
}

/// Warns of the plugins that could not start. The others of a guest are enabled.
pub(crate) fn report_failed(enabled: &EnabledModules<'_>, out: &Out) {
    for FailedPlugin { id, fault } in &enabled.failed {
        let warning = Diagnostic::warning(format!("the plugin {} is not enabled: {fault}", line(id)));
        out.report(&warning.code(fault.code()).help(fault.help()));
    }
}

/// Returns the failure of a plugin that could not start.
fn check_enabled(enabled: &EnabledModules<'_>) -> Result<(), Failure> {
    enabled.failed.first().map_or(Ok(()), |failed| Err(session_failure(&failed.fault)))
}

pub(crate) fn outcome(result: &CallResult) -> UseOutcome {
    match result {
        CallResult::Returned(_) => UseOutcome::Ok,
        CallResult::Thrown(_) => UseOutcome::Failed,
    }
}

pub(crate) fn print(out: &mut Out, row: &Value) -> Result<(), Failure> {
    Ok(out.result(&format!("{}\n", json::visible(&row.to_string())))?)
}

fn refused(refusal: &CallRefusal) -> Failure {
    let exit = match refusal {
        CallRefusal::NotRecorded(_) => 7,
        CallRefusal::Refused { .. } => 5,
        _ => 2,
    };
    failed(exit, refusal).code(refusal.code()).help(refusal.help())
}

/// Returns the failure for a plugin or guest that cannot go on.
pub(crate) fn session_failure(fault: &SessionFault) -> Failure {
    let exit = match fault {
        SessionFault::NotRecorded(_) => 7,
        SessionFault::Pipe(error) if error.kind() == std::io::ErrorKind::Interrupted => 130,
        _ => 1,
    };
    failed(exit, fault).code(fault.code()).help(fault.help())
}
