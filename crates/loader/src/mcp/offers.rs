//! The texts of offers, for reviews and diffs. They are never a grant.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use cap_std::fs::Dir;
use plugward_pinstore::McpOwner;
use plugward_protocol::{Item, ItemKind};
use plugward_state_file::{Backup, Owner, StateError, StateFile};
use plugward_types::Digest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::contents::hash::sha256;

const VERSION: u32 = 1;
/// The most offers of each kind that are kept for a server, as many as it has pins.
const MAX_OFFERS: usize = 16;
/// The most bytes of a file: twice 16 offers of 4 MiB, with the names of their members.
const CAP: u64 = 160 << 20;
/// How long a write waits for another process.
const WAIT: Duration = Duration::from_secs(5);

/// An offer with its texts.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "every host must decide about a new field")]
pub struct StoredOffer {
    /// The digest over all items.
    pub set: Digest,
    /// The key of the pin.
    pub key: Digest,
    /// The first request of the host.
    pub first: String,
    /// The names of the capabilities of the client.
    pub capabilities: BTreeSet<String>,
    /// The items.
    pub items: Vec<Item>,
    /// The command that started the server.
    pub command: Vec<String>,
    /// The directory in which it started; empty for a server of a plugin.
    pub directory: String,
    /// Whether the offer was withheld.
    pub is_withheld: bool,
    /// Whether the server was ended before it had listed everything.
    pub is_part: bool,
}

/// A server with stored offers.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "a row of a listing")]
pub struct OfferServer {
    /// The owner of its pins.
    pub owner: McpOwner,
    /// The name in the pins.
    pub name: String,
}

#[derive(Serialize, Deserialize)]
struct OfferFile {
    version: u32,
    /// The key of the plugin; none for a server of the user.
    plugin: Option<String>,
    server: String,
    offers: Vec<OfferRow>,
}

#[derive(Serialize, Deserialize)]
struct OfferRow {
    set: String,
    key: String,
    first: String,
    capabilities: BTreeSet<String>,
    items: Vec<ItemRow>,
    command: Vec<String>,
    directory: String,
    withheld: bool,
    part: bool,
}

#[derive(Serialize, Deserialize)]
struct ItemRow {
    kind: String,
    json: Value,
}

/// The texts of offers cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OfferStoreError {
    /// The file cannot be accessed.
    #[error("the stored offers: {0}")]
    State(#[from] StateError),
    /// The directory cannot be read.
    #[error("the directory of the stored offers cannot be read: {0}")]
    Directory(#[source] io::Error),
    /// The file is damaged.
    #[error("the stored offers in {file} are damaged: {fault}")]
    Damaged {
        /// The name of the file.
        file: String,
        /// The fault.
        fault: String,
    },
}

impl OfferStoreError {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "mcp/store"
    }
}

/// The stored offers of one server, in a file of its own.
#[derive(Debug)]
pub struct OfferStore {
    file: StateFile,
    plugin: Option<String>,
    server: String,
    is_new: bool,
}

impl OfferStore {
    /// Returns the store of a server in a private directory.
    ///
    /// # Errors
    /// [`OfferStoreError`] if the directory handle cannot be duplicated.
    pub fn at(dir: &Dir, owner: Owner, mcp: &McpOwner, server: &str) -> Result<Self, OfferStoreError> {
        let plugin = match mcp {
            McpOwner::Plugin(key) => Some(key.to_string()),
            McpOwner::User => None,
        };
        // Names of servers can contain any character.
        let digest = sha256(format!("{}\n{server}", plugin.as_deref().unwrap_or_default()).as_bytes()).hex();
        let name = format!("{}.json", digest.chars().take(32).collect::<String>());
        let file = StateFile::at(dir, &name, CAP, owner, Backup::None)?;
        Ok(Self { file, plugin, server: server.to_owned(), is_new: !dir.exists(&name) })
    }

    /// Returns `true` if there was no file when the store was opened.
    pub(crate) const fn is_new(&self) -> bool {
        self.is_new
    }

