//! The functions of the standard libraries that load or start something.

use super::fold::Folder;
use super::{ImportTarget, UNKNOWN};
use crate::evaluate::{Argument, Language};

/// The arguments of a function that name what it loads or starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallForm {
    /// The text of a command for a shell.
    Shell,
    /// A program, and a list of its arguments.
    Program,
    /// A list of words from the argument at this index, or a text for a shell.
    Words(usize),
    /// One word per argument from this index on.
    Arguments(usize),
    /// A path.
    File(usize),
    /// A module.
    Module,
    /// One or several directories.
    Directory(usize),
    /// Directories whose modules are listed.
    Packages,
    /// The new working directory.
    ChangeDirectory,
    /// Code, which the argument may read from a file.
    Code,
}

use CallForm::{Arguments, ChangeDirectory, Code, Directory, File, Module, Packages, Program, Shell, Words};

/// The functions of JavaScript, sorted.
const JAVASCRIPT: &[(&str, CallForm)] = &[
    ("@child_process.exec", Shell),
    ("@child_process.execFile", Program),
    ("@child_process.execFileSync", Program),
    ("@child_process.execSync", Shell),
    ("@child_process.fork", File(0)),
    ("@child_process.spawn", Program),
    ("@child_process.spawnSync", Program),
    ("@cross-spawn", Program),
    ("@cross-spawn.sync", Program),
    ("@execa", Program),
    ("@execa.execa", Program),
    ("@execa.execaCommand", Shell),
    ("@execa.execaNode", File(0)),
    ("@execa.execaSync", Program),
    ("@module.register", Module),
    ("@vm.Script", Code),
    ("@vm.runInContext", Code),
    ("@vm.runInNewContext", Code),
    ("@vm.runInThisContext", Code),
    ("@worker_threads.Worker", File(0)),
    ("Bun.spawn", Words(0)),
    ("Bun.spawnSync", Words(0)),
    ("Deno.Command", Program),
    ("Function", Code),
    ("SharedWorker", File(0)),
    ("Worker", File(0)),
    ("eval", Code),
    ("process.chdir", ChangeDirectory),
    ("process.dlopen", File(1)),
    ("require.resolve", Module),
];

/// The functions of Python, sorted.
const PYTHON: &[(&str, CallForm)] = &[
    ("@asyncio.create_subprocess_exec", Arguments(0)),
    ("@asyncio.create_subprocess_shell", Shell),
    ("@asyncio.subprocess.create_subprocess_exec", Arguments(0)),
    ("@asyncio.subprocess.create_subprocess_shell", Shell),
    ("@contextlib.chdir", ChangeDirectory),
    ("@ctypes.CDLL", File(0)),
    ("@ctypes.cdll.LoadLibrary", File(0)),
    ("@imp.load_source", File(1)),
    ("@importlib.machinery.SourceFileLoader", File(1)),
    ("@importlib.util.spec_from_file_location", File(1)),
    ("@os.chdir", ChangeDirectory),
    ("@os.execl", Arguments(1)),
    ("@os.execle", Arguments(1)),
    ("@os.execlp", Arguments(1)),
    ("@os.execlpe", Arguments(1)),
    ("@os.execv", Words(1)),
    ("@os.execve", Words(1)),
    ("@os.execvp", Words(1)),
    ("@os.execvpe", Words(1)),
    ("@os.popen", Shell),
    ("@os.posix_spawn", Words(1)),
    ("@os.posix_spawnp", Words(1)),
    ("@os.spawnl", Arguments(2)),
    ("@os.spawnlp", Arguments(2)),
    ("@os.spawnv", Words(2)),
    ("@os.spawnvp", Words(2)),
    ("@os.system", Shell),
    ("@pkgutil.iter_modules", Packages),
    ("@pkgutil.walk_packages", Packages),
    ("@pty.spawn", Words(0)),
    ("@runpy.run_module", Module),
    ("@runpy.run_path", File(0)),
    ("@site.addsitedir", Directory(0)),
    ("@subprocess.Popen", Words(0)),
    ("@subprocess.call", Words(0)),
    ("@subprocess.check_call", Words(0)),
    ("@subprocess.check_output", Words(0)),
    ("@subprocess.getoutput", Shell),
    ("@subprocess.getstatusoutput", Shell),
    ("@subprocess.run", Words(0)),
    ("@sys.path.append", Directory(0)),
    ("@sys.path.extend", Directory(0)),
    ("@sys.path.insert", Directory(1)),
    ("compile", Code),
    ("eval", Code),
    ("exec", Code),
    ("execfile", File(0)),
];

