//! `plugward module`: lists and calls the modules that this program lends to guests.

use plugward_loader::capability::{ModuleScope, PluginName, UseOutcome};
use plugward_loader::escape::line;
use plugward_loader::host_modules::{
    CallRefusal, CallResult, ConfigError, FsReadConfig, FsWriteConfig, FunctionName, HostModule, Modules,
    RegisterError, ThrownError, fs_read, fs_write, register,
};
use plugward_loader::{RecordFailure, capability::ScopeError};
use serde_json::{Map, Value, json};

use crate::args::{ModuleCallArgs, ModuleListArgs, ModuleVerb};
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::starts::{failed, not_recorded};
use crate::{json, stores};

pub(crate) fn run(verb: &ModuleVerb, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    match verb {
        ModuleVerb::List(args) => list(args, host, out),
        ModuleVerb::Call(args) => call(args, host, out),
    }
}

fn list(args: &ModuleListArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let modules: Map<String, Value> = with_modules(&args.id, &args.settings, host, |modules| {
        let names = modules.iter().map(|(name, functions)| {
            let functions: Vec<&str> = functions.iter().map(FunctionName::as_str).collect();
            (name.to_owned(), functions.into())
        });
        Ok((names.collect(), UseOutcome::Ok))
    })?;
    print(out, &json!({ "version": 1, "plugin": args.id, "modules": modules, "rejected": [] }))?;
    Ok(0)
}

fn call(args: &ModuleCallArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let Some((module, function)) = args.function.split_once('.') else {
        return Err(Failure::usage(format!("expected MODULE.FUNCTION, got `{}`", line(&args.function))));
    };
    let Ok(Value::Array(values)) = serde_json::from_str(&args.args) else {
        return Err(Failure::usage("the arguments of the function are not a JSON array")
            .help("quote them for the shell, as in `'[\"a.txt\"]'`"));
    };
    let result = with_modules(&args.id, &args.settings, host, |modules| {
        let result = modules.call(module, function, &values).map_err(|refusal| refused(&refusal))?;
        let outcome = match result {
            CallResult::Returned(_) => UseOutcome::Ok,
            CallResult::Thrown(_) => UseOutcome::Failed,
        };
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

fn print(out: &mut Out, row: &Value) -> Result<(), Failure> {
    Ok(out.result(&format!("{}\n", json::visible(&row.to_string())))?)
}

/// Registers the module of a builtin plugin in a workflow of its own, and calls `work` with it.
fn with_modules<T>(
    id: &str,
    settings: &[String],
    host: &Host,
    work: impl FnOnce(&mut Modules<'_>) -> Result<(T, UseOutcome), Failure>,
) -> Result<T, Failure> {
    let module = builtin(id, settings)?;
    let workflow = format!("module-{:08x}", u128::from_le_bytes(host::random()?) >> 96);
    let record = stores::record(host, Some(&workflow))?;
    let Some(trail) = record.trail() else {
        let missing = || Failure::internal("a record without a ledger");
        return Err(record.failure().map_or_else(missing, not_recorded));
    };
    let scope = ModuleScope::new(&[module.name().as_str()]).map_err(|error| invalid(&error))?;
    let plugin = PluginName::new(id).map_err(|error| invalid(&error))?;
    let store = |failure: RecordFailure| not_recorded(&failure);
    let (capability, workflow) = record.grant_modules(plugin, scope).map_err(store)?;
    let mut modules = Modules::default();
    let registered = register(id, &capability, vec![module], &mut modules, trail);
    let done = registered.map_err(|error| unregistered(&error)).and_then(|registration| {
        // The capability names the module, so it is not rejected.
        if registration.rejected.is_empty() {
            work(&mut modules)
        } else {
            Err(Failure::internal("a rejected module"))
        }
    });
    let outcome = done.as_ref().map_or(UseOutcome::Failed, |(_, outcome)| *outcome);
    record.close(workflow, outcome).map_err(store)?;
    done.map(|(value, _)| value)
}

fn builtin(id: &str, settings: &[String]) -> Result<Box<dyn HostModule>, Failure> {
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let wrong = |error: ConfigError| failed(2, &error).code(error.code()).help(error.help());
    let user = host::user_id();
    match id.strip_prefix("builtin:") {
        Some("fs-read") => {
            let config = FsReadConfig::from_args(&settings).map_err(wrong)?;
            Ok(Box::new(fs_read(config.open_base(user).map_err(wrong)?, config)))
        }
        Some("fs-write") => {
            let config = FsWriteConfig::from_args(&settings).map_err(wrong)?;
            Ok(Box::new(fs_write(config.open_base(user).map_err(wrong)?, config)))
        }
        _ => Err(Failure::usage(format!("no such plugin with modules: {}", line(id)))
            .help("name `builtin:fs-read` or `builtin:fs-write`")),
    }
}

fn invalid(error: &ScopeError) -> Failure {
    failed(1, error).code(error.code()).help(error.help())
}

fn unregistered(error: &RegisterError) -> Failure {
    let exit = if matches!(error, RegisterError::NotRecorded(_)) { 7 } else { 5 };
    failed(exit, error).code(error.code()).help(error.help())
}

fn refused(refusal: &CallRefusal) -> Failure {
    let exit = match refusal {
        CallRefusal::NotRecorded(_) => 7,
        CallRefusal::Refused { .. } => 5,
        _ => 2,
    };
    failed(exit, refusal).code(refusal.code()).help(refusal.help())
}
