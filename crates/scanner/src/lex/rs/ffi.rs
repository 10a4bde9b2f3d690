//! Declarations of foreign functions that start programs or load code.

use super::literal;
use super::token::TokenKind;
use super::{Code, STATEMENT};
use crate::scan::sink::Sink;
use crate::text::view::Obfuscations;

/// Functions of C libraries and Windows that start a program or load a library.
const STARTERS: &str = "system popen execl execlp execle execv execvp execve execvpe fexecve execveat posix_spawn \
    posix_spawnp fork vfork dlopen dlmopen LoadLibraryA LoadLibraryW LoadLibraryExA LoadLibraryExW \
    WinExec ShellExecuteA ShellExecuteW ShellExecuteExA ShellExecuteExW CreateProcessA CreateProcessW \
    _popen _wpopen _wsystem memfd_create syscall";

fn is_starter(name: &[u8]) -> bool {
    crate::lex::has_word(STARTERS, name)
}

/// Reads `extern { … }` blocks.
pub(super) fn blocks(code: &Code<'_, '_>, sink: &mut Sink<'_>) {
    let mut at = 0_usize;
    while code.token(at).is_some() {
        let next = at + 1;
        if code.word(at) != b"extern" {
            at = next;
            continue;
        }
        let named = code.token(next).is_some_and(|token| token.kind == TokenKind::String);
        let open = if named { next + 1 } else { next };
        at = next;
        if code.is(open, b'{') {
            let close = code.close(open);
            block(code, (open, close), sink);
            at = close;
        }
    }
}

fn block(code: &Code<'_, '_>, range: (usize, usize), sink: &mut Sink<'_>) {
    for at in range.0..range.1 {
        let name_at = at + 1;
        let end = |at: usize| {
            let end = code.statement_end(at, STATEMENT).min(range.1);
            code.token(end).map_or(code.src.len(), |token| token.end as usize)
        };
        let start = code.token(at).map_or(0, |token| token.start as usize);
        if code.word(at) == b"fn" && is_starter(code.word(name_at)) {
            sink.shape("rs-ffi-exec", (start, end(name_at)), Obfuscations::NONE);
        }
        // `#[link_name = "system"] fn other();` declares `system` under another name.
        if code.word(at) == b"link_name" && code.is(name_at, b'=') {
            let Some(token) = code.token(name_at + 1).filter(|token| token.kind == TokenKind::String) else {
                continue;
            };
            let mut view = crate::text::view::View::default();
            literal::decode_into(code.src, literal::text(code.src, token), &mut view);
            if is_starter(&view.bytes) {
                let how = view.map.back(0, view.bytes.len()).2;
                sink.shape("rs-ffi-exec", (start, token.end as usize), how);
            }
        }
    }
}
