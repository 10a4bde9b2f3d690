//! Names: of variables, and of programs that run code or other programs.

use plugward_commands::{CodeLanguage, ProgramRole, program_role};

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

/// Returns `true` if a program runs the program in its arguments.
pub(in crate::lex::sh) fn is_wrapper(name: &[u8]) -> bool {
    core::str::from_utf8(name).is_ok_and(|name| program_role(name) == ProgramRole::Wrapper)
}

/// Returns `true` if a program runs another one or prints its arguments, so that its effect matters.
pub(in crate::lex::sh) fn is_known(name: &[u8]) -> bool {
    is_wrapper(name)
        || matches!(
            name,
            b"eval" | b"source" | b"." | b"echo" | b"printf" | b"base64" | b"rev" | b"tr" | b"xxd" | b"cat"
        )
}

/// Returns the language of the code that a program runs, if it is an interpreter of scripts.
pub(in crate::lex::sh) fn interpreter(name: &[u8]) -> Option<CodeLanguage> {
    // `cmd` reads its arguments in its own way, and `java` runs no text.
    core::str::from_utf8(name)
        .ok()
        .filter(|name| !matches!(*name, "cmd" | "java"))
        .and_then(plugward_commands::language)
}
