//! Checks of the value of a `key` rule beyond its pattern. Only the key and value are examined.

use plugward_types::{Address, Part};

use crate::known::hosts::{self, Hosts};
use crate::known::modules;
use crate::rules::KeyCheck;

/// Returns `true` if a value passes a check.
pub(crate) fn holds(check: KeyCheck, name: &[u8], value: &[u8], file: &str) -> bool {
    match check {
        KeyCheck::Outside => is_outside(value, file),
        KeyCheck::ForeignIndex => foreign(value, Hosts::Indexes) && !is_vendors(value),
        KeyCheck::ForeignApi => foreign(value, Hosts::Models),
        KeyCheck::Script => !is_setup(value),
        KeyCheck::Program => !is_switch(value),
        KeyCheck::Hijack => is_hijack(name, value),
        KeyCheck::KeyFile => is_secret_file(value),
        KeyCheck::Address => names_address(value),
        KeyCheck::Task => !is_build_tool(value),
    }
}

/// Places of settings for all projects, arguments of a program, and removals of a setting.
const EVERYWHERE: &[&str] =
    plugward_types::words!["~/ $HOME ${HOME} homedir expanduser Path.home USERPROFILE /etc/"];
const ARGUMENTS: &[&str] =
    plugward_types::words!["$1 $2 ${1 ${2 $@ process.argv sys.argv argparse parseArgs del( .pop("];

/// Returns `true` if a program writes settings of the project with a value that its user gives as an argument.
pub(crate) fn is_given(text: &[u8]) -> bool {
    let has = |parts: &[&str]| parts.iter().any(|part| memchr::memmem::find(text, part.as_bytes()).is_some());
    has(ARGUMENTS)
        && !has(EVERYWHERE)
        && !hosts::addresses(text).any(|address| address.is_well_formed() && !address.is_loopback())
}

/// Returns `true` if the text after the name of a setting turns it off: `": false`.
pub(crate) fn is_switched_off(rest: &[u8]) -> bool {
    let rest = rest.trim_ascii_start();
    let rest =
        rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest).trim_ascii_start();
    let value = rest.strip_prefix(b":").or_else(|| rest.strip_prefix(b"=")).map(<[u8]>::trim_ascii_start);
    value.is_some_and(|value| value.starts_with(b"false") || value.starts_with(b"False"))
}

/// Returns `true` if a word of a text is a public IP address, alone or as a host.
fn names_address(value: &[u8]) -> bool {
    value.split(|byte| matches!(byte, b' ' | b'=' | b'@' | b'"' | b'\'')).any(|word| {
        let host = word.split(|byte| matches!(byte, b':' | b'/' | b'?')).next().unwrap_or(word);
        host.split(|byte| *byte == b'.').count() == 4
            && host.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
            && core::str::from_utf8(host)
                .is_ok_and(|host| hosts::is_public_ip(&Address::parse(&format!("https://{host}"))))
    })
}

/// Patterns of the lines that name the accounts of a settings file, as `sed`, `grep` and `awk` get them.
const NAMES: &[&[u8]] =
    &[b"^\\[", b"s/^\\[", b"/^\\[/", b"^current-context:", b"/^current-context:/", b"s/^current-context:"];

/// Returns `true` if the arguments of a filter select nothing but the names of accounts: the heads of sections.
fn prints_names(args: &[u8]) -> bool {
    let Some(end) = args.iter().rposition(|byte| *byte == b' ') else { return false };
    let (mut rest, file) = (args.part(..end), args.rest(end.saturating_add(1)));
    let mut is_quiet = false;
    while let Some(option) = rest.strip_prefix(b"-") {
        let length = option.iter().position(|byte| *byte == b' ').unwrap_or(option.len());
        let letters = option.part(..length);
        if !letters.iter().all(|letter| b"EhnoPrs".contains(letter)) {
            return false;
        }
        is_quiet |= letters.contains(&b'n');
        rest = option.part(length..).trim_ascii_start();
    }
    let is_account = [&b".aws/"[..], b".kube/config", b"/gcloud/"]
        .iter()
        .any(|place| memchr::memmem::find(file, place).is_some());
    // `sed` prints every other line too, unless an option turns that off.
    let is_whole = rest.starts_with(b"s/") && !is_quiet;
    is_account
        && !is_whole
        && NAMES.iter().any(|pattern| rest.starts_with(pattern))
        && !rest.iter().any(|byte| b";|\n~".contains(byte))
}

