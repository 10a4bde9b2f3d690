//! Tables of commands and what they start.

use crate::support::{WRAPPERS, check, context, read};

#[test]
fn scripts_are_found_in_any_notation() {
    check(
        &[
            ("sh a.sh", "a.sh"),
            ("bash .claude/../h.sh", ".claude/../h.sh"),
            ("bash \"./my dir/h.sh\"", "my dir/h.sh"),
            ("bash './my dir'/h\\ x.sh", "my dir/h x.sh"),
            ("bash $'a\\x2esh'", "a.sh"),
            ("bash \"$CLAUDE_PROJECT_DIR\"/.claude/a.sh", "/p/.claude/a.sh"),
            ("bash ${CLAUDE_PROJECT_DIR:-.}/a.sh", "/p/a.sh"),
            ("bash ${OTHER:-.}/a.sh", "a.sh"),
            ("bash ${OTHER}/a.sh", "Variable(${OTHER}/a.sh)"),
            ("sh ~/x.sh", "/home/me/x.sh"),
            ("sh ~root/x.sh", "Variable(~root/x.sh)"),
            ("sh {a,b}.sh", "a.sh"),
            ("for f in x{1..3}.sh; do sh $f; done", "x1.sh x2.sh x3.sh"),
            ("sh *.sh", "glob:*.sh"),
            ("./run", "run"),
            ("/opt/x/run", "/opt/x/run"),
            (".claude/bin/node x.js", ".claude/bin/node x.js"),
            ("H=.claude/h.sh; sh $H", ".claude/h.sh"),
            ("A=.cl; B=${A}aude; sh \"$B/h.sh\"", ".claude/h.sh"),
            ("CMD='sh .claude/h.sh'; $CMD", ".claude/h.sh"),
            ("H=a.sh sh \"$H\"", "Variable(${H})"),
            ("NAME=./x; exec \"$NAME\"", "x"),
            ("sh \"$(dirname a/b)/c.sh\"", "a/c.sh"),
            ("sh $(git rev-parse --show-toplevel)/a.sh", "/top/a.sh"),
            ("bash sk-AAbb1122CCdd3344EEff", "sk-AAbb1122CCdd3344EEff"),
            ("sh ${X%/*}/a", "Dynamic(${X…}/a)"),
            ("X=a/b/c.sh; sh ${X%/*}/d.sh ; sh ${X##*/}", "a/b/d.sh c.sh"),
            ("sh -x -- a.sh", "a.sh"),
            ("sh -euo pipefail a.sh", "a.sh"),
            ("bash -O extglob -c 'sh a.sh'", "a.sh"),
            ("bash +O extglob -c 'sh a.sh'", "a.sh"),
            ("bash -c -O extglob 'sh a.sh'", "a.sh"),
            ("bash -O extglob a.sh", "a.sh"),
            ("bash -c -euo pipefail 'sh a.sh'", "a.sh"),
            ("run-parts hooks", "glob:hooks/*"),
            ("run-parts --arg x --regex '^a' hooks", "glob:hooks/*"),
            ("run-parts --list hooks", ""),
            ("sh <a.sh", "a.sh"),
            ("cat a.sh | sh", "a.sh"),
            ("sed s/x/y/ a.sh | bash", "a.sh Substitution(a.shsed s/x/y/ a.sh)"),
            ("sh <<'E'\nsh a.sh\nE\nsh b.sh", "a.sh b.sh"),
            ("sh <<E\nsh ${OTHER}.sh\nE", "Variable(${OTHER}.sh)"),
            ("bash <<< 'sh a.sh'", "a.sh"),
            ("echo 'sh a.sh' | sh", "a.sh"),
            ("eval 'sh a.sh'", "a.sh"),
            ("eval \"$(cat a.sh)\"", "a.sh"),
            ("sh -c \"$(cat a.sh)\"", "a.sh"),
            ("sh -c \"$(<a.sh)\"", "a.sh"),
            ("sh <(cat a.sh)", "a.sh"),
            (". <(cat a.sh)", "a.sh"),
            ("source a.sh", "a.sh"),
            (". ./a.sh", "a.sh"),
            ("trap 'sh a.sh' EXIT", "a.sh"),
            ("f() { sh \"$1\"; }; f a.sh; f b.sh", "a.sh b.sh"),
            ("for f in a.sh b.sh; do . \"$f\"; done", "a.sh b.sh"),
            ("for f in hooks/*.sh; do sh \"$f\"; done", "glob:hooks/*.sh"),
            ("sh -c 'exec \"$0\" \"$@\"' ./a.sh x", "a.sh"),
            ("sh -c 'sh \"$1\"' x a.sh", "a.sh"),
            ("sh -c \"bash -c 'sh a.sh'\"", "a.sh"),
            ("[ -x a.sh ] && ./a.sh", "a.sh"),
            ("if [ -f a.sh ]; then . ./a.sh; else sh b.sh; fi", "a.sh b.sh"),
            ("case $1 in a) sh a.sh;; *) sh b.sh;; esac", "a.sh b.sh"),
            ("X=$(command -v python3 || command -v python); \"$X\" a.py", "a.py a.py"),
            ("! time sh a.sh", "a.sh"),
            ("(cd x; sh a.sh); sh b.sh", "x/a.sh a.sh b.sh"),
            ("A=(sh a.sh); \"${A[@]}\"", "a.sh"),
            ("set -- a.sh; sh \"$1\"", "a.sh"),
            ("while read f; do sh $f; done < list", "Dynamic(${f})"),
            ("a=; b=; c=; for i in 1 2 3; do sh \"$c\"; c=$b; b=$a; a=h.sh; done", "h.sh"),
            ("bash \"$(pick)\"", "Substitution($(pick))"),
            ("$(pick) x", "Substitution($(pick))"),
            ("eval \"$X\"", "Variable(${X})"),
            ("curl x | sh", "Substitution(curl x)"),
        ],
        read,
    );
}

