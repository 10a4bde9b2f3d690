//! Further prefixed keys, with shapes from the vendors' own documentation.

use crate::bytes::{AN, B64, Class, DIGIT, DOT, EQUALS, HEX, LHEX, LOWER, U64, UNDER, UPPER};
use crate::rules::prefixed::Edge::Hard;
use crate::rules::prefixed::Part::{Literal as L, Run as R};
use crate::rules::prefixed::{Part, Prefixed, key};

const CAPS: Class = UPPER | DIGIT;
const BASE36: Class = LOWER | DIGIT;
const OPEN: usize = usize::MAX;

const UUID: &[Part] =
    &[R(HEX, 8, 8), L("-"), R(HEX, 4, 4), L("-"), R(HEX, 4, 4), L("-"), R(HEX, 4, 4), L("-"), R(HEX, 12, 12)];
const HEX64: &[Part] = &[R(LHEX, 64, 64)];
const BRAINTREE: &[Part] = &[R(BASE36, 16, 16), L("$"), R(LHEX, 32, 32)];
const PADDLE: &[Part] = &[R(AN | UNDER, 40, OPEN)];
const VERCEL: &[Part] = &[R(AN, 56, 56)];
const CLOUDFLARE: &[Part] = &[R(AN, 40, 56)];
const SETTLEMINT: &[Part] = &[R(LHEX, 16, 16)];

/// Keys of model vendors.
pub(crate) const MODELS: &[Prefixed] = &[
    key("model-key", "tgp_v1_", &[R(U64, 43, 43)]).floor(3.5),
    key("model-key", "pcsk_", &[R(AN, 4, 8), L("_"), R(AN, 50, 90)]).floor(3.5),
    key("model-key", "sk-lf-", UUID).edge(Hard),
    key("model-key", "jina_", &[R(U64, 60, 60)]).floor(3.5),
    key("model-key", "ls__", &[R(LHEX, 32, 32)]),
    key("model-key", "AQ.A", &[R(U64, 40, 80)]).floor(3.8).digits(3),
    key("model-key", "1//0", &[R(U64, 40, 120)]).floor(3.5).digits(3),
    key("model-key", "bedrock-api-key-", &[R(B64 | EQUALS, 100, OPEN)]),
];

/// Tokens of forges and package registries.
pub(crate) const REGISTRIES: &[Prefixed] = &[
    key("gitlab", "gloas-", HEX64),
    key("gitlab", "GR1348941", &[R(U64, 20, 20)]),
    key("registry-key", "packagist_uut_", &[R(LHEX, 68, 68)]),
    key("registry-key", "packagist_ort_", &[R(LHEX, 68, 68)]),
];

/// Keys of cloud and infrastructure vendors.
pub(crate) const CLOUDS: &[Prefixed] = &[
    key("cloud-key", "nfp_", &[R(AN, 36, 40)]).floor(3.5),
    key("cloud-key", "AQVN", &[R(U64, 35, 38)]).floor(3.5).digits(1),
    key("cloud-key", "tk-us-", &[R(U64, 48, 48)]).edge(Hard).floor(3.5),
    key("cloud-key", "v1.0-", &[R(LHEX, 24, 24), L("-"), R(LHEX, 146, 146)]),
    key("cloud-key", "cfut_", CLOUDFLARE).floor(3.5),
    key("cloud-key", "cfat_", CLOUDFLARE).floor(3.5),
    key("cloud-key", "vci_", VERCEL),
    key("cloud-key", "vca_", VERCEL),
    key("cloud-key", "vcr_", VERCEL),
    key("cloud-key", "vck_", VERCEL),
    key("cloud-key", "dp.scim.", &[R(AN, 40, 44)]),
    key("cloud-key", "dp.audit.", &[R(AN, 40, 44)]),
    key("cloud-key", "tskey-webhook-", &[R(U64, 20, OPEN)]),
    key("cloud-key", "tskey-scim-", &[R(U64, 20, OPEN)]),
    key("cloud-key", "sb_secret_", &[R(U64, 30, 40)]),
    key("cloud-key", "amzn.mws.", UUID),
    key("cloud-key", "amzn1.oa2-cs.v1.", HEX64),
];

