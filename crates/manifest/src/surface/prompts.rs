//! Finds prompt files, and the shell text in them.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use crate::dialects::Dialect;
use crate::error::ManifestPlace;
use crate::json::{JsonNode, Position};
use crate::reader::{Document, Reader, Requirement};
use crate::surface::commands::StartDirectory;
use crate::surface::front_matter::front_matter;
use crate::surface::{Coverage, ManifestLayer, Origin, SurfaceFact, SurfaceItem, SurfaceKind};
use plugward_types::{Part, Span};

/// The kind of a directory of prompts, which determines the files that count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PromptKind {
    Skills,
    Commands,
    Agents,
    OutputStyles,
    /// Gemini's commands, which are TOML files.
    TomlCommands,
}

impl PromptKind {
    const fn word(self) -> &'static str {
        match self {
            Self::Skills => "skill",
            Self::Commands | Self::TomlCommands => "command",
            Self::Agents => "agent",
            Self::OutputStyles => "output-style",
        }
    }

    /// Returns `true` if a file in the directory counts as a prompt.
    fn takes(self, path: &str) -> bool {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        match self {
            Self::Skills => name.eq_ignore_ascii_case("SKILL.md"),
            Self::TomlCommands => has_ending(name, ".toml"),
            // Case is ignored, because file systems on macOS and Windows ignore it.
            _ => has_ending(name, ".md"),
        }
    }
}

/// Returns `true` if a name has an extension, ignoring case.
pub(crate) fn has_ending(name: &str, ending: &str) -> bool {
    let at = name.len().saturating_sub(ending.len());
    name.get(at..).is_some_and(|end| end.eq_ignore_ascii_case(ending))
}

impl Reader<'_> {
    /// Reads a key that declares files or directories of prompts.
    pub(crate) fn prompts_key(&mut self, doc: &Document<'_>, node: &JsonNode<'_>, kind: PromptKind) {
        for item in self.texts(doc, node, Requirement::Strict) {
            let Some(path) = self.path(doc, item) else { continue };
            let place = doc.place(item.span());
            if path.glob {
                self.glob(doc, item);
                let mut item = SurfaceItem::new(SurfaceKind::Prompt, path.path, place, doc.layer);
                item.coverage = Coverage::Unresolved;
                "a pattern instead of a path".clone_into(&mut item.why);
                self.add(item);
                continue;
            }
            if !self.visited.insert((path.path.clone(), kind.word())) {
                continue;
            }
            let count = self.prompt_files(&path.path, kind, Origin::Declared, doc.layer);
            if count == 0 {
                if !self.has(&path.path) {
                    self.missing_file(&place, &path.path);
                }
                let mut item = SurfaceItem::new(SurfaceKind::Prompt, path.path.clone(), place, doc.layer);
                item.facts.insert("prompt", SurfaceFact::Text(kind.word().to_owned()));
                item.files = vec![path.path];
                self.add(item);
            }
        }
    }

    /// Adds the prompt files at or under a path, and returns their number.
    pub(crate) fn prompt_files(
        &mut self,
        path: &str,
        kind: PromptKind,
        origin: Origin,
        layer: ManifestLayer,
    ) -> usize {
        let mut paths: Vec<String> = match self.files.get(path) {
            Some(_) => vec![path.to_owned()],
            None => self.files.under(path).filter(|path| kind.takes(path)).map(ToOwned::to_owned).collect(),
        };
        paths.sort();
        for path in &paths {
            self.prompt_file(path, kind.word(), origin, layer);
        }
        paths.len()
    }

    /// Adds a prompt file and the shell text in it, once.
    pub(crate) fn prompt_file(&mut self, path: &str, word: &str, origin: Origin, layer: ManifestLayer) {
        // The mark is specific to prompts: a file that was read as hooks or servers can be a prompt as well.
        if !self.visited.insert((path.to_owned(), "prompt-file")) {
            return;
        }
        self.read.insert(path.to_owned());
        let mut item = SurfaceItem::new(SurfaceKind::Prompt, path, ManifestPlace::of_file(path), layer);
        item.origin = origin;
        item.files = vec![path.to_owned()];
        item.facts.insert("prompt", SurfaceFact::Text(word.to_owned()));
        self.add(item);
        let Some(file) = self.files.get(path) else { return };
        let text = String::from_utf8_lossy(file.bytes);
        let found = if has_ending(path, ".toml") { toml_shell(&text) } else { markdown_shell(&text) };
        for shell in found {
            let place = ManifestPlace {
                file: path.to_owned(),
                pointer: String::new(),
                span: Span::new(shell.start, (shell.start + shell.text.len()).min(text.len())),
                position: Some(Position { line: shell.line, column: 1 }),
            };
            let mut item = SurfaceItem::new(SurfaceKind::CommandShell, path, place, layer);
            item.origin = origin;
            item.files = vec![path.to_owned()];
            item.facts.insert("mark", SurfaceFact::Text(shell.mark.to_owned()));
            if shell.why.is_empty() {
                self.run_text(item, &shell.text, StartDirectory::Default);
            } else {
                item.coverage = Coverage::Unresolved;
                shell.why.clone_into(&mut item.why);
                self.add(item);
            }
        }
    }

    /// Adds the files of `bin/` or `workflows/`, which are started.
    pub(crate) fn started_files(&mut self, directory: &str, kind: SurfaceKind) {
        if !self.visited.insert((directory.to_owned(), kind.as_str())) {
            return;
        }
        let mut paths: Vec<String> = self.files.under(directory).map(ToOwned::to_owned).collect();
        paths.sort();
        // A description next to scripts is not one, unless it is on `PATH`.
        let is_text = |path: &String| {
            path.rsplit_once('.').is_some_and(|(_, end)| matches!(end, "md" | "mdx" | "rst" | "txt"))
        };
        for path in paths.into_iter().filter(|path| kind == SurfaceKind::Bin || !is_text(path)) {
            let mut item =
                SurfaceItem::new(kind, path.clone(), ManifestPlace::of_file(&path), ManifestLayer::Plugin);
            item.origin = Origin::Found;
            self.run_file(item, &path);
        }
    }

    /// Adds the prompt text of a string, or of each string in a list.
    pub(crate) fn prompt_text(&mut self, doc: &Document<'_>, node: &JsonNode<'_>, name: &str) {
        for text in self.texts(doc, node, Requirement::Lenient) {
            let mut item = SurfaceItem::new(SurfaceKind::Prompt, name, doc.place(text.span()), doc.layer);
            item.text = self.foreign(doc, text);
            self.add(item);
        }
    }

    /// Returns `true` if a standard directory or file of Claude plugins exists.
    pub(crate) fn has_standard(&self) -> bool {
        let directories = ["skills", "commands", "agents", "output-styles", "hooks"];
        let files = [".mcp.json", "mcp.json", ".lsp.json", "monitors/monitors.json"];
        self.dialect == Dialect::Claude
            && (directories.iter().any(|directory| self.files.under(directory).next().is_some())
                || files.iter().any(|file| self.files.get(file).is_some()))
    }
}

