//! Each secret in each place where tool output holds one: code, logs, URLs, headers, configuration and key files.

use crate::common::{bytes, gone};
use crate::plant::{MAKERS, Rng};

/// Name of the place, and what stands before and after the secret.
type Carrier = (&'static str, &'static str, &'static str);

/// Places for a value that carries its own literal.
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

/// Prefixes of a line, for secrets that stand with the words that tell of them.
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
            // A document behind anything but blanks and the sign of a diff: see `evades`.
            if *name == "k8s secret" && !matches!(*prefix, "" | "  " | "\t" | "+") {
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
