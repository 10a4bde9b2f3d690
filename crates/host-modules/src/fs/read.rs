//! The module `fs-read`.

use plugward_lifecycle::Schema;
use plugward_sandbox_path::{
    FileKind, Jail, OpenError, OpenErrorKind, PathEscapeKind, RelPath, SandboxedFile,
};
use plugward_types::base64;
use serde_json::{Value, json};

use crate::config::{ConfigError, ModuleConfig, open_base};
use crate::fs::{FileModule, SizeLimit, answer, denied, is_base64, is_missing, special, whole};
use crate::module::{CallResult, FunctionName, HostModule, ModuleName, bytes_value};

const SCHEMA: &str = r#"{
    "baseDir": {"type": "string", "description": "The directory of all paths", "maxLength": 4096, "promptKey": true},
    "maxFileSizeKb": {"type": "number", "description": "The largest readable file", "default": 10240, "minimum": 0},
    "maxReadChunkKb": {"type": "number", "description": "The most data of one call", "default": 1024, "minimum": 64},
    "maxListResults": {"type": "number", "description": "The most entries of a list", "default": 1000, "minimum": 10}
}"#;

/// The configuration of [`fs_read`].
#[derive(Debug, Clone, PartialEq)]
pub struct FsReadConfig {
    base_dir: Option<String>,
    max_file: SizeLimit,
    max_chunk: SizeLimit,
    max_list: usize,
}

impl FsReadConfig {
    /// The functions of the module.
    pub const FUNCTIONS: [&str; 6] =
        ["readFile", "readFileChunk", "listDir", "stat", "readFileBinary", "readFileChunkBinary"];