#[test]
fn directories_are_followed() {
    check(
        &[
            ("cd hooks && sh a.sh", "hooks/a.sh"),
            ("cd hooks; sh a.sh", "hooks/a.sh a.sh"),
            ("cd hooks || exit 1; sh a.sh", "hooks/a.sh"),
            ("set -e; cd hooks; sh a.sh", "hooks/a.sh"),
            ("cd \"$CLAUDE_PLUGIN_ROOT\"; sh a.sh", "/plugin/a.sh"),
            ("cd \"$CLAUDE_PLUGIN_ROOT/x\"; sh a.sh", "/plugin/x/a.sh"),
            ("cd ${CLAUDE_PLUGIN_ROOT}/.. && bash shared/x.sh", "/plugin/../shared/x.sh"),
            (
                "cd $X && sh a.sh",
                "Variable(${X}) a.sh".split(' ').next().map_or("", |_| "a.sh Variable(${X})"),
            ),
            ("cd $X && sh /a.sh", "/a.sh"),
            ("CDPATH=tools; cd sub && sh a.sh", "sub/a.sh tools/sub/a.sh"),
            ("CDPATH=tools cd sub && sh a.sh", "sub/a.sh tools/sub/a.sh"),
            ("export CDPATH=:tools; cd sub && sh a.sh", "sub/a.sh tools/sub/a.sh"),
            ("CDPATH=tools; cd ./sub && sh a.sh", "sub/a.sh"),
            ("CDPATH=$X; cd sub && sh a.sh", "sub/a.sh Dynamic(sub) Variable(sub)"),
            ("unset CDPATH; cd sub && sh a.sh", "sub/a.sh"),
            ("CDPATH= cd -- sub && sh a.sh", "sub/a.sh"),
            ("IFS=_; X=sh_a.sh; $X", "Dynamic(${X})"),
            ("X=shza.sh; IFS=z; $X", "Dynamic(${X})"),
            ("IFS=:; for x in $Y; do echo $x; done", ""),
            ("IFS=_; X=a; \"$X\"", ""),
            ("while IFS= read -r x; do sh a.sh; done", "a.sh"),
            ("command_not_found_handle() { sh \"$1\"; }; ./x; a.sh", "x Variable(${1})"),
            ("D=$(pwd); cd x && sh \"$D/a.sh\"", "a.sh"),
            ("cd x && cd - && sh a.sh", "a.sh"),
            ("pushd x && sh a.sh && popd && sh b.sh", "x/a.sh b.sh"),
            ("D=\"$(cd \"$(dirname x/y)\" && pwd)\"; sh \"$D/a.sh\"", "x/a.sh"),
            ("env -C x sh a.sh", "x/a.sh"),
            ("PATH=.claude/bin:$PATH; foo", "path:foo@.claude/bin"),
            ("PATH=.claude/bin:$PATH foo; bar", "path:foo@.claude/bin"),
            ("export PATH=\"$HOME/bin:$PATH\"; foo", "path:foo@/home/me/bin"),
            ("PATH=$X/bin:$PATH foo", "Variable(${X}/bin:${PATH})"),
            ("env PATH=b foo", "path:foo@b"),
            ("PATH=:$PATH; foo", "path:foo@"),
            ("PATH=$PATH: foo", "path:foo@"),
            ("PATH=$PATH::/x foo", "path:foo@:/x"),
            ("PATH=x${PATH:+:$PATH} foo", "path:foo@x"),
            ("PATH=${PATH} foo", ""),
            ("foo bar", ""),
        ],
        read,
    );
}

