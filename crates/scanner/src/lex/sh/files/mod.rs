//! Files other than scripts that contain commands: Dockerfiles, Makefiles, PowerShell and batch files.

pub(super) mod dockerfile;
pub(super) mod makefile;
pub(super) mod powershell;

/// The format of a file that the lexer for shells reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScriptFormat {
    Script,
    Dockerfile,
    Makefile,
    PowerShell,
    Batch,
}

/// Returns the format, from the file name.
pub(super) fn kind(path: &str) -> ScriptFormat {
    let (name, extension) = crate::inventory::names::parts(path);
    match (name.as_str(), extension.as_str()) {
        ("makefile" | "gnumakefile" | "makefile.am" | "makefile.in" | "justfile" | ".justfile", _)
        | (_, "mk" | "just") => ScriptFormat::Makefile,
        ("dockerfile" | "containerfile", _) | (_, "dockerfile") => ScriptFormat::Dockerfile,
        (_, "ps1" | "psm1") => ScriptFormat::PowerShell,
        (_, "bat" | "cmd") => ScriptFormat::Batch,
        (name, _) if name.starts_with("dockerfile.") || name.starts_with("containerfile.") => {
            ScriptFormat::Dockerfile
        }
        _ => ScriptFormat::Script,
    }
}
