//! Finds the file for a command name. Nothing is started.

use plugward_policy::{ChecksumAlgorithm, CommandRules, RunRule};
use plugward_types::{Digest, Part, nearest};

use crate::error::{RegistryError, RegistryErrorKind};
use crate::host::{CommandHost, CommandNames};
use crate::names::{WORDS, is_command_id, is_word};
use crate::registry::{CommandKind, Registry, RegistryEntry, RegistryNote};
use crate::store::{CommandStore, InstallReceipt};
use crate::verify::{FileHasher, PinnedChecksum};

/// The source that knows a command name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new source")]
pub enum CommandSource {
    /// The plugin directory.
    Installed,
    /// The registry.
    Registry,
    /// The search path.
    Path,
    /// No source, or the settings deny the plugin, so no source was read.
    None,
}

/// Whether a command plugin may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new decision must stop every host from building")]
pub enum RunDecision {
    /// It may run.
    Run,
    /// It may run if the user agrees, each time.
    Ask,
    /// It has to be installed first. The host may do that itself if the command has no reason.
    Install,
    /// It must not run.
    Refuse,
}

/// The outcome of a search.
#[derive(Debug)]
#[non_exhaustive]
pub struct FoundCommand {
    /// The words of the name; the words after them are arguments.
    pub name: String,
    /// The source.
    pub source: CommandSource,
    /// The id, by which settings refer to the plugin.
    pub id: Option<String>,
    /// Whether the plugin is official in the configured registry.
    pub official: Option<bool>,
    /// The name of the file, which does not exist yet if the source is the registry.
    pub file: Option<String>,
    /// The directory of the search path that contains the file.
    pub directory: Option<String>,
    /// The digest of the file that was read, or of the file that the registry lists.
    pub digest: Option<Digest>,
    /// The result of comparing the file with the user's checksum.
    pub checksum: PinnedChecksum,
    /// The rule that applies: that of the settings, or the one by origin.
    pub run: Option<RunRule>,
    /// The decision.
    pub decision: RunDecision,
    /// Why it cannot run now. `None` if it may run, or if the host may install it without a question.
    pub reason: Option<RegistryError>,
    /// Remarks for the user.
    pub notes: Vec<RegistryNote>,
    /// The verified file itself, at its start, so that a host can start the bytes that were checked.
    pub handle: Option<std::fs::File>,
}

impl FoundCommand {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            source: CommandSource::None,
            id: None,
            official: None,
            file: None,
            directory: None,
            digest: None,
            checksum: PinnedChecksum::None,
            run: None,
            decision: RunDecision::Refuse,
            reason: None,
            notes: Vec::new(),
            handle: None,
        }
    }

    fn of(name: &str, source: CommandSource, id: &str, file: &str) -> Self {
        let (id, file) = (Some(id.to_owned()), Some(file.to_owned()));
        Self { source, id, official: Some(false), file, ..Self::new(name) }
    }

    /// Returns the rule of the settings, or else the one by origin.
    fn run_by(&self, rules: &CommandRules) -> RunRule {
        let by_origin = if self.official == Some(true) { RunRule::Unattended } else { RunRule::Ask };
        rules.run.unwrap_or(by_origin)
    }

    fn decide(mut self, decision: RunDecision, reason: Option<RegistryErrorKind>) -> Self {
        self.decision = decision;
        self.reason = reason.map(RegistryError::from);
        self
    }

    /// Returns the exit code of a command that only shows the decision.
    #[must_use]
    pub fn exit(&self) -> u8 {
        match self.decision {
            RunDecision::Run => 0,
            RunDecision::Ask | RunDecision::Install => 3,
            RunDecision::Refuse => self.reason.as_ref().map_or(2, RegistryError::exit),
        }
    }
}

