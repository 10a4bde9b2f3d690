//! Each shape planted, with near misses.

use crate::common::{check, gone, untouched};
use crate::plant::{MAKERS, Rng};

#[test]
fn every_planted_shape_shows_its_kind_and_no_other() {
    let mut failed = Vec::new();
    for (name, kind, make) in MAKERS {
        for seed in 0..25 {
            let planted = make(&mut Rng::new(seed * 977 + 5));
            let text = format!("line one\n{}\nline three\n", planted.text());
            let (out, kinds) = check(&text);
            if kinds != [*kind] {
                failed.push(format!("{name} {seed}: {kinds:?} in {out:?} from {:?}", planted.text()));
                continue;
            }
            gone(planted.secret.as_bytes(), out.as_bytes(), name);
            assert!(out.starts_with("line one\n") && out.ends_with("line three\n"), "{name}: {out}");
        }
    }
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), MAKERS.len() * 25, failed.join("\n"));
}

#[test]
fn near_misses_stay() {
    for text in [
        "region ASIAPACIFICSOUTHEAST and AKIAABCDEFGHIJKLMNOP\n",
        "npm_config_registry_and_other_long_environment_names=x\n",
        "task-sk-abcdefghijklmnopqrstuvwxyzabcdefghij and risk-sk-based-kebab-case-words-of-some-length\n",
        "pk_live_51Habcdefghijklmnopqrstuv is publishable\n",
        "PublicKey = xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=\n",
        "transaction 0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060\n",
        "WWW-Authenticate: Bearer realm=\"https://auth.docker.io/token\",service=\"registry\"\n",
        "password: ${DB_PASSWORD}\ntoken = os.environ[\"TOKEN\"]\nsecret: {{ .Values.secret }}\n",
        "let token = parser.next_token();\nlet secret_name = \"db-credentials-v2\";\nmax_tokens: 4096\n",
        "fn password(password: &str) -> Token { Token::Ident2 }\n",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1LfVLPHCozMxH2Mo\n-----END PUBLIC KEY-----\n",
        "https://user@example.org/a/b@2x.png and https://example.org/@scope/pkg?page=2\n",
        "postgres://user:password@localhost/db and redis://:${PASS}@cache:6379\n",
        "kind: SealedSecret\nspec:\n  encryptedData:\n    password: AgBy3i4OJSWK+PiTySYZZA9rO43cGDEq1234567890abcdefghijklmnopqrstuvwxyz\n",
        "kind: ConfigMap\ndata:\n  password_policy: strict\n",
        "--password string   the password to use\n--token <token>\ncurl -u user:$PASS https://x\n",
    ] {
        untouched(text);
    }
}

#[test]
fn a_weak_value_of_a_clear_name_is_removed() {
    for (text, value) in [
        ("client_secret=letmein123\n", "letmein123"),
        ("export DB_PASSWORD=Passw0rd!\n", "Passw0rd!"),
        ("{\"Password\": \"czsdsdfaereSDFC$FFSD\"}\n", "czsdsdfaereSDFC$FFSD"),
        ("{\"DbConnString\": \"host=db&password=p@55w0rd\"}\n", "p@55w0rd"),
        ("\"Server=db;User=sa;Password=tr0ub4dor;\"\n", "tr0ub4dor"),
        ("DSN=\"host=db user=app password=tr0ub4dor dbname=app\"\n", "tr0ub4dor"),
        ("db:\n  password: letmein123\n  user: app\n", "letmein123"),
        ("DB_PASS=letmein123\nSECRET_KEY=0\n", "letmein123"),
    ] {
        let (out, kinds) = check(text);
        assert_eq!(kinds, ["generic"], "{out}");
        gone(value.as_bytes(), out.as_bytes(), text);
    }
    for text in [
        "    client_secret=letmein123,\n",
        "client_secret=load_secret(2024)\n",
        "PASSWORD=password123\nSECRET=$OTHER_SECRET1\nPASSWD=/run/secrets/db1\n",
        "{\"password\": \"Enter your password\", \"secret\": \"my-secret-name2\"}\n",
        "password_hint=letmein123\nsecret_name=prod-db-1\n",
        "password: changeme\npassword: ${VAR}\npassword: <your password>\nsecret: grafana-tls-01\n",
        "  password: username12,\n  secret: hash2b64(x)\npassword: string2json;\n",
        "set password=on host 10 and user=app1 with password=string\n",
    ] {
        untouched(text);
    }
}

#[test]
fn a_static_token_of_a_header_is_removed() {
    for (text, token) in [
        ("Authorization: Bearer letmein-2024\n", "letmein-2024"),
        ("{\"headers\": {\"Authorization\": \"Bearer s3cr3t-t0k3n\"}}\n", "s3cr3t-t0k3n"),
        ("curl -H 'Authorization: Token tr0ub4dor9' https://x.example\n", "tr0ub4dor9"),
    ] {
        let (out, kinds) = check(text);
        assert_eq!(kinds, ["auth-header"], "{out}");
        gone(token.as_bytes(), out.as_bytes(), text);
    }
    for text in [
        "Authorization: Bearer <token>\nAuthorization: Bearer ${TOKEN2024}\nAuthorization: Bearer your-token-1\n",
        "Authorization: Bearer token123\nAuthorization: Bearer test-token-123\n",
        "the bearer letmein-2024 of a letter\nheaders.authorization = bearer2header(x)\n",
    ] {
        untouched(text);
    }
}

