//! The prefixed keys. If two rows match the same place, the first one names it.

use crate::bytes::{
    AN, B64, Class, DIGIT, DOT, EQUALS, HEX, HYPHEN, LHEX, LOWER, TILDE, TOKEN, U64, UNDER, UPPER,
};
use crate::rules::prefixed::Edge::{Case, Hard};
use crate::rules::prefixed::Part::{Literal as L, Optional as O, Run as R};
use crate::rules::prefixed::Sum::{Bech32, Crc};
use crate::rules::prefixed::{Part, Prefixed, key};

const CAPS: Class = UPPER | DIGIT;
const BASE36: Class = LOWER | DIGIT;
/// An open-ended run.
const OPEN: usize = usize::MAX;

const GITHUB: &[Part] = &[R(AN, 36, 251)];
const GITLAB: &[Part] = &[R(U64, 20, 300)];
const ROUTABLE: &[Part] = &[R(U64, 27, 300), L("."), R(BASE36, 2, 9), O("."), R(BASE36, 0, 7)];
const SLACK: &[Part] = &[R(AN | HYPHEN, 20, 240)];
const STRIPE: &[Part] = &[R(AN, 10, 120)];
const OPENAI: &[Part] = &[R(U64, 40, OPEN)];
const SHOPIFY: &[Part] = &[R(HEX, 32, 32)];
const LHEX40: &[Part] = &[R(LHEX, 40, 40)];
const LHEX64: &[Part] = &[R(LHEX, 64, 64)];
const VAULT: &[Part] = &[R(U64, 24, 300)];
const PSCALE: &[Part] = &[R(U64 | DOT, 32, 64)];
const DOPPLER: &[Part] = &[R(AN, 40, 44)];
const TAILSCALE: &[Part] = &[R(U64, 20, OPEN)];
const MACAROON: &[Part] = &[R(B64 | UNDER | HYPHEN | EQUALS, 40, OPEN)];

const fn gitlab(literal: &'static str) -> [Prefixed; 2] {
    [key("gitlab", literal, ROUTABLE), key("gitlab", literal, GITLAB)]
}

/// The groups of rows, in order of precedence.
pub(crate) const GROUPS: &[&[Prefixed]] = &[
    AWS,
    FORGES,
    &gitlab("glpat-"),
    &gitlab("gldt-"),
    &gitlab("glrt-"),
    &gitlab("glptt-"),
    &gitlab("glcbt-"),
    &gitlab("glft-"),
    &gitlab("glsoat-"),
    &gitlab("glimt-"),
    &gitlab("glagent-"),
    &gitlab("glffct-"),
    SLACKS,
    STRIPES,
    OPENAIS,
    MODELS,
    REGISTRIES,
    CLOUDS,
    SERVICES,
    MORE_SERVICES,
    crate::rules::prefixed::vendors::MODELS,
    crate::rules::prefixed::vendors::REGISTRIES,
    crate::rules::prefixed::vendors::CLOUDS,
    crate::rules::prefixed::vendors::SERVICES,
    crate::rules::prefixed::vendors::SERVERS,
];

const AWS: &[Prefixed] = &[
    key("aws-key-id", "AKIA", &[R(CAPS, 16, 16)]).edge(Case).floor(2.2),
    key("aws-key-id", "ASIA", &[R(CAPS, 16, 16)]).edge(Case).floor(2.2),
    key("aws-key-id", "ABIA", &[R(CAPS, 16, 16)]).edge(Case).floor(2.2),
    key("aws-key-id", "ACCA", &[R(CAPS, 16, 16)]).edge(Case).floor(2.2),
    key("aws-key-id", "A3T", &[R(CAPS, 17, 17)]).edge(Case).floor(2.2),
];

const FORGES: &[Prefixed] = &[
    key("github", "ghp_", GITHUB).sum(Crc),
    key("github", "gho_", GITHUB).sum(Crc),
    key("github", "ghu_", GITHUB).sum(Crc),
    key("github", "ghs_", GITHUB).sum(Crc),
    key("github", "ghr_", GITHUB).sum(Crc),
    key("github-fine", "github_pat_", &[R(AN | UNDER, 50, 94)]),
];

