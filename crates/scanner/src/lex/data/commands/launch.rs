//! What a command of a manifest starts: inline code, a downloader, or a package without a version.

use plugward_types::Address;

use crate::lex::data::commands::shell::{CommandLine, base, program, split};

/// A set of properties of a hook's or server's command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::lex::data) struct Launch(u8);

impl Launch {
    /// The command contains the code for a shell or interpreter, as in `bash -c "…"`.
    pub(in crate::lex::data) const INLINE: Self = Self(1);
    /// The program downloads from an address in its arguments, as `curl` does.
    pub(in crate::lex::data) const DOWNLOADS: Self = Self(2);
    /// A package runner is used without an exact version, as in `npx server`.
    pub(in crate::lex::data) const UNPINNED: Self = Self(4);
    /// The command does more than run one file inside the plugin's root.
    pub(in crate::lex::data) const MORE: Self = Self(8);

    pub(in crate::lex::data) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn only(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// Returns the properties of a command line. `depth` limits how many commands inside commands are read.
pub(in crate::lex::data) fn judge(line: &CommandLine, depth: usize) -> Launch {
    if let Some(inner) = split_string(&line.words).filter(|_| depth > 0 && !line.more) {
        return judge(&inner, depth.saturating_sub(1)).and(Launch::MORE);
    }
    let words = program(&line.words);
    let mut launch = Launch::default();
    if line.more {
        // Only a shell runs several commands in one line.
        launch = launch.and(Launch::MORE).and(Launch::INLINE);
    } else if !is_own_file(words) {
        launch = launch.and(Launch::MORE);
    }
    let Some((first, args)) = words.split_first() else { return launch };
    let name = base(first);
    if let Some(rest) = plain_command(&name, args) {
        // `cmd /c npx …` is how Windows starts a script, so the words after it are the command.
        let inner = CommandLine { words: rest.to_vec(), more: false };
        return launch.and(judge(&inner, depth));
    }
    if let Some(rest) = run_by(&name, args).filter(|_| depth > 0) {
        // The command that a package manager runs in its environment, or a container runtime in an image.
        let inner = CommandLine { words: rest.to_vec(), more: false };
        let inner = judge(&inner, depth.saturating_sub(1));
        launch = launch.and(inner.only(Launch::INLINE.and(Launch::DOWNLOADS).and(Launch::UNPINNED)));
    }
    if is_downloader(&name) {
        launch = launch.and(Launch::DOWNLOADS);
    }
    if is_unpinned(&name, args) {
        launch = launch.and(Launch::UNPINNED);
    }
    if let Some(code) = inline_code(&name, args) {
        launch = launch.and(Launch::INLINE);
        if depth > 0 {
            let inner = judge(&split(code), depth.saturating_sub(1));
            launch = launch.and(inner.only(Launch::DOWNLOADS.and(Launch::UNPINNED)));
        }
    }
    launch
}

/// Returns the words after `cmd /c` if they form one plain command without operators.
fn plain_command<'a>(name: &[u8], args: &'a [Vec<u8>]) -> Option<&'a [Vec<u8>]> {
    let (option, rest) = args.split_first()?;
    let runs = name == b"cmd" && option.eq_ignore_ascii_case(b"/c");
    let plain =
        |word: &Vec<u8>| !word.is_empty() && !word.iter().any(|byte| b" &|<>^%;\"'`$()\n".contains(byte));
    (runs && rest.len() > 1 && rest.iter().all(plain)).then_some(rest)
}

/// Splits the argument of `env -S "line"` as a shell would.
fn split_string(words: &[Vec<u8>]) -> Option<CommandLine> {
    let (first, args) = words.split_first()?;
    if base(first) != b"env" {
        return None;
    }
    for (arg, next) in args.iter().zip(1_usize..) {
        let glued = arg.strip_prefix(b"-S").or_else(|| arg.strip_prefix(b"--split-string="));
        let apart = matches!(arg.as_slice(), b"-S" | b"--split-string" | b"-vS" | b"-iS");
        if apart || glued.is_some() {
            let text = if apart { args.get(next)?.as_slice() } else { glued? };
            let mut line = split(text);
            let from = next + usize::from(apart);
            line.words.extend(args.get(from..).unwrap_or_default().iter().cloned());
            return Some(line);
        }
        if !arg.starts_with(b"-") && !arg.contains(&b'=') {
            return None;
        }
    }
    None
}

