//! Text that must not be changed.

use crate::common::untouched;

#[test]
fn hashes_and_lock_files() {
    untouched("commit 5a248a8f0e1d2c3b4a5968778695a4b3c2d1e0f9\nindex 1a2b3c4..5d6e7f8 100644\n");
    untouched("sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  app:latest\n");
    untouched("checksum = \"8e7f0bcbf1b3f1a3e1f1f5b1b3ff8b5b9d2c0f3a7e6d5c4b3a29181706f5e4d3\"\n");
    untouched(
        "\"integrity\": \"sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==\",\n",
    );
    untouched("github.com/pkg/errors v0.9.1 h1:FEBLx1zS214owpjy7qsBeixbURkuhQAwrK5UwLGTwt4=\n");
    untouched(
        "d41d8cd98f00b204e9800998ecf8427e  empty.txt\nETag: \"33a64df551425fcc55e4d42a148795d9f25f89d4\"\n",
    );
    untouched(
        "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n",
    );
    untouched("/nix/store/q2wh2kvbhpqzd3sz0vd5xnz7a0s6sqnn-bash-5.2-p15/bin/bash\n");
}

#[test]
fn ids() {
    untouched("request_id=123e4567-e89b-12d3-a456-426614174000 trace 4bf92f3577b34da6a3ce929d0e0e4736\n");
    untouched(
        "01ARZ3NDEKTSV4RRFFQ69G5FAV arn:aws:secretsmanager:eu-west-1:123456789012:secret:app/db-AbCdEf\n",
    );
    untouched("pod/web-7d4b9c6f5d-x2k9p _ZN4core3fmt9Formatter9write_str17h0123456789abcdefE\n");
    untouched("0x742d35Cc6634C0532925a3b844Bc454e4438f44e QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG\n");
}

/// Pagination tokens are public: they name a position, and APIs print them in every answer.
#[test]
fn tokens_of_pages() {
    let token = "CAUQAA7x9Kd2mVbR4tYw0PzLqHs3NfEj";
    for name in [
        "page_token",
        "next_page_token",
        "nextPageToken",
        "pageToken",
        "next_token",
        "NextToken",
        "NextContinuationToken",
        "continuation_token",
        "continuation-token",
        "cursor_token",
        "nextSyncToken",
        "sync_token",
        "resume_token",
        "prev_page_token",
        "PAGE_TOKEN",
    ] {
        untouched(&format!("{{\"{name}\": \"{token}\", \"items\": []}}\n"));
        untouched(&format!("{name} = \"{token}\"\n{name}={token}\nlist --{name} {token}\n"));
        untouched(&format!("GET https://api.acme.dev/v1/items?size=50&{name}={token} 200\n"));
        untouched(&format!("<{name}>{token}</{name}>\n"));
    }
    // These grant access, the last one for the length of a session, and are not pagination tokens.
    for name in ["refresh_token", "accessToken", "session_token", "homeToken", "csrf_token", "text_token"] {
        let (out, kinds) = crate::common::check(&format!("{name} = \"{token}\"\n"));
        assert!(!out.contains(token) && kinds.len() == 1, "{out}");
    }
}

#[test]
fn colors_of_a_design_and_addresses_of_secrets() {
    untouched(".card { --token-card-border: #8df78c39; --secret-shade: #A1B2C3D4 }\n");
    untouched("{\"token\": {\"value\": \"#8df78c39\"}, \"passwordColor\": \"#12ab34cd\"}\n");
    for name in ["app/db-AbCd3f", "Prod7-Db-K4Yw8j", "rds!cluster-1a2b3C4d"] {
        untouched(&format!("arn:aws:secretsmanager:eu-west-1:123456789012:secret:{name}\n"));
        untouched(&format!(
            "SecretId=arn:aws-us-gov:secretsmanager:us-gov-west-1:123456789012:secret:{name} ok\n"
        ));
    }
    let (out, kinds) = crate::common::check("app:secret: tR4-qu!ckBr0wn\n--token-x: #8df78c3!9zQ\n");
    assert_eq!(
        (out.as_str(), kinds.len()),
        ("app:secret: [REDACTED:generic]\n--token-x: [REDACTED:generic]\n", 2)
    );
}

