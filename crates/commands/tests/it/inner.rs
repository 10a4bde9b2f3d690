//! The wrapper rule alone, and variables.

use plugward_commands::{
    InnerPart, PackagePrecision, PackageRegistry, ProgramRole, VariableEffect, inner_command, precision,
    read_variable,
};

use crate::support::{context, target};

fn parts(text: &str) -> Vec<InnerPart> {
    let words: Vec<Option<&[u8]>> = text.split('|').map(|word| Some(word.as_bytes())).collect();
    inner_command(&words).parts
}

#[test]
fn programs_that_start_programs_are_known() {
    let plain = [
        "sudo",
        "doas",
        "env",
        "command",
        "builtin",
        "exec",
        "nohup",
        "nice",
        "ionice",
        "time",
        "stdbuf",
        "setsid",
        "busybox",
        "toybox",
        "strace",
        "unshare",
        "xargs",
        "parallel",
        "systemd-run",
        "firejail",
        "ltrace",
        "rlwrap",
        "eatmydata",
        "entr",
        "nsenter",
        "tsocks",
        "dbus-run-session",
        "prlimit",
        "numactl",
        "setarch",
        "linux32",
        "linux64",
        "valgrind",
        "pkexec",
        "unbuffer",
        "catchsegv",
        "proot",
        "chronic",
        "torsocks",
        "proxychains",
        "proxychains4",
        "caffeinate",
        "fakeroot",
        "noglob",
        "nocorrect",
        "coproc",
        "corepack",
    ];
    for name in plain {
        assert_eq!(parts(&format!("{name}|prog|a")), [InnerPart::Words { from: 1, to: 3 }], "{name}");
    }
    for name in ["timeout", "chroot", "taskset", "flock", "faketime", "chrt", "gosu", "su-exec"] {
        assert_eq!(parts(&format!("{name}|x|prog|a")), [InnerPart::Words { from: 2, to: 4 }], "{name}");
    }
    for name in
        ["poetry", "pipenv", "pdm", "rye", "hatch", "conda", "mamba", "micromamba", "pixi", "volta", "uv"]
    {
        assert_eq!(parts(&format!("{name}|run|prog|a")), [InnerPart::Words { from: 2, to: 4 }], "{name}");
    }
    for name in ["bundle", "mise", "asdf", "rbenv", "pyenv", "fnm", "nvm"] {
        assert_eq!(parts(&format!("{name}|exec|prog|a")), [InnerPart::Words { from: 2, to: 4 }], "{name}");
    }
    assert_eq!(parts("sudo|-u|me|-E|prog"), [InnerPart::Words { from: 4, to: 5 }]);
    assert_eq!(parts("unknown|--exec=sh x"), [InnerPart::Text { word: 1, offset: 7 }]);
    assert_eq!(parts("env|-Ssh x"), [InnerPart::Text { word: 1, offset: 2 }]);
}

#[test]
fn words_that_start_nothing_are_no_commands() {
    for text in [
        "sudo|-l",
        "command|-v|sh",
        "echo|sh|-c|x",
        "git|commit|-m|sh x",
        "grep|-e|bash -c",
        "unknown|prog|a",
        "docker|run|img|/projects",
    ] {
        assert_eq!(parts(text), [], "{text}");
    }
    assert_eq!(
        inner_command(&[None, Some(b"sh"), Some(b"-c"), None]).parts,
        [InnerPart::Words { from: 1, to: 4 }]
    );
    assert_eq!(inner_command(&[Some(b"\xff"), None]).role, ProgramRole::Other);
    assert_eq!(inner_command(&[]).parts, []);
}

#[test]
fn a_wrapped_server_is_judged_as_its_command() {
    let server = [InnerPart::Words { from: 6, to: 9 }];
    assert_eq!(parts("plugward|mcp|run|--name|fs|--|npx|-y|server"), server);
    assert_eq!(parts("/usr/bin/plugward|mcp|run|--name|fs|--|npx|-y|server"), server);
    assert_eq!(parts("plugward|run|--|claude"), [InnerPart::Words { from: 3, to: 4 }]);
    for text in [
        "plugward|mcp|run|db@acme/db",
        "plugward|check|plugins",
        "plugward|mcp|run|--name|fs|--",
        "plugward|command|run|evil|--|node|ok.js",
    ] {
        assert!(parts(text).is_empty(), "{text}");
    }
}