const SLACKS: &[Prefixed] = &[
    key("slack", "xoxe.xoxp-", &[R(U64, 100, 180)]),
    key("slack", "xoxe.xoxb-", &[R(U64, 100, 180)]),
    key("slack", "xoxb-", SLACK).digits(6),
    key("slack", "xoxp-", SLACK).digits(6),
    key("slack", "xoxa-", SLACK).digits(6),
    key("slack", "xoxr-", SLACK).digits(6),
    key("slack", "xoxs-", SLACK).digits(6),
    key("slack", "xoxe-", SLACK).digits(6),
    key("slack", "xoxc-", SLACK).digits(6),
    key("slack", "xapp-", SLACK).digits(6),
    key("slack", "xoxd-", &[R(TOKEN | crate::bytes::SYMBOL, 40, OPEN)]),
];

const STRIPES: &[Prefixed] = &[
    key("stripe", "sk_live_", STRIPE),
    key("stripe", "sk_test_", STRIPE),
    key("stripe", "sk_prod_", STRIPE),
    key("stripe", "rk_live_", STRIPE),
    key("stripe", "rk_test_", STRIPE),
    key("stripe", "rk_prod_", STRIPE),
    key("stripe", "whsec_", &[R(B64 | EQUALS, 32, OPEN)]),
];

const OPENAIS: &[Prefixed] = &[
    key("openai", "sk-proj-", OPENAI).edge(Hard),
    key("openai", "sk-svcacct-", OPENAI).edge(Hard),
    key("openai", "sk-admin-", OPENAI).edge(Hard),
    key("anthropic", "sk-ant-", &[R(U64, 20, OPEN)]).edge(Hard),
    key("sk-other", "sk-or-v1-", LHEX64).edge(Hard),
    key("sk-other", "sk-", &[R(LHEX, 32, 32)]).edge(Hard).digits(3),
    key("sk-other", "sk-", &[R(AN, 32, 64)]).edge(Hard).floor(3.5).digits(3),
];

const MODELS: &[Prefixed] = &[
    key("model-key", "pplx-", &[R(AN, 40, 60)]).floor(3.5),
    key("model-key", "gsk_", &[R(AN, 40, 60)]).floor(3.5),
    key("model-key", "xai-", &[R(AN, 40, 120)]).floor(3.5),
    key("model-key", "csk-", &[R(AN, 48, 48)]).floor(3.5),
    key("model-key", "nvapi-", &[R(U64, 60, 70)]).floor(3.5),
    key("model-key", "r8_", &[R(AN, 37, 37)]).floor(3.5),
    key("model-key", "hf_", &[R(AN, 34, 34)]).floor(3.5),
    key("model-key", "api_org_", &[R(AN, 34, 34)]).floor(3.5),
    key("model-key", "lsv2_pt_", &[R(LHEX, 32, 32), L("_"), R(LHEX, 10, 10)]),
    key("model-key", "lsv2_sk_", &[R(LHEX, 32, 32), L("_"), R(LHEX, 10, 10)]),
    key("model-key", "wandb_v1_", &[R(AN | UNDER, 77, 77)]).floor(3.5),
    key("model-key", "AIza", &[R(U64, 35, 35)]).floor(3.5),
    key("model-key", "ya29.", &[R(U64 | DOT, 30, OPEN)]).floor(3.5),
    key("model-key", "GOCSPX-", &[R(U64, 28, 28)]).floor(3.5),
];

