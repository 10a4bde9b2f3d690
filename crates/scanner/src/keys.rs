//! What the value of a `key` rule has to be besides its form. The key and value alone are looked at.

use crate::hosts::{Hosts, is_known};
use crate::modules;
use crate::rules::KeyCheck;

/// Says whether a value holds.
pub(crate) fn holds(check: KeyCheck, name: &[u8], value: &[u8], file: &str) -> bool {
    match check {
        KeyCheck::Outside => is_outside(value, file),
        KeyCheck::ForeignIndex => foreign(value, Hosts::Indexes),
        KeyCheck::ForeignApi => foreign(value, Hosts::Models),
        KeyCheck::Script => !is_setup(value),
        KeyCheck::Program => !is_switch(value),
        KeyCheck::Hijack => is_hijack(name, value),
        KeyCheck::KeyFile => is_secret_file(value),
        KeyCheck::Address => names_address(value),
    }
}

/// Says whether a word of a text is an address of the public net in numbers, alone or as a host.
fn names_address(value: &[u8]) -> bool {
    value.split(|byte| matches!(byte, b' ' | b'=' | b'@' | b'"' | b'\'')).any(|word| {
        let host = word.split(|byte| matches!(byte, b':' | b'/' | b'?')).next().unwrap_or_default();
        host.split(|byte| *byte == b'.').count() == 4
            && host.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
            && crate::secret::is_public_host(host)
    })
}

/// Says whether a text names a secret file besides the public half of a key and what lies beside keys for all to see.
fn is_secret_file(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let holds = |part: &[u8], word: &str| memchr::memmem::find(part, word.as_bytes()).is_some();
    let is_key = |part: &[u8]| {
        [".ssh", "id_rsa", "id_ed25519", "id_ecdsa", "id_dsa"].iter().any(|word| holds(part, word))
    };
    let is_public = |part: &[u8]| {
        part.ends_with(b".pub") || part.ends_with(b"known_hosts") || part.ends_with(b".ssh/config")
    };
    let parts = || lower.split(|byte| matches!(byte, b' ' | b'"' | b'\'' | b'=' | b',' | b';' | b'(' | b')'));
    let keys = parts().filter(|part| is_key(part)).count();
    let public = parts().filter(|part| is_key(part) && is_public(part)).count();
    let others = [
        "aws",
        "netrc",
        "npmrc",
        "git-credentials",
        "hosts.yml",
        "kube",
        "docker",
        "gnupg",
        "shadow",
        "login data",
        "cookies",
        "keychain",
        "wallet",
        "environ",
        "gcloud",
    ];
    keys > public || others.iter().any(|word| holds(&lower, word))
}

/// Says whether a text names hosts, and one of them is neither known nor this machine.
fn foreign(value: &[u8], known: Hosts) -> bool {
    let lower = value.to_ascii_lowercase();
    let mut rest = lower.as_slice();
    while let Some(at) = memchr::memmem::find(rest, b"//") {
        let tail = rest.get(at.saturating_add(2)..).unwrap_or_default();
        let end =
            tail.iter().position(|byte| matches!(byte, b' ' | b'"' | b'\'' | b',' | b';' | b'|' | b')'));
        let place = tail.get(..end.unwrap_or(tail.len())).unwrap_or_default();
        // A line break that is written out ends a host as a real one does.
        let written =
            [b"\\n".as_slice(), b"\\r"].iter().filter_map(|end| memchr::memmem::find(place, end)).min();
        let place = place.get(..written.unwrap_or(place.len())).unwrap_or_default();
        if !place.is_empty() && !is_known(place, known) {
            return true;
        }
        rest = tail;
    }
    // A host without a scheme, for a key that takes nothing else.
    let bare = lower.trim_ascii();
    let host = memchr::memmem::find(&lower, b"//").is_none()
        && memchr::memchr(b'.', bare).is_some()
        && !bare.is_empty()
        && bare.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'/'));
    host && !bare.starts_with(b".") && !bare.starts_with(b"/") && !is_known(bare, known)
}

/// Says whether a path, or a `file:`, `link:` or `path+file:` URL, leaves the plugin.
fn is_outside(value: &[u8], file: &str) -> bool {
    let Ok(text) = core::str::from_utf8(value.trim_ascii()) else { return false };
    let schemes = ["path+file://", "file://", "file:", "link:", "portal:"];
    let text = schemes.iter().find_map(|scheme| text.strip_prefix(scheme)).unwrap_or(text);
    if text.starts_with('~') {
        return true;
    }
    modules::leaves_plugin(file, text.as_bytes())
}

/// Tools that set up the author's own checkout.
fn is_setup(value: &[u8]) -> bool {
    let text = value.trim_ascii();
    matches!(
        text,
        b"" | b"husky"
            | b"husky install"
            | b"husky || true"
            | b"is-ci || husky"
            | b"is-ci || husky install"
            | b"husky install || true"
            | b"lefthook install"
            | b"simple-git-hooks"
            | b"node-gyp rebuild"
            | b"node-gyp-build"
            | b"patch-package"
            | b"true"
            | b"exit 0"
    )
}