/// Returns `true` if a text names a secret file other than the public half of a key and the public files next to keys.
fn is_secret_file(value: &[u8]) -> bool {
    if prints_names(value) {
        return false;
    }
    let lower = value.to_ascii_lowercase();
    let holds = |part: &[u8], word: &str| memchr::memmem::find(part, word.as_bytes()).is_some();
    let is_key = |part: &[u8]| {
        [".ssh", "id_rsa", "id_ed25519", "id_ecdsa", "id_dsa"].iter().any(|word| holds(part, word))
    };
    let is_public = |part: &[u8]| {
        part.ends_with(b".pub") || part.ends_with(b"known_hosts") || part.ends_with(b".ssh/config")
    };
    let parts = || lower.split(|byte| matches!(byte, b' ' | b'"' | b'\'' | b'=' | b',' | b';' | b'(' | b')'));
    let keys = parts().filter(|part| is_key(part)).count();
    let public = parts().filter(|part| is_key(part) && is_public(part)).count();
    let others: &[&str] = plugward_types::words![
        "aws netrc npmrc git-credentials hosts.yml kube docker gnupg shadow cookies keychain wallet environ history",
        "/proc/ gcloud",
    ];
    keys > public || holds(&lower, "login data") || others.iter().any(|word| holds(&lower, word))
}

/// Returns `true` if a command gets nothing but exact versions of a scope's packages from the scope's own host.
fn is_vendors(args: &[u8]) -> bool {
    let Ok(text) = core::str::from_utf8(args) else { return false };
    let scope_of = |word: &'_ str| -> Option<String> {
        let (scope, package) = word.strip_prefix('@')?.split_once('/')?;
        let (_, version) = package.split_once('@')?;
        let exact =
            version.split('.').count() == 3 && version.split('.').all(|part| part.parse::<u32>().is_ok());
        exact.then(|| scope.to_owned())
    };
    let others = || text.split_whitespace().filter(|word| !word.starts_with('-') && !word.contains("://"));
    let Some(scope) = others().next().and_then(scope_of) else { return false };
    others().all(|word| scope_of(word).as_deref() == Some(&scope))
        && hosts::addresses(args).all(|address| {
            address.is_well_formed()
                && address.host().is_some_and(|host| host.rsplit('.').nth(1) == Some(scope.as_str()))
        })
}

/// Returns `true` for a compiler, linter or test runner of the project, without shell syntax.
fn is_build_tool(command: &[u8]) -> bool {
    const TOOLS: &[&str] = plugward_types::words![
        "tsc vue-tsc svelte-check eslint biome prettier vite vitest jest webpack rollup tsup esbuild next astro",
    ];
    let Ok(text) = core::str::from_utf8(command) else { return false };
    let mut words = text.split_whitespace().peekable();
    words.next_if(|word| matches!(*word, "npx" | "pnpm" | "yarn" | "bunx"));
    words.next().is_some_and(|tool| TOOLS.contains(&tool))
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" -_=./:".contains(&byte))
}

/// Returns `true` if a text names hosts, and one of them is neither known nor this machine.
fn foreign(value: &[u8], known: Hosts) -> bool {
    let text = String::from_utf8_lossy(value.trim_ascii());
    let whole = Address::parse(&text);
    let is_whole = match hosts::addresses(value).next() {
        // The slashes before a host are optional.
        None => hosts::is_web(&whole),
        // A removed line break continues the first line, which then is a user name if an `@` follows.
        Some(first) => {
            text.contains('\n')
                && text.contains('@')
                && whole.host().is_some_and(|host| first.host() != Some(host))
        }
    };
    // A host without a scheme, for a key that accepts only hosts.
    let is_host = text.contains('.')
        && !text.contains("//")
        && !text.starts_with(['.', '/'])
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'/'));
    let bare = (is_host && !is_whole).then(|| Address::parse(&format!("https://{text}")));
    // Without a scheme, a client uses that of the page or its default.
    let relative = memchr::memmem::find_iter(value, b"//")
        .filter(|at| at.checked_sub(1).and_then(|at| value.get(at)) != Some(&b':'))
        .filter_map(|at| hosts::addresses(&[b"https:", value.get(at..)?].concat()).next());
    let is_foreign = |address: Address| address.host_text() != Some("") && !hosts::is_known(&address, known);
    hosts::addresses(value)
        .chain(relative)
        .chain(bare)
        .chain(Some(whole).filter(|_| is_whole))
        .any(is_foreign)
}