/// Returns the command that `uv run` and similar runners start.
fn run_by<'a>(name: &[u8], args: &'a [Vec<u8>]) -> Option<&'a [Vec<u8>]> {
    let word: &[u8] = match name {
        b"uv" | b"poetry" | b"pipenv" | b"hatch" | b"rye" | b"pdm" | b"pixi" | b"volta" => b"run",
        b"fnm" | b"asdf" | b"mise" | b"nvm" => b"exec",
        b"corepack" => return Some(args).filter(|args| !args.is_empty()),
        b"docker" | b"podman" | b"nerdctl" => return in_image(args),
        _ => return None,
    };
    let mut at = args.iter().position(|arg| arg == word)? + 1;
    while let Some(arg) = args.get(at).filter(|arg| arg.starts_with(b"-")) {
        let valued = matches!(
            arg.as_slice(),
            b"--with"
                | b"--python"
                | b"-p"
                | b"--directory"
                | b"--project"
                | b"--from"
                | b"--extra"
                | b"--group"
                | b"--env-file"
                | b"--package"
                | b"--index"
                | b"--with-requirements"
                | b"--with-editable"
                | b"-e"
                | b"-C"
        );
        at += if valued { 2 } else { 1 };
    }
    args.get(at..).filter(|rest| !rest.is_empty())
}

fn is_downloader(name: &[u8]) -> bool {
    matches!(
        name,
        b"curl"
            | b"wget"
            | b"wget2"
            | b"aria2c"
            | b"lynx"
            | b"http"
            | b"https"
            | b"xh"
            | b"fetch"
            | b"iwr"
            | b"invoke-webrequest"
            | b"invoke-restmethod"
            | b"irm"
            | b"certutil"
            | b"bitsadmin"
            | b"mshta"
            | b"ftp"
            | b"tftp"
            | b"nc"
            | b"ncat"
            | b"netcat"
            | b"socat"
    )
}

/// Drops the version from an interpreter's name: `python3.12` becomes `python`.
fn family(name: &[u8]) -> &[u8] {
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    name.get(..name.len().saturating_sub(digits)).unwrap_or_default()
}

fn is_shell(family: &[u8]) -> bool {
    matches!(
        family,
        b"sh"
            | b"bash"
            | b"zsh"
            | b"dash"
            | b"ksh"
            | b"mksh"
            | b"ash"
            | b"fish"
            | b"csh"
            | b"tcsh"
            | b"rbash"
            | b"nu"
            | b"xonsh"
            | b"elvish"
            | b"osh"
            | b"ysh"
    )
}

/// Returns the code that an interpreter takes from its arguments or its input.
fn inline_code<'a>(name: &[u8], args: &'a [Vec<u8>]) -> Option<&'a [u8]> {
    let family = family(name);
    let mut before: &[u8] = b"";
    for (index, arg) in args.iter().enumerate() {
        if is_code_option(family, arg)? {
            // The code may be part of the option: `--eval=…`.
            let own = memchr::memchr(b'=', arg).and_then(|at| arg.get(at + 1..));
            let next = args.get(index + 1).map_or(b"".as_slice(), Vec::as_slice);
            return Some(own.unwrap_or(next));
        }
        if matches!(arg.as_slice(), b"-" | b"/dev/stdin") {
            return Some(&[]);
        }
        // Options after the script file belong to the script.
        let option = arg.starts_with(b"-") || (family == b"cmd" && arg.starts_with(b"/"));
        let package = matches!(family, b"npx" | b"pnpx") && matches!(before, b"-p" | b"--package");
        if !option && !takes_value(before) && !package {
            return None;
        }
        before = arg;
    }
    None
}

/// Returns `true` if an option of an interpreter takes code; `None` if `family` is not an interpreter.
fn is_code_option(family: &[u8], arg: &[u8]) -> Option<bool> {
    let lower = arg.to_ascii_lowercase();
    let starts = |text: &[u8]| lower.starts_with(text);
    Some(match family {
        _ if is_shell(family) => is_cluster(arg, b'c') || is_cluster(arg, b's'),
        b"cmd" => starts(b"/c") || starts(b"/k") || starts(b"/r"),
        b"powershell" | b"pwsh" => starts(b"-c") || starts(b"/c") || starts(b"-e") && !starts(b"-ex"),
        b"python" | b"pypy" | b"pythonw" | b"py" => is_cluster(arg, b'c'),
        b"node" | b"nodejs" | b"bun" | b"electron" | b"tsx" | b"ts-node" => {
            matches!(lower.as_slice(), b"-e" | b"-p" | b"-pe" | b"-ep")
                || starts(b"--eval")
                || starts(b"--print")
                || memchr::memmem::find(&lower, b"data:").is_some()
        }
        b"deno" => matches!(lower.as_slice(), b"eval" | b"repl") || starts(b"data:"),
        b"perl" | b"ruby" | b"lua" | b"luajit" | b"rscript" | b"osascript" | b"elixir" | b"groovy"
        | b"swift" | b"julia" | b"scala" | b"kotlin" | b"ghc" => is_cluster(&lower, b'e'),
        b"php" => is_cluster(arg, b'r'),
        b"npx" | b"pnpx" => matches!(arg, b"-c" | b"--call") || arg.starts_with(b"--call="),
        b"awk" | b"gawk" | b"mawk" => !arg.starts_with(b"-"),
        _ => return None,
    })
}

