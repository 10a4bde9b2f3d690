//! What this system can enforce, tried in a child process.

use crate::access::GrantedAccess;
use crate::enforcement::MissingWord;

/// The result of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every report shows each result")]
pub enum ProbeResult {
    /// It works.
    Ok,
    /// A part of it works.
    Partial,
    /// It does not work.
    Missing,
}

/// One mechanism of this system.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProbeRow {
    /// The name of the mechanism.
    pub name: &'static str,
    /// The result.
    pub result: ProbeResult,
    /// The version, or the reason why it does not work.
    pub detail: String,
    /// The words of [`LaunchReport::held`](crate::LaunchReport::held) that need it and that it holds here.
    pub holds: Vec<&'static str>,
    /// The next step for the user; empty if it works.
    pub help: &'static str,
}

/// What this system can enforce.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SystemProbe {
    /// The mechanisms.
    pub rows: Vec<ProbeRow>,
    /// The words that are enforced for a program without granted ports.
    pub held: Vec<&'static str>,
    /// The words that are not enforced.
    pub missing: Vec<MissingWord>,
}

/// Tries each mechanism and looks at the result. Confinement is tried by the launcher, which starts no program.
///
/// The host calls [`run_if_launcher`](crate::run_if_launcher) first in `main`.
#[must_use]
pub fn probe() -> SystemProbe {
    #[cfg(target_os = "linux")]
    let (facts, rows) = system::probe();
    #[cfg(not(target_os = "linux"))]
    let (facts, rows) = (crate::enforcement::Facts::nothing("only Linux can enforce grants"), Vec::new());
    let (words, missing) = facts.words(&GrantedAccess::base());
    // Programs that cannot run from memory are copied.
    let held = core::iter::once("bytes").chain(words).collect();
    SystemProbe { rows, held, missing }
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};

    use super::{ProbeResult, ProbeRow};
    use crate::access::GrantedAccess;
    use crate::enforcement::{Facts, LANDLOCK_HELP, NAMESPACE_HELP, SECCOMP_HELP};
    use crate::launcher::host::Launcher;
    use crate::sealed::system::try_execution;
    use crate::spec::{LaunchSpec, Program};

    const CAPABILITIES_HELP: &str = "use a container profile that allows `capset`";
    const SEALED_HELP: &str = "set `vm.memfd_noexec` below 2; until then, programs are copied";
    const OPENAT2_HELP: &str = "use Linux 5.6 or later, and a container profile that allows `openat2`";

    pub(super) fn probe() -> (Facts, Vec<ProbeRow>) {
        let facts = facts();
        let fault = |fault: &Option<String>| fault.clone().map_or(Ok(()), Err);
        let openat2 = rustix::fs::openat2(CWD, "/", OFlags::PATH, Mode::empty(), ResolveFlags::NO_SYMLINKS);
        let rows = vec![
            landlock(&facts),
            row("capabilities", fault(&facts.capabilities_fault), &["processes"], CAPABILITIES_HELP),
            row("seccomp", fault(&facts.seccomp_fault), &["network"], SECCOMP_HELP),
            row("pid-namespace", fault(&facts.namespace_fault), &["end"], NAMESPACE_HELP),
            row("sealed-exec", try_execution(), &["bytes"], SEALED_HELP),
            row("openat2", openat2.map(drop), &[], OPENAT2_HELP),
        ];
        (facts, rows)
    }

    /// Lets a launcher confine itself, and ends it. If there is none, nothing is enforced.
    fn facts() -> Facts {
        let (argv, env) = (Vec::new(), Vec::new());
        let program = Program::System { path: "/proc/self/exe" };
        let spec = LaunchSpec { program, argv, directory: "/".to_owned(), env };
        match Launcher::start(&spec, &GrantedAccess::base()) {
            Ok(launcher) => launcher.facts().clone(),
            Err(error) => {
                let cause = std::error::Error::source(&error).map(|source| format!(": {source}"));
                Facts::nothing(&format!("{error}{}", cause.unwrap_or_default()))
            }
        }
    }

    fn landlock(facts: &Facts) -> ProbeRow {
        let detail = facts.landlock_below(1).unwrap_or_else(|| format!("ABI {}", facts.landlock));
        let (result, holds, help) = match facts.landlock {
            0..=2 => (ProbeResult::Missing, vec![], LANDLOCK_HELP),
            3..=5 => (ProbeResult::Partial, vec!["files"], LANDLOCK_HELP),
            6.. => (ProbeResult::Ok, vec!["files"], ""),
        };
        ProbeRow { name: "landlock", result, detail, holds, help }
    }

    fn row<E: ToString>(
        name: &'static str,
        tried: Result<(), E>,
        holds: &[&'static str],
        help: &'static str,
    ) -> ProbeRow {
        match tried {
            Ok(()) => ProbeRow {
                name,
                result: ProbeResult::Ok,
                detail: "works".to_owned(),
                holds: holds.to_vec(),
                help: "",
            },
            Err(error) => ProbeRow {
                name,
                result: ProbeResult::Missing,
                detail: error.to_string(),
                holds: vec![],
                help,
            },
        }
    }
}
