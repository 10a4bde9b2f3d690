//! Tables of names that the rules know.

/// A list of names in one string, separated by spaces.
///
/// The rules know some hundred names of functions, types and macros. One string per list keeps them readable.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameList(pub(crate) &'static str);

impl NameList {
    /// Returns `true` if the list contains a name.
    pub(crate) fn has(self, name: &str) -> bool {
        self.0.split_ascii_whitespace().any(|known| known == name)
    }

    /// Returns `true` if the list contains an identifier.
    pub(crate) fn has_ident(self, ident: &proc_macro2::Ident) -> bool {
        self.0.split_ascii_whitespace().any(|known| ident == known)
    }
}
