//! Tests of command texts and argument lists: every row of every table, and the same words as `sh`.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use plugward_manifest::{CommandAnalysis, CommandContext, Coverage, Dialect, FileMode, MapFiles};
use plugward_manifest::{judge_argv, judge_command};
use proptest::prelude::*;

const BUILTINS: [&str; 39] = [
    ":", "[", "alias", "bg", "break", "cd", "continue", "declare", "dirs", "disown", "echo", "exit",
    "export", "false", "fg", "getopts", "hash", "jobs", "kill", "let", "local", "popd", "printf", "pushd",
    "pwd", "read", "readonly", "return", "set", "shift", "shopt", "test", "times", "true", "type", "typeset",
    "ulimit", "umask", "unset",
];

const SHA: &str = "0123456789abcdef0123456789abcdef01234567";

fn claude(text: &str) -> CommandAnalysis {
    judge_command(text, &CommandContext::new(Dialect::Claude))
}

/// One case per line: a label, a bar, a command text. `R` means the root variable, `SHA` 40 hex digits.
fn check(table: &str) -> BTreeSet<String> {
    let mut firsts = BTreeSet::new();
    let mut wrong = Vec::new();
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (label, text) = line.split_once('|').unwrap();
        let text = text
            .trim()
            .replace("$R", "${CLAUDE_PLUGIN_ROOT}")
            .replace("SHA64", &format!("{SHA}{}", &SHA[..24]))
            .replace("SHA", SHA);
        let view = claude(&text);
        if view.coverage().code() != label.trim() {
            wrong.push(format!("{} | {text}: {:?}", view.coverage().code(), view.parts()));
        }
        firsts.insert(text.split([' ', ';']).next().unwrap().to_owned());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    firsts
}

#[test]
fn every_interpreter_has_its_rows() {
    let firsts = check(
        r#"
        script-interpreter-uncovered | sh "$R/x.sh"
        script-interpreter-uncovered | bash -euo pipefail "$R"/x.sh --flag
        script-interpreter-uncovered | dash $R/x.sh
        script-interpreter-uncovered | zsh -x $R/x.sh
        script-interpreter-uncovered | ksh -- $R/x.sh
        script-interpreter-uncovered | fish $R/x.fish
        script-interpreter-uncovered | python $R/x.py
        script-interpreter-uncovered | python2 $R/x.py
        script-interpreter-uncovered | python3 -u -W ignore -X dev $R/x.py
        script-interpreter-uncovered | python3.12 $R/x.py
        script-interpreter-uncovered | /usr/bin/python3 $R/x.py
        script-interpreter-uncovered | pypy3 $R/x.py
        script-interpreter-uncovered | node --import tsx --no-warnings $R/x.mjs
        script-interpreter-uncovered | deno run --allow-net -c $R/deno.json $R/x.ts
        path-binary | deno run --allow-net -c deno.json $R/x.ts
        script-interpreter-uncovered | bun $R/x.ts
        script-interpreter-uncovered | bun run $R/x.ts
        script-interpreter-uncovered | tsx $R/x.ts
        script-interpreter-uncovered | ts-node -P tsconfig.json $R/x.ts
        script-interpreter-uncovered | ruby -w $R/x.rb
        script-interpreter-uncovered | perl -w $R/x.pl
        script-interpreter-uncovered | php -d a=b $R/x.php
        script-interpreter-uncovered | php -f $R/x.php
        script-interpreter-uncovered | lua $R/x.lua
        script-interpreter-uncovered | Rscript --vanilla $R/x.R
        script-interpreter-uncovered | java -Xmx1g -jar $R/x.jar
        script-interpreter-uncovered | pwsh -NoProfile -ExecutionPolicy Bypass -File $R/x.ps1
        script-interpreter-uncovered | powershell -file $R/x.ps1
        inline-shell | cmd /c dir
        inline-shell | sh -c 'echo hi'
        inline-shell | bash -lc 'ls'
        inline-shell | python3 -c 'print(1)'
        inline-shell | node -e 'x()'
        inline-shell | node --eval='x()'
        inline-shell | deno eval 'x()'
        inline-shell | bun -e 'x()'
        inline-shell | ruby -e 'x'
        inline-shell | perl -ne 'print'
        inline-shell | php -r 'x();'
        inline-shell | lua -e 'x()'
        inline-shell | Rscript -e 'x()'
        inline-shell | fish -c 'x'
        inline-shell | pwsh -Command x
        inline-shell | powershell -EncodedCommand x
        path-binary | python3 x.py
        path-binary | python3 ./x.py
        path-binary | python3 -m http.server
        path-binary | python3 -mhttp.server
        path-binary | java Main
        path-binary | node $R/../x.js
        path-binary | node -r ./x.js $R/y.js
        unresolved | python3 "$SCRIPT"
        unresolved | python3
        unresolved | node -
        unresolved | bash -c "$CODE"
        "#,
    );
    assert!(firsts.len() > 20, "{firsts:?}");
}