/// Shell text in a prompt file, with the mark that introduced it.
pub(crate) struct ShellText {
    pub(crate) mark: &'static str,
    pub(crate) text: String,
    pub(crate) start: usize,
    pub(crate) line: u32,
    /// The reason why the text could not be read; empty if it was.
    pub(crate) why: &'static str,
}

/// Finds `` !`…` ``, fenced `!` blocks, and the commands of the front matter.
///
/// The text is read by lines and marks, not as YAML or Markdown: hosts use different parsers, and a mark that only
/// one of them recognizes must still be shown.
fn markdown_shell(text: &str) -> Vec<ShellText> {
    let mut found = Vec::new();
    let mut offset = 0_usize;
    let mut body = 0_usize;
    let mut front = None;
    let mut fence: Option<ShellText> = None;
    for (index, raw) in text.split_inclusive('\n').enumerate() {
        let line = raw.trim_end_matches(['\n', '\r']);
        let number = u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1);
        let start = offset;
        offset += raw.len();
        // Front matter starts in the first line or does not exist.
        if index == 0 && line.trim_start_matches('\u{feff}').trim_end() == "---" {
            front = Some(offset);
            continue;
        }
        if let Some(first) = front {
            body = offset;
            if matches!(line.trim_end(), "---" | "...") {
                found.extend(front_matter(text, first, start, 2));
                front = None;
            }
            continue;
        }
        let trimmed = line.trim_start();
        match &mut fence {
            Some(block) if trimmed.starts_with("```") => {
                found.push(ShellText { mark: block.mark, text: core::mem::take(&mut block.text), ..*block });
                fence = None;
            }
            Some(block) => block.text.push_str(raw),
            None if trimmed
                .strip_prefix("```")
                // A fence can have more than three backticks.
                .is_some_and(|rest| rest.trim_start_matches('`').trim() == "!") =>
            {
                fence = Some(ShellText {
                    mark: "fence",
                    text: String::new(),
                    start: offset,
                    line: number,
                    why: "",
                });
            }
            None => {}
        }
    }
    if let Some(first) = front {
        found.extend(front_matter(text, first, text.len(), 2));
    }
    // A block that is never closed extends to the end of the file.
    found.extend(fence);
    inline_marks(text, body, &mut found);
    found.sort_by_key(|shell| shell.start);
    found
}

/// Finds the inline marks of the body, which can span lines.
fn inline_marks(text: &str, body: usize, found: &mut Vec<ShellText>) {
    let mut at = body;
    let head = text.part(..body).matches('\n').count();
    let mut line = u32::try_from(head).unwrap_or(u32::MAX).saturating_add(1);
    while let Some(step) = text.get(at..).and_then(|rest| rest.find("!`")) {
        let mark = at + step;
        let passed = text.part(at..mark).matches('\n').count();
        line = line.saturating_add(u32::try_from(passed).unwrap_or(u32::MAX));
        let before = text.get(..mark).and_then(|before| before.chars().next_back());
        let open = mark + 2;
        let rest = text.part(open..);
        let Some(end) = rest.find('`') else { return };
        // After a letter, digit or backtick, the exclamation mark is punctuation.
        if end > 0 && before.is_none_or(|before| !before.is_alphanumeric() && before != '`') {
            let inner = rest.part(..end);
            found.push(ShellText { mark: "inline", text: inner.to_owned(), start: open, line, why: "" });
            let lines = inner.matches('\n').count();
            line = line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
            at = open + end + 1;
        } else {
            at = open;
        }
    }
}

/// Finds `!{…}` with balanced braces in Gemini's command files.
fn toml_shell(text: &str) -> Vec<ShellText> {
    let mut found = Vec::new();
    let mut at = 0_usize;
    let mut line = 1_u32;
    while let Some(step) = text.get(at..).and_then(|rest| rest.find("!{")) {
        let open = at + step + 2;
        let passed = text.part(at..open);
        line = line.saturating_add(u32::try_from(passed.matches('\n').count()).unwrap_or(u32::MAX));
        let rest = text.part(open..);
        let mut depth = 1_usize;
        let end = rest.char_indices().find(|(_, next)| {
            match next {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let end = end.map_or(rest.len(), |(end, _)| end);
        let inner = rest.part(..end).to_owned();
        found.push(ShellText { mark: "braces", text: inner, start: open, line, why: "" });
        // A mark inside is text of the outer shell command and not a mark of its own.
        at = open + end;
    }
    found
}
