//! The enforced properties, as words, and the missing ones.

use crate::access::GrantedAccess;

/// What the launcher found out when it confined itself.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    /// The ABI of Landlock that is enforced; 0 if none is.
    pub(crate) landlock: u32,
    /// The reasons why a mechanism is not in use.
    pub(crate) landlock_fault: Option<String>,
    pub(crate) capabilities_fault: Option<String>,
    pub(crate) seccomp_fault: Option<String>,
    pub(crate) namespace_fault: Option<String>,
}

/// A property that the kernel does not enforce.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingWord {
    /// The word: `files`, `network`, `processes` or `end`.
    pub word: &'static str,
    /// The reason.
    pub why: String,
    /// The next step for the user.
    pub help: &'static str,
}

/// A word, the reason why it is missing, and the help.
type Row = (&'static str, Option<String>, &'static str);

pub(crate) const LANDLOCK_HELP: &str =
    "use Linux 6.7 or later with `landlock` in the `lsm=` list, and a container profile that allows it";
pub(crate) const SECCOMP_HELP: &str =
    "use a kernel with seccomp filters, and a container profile that allows them";
pub(crate) const NAMESPACE_HELP: &str =
    "allow user namespaces for this program: see `user.max_user_namespaces` and the container's profile";
const OUTLIVES: &str = "a child process that leaves the process group can outlive the program";

impl Facts {
    /// Nothing is in effect, for one reason.
    pub(crate) fn nothing(why: &str) -> Self {
        let fault = || Some(why.to_owned());
        Self {
            landlock: 0,
            landlock_fault: fault(),
            capabilities_fault: fault(),
            seccomp_fault: fault(),
            namespace_fault: fault(),
        }
    }

    /// Returns the held words and the missing ones, without `bytes`.
    pub(crate) fn words(&self, access: &GrantedAccess) -> (Vec<&'static str>, Vec<MissingWord>) {
        let network = if access.has_network() { self.landlock_below(4) } else { None };
        let signals = self.namespace_fault.as_ref().and_then(|_| self.landlock_below(6));
        let capabilities = self.capabilities_fault.clone();
        let processes = capabilities.or_else(|| self.landlock_below(1)).or(signals);
        let rows: [Row; 5] = [
            ("files", self.landlock_below(3), LANDLOCK_HELP),
            ("network", self.seccomp_fault.clone().or(network), SECCOMP_HELP),
            ("processes", processes.or_else(|| self.seccomp_fault.clone()), LANDLOCK_HELP),
            ("environment", None, ""),
            ("end", self.namespace_fault.as_ref().map(|why| format!("{why}; {OUTLIVES}")), NAMESPACE_HELP),
        ];
        let held = rows.iter().filter(|(_, why, _)| why.is_none()).map(|(word, ..)| *word).collect();
        let missing =
            rows.into_iter().filter_map(|(word, why, help)| Some(MissingWord { word, why: why?, help }));
        (held, missing.collect())
    }

    /// Returns the reason if Landlock has a lower ABI than a word needs.
    pub(crate) fn landlock_below(&self, abi: u32) -> Option<String> {
        if self.landlock >= abi {
            return None;
        }
        self.landlock_fault.clone().or_else(|| {
            Some(match self.landlock {
                0 => "the kernel does not offer Landlock".to_owned(),
                has => format!("the kernel has ABI {has} of Landlock, and {abi} is necessary"),
            })
        })
    }
}