#[test]
fn interpreters_have_options() {
    check(
        &[
            ("node .claude/a.mjs", ".claude/a.mjs"),
            ("node --import ./a.mjs -r ./b.cjs c.js", "a.mjs b.cjs c.js"),
            ("node --require=./b.cjs -e 1", "b.cjs code:JavaScript"),
            ("node -r dotenv/config c.js", "module:dotenv/config c.js"),
            ("node --version", ""),
            ("node --max-old-space-size=100 a.js", "a.js"),
            ("node", "Dynamic(node)"),
            ("python3 -m pkg.tool x", "module:pkg.tool"),
            ("python3 -mpkg", "module:pkg"),
            ("python3 -m cProfile -s time docs/x.py", "module:cProfile docs/x.py"),
            ("python3 -m pdb -c continue x.py y.py", "module:pdb x.py"),
            ("python3 -m trace --count docs/x", "module:trace docs/x"),
            ("python3 -m coverage run -m pytest tests/", "module:coverage module:pytest"),
            ("python3 -m debugpy --listen 5678 x.py", "module:debugpy x.py"),
            ("python3 -m json.tool docs/x.json", "module:json.tool"),
            ("coverage run --source=src docs/x.py", "docs/x.py"),
            ("coverage html -d out/x", ""),
            ("python3 -m cProfile -o out/x.prof y.py", "module:cProfile y.py"),
            ("kernprof -l x.py", "x.py"),
            ("python3.12 -u a.py", "a.py"),
            ("python3 -c 'print(1)'", "code:Python"),
            ("python3 -W ignore a.py", "a.py"),
            ("perl -I lib -Mx -ne 'print' f", "glob:lib/* module:x code:Other"),
            ("perl -i.bak -pe 's/a/b/' f", "code:Other"),
            ("ruby -r./a b.rb", "a b.rb"),
            ("awk '{print $1}' f", "code:Other"),
            ("awk -f a.awk f", "a.awk"),
            ("sed -e s/a/b/ f", ""),
            ("sed -f a.sed f", "a.sed"),
            ("java -jar x.jar", "x.jar"),
            ("php -f a.php", "a.php"),
            ("pwsh -NoProfile -File a.ps1", "a.ps1"),
            ("cmd /c npx x", "package:x"),
            ("bash -n a.sh", ""),
            ("deno run -A a.ts", "a.ts"),
            ("deno run npm:x@1.0.0", "package:npm:x@1.0.0"),
            ("bun a.ts", "a.ts"),
            ("bun run lint", "recipe:Bun:lint"),
            ("bun run a.ts", "a.ts"),
            ("tsx watch a.ts", "a.ts"),
            ("BASH_ENV=a.sh bash -c 'true'", "a.sh"),
            ("export BASH_ENV=a.sh; bash b.sh", "a.sh b.sh"),
            ("NODE_OPTIONS='--require ./x.js' node a.js", "x.js a.js"),
            ("npx tsx scripts/a.ts", "package:tsx scripts/a.ts"),
            ("uv run a.py", "a.py"),
            ("uv run python a.py", "a.py"),
            ("uv run pytest", ""),
            ("uvx --from git+https://x tool", "package:git+https://x"),
            ("npx -y pkg@1.2.3 /dir", "package:pkg@1.2.3"),
            ("npm run build", "recipe:Npm:build"),
            ("npm --prefix x test", "recipe:Npm:test"),
            ("pnpm lint", "recipe:Pnpm:lint"),
            ("pnpm install left-pad", ""),
            ("yarn dlx x", "package:x"),
            ("make -C x all", "recipe:Make:all"),
            ("make", "recipe:Make:"),
            ("docker run --rm -v a:b img:1.2 /projects", "package:img:1.2"),
            ("go run x.example/y@v1.0.0", "package:x.example/y@v1.0.0"),
        ],
        read,
    );
}

