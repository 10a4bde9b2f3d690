//! Package runners: determines what they download, and whether the reference identifies it permanently.

use crate::surface::Coverage;

use super::interpreter::script;
use super::judge::{Judge, Verdict};
use super::programs::{CONTAINER_GLOBALS, CONTAINER_VALUES, NODE_VALUES, UV_VALUES};
use super::reference;
use super::shell_lexer::Word;

/// Judges a call of a package runner; returns `None` if the name is not one.
pub(super) fn judge(judge: &Judge<'_>, base: &str, rest: &[Word]) -> Option<Verdict> {
    let verb = operand(rest, NODE_VALUES).and_then(|(word, after)| Some((word.literal()?, after)));
    let verb = verb.as_ref().map(|(verb, after)| (verb.as_str(), *after));
    Some(match (base, verb) {
        ("npx" | "bunx" | "pnpx", _) => node_package(judge, base, rest),
        ("npm", Some(("exec" | "x", after))) | ("pnpm" | "yarn", Some(("dlx", after))) => {
            node_package(judge, base, after)
        }
        ("npm", _) => package_script(
            judge,
            "npm",
            &["package-lock.json", "npm-shrinkwrap.json"],
            &directory(judge, rest),
        ),
        ("pnpm", _) => package_script(judge, "pnpm", &["pnpm-lock.yaml"], &directory(judge, rest)),
        ("yarn", _) => package_script(judge, "yarn", &["yarn.lock"], &directory(judge, rest)),
        ("uvx", _) => python_package(judge, rest),
        ("uv", _) => uv(judge, rest),
        ("pipx", Some(("run", after))) => python_package(judge, after),
        ("docker" | "podman", _) => container(rest)?,
        ("go", Some(("run" | "install", after))) => go(judge, after),
        _ => return None,
    })
}

/// Returns the first word that is not an option, and the words after it.
pub(super) fn operand<'w>(words: &'w [Word], values: &[&str]) -> Option<(&'w Word, &'w [Word])> {
    let mut rest = words;
    loop {
        let (first, after) = rest.split_first()?;
        let text = first.shown();
        if text == "--" {
            return after.split_first();
        }
        if !text.starts_with('-') || text == "-" {
            return Some((first, after));
        }
        // An option with a value takes the next word. Without this list, the value would pass for the package.
        rest = if values.contains(&text.as_str()) { after.get(1..).unwrap_or_default() } else { after };
    }
}

/// Returns the values of the named options before the first word that is not an option.
fn option_values<'w>(words: &'w [Word], names: &[&str], values: &[&str]) -> Vec<Option<String>> {
    let mut found = Vec::new();
    let mut rest: &'w [Word] = words;
    while let Some((first, after)) = rest.split_first() {
        let text = first.shown();
        // Options after the package belong to the package, not to the runner.
        if text == "--" || !text.starts_with('-') {
            break;
        }
        let (name, inline) =
            text.split_once('=').map_or((text.as_str(), None), |(name, value)| (name, Some(value)));
        rest = after;
        if names.contains(&name) {
            match inline {
                Some(value) => found.push(Some(value.to_owned()).filter(|_| first.literal().is_some())),
                None => {
                    found.push(after.first().and_then(Word::literal));
                    rest = after.get(1..).unwrap_or_default();
                }
            }
        } else if values.contains(&name) && inline.is_none() {
            rest = after.get(1..).unwrap_or_default();
        }
    }
    found
}

/// Judges several references; the worst coverage counts, and all names are shown.
fn worst_reference(references: Vec<Option<String>>, judge: fn(&str) -> Coverage) -> Verdict {
    let mut verdict = Verdict::new(Coverage::Covered, String::new());
    let mut names = Vec::new();
    for reference in references {
        let (coverage, name) = match reference {
            Some(name) => (judge(&name), name),
            None => (Coverage::Unresolved, "a reference in a variable".to_owned()),
        };
        verdict = verdict.at_least(coverage);
        names.push(name);
    }
    Verdict { why: names.join(", "), ..verdict }
}

