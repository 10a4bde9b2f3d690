//! Paths with unknown parts, and the files that they can mean.

use plugward_types::Part;
use std::collections::BTreeSet;

use plugward_commands::{
    CommandLine, CommandWord, RecipeTool, StartTarget, StartedProgram, WordPart, read_argv,
};
use plugward_readers::UNKNOWN;

use super::follow::{FileLanguage, shebang};
use super::place::{Landing, directory, normalized};
use super::recipes::MOST_FILE;
use super::scope::{PathVerdict, is_dependency};
use super::{Collector, MOST_FILES, NOT_UTF8, Origin, joined};

/// Stands for an unknown part of a path. Unlike `*`, it also matches a name with a leading dot.
pub(super) const ANY: char = '\u{2}';
const ANY_BYTE: u8 = ANY as u8;
/// The characters of a path that can mean several files.
pub(super) const WILDCARDS: [char; 4] = ['*', '?', '[', ANY];

/// Returns the values of a word, with [`ANY`] for each unknown part.
pub(super) fn patterns(word: &CommandWord) -> Vec<String> {
    let any = ANY.to_string();
    let text = |part: &WordPart| match part {
        WordPart::Text(text) => text.replace(UNKNOWN, &any),
        WordPart::Glob(wildcard) => wildcard.to_string(),
        _ => any.clone(),
    };
    word.values().map(|parts| parts.iter().map(text).collect()).collect()
}

