//! The request of OpenClaw: what it is about to install.

use std::io::Read as _;

use camino::Utf8Path;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::failure::Failure;

/// The version of the protocol.
pub(super) const PROTOCOL: u64 = 1;
/// The most bytes of a request. OpenClaw sends no larger one.
const LIMIT: u64 = 262_144;
/// The code of a request that cannot be answered.
const CODE: &str = "gate/request";

/// A request. Keys that the protocol does not have are ignored; a known key with a value of another type is an error.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "the types of all fields are checked, also of those that decide nothing")]
pub(super) struct GateRequest {
    protocol_version: u64,
    openclaw_version: Option<String>,
    pub(super) target_type: TargetType,
    pub(super) target_name: String,
    source_path: String,
    pub(super) source_path_kind: PathKind,
    source: Option<Map<String, Value>>,
    origin: Option<Origin>,
    pub(super) request: RequestKind,
    plugin: Option<PluginPart>,
    skill: Option<Map<String, Value>>,
}

/// What is known of a request of another version.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    protocol_version: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TargetType {
    Skill,
    Plugin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PathKind {
    File,
    Directory,
}

#[derive(Debug, Deserialize)]
struct Origin {
    r#type: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "the types of all fields are checked")]
pub(super) struct RequestKind {
    kind: String,
    pub(super) mode: RequestMode,
    requested_specifier: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RequestMode {
    Install,
    Update,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "the types of all fields are checked")]
struct PluginPart {
    plugin_id: Option<String>,
    manifest_id: Option<String>,
    content_type: Option<String>,
}

/// The step of an installation at which OpenClaw asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestStep {
    /// `openclaw doctor` tries the command with an empty directory.
    Probe,
    /// An npm package is about to be downloaded. There are only metadata, and OpenClaw asks again with the files.
    Download,
    /// The files are there.
    Contents,
    /// The packages that a plugin depends on are installed next to it.
    Dependencies,
}

impl GateRequest {
    /// Reads the request on standard input.
    ///
    /// # Errors
    /// `gate/request` if it is too large, of another version or not valid.
    pub(super) fn read() -> Result<Self, Failure> {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().take(LIMIT + 1).read_to_end(&mut bytes);
        read.map_err(|error| invalid(format!("standard input cannot be read: {error}")))?;
        Self::parse(&bytes)
    }

    fn parse(bytes: &[u8]) -> Result<Self, Failure> {
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > LIMIT {
            return Err(invalid(format!("the request has more than {LIMIT} bytes")));
        }
        let fault = |error: serde_json::Error| invalid(format!("the request is not valid: {error}"));
        let Version { protocol_version } = serde_json::from_slice(bytes).map_err(fault)?;
        if protocol_version != PROTOCOL {
            let message =
                format!("the request has the protocol version {protocol_version}, expected {PROTOCOL}");
            return Err(invalid(message).help("update plugward"));
        }
        let request: Self = serde_json::from_slice(bytes).map_err(fault)?;
        if !request.path().is_absolute() {
            return Err(invalid(format!("sourcePath is not absolute: {}", request.source_path)));
        }
        if request.id().is_empty() {
            return Err(invalid("the request does not name the target"));
        }
        Ok(request)
    }

    /// Returns the directory or file to judge.
    pub(super) fn path(&self) -> &Utf8Path {
        Utf8Path::new(&self.source_path)
    }

    /// Returns the id under which the host will list the target.
    pub(super) fn id(&self) -> &str {
        let plugin = self.plugin.as_ref().and_then(|plugin| plugin.plugin_id.as_deref());
        plugin.filter(|_| self.target_type == TargetType::Plugin).unwrap_or(&self.target_name)
    }

    pub(super) fn step(&self) -> RequestStep {
        let content = self.plugin.as_ref().and_then(|plugin| plugin.content_type.as_deref());
        match self.origin.as_ref().and_then(|origin| origin.r#type.as_deref()) {
            Some("doctor") => RequestStep::Probe,
            Some("plugin-npm") => RequestStep::Download,
            _ if content == Some("dependency-tree") => RequestStep::Dependencies,
            _ => RequestStep::Contents,
        }
    }
}