#[test]
fn the_rest_of_a_key_is_removed_without_its_first_line() {
    let rows: Vec<String> = (0..5)
        .map(|seed| {
            Rng::new(seed + 3).text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 64)
        })
        .collect();
    let end = |label: &str| format!("-----END {label}-----\n");
    for indent in ["", "    "] {
        let body: String = rows.iter().map(|row| format!("{indent}{row}\n")).collect();
        let text = format!("the end of it:\n{body}{indent}{}done\n", end(concat!("RSA PRI", "VATE KEY")));
        let (out, kinds) = check(&text);
        assert_eq!(kinds, ["pem"], "{out}");
        assert!(out.starts_with("the end of it:\n") && out.ends_with("KEY-----\ndone\n"), "{out}");
        gone(rows.concat().as_bytes(), out.as_bytes(), "rows");
        untouched(&format!("{body}{indent}{}", end("CERTIFICATE")));
        untouched(&format!("{body}and then\n{indent}{}", end(concat!("PRI", "VATE KEY"))));
    }
    let escaped =
        format!("{{\"key\": \"{}\\n{}\"}}\n", rows.join("\\n"), end(concat!("PRI", "VATE KEY")).trim_end());
    let (out, _) = check(&escaped);
    gone(rows.concat().as_bytes(), out.as_bytes(), "rows");
}

#[test]
fn sealed_values_stay_in_yaml_and_json() {
    let value =
        format!("AgBy3i4OJSWK+PiTySYZZA9rO43cGDEq{}", Rng::new(8).text("ABCDEFabcdef0123456789+/", 90));
    untouched(&format!(
        "{{\"kind\": \"SealedSecret\", \"spec\": {{\"encryptedData\": {{\"password\": \"{value}\"}}}}}}\n"
    ));
    untouched(&format!("kind: SealedSecret\nspec:\n  encryptedData:\n    password: {value}\n"));
    let (_, kinds) = check(&format!("password: \"Xg{}\"\n", &value[2..]));
    assert_eq!(kinds, ["generic"]);
}

/// Their literals are too short to be found in reversed text.
#[test]
fn keys_with_a_short_literal_are_removed() {
    let digits = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
    for (head, tail) in [("f", format!("c-{digits}")), ("s", format!("k_{digits}{}", &digits[..16]))] {
        let (out, _) = check(&format!("using {head}{tail} now\n"));
        gone(tail.as_bytes(), out.as_bytes(), &tail);
    }
}

#[test]
fn documented_examples_stay_and_are_reported() {
    use plugward_redact::{EXAMPLES, RedactAction};
    for (head, tail, source) in EXAMPLES {
        let key = format!("{head}{tail}");
        for text in
            [format!("{key}\n"), format!("Authorization: Bearer {key}\n"), format!("password=\"{key}\"\n")]
        {
            let (out, found) = crate::common::bytes(text.as_bytes());
            assert_eq!(String::from_utf8_lossy(&out), text, "{source}");
            assert!(
                found.iter().all(|f| f.action == RedactAction::KeptExample && f.code() == "redact/example"),
                "{source}: {found:?}"
            );
        }
    }
    let (_, found) = crate::common::bytes(concat!("id AKIA", "IOSFODNN7EXAMPLE\n").as_bytes());
    assert_eq!(found.len(), 0, "a masked value is no finding");
    let (_, found) = crate::common::bytes(concat!("k sk_te", "st_4eC39HqLyjWDarjtT1zdp7dc\n").as_bytes());
    assert_eq!(found.len(), 1);
}

#[test]
fn a_value_that_was_cut_out_is_cut_out_where_it_stands_again() {
    let text =
        "DB_PASSWORD=tR4-qu!ckBr0wn\nconnecting as app with tR4-qu!ckBr0wn (try 2), [tR4-qu!ckBr0wn]\n";
    let out = "DB_PASSWORD=[REDACTED:generic]\nconnecting as app with [REDACTED:generic] (try 2), [[REDACTED:generic]]\n";
    assert_eq!(check(text), (out.to_owned(), vec!["generic".to_owned(); 3]));
    // Before its name occurs the value is a bare word, and a short value stays one.
    let early = "tR4-qu!ckBr0wn\npassword=tR4-qu!ckBr0wn\n";
    assert_eq!(check(early).0, "tR4-qu!ckBr0wn\npassword=[REDACTED:generic]\n");
    let short = "password=aB3!xYz9\nagain aB3!xYz9\n";
    assert_eq!(check(short).0, "password=[REDACTED:generic]\nagain aB3!xYz9\n");
}

#[test]
fn placeholders_are_words_not_parts_of_words() {
    for value in [
        "<token-12>",
        "{{ token12 }}",
        "%TOKEN12%",
        "abc12...",
        "sk-1****",
        "xxxxXXXX1!",
        "op://vault/item/field1",
        "your-api-key-here",
        "my-example-key1",
        "dummyToken123",
        "12345678",
        "aaaaaaaa",
        "Password123",
        "valid-token-12345",
        "secret_123",
    ] {
        untouched(&format!("{{\"password\": \"{value}\"}}\n"));
    }
    for value in
        ["hunter2!x9", "exampled1!", "qX9!vbnm12", "yoursTruly9!", "token-12345x!", "$ecr3t!x9", "opx9://K!"]
    {
        let (out, kinds) = check(&format!("{{\"password\": \"{value}\"}}\n"));
        assert!(kinds == ["generic"] || value.contains("://"), "{out}");
    }
}
