//! The tests of this crate.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test has files, programs and times, and panics if it cannot continue"
)]

mod codes;
#[cfg(feature = "fetch")]
mod fetch;
mod files;
mod hostile;
mod hyperagent;
mod node;
mod peer;
mod race;
mod registration;
mod sessions;

use plugward_host_modules::capability::ledger::{Ledger, LedgerId, LedgerTime};
use plugward_host_modules::capability::{
    HostModuleCapability, ModuleScope, NoScrub, Trail, TrailRules, folds, for_tests,
};
use plugward_host_modules::sandbox_path::{Jail, Policy};
use plugward_host_modules::{
    CallResult, FsReadConfig, FsWriteConfig, FunctionName, HostModule, ModuleName, ThrownError, fs_read,
    fs_write,
};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) fn clock() -> LedgerTime {
    LedgerTime::from_unix_micros(1_795_297_683_000_000).unwrap()
}

pub(crate) fn trail() -> Trail {
    let ledger = Ledger::in_memory(LedgerId::from_bytes([7; 16]), Box::new(clock), folds()).unwrap();
    Trail::for_tests(ledger, TrailRules { scrub: Box::new(NoScrub) }).unwrap()
}

pub(crate) fn declared(modules: &[&str]) -> HostModuleCapability {
    for_tests(ModuleScope::new(modules).unwrap())
}

/// A module that returns its arguments, and throws in `fail`.
pub(crate) struct Echo(ModuleName, Vec<FunctionName>);

impl Echo {
    pub(crate) fn boxed(name: &str) -> Box<dyn HostModule> {
        let functions = ["echo", "fail"].map(|name| FunctionName::new(name).unwrap());
        Box::new(Self(ModuleName::new(name).unwrap(), functions.to_vec()))
    }
}

impl HostModule for Echo {
    fn name(&self) -> &ModuleName {
        &self.0
    }

    fn functions(&self) -> &[FunctionName] {
        &self.1
    }

    fn call(&mut self, function: &FunctionName, args: &[Value]) -> CallResult {
        match function.as_str() {
            "echo" => CallResult::Returned(args.into()),
            _ => CallResult::Thrown(thrown("TypeError", "no")),
        }
    }
}

pub(crate) fn thrown(name: &str, message: &str) -> ThrownError {
    ThrownError { name: name.to_owned(), message: message.to_owned() }
}

/// A directory with both file modules on it.
pub(crate) struct Files {
    pub(crate) directory: TempDir,
    pub(crate) read: Box<dyn HostModule>,
    pub(crate) write: Box<dyn HostModule>,
}

impl Files {
    pub(crate) fn new() -> Self {
        Self::with(&[], &[])
    }

    pub(crate) fn with(read: &[&str], write: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let jail = Jail::open(directory.path(), Policy::agent()).unwrap();
        let read = FsReadConfig::from_args(read).unwrap();
        let write = FsWriteConfig::from_args(write).unwrap();
        let (read, write) = (Box::new(fs_read(jail.clone(), read)), Box::new(fs_write(jail, write)));
        Self { directory, read, write }
    }

    pub(crate) fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.directory.path().join(path), bytes).unwrap();
    }

    pub(crate) fn get(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.directory.path().join(path)).unwrap()
    }

    /// Calls a function of either module; an exception is `{"thrown": message}`.
    pub(crate) fn call(&mut self, function: &str, args: Value) -> Value {
        let name = FunctionName::new(function).unwrap();
        let module = if self.read.functions().contains(&name) { &mut self.read } else { &mut self.write };
        let Value::Array(args) = args else { panic!("{args}") };
        value(module.call(&name, &args))
    }
}

pub(crate) fn value(result: CallResult) -> Value {
    match result {
        CallResult::Returned(value) => value,
        CallResult::Thrown(error) => json!({ "thrown": error.message }),
    }
}

pub(crate) fn error(text: &str) -> Value {
    json!({ "error": text })
}
