//! Follows a parsed text as a shell would, with all branches, and records what starts.

mod builtins;
mod expand;
mod interpreters;
mod options;
mod output;
mod packages;
mod programs;
mod state;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::error::Budget;
use crate::syntax::{
    AssignedValue, Assignment, Command, CommandKind, Item, Link, Piece, Redirection, Script, Word, parse,
    parse_argument,
};
use crate::word::{Parts, WordPart, literal};
use crate::{
    CommandContext, CommandError, CommandLine, CommandWord, OpenWord, OpenWordKind, PathText, ProgramRole,
    StartTarget, StartedProgram,
};

pub(crate) use interpreters::cut;
pub(crate) use programs::Call;
use state::{Place, Value};

/// Passes over the body of a loop before its variables count as unknown.
const PASSES: usize = 4;
/// Values of one word or output. More of them count as one unknown value.
const VALUES: usize = 64;

/// Bytes of all values of one variable. A larger value counts as unknown.
const VALUE_BYTES: usize = 1 << 15;

pub(crate) type Read<T> = Result<T, CommandError>;
/// The values that a text can have.
pub(crate) type Values = Vec<Parts>;

/// A function of the text.
#[derive(Default)]
struct Function {
    /// Several after branches that define it differently.
    bodies: Vec<Rc<Command>>,
    called: bool,
}

/// A reader with the state of a shell.
pub(crate) struct Reader<'c> {
    context: &'c CommandContext<'c>,
    pub(crate) budget: Budget,
    pub(crate) line: CommandLine,
    used: BTreeSet<String>,
    variables: BTreeMap<String, Value>,
    pub(crate) place: Place,
    functions: BTreeMap<String, Function>,
    /// The functions that are being read.
    calls: Vec<String>,
    /// Calls that were read, with the version of the variables.
    seen: BTreeSet<(String, Vec<CommandWord>, usize)>,
    /// Grows when a variable gets another value.
    version: usize,
    /// The values before the assignments of each open branch.
    logs: Vec<BTreeMap<String, Option<Value>>>,
    /// Unknown parts in nested texts, in which a private character stands for each.
    opaque: Vec<WordPart>,
    /// The output of process substitutions, by their source.
    processes: BTreeMap<String, Values>,
    /// `true` inside a loop that is read again until nothing changes.
    loops: bool,
    /// Variables that a loop keeps changing.
    widened: BTreeSet<String>,
    /// The number of programs around the current one.
    depth: usize,
    /// Not 0 if variables are not those of a command's own words.
    unlisted: usize,
    /// `true` if the next program is behind a wrapper.
    wrapped: bool,
    unquoted: BTreeSet<String>,
    /// Not 0 if files are those of another machine.
    elsewhere: usize,
}

impl<'c> Reader<'c> {
    pub(crate) fn new(context: &'c CommandContext<'c>) -> Self {
        Self {
            context,
            budget: Budget::new(context.limits),
            line: CommandLine::default(),
            used: BTreeSet::new(),
            variables: BTreeMap::new(),
            place: Place::new(inside(&context.directory)),
            functions: BTreeMap::new(),
            calls: Vec::new(),
            seen: BTreeSet::new(),
            version: 0,
            logs: Vec::new(),
            opaque: Vec::new(),
            processes: BTreeMap::new(),
            loops: false,
            widened: BTreeSet::new(),
            depth: 0,
            unlisted: 0,
            wrapped: false,
            unquoted: BTreeSet::new(),
            elsewhere: 0,
        }
    }

    /// Reads a text.
    pub(crate) fn text(&mut self, text: &str) -> Read<()> {
        self.nested(text, None).map(drop)
    }

    /// Reads the bodies of the functions that nothing calls.
    pub(crate) fn functions(&mut self) -> Read<()> {
        let uncalled = |(name, one): (&String, &Function)| (!one.called).then(|| name.clone());
        while let Some(name) = self.functions.iter().find_map(uncalled) {
            self.call(&name, &[], None)?;
        }
        Ok(())
    }

    /// Reads the bodies of the functions that the shell calls for programs that it does not find.
    pub(crate) fn handlers(&mut self) -> Read<()> {
        for name in ["command_not_found_handle", "command_not_found_handler"] {
            if self.functions.get(name).is_some_and(|one| !one.called) {
                self.call(name, &[], None)?;
            }
        }
        Ok(())
    }

