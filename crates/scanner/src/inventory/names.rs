//! Lens and kind of a file by its name.

use plugward_types::words;

use crate::scan::entry::{FileKind, Lens};

/// File extensions with a lens.
const ENDINGS: &[(Lens, &[&str])] = &[
    (Lens::Js, words!["js mjs cjs jsx ts mts cts tsx html htm vue svelte astro svg xhtml"]),
    (Lens::Py, words!["py pyw pyi pth ipynb"]),
    (Lens::Sh, words!["sh bash zsh ksh bats command envrc mk ps1 psm1 bat cmd dockerfile"]),
    (Lens::Rs, words!["rs"]),
    (
        Lens::Data,
        words![
            "json jsonc json5 toml yaml yml webmanifest code-workspace gyp gypi ini service desktop cfg",
            "conf env cmake",
        ],
    ),
    (Lens::Prose, words!["md mdx mdc markdown txt rst adoc"]),
];

/// File names with a lens.
const NAMES: &[(Lens, &[&str])] = &[
    (
        Lens::Sh,
        words![
            "makefile gnumakefile makefile.am makefile.in pkgbuild apkbuild justfile .justfile dockerfile",
            "containerfile .bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv",
            ".zprofile .zlogin .kshrc .envrc envrc .bash_aliases .zsh_aliases .zlogout",
        ],
    ),
    (
        Lens::Data,
        words![
            ".npmrc .yarnrc cmakelists.txt pipfile procfile .lintstagedrc .gemrc .condarc .gitconfig",
            ".gitmodules",
        ],
    ),
];

/// File extensions of programming languages without a lens.
const NO_LENS: &[&str] = words![
    "rb go php pl pm lua c h cc cpp cxx hpp java kt kts scala swift cs fs vb m mm r jl ex exs erl hs clj",
    "cljs groovy gradle dart zig nim cr tcl awk sed vbs wsf hta applescript scpt fish nu elv coffee ml mli",
    "lisp el scm rkt pas d v sql as asm s cmake bzl star phtml php3 php4 php5 phar vba bas cls hx sol cu nix",
    "jsp asp aspx cfm f90 f95 cljc fsx csx sbt vim raku ps ahk au3 wat purs elm gd lean adb ads kak nsi vala",
];

/// Returns the last part of a path and its extension, both in lower case.
pub(crate) fn parts(path: &str) -> (String, String) {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    // Some systems drop trailing blanks and dots.
    let trimmed = name.trim_end_matches(['.', ' ']);
    let ending = trimmed.rsplit_once('.').map_or("", |(_, ending)| ending).to_owned();
    (trimmed.to_owned(), ending)
}

/// Joins a relative path to a directory; `None` if it leaves the plugin or is absolute.
pub(super) fn join(directory: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    if path.starts_with('/') {
        return None;
    }
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns the lens for a file name.
pub(crate) fn lens(path: &str) -> Option<Lens> {
    let (name, ending) = parts(path);
    let listed = |table: &[(Lens, &[&str])], word: &str| {
        table.iter().find(|(_, words)| words.contains(&word)).map(|(lens, _)| *lens)
    };
    let dotted = ["dockerfile.", "containerfile."].iter().any(|head| name.starts_with(head));
    let dotted = dotted.then_some(Lens::Sh);
    let dotted = dotted.or_else(|| name.starts_with(".env.").then_some(Lens::Data));
    let lower = path.to_ascii_lowercase();
    let settings = lower == "git/config"
        || [".git/config", "/git/config", ".cargo/config"].iter().any(|tail| lower.ends_with(tail));
    let dotted = dotted.or_else(|| settings.then_some(Lens::Data));
    // Scripts that git runs by name.
    let hooks = [".husky/", ".githooks/", ".git/hooks/"].iter().any(|directory| {
        lower.starts_with(directory) || memchr::memmem::find(lower.as_bytes(), directory.as_bytes()).is_some()
    });
    let dotted =
        dotted.or_else(|| (hooks && ending.is_empty() && !name.starts_with('.')).then_some(Lens::Sh));
    listed(NAMES, &name).or(dotted).or_else(|| listed(ENDINGS, &ending))
}

/// Returns `true` for the name of a style sheet, query or page, which code imports for a bundler.
pub(crate) fn is_asset(path: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "css", "scss", "sass", "less", "styl", "stylus", "pcss", "postcss", "graphql", "gql", "md", "mdx",
        "markdown", "glsl", "wgsl", "vert", "frag",
    ];
    ENDINGS.contains(&parts(path).1.as_str())
}

