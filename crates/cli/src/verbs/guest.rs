//! `plugward guest`: runs a script that can only call modules.

use std::fs::File;
use std::time::Duration;

use plugward_loader::escape::line;
use plugward_loader::host_modules::{
    CallResult, GUEST_SHIM, GuestLimits, GuestSession, Modules, SessionFault, ThrownError,
};
use plugward_loader::launch::{EnforceRule, GrantedAccess};
use plugward_loader::manifest::Coverage;
use plugward_loader::{LaunchSubject, Record, sha256};

use crate::access::StartAccess;
use crate::args::{GuestRunArgs, GuestVerb};
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::starts;
use crate::verbs::module::{self, EnabledPlugin, NodeStart, with_modules};

/// The most bytes of a script. It is part of one line.
const MAX_SCRIPT: u64 = 512 << 10;
/// The most KiB of memory of a guest.
const MEMORY: u32 = 256 << 10;
/// The most processes and threads of a guest. `node` has a dozen threads.
const PROCESSES: u32 = 32;
/// The time in which a guest exits after its result.
const GRACE: Duration = Duration::from_secs(2);

pub(crate) fn run(verb: &GuestVerb, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let GuestVerb::Run(GuestRunArgs { script, enable }) = verb;
    let bytes = host::named_file(script, MAX_SCRIPT)?;
    let Ok(source) = std::str::from_utf8(&bytes) else {
        return Err(Failure::usage(format!("{script} is not UTF-8")));
    };
    let plugins = plugins(enable)?;
    let result = with_modules("guest", &plugins, host, out, |enabled, out| {
        module::report(enabled, out);
        module::report_failed(enabled, out);
        let result = guest(script.as_str(), source, &mut enabled.modules, enabled.record)?;
        let outcome = module::outcome(&result);
        Ok((result, outcome))
    })?;
    match result {
        CallResult::Returned(value) => module::print(out, &value).map(|()| 0),
        CallResult::Thrown(ThrownError { name, message }) => {
            Err(Failure::internal(format!("{script} threw {}: {}", line(&name), line(&message))))
        }
    }
}

/// Splits the values of all `--enable`: each id is followed by its settings.
fn plugins(values: &[String]) -> Result<Vec<EnabledPlugin<'_>>, Failure> {
    let mut plugins: Vec<EnabledPlugin<'_>> = Vec::new();
    for value in values {
        let is_setting = value.split_once('=').is_some_and(|(key, _)| {
            !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        match plugins.last_mut() {
            _ if !is_setting => plugins.push(EnabledPlugin { id: value, settings: Vec::new() }),
            Some(last) => last.settings.push(value),
            None => return Err(Failure::usage(format!("`{}` is not the id of a plugin", line(value)))),
        }
    }
    Ok(plugins)
}

/// Runs a script under node without files, connections and other processes.
fn guest(
    name: &str,
    source: &str,
    modules: &mut Modules<'_>,
    record: &Record,
) -> Result<CallResult, Failure> {
    #[expect(clippy::disallowed_methods, reason = "a guest does not have a directory that it can write")]
    let home = File::open("/dev/null")?;
    let mut access = GrantedAccess::new(None, home.into()).map_err(|error| starts::launch_failure(&error))?;
    access.fix_attributes();
    let mut access =
        StartAccess::Granted { access: Box::new(access), rule: EnforceRule::RequireEnd, workflow: None };
    let node = host::program("node")?;
    let own = node.parent().map_or("", |directory| directory.as_str());
    access.set_variable("PATH", &format!("/usr/bin:/bin:{own}"))?;
    let coverage = Coverage::ScriptInterpreterUncovered;
    let digest = sha256(source.as_bytes());
    let subject = LaunchSubject { plugin: "guest", file: name, digest: Some(&digest), coverage };
    let node = NodeStart {
        node: &node,
        shim: GUEST_SHIM,
        directory: "/",
        access,
        memory: MEMORY,
        processes: Some(PROCESSES),
    };
    let (program, recorded, mut lines) = node.start(&subject, record)?;
    let result = GuestSession::run(source, modules, GuestLimits::usual(), &mut lines);
    let status = program.end(if result.is_ok() { GRACE } else { Duration::ZERO });
    let recorded = recorded.end(record, status.as_ref().ok().copied());
    let result = result.map_err(|fault: SessionFault| module::session_failure(&fault))?;
    status.map_err(|error| starts::launch_failure(&error))?;
    recorded.map_err(|failure| starts::not_recorded(&failure))?;
    Ok(result)
}