fn invalid(message: impl Into<String>) -> Failure {
    Failure::usage(message).code(CODE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn golden() -> Value {
        json!({
            "protocolVersion": 1, "openclawVersion": "2026.9.6", "targetType": "plugin", "targetName": "notes",
            "sourcePath": "/tmp/staged/notes", "sourcePathKind": "directory",
            "source": { "kind": "npm", "authority": "third-party", "mutable": false, "network": true },
            "origin": { "type": "plugin-package", "packageName": "notes", "version": "1.0.0" },
            "request": { "kind": "plugin-npm", "mode": "update", "requestedSpecifier": "notes@1.0.0" },
            "plugin": { "contentType": "package", "pluginId": "notes-id", "manifestId": "notes-id", "extensions": ["i.ts"] },
            "skill": { "installId": "clawhub" }, "laterKey": [1]
        })
    }

    fn parse(value: &Value) -> Result<GateRequest, Failure> {
        GateRequest::parse(value.to_string().as_bytes())
    }

    #[test]
    fn a_request_is_read_and_unknown_keys_are_ignored() {
        let read = parse(&golden()).unwrap();
        assert_eq!(
            (read.id(), read.step(), read.request.mode),
            ("notes-id", RequestStep::Contents, RequestMode::Update)
        );
        let mut skill = golden();
        skill["targetType"] = json!("skill");
        assert_eq!(parse(&skill).unwrap().id(), "notes");
        for (origin, content, step) in [
            ("doctor", "package", RequestStep::Probe),
            ("plugin-npm", "package", RequestStep::Download),
            ("plugin-dependency-tree", "dependency-tree", RequestStep::Dependencies),
            ("plugin-git", "package", RequestStep::Contents),
        ] {
            let mut other = golden();
            other["origin"]["type"] = json!(origin);
            other["plugin"]["contentType"] = json!(content);
            assert_eq!(parse(&other).unwrap().step(), step, "{origin}");
        }
    }

    #[test]
    fn a_known_key_of_another_type_is_an_error() {
        let wrong = [json!(true), json!(7), json!("x"), json!([]), json!({}), json!([{ "a": 1 }])];
        let pointers = [
            "/protocolVersion",
            "/openclawVersion",
            "/targetType",
            "/targetName",
            "/sourcePath",
            "/sourcePathKind",
            "/source",
            "/origin",
            "/origin/type",
            "/request",
            "/request/kind",
            "/request/mode",
            "/request/requestedSpecifier",
            "/plugin",
            "/plugin/pluginId",
            "/plugin/contentType",
            "/skill",
        ];
        for pointer in pointers {
            for value in &wrong {
                let mut request = golden();
                let right = request.pointer(pointer).unwrap().clone();
                // A value of the same type is valid, apart from words and paths that must be known.
                let same = core::mem::discriminant(&right) == core::mem::discriminant(value);
                let is_word =
                    ["/targetType", "/sourcePath", "/sourcePathKind", "/request/mode"].contains(&pointer);
                let is_number = pointer == "/protocolVersion";
                *request.pointer_mut(pointer).unwrap() = value.clone();
                let is_free = same && !is_word && !is_number && pointer != "/request";
                let is_free = is_free || (pointer == "/origin" && *value == json!({}));
                assert_eq!(parse(&request).is_ok(), is_free, "{pointer} {value}");
            }
        }
        for missing in
            ["protocolVersion", "targetType", "targetName", "sourcePath", "sourcePathKind", "request"]
        {
            let mut request = golden();
            request.as_object_mut().unwrap().remove(missing).unwrap();
            assert!(parse(&request).is_err(), "{missing}");
        }
    }

    #[test]
    fn no_part_of_a_request_is_a_request() {
        let whole = golden().to_string();
        for end in 0..whole.len() {
            assert!(GateRequest::parse(&whole.as_bytes()[..end]).is_err(), "{end}");
        }
        // A byte that changes never makes the reader fail in another way.
        for at in 0..whole.len() {
            for byte in [0, b'"', b'{', b'}', b'9', 0xff] {
                let mut bytes = whole.clone().into_bytes();
                bytes[at] = byte;
                let _read = GateRequest::parse(&bytes);
            }
        }
        let nested = format!("{{\"protocolVersion\":1,\"x\":{}", "[".repeat(100_000));
        assert!(GateRequest::parse(nested.as_bytes()).is_err());
        let twice = whole.replacen('{', "{\"targetName\":\"other\",", 1);
        assert!(GateRequest::parse(twice.as_bytes()).is_err());
        let limit = usize::try_from(LIMIT).unwrap();
        let padded = |length: usize| format!("{whole}{}", " ".repeat(length - whole.len()));
        assert!(GateRequest::parse(padded(limit).as_bytes()).is_ok());
        assert!(GateRequest::parse(padded(limit + 1).as_bytes()).is_err());
        for version in ["0", "2", "1.0", "\"1\"", "null"] {
            let other = whole.replacen("\"protocolVersion\":1", &format!("\"protocolVersion\":{version}"), 1);
            let failure = GateRequest::parse(other.as_bytes()).unwrap_err();
            assert!(failure.to_string().contains("protocol version"), "{failure}");
        }
    }
}