    /// Reads `key=value` arguments.
    ///
    /// # Errors
    /// `host-module/config`, as [`ModuleConfig::resolve`].
    pub fn from_args(args: &[&str]) -> Result<Self, ConfigError> {
        let config = ModuleConfig::resolve(&schema(SCHEMA)?, args)?;
        Ok(Self {
            base_dir: config.text("baseDir"),
            max_file: SizeLimit::of_kb(config.number("maxFileSizeKb")),
            max_chunk: SizeLimit::of_kb(config.number("maxReadChunkKb")),
            max_list: usize::try_from(whole(config.number("maxListResults"))).unwrap_or(usize::MAX),
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

/// Reads the schema of a native module.
pub(crate) fn schema(text: &str) -> Result<Schema, ConfigError> {
    Schema::from_manifest(text, &[])
        .map_err(|error| ConfigError::Settings { faults: vec![error.to_string()] })
}

/// Creates the module `fs-read` on a jail, which should have [`Policy::agent`](plugward_sandbox_path::Policy::agent).
///
/// # Examples
/// ```
/// use plugward_host_modules::sandbox_path::{Jail, Policy};
/// use plugward_host_modules::{CallResult, FsReadConfig, FunctionName, HostModule as _, fs_read};
/// use serde_json::json;
///
/// let directory = tempfile::tempdir()?;
/// std::fs::write(directory.path().join("a.txt"), "hello\n")?;
/// let jail = Jail::open(directory.path(), Policy::agent())?;
/// let mut module = fs_read(jail, FsReadConfig::from_args(&[])?);
/// let read = FunctionName::new("readFile").ok_or("a function name")?;
/// let result = module.call(&read, &["a.txt".into()]);
/// assert_eq!(result, CallResult::Returned(json!({ "content": "hello\n" })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn fs_read(jail: Jail, config: FsReadConfig) -> impl HostModule + use<> {
    let files = FileModule::new("fs-read", &FsReadConfig::FUNCTIONS, jail);
    FsRead { files, config }
}

struct FsRead {
    files: FileModule,
    config: FsReadConfig,
}

/// The form in which a function returns contents.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ContentForm {
    Text,
    Base64,
    Bytes,
}

impl ContentForm {
    fn of(encoding: Option<&Value>) -> Self {
        if is_base64(encoding) { Self::Base64 } else { Self::Text }
    }

    fn content(self, bytes: &[u8]) -> Value {
        match self {
            Self::Text => json!({ "content": String::from_utf8_lossy(bytes) }),
            Self::Base64 => json!({ "content": base64::encode(bytes), "encoding": "base64" }),
            Self::Bytes => bytes_value(bytes),
        }
    }
}

impl HostModule for FsRead {
    fn name(&self) -> &ModuleName {
        &self.files.name
    }

    fn functions(&self) -> &[FunctionName] {
        &self.files.functions
    }

    fn call(&mut self, function: &FunctionName, args: &[Value]) -> CallResult {
        let result = match function.as_str() {
            "readFile" => self.read(args, ContentForm::of(args.get(1))),
            "readFileBinary" => self.read(args, ContentForm::Bytes),
            "readFileChunk" => self.read_part(args, ContentForm::of(args.get(3))),
            "readFileChunkBinary" => self.read_part(args, ContentForm::Bytes),
            "listDir" => self.list(args),
            "stat" => self.stat(args),
            other => return CallResult::error(format!("`{other}` is not a function of fs-read")),
        };
        answer(function, result)
    }
}

impl FsRead {
    /// Opens a file within the limit of size.
    fn open(&self, path: RelPath<'_>) -> Result<SandboxedFile, String> {
        if special(&self.files.jail, path.as_borrowed()).is_some() {
            return Err("Not a file".to_owned());
        }
        let file = self.files.jail.open_read(path).map_err(|error| match error.kind() {
            OpenErrorKind::Path(PathEscapeKind::NotRegular { .. }) => "Not a file".to_owned(),
            _ => failure(&error, "File not found", "Read operation failed"),
        })?;
        if file.opened().len() > self.config.max_file.bytes {
            return Err(format!(
                "File too large: exceeds read limit of {}KB. To increase, reconfigure fs-read with a larger \
                 maxFileSizeKb.",
                self.config.max_file.kb
            ));
        }
        Ok(file)
    }

    fn read(&self, args: &[Value], form: ContentForm) -> Result<Value, String> {
        let file = self.open(self.files.path(args)?)?;
        let (size, limit) = (file.opened().len(), self.config.max_chunk);
        if size > limit.bytes {
            let part = if form == ContentForm::Bytes { "readFileChunkBinary" } else { "readFileChunk" };
            return Err(format!(
                "File too large for single read: {size} bytes exceeds per-call limit of {}KB. Use {part}(path, \
                 offsetBytes, lengthBytes) to read in chunks, or reconfigure fs-read with a larger maxReadChunkKb \
                 (ensure the sandbox input buffer is large enough to match).",
                limit.kb
            ));
        }
        match file.read_chunk(0, usize::try_from(limit.bytes).unwrap_or(usize::MAX)) {
            Ok(chunk) if chunk.end => Ok(form.content(&chunk.bytes)),
            // The file grew above the limit while it was read, or the system failed.
            _ => Err("Read operation failed".to_owned()),
        }
    }

    fn read_part(&self, args: &[Value], form: ContentForm) -> Result<Value, String> {
        let path = self.files.path(args)?;
        let offset = number(args.get(1)).filter(|offset| *offset >= 0.0);
        let offset = offset.ok_or("offsetBytes must be a non-negative number")?;
        let length = number(args.get(2)).filter(|length| *length > 0.0);
        let length = length.ok_or("lengthBytes must be a positive number")?;
        let file = self.open(path)?;
        let total = file.opened().len();
        let part = |bytes: &[u8], has_more: bool| {
            let mut value = form.content(bytes);
            if form != ContentForm::Bytes
                && let Some(members) = value.as_object_mut()
            {
                members.insert("totalSize".to_owned(), total.into());
                members.insert("hasMore".to_owned(), has_more.into());
            }
            value
        };
        if whole(offset) >= total {
            return Ok(part(b"", false));
        }
        let most = total.saturating_sub(whole(offset)).min(self.config.max_chunk.bytes);
        let is_fraction = offset.fract() != 0.0 || (length.fract() != 0.0 && whole(length) < most);
        let wanted = usize::try_from(whole(length).min(most)).unwrap_or(usize::MAX);
        let chunk = file.read_chunk(whole(offset), wanted);
        let chunk = chunk.ok().filter(|_| !is_fraction).ok_or("Read operation failed")?;
        let read = u64::try_from(chunk.bytes.len()).unwrap_or(u64::MAX);
        Ok(part(&chunk.bytes, whole(offset).saturating_add(read) < total))
    }

    fn list(&self, args: &[Value]) -> Result<Value, String> {
        let path = self.files.path(args)?;
        let failed = |error: OpenError| match error.kind() {
            OpenErrorKind::Path(PathEscapeKind::NotADirectory) => "Not a directory".to_owned(),
            _ => failure(&error, "Directory not found", "List operation failed"),
        };
        let mut directory = self.files.jail.open_directory(path).map_err(failed)?;
        let mut most = self.config.max_list;
        loop {
            let listing = directory.list(most).map_err(failed)?;
            let entries = listing.entries().iter().filter_map(|entry| {
                let kind = match entry.kind() {
                    FileKind::File => "file",
                    FileKind::Directory => "directory",
                    _ => return None,
                };
                Some(json!({ "name": String::from_utf8_lossy(entry.name()), "type": kind }))
            });
            let entries: Vec<Value> = entries.take(self.config.max_list).collect();
            // Symlinks and special files do not count, so more entries are needed if there were some.
            let next = most.saturating_mul(2);
            if entries.len() == self.config.max_list || !listing.is_truncated() || next == most {
                return Ok(entries.into());
            }
            most = next;
        }
    }

    fn stat(&self, args: &[Value]) -> Result<Value, String> {
        let meta = self.files.jail.metadata(self.files.path(args)?);
        let meta = meta.map_err(|error| failure(&error, "File not found", "Stat operation failed"))?;
        let (is_file, is_directory) = (meta.kind() == FileKind::File, meta.kind() == FileKind::Directory);
        Ok(json!({ "size": meta.len(), "isFile": is_file, "isDirectory": is_directory }))
    }
}

fn failure(error: &OpenError, missing: &str, failed: &str) -> String {
    let other = if is_missing(error) { missing } else { failed };
    denied(error).unwrap_or(other).to_owned()
}

/// Converts an argument as `Number` of JavaScript does, or returns `None` for a value that is not a finite number.
fn number(arg: Option<&Value>) -> Option<f64> {
    let number = match arg? {
        Value::Null => 0.0,
        Value::Bool(value) => f64::from(u8::from(*value)),
        Value::Number(number) => number.as_f64()?,
        Value::String(text) if text.trim().is_empty() => 0.0,
        Value::String(text) => text.trim().parse().ok()?,
        Value::Array(_) | Value::Object(_) => return None,
    };
    Some(number).filter(|number| number.is_finite())
}
