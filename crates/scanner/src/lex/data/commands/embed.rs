//! Values that are commands: passed to the lexer of their language, and checked if they start hooks or
//! servers.

use crate::lex::data::commands::context::{Context, Fact, ValueRole};
use crate::lex::data::commands::launch::{self, Launch};
use crate::lex::data::scalar::{Scalar, ScalarText};
use crate::lex::data::tree::{Level, Tree};
use crate::scan::entry::Lens;
use crate::scan::sink::{EmbeddedText, Unread};
use crate::text::view::{Obfuscations, View};

/// Records a value whose key makes it a command or part of one.
pub(in crate::lex::data) fn value(
    tree: &mut Tree<'_, '_>,
    scalar: Scalar,
    value_role: ValueRole,
    span: (usize, usize),
    how: Obfuscations,
) {
    let context = tree.context();
    if context.has(Context::GYP) {
        expansions(tree, &scalar, how);
    }
    if context.has(Context::GIT) && scalar.bytes(tree.src).first() == Some(&b'!') {
        part(tree, &scalar, 1..scalar.bytes(tree.src).len(), Lens::Sh, how);
    }
    let in_list = tree.in_list();
    let fact = Fact { scalar, span, how };
    match value_role {
        ValueRole::None => {}
        ValueRole::Script => {
            let before = tree.path.part(tree.path.len().wrapping_sub(2));
            // `with: script:` is the input of the GitHub action `github-script`, which runs JavaScript.
            let lens = if before == b"with" { Lens::Js } else { Lens::Sh };
            let text = fact.scalar.bytes(tree.src);
            // systemd puts flags in front of a program (`ExecStart=-/usr/bin/x`); they are not part of the
            // command.
            let marks =
                text.iter().take_while(|byte| matches!(byte, b'-' | b'@' | b'+' | b'!' | b':')).count();
            if marks > 0 && text.get(marks) == Some(&b'/') {
                let len = text.len();
                part(tree, &fact.scalar, marks..len, lens, how);
            } else {
                embed(tree, &fact, lens);
            }
        }
        ValueRole::Url => {
            if launch::is_plain_http(fact.scalar.bytes(tree.src)) {
                tree.sink.shape("config-mcp-unpinned", fact.span, fact.how);
            }
        }
        ValueRole::Command | ValueRole::Args | ValueRole::Run | ValueRole::Shell => {
            let Some(facts) = tree.facts_of() else { return };
            match value_role {
                ValueRole::Command if in_list => facts.argv.last_mut().map(|argv| argv.push(fact)),
                ValueRole::Command => {
                    facts.commands.push(fact);
                    None
                }
                ValueRole::Args if in_list => facts.args.last_mut().map(|args| args.push(fact)),
                ValueRole::Args => {
                    facts.args.push(vec![fact]);
                    None
                }
                ValueRole::Run => {
                    facts.runs.push(fact);
                    None
                }
                _ => {
                    facts.shell = Some(fact);
                    None
                }
            };
        }
    }
}

/// Lexes the value of `shell` as a command line if it is more than the name of a shell.
fn shell_line(tree: &mut Tree<'_, '_>, level: &Level) {
    if let Some(fact) = level.facts.shell.as_ref() {
        let text = fact.scalar.bytes(tree.src);
        if memchr::memchr2(b' ', b'\n', text.trim_ascii()).is_some() {
            embed(tree, fact, Lens::Sh);
        }
    }
}

/// Passes a whole value to the lexer of its language.
fn embed(tree: &mut Tree<'_, '_>, fact: &Fact, lens: Lens) {
    let len = fact.scalar.bytes(tree.src).len();
    part(tree, &fact.scalar, 0..len, lens, fact.how);
}