/// Returns `true` if an option takes the next argument.
fn takes_value(option: &[u8]) -> bool {
    matches!(option, b"-r" | b"--require" | b"--import" | b"--loader" | b"-W" | b"-X" | b"-I" | b"-o" | b"-O")
}

/// Returns `true` if an option is a cluster of short options that includes `letter`, as in `-lc`.
fn is_cluster(arg: &[u8], letter: u8) -> bool {
    arg.strip_prefix(b"-").is_some_and(|letters| {
        !letters.is_empty()
            && letters.first().is_some_and(u8::is_ascii_alphabetic)
            && letters.iter().take_while(|byte| byte.is_ascii_alphabetic()).any(|byte| *byte == letter)
    })
}

/// Returns `true` if a command only runs a file inside the plugin's root, directly or with an interpreter.
fn is_own_file(words: &[Vec<u8>]) -> bool {
    let Some((first, args)) = words.split_first() else { return false };
    if is_below_root(first) {
        return true;
    }
    let name = base(first);
    let runs_files = is_shell(family(&name))
        || matches!(
            family(&name),
            b"python"
                | b"pypy"
                | b"py"
                | b"node"
                | b"nodejs"
                | b"bun"
                | b"deno"
                | b"ruby"
                | b"perl"
                | b"php"
                | b"tsx"
                | b"ts-node"
                | b"pwsh"
                | b"powershell"
                | b"uv"
        );
    if !runs_files || first.len() != name.len() || inline_code(&name, args).is_some() {
        return false;
    }
    for arg in args {
        match arg.as_slice() {
            b"run" if matches!(name.as_slice(), b"deno" | b"bun" | b"uv") => {}
            b"-r" | b"--require" | b"--import" | b"--loader" | b"--experimental-loader" | b"-m" | b"-i" => {
                return false;
            }
            option if option.starts_with(b"-") => {}
            file => return is_below_root(file) || is_plain_file(file),
        }
    }
    false
}

/// Returns `true` for a bare file name, which is next to the manifest.
fn is_plain_file(word: &[u8]) -> bool {
    memchr::memchr2(b'/', b'\\', word).is_none()
        && memchr::memchr(b'.', word).is_some()
        && memchr::memchr(b'$', word).is_none()
}

/// Variables that hosts replace with the plugin's root.
const ROOTS: &[&[u8]] = &[
    b"CLAUDE_PLUGIN_ROOT",
    b"CODEX_PLUGIN_ROOT",
    b"CURSOR_PLUGIN_ROOT",
    b"GEMINI_PLUGIN_ROOT",
    b"PLUGIN_ROOT",
    b"PLUGIN_DIR",
    b"extensionPath",
    b"pluginRoot",
    b"pluginDir",
];

/// Returns `true` if a word is a path inside the plugin's root: relative, or with a host's variable in front.
fn is_below_root(word: &[u8]) -> bool {
    // `${/}` is VS Code's path separator.
    if memchr::memmem::find(word, b"${/}").is_some() {
        let mut plain = Vec::with_capacity(word.len());
        let mut from = 0_usize;
        for at in memchr::memmem::find_iter(word, b"${/}") {
            plain.extend_from_slice(word.get(from..at).unwrap_or_default());
            plain.push(b'/');
            from = at + 4;
        }
        plain.extend_from_slice(word.get(from..).unwrap_or_default());
        return is_below_root(&plain);
    }
    if word.split(|byte| matches!(byte, b'/' | b'\\')).any(|part| part == b"..") {
        return false;
    }
    for root in ROOTS {
        for (open, close) in [(b"${".as_slice(), b"}".as_slice()), (b"$", b""), (b"%", b"%"), (b"{{", b"}}")]
        {
            let rest = word.strip_prefix(open).and_then(|rest| rest.strip_prefix(*root));
            let rest = rest.and_then(|rest| rest.strip_prefix(close));
            if rest.is_some_and(|rest| matches!(rest.first(), Some(b'/' | b'\\')) && rest.len() > 1) {
                return memchr::memchr(b'$', rest.unwrap_or_default()).is_none();
            }
        }
    }
    let relative = word.strip_prefix(b"./").unwrap_or(word);
    memchr::memchr(b'/', word).is_some()
        && relative.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'))
        && memchr::memchr(b':', word).is_none()
        && memchr::memchr(b'$', word).is_none()
}