    /// Reads an argument list.
    pub(crate) fn argv(&mut self, words: &[&str]) -> Read<()> {
        let list = words.iter().map(|text| self.argument(text)).collect::<Read<Vec<CommandWord>>>()?;
        self.start(&list, &Call::default()).map(drop)
    }

    /// Expands an argument in which only variables count.
    pub(crate) fn argument(&mut self, text: &str) -> Read<CommandWord> {
        self.budget.text(text.len())?;
        self.budget.word()?;
        self.expand_word(&parse_argument(text))
    }

    /// Returns the result.
    pub(crate) fn finish(mut self) -> CommandLine {
        self.line.variables = self.used.into_iter().collect();
        self.line.unquoted_variables = self.unquoted.into_iter().collect();
        let opaque = core::mem::take(&mut self.opaque);
        let shown = |word: &mut CommandWord| word.replace_private(START, &opaque);
        for program in &mut self.line.programs {
            shown(&mut program.name);
            program.arguments.iter_mut().for_each(shown);
            program.environment.iter_mut().for_each(|(_, value)| shown(value));
            for target in &mut program.starts {
                match target {
                    StartTarget::Code { text: word, .. }
                    | StartTarget::Module(word)
                    | StartTarget::Recipe { name: word, .. } => shown(word),
                    StartTarget::Package(package) => shown(&mut package.reference),
                    _ => {}
                }
            }
            let mut seen = BTreeSet::new();
            program.starts.retain(|target| seen.insert(target.clone()));
        }
        self.line.other_words.iter_mut().for_each(shown);
        self.line.open_words.iter_mut().for_each(|open| shown(&mut open.word));
        let mut seen = BTreeSet::new();
        self.line.open_words.retain(|open| seen.insert((open.word.clone(), open.kind)));
        self.line
    }

    /// Parses and reads a text in the current state.
    fn nested(&mut self, text: &str, input: Option<&Values>) -> Read<Values> {
        self.budget.enter()?;
        let parsed = parse(text, &mut self.budget)?;
        if self.depth == 0 {
            self.line.is_compound |= parsed.form.is_compound;
            self.line.has_operators |= parsed.form.has_operators;
        }
        if let Some(problem) = parsed.problem {
            let word = CommandWord::dynamic(problem);
            self.line.open_words.push(OpenWord { word, kind: OpenWordKind::ForeignSyntax });
        }
        let output = self.script(&parsed.script, input)?;
        self.budget.leave();
        Ok(output)
    }

    /// Reads a list of commands, and returns its output.
    fn script(&mut self, script: &Script, input: Option<&Values>) -> Read<Values> {
        self.budget.enter()?;
        let mut output = vec![Vec::new()];
        let mut items = script.items.iter().peekable();
        while let Some(first) = items.next() {
            let mut chain = vec![first];
            while let Some(next) = items.next_if(|next| next.link != Link::Then) {
                chain.push(next);
            }
            let more = self.chain(&chain, input)?;
            output = output::concat(output, &more);
        }
        self.budget.leave();
        Ok(output)
    }

    /// Reads pipelines that `&&` and `||` join.
    fn chain(&mut self, chain: &[&Item], input: Option<&Values>) -> Read<Values> {
        let before = self.place.clone();
        let Some((first, rest)) = chain.split_first() else { return Ok(vec![Vec::new()]) };
        let mut output = self.pipeline(&first.pipeline, input)?;
        if !rest.is_empty() {
            self.logs.push(BTreeMap::new());
            for item in rest {
                if item.link == Link::And {
                    output = output::concat(output, &self.pipeline(&item.pipeline, input)?);
                } else {
                    let after = core::mem::replace(&mut self.place, before.clone());
                    let saved = self.branch(|reader| reader.pipeline(&item.pipeline, input))?;
                    output.extend(saved.output);
                    self.merge(vec![saved.values, BTreeMap::new()]);
                    let leaves = item.pipeline.last().is_some_and(exits);
                    self.place = if leaves { after } else { after.or(saved.place) };
                }
            }
            let values = self.end_branch();
            self.merge(vec![values, BTreeMap::new()]);
        }
        if self.place.directories != before.directories {
            let guarded =
                rest.iter().any(|item| item.link == Link::Or && item.pipeline.last().is_some_and(exits));
            if !guarded && !self.place.certain {
                self.place.add(before);
            }
        }
        output::limit(&mut output);
        Ok(output)
    }