/// Returns `true` if a path, or a `file:`, `link:` or `path+file:` URL, leaves the plugin.
fn is_outside(value: &[u8], file: &str) -> bool {
    let Ok(text) = core::str::from_utf8(value.trim_ascii()) else { return false };
    let schemes = ["path+file://", "file://", "file:", "link:", "portal:"];
    let text = schemes.iter().find_map(|scheme| text.strip_prefix(scheme)).unwrap_or(text);
    if text.starts_with('~') {
        return true;
    }
    modules::leaves_plugin(file, text.as_bytes())
}

/// Returns `true` for tools that set up the author's own checkout.
fn is_setup(value: &[u8]) -> bool {
    let text = value.trim_ascii();
    matches!(
        text,
        b"" | b"husky"
            | b"husky install"
            | b"husky || true"
            | b"is-ci || husky"
            | b"is-ci || husky install"
            | b"husky install || true"
            | b"lefthook install"
            | b"simple-git-hooks"
            | b"node-gyp rebuild"
            | b"node-gyp-build"
            | b"patch-package"
            | b"true"
            | b"exit 0"
    )
}

/// Returns `true` for a switch in place of a program, and for programs of git or known for this use.
fn is_switch(value: &[u8]) -> bool {
    let text = value.trim_ascii().to_ascii_lowercase();
    matches!(
        text.as_slice(),
        b"" | b"true" | b"false" | b"on" | b"off" | b"yes" | b"no" | b"1" | b"0" | b"cat"
    ) || text.starts_with(b"git-lfs ")
        && text.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b' ' | b'%'))
}

/// Options that tune a runtime and load nothing.
const TUNING: &[&[u8]] = plugward_types::byte_words![
    "--enable-source-maps --stack-trace-limit --unhandled-rejections --throw-deprecation",
    "--pending-deprecation --dns-result-order --openssl-legacy-provider --experimental-vm-modules",
    "--experimental-strip-types --experimental-transform-types --experimental-wasm-modules",
    "--experimental-json-modules --experimental-fetch --experimental-global-webcrypto",
    "--experimental-webstorage --experimental-sqlite --experimental-require-module",
    "--experimental-import-meta-resolve --experimental-specifier-resolution --expose-gc --preserve-symlinks",
    "--disable-warning --abort-on-uncaught-exception --use-system-ca",
];

/// Prefixes of such options.
const TUNING_HEADS: &[&[u8]] = &[b"--max-", b"--no-", b"--trace-", b"--report-", b"--heapsnapshot-"];

/// Returns `true` if a word of `NODE_OPTIONS` only tunes, or is the previous value of the variable.
fn is_tuning(word: &[u8]) -> bool {
    let mut option = word.split(|byte| *byte == b'=').next().unwrap_or(word).to_ascii_lowercase();
    option.iter_mut().filter(|byte| **byte == b'_').for_each(|byte| *byte = b'-');
    let before = matches!(word, b"$NODE_OPTIONS" | b"${NODE_OPTIONS}" | b"${NODE_OPTIONS:-}");
    before
        || TUNING.contains(&option.as_slice())
        || TUNING_HEADS.iter().any(|head| option.starts_with(head))
        || word.iter().all(u8::is_ascii_digit)
}

