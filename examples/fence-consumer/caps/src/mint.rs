//! The only place that makes a capability.

use crate::WriteCapability;

/// Shows that the mint was asked.
#[derive(Debug)]
pub struct Grant {
    _private: (),
}

/// Makes capabilities, and is made once, at the start of the program.
#[derive(Debug)]
pub struct Mint {
    _private: (),
}

impl Mint {
    /// Makes the mint.
    #[must_use]
    pub fn at_start() -> Self {
        Self { _private: () }
    }

    /// Makes a capability.
    #[must_use]
    pub fn mint(&self, folder: &str) -> WriteCapability {
        println!("minted: write below {folder}");
        WriteCapability::with(Grant { _private: () }, folder)
    }
}