    /// Reads commands that pipes connect, each in a subshell if there are several.
    fn pipeline(&mut self, pipeline: &[Command], input: Option<&Values>) -> Read<Values> {
        if let [only] = pipeline {
            return self.command(only, input);
        }
        let mut passed = input.cloned();
        for command in pipeline {
            let place = self.place.clone();
            let result = self.branch(|reader| reader.command(command, passed.as_ref()))?;
            self.place = place;
            passed = Some(result.output);
        }
        Ok(passed.unwrap_or_default())
    }

    fn command(&mut self, command: &Command, input: Option<&Values>) -> Read<Values> {
        let redirected = self.redirections(&command.redirections)?;
        let input = redirected.as_ref().or(input);
        match &command.kind {
            CommandKind::Simple { assignments, words } => self.simple(assignments, words, input),
            CommandKind::Group(body) => self.script(body, input),
            CommandKind::Subshell(body) => {
                let place = self.place.clone();
                let result = self.branch(|reader| reader.script(body, input))?;
                self.place = place;
                Ok(result.output)
            }
            CommandKind::Branches(branches) => self.branches(branches, input),
            CommandKind::Loop { variable, body } => self.looped(variable.as_ref(), body, input),
            CommandKind::Function { name, body } => {
                let in_branch = !self.logs.is_empty();
                let function = self.functions.entry(name.clone()).or_default();
                if !function.bodies.iter().any(|known| Rc::ptr_eq(known, body)) {
                    if !in_branch {
                        function.bodies.clear();
                    }
                    function.bodies.push(Rc::clone(body));
                    function.called = false;
                    self.version = self.version.saturating_add(1);
                }
                Ok(vec![Vec::new()])
            }
            CommandKind::Data(words) => {
                for word in words {
                    let word = self.expand_word(word)?;
                    self.line.other_words.push(word);
                }
                Ok(vec![Vec::new()])
            }
        }
    }

    /// Expands redirections, and returns the input if one sets it.
    fn redirections(&mut self, redirections: &[Redirection]) -> Read<Option<Values>> {
        let mut input = None;
        for one in redirections {
            match one {
                Redirection::Input(word) => {
                    let word = self.expand_word(word)?;
                    self.line.other_words.push(word.clone());
                    input = Some(self.contents(&word));
                }
                Redirection::Text(word) => input = Some(self.single(word)?),
                Redirection::Document(body) => {
                    input = Some(match body.get() {
                        Some(word) => self.unlisted(word)?,
                        None => vec![Vec::new()],
                    });
                }
                Redirection::Other(word) => {
                    let word = self.expand_word(word)?;
                    self.line.other_words.push(word);
                }
            }
        }
        Ok(input)
    }

    fn branches(&mut self, branches: &[(Script, Script)], input: Option<&Values>) -> Read<Values> {
        let (mut output, mut values) = (Vec::new(), Vec::new());
        let mut places = self.place.clone();
        for (index, (condition, body)) in branches.iter().enumerate() {
            if index == 0 {
                self.script(condition, input)?;
                places = self.place.clone();
            }
            let start = self.place.clone();
            let result = self.branch(|reader| {
                if index > 0 {
                    reader.script(condition, input)?;
                }
                reader.script(body, input)
            })?;
            self.place = start;
            output.extend(result.output);
            values.push(result.values);
            places.add(result.place);
        }
        self.merge(values);
        self.place = places;
        output::limit(&mut output);
        Ok(output)
    }

