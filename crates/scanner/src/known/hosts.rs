//! Hosts to which a redirection is harmless: official package indexes, model vendors, this machine. Each list exists only
//! here.
#![expect(clippy::arithmetic_side_effects, reason = "offsets are at most the length of the text")]

use plugward_types::{Address, Part};

/// A group of known hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hosts {
    /// Official package indexes.
    Indexes,
    /// Model vendors.
    Models,
}

/// Iterates over the URLs in a text: in code, in a document, or in the value of a setting.
pub(crate) fn addresses(text: &[u8]) -> impl Iterator<Item = Address> {
    let mut next = 0;
    core::iter::from_fn(move || {
        loop {
            let colon = next + memchr::memchr(b':', text.get(next..)?)?;
            next = colon + 1;
            let (before, after) = (text.get(..colon)?, text.get(next..)?);
            let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
            let scheme = before.get(colon - before.iter().rev().take(16).take_while(is_part).count()..)?;
            let scheme =
                scheme.get(scheme.iter().position(u8::is_ascii_alphabetic).unwrap_or(scheme.len())..)?;
            let scheme = if scheme.is_empty() { "https" } else { core::str::from_utf8(scheme).ok()? };
            if !after.starts_with(b"/") && !after.starts_with(b"\\") {
                continue;
            }
            let rest = String::from_utf8_lossy(after.get(..end_of(after))?);
            let address = Address::parse(&format!("{scheme}:{rest}"));
            if after.starts_with(b"//") || is_web(&address) {
                return Some(address);
            }
        }
    })
}

/// Returns the length of a URL in a text.
///
/// Characters such as `,` separate URLs, but they can also be part of a user name, which an `@` ends.
fn end_of(text: &[u8]) -> usize {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>".contains(byte);
    let most = text.iter().position(is_end).unwrap_or(text.len()).min(LONGEST);
    let slashes = text.iter().take_while(|byte| b"/\\".contains(byte)).count();
    let rest = text.part(slashes..most);
    // An escaped line break ends a URL, as a literal one does.
    let line = [b"\\n", b"\\r"].iter().filter_map(|end| memchr::memmem::find(rest, *end)).min();
    let rest = rest.part(..line.unwrap_or(rest.len()));
    let authority = rest.split(|byte| b"/?#".contains(byte)).next().unwrap_or(rest);
    let user = memchr::memrchr(b'@', authority).unwrap_or(0);
    let separator = rest.iter().skip(user).position(|byte| b",;|)".contains(byte));
    slashes + separator.map_or(rest.len(), |at| user + at)
}

/// Returns `true` for schemes whose URLs have a host, with and without slashes before it.
pub(crate) fn is_web(address: &Address) -> bool {
    matches!(address.scheme(), Some("http" | "https" | "ws" | "wss" | "ftp"))
}

/// The most bytes of a text that are read as one URL.
const LONGEST: usize = 2048;

/// Returns the host of the first URL in a text, or the part of it that the text does not compute.
pub(crate) fn first(text: &[u8]) -> Option<String> {
    let address = addresses(text).next()?;
    let host = address.host_text()?.split(COMPUTED).next()?.trim_end_matches('.');
    (!host.is_empty()).then(|| host.to_lowercase())
}

/// Returns the first word of a shell command that is a host.
pub(crate) fn first_word(text: &[u8]) -> Option<String> {
    let text = core::str::from_utf8(text).ok()?;
    let is_separator = |char: char| char.is_whitespace() || "()[]{},;|&<>=@/:".contains(char);
    let mut words = text.split(is_separator).map(|word| word.trim_matches(['"', '\'']));
    words.find(|word| is_bare(word)).map(str::to_owned)
}

/// Returns the first text in quotes that is a host.
pub(crate) fn first_quoted(text: &[u8]) -> Option<String> {
    let text = core::str::from_utf8(text).ok()?;
    // Every second part is in quotes.
    text.split(['"', '\'', '`']).skip(1).step_by(2).find(|word| is_bare(word)).map(str::to_owned)
}

/// Returns `true` if a word has the form of a host and not that of a file.
fn is_bare(word: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty() && label.chars().all(|char| char.is_ascii_alphanumeric() || char == '-')
    };
    word.rsplit_once('.').is_some_and(|(head, top)| {
        top.len() > 1
            && top.chars().all(|char| char.is_ascii_lowercase())
            && !EXTENSIONS.contains(&top)
            && head.split('.').all(is_label)
    })
}

/// Ends of names of files and members, which have the form of a host.
const EXTENSIONS: &[&str] = plugward_types::words![
    "json jsonl js mjs cjs ts tsx jsx py sh bash zsh md txt log csv tsv xml yml yaml toml ini cfg conf env lock html htm css svg png jpg",
    "jpeg gif pdf gz tgz tar zip bz2 xz zst db sqlite tmp bak pem key crt pub sql rs go rb pl php lua java bin dat out err pid sock url name",
    "email config get post put write send read text data body value append",
];

/// Returns `true` if a program inserts the host: `https://${host}/`, `https://{}/`, `"https://" + host`.
pub(crate) fn is_computed(address: &Address) -> bool {
    address.host_text().is_none_or(|host| host.is_empty() || host.starts_with(COMPUTED))
}

/// The first characters of placeholders.
const COMPUTED: [char; 5] = ['$', '{', '<', '%', '*'];

/// Returns `true` for hosts of this machine and of private networks.
pub(crate) fn is_local(host: &str) -> bool {
    Address::parse(&format!("https://{host}")).is_private()
}