#[test]
fn variables_have_effects() {
    for (name, value, effect, starts) in [
        ("BASH_ENV", ".claude/b.sh", VariableEffect::Hijack, ".claude/b.sh"),
        ("BASH_ENV", "", VariableEffect::Nothing, ""),
        ("ENV", "production", VariableEffect::Nothing, ""),
        ("ENV", "./x", VariableEffect::Hijack, "x"),
        ("NODE_OPTIONS", "--require ./x.js", VariableEffect::Hijack, "x.js"),
        ("NODE_OPTIONS", "--import=file:///x.mjs", VariableEffect::Hijack, "/x.mjs"),
        ("NODE_OPTIONS", "--inspect=0.0.0.0", VariableEffect::Hijack, ""),
        ("NODE_OPTIONS", "--max-old-space-size=4096", VariableEffect::Nothing, ""),
        ("EDITOR", "vim", VariableEffect::Nothing, ""),
        ("EDITOR", "code --wait", VariableEffect::Nothing, ""),
        ("EDITOR", "./x.sh", VariableEffect::Hijack, "code:Shell x.sh"),
        ("GIT_SSH_COMMAND", "sh a.sh", VariableEffect::Hijack, "code:Shell a.sh"),
        ("GIT_CONFIG_COUNT", "1", VariableEffect::Hijack, ""),
        ("GIT_CONFIG_GLOBAL", "x/gitconfig", VariableEffect::Hijack, "x/gitconfig"),
        ("GIT_AUTHOR_NAME", "me", VariableEffect::Nothing, ""),
        ("PATH", ".claude/bin:$PATH", VariableEffect::SearchPath, "glob:.claude/bin/*"),
        ("PATH", "./node_modules/.bin:${PATH}", VariableEffect::Nothing, ""),
        ("PYTHONPATH", "lib", VariableEffect::AddsFiles, "glob:lib/*"),
        ("PIP_INDEX_URL", "https://x.example", VariableEffect::Registry, ""),
        ("HTTPS_PROXY", "http://x.example", VariableEffect::Proxy, ""),
        ("NODE_EXTRA_CA_CERTS", "x.pem", VariableEffect::Certificate, ""),
        ("FOO", "sh a.sh", VariableEffect::Nothing, ""),
        ("npm_config_script_shell", "./x.sh", VariableEffect::Hijack, "code:Shell x.sh"),
        ("npm_config_script_shell", "/bin/bash", VariableEffect::Nothing, ""),
        ("npm_config_node_options", "--require ./x.js", VariableEffect::Hijack, "x.js"),
        ("BASH_FUNC_ls%%", "() { sh x.sh; }", VariableEffect::Hijack, "code:Shell x.sh"),
        ("SHELL", "/usr/bin/zsh", VariableEffect::Nothing, ""),
        ("SHELL", "zsh", VariableEffect::Nothing, ""),
        ("SHELL", "/usr/bin/../../x", VariableEffect::Hijack, "code:Shell /usr/bin/../../x"),
        ("CLAUDE_CODE_SHELL", "./x", VariableEffect::Hijack, "code:Shell x"),
        ("RUSTC_WRAPPER", "sccache", VariableEffect::Nothing, ""),
        ("RUSTC_WRAPPER", "./x", VariableEffect::Hijack, "code:Shell x"),
        ("MAKEFILES", "x y.mk", VariableEffect::Hijack, "y.mk"),
        ("MAKEFLAGS", "-j4 --no-print-directory", VariableEffect::Nothing, ""),
        ("MAKEFLAGS", "--eval=$(shell", VariableEffect::Hijack, ""),
        ("GOFLAGS", "-mod=mod", VariableEffect::Nothing, ""),
        ("GOFLAGS", "-toolexec=./x", VariableEffect::Hijack, "x"),
        ("JAVA_TOOL_OPTIONS", "-Dfile.encoding=UTF-8 -Xmx2g", VariableEffect::Nothing, ""),
        ("_JAVA_OPTIONS", "-javaagent:./x.jar=a.b", VariableEffect::Hijack, "x.jar"),
        ("JDK_JAVA_OPTIONS", "@args.txt", VariableEffect::Hijack, "args.txt"),
        ("MAVEN_OPTS", "-Xbootclasspath/a:x.jar:y.jar", VariableEffect::Hijack, "x.jar y.jar"),
        ("GRADLE_OPTS", "-XX:OnOutOfMemoryError=./x", VariableEffect::Hijack, "x"),
        ("RUBYOPT", "-W0 --yjit", VariableEffect::Nothing, ""),
        ("RUBYOPT", "-w -r./x.rb", VariableEffect::Hijack, "x.rb"),
        ("RUBYOPT", "-r ./x.rb", VariableEffect::Hijack, "x.rb"),
        ("RUBYOPT", "-rbundler/setup", VariableEffect::Hijack, "module:bundler/setup"),
        ("PERL5OPT", "-Ilib -Mx", VariableEffect::Hijack, "glob:lib/* module:x"),
        ("PYTEST_ADDOPTS", "-q --tb=short -p no:cacheprovider", VariableEffect::Nothing, ""),
        ("PYTEST_ADDOPTS", "-p x", VariableEffect::Hijack, "module:x"),
        ("PYTHONBREAKPOINT", "0", VariableEffect::Nothing, ""),
        ("PYTHONBREAKPOINT", "x.y", VariableEffect::Hijack, "module:x.y"),
        ("BROWSER", "firefox", VariableEffect::Nothing, ""),
        ("BROWSER", "./x", VariableEffect::Hijack, "code:Shell x"),
        ("MANPAGER", "less -R", VariableEffect::Nothing, ""),
        ("LESSOPEN", "|./x.sh %s", VariableEffect::Hijack, "code:Shell x.sh"),
        ("SSH_ASKPASS", "./x", VariableEffect::Hijack, "code:Shell x"),
        ("DOTNET_STARTUP_HOOKS", "./a.dll:b.dll", VariableEffect::Hijack, "a.dll b.dll"),
        ("LUA_INIT", "@x.lua", VariableEffect::Hijack, "x.lua"),
        ("LUA_INIT", "os.execute('sh x.sh')", VariableEffect::Hijack, "code:Other"),
        ("PHPRC", "x/php.ini", VariableEffect::Hijack, "x/php.ini"),
        ("PHP_INI_SCAN_DIR", "x", VariableEffect::Hijack, "glob:x/*"),
        ("R_PROFILE_USER", "x.R", VariableEffect::Hijack, "x.R"),
        ("VIMINIT", "source x.vim", VariableEffect::Hijack, "x.vim"),
        ("YARN_YARN_PATH", "x.cjs", VariableEffect::Hijack, "x.cjs"),
    ] {
        let reading = read_variable(name, value, &context()).unwrap();
        let found: Vec<String> = reading.starts.iter().map(target).collect();
        assert_eq!((reading.effect, found.join(" ").as_str()), (effect, starts), "{name}={value}");
    }
    assert_eq!(read_variable("BASH_ENV", "$X/b.sh", &context()).unwrap().open_words.len(), 1);
}