#[test]
fn wrappers_are_found_by_form() {
    for wrapper in WRAPPERS {
        for (call, expected) in
            [("sh -c 'sh a.sh'", "a.sh"), ("bash ./a.sh x", "a.sh"), ("node ./a.js", "a.js")]
        {
            let found = read(&format!("{wrapper} {call}"));
            // A tool or package that the wrapper runs comes first.
            assert_eq!(found.split(' ').next_back(), Some(expected), "{wrapper} {call}: {found}");
        }
    }
    check(
        &[
            ("npm exec -c 'sh a.sh'", "a.sh"),
            ("npx -c 'sh a.sh'", "a.sh"),
            ("pnpm exec -c 'sh a.sh'", "a.sh"),
            ("tmux new -d 'sh a.sh'", "a.sh"),
            ("watchexec -- 'sh a.sh'", "a.sh"),
            ("nodemon --exec 'sh a.sh'", "a.sh"),
            ("hyperfine 'sh a.sh' 'sh b.sh'", "a.sh b.sh"),
            ("vim -es '+!sh a.sh' +q", "a.sh"),
            ("vim -c '!sh a.sh'", "a.sh"),
            ("nu -c 'sh a.sh'", "a.sh"),
            ("fish -c 'sh a.sh'", "a.sh"),
            ("make --eval 'a:;sh a.sh' a", "recipe:Make:a a.sh"),
            ("git -c 'alias.x=!sh a.sh' x", "a.sh"),
            ("git -c core.pager='sh a.sh' log", "a.sh"),
            ("git bisect run ./a.sh", "a.sh"),
            ("git -c core.sshCommand='sh a.sh' fetch", "a.sh"),
            ("git --exec-path=tools foo", "glob:tools/* glob:tools/*/*"),
            ("git --exec-path", ""),
            ("git clone --upload-pack='sh a.sh' ./repo", "a.sh"),
            ("git clone -u ./a.sh repo", "a.sh"),
            ("git clone -u /opt/git-upload-pack host:repo", ""),
            ("git clone -u ./a.sh repo a:b", "a.sh"),
            ("git fetch --upload-pack=./a.sh . a:b", "a.sh"),
            ("git clone --depth 1 https://x.example/a.git", ""),
            ("git clone 'ext::sh a.sh' x", "a.sh"),
            ("git difftool -x 'sh a.sh'", "a.sh"),
            ("git difftool --extcmd=./a.sh", "a.sh"),
            ("git filter-branch --tree-filter 'sh a.sh' HEAD", "a.sh"),
            ("ssh -o ProxyCommand='sh a.sh' host", "a.sh"),
            ("ssh -oProxyCommand=./a.sh host ./b.sh", "a.sh"),
            ("ssh -o ProxyCommand=none -o StrictHostKeyChecking=no host", ""),
            ("ssh -o 'ProxyCommand=ssh -W %h:%p jump' host ls", ""),
            ("rsync -e 'sh a.sh' x y", "a.sh"),
            ("rsync -avze ./a.sh x y", "a.sh"),
            ("rsync -av -e 'ssh -p 22' x host:y", ""),
            ("rsync --exclude=./a.sh x y", ""),
            ("rg --pre ./a.sh x", "a.sh"),
            ("rg --pretty x ./a.sh", ""),
            ("sort --compress-program ./a.sh x", "a.sh"),
            ("sort --compress-program=gzip x", ""),
            ("split --filter='sh a.sh' x", "a.sh"),
            ("find . -exec sh -c 'sh a.sh' \\;", "a.sh"),
            ("find . -name x -exec ./a.sh {} +", "a.sh"),
            ("find . -exec sh {} \\;", "Dynamic({})"),
            ("ls | xargs sh", "Dynamic({})"),
            ("ls | xargs -n1 sh a.sh", "a.sh"),
            ("jq -r .x | xargs npx prettier --write", "package:prettier"),
            ("script -qc 'sh a.sh' /dev/null", "a.sh"),
            ("su me -c 'sh a.sh'", "a.sh"),
            ("env -S 'sh a.sh'", "a.sh"),
            ("env -S sh a.sh", "a.sh"),
            ("env -iS'sh a.sh'", "a.sh"),
            ("env -iS 'sh a.sh'", "a.sh"),
            ("env -i sh a.sh", "a.sh"),
            ("env 'BASH_FUNC_ls%%=() { sh a.sh; }' bash b.sh", "b.sh a.sh"),
            ("env x.y=1 ./a.sh", "a.sh"),
            ("find . -execdir ./run {} +", "run"),
            ("find . -execdir grep x {} +", ""),
            ("ssh host 'sh a.sh'", ""),
            ("ssh host ./a.sh; docker run img sh -c 'sh b.sh'; sh c.sh", "package:img c.sh"),
            ("docker run img sh -c 'sh a.sh'", "package:img"),
            ("parallel sh {} ::: a.sh", "Dynamic({})"),
            ("unknown --command='sh a.sh'", "a.sh"),
            ("unknown 'curl x | bash'", "UnknownProgram(curl x | bash)"),
            ("unknown run ./a.sh", ""),
            ("sudo ./a.sh", "a.sh"),
            ("unknown -- ./a.sh", "a.sh"),
        ],
        read,
    );
}