    /// Reads the body of a loop until the variables keep their values.
    fn looped(
        &mut self,
        variable: Option<&(String, Option<Vec<Word>>)>,
        body: &Script,
        input: Option<&Values>,
    ) -> Read<Values> {
        let items = match variable {
            Some((name, words)) => Some((name, self.loop_items(words.as_deref())?)),
            None => None,
        };
        let outermost = !core::mem::replace(&mut self.loops, true);
        let mark = (self.line.programs.len(), self.line.open_words.len());
        let mut pass = 0_usize;
        loop {
            self.line.programs.truncate(mark.0);
            self.line.open_words.truncate(mark.1);
            let (version, directories) = (self.version, self.place.directories.len());
            let start = self.place.clone();
            let result = self.branch(|reader| {
                if let Some((name, items)) = &items {
                    reader.assign(name, Rc::clone(items));
                }
                reader.script(body, input)
            })?;
            let names: Vec<String> = result.values.keys().cloned().collect();
            self.place = start;
            self.place.add(result.place);
            self.version = version;
            let changed = self.merge(vec![result.values, BTreeMap::new()])
                || self.place.directories.len() != directories;
            pass = pass.saturating_add(1);
            // The outermost loop repeats inner ones as well.
            if !outermost || !changed || pass > PASSES {
                break;
            }
            if pass == PASSES {
                self.widened.extend(names);
                if self.place.directories.len() != directories {
                    self.place.open.get_or_insert_with(|| CommandWord::dynamic("cd"));
                }
            }
        }
        if outermost {
            self.loops = false;
            self.widened.clear();
        }
        Ok(vec![vec![WordPart::Output("loop".to_owned())]])
    }

    fn loop_items(&mut self, words: Option<&[Word]>) -> Read<Value> {
        let Some(words) = words else {
            let fields = self.lookup("@").into_iter().flatten();
            return Ok(Rc::new(fields.map(|field| vec![field]).collect()));
        };
        let mut items: Vec<Vec<Parts>> = Vec::new();
        for word in words {
            let listed = self.expand_word(word)?;
            self.line.other_words.push(listed);
            items.extend(self.fields(word)?.into_iter().flatten().map(|field| vec![field]));
        }
        if items.len() > VALUES * 16 {
            items = vec![vec![vec![WordPart::Dynamic("for".to_owned())]]];
        }
        Ok(Rc::new(items))
    }

    fn simple(&mut self, assignments: &[Assignment], words: &[Word], input: Option<&Values>) -> Read<Values> {
        self.budget.program()?;
        let mut commands: Vec<Vec<CommandWord>> = vec![Vec::new()];
        for (index, word) in words.iter().enumerate() {
            let values = self.fields(word)?;
            if index == 0 && self.splits_elsewhere(word, &values) {
                let parts = vec![WordPart::Dynamic(expand::shown(word))];
                self.open(&CommandWord::new(expand::shown(word), vec![parts.clone()]), &parts);
            }
            let shown = expand::shown(word);
            let splits = values.iter().any(|fields| fields.len() != 1);
            let option = |fields: &Vec<Parts>| matches!(fields.first().and_then(|field| field.first()), Some(WordPart::Text(text)) if text.starts_with('-'));
            let first = commands.iter().all(Vec::is_empty);
            if values.len() == 1 || !(splits || first || values.iter().any(option)) {
                let is_one = values.iter().all(|fields| fields.len() == 1);
                let fields: Vec<CommandWord> = if is_one {
                    vec![CommandWord::new(shown, values.into_iter().flatten().collect())]
                } else {
                    values
                        .into_iter()
                        .flatten()
                        .map(|field| CommandWord::new(shown.clone(), vec![field]))
                        .collect()
                };
                for command in &mut commands {
                    command.extend(fields.iter().cloned());
                }
            } else {
                if commands.len().saturating_mul(values.len()) > VALUES * 4 {
                    return Err(CommandError::new("values of the words of one command", VALUES * 4));
                }
                let with = |command: &Vec<CommandWord>, fields: &Vec<Parts>| {
                    let fields =
                        fields.iter().map(|field| CommandWord::new(shown.clone(), vec![field.clone()]));
                    command.iter().cloned().chain(fields).collect()
                };
                commands = commands
                    .iter()
                    .flat_map(|command| values.iter().map(move |fields| with(command, fields)))
                    .collect();
            }
        }
        let mut values = Vec::new();
        for one in assignments {
            values.push((one, self.assigned(one)?));
        }
        let mut output = Vec::new();
        for command in &commands {
            let declares = words.first().and_then(Word::plain).is_some_and(|name| {
                !assignments.is_empty()
                    && matches!(name, "declare" | "export" | "local" | "readonly" | "typeset")
            });
            if command.is_empty() || declares {
                for (one, value) in &values {
                    self.declare(one, value)?;
                }
            }
            if command.is_empty() {
                // `$(<file)` is the contents of the file.
                output.extend(
                    input.filter(|_| assignments.is_empty()).cloned().unwrap_or_else(|| vec![Vec::new()]),
                );
                continue;
            }
            let environment = if declares {
                Vec::new()
            } else {
                values.iter().map(|(one, value)| (CommandWord::known(&*one.name), flat(one, value))).collect()
            };
            output.extend(self.start(command, &Call { environment, input: input.cloned() })?);
        }
        output::limit(&mut output);
        Ok(output)
    }