const REGISTRIES: &[Prefixed] = &[
    key("registry-key", "npm_", &[R(AN, 36, 36)]).sum(Crc),
    key("registry-key", "pypi-AgE", &[R(U64, 60, 1000)]),
    key("registry-key", "cio", &[R(AN, 32, 32)]).floor(3.8).digits(3),
    key("registry-key", "rubygems_", &[R(HEX, 48, 48)]),
    key("registry-key", "CLOJARS_", &[R(AN, 60, 60)]),
    key("registry-key", "oy2", &[R(BASE36, 43, 43)]),
    key("registry-key", "dckr_pat_", &[R(U64, 27, 27)]),
    key("registry-key", "dckr_oat_", &[R(U64, 32, 32)]),
    key("registry-key", "AKCp", &[R(AN, 68, 70)]),
    key("registry-key", "cmVmd", &[R(AN, 59, 59)]),
];

const CLOUDS: &[Prefixed] = &[
    key("cloud-key", "ABSK", &[R(B64 | EQUALS, 109, 269)]),
    key("cloud-key", "dop_v1_", LHEX64),
    key("cloud-key", "doo_v1_", LHEX64),
    key("cloud-key", "dor_v1_", LHEX64),
    key("cloud-key", "dapi", &[R(LHEX, 32, 32), O("-2"), O("-3")]),
    key("cloud-key", "LTAI", &[R(AN, 17, 21)]).digits(1),
    key("cloud-key", "pul-", LHEX40),
    key("cloud-key", "hvs.", VAULT),
    key("cloud-key", "hvb.", VAULT),
    key("cloud-key", "hvr.", VAULT),
    key("cloud-key", "FlyV1 ", MACAROON),
    key("cloud-key", "fm1_", MACAROON),
    key("cloud-key", "fm2_", MACAROON),
    key("cloud-key", "fo1_", MACAROON),
    key("cloud-key", "HRKU-AA", &[R(U64, 58, 58)]),
    key("cloud-key", "rnd_", &[R(AN, 28, 28)]),
    key("cloud-key", "vcp_", &[R(AN, 56, 56)]),
    key("cloud-key", "napi_", &[R(AN, 64, 64)]),
    key("cloud-key", "sbp_", LHEX40),
    key("cloud-key", "pscale_tkn_", PSCALE),
    key("cloud-key", "pscale_pw_", PSCALE),
    key("cloud-key", "pscale_oauth_", PSCALE),
    key("cloud-key", "dp.pt.", DOPPLER),
    key("cloud-key", "dp.ct.", DOPPLER),
    key("cloud-key", "dp.sa.", DOPPLER),
    key("cloud-key", "dp.st.", &[R(U64 | DOT, 40, 90)]),
    key("cloud-key", "tskey-api-", TAILSCALE),
    key("cloud-key", "tskey-auth-", TAILSCALE),
    key("cloud-key", "tskey-client-", TAILSCALE),
    key("cloud-key", "SWMTKN-1-", &[R(AN | HYPHEN, 40, OPEN)]),
    key("cloud-key", "SWMKEY-1-", &[R(B64, 40, OPEN)]),
    key("cloud-key", "sha256~", &[R(U64, 43, 43)]),
];

const SERVICES: &[Prefixed] = &[
    key("service-key", "SG.", &[R(U64, 22, 22), L("."), R(U64, 43, 43)]),
    key("service-key", "shpat_", SHOPIFY),
    key("service-key", "shpss_", SHOPIFY),
    key("service-key", "shpca_", SHOPIFY),
    key("service-key", "shppa_", SHOPIFY),
    key("service-key", "lin_api_", &[R(AN, 40, 40)]),
    key("service-key", "lin_oauth_", &[R(AN, 40, 64)]),
    key("service-key", "NRAK-", &[R(CAPS, 27, 27)]),
    key("service-key", "glsa_", &[R(AN, 32, 32), L("_"), R(HEX, 8, 8)]),
    key("service-key", "glc_", &[R(B64 | EQUALS, 32, 140)]),
    key("service-key", "eyJrIjoi", &[R(B64 | EQUALS, 40, 380)]),
    key("service-key", "PMAK-", &[R(HEX, 24, 24), L("-"), R(HEX, 34, 34)]),
    key("service-key", "figd_", &[R(U64, 38, 44)]),
    key("service-key", "sntrys_", &[R(B64 | UNDER | HYPHEN | EQUALS, 50, OPEN)]),
    key("service-key", "sntryu_", LHEX64),
    key("service-key", "dt0c01.", &[R(CAPS, 24, 24), L("."), R(CAPS, 64, 64)]),
    key("service-key", "EZAK", &[R(AN, 54, 54)]),
    key("service-key", "EZTK", &[R(AN, 54, 54)]),
    key("service-key", "ntn_", &[R(AN, 46, 46)]),
    key("service-key", "rdme_", &[R(BASE36, 70, 70)]),
    key("service-key", "sq0atp-", &[R(U64, 22, 60)]),
    key("service-key", "sq0csp-", &[R(U64, 22, 60)]),
    key("service-key", "mlsn.", &[R(AN, 30, 100)]),
    key("service-key", "phx_", &[R(U64, 41, 49)]),
    key("service-key", "pnu_", &[R(AN, 36, 36)]),
];

