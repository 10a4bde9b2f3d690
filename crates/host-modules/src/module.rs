//! Modules, their names, and the results of calls.

use core::fmt;

use plugward_types::base64;
use serde_json::{Value, json};

/// Names that would reach a prototype instead of a function in the guest.
const RESERVED: [&str; 3] = ["__proto__", "constructor", "prototype"];
/// The most bytes of a name. A refusal and a record contain it.
const MAX_NAME: usize = 64;

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $is_first:expr, $is_inner:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// Creates a name, or returns `None` if the text is not one.
            #[must_use]
            pub fn new(text: &str) -> Option<Self> {
                let (is_first, is_inner): (fn(u8) -> bool, fn(u8) -> bool) = ($is_first, $is_inner);
                let is_name = text.len() <= MAX_NAME
                    && text.bytes().next().is_some_and(is_first)
                    && text.bytes().all(is_inner)
                    && !RESERVED.contains(&text);
                is_name.then(|| Self(text.to_owned()))
            }

            /// Creates a name of a native module, which a test checks.
            pub(crate) fn native(text: &'static str) -> Self {
                Self(text.to_owned())
            }

            /// Returns the text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name! {
    /// The name of a module: `[a-z][a-z0-9-]{0,63}`.
    ModuleName,
    |byte| byte.is_ascii_lowercase(),
    |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'
}

name! {
    /// The name of a function: an ASCII identifier of JavaScript with at most 64 characters.
    ///
    /// `__proto__`, `constructor` and `prototype` are not names.
    FunctionName,
    |byte| byte.is_ascii_alphabetic() || b"_$".contains(&byte),
    |byte| byte.is_ascii_alphanumeric() || b"_$".contains(&byte)
}

/// Named functions that a guest can call.
pub trait HostModule: Send {
    /// Returns the name, with which a guest loads the module.
    fn name(&self) -> &ModuleName;

    /// Returns the functions. They do not change.
    fn functions(&self) -> &[FunctionName];

    /// Calls a function. [`Modules::call`](crate::Modules::call) passes only those of [`HostModule::functions`].
    fn call(&mut self, function: &FunctionName, args: &[Value]) -> CallResult;
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a function returns or throws")]
pub enum CallResult {
    /// The function returned a value. Bytes are as in [`bytes_value`].
    Returned(Value),
    /// The function threw an exception, which the guest can catch.
    Thrown(ThrownError),
}

/// An exception of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the parts of an exception that a guest sees")]
pub struct ThrownError {
    /// The name of its type, such as `TypeError`.
    pub name: String,
    /// The message.
    pub message: String,
}

impl CallResult {
    /// Creates an exception of the type `Error`.
    pub(crate) fn error(message: impl Into<String>) -> Self {
        Self::Thrown(ThrownError { name: "Error".to_owned(), message: message.into() })
    }
}

/// Returns bytes as a value: `{"$bytes": "<base64>"}`.
///
/// # Examples
/// ```
/// use plugward_host_modules::{bytes_of, bytes_value};
///
/// let value = bytes_value(b"hi");
/// assert_eq!(value.to_string(), r#"{"$bytes":"aGk="}"#);
/// assert_eq!(bytes_of(&value), Some(b"hi".to_vec()));
/// assert_eq!(bytes_of(&"aGk=".into()), None);
/// ```
#[must_use]
pub fn bytes_value(bytes: &[u8]) -> Value {
    json!({ "$bytes": base64::encode(bytes) })
}

/// Returns the bytes of a value, or `None` if it is not the canonical form of [`bytes_value`].
#[must_use]
pub fn bytes_of(value: &Value) -> Option<Vec<u8>> {
    let members = value.as_object().filter(|members| members.len() == 1)?;
    base64::decode_canonical(members.get("$bytes")?.as_str()?)
}
