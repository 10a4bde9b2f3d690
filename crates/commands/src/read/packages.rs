//! Package managers and project tools: the packages that they download, and the recipes that they run.

use super::options::{named_values, values_of};
use super::{Read, Reader, Values, cut};
use crate::inner::{Words, operand, option_values, text};
use crate::table::{base_name, has, interpreter, loaders, table};
use crate::word::WordPart;
use crate::{
    CodeLanguage, CommandWord, OpenWord, OpenWordKind, PackageReference, PackageRegistry, PathText,
    ProgramRole, RecipeTool, StartTarget,
};
use plugward_types::Part;

/// The options of uv with further packages.
const WITH: [&str; 3] = ["--with", "--with-editable", "-w"];

impl Reader<'_> {
    /// Records what package managers, package runners and project tools start. Returns `true` if the package is an
    /// interpreter or wrapper, and its call was read as well.
    pub(super) fn package(
        &mut self,
        at: usize,
        base: &str,
        words: &[CommandWord],
        texts: &Words<'_>,
    ) -> Read<bool> {
        let options = &table().options;
        match base {
            "npx" | "bunx" | "pnpx" => return self.run_package(at, words, texts, 1, PackageRegistry::Npm),
            "npm" | "pnpm" | "yarn" => return self.node_manager(at, base, words, texts),
            "uvx" => return self.run_package(at, words, texts, 1, PackageRegistry::PyPi),
            "pipx" | "uv" => return self.python_manager(at, base, words, texts),
            "docker" | "podman" | "nerdctl" => {
                let mut verb = operand(texts, 1, &options.container_globals);
                if text(texts, verb) == "container" {
                    verb = operand(texts, verb.saturating_add(1), &options.container_globals);
                }
                if matches!(text(texts, verb), "run" | "create") {
                    let image = operand(texts, verb.saturating_add(1), &options.container);
                    self.reference(at, PackageRegistry::Image, words.get(image));
                }
            }
            "go" if matches!(text(texts, 1), "run" | "install") => {
                let package = operand(texts, 2, &options.go);
                match words.get(package) {
                    Some(word) if word.shown().contains('@') => {
                        self.reference(at, PackageRegistry::Go, Some(word));
                    }
                    // The build finds the packages of `./...` by itself.
                    Some(word) if word.shown().ends_with("...") => {}
                    Some(word) if is_script(word) || word.shown() == "." => self.file(at, word),
                    _ => {}
                }
            }
            "make" | "gmake" | "just" | "task" | "go-task" => self.recipes(at, base, words, texts),
            "npm-run-all" | "npm-run-all2" | "run-s" | "run-p" => {
                let scripts = words.iter().skip(1).filter(|word| !word.shown().starts_with('-'));
                scripts.for_each(|word| self.named_script(at, RecipeTool::Npm, word));
            }
            "concurrently" | "conc" => {
                for word in words.iter().skip(1) {
                    let tool = word.shown().split(':').next().and_then(script_tool);
                    let offset = word.shown().find(':').map_or(0, |at| at.saturating_add(1));
                    if let Some(tool) = tool {
                        self.named_script(at, tool, &cut(word, offset));
                    }
                }
            }
            _ => {}
        }
        Ok(false)
    }

    /// Sets the directory whose code a tool runs, and that of its relative paths if it enters the directory.
    pub(super) fn work_directory(&mut self, at: usize, base: &str, words: &[CommandWord]) {
        let names: Vec<&str> = loaders(base).flat_map(|one| &one.roots).map(String::as_str).collect();
        let mut before: Option<PathText> = None;
        for (name, value) in named_values(words, &names) {
            match value.literal() {
                Some(path) => {
                    // A manifest is in the directory that counts.
                    let path = path.strip_suffix("/Cargo.toml").unwrap_or(&path);
                    // Make enters one directory after the other.
                    let directory = match before.filter(|_| is_make(base)) {
                        Some(before) => before.join(path),
                        None => self.places(path).first().map(super::outside).unwrap_or_default(),
                    };
                    before = Some(directory.clone());
                    if let Some(program) = self.line.programs.get_mut(at) {
                        program.directory = directory;
                    }
                }
                None => value.values().for_each(|parts| self.open(&value, parts)),
            }
            let enters = matches!(name, "--directory" | "--cwd" | "--prefix" | "--dir" | "-C");
            if enters && !is_make(base) {
                self.change_directory(&value);
            }
        }
    }

    fn reference(&mut self, at: usize, registry: PackageRegistry, word: Option<&CommandWord>) {
        let Some(word) = word else { return };
        for parts in word.values() {
            // A pattern such as `a==1.*` matches no file and stays as it is.
            let text = crate::word::pattern(parts).map(CommandWord::known);
            let reference = text.unwrap_or_else(|| CommandWord::new(word.shown(), vec![parts.to_vec()]));
            if reference.literal().is_none() {
                self.open(word, parts);
            }
            self.target(at, StartTarget::Package(PackageReference { registry, reference }));
        }
    }

    /// Records a recipe that a tool of the project runs.
    pub(super) fn recipe(&mut self, at: usize, tool: RecipeTool, word: Option<&CommandWord>) {
        self.recipe_target(at, tool, word);
        if let Some(program) = self.line.programs.get_mut(at) {
            program.role = ProgramRole::ProjectTool;
        }
    }

    fn recipe_target(&mut self, at: usize, tool: RecipeTool, word: Option<&CommandWord>) {
        let name = word.cloned().unwrap_or_else(|| CommandWord::known(""));
        name.values()
            .filter(|parts| crate::word::literal(parts).is_none())
            .for_each(|parts| self.open(&name, parts));
        let Some(program) = self.line.programs.get(at) else { return };
        let base = base_name(program.name.shown()).to_owned();
        let words = program.arguments.clone();
        let files = self.recipe_files(at, tool, &base, &words);
        let in_workspaces = words.iter().take_while(|word| word.shown() != "--").any(|word| {
            let option = word.shown();
            let option = option.split_once('=').map_or(option, |(option, _)| option);
            has(&table().options.workspaces, option)
                || base == "yarn" && matches!(option, "workspace" | "workspaces")
        });
        // An installation runs those of all workspaces.
        let in_workspaces =
            in_workspaces || table().lifecycles.iter().any(|one| has(&one.scripts, name.shown()));
        let (assignments, arguments) = (Vec::new(), Vec::new());
        self.target(at, StartTarget::Recipe { tool, name, files, in_workspaces, assignments, arguments });
    }

    /// Returns the files with recipes that a command names. Other tools than make run in the directory of the file.
    fn recipe_files(
        &mut self,
        at: usize,
        tool: RecipeTool,
        base: &str,
        words: &[CommandWord],
    ) -> Vec<PathText> {
        let has_root = loaders(base).any(|one| !values_of(words, &one.roots).is_empty());
        let values: Vec<CommandWord> = loaders(base).flat_map(|one| values_of(words, &one.recipes)).collect();
        let mut files = Vec::new();
        for value in values {
            let Some(path) = value.literal() else {
                value.values().for_each(|parts| self.open(&value, parts));
                continue;
            };
            if path == "-" || path.starts_with("/dev/") {
                self.line.open_words.push(OpenWord { word: value, kind: OpenWordKind::Dynamic });
                continue;
            }
            let start = self.places(&path).first().map(super::outside).unwrap_or_default();
            let Some(program) = self.line.programs.get_mut(at) else { continue };
            if tool == RecipeTool::Make {
                files.push(program.directory.join(&path));
            } else {
                if !has_root {
                    let directory = start.as_str().rsplit_once('/').map_or("", |(directory, _)| directory);
                    program.directory = PathText::new(if directory.is_empty() && start.is_absolute() {
                        "/"
                    } else {
                        directory
                    });
                }
                files.push(start);
            }
        }
        files
    }

    /// Records the script that the first word of a text names.
    fn named_script(&mut self, at: usize, tool: RecipeTool, word: &CommandWord) {
        for parts in word.values() {
            let text = crate::word::pattern(parts);
            let name = text.as_ref().and_then(|text| text.split_ascii_whitespace().next());
            let name = name.map(CommandWord::known);
            let open = || CommandWord::new(word.shown(), vec![parts.to_vec()]);
            self.recipe(at, tool, Some(&name.unwrap_or_else(open)));
        }
    }

    /// Records the scripts that a package manager runs with a verb which is not their name. With packages as arguments,
    /// `install` runs none of the project.
    fn lifecycle(&mut self, at: usize, tool: RecipeTool, verb: &str, words: &[CommandWord]) {
        // Yarn installs without a verb.
        let is_help = verb.is_empty() && tool != RecipeTool::Yarn;
        if is_help || words.iter().any(|word| word.shown() == "--ignore-scripts") {
            return;
        }
        let is_bare = words.iter().all(|word| word.shown().starts_with('-'));
        for one in table().lifecycles.iter().filter(|one| has(&one.verbs, verb)) {
            if is_bare || one.with_arguments {
                one.scripts
                    .iter()
                    .for_each(|name| self.recipe_target(at, tool, Some(&CommandWord::known(name))));
            }
        }
    }

    /// Reads npm, pnpm and Yarn.
    fn node_manager(
        &mut self,
        at: usize,
        base: &str,
        words: &[CommandWord],
        texts: &Words<'_>,
    ) -> Read<bool> {
        let tool = match base {
            "npm" => RecipeTool::Npm,
            "pnpm" => RecipeTool::Pnpm,
            _ => RecipeTool::Yarn,
        };
        let verb = operand(texts, 1, &table().options.node);
        let next = verb.saturating_add(1);
        self.lifecycle(at, tool, text(texts, verb), words.rest(next));
        match text(texts, verb) {
            "" if verb >= words.len() => {}
            "workspace" | "workspaces" if base == "yarn" => {
                // The verb after the name of a workspace, or the script after `workspaces run` and `workspaces foreach run`.
                let run = texts.iter().skip(next).position(|word| *word == Some("run"));
                let name = run.map_or(next, |run| run.saturating_add(next)).saturating_add(1);
                if name < words.len() {
                    self.recipe(at, tool, words.get(name));
                }
            }
            "exec" | "x" if base == "npm" => {
                return self.run_package(at, words, texts, next, PackageRegistry::Npm);
            }
            "dlx" => return self.run_package(at, words, texts, next, PackageRegistry::Npm),
            "run" | "run-script" | "rum" | "urn" => {
                let name = operand(texts, next, &table().options.node);
                if name < words.len() {
                    self.recipe(at, tool, words.get(name));
                }
            }
            "t" | "tst" | "it" | "cit" | "install-test" => {
                self.recipe(at, tool, Some(&CommandWord::known("test")));
            }
            "restart" => ["restart", "stop", "start"]
                .into_iter()
                .for_each(|name| self.recipe(at, tool, Some(&CommandWord::known(name)))),
            "test" | "start" | "stop" => self.recipe(at, tool, words.get(verb)),
            verb_name if has(&table().npm_verbs, verb_name) || base == "npm" => {}
            _ => self.recipe(at, tool, words.get(verb)),
        }
        Ok(false)
    }

    /// Reads npx, uvx and the like: the packages, and what the package runs if it is an interpreter. All packages count, also
    /// those of `--with`.
    fn run_package(
        &mut self,
        at: usize,
        words: &[CommandWord],
        texts: &Words<'_>,
        from: usize,
        registry: PackageRegistry,
    ) -> Read<bool> {
        let options = &table().options;
        let (values, names): (_, &[&str]) = match registry {
            PackageRegistry::Npm => (&options.node, &["-p", "--package"]),
            _ => (&options.uv, &["--from", "--spec"]),
        };
        let program = operand(texts, from, values);
        let options = words.part(..program);
        if registry == PackageRegistry::PyPi {
            self.named_packages(at, options, &WITH, registry);
        }
        let named = self.named_packages(at, options, names, registry);
        let Some(word) = words.get(program) else { return Ok(false) };
        let is_path = |parts: &[WordPart]| matches!(parts.first(), Some(WordPart::Text(text)) if text.starts_with(['.', '/']));
        if word.values().any(is_path) {
            self.file(at, word);
        } else if !named {
            self.reference(at, registry, Some(word));
        }
        self.packaged(word, words.rest(program.saturating_add(1)))
    }

    /// Reads the call of a package that is an interpreter or a wrapper, such as `npx tsx@4 x.ts`.
    fn packaged(&mut self, word: &CommandWord, arguments: &[CommandWord]) -> Read<bool> {
        let Some(reference) = word.literal() else { return Ok(false) };
        let name = reference
            .rsplit_once('@')
            .map_or(reference.as_str(), |(name, _)| if name.is_empty() { reference.as_str() } else { name });
        let base = base_name(name.split_once("==").map_or(name, |(name, _)| name));
        if interpreter(base).is_none() && crate::table::wrapper(base).is_none() {
            return Ok(false);
        }
        let mut words = vec![CommandWord::known(base)];
        words.extend(arguments.iter().cloned());
        let opens = self.line.open_words.len();
        self.wrapped = true;
        self.start(&words, &super::Call::default())?;
        self.wrapped = false;
        // The interpreter itself comes from the package, so only its arguments can be open.
        let bare = |open: &OpenWord| open.word.shown() == base;
        if self.line.open_words.get(opens).is_some_and(bare) {
            self.line.open_words.remove(opens);
        }
        Ok(true)
    }

    fn python_manager(
        &mut self,
        at: usize,
        base: &str,
        words: &[CommandWord],
        texts: &Words<'_>,
    ) -> Read<bool> {
        let values = &table().options.uv;
        let verb = operand(texts, 1, values);
        let next = verb.saturating_add(1);
        match (base, text(texts, verb)) {
            ("pipx", "run")
                if text(texts, operand(texts, next, values))
                    .rsplit_once('.')
                    .is_some_and(|(_, end)| end == "py") =>
            {
                words.get(operand(texts, next, values)).into_iter().for_each(|word| self.file(at, word));
                Ok(false)
            }
            ("pipx", "run") => self.run_package(at, words, texts, next, PackageRegistry::PyPi),
            ("uv", "tool") => {
                let run = operand(texts, next, values);
                if text(texts, run) == "run" {
                    self.run_package(at, words, texts, run.saturating_add(1), PackageRegistry::PyPi)
                } else {
                    Ok(false)
                }
            }
            ("uv", "run") => {
                self.named_packages(at, words, &WITH, PackageRegistry::PyPi);
                let program = operand(texts, next, values);
                let options = texts.part(next..program);
                let module = options.contains(&Some("-m")) || options.contains(&Some("--module"));
                match words.get(program) {
                    Some(word) if module => self.target(at, StartTarget::Module(word.clone())),
                    Some(word) if is_script(word) => self.script_file(at, word),
                    _ => {}
                }
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    fn named_packages(
        &mut self,
        at: usize,
        words: &[CommandWord],
        names: &[&str],
        registry: PackageRegistry,
    ) -> bool {
        let mut any = false;
        for value in values_of(words.rest(1), names) {
            any = true;
            let local = value.literal().is_some_and(|text| text.starts_with(['.', '/']));
            if local { self.file(at, &value) } else { self.reference(at, registry, Some(&value)) }
        }
        any
    }

    /// Reads make, just and task.
    fn recipes(&mut self, at: usize, base: &str, words: &[CommandWord], texts: &Words<'_>) {
        let options = &table().options;
        let (tool, valued) = match base {
            "just" => (RecipeTool::Just, &options.just),
            "task" | "go-task" => (RecipeTool::Task, &options.task),
            _ => (RecipeTool::Make, &options.make),
        };
        if tool != RecipeTool::Make && texts.iter().flatten().any(|word| has(&options.recipe_lists, word)) {
            return;
        }
        let valued: Vec<&str> = valued.iter().map(String::as_str).collect();
        let values = option_values(texts, &valued);
        let before = |index: usize, by: usize| index.checked_sub(by).map_or("", |index| text(texts, index));
        let directories = loaders(base).flat_map(|one| values_of(words, &one.directories));
        let mut assignments: Vec<String> = directories
            .filter_map(|directory| Some(format!(".INCLUDE_DIRS={}", directory.literal()?)))
            .collect();
        let mut recipes = Vec::new();
        for (index, word) in words.iter().enumerate().skip(1) {
            let name = text(texts, index);
            // `-j 4`, but `-j all`.
            let is_count =
                matches!(before(index, 1), "-j" | "-l" | "--jobs" | "--load-average" | "--max-load")
                    && name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            let is_set = before(index, 2) == "--set" && tool == RecipeTool::Just;
            if is_set {
                assignments.push(format!("{}={}", before(index, 1), word.shown()));
            }
            let is_value =
                is_set || is_count || values.iter().any(|value| value.word == index && value.offset == 0);
            if name == "--" && tool == RecipeTool::Task {
                break;
            }
            if is_value || name.starts_with('-') {
                continue;
            }
            // The other words of just are further recipes, or arguments of the first one.
            let is_argument = !recipes.is_empty() && tool == RecipeTool::Just;
            if name.find('=').is_some_and(|at| at > 0) {
                assignments.extend(Some(name.to_owned()).filter(|_| !is_argument));
            } else if !is_argument || word.literal().is_some() {
                recipes.push((index, word));
            }
        }
        let first = self.line.programs.get(at).map_or(0, |program| program.starts.len());
        for (_, word) in &recipes {
            self.recipe(at, tool, Some(word));
        }
        if recipes.is_empty() {
            self.recipe(at, tool, None);
        }
        let Some(program) = self.line.programs.get_mut(at) else { return };
        let mut indexes = recipes.into_iter().map(|(index, _)| index);
        for target in program.starts.iter_mut().skip(first) {
            let StartTarget::Recipe { assignments: found, arguments, .. } = target else { continue };
            found.clone_from(&assignments);
            let after =
                indexes.next().filter(|_| tool == RecipeTool::Just).map(|index| index.saturating_add(1));
            *arguments = after.and_then(|after| words.get(after..)).unwrap_or_default().to_vec();
        }
    }

    /// Reads the verbs of bun and deno; returns `false` if the call is that of a plain interpreter.
    pub(super) fn runtime(&mut self, at: usize, base: &str, words: &[CommandWord]) -> Read<bool> {
        let literals: Vec<Option<String>> = words.iter().map(CommandWord::literal).collect();
        let texts: Vec<Option<&str>> = literals.iter().map(Option::as_deref).collect();
        let values: Vec<String> = interpreter(base)
            .map(|one| one.values.iter().chain(&one.loads).cloned().collect())
            .unwrap_or_default();
        let values = &values;
        if texts.iter().any(|word| matches!(word, Some("-e" | "--eval" | "-p" | "--print"))) && base == "bun"
        {
            return Ok(false);
        }
        let verb = operand(&texts, 1, values);
        let next = verb.saturating_add(1);
        let target = operand(&texts, next, values);
        let Some(word) = words.get(verb) else { return Ok(false) };
        match (base, text(&texts, verb)) {
            ("bun", "x") => drop(self.run_package(at, words, &texts, next, PackageRegistry::Npm)?),
            ("bun", "run") | ("deno", "run" | "serve" | "test" | "bench" | "install" | "compile") => {
                let options = words.part(..target);
                self.preloads(at, base, options);
                match words.get(target) {
                    Some(word) if base == "deno" || is_script(word) => self.deno_target(at, word),
                    Some(word) => self.recipe(at, RecipeTool::Bun, Some(word)),
                    None => {}
                }
            }
            ("deno", "eval") => {
                if let Some(word) = words.get(target) {
                    let values: Values = word.values().map(<[WordPart]>::to_vec).collect();
                    self.code(at, CodeLanguage::JavaScript, word, &values, None)?;
                }
            }
            ("deno", "task") => self.recipe(at, RecipeTool::Deno, words.get(target)),
            ("bun", verb) if table().lifecycles.iter().any(|one| has(&one.verbs, verb)) => {
                self.lifecycle(at, RecipeTool::Bun, verb, words.rest(next));
            }
            ("deno", "fmt" | "lint" | "check" | "cache" | "doc" | "info" | "upgrade" | "types")
            | (
                "bun",
                "install" | "add" | "remove" | "update" | "pm" | "create" | "i" | "link" | "build" | "test"
                | "init" | "upgrade",
            ) => {}
            ("bun", _) if !is_script(word) => self.recipe(at, RecipeTool::Bun, Some(word)),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn deno_target(&mut self, at: usize, word: &CommandWord) {
        let remote = word.literal().is_some_and(|text| {
            ["npm:", "jsr:", "http://", "https://"].iter().any(|scheme| text.starts_with(scheme))
        });
        if remote {
            self.reference(at, PackageRegistry::Deno, Some(word));
        } else {
            self.script_file(at, word);
        }
    }
}

fn is_make(base: &str) -> bool {
    matches!(base, "make" | "gmake")
}

/// Returns the tool in `npm:SCRIPT`, as concurrently reads it.
fn script_tool(name: &str) -> Option<RecipeTool> {
    Some(match name {
        "npm" | "node" => RecipeTool::Npm,
        "pnpm" => RecipeTool::Pnpm,
        "yarn" => RecipeTool::Yarn,
        "bun" => RecipeTool::Bun,
        "deno" => RecipeTool::Deno,
        _ => return None,
    })
}

/// Returns `true` if a word is a file and not the name of a recipe or program.
fn is_script(word: &CommandWord) -> bool {
    word.literal().is_none_or(|text| {
        PathText::new(&text) != PathText::start()
            && text != "-"
            && (text.contains('/')
                || text.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && !end.is_empty()))
    })
}
