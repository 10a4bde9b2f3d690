//! Interpreters: determines the file or text that they run.

use crate::surface::Coverage;

use super::argument::fetches;
use super::judge::{Judge, Upstream, Verdict};
use super::package_runner;
use super::programs::{INTERPRETER_OPTIONS, Interpreter};
use super::reference;
use super::shell_lexer::{Piece, Word};
use super::simple_command::{Input, SimpleCommand};

/// Judges a call of an interpreter; returns `None` if the name is not one.
pub(super) fn judge(
    judge: &mut Judge<'_>,
    base: &str,
    rest: &[Word],
    one: &SimpleCommand,
    upstream: Upstream,
    depth: u8,
) -> Option<Verdict> {
    let options = options_of(base)?;
    let rest = match base {
        "deno" => match deno(judge, rest) {
            Ok(verdict) => return Some(verdict),
            Err(rest) => rest,
        },
        "bun" => match package_runner::bun(judge, rest) {
            Ok(verdict) => return Some(verdict),
            Err(rest) => rest,
        },
        _ => rest,
    };
    Some(run(judge, base, options, rest, one, upstream, depth))
}

/// Returns the options of an interpreter. `python3.12` is `python3`; PowerShell and cmd ignore case.
fn options_of(base: &str) -> Option<&'static Interpreter> {
    let find = |name: &str| INTERPRETER_OPTIONS.iter().find(|options| options.names.contains(&name));
    let versioned = || {
        let name = base.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.');
        (name == "python" || name == "pypy").then_some("python3")
    };
    find(base)
        .or_else(|| find(versioned()?))
        .or_else(|| find(&base.to_ascii_lowercase()).filter(|it| ignores_case(it)))
}

fn ignores_case(options: &Interpreter) -> bool {
    options.names.contains(&"pwsh") || options.names.contains(&"cmd")
}

fn run(
    judge: &mut Judge<'_>,
    base: &str,
    options: &Interpreter,
    rest: &[Word],
    one: &SimpleCommand,
    upstream: Upstream,
    depth: u8,
) -> Verdict {
    let mut words = rest;
    // Files in options run too, so the worst coverage counts.
    let mut least = Coverage::Covered;
    while let Some((first, after)) = words.split_first() {
        let text = first.shown();
        let option = if ignores_case(options) { text.to_ascii_lowercase() } else { text.clone() };
        let (name, inline) =
            option.split_once('=').map_or((option.as_str(), None), |(name, value)| (name, Some(value)));
        if text == "--" {
            words = after;
            break;
        }
        // Shells also take options with `+`, and cmd takes them with `/`.
        let looks = text.starts_with('-')
            || text.starts_with('+')
            || (options.names.contains(&"cmd") && text.starts_with('/'));
        if !looks || text == "-" {
            break;
        }
        if options.code.contains(&name) || is_cluster(options, &text) {
            let code_words = if inline.is_some() { &[] } else { after };
            return code(judge, options, code_words, depth).at_least(least);
        }
        if is_shell(options) && has_letter(&text, 's') {
            return from_input(judge, one, upstream).at_least(least);
        }
        if options.modules.iter().any(|module| name == *module || glued(options, &text, module)) {
            return Verdict::new(Coverage::PathBinary, format!("a module of {base}")).at_least(least);
        }
        words = after;
        if options.files.contains(&name) {
            let file = match inline {
                Some(value) => Word { pieces: vec![Piece::Text(value.to_owned())], quoted: true },
                None => after.first().cloned().unwrap_or_default(),
            };
            // For these, the file is the program and ends the options; elsewhere it is loaded before the script.
            if base == "java" || options.names.contains(&"pwsh") || options.names.contains(&"php") {
                return script(judge, &file).at_least(least);
            }
            least = least.worst(script(judge, &file).coverage);
            words = if inline.is_some() { after } else { after.get(1..).unwrap_or_default() };
        } else if (options.values.contains(&name) && inline.is_none()) || ends_in_value(options, &text) {
            words = after.get(1..).unwrap_or_default();
        }
    }
    match words.first() {
        Some(word) if word.literal().as_deref() != Some("-") => script(judge, word).at_least(least),
        _ => from_input(judge, one, upstream),
    }
}

/// Returns `true` for `-xc` and `-ne`: several short options in one word, one of which takes code.
fn is_cluster(options: &Interpreter, text: &str) -> bool {
    let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else {
        return false;
    };
    let cut = options.values.iter().filter(|value| value.len() == 2).any(|value| text.starts_with(value));
    !cut && letters.chars().all(|letter| letter.is_ascii_alphanumeric()) && letters.contains(options.letters)
}

