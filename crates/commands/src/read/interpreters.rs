//! Interpreters: the files, texts and modules that they run.

use super::options::values_of;
use super::programs::Call;
use super::{Read, Reader, Values};
use crate::table::{Interpreter, Operand, has, table};
use crate::word::{Parts, WordPart};
use crate::{
    CodeLanguage, CommandWord, OpenWord, OpenWordKind, PackageReference, PackageRegistry, RecipeTool,
    StartTarget,
};
use plugward_types::Part;

impl Reader<'_> {
    /// Reads a call of an interpreter.
    pub(super) fn interpret(
        &mut self,
        at: usize,
        one: &Interpreter,
        base: &str,
        words: &[CommandWord],
        call: &Call,
    ) -> Read<()> {
        let arguments = words.rest(1);
        if matches!(base, "bun" | "deno") && self.runtime(at, base, words)? {
            return Ok(());
        }
        let mut rest = arguments;
        let mut has_code = false;
        let mut prints = false;
        let mut verb = false;
        while let Some((first, after)) = rest.split_first() {
            let text = first.literal().unwrap_or_else(|| first.shown().to_owned());
            if text == "--" {
                rest = after;
                break;
            }
            let option = if one.ignores_case { text.to_ascii_lowercase() } else { text.clone() };
            let sign = option.starts_with('-')
                || option.starts_with('+')
                || (one.ignores_case && option.starts_with('/'));
            if !sign || text == "-" {
                if verb || !has(&one.verbs, &text) {
                    break;
                }
                verb = true;
                rest = after;
                continue;
            }
            rest = after;
            let name = option.split_once('=').map_or(option.as_str(), |(name, _)| name);
            let inline = option.len() > name.len();
            prints |= matches!(
                name,
                "--version" | "--help" | "-v" | "-V" | "-h" | "-version" | "--v8-options" | "-help"
            );
            if has(&one.checks, &text) {
                return Ok(());
            }
            let letter = one.code_at(&text).filter(|_| !has(&one.code, name));
            if has(&one.code, name) || letter.is_some() {
                let offset = match letter {
                    Some(offset) if offset < text.len() => Some(offset),
                    Some(_) => None,
                    None => inline.then(|| name.len().saturating_add(1)),
                };
                rest = self.code_option(at, one, first, offset, after)?;
                has_code = true;
                if one.language == CodeLanguage::Shell || one.takes_rest {
                    return Ok(());
                }
                continue;
            }
            let cluster = text.trim_start_matches('-');
            let shell = one.language == CodeLanguage::Shell && !text.starts_with("--");
            if has(&one.stdin, &text)
                || (!one.stdin.is_empty() && shell && cluster.contains('s') && text.starts_with('-'))
            {
                return self.standard_input(at, one, words, call);
            }
            let lists = [&one.search, &one.modules, &one.files, &one.loads];
            let short = |option: &&String| {
                one.attached && option.len() == 2 && text.len() > 2 && text.starts_with(option.as_str())
            };
            let listed = lists.into_iter().find_map(|list| {
                list.iter().find(|option| *option == name || short(option)).map(|option| (list, option.len()))
            });
            if let Some((list, length)) = listed {
                let value = if inline {
                    cut(first, name.len().saturating_add(1))
                } else if text.len() > length && text.get(..length) != Some(name) {
                    cut(first, length)
                } else {
                    let Some((value, after)) = after.split_first() else { break };
                    rest = after;
                    value.clone()
                };
                if core::ptr::eq(list, &raw const one.modules) {
                    self.module(at, &value);
                    if value.literal().is_some_and(|name| has(&table().python_runners, &name)) {
                        self.python_script(at, value.shown(), rest);
                    }
                    return Ok(());
                }
                if core::ptr::eq(list, &raw const one.files) {
                    self.script_file(at, &value);
                    return Ok(());
                }
                match value.literal().filter(|_| core::ptr::eq(list, &raw const one.search)) {
                    Some(directory) => self.paths(at, &format!("{directory}/*"), StartTarget::Pattern),
                    None => self.loaded(at, one, &value),
                }
                continue;
            }
            has_code |= matches!(name, "--run" | "--test");
            let takes = has(&one.values, &option) || (shell && text.len() > 2 && text.ends_with(['o', 'O']));
            if takes && !inline {
                rest = rest.rest(1);
            }
        }
        let options = arguments.part(..arguments.len().saturating_sub(rest.len()));
        // sed accepts options after its operands.
        self.loads(at, base, if one.operand == Operand::Data { arguments } else { options });
        if base == "node" {
            for name in values_of(options, &["--run"]) {
                self.recipe(at, RecipeTool::Npm, Some(&name));
            }
        }
        if matches!(base, "sed" | "gsed") {
            self.edits(at, arguments, rest)?;
        }
        match rest.first() {
            Some(_) if has_code && one.language != CodeLanguage::JavaScript => Ok(()),
            Some(word) if word.literal().is_none_or(|text| text != "-") => {
                self.operand(at, one, word, rest, call)
            }
            _ if has_code || prints || verb => Ok(()),
            _ => self.standard_input(at, one, words, call),
        }
    }

    /// Reads the first operand of an interpreter.
    fn operand(
        &mut self,
        at: usize,
        one: &Interpreter,
        word: &CommandWord,
        rest: &[CommandWord],
        call: &Call,
    ) -> Read<()> {
        let loads_program = self.line.programs.get(at).is_some_and(|program| !program.starts.is_empty());
        match one.operand {
            Operand::Data => return Ok(()),
            Operand::Code if loads_program => return Ok(()),
            Operand::Code => {
                let values = word.values().map(<[WordPart]>::to_vec).collect();
                return self.code(at, one.language, word, &values, Some(rest));
            }
            Operand::File => {}
        }
        let processed = word
            .values()
            .any(|parts| matches!(parts, [WordPart::Output(source)] if self.processes.contains_key(source)));
        if processed {
            let values = self.contents(word);
            return self.code(at, one.language, word, &values, None);
        }
        match word.literal().as_deref() {
            Some("/dev/stdin" | "/dev/fd/0") => {
                self.standard_input(at, one, core::slice::from_ref(word), call)
            }
            Some(url)
                if url.contains("://") && !url.starts_with("file:")
                    || word.shown().starts_with("npm:")
                    || word.shown().starts_with("jsr:") =>
            {
                let reference = PackageReference { registry: PackageRegistry::Deno, reference: word.clone() };
                self.target(at, StartTarget::Package(reference));
                Ok(())
            }
            Some(text) if text.starts_with("data:") => {
                self.target(at, StartTarget::Code { language: one.language, text: word.clone() });
                Ok(())
            }
            _ => {
                self.script_file(at, word);
                Ok(())
            }
        }
    }

    /// Reads the value of an option that takes code, and returns the words after it.
    fn code_option<'w>(
        &mut self,
        at: usize,
        one: &Interpreter,
        option: &CommandWord,
        offset: Option<usize>,
        after: &'w [CommandWord],
    ) -> Read<&'w [CommandWord]> {
        if one.takes_rest {
            let shown: Vec<&str> = after.iter().map(CommandWord::shown).collect();
            let values: Vec<Parts> =
                after.iter().filter_map(|word| word.values().next()).map(<[WordPart]>::to_vec).collect();
            let joined = super::expand::joined(&values);
            self.code(
                at,
                one.language,
                &CommandWord::new(shown.join(" "), vec![joined.clone()]),
                &vec![joined],
                None,
            )?;
            return Ok(&[]);
        }
        let own = offset.map(|offset| cut(option, offset));
        // Shells accept further options between `-c` and the text.
        let is_option = |word: &&CommandWord| {
            one.language == CodeLanguage::Shell
                && word.shown().starts_with(['-', '+'])
                && word.shown().len() > 1
        };
        let mut after = after;
        while own.is_none()
            && let Some((word, more)) = after.split_first()
            && is_option(&word)
        {
            let cluster = word.shown().len() > 2 && !word.shown().starts_with("--");
            let skipped = has(&one.values, word.shown()) || (cluster && word.shown().ends_with(['o', 'O']));
            let skipped = usize::from(skipped);
            after = more.rest(skipped);
        }
        let (word, after) = match own {
            Some(word) => (word, after),
            None => match after.split_first() {
                Some((word, after)) => (word.clone(), after),
                None => return Ok(after),
            },
        };
        let values: Values = word.values().map(<[WordPart]>::to_vec).collect();
        self.code(at, one.language, &word, &values, Some(after))?;
        Ok(after)
    }

    /// Reads the scripts of sed, in which `e COMMAND` runs a command, and `e` and `s///e` run the lines of the input.
    fn edits(&mut self, at: usize, options: &[CommandWord], operands: &[CommandWord]) -> Read<()> {
        let mut scripts = values_of(options, &["-e", "--expression"]);
        let mut inputs = operands;
        if scripts.is_empty() && values_of(options, &["-f", "--file"]).is_empty() {
            // The value of `-i` can be an empty word.
            let from = operands.iter().take_while(|word| word.shown().is_empty()).count();
            scripts.extend(operands.get(from).cloned());
            inputs = operands.rest(from.saturating_add(1));
        }
        let texts: Vec<String> = scripts.iter().flat_map(CommandWord::literals).collect();
        for edit in texts.iter().flat_map(|text| text.split(['\n', ';', '{', '}'])) {
            let is_address = |c: char| c.is_ascii_digit() || matches!(c, ' ' | '$' | ',' | '!' | '~' | '+');
            let edit = edit.trim_start_matches(is_address);
            let pattern = edit.strip_prefix('/').and_then(|rest| rest.split_once('/'));
            let edit = pattern.map_or(edit, |(_, edit)| edit.trim_start_matches(is_address));
            if let Some(command) = edit.strip_prefix("e ") {
                let values = vec![vec![WordPart::Text(command.to_owned())]];
                self.code(at, CodeLanguage::Shell, &CommandWord::known(command), &values, None)?;
            } else if edit.trim_end() == "e" || replaces_and_runs(edit) {
                for input in inputs {
                    self.file(at, input);
                }
            }
        }
        Ok(())
    }

    /// Records a file or module that runs before the program.
    pub(super) fn loaded(&mut self, at: usize, one: &Interpreter, word: &CommandWord) {
        let Some(text) = word.literal() else { return self.file(at, word) };
        if text.starts_with("data:") {
            self.target(at, StartTarget::Code { language: one.language, text: word.clone() });
        } else if one.language == CodeLanguage::Shell
            || one.operand != Operand::File
            || text.starts_with(['.', '/'])
            || text.starts_with("file:")
        {
            self.file(at, word);
        } else {
            self.module(at, word);
        }
    }

    /// Records the file or module that a runner of Python scripts gets after its options.
    pub(super) fn python_script(&mut self, at: usize, runner: &str, words: &[CommandWord]) {
        if runner == "coverage"
            && words.first().is_some_and(|word| word.literal().is_some_and(|verb| verb != "run"))
        {
            return;
        }
        let mut option = "";
        for word in words {
            let text = word.literal();
            if matches!(option, "-m" | "--module") {
                return self.module(at, word);
            }
            let is_python =
                text.as_deref().is_some_and(|text| text.rsplit_once('.').is_some_and(|(_, end)| end == "py"));
            let is_value = has(&table().options.python_runners, option) && !is_python;
            option = word.shown();
            if !is_value && !option.starts_with('-') && (is_python || text.is_none() || option.contains('/'))
            {
                return self.script_file(at, word);
            }
        }
    }

    fn module(&mut self, at: usize, word: &CommandWord) {
        word.values()
            .filter(|parts| crate::word::literal(parts).is_none())
            .for_each(|parts| self.open(word, parts));
        self.target(at, StartTarget::Module(word.clone()));
    }

    /// Reads the standard input of an interpreter, which is its program.
    fn standard_input(
        &mut self,
        at: usize,
        one: &Interpreter,
        words: &[CommandWord],
        call: &Call,
    ) -> Read<()> {
        let Some(name) = words.first() else { return Ok(()) };
        match &call.input {
            Some(values) => {
                let shown = values.iter().flatten().map(WordPart::shown);
                let word = CommandWord::new(shown.collect::<String>(), values.clone());
                self.code(at, one.language, &word, values, None)
            }
            None if one.operand == Operand::Data => Ok(()),
            None => {
                self.line.open_words.push(OpenWord { word: name.clone(), kind: OpenWordKind::Dynamic });
                Ok(())
            }
        }
    }
}

/// Returns `true` for `s/PATTERN/TEXT/e` of sed.
fn replaces_and_runs(edit: &str) -> bool {
    let Some(rest) = edit.strip_prefix('s') else { return false };
    let Some(separator) = rest.chars().next().filter(|c| !c.is_alphanumeric()) else { return false };
    let flags = rest.split(separator).nth(3).unwrap_or_default();
    flags.contains('e') && flags.chars().all(|flag| flag.is_ascii_digit() || "gpiImMe".contains(flag))
}

/// Returns a word without the first bytes.
pub(crate) fn cut(word: &CommandWord, offset: usize) -> CommandWord {
    let cut = |parts: &[WordPart]| {
        let mut parts = parts.to_vec();
        if let Some(WordPart::Text(text)) = parts.first_mut() {
            *text = text.rest(offset).to_owned();
        }
        parts
    };
    CommandWord::new(word.shown().rest(offset), word.values().map(cut).collect())
}
