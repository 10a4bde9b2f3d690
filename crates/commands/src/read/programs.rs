//! Starts a program: its own file, the commands in its arguments, and its environment.

use super::options::values_of;
use super::{Read, Reader, Values};
use crate::inner::{InnerPart, inner, is_environment, option_texts};
use crate::table::{self, Known, base_name, find, has};
use crate::word::{Parts, WordPart, literal, pattern};
use crate::{CodeLanguage, CommandWord, OpenWord, OpenWordKind, ProgramRole, StartTarget};
use plugward_types::Part;

/// The surroundings of one call.
#[derive(Default)]
pub(crate) struct Call {
    /// The variables that the command sets.
    pub(crate) environment: Vec<(CommandWord, CommandWord)>,
    /// The standard input if the text sets it.
    pub(crate) input: Option<Values>,
}

impl Reader<'_> {
    /// Reads a call of a program, builtin or function, and returns its output.
    pub(crate) fn start(&mut self, words: &[CommandWord], call: &Call) -> Read<Values> {
        self.budget.enter()?;
        let search = (self.place.search.clone(), self.place.search_open.clone());
        for (name, value) in &call.environment {
            if name.shown() == "PATH" {
                self.search_path(value);
            }
        }
        let output = self.started(words, call)?;
        if call.environment.iter().any(|(name, _)| name.shown() == "PATH") {
            (self.place.search, self.place.search_open) = search;
        }
        self.budget.leave();
        Ok(output)
    }

    fn started(&mut self, words: &[CommandWord], call: &Call) -> Read<Values> {
        let Some((name, arguments)) = words.split_first() else { return Ok(vec![Vec::new()]) };
        let Some(parts) = name.values().next().map(<[WordPart]>::to_vec) else { return Ok(vec![Vec::new()]) };
        let text = literal(&parts);
        if let Some(text) = &text {
            if text.is_empty() {
                return Ok(vec![Vec::new()]);
            }
            if self.functions.contains_key(text) {
                let output = self.call(text, arguments, call.input.as_ref())?;
                return Ok(output);
            }
            if let Some(output) = self.builtin(text, words, call)? {
                return Ok(output);
            }
        }
        let shown = text.clone().unwrap_or_else(|| last_text(&parts));
        let base = base_name(&shown).to_owned();
        let at = self.emit(name, arguments, table::role(&base))?;
        self.own_file(at, name, &parts);
        if let Some(program) = self.line.programs.get_mut(at) {
            program.environment.clone_from(&call.environment);
        }
        for (variable, value) in &call.environment {
            if crate::variables::loads_code(variable.shown()) {
                self.loader_variable(at, variable.shown(), value)?;
            }
        }
        self.depth = self.depth.saturating_add(1);
        let place = self.place.clone();
        self.work_directory(at, &base, words);
        if let Some(Known::Interpreter(one)) = find(&base) {
            self.interpret(at, one, &base, words, call)?;
        } else {
            self.loads(at, &base, words);
            self.arguments(at, &base, words, call)?;
        }
        self.place = place;
        self.depth = self.depth.saturating_sub(1);
        Ok(self.output(words, call.input.as_ref()))
    }

    /// Records the file of a program itself.
    fn own_file(&mut self, at: usize, name: &CommandWord, parts: &[WordPart]) {
        let role = self.line.programs.get(at).map_or(ProgramRole::Other, |program| program.role);
        match literal(parts) {
            Some(text) if text.contains('/') => self.file(at, name),
            Some(text) if is_foreign(&text) => {
                self.line.open_words.push(OpenWord { word: name.clone(), kind: OpenWordKind::ForeignSyntax });
            }
            Some(_) if role == ProgramRole::Builtin => {}
            Some(_) => {
                if !self.place.search.is_empty() {
                    let directories = self.place.search.clone();
                    self.target(at, StartTarget::OnPath { name: name.clone(), directories });
                }
                if let Some(word) = self.place.search_open.clone() {
                    word.values()
                        .filter(|parts| literal(parts).is_none())
                        .for_each(|parts| self.open(&word, parts));
                }
            }
            None if pattern(parts).is_some() => self.file(at, name),
            None => {
                let contents = self.content_files(at, parts);
                if !(contents
                    && parts.iter().all(|part| matches!(part, WordPart::Contents(_) | WordPart::Text(_))))
                {
                    self.open(name, parts);
                }
            }
        }
    }

    /// Records the files whose contents are part of a value; returns `true` if there are any.
    pub(super) fn content_files(&mut self, at: usize, parts: &[WordPart]) -> bool {
        let mut any = false;
        for part in parts {
            if let WordPart::Contents(path) = part {
                self.target(at, StartTarget::File(path.clone()));
                any = true;
            }
        }
        any
    }

    /// Reads the commands in the arguments of a program that is not an interpreter.
    fn arguments(&mut self, at: usize, base: &str, words: &[CommandWord], call: &Call) -> Read<()> {
        // The value of an option can be unknown, and the option is not.
        let has_name = |word: &CommandWord| {
            let first = word.values().next().and_then(<[WordPart]>::first);
            matches!(first, Some(WordPart::Text(text)) if text.contains('='))
        };
        let literal =
            |word| CommandWord::literal(word).or_else(|| has_name(word).then(|| word.shown().to_owned()));
        let literals: Vec<Option<String>> = words.iter().map(literal).collect();
        let mut texts: Vec<Option<&str>> = literals.iter().map(Option::as_deref).collect();
        if let Some(name) = texts.first_mut() {
            *name = Some(base);
        }
        let found = inner(&texts);
        if base == "run-parts" {
            self.run_parts(at, words);
        }
        if has(&table::table().python_runners, base) {
            self.python_script(at, base, words.rest(1));
        }
        if self.package(at, base, words, &texts)? {
            return Ok(());
        }
        if base == "parallel" && found.parts.is_empty() {
            return self.lines_of_commands(at, words, call);
        }
        let elsewhere = table::wrapper(base).is_some_and(|one| one.elsewhere)
            || matches!(base, "docker" | "podman" | "nerdctl");
        let own = option_texts(&texts, base);
        for part in found.parts {
            // The texts in the options of ssh run on this machine.
            let elsewhere = usize::from(elsewhere && !own.contains(&part));
            self.elsewhere = self.elsewhere.saturating_add(elsewhere);
            let mark = self.line.open_words.len();
            let word = match part {
                InnerPart::Words { from, to } => {
                    self.wrapped(base, words, from, to, call)?;
                    from
                }
                InnerPart::Text { word, offset } => {
                    self.argument_text(at, words, word, offset)?;
                    word
                }
            };
            // The argument of an unknown program is a command only if the scan finds something in it.
            if found.role == ProgramRole::Other && self.line.open_words.len() > mark {
                self.line.open_words.truncate(mark);
                let word = words.get(word).cloned().unwrap_or_else(|| CommandWord::known(""));
                self.line.open_words.push(OpenWord { word, kind: OpenWordKind::UnknownProgram });
            }
            self.elsewhere = self.elsewhere.saturating_sub(elsewhere);
        }
        Ok(())
    }

    /// Reads `parallel` without a command: each line of its input is one.
    fn lines_of_commands(&mut self, at: usize, words: &[CommandWord], call: &Call) -> Read<()> {
        let mut files = values_of(words, &["-a", "--arg-file"]);
        let after = words.iter().skip_while(|word| word.shown() != "::::");
        files.extend(after.skip(1).cloned());
        for file in &files {
            self.file(at, file);
        }
        let Some(name) = words.first().filter(|_| files.is_empty()) else { return Ok(()) };
        if let Some(values) = &call.input {
            return self.code(at, CodeLanguage::Shell, name, values, None);
        }
        self.line.open_words.push(OpenWord { word: name.clone(), kind: OpenWordKind::Dynamic });
        Ok(())
    }

    /// Records the files of the directory that `run-parts` runs.
    fn run_parts(&mut self, at: usize, words: &[CommandWord]) {
        let lists = |word: &CommandWord| matches!(word.shown(), "--list" | "--test");
        let directory = words.last().filter(|_| words.len() > 1 && !words.iter().any(lists));
        match directory.map(|word| (word, word.literal())) {
            Some((_, Some(path))) => self.paths(at, &format!("{path}/*"), StartTarget::Pattern),
            Some((word, None)) => word.values().for_each(|parts| self.open(word, parts)),
            None => {}
        }
    }

    /// Reads the words of a command behind a wrapper.
    fn wrapped(
        &mut self,
        base: &str,
        words: &[CommandWord],
        from: usize,
        to: usize,
        call: &Call,
    ) -> Read<()> {
        let wrapper = table::wrapper(base);
        let is_find = matches!(base, "find" | "gfind" | "fd" | "fdfind");
        let appends = wrapper.is_some_and(|one| one.appends);
        let mut inner: Vec<CommandWord> = Vec::new();
        for word in words.part(from..to) {
            let replaces = (is_find || appends) && word.shown().contains("{}");
            inner.push(if replaces { with_placeholder(word) } else { word.clone() });
        }
        if appends {
            inner.push(CommandWord::dynamic("{}"));
        }
        let mut environment = call.environment.clone();
        let place = self.place.clone();
        let options = words.part(1..from);
        if let Some(wrapper) = wrapper {
            let assigned = options.iter().filter(|word| wrapper.assigns && is_environment(word.shown()));
            environment.extend(assigned.filter_map(assignment));
            for target in values_of(options, &wrapper.chdir) {
                self.change_directory(&target);
            }
        }
        let input = call.input.clone().filter(|_| !appends);
        self.wrapped = true;
        self.start(&inner, &Call { environment, input })?;
        self.wrapped = false;
        self.place = place;
        Ok(())
    }

    /// Reads a text for a shell in an argument.
    fn argument_text(&mut self, at: usize, words: &[CommandWord], word: usize, offset: usize) -> Read<()> {
        let Some(text) = words.get(word) else { return Ok(()) };
        let text = &super::interpreters::cut(text, offset);
        let mut values: Values = text.values().map(<[WordPart]>::to_vec).collect();
        // `env -S "sh x" y` adds the words after the text.
        let is_env =
            words.first().and_then(CommandWord::literal).is_some_and(|name| base_name(&name) == "env");
        if is_env {
            for more in words.rest(word.saturating_add(1)) {
                let more = more
                    .values()
                    .map(|parts| super::expand::join(&[WordPart::Text(" ".to_owned())], parts))
                    .collect();
                values = super::output::concat(values, &more);
            }
        }
        self.code(at, CodeLanguage::Shell, text, &values, None)
    }

    /// Records a text that runs, and reads it if it is for a shell.
    pub(crate) fn code(
        &mut self,
        at: usize,
        language: CodeLanguage,
        word: &CommandWord,
        values: &Values,
        positional: Option<&[CommandWord]>,
    ) -> Read<()> {
        for parts in values {
            let text = CommandWord::new(word.shown(), vec![parts.clone()]);
            self.target(at, StartTarget::Code { language, text });
            let contents = self.content_files(at, parts);
            let blank = |part: &WordPart| matches!(part, WordPart::Text(text) if text.trim().is_empty());
            let known =
                parts.iter().any(|part| matches!(part, WordPart::Text(text) if !text.trim().is_empty()));
            if !known {
                let covered = parts.iter().all(|part| matches!(part, WordPart::Contents(_)) || blank(part));
                if !covered || (parts.is_empty() && contents) {
                    self.open(word, parts);
                }
                continue;
            }
            if language == CodeLanguage::Shell {
                let text = self.nest(parts)?;
                let place = self.place.clone();
                self.branch(|reader| {
                    if let Some((zero, rest)) = positional.and_then(<[_]>::split_first) {
                        reader.set_positional(rest);
                        reader.assign(
                            "0",
                            std::rc::Rc::new(zero.values().map(|one| vec![one.to_vec()]).collect()),
                        );
                    }
                    reader.nested(&text, None)
                })?;
                self.place = place;
            }
        }
        Ok(())
    }

    /// Adds the entries of a value of `PATH`.
    pub(crate) fn search_path(&mut self, value: &CommandWord) {
        for parts in value.values() {
            let mut entry = Parts::new();
            let mut entries = Vec::new();
            for part in parts {
                let WordPart::Text(text) = part else {
                    entry.push(part.clone());
                    continue;
                };
                for (index, piece) in text.split(':').enumerate() {
                    if index > 0 {
                        entries.push(core::mem::take(&mut entry));
                    }
                    if !piece.is_empty() {
                        entry.push(WordPart::Text(piece.to_owned()));
                    }
                }
            }
            entries.push(entry);
            for entry in entries {
                if entry.as_slice() == [WordPart::Variable("PATH".to_owned())] {
                    continue;
                }
                match literal(&entry) {
                    // An empty entry is the working directory.
                    Some(path) => {
                        for path in self.places(&path) {
                            if !self.place.search.contains(&path) {
                                self.place.search.push(path);
                            }
                        }
                    }
                    None => self.place.search_open = Some(CommandWord::new(value.shown(), vec![entry])),
                }
            }
        }
    }
}

