//! How rare four bytes side by side are in code and prose: the filter looks for the rarest of a literal.

use super::literal::Literal;

/// Letters, an upper-case letter, a digit, a blank, a line's end, the marks of ASCII in their order, any other byte.
const KINDS: usize = 63;

/// How many bits it says that a byte of a kind stands anywhere, in base 36.
const ALONE: &[u8; KINDS] = b"575646765885655694546788799936a7bada8777a786777a79aa9b9c89797fc";

/// How many bits it says that behind a byte of one kind (the line) stands one of another (the column), in base 36.
///
/// # Source
/// Counted over 5 MB of the packages that `cargo xtask corpus` fetches and of plugins, each kind shared out over its bytes.
const BEHIND: &[&[u8; KINDS]; KINDS] = &[
    b"a545b85c6c8344d5f342578858bb5beafefeaa9fd997b7aeaecfaebfbdfbcff",
    b"3799299b53b39937f5574cfd6f996bd9fffe988fd9a769adaedfabcfbbfbdef",
    b"396a39935a44ac2af4735dac79ba7bfafdfca99fa998aabcaddfdccfbdedcff",
    b"49852a8c49d68958f6575bd97c8a38c7ecfc766da696967a99afab9f7abb8ef",
    b"5854757a8b9564766344a7757c9b38d7ecfc866fc68596799aaf9caf8acc9ff",
    b"3aaa45bf3df6c839f4763fcc7fa93ae9fffe967fe8a7b89bacdfbbafbcfdcff",
    b"69ab2e544ee66579f5554ca99a8949f6fffc867f8686776999bf8d9f8afb8ff",
    b"3ae82fba39d7984af6745def8d9b49d8dfeb857fd796a67b9aadbd9faadc9ff",
    b"5644545ebd944236a53496e7d6aa7dfafefdbcafa7b9abbdafdfdf9faefbbff",
    b"7f582c579d58db5dfc2c6d8aff6e5afaffffb97fa8b7ab9dcddf9c9fcffcaff",
    b"68c72a6a5ca8a689c9466a897a7948e6ebfe766fa6758668ab4c9e8f6afb8ff",
    b"369528ac39b4ab48fa5447af6f9e59b8ccfb877fd796887b9cafbcaf8afb9ff",
    b"349a2dab49c76643fa5b6bbdbd9b3ae8fffd888fe89777acbbbebdbfabfbbef",
    b"5b44464a5b679858db3357cd8d9e39c7fdfd767fa796877a9bafacafaaeb9ff",
    b"7664957f6b644264f2654669acbf5ceafffdbaafcaa8cabfaeefcfcfadfccff",
    b"39a62db75fd49a35f3545ce97fad6bf8fcfd978fd897a89aaccfadaf8aeccff",
    b"bcce9eeebee6ecbec79b0ebcccdd8deaeeee998ee9c7e9beceeeaeceaeeccef",
    b"4a66286b4f77643af554679c6d9d4ad8fdfc867fd696968a98afacaf8afb8ff",
    b"6c5a38c65f87a955aa4359997f9d38d6ebfc766ca58465799a8f7daf89fb8ff",
    b"4a693bc33df8ab47f4565d9b5e8d39d7fdfb767fc68597889aaf9caf8acb8ff",
    b"6666376d4eb343a5f343aafcec9b6ffbfffeadaffacacecfbfefdfafadcddff",
    b"1c982d6d3ffcbb4bfba8aceeeeaa7cf9ecec999fe9a698adadbfdcafacfbdff",
    b"3aa94cb43ed9e448f558a96aaa7a3ae8fafe979ca896869dafafccaf7cfdaff",
    b"6a7b5adb59fb7c82f992fdaa7b7949d8fcfc766da685a68da99e9d8e89fc8ff",
    b"98a869ad8de57552f857cd8faa7838c6fafc756ec6859679989e8c7f89aa9ff",
    b"58672c786d79aa3ac7a99d9e686a7be8eceeab9eaa96ba8cbeceea9ebbeadee",
    b"4767486646967546a475587757686af9ffff999fb8a8b9aeaadfbdaf6cfccff",
    b"6766679f7ddfdcd9fdaa8986667547b7cd9a785b94759659999fa86c89f97ff",
    b"575666885a977666b665777a9b9a1d96cac866859f9a79fa5b978daf78586ff",
    b"9a6867ab6ee999a9e797a7afffcc12b9adffaa87fffa6beffcbfcfbfabcf5ff",
    b"7766679659d86666b565889bdab65b6799dd858aba989dab1ddd49ad9abbdbf",
    b"6665767769977667a656687bbb9a478796b97a4b8294854a89a7996c69786db",
    b"7545458849a87765c4557969ccb83da768ca89accccc7aaccccca8ac29caccf",
    b"685677b7789768979766ab8bb6788ed8b5a9778ba9b85a9dadbb6abbba19bdf",
    b"aaa3aaaaaaaaa86aa82aa9a8aac83ba6a867385aa5aa7aa9aa9889aaa6aaaaf",
    b"89986aaa8ccac799a887a9abbecc2577b8e195eebb7997ecaeeebbebb9aceef",
    b"676666876a976676b545788aa89a46b88788794aa3848539b898786b79a99db",
    b"674636865a776555a5548577a9a84664d8ff563fce988cbcff8f79dd776efff",
    b"dbdcbbffafedecddf8cbffffffff26cafbe8864a94c5742a7c8f9a8ec8586ff",
    b"ccddfdffefeedceefddefeeeffff138b6beeaa93ccfd2bfebeb8baefeefccff",
    b"5a6a7aca6ab9a89ad87799c5ad9926b5d8db763a388a6a6d4aadb88db7da6df",
    b"798979a98bb87788c676999bccbb1296fcfcbafeeccb9deeffffacef988fdff",
    b"765566876aa66765b656787cb8a748f8f8ef9aadbb1ccfac99bfb79eece9dfe",
    b"5644555655855665a5457679aa8945f877ff89abcbe44efcff8fbabf69dadff",
    b"6756776759b66897b766687ccb9b349a7bcd9893e7952bac9bfc87b57a9cccf",
    b"9b8a88c97fc988a9d888aacccfda0685faffa8bfdcbf6acfdfdf7aeec75ffff",
    b"a87b87dc7fd8c9abf7a8c7cedeef41d8ffffaaaf9edfcfcfffffd9dfc9cd8ff",
    b"686a78b97b99879ac856659dab693787d79d78cddcdb7dd759dd8bddcd6ddcf",
    b"8a9a78ab8cbaa699d896a9bccdca1886fbffb89cdfbfafff24ef8bcf997e9ff",
    b"bc9c8aba9ccba9bae997bbbbccda1698ebcc856ee5bb9e2a65be798eb85c5ef",
    b"7b9878b98bb79799e987a9bebbaa2776a9be977eeca571ea7b5c76bca895ecd",
    b"5664668a4eb466a2e353c9cceedeafe9eceeaceeeecebeeeeee8bbce5eecebf",
    b"6766677857476566b6666789aa9645b4e9ed49de99877bebadb88637657beec",
    b"c5a4b9ccaccca3c9c7482c66ccbbacc6c7cc65678c835acccb7b6369c5898cf",
    b"dcebceedbbebcabeebcbeeeeeeef3698ebea743773a4642b667e686ba7775ef",
    b"488576786587566679557888baaa7ab7a7ab728bb86a7b896aaa45897ba8ba8",
    b"66544657478656759545667997798fcafafe8996d9e8d9beaddecc9f3aecdad",
    b"6866668968986666c7557779ac8a36c89476885c83a47758cc88875b858a6ed",
    b"875887986ca67686e66686adcf9b32f8ebdfa8fcffeacfedff97aaff9b6f5ff",
    b"7987679a78986687b86787abcba91687b8cc86beee8baacc8eee87caba92eba",
    b"bc9b86ac8ffacccbf8bac8efffff23d7e9df883ce378894d89dfa98ea6da4ef",
    b"777587658887688786567878887989888788668888588788887884684888868",
    b"acbaafdfacdaa8bdf9a9acffbefe5af6fdff6e9ffbe98afeffdfd99f8bc7fb6",
];

