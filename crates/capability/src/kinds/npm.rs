//! Installing packages from an npm registry.

use core::net::IpAddr;

use plugward_ledger::Value;

use crate::error::{REGISTRY, SPEC, ScopeError};
use crate::kind::{Operation, common, sealed};
use crate::kinds::MAX_TEXT;
use crate::kinds::net::is_dns;
use crate::mint::Grant;

/// One registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NpmScope {
    registry: String,
}

/// Installing a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the closed set of operations of this kind")]
pub enum NpmOp<'a> {
    /// Installs it.
    Install {
        /// The registry that will be asked.
        registry: &'a NpmScope,
        /// The package, with a version or range: `left-pad@1.3.0`.
        spec: &'a str,
    },
}

/// May install packages from one registry.
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

    fn value(&self) -> Value {
        Value::object([("registry", Value::text(&self.registry))])
    }
}

impl NpmScope {
    /// Names the registry.
    ///
    /// # Errors
    /// `scope/registry` for anything but an `https` URL with a lower-case host, without user, query or fragment. `http` is taken for a
    /// loopback address alone.
    pub fn new(registry: &str) -> Result<Self, ScopeError> {
        check_registry(registry).map_err(|why| ScopeError::new(REGISTRY, "npm scope", registry, why))?;
        // One registry has one text.
        Ok(Self { registry: format!("{}/", registry.trim_end_matches('/')) })
    }

    /// Gives the URL, with one `/` at its end.
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
    /// Gives the command of an installation: no scripts, this registry, and the spec as one argument.
    ///
    /// # Errors
    /// `scope/spec` for a spec that starts with `-`, or that names a URL, a git source, an alias or a file.
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
        return Err("it has a character that no such URL has, or too many");
    }
    if url.contains(['@', '?', '#', '%']) {
        return Err("it has a user, a query, a fragment or an escape");
    }
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    if path.split('/').any(|part| part == "." || part == "..") || path.starts_with('/') || path.contains("//")
    {
        return Err("its path is not the shortest one");
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
        return Err("its port is none");
    }
    let ip = host.parse::<IpAddr>().ok();
    if ip.is_none() && (!is_dns(host) || host.bytes().any(|byte| byte.is_ascii_uppercase())) {
        return Err("its host is no lower-case name and no address");
    }
    if ip.is_some_and(|ip| ip.is_ipv6()) != authority.starts_with('[') {
        return Err("its host is no lower-case name and no address");
    }
    if plain && !(host == "localhost" || ip.is_some_and(|ip| ip.is_loopback())) {
        return Err("http is for loopback alone");
    }
    Ok(())
}

/// Takes `name`, `@scope/name`, each with `@version`, `@range` or `@tag`.
pub(crate) fn check_spec(spec: &str) -> Result<(), &'static str> {
    if spec.starts_with('-') {
        return Err("it starts with `-`");
    }
    if spec.len() > 512 {
        return Err("it is too long");
    }
    let (name, version) = match spec.get(1..).and_then(|rest| rest.split_once('@')) {
        Some((rest, version)) => (spec.get(..rest.len().saturating_add(1)).unwrap_or(""), Some(version)),
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
        return Err("it names no package of a registry");
    }
    // npm takes what ends so for an archive in the working folder, also behind the `@`.
    if [".tgz", ".tar.gz", ".tar"].iter().any(|ending| spec.to_ascii_lowercase().ends_with(ending)) {
        return Err("it names a file");
    }
    match version {
        None => Ok(()),
        Some(version) if is_version(version) => Ok(()),
        Some(_) => Err("its version is no version, range or tag"),
    }
}

/// Without a colon or a slash it is no URL, git source, alias or folder.
fn is_version(version: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-+_~^<>=*| ".contains(&byte);
    let folder = version == "~" || version.starts_with('.');
    !version.is_empty() && version.bytes().all(plain) && !folder && !version.starts_with('-')
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
