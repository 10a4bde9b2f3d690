//! Files of this machine as the source of a download.

use std::io::{Read as _, Write};

use cap_std::AmbientAuthority;
use cap_std::fs::{File, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;

use super::{Fetch, FetchFault, SourceUrl};

/// Reads `file` URLs.
#[derive(Clone, Copy)]
pub struct LocalFetch(pub(crate) AmbientAuthority);

impl core::fmt::Debug for LocalFetch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("LocalFetch")
    }
}

impl LocalFetch {
    /// Creates a source that may open any file of this user.
    #[must_use]
    pub const fn new(authority: AmbientAuthority) -> Self {
        Self(authority)
    }

    /// Opens a regular file by an absolute path and returns its length. Symlinks are followed, and a pipe does not block.
    pub(crate) fn open(self, path: &str) -> std::io::Result<(File, u64)> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
        let file = File::open_ambient_with(path, &options, self.0)?;
        let meta = file.metadata()?;
        if !meta.is_file() {
            return Err(std::io::Error::other("not a regular file"));
        }
        Ok((file, meta.len()))
    }
}

impl Fetch for LocalFetch {
    fn fetch(&self, url: &SourceUrl, sink: &mut dyn Write) -> Result<Option<u64>, FetchFault> {
        let failed = |error: std::io::Error| FetchFault::Network(error.to_string());
        let path = url.file_path().ok_or_else(|| FetchFault::Network("not the path of a file".to_owned()))?;
        let (mut file, length) = self.open(&path).map_err(failed)?;
        let mut piece = vec![0; 64 << 10];
        loop {
            let read = file.read(&mut piece).map_err(failed)?;
            let Some(bytes) = piece.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
            sink.write_all(bytes).map_err(failed)?;
        }
        Ok(Some(length))
    }
}
