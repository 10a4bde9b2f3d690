//! Installing packages from an npm registry.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use core::net::IpAddr;

use plugward_ledger::RecordValue;

use crate::error::{REGISTRY, SPEC, ScopeError};
use crate::kinds::MAX_TEXT;
use crate::kinds::kind::{Operation, common, sealed};
use crate::kinds::net::is_dns;
use crate::mint::Grant;

/// One npm registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NpmScope {
    registry: String,
}

/// The installation of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the closed set of operations of this kind")]
pub enum NpmOp<'a> {
    /// Installs the package.
    Install {
        /// The registry to install from.
        registry: &'a NpmScope,
        /// The package with a version or range: `left-pad@1.3.0`.
        spec: &'a str,
    },
}

/// Permission to install packages from one registry.
#[must_use]
pub struct NpmInstallCapability {
    scope: NpmScope,
    grant: Grant,
}

common!(NpmInstallCapability, NpmScope, NpmOp, NpmInstall);

impl sealed::Build for NpmScope {
    type Made = NpmInstallCapability;

    fn build(self, grant: Grant) -> NpmInstallCapability {
        NpmInstallCapability { scope: self, grant }
    }

    fn value(&self) -> RecordValue {
        RecordValue::object([("registry", RecordValue::text(&self.registry))])
    }
}

impl NpmScope {
    /// Creates a scope for the registry.
    ///
    /// # Errors
    ///
    /// `scope/registry` for text other than an `https` URL with a lowercase host and no user, query or
    /// fragment. `http` is allowed for loopback addresses only.
    pub fn new(registry: &str) -> Result<Self, ScopeError> {
        check_registry(registry).map_err(|why| ScopeError::new(REGISTRY, "npm scope", registry, why))?;
        // One trailing slash, so that each registry has one text.
        Ok(Self { registry: format!("{}/", registry.trim_end_matches('/')) })
    }

    /// Returns the URL with one trailing `/`.
    #[must_use]
    pub fn registry(&self) -> &str {
        &self.registry
    }

    pub(crate) fn covers(&self, op: &NpmOp<'_>) -> bool {
        let NpmOp::Install { registry, spec } = op;
        self == *registry && check_spec(spec).is_ok()
    }
}

impl NpmInstallCapability {
    /// Returns the command of an installation: without scripts, from this registry, with the spec as one
    /// argument.
    ///
    /// # Errors
    ///
    /// `scope/spec` for a spec that starts with `-`, or that is a URL, git source, alias or file.
    pub fn argv(&self, spec: &str) -> Result<Vec<String>, ScopeError> {
        check_spec(spec).map_err(|why| ScopeError::new(SPEC, "npm command", spec, why))?;
        let words = ["npm", "install", "--ignore-scripts", "--registry", &self.scope.registry, "--", spec];
        Ok(words.map(str::to_owned).to_vec())
    }
}

fn check_registry(url: &str) -> Result<(), &'static str> {
    let (rest, plain) = match (url.strip_prefix("https://"), url.strip_prefix("http://")) {
        (Some(rest), _) => (rest, false),
        (None, Some(rest)) => (rest, true),
        (None, None) => return Err("it does not start with https://"),
    };
    if url.len() >= MAX_TEXT
        || !url.bytes().all(|byte| byte.is_ascii_graphic())
        || url.contains(['\\', '"', '<', '>', '`'])
    {
        return Err("it is too long or has a character that is not allowed in a URL");
    }
    if url.contains(['@', '?', '#', '%']) {
        return Err("it has a user, a query, a fragment or an escape");
    }
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    if path.split('/').any(|part| part == "." || part == "..") || path.starts_with('/') || path.contains("//")
    {
        return Err("its path has empty, `.` or `..` segments");
    }
    let (host, port) = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, after)) => {
            (host, if after.is_empty() { None } else { Some(after.strip_prefix(':').unwrap_or("?")) })
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    if port.is_some_and(|port| {
        port.starts_with('0') || !port.parse::<u16>().is_ok_and(|number| number.to_string() == port)
    }) {
        return Err("its port is invalid");
    }
    let ip = host.parse::<IpAddr>().ok();
    if ip.is_none() && (!is_dns(host) || host.bytes().any(|byte| byte.is_ascii_uppercase())) {
        return Err("its host is neither a lowercase name nor an address");
    }
    if ip.is_some_and(|ip| ip.is_ipv6()) != authority.starts_with('[') {
        return Err("its host is neither a lowercase name nor an address");
    }
    if plain && !(host == "localhost" || ip.is_some_and(|ip| ip.is_loopback())) {
        return Err("http is allowed for loopback only");
    }
    Ok(())
}

/// Accepts `name` and `@scope/name`, each with an optional `@version`, `@range` or `@tag`.
pub(crate) fn check_spec(spec: &str) -> Result<(), &'static str> {
    if spec.starts_with('-') {
        return Err("it starts with `-`");
    }
    // npm allows 214 bytes for a name. The rest is room for a range.
    if spec.len() > 512 {
        return Err("it is too long");
    }
    let (name, version) = match spec.get(1..).and_then(|rest| rest.split_once('@')) {
        Some((rest, version)) => (spec.get(..rest.len() + 1).unwrap_or(""), Some(version)),
        None => (spec, None),
    };
    let part = |part: &str| {
        !part.is_empty()
            && !part.starts_with(['.', '_', '-'])
            && part
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-._~".contains(&byte))
    };
    let good = match name.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/').is_some_and(|(scope, name)| part(scope) && part(name)),
        None => part(name),
    };
    if !good || name.len() > 214 {
        return Err("it is not the name of a registry package");
    }
    // npm treats text with these extensions as an archive in the working directory, even after the `@`.
    if [".tgz", ".tar.gz", ".tar"].iter().any(|ending| spec.to_ascii_lowercase().ends_with(ending)) {
        return Err("it names a file");
    }
    match version {
        None => Ok(()),
        Some(version) if is_version(version) => Ok(()),
        Some(_) => Err("its version is not a version, range or tag"),
    }
}

/// Returns `true` for a version, range or tag. Without `:` and `/` it cannot be a URL, git source, alias or
/// directory.
fn is_version(version: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-+_~^<>=*| ".contains(&byte);
    let directory = version == "~" || version.starts_with('.');
    !version.is_empty() && version.bytes().all(plain) && !directory && !version.starts_with('-')
}

impl Operation for NpmOp<'_> {
    fn name(&self) -> &'static str {
        "install"
    }

    fn detail(&self) -> String {
        let NpmOp::Install { spec, .. } = self;
        (*spec).to_owned()
    }
}
