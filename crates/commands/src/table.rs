//! The compiled-in table of programs and variables.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use plugward_types::glob;

use crate::{CodeLanguage, ProgramRole, VariableEffect};

#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    pub(crate) builtins: Vec<String>,
    data: Vec<String>,
    filters: Vec<String>,
    pub(crate) environment_printers: Vec<String>,
    pub(crate) downloaders: Vec<String>,
    project_tools: Vec<String>,
    pub(crate) npm_verbs: Vec<String>,
    pub(crate) python_runners: Vec<String>,
    pub(crate) package_runners: Vec<String>,
    pub(crate) plugin_roots: Vec<String>,
    pub(crate) code_options: Vec<String>,
    pub(crate) options: Options,
    #[serde(rename = "interpreter")]
    pub(crate) interpreters: Vec<Interpreter>,
    #[serde(rename = "wrapper")]
    wrappers: Vec<Wrapper>,
    #[serde(rename = "loader")]
    loaders: Vec<Loader>,
    #[serde(rename = "lifecycle")]
    pub(crate) lifecycles: Vec<Lifecycle>,
    #[serde(rename = "variable")]
    pub(crate) variables: Vec<Variable>,
}

/// Options with a value, of programs with rules of their own.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Options {
    pub(crate) git: Vec<String>,
    pub(crate) node: Vec<String>,
    pub(crate) uv: Vec<String>,
    pub(crate) container: Vec<String>,
    pub(crate) container_globals: Vec<String>,
    pub(crate) python_runners: Vec<String>,
    pub(crate) go: Vec<String>,
    pub(crate) make: Vec<String>,
    pub(crate) just: Vec<String>,
    pub(crate) task: Vec<String>,
    /// Options with which just and task run no recipe.
    pub(crate) recipe_lists: Vec<String>,
    /// Options with which package managers run scripts of workspaces.
    pub(crate) workspaces: Vec<String>,
}

/// Scripts that package managers run with verbs of other names.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lifecycle {
    pub(crate) verbs: Vec<String>,
    pub(crate) scripts: Vec<String>,
    /// `true` if they also run with arguments.
    #[serde(default)]
    pub(crate) with_arguments: bool,
}

/// What an operand of an interpreter is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Operand {
    #[default]
    File,
    Code,
    Data,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Interpreter {
    pub(crate) names: Vec<String>,
    pub(crate) language: CodeLanguage,
    #[serde(default)]
    pub(crate) code: Vec<String>,
    #[serde(default)]
    pub(crate) letters: String,
    #[serde(default)]
    pub(crate) modules: Vec<String>,
    #[serde(default)]
    pub(crate) files: Vec<String>,
    #[serde(default)]
    pub(crate) loads: Vec<String>,
    #[serde(default)]
    pub(crate) search: Vec<String>,
    #[serde(default)]
    pub(crate) values: Vec<String>,
    #[serde(default)]
    pub(crate) stdin: Vec<String>,
    /// Options with which a file is only checked.
    #[serde(default)]
    pub(crate) checks: Vec<String>,
    #[serde(default)]
    pub(crate) verbs: Vec<String>,
    #[serde(default)]
    pub(crate) extensions: Vec<String>,
    #[serde(default)]
    pub(crate) operand: Operand,
    #[serde(default)]
    pub(crate) attached: bool,
    #[serde(default)]
    pub(crate) ignores_case: bool,
    #[serde(default)]
    pub(crate) takes_rest: bool,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "the columns of a table")]
pub(crate) struct Wrapper {
    names: Vec<String>,
    #[serde(default)]
    pub(crate) values: Vec<String>,
    /// Options with two values.
    #[serde(default)]
    pub(crate) pairs: Vec<String>,
    #[serde(default)]
    pub(crate) operands: usize,
    #[serde(default)]
    pub(crate) asks: Vec<String>,
    #[serde(default)]
    pub(crate) verbs: Vec<String>,
    #[serde(default)]
    pub(crate) text: Vec<String>,
    #[serde(default)]
    pub(crate) chdir: Vec<String>,
    #[serde(default)]
    pub(crate) assigns: bool,
    #[serde(default)]
    pub(crate) shell: bool,
    /// `true` if each remaining word can be a text.
    #[serde(default)]
    pub(crate) every: bool,
    /// `true` if each remaining word is a text.
    #[serde(default)]
    pub(crate) each: bool,
    #[serde(default)]
    pub(crate) appends: bool,
    #[serde(default)]
    pub(crate) elsewhere: bool,
}

/// Options of programs that load something.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Loader {
    names: Vec<String>,
    #[serde(default)]
    pub(crate) files: Vec<String>,
    #[serde(default)]
    pub(crate) environments: Vec<String>,
    #[serde(default)]
    pub(crate) directories: Vec<String>,
    #[serde(default)]
    pub(crate) roots: Vec<String>,
    #[serde(default)]
    pub(crate) recipes: Vec<String>,
    #[serde(default)]
    pub(crate) commands: Vec<String>,
    #[serde(default)]
    pub(crate) scripts: Vec<String>,
    #[serde(default)]
    pub(crate) settings: Vec<String>,
    #[serde(default)]
    pub(crate) command_keys: Vec<String>,
    #[serde(default)]
    pub(crate) file_keys: Vec<String>,
    #[serde(default)]
    pub(crate) directory_keys: Vec<String>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Variable {
    pub(crate) effect: VariableEffect,
    pub(crate) names: Vec<String>,
    pub(crate) value: ValueForm,
    /// The beginnings of the words that run something; all do if there are none.
    #[serde(default)]
    pub(crate) loads: Vec<String>,
}

