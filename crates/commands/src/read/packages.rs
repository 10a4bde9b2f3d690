//! Package managers and project tools: the packages that they download, and the recipes that they run.

use super::options::values_of;
use super::{Read, Reader, Values};
use crate::inner::operand;
use crate::table::{base_name, has, interpreter, loaders, table};
use crate::word::WordPart;
use crate::{
    CodeLanguage, CommandWord, PackageReference, PackageRegistry, PathText, ProgramRole, RecipeTool,
    StartTarget,
};

/// The options of uv with further packages.
const WITH: [&str; 3] = ["--with", "--with-editable", "-w"];

type Words<'w> = [Option<&'w str>];

fn text<'w>(words: &Words<'w>, at: usize) -> &'w str {
    words.get(at).copied().flatten().unwrap_or_default()
}

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
        self.work_directory(at, base, words);
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
            _ => {}
        }
        Ok(false)
    }

    /// Sets the directory whose code a tool runs.
    fn work_directory(&mut self, at: usize, base: &str, words: &[CommandWord]) {
        let names: Vec<&String> = loaders(base).flat_map(|one| &one.roots).collect();
        for value in values_of(words, &names) {
            match value.literal() {
                Some(path) => {
                    // A manifest is in the directory that counts.
                    let path = path.strip_suffix("/Cargo.toml").unwrap_or(&path);
                    let directory = self.places(path).first().map(super::outside).unwrap_or_default();
                    if let Some(program) = self.line.programs.get_mut(at) {
                        program.directory = directory;
                    }
                }
                None => value.values().for_each(|parts| self.open(&value, parts)),
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

    pub(super) fn recipe(&mut self, at: usize, tool: RecipeTool, word: Option<&CommandWord>) {
        let name = word.cloned().unwrap_or_else(|| CommandWord::known(""));
        name.values()
            .filter(|parts| crate::word::literal(parts).is_none())
            .for_each(|parts| self.open(&name, parts));
        let named = self.line.programs.get(at).and_then(|program| {
            let base = program.name.literal()?;
            let mut rows = loaders(base_name(&base));
            let value =
                rows.find_map(|one| values_of(&program.arguments, &one.recipes).into_iter().next())?;
            Some((value, program.directory.clone()))
        });
        let file = named.and_then(|(value, directory)| {
            let path = value.literal();
            if path.is_none() {
                value.values().for_each(|parts| self.open(&value, parts));
            }
            path.filter(|path| path != "-").map(|path| directory.join(&path))
        });
        self.target(at, StartTarget::Recipe { tool, name, file });
        if let Some(program) = self.line.programs.get_mut(at) {
            program.role = ProgramRole::ProjectTool;
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
        match text(texts, verb) {
            "" if verb >= words.len() => {}
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
            "test" | "start" | "stop" | "restart" => self.recipe(at, tool, words.get(verb)),
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
        let options = words.get(..program).unwrap_or_default();
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
        self.packaged(word, words.get(program.saturating_add(1)..).unwrap_or_default())
    }

    /// Reads the call of a package that is an interpreter or a wrapper, such as `npx tsx@4 x.ts`.
    fn packaged(&mut self, word: &CommandWord, arguments: &[CommandWord]) -> Read<bool> {
        let Some(reference) = word.literal() else { return Ok(false) };
        let name = reference
            .rsplit_once('@')
            .map_or(reference.as_str(), |(name, _)| if name.is_empty() { reference.as_str() } else { name });
        let base = base_name(name.split("==").next().unwrap_or_default());
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
        let bare = |open: &crate::OpenWord| open.word.shown() == base;
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
                let options = texts.get(next..program).unwrap_or_default();
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
        for value in values_of(words.get(1..).unwrap_or_default(), names) {
            any = true;
            let local = value.literal().is_some_and(|text| text.starts_with(['.', '/']));
            if local { self.file(at, &value) } else { self.reference(at, registry, Some(&value)) }
        }
        any
    }

    /// Reads make, just and task.
    fn recipes(&mut self, at: usize, base: &str, words: &[CommandWord], texts: &Words<'_>) {
        let tool = match base {
            "just" => RecipeTool::Just,
            "task" | "go-task" => RecipeTool::Task,
            _ => RecipeTool::Make,
        };
        let mut any = false;
        let mut index = 1_usize;
        while let Some(word) = words.get(index) {
            let option = text(texts, index);
            if matches!(
                option,
                "--command" | "-c" | "--list" | "-l" | "--version" | "--help" | "-v" | "--summary" | "--show"
            ) && tool != RecipeTool::Make
            {
                return;
            }
            if has(&table().options.make, option) {
                index = index.saturating_add(1);
            } else if !option.starts_with('-') && !crate::inner::is_assignment(option) {
                // The other words of just are arguments of the first recipe.
                if !(any && tool == RecipeTool::Just) {
                    self.recipe(at, tool, Some(word));
                }
                any = true;
            }
            index = index.saturating_add(1);
        }
        if !any {
            self.recipe(at, tool, None);
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
        self.work_directory(at, base, words);
        let verb = operand(&texts, 1, values);
        let next = verb.saturating_add(1);
        let target = operand(&texts, next, values);
        let Some(word) = words.get(verb) else { return Ok(false) };
        match (base, text(&texts, verb)) {
            ("bun", "x") => drop(self.run_package(at, words, &texts, next, PackageRegistry::Npm)?),
            ("bun", "run") | ("deno", "run" | "serve" | "test" | "bench" | "install" | "compile") => {
                let options = words.get(..target).unwrap_or_default();
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

/// Returns `true` if a word is a file and not the name of a recipe or program.
fn is_script(word: &CommandWord) -> bool {
    word.literal().is_none_or(|text| {
        PathText::new(&text) != PathText::start()
            && text != "-"
            && (text.contains('/')
                || text.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && !end.is_empty()))
    })
}
