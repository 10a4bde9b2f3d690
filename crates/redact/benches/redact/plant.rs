//! Secrets of every kind, generated from a seed. None is or was a live one.

use super::plant_encode::{base64, base64_url, bech32, check_digits, hex};

/// A small random number generator (xorshift64*) with the same sequence on every machine.
#[derive(Debug, Clone)]
pub(crate) struct Rng(u64);

const DIGITS: &str = "0123456789";
const CAPS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &str = "0123456789abcdef";
const AN: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const U64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const B64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

impl Rng {
    /// Starts from a seed.
    #[must_use]
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns the next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number below a bound.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound.max(1)).unwrap_or(1);
        usize::try_from((self.next() >> 11).checked_rem(bound).unwrap_or(0)).unwrap_or(0)
    }

    /// Returns a number of characters of an alphabet.
    pub(crate) fn text(&mut self, alphabet: &str, count: usize) -> String {
        let bytes = alphabet.as_bytes();
        (0..count).map(|_| char::from(bytes.get(self.below(bytes.len())).copied().unwrap_or(b'0'))).collect()
    }
}

/// A secret with the context that identifies it.
#[derive(Debug, Clone)]
pub(crate) struct Planted {
    /// The text before the secret.
    pub(crate) before: String,
    /// The text that must not remain.
    pub(crate) secret: String,
    /// The text after the secret.
    pub(crate) after: String,
}

impl Planted {
    /// Returns the whole text.
    #[must_use]
    pub(crate) fn text(&self) -> String {
        format!("{}{}{}", self.before, self.secret, self.after)
    }
}

/// A generator of secrets of one shape: name, kind and function.
pub(crate) type Maker = (&'static str, &'static str, fn(&mut Rng) -> Planted);

fn bare(secret: String) -> Planted {
    Planted { before: String::new(), secret, after: String::new() }
}

fn around(before: &str, secret: String, after: &str) -> Planted {
    Planted { before: before.to_owned(), secret, after: after.to_owned() }
}

fn crc(prefix: &str, rng: &mut Rng) -> Planted {
    let body = rng.text(AN, 30);
    bare(format!("{prefix}{body}{}", check_digits(&body)))
}

fn mixed(rng: &mut Rng, count: usize) -> String {
    format!(
        "{}{}{}{}",
        rng.text("abcdefghjkmnpqrstuvwxyz", 3),
        rng.text(AN, count.saturating_sub(6)),
        rng.text("#!^*", 1),
        rng.text("23456789", 2)
    )
}

fn pem(rng: &mut Rng, label: &str, lines: usize) -> Planted {
    let mut body = String::new();
    for _ in 0..lines {
        body.push_str(&rng.text(B64, 64));
        body.push('\n');
    }
    body.push_str(&rng.text(B64, 38));
    body.push_str("==\n");
    bare(format!("-----BEGIN {label}-----\n{body}-----END {label}-----"))
}

fn jwt(rng: &mut Rng) -> Planted {
    let head = base64_url(
        format!("{{\"alg\":\"HS256\",\"typ\":\"JWT\",\"kid\":\"{}\"}}", rng.text(HEX, 8)).as_bytes(),
    );
    let body = base64_url(
        format!("{{\"sub\":\"{}\",\"exp\":{}}}", rng.text(DIGITS, 10), rng.text(DIGITS, 10)).as_bytes(),
    );
    bare(format!("{head}.{body}.{}", rng.text(U64, 43)))
}