/// How the value of a variable is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ValueForm {
    Path,
    PathWithSlash,
    Directory,
    /// Directories between colons.
    Search,
    Command,
    Program,
    Options,
    Shell,
    Words,
    Address,
}

/// A known program.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Known {
    Interpreter(&'static Interpreter),
    Wrapper(&'static Wrapper),
    Role(ProgramRole),
}

// A test parses the table, so the fallback is never used.
static TABLE: LazyLock<Table> =
    LazyLock::new(|| toml::from_str(include_str!("commands.toml")).unwrap_or_default());

static NAMES: LazyLock<BTreeMap<&'static str, Known>> = LazyLock::new(|| {
    let table: &'static Table = &TABLE;
    let mut names = BTreeMap::new();
    let roles = [
        (&table.data, ProgramRole::Data),
        (&table.project_tools, ProgramRole::ProjectTool),
        (&table.package_runners, ProgramRole::PackageRunner),
        (&table.builtins, ProgramRole::Builtin),
    ];
    for (list, role) in roles {
        names.extend(list.iter().map(|name| (name.as_str(), Known::Role(role))));
    }
    for one in &table.interpreters {
        names.extend(one.names.iter().map(|name| (name.as_str(), Known::Interpreter(one))));
    }
    for one in &table.wrappers {
        names.extend(one.names.iter().map(|name| (name.as_str(), Known::Wrapper(one))));
    }
    names
});

/// Returns the table.
pub(crate) fn table() -> &'static Table {
    &TABLE
}

/// Returns the entry of a program by its base name.
///
/// A version at the end is ignored, as in `python3.12`. PowerShell and cmd ignore case.
pub(crate) fn find(base: &str) -> Option<Known> {
    let versionless = base.trim_end_matches(|last: char| last.is_ascii_digit() || matches!(last, '.' | '-'));
    let interpreter = |name: &str| match NAMES.get(name) {
        Some(Known::Interpreter(one)) => Some(*one),
        _ => None,
    };
    let lower = base.to_ascii_lowercase();
    NAMES.get(base).copied().or_else(|| {
        let known = interpreter(versionless);
        known.or_else(|| interpreter(&lower).filter(|one| one.ignores_case)).map(Known::Interpreter)
    })
}

/// Returns the interpreter with a base name.
pub(crate) fn interpreter(base: &str) -> Option<&'static Interpreter> {
    match find(base) {
        Some(Known::Interpreter(one)) => Some(one),
        _ => None,
    }
}

/// Returns the wrapper with a base name.
pub(crate) fn wrapper(base: &str) -> Option<&'static Wrapper> {
    match find(base) {
        Some(Known::Wrapper(one)) => Some(one),
        _ => None,
    }
}

impl Loader {
    /// Returns all options.
    pub(crate) fn options(&self) -> Vec<&str> {
        let lists = [
            &self.files,
            &self.environments,
            &self.directories,
            &self.recipes,
            &self.commands,
            &self.scripts,
            &self.settings,
        ];
        lists.into_iter().flatten().map(String::as_str).collect()
    }
}

/// Returns the options that load something, of a program by its base name or of a verb by both names.
pub(crate) fn loaders(name: &str) -> impl Iterator<Item = &'static Loader> {
    table().loaders.iter().filter(move |one| has(&one.names, name))
}

/// Returns the kind of a program by its base name.
pub(crate) fn role(base: &str) -> ProgramRole {
    match find(base) {
        Some(Known::Interpreter(_)) => ProgramRole::Interpreter,
        Some(Known::Wrapper(_)) => ProgramRole::Wrapper,
        Some(Known::Role(role)) => role,
        None => ProgramRole::Other,
    }
}

/// Returns `true` if a program passes on the text that it reads.
pub(crate) fn is_filter(base: &str) -> bool {
    table().filters.iter().any(|name| name == base)
}

/// Returns the last component of a program's path, without `.exe`, `.cmd` or `.bat`.
pub(crate) fn base_name(name: &str) -> &str {
    let base = name.rsplit(['/', '\\']).next().filter(|base| !base.is_empty()).unwrap_or(name);
    let (stem, ending) = base.rsplit_once('.').unwrap_or((base, ""));
    // Windows starts `node.exe` for `node`, so both are read alike.
    let starts = ["exe", "cmd", "bat"].iter().any(|known| ending.eq_ignore_ascii_case(known));
    if starts && !stem.is_empty() { stem } else { base }
}

/// Returns `true` if a list of options contains a word.
pub(crate) fn has(options: &[String], word: &str) -> bool {
    options.iter().any(|option| option == word)
}

/// Returns `true` if a list of patterns, in which `*` is any text, contains one of a name.
pub(crate) fn has_match(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| glob::is_match(pattern, name))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_table_is_valid() {
        let table: super::Table = toml::from_str(include_str!("commands.toml")).unwrap();
        assert!(!table.interpreters.is_empty());
    }
}
