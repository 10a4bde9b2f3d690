//! What the program may do, as values that only the mint makes.
#![forbid(unsafe_code)]

pub mod mint;

/// May write below one folder.
#[derive(Debug)]
pub struct WriteCapability {
    folder: String,
}

impl WriteCapability {
    pub(crate) fn with(grant: mint::Grant, folder: &str) -> Self {
        let _: mint::Grant = grant;
        Self { folder: folder.to_owned() }
    }

    /// Gives the folder.
    #[must_use]
    pub fn folder(&self) -> &str {
        &self.folder
    }
}