/// Returns `true` if a package runner gets a package without an exact version or digest.
fn is_unpinned(name: &[u8], args: &[Vec<u8>]) -> bool {
    let package = |skip: &[&[u8]]| first_package(args, skip);
    match name {
        // These options run an installed package, or nothing.
        b"npx"
            if args.iter().any(|arg| matches!(arg.as_slice(), b"--no-install" | b"--no" | b"--offline")) =>
        {
            false
        }
        b"npx" | b"bunx" | b"pnpx" => named(args, &[b"-p", b"--package"], is_exact_npm)
            .unwrap_or_else(|| package(&[]).is_some_and(|package| !is_exact_npm(package))),
        b"npm" | b"pnpm" | b"yarn" | b"bun" => match first_package(args, &[]) {
            Some(b"exec" | b"x" | b"dlx" | b"create" | b"init") => {
                package(&[b"exec", b"x", b"dlx", b"create", b"init"])
                    .is_some_and(|package| !is_exact_npm(package))
            }
            _ => false,
        },
        b"uvx" => named(args, &[b"--from"], is_exact_python)
            .unwrap_or_else(|| package(&[]).is_some_and(|package| !is_exact_python(package))),
        b"uv" => match first_package(args, &[]) {
            Some(b"tool") => named(args, &[b"--from"], is_exact_python).unwrap_or_else(|| {
                package(&[b"tool", b"run"]).is_some_and(|package| !is_exact_python(package))
            }),
            Some(b"run") => named(args, &[b"--with"], is_exact_python).unwrap_or(false),
            _ => false,
        },
        b"pipx" => named(args, &[b"--spec"], is_exact_python)
            .unwrap_or_else(|| package(&[b"run"]).is_some_and(|package| !is_exact_python(package))),
        b"docker" | b"podman" | b"nerdctl" => image(args).is_some_and(|(image, _)| !is_exact_image(image)),
        b"go" => match first_package(args, &[]) {
            Some(b"run") => package(&[b"run"]).is_some_and(|package| {
                let remote = package
                    .split(|byte| *byte == b'/')
                    .next()
                    .is_some_and(|host| host.len() > 2 && host.contains(&b'.'));
                remote && !version_after(package, b'@').is_some_and(is_exact)
            }),
            _ => false,
        },
        b"deno" => args.iter().any(|arg| match arg.split(|byte| *byte == b':').next() {
            Some(b"npm" | b"jsr") => !version_after(arg, b'@').is_some_and(is_exact),
            Some(b"http" | b"https") => !version_after(arg, b'@')
                .is_some_and(|rest| is_exact(rest.split(|byte| *byte == b'/').next().unwrap_or_default())),
            _ => false,
        }),
        _ => false,
    }
}

/// Returns the first argument that is neither an option nor a subcommand of the runner.
fn first_package<'a>(args: &'a [Vec<u8>], skip: &[&[u8]]) -> Option<&'a [u8]> {
    let mut skip = skip;
    let mut value = false;
    for arg in args {
        if core::mem::take(&mut value) {
            continue;
        }
        if arg.starts_with(b"-") {
            value = matches!(
                arg.as_slice(),
                b"--python"
                    | b"-c"
                    | b"--cache"
                    | b"--registry"
                    | b"--index-url"
                    | b"--prefix"
                    | b"--cwd"
                    | b"-C"
            );
        } else if skip.contains(&arg.as_slice()) {
            skip = skip.get(1..).unwrap_or_default();
        } else {
            return Some(arg);
        }
    }
    None
}

/// Checks the package that an option names. Returns `None` without such an option, otherwise whether it is
/// unpinned.
fn named(args: &[Vec<u8>], options: &[&[u8]], exact: fn(&[u8]) -> bool) -> Option<bool> {
    let mut found = None;
    for (index, arg) in args.iter().enumerate() {
        for option in options {
            let value = if arg == option {
                args.get(index + 1).map(Vec::as_slice)
            } else {
                arg.strip_prefix(*option).and_then(|rest| rest.strip_prefix(b"="))
            };
            if let Some(value) = value {
                found = Some(found.unwrap_or(false) || !exact(value));
            }
        }
    }
    found
}

fn version_after(package: &[u8], mark: u8) -> Option<&[u8]> {
    let at = memchr::memrchr(mark, package)?;
    (at > 0).then(|| package.get(at + 1..)).flatten()
}

