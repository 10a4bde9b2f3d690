//! Each secret in each context that tool output has: code, logs, URLs, headers, configuration and key files.

use crate::common::{bytes, gone};
use crate::plant::{MAKERS, Rng};

/// The name of a context, and the text before and after the secret.
type Carrier = (&'static str, &'static str, &'static str);

/// Contexts for a value with a literal of its own.
const PLACES: &[Carrier] = &[
    ("rust", "    let client = Client::new(\"", "\"); // made by hand\n"),
    ("javascript", "const client=new Client({key:'", "',retries:3});\n"),
    ("template literal", "fetch(`https://api.acme.dev`, {k: `", "`})\n"),
    ("python", "client = Client(\"", "\", timeout=3)\n"),
    ("go", "c := client.New(`", "`)\n"),
    ("shell", "export X=", "\n"),
    ("shell quoted", "X='", "' make deploy\n"),
    ("powershell", "$env:X = \"", "\"\n"),
    ("json", "{\"a\": [1, \"", "\"], \"b\": null}\n"),
    ("yaml", "  - name: x\n    value: ", "\n"),
    ("toml", "x = \"", "\"\n"),
    ("ini", "x=", "\r\n"),
    ("properties", "app.x : ", "\n"),
    ("xml text", "<x>", "</x>\n"),
    ("xml attribute", "<x y=\"", "\"/>\n"),
    ("csv", "12,app,", ",true\n"),
    ("tab separated", "12\tapp\t", "\ttrue\n"),
    ("table", "| app | ", " | 12 |\n"),
    ("markdown code", "Use `", "` for it.\n"),
    ("sentence", "It said ", ", and then stopped.\n"),
    ("end of a sentence", "It said (", ").\n"),
    ("log", "2026-03-01T10:00:00Z WARN [api] rejected ", " after 12 ms\n"),
    ("log field", "level=warn msg=rejected x=", " ms=12\n"),
    ("syslog", "Mar  1 10:00:00 host app[12]: got ", "\n"),
    ("debug form", "Config { x: Some(\"", "\"), y: 1 }\n"),
    ("stack trace", "Error: bad value '", "'\n    at f (/app/x.js:1:2)\n"),
    ("url path", "GET https://api.acme.dev/v1/", "/items 404\n"),
    ("url query", "GET https://api.acme.dev/v1?x=", "&page=2 404\n"),
    ("url fragment", "https://app.acme.dev/#x=", "\n"),
    ("header", "X-Thing: ", "\r\nAccept: */*\r\n"),
    ("header in code", "curl -H 'X-Thing: ", "' https://x\n"),
    ("form body", "a=1&x=", "&b=2\n"),
    ("diff added", "+  x: ", "\n"),
    ("diff removed", "-", "\n"),
    ("grep", "src/config.rs:12:    x = ", "\n"),
    ("line number", "   12\t", "\n"),
    ("comment", "// x ", "\n"),
    ("quoted mail", "> > ", "\n"),
    ("shell trace", "++ deploy ", "\n"),
    ("container log", "web-1  | ", "\n"),
    ("escaped line end", "{\"msg\":\"got ", "\\nnext\"}\n"),
    ("angle brackets", "<", ">\n"),
    ("braces", "{", "}\n"),
    ("start of text", "", "\n"),
    ("end of text", "x ", ""),
];

/// Line prefixes, for secrets next to the words that identify them.
const LINES: &[&str] =
    &["", "  ", "\t", "+", "- ", "# ", "// ", "> ", "12: ", "web-1  | ", "2026-03-01T10:00:00Z INFO "];

#[test]
fn keys_with_a_literal_are_found_in_every_place() {
    let mut failed = Vec::new();
    let mut seen = 0;
    for (name, kind, make) in MAKERS.iter().filter(|(_, kind, _)| *kind != "pem") {
        for (place, before, after) in PLACES {
            let planted = make(&mut Rng::new(913));
            if !planted.before.is_empty() {
                continue;
            }
            let text = format!("{before}{}{after}", planted.secret);
            let (out, found) = bytes(text.as_bytes());
            if found.is_empty() {
                failed.push(format!("{name} ({kind}) / {place}: {text}"));
                continue;
            }
            gone(planted.secret.as_bytes(), &out, &format!("{name} / {place}"));
            let kept = String::from_utf8(out).unwrap();
            let head = before.trim_end_matches(['=', '.', '/', '-', '_']);
            assert!(kept.starts_with(head), "{name} / {place}: {kept}");
            seen += 1;
        }
    }
    assert!(failed.is_empty(), "{} missed, {seen} found:\n{}", failed.len(), failed.join(""));
}

#[test]
fn keyed_secrets_are_found_behind_every_prefix_of_a_line() {
    let mut failed = Vec::new();
    for (name, _, make) in MAKERS {
        for prefix in LINES {
            let planted = make(&mut Rng::new(914));
            let text: String =
                planted.text().split_inclusive('\n').map(|line| format!("{prefix}{line}")).collect();
            // After `- ` each line is a list item.
            if *name == "k8s secret" && *prefix == "- " {
                continue;
            }
            let (out, found) = bytes(format!("{prefix}first\n{text}\n{prefix}last\n").as_bytes());
            if found.is_empty() {
                failed.push(format!("{name} / {prefix:?}\n"));
                continue;
            }
            if planted.secret.lines().count() == 1 {
                gone(planted.secret.as_bytes(), &out, &format!("{name} / {prefix:?}"));
            }
        }
    }
    assert!(failed.is_empty(), "{} missed:\n{}", failed.len(), failed.join(""));
}

/// Ways to assign a value to a name, in addition to those of [`PLACES`].
const GIVEN: &[Carrier] = &[
    ("table", "| password | ", " |\n"),
    ("strong name", "- **password**: `", "`\n"),
    ("strong name with its colon", "**API key (api_key):** and **password:** ", "\n"),
    ("property list", "<key>password</key>\n\t<string>", "</string>\n"),
    ("name and value elements", "<name>db.password</name><value>", "</value>\n"),
    ("dotted name in capitals", "app.SMTP_PASS=", "\n"),
    ("long path before the name", "process.env.VERY_LONG_NAME_OF_THE_PERSONAL.ACCESS_TOKEN = \"", "\"\n"),
    ("name of an account", "storage_account_key: ", "\n"),
    ("option with its value behind it", "tool --db_password ", " --verbose\n"),
    ("value in a page", "<pre>DB_PASSWORD=", "</pre>\n"),
    ("value at the end of a sentence", "We set DB_PASSWORD=", ".\nThen we went on.\n"),
    ("npm", "//registry.acme.dev/:_authToken=", "\n"),
    ("oracle", "sqlplus scott/", "@db\n"),
    ("oracle by jdbc", "jdbc:oracle:thin:scott/", "@//h:1521/x\n"),
    ("removed line", "-curl -u admin:", " https://x\n"),
    ("query of another name", "https://h.dev/?a=1&storage_account_key=", "&b=2\n"),
];

#[test]
fn values_are_found_however_a_name_is_given_them() {
    for (place, before, after) in GIVEN {
        for seed in 0..20 {
            let value = Rng::new(seed + 50)
                .text("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789", 22)
                + "4711";
            let (out, found) = bytes(format!("{before}{value}{after}").as_bytes());
            assert_eq!(found.len(), 1, "{place}: {}", String::from_utf8_lossy(&out));
            assert!(out.starts_with(before.as_bytes()) && out.ends_with(after.as_bytes()), "{place}");
        }
    }
}

#[test]
fn a_secret_beside_its_key_id_needs_no_name() {
    for between in [",", "\",\"", " ", "\t", " | ", ":", ";"] {
        let id =
            MAKERS.iter().find(|(name, ..)| *name == "aws access key id").unwrap().2(&mut Rng::new(5)).secret;
        let secret =
            MAKERS.iter().find(|(name, ..)| *name == "aws secret key").unwrap().2(&mut Rng::new(6)).secret;
        let (out, found) = bytes(format!("x,{id}{between}{secret}\n").as_bytes());
        assert_eq!(found.len(), 2, "{between:?}: {}", String::from_utf8_lossy(&out));
        gone(secret.as_bytes(), &out, between);
    }
    // Forty hex digits are a commit id.
    let id =
        MAKERS.iter().find(|(name, ..)| *name == "aws access key id").unwrap().2(&mut Rng::new(5)).secret;
    let (_, found) = bytes(format!("x,{id},5a248a8f0e1d2c3b4a5968778695a4b3c2d1e0f9\n").as_bytes());
    assert_eq!(found.len(), 1);
}

#[test]
fn values_of_a_kubernetes_secret_are_found_behind_prefixes_in_either_order() {
    let value = "dFI0LXF1IWNrQnIwd24=";
    let texts = [
        format!("apiVersion: v1\nkind: Secret\ndata:\n  db: {value}\n  other: {value}\n"),
        format!("apiVersion: v1\ndata:\n  db: {value}\nkind: Secret\nmetadata:\n  name: x\n"),
        format!("items:\n- apiVersion: v1\n  data:\n    db: {value}\n  kind: Secret\nkind: List\n"),
    ];
    for prefix in
        ["web-1  | ", "2026-03-01T10:00:00.5Z stdout F ", "# ", "> ", "Mar  1 10:00:00 host app[1]: "]
    {
        for text in &texts {
            let logged: String = text.lines().map(|line| format!("{prefix}{line}\n")).collect();
            let (out, found) = bytes(logged.as_bytes());
            let out = String::from_utf8(out).unwrap();
            assert!(!out.contains(value), "{out}");
            let shown = logged.replace(value, "[REDACTED:k8s-secret]");
            assert_eq!(out, shown, "{found:?}");
        }
        let other = texts[0].replace("Secret", "ConfigMap");
        let logged: String = other.lines().map(|line| format!("{prefix}{line}\n")).collect();
        crate::common::untouched(&logged);
    }
}

/// Bytes that are not displayed and can be anywhere: colors, links, invisible characters.
const HIDDEN: &[&str] =
    &["\x1b[31m", "\x1b[m\x1b[K", "\u{200b}", "\u{ad}", "\u{2060}", "\x1b]8;;https://acme.dev\x1b\\", "\0"];

#[test]
fn a_key_block_with_something_invisible_in_one_place_is_gone() {
    for name in ["rsa key", "openssh key", "pgp key"] {
        let key = MAKERS.iter().find(|(own, ..)| *own == name).unwrap().2(&mut Rng::new(23)).secret;
        let begin = key.find('\n').unwrap();
        let places = [
            0,
            5,
            7,
            11,
            begin - 9,
            begin - 2,
            begin,
            begin + 1,
            begin + 30,
            begin + 64,
            begin + 65,
            begin + 66,
            key.len() / 2,
        ];
        for (place, hidden) in
            places.iter().flat_map(|place| HIDDEN.iter().map(move |hidden| (*place, hidden)))
        {
            let mut shown = key.clone();
            shown.insert_str(place, hidden);
            for (before, after) in [("", "\n"), ("a line\n", "\x1b[0m\nbye\n"), ("key = \"", "\"\n")] {
                let text = format!("{before}{shown}{after}");
                let (out, found) = bytes(text.as_bytes());
                let about = format!("{name}, {hidden:?} at {place} behind {before:?}");
                for line in key.lines().filter(|line| !line.starts_with("---")) {
                    gone(line.as_bytes(), &out, &about);
                }
                assert!(!found.is_empty(), "{about}");
                let out = String::from_utf8(out).unwrap();
                assert!(out.ends_with(after.trim_start_matches("\x1b[0m")), "{about}: {out}");
            }
        }
    }
}

#[test]
fn a_key_block_that_a_narrow_terminal_wrapped_is_gone() {
    let key = MAKERS.iter().find(|(own, ..)| *own == "rsa key").unwrap().2(&mut Rng::new(23)).secret;
    for width in [36, 40, 48, 50, 55, 60, 63] {
        let wrap = |line: &str| {
            line.as_bytes()
                .chunks(width)
                .map(|row| String::from_utf8_lossy(row).into_owned() + "\n")
                .collect::<String>()
        };
        let text: String = key.lines().map(wrap).collect();
        let (out, _) = bytes(format!("before\n{text}after the key\n").as_bytes());
        for line in key.lines().filter(|line| !line.starts_with("---")) {
            gone(line.as_bytes(), &out, &width.to_string());
        }
        assert!(out.ends_with(b"\nafter the key\n"), "{}", String::from_utf8_lossy(&out));
    }
}

#[test]
fn the_padding_of_a_run_takes_no_word_of_the_next_line() {
    for (before, name) in
        [("payload: ", "stripe live"), ("INFO got body=", "ini file"), ("x ", "xml element")]
    {
        for size in 40..60 {
            let planted = MAKERS.iter().find(|(own, ..)| *own == name).unwrap().2(&mut Rng::new(size));
            let run = crate::plant_encode::base64(
                format!("{:size$}{}", "", planted.text(), size = usize::try_from(size).unwrap() - 40)
                    .as_bytes(),
            );
            // At the width of mail lines, one run in four looks wrapped by chance. The two cannot be told
            // apart.
            if (74..79).contains(&(before.len() + run.len())) {
                continue;
            }
            for after in
                ["TypeError: Cannot read\n", "    at main (/app/x.js:1:2)\n", "password is asked for\n"]
            {
                let text = format!("{before}{run}\n{after}");
                let (out, _) = bytes(text.as_bytes());
                let out = String::from_utf8(out).unwrap();
                assert!(out.starts_with(&format!("{before}[REDACTED:")), "{out}");
                assert!(out.ends_with(&format!("]\n{after}")), "{text}{out}");
            }
        }
    }
}

#[test]
fn a_line_that_is_wrapped_by_mail_behind_another_escape_is_read_on() {
    let value = Rng::new(5).text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 86);
    let (first, rest) = value.split_at(62);
    let text = format!("AccountKey=3D{first}=\n{rest}=3D=3D\nok\n");
    let (out, _) = bytes(text.as_bytes());
    gone(first.as_bytes(), &out, "mail");
    gone(rest.as_bytes(), &out, "mail");
    assert!(
        out.starts_with(b"AccountKey=") && out.ends_with(b"]\nok\n"),
        "{}",
        String::from_utf8_lossy(&out)
    );
    let text = format!("curl -H \\\"x: y\\\" \\\n  --user \\\n  joe:'{}x1!' https://acme.dev\n", &value[..9]);
    gone(&value.as_bytes()[..9], &bytes(text.as_bytes()).0, "curl");
}