const LAUNCHER_ROWS: &str = r#"
        launcher-floating | npx a
        launcher-floating | npx -y a@latest
        launcher-floating | npx a@^1.2.3
        launcher-floating | npx a@1
        launcher-floating | npx @s/a
        launcher-floating | npx -p a b@1.2.3
        launcher-floating | npx o/r
        launcher-floating | npx github:o/r#main
        launcher-version | npx -y a@1.2.3
        launcher-version | npx @s/a@1.2.3-rc.1 --flag
        launcher-version | npx --package=a@1.2.3 b
        launcher-digest | npx github:o/r#SHA
        launcher-digest | npx git+https://example.org/r.git#SHA
        unresolved | npx "$PACKAGE"
        path-binary | npx ./a
        launcher-version | npx.cmd a@1.2.3
        launcher-floating | npx -p a@1.2.3 -c 'npx b'
        launcher-version | bunx a@1.2.3
        launcher-floating | bunx --bun a
        launcher-version | pnpx a@1.2.3
        launcher-version | npm exec -- a@1.2.3
        launcher-floating | npm exec a
        launcher-floating | npm run start
        launcher-floating | npm start
        launcher-version | pnpm dlx a@1.2.3
        launcher-floating | pnpm start
        launcher-version | yarn dlx a@1.2.3
        launcher-floating | yarn start
        launcher-floating | bun run start
        launcher-version | bun x a@1.2.3
        launcher-version | uvx a==1.2
        launcher-version | uvx a@1.2.3
        launcher-version | uvx --from a==1.2 b
        launcher-floating | uvx a
        launcher-floating | uvx 'a>=1.2'
        launcher-floating | uvx a==1.*
        launcher-floating | uvx --from git+https://example.org/r b
        launcher-floating | uvx --from git+https://example.org/r@main b
        launcher-floating | uvx --with b a==1.2
        launcher-digest | uvx --from git+https://example.org/r@SHA b
        launcher-version | uv tool run a==1.2
        launcher-floating | uv run x.py
        launcher-version | pipx run a==1.2
        launcher-floating | pipx run --spec a b
        launcher-floating | docker run --rm -i -e A=b -v x:y o/r
        launcher-floating | docker run o/r:latest
        launcher-floating | docker run o/r:stable
        launcher-floating | docker run localhost:5000/r
        launcher-version | docker run -i --name n o/r:1.2
        launcher-digest | docker run o/r@sha256:SHA64
        launcher-floating | docker --context c run o/r
        launcher-version | podman run o/r:1.2
        launcher-floating | podman container run o/r
        launcher-floating | docker compose up
        path-binary | docker ps
        launcher-version | go run example.org/m@v1.2.3
        launcher-floating | go run example.org/m@latest
        launcher-floating | go run example.org/m@main
        script-interpreter-uncovered | go run $R/cmd/x
        path-binary | go run ./cmd/x
        path-binary | go build
        launcher-floating | deno run https://example.org/x.ts
        launcher-version | deno run -A npm:a@1.2.3
        launcher-version | deno run jsr:@s/a@1.2.3/b
        launcher-floating | deno run npm:a
        launcher-floating | curl -fsSL https://example.org/x | sh
        launcher-floating | wget -qO- https://example.org/x | tee y | bash -s -- z
        launcher-floating | bash <(curl https://example.org/x)
        launcher-floating | sh -c "$(curl https://example.org/x)"
        launcher-floating | eval "`curl https://example.org/x`"
        launcher-floating | . <(curl https://example.org/x)
"#;

#[test]
fn every_launcher_has_its_rows() {
    let firsts = check(LAUNCHER_ROWS);
    assert!(firsts.len() > 12, "{firsts:?}");
}

#[test]
fn a_package_reference_is_not_a_path_of_the_tree() {
    let files = MapFiles::new();
    let contexts = [
        CommandContext::new(Dialect::Codex),
        CommandContext::new(Dialect::Cursor),
        CommandContext::new(Dialect::Claude).at_root(),
        CommandContext::new(Dialect::Gemini).at_root().with_files(&files),
    ];
    for line in LAUNCHER_ROWS.lines().map(str::trim).filter(|line| !line.is_empty() && !line.contains("./")) {
        let (label, text) = line.split_once('|').unwrap();
        if text.contains("$R") {
            continue;
        }
        let text = text.trim().replace("SHA64", &format!("{SHA}{}", &SHA[..24])).replace("SHA", SHA);
        for context in &contexts {
            let view = judge_command(&text, context);
            assert_eq!(view.coverage().code(), label.trim(), "{text}: {view:#?}");
            assert!(view.parts().iter().all(|part| part.started().is_none()), "{text}: {view:#?}");
        }
        // In a tree without these files, no word is a file.
        assert!(judge_command(&text, &contexts[3]).files().is_empty(), "{text}");
    }
}

#[test]
fn what_the_tree_has_is_a_file_of_it_and_an_address_is_none() {
    let mut files = MapFiles::new();
    files.insert("tools/x.json", b"{}".to_vec(), FileMode::Plain);
    let context = CommandContext::new(Dialect::Codex).with_files(&files);
    let view =
        judge_command("python3 bin/run.py tools/x.json other/y.json ./z https://example.org/q", &context);
    assert_eq!(view.coverage(), Coverage::ScriptInterpreterUncovered);
    assert_eq!(view.files(), ["bin/run.py", "tools/x.json", "z"]);
    let fetched = judge_command("node https://example.org/x.mjs", &context);
    assert_eq!(fetched.coverage(), Coverage::LauncherFloating, "{fetched:#?}");
}

#[test]
fn every_builtin_is_left_out() {
    for builtin in BUILTINS {
        let view = claude(&format!("{builtin} x; npx a@1.2.3"));
        assert_eq!(view.coverage(), Coverage::LauncherVersion, "{builtin}");
        assert_eq!(view.parts().len(), 1, "{builtin}");
        assert_eq!(claude(&format!("{builtin} x")).coverage(), Coverage::InlineShell, "{builtin}");
    }
}

#[test]
fn texts_of_several_commands_have_the_worst_label() {
    check(
        r#"
        covered | "$R/x" a b
        covered | ${CLAUDE_PLUGIN_ROOT}/x > /dev/null 2>&1
        covered | A=b "$R/x"
        covered | exec "$R/x"
        covered | if [ -f x ]; then "$R/x"; fi
        script-interpreter-uncovered | env A=b -u C "$R/x"
        script-interpreter-uncovered | env -i A=b python3 "$R/x.py"
        script-interpreter-uncovered | timeout -k 5 10s nice -n 5 nohup sh "$R/x"
        script-interpreter-uncovered | "$R/x" || sh "$R/y"
        script-interpreter-uncovered | [ -f a ] && sh "$R/x" || true
        script-interpreter-uncovered | for f in a b; do sh "$R/x" "$f"; done
        script-interpreter-uncovered | case "$A" in a|b) sh "$R/x" ;; *) exit 0 ;; esac
        script-interpreter-uncovered | sh < "$R/x"
        script-interpreter-uncovered | . "$R/x"
        inline-shell | sh "$R/x" | tee log
        inline-shell | jq . && sh "$R/x"
        inline-shell | echo "$(date)"
        inline-shell | echo hi
        inline-shell | # nothing
        inline-shell | sh <<< 'ls'
        inline-shell | trap 'rm x' EXIT
        path-binary | jq .
        path-binary | /usr/bin/jq .
        path-binary | ~/x
        path-binary | ./x
        path-binary | $R/../x
        path-binary | sudo -u u jq .
        unresolved | "$TOOL" a
        unresolved | ${TOOL:-jq} a
        unresolved | "${CLAUDE_PLUGIN_DATA}/x"
        unresolved | "$R/$NAME"
        unresolved | ./* a
        path-binary | $'jq' a
        launcher-floating | env npx a
        launcher-floating | sh -c 'npx a'
        launcher-floating | bash -c "cd x && exec npx a"
        launcher-floating | eval npx a
        launcher-floating | echo "$(npx a)"
        launcher-floating | echo `npx a`
        launcher-floating | A=$(npx a) true
        launcher-floating | cat <(npx a)
        launcher-floating | true > "$(npx a)"
        launcher-floating | echo "${A:-$(npx a)}"
        launcher-floating | timeout 5 npx a
        launcher-floating | time -p npx a
        launcher-floating | env -S 'npx a'
        launcher-floating | env '-Snpx a'
        launcher-floating | coproc npx a
        launcher-floating | case x in $(npx a)) ;; esac
        script-interpreter-uncovered | command -v node >/dev/null && node $R/x.js || true
        script-interpreter-uncovered | exec 2>/dev/null; sh $R/x.sh
        script-interpreter-uncovered | builtin cd x; command sh $R/x.sh
        launcher-floating | xargs -n 1 npx a
        launcher-floating | (cd x; npx a)
        launcher-floating | { npx a; }
        launcher-floating | ! npx a
        launcher-floating | while true; do npx a; done
        launcher-floating | case x in x) npx a;; esac
        launcher-floating | f() { npx a; }; f
        launcher-floating | n\px a
        launcher-floating | 'np''x' a
        launcher-floating | sh "$R/x" & npx a
        "#,
    );
    let here = claude("cat <<END\nnpx a\nEND\nsh \"${CLAUDE_PLUGIN_ROOT}/x\"");
    assert_eq!(here.coverage(), Coverage::InlineShell, "{here:?}");
    let behind = claude("bash <<END -c 'npx a'\nls\nEND");
    assert_eq!(behind.coverage(), Coverage::LauncherFloating, "{behind:?}");
    let line = claude("npx \\\n a@1.2.3");
    assert_eq!(line.coverage(), Coverage::LauncherVersion, "{line:?}");
}

#[test]
fn the_files_at_hand_refine_a_label() {
    let files = MapFiles::new()
        .with("run", "#!/usr/bin/env python3\n")
        .with("bin", [0x7F, b'E', b'L', b'F'])
        .with("app/bun.lock", "")
        .with("uv.lock", "");
    let context = CommandContext::new(Dialect::Codex).with_files(&files);
    let label = |text: &str| judge_command(text, &context).coverage().code();
    assert_eq!(label("${PLUGIN_ROOT}/run"), "script-interpreter-uncovered");
    assert_eq!(label("${PLUGIN_ROOT}/bin"), "covered");
    assert_eq!(label("./bin"), "covered");
    assert_eq!(label("bin"), "path-binary");
    assert_eq!(label("sh run"), "script-interpreter-uncovered");
    assert_eq!(label("sh nowhere"), "path-binary");
    assert_eq!(label("bun run --cwd ${PLUGIN_ROOT}/app start"), "launcher-version");
    assert_eq!(label("bun run --cwd=${PLUGIN_ROOT}/app start"), "launcher-version");
    assert_eq!(label("bun run start"), "launcher-floating");
    assert_eq!(label("uv run x"), "launcher-version");
    let view = judge_command("${PLUGIN_ROOT}/run", &context);
    assert!(view.why().contains("/usr/bin/env python3"), "{}", view.why());
    let excluded = context.with_excluded(&["run"]);
    assert_eq!(judge_command("${PLUGIN_ROOT}/run", &excluded).coverage(), Coverage::PathBinary);
    let gnoma = CommandContext::new(Dialect::Gnoma);
    assert_eq!(judge_argv(&["npx", "a"], &gnoma).coverage(), Coverage::Covered);
}

#[test]
fn arguments_are_words_whatever_is_in_them() {
    let label = |argv: &[&str]| judge_argv(argv, &CommandContext::new(Dialect::Claude)).coverage().code();
    assert_eq!(label(&["sh", "${CLAUDE_PLUGIN_ROOT}/a b; npx c"]), "script-interpreter-uncovered");
    assert_eq!(label(&["npx", "-y", "a@1.2.3"]), "launcher-version");
    assert_eq!(label(&["sh", "-c", "npx a"]), "launcher-floating");
    assert_eq!(label(&["cmd", "/c", "npx", "-y", "a@1.2.3"]), "launcher-version");
    assert_eq!(label(&["sh", "-c", "${CLAUDE_PLUGIN_ROOT}/x | npx a"]), "launcher-floating");
    assert_eq!(label(&["sh", "-c", "${CODE}"]), "unresolved");
    assert_eq!(label(&["${CLAUDE_PLUGIN_ROOT}/x"]), "covered");
    assert_eq!(label(&["${TOOL}"]), "unresolved");
    assert_eq!(label(&["docker", "run", "-e", "A=${A}", "o/r:1.2"]), "launcher-version");
    assert_eq!(label(&[]), "inline-shell");
    let view = judge_argv(
        &["x", "${A}", "$B", "${C:-d}", "$1", "${user_config.key}"],
        &CommandContext::new(Dialect::Claude),
    );
    assert_eq!(view.reads_env(), ["A", "B", "C", "user_config.key"]);
}

#[test]
fn variables_and_files_are_named() {
    let view =
        claude("sh ${CLAUDE_PLUGIN_ROOT}/a.sh \"$B\" ${C:-d} ${user_config.e} > \"$CLAUDE_PLUGIN_ROOT/f\"");
    assert_eq!(view.reads_env(), ["B", "C", "user_config.e"]);
    assert_eq!(view.files(), ["a.sh", "f"]);
    assert!(view.has_unquoted_root());
    assert!(!claude("sh \"${CLAUDE_PLUGIN_ROOT}\"/a.sh").has_unquoted_root());
    let gemini = CommandContext::new(Dialect::Gemini);
    let view = judge_command("node \"${extensionPath}${/}a${pathSeparator}b.js\"", &gemini);
    assert_eq!(view.files(), ["a/b.js"]);
    assert_eq!(view.coverage(), Coverage::ScriptInterpreterUncovered);
}

#[test]
fn hostile_texts_end() {
    for text in [
        "$(".repeat(25_000),
        "${a:-".repeat(15_000),
        "`".repeat(50_000),
        "env ".repeat(15_000),
        "sh -c '".repeat(8_000),
        "sh -c \"x $(".repeat(5_000),
        "a|".repeat(25_000),
        "curl x|sh|".repeat(5_000),
        "case x in ".repeat(20_000),
        "<<a\n".repeat(40_000),
        "((".repeat(25_000),
        "'".repeat(200_001),
        "\\".repeat(200_001),
        format!("sh -c {}", "\\\"".repeat(100_000)),
    ] {
        let view = claude(&text);
        assert!(view.parts().len() <= text.len());
        let argv = judge_argv(&["sh", "-c", &text], &CommandContext::new(Dialect::Claude));
        assert!(argv.coverage().is_worse_than(Coverage::PathBinary), "{}", &text[..20]);
    }
    let many = vec!["${x"; 25_000];
    assert_eq!(judge_argv(&[&many.concat()], &CommandContext::new(Dialect::Claude)).parts().len(), 1);
}

/// Returns the words into which `sh` splits a text. Every variable is defined as its own name in braces.
fn words_of_sh(text: &str) -> Option<Vec<String>> {
    let out = Command::new("sh")
        .args(["-f", "-c", &format!("printf '%s\\n' {text}")])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("A", "${A}")
        .env("B_2", "${B_2}")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    out.status
        .success()
        .then(|| String::from_utf8_lossy(&out.stdout).lines().map(ToOwned::to_owned).collect())
}

fn words_of_ours(text: &str) -> Vec<String> {
    let view = claude(&format!("printf-like {text}"));
    view.parts()[0].words()[1..].to_vec()
}

#[test]
fn words_are_split_as_sh_splits_them() {
    if words_of_sh("a").is_none() {
        return println!("skipped: no sh");
    }
    let pieces = [
        "a",
        "'b c'",
        "\"d e\"",
        "\"f'g\"",
        "'h\"i'",
        "j\\ k",
        "\\'",
        "\\\"",
        "\"\\\"l\\\\\"",
        "\"\\m\"",
        "$A",
        "\"$A\"",
        "${A}",
        "\"${B_2}\"n",
        "${A:-o}",
        "\"${A:-q}\"",
        "r#s",
        "''",
        "\"\"",
        "t'u'\"v\"w",
        "x=y",
        "--z=\"1 2\"",
        "3\\\n4",
        "\"5\\\n6\"",
        "é",
        "\"$\"",
        "7$",
        "'$A'",
        "\\$A",
        "~x",
        "\"\\$A\"",
        "\"`printf 8`\"",
    ];
    let mut checked = 0;
    for (index, one) in pieces.iter().enumerate() {
        for step in [1, 5, 7, 11, 13, 17, 29] {
            let two = pieces[(index + step) % pieces.len()];
            let text = if step % 2 == 0 { format!("{one}{two}") } else { format!("{one}  {two}") };
            let theirs = words_of_sh(&text).unwrap_or_else(|| panic!("sh refuses {text}"));
            // A command substitution is compared as text and does not run.
            let ours: Vec<String> =
                words_of_ours(&text).iter().map(|word| word.replace("$(printf 8)", "8")).collect();
            assert_eq!(ours, theirs, "{text}");
            checked += 1;
        }
    }
    assert!(checked >= 200, "{checked}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_label_is_never_better_than_the_worst_of_its_parts(text in "[a-z$\"'`|;&(){}<> \\\\/.@=~*#0-9-]{0,60}") {
        let view = claude(&text);
        for part in view.parts() {
            prop_assert!(!part.coverage().is_worse_than(view.coverage()), "{view:?}");
        }
    }

    #[test]
    fn quotes_and_blanks_do_not_change_a_label(
        words in prop::collection::vec(prop::sample::select(vec!["npx", "a@1.2.3", "sh", "${CLAUDE_PLUGIN_ROOT}/x", "-y", "-c", "python3", "uvx", "jq", "b", "docker", "run", "o/r:1"]), 1..5),
        gap in 1_usize..4,
    ) {
        let plain = words.join(" ");
        let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let spaced = words.join(&" ".repeat(gap));
        let label = claude(&plain).coverage();
        prop_assert_eq!(claude(&quoted.join(" ")).coverage(), label, "{}", plain);
        prop_assert_eq!(claude(&spaced).coverage(), label);
        prop_assert_eq!(claude(&format!("  {plain}\t")).coverage(), label);
    }
}