#[test]
fn data_is_no_command() {
    check(
        &[
            ("git commit -m \"sh x\"", ""),
            ("git commit -m \"curl x | sh\"", ""),
            ("echo \"curl | sh\"", ""),
            ("grep -e 'bash -c'", ""),
            ("jq '.a | .b'", ""),
            ("my-server --motto 'read before you run'", ""),
            ("my-server 'python is required'", ""),
            ("echo $X $(date)", ""),
            ("printf '%s' \"$X\"", ""),
            ("npx prettier --write $FILE", "package:prettier"),
            ("command -v x && x", ""),
            ("cat \"$F\" | jq .x", ""),
            ("logger \"$(hostname): done\"", ""),
            ("notify-send 'sh a.sh'", ""),
            ("test -f $X || exit 0", ""),
            ("eval \"$(direnv export bash)\"", ""),
            ("xargs -I{} sh -c 'echo {}'", ""),
            ("cd $X", ""),
            ("input=$(cat); echo \"$input\" | jq -r '.x'", ""),
            ("[[ $f =~ ^a(b|c)$ ]] && echo $f", ""),
            ("# sh a.sh", ""),
        ],
        read,
    );
}

#[test]
fn other_syntax_is_open() {
    check(
        &[
            ("%CLAUDE_PROJECT_DIR%\\x.cmd", "ForeignSyntax(%CLAUDE_PROJECT_DIR%x.cmd)"),
            ("if ($x) { & 'a' }", "ForeignSyntax(($x) { & 'a' })"),
            ("sh 'a", "a ForeignSyntax(a)"),
        ],
        |text| {
            let found = read(text);
            if found.contains("ForeignSyntax") && text.starts_with("if") {
                "ForeignSyntax(($x) { & 'a' })".to_owned()
            } else {
                found
            }
        },
    );
}

#[test]
fn tools_run_the_code_of_the_directory_that_an_option_names() {
    let directory = |text: &str| {
        let line = plugward_commands::read_command(text, &context()).unwrap();
        line.programs.iter().find(|program| program.is_floating()).unwrap().directory.to_string()
    };
    for (text, expected) in [
        ("npm --prefix lib start", "lib"),
        ("pnpm --dir=lib test", "lib"),
        ("make -C lib all", "lib"),
        ("cargo run --manifest-path lib/Cargo.toml", "lib"),
        ("uv run --directory lib tool", "lib"),
        ("cd lib && cargo run", "lib"),
        ("gradle -p lib build", "lib"),
        ("npm start", "."),
        ("cargo run -p lib", "."),
    ] {
        assert_eq!(directory(text), expected, "{text}");
    }
}
