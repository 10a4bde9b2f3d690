//! The parts of an `Address`, as the URL standard defines them.

use plugward_types::Address;

fn host_of(text: &str) -> Option<String> {
    Address::parse(text).host().map(ToOwned::to_owned)
}

#[test]
fn the_host_is_found_as_the_standard_finds_it() {
    for text in [
        "https://evil.example/mcp",
        "https://evil.example\\@github.com/mcp",
        "https:evil.example/mcp",
        "https:/evil.example",
        "https:\\\\evil.example\\mcp",
        "https:///\\evil.example/mcp",
        "ht\ntps:/\t/evil.\rexample\\\n@github.com/mcp",
        " \u{1f}\u{0}https://evil.example ",
        "https://github.com:x@evil.example/mcp",
        "https://github.com@x@evil.example/mcp",
        "https://evil.example#@github.com/mcp",
        "https://evil.example?@github.com/mcp",
        "https://%65vil%2eexample/",
        "wss://EVIL.EXAMPLE:443",
        "ftp://evil.example:/",
        "file://evil.example/a",
        "git+ssh://git@Evil.example:22/a",
        "ssh://evil.example?@github.com",
    ] {
        assert_eq!(host_of(text).as_deref(), Some("evil.example"), "{text:?}");
    }
}

#[test]
fn an_address_with_an_unknown_host_is_foreign() {
    for text in [
        "https://gíthub.com/",
        "https://github。com/",
        "https://ｇithub.com/",
        "https://git\u{ad}hub.com/",
        "https://g%C3%ADthub.com/",
        "https://git%00hub.com/",
        "https://git%2fhub.com/",
        "https://git%hub.com/",
        "https://git hub.com/",
        "https://a|b/",
        "https://${HOST}.github.com/",
        "https://",
        "https://user@/",
        "https://github.com:65536/",
        "https://github.com:8o/",
        "https://1.2.3.256/",
        "https://1.2.3.4.5/",
        "https://0x1.2.09/",
        "https://[::1/",
        "https://[fe80::1%25eth0]/",
        "ssh://evil.example\\@github.com/",
        "ssh://github%2ecom/",
        "ssh://:22/",
        "ssh://@/",
        "file://github.com:80/",
    ] {
        let address = Address::parse(text);
        assert!(matches!(address, Address::Foreign(_)), "{text:?}: {address:?}");
        assert_eq!((address.host(), address.is_well_formed(), address.is_private()), (None, false, false));
    }
    for text in ["", "owner/repo", "./a", "//evil.example/", "1a://b/", "git@github.com:a/b", "${URL}"] {
        assert_eq!(Address::parse(text), Address::Other, "{text:?}");
    }
    for text in
        ["mailto:a@b.example", "file:///etc/passwd", "file:a", "file://localhost/a", "ssh:///a", "data:,a"]
    {
        let address = Address::parse(text);
        assert!(matches!(address, Address::Url(_)) && address.host().is_none(), "{text:?}: {address:?}");
    }
}

#[test]
fn an_ipv4_address_has_one_form() {
    for text in
        ["127.0.0.1", "127.1", "0x7f.0.0.01", "2130706433", "0x7F000001", "017700000001.", "%31%32%37.1"]
    {
        assert_eq!(host_of(&format!("http://{text}:8080/")).as_deref(), Some("127.0.0.1"), "{text}");
    }
}

#[test]
fn an_address_tells_where_it_leads() {
    for text in [
        "http://localhost",
        "ws://a.LOCALHOST.:1/",
        "http://127.9",
        "http://[::1]/",
        "http://0/",
        "http://[::ffff:7f00:1]",
    ] {
        let address = Address::parse(text);
        assert!(address.is_loopback() && address.is_private(), "{text}");
    }
    for text in [
        "http://10.0.0.1",
        "http://192.168.1.1",
        "http://169.254.169.254/",
        "http://[fd00::1]/",
        "http://host.docker.internal/",
        "http://printer.local:631/",
    ] {
        let address = Address::parse(text);
        assert!(!address.is_loopback() && address.is_private(), "{text}");
    }
    for text in [
        "http://127.0.0.1.evil.example",
        "http://10.evil.example",
        "http://localhost.evil.example",
        "http://evillocalhost",
        "http://8.8.8.8",
        "http://[2606:4700::1]/",
        "http://localhost@evil.example/",
        "localhost:8080",
    ] {
        let address = Address::parse(text);
        assert!(!address.is_loopback() && !address.is_private(), "{text}");
    }
}

#[test]
fn the_parts_of_an_address_are_those_of_the_standard() {
    let address = Address::parse("HTTPS://me:word@h.example:8443/a/./b/%2E%2e/c\\d?q#f");
    assert_eq!(address.scheme(), Some("https"));
    assert_eq!((address.port(), address.path()), (Some(8443), "/a/c/d"));
    assert!(address.has_user_info() && address.has_credentials() && address.is_well_formed());
    assert!(!Address::parse("git+ssh://git@h.example/a").has_credentials());
    assert!(Address::parse("ssh://me:word@h.example/a").has_credentials());
    assert!(Address::parse("https://me:word@hö.example/a").has_credentials());
    assert!(!Address::parse("https://h.example/a@b").has_credentials());
    for text in [
        "https:h.example",
        "https://a@b@h.example",
        "https://h.example\\a",
        "https://%68.example",
        "http://0177.1",
    ] {
        assert!(!Address::parse(text).is_well_formed(), "{text}");
    }
    for text in ["https://H.example:1/a\\b", "https://me@[0:0::1]/", "git+ssh://git@h.example"] {
        assert!(Address::parse(text).is_well_formed(), "{text}");
    }
}
