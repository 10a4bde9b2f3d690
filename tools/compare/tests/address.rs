//! `Address` next to the crate `url`, which implements the URL standard.

use core::net::IpAddr;

use plugward_types::Address;
use proptest::prelude::*;
use url::{Host, Url};

/// Returns the host of the peer in the form of [`Address::host`].
fn peer_host(url: &Url) -> Option<String> {
    match url.host()? {
        Host::Domain("") => None,
        Host::Ipv6(ip) => Some(format!("[{ip}]")),
        host => Some(host.to_string().to_ascii_lowercase()),
    }
}

/// Returns `true` if the peer drops the host before a drive letter, as an older edition of the standard did.
fn is_drive(url: &Url) -> bool {
    url.scheme() == "file" && url.path().get(2..3) == Some(":")
}

/// Texts of pieces that parsers of URLs treat differently.
fn texts(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    let piece = prop_oneof![4 => proptest::sample::select(pieces).prop_map(ToOwned::to_owned), 1 => "[ -~\\t\\n]{1,3}"];
    let scheme = proptest::sample::select(
        &["https:", "http:", "HTTP:", "wss:", "ftp:", "file:", "ssh:", "git+https:", ""][..],
    );
    (scheme, proptest::collection::vec(piece, 0..10))
        .prop_map(|(scheme, pieces)| format!("{scheme}{}", pieces.concat()))
}

const ASCII: &[&str] = &[
    "/",
    "//",
    "\\",
    "@",
    ":",
    "?",
    "#",
    ".",
    "..",
    "%2e",
    "%2F",
    "%40",
    "%5c",
    "%",
    "a",
    "B",
    "a.example",
    "github.com",
    "127",
    "0x7f",
    "010",
    ".1",
    "256",
    "4294967295",
    "1.2.3.4",
    "[",
    "]",
    "[::1]",
    "::",
    "1:2",
    "ffff:",
    ":80",
    ":443",
    ":99999",
    "\t",
    "\n",
    "\r",
    " ",
    "|",
    "C:",
    "xn--a",
    "localhost",
    "user:pass@",
    "$",
    "{",
    "}",
    "_",
    "-",
    "*",
    "\u{0}",
    "\u{7f}",
];

const OTHERS: &[&str] = &[
    "//",
    "/",
    "\\",
    "@",
    ":",
    ".",
    "github.com",
    "a",
    "é",
    "ß",
    "ｇ",
    "。",
    "\u{ad}",
    "\u{200d}",
    "%C3%A9",
    "%c2%ad",
    "%EF%BC%8E",
    "İ",
    "K",
    "１２７.1",
    "①",
    "\u{a0}",
    "\u{85}",
    "🦀",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ascii_is_read_as_the_peer_reads_it(text in texts(ASCII)) {
        let address = Address::parse(&text);
        match (&address, Url::parse(&text)) {
            (Address::Url(_), Ok(url)) if is_drive(&url) => {}
            (Address::Url(_), Ok(url)) => {
                prop_assert_eq!(address.host().map(ToOwned::to_owned), peer_host(&url));
                prop_assert_eq!(address.scheme(), Some(url.scheme()));
                prop_assert_eq!(address.port(), url.port());
                let has_user = !url.username().is_empty() || url.password().is_some_and(|word| !word.is_empty());
                prop_assert!(address.has_user_info() || !has_user);
                if url.is_special() && url.scheme() != "file" {
                    // The peer encodes what the text has as it is.
                    let encoded = Url::parse(&format!("https://a{}#", address.path()));
                    prop_assert_eq!(encoded.as_ref().map(Url::path), Ok(url.path()));
                }
            }
            // Only the peer decodes the labels of an internationalized name.
            (Address::Url(_), Err(_)) => prop_assert!(address.host().is_some_and(|host| host.contains("xn--")), "{}", text),
            // Hosts replace variables, and other parsers read some generic URLs differently.
            (Address::Foreign(_), Ok(url)) => {
                let is_generic = !url.is_special() && text.contains(['%', '\\', '@', '\u{7f}']);
                prop_assert!(is_generic || text.contains(['$', '{', '}']), "{}", text);
            }
            (Address::Other, Ok(url)) => prop_assert!(false, "{text} is {url}"),
            (Address::Foreign(_) | Address::Other, Err(_)) => {}
        }
    }

    #[test]
    fn no_text_names_another_host(text in texts(OTHERS)) {
        let address = Address::parse(&text);
        if let (Some(host), Ok(url)) = (address.host(), Url::parse(&text))
            && !is_drive(&url)
        {
            prop_assert_eq!(Some(host.to_owned()), peer_host(&url));
            let ip = url.host_str().map(|host| host.trim_matches(['[', ']'])).and_then(|host| host.parse::<IpAddr>().ok());
            prop_assert_eq!(address.ip(), ip.map(|ip| ip.to_canonical()));
        }
    }
}
