//! Downloads: the trait that supplies bytes, its limits, and the last good copies of registry files.

#[cfg(feature = "net")]
mod http;
mod kept;
mod local;
mod url;

use std::io::{self, Write};

use crate::error::{RegistryError, RegistryErrorKind};

#[cfg(feature = "net")]
pub use http::{HttpFetch, HttpTimeouts};
pub use kept::{KeptRegistries, LoadedRegistry};
pub use local::LocalFetch;
pub use url::{SourceUrl, UrlPlace};

/// The most bytes of a registry file.
pub(crate) const REGISTRY_BYTES: u64 = 4 << 20;
/// The most bytes of an executable.
pub(crate) const BINARY_BYTES: u64 = 256 << 20;

/// Supplies the bytes of a URL. The host implements it; this crate has [`LocalFetch`] and, with `net`, `HttpFetch`.
pub trait Fetch {
    /// Writes the bytes of the URL to `sink` in order, and returns their announced number if it is known.
    ///
    /// An error of `sink` must end the call. The caller keeps that error, so any fault can be returned for it.
    ///
    /// # Errors
    /// The fault that ended the download.
    fn fetch(&self, url: &SourceUrl, sink: &mut dyn Write) -> Result<Option<u64>, FetchFault>;
}

/// The fault that ended a download.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchFault {
    /// The server cannot be reached, or its answer is not a file; the text explains it.
    Network(String),
    /// The download ended before the announced number of bytes.
    Short {
        /// The announced number of bytes.
        expected: u64,
    },
    /// The server sent nothing for this number of seconds.
    Stalled(u64),
    /// The server redirected to a place that is not allowed; the text completes "the URL redirects …".
    Redirect(String),
}

/// Downloads a URL into `inner`, and enforces the limit and the announced length.
pub(crate) fn download<W: Write>(
    fetch: &dyn Fetch,
    from: &SourceUrl,
    limit: u64,
    inner: &mut W,
) -> Result<u64, RegistryError> {
    let mut sink = LimitedSink { inner, limit, written: 0, failure: None };
    let outcome = fetch.fetch(from, &mut sink);
    let (actual, url) = (sink.written, from.to_string());
    match (sink.failure, outcome) {
        // A fault that follows from the sink's own error is not the cause.
        (Some(SinkFailure::Limit), _) => Err(RegistryErrorKind::TooLarge { url, limit }.into()),
        (Some(SinkFailure::Write(error)), _) => Err(RegistryError::disk("write", "the download", error)),
        (None, Ok(Some(expected))) if expected != actual => {
            Err(RegistryErrorKind::Length { url, expected, actual }.into())
        }
        (None, Ok(_)) => Ok(actual),
        (None, Err(fault)) => Err(match fault {
            FetchFault::Network(why) => RegistryErrorKind::Network { url, why },
            FetchFault::Short { expected } => RegistryErrorKind::Length { url, expected, actual },
            FetchFault::Stalled(seconds) => RegistryErrorKind::Stalled { url, seconds },
            FetchFault::Redirect(why) => RegistryErrorKind::Redirect { url, why },
        }
        .into()),
    }
}

/// Counts the written bytes and ends the download at the limit, whatever the [`Fetch`] does.
struct LimitedSink<'a, W> {
    inner: &'a mut W,
    limit: u64,
    written: u64,
    failure: Option<SinkFailure>,
}

/// The first failure of a sink.
enum SinkFailure {
    Limit,
    Write(io::Error),
}

impl<W: Write> Write for LimitedSink<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if self.failure.is_none() {
            if self.written.saturating_add(length) > self.limit {
                self.failure = Some(SinkFailure::Limit);
            } else if let Err(error) = self.inner.write_all(bytes) {
                self.failure = Some(SinkFailure::Write(error));
            }
        }
        if self.failure.is_some() {
            return Err(io::Error::other("the download was ended"));
        }
        self.written = self.written.saturating_add(length);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
