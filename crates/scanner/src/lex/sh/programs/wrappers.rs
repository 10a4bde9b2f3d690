//! Programs that run another program, and which of their arguments are the other command.

/// A wrapper: its options with a value, and the number of words before the program.
struct Wrapper {
    name: &'static str,
    valued: &'static [&'static str],
    operands: usize,
    /// Options with which the wrapper only prints information.
    asks: &'static [&'static str],
}

const fn plain(name: &'static str) -> Wrapper {
    Wrapper { name, valued: &[], operands: 0, asks: &[] }
}

const fn with(name: &'static str, valued: &'static [&'static str]) -> Wrapper {
    Wrapper { name, valued, operands: 0, asks: &[] }
}

const fn after(name: &'static str, operands: usize, valued: &'static [&'static str]) -> Wrapper {
    Wrapper { name, valued, operands, asks: &[] }
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        name: "sudo",
        valued: &["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R", "--user", "--group"],
        operands: 0,
        asks: &["-l", "-v", "-k", "-K", "--list", "--validate"],
    },
    with("doas", &["-u", "-C", "-a"]),
    with("env", &["-u", "-C", "--unset", "--chdir"]),
    Wrapper { name: "command", valued: &[], operands: 0, asks: &["-v", "-V", "-pv", "-vp"] },
    plain("builtin"),
    with("exec", &["-a"]),
    plain("nohup"),
    with("nice", &["-n", "--adjustment"]),
    with("ionice", &["-c", "-n", "-p"]),
    with("time", &["-f", "-o"]),
    after("timeout", 1, &["-s", "-k", "--signal", "--kill-after"]),
    with(
        "xargs",
        &["-I", "-n", "-P", "-L", "-s", "-d", "-E", "-a", "--max-args", "--max-procs", "--delimiter"],
    ),
    with("stdbuf", &["-i", "-o", "-e"]),
    plain("setsid"),
    plain("busybox"),
    plain("toybox"),
    after("chroot", 1, &[]),
    after("taskset", 1, &[]),
    after("flock", 1, &["-w", "-E"]),
    with("strace", &["-e", "-o", "-p", "-s"]),
    with("unshare", &[]),
    with("runuser", &["-u", "-g", "-G", "--user", "--group"]),
    with("parallel", &["-j", "-P", "-N", "-n", "-a", "--jobs", "--colsep", "--delay", "--joblog"]),
    with("systemd-run", &["-u", "-p", "-E", "-M", "-H", "--unit", "--property", "--setenv", "--slice"]),
    plain("firejail"),
    after("faketime", 1, &[]),
    with("ltrace", &["-e", "-o", "-p", "-s", "-u"]),
    with("rlwrap", &["-a", "-b", "-f", "-H", "-C"]),
    plain("eatmydata"),
    plain("entr"),
    with("nsenter", &["-t", "--target", "-S", "-G"]),
    after("chrt", 1, &["-T", "-P", "-D"]),
    after("gosu", 1, &[]),
    after("su-exec", 1, &[]),
    plain("tsocks"),
    plain("dbus-run-session"),
    with("prlimit", &["-p", "--pid"]),
    with("numactl", &["-C", "-m", "-N", "-i", "-p"]),
    plain("setarch"),
    plain("linux32"),
    plain("linux64"),
    with("valgrind", &[]),
    with("pkexec", &["--user"]),
    plain("unbuffer"),
    plain("catchsegv"),
    with("proot", &["-r", "-b", "-w", "-S", "-R", "-q"]),
    plain("chronic"),
    plain("torsocks"),
    plain("proxychains"),
    plain("proxychains4"),
    plain("caffeinate"),
    plain("fakeroot"),
    plain("noglob"),
    plain("nocorrect"),
    plain("coproc"),
    plain("then"),
    plain("do"),
    plain("else"),
];

/// Returns `true` if a program runs the program in its arguments.
pub(in crate::lex::sh) fn is_wrapper(name: &[u8]) -> bool {
    find(name).is_some()
}

fn find(name: &[u8]) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|known| known.name.as_bytes() == name)
}