/// Passes part of a value to a lexer, together with the obfuscation that was undone to read it.
fn part(
    tree: &mut Tree<'_, '_>,
    scalar: &Scalar,
    range: core::ops::Range<usize>,
    lens: Lens,
    how: Obfuscations,
) {
    if range.is_empty() {
        return;
    }
    if let ScalarText::Range(start, _) = scalar.body
        && how.is_plain()
    {
        let text = EmbeddedText::Range(start + range.start, start + range.end);
        tree.sink.embed(lens, text);
        return;
    }
    // Bytes of the value already carry the obfuscation of the value itself; only that of the keys is added.
    let keys = if scalar.how() == how { Obfuscations::NONE } else { how };
    let mut view = View::default();
    scalar.append(tree.src, range, keys, &mut view);
    tree.sink.embed(lens, EmbeddedText::View(view));
}

/// Finds command expansions in the texts of a gyp file: `<!(…)` and `<!@(…)`.
fn expansions(tree: &mut Tree<'_, '_>, scalar: &Scalar, how: Obfuscations) {
    let bytes = scalar.bytes(tree.src);
    let found: Vec<core::ops::Range<usize>> = memchr::memmem::find_iter(bytes, b"<!")
        .filter_map(|at| {
            let rest = bytes.get(at..)?;
            let open = memchr::memchr(b'(', rest.get(..4.min(rest.len()))?)?;
            let start = at + open + 1;
            let inner = bytes.get(start..)?;
            let len = memchr::memchr(b')', inner).unwrap_or(inner.len());
            Some(start..start + len)
        })
        .collect();
    if !found.is_empty() {
        tree.sink.shape("config-build-hook", scalar.span, how);
    }
    for range in found {
        part(tree, scalar, range, Lens::Sh, how);
    }
}

/// Checks a map that is complete, because its `args` may precede its `command`.
pub(in crate::lex::data) fn object(tree: &mut Tree<'_, '_>, level: &Level, end: usize) {
    shell_line(tree, level);
    if level.facts.is_empty() {
        return;
    }
    runs(tree, level);
    let facts = &level.facts;
    let none: &[Fact] = &[];
    let last = facts.args.last().map_or(none, Vec::as_slice);
    for command in &facts.commands {
        started(tree, level, command, last, end);
    }
    // A duplicate key: parsers differ in which value they take, so every value is checked.
    if let Some(command) = facts.commands.last() {
        for args in facts.args.iter().rev().skip(1) {
            started(tree, level, command, args, end);
        }
    }
    for argv in &facts.argv {
        // Kubernetes runs a container's `command` followed by its `args`, so both lists form one command
        // line.
        if let Some((program, flags)) =
            argv.split_first().filter(|(_, flags)| !flags.is_empty() && !last.is_empty())
        {
            let whole: Vec<&Fact> = flags.iter().chain(last).collect();
            joined(tree, program, &whole, end);
        }
        if let Some((program, args)) = argv.split_first() {
            started(tree, level, program, if args.is_empty() { last } else { args }, end);
        }
    }
}

/// Lexes the `run` steps of a workflow, in the language that `shell` selects.
fn runs(tree: &mut Tree<'_, '_>, level: &Level) {
    let shell = level.facts.shell.as_ref().map_or(b"".as_slice(), |fact| fact.scalar.bytes(tree.src));
    let lens = match shell.split(u8::is_ascii_whitespace).next().unwrap_or(shell) {
        b"python" | b"python3" => Lens::Py,
        b"node" => Lens::Js,
        _ => Lens::Sh,
    };
    for run in &level.facts.runs {
        embed(tree, run, lens);
    }
}

/// Takes the size of a command line from the budget, and reports the range as unread if it does not fit.
///
/// One `args` next to thousands of `command` keys would otherwise make the work quadratic.
fn affords<'a>(
    tree: &mut Tree<'_, '_>,
    command: &Fact,
    args: impl Iterator<Item = &'a Fact>,
    end: usize,
) -> bool {
    let size = args
        .fold(command.scalar.bytes(tree.src).len(), |sum, arg| sum + arg.scalar.bytes(tree.src).len() + 4);
    let left = tree.budget.checked_sub(size);
    match left {
        Some(left) => tree.budget = left,
        None => tree.sink.unread.push(Unread { start: command.span.0, end: end.max(command.span.0) }),
    }
    left.is_some()
}

