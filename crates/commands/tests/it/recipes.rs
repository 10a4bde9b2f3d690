//! Recipes of build tools and package managers, with their files and directories.

use plugward_commands::{StartTarget, read_command};

use crate::support::{check, context, read};

#[test]
fn build_tools_run_recipes_of_files() {
    check(
        &[
            ("make -f a.mk -f b.mk lint", "recipe:Make:lint@a.mk@b.mk"),
            ("make -sf a.mk lint", "recipe:Make:lint@a.mk"),
            ("make --file=a.mk lint", "recipe:Make:lint@a.mk"),
            ("make -C d -C e -f a.mk", "recipe:Make:@d/e/a.mk"),
            ("make -f - lint", "recipe:Make:lint Dynamic(-)"),
            ("make -f \"$F\" lint", "recipe:Make:lint Variable(${F})"),
            ("make -j lint", "recipe:Make:lint"),
            ("make -j 4 -d lint test", "recipe:Make:lint recipe:Make:test"),
            ("make -I inc lint", "glob:inc/* glob:inc/*/* recipe:Make:lint[.INCLUDE_DIRS=inc]"),
            ("make lint CC=cc D:=1", "recipe:Make:lint[CC=cc][D:=1]"),
            ("just -f d/a.just lint", "recipe:Just:lint@d/a.just"),
            ("just -v lint test \"$X\"", "recipe:Just:lint(test)(${X}) recipe:Just:test(${X})"),
            ("just --set a b c=d lint e=f", "recipe:Just:lint[a=b][c=d](e=f)"),
            ("just -f lint lint x", "recipe:Just:lint@lint(x) recipe:Just:x@lint"),
            ("just --dotenv-path .env lint", "env:.env recipe:Just:lint"),
            ("just --list", ""),
            ("task -v lint a=b -- x", "recipe:Task:lint[a=b]"),
            ("task --taskfile=d/x.yml", "recipe:Task:@d/x.yml"),
            ("task --list-all", ""),
            ("deno task -c d/deno.json lint", "recipe:Deno:lint@d/deno.json"),
        ],
        read,
    );
}

#[test]
fn package_managers_run_scripts_with_their_verbs() {
    let install =
        "recipe:Npm/*:install recipe:Npm/*:prepublish recipe:Npm/*:prepare recipe:Npm/*:dependencies";
    let of = |tool: &str| install.replace("Npm", tool);
    let (pnpm, yarn, bun) = (of("Pnpm"), of("Yarn"), of("Bun"));
    let test = format!("{install} recipe:Npm:test");
    let pack = "recipe:Npm/*:prepublishOnly recipe:Npm/*:prepack recipe:Npm/*:prepare recipe:Npm/*:postpack recipe:Npm/*:publish";
    check(
        &[
            ("npm ci", install),
            ("npm i --no-audit", install),
            ("npm it", &test),
            ("npm i left-pad", ""),
            ("npm ci --ignore-scripts", ""),
            ("npm pack", pack),
            ("npm version patch", "recipe:Npm/*:version"),
            ("npm restart", "recipe:Npm:restart recipe:Npm:stop recipe:Npm:start"),
            ("npm", ""),
            ("pnpm install --frozen-lockfile", &pnpm),
            ("yarn", &yarn),
            ("bun install", &bun),
            ("npm run x -w a", "recipe:Npm/*:x"),
            ("npm test --workspaces", "recipe:Npm/*:test"),
            ("pnpm -r run x", "recipe:Pnpm/*:x"),
            ("pnpm --filter=a x", "recipe:Pnpm/*:x"),
            ("yarn workspace a x", "recipe:Yarn/*:x"),
            ("yarn workspaces foreach -A run x", "recipe:Yarn/*:x"),
            ("npm run x -- -w a", "recipe:Npm:x"),
            ("run-s a b:*", "recipe:Npm:a recipe:Npm:b:*"),
            ("npm-run-all --parallel a 'b -- c'", "recipe:Npm:a recipe:Npm:b"),
            ("concurrently npm:x 'sh a.sh' ./b.sh", "recipe:Npm:x a.sh b.sh"),
            ("concurrently -k -n 'a b' 'bun:x --fast'", "recipe:Bun:x"),
        ],
        read,
    );
}

#[test]
fn options_set_the_directory_of_what_runs() {
    check(
        &[
            ("uv --directory d run a.py", "d/a.py"),
            ("uv run --directory d sh a.sh", "d/a.sh"),
            ("bun --cwd d a.ts", "d/a.ts"),
            ("bun --cwd=d run a.ts", "d/a.ts"),
            ("ruby -C d a.rb", "d/a.rb"),
            ("env -Cd sh a.sh", "d/a.sh"),
            ("env -iC d sh a.sh", "d/a.sh"),
            ("sudo -Dd sh a.sh", "d/a.sh"),
            ("sudo -nu me sh a.sh", "a.sh"),
            ("npm --prefix d exec -- sh a.sh", "package:sh d/a.sh"),
            ("npm --prefix d ls; sh a.sh", "a.sh"),
        ],
        read,
    );
    let directory = |text: &str| {
        let line = read_command(text, &context()).unwrap();
        let is_recipe = |target: &StartTarget| matches!(target, StartTarget::Recipe { .. });
        line.programs.iter().find(|one| one.starts.iter().any(is_recipe)).unwrap().directory.to_string()
    };
    for (text, expected) in [
        ("make -C d -C e lint", "d/e"),
        ("make -f d/a.mk lint", "."),
        ("just -f d/justfile lint", "d"),
        ("just -d e -f d/justfile lint", "e"),
        ("task -t d/x.yml lint", "d"),
        ("deno task --cwd d lint", "d"),
        ("deno task --config d/deno.json lint", "d"),
        ("bun --cwd d run lint", "d"),
        ("npm --prefix d run lint", "d"),
    ] {
        assert_eq!(directory(text), expected, "{text}");
    }
}

#[test]
fn programs_load_files_with_attached_and_late_options() {
    check(
        &[
            ("tsx watch -r ./r.ts a.ts", "r.ts a.ts"),
            ("op run --env-file .env -- sh a.sh", "env:.env a.sh"),
            ("deno run --env-file a.ts", "a.ts"),
            ("sed -fd/a.sed f", "d/a.sed"),
            ("sed -E -f a.sed f", "a.sed"),
            ("sed -i '' -f a.sed f", "a.sed"),
            ("sed -i '' 's/a/b/' f", ""),
            ("parallel -a a.sh", "a.sh"),
            ("parallel :::: a.sh", "a.sh"),
            ("parallel ::: ./a.sh 'sh b.sh'", "a.sh b.sh"),
            ("parallel", "Dynamic(parallel)"),
            ("parallel -a names echo", ""),
        ],
        read,
    );
}
