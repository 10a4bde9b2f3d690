//! References to packages that are downloaded: how firmly a digest, version or tag identifies them.

use plugward_types::hex;

use crate::CommandWord;

/// A package that a package runner downloads and runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "a kind of registry and a text identify a package")]
pub struct PackageReference {
    /// The kind of registry.
    pub registry: PackageRegistry,
    /// The reference as written, such as `prettier@3.1.0`.
    pub reference: CommandWord,
}

impl PackageReference {
    /// Returns how firmly the reference identifies the code.
    pub fn precision(&self) -> PackagePrecision {
        self.reference.literal().map_or(PackagePrecision::Unknown, |text| precision(self.registry, &text))
    }
}

/// The kind of registry that a package is downloaded from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PackageRegistry {
    /// npm, or a git repository in npm's notation.
    Npm,
    /// `PyPI`, or a URL in the notation of pip.
    PyPi,
    /// A registry of container images.
    Image,
    /// A Go module.
    Go,
    /// A module of Deno: `npm:`, `jsr:` or a URL.
    Deno,
}

/// How firmly a reference identifies the code of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[must_use]
#[non_exhaustive]
pub enum PackagePrecision {
    /// A digest or a commit.
    Digest,
    /// An exact version, which only the registry could replace.
    Version,
    /// Anything else: other code can come at each start.
    Floating,
    /// The reference is not known.
    Unknown,
}

/// Returns how firmly the text of a reference identifies a package.
pub fn precision(registry: PackageRegistry, reference: &str) -> PackagePrecision {
    match registry {
        PackageRegistry::Npm => npm(reference),
        PackageRegistry::PyPi => python(reference.trim()),
        PackageRegistry::Image => image(reference),
        PackageRegistry::Go => {
            let version = reference.rsplit_once('@').and_then(|(_, version)| version.strip_prefix('v'));
            PackagePrecision::Version.of(version, is_semver)
        }
        PackageRegistry::Deno => deno(reference),
    }
}

impl PackagePrecision {
    /// Returns this precision if the text passes the check.
    fn of(self, text: Option<&str>, check: impl Fn(&str) -> bool) -> Self {
        if text.is_some_and(check) { self } else { Self::Floating }
    }
}

/// Judges `name@1.2.3`, `alias@npm:name@1.2.3`, or a git URL with `#<40 hex>`.
fn npm(reference: &str) -> PackagePrecision {
    let short = ["github:", "gitlab:", "bitbucket:", "gist:"].iter().any(|host| reference.starts_with(host));
    let path = !reference.starts_with('@') && reference.contains('/');
    if reference.contains("://")
        || reference.starts_with("git+")
        || short
        || (path && !reference.contains("@npm:"))
    {
        let commit = reference.rsplit_once('#').map(|(_, commit)| commit);
        return PackagePrecision::Digest.of(commit, |commit| hex::is_lower(commit, 40));
    }
    // The first character is skipped because `@` there starts a scope.
    let version = reference.char_indices().nth(1).and_then(|(at, _)| reference.get(at..)?.rsplit_once('@'));
    PackagePrecision::Version.of(version.map(|(_, version)| version), is_semver)
}

/// Judges `name==1.2.3`, `name[extra]@1.2.3`, or a URL with `@<40 hex>`.
fn python(reference: &str) -> PackagePrecision {
    if reference.contains("://") {
        let plain = reference.split_once('#').map_or(reference, |(plain, _)| plain);
        let commit = plain.rsplit_once('@').map(|(_, commit)| commit);
        return PackagePrecision::Digest.of(commit, |commit| hex::is_lower(commit, 40));
    }
    let version = reference.split_once("==").or_else(|| reference.split_once('@'));
    let version = version.map(|(_, version)| version.trim_start_matches('=').trim());
    PackagePrecision::Version.of(version, is_exact_python)
}

/// Returns `true` for a Python version without wildcards and lists: `1.2`, `1.2.3rc1`, `2024.1.post2`.
fn is_exact_python(version: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'!' | b'-' | b'_');
    // A single number such as `3` can be a range in some tools.
    version.starts_with(|first: char| first.is_ascii_digit())
        && version.contains('.')
        && version.bytes().all(known)
}

/// Judges `name@sha256:<64 hex>` and `name:1.2`.
///
/// A tag with a digit counts as an exact version, because it usually is one; `latest` and names do not.
fn image(reference: &str) -> PackagePrecision {
    if let Some((_, digest)) = reference.rsplit_once("@sha256:") {
        // A truncated digest identifies nothing.
        return PackagePrecision::Digest.of(Some(digest), |digest| hex::is_lower(digest, 64));
    }
    let last = reference.rsplit_once('/').map_or(reference, |(_, last)| last);
    let tag = last.split_once(':').map(|(_, tag)| tag);
    PackagePrecision::Version.of(tag, |tag| tag != "latest" && tag.bytes().any(|byte| byte.is_ascii_digit()))
}

/// Judges `npm:name@1.2.3`, `jsr:@scope/name@1.2.3`, or any URL.
fn deno(reference: &str) -> PackagePrecision {
    let package = reference.strip_prefix("npm:").or_else(|| reference.strip_prefix("jsr:"));
    let version = package.and_then(|package| {
        let rest = package.trim_start_matches('/').get(1..)?;
        rest.split_once('@')
            .map(|(_, version)| version.split_once('/').map_or(version, |(version, _)| version))
    });
    PackagePrecision::Version.of(version, is_semver)
}

/// Returns `true` for a full version of Semantic Versioning 2.0: three numbers, then an optional prerelease and build.
///
/// A number has at most 18 digits, so that it fits 64 bits in every host.
#[must_use]
pub fn is_semver(version: &str) -> bool {
    let (version, build) =
        version.split_once('+').map_or((version, None), |(version, build)| (version, Some(build)));
    let (core, pre) = version.split_once('-').map_or((version, None), |(core, pre)| (core, Some(pre)));
    let numeric = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let number = |part: &str| {
        (1..=18).contains(&part.len()) && numeric(part) && (part == "0" || !part.starts_with('0'))
    };
    let identifier = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    core.split('.').count() == 3
        && core.split('.').all(number)
        && pre
            .is_none_or(|pre| pre.split('.').all(|part| identifier(part) && (!numeric(part) || number(part))))
        && build.is_none_or(|build| build.split('.').all(identifier))
}