/// Words that are more common than their letters say, with their bits, in order.
///
/// # Source
/// Counted in the comments and the prose of the same packages and plugins.
const COMMON: &[(&str, u32)] = &[
    ("about", 13),
    ("access", 13),
    ("action", 13),
    ("after", 13),
    ("also", 14),
    ("application", 13),
    ("arguments", 14),
    ("array", 12),
    ("associated", 13),
    ("attribute", 14),
    ("available", 14),
    ("await", 14),
    ("base", 14),
    ("based", 14),
    ("before", 14),
    ("boolean", 13),
    ("break", 13),
    ("build", 14),
    ("cache", 13),
    ("call", 13),
    ("case", 12),
    ("change", 14),
    ("check", 14),
    ("children", 14),
    ("class", 14),
    ("client", 14),
    ("code", 13),
    ("color", 14),
    ("column", 14),
    ("component", 13),
    ("configuration", 13),
    ("console", 14),
    ("const", 13),
    ("contains", 14),
    ("content", 14),
    ("context", 13),
    ("create", 13),
    ("created", 13),
    ("creates", 13),
    ("current", 13),
    ("custom", 14),
    ("data", 11),
    ("database", 14),
    ("date", 12),
    ("default", 12),
    ("delete", 14),
    ("description", 14),
    ("destination", 14),
    ("developer", 14),
    ("does", 14),
    ("each", 13),
    ("either", 14),
    ("element", 13),
    ("else", 13),
    ("entity", 14),
    ("error", 12),
    ("errors", 14),
    ("event", 13),
    ("example", 12),
    ("exports", 14),
    ("false", 13),
    ("field", 14),
    ("file", 12),
    ("first", 13),
    ("following", 14),
    ("format", 13),
    ("from", 11),
    ("function", 10),
    ("generated", 13),
    ("github", 14),
    ("given", 13),
    ("group", 13),
    ("have", 13),
    ("html", 14),
    ("http", 14),
    ("https", 12),
    ("identifier", 13),
    ("image", 13),
    ("import", 13),
    ("include", 14),
    ("index", 13),
    ("information", 12),
    ("input", 13),
    ("instance", 13),
    ("instead", 14),
    ("internal", 14),
    ("into", 14),
    ("json", 14),
    ("keys", 14),
    ("length", 12),
    ("link", 13),
    ("list", 12),
    ("match", 14),
    ("maximum", 14),
    ("message", 14),
    ("method", 14),
    ("mode", 14),
    ("model", 14),
    ("module", 13),
    ("more", 12),
    ("must", 12),
    ("name", 11),
    ("names", 14),
    ("need", 14),
    ("next", 12),
    ("node", 12),
    ("null", 10),
    ("number", 11),
    ("object", 11),
    ("objects", 14),
    ("only", 12),
    ("operation", 13),
    ("option", 14),
    ("optional", 14),
    ("options", 12),
    ("other", 14),
    ("output", 13),
    ("page", 12),
    ("param", 10),
    ("parameter", 13),
    ("parameters", 14),
    ("params", 13),
    ("path", 13),
    ("permissions", 14),
    ("policy", 14),
    ("private", 14),
    ("promise", 14),
    ("property", 13),
    ("props", 13),
    ("prototype", 14),
    ("provided", 14),
    ("push", 13),
    ("query", 14),
    ("reference", 14),
    ("render", 14),
    ("request", 11),
    ("requests", 14),
    ("required", 14),
    ("resource", 12),
    ("resources", 14),
    ("response", 12),
    ("result", 13),
    ("results", 13),
    ("return", 10),
    ("returned", 13),
    ("returns", 11),
    ("root", 14),
    ("route", 13),
    ("rule", 13),
    ("same", 13),
    ("server", 13),
    ("service", 13),
    ("services", 13),
    ("should", 13),
    ("single", 14),
    ("size", 14),
    ("source", 12),
    ("specific", 14),
    ("specified", 12),
    ("specifies", 14),
    ("specify", 12),
    ("stack", 14),
    ("start", 13),
    ("state", 13),
    ("static", 14),
    ("status", 13),
    ("stream", 14),
    ("string", 11),
    ("supported", 14),
    ("table", 14),
    ("target", 13),
    ("task", 13),
    ("template", 14),
    ("test", 14),
    ("text", 13),
    ("than", 14),
    ("that", 10),
    ("then", 13),
    ("there", 14),
    ("this", 9),
    ("throw", 13),
    ("time", 12),
    ("token", 13),
    ("true", 12),
    ("type", 10),
    ("typeof", 12),
    ("types", 14),
    ("undefined", 14),
    ("under", 14),
    ("unique", 13),
    ("update", 13),
    ("used", 12),
    ("user", 12),
    ("using", 13),
    ("value", 10),
    ("values", 12),
    ("version", 12),
    ("void", 12),
    ("want", 13),
    ("when", 11),
    ("where", 14),
    ("whether", 13),
    ("which", 12),
    ("will", 12),
    ("with", 11),
    ("without", 14),
    ("your", 12),
];

