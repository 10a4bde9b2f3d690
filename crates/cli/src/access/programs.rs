//! The installations of interpreters, which programs with granted access can read and execute.

use std::io::Read as _;

use camino::{Utf8Path, Utf8PathBuf};

use crate::host;

/// The programs whose libraries are next to their directory `bin`. A version can follow the name.
const INTERPRETERS: [&str; 11] =
    ["node", "nodejs", "python", "ruby", "perl", "deno", "bun", "php", "java", "uv", "uvx"];
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
///
/// With a `tree`, a manifest names the program. A path outside the tree and the search path then adds nothing, because
/// the plugin could choose or replace the file.
pub(super) fn installations(program: &Utf8Path, tree: Option<&Utf8Path>) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    let mut next = Some(program.to_owned());
    for _ in 0..DEPTH {
        // A program that does not exist is an error of the start.
        let Some(path) = next.take().filter(|path| host::is_executable(path)) else { break };
        let Ok(real) = host::real_path(&path) else { break };
        let is_own = tree.is_some_and(|tree| real.starts_with(tree));
        if !is_own {
            let is_named = tree.is_some() && path == program;
            if is_named && !is_on_path(&path) && !is_of_system(&path) {
                break;
            }
            // The interpreter of a virtual environment is a symlink out of it.
            let environment = path.parent().and_then(Utf8Path::parent);
            let environment = environment.filter(|prefix| prefix.join("pyvenv.cfg").is_file());
            found.extend(environment.map(parts).unwrap_or_default());
            found.extend(installation(&real));
        }
        next = interpreter(&real, tree);
    }
    found.retain(|path| !SYSTEM.iter().any(|system| path.starts_with(system)));
    found
}

fn is_on_path(program: &Utf8Path) -> bool {
    program.parent().is_some_and(|parent| own_path().split(':').any(|directory| parent == directory))
}

/// Returns `true` for a path inside a directory of the system.
fn is_of_system(path: &Utf8Path) -> bool {
    SYSTEM.iter().any(|system| path.starts_with(system))
        && path.components().all(|part| part.as_str() != "..")
}

/// Returns a program, and the installation of an interpreter.
fn installation(real: &Utf8Path) -> Vec<Utf8PathBuf> {
    let name = real.file_name().unwrap_or_default();
    let is_version = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit() || b".-".contains(&byte));
    let is_interpreter = INTERPRETERS.iter().any(|known| name.strip_prefix(known).is_some_and(is_version));
    let bin = real.parent().filter(|dir| is_interpreter && dir.file_name() == Some("bin"));
    let mut found = bin.and_then(Utf8Path::parent).map(parts).unwrap_or_default();
    // It starts the program next to it.
    found.extend((name == "uvx").then(|| real.with_file_name("uv")).filter(|uv| host::is_executable(uv)));
    found.push(real.to_owned());
    found
}

/// Returns the programs and libraries of an installation, and nothing of one in the home directory or around it.
fn parts(prefix: &Utf8Path) -> Vec<Utf8PathBuf> {
    let home = host::home_directory().and_then(|home| host::real_path(&home).ok());
    let Ok(prefix) = host::real_path(prefix) else { return Vec::new() };
    let is_wide = prefix.parent().is_none()
        || home.is_some_and(|home| home.starts_with(&prefix) || home.join(".local") == prefix);
    let entries = if is_wide { None } else { prefix.read_dir_utf8().ok() };
    let is_part = |name: &str| {
        name.starts_with("lib") || ["bin", "include", "share", "conf", "pyvenv.cfg"].contains(&name)
    };
    let entries = entries.into_iter().flatten().filter_map(Result::ok);
    let found = entries.filter(|entry| is_part(entry.file_name()));
    // A symlink out of the installation is not a part of it.
    found
        .filter_map(|entry| host::real_path(entry.path()).ok())
        .filter(|path| path.starts_with(&prefix) && *path != prefix)
        .collect()
}

/// Returns the interpreter that the first line of a script names, as the kernel reads the line. A script of a plugin can
/// name one of the system or of the search path.
fn interpreter(script: &Utf8Path, tree: Option<&Utf8Path>) -> Option<Utf8PathBuf> {
    let mut text = Vec::new();
    host::handle(script).ok()?.take(FIRST_LINE).read_to_end(&mut text).ok()?;
    let first = text.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let mut words = str::from_utf8(first).ok()?.split([' ', '\t']).filter(|word| !word.is_empty());
    let path = Utf8Path::new(words.next()?);
    let is_own = tree.is_some_and(|tree| script.starts_with(tree));
    if is_own && !is_of_system(path) {
        return None;
    }
    if path.file_name() != Some("env") {
        return Some(path.to_owned());
    }
    let name = words.next()?;
    let name = if name == "-S" { words.next()? } else { name };
    let is_name = !name.starts_with('-') && !name.contains(['/', '=']);
    is_name.then(|| find(name, &own_path())).flatten()
}
