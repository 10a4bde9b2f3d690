//! Enums whose values have names.

/// Defines an enum whose values have names, as settings, stored files and reports spell them.
///
/// The enum gets `ALL` and `NAMES`, the values and names in their order; `as_str`, the name of a value, which is also its `Display`; and
/// `from_name`, the value of a name.
///
/// # Examples
/// ```
/// plugward_types::named! {
///     /// The answer to a question.
///     #[derive(Debug, Clone, Copy, PartialEq)]
///     pub enum Answer {
///         /// Agreed.
///         Yes = "yes",
///         /// Not agreed.
///         No = "no",
///     }
/// }
///
/// assert_eq!(Answer::ALL.map(Answer::as_str), Answer::NAMES);
/// assert_eq!(Answer::from_name("no"), Some(Answer::No));
/// assert_eq!(Answer::from_name("perhaps"), None);
/// ```
#[macro_export]
macro_rules! named {
    ($(#[$of_enum:meta])* pub enum $name:ident {
        $($(#[$of_value:meta])* $value:ident = $word:literal),* $(,)?
    }) => {
        $(#[$of_enum])*
        pub enum $name {
            $($(#[$of_value])* $value,)*
        }

        impl $name {
            /// All values, in order.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$value),*];

            /// The names of all values, in the same order.
            pub const NAMES: &'static [&'static str] = &[$($word),*];

            /// Returns the name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$value => $word,)* }
            }

            /// Returns the value of a name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($word => Some(Self::$value),)* _ => None }
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}