const fn kind(byte: u8) -> usize {
    (match byte {
        b'a'..=b'z' => byte.wrapping_sub(b'a'),
        b'A'..=b'Z' => 26,
        b'0'..=b'9' => 27,
        b' ' => 28,
        b'\t' | b'\n' | b'\r' => 29,
        b'!'..=b'/' => byte.wrapping_sub(b'!').wrapping_add(30),
        b':'..=b'@' => byte.wrapping_sub(b':').wrapping_add(45),
        b'['..=b'`' => byte.wrapping_sub(b'[').wrapping_add(52),
        b'{'..=b'~' => byte.wrapping_sub(b'{').wrapping_add(58),
        _ => 62,
    }) as usize
}

/// Gives how many bits it says that some bytes stand side by side.
pub(super) fn bits(bytes: &[u8]) -> u32 {
    let value = |digit: Option<&u8>| digit.and_then(|digit| char::from(*digit).to_digit(36)).unwrap_or(0);
    let alone = bytes.first().map_or(0, |first| value(ALONE.get(kind(*first))));
    let pairs = bytes.iter().zip(bytes.iter().skip(1));
    let behind = pairs.map(|(a, b)| value(BEHIND.get(kind(*a)).and_then(|line| line.get(kind(*b)))));
    behind.fold(alone, u32::saturating_add)
}

