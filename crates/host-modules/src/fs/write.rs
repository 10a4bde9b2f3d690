//! The module `fs-write`.

use std::io::Write as _;

use plugward_sandbox_path::{
    AppendOutcome, FileKind, Jail, MissingFile, OpenError, OpenErrorKind, PathEscapeKind, Perm, RelPath,
    ReplaceOutcome,
};
use plugward_types::base64;
use serde_json::{Value, json};

use crate::config::{ConfigError, ModuleConfig, open_base};
use crate::fs::read::schema;
use crate::fs::{FileModule, SizeLimit, answer, denied, is_base64, is_missing, special, whole};
use crate::module::{CallResult, FunctionName, HostModule, ModuleName, bytes_of};

const SCHEMA: &str = r#"{
    "baseDir": {"type": "string", "description": "The directory of all paths", "maxLength": 4096, "promptKey": true},
    "maxWriteSizeKb": {"type": "number", "description": "The largest written file", "default": 20480, "minimum": 0},
    "maxEntries": {"type": "number", "description": "The most created entries", "default": 1000, "minimum": 0},
    "maxWriteChunkKb": {"type": "number", "description": "The most data of one call", "default": 2048, "minimum": 64}
}"#;
const NOT_REGULAR: &str = "Not a regular file";

/// The configuration of [`fs_write`].
#[derive(Debug, Clone, PartialEq)]
pub struct FsWriteConfig {
    base_dir: Option<String>,
    max_file: SizeLimit,
    max_chunk: SizeLimit,
    max_entries: u64,
}

impl FsWriteConfig {
    /// The functions of the module.
    pub const FUNCTIONS: [&str; 5] =
        ["writeFile", "appendFile", "writeFileBinary", "appendFileBinary", "mkdir"];

    /// Reads `key=value` arguments.
    ///
    /// # Errors
    /// `host-module/config`, as [`ModuleConfig::resolve`].
    pub fn from_args(args: &[&str]) -> Result<Self, ConfigError> {
        let config = ModuleConfig::resolve(&schema(SCHEMA)?, args)?;
        Ok(Self {
            base_dir: config.text("baseDir"),
            max_file: SizeLimit::of_kb(config.number("maxWriteSizeKb")),
            max_chunk: SizeLimit::of_kb(config.number("maxWriteChunkKb")),
            max_entries: whole(config.number("maxEntries")),
        })
    }

    /// Opens the directory in `baseDir`, which must belong to the user.
    ///
    /// # Errors
    /// `host-module/config` without a directory; `host-module/base-dir` if it is missing, a symlink, or of another user.
    pub fn open_base(&self, user: u32) -> Result<Jail, ConfigError> {
        open_base(self.base_dir.as_deref(), user)
    }
}

/// Creates the module `fs-write` on a jail, which should have [`Policy::agent`](plugward_sandbox_path::Policy::agent).
///
/// Files are replaced atomically. New files have the mode 0600, new directories 0700.
#[must_use]
pub fn fs_write(jail: Jail, config: FsWriteConfig) -> impl HostModule + use<> {
    let files = FileModule::new("fs-write", &FsWriteConfig::FUNCTIONS, jail);
    FsWrite { files, config, created: 0 }
}

struct FsWrite {
    files: FileModule,
    config: FsWriteConfig,
    /// The number of created files and directories.
    created: u64,
}

/// The data of a call.
struct WriteData {
    bytes: Vec<u8>,
    /// The size that the limits apply to. HyperAgent estimates it for base64.
    size: u64,
}

impl WriteData {
    fn of(function: &str, args: &[Value]) -> Result<Self, String> {
        let data = args.get(1);
        let (bytes, size) = match (function, data.and_then(Value::as_str)) {
            ("writeFileBinary" | "appendFileBinary", _) => {
                let bytes = data.and_then(bytes_of).ok_or_else(|| wrong_data(function))?;
                let size = bytes.len();
                (bytes, size)
            }
            (_, Some(text)) if is_base64(args.get(2)) => {
                let size = text.encode_utf16().count().saturating_mul(3).div_ceil(4);
                (base64::decode_lenient(text.as_bytes()), size)
            }
            (_, Some(text)) => (text.as_bytes().to_vec(), text.len()),
            (_, None) => return Err(wrong_data(function)),
        };
        Ok(Self { bytes, size: u64::try_from(size).unwrap_or(u64::MAX) })
    }
}

fn wrong_data(function: &str) -> String {
    match function {
        "writeFile" => {
            "writeFile expects a string. For binary data (Uint8Array from createZip, etc.), use \
             writeFileBinary(path, data) instead."
        }
        "appendFile" => {
            "appendFile expects a string. For binary data (Uint8Array), use appendFileBinary(path, data) instead."
        }
        "writeFileBinary" => {
            "writeFileBinary expects binary data (Uint8Array from createZip, buildZip, etc.). For string content, \
             use writeFile instead."
        }
        _ => {
            "appendFileBinary expects binary data (Uint8Array). For string content, use appendFile instead."
        }
    }
    .to_owned()
}

impl HostModule for FsWrite {
    fn name(&self) -> &ModuleName {
        &self.files.name
    }

    fn functions(&self) -> &[FunctionName] {
        &self.files.functions
    }