/// Judges npx, bunx, `npm exec`, `pnpm dlx` and `yarn dlx`.
fn node_package(judge: &Judge<'_>, base: &str, rest: &[Word]) -> Verdict {
    let values: Vec<&str> = NODE_VALUES.iter().copied().chain(["-p", "--package"]).collect();
    let packages = option_values(rest, &["-p", "--package"], NODE_VALUES);
    if !packages.is_empty() {
        // With `-c`, a text runs that can call anything.
        let calls = option_values(rest, &["-c", "--call"], &values);
        let least = if calls.is_empty() { Coverage::Covered } else { Coverage::Unresolved };
        return worst_reference(packages, reference::npm).at_least(least);
    }
    let Some((word, _)) = operand(rest, &values) else {
        return Verdict::new(Coverage::LauncherFloating, format!("{base} without a package"));
    };
    let local = word.shown();
    // npx runs a local path without downloading anything.
    if local.starts_with(['.', '/']) || judge.context.local(word).is_some() {
        return script(judge, word);
    }
    worst_reference(vec![word.literal()], reference::npm)
}

/// Judges uvx, `uv tool run` and `pipx run`.
fn python_package(judge: &Judge<'_>, rest: &[Word]) -> Verdict {
    let named = ["--from", "--spec", "--with", "--with-editable", "-w"];
    let values: Vec<&str> = UV_VALUES.iter().copied().chain(named).chain(["--with-requirements"]).collect();
    // All packages count and not only the first: `--with` installs into the same environment as the tool.
    let mut references = option_values(rest, &named, &values);
    let from = option_values(rest, &["--from", "--spec"], &values);
    if from.is_empty() {
        match operand(rest, &values) {
            None => return Verdict::new(Coverage::LauncherFloating, "no package given"),
            Some((word, _)) if references.is_empty() && judge.context.local(word).is_some() => {
                return script(judge, word);
            }
            Some((word, _)) => references.push(word.literal()),
        }
    } else if let [Some(path)] = references.as_slice()
        && let Some(directory) = judge.context.local(&super::argument::plain_argument(path))
    {
        return Verdict::script(directory);
    }
    worst_reference(references, reference::python)
}

/// Judges `uv run`, `uv tool run`, and the verbs that download packages.
fn uv(judge: &Judge<'_>, rest: &[Word]) -> Verdict {
    let Some((verb, after)) = operand(rest, UV_VALUES) else {
        return Verdict::new(Coverage::PathBinary, "uv");
    };
    match verb.literal().as_deref() {
        Some("tool") => match operand(after, UV_VALUES) {
            Some((word, after)) if word.literal().as_deref() == Some("run") => python_package(judge, after),
            _ => Verdict::new(Coverage::LauncherFloating, "uv tool"),
        },
        Some("run") => {
            let with = option_values(after, &["--with", "--with-editable"], UV_VALUES);
            let project = package_script(judge, "uv run", &["uv.lock"], &directory(judge, rest));
            project.at_least(worst_reference(with, reference::python).coverage)
        }
        // These verbs download packages, and `sync` runs their build scripts.
        Some("pip" | "sync" | "add") => Verdict::new(Coverage::LauncherFloating, "uv"),
        _ => Verdict::new(Coverage::PathBinary, "uv"),
    }
}

/// Judges `docker run IMAGE`; returns `None` for verbs that start nothing.
fn container(rest: &[Word]) -> Option<Verdict> {
    let (verb, mut after) = operand(rest, CONTAINER_GLOBALS)?;
    let mut verb = verb.literal()?;
    if verb == "container" {
        let (inner, behind) = operand(after, CONTAINER_GLOBALS)?;
        verb = inner.literal()?;
        after = behind;
    }
    match verb.as_str() {
        // `create` starts nothing yet, but it downloads the image that a later `start` runs.
        "run" | "create" => {
            let image = operand(after, CONTAINER_VALUES).map(|(word, _)| word.literal());
            Some(match image {
                None => Verdict::new(Coverage::LauncherFloating, "no image given"),
                Some(image) => worst_reference(vec![image], reference::image),
            })
        }
        "compose" | "play" | "kube" => {
            Some(Verdict::new(Coverage::LauncherFloating, format!("the images of {verb}")))
        }
        _ => None,
    }
}