/// Returns `true` if a text is an address of the API of the cluster in which the program runs.
pub(crate) fn is_cluster(text: &[u8]) -> bool {
    [
        &b"https://kubernetes.default"[..],
        b"https://$KUBERNETES_SERVICE_HOST",
        b"https://${KUBERNETES_SERVICE_HOST",
    ]
    .iter()
    .any(|head| text.starts_with(head))
}

/// Hosts that only issue tokens: nobody else reads what they receive.
const ISSUERS: &[&str] = &["oauth2.googleapis.com", "login.microsoftonline.com"];

/// Returns `true` for a host that only issues tokens.
pub(crate) fn is_issuer(host: &str) -> bool {
    ISSUERS.contains(&host)
}

/// Returns `true` for a public IPv4 address.
pub(crate) fn is_public_ip(address: &Address) -> bool {
    address.ip().is_some_and(|ip| ip.is_ipv4()) && !address.is_private()
}

/// Default package indexes of languages. A name covers its subdomains; a name with a path covers everything under that
/// path.
const INDEXES: &[&str] = plugward_types::words![
    "registry.npmjs.org registry.npmjs.com registry.yarnpkg.com jsr.io pypi.org pypi.python.org",
    "pythonhosted.org download.pytorch.org crates.io github.com/rust-lang/crates.io-index proxy.golang.org",
    "sum.golang.org rubygems.org repo1.maven.org repo.maven.apache.org central.sonatype.com maven.google.com",
    "plugins.gradle.org packagist.org conda.anaconda.org repo.anaconda.com codeload.github.com",
    "npm.pkg.github.com",
];

/// Hosts of model vendors. Of clouds whose customers can create subdomains, only the model service is listed.
const MODELS: &[&str] = plugward_types::words![
    "anthropic.com claude.ai openai.com openai.azure.com cognitiveservices.azure.com services.ai.azure.com",
    "generativelanguage.googleapis.com aiplatform.googleapis.com mistral.ai cohere.com cohere.ai groq.com",
    "openrouter.ai x.ai deepseek.com together.xyz together.ai fireworks.ai perplexity.ai",
    "dashscope.aliyuncs.com moonshot.cn moonshot.ai bigmodel.cn z.ai router.huggingface.co",
    "api-inference.huggingface.co githubcopilot.com cerebras.ai",
];

/// Model services with the region inside the host name: prefix and suffix.
const REGIONS: &[(&str, &str)] = &[
    ("bedrock-runtime.", ".amazonaws.com"),
    ("bedrock-runtime-fips.", ".amazonaws.com"),
    ("", "-aiplatform.googleapis.com"),
];

/// Returns `true` if every parser finds that a URL leads to this machine or one of the known hosts.
pub(crate) fn is_known(address: &Address, hosts: Hosts) -> bool {
    let Some(host) = address.host().filter(|_| address.is_well_formed()) else { return false };
    if address.is_loopback() || host == "host.docker.internal" {
        return true;
    }
    match hosts {
        Hosts::Indexes => INDEXES.iter().any(|name| is_at(address, name)),
        Hosts::Models => {
            MODELS.iter().any(|name| is_at(address, name))
                || REGIONS.iter().any(|region| is_region(host, *region))
        }
    }
}

/// Returns `true` if a URL leads to a host or its subdomains, and to the path after the host, if there is one.
pub(crate) fn is_at(address: &Address, name: &str) -> bool {
    let (domain, wanted) = name.split_once('/').unwrap_or((name, ""));
    let host = address.host().unwrap_or_default();
    let path = address.path().to_ascii_lowercase();
    let rest = path.strip_prefix('/').and_then(|path| path.strip_prefix(wanted));
    let is_there =
        rest.is_some_and(|rest| wanted.is_empty() || rest.is_empty() || rest.starts_with(['/', '.']));
    is_below(host.strip_suffix('.').unwrap_or(host), domain) && is_there
}

fn is_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|head| head.is_empty() || head.ends_with('.'))
}

fn is_region(host: &str, (head, tail): (&str, &str)) -> bool {
    let region = host.strip_prefix(head).and_then(|rest| rest.strip_suffix(tail)).unwrap_or_default();
    !region.is_empty() && region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
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
            ("[::1]:80/", Hosts::Models),
            ("localhost.", Hosts::Models),
        ] {
            assert!(is_known(&Address::parse(&format!("https://{place}")), hosts), "{place}");
        }
        for (place, hosts) in [
            ("registry.npmjs.org.h.example", Hosts::Indexes),
            ("pypi.org@h.example", Hosts::Indexes),
            ("pypi.org\\@h.example", Hosts::Indexes),
            ("evilpypi.org", Hosts::Indexes),
            ("github.com/other/crates.io-index", Hosts::Indexes),
            ("github.com/rust-lang/crates.io-index-2", Hosts::Indexes),
            ("github.com/rust-lang/crates.io-index/%2e%2E/../other/", Hosts::Indexes),
            ("api.anthropic.com", Hosts::Indexes),
            ("pypi.org", Hosts::Models),
            ("bucket.s3.amazonaws.com", Hosts::Models),
            ("bedrock-runtime.h.example.amazonaws.com", Hosts::Models),
            ("storage.googleapis.com/bucket", Hosts::Models),
            ("-aiplatform.googleapis.com", Hosts::Models),
            ("127.0.0.1.h.example", Hosts::Models),
            ("127.0.0.1.5", Hosts::Models),
            ("127.0.0.1\\@h.example", Hosts::Models),
            ("127.", Hosts::Models),
            ("", Hosts::Models),
        ] {
            assert!(!is_known(&Address::parse(&format!("https://{place}")), hosts), "{place}");
        }
    }
}
