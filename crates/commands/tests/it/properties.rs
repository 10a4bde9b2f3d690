//! Random commands around a known script, and texts that bash accepts.

use std::process::{Command, Stdio};

use plugward_commands::{StartTarget, inner_command, read_command, read_script, read_variable};
use proptest::prelude::*;

use crate::support::{WRAPPERS, context};

/// Puts a backslash before some characters.
fn escape(text: &str, special: &str) -> String {
    text.chars().flat_map(|c| special.contains(c).then_some('\\').into_iter().chain([c])).collect()
}

/// Quotes a text for a POSIX shell.
fn quote(text: &str, style: u8) -> String {
    match style % 4 {
        0 => format!("'{}'", text.replace('\'', "'\\''")),
        1 => format!("\"{}\"", escape(text, "\\\"$`")),
        2 => text
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || "/._-".contains(c) {
                    c.to_string()
                } else if c == '\n' {
                    "'\n'".to_owned()
                } else {
                    format!("\\{c}")
                }
            })
            .collect(),
        _ => format!("$'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
    }
}

fn wrapper(style: u8) -> &'static str {
    WRAPPERS.iter().cycle().nth(usize::from(style)).copied().unwrap_or_default()
}

/// One step that hides a call of the script; `text` starts it.
fn hide(text: &str, step: u8, style: u8) -> String {
    let wrapper = wrapper(style);
    match step % 24 {
        0 => format!("sh -c {}", quote(text, style.wrapping_mul(2))),
        1 => format!("eval {}", quote(text, 0)),
        2 => format!("bash -euo pipefail -c {}", quote(text, 0)),
        3 => format!("{wrapper} bash -c {}", quote(text, 0)),
        4 => format!("if [ -n \"$X\" ]; then {text}; fi"),
        5 => format!("true && {{ {text}; }}"),
        6 => format!("( {text} )"),
        7 => format!("C={}; eval \"$C\"", quote(text, 0)),
        8 => format!("C={}; sh -c \"$C\"", quote(text, 0)),
        9 => format!("f() {{ {text}; }}; f"),
        10 => format!("for i in 1 2; do {text}; done"),
        11 => format!("case x in *) {text};; esac"),
        12 => format!("X=$( {text} ); echo \"$X\""),
        13 => format!("echo `{}`", escape(text, "\\`$")),
        14 => format!("echo {} | sh", quote(text, 0)),
        15 => format!("sh <<'E_O_F'\n{text}\nE_O_F\n"),
        16 => format!("bash <<< {}", quote(text, 0)),
        17 => format!("while true; do {text}; break; done"),
        18 => format!("trap {} EXIT", quote(text, 0)),
        19 => format!("A=1 B=2; {text} # {text}"),
        20 => format!("cat x | while read l; do {text}; done"),
        21 => format!("false || {text}"),
        22 => format!("find . -exec sh -c {} \\;", quote(text, 0)),
        _ => format!(": a b c; {text} & wait"),
    }
}

fn call(script: &str, form: u8, style: u8) -> String {
    let quoted = quote(script, style);
    match form % 14 {
        0 => format!("sh {quoted}"),
        1 => format!("./{}", quote(script, 2)),
        2 => format!("bash -x {quoted} arg"),
        3 => format!(". ./{}", quote(script, 2)),
        4 => format!("H={quoted}; sh \"$H\""),
        5 => format!("A={quoted}; B=$A; H=\"$B\"; source \"$H\""),
        6 => format!("sh < {quoted}"),
        7 => format!("cat {quoted} | bash -s a"),
        8 => format!("node --import ./{} x.js", quote(script, 2)),
        9 => format!("sh \"$(dirname {quoted})/$(basename {quoted})\""),
        10 => format!("{} bash {quoted}", wrapper(style)),
        11 => format!("sh -c 'exec \"$0\" \"$@\"' sh {quoted}"),
        12 => format!("BASH_ENV={quoted} bash -c true"),
        _ => format!("eval \"$(cat {quoted})\""),
    }
}

proptest! {
    #[test]
    fn a_known_script_is_never_silent(
        name in "[a-z]{1,4}(/[a-z]{1,4}( [a-z])?){0,2}\\.sh",
        form in any::<u8>(),
        style in any::<u8>(),
        steps in proptest::collection::vec((any::<u8>(), any::<u8>()), 0..4),
        directory in proptest::option::of("[a-z]{1,4}"),
    ) {
        let mut text = call(&name, form, style);
        for (step, style) in steps {
            text = hide(&text, step, style);
        }
        let mut expected = name.clone();
        if let Some(directory) = &directory {
            text = format!("cd {directory} && {{ {text}\n}}");
            expected = format!("{directory}/{name}");
        }
        // A limit is a refusal, which functions that redefine themselves can reach.
        let Ok(line) = read_command(&text, &context()) else { return Ok(()) };
        let found = line.starts().any(|target| matches!(target, StartTarget::File(path) if path.normalized().as_str() == expected));
        prop_assert!(found || !line.open_words.is_empty(), "{text:?} misses {expected:?}: {:?}", line.starts().collect::<Vec<_>>());
    }

    #[test]
    fn no_text_panics(text in "[a-z $(){}\\[\\]'\"`\\\\;&|<>\n=:#!*?~/.,-]{0,60}", name in "[A-Z_]{1,8}") {
        let context = context();
        drop(read_command(&text, &context));
        drop(read_script(&text, &context));
        drop(read_variable(&name, &text, &context));
        drop(read_variable("NODE_OPTIONS", &text, &context));
        let words: Vec<Option<&[u8]>> = text.split(' ').map(|word| Some(word.as_bytes())).collect();
        drop(inner_command(&words));
    }

    #[test]
    fn what_bash_accepts_is_read(parts in proptest::collection::vec(0_usize..PARTS.len(), 1..9)) {
        let text: Vec<&str> = parts.iter().map(|at| PARTS[*at]).collect();
        let text = text.join(" ");
        if bash_accepts(&text) == Some(true) {
            let line = read_command(&text, &context()).unwrap();
            let foreign = line.open_words.iter().find(|open| open.kind == plugward_commands::OpenWordKind::ForeignSyntax);
            prop_assert!(foreign.is_none(), "{text:?} is valid, but not read: {foreign:?}");
        }
    }
}

const PARTS: [&str; 44] = [
    "a",
    "b=c",
    "'x y'",
    "\"$a\"",
    "${a:-b}",
    "$(c d)",
    "`e`",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "\n",
    "if",
    "then",
    "else",
    "fi",
    "while",
    "do",
    "done",
    "for",
    "in",
    "case",
    "esac",
    "a)",
    ";;",
    "{",
    "}",
    "(",
    ")",
    "f()",
    "!",
    "<x",
    ">y",
    "2>&1",
    "<<<z",
    "[[ a == b ]]",
    "[[ -n $x && a =~ ^(b|c)$ ]]",
    "((1+2))",
    "$((a*3))",
    "# c\n",
    "{a,b}",
    "x=(1 2)",
    "<(g)",
];

/// Returns `true` if bash accepts a text, or `None` without bash.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "bash is the peer of the reader; its absence is printed"
)]
fn bash_accepts(text: &str) -> Option<bool> {
    let status = Command::new("bash")
        .args(["-n", "-c", text])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match status {
        Ok(status) => Some(status.success()),
        Err(error) => {
            eprintln!("skipped: bash does not start: {error}");
            None
        }
    }
}
