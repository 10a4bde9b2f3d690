//! Completes the items that run a command: judges it and reports problems.

use std::collections::BTreeMap;

use crate::command::{CommandAnalysis, CommandContext, judge_argv, judge_command};
use crate::dialects::Dialect;
use crate::error::{ManifestCode, WarningLevel};
use crate::json::{JsonNode, JsonValue, canonical};
use crate::reader::text::{ForeignText, escape};
use crate::reader::{Document, Reader, Requirement};
use crate::surface::{Coverage, SurfaceFact, SurfaceItem, SurfaceKind};

/// The directory in which a command starts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartDirectory {
    /// The default of the dialect.
    Default,
    /// The plugin directory.
    Root,
}

impl Reader<'_> {
    pub(crate) fn command_context(&self, starts_in: StartDirectory) -> CommandContext<'_> {
        let context =
            CommandContext::new(self.dialect).with_files(self.files).with_excluded(self.context.excluded);
        if starts_in == StartDirectory::Root { context.at_root() } else { context }
    }

    /// Completes and adds an item with a shell text.
    pub(crate) fn run_text(&mut self, mut item: SurfaceItem, text: &str, starts_in: StartDirectory) {
        let view = judge_command(text, &self.command_context(starts_in));
        item.run = shown_run(text, &view, self.dialect);
        if self.standalone {
            // Without a tree, no word of the text can refer to a file that a pin covers.
            item.coverage = item.coverage.worst(Coverage::InlineShell);
            item.text = Some(ForeignText::new(text.to_owned()));
            return self.add(item);
        }
        if view.has_unquoted_root() && is_posix(&item) {
            let message = format!("the root variable is not quoted in `{}`", escape(text, 128));
            self.warn_at(item.place.clone(), ManifestCode::UnquotedRoot, WarningLevel::Warning, message);
        }
        if !is_posix(&item) {
            // Other shells split words differently, so the POSIX judgment of the text cannot be trusted.
            item.coverage = Coverage::InlineShell;
        }
        item.text = Some(ForeignText::new(text.to_owned()));
        self.judged(item, &view);
    }

    /// Completes and adds an item with an argument list.
    pub(crate) fn run_argv(&mut self, mut item: SurfaceItem, argv: Vec<String>, starts_in: StartDirectory) {
        if self.standalone {
            item.coverage = item.coverage.worst(Coverage::PathBinary);
            item.run.clone_from(&argv);
            item.argv = argv;
            return self.add(item);
        }
        let words: Vec<&str> = argv.iter().map(String::as_str).collect();
        let view = judge_argv(&words, &self.command_context(starts_in));
        item.run = argv.iter().map(|word| without_root(word, self.dialect)).collect();
        item.argv = argv;
        self.judged(item, &view);
    }

    /// Adds an item with the results of the judgment.
    fn judged(&mut self, mut item: SurfaceItem, view: &CommandAnalysis) {
        item.coverage = item.coverage.worst(view.coverage());
        item.why = escape(&view.why(), 512);
        item.files.extend(view.files().iter().cloned());
        item.files.sort();
        item.files.dedup();
        let names = view.reads_env().iter().cloned();
        item.reads_env.extend(names);
        item.reads_env.sort();
        item.reads_env.dedup();
        if item.coverage == Coverage::LauncherFloating {
            let message = format!("`{}` may fetch other code at each start", escape(&item.why, 128));
            self.warn_at(item.place.clone(), ManifestCode::LauncherFloating, WarningLevel::Notice, message);
        }
        for part in view.parts() {
            if let Some(path) = part.started().filter(|path| !self.has_program(path)) {
                if item.kind == SurfaceKind::CommandShell || is_guarded(&item) {
                    // An example in a document, or a command that first tests whether the file exists.
                    self.missing_file(&item.place, path);
                    item.coverage = item.coverage.worst(Coverage::Unresolved);
                } else {
                    self.missing_program(&mut item, path);
                }
            }
        }
        self.check_variables(&item);
        self.add(item);
    }

    /// Returns `true` if a program exists, by its own name or by one that its interpreter or system tries.
    fn has_program(&self, path: &str) -> bool {
        // Loaders for Node.js try the first five endings, Windows the last three.
        const TRIED: [&str; 8] = [".js", ".mjs", ".cjs", ".json", "/index.js", ".exe", ".cmd", ".bat"];
        self.has(path) || TRIED.iter().any(|end| self.files.get(&format!("{path}{end}")).is_some())
    }

    /// Returns `true` if a file or directory exists.
    pub(crate) fn has(&self, path: &str) -> bool {
        path.is_empty() || self.files.get(path).is_some() || self.files.under(path).next().is_some()
    }

    /// Reports variables that look like the host's own but are unknown to it.
    ///
    /// Hosts replace only their own variables, so such a name is usually a mistake. Other names belong to the
    /// environment.
    fn check_variables(&mut self, item: &SurfaceItem) {
        let known: &[&str] = match self.dialect {
            Dialect::Gemini => &["extensionPath", "workspacePath"],
            Dialect::Claude => {
                &["CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA", "CLAUDE_PROJECT_DIR", "CLAUDE_ENV_FILE"]
            }
            _ => return,
        };
        for name in &item.reads_env {
            let hosts_own = match self.dialect {
                Dialect::Gemini => name.starts_with(|first: char| first.is_ascii_lowercase()),
                _ => {
                    name.starts_with("CLAUDE_PLUGIN_")
                        || (name.contains('.') && !name.starts_with("user_config."))
                }
            };
            if hosts_own && !known.contains(&name.as_str()) {
                let message = format!("the host does not know the variable `{}`", escape(name, 64));
                self.warn_at(
                    item.place.clone(),
                    ManifestCode::UnknownVariable,
                    WarningLevel::Notice,
                    message,
                );
            }
        }
    }

    /// Reads a map of texts, such as environment variables or headers. Numbers and booleans keep their text.
    pub(crate) fn text_map(&mut self, doc: &Document<'_>, node: &JsonNode<'_>) -> BTreeMap<String, String> {
        let mut map = BTreeMap::new();
        for member in self.object(doc, node, Requirement::Strict) {
            let value = match member.node().value() {
                JsonValue::String(text) => text.to_string(),
                JsonValue::Number(number) => number.text().to_owned(),
                JsonValue::Bool(value) => value.to_string(),
                _ => {
                    self.wrong(doc, member.node(), "a string", Requirement::Strict);
                    continue;
                }
            };
            self.refuse_hidden(doc, member.node().span(), &value);
            map.insert(member.key().to_owned(), value);
        }
        map
    }
}