fn is_shell(options: &Interpreter) -> bool {
    options.names.contains(&"sh")
}

/// Returns `true` if a word with several short options contains the letter.
fn has_letter(text: &str, letter: char) -> bool {
    text.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains(letter))
}

/// Returns `true` for `-euo pipefail`: the last letter of the word takes the next word as its value.
fn ends_in_value(options: &Interpreter, text: &str) -> bool {
    let sign = text.starts_with(['-', '+']) && !text.starts_with("--") && text.len() > 2;
    is_shell(options) && sign && text.ends_with(['o', 'O'])
}

/// Returns `true` for `-mhttp.server`, an option and its value in one word.
fn glued(options: &Interpreter, text: &str, module: &str) -> bool {
    options.names.contains(&"python3") && module.len() == 2 && text.starts_with(module)
}

/// Judges code in an argument. Only code for shells can be parsed.
fn code(judge: &mut Judge<'_>, options: &Interpreter, after: &[Word], depth: u8) -> Verdict {
    let shell =
        options.names.contains(&"sh") || options.names.contains(&"fish") || options.names.contains(&"cmd");
    let code = if options.names.contains(&"cmd") { after } else { after.get(..1).unwrap_or_default() };
    if shell && !code.is_empty() {
        return judge.code(code, depth);
    }
    if code.iter().any(fetches) {
        return Verdict::new(Coverage::LauncherFloating, "downloaded code");
    }
    let known = code.iter().all(|word| word.literal().is_some() || word.pieces.len() > 1);
    let coverage = if known { Coverage::InlineShell } else { Coverage::Unresolved };
    Verdict::new(coverage, "code in an argument")
}

/// Judges the file that an interpreter runs.
pub(super) fn script(judge: &Judge<'_>, word: &Word) -> Verdict {
    if fetches(word) {
        return Verdict::new(Coverage::LauncherFloating, "downloaded code");
    }
    match (judge.context.script(word), word.literal()) {
        (Some(path), _) => Verdict::script(path),
        (None, Some(url)) if url.contains("://") => Verdict::new(Coverage::LauncherFloating, url),
        (None, Some(name)) => Verdict::new(Coverage::PathBinary, name),
        (None, None) if judge.context.is_known(word) => Verdict::new(Coverage::PathBinary, word.shown()),
        (None, None) => Verdict::new(Coverage::Unresolved, format!("the script is {}", word.shown())),
    }
}

/// Judges an interpreter without a script, which reads its standard input.
fn from_input(judge: &Judge<'_>, one: &SimpleCommand, upstream: Upstream) -> Verdict {
    if upstream == Upstream::Fetcher {
        return Verdict::new(Coverage::LauncherFloating, "downloaded code");
    }
    match &one.input {
        Input::Here => Verdict::new(Coverage::InlineShell, "text in a here-document"),
        Input::File(word) => script(judge, word),
        Input::Caller => Verdict::new(Coverage::Unresolved, "a script from standard input"),
    }
}

/// Judges `deno run FILE`, `deno run https://…`, `deno eval CODE` and `deno task NAME`.
///
/// Returns the words as an error if deno is called like a plain interpreter.
fn deno<'w>(judge: &Judge<'_>, rest: &'w [Word]) -> Result<Verdict, &'w [Word]> {
    let options = options_of("deno").map_or(&[][..], |options| options.values);
    let Some((verb, after)) = rest.split_first() else { return Err(rest) };
    match verb.literal().as_deref() {
        Some("run" | "test" | "serve" | "bench" | "install" | "compile") => {
            let target = package_runner::operand(after, options);
            Ok(match target.map(|(word, _)| word) {
                Some(word) => match word.literal() {
                    Some(name)
                        if name.contains("://") || name.starts_with("npm:") || name.starts_with("jsr:") =>
                    {
                        Verdict::new(reference::deno(&name), name)
                    }
                    _ => script(judge, word),
                },
                None => Verdict::new(Coverage::Unresolved, "deno without a script"),
            })
        }
        Some("eval") => Ok(Verdict::new(Coverage::InlineShell, "code in an argument")),
        Some("task") => Ok(package_runner::package_script(judge, "deno task", &["deno.lock"], "")),
        _ => Err(rest),
    }
}
