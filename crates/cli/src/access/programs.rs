//! The installations of interpreters, which programs with granted access can read and execute.

use std::io::Read as _;

use camino::{Utf8Path, Utf8PathBuf};

use crate::host;

/// The programs whose libraries are next to their directory `bin`. A version can follow the name.
const INTERPRETERS: [&str; 9] = ["node", "python", "ruby", "perl", "deno", "bun", "php", "java", "uv"];
/// The directories that every program can use.
const SYSTEM: [&str; 4] = ["/usr", "/bin", "/sbin", "/nix/store"];
/// A script of a script of a script has no more interpreters.
const DEPTH: usize = 4;
/// The most bytes of the first line of a script.
const FIRST_LINE: u64 = 512;

/// Returns the search path of a program with granted access.
pub(crate) fn own_path() -> String {
    search_path(&host::search_path().join(":"))
}

/// Replaces the directories of shims on a search path, such as those of pyenv, with those of the selected versions. A shim
/// starts a program that selects one, and reads files of the user for that.
pub(crate) fn search_path(path: &str) -> String {
    let mut found: Vec<String> = Vec::new();
    for directory in path.split(':').filter(|directory| directory.starts_with('/')) {
        match directory.strip_suffix("/shims") {
            None => found.push(directory.to_owned()),
            Some(root) => found.extend(versions(Utf8Path::new(root)).map(Utf8PathBuf::into_string)),
        }
    }
    found.join(":")
}

/// Returns the directories of the versions that a user selected, in their order.
fn versions(root: &Utf8Path) -> impl Iterator<Item = Utf8PathBuf> {
    let selected = host::named_file(&root.join("version"), FIRST_LINE).unwrap_or_default();
    let selected = String::from_utf8(selected).unwrap_or_default();
    let directory = |name: &str| root.join("versions").join(name).join("bin");
    let found: Vec<_> = selected.split_whitespace().map(directory).filter(|path| path.is_dir()).collect();
    found.into_iter()
}

/// Returns the first program with a name on a search path.
pub(crate) fn find(name: &str, path: &str) -> Option<Utf8PathBuf> {
    let files = path.split(':').map(|directory| Utf8Path::new(directory).join(name));
    files.filter(|file| file.is_absolute()).find(|file| host::is_executable(file))
}

/// Returns the files and directories that a program and its interpreters need, besides those of the system.
pub(super) fn installations(program: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    let mut next = Some(program.to_owned());
    for _ in 0..DEPTH {
        let Some(path) = next.take() else { break };
        // A program that does not exist is an error of the start.
        let Ok(real) = host::real_path(&path) else { break };
        let environment = path.parent().and_then(Utf8Path::parent);
        // The interpreter of a virtual environment is a symlink out of it.
        found.extend(environment.filter(|dir| dir.join("pyvenv.cfg").is_file()).map(Utf8Path::to_owned));
        found.push(installation(&real));
        next = interpreter(&real);
    }
    found.retain(|path| !SYSTEM.iter().any(|system| path.starts_with(system)));
    found
}

/// Returns the directory of an interpreter, and any other program itself.
fn installation(real: &Utf8Path) -> Utf8PathBuf {
    let is_interpreter =
        real.file_name().is_some_and(|name| INTERPRETERS.iter().any(|known| name.starts_with(known)));
    let bin = real.parent().filter(|dir| is_interpreter && dir.file_name() == Some("bin"));
    let Some(prefix) = bin.and_then(Utf8Path::parent) else { return real.to_owned() };
    let home = host::home_directory().and_then(|home| host::real_path(&home).ok());
    let is_wide = prefix.parent().is_none()
        || home.is_some_and(|home| home.starts_with(prefix) || home.join(".local") == prefix);
    if is_wide { real.to_owned() } else { prefix.to_owned() }
}

/// Returns the interpreter that the first line of a script names.
fn interpreter(script: &Utf8Path) -> Option<Utf8PathBuf> {
    let mut text = Vec::new();
    #[expect(clippy::disallowed_methods, reason = "names an interpreter; the kernel reads the line again")]
    std::fs::File::open(script).ok()?.take(FIRST_LINE).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let mut words = text.strip_prefix("#!")?.lines().next()?.split_whitespace();
    let path = Utf8Path::new(words.next()?);
    if path.file_name() != Some("env") {
        return Some(path.to_owned());
    }
    let name = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    find(name, &own_path())
}