/// Returns `true` for a full version or a digest.
fn is_exact(version: &[u8]) -> bool {
    let version = version.strip_prefix(b"v").unwrap_or(version);
    let digest = version.len() >= 40 && version.iter().all(u8::is_ascii_hexdigit);
    let mut parts = version.splitn(3, |byte| *byte == b'.');
    let number = |part: Option<&[u8]>| {
        part.is_some_and(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit))
    };
    let whole = number(parts.next())
        && number(parts.next())
        && parts.next().is_some_and(|last| {
            last.first().is_some_and(u8::is_ascii_digit)
                && last.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+'))
                && !last.ends_with(b".x")
        });
    digest || whole
}

/// Returns `true` for a package inside the plugin's directory, which the pin covers.
fn is_own(package: &[u8]) -> bool {
    is_below_root(package) && (package.starts_with(b"./") || package.starts_with(b"$"))
        || package == b"."
        || package.starts_with(b"${CLAUDE_PLUGIN_ROOT}")
}

fn is_exact_npm(package: &[u8]) -> bool {
    if is_own(package) {
        return true;
    }
    if memchr::memmem::find(package, b"://").is_some() || package.starts_with(b"git") {
        return version_after(package, b'#').is_some_and(is_exact);
    }
    version_after(package, b'@').is_some_and(is_exact)
}

fn is_exact_python(package: &[u8]) -> bool {
    if is_own(package) {
        return true;
    }
    if memchr::memmem::find(package, b"://").is_some() {
        return version_after(package, b'@')
            .is_some_and(|version| is_exact(version.split(|byte| *byte == b'#').next().unwrap_or_default()));
    }
    let pinned = memchr::memmem::find(package, b"==");
    pinned.map_or_else(
        || version_after(package, b'@').is_some_and(is_python_version),
        |at| is_python_version(package.get(at + 2..).unwrap_or_default().trim_ascii()),
    )
}

/// Returns `true` for a full Python version; two numbers suffice, as in `1.2`.
fn is_python_version(version: &[u8]) -> bool {
    let parts = version.split(|byte| *byte == b'.').count();
    parts >= 2
        && version.first().is_some_and(u8::is_ascii_digit)
        && version
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-' | b'!'))
}

/// Options of container runtimes without a value. All others are taken to have one.
const ALONE: &[&[u8]] = &[
    b"-i",
    b"-t",
    b"-it",
    b"-ti",
    b"-d",
    b"--rm",
    b"--init",
    b"--interactive",
    b"--tty",
    b"--privileged",
    b"--read-only",
    b"--detach",
    b"-P",
    b"--publish-all",
    b"--no-healthcheck",
    b"--oom-kill-disable",
    b"-q",
    b"--quiet",
    b"--sig-proxy",
    b"-dit",
    b"-itd",
];

/// Returns the image that a container runtime runs, with the words after it.
fn image(args: &[Vec<u8>]) -> Option<(&[u8], &[Vec<u8>])> {
    let at = args.iter().position(|arg| matches!(arg.as_slice(), b"run" | b"create"))?;
    let mut value = false;
    for (arg, next) in args.iter().zip(1_usize..).skip(at + 1) {
        if core::mem::take(&mut value) {
            continue;
        }
        if !arg.starts_with(b"-") {
            return Some((arg, args.get(next..).unwrap_or_default()));
        }
        value = memchr::memchr(b'=', arg).is_none() && !ALONE.contains(&arg.as_slice());
    }
    None
}

/// Returns the command that a container runs instead of its own.
fn in_image(args: &[Vec<u8>]) -> Option<&[Vec<u8>]> {
    image(args).map(|(_, rest)| rest).filter(|rest| !rest.is_empty())
}

fn is_exact_image(image: &[u8]) -> bool {
    if let Some(at) = memchr::memmem::find(image, b"@sha256:") {
        return image.len().saturating_sub(at) >= 8 + 64;
    }
    let name = image.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    version_after(name, b':').is_some_and(|tag| {
        let tag = tag.strip_prefix(b"v").unwrap_or(tag);
        let number = tag.split(|byte| *byte == b'-').next().unwrap_or_default();
        number.contains(&b'.') && number.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
    })
}

/// Returns `true` if a server's address uses plain HTTP to another machine.
pub(in crate::lex::data) fn is_plain_http(url: &[u8]) -> bool {
    let address = Address::parse(&String::from_utf8_lossy(url));
    matches!(address.scheme(), Some("http" | "ws"))
        && !address.is_loopback()
        && address.host() != Some("host.docker.internal")
}
