//! An error with all of its faults.

use core::fmt;

use crate::codes::help;

/// A fault with a stable code.
pub trait Fault: fmt::Display {
    /// Returns the stable code.
    fn code(&self) -> &'static str;
}

/// A schema or configuration that cannot be used, with all of its faults. Nothing was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults<F> {
    first: Box<F>,
    rest: Vec<F>,
}

impl<F: Fault> Faults<F> {
    /// Returns an error if there are faults.
    pub(crate) fn check(faults: impl IntoIterator<Item = F>) -> Result<(), Self> {
        let mut faults = faults.into_iter();
        match faults.next() {
            Some(first) => Err(Self { first: Box::new(first), rest: faults.collect() }),
            None => Ok(()),
        }
    }

    /// Returns the stable code of the first fault.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.first.code()
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        help(self.code())
    }

    /// Returns all faults, in their order.
    pub fn faults(&self) -> impl Iterator<Item = &F> {
        core::iter::once(&*self.first).chain(&self.rest)
    }
}

impl<F: Fault> fmt::Display for Faults<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.first.fmt(f)
    }
}

impl<F: Fault + fmt::Debug> core::error::Error for Faults<F> {}
