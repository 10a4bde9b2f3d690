//! A minimal URL parser: host, scheme and credentials.

/// Returns the host of a URL, or the whole text if it does not have one.
pub(crate) fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    // An IPv6 address also contains colons, so only digits count as a port.
    let port = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    port.map_or(host, |(host, _)| host)
}

/// Returns `true` if a URL contains a user name or a password.
pub(crate) fn has_credentials(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest);
    match authority.rsplit_once('@') {
        // In `ssh://git@host`, the user is the shared account of all clients and not a secret.
        Some((user, _)) => user.contains(':') || !matches!(scheme, "ssh" | "git+ssh"),
        None => false,
    }
}

/// Returns the scheme in lowercase.
pub(crate) fn scheme(url: &str) -> Option<String> {
    url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase())
}