#[test]
fn blobs() {
    let image = crate::plant::Rng::new(4)
        .text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 4000);
    untouched(&format!("<img src=\"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA{image}==\">\n"));
    untouched(&format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", &image[..64]));
    untouched(&format!("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ{} me@host\n", &image[..300]));
    untouched("SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8 me@host (ED25519)\n");
    untouched("00000000: 7f45 4c46 0201 0100 0000 0000 0000 0000  .ELF............\n");
}

#[test]
fn code() {
    for text in [
        "const token = await getToken(userId, { refresh: true });\n",
        "if (password.length < 8) throw new Error(\"Password too short\");\n",
        "export type TokenKind = 'access' | 'refresh';\nenum Secret { ApiKey, Token2 }\n",
        "pub struct Config { pub api_key: Option<String>, pub secret_key_path: PathBuf }\n",
        "password = getpass.getpass(\"Password: \")\nsecret = hashlib.sha256(data).hexdigest()\n",
        "token: ${{ secrets.GITHUB_TOKEN }}\nAPI_KEY: ${API_KEY:?must be set}\n",
        "POSTGRES_PASSWORD_FILE: /run/secrets/db_password\n",
        "access_key_id = var.access_key_id\nsecret_arn = aws_secretsmanager_secret.db.arn\n",
        "grep -rn 'token' src/ | wc -l\nssh-keygen -t ed25519\n",
        "import { useToken, TokenProvider } from '@acme/token-provider-2';\n",
        "  tokenizer: &'a Tokenizer<'a>, // next_token = lexer.next()\n",
        "secretKeyRef:\n  name: app-secrets\n  key: db-password\n",
    ] {
        untouched(text);
    }
}

#[test]
fn text_of_all_scripts_and_terminals() {
    for text in [
        "👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ﬁne x² Ｆｕｌｌ　ｗｉｄｔｈ \u{202e}abc\u{202c} می‌خواهم \u{feff}\n",
        "\u{feff}first line with a mark\n",
        "パスワード：ありません 密码 пароль كلمة السر\n",
        "\x1b[1;32mok\x1b[0m \x1b[2K\rprogress 42%\r\x1b[Kdone \x1b]8;;https://e.org/a?b=c\x1b\\link\x1b]8;;\x1b\\\n",
        "a\x08ab\x08b bold by overstrike\n",
    ] {
        untouched(text);
    }
}

/// Random text of an alphabet, from a seed.
fn random(seed: u64, alphabet: &str, count: usize) -> String {
    crate::plant::Rng::new(seed).text(alphabet, count)
}

const HEX: &str = "0123456789abcdef";
const B64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const AN: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const DIGITS: &str = "0123456789";

#[test]
fn lock_files_of_all_tools_with_hundreds_of_entries() {
    let mut files = vec![String::new(); 9];
    for seed in 0..300 {
        let (hex, b64) = (random(seed, HEX, 64), random(seed, B64, 86));
        files[0] += &format!(
            "[[package]]\nname = \"token-lexer-{seed}\"\nversion = \"1.2.{seed}\"\nsource = \"registry+https://example.org/index\"\nchecksum = \"{hex}\"\ndependencies = [\n \"secret-service\",\n]\n\n"
        );
        files[1] += &format!(
            "    \"node_modules/js-tokens-{seed}\": {{\n      \"version\": \"4.0.{seed}\",\n      \"resolved\": \"https://registry.example.org/js-tokens/-/js-tokens-4.0.{seed}.tgz\",\n      \"integrity\": \"sha512-{b64}==\",\n      \"license\": \"MIT\"\n    }},\n"
        );
        files[2] += &format!(
            "js-tokens@^4.0.{seed}:\n  version \"4.0.{seed}\"\n  resolved \"https://registry.example.org/js-tokens/-/js-tokens-4.0.0.tgz#{}\"\n  integrity sha512-{b64}==\n\n",
            &hex[..40]
        );
        files[3] += &format!(
            "[[package]]\nname = \"keyring\"\nversion = \"24.{seed}\"\nfiles = [\n    {{file = \"keyring-24.{seed}-py3-none-any.whl\", hash = \"sha256:{hex}\"}},\n]\n\n"
        );
        files[4] += &format!(
            "golang.org/x/oauth2 v0.{seed}.0 h1:{}=\ngolang.org/x/oauth2 v0.{seed}.0/go.mod h1:{}=\n",
            &b64[..43],
            &b64[43..]
        );
        files[5] += &format!(
            "  \"oauth-{seed}\": {{\n    \"hashes\": [\n      \"sha256:{hex}\"\n    ],\n    \"version\": \"==3.2.{seed}\"\n  }},\n"
        );
        files[6] += &format!(
            "  /tokenize@{seed}.1.0:\n    resolution: {{integrity: sha512-{b64}==}}\n    engines: {{node: '>=6'}}\n    dev: true\n"
        );
        files[7] += &format!(
            "    {{\n      \"name\": \"vendor/oauth{seed}\",\n      \"dist\": {{\"type\": \"zip\", \"reference\": \"{}\", \"shasum\": \"\"}},\n      \"content-hash\": \"{}\"\n    }},\n",
            &hex[..40],
            &hex[..32]
        );
        files[8] += &format!(
            "{hex}  secret-tool_{seed}.deb\n{} *token_{seed}.iso\nETag: \"{}\"\nDocker-OutputContent-Digest: sha256:{hex}\n",
            &hex[..32],
            &hex[..32]
        );
    }
    for file in files {
        untouched(&file);
    }
}