fn words(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

fn holds_any(value: &[u8], parts: &[&[u8]]) -> bool {
    parts.iter().any(|part| memchr::memmem::find(value, part).is_some())
}

/// Returns `true` if a program or file is relative to the working directory, or in a directory that everyone can write to.
fn is_loose(value: &[u8]) -> bool {
    let start = value.iter().position(|byte| !matches!(byte, b'|' | b'-' | b' ' | b'"' | b'\''));
    let path = value.part(start.unwrap_or(value.len())..);
    [b"./".as_slice(), b"../", b"/tmp/", b"/var/tmp/", b"/dev/shm/", b"$TMPDIR/", b"${TMPDIR}/"]
        .iter()
        .any(|head| path.starts_with(head))
}

/// Returns `true` if options of a Java VM load an agent or start a program.
fn brings_agent(value: &[u8]) -> bool {
    words(value).any(|word| {
        holds_any(word, &[b"-javaagent:", b"-agentpath:", b"-Xbootclasspath", b"-XX:OnError="])
            || holds_any(word, &[b"-agentlib:"]) && !holds_any(word, &[b"-agentlib:jdwp"])
    })
}

/// Returns `true` if options of Ruby load a file or change the library path.
fn requires_file(value: &[u8]) -> bool {
    words(value).any(|word| {
        let file = word.strip_prefix(b"-r");
        word.starts_with(b"-I")
            || file.is_some_and(|file| matches!(file.first(), None | Some(b'.' | b'/' | b'~' | b'$')))
    })
}

/// Variables that name a program, file or directory, which is harmless at its usual place.
const PROGRAMS: &[&[u8]] = plugward_types::byte_words![
    "GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_SSH GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_PAGER PAGER MANPAGER",
    "EDITOR VISUAL SUDO_EDITOR BROWSER LESSOPEN LESSCLOSE GCONV_PATH OPENSSL_ENGINES OPENSSL_MODULES ZDOTDIR",
    "PYTHONHOME PHPRC PHP_INI_SCAN_DIR R_PROFILE_USER CORECLR_PROFILER_PATH COR_PROFILER_PATH",
    "NPM_CONFIG_SCRIPT_SHELL",
];

/// Returns whether a value loads code, as the variable's name decides; `None` for a variable that always loads code.
fn by_name(name: &[u8], value: &[u8]) -> Option<bool> {
    let answer = match name.to_ascii_uppercase().as_slice() {
        b"NODE_OPTIONS" | b"NODE-OPTIONS" => !words(value).all(is_tuning),
        b"RUBYOPT" => requires_file(value),
        b"JAVA_TOOL_OPTIONS" | b"_JAVA_OPTIONS" | b"JDK_JAVA_OPTIONS" => brings_agent(value),
        b"MAKEFLAGS" | b"GNUMAKEFLAGS" => holds_any(value, &[b"--eval"]),
        b"GOFLAGS" => holds_any(value, &[b"-toolexec"]),
        b"ERL_FLAGS" | b"ERL_AFLAGS" | b"ERL_ZFLAGS" => holds_any(value, &[b"-eval ", b"-run "]),
        b"VIMINIT" | b"GVIMINIT" | b"EXINIT" => holds_any(value, &[b"!", b"system("]),
        b"PYTHONBREAKPOINT" => [b"os.".as_slice(), b"subprocess.", b"pty.", b"posix.", b"code."]
            .iter()
            .any(|head| value.starts_with(head)),
        b"PYTHONWARNINGS" => holds_any(value, &[b"antigravity"]),
        b"BUN_OPTIONS" => words(value).any(|word| word == b"-r" || word.starts_with(b"--preload")),
        name if PROGRAMS.contains(&name) => is_loose(value),
        _ => return None,
    };
    Some(answer)
}

/// Module directories of the project itself: relative to one of its variables, or at a container's usual path.
const OWN: &[&[u8]] =
    &[b"CLAUDE_PLUGIN_ROOT", b"workspaceFolder", b"workspaceRoot", b"containerWorkspaceFolder", b"PWD"];
const CONTAINER: &[&[u8]] = &[b"/app", b"/code", b"/src", b"/workspace", b"/workspaces", b"/usr/src"];

fn is_own(part: &[u8]) -> bool {
    let braced = part.strip_prefix(b"${").and_then(|rest| {
        let end = memchr::memchr(b'}', rest)?;
        Some((rest.get(..end)?, rest.get(end.checked_add(1)?..)?))
    });
    let bare = part.strip_prefix(b"$").map(|rest| {
        let end = rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        rest.parts_at(end.unwrap_or(rest.len()))
    });
    let tail = |rest: &[u8]| rest.is_empty() || rest.starts_with(b"/");
    braced.or(bare).is_some_and(|(name, rest)| OWN.contains(&name) && tail(rest))
        || CONTAINER.iter().any(|place| part.strip_prefix(*place).is_some_and(tail))
}

fn is_hijack(name: &[u8], value: &[u8]) -> bool {
    if !name.is_empty() && name.iter().all(u8::is_ascii_digit) {
        // `NAME=value` as an item of a list.
        let at = memchr::memchr(b'=', value).unwrap_or(value.len());
        let rest = value.part(at.saturating_add(1)..);
        return is_hijack(value.part(..at), rest);
    }
    let value = value.trim_ascii();
    if name.eq_ignore_ascii_case(b"ENV") {
        // A shell reads the named file; most values without a slash are ordinary words.
        return memchr::memchr(b'/', value).is_some();
    }
    if value.is_empty() {
        return false;
    }
    if let Some(answer) = by_name(name, value) {
        return answer;
    }
    if name.eq_ignore_ascii_case(b"PYTHONPATH") {
        // The project's own modules are not a foreign path.
        return !value.split(|byte| *byte == b':').all(|part| {
            let same = matches!(part, b"" | b"." | b"$PYTHONPATH" | b"${PYTHONPATH}");
            let relative = part.first().is_some_and(u8::is_ascii_alphanumeric) || part.starts_with(b"./");
            let up = part.split(|byte| *byte == b'/').any(|piece| piece == b"..");
            (is_own(part) || same || relative) && !up
        });
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_known_by_their_whole_name() {
        for url in [
            "https://registry.npmjs.org/",
            "http://localhost:4873",
            "http://127.0.0.1/",
            "https://github.com/rust-lang/crates.io-index",
            "sparse+https://index.crates.io/",
            "registry.npmjs.org",
            "${INDEX}",
            "off",
        ] {
            assert!(!foreign(url.as_bytes(), Hosts::Indexes), "{url}");
        }
        for url in [
            "https://registry.npmjs.org.evil.example/",
            "https://registry.npmjs.org@evil.example/",
            "https://evil.example/registry.npmjs.org",
            "http://127.0.0.1.evil.example/",
            "https://github.com/evil/crates.io-index",
            "https://pypi.org/simple https://evil.example/simple",
            "//evil.example/",
            "evil.example",
            "HTTPS://EVIL.EXAMPLE",
            "https://registry.npmjs.org\\@evil.example",
            "https://registry.npmjs.org,@evil.example",
            "https:evil.example",
            "file:///tmp/index",
            "https:\\\\evil.example",
            "https://registry.npmjs.org\n@evil.example",
        ] {
            assert!(foreign(url.as_bytes(), Hosts::Indexes), "{url}");
        }
        assert!(!foreign(b"https://api.anthropic.com/v1", Hosts::Models));
        assert!(foreign(b"https://api-anthropic.com/v1", Hosts::Models));
        assert!(foreign(b"https://evilanthropic.com", Hosts::Models));
    }

    #[test]
    fn variables_are_judged_by_what_they_bring_in() {
        for (name, value) in [
            ("NODE_OPTIONS", "--max-old-space-size=4096 --no-warnings"),
            ("NODE_OPTIONS", ""),
            ("ENV", "production"),
            ("0", "ENV=production"),
            ("PYTHONPATH", "${CLAUDE_PLUGIN_ROOT}/src:$PYTHONPATH"),
            ("PYTHONPATH", "/app:${workspaceFolder}/src:$PWD"),
            ("NODE_OPTIONS", "$NODE_OPTIONS --max_old_space_size 4096 --experimental-vm-modules"),
            ("JAVA_TOOL_OPTIONS", "-Xmx512m -Dfile.encoding=UTF-8 -agentlib:jdwp=transport=dt_socket"),
            ("RUBYOPT", "-W0 -rbundler/setup"),
            ("MAKEFLAGS", "-j4"),
            ("LESSOPEN", "| /usr/bin/lesspipe %s"),
            ("EDITOR", "vim"),
            ("PYTHONBREAKPOINT", "ipdb.set_trace"),
        ] {
            assert!(!is_hijack(name.as_bytes(), value.as_bytes()), "{name}={value}");
        }
        for (name, value) in [
            ("NODE_OPTIONS", "--max-old-space-size=1 --require ./x.js"),
            ("NODE_OPTIONS", "--import=data:text/javascript,0"),
            ("PYTHONPATH", "/tmp/x"),
            ("PYTHONPATH", "${CLAUDE_PLUGIN_ROOT}/../x"),
            ("LD_PRELOAD", "./x.so"),
            ("ENV", "/tmp/x"),
            ("12", "LD_PRELOAD=./x.so"),
            ("PYTHONPATH", "/app/../tmp"),
            ("PYTHONPATH", "/apps"),
            ("PYTHONPATH", "${workspaceFolderX}/src"),
            ("NODE_OPTIONS", "--experimental-loader=./x.mjs"),
            ("NODE_OPTIONS", "--max-old-space-size=4096 -r ./x.js"),
            ("JAVA_TOOL_OPTIONS", "-Xmx1g -javaagent:x.jar"),
            ("RUBYOPT", "-W0 -r./x"),
            ("RUBYOPT", "-I. -rx"),
            ("MAKEFLAGS", "--eval=x"),
            ("LESSOPEN", "|-/tmp/x %s"),
            ("3", "EDITOR=./x"),
            ("PYTHONBREAKPOINT", "os.system"),
            ("DOTNET_STARTUP_HOOKS", "x.dll"),
        ] {
            assert!(is_hijack(name.as_bytes(), value.as_bytes()), "{name}={value}");
        }
    }
}