/// A literal is no rarer than one in so many bytes, as bits: words are more common than their letters say.
pub(super) const RARE: u32 = 18;

/// Gives the share of places, in parts of 2^[`RARE`], at which one of some literals stands by its letters.
pub(super) fn share(literals: &[Literal]) -> u64 {
    literals.iter().map(|literal| share_of(&literal.bytes)).fold(0, u64::saturating_add)
}

/// The same of one text.
pub(super) fn share_of(text: &[u8]) -> u64 {
    let word = text.trim_ascii();
    let common = COMMON.binary_search_by_key(&word, |(word, _)| word.as_bytes()).ok();
    let common = common.and_then(|index| COMMON.get(index)).map(|(_, bits)| *bits);
    1 << RARE.saturating_sub(common.unwrap_or_else(|| bits(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_a_kind_and_no_two_marks_share_one() {
        let kinds: Vec<usize> = (0..=u8::MAX).map(kind).collect();
        assert!(kinds.iter().all(|kind| *kind < KINDS));
        let mut marks: Vec<usize> = (b'!'..=b'~').filter(u8::is_ascii_punctuation).map(kind).collect();
        marks.dedup();
        assert_eq!(marks, (30..62).collect::<Vec<_>>());
    }

    #[test]
    fn common_words_are_in_order_and_none_is_rare() {
        assert!(COMMON.is_sorted_by_key(|(word, _)| *word));
        assert!(COMMON.iter().all(|(_, bits)| (8..RARE).contains(bits)));
        assert!(share_of(b" should ") > 16 * share_of(b"classify"));
    }

    #[test]
    fn common_words_say_less_than_odd_ones() {
        assert!(bits(b"tion") < bits(b"eCon"), "{} {}", bits(b"tion"), bits(b"eCon"));
        assert!(bits(b"the ") < bits(b"_pat"));
        assert!(bits(b"func") < bits(b"d_pr"));
    }
}