impl Collector<'_> {
    /// Returns the values of a text of a program, with [`ANY`] for each unknown part.
    pub(super) fn expanded(&mut self, text: &str, script: &str, start: &str) -> Vec<String> {
        let home = if text.starts_with('~') { self.scope.expand(text) } else { None };
        let text = home.unwrap_or_else(|| text.to_owned());
        if !text.contains('$') {
            return vec![text];
        }
        let line = self.scope.read(start, None, |context| read_argv(&[&text], context));
        match line {
            Ok(line) => line.programs.iter().take(1).flat_map(|one| patterns(&one.name)).collect(),
            Err(error) => {
                self.too_complex(script, &error);
                Vec::new()
            }
        }
    }

    /// Returns the absolute paths that a pattern in a script can mean. An unknown start is often the directory of the
    /// script, or one above it.
    pub(super) fn candidates(&self, pattern: &str, script: &str, bases: &[&str]) -> Vec<String> {
        let bases = bases.iter().copied();
        match pattern.strip_prefix(ANY) {
            // Functions that join paths remove a name before `..` even if it is a file or a symlink.
            None => {
                let joined = bases.map(|base| joined(base, pattern));
                let mut both: Vec<String> =
                    joined.flat_map(|path| [path.clone(), normalized(&path)]).collect();
                both.dedup();
                both
            }
            Some(rest) => {
                let known = rest.split(WILDCARDS).next().unwrap_or_default();
                let has_name =
                    known.starts_with('/') && (known == rest || known.trim_start_matches('/').contains('/'));
                let above = core::iter::successors(Some(directory(script)), |at| {
                    Some(directory(at)).filter(|above| above != at && self.scope.is_around(above))
                });
                above.chain(bases).filter(|_| has_name).map(|base| format!("{base}{rest}")).collect()
            }
        }
    }

    /// Returns the candidates that exist, or patterns: the first file of a known path, and any of an unknown start.
    pub(super) fn located(&self, pattern: &str, script: &str, bases: &[&str]) -> Vec<String> {
        let is_file = |path: &String| self.places.is_file(path);
        let mut found = self.candidates(pattern, script, bases);
        if pattern.starts_with(ANY) {
            found.retain(|path| path.contains(WILDCARDS) || is_file(path) && !is_dependency(path));
        } else if !pattern.contains(WILDCARDS) {
            found = found.into_iter().find(is_file).into_iter().collect();
        }
        found
    }

    /// Takes the files that a path with an unknown part can mean in a script: the code in the directory that it names.
    /// Returns `false` if it names none.
    pub(super) fn open_path(&mut self, word: &CommandWord, script: &str, start: &str) -> bool {
        let mut names_any = false;
        for pattern in patterns(word) {
            // Without a directory in front of the unknown part, the path can mean any file.
            let known = pattern.trim_start_matches([ANY, '.', '/']).split(ANY).next().unwrap_or_default();
            let has_directory = pattern.split(ANY).next().is_some_and(|known| known.contains('/'));
            if known.is_empty() || !(has_directory || pattern.starts_with(ANY)) {
                continue;
            }
            for path in self.located(&pattern, script, &[start]) {
                names_any = true;
                self.code_at(&path, None, start);
            }
        }
        names_any
    }

    /// Takes a file, or the code among those that match a pattern.
    pub(super) fn code_at(&mut self, path: &str, language: Option<FileLanguage>, start: &str) {
        if !path.contains(WILDCARDS) || self.places.is_file(path) {
            return self.file(path, &[], language, start, Origin::Body);
        }
        for path in self.matches(path) {
            if !is_dependency(&path) {
                self.code_file(&path, start);
            }
        }
    }

    /// Takes a file that can be code by its name, its execute bit or its first line.
    fn code_file(&mut self, path: &str, start: &str) {
        let landed = self.places.land(path);
        let Landing::File { is_executable, .. } = landed.landing else { return };
        let has_program = || {
            let read = || self.places.read(&landed.path, MOST_FILE);
            self.scope.reaches(&landed.path) && read().is_ok_and(|bytes| shebang(&bytes).is_some())
        };
        if is_executable || FileLanguage::is_code(path) || has_program() {
            self.file(path, &[], None, start, Origin::Body);
        }
    }

    /// Takes the code that a command gives to a script of the row as arguments or variables, which it can start.
    pub(super) fn given_files(&mut self, program: &StartedProgram, start: &str) {
        let at = joined(start, program.directory.as_str());
        let own = program.starts.iter().find_map(|target| match target {
            StartTarget::File(path) => Some(joined(start, path.as_str())).filter(|path| self.is_own(path)),
            // `make lint TOOL=./x.sh` and `just lint ./x.sh`.
            StartTarget::Recipe { tool: RecipeTool::Make | RecipeTool::Just, .. } => Some(format!("{at}/-")),
            _ => None,
        });
        // A variable reaches the script that starts, and each that it starts.
        let Some(script) = own else { return };
        let values = program.environment.iter().map(|(_, value)| value);
        for pattern in program.arguments.iter().chain(values).flat_map(patterns) {
            let value = pattern.split_once('=').map(|(_, value)| value);
            let texts = core::iter::once(pattern.as_str()).chain(value);
            for text in texts.filter(|text| !text.trim_start_matches(ANY).contains(WILDCARDS)) {
                for path in self.located(text, &script, &[&at, directory(&script)]) {
                    self.code_file(&path, &at);
                }
            }
        }
    }

    /// Returns `true` for a script of the row.
    fn is_own(&self, path: &str) -> bool {
        let landed = self.places.land(path);
        let verdict = self.scope.verdict(path, &landed, &self.places);
        landed.is_file() && matches!(verdict, PathVerdict::Own | PathVerdict::Closure)
    }

    /// Takes the code that the programs of a script list, if it starts what they print.
    pub(super) fn listed_files(&mut self, line: &CommandLine, start: &str, file: &str) {
        let mut unlocated = Vec::new();
        for open in &line.open_words {
            if !self.open_path(&open.word, file, start) {
                unlocated.extend(open.word.values().flatten().cloned());
            }
        }
        for program in &line.programs {
            let name = program.name.literal().unwrap_or_default();
            let is_started = unlocated.iter().any(|part| match part {
                WordPart::Output(text) => text.contains(&name),
                WordPart::Dynamic(_) => true,
                _ => false,
            });
            let words: Vec<String> = program.arguments.iter().flat_map(patterns).collect();
            let found = match name.as_str() {
                "find" if is_started || words.windows(3).any(starts) => found_by(&words),
                "ls" if is_started => {
                    let here = words.iter().all(|word| word.starts_with('-')).then(|| ".".to_owned());
                    let paths = words.into_iter().filter(|word| !word.starts_with('-')).chain(here);
                    paths.flat_map(|path| [format!("{path}/{ANY}"), path]).collect()
                }
                _ => continue,
            };
            let at = joined(start, program.directory.as_str());
            for pattern in found {
                for path in self.located(&pattern, file, &[&at]) {
                    self.code_at(&path, None, start);
                }
            }
        }
    }

    /// Expands a pattern, component by component. `**` stands for any number of directories.
    pub(super) fn matches(&mut self, pattern: &str) -> Vec<String> {
        let mut found = vec![String::new()];
        for part in pattern.split('/').filter(|part| !matches!(*part, "" | ".")) {
            let mut next = Vec::new();
            for directory in found {
                if !part.contains(WILDCARDS) {
                    next.push(format!("{directory}/{part}"));
                    continue;
                }
                if part == "**" {
                    next.extend(self.directories(&directory));
                    continue;
                }
                let mut names = self.names_in(&directory);
                names.retain(|name| glob(part.as_bytes(), name.as_bytes()));
                for path in names.into_iter().map(|name| format!("{directory}/{name}")) {
                    if path.contains('\u{fffd}') {
                        self.unreadable(&path, NOT_UTF8);
                    }
                    next.push(path);
                }
            }
            if next.len() > MOST_FILES {
                self.full();
                return Vec::new();
            }
            found = next;
        }
        found
    }

    /// Returns the names in a directory. Any can be among those that run.
    fn names_in(&mut self, path: &str) -> Vec<String> {
        let landed = self.places.land(&format!("{path}/"));
        match self.places.names(&landed.path) {
            Ok(names) => names,
            Err(error) => {
                if landed.landing == Landing::Directory {
                    self.unreadable(&landed.path, &error);
                }
                Vec::new()
            }
        }
    }

    /// Returns a directory and those below it, without dependencies.
    fn directories(&mut self, path: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut queue = vec![path.to_owned()];
        while let Some(at) = queue.pop() {
            let landed = self.places.land(&at);
            if landed.landing != Landing::Directory
                || is_dependency(&landed.path)
                || !self.scope.reaches(&landed.path)
                || !seen.insert(landed.path.clone())
            {
                continue;
            }
            if seen.len() > MOST_FILES {
                self.full();
                break;
            }
            queue.extend(self.names_in(&landed.path).iter().map(|name| format!("{}/{name}", landed.path)));
            found.push(landed.path);
        }
        found
    }
}