/// A switch in place of a program, or a program that git brings or that is known for this use.
fn is_switch(value: &[u8]) -> bool {
    let text = value.trim_ascii().to_ascii_lowercase();
    matches!(
        text.as_slice(),
        b"" | b"true" | b"false" | b"on" | b"off" | b"yes" | b"no" | b"1" | b"0" | b"cat"
    ) || text.starts_with(b"git-lfs ")
        && text.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b' ' | b'%'))
}

/// Options that tune a runtime and load nothing.
const TUNING: &[&[u8]] = &[
    b"--max-old-space-size",
    b"--max-semi-space-size",
    b"--no-warnings",
    b"--enable-source-maps",
    b"--no-deprecation",
    b"--trace-warnings",
    b"--stack-trace-limit",
    b"--unhandled-rejections",
    b"--throw-deprecation",
    b"--dns-result-order",
];

fn is_hijack(name: &[u8], value: &[u8]) -> bool {
    if !name.is_empty() && name.iter().all(u8::is_ascii_digit) {
        // `NAME=value` as an item of a list.
        let at = memchr::memchr(b'=', value).unwrap_or(value.len());
        let rest = value.get(at.saturating_add(1)..).unwrap_or_default();
        return is_hijack(value.get(..at).unwrap_or_default(), rest);
    }
    let value = value.trim_ascii();
    if name.eq_ignore_ascii_case(b"ENV") {
        // A shell reads the file that it names; most take it for a word.
        return memchr::memchr(b'/', value).is_some();
    }
    if value.is_empty() {
        return false;
    }
    if name.eq_ignore_ascii_case(b"NODE_OPTIONS") || name.eq_ignore_ascii_case(b"node-options") {
        let mut words = value.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        return !words.all(|word| {
            let option = word.split(|byte| *byte == b'=').next().unwrap_or_default();
            TUNING.contains(&option)
        });
    }
    if name.eq_ignore_ascii_case(b"PYTHONPATH") {
        // The plugin's own modules for its own server are no new place.
        return !value.split(|byte| *byte == b':').all(|part| {
            let own = part.starts_with(b"${CLAUDE_PLUGIN_ROOT}") || part.starts_with(b"$CLAUDE_PLUGIN_ROOT");
            let same = matches!(part, b"" | b"." | b"$PYTHONPATH" | b"${PYTHONPATH}");
            let relative = part.first().is_some_and(u8::is_ascii_alphanumeric) || part.starts_with(b"./");
            let up = part.split(|byte| *byte == b'/').any(|piece| piece == b"..");
            (own || same || relative) && !up
        });
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_known_by_their_whole_name() {
        for url in [
            "https://registry.npmjs.org/",
            "http://localhost:4873",
            "http://127.0.0.1/",
            "https://github.com/rust-lang/crates.io-index",
            "sparse+https://index.crates.io/",
            "registry.npmjs.org",
            "${INDEX}",
            "off",
        ] {
            assert!(!foreign(url.as_bytes(), Hosts::Indexes), "{url}");
        }
        for url in [
            "https://registry.npmjs.org.evil.example/",
            "https://registry.npmjs.org@evil.example/",
            "https://evil.example/registry.npmjs.org",
            "http://127.0.0.1.evil.example/",
            "https://github.com/evil/crates.io-index",
            "https://pypi.org/simple https://evil.example/simple",
            "//evil.example/",
            "evil.example",
            "HTTPS://EVIL.EXAMPLE",
            "https://registry.npmjs.org\\@evil.example",
        ] {
            assert!(foreign(url.as_bytes(), Hosts::Indexes), "{url}");
        }
        assert!(!foreign(b"https://api.anthropic.com/v1", Hosts::Models));
        assert!(foreign(b"https://api-anthropic.com/v1", Hosts::Models));
        assert!(foreign(b"https://evilanthropic.com", Hosts::Models));
    }

    #[test]
    fn variables_are_judged_by_what_they_bring_in() {
        for (name, value) in [
            ("NODE_OPTIONS", "--max-old-space-size=4096 --no-warnings"),
            ("NODE_OPTIONS", ""),
            ("ENV", "production"),
            ("0", "ENV=production"),
            ("PYTHONPATH", "${CLAUDE_PLUGIN_ROOT}/src:$PYTHONPATH"),
        ] {
            assert!(!is_hijack(name.as_bytes(), value.as_bytes()), "{name}={value}");
        }
        for (name, value) in [
            ("NODE_OPTIONS", "--max-old-space-size=1 --require ./x.js"),
            ("NODE_OPTIONS", "--import=data:text/javascript,0"),
            ("PYTHONPATH", "/tmp/x"),
            ("PYTHONPATH", "${CLAUDE_PLUGIN_ROOT}/../x"),
            ("LD_PRELOAD", "./x.so"),
            ("ENV", "/tmp/x"),
            ("12", "LD_PRELOAD=./x.so"),
        ] {
            assert!(is_hijack(name.as_bytes(), value.as_bytes()), "{name}={value}");
        }
    }
}