impl CommandHost<'_> {
    /// Finds the file for the longest sequence of words that a source knows, and decides whether it may run.
    ///
    /// The order is: denied by the settings, installed, registry, search path.
    ///
    /// # Errors
    /// `registry/receipts`, or `registry/disk` if the file cannot be read. A refusal is a [`FoundCommand`].
    pub fn find(
        &self,
        store: Option<&CommandStore>,
        registry: Option<&Registry>,
        words: &[&str],
    ) -> Result<FoundCommand, RegistryError> {
        let first = words.first().copied().unwrap_or_default();
        let count = match words.iter().take(WORDS).take_while(|word| is_word(word)).count() {
            // An id can contain `_`, a word of a command name cannot.
            0 if is_command_id(first) => 1,
            count => count,
        };
        let mut receipts = None;
        let mut no_binary = None;
        let mut no_command = None;
        let mut writable = None;
        for count in (1..=count).rev() {
            let words = words.part(..count);
            let (name, joined) = (words.join(" "), words.join("-"));
            let named = registry.and_then(|registry| registry.named(&name));
            let entry = named.filter(|entry| entry.kind == CommandKind::Command);
            no_command = no_command.or_else(|| named.filter(|entry| entry.kind != CommandKind::Command));
            let mut id = entry.map_or(&*joined, |entry| &entry.id);
            // The denial comes before everything that is read. A file on the path has the joined words as its id.
            if let Some(id) = [id, &joined].into_iter().find(|id| self.is_denied(id)) {
                return Ok(self.denied(&name, id));
            }
            let receipts = match &mut receipts {
                Some(receipts) => receipts,
                none => none.insert(store.map_or_else(|| Ok(Vec::new()), CommandStore::receipts)?),
            };
            let is_named = |receipt: &&InstallReceipt| {
                (receipt.name == name || receipt.id == name) && receipt.file == self.file_name(&receipt.id)
            };
            if let Some(receipt) = receipts.iter().find(is_named) {
                id = &receipt.id;
                if self.is_denied(id) {
                    return Ok(self.denied(&name, id));
                }
            }
            if let Some(found) = self.installed(store, receipts, &name, id)? {
                return Ok(found);
            }
            if let Some(entry) = entry {
                match entry.binary(self.targets) {
                    Some(binary) => return Ok(self.listed(&name, entry, binary.digest)),
                    None => no_binary = Some(entry),
                }
            }
            let file = self.file_name(&joined);
            if let Some((directory, handle)) = self.path.open(&file) {
                let mut found = FoundCommand::of(&name, CommandSource::Path, &joined, &file);
                found.directory = Some(directory.to_owned());
                return self.verify(found, handle.into_std(), None);
            }
            writable = writable.or_else(|| {
                let directory = self.path.writable(&file)?.to_owned();
                Some(RegistryErrorKind::Writable { file, directory })
            });
        }
        let name = words.head(count.max(1)).join(" ");
        let reason = if let Some(entry) = no_binary {
            self.no_binary(entry)
        } else if let (Some(entry), Some(registry)) = (no_command, registry) {
            registry.not_a_command(entry)
        } else if let Some(writable) = writable {
            writable
        } else {
            let installed = receipts.iter().flatten().map(|receipt| receipt.name.as_str());
            let listed = registry.into_iter().flat_map(Registry::entries).map(|entry| entry.name.as_str());
            let (name, nearest) = (name.clone(), nearest(&name, installed.chain(listed)).map(str::to_owned));
            match (&nearest, self.registry) {
                (None, None) => RegistryErrorKind::NotFound { name },
                _ => RegistryErrorKind::Unknown { name, nearest },
            }
        };
        Ok(FoundCommand::new(&name).decide(RunDecision::Refuse, Some(reason)))
    }

    /// Looks for an installed file and verifies it.
    fn installed(
        &self,
        store: Option<&CommandStore>,
        receipts: &[InstallReceipt],
        name: &str,
        id: &str,
    ) -> Result<Option<FoundCommand>, RegistryError> {
        let file = self.file_name(id);
        let Some(opened) = store.and_then(|store| store.open_installed(&file)) else { return Ok(None) };
        let receipt = receipts.iter().find(|receipt| receipt.file == file);
        let official = receipt.is_some_and(|receipt| {
            receipt.official && self.registry.is_some_and(|url| url.as_str() == receipt.registry)
        });
        let mut found = FoundCommand::of(name, CommandSource::Installed, id, &file);
        found.official = Some(official);
        if receipt.is_none() {
            let text = format!("{file} was not installed by plugward, so nothing shows where it is from");
            found.notes.push(RegistryNote::new("registry/no-receipt", text));
        }
        match opened {
            Ok(handle) => self.verify(found, handle.into_std(), receipt).map(Some),
            Err(why) => {
                let reason = RegistryErrorKind::Changed { file, why };
                Ok(Some(found.decide(RunDecision::Refuse, Some(reason))))
            }
        }
    }

    /// Reads a file once, and compares it with its receipt, the revocations and the settings.
    fn verify(
        &self,
        mut found: FoundCommand,
        mut handle: std::fs::File,
        receipt: Option<&InstallReceipt>,
    ) -> Result<FoundCommand, RegistryError> {
        // Only a command with an id and a file is opened. Rules and revocations of another id would not be its own.
        let (Some(id), Some(file)) = (found.id.clone(), found.file.clone()) else {
            return Ok(found.decide(RunDecision::Refuse, None));
        };
        let rules = (self.rules)(&id);
        let failed = |error| RegistryError::disk("read", &file, error);
        let digests = FileHasher::new(rules.checksum.as_ref()).read(&handle).map_err(failed)?;
        std::io::Seek::rewind(&mut handle).map_err(failed)?;
        found.digest = Some(digests.sha256);
        found.checksum = digests.compare(rules.checksum.as_ref());
        let run = found.run_by(&rules);
        found.run = Some(run);
        if rules.checksum.as_ref().is_some_and(|pin| pin.algorithm == ChecksumAlgorithm::Sha1) {
            let text =
                format!("{id} is pinned by SHA-1, for which different files with one digest can be made");
            found.notes.push(RegistryNote::new("policy/weak-algorithm", text));
        }
        let name = receipt.map_or(&*found.name, |receipt| &receipt.name);
        let names = CommandNames { name, id: &id, file: &file };
        let reason = if receipt.is_some_and(|receipt| !receipt.covers(&digests.sha256)) {
            RegistryErrorKind::Changed { file, why: format!("its digest is now {}", digests.sha256) }
        } else if let Some(reason) = (self.revoked)(&names, &digests.sha256) {
            RegistryErrorKind::Revoked { id, reason }
        } else if let (PinnedChecksum::Differs, Some(expected)) = (found.checksum, rules.checksum) {
            let actual = digests.of(expected.algorithm).unwrap_or_else(|| "unknown".to_owned());
            RegistryErrorKind::Checksum { id, expected, actual, file: digests.sha256, intact: false }
        } else {
            found.handle = Some(handle);
            return Ok(match run {
                RunRule::Unattended => found.decide(RunDecision::Run, None),
                RunRule::Ask => {
                    let name = found.name.clone();
                    let reason = RegistryErrorKind::Ask { name, id, question: "run" };
                    found.decide(RunDecision::Ask, Some(reason))
                }
                RunRule::Deny => found.decide(RunDecision::Refuse, Some(RegistryErrorKind::Denied { id })),
            });
        };
        Ok(found.decide(RunDecision::Refuse, Some(reason)))
    }

    /// Decides about an entry of the registry that is not installed.
    fn listed(&self, name: &str, entry: &RegistryEntry, digest: Digest) -> FoundCommand {
        let (id, official, rules) = (entry.id.clone(), entry.official, (self.rules)(&entry.id));
        let mut found = FoundCommand::of(name, CommandSource::Registry, &id, &self.file_name(&id));
        found.official = Some(official);
        let run = found.run_by(&rules);
        found.digest = Some(digest);
        found.run = Some(run);
        let names = CommandNames { name: &entry.name, id: &id, file: &self.file_name(&id) };
        if let Some(reason) = (self.revoked)(&names, &digest) {
            return found.decide(RunDecision::Refuse, Some(RegistryErrorKind::Revoked { id, reason }));
        }
        let name = name.to_owned();
        match rules.install.or(official.then_some(rules.auto_install)) {
            Some(true) if run == RunRule::Unattended => found.decide(RunDecision::Install, None),
            Some(true) => {
                found.decide(RunDecision::Ask, Some(RegistryErrorKind::Ask { name, id, question: "run" }))
            }
            Some(false) => found.decide(RunDecision::Install, Some(RegistryErrorKind::NotInstalled { name })),
            None => {
                found.decide(RunDecision::Ask, Some(RegistryErrorKind::Ask { name, id, question: "install" }))
            }
        }
    }

    pub(crate) fn is_denied(&self, id: &str) -> bool {
        (self.rules)(id).run == Some(RunRule::Deny)
    }

    fn denied(&self, name: &str, id: &str) -> FoundCommand {
        let reason = RegistryErrorKind::Denied { id: id.to_owned() };
        let mut found = FoundCommand::new(name).decide(RunDecision::Refuse, Some(reason));
        found.id = Some(id.to_owned());
        found.run = (self.rules)(id).run;
        found
    }

    pub(crate) fn no_binary(&self, entry: &RegistryEntry) -> RegistryErrorKind {
        let target = self.targets.first().cloned().unwrap_or_else(|| "this platform".to_owned());
        RegistryErrorKind::NoBinary { name: entry.name.clone(), target }
    }
}
