//! Single words: arguments without a shell, program names, and command substitutions.

use super::programs::FETCHERS;
use super::shell_lexer::{Piece, Word, split};
use super::simple_command::{SimpleCommand, commands};

/// Parses an argument that no shell splits, but in which the host still expands variables.
pub(super) fn plain_argument(text: &str) -> Word {
    let mut word = Word { pieces: Vec::new(), quoted: true };
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (before, after) = rest.split_at(at);
        if !before.is_empty() {
            word.pieces.push(Piece::Text(before.to_owned()));
        }
        let tail = after.get(1..).unwrap_or_default();
        // Variable names are short. Without the limit, many `${` would each search the rest of the text.
        let closes = tail.bytes().take(128).any(|byte| byte == b'}');
        let braced = tail.strip_prefix('{').filter(|_| closes).and_then(|inner| inner.split_once('}'));
        let name = tail.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        if let Some((inner, after)) = braced {
            let name = inner.split_once(":-").map_or(inner, |(name, _)| name);
            word.pieces.push(match name {
                "/" | "pathSeparator" => Piece::Text("/".to_owned()),
                name => Piece::Variable { name: name.to_owned(), quoted: true },
            });
            rest = after;
        } else if name > 0 && !tail.starts_with(|first: char| first.is_ascii_digit()) {
            let (name, after) = tail.split_at(name);
            word.pieces.push(Piece::Variable { name: name.to_owned(), quoted: true });
            rest = after;
        } else {
            word.pieces.push(Piece::Text("$".to_owned()));
            rest = tail;
        }
    }
    if !rest.is_empty() || word.pieces.is_empty() {
        word.pieces.push(Piece::Text(rest.to_owned()));
    }
    join_texts(word)
}

/// Joins adjacent texts, so that a literal word has one piece.
fn join_texts(word: Word) -> Word {
    let mut pieces: Vec<Piece> = Vec::new();
    for piece in word.pieces {
        match (pieces.last_mut(), piece) {
            (Some(Piece::Text(text)), Piece::Text(more)) => text.push_str(&more),
            (_, piece) => pieces.push(piece),
        }
    }
    Word { pieces, quoted: word.quoted }
}

/// Returns the last component of a program's path, without `.exe`, `.cmd` or `.bat`.
pub(super) fn base_name(name: &str) -> &str {
    let base = name.rsplit(['/', '\\']).next().filter(|base| !base.is_empty()).unwrap_or(name);
    let (stem, ending) = base.rsplit_once('.').unwrap_or((base, ""));
    // Windows starts `node.exe` for `node`, so both must be judged alike.
    let starts = ["exe", "cmd", "bat"].iter().any(|known| ending.eq_ignore_ascii_case(known));
    if starts && !stem.is_empty() { stem } else { base }
}

/// Returns `true` if a word contains the output of a program that downloads.
pub(super) fn fetches(word: &Word) -> bool {
    word.pieces.iter().any(|piece| match piece {
        Piece::Command(text) => commands(split(text)).simple.iter().any(is_fetcher),
        _ => false,
    })
}

/// Returns `true` if a command calls a program that downloads, directly or as an argument.
pub(super) fn is_fetcher(one: &SimpleCommand) -> bool {
    one.words.iter().any(|word| word.literal().is_some_and(|name| FETCHERS.contains(&base_name(&name))))
}
