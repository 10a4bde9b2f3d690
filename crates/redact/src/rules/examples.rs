//! Keys that vendors publish in their documentation. They are not secret; a setting decides whether they are
//! kept.
//!
//! Each row has the key, split in two so that no scanner reports this file, and the document that prints it.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

/// A published example key: two halves and the document that prints it.
pub type ExampleKey = (&'static str, &'static str, &'static str);

/// The published example keys, which the setting `examples` can keep.
pub const EXAMPLES: &[ExampleKey] = &[
    ("AKIAIOSFODNN7", "EXAMPLE", "AWS documentation, access keys"),
    ("AKIAI44QH8DHB", "EXAMPLE", "AWS documentation, IAM user guide"),
    ("ASIAIOSFODNN7", "EXAMPLE", "AWS documentation, temporary credentials"),
    ("wJalrXUtnFEMI/K7MDENG/", "bPxRfiCYEXAMPLEKEY", "AWS documentation, access keys"),
    ("je7MtGbClwBF/2Zp9Utk/", "h3yCo8nvbEXAMPLEKEY", "AWS documentation, CLI configuration"),
    ("sk_test_", "4eC39HqLyjWDarjtT1zdp7dc", "Stripe API reference"),
    ("sk_test_", "BQokikJOvBiI2HlWgH4olfQ2", "Stripe API reference, earlier"),
    ("sk_test_", "tR3PYbcVNZZ796tH88S4VQ2u", "Stripe documentation, authentication"),
    ("ghp_16C7e42F292c6912E77", "10c838347Ae178B4a", "GitHub documentation, token formats"),
    ("gho_16C7e42F292c6912E77", "10c838347Ae178B4a", "GitHub documentation, web application flow"),
    ("ghu_16C7e42F292c6912E77", "10c838347Ae178B4a", "GitHub documentation, app user tokens"),
    (
        "ghr_1B4a2e77838347a7E420ce178F2E7c6912E169246c34E1",
        "ccbF66C46812d16D5B1A9Dc86A1498",
        "GitHub documentation, refresh tokens",
    ),
    ("ghs_16C7e42F292c6912E77", "10c838347Ae178B4a", "GitHub documentation, installation tokens"),
    ("110201543:AAHdqTcvCH1vGWJxfSe", "ofSAs0K5PALDsaw", "Telegram Bot API, authorizing your bot"),
    ("4839574812:AAFD39kkdpWt3ywyRZer", "gyOLMaJhac60qcs", "Telegram documentation, BotFather"),
    (
        "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/",
        "K1SZFPTOtr/KBHBeksoGMGw==",
        "Azurite and Azure Storage emulator, well-known key",
    ),
    (
        "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPM",
        "bIZnqyMsEcaGQy67XIw/Jw==",
        "Azure Cosmos DB emulator, well-known key",
    ),
    (
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.",
        "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
        "jwt.io, the debugger's token",
    ),
    (
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiYWRtaW4iOnRydWV9.",
        "TJVA95OrM7E2cBab30RMHrHDcEfxjoYZgeFONFh7HgQ",
        "jwt.io, introduction",
    ),
    (
        "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.",
        "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
        "RFC 7515, appendix A.1",
    ),
    ("mF_9.B5f-", "4.1JqM", "RFC 6750, section 2.1"),
    ("QWxhZGRpbjpv", "cGVuIHNlc2FtZQ==", "RFC 7617, section 2"),
    ("dGVz", "dDoxMjPCow==", "RFC 7617, section 2.1"),
    ("2YotnFZFEjr1z", "CsicMWpAA", "RFC 6749, section 4.1.4"),
    ("tGzv3JOkF0XG5Qx2", "TlKWIA", "RFC 6749, section 4.1.4"),
    ("SplxlOBeZQQYb", "YS6WxSbIA", "RFC 6749, section 4.1.2"),
    ("gX1fBat3", "bV", "RFC 6749, section 2.3.1"),
    ("czZCaGRSa3F0Mzpn", "WDFmQmF0M2JW", "RFC 6749, section 2.3.1"),
    ("7Fjfp0ZBr1KtDRbn", "fVdmIw", "RFC 6749, section 2.3.1"),
    ("AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYY", "SJZGFPYYSJZGFPYYSJZGFPQ4EGAEX", "age, test vectors"),
    ("yAnz5TF+lXXJte14tji3zlMNq+", "hd2rYUIgJBgB3fBmk=", "WireGuard, quick start"),
];

/// Returns `true` if a value is a published example key.
pub(crate) fn is_documented(value: &[u8]) -> bool {
    EXAMPLES.iter().any(|(head, tail, _)| {
        value.len() == head.len() + tail.len()
            && value.starts_with(head.as_bytes())
            && value.ends_with(tail.as_bytes())
    })
}