/// Keys of services.
pub(crate) const SERVICES: &[Prefixed] = &[
    key("service-key", "aio_", &[R(AN, 28, 28)]).floor(3.5),
    key("service-key", "FLWSECK-", &[R(LHEX, 32, 32), L("-X")]),
    key("service-key", "FLWSECK_TEST-", &[R(LHEX, 32, 32), L("-X")]),
    key("service-key", "fio-u-", &[R(U64, 64, 64)]).floor(3.5),
    key("service-key", "s-s4t2ud-", HEX64),
    key("service-key", "s-s4t2af-", HEX64),
    key("service-key", "sk.eyJ", &[R(U64, 60, OPEN), L("."), R(U64, 20, 30)]),
    key("service-key", "NRII-", &[R(U64, 32, 32)]).floor(3.5),
    key("service-key", "NRRA-", &[R(LHEX, 42, 42)]),
    key("service-key", "access-sandbox-", UUID),
    key("service-key", "access-development-", UUID),
    key("service-key", "access-production-", UUID),
    key("service-key", "sm_aat_", SETTLEMINT),
    key("service-key", "sm_pat_", SETTLEMINT),
    key("service-key", "sm_sat_", SETTLEMINT),
    key("service-key", "tfp_", &[R(U64 | DOT, 50, 64)]).floor(3.5),
    key("service-key", "duffel_live_", &[R(U64, 43, 43)]),
    key("service-key", "duffel_test_", &[R(U64, 43, 43)]),
    key("service-key", "live_", &[R(U64, 40, 40)]).edge(Hard).floor(3.5).digits(3),
    key("service-key", "live_", &[R(LHEX, 35, 35)]).edge(Hard),
    key("service-key", "xsmtpsib-", &[R(LHEX, 64, 64), L("-"), R(AN, 16, 16)]),
    key("service-key", "PMAT-", &[R(CAPS, 26, 26)]).digits(2),
    key("service-key", "secret_", &[R(AN, 43, 43)]).edge(Hard).floor(3.5).digits(3),
    key("service-key", "snyk_uat.", &[R(HEX, 8, 8), L("."), R(U64 | DOT, 40, OPEN)]),
    key("service-key", "snyk_sat.", &[R(HEX, 8, 8), L("."), R(U64 | DOT, 40, OPEN)]),
    key("service-key", "zpka_", &[R(AN, 32, 32), L("_"), R(HEX, 8, 8)]),
    key("service-key", "pdl_live_apikey_", PADDLE),
    key("service-key", "pdl_sdbx_apikey_", PADDLE),
    key("service-key", "access_token$production$", BRAINTREE),
    key("service-key", "access_token$sandbox$", BRAINTREE),
    key("service-key", "CCIPRJ_", &[R(AN, 22, 22), L("_"), R(LHEX, 40, 40)]),
    key("service-key", "CFPAT-", &[R(U64, 43, 43)]).floor(3.5),
    key("service-key", "EAACEdEose0cBA", &[R(AN, 20, OPEN)]),
];

/// Keys of services that agents often reach through MCP servers.
pub(crate) const SERVERS: &[Prefixed] = &[
    key("service-key", "fc-", &[R(LHEX, 32, 32)]).edge(Hard),
    key("service-key", "tvly-", &[R(AN, 32, 32)]).edge(Hard),
    key("service-key", "tvly-dev-", &[R(AN, 32, 32)]).edge(Hard),
    key("service-key", "tvly-prod-", &[R(AN, 32, 32)]).edge(Hard),
    key("service-key", "mdb_sa_sk_", &[R(U64, 40, 40)]).floor(3.5),
    key("service-key", "re_", &[R(AN, 8, 8), L("_"), R(AN, 24, 24)]).edge(Hard).floor(3.5).digits(2),
    key("service-key", "apify_api_", &[R(AN, 36, 36)]),
    key("service-key", "ctx7sk-", UUID),
    key("service-key", "e2b_", &[R(LHEX, 40, 40)]).edge(Hard),
    key("service-key", "bb_live_", &[R(U64, 27, 27)]).floor(3.5),
    key("service-key", "BSA", &[R(U64, 28, 28)]).edge(Hard).floor(3.8).digits(2),
    key("service-key", "hb_", &[R(LHEX, 30, 30)]).edge(Hard),
    key("service-key", "sgai-", UUID),
    key("service-key", "pat-na1-", UUID),
    key("service-key", "pat-eu1-", UUID),
    key("service-key", "pk_", &[R(DIGIT, 7, 9), L("_"), R(CAPS, 32, 32)]).edge(Hard),
    key("service-key", "xaat-", UUID).edge(Hard),
    key("service-key", "xapt-", UUID).edge(Hard),
    key("service-key", "pylf_v1_us_", &[R(AN, 43, 43)]),
    key("service-key", "pylf_v1_eu_", &[R(AN, 43, 43)]),
    key("service-key", "pat.", &[R(U64, 22, 22), L("."), R(LHEX, 24, 24), L("."), R(AN, 20, 20)]).edge(Hard),
    key("service-key", "hcaik_", &[R(BASE36, 58, 60)]),
    key("model-key", "sk_", &[R(LHEX, 48, 48)]).edge(Hard),
    key("model-key", "pa-", &[R(U64, 43, 43)]).edge(Hard).floor(3.8).digits(3),
    key("model-key", "llx-", &[R(AN, 48, 48)]).edge(Hard).floor(3.5),
    key("model-key", "m0-", &[R(AN, 40, 40)]).edge(Hard).floor(3.5).digits(2),
];