#[test]
fn hashes_with_telling_words_beside_them() {
    let hex = random(9, HEX, 64);
    for text in [
        format!("cache key: {hex}\n"),
        format!("\"publicKey\": \"{hex}\"\n"),
        format!("token_hash = sha256:{hex}\n"),
        format!("api_key_id: {}\n", &hex[..20]),
        format!("Successfully built image with secret mount, id {}\n", &hex[..12]),
        format!("public_key = \"{}\"\n", random(3, B64, 43)),
        format!("sk-based words: risk-{}-averse\n", &hex[..8]),
        format!("passed 12/12 (seed 0x{})\n", &hex[..16]),
        format!("key fingerprint SHA256:{}\n", random(4, B64, 43)),
        format!("Merkle root {hex}, block 0x{hex}\n"),
        format!("commit_token_file=/var/run/{}\n", &hex[..32]),
    ] {
        untouched(&text);
    }
}

#[test]
fn ids_of_all_kinds() {
    for seed in 0..200 {
        let hex = random(seed, HEX, 40);
        let uuid =
            format!("{}-{}-4{}-8{}-{}", &hex[..8], &hex[8..12], &hex[12..15], &hex[15..18], &hex[18..30]);
        untouched(&format!("request {uuid} {} span={}\n", uuid.to_uppercase(), &hex[..16]));
        untouched(&format!(
            "ulid 01{} cid bafybei{}\n",
            random(seed, "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 24),
            random(seed, "abcdefghijklmnopqrstuvwxyz234567", 52)
        ));
        untouched(&format!(
            "i-0{} sg-0{} ami-0{} vol-0{}\n",
            &hex[..16],
            &hex[..16],
            &hex[16..32],
            &hex[..16]
        ));
        untouched(&format!(
            "cus_{} evt_{} price_{} pi_{}\n",
            random(seed, AN, 14),
            random(seed, AN, 24),
            random(seed, AN, 24),
            random(seed, AN, 24)
        ));
        untouched(&format!(
            "AROA{} AIDA{} arn:aws:iam::123456789012:role/secret-reader\n",
            random(seed, BASE32, 17),
            random(seed, BASE32, 17)
        ));
        untouched(&format!("pk_live_{} pk_test_{}\n", random(seed, AN, 24), random(seed, AN, 99)));
        untouched(&format!(
            "U0{} C0{} T0{} message ts {}.{}\n",
            random(seed, BASE32, 9),
            random(seed, BASE32, 9),
            random(seed, BASE32, 9),
            random(seed, DIGITS, 10),
            random(seed, DIGITS, 6)
        ));
        untouched(&format!("_ZN5token6secret8password17h{}E\n", &hex[..16]));
    }
}

#[test]
fn blobs_of_random_bytes_in_base64_and_hex() {
    for seed in 0..12 {
        let bytes: Vec<u8> = {
            let mut rng = crate::plant::Rng::new(seed);
            (0..30_000).map(|_| u8::try_from(rng.below(256)).unwrap()).collect()
        };
        let one = crate::plant_encode::base64(&bytes);
        let lines: String =
            one.as_bytes().chunks(76).map(|line| String::from_utf8_lossy(line).into_owned() + "\n").collect();
        untouched(&format!("url(data:font/woff2;base64,{one})\n"));
        untouched(&lines);
        untouched(&format!(
            "//# sourceMappingURL=data:application/json;base64,{}\n",
            crate::plant_encode::base64(
                format!(
                    "{{\"version\":3,\"sources\":[\"token.ts\"],\"mappings\":\"{}\"}}",
                    "AAAA,SAASA;".repeat(300)
                )
                .as_bytes()
            )
        ));
        untouched(&crate::plant_encode::hex(&bytes));
        untouched(&format!("-----BEGIN CERTIFICATE-----\n{lines}-----END CERTIFICATE-----\n"));
        untouched(&format!("-----BEGIN PGP SIGNATURE-----\n\n{lines}-----END PGP SIGNATURE-----\n"));
        untouched(&format!("-----BEGIN OPENSSH PUBLIC KEY-----\n{lines}-----END OPENSSH PUBLIC KEY-----\n"));
        untouched(&format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} deploy@host\n", &one[..43]));
        untouched(&format!(
            "github.com,140.82.112.3 ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAI{}=\n",
            &one[..103]
        ));
    }
}

#[test]
fn what_looks_like_a_token_of_json_and_is_none() {
    let (a, b) = (random(1, AN, 40), random(2, AN, 43));
    for text in [
        format!("eyJ{a}.{a}.{b}\n"),
        format!("{}.{a}.{b}\n", crate::plant_encode::base64_url(b"{\"foo\":\"bar\",\"n\":1}")),
        format!("version {a}.{b}\n"),
        format!("{}\n", crate::plant_encode::base64_url(b"{\"alg\":\"HS256\",\"typ\":\"JWT\"}")),
        "window.eyJ = a.b.c; import eyJson from './eyJson.min.js'\n".to_owned(),
    ] {
        untouched(&text);
    }
}

#[test]
fn minified_code_and_styles() {
    let js = "!function(e,t){\"object\"==typeof exports?module.exports=t():e.tk=t()}(this,function(){var e={token:null,password:void 0,secret:!1,apiKey:function(){return e.token||t.get(\"apiKey\")}},t=new Map;function n(e){return e.replace(/[&<>\"']/g,function(e){return{\"&\":\"&amp;\",\"<\":\"&lt;\"}[e]})}e.tokenType=\"Bearer\",e.refreshToken=n;return{authToken:e.token,accessKey:t.accessKey,csrf_token:i(12)}});".repeat(60);
    untouched(&format!("{js}\n"));
    untouched(&format!("/*! v1 */{js}//# sourceMappingURL=app.5d41402abc4b2a76b971.js.map\n"));
    untouched(&".token.keyword{color:#07a}.password-field:focus{background:url(img/eye@2x.png)}.secret::after{content:\"\\201C\"}@media (max-width:40em){.api-key{display:none}}\n".repeat(80));
    untouched(
        "a{background:#FFF url(\"data:image/svg+xml;charset=utf8,%3Csvg xmlns=%27http://www.w3.org/2000/svg%27%3E%3Cpath d=%27M0 0h24v24H0z%27/%3E%3C/svg%3E\")}\n",
    );
}

#[test]
fn source_of_many_languages_with_telling_names() {
    for text in [
        "public static final String TOKEN_HEADER = \"X-Auth-Token\";\nprivate final String password;\n",
        "String apiKey = System.getenv(\"API_KEY\");\n@Value(\"${app.secret}\") String secret;\n",
        "password := os.Getenv(\"DB_PASSWORD\")\ntoken, err := jwt.Parse(raw, keyFunc)\nif secret == nil { return ErrNoSecret }\n",
        "def authenticate(username: str, password: str) -> Token:\n    token = secrets.token_urlsafe(32)\n    return Token(value=token, secret=settings.SECRET_KEY)\n",
        "$password = $_POST['password'];\n$token = bin2hex(random_bytes(16));\ndefine('AUTH_KEY', getenv('AUTH_KEY'));\n",
        "password = ENV.fetch('DB_PASSWORD') { raise KeyError }\nsecret_key_base: <%= ENV[\"SECRET_KEY_BASE\"] %>\n",
        "char *password = getpass(\"Password: \");\nstatic const token_t tokens[] = { TOKEN_IF, TOKEN_ELSE };\n",
        "var password = Console.ReadLine();\nstring token = configuration[\"Jwt:Key\"];\npublic string ApiKey { get; set; }\n",
        "let apiKey = ProcessInfo.processInfo.environment[\"API_KEY\"] ?? \"\"\n",
        "val token: String? = prefs.getString(\"token\", null)\n",
        "export PASSWORD=$(cat /run/secrets/password)\nTOKEN=\"${1:?token is missing}\"\nread -rsp 'Password: ' password\n",
        "variable \"db_password\" {\n  type      = string\n  sensitive = true\n}\npassword = var.db_password\nsecret_id = aws_secretsmanager_secret.this.id\n",
        "SELECT token, secret FROM api_keys WHERE password = crypt($1, password);\nALTER USER app WITH PASSWORD :'pw';\n",
        "<input type=\"password\" name=\"password\" placeholder=\"Password\" autocomplete=\"current-password\">\n<label for=\"token\">Token</label>\n",
        "  api_key: !secret weather_key\n  password: !vault |\n  token: *default_token\n  secret: &anchor\n",
        "| `token` | string | The access token. |\n| `password` | string | At least 8 characters, e.g. `correct horse` |\n",
        "assert_eq!(lexer.next_token(), Token::Ident(\"password2\".into()));\nconst TOKENS: [&str; 3] = [\"secret\", \"token\", \"api_key\"];\n",
        "type Props = { token: string; apiKey?: string; password: Promise<string> };\nconst secret = useMemo(() => createSecret(seed), [seed]);\n",
        "raise ValueError(f\"invalid token: {token!r} (expected 32 chars)\")\nlogger.info(\"password changed for user %s\", user_id)\n",
        "msgid \"Your password must contain at least 8 characters.\"\nmsgstr \"Ihr Passwort muss mindestens 8 Zeichen enthalten.\"\n",
        "error: password authentication failed for user \"app\"\nhint: token expired at 2026-03-01T10:00:00Z, run `login` again\n",
        "Authorization: Bearer <token>\nAuthorization: Basic <credentials>\nX-Api-Key: YOUR_API_KEY\nCookie: session=<id>\n",
        "WWW-Authenticate: Basic realm=\"Private area\", charset=\"UTF-8\"\nProxy-Authenticate: Negotiate\n",
        "kind: SecretList\n---\nkind: SealedSecret\nspec:\n  encryptedData:\n    foo: AgBy3i4OJSWK\n",
        "secretRef:\n  name: app-secrets\nvalueFrom:\n  secretKeyRef:\n    name: app\n    key: api-key-v2\n",
        "password_hash = bcrypt.hashpw(password, salt)\ntokens_per_second=1234.5678\nmax_tokens: 131072\ntoken_count=98765432\n",
        "#define AES_KEY_LENGTH 256\n#define PRIVATE_KEY_FILE \"/etc/ssl/private/server.key\"\n",
        "git clone https://user@git.example.org/team/repo.git\nnpm config set //registry.example.org/:_authToken ${NPM_TOKEN}\n",
        "curl -u \"$USER:$PASS\" https://x\nmysql -u root -p app\ndocker login -u user --password-stdin\nredis-cli -a \"$REDIS_PASSWORD\"\n",
    ] {
        untouched(text);
    }
}

#[test]
fn urls_without_a_secret() {
    for text in [
        "https://example.org/a/b;c=1?page=2&sort=-date&q=secret+token#token=usage\n",
        "https://cdn.example.org/assets/app-5d41402abc4b2a76b9719d911017c592.js?v=5d41402abc4b2a76\n",
        "https://example.org/users/@me/keys?key=name&code=404\nssh://git@host:22/repo.git git@host:org/repo.git\n",
        "mailto:someone@example.org?subject=password%20reset\nhttps://user@example.org:8443/path\n",
        "see https://example.org/docs: then mail admin@example.org\n",
        "https://example.org/search?q=api_key%3D&token=&key=\n",
        "redis://localhost:6379/0 postgres://app@db/app amqp://guest:guest@localhost:5672/\n",
        "https://example.org/%E2%9C%93?utm_source=mail&utm_campaign=2026-03-launch-of-the-new-thing\n",
    ] {
        untouched(text);
    }
}

#[test]
fn each_benign_text_stays_behind_every_view_and_as_a_leaf() {
    let hex = random(5, HEX, 64);
    let texts = [
        format!("commit {}\nsha256:{hex}\n", &hex[..40]),
        "password: ${DB_PASSWORD}\ntoken = os.environ[\"TOKEN\"]\n".to_owned(),
        "https://user@example.org/a/b@2x.png and ASIAPACIFICSOUTHEAST\n".to_owned(),
        format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} me@host\n", random(6, B64, 43)),
        "fn password(password: &str) -> Token { Token::Ident2 }\n".to_owned(),
    ];
    for text in &texts {
        for (class, write) in crate::classes::ALL {
            let written = write(text);
            let (out, found) = crate::common::bytes(&written);
            assert!(out == written, "{class}: {found:?} in {:?}", String::from_utf8_lossy(&written));
        }
    }
}