/// Splits `NAME=VALUE` in an argument.
fn assignment(word: &CommandWord) -> Option<(CommandWord, CommandWord)> {
    let (name, _) = word.shown().split_once('=')?;
    Some((CommandWord::known(name), super::interpreters::cut(word, name.len().saturating_add(1))))
}

/// Returns a word with `{}`, which `find` and `xargs` replace, as an unknown part.
fn with_placeholder(word: &CommandWord) -> CommandWord {
    let split = |parts: &[WordPart]| {
        let mut all = Parts::new();
        for part in parts {
            let WordPart::Text(text) = part else {
                all.push(part.clone());
                continue;
            };
            for (index, piece) in text.split("{}").enumerate() {
                if index > 0 {
                    all.push(WordPart::Dynamic("{}".to_owned()));
                }
                if !piece.is_empty() {
                    all.push(WordPart::Text(piece.to_owned()));
                }
            }
        }
        all
    };
    CommandWord::new(word.shown(), word.values().map(split).collect())
}

/// Returns the known text at the end of a value, such as `/bin/node` of `${PREFIX}/bin/node`.
fn last_text(parts: &[WordPart]) -> String {
    match parts.last() {
        Some(WordPart::Text(text)) if text.contains('/') => text.clone(),
        _ => String::new(),
    }
}

/// Returns `true` for a program name in the syntax of cmd or PowerShell.
fn is_foreign(name: &str) -> bool {
    let variable = name.split('%').nth(1).is_some_and(|inner| {
        !inner.is_empty()
            && name.matches('%').count() > 1
            && inner.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    });
    variable || name.starts_with("$env:") || (name.get(1..3) == Some(":\\"))
}