/// Returns `true` for the name of a file in a programming language without a lens.
pub(crate) fn is_unread_language(path: &str) -> bool {
    NO_LENS.contains(&parts(path).1.as_str())
}

/// Returns `true` if the first line selects an interpreter.
pub(crate) fn is_script(text: &[u8]) -> bool {
    let line = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text).strip_prefix(b"#!");
    line.is_some_and(|line| line.trim_ascii_start().starts_with(b"/"))
}

/// Returns the lens for the interpreter in a first line.
pub(crate) fn shebang(text: &[u8]) -> Option<Lens> {
    let line = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text).strip_prefix(b"#!")?;
    let end = memchr::memchr2(b'\n', b'\r', line).unwrap_or(line.len()).min(512);
    let line = String::from_utf8_lossy(line.get(..end)?).into_owned();
    line.split_whitespace().find_map(|word| {
        let program = word.rsplit('/').next().unwrap_or(word);
        let base = program.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.');
        match base {
            "node" | "nodejs" | "deno" | "bun" | "ts-node" | "tsx" => Some(Lens::Js),
            "python" | "pypy" | "uv" => Some(Lens::Py),
            "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "busybox" => Some(Lens::Sh),
            "cargo" | "rust-script" => Some(Lens::Rs),
            _ => None,
        }
    })
}

/// Names of files that enter a prompt.
const PROMPT_NAMES: &[&str] =
    &["skill.md", "agents.md", "claude.md", "gemini.md", ".cursorrules", ".windsurfrules"];
/// Directories whose Markdown enters a prompt.
const PROMPT_DIRECTORIES: &[&str] = &["skills", "commands", "agents", "prompts", "rules", "output-styles"];
/// File names of manifests.
const MANIFESTS: &[&str] = words![
    "plugin.json marketplace.json hooks.json .mcp.json mcp.json .lsp.json gemini-extension.json package.json",
    "package.json5 manifest.json opencode.json claude_desktop_config.json cline_mcp_settings.json",
    "mcp_config.json settings.json settings.local.json plugin.toml plugin.yaml plugin.yml plugin.json5",
    "pyproject.toml cargo.toml",
];

/// Returns the kind of a file by its name.
pub(crate) fn role(path: &str) -> FileKind {
    let (name, ending) = parts(path);
    let lower = path.to_ascii_lowercase();
    let mut directories: Vec<&str> = lower.split('/').collect();
    directories.truncate(directories.len().saturating_sub(1));
    let markdown = matches!(ending.as_str(), "md" | "mdx" | "markdown");
    let prompt = PROMPT_NAMES.contains(&name.as_str())
        || ending == "mdc"
        || (markdown && directories.iter().any(|directory| PROMPT_DIRECTORIES.contains(directory)));
    if prompt {
        return FileKind::Prompt;
    }
    if name == "build.rs" {
        return FileKind::Build;
    }
    if MANIFESTS.contains(&name.as_str()) {
        return FileKind::Manifest;
    }
    let stem = name.split('.').next().unwrap_or(&name);
    let doc = matches!(
        stem,
        "readme" | "changelog" | "license" | "licence" | "contributing" | "notice" | "copying"
    );
    let prose = matches!(lens(path), Some(Lens::Prose)) || ending.is_empty();
    if prose && (doc || directories.contains(&"docs") || directories.contains(&"doc")) {
        FileKind::Doc
    } else {
        FileKind::Other
    }
}
