//! Hosts to which a redirection is harmless: official package indexes, model vendors, this machine. Each list exists only
//! here.

/// A group of known hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hosts {
    /// Official package indexes.
    Indexes,
    /// Model vendors.
    Models,
}

/// Returns `true` for names of this machine and of private networks.
pub(crate) fn is_local(host: &str) -> bool {
    let numbers = host.starts_with("127.") || host.starts_with("10.") || host.starts_with("192.168.");
    let top = host.rsplit('.').next();
    matches!(top, Some("localhost" | "local")) || numbers
}

/// Returns the host of the first URL in some bytes, in lower case.
pub(crate) fn first(text: &[u8]) -> Option<String> {
    let at = memchr::memmem::find(text, b"://")? + 3;
    let rest = text.get(at..)?;
    let end = rest
        .iter()
        .take(253)
        .take_while(|byte| byte.is_ascii_alphanumeric() || b".-_@:".contains(byte))
        .count();
    let host = core::str::from_utf8(rest.get(..end)?).ok()?;
    let host = host.rsplit('@').next().unwrap_or(host);
    let host = host.split(':').next().unwrap_or(host).trim_end_matches('.');
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}

/// Default package indexes of languages. A name covers its subdomains; a name with a path covers everything under that
/// path.
const INDEXES: &[&str] = &[
    "registry.npmjs.org",
    "registry.npmjs.com",
    "registry.yarnpkg.com",
    "jsr.io",
    "pypi.org",
    "pypi.python.org",
    "pythonhosted.org",
    "download.pytorch.org",
    "crates.io",
    "github.com/rust-lang/crates.io-index",
    "proxy.golang.org",
    "sum.golang.org",
    "rubygems.org",
    "repo1.maven.org",
    "repo.maven.apache.org",
    "central.sonatype.com",
    "maven.google.com",
    "plugins.gradle.org",
    "packagist.org",
    "conda.anaconda.org",
    "repo.anaconda.com",
];

/// Hosts of model vendors. Of clouds whose customers can create subdomains, only the model service is listed.
const MODELS: &[&str] = &[
    "anthropic.com",
    "claude.ai",
    "openai.com",
    "openai.azure.com",
    "cognitiveservices.azure.com",
    "services.ai.azure.com",
    "generativelanguage.googleapis.com",
    "aiplatform.googleapis.com",
    "mistral.ai",
    "cohere.com",
    "cohere.ai",
    "groq.com",
    "openrouter.ai",
    "x.ai",
    "deepseek.com",
    "together.xyz",
    "together.ai",
    "fireworks.ai",
    "perplexity.ai",
    "dashscope.aliyuncs.com",
    "moonshot.cn",
    "moonshot.ai",
    "bigmodel.cn",
    "z.ai",
    "router.huggingface.co",
    "api-inference.huggingface.co",
    "githubcopilot.com",
    "cerebras.ai",
];

/// Model services with the region inside the host name: prefix and suffix.
const REGIONS: &[(&str, &str)] = &[
    ("bedrock-runtime.", ".amazonaws.com"),
    ("bedrock-runtime-fips.", ".amazonaws.com"),
    ("", "-aiplatform.googleapis.com"),
];

/// Returns `true` if `user@host:port/path`, in lower case, is this machine or one of the known hosts.
pub(crate) fn is_known(place: &[u8], hosts: Hosts) -> bool {
    let authority = place.split(|byte| matches!(byte, b'/' | b'?' | b'#')).next().unwrap_or_default();
    if memchr::memchr(b'\\', authority).is_some() {
        // URL parsers disagree on where such a host ends.
        return false;
    }
    // The part before an `@` is a user name and password, whatever it looks like.
    let host = authority.rsplit(|byte| *byte == b'@').next().unwrap_or_default();
    if host.starts_with(b"[::1]") {
        return true;
    }
    let host = host.split(|byte| *byte == b':').next().unwrap_or_default();
    let host = host.strip_suffix(b".").unwrap_or(host);
    if is_here(host) {
        return true;
    }
    let path = place.get(authority.len() + 1..).unwrap_or_default();
    let named = |name: &&str| match name.split_once('/') {
        None => is_below(host, name),
        Some((domain, wanted)) => host == domain.as_bytes() && path.starts_with(wanted.as_bytes()),
    };
    match hosts {
        Hosts::Indexes => INDEXES.iter().any(named),
        Hosts::Models => MODELS.iter().any(named) || REGIONS.iter().any(|region| is_region(host, *region)),
    }
}

fn is_below(host: &[u8], name: &str) -> bool {
    host.strip_suffix(name.as_bytes()).is_some_and(|head| head.is_empty() || head.ends_with(b"."))
}

fn is_region(host: &[u8], (head, tail): (&str, &str)) -> bool {
    let region = host
        .strip_prefix(head.as_bytes())
        .and_then(|rest| rest.strip_suffix(tail.as_bytes()))
        .unwrap_or_default();
    !region.is_empty() && region.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
}

/// Returns `true` if a host is this machine; `127.0.0.1.h.example` is not.
fn is_here(host: &[u8]) -> bool {
    let mut parts = host.split(|byte| *byte == b'.');
    let loopback = parts.next() == Some(b"127")
        && (1..=3).contains(&parts.clone().count())
        && parts.all(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit));
    loopback
        || matches!(host, b"localhost" | b"0.0.0.0" | b"host.docker.internal")
        || host.ends_with(b".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_known_by_its_whole_name() {
        for (place, hosts) in [
            ("registry.npmjs.org", Hosts::Indexes),
            ("files.pythonhosted.org/a", Hosts::Indexes),
            ("github.com/rust-lang/crates.io-index", Hosts::Indexes),
            ("index.crates.io:443/", Hosts::Indexes),
            ("user:word@pypi.org/simple", Hosts::Indexes),
            ("api.anthropic.com/v1", Hosts::Models),
            ("bedrock-runtime.us-east-1.amazonaws.com", Hosts::Models),
            ("us-central1-aiplatform.googleapis.com", Hosts::Models),
            ("127.0.0.1:4873", Hosts::Indexes),
            ("127.1", Hosts::Models),
            ("[::1]:80/", Hosts::Models),
            ("localhost.", Hosts::Models),
        ] {
            assert!(is_known(place.as_bytes(), hosts), "{place}");
        }
        for (place, hosts) in [
            ("registry.npmjs.org.h.example", Hosts::Indexes),
            ("pypi.org@h.example", Hosts::Indexes),
            ("pypi.org\\@h.example", Hosts::Indexes),
            ("evilpypi.org", Hosts::Indexes),
            ("github.com/other/crates.io-index", Hosts::Indexes),
            ("api.anthropic.com", Hosts::Indexes),
            ("pypi.org", Hosts::Models),
            ("bucket.s3.amazonaws.com", Hosts::Models),
            ("bedrock-runtime.h.example.amazonaws.com", Hosts::Models),
            ("storage.googleapis.com/bucket", Hosts::Models),
            ("-aiplatform.googleapis.com", Hosts::Models),
            ("127.0.0.1.h.example", Hosts::Models),
            ("127.0.0.1.5", Hosts::Models),
            ("127.", Hosts::Models),
            ("", Hosts::Models),
        ] {
            assert!(!is_known(place.as_bytes(), hosts), "{place}");
        }
    }
}
