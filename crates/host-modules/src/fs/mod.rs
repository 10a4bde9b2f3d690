//! Files in one directory: the parts that reading and writing share.

pub(crate) mod read;
pub(crate) mod write;

use std::path::Path;

use plugward_sandbox_path::{FileKind, Jail, OpenError, OpenErrorKind, PathEscapeKind, RelPath};
use serde_json::{Value, json};

use crate::module::{CallResult, FunctionName, ModuleName};

// The texts are those of HyperAgent 0.7.0, because guests compare them. None contains a path of the machine.
const SYMLINK: &str = "Access denied: symlinks are not permitted";
const OUTSIDE: &str = "Access denied: path is outside allowed directory";
const TRAVERSAL: &str = "Access denied: path traversal detected";
const DOTFILE: &str = "Access denied: dotfile access is not permitted";
const INVALID: &str = "Access denied: path validation failed";
const NUL: &str = "Access denied: invalid path character";
const EMPTY: &str = "Invalid path: must be a non-empty string";
const TOO_LONG: &str = "Invalid path: exceeds maximum length";
// HyperAgent has no counterpart: it follows hard links out of its directory.
const HARD_LINK: &str = "Access denied: hard links are not permitted";

/// The parts of a file module that do not differ between reading and writing.
struct FileModule {
    name: ModuleName,
    functions: Vec<FunctionName>,
    jail: Jail,
}

impl FileModule {
    fn new(name: &'static str, functions: &[&'static str], jail: Jail) -> Self {
        let functions = functions.iter().map(|name| FunctionName::native(name)).collect();
        Self { name: ModuleName::native(name), functions, jail }
    }

    /// Checks the first argument, which is a path, without a system call.
    fn path<'a>(&self, args: &'a [Value]) -> Result<RelPath<'a>, String> {
        let text = args.first().and_then(Value::as_str).filter(|text| !text.is_empty()).ok_or(EMPTY)?;
        if text.contains('\0') {
            return Err(NUL.to_owned());
        }
        let parsed = if text.starts_with('/') {
            let text = text.trim_end_matches('/');
            self.jail.strip(Path::new(if text.is_empty() { "/" } else { text }))
        } else {
            RelPath::parse_directory(text.as_bytes(), self.jail.policy())
        };
        parsed.map_err(|error| {
            match error.kind() {
                PathEscapeKind::Outside => OUTSIDE,
                PathEscapeKind::Parent if leads_outside(text) => OUTSIDE,
                PathEscapeKind::Parent => TRAVERSAL,
                PathEscapeKind::Dotfile => DOTFILE,
                PathEscapeKind::TooLong => TOO_LONG,
                _ => INVALID,
            }
            .to_owned()
        })
    }
}

/// Returns the kind of a special file. It must not be opened: the open of a device or FIFO can have an effect.
fn special(jail: &Jail, path: RelPath<'_>) -> Option<FileKind> {
    let kind = jail.metadata(path).ok()?.kind();
    (!matches!(kind, FileKind::File | FileKind::Directory | FileKind::Symlink)).then_some(kind)
}

/// Returns `true` if the `..` of a relative path lead above its start.
fn leads_outside(path: &str) -> bool {
    let mut depth = 0_usize;
    path.split('/').any(|part| match part {
        "" | "." => false,
        ".." => match depth.checked_sub(1) {
            Some(up) => {
                depth = up;
                false
            }
            None => true,
        },
        _ => {
            depth = depth.saturating_add(1);
            false
        }
    })
}

/// Returns the text for an error of the jail that does not depend on the operation.
fn denied(error: &OpenError) -> Option<&'static str> {
    match error.kind() {
        OpenErrorKind::Path(PathEscapeKind::Symlink) => Some(SYMLINK),
        OpenErrorKind::Path(PathEscapeKind::Outside | PathEscapeKind::Mount) => Some(OUTSIDE),
        OpenErrorKind::Path(PathEscapeKind::HardLinked { .. }) => Some(HARD_LINK),
        OpenErrorKind::Path(PathEscapeKind::TooLong) => Some(TOO_LONG),
        _ => None,
    }
}

fn is_missing(error: &OpenError) -> bool {
    matches!(error.kind(), OpenErrorKind::Path(PathEscapeKind::NotFound))
}

/// Returns the answer of a function: those for bytes throw, the others return `{error}`.
fn answer(function: &FunctionName, result: Result<Value, String>) -> CallResult {
    match result {
        Ok(value) => CallResult::Returned(value),
        Err(text) if function.as_str().ends_with("Binary") => CallResult::error(text),
        Err(text) => CallResult::Returned(json!({ "error": text })),
    }
}

/// Returns `true` if an optional argument asks for base64. Other values mean UTF-8, as in HyperAgent.
fn is_base64(encoding: Option<&Value>) -> bool {
    encoding.and_then(Value::as_str) == Some("base64")
}

/// A limit of size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SizeLimit {
    /// The setting, for messages.
    pub(crate) kb: f64,
    pub(crate) bytes: u64,
}

impl SizeLimit {
    pub(crate) fn of_kb(kb: f64) -> Self {
        Self { kb, bytes: whole(kb * 1024.0) }
    }
}

/// Converts a number that is not negative, without its fraction. A number above the range becomes the highest one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates at both ends")]
pub(crate) const fn whole(number: f64) -> u64 {
    number as u64
}