/// Returns `true` unless the hook selects a shell with another grammar, such as PowerShell.
fn is_posix(item: &SurfaceItem) -> bool {
    item.fact("shell").is_none_or(|shell| matches!(shell, "bash" | "sh" | "zsh" | "dash" | "ksh"))
}

/// Returns the words of a single command, or the whole text.
fn shown_run(text: &str, view: &CommandAnalysis, dialect: Dialect) -> Vec<String> {
    match view.parts() {
        [one] if view.is_plain() => one.words().iter().map(|word| without_root(word, dialect)).collect(),
        _ => vec![text.to_owned()],
    }
}

fn without_root(word: &str, dialect: Dialect) -> String {
    for root in dialect.root_variables() {
        let braced = word.strip_prefix("${").and_then(|rest| rest.strip_prefix(root)?.strip_prefix('}'));
        if let Some(path) = braced.and_then(|rest| rest.strip_prefix('/')) {
            return path.to_owned();
        }
    }
    word.to_owned()
}

/// Stores the remaining keys, so that a change of one of them changes the surface text.
pub(crate) fn keep_rest(item: &mut SurfaceItem, node: &JsonNode<'_>, but: &[&str]) {
    for member in node.members_or_none() {
        if !but.contains(&member.key()) {
            keep(item, member.key(), member.node());
        }
    }
}

/// Stores one value as canonical JSON.
pub(crate) fn keep(item: &mut SurfaceItem, key: &str, node: &JsonNode<'_>) {
    if let SurfaceFact::Map(rest) =
        item.facts.entry("other").or_insert_with(|| SurfaceFact::Map(BTreeMap::new()))
    {
        let text = rest.entry(key.to_owned()).or_default();
        text.clear();
        canonical(node, text);
    }
}

/// Returns a string without its quotes, and any other value as canonical JSON.
pub(crate) fn scalar_text(node: &JsonNode<'_>) -> String {
    match node.value() {
        JsonValue::String(text) => text.to_string(),
        _ => {
            let mut text = String::new();
            canonical(node, &mut text);
            text
        }
    }
}

/// Returns `true` if a command checks that its program exists, or continues without it.
fn is_guarded(item: &SurfaceItem) -> bool {
    // Tests and fallbacks that plugins use for optional programs. A missing program is then not an error.
    const GUARDS: [&str; 8] =
        ["[ -", "[[ -", "test -", "command -v", "|| true", "|| :", "|| exit 0", "2>/dev/null ||"];
    let text = item.text.as_ref().map(ForeignText::as_untrusted).unwrap_or_default();
    GUARDS.iter().any(|guard| text.contains(guard) || item.run.iter().any(|word| word.contains(guard)))
}