const MORE_SERVICES: &[Prefixed] = &[
    key("service-key", "polar_pat_", &[R(U64, 20, 100)]),
    key("service-key", "polar_oat_", &[R(U64, 20, 100)]),
    key("service-key", "shippo_live_", LHEX40),
    key("service-key", "shippo_test_", LHEX40),
    key("service-key", "xkeysib-", &[R(LHEX, 64, 64), L("-"), R(AN, 16, 16)]),
    key("service-key", "sgp_", &[R(LHEX, 16, 16), L("_"), R(LHEX, 40, 40)]),
    key("service-key", "sgp_local_", LHEX40),
    key("service-key", "sgp_", LHEX40),
    key("service-key", "squ_", LHEX40),
    key("service-key", "sqp_", LHEX40),
    key("service-key", "sqa_", LHEX40),
    key("service-key", "bkua_", &[R(AN, 40, 40)]),
    key("service-key", "CCIPAT_", &[R(AN, 22, 22), L("_"), R(AN, 40, 40)]),
    key("service-key", "ATATT3", &[R(U64 | EQUALS, 180, OPEN)]),
    key("service-key", "ATCTT3", &[R(U64 | EQUALS, 180, OPEN)]),
    key("service-key", "ATBB", &[R(AN, 32, 32)]),
    key("service-key", "ops_eyJ", &[R(U64 | EQUALS, 250, OPEN)]),
    key(
        "service-key",
        "A3-",
        &[
            R(CAPS, 6, 6),
            L("-"),
            R(CAPS, 6, 6),
            L("-"),
            R(CAPS, 5, 5),
            L("-"),
            R(CAPS, 5, 5),
            L("-"),
            R(CAPS, 5, 5),
            L("-"),
            R(CAPS, 5, 5),
        ],
    ),
    key(
        "service-key",
        "A3-",
        &[
            R(CAPS, 6, 6),
            L("-"),
            R(CAPS, 11, 11),
            L("-"),
            R(CAPS, 5, 5),
            L("-"),
            R(CAPS, 5, 5),
            L("-"),
            R(CAPS, 5, 5),
        ],
    ),
    key("service-key", "ico-", &[R(AN, 32, 32)]).edge(Hard),
    key("service-key", "API-", &[R(CAPS, 26, 26)]).digits(4),
    key("age", "AGE-SECRET-KEY-1", &[R(UPPER | LOWER | DIGIT, 58, 58)]).sum(Bech32),
];

/// The bytes of an Azure AD client secret.
pub(crate) const AZURE_AD: Class = AN | UNDER | TILDE | DOT | HYPHEN;

#[cfg(test)]
#[expect(clippy::arithmetic_side_effects, reason = "tests make small samples from seeds")]
mod tests {
    use super::*;
    use crate::bytes::is;
    use crate::firewall::settings::{ExampleMode, RuleSelection};
    use crate::rules::set::RuleSet;
    use crate::rules::{Match, MatchContext, Memo};