#[test]
fn passwords_of_databases_in_statements() {
    for statement in [
        "CREATE USER joe WITH PASSWORD '{}';",
        "CREATE ROLE joe LOGIN PASSWORD '{}' VALID UNTIL 'infinity';",
        "alter user joe with encrypted password '{}';",
        "ALTER ROLE joe PASSWORD '{}';",
        "CREATE USER 'joe'@'%' IDENTIFIED BY '{}';",
        "CREATE USER 'joe'@'localhost' IDENTIFIED WITH caching_sha2_password BY '{}';",
        "GRANT ALL ON *.* TO 'joe'@'%' IDENTIFIED BY '{}' WITH GRANT OPTION;",
        "CREATE USER joe IDENTIFIED BY \"{}\";",
        "SET PASSWORD FOR 'joe'@'%' = '{}';",
        "CREATE LOGIN joe WITH PASSWORD = N'{}';",
    ] {
        let text = format!("{}\n", statement.replace("{}", "tR4-qu!ckBr0wn"));
        let (out, found) = bytes(text.as_bytes());
        assert_eq!(found.len(), 1, "{statement}");
        assert_eq!(String::from_utf8_lossy(&out), text.replace("tR4-qu!ckBr0wn", "[REDACTED:generic]"));
    }
    for benign in [
        "SELECT password 'alias4Name' FROM t;\n",
        "The user entered the password 'correctly' and was identified by 'cookie'.\n",
        "CREATE USER joe WITH PASSWORD '${DB_PASSWORD_2}';\n",
        "CREATE USER joe IDENTIFIED BY 'changeme';\n",
        "is identified by the digest '5a248a8f0e1d2c3b4a5968778695a4b3c2d1e0f9'\n",
        "each row is identified by '5a248a8f-0e1d-4c3b-8a59-68778695a4b3' and a version\n",
    ] {
        crate::common::untouched(benign);
    }
}
