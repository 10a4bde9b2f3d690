//! Servers of other hosts in settings: a name or token of a known service that is sent to another host.

use plugward_types::{Address, Part};
use serde_json::{Map, Value};
use unicode_security::skeleton;

use crate::scan::sink::Sink;
use crate::text::view::Obfuscations;

/// A known service: the word in names of its hosts, variables and servers, and its own domains.
struct Service {
    word: &'static str,
    domains: &'static [&'static str],
}

const fn service(word: &'static str, domains: &'static [&'static str]) -> Service {
    Service { word, domains }
}

const SERVICES: &[Service] = &[
    service("airtable", &["airtable.com"]),
    service("anthropic", &["anthropic.com", "claude.com", "claude.ai"]),
    service("asana", &["asana.com"]),
    service("atlassian", &["atlassian.com", "atlassian.net"]),
    service("cloudflare", &["cloudflare.com"]),
    service("datadog", &["datadoghq.com", "datadoghq.eu"]),
    service("digitalocean", &["digitalocean.com"]),
    service("figma", &["figma.com"]),
    service("github", &["github.com", "githubcopilot.com", "githubusercontent.com"]),
    service("githubcopilot", &["githubcopilot.com"]),
    service("gitlab", &["gitlab.com"]),
    service("googleapis", &["googleapis.com"]),
    service("hubspot", &["hubspot.com", "hubapi.com"]),
    service("huggingface", &["huggingface.co"]),
    service("intercom", &["intercom.com", "intercom.io"]),
    service("linear", &["linear.app"]),
    service("netlify", &["netlify.com", "netlify.app"]),
    service("notion", &["notion.com", "notion.so"]),
    service("openai", &["openai.com", "azure.com"]),
    service("paypal", &["paypal.com"]),
    service("posthog", &["posthog.com"]),
    service("sentry", &["sentry.io", "sentry.dev"]),
    service("shopify", &["shopify.com", "shopify.dev", "myshopify.com"]),
    service("slack", &["slack.com"]),
    service("stripe", &["stripe.com"]),
    service("supabase", &["supabase.com", "supabase.co"]),
    service("vercel", &["vercel.com", "vercel.app"]),
    service("zapier", &["zapier.com"]),
];

/// Publishers and packages of servers that others imitate.
const PACKAGES: &[&str] = plugward_types::words![
    "@anthropic-ai @azure-devops @browserbase @cloudflare @modelcontextprotocol @microsoft @notionhq",
    "@playwright @sentry @stripe @supabase @upstash chrome-devtools-mcp context7-mcp firecrawl-mcp",
    "server-filesystem server-github server-memory server-puppeteer server-sequential-thinking",
    "mcp-server-fetch mcp-server-git mcp-server-sqlite mcp-server-time",
];

/// Shorter words resemble too many others.
const SHORTEST: usize = 5;

/// Reports servers in a JSON file whose host or package resembles a known one, or that get its token.
pub(crate) fn find(text: &[u8], sink: &mut Sink<'_>) {
    let has = |word: &[u8]| memchr::memmem::find(text, word).is_some();
    if !(has(b"\"url\"") || has(b"\"serverUrl\"") || has(b"\"httpUrl\"") || has(b"\"command\"")) {
        return;
    }
    let parsed = serde_json::from_slice(text).or_else(|_| serde_json::from_slice(&without_comments(text)));
    let Ok(Value::Object(whole)) = parsed else { return };
    for key in ["mcpServers", "servers", "mcp_servers"] {
        if let Some(Value::Object(servers)) = whole.get(key) {
            each(text, servers, sink);
        }
    }
    // A `.mcp.json` can have its servers at the top level.
    if whole.values().all(Value::is_object) {
        each(text, &whole, sink);
    }
}

/// Returns JSON with blanks in place of extensions that only some hosts accept: comments, and backslashes that start no
/// escape.
fn without_comments(text: &[u8]) -> Vec<u8> {
    let mut out = text.to_vec();
    let mut at = 0_usize;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let length = match rest {
            [b'"', ..] => {
                at = string(text, at, &mut out);
                continue;
            }
            [b'/', b'/', ..] => memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
            [b'/', b'*', inside @ ..] => {
                memchr::memmem::find(inside, b"*/").map_or(rest.len(), |end| end + 4)
            }
            _ => {
                at += 1;
                continue;
            }
        };
        if let Some(comment) = out.get_mut(at..at + length) {
            comment.fill(b' ');
        }
        at += length;
    }
    out
}

