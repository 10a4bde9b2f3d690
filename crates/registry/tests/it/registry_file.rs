//! Registry files: what is accepted, what is dropped, what is refused.

use plugward_registry::{CommandKind, KeptRegistries, Registry, SourceUrl, UrlPlace};
use proptest::prelude::*;

use crate::support::{Memory, REGISTRY, TARGET, digest, now, open, parse, us};

const DIGEST: &str = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";

fn url() -> SourceUrl {
    SourceUrl::parse(REGISTRY).unwrap()
}

fn refused(text: &[u8]) -> String {
    let error = Registry::parse(text, &url()).unwrap_err();
    assert_eq!(error.exit(), 4, "{error}");
    format!("{}: {error}", error.code())
}

#[test]
fn a_file_of_another_form_is_refused() {
    let syntax = |text: &[u8]| assert!(refused(text).starts_with("registry/syntax: "), "{}", refused(text));
    syntax(b"<!doctype html><title>404</title>");
    syntax(b"");
    syntax(br#"{"version": 1, "plugins": {"a": {"id": "a", "desc"#);
    syntax(br#"{"version": 1, "version": 1, "plugins": {}}"#);
    syntax(br#"{"version": 1, "plugins": {"a": {}, "a": {}}}"#);
    syntax(br#"{"version": "1", "plugins": {}}"#);
    syntax(br#"{"plugins": {}}"#);
    syntax(br#"{"version": 1, "plugins": []}"#);
    syntax(br#"{"version": 1}"#);
    syntax(b"[]");
    syntax(&[br#"{"version": 1, "plugins": "#.as_slice(), &[b'['; 32]].concat());
    let padding = |size: usize| {
        let mut text = br#"{"version": 1, "plugins": {}}"#.to_vec();
        text.resize(size, b' ');
        text
    };
    syntax(&padding((4 << 20) + 1));
    assert_eq!(Registry::parse(&padding(4 << 20), &url()).unwrap().entries().count(), 0);
    let version = |text: &[u8]| assert!(refused(text).starts_with("registry/version: "), "{}", refused(text));
    version(br#"{"version": 2, "plugins": {}}"#);
    version(br#"{"version": 1.5, "plugins": {}}"#);
}

/// Returns the names of the valid entries, and the pointers of the notes.
fn read(plugins: &str) -> (Vec<String>, Vec<String>) {
    let registry = parse(plugins);
    assert!(registry.notes().iter().all(|note| note.code() == "registry/entry"));
    let names = registry.entries().map(|entry| entry.name.clone()).collect();
    (names, registry.notes().iter().map(|note| note.pointer().to_owned()).collect())
}

#[test]
fn a_bad_entry_is_dropped_with_its_pointer() {
    let good = r#""good": {"id": "good", "description": "d"}"#;
    for (entry, pointer) in [
        (r#""a b c d e": {"id": "a", "description": "d"}"#, "/plugins/a b c d e"),
        (r#""A": {"id": "a", "description": "d"}"#, "/plugins/A"),
        (r#""a/b~": {"id": "a", "description": "d"}"#, "/plugins/a~1b~0"),
        (r#""a  b": {"id": "a", "description": "d"}"#, "/plugins/a  b"),
        (r#""": {"id": "a", "description": "d"}"#, "/plugins/"),
        (r#""a": {"id": "A", "description": "d"}"#, "/plugins/a/id"),
        (r#""a": {"id": "a.b", "description": "d"}"#, "/plugins/a/id"),
        (r#""a": {"id": "_a", "description": "d"}"#, "/plugins/a/id"),
        (r#""a": {"id": "a"}"#, "/plugins/a/description"),
        (r#""a": []"#, "/plugins/a"),
        (r#""a": {"id": "a", "description": "d", "official": "yes"}"#, "/plugins/a/official"),
        (r#""a": {"id": "a", "description": "d", "kind": "command", "type": "wasm"}"#, "/plugins/a/type"),
        (
            r#""a": {"id": "a", "description": "d", "binaries": {"t": {"url": "https://x", "sha256": "12"}}}"#,
            "/plugins/a/binaries/t/sha256",
        ),
        (
            r#""a": {"id": "a", "description": "d", "binaries": {"t/u": {"url": "http://example.org/a", "sha256": "DIGEST"}}}"#,
            "/plugins/a/binaries/t~1u",
        ),
        (
            r#""a": {"id": "a", "description": "d", "binaries": {"t": {"url": "file:///etc/passwd", "sha256": "DIGEST"}}}"#,
            "/plugins/a/binaries/t",
        ),
        (
            r#""a": {"id": "a", "description": "d", "binaries": {"t": {"url": "http://127.0.0.1/a", "sha256": "DIGEST"}}}"#,
            "/plugins/a/binaries/t",
        ),
        (
            r#""a": {"id": "a", "description": "d", "binaries": {"t": {"url": "https://localhost/a", "sha256": "DIGEST"}}}"#,
            "/plugins/a/binaries/t",
        ),
    ] {
        let plugins = format!("{{{}, {good}}}", entry.replace("DIGEST", DIGEST));
        assert_eq!(read(&plugins), (vec!["good".to_owned()], vec![pointer.to_owned()]), "{entry}");
    }
    let (names, pointers) = read(&format!(
        r#"{{"a": {{"id": "x", "description": "d"}}, "b": {{"id": "x", "description": "d"}}, {good}}}"#
    ));
    assert_eq!(
        (names, pointers),
        (vec!["good".to_owned()], vec!["/plugins/a/id".into(), "/plugins/b/id".into()])
    );
    // Without an id, the words of the name are it.
    let plugins = r#"{"serve": {"description": "d"}, "serve web": {"description": "d"}}"#;
    let registry = format!(r#"{{"version": 1, "plugins": {plugins}}}"#);
    let registry = Registry::parse(registry.as_bytes(), &url()).unwrap();
    let ids: Vec<&str> = registry.entries().map(|entry| &*entry.id).collect();
    assert_eq!(ids, ["serve", "serve-web"]);
    let (names, pointers) = read(&format!(
        r#"{{"serve web": {{"description": "d"}}, "b": {{"id": "serve-web", "description": "d"}}, {good}}}"#
    ));
    assert_eq!(
        (names, pointers),
        (vec!["good".to_owned()], vec!["/plugins/serve web/id".into(), "/plugins/b/id".into()])
    );
}

#[test]
fn entries_at_the_limits_are_kept() {
    let id = "a".repeat(64);
    let (names, pointers) = read(&format!(
        r#"{{"a-1 b c d": {{"id": "{id}", "description": "d"}}, "0": {{"id": "a_b-c", "description": "", "kind": "command"}}}}"#
    ));
    assert_eq!((names.len(), pointers.len()), (2, 0));
    let (_, pointers) = read(&format!(r#"{{"a": {{"id": "{id}b", "description": "d"}}}}"#));
    assert_eq!(pointers, ["/plugins/a/id"]);
    // A registry of this machine may list files of this machine, and https ones.
    let local = SourceUrl::parse("file:///srv/registry.json").unwrap();
    let text = format!(
        r#"{{"version": 1, "plugins": {{"a": {{"id": "a", "description": "d", "repository": "https://x.example/a", "suggests": ["b"], "requires": ["c"], "binaries": {{
        "one": {{"url": "file:///srv/a", "sha256": "{DIGEST}"}}, "{TARGET}": {{"url": "https://x.example/a", "sha256": "{}"}}}}}}}}}}"#,
        DIGEST.to_uppercase()
    );
    let registry = Registry::parse(text.as_bytes(), &local).unwrap();
    let entry = registry.named("a").unwrap();
    let binary = entry.binary(&["none".into(), TARGET.into(), "one".into()]).unwrap();
    assert_eq!((binary.target.as_str(), binary.digest), (TARGET, digest(b"hello\n")));
    assert_eq!((&*entry.suggests, &*entry.requires), (&["b".to_owned()][..], &["c".to_owned()][..]));
    assert_eq!(entry.repository.as_deref(), Some("https://x.example/a"));
    assert_eq!((entry.official, &entry.kind, entry.binary(&[])), (false, &CommandKind::Command, None));
}

#[test]
fn urls() {
    for (text, place) in [
        ("https://example.org", UrlPlace::Https),
        ("https://example.org:8443/a?b=c", UrlPlace::Https),
        ("http://127.0.0.1:80/a", UrlPlace::Loopback),
        ("http://127.8.9.10/a", UrlPlace::Loopback),
        ("http://[::1]:8080/a", UrlPlace::Loopback),
        ("http://localhost/a", UrlPlace::Loopback),
        ("https://localhost:8443/a", UrlPlace::Loopback),
        ("https://localhost.example.org/a", UrlPlace::Https),
        ("file:///a%20b", UrlPlace::File),
        ("file://localhost/a", UrlPlace::File),
    ] {
        assert_eq!(SourceUrl::parse(text).unwrap().place(), place, "{text}");
    }
    for text in [
        "",
        "a",
        "ftp://example.org/a",
        "HTTPS://example.org",
        "https://",
        "https:///a",
        "https://u:p@example.org/",
        "https://u@example.org/",
        "https://example.org:port/",
        "https://example.org:70000/",
        "https://a b/",
        "https://exämple.org/",
        "https://example.org/\u{1b}",
        "https://example.org\\@evil.example/",
        "https://a/#b",
        "http://example.org/",
        "http://127.0.0.1.example.org/",
        "http://128.0.0.1/",
        "http://[::2]/",
        "http://localhost.example.org/",
        "http://localhost@example.org/",
        "http://0x7f000001/",
        "file://a/b",
        "file://",
        "file:a",
        "file:///a?b",
    ] {
        assert_eq!(SourceUrl::parse(text).map_err(|error| error.code()), Err("registry/none"), "{text}");
    }
    let from = SourceUrl::parse("https://a.example:1/b/c?d").unwrap();
    for (location, expected) in [
        ("https://b.example/x", Ok("https://b.example/x")),
        ("//b.example/x#y", Ok("https://b.example/x")),
        ("/x", Ok("https://a.example:1/x")),
        ("x", Ok("https://a.example:1/b/x")),
        ("http://b.example/x", Err(())),
        ("http://127.0.0.1/x", Err(())),
        ("https://127.0.0.1/x", Err(())),
        ("file:///etc/passwd", Err(())),
        ("https://u:p@b.example/", Err(())),
        ("\u{1b}[2J", Err(())),
    ] {
        let found = from.redirected(location);
        assert_eq!(found.as_ref().map(SourceUrl::as_str).map_err(drop), expected, "{location}: {found:?}");
        assert!(found.err().is_none_or(|why| !why.contains('\u{1b}')));
    }
    let short = SourceUrl::parse("https://a.example").unwrap();
    assert_eq!(short.redirected("x").unwrap().as_str(), "https://a.example/x");
    for from in ["http://127.0.0.1/a", "file:///a"] {
        assert!(SourceUrl::parse(from).unwrap().redirected("https://b.example/").is_err(), "{from}");
    }
}

#[test]
fn the_last_good_copy_is_used_with_its_time() {
    let home = tempfile::tempdir().unwrap();
    let dir = open(home.path());
    let kept = KeptRegistries::new(&dir, us(), std::time::Duration::from_secs(60));
    let good = br#"{"version": 1, "plugins": {"a": {"id": "a", "description": "d"}}}"#;
    let bad = Memory::of(b"<html>");
    assert!(kept.kept(&url()).unwrap().is_none());
    assert_eq!(kept.refresh(&url(), &bad, now()).unwrap_err().code(), "registry/syntax");
    let fresh = kept.refresh(&url(), &Memory::of(good), now()).unwrap();
    assert!(fresh.fault.is_none() && fresh.fetched == now());

    let later = "2026-11-26T12:00:00Z".parse().unwrap();
    let too_large = vec![b' '; (4 << 20) + 1];
    let newer = br#"{"version": 2, "plugins": {}}"#;
    for (bytes, code) in
        [(&b"<html>"[..], "registry/syntax"), (newer, "registry/version"), (&too_large, "registry/syntax")]
    {
        let used = kept.refresh(&url(), &Memory::of(bytes), later).unwrap();
        assert_eq!((used.fault.unwrap().code(), used.fetched), (code, now()));
        assert_eq!(used.registry.entries().count(), 1);
    }
    // The copy belongs to its URL, and a damaged copy counts as missing.
    let other = SourceUrl::parse("https://other.example/registry.json").unwrap();
    assert!(kept.kept(&other).unwrap().is_none());
    assert_eq!(kept.refresh(&other, &bad, later).unwrap_err().code(), "registry/syntax");
    let name = std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let name = name.map(|name| name.into_string().unwrap()).find(|name| !name.contains('.')).unwrap();
    std::fs::write(home.path().join(name), "plugward-registry 1 never\n{}").unwrap();
    assert!(kept.kept(&url()).unwrap().is_none());
}

proptest! {
    /// Any bytes are refused with a code, or their entries keep every rule.
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        crate::corpus::check(&bytes);
    }

    /// Any objects at the place of entries are read or dropped, each once.
    #[test]
    fn any_entries(
        names in proptest::collection::btree_set("[a-cA /~-]{0,5}", 0..4),
        ids in proptest::collection::vec("[a-cA._-]{0,3}", 4),
        kinds in proptest::collection::vec("(command|command_group|wasm|x)", 4),
        digests in proptest::collection::vec("[0-9a-fA-F]{64}|[0-9a-g]{0,65}", 4),
        urls in proptest::collection::vec("(https|http|file)://(|a|127[.]0[.]0[.]1|u@a)/[a-z ]{0,3}", 4),
    ) {
        let rows: Vec<String> = names.iter().enumerate().map(|(at, name)| format!(
            r#""{name}": {{"id": "{}", "description": "d", "kind": "{}", "binaries": {{"t": {{"url": "{}", "sha256": "{}"}}}}}}"#,
            ids[at], kinds[at], urls[at], digests[at]
        )).collect();
        let text = format!(r#"{{"version": 1, "plugins": {{{}}}}}"#, rows.join(","));
        let registry = crate::corpus::check(text.as_bytes()).expect("the file itself is valid");
        prop_assert_eq!(registry.entries().count() + registry.notes().len(), names.len());
    }
}