    /// Returns `true` if the shell splits the value of an unquoted variable at characters that the text puts into `IFS`.
    fn splits_elsewhere(&self, word: &Word, values: &[Vec<Parts>]) -> bool {
        let unquoted = |piece: &Piece| {
            matches!(piece, Piece::Variable { quoted: false, .. } | Piece::Output { quoted: false, .. })
        };
        if !self.variables.contains_key("IFS") || !word.pieces.iter().any(unquoted) {
            return false;
        }
        let is_blank = |one: &char| matches!(one, ' ' | '\t' | '\n');
        let texts: Vec<String> = values.iter().flatten().filter_map(|parts| literal(parts)).collect();
        self.lookup("IFS").iter().flatten().any(|parts| match literal(parts) {
            Some(separators) => separators
                .chars()
                .filter(|one| !is_blank(one))
                .any(|one| texts.iter().any(|text| text.contains(one))),
            None => true,
        })
    }

    /// Expands the value of an assignment.
    fn assigned(&mut self, one: &Assignment) -> Read<Value> {
        let mut alternatives: Vec<Vec<Parts>> = match &one.value {
            AssignedValue::Scalar(word) => self.single(word)?.into_iter().map(|value| vec![value]).collect(),
            AssignedValue::Array(words) => {
                let mut all = Vec::new();
                for word in words {
                    all.extend(self.fields(word)?.into_iter().flatten());
                }
                vec![all]
            }
        };
        if one.appends {
            let scalar = matches!(&one.value, AssignedValue::Scalar(_));
            let before = self.variables.get(&one.name).cloned().unwrap_or_default();
            let mut joined = Vec::new();
            for old in before.iter() {
                for new in &alternatives {
                    joined.push(match (old.as_slice(), new.as_slice()) {
                        ([old], [new]) if scalar => vec![expand::join(old, new)],
                        _ => old.iter().chain(new).cloned().collect(),
                    });
                }
            }
            if !before.is_empty() {
                alternatives = joined;
            }
        }
        // A value that doubles with each assignment counts as unknown.
        let size =
            |part: &WordPart| if let WordPart::Text(text) = part { text.len().saturating_add(1) } else { 64 };
        let bytes: usize = alternatives.iter().flatten().flatten().map(size).sum();
        if alternatives.len() > VALUES || bytes > VALUE_BYTES {
            alternatives = vec![vec![vec![WordPart::Dynamic(one.name.clone())]]];
        }
        Ok(Rc::new(alternatives))
    }

    /// Stores an assignment, and records the files that a loader variable names.
    fn declare(&mut self, one: &Assignment, value: &Value) -> Read<()> {
        let word = flat(one, value);
        if one.name == "PATH" {
            self.search_path(&word);
        } else if crate::variables::loads_code(&one.name) {
            let at = self.emit(&CommandWord::known("export"), &[], ProgramRole::Builtin)?;
            self.loader_variable(at, &one.name, &word)?;
        }
        self.assign(&one.name, Rc::clone(value));
        Ok(())
    }

    /// Records a program, and returns its index.
    pub(crate) fn emit(
        &mut self,
        name: &CommandWord,
        arguments: &[CommandWord],
        role: ProgramRole,
    ) -> Read<usize> {
        self.budget.program()?;
        self.line.programs.push(StartedProgram {
            name: name.clone(),
            arguments: arguments.to_vec(),
            starts: Vec::new(),
            directory: self.place.directories.first().map(outside).unwrap_or_default(),
            environment: Vec::new(),
            depth: self.depth,
            is_wrapped: core::mem::take(&mut self.wrapped),
            role,
        });
        Ok(self.line.programs.len().saturating_sub(1))
    }

