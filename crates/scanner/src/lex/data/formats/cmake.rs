//! `CMakeLists.txt`: each command becomes a key, and its arguments become the value.

use plugward_types::Part;

use crate::lex::data::scalar::Scalar;
use crate::lex::data::tree::Tree;

/// Reads a text as a list of `CMake` commands, such as `add_custom_command(OUTPUT x COMMAND sh x.sh)`.
pub(in crate::lex::data) fn read(tree: &mut Tree<'_, '_>) {
    let src = tree.src;
    let mut at = 0_usize;
    while let Some(&byte) = src.get(at) {
        let rest = src.part(at..);
        if byte == b'#' {
            let len = comment(rest);
            tree.comment(at, at + len);
            at += len;
            continue;
        }
        let word = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let tail = rest.part(word..);
        let blanks = tail.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        if word == 0 || tail.get(blanks) != Some(&b'(') {
            at += word.max(1);
            continue;
        }
        let open = at + word + blanks + 1;
        let end = arguments(src, open);
        tree.set_key(&Scalar::range(at, at + word));
        tree.scalar(Scalar::range(open, end));
        tree.comma();
        at = end;
    }
}

/// Returns the length of a comment. `# …` ends with its line, `#[[ … ]]` with its brackets.
fn comment(rest: &[u8]) -> usize {
    if rest.starts_with(b"#[[") {
        return memchr::memmem::find(rest, b"]]").map_or(rest.len(), |at| at + 2);
    }
    memchr::memchr(b'\n', rest).unwrap_or(rest.len())
}

/// Returns the offset of the bracket that closes the arguments. Brackets in quotes and comments do not count.
fn arguments(src: &[u8], open: usize) -> usize {
    let mut depth = 1_usize;
    let mut at = open;
    while let Some(byte) = src.get(at) {
        let rest = src.part(at + 1..);
        match byte {
            b'"' => at += quoted(rest),
            b'#' => at = (at + comment(src.part(at..))).saturating_sub(1),
            b'(' => depth += 1,
            b')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
        at += 1;
    }
    src.len()
}

fn quoted(rest: &[u8]) -> usize {
    let mut at = 0_usize;
    while let Some(more) = rest.get(at..).and_then(|tail| memchr::memchr2(b'"', b'\\', tail)) {
        at += more;
        if rest.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    rest.len()
}