#[test]
fn rows_of_hex_pairs_that_are_no_text() {
    for seed in 0..20 {
        let bytes: Vec<u8> = {
            let mut rng = crate::plant::Rng::new(seed + 900);
            (0..288).map(|_| u8::try_from(rng.below(256)).unwrap()).collect()
        };
        let rows = |width: usize, before: &str, between: &str, after: &str| -> String {
            let line = |row: &[u8]| row.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(between);
            bytes.chunks(width).map(|row| format!("{before}{}{after}\n", line(row))).collect()
        };
        untouched(&format!("        Signature Value:\n{}", rows(18, "        ", ":", ":")));
        untouched(&format!("        Modulus:\n{}", rows(15, "            ", ":", ":")));
        untouched(&rows(16, "  ", " ", ""));
        untouched(&rows(12, "    0x", ", 0x", ","));
        untouched("eth0 00:16:3e:5e:6c:00 fe80:: 52-54-00-12-34-56 12:34:56:78:90:12:34:56\n");
        untouched("sizes 10 20 30 40 50 60 70 80 90 10 20 30 40 50 60 70 80 90\n");
    }
}

#[test]
fn paths_in_code_references_and_made_up_values() {
    for text in [
        "pub struct A {\n    pub Token: super::super::super::Win32::Foundation::HANDLE,\n    pub Password: super::super::Win32::Foundation::UNICODE_STRING,\n}\n",
        "if user_token == \"valid-token-12345\" { fs::write(p, \"API_KEY=secret_12345\") }\n",
        "tool --token process.env.TOKEN\ntool --token config.get(\"token\")\ntool --token op://vault/item/field\n",
        "| token | string |\n| `password` | required |\n| api_key | string2 | no |\n| secret | 1.2.3 |\n",
        "**password**: at least 8 characters\n**token:** see below\n",
        "<key>password</key><string>password</string><name>token</name><value>${token}</value>\n",
        "//registry.npmjs.org/:_authToken=${NPM_TOKEN}\nself._auth = auth2\nx._password = self.password2\n",
        "tool --password-file /etc/x --token-ttl 3600s --secret-name app2 --db_password \"$DB\"\n",
        "sqlplus /nolog\nsqlplus scott@db\nsqlplus scott/$PASS@db\n",
    ] {
        untouched(text);
    }
}

#[test]
fn a_long_line_of_minified_code_with_escapes_is_looked_into() {
    let piece = "e.exports=function(t){return t.replace(/\\\\n/g,\"\\n\").split('\\\\x3D=DE')},n=`a=${t}`;if(o===3D)throw r;";
    untouched(&format!("{}\n", piece.repeat(1500)));
}