#[test]
fn references_have_a_precision() {
    let sha = "0123456789abcdef0123456789abcdef01234567";
    let git = format!("git+https://x.example/r.git#{sha}");
    for (registry, reference, expected) in [
        (PackageRegistry::Npm, "a@1.2.3", PackagePrecision::Version),
        (PackageRegistry::Npm, "@s/a@1.2.3-rc.1", PackagePrecision::Version),
        (PackageRegistry::Npm, "a@^1.2.3", PackagePrecision::Floating),
        (PackageRegistry::Npm, "é", PackagePrecision::Floating),
        (PackageRegistry::Npm, "", PackagePrecision::Floating),
        (PackageRegistry::Npm, &git, PackagePrecision::Digest),
        (PackageRegistry::PyPi, "a==1.2", PackagePrecision::Version),
        (PackageRegistry::PyPi, "a==1.*", PackagePrecision::Floating),
        (PackageRegistry::Image, "a:1.2", PackagePrecision::Version),
        (PackageRegistry::Image, "a@sha256:12", PackagePrecision::Floating),
        (PackageRegistry::Go, "x.example/a@v1.2.3", PackagePrecision::Version),
        (PackageRegistry::Go, "x.example/a@latest", PackagePrecision::Floating),
        (PackageRegistry::Deno, "npm:a@1.2.3", PackagePrecision::Version),
        (PackageRegistry::Deno, "jsr:@s/a", PackagePrecision::Floating),
    ] {
        assert_eq!(precision(registry, reference), expected, "{reference}");
    }
}