/// Returns `true` if the words of `find` start the files. `-exec rm` and `-exec sh -c CODE` have them as data.
fn starts(words: &[String]) -> bool {
    match words {
        [option, program, next] if option.starts_with("-exec") || option.starts_with("-ok") => {
            let name = program.rsplit('/').next().unwrap_or(program);
            program.starts_with("{}") || FileLanguage::of_program(name).is_some() && !next.starts_with('-')
        }
        _ => false,
    }
}

/// Returns the patterns of the files that `find` finds.
fn found_by(words: &[String]) -> Vec<String> {
    let is_path = |word: &&String| !word.starts_with(['-', '(', '!']);
    let names = words.windows(2).filter_map(|pair| match pair {
        [option, name] if matches!(option.as_str(), "-name" | "-iname") => Some(name.as_str()),
        _ => None,
    });
    let any = ANY.to_string();
    let names: Vec<&str> = names.collect();
    let names = if names.is_empty() { vec![any.as_str()] } else { names };
    let words = words.iter().filter(|word| !matches!(word.as_str(), "-L" | "-H" | "-P"));
    let paths: Vec<&str> = words.take_while(is_path).map(String::as_str).collect();
    let paths = if paths.is_empty() { vec!["."] } else { paths };
    paths.iter().flat_map(|path| names.iter().map(move |name| format!("{path}/**/{name}"))).collect()
}

/// Returns `true` if a name matches a pattern of a shell. A leading dot only matches itself and an unknown part.
pub(super) fn glob(pattern: &[u8], name: &[u8]) -> bool {
    if name.first() == Some(&b'.') && !matches!(pattern.first(), Some(&(b'.' | ANY_BYTE))) {
        return false;
    }
    let (mut at, mut from) = (0_usize, 0_usize);
    let mut star: Option<(usize, usize)> = None;
    loop {
        let step = match (pattern.get(at), name.get(from)) {
            (None, None) => return true,
            (Some(&(b'*' | ANY_BYTE)), _) => {
                star = Some((at, from));
                at = at.saturating_add(1);
                continue;
            }
            (Some(b'?'), Some(_)) => Some(1),
            // A set of characters; any character counts, since this can only add files.
            (Some(b'['), Some(_)) => {
                let rest = pattern.rest(at);
                rest.iter().skip(2).position(|byte| *byte == b']').map(|end| end.saturating_add(3))
            }
            (Some(one), Some(other)) if one == other => Some(1),
            _ => None,
        };
        match (step, star) {
            (Some(step), _) => {
                at = at.saturating_add(step);
                from = from.saturating_add(1);
            }
            (None, Some((before, tried))) if tried < name.len() => {
                at = before.saturating_add(1);
                from = tried.saturating_add(1);
                star = Some((before, from));
            }
            (None, _) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_a_shell() {
        for (pattern, name) in
            [("*.sh", "a.sh"), ("a?c", "abc"), ("[ab].sh", "b.sh"), ("*", "a"), ("a*b*c", "axbxc")]
        {
            assert!(glob(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
        for (pattern, name) in [("*.sh", "a.py"), ("*.sh", ".a.sh"), ("a?c", "ac"), ("a*b", "axc"), ("", "a")]
        {
            assert!(!glob(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
    }
}