    /// Returns the servers with stored offers in a directory, sorted by name.
    ///
    /// # Errors
    /// [`OfferStoreError`] if a file cannot be read.
    pub fn servers(dir: &Dir, owner: Owner) -> Result<Vec<OfferServer>, OfferStoreError> {
        let damaged = |file: &str, fault: String| OfferStoreError::Damaged { file: file.to_owned(), fault };
        let mut servers = Vec::new();
        for entry in dir.entries().map_err(OfferStoreError::Directory)? {
            let name = entry.map_err(OfferStoreError::Directory)?.file_name();
            let Some(name) = name.to_str().filter(|name| name.strip_suffix(".json").is_some()) else {
                continue;
            };
            let Some(content) = StateFile::at(dir, name, CAP, owner, Backup::None)?.read()? else { continue };
            let file = OfferFile::read(content.bytes()).map_err(|fault| damaged(name, fault))?;
            let owner = match file.plugin.map(|key| key.parse()) {
                None => McpOwner::User,
                Some(Ok(key)) => McpOwner::Plugin(key),
                Some(Err(_)) => return Err(damaged(name, "the key of the plugin".to_owned())),
            };
            servers.push(OfferServer { owner, name: file.server });
        }
        servers.sort_by(|one, two| one.name.cmp(&two.name));
        Ok(servers)
    }

    /// Returns the stored offers, oldest first.
    ///
    /// # Errors
    /// [`OfferStoreError`] if the file exists and cannot be read.
    pub fn read(&self) -> Result<Vec<StoredOffer>, OfferStoreError> {
        let content = self.file.read()?;
        content.map_or_else(|| Ok(Vec::new()), |content| self.parse(content.bytes()))
    }

    fn parse(&self, bytes: &[u8]) -> Result<Vec<StoredOffer>, OfferStoreError> {
        let damaged = |fault: String| OfferStoreError::Damaged { file: self.file.name().to_owned(), fault };
        let file = OfferFile::read(bytes).map_err(damaged)?;
        file.offers.into_iter().map(|row| row.read().map_err(damaged)).collect()
    }

    /// Adds an offer. The oldest offers above the limit are removed.
    ///
    /// # Errors
    /// [`OfferStoreError`]. The stored offers are unchanged.
    pub fn add(&self, offer: &StoredOffer) -> Result<(), OfferStoreError> {
        let lock = self.file.lock(WAIT)?;
        let content = lock.read()?;
        let mut offers = content.map_or_else(|| Ok(Vec::new()), |content| self.parse(content.bytes()))?;
        offers.retain(|old| (old.set, old.key) != (offer.set, offer.key));
        offers.push(offer.clone());
        let alike = offers.iter().filter(|old| old.is_withheld == offer.is_withheld).count();
        if alike > MAX_OFFERS
            && let Some(oldest) = offers.iter().position(|old| old.is_withheld == offer.is_withheld)
        {
            offers.remove(oldest);
        }
        let file = OfferFile {
            version: VERSION,
            plugin: self.plugin.clone(),
            server: self.server.clone(),
            offers: offers.iter().map(OfferRow::of).collect(),
        };
        let damaged = |error: serde_json::Error| OfferStoreError::Damaged {
            file: self.file.name().to_owned(),
            fault: error.to_string(),
        };
        let bytes = serde_json::to_vec(&file).map_err(damaged)?;
        lock.replace(&bytes)?;
        Ok(())
    }
}

impl OfferFile {
    fn read(bytes: &[u8]) -> Result<Self, String> {
        let file: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if file.version == VERSION { Ok(file) } else { Err(format!("version {}", file.version)) }
    }
}

impl OfferRow {
    fn of(offer: &StoredOffer) -> Self {
        let item = |item: &Item| ItemRow { kind: item.kind().to_string(), json: item.json().clone() };
        Self {
            set: offer.set.to_string(),
            key: offer.key.to_string(),
            first: offer.first.clone(),
            capabilities: offer.capabilities.clone(),
            items: offer.items.iter().map(item).collect(),
            command: offer.command.clone(),
            directory: offer.directory.clone(),
            withheld: offer.is_withheld,
            part: offer.is_part,
        }
    }

    fn read(self) -> Result<StoredOffer, String> {
        let item = |row: ItemRow| {
            let kind = ItemKind::from_name(&row.kind).ok_or_else(|| format!("kind `{}`", row.kind))?;
            Item::new(kind, row.json).map_err(|error| error.to_string())
        };
        let digest = |text: &str| text.parse::<Digest>().map_err(|error| error.to_string());
        Ok(StoredOffer {
            set: digest(&self.set)?,
            key: digest(&self.key)?,
            first: self.first,
            capabilities: self.capabilities,
            items: self.items.into_iter().map(item).collect::<Result<_, _>>()?,
            command: self.command,
            directory: self.directory,
            is_withheld: self.withheld,
            is_part: self.part,
        })
    }
}