    fn call(&mut self, function: &FunctionName, args: &[Value]) -> CallResult {
        let result = match function.as_str() {
            name @ ("writeFile" | "writeFileBinary") => self.write(name, args),
            name @ ("appendFile" | "appendFileBinary") => self.append(name, args),
            "mkdir" => self.make_directory(args),
            other => return CallResult::error(format!("`{other}` is not a function of fs-write")),
        };
        answer(function, result.map(|()| json!({ "ok": true })))
    }
}

impl FsWrite {
    fn write(&mut self, function: &str, args: &[Value]) -> Result<(), String> {
        let path = self.files.path(args)?;
        let WriteData { bytes, size } = WriteData::of(function, args)?;
        let (chunk, most) = (self.config.max_chunk, self.config.max_file);
        if size > chunk.bytes {
            let append = function.replace("write", "append");
            return Err(format!(
                "Content too large for single write: {size} bytes exceeds per-call limit of {}KB. Write the first \
                 chunk with {function}, then append remaining chunks with {append}. Or reconfigure fs-write with a \
                 larger maxWriteChunkKb (ensure the sandbox output buffer is large enough to match).",
                chunk.kb
            ));
        }
        if size > most.bytes {
            return Err(format!(
                "Content too large: exceeds cumulative file write limit of {}KB. To increase, reconfigure fs-write \
                 with a larger maxWriteSizeKb.",
                most.kb
            ));
        }
        let failed = "Write operation failed";
        if self.is_full() {
            // Existing files can still be written.
            let meta = self.files.jail.metadata(path.as_borrowed());
            meta.map_err(|error| self.full(&error, &path, failed))?;
        }
        let outcome = self.files.jail.replace(path.as_borrowed(), &bytes, Perm::PRIVATE_FILE);
        if outcome.map_err(|error| failure(&error, failed))? == ReplaceOutcome::Created {
            self.created = self.created.saturating_add(1);
        }
        Ok(())
    }

    fn append(&mut self, function: &str, args: &[Value]) -> Result<(), String> {
        let path = self.files.path(args)?;
        let WriteData { bytes, size } = WriteData::of(function, args)?;
        let (chunk, most) = (self.config.max_chunk, self.config.max_file);
        if size > chunk.bytes {
            return Err(format!(
                "Append content too large for single call: {size} bytes exceeds per-call limit of {}KB. Split into \
                 smaller {function} calls, or reconfigure fs-write with a larger maxWriteChunkKb.",
                chunk.kb
            ));
        }
        let above = |detail: &str| {
            format!(
                "Append would exceed cumulative file write limit of {}KB{detail}. To increase, reconfigure fs-write \
                 with a larger maxWriteSizeKb.",
                most.kb
            )
        };
        if size > most.bytes {
            return Err(above(""));
        }
        let failed = "Append operation failed";
        if special(&self.files.jail, path.as_borrowed()).is_some() {
            return Err(NOT_REGULAR.to_owned());
        }
        let missing =
            if self.is_full() { MissingFile::Refuse } else { MissingFile::Create(Perm::PRIVATE_FILE) };
        let opened = self.files.jail.append(path.as_borrowed(), missing);
        let (mut file, outcome) = opened.map_err(|error| match missing {
            MissingFile::Refuse => self.full(&error, &path, failed),
            MissingFile::Create(_) => failure(&error, failed),
        })?;
        if outcome == AppendOutcome::Created {
            self.created = self.created.saturating_add(1);
        }
        let current = file.opened().len();
        if current.saturating_add(size) > most.bytes {
            return Err(above(&format!(" (current: {current} bytes + new: {size} bytes)")));
        }
        file.write_all(&bytes).map_err(|_io| failed.to_owned())
    }

    fn make_directory(&mut self, args: &[Value]) -> Result<(), String> {
        let path = self.files.path(args)?;
        if self.is_full() {
            return Err(self.limit());
        }
        self.files.jail.create_dir(path.as_borrowed(), Perm::PRIVATE_DIRECTORY).map_err(
            |error| match error.kind() {
                OpenErrorKind::Exists | OpenErrorKind::Path(PathEscapeKind::JailItself) => {
                    "Directory already exists".to_owned()
                }
                _ => failure(&error, "Mkdir operation failed"),
            },
        )?;
        self.created = self.created.saturating_add(1);
        Ok(())
    }

    const fn is_full(&self) -> bool {
        self.created >= self.config.max_entries
    }

    fn limit(&self) -> String {
        format!(
            "Entry limit reached: cannot create more than {} files/directories. To increase, reconfigure fs-write \
             with a larger maxEntries.",
            self.config.max_entries
        )
    }

    /// Returns the text for a file that cannot be opened, when no more files can be created.
    fn full(&self, error: &OpenError, path: &RelPath<'_>, failed: &str) -> String {
        // Only the last component would be created.
        let is_file = is_missing(error) && error.component().is_none_or(|at| at >= path.depth());
        if is_file { self.limit() } else { failure(error, failed) }
    }
}

/// Returns the text for an error of the jail.
fn failure(error: &OpenError, failed: &str) -> String {
    let text = match error.kind() {
        // A missing file is created, so its parent is missing.
        _ if is_missing(error) => "Parent directory does not exist",
        OpenErrorKind::Path(PathEscapeKind::NotRegular { is }) if *is != FileKind::Directory => NOT_REGULAR,
        _ => failed,
    };
    denied(error).unwrap_or(text).to_owned()
}