/// Lexes a program with its arguments and checks what it starts.
fn started(tree: &mut Tree<'_, '_>, level: &Level, command: &Fact, args: &[Fact], end: usize) {
    if !affords(tree, command, args.iter(), end) {
        return;
    }
    if args.is_empty() {
        embed(tree, command, Lens::Sh);
    } else {
        let view = line(tree.src, command, args.iter());
        tree.sink.embed(Lens::Sh, EmbeddedText::View(view));
    }
    let context = level.context;
    let server = context.has(Context::SERVERS) || (context.has(Context::MANIFEST) && !args.is_empty());
    let hook = context.has(Context::HOOKS);
    if !server && !hook {
        return;
    }
    let text = |fact: &Fact| String::from_utf8_lossy(fact.scalar.bytes(tree.src)).into_owned();
    let words: Vec<String> = args.iter().map(text).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let found = launch::judge(&text(command), &words);
    let parts = || args.iter().chain(core::iter::once(command));
    let span = (
        parts().map(|fact| fact.span.0).min().unwrap_or(0),
        parts().map(|fact| fact.span.1).max().unwrap_or(0),
    );
    let how = parts().fold(Obfuscations::NONE, |sum, fact| sum.and(fact.how));
    if hook && found.has(Launch::MORE) {
        tree.sink.shape("config-hook-shell", span, how);
    }
    if !hook && (found.has(Launch::INLINE) || found.has(Launch::DOWNLOADS)) {
        tree.sink.shape("config-mcp-shell", span, how);
    }
    if found.has(Launch::UNPINNED) {
        tree.sink.shape("config-mcp-unpinned", span, how);
    }
}

/// Lexes a list that is a program with flags, continued by a second list.
fn joined(tree: &mut Tree<'_, '_>, program: &Fact, rest: &[&Fact], end: usize) {
    if !affords(tree, program, rest.iter().copied(), end) {
        return;
    }
    let view = line(tree.src, program, rest.iter().copied());
    tree.sink.embed(Lens::Sh, EmbeddedText::View(view));
}

/// Returns a program with its arguments as one shell command line. Each argument is quoted as one word.
fn line<'a>(src: &[u8], command: &Fact, args: impl Iterator<Item = &'a Fact>) -> View {
    let mut view = View::default();
    let keys = |fact: &Fact| if fact.scalar.how() == fact.how { Obfuscations::NONE } else { fact.how };
    let len = command.scalar.bytes(src).len();
    command.scalar.append(src, 0..len, keys(command), &mut view);
    for arg in args {
        let bytes = arg.scalar.bytes(src);
        let at = (arg.scalar.span.0, arg.scalar.span.0);
        view.put(b" ", at, Obfuscations::NONE, 0);
        let plain = |byte: &u8| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'-' | b'_' | b'.' | b'/' | b':' | b'=' | b'@' | b'%' | b'+' | b',')
        };
        if !bytes.is_empty() && bytes.iter().all(plain) {
            arg.scalar.append(src, 0..bytes.len(), keys(arg), &mut view);
            continue;
        }
        view.put(b"'", at, Obfuscations::NONE, 0);
        let mut from = 0_usize;
        for quote in memchr::memchr_iter(b'\'', bytes) {
            arg.scalar.append(src, from..quote, keys(arg), &mut view);
            let (start, end, _) = arg.scalar.back(quote, quote + 1);
            view.put(b"'\\''", (start, end), Obfuscations::NONE, 0);
            from = quote + 1;
        }
        arg.scalar.append(src, from..bytes.len(), keys(arg), &mut view);
        view.put(b"'", at, Obfuscations::NONE, 0);
    }
    view
}