/// Returns `true` if a program runs another one or prints its arguments, so that its effect matters.
pub(in crate::lex::sh) fn is_known(name: &[u8]) -> bool {
    find(name).is_some()
        || matches!(
            name,
            b"eval" | b"source" | b"." | b"echo" | b"printf" | b"base64" | b"rev" | b"tr" | b"xxd" | b"cat"
        )
}

/// Returns the number of words before the wrapped program; `None` if nothing is run.
pub(in crate::lex::sh) fn skipped<'w>(
    name: &[u8],
    words: &dyn Fn(usize) -> Option<&'w [u8]>,
) -> Option<usize> {
    let Some(wrapper) = find(name) else { return runner(name, words) };
    let mut at = 0_usize;
    let mut operands = wrapper.operands;
    while let Some(word) = words(at) {
        if word == b"--" {
            at += 1;
            break;
        }
        if wrapper.asks.iter().any(|ask| ask.as_bytes() == word) {
            return None;
        }
        let option =
            word.len() > 1 && (word.starts_with(b"-") || (word.starts_with(b"+") && name == b"nice"));
        let assigns = matches!(name, b"env" | b"sudo" | b"doas") && is_assignment(word);
        if option {
            let valued = wrapper.valued.iter().any(|option| option.as_bytes() == word);
            at += if valued { 2 } else { 1 };
        } else if assigns {
            at += 1;
        } else if operands > 0 {
            operands = operands.saturating_sub(1);
            at += 1;
        } else {
            break;
        }
    }
    Some(at)
}

/// Options of runners that take the next word.
const RUNNER_VALUED: &[&[u8]] = &[
    b"-p",
    b"-n",
    b"-C",
    b"--python",
    b"--with",
    b"--with-requirements",
    b"--extra",
    b"--group",
    b"--directory",
    b"--project",
    b"--env-file",
    b"--name",
    b"--prefix",
    b"--cwd",
    b"--gemfile",
];

/// Handles `uv run program`, `bundle exec program` and similar runners.
fn runner<'w>(name: &[u8], words: &dyn Fn(usize) -> Option<&'w [u8]>) -> Option<usize> {
    let verb: &[u8] = match name {
        b"uv" | b"poetry" | b"pipenv" | b"pdm" | b"rye" | b"hatch" | b"conda" | b"mamba" | b"micromamba"
        | b"pixi" => b"run",
        b"bundle" | b"direnv" | b"mise" | b"asdf" | b"rbenv" | b"pyenv" => b"exec",
        _ => return None,
    };
    if words(0) != Some(verb) {
        return None;
    }
    let mut at = 1_usize;
    while let Some(word) = words(at).filter(|word| word.starts_with(b"-")) {
        at += if RUNNER_VALUED.contains(&word) { 2 } else { 1 };
    }
    Some(at)
}

/// Returns `true` for `NAME=…`.
pub(in crate::lex::sh) fn is_assignment(word: &[u8]) -> bool {
    name_of(word).is_some()
}

/// Returns the name before a `=`.
pub(in crate::lex::sh) fn name_of(word: &[u8]) -> Option<&[u8]> {
    let at = memchr::memchr(b'=', word)?;
    let name = word.get(..at)?;
    let name = name.strip_suffix(b"+").unwrap_or(name);
    is_name(name).then_some(name)
}

/// Returns `true` if a text is a valid variable name.
pub(in crate::lex::sh) fn is_name(name: &[u8]) -> bool {
    name.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// The kind of code that an interpreter runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lex::sh) enum CodeKind {
    Shell,
    Python,
    Js,
    /// A language without a lexer.
    Other,
}

/// Returns the kind of code that a program runs, if it is an interpreter.
pub(in crate::lex::sh) fn interpreter(name: &[u8]) -> Option<CodeKind> {
    Some(match name {
        b"sh" | b"bash" | b"zsh" | b"dash" | b"ksh" | b"ash" | b"mksh" | b"rbash" | b"fish" | b"yash" => {
            CodeKind::Shell
        }
        b"python" | b"python2" | b"python3" | b"pypy" | b"pypy3" | b"pythonw" => CodeKind::Python,
        b"node" | b"nodejs" | b"deno" | b"bun" | b"tsx" | b"ts-node" => CodeKind::Js,
        b"perl" | b"ruby" | b"php" | b"lua" | b"osascript" | b"pwsh" | b"powershell" => CodeKind::Other,
        _ => return None,
    })
}