    pub(crate) fn target(&mut self, at: usize, target: StartTarget) {
        let target = match target {
            StartTarget::File(path) => StartTarget::File(outside(&path)),
            StartTarget::Pattern(path) => StartTarget::Pattern(outside(&path)),
            StartTarget::Environment(path) => StartTarget::Environment(outside(&path)),
            StartTarget::OnPath { name, directories } => {
                StartTarget::OnPath { name, directories: directories.iter().map(outside).collect() }
            }
            other => other,
        };
        let is_file =
            matches!(target, StartTarget::File(_) | StartTarget::Pattern(_) | StartTarget::Environment(_));
        if let Some(program) = self.line.programs.get_mut(at).filter(|_| self.elsewhere == 0 || !is_file) {
            program.starts.push(target);
        }
    }

    /// Records a word that decides what runs, for the value with these parts.
    pub(crate) fn open(&mut self, word: &CommandWord, parts: &[WordPart]) {
        let kind = parts.iter().find_map(|part| match part {
            WordPart::Variable(_) => Some(OpenWordKind::Variable),
            WordPart::Output(_) => Some(OpenWordKind::Substitution),
            WordPart::Dynamic(_) => Some(OpenWordKind::Dynamic),
            _ => None,
        });
        let kind = kind.unwrap_or(OpenWordKind::Dynamic);
        let value = CommandWord::new(word.shown(), vec![parts.to_vec()]);
        self.line.open_words.push(OpenWord { word: value, kind });
    }

    /// Records the files that a word names, for each of its values.
    pub(crate) fn file(&mut self, at: usize, word: &CommandWord) {
        self.file_as(at, word, StartTarget::File);
    }

    /// Records the paths that a word names as targets of a kind.
    pub(crate) fn file_as(&mut self, at: usize, word: &CommandWord, target: fn(PathText) -> StartTarget) {
        for parts in word.values() {
            if let Some(path) = literal(parts) {
                if !path.is_empty() {
                    self.paths(at, &path, target);
                }
            } else if let Some(pattern) = crate::word::pattern(parts) {
                self.paths(at, &pattern, StartTarget::Pattern);
            } else {
                self.open(word, parts);
            }
        }
    }

    /// Adds a path as seen from each directory in which the command can run.
    pub(crate) fn paths(&mut self, at: usize, path: &str, target: fn(PathText) -> StartTarget) {
        let path = path.strip_prefix("file://").unwrap_or(path);
        if path.starts_with('/') {
            return self.target(at, target(PathText::new(path)));
        }
        if let Some(word) = self.place.open.clone() {
            word.values().for_each(|parts| self.open(&word, parts));
        }
        for directory in self.place.directories.clone() {
            self.target(at, target(directory.join(path)));
        }
    }
}

/// The private directory that stands for an unknown start directory, so that paths stay correct after `cd`.
const START: &str = "/\u{10fffd}";

/// Returns a path of the caller as an absolute one.
fn inside(path: &PathText) -> PathText {
    PathText::new(START).join(path.as_str())
}

/// Returns a path as the caller sees it.
pub(crate) fn outside(path: &PathText) -> PathText {
    path.as_str()
        .strip_prefix(START)
        .map_or_else(|| path.clone(), |rest| PathText::new(rest.trim_start_matches('/')))
}

/// Returns the value of an assignment as one word.
fn flat(one: &Assignment, value: &Value) -> CommandWord {
    let shown = match &one.value {
        AssignedValue::Scalar(word) => expand::shown(word),
        AssignedValue::Array(words) => words.iter().map(expand::shown).collect::<Vec<_>>().join(" "),
    };
    CommandWord::new(shown, value.iter().map(|fields| expand::joined(fields)).collect())
}

/// Returns `true` if a command leaves the list that it is in.
fn exits(command: &Command) -> bool {
    match &command.kind {
        CommandKind::Simple { words, .. } => {
            let name = words.first().and_then(Word::plain).unwrap_or_default();
            matches!(name, "exit" | "return" | "break" | "continue") || name == "exec" && words.len() > 1
        }
        CommandKind::Group(body) => {
            body.items.last().and_then(|item| item.pipeline.last()).is_some_and(exits)
        }
        _ => false,
    }
}