    /// A value that has the shape of a row; `less` bytes of its last run are left out.
    fn sample(row: &Prefixed, mut seed: u64, less: usize) -> String {
        let mut text = row.literal.to_owned();
        let shortened = row.parts.iter().rposition(|part| matches!(part, R(_, 1.., _)));
        for (place, part) in row.parts.iter().enumerate() {
            match *part {
                R(class, least, most) => {
                    let wanted = if least == most { least } else { least + (most - least).min(3) };
                    let wanted = if Some(place) == shortened && less > 0 {
                        least.saturating_sub(less)
                    } else {
                        wanted
                    };
                    let alphabet: Vec<u8> =
                        (b'-'..=b'z').filter(|byte| is(*byte, class) && *byte != b'=').collect();
                    for _ in 0..wanted {
                        seed = seed
                            .wrapping_mul(6_364_136_223_846_793_005)
                            .wrapping_add(1_442_695_040_888_963_407);
                        text.push(char::from(
                            alphabet[usize::try_from(seed >> 33).unwrap() % alphabet.len()],
                        ));
                    }
                }
                L(literal) => text.push_str(literal),
                O(_) => {}
            }
            if Some(place) == shortened && less > 0 {
                break;
            }
        }
        text
    }

    fn look(text: &str) -> MatchContext<'_> {
        let (examples, memo) = (ExampleMode::Keep, Memo::default());
        MatchContext { text: text.as_bytes(), examples, prefixed_only: false, hashes: false, memo }
    }

    fn hits(rules: &RuleSet, text: &str) -> Vec<Match> {
        let ctx = look(text);
        let (mut marks, mut hits, mut backwards) = (Vec::new(), Vec::new(), Vec::new());
        rules.marks(text.as_bytes(), 0..text.len(), &mut marks);
        for mark in marks {
            rules.look(&ctx, mark, &mut hits, &mut backwards);
        }
        hits
    }

    /// A seed whose value has the entropy and the digits that the row asks for.
    fn fit(row: &Prefixed) -> Option<u64> {
        (1..200).find(|seed| {
            let text = format!(" {} ", sample(row, seed * 7919, 0));
            row.look(&look(&text), 1).is_some()
        })
    }

    #[test]
    fn every_row_finds_what_it_describes_whole_and_names_it() {
        let rules = RuleSet::new(&RuleSelection::all(), &[]).unwrap();
        for row in GROUPS.iter().flat_map(|group| group.iter()) {
            let seed = fit(row).unwrap_or_else(|| panic!("{} never hits", row.literal));
            let value = sample(row, seed * 7919, 0);
            for text in
                [format!("x = {value}\n"), format!("\"{value}\","), format!("({value})"), value.clone()]
            {
                let start = text.find(&value).unwrap();
                let hits = hits(&rules, &text);
                let first = hits.iter().filter(|hit| hit.at.start == start).map(|hit| hit.rank).min();
                assert_eq!(first, Some(row.rank), "{text}");
                assert!(hits.iter().any(|hit| hit.at == (start..start + value.len())), "{text}: {hits:?}");
            }
        }
    }

    #[test]
    fn every_row_lets_its_near_misses_stay() {
        for row in GROUPS.iter().flat_map(|group| group.iter()) {
            let seed = fit(row).unwrap();
            let value = sample(row, seed * 7919, 0);
            let short = format!(" {} ", sample(row, seed * 7919, 1));
            assert!(row.look(&look(&short), 1).is_none(), "one byte less: {short}");
            let (literal, rest) = value.split_at(row.literal.len());
            let other: String = literal
                .chars()
                .map(|c| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() })
                .collect();
            if other != literal {
                let other = format!(" {other}{rest} ");
                assert!(row.look(&look(&other), 1).is_none(), "other case: {other}");
            }
            let dull = format!(" {literal}{} ", "a".repeat(rest.len()));
            assert!(row.look(&look(&dull), 1).is_none(), "no entropy: {dull}");
            if matches!(row.sum, crate::rules::prefixed::Sum::None) {
                let glued = format!("Z{value} ");
                assert!(row.look(&look(&glued), 1).is_none(), "inside a word: {glued}");
            }
        }
    }
}