/// Copies a string, with a blank for each backslash that starts no escape. Returns the end of the string.
fn string(text: &[u8], start: usize, out: &mut [u8]) -> usize {
    let mut at = start + 1;
    loop {
        let length = match text.part(at..) {
            [] => return text.len(),
            [b'"', ..] => return at + 1,
            [b'\\', b'u', digits @ ..]
                if digits.get(..4).is_some_and(|four| four.iter().all(u8::is_ascii_hexdigit)) =>
            {
                6
            }
            [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
            [b'\\', ..] => {
                if let Some(byte) = out.get_mut(at) {
                    *byte = b' ';
                }
                1
            }
            _ => 1,
        };
        at += length;
    }
}

fn each(text: &[u8], servers: &Map<String, Value>, sink: &mut Sink<'_>) {
    for server in servers.values().filter_map(Value::as_object) {
        let url = ["url", "serverUrl", "httpUrl"].into_iter().find_map(|key| server.get(key)?.as_str());
        if let Some(url) = url
            && is_imitation(&Address::parse(url), server)
        {
            tell(text, url, sink);
        }
        let args = server.get("args").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for package in args.iter().filter_map(Value::as_str).take(16) {
            if is_near_package(package) {
                tell(text, package, sink);
            }
        }
    }
}

fn tell(text: &[u8], value: &str, sink: &mut Sink<'_>) {
    // In the file, the value can have escapes.
    let written = Value::from(value).to_string();
    let written = written.trim_matches('"');
    let found = [value, written].into_iter().find_map(|value| {
        memchr::memmem::find(text, value.as_bytes()).map(|start| (start, start + value.len()))
    });
    sink.shape("config-look-alike", found.unwrap_or((0, value.len().min(text.len()))), Obfuscations::NONE);
}

/// Returns `true` if a host is not one of a service but almost has its name, or gets a token named after it.
fn is_imitation(address: &Address, server: &Map<String, Value>) -> bool {
    let Some(host) = address.host_text().map(str::to_lowercase) else { return false };
    if host.contains('$') || address.is_private() {
        return false;
    }
    let given: String = ["headers", "env", "bearerTokenEnvVar", "bearer_token_env_var"]
        .into_iter()
        .filter_map(|key| server.get(key).map(Value::to_string))
        .collect();
    let mut variables = variables(&given);
    let helper = server.get("headersHelper").and_then(Value::as_str).unwrap_or_default();
    variables.extend(printed(helper));
    let own = |service: &&Service| address.host().is_some_and(|host| is_own(host, service));
    SERVICES.iter().filter(|service| !own(service)).any(|service| {
        let near = host.split(['.', '-']).any(|label| is_near(label, service.word));
        // A host with the exact name of the service is only suspicious if it gets a secret.
        let names = || host.split(['.', '-']).any(|label| label == service.word);
        let token = || variables.iter().any(|name| name.split('_').next() == Some(service.word));
        near || (!variables.is_empty() && names()) || token()
    })
}

/// Returns `true` for a host of a known service.
pub(crate) fn is_service(host: &str) -> bool {
    SERVICES.iter().any(|service| is_own(host, service))
}

fn is_own(host: &str, service: &Service) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    service
        .domains
        .iter()
        .any(|domain| host.strip_suffix(domain).is_some_and(|head| head.is_empty() || head.ends_with('.')))
}

