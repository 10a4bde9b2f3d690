//! The last good copy of each registry file.

use std::time::Duration;

use cap_std::fs::Dir;
use plugward_state_file::{Backup, Owner, StateFile};
use plugward_types::{Part, Timestamp, hex};
use sha2::{Digest as _, Sha256};

use super::{Fetch, REGISTRY_BYTES, SourceUrl, download};
use crate::error::{RegistryError, RegistryErrorKind};
use crate::registry::Registry;

/// The first words of a copy; the time and the URL follow on the same line.
const HEAD: &str = "plugward-registry 1 ";
/// The most bytes of the first line.
const HEAD_BYTES: u64 = 8 << 10;

/// The copies of registry files in a directory, one per URL.
#[derive(Debug)]
pub struct KeptRegistries<'a> {
    dir: &'a Dir,
    owner: Owner,
    wait: Duration,
}

/// A registry, and how current it is.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "every host must show the age of a kept copy")]
pub struct LoadedRegistry {
    /// The registry.
    pub registry: Registry,
    /// The time of the download.
    pub fetched: Timestamp,
    /// The error of a newer download, because of which a kept copy is used: `registry/kept`.
    pub fault: Option<RegistryError>,
}

impl<'a> KeptRegistries<'a> {
    /// Uses a directory. `wait` is the longest wait for the file lock of another process.
    #[must_use]
    pub const fn new(dir: &'a Dir, owner: Owner, wait: Duration) -> Self {
        Self { dir, owner, wait }
    }

    /// Downloads a registry file and keeps a copy. If that fails, returns the kept copy with the error.
    ///
    /// # Errors
    /// Without a kept copy, the error of the download: `registry/network`, `/length`, `/too-large`, `/stalled`,
    /// `/redirect`, `/syntax` or `/version`. Those of the copy's file if it cannot be written.
    pub fn refresh(
        &self,
        url: &SourceUrl,
        fetch: &dyn Fetch,
        now: Timestamp,
    ) -> Result<LoadedRegistry, RegistryError> {
        let mut bytes = Vec::new();
        let parsed = match download(fetch, url, REGISTRY_BYTES, &mut bytes) {
            // The size is a rule of the format, so users read the same code as for its other rules.
            Err(error) if matches!(error.kind(), RegistryErrorKind::TooLarge { .. }) => {
                Err(RegistryErrorKind::Syntax { why: error.to_string() }.into())
            }
            Err(error) => Err(error),
            Ok(_) => Registry::parse(&bytes, url),
        };
        match parsed {
            Ok(registry) => {
                let copy = [format!("{HEAD}{now} {url}\n").as_bytes(), &bytes].concat();
                self.file(url)?.lock(self.wait)?.replace(&copy)?;
                Ok(LoadedRegistry { registry, fetched: now, fault: None })
            }
            Err(error) => match self.kept(url)? {
                Some(kept) => Ok(LoadedRegistry { fault: Some(error), ..kept }),
                None => Err(error),
            },
        }
    }

    /// Reads the kept copy of a registry file. A copy that is not valid counts as missing.
    ///
    /// # Errors
    /// Those of the copy's file.
    pub fn kept(&self, url: &SourceUrl) -> Result<Option<LoadedRegistry>, RegistryError> {
        let Some(copy) = self.file(url)?.read()? else { return Ok(None) };
        let Some(end) = copy.bytes().iter().position(|byte| *byte == b'\n') else { return Ok(None) };
        let (head, body) = copy.bytes().split_at(end);
        let head = core::str::from_utf8(head).ok().and_then(|head| head.strip_prefix(HEAD));
        // The file name is a part of a digest, so the URL itself is compared.
        let Some((time, of)) = head.and_then(|head| head.split_once(' ')) else { return Ok(None) };
        let (Ok(fetched), true) = (time.parse(), of == url.as_str()) else { return Ok(None) };
        let registry = Registry::parse(body.part(1..), url).ok();
        Ok(registry.map(|registry| LoadedRegistry { registry, fetched, fault: None }))
    }

    fn file(&self, url: &SourceUrl) -> Result<StateFile, RegistryError> {
        let digest = hex::encode(&Sha256::digest(url.as_str()));
        let name = format!("registry-{}", digest.part(..16));
        Ok(StateFile::at(
            self.dir,
            &name,
            REGISTRY_BYTES.saturating_add(HEAD_BYTES),
            self.owner,
            Backup::None,
        )?)
    }
}
