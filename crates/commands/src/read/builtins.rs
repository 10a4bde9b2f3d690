//! Builtins of the shell, and calls of functions.

use plugward_types::Part;
use std::rc::Rc;

use super::programs::Call;
use super::{Read, Reader, Values};
use crate::table::table;
use crate::word::{Parts, WordPart, literal};
use crate::{CodeLanguage, CommandWord, OpenWord, OpenWordKind, ProgramRole, StartTarget, TOP_LEVEL};

impl Reader<'_> {
    /// Reads a call of a builtin; returns `None` if the name is not one.
    pub(super) fn builtin(&mut self, name: &str, words: &[CommandWord], call: &Call) -> Read<Option<Values>> {
        let arguments = words.rest(1);
        let operand = |at: usize| arguments.iter().filter(|word| !word.shown().starts_with('-')).nth(at);
        let known = matches!(name, "eval" | "source" | "." | "trap")
            || table().builtins.iter().any(|one| one == name);
        if !known {
            return Ok(None);
        }
        let Some(word) = words.first() else { return Ok(None) };
        let at = self.emit(word, arguments, ProgramRole::Builtin)?;
        match name {
            "cd" | "pushd" => {
                if name == "pushd" {
                    self.place.stack.push(self.place.directories.clone());
                }
                let target =
                    arguments.iter().find(|word| word.shown() == "-" || !word.shown().starts_with('-'));
                match target {
                    Some(target) => {
                        let target = self.with_search(target, call);
                        self.change_directory(&target);
                    }
                    None if name == "cd" => {
                        let home = self.lookup("HOME").into_iter().flatten().collect();
                        self.change_directory(&CommandWord::new("~", home));
                    }
                    None => {}
                }
            }
            "popd" => {
                if let Some(directories) = self.place.stack.pop() {
                    self.place.directories = directories;
                    self.place.certain = true;
                }
            }
            "eval" => {
                let mut values = vec![Vec::new()];
                for word in arguments {
                    let word = word
                        .values()
                        .map(|parts| super::expand::join(parts, &[WordPart::Text(" ".to_owned())]))
                        .collect();
                    values = super::output::concat(values, &word);
                }
                let shown: Vec<&str> = arguments.iter().map(CommandWord::shown).collect();
                return self
                    .evaluate(at, &CommandWord::new(shown.join(" "), values.clone()), &values, call)
                    .map(Some);
            }
            "source" | "." => self.source(at, arguments, call)?,
            "trap" if arguments.len() > 1 => {
                if let Some(text) = operand(0) {
                    let values = text.values().map(<[WordPart]>::to_vec).collect();
                    self.code(at, CodeLanguage::Shell, text, &values, None)?;
                }
            }
            "alias" => {
                for word in arguments {
                    let Some((_, text)) = word.shown().split_once('=') else { continue };
                    let text = CommandWord::known(text);
                    let values = text.values().map(<[WordPart]>::to_vec).collect();
                    let opens = self.line.open_words.len();
                    self.code(at, CodeLanguage::Shell, &text, &values, None)?;
                    // Shells expand aliases only if they are interactive.
                    self.line.open_words.truncate(opens);
                }
            }
            // `hash -p FILE NAME` and `enable -f FILE NAME` change what a name runs.
            "hash" | "enable"
                if arguments.first().is_some_and(|word| matches!(word.shown(), "-p" | "-f")) =>
            {
                if let Some(word) = operand(0) {
                    self.file(at, word);
                }
            }
            _ => self.change_variables(name, arguments),
        }
        Ok(Some(self.output(words, call.input.as_ref())))
    }

    /// Reads the text of `eval` in the current state.
    fn evaluate(&mut self, at: usize, word: &CommandWord, values: &Values, call: &Call) -> Read<Values> {
        let [parts] = values.as_slice() else {
            self.code(at, CodeLanguage::Shell, word, values, None)?;
            return Ok(vec![vec![WordPart::Output(word.shown().to_owned())]]);
        };
        if !parts.iter().any(|part| matches!(part, WordPart::Text(text) if !text.trim().is_empty())) {
            if !parts.is_empty() {
                self.code(at, CodeLanguage::Shell, word, values, None)?;
            }
            return Ok(vec![vec![WordPart::Output(word.shown().to_owned())]]);
        }
        self.target(at, StartTarget::Code { language: CodeLanguage::Shell, text: word.clone() });
        self.content_files(at, parts);
        let text = self.nest(parts)?;
        self.depth = self.depth.saturating_add(1);
        let output = self.nested(&text, call.input.as_ref())?;
        self.depth = self.depth.saturating_sub(1);
        Ok(output)
    }

    /// Reads `source FILE` and `. FILE`.
    fn source(&mut self, at: usize, arguments: &[CommandWord], call: &Call) -> Read<()> {
        let Some(file) = arguments.first() else { return Ok(()) };
        if file
            .values()
            .any(|parts| matches!(parts, [WordPart::Output(source)] if self.processes.contains_key(source)))
        {
            let values = self.contents(file);
            return self.code(at, CodeLanguage::Shell, file, &values, None);
        }
        if let (Some("/dev/stdin" | "/dev/fd/0" | "-"), Some(input)) =
            (file.literal().as_deref(), &call.input)
        {
            return self.code(at, CodeLanguage::Shell, file, input, None);
        }
        if file.literal().is_some_and(|name| !name.contains('/')) && !self.place.search.is_empty() {
            let directories = self.place.search.clone();
            self.target(at, StartTarget::OnPath { name: file.clone(), directories });
        }
        self.script_file(at, file);
        Ok(())
    }

    /// Records a script, unless it is a file descriptor, which is open.
    pub(super) fn script_file(&mut self, at: usize, word: &CommandWord) {
        if word.literal().is_some_and(|path| {
            path.starts_with("/dev/fd/") || path.starts_with("/proc/") || path == "/dev/stdin"
        }) {
            self.line.open_words.push(OpenWord { word: word.clone(), kind: OpenWordKind::Dynamic });
        } else {
            self.file(at, word);
        }
    }

    /// Follows builtins that set variables.
    fn change_variables(&mut self, name: &str, arguments: &[CommandWord]) {
        let dynamic = |name: &str| Rc::new(vec![vec![vec![WordPart::Dynamic(name.to_owned())]]]);
        match name {
            "read" | "mapfile" | "readarray" | "getopts" | "let" | "printf" | "print" => {
                let only_v = matches!(name, "printf" | "print");
                let v = arguments.iter().position(|word| word.shown() == "-v");
                for (index, word) in arguments.iter().enumerate() {
                    let is_target = if only_v {
                        v.is_some_and(|v| index == v.saturating_add(1))
                    } else {
                        !word.shown().starts_with('-')
                    };
                    let shown = word.shown();
                    let target = shown.split_once(['=', '+']).map_or(shown, |(name, _)| name).to_owned();
                    if is_target {
                        self.assign(&target, dynamic(&target));
                    }
                }
            }
            "unset" => {
                for word in arguments {
                    self.assign(word.shown(), Rc::new(vec![vec![Vec::new()]]));
                }
            }
            "set" => {
                let flags = |word: &&CommandWord| word.shown().starts_with('-') && word.shown() != "--";
                if arguments.iter().take_while(flags).any(|word| word.shown().contains('e')) {
                    self.place.exits = true;
                }
                if let Some(at) = arguments.iter().position(|word| word.shown() == "--") {
                    self.set_positional(arguments.rest(at.saturating_add(1)));
                } else if arguments.first().is_some_and(|word| !word.shown().starts_with(['-', '+'])) {
                    self.set_positional(arguments);
                }
            }
            "shift" => {
                let by = arguments.first().and_then(|word| word.literal()?.parse().ok()).unwrap_or(1);
                if let Some(old) = self.variables.get("@").cloned() {
                    let rest: Vec<Vec<Parts>> =
                        old.iter().map(|fields| fields.iter().skip(by).cloned().collect()).collect();
                    self.assign("@", Rc::new(rest));
                }
            }
            // `export "$assignment"`: the name is in the value.
            "declare" | "export" | "local" | "readonly" | "typeset" => {
                for word in arguments {
                    if let Some((name, value)) =
                        word.literal().as_deref().and_then(|text| text.split_once('='))
                    {
                        let word = CommandWord::known(value);
                        if name == "PATH" {
                            self.search_path(&word);
                        }
                        self.assign(name, Rc::new(vec![word.values().map(<[WordPart]>::to_vec).collect()]));
                    }
                }
            }
            _ => {}
        }
    }

    /// Sets `$1` and the following parameters.
    pub(super) fn set_positional(&mut self, words: &[CommandWord]) {
        let fields = words.iter().map(|word| match word.values().collect::<Vec<_>>().as_slice() {
            [one] => one.to_vec(),
            _ => vec![WordPart::Dynamic(word.shown().to_owned())],
        });
        let fields: Vec<Parts> = fields.collect();
        self.assign("@", Rc::new(vec![fields]));
    }

    /// Adds the directories in which `cd` looks for a relative path, if the text sets `CDPATH`.
    fn with_search(&self, target: &CommandWord, call: &Call) -> CommandWord {
        let own = call.environment.iter().find(|(name, _)| name.shown() == "CDPATH");
        let entries: Values = match own {
            Some((_, value)) => value.values().map(<[WordPart]>::to_vec).collect(),
            None if self.variables.contains_key("CDPATH") => {
                self.lookup("CDPATH").into_iter().flatten().collect()
            }
            None => return target.clone(),
        };
        let mut values: Values = target.values().map(<[WordPart]>::to_vec).collect();
        for path in target.values().filter_map(literal) {
            if path.starts_with('/') || matches!(path.split('/').next(), Some("." | ".." | "-")) {
                continue;
            }
            for entry in &entries {
                match literal(entry) {
                    Some(list) => {
                        let directories = list.split(':').filter(|one| !one.is_empty());
                        values.extend(directories.map(|one| vec![WordPart::Text(format!("{one}/{path}"))]));
                    }
                    None => values.push(super::expand::join(entry, &[WordPart::Text(format!("/{path}"))])),
                }
            }
        }
        CommandWord::new(target.shown(), values)
    }

    /// Changes the directory, in which relative paths start from now on.
    pub(super) fn change_directory(&mut self, target: &CommandWord) {
        let before = core::mem::take(&mut self.place.directories);
        let mut after = Vec::new();
        let mut open = None;
        let mut relative = false;
        for parts in target.values() {
            match literal(parts) {
                Some(path) if path == "-" => after.extend(self.place.previous.iter().cloned()),
                Some(path) => {
                    relative |= !path.starts_with('/');
                    let joined = before.iter().map(|directory| directory.join(&path));
                    joined.for_each(|one| {
                        if !after.contains(&one) {
                            after.push(one);
                        }
                    });
                }
                None => open = Some(target.clone()),
            }
        }
        let still_open = self.place.open.take().filter(|_| relative);
        self.place.open = open.or(still_open);
        self.place.certain = self.place.exits || after.iter().all(|one| self.exists(one, &before));
        self.place.directories = if after.is_empty() { before.clone() } else { after };
        self.place.previous = before;
        self.place.limit();
    }

    /// Returns `true` if a directory surely exists: the host made it, or it is part of a plugin.
    fn exists(&self, path: &crate::PathText, before: &[crate::PathText]) -> bool {
        let given = |name: &str| (self.context.variables)(name).map(|text| crate::PathText::new(&text));
        let made = ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "HOME", "PWD", TOP_LEVEL];
        let is_made = made.into_iter().any(|name| given(name).is_some_and(|one| one == *path));
        let roots = table().plugin_roots.iter().filter_map(|name| given(name));
        let in_plugin = |root: crate::PathText| {
            path.as_str().starts_with(root.as_str())
                && path.is_in(&root)
                && (*path == root || !before.iter().any(|one| one.as_str().starts_with(root.as_str())))
        };
        let up = before.iter().all(|one| {
            path.as_str()
                .strip_prefix(one.as_str())
                .is_some_and(|rest| rest.split('/').all(|step| matches!(step, "" | "..")))
        });
        is_made || up || path.as_str() == "/" || path.as_str() == "/tmp" || roots.into_iter().any(in_plugin)
    }

    /// Reads the body of a function for one call.
    pub(super) fn call(
        &mut self,
        name: &str,
        arguments: &[CommandWord],
        input: Option<&Values>,
    ) -> Read<Values> {
        let unknown = vec![vec![WordPart::Output(name.to_owned())]];
        let Some(function) = self.functions.get_mut(name) else { return Ok(unknown) };
        function.called = true;
        let bodies = function.bodies.clone();
        if self.calls.iter().filter(|one| *one == name).count() > 2 {
            // Further calls of itself could have any arguments.
            self.line
                .open_words
                .push(OpenWord { word: CommandWord::known(name), kind: OpenWordKind::Dynamic });
            return Ok(unknown);
        }
        if !self.seen.insert((name.to_owned(), arguments.to_vec(), self.version)) && !self.loops {
            return Ok(unknown);
        }
        self.calls.push(name.to_owned());
        let before = self.variables.get("@").cloned();
        if !arguments.is_empty() || before.is_some() {
            self.set_positional(arguments);
        }
        let mut output = Vec::new();
        for body in &bodies {
            output.extend(self.command(body, input)?);
        }
        super::output::limit(&mut output);
        self.calls.pop();
        match before {
            Some(before) => drop(self.assign("@", before)),
            None => drop(self.variables.remove("@")),
        }
        Ok(output)
    }
}
