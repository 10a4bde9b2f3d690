//! The configuration of the module `fetch`.

use std::time::Duration;

use crate::config::{ConfigError, ModuleConfig};
use crate::fs::read::schema;
use crate::fs::{SizeLimit, whole};

const SCHEMA: &str = r#"{
    "allowedDomains": {"type": "array", "description": "Hosts, or *.parent for the names below one", "required": true,
        "items": {"type": "string"}, "promptKey": true},
    "allowPost": {"type": "boolean", "description": "Whether POST is possible", "default": false, "promptKey": true},
    "allowedRequestHeaders": {"type": "array", "description": "Headers that a guest can set",
        "default": ["Authorization", "Content-Type", "Accept"], "items": {"type": "string"}},
    "allowedContentTypes": {"type": "array", "description": "Starts of content types, text-only, media-friendly, or permissive",
        "default": ["application/json", "text/"], "items": {"type": "string"}},
    "userAgent": {"type": "string", "description": "The User-Agent", "default": "hyperlight-fetch/1.0", "maxLength": 256},
    "connectTimeoutMs": {"type": "number", "description": "The time for a connection", "default": 5000, "minimum": 1000},
    "readTimeoutMs": {"type": "number", "description": "The time for a response", "default": 10000, "minimum": 1000},
    "maxResponseSizeKb": {"type": "number", "description": "The largest response", "default": 1024, "minimum": 1},
    "readSizeKb": {"type": "number", "description": "The most data of one read", "default": 48, "minimum": 8},
    "responseCacheTtlSeconds": {"type": "number", "description": "The time in which a response can be read", "default": 300,
        "minimum": 30},
    "maxRequestBodySizeKb": {"type": "number", "description": "The largest body of a POST", "default": 4, "minimum": 1},
    "maxRequestsPerMinute": {"type": "number", "description": "The most requests in a minute", "default": 30, "minimum": 1},
    "maxRequestsPerHour": {"type": "number", "description": "The most requests in an hour", "default": 100, "minimum": 1},
    "maxDomainsPerSession": {"type": "number", "description": "The most hosts", "default": 5, "minimum": 1},
    "maxDataReceivedKb": {"type": "number", "description": "The most data of all responses", "default": 2048, "minimum": 1},
    "maxRedirects": {"type": "number", "description": "The most redirects of a request", "default": 5, "minimum": 0},
    "maxJsonResponseBytes": {"type": "number", "description": "The largest result of fetchJSON", "default": 1048576,
        "minimum": 1024},
    "maxTextResponseBytes": {"type": "number", "description": "The largest result of fetchText", "default": 2097152,
        "minimum": 1024}
}"#;
/// The content types of a name for several.
const PRESETS: [(&str, &[&str]); 3] = [
    ("text-only", &["application/json", "text/", "application/xml", "application/csv"]),
    (
        "media-friendly",
        &[
            "application/json",
            "text/",
            "application/xml",
            "application/csv",
            "image/",
            "audio/",
            "application/pdf",
        ],
    ),
    ("permissive", &[""]),
];

/// The configuration of [`fetch`](crate::fetch).
#[derive(Debug, Clone, PartialEq)]
pub struct FetchConfig {
    hosts: Vec<HostRule>,
    pub(super) allows_post: bool,
    request_headers: Vec<String>,
    content_types: Vec<String>,
    pub(super) user_agent: String,
    pub(super) connect_time: Duration,
    pub(super) read_time: Duration,
    pub(super) max_response: u64,
    pub(super) read_size: usize,
    pub(super) kept_time: Duration,
    pub(super) max_request: SizeLimit,
    pub(super) per_minute: usize,
    pub(super) per_hour: usize,
    pub(super) max_hosts: usize,
    pub(super) max_data: u64,
    pub(super) max_redirects: usize,
    pub(super) max_json: usize,
    pub(super) max_text: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum HostRule {
    Exact(String),
    /// One more label in front of a name.
    Below(String),
}

impl FetchConfig {
    /// Reads `key=value` arguments.
    ///
    /// # Errors
    /// `host-module/config`, as [`ModuleConfig::resolve`], and for entries of `allowedDomains` that are not names of hosts.
    pub fn from_args(args: &[&str]) -> Result<Self, ConfigError> {
        let config = ModuleConfig::resolve(&schema(SCHEMA)?, args)?;
        let size = |key: &str| SizeLimit::of_kb(config.number(key));
        let count = |key: &str| usize::try_from(whole(config.number(key))).unwrap_or(usize::MAX);
        let lower = |key: &str| -> Vec<String> {
            config.texts(key).map(|text| text.trim().to_ascii_lowercase()).collect()
        };
        let types = lower("allowedContentTypes").into_iter().flat_map(|name| {
            let preset = PRESETS.iter().find(|(known, _)| *known == name);
            preset.map_or(vec![name], |(_, types)| types.iter().map(|one| (*one).to_owned()).collect())
        });
        Ok(Self {
            hosts: host_rules(lower("allowedDomains"))?,
            allows_post: config.flag("allowPost"),
            request_headers: lower("allowedRequestHeaders"),
            content_types: types.collect(),
            user_agent: config.text("userAgent").unwrap_or_default(),
            connect_time: Duration::from_millis(whole(config.number("connectTimeoutMs"))),
            read_time: Duration::from_millis(whole(config.number("readTimeoutMs"))),
            max_response: size("maxResponseSizeKb").bytes,
            read_size: usize::try_from(size("readSizeKb").bytes).unwrap_or(usize::MAX),
            kept_time: Duration::from_secs(whole(config.number("responseCacheTtlSeconds"))),
            max_request: size("maxRequestBodySizeKb"),
            per_minute: count("maxRequestsPerMinute"),
            per_hour: count("maxRequestsPerHour"),
            max_hosts: count("maxDomainsPerSession"),
            max_data: size("maxDataReceivedKb").bytes,
            max_redirects: count("maxRedirects"),
            max_json: count("maxJsonResponseBytes"),
            max_text: count("maxTextResponseBytes"),
        })
    }

    pub(super) fn allows_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|rule| match rule {
            HostRule::Exact(name) => host == name,
            HostRule::Below(parent) => {
                host.split_once('.').is_some_and(|(first, rest)| rest == parent && !first.is_empty())
            }
        })
    }

    pub(super) fn allows_header(&self, lower: &str) -> bool {
        self.request_headers.iter().any(|name| name == lower)
    }

    pub(super) fn allows_type(&self, lower: &str) -> bool {
        self.content_types.iter().any(|start| lower.starts_with(start))
    }
}

/// Reads the hosts. One that could never match, or matches a whole registry, is an error.
fn host_rules(entries: Vec<String>) -> Result<Vec<HostRule>, ConfigError> {
    let (mut rules, mut faults) = (Vec::new(), Vec::new());
    for entry in entries {
        let (name, is_parent) = entry.strip_prefix("*.").map_or((&*entry, false), |parent| (parent, true));
        let is_label = |label: &str| {
            !label.is_empty()
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        if !name.contains('.') || !name.split('.').all(is_label) {
            let shown = crate::modules::shown(&entry);
            faults.push(format!(
                "`allowedDomains`: expected a host or `*.parent` with two labels, got `{shown}`"
            ));
        } else if is_parent {
            rules.push(HostRule::Below(name.to_owned()));
        } else {
            rules.push(HostRule::Exact(name.to_owned()));
        }
    }
    if faults.is_empty() { Ok(rules) } else { Err(ConfigError::Settings { faults }) }
}