/// All shapes that can be generated.
pub(crate) const MAKERS: &[Maker] = &[
    ("aws access key id", "aws-key-id", |r| {
        bare(format!(
            "AKIA{}7{}",
            r.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 8),
            r.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 7)
        ))
    }),
    ("aws temporary key id", "aws-key-id", |r| {
        bare(format!(
            "ASIA{}3{}",
            r.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 8),
            r.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 7)
        ))
    }),
    ("aws secret key", "aws-secret", |r| around("aws_secret_access_key = ", r.text(B64, 40), "")),
    ("aws session token", "aws-session", |r| around("AWS_SESSION_TOKEN=", r.text(B64, 356), "")),
    ("github classic", "github", |r| crc(concat!("gh", "p_"), r)),
    ("github oauth", "github", |r| crc(concat!("gh", "o_"), r)),
    ("github server", "github", |r| crc(concat!("gh", "s_"), r)),
    ("github fine", "github-fine", |r| {
        bare(format!("github{}{}_{}", "_pat_", r.text(AN, 22), r.text(AN, 59)))
    }),
    ("gitlab personal", "gitlab", |r| bare(format!("glpat{}{}", "-", r.text(U64, 20)))),
    ("gitlab deploy", "gitlab", |r| bare(format!("gldt{}{}", "-", r.text(U64, 20)))),
    ("slack bot", "slack", |r| {
        bare(format!("xoxb{}{}-{}-{}", "-", r.text(DIGITS, 12), r.text(DIGITS, 13), r.text(AN, 24)))
    }),
    ("slack app", "slack", |r| {
        bare(format!("xapp{}1-A{}-{}-{}", "-", r.text(CAPS, 10), r.text(DIGITS, 13), r.text(HEX, 64)))
    }),
    ("slack webhook", "webhook", |r| {
        around(
            concat!("https://hooks.sl", "ack.com/"),
            format!("services/T{}/B{}/{}", r.text(CAPS, 10), r.text(CAPS, 10), r.text(AN, 24)),
            "",
        )
    }),
    ("discord webhook", "webhook", |r| {
        around(&format!("https://discord.com/api/webhooks/{}/", r.text("123456789", 18)), r.text(U64, 68), "")
    }),
    ("stripe live", "stripe", |r| bare(format!("sk{}{}", "_live_", r.text(AN, 24)))),
    ("stripe restricted", "stripe", |r| bare(format!("rk{}{}", "_live_", r.text(AN, 99)))),
    ("openai legacy", "openai", |r| {
        bare(format!("sk-{}{}{}{}", r.text(AN, 20), "T3Blb", "kFJ", r.text(AN, 20)))
    }),
    ("openai project", "openai", |r| bare(format!("sk-{}{}", "proj-", r.text(U64, 74)))),
    ("anthropic", "anthropic", |r| bare(format!("sk-{}{}AA", "ant-api03-", r.text(U64, 93)))),
    ("openrouter", "sk-other", |r| bare(format!("sk-{}{}", "or-v1-", r.text(HEX, 64)))),
    ("other sk", "sk-other", |r| bare(format!("sk{}{}482{}", "-", r.text(LOWER, 14), r.text(LOWER, 15)))),
    ("google api", "model-key", |r| bare(format!("AI{}{}", "za", r.text(U64, 35)))),
    ("google oauth secret", "model-key", |r| bare(format!("GOCS{}{}", "PX-", r.text(U64, 28)))),
    ("hugging face", "model-key", |r| bare(format!("hf{}{}", "_", r.text(AN, 34)))),
    ("groq", "model-key", |r| bare(format!("gsk{}{}", "_", r.text(AN, 52)))),
    ("npm", "registry-key", |r| crc(concat!("np", "m_"), r)),
    ("pypi", "registry-key", |r| bare(format!("pypi-{}{}", "AgEIcHlwaS5vcmc", r.text(U64, 160)))),
    ("rubygems", "registry-key", |r| bare(format!("rubygems{}{}", "_", r.text(HEX, 48)))),
    ("docker hub", "registry-key", |r| bare(format!("dckr{}{}", "_pat_", r.text(U64, 27)))),
    ("digital ocean", "cloud-key", |r| bare(format!("dop{}{}", "_v1_", r.text(HEX, 64)))),
    ("databricks", "cloud-key", |r| bare(format!("da{}{}", "pi", r.text(HEX, 32)))),
    ("vault service", "cloud-key", |r| bare(format!("hv{}{}", "s.", r.text(U64, 92)))),
    ("terraform", "cloud-key", |r| bare(format!("{}.atlas{}{}", r.text(AN, 14), "v1.", r.text(AN, 66)))),
    ("pulumi", "cloud-key", |r| bare(format!("pu{}{}", "l-", r.text(HEX, 40)))),
    ("tailscale", "cloud-key", |r| bare(format!("tskey{}k{}-{}", "-auth-", r.text(AN, 12), r.text(AN, 32)))),
    ("azure storage", "azure-connection", |r| {
        around(
            "DefaultEndpointsProtocol=https;AccountName=acct7;AccountKey=",
            format!("{}==", r.text(B64, 86)),
            ";EndpointSuffix=core.windows.net",
        )
    }),
    ("azure ad", "cloud-key", |r| bare(format!("{}7{}{}", r.text(AN, 3), "Q~", r.text(AN, 34)))),
    ("sendgrid", "service-key", |r| bare(format!("S{}{}.{}", "G.", r.text(U64, 22), r.text(U64, 43)))),
    ("shopify", "service-key", |r| bare(format!("shp{}{}", "at_", r.text(HEX, 32)))),
    ("linear", "service-key", |r| bare(format!("lin{}{}", "_api_", r.text(AN, 40)))),
    ("grafana", "service-key", |r| bare(format!("gl{}{}_{}", "sa_", r.text(AN, 32), r.text(HEX, 8)))),
    ("postman", "service-key", |r| bare(format!("PM{}{}-{}", "AK-", r.text(HEX, 24), r.text(HEX, 34)))),
    ("new relic", "service-key", |r| bare(format!("NR{}{}", "AK-", r.text(CAPS, 27)))),
    ("twilio", "near-word", |r| around("twilio api key: ", format!("S{}{}", "K", r.text(HEX, 32)), "")),
    ("mailgun", "near-word", |r| around("MAILGUN_API_KEY=", format!("ke{}{}", "y-", r.text(HEX, 32)), "")),
    ("telegram", "chat-bot", |r| bare(format!("{}:{}{}", r.text("123456789", 10), "AA", r.text(U64, 33)))),
    ("discord bot", "chat-bot", |r| {
        let id = r.text("123456789", 18);
        bare(format!("{}.{}.{}", base64_url(id.as_bytes()), r.text(U64, 6), r.text(U64, 38)))
    }),
    ("age", "age", |r| bare(bech32("AGE-SECRET-KEY-", &mut || r.below(32)))),
    ("rsa key", "pem", |r| pem(r, concat!("RSA PRIVATE", " KEY"), 12)),
    ("openssh key", "pem", |r| pem(r, concat!("OPENSSH PRIVATE", " KEY"), 6)),
    ("jwt", "jwt", jwt),
    ("wireguard", "wireguard", |r| around("PrivateKey = ", format!("{}=", r.text(B64, 43)), "")),
    ("ethereum key", "hex-private-key", |r| around("PRIVATE_KEY=0x", r.text(HEX, 64), "")),
    ("docker auth", "docker-auth", |r| {
        around(
            "{\"auths\":{\"https://index.docker.io/v1/\":{\"auth\":\"",
            base64(format!("user:{}", mixed(r, 14)).as_bytes()),
            "\"}}}",
        )
    }),
    ("netrc", "netrc", |r| around("machine api.acme.dev login deploy password ", mixed(r, 14), "")),
    ("pgpass", "pgpass", |r| around("db.internal:5432:app:writer:", mixed(r, 16), "")),
    ("url password", "url-userinfo", |r| {
        around("postgres://app:", mixed(r, 14).replace('#', "!"), "@db.internal:5432/app")
    }),
    ("git url token", "url-userinfo", |r| {
        around("https://x-token-auth:", r.text(AN, 24), "@git.acme.dev/team/app.git")
    }),
    ("query token", "url-query", |r| {
        around(
            "GET https://api.acme.dev/v2/items?page=2&access_token=",
            format!("7{}4", r.text(AN, 30)),
            " 200",
        )
    }),
    ("bearer", "auth-header", |r| around("Authorization: Bearer ", format!("7{}4", r.text(AN, 38)), "")),
    ("basic", "auth-header", |r| {
        around("Authorization: Basic ", base64(format!("svc:{}", mixed(r, 16)).as_bytes()), "")
    }),
    ("api key header", "header-key", |r| around("X-Api-Key: ", format!("4{}9", r.text(AN, 30)), "")),
    ("cookie", "cookie", |r| {
        around("Set-Cookie: sessionid=", format!("8{}2", r.text(LOWER, 30)), "; Path=/; HttpOnly")
    }),
    ("k8s secret", "k8s-secret", |r| {
        around(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: app\ndata:\n  db: ",
            base64(mixed(r, 18).as_bytes()),
            "\n",
        )
    }),
    ("curl user", "cli", |r| {
        around(
            "curl -sS -u admin:",
            mixed(r, 14).replace(['#', '!', '*'], "^"),
            " https://api.acme.dev/health",
        )
    }),
    ("cli password", "cli", |r| {
        around("mysql -h db -u root -p", mixed(r, 14).replace(['#', '!', '*'], "^"), " app")
    }),
    ("env password", "generic", |r| around("DB_PASSWORD=", mixed(r, 16), "")),
    ("json api key", "generic", |r| {
        around("{\"api_key\": \"", format!("{}4711{}", r.text(AN, 12), r.text(AN, 12)), "\"}")
    }),
    ("yaml secret", "generic", |r| {
        around("client_secret: \"", format!("{}0815{}", r.text(AN, 12), r.text(AN, 14)), "\"")
    }),
    ("code token", "generic", |r| {
        around("const authToken = '", format!("{}2718{}", r.text(AN, 14), r.text(AN, 14)), "';")
    }),
    ("xml password", "xml", |r| around("<add key=\"DbPassword\" value=\"", mixed(r, 14), "\" />")),
    ("hex secret", "generic", |r| around("SIGNING_SECRET=", hex(r.text(B64, 32).as_bytes()), "")),
    ("putty", "putty", |r| {
        let public = r.text(B64, 64);
        around(
            &format!(
                "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: deploy\nPublic-Lines: 1\n{public}\nPrivate-Lines: 1\n"
            ),
            format!("{}=", r.text(B64, 47)),
            "\nPrivate-MAC: 4e1f\n",
        )
    }),
    ("jwk", "jwk", |r| {
        let x = r.text(U64, 43);
        around(
            &format!("{{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"{x}\",\"d\":\""),
            r.text(U64, 43),
            "\"}",
        )
    }),
    ("pgp key", "pem", |r| pem(r, concat!("PGP PRIVATE", " KEY BLOCK"), 5)),
    ("hex seed", "hex-private-key", |r| around("\"seed\": \"", r.text(HEX, 64), "\"")),
    ("k8s secret json", "k8s-secret", |r| {
        around("{\"kind\":\"Secret\",\"data\":{\"db\":\"", base64(mixed(r, 18).as_bytes()), "\"}}")
    }),
    ("teams webhook", "webhook", |r| {
        let uuid = |r: &mut Rng| [8, 4, 4, 4, 12].map(|count| r.text(HEX, count)).join("-");
        let path = format!("{}@{}/IncomingWebhook/{}/{}", uuid(r), uuid(r), r.text(HEX, 32), uuid(r));
        around("https://acme.webhook.office.com/webhookb2/", path, "")
    }),
    ("heroku", "near-word", |r| {
        around("HEROKU_API_KEY=", [8, 4, 4, 4, 12].map(|count| r.text(HEX, count)).join("-"), "")
    }),
    ("datadog", "near-word", |r| around("DD_API_KEY=", r.text(HEX, 32), "")),
    ("okta", "near-word", |r| around("okta.client.token=", format!("00{}", r.text(U64, 40)), "")),
    ("mailchimp", "near-word", |r| around("mailchimp: ", format!("{}-us12", r.text(HEX, 32)), "")),
    ("firecrawl", "service-key", |r| bare(format!("f{}{}", "c-", r.text(HEX, 32)))),
    ("tavily", "service-key", |r| bare(format!("tv{}{}", "ly-dev-", r.text(AN, 32)))),
    ("atlas", "service-key", |r| bare(format!("mdb{}{}", "_sa_sk_", r.text(U64, 40)))),
    ("apify", "service-key", |r| bare(format!("apify{}{}", "_api_", r.text(AN, 36)))),
    ("e2b", "service-key", |r| bare(format!("e2{}{}", "b_", r.text(HEX, 40)))),
    ("elevenlabs", "model-key", |r| bare(format!("s{}{}", "k_", r.text(HEX, 48)))),
    ("llama cloud", "model-key", |r| bare(format!("ll{}{}", "x-", r.text(AN, 48)))),
    ("airtable", "service-key", |r| bare(format!("pa{}{}.{}", "t", r.text(AN, 14), r.text(HEX, 64)))),
    ("plaid", "service-key", |r| {
        bare(format!(
            "access-{}-{}",
            "production",
            [8, 4, 4, 4, 12].map(|count| r.text(HEX, count)).join("-")
        ))
    }),
    ("flutterwave", "service-key", |r| bare(format!("FLW{}{}-X", "SECK-", r.text(HEX, 32)))),
    ("mapbox", "service-key", |r| bare(format!("s{}{}.{}", "k.eyJ", r.text(U64, 80), r.text(U64, 22)))),
    ("contentful", "service-key", |r| bare(format!("CF{}{}", "PAT-", r.text(U64, 43)))),
    ("atlassian", "service-key", |r| bare(format!("AT{}{}", "ATT3", r.text(U64, 186)))),
    ("typeform", "service-key", |r| bare(format!("t{}{}", "fp_", r.text(U64, 59)))),
    ("netlify", "cloud-key", |r| bare(format!("n{}{}", "fp_", r.text(AN, 36)))),
    ("azure devops", "cloud-key", |r| bare(format!("{}JQ{}{}", r.text(AN, 52), "QJ99", r.text(AN, 26)))),
    ("azure storage marked", "cloud-key", |r| {
        bare(format!("{}+A{}{}==", r.text(AN, 76), "St", r.text(AN, 6)))
    }),
    ("together", "model-key", |r| bare(format!("tg{}{}", "p_v1_", r.text(U64, 43)))),
    ("pinecone", "model-key", |r| bare(format!("pc{}{}_{}", "sk_", r.text(AN, 6), r.text(AN, 64)))),
    ("google refresh", "model-key", |r| bare(format!("1/{}{}", "/0", r.text(U64, 60)))),
    ("packagist", "registry-key", |r| bare(format!("packa{}{}", "gist_uut_", r.text(HEX, 68)))),
    ("crates.io", "registry-key", |r| bare(format!("c{}{}123{}", "io", r.text(AN, 14), r.text(AN, 15)))),
    ("braintree", "service-key", |r| {
        bare(format!("access{}{}${}", "_token$production$", r.text(LOWER, 16), r.text(HEX, 32)))
    }),
    ("ldap password", "cli", |r| {
        around("ldapsearch -x -D cn=admin -w ", mixed(r, 14).replace(['#', '!', '*'], "^"), " -b dc=acme")
    }),
    ("properties file", "generic", |r| around("spring.datasource.password=", mixed(r, 16), "")),
    ("ini file", "generic", |r| around("[db]\npasswd = ", mixed(r, 16), "")),
    ("dockerfile", "generic", |r| {
        around("ENV API_TOKEN ", format!("{}4711{}", r.text(AN, 12), r.text(AN, 12)), "")
    }),
    ("python kwarg", "generic", |r| around("connect(host=h, password=\"", mixed(r, 14), "\")")),
    ("xml element", "xml", |r| around("<password>", mixed(r, 14), "</password>")),
];