const fn table(language: Language) -> &'static [(&'static str, CallForm)] {
    match language {
        Language::JavaScript => JAVASCRIPT,
        Language::Python => PYTHON,
    }
}

/// Returns how a function uses its arguments.
pub(super) fn form(language: Language, path: &str) -> Option<CallForm> {
    let table = table(language);
    let at = table.binary_search_by_key(&path, |(known, _)| *known).ok()?;
    table.get(at).map(|(_, form)| *form)
}

/// Returns `true` if a name is in the table, or the beginning of one.
pub(super) fn begins(language: Language, path: &str) -> bool {
    let inside =
        |known: &str| known.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    table(language).iter().any(|(known, _)| inside(known))
}

/// Returns what one call loads or starts.
pub(super) fn targets(form: CallForm, folder: &Folder<'_, '_>, arguments: &[Argument]) -> Vec<ImportTarget> {
    let texts = |at: usize| arguments.get(at).map(|argument| folder.texts_of(argument)).unwrap_or_default();
    let all = |make: fn(String) -> ImportTarget, texts: Vec<String>| texts.into_iter().map(make).collect();
    match form {
        ChangeDirectory => Vec::new(),
        Shell => all(ImportTarget::Shell, texts(0)),
        File(at) => all(ImportTarget::File, texts(at)),
        Module => all(ImportTarget::Module, texts(0)),
        Directory(at) => all(ImportTarget::Directory, texts(at)),
        Packages => texts(0).into_iter().map(|at| ImportTarget::File(format!("{at}/*.py"))).collect(),
        Code => {
            arguments.iter().filter_map(|one| one.node).flat_map(|node| folder.files_read(node)).collect()
        }
        Program => {
            let program = texts(0);
            let rest = arguments.get(1).and_then(|argument| folder.words_of(argument)).unwrap_or_default();
            // With the option `shell`, the first argument is a text for a shell.
            let is_text = program.iter().any(|text| text.contains(char::is_whitespace));
            let mut found: Vec<_> =
                program.iter().filter(|_| is_text).cloned().map(ImportTarget::Shell).collect();
            found.extend(commands(core::iter::once(program).chain(rest).collect()));
            found
        }
        Words(at) => match arguments.get(at).and_then(|argument| folder.words_of(argument)) {
            Some(words) => commands(words),
            None => all(ImportTarget::Shell, texts(at)),
        },
        Arguments(from) => {
            commands(arguments.iter().skip(from).map(|argument| folder.texts_of(argument)).collect())
        }
    }
}

/// The most commands that one call can mean.
const MOST: usize = 64;

/// Returns the commands of which each word is one of several.
fn commands(words: Vec<Vec<String>>) -> Vec<ImportTarget> {
    let mut all: Vec<Vec<String>> = vec![Vec::new()];
    for word in words {
        let room = MOST.checked_div(all.len()).unwrap_or(1).max(1);
        let choices: Vec<String> =
            if word.is_empty() { vec![UNKNOWN.to_owned()] } else { word.into_iter().take(room).collect() };
        all = all
            .into_iter()
            .flat_map(|head| {
                choices.iter().map(move |word| [head.as_slice(), core::slice::from_ref(word)].concat())
            })
            .collect();
    }
    all.retain(|words| words.iter().any(|word| word != UNKNOWN));
    all.into_iter().map(ImportTarget::Command).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn tables_are_sorted() {
        assert!(super::JAVASCRIPT.is_sorted_by_key(|(path, _)| *path));
        assert!(super::PYTHON.is_sorted_by_key(|(path, _)| *path));
    }
}