/// Judges `go run MODULE@VERSION`, and `go run` of a directory.
fn go(judge: &Judge<'_>, after: &[Word]) -> Verdict {
    let values = [
        "-C",
        "-exec",
        "-ldflags",
        "-gcflags",
        "-asmflags",
        "-mod",
        "-modfile",
        "-o",
        "-overlay",
        "-p",
        "-tags",
    ];
    let Some((word, _)) = operand(after, &values) else {
        return Verdict::new(Coverage::Unresolved, "go run without a package");
    };
    match word.literal() {
        Some(name) => match name.rsplit_once('@') {
            Some((_, version)) => Verdict::new(reference::go(version), name),
            None => script(judge, word),
        },
        None => script(judge, word),
    }
}

/// Judges a script of a package file, whose dependencies only a lockfile pins.
pub(super) fn package_script(judge: &Judge<'_>, name: &str, locks: &[&str], directory: &str) -> Verdict {
    let here = !directory.is_empty() || judge.context.relative == crate::RelativeBase::Root;
    let directory = directory.trim_end_matches('/');
    // The runner finds the lockfile only in the directory that it works in.
    let locked = here && judge.context.has_any(if directory == "." { "" } else { directory }, locks);
    let coverage = if locked { Coverage::LauncherVersion } else { Coverage::LauncherFloating };
    Verdict::new(coverage, format!("a package script of {name}"))
}

/// Returns the directory of the tree in an option such as `--cwd`: `.` for the root, empty if there is none.
fn directory(judge: &Judge<'_>, rest: &[Word]) -> String {
    let options = ["--cwd", "--prefix", "-C", "--dir", "--directory", "--project"];
    let mut rest = rest;
    while let Some((first, after)) = rest.split_first() {
        let value = match first.literal() {
            Some(text) if options.contains(&text.as_str()) => after.first().cloned(),
            _ => options.iter().find_map(|option| {
                let mut word = first.clone();
                let Some(super::shell_lexer::Piece::Text(text)) = word.pieces.first_mut() else {
                    return None;
                };
                *text = text.strip_prefix(option)?.strip_prefix('=')?.to_owned();
                if text.is_empty() {
                    word.pieces.remove(0);
                }
                Some(word)
            }),
        };
        if let Some(path) = value.and_then(|word| judge.context.in_tree(&word)) {
            return if path.is_empty() { ".".to_owned() } else { path };
        }
        rest = after;
    }
    String::new()
}

/// Judges `bun run NAME`, `bun FILE` and `bun x PACKAGE`.
///
/// Returns the words as an error if bun is called like a plain interpreter.
pub(super) fn bun<'w>(judge: &Judge<'_>, rest: &'w [Word]) -> Result<Verdict, &'w [Word]> {
    let values =
        ["--cwd", "-c", "--config", "--env-file", "--tsconfig-override", "-F", "--filter", "-r", "--preload"];
    let Some((verb, after)) = operand(rest, &values) else { return Err(rest) };
    let Some(verb) = verb.literal() else { return Err(rest) };
    let coded =
        rest.iter().any(|word| matches!(word.literal().as_deref(), Some("-e" | "--eval" | "-p" | "--print")));
    match verb.as_str() {
        _ if coded => Err(rest),
        "x" => Ok(node_package(judge, "bun x", after)),
        "run" => match operand(after, &values) {
            Some((word, _)) if is_file(word) => Ok(script(judge, word)),
            _ => Ok(bun_script(judge, rest)),
        },
        _ if is_file_name(&verb) => Err(rest),
        _ => Ok(bun_script(judge, rest)),
    }
}

/// Judges a script of `package.json` that bun runs.
fn bun_script(judge: &Judge<'_>, rest: &[Word]) -> Verdict {
    package_script(judge, "bun", &["bun.lock", "bun.lockb"], &directory(judge, rest))
}

fn is_file(word: &Word) -> bool {
    word.literal().is_none_or(|name| is_file_name(&name))
}

fn is_file_name(name: &str) -> bool {
    name.contains('/') || name.contains('.')
}
