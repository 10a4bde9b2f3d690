//! The first simple command of a shell line, as far as the checks of a manifest need it.
//!
//! The lexer for shells reads the whole line as well; this one only answers what a server or hook starts.

/// The words of the first command of a line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::lex::data) struct CommandLine {
    pub(in crate::lex::data) words: Vec<Vec<u8>>,
    /// Set if the line has more than one plain command: a pipe, a list, a substitution or a redirection to a
    /// file.
    pub(in crate::lex::data) more: bool,
}

/// Splits off the first command of a line.
pub(in crate::lex::data) fn split(text: &[u8]) -> CommandLine {
    let mut line = CommandLine::default();
    let mut word: Option<Vec<u8>> = None;
    let mut rest = text.trim_ascii();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match byte {
            b' ' | b'\t' => line.words.extend(word.take()),
            b'\'' => {
                let end = memchr::memchr(b'\'', tail).unwrap_or(tail.len());
                word.get_or_insert_default().extend(tail.get(..end).unwrap_or_default());
                rest = tail.get(end + 1..).unwrap_or_default();
            }
            b'"' => rest = quoted(tail, word.get_or_insert_default(), &mut line.more),
            b'\\' => {
                if let Some((next, tail)) = tail.split_first() {
                    rest = tail;
                    if *next != b'\n' {
                        word.get_or_insert_default().push(*next);
                    }
                }
            }
            b'$' if tail.first() == Some(&b'{') => {
                let end = memchr::memchr(b'}', tail).map_or(tail.len(), |at| at + 1);
                let name = tail.get(..end).unwrap_or_default();
                line.more |= holds_command(name);
                let word = word.get_or_insert_default();
                word.push(b'$');
                word.extend(name);
                rest = tail.get(end..).unwrap_or_default();
            }
            b'$' if tail.first() == Some(&b'(') => line.more = true,
            b'`' | b'|' | b';' | b'&' | b'\n' | b'\r' | b'(' | b')' => {
                line.words.extend(word.take());
                line.more = true;
            }
            b'>' | b'<' => {
                line.words.extend(word.take().filter(|word| !word.iter().all(u8::is_ascii_digit)));
                let (harmless, tail) = redirection(tail);
                line.more |= !harmless || byte == b'<';
                rest = tail;
            }
            b'#' if word.is_none() => break,
            _ => word.get_or_insert_default().push(byte),
        }
        if line.more {
            break;
        }
    }
    line.words.extend(word);
    line
}

/// Reads the inside of double quotes, and returns the rest after them.
fn quoted<'a>(mut rest: &'a [u8], word: &mut Vec<u8>, more: &mut bool) -> &'a [u8] {
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match byte {
            b'"' => break,
            b'\\' => {
                if let Some((next, tail)) = tail.split_first() {
                    rest = tail;
                    if !matches!(next, b'"' | b'\\' | b'$' | b'`') {
                        word.push(b'\\');
                    }
                    word.push(*next);
                }
            }
            b'`' => *more = true,
            b'$' if tail.first() == Some(&b'(') => *more = true,
            _ => word.push(byte),
        }
    }
    rest
}

fn holds_command(text: &[u8]) -> bool {
    memchr::memchr(b'`', text).is_some() || memchr::memmem::find(text, b"$(").is_some()
}

/// Reads the target of a redirection, and returns whether it is harmless: a descriptor or `/dev/null`.
fn redirection(rest: &[u8]) -> (bool, &[u8]) {
    let rest = rest.strip_prefix(b">").unwrap_or(rest);
    if let Some(number) = rest.strip_prefix(b"&") {
        let digits = number.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'-').count();
        return (digits > 0, number.get(digits..).unwrap_or_default());
    }
    let rest = rest.trim_ascii_start();
    match rest.strip_prefix(b"/dev/null") {
        Some(tail) if tail.first().is_none_or(u8::is_ascii_whitespace) => (true, tail),
        _ => (false, rest),
    }
}

/// Programs that run the command in their arguments.
const WRAPPERS: &[&[u8]] = &[
    b"env",
    b"sudo",
    b"doas",
    b"nohup",
    b"time",
    b"timeout",
    b"nice",
    b"exec",
    b"command",
    b"builtin",
    b"stdbuf",
    b"setsid",
    b"busybox",
    b"xargs",
    b"ionice",
    b"unbuffer",
];

/// Returns the program and its arguments, without assignments and wrappers.
pub(in crate::lex::data) fn program(words: &[Vec<u8>]) -> &[Vec<u8>] {
    let mut words = words;
    let mut wrapped = false;
    while let Some((first, rest)) = words.split_first() {
        let name = base(first);
        let assigned = memchr::memchr(b'=', first).is_some_and(|at| {
            let name = first.get(..at).unwrap_or_default();
            !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        });
        let option = wrapped && (first.starts_with(b"-") || is_duration(first));
        if WRAPPERS.contains(&name.as_slice()) {
            wrapped = true;
        } else if !assigned && !option {
            break;
        }
        words = rest;
    }
    words
}

/// Returns `true` for the duration of `timeout` or the number of `nice -n`.
fn is_duration(word: &[u8]) -> bool {
    word.first().is_some_and(u8::is_ascii_digit)
        && word.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b's' | b'm' | b'h'))
}

/// Returns a program's name in lower case, without its directory and `.exe`, `.cmd` or `.bat`.
pub(in crate::lex::data) fn base(word: &[u8]) -> Vec<u8> {
    let name = word.rsplit(|byte| matches!(byte, b'/' | b'\\')).next().unwrap_or_default();
    let mut name = name.to_ascii_lowercase();
    for extension in [b".exe".as_slice(), b".cmd", b".bat"] {
        if name.ends_with(extension) && name.len() > extension.len() {
            name.truncate(name.len().saturating_sub(extension.len()));
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> String {
        let line = split(text.as_bytes());
        let words: Vec<String> =
            line.words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        format!("{}{}", words.join(" | "), if line.more { " +" } else { "" })
    }

    #[test]
    fn lines_are_split_as_a_shell_does() {
        for (text, words) in [
            ("\"${ROOT}/a b.sh\" x", "${ROOT}/a b.sh | x"),
            ("'a'\"b\"c\\ d", "abc d"),
            ("a | b", "a +"),
            ("a;b", "a +"),
            ("a && b", "a +"),
            ("a $(b)", "a +"),
            ("a \"$(b)\"", "a | (b) +"),
            ("a ${b:-$(c)}", "a | ${b:-$(c)} +"),
            ("a ${b:-c} d", "a | ${b:-c} | d"),
            ("a > /dev/null 2>&1", "a"),
            ("a >> log", "a +"),
            ("a < b", "a +"),
            ("a # b | c", "a"),
            ("a '#' b", "a | # | b"),
            ("''", ""),
            ("'unclosed", "unclosed"),
            ("a\nb", "a +"),
        ] {
            assert_eq!(check(text), words, "{text}");
        }
    }

    #[test]
    fn wrappers_are_dropped() {
        for (text, name) in [
            ("env A=1 /usr/bin/curl x", "curl"),
            ("A=1 B=2 node x", "node"),
            ("sudo -E timeout 10s CURL.exe x", "curl"),
            ("node env", "node"),
        ] {
            let line = split(text.as_bytes());
            assert_eq!(program(&line.words).first().map(|word| base(word)), Some(name.into()), "{text}");
        }
    }
}