/// Returns the variables that a command prints, in lower case. The tool of a service prints that of the service.
fn printed(command: &str) -> Vec<String> {
    let mut names = variables(command);
    let words: Vec<&str> =
        command.split(|char: char| char.is_whitespace() || "'\"|;&()".contains(char)).collect();
    for pair in words.windows(2) {
        match pair {
            ["printenv", name] if !name.is_empty() => names.push(name.to_lowercase()),
            ["gh", "auth"] => names.push("github_token".to_owned()),
            ["glab", "auth"] => names.push("gitlab_token".to_owned()),
            _ => {}
        }
    }
    names
}

/// Returns the names in `${NAME}` and `$NAME`, in lower case.
fn variables(text: &str) -> Vec<String> {
    let is_part = |char: char| char.is_ascii_alphanumeric() || char == '_';
    text.split('$')
        .skip(1)
        .map(|rest| rest.trim_start_matches("{env:").trim_start_matches('{'))
        .map(|rest| rest.chars().take_while(|char| is_part(*char)).collect::<String>().to_lowercase())
        .filter(|name| !name.is_empty())
        .collect()
}

fn is_near_package(package: &str) -> bool {
    let name = package.strip_prefix('@').map_or(package, |_| package);
    let version = name.char_indices().skip(1).find(|(_, char)| *char == '@').map_or(name.len(), |(at, _)| at);
    let name = name.get(..version).unwrap_or(name);
    if name.starts_with('-') || name.contains(['$', '\\', ' ', '=']) || name.starts_with(['.', '/']) {
        return false;
    }
    name.split('/').any(|part| PACKAGES.iter().any(|known| is_near(part, known)))
}

/// Returns `true` if a word resembles a known one without being it: one letter differs, is missing or added, two letters
/// are swapped, or letters look alike.
fn is_near(word: &str, known: &str) -> bool {
    if word == known || known.len() < SHORTEST || word.len() > 64 {
        return false;
    }
    let read = as_read(word);
    read == as_read(known) || (known.len() > SHORTEST && distance_is_one(&read, &as_read(known)))
}

/// Returns a word with look-alike letters unified.
fn as_read(word: &str) -> Vec<char> {
    let plain: String = skeleton(word).collect();
    plain
        .replace("rn", "m")
        .replace("vv", "w")
        .chars()
        .map(|char| match char {
            'I' | '1' | '|' | 'L' => 'l',
            '0' | 'O' => 'o',
            other => other.to_ascii_lowercase(),
        })
        .collect()
}

fn distance_is_one(one: &[char], other: &[char]) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    if long.len().saturating_sub(short.len()) > 1 {
        return false;
    }
    let head = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    let (short, long) = (short.part(head..), long.part(head..));
    if short.len() < long.len() {
        return long.get(1..) == Some(short);
    }
    match (short, long) {
        ([_, rest @ ..], [_, other @ ..]) if rest == other => true,
        ([a, b, rest @ ..], [c, d, other @ ..]) => a == d && b == c && rest == other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_read_as_known_ones_are_near() {
        for (word, known) in [
            ("githubcopiiot", "githubcopilot"),
            ("playwrigth", "playwright"),
            ("modelcontextprotocoI", "modelcontextprotocol"),
            ("l\u{456}near", "linear"),
            ("str1pe", "stripe"),
            ("antrhopic", "anthropic"),
        ] {
            assert!(is_near(word, known), "{word}");
        }
        for (word, known) in
            [("github", "github"), ("lines", "linear"), ("figma", "figma"), ("stack", "slack")]
        {
            assert!(!is_near(word, known), "{word}");
        }
    }

    #[test]
    fn comments_are_blanks() {
        let text = b"// a\n{\"a\": \"// \\\" b\" /* c */}";
        assert_eq!(without_comments(text), b"    \n{\"a\": \"// \\\" b\"        }");
    }

    #[test]
    fn a_version_is_no_part_of_a_name() {
        assert!(is_near_package("@playwrigth/mcp@0.0.41"));
        assert!(is_near_package("server-filesytem"));
        assert!(!is_near_package("@playwright/mcp@0.0.41"));
        assert!(!is_near_package("@modelcontextprotocol/server-filesystem"));
        assert!(!is_near_package("--browser=chrome"));
    }
}
