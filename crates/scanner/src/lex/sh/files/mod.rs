//! Files other than scripts that contain commands: Dockerfiles, Makefiles, PowerShell and batch files.

pub(super) mod dockerfile;
pub(super) mod makefile;
pub(super) mod powershell;

/// The format of a file that the lexer for shells reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    Script,
    Dockerfile,
    Makefile,
    PowerShell,
    Batch,
}

/// Returns the format, from the file name.
pub(super) fn kind(path: &str) -> FileKind {
    let (name, extension) = crate::inventory::names::parts(path);
    match (name.as_str(), extension.as_str()) {
        ("makefile" | "gnumakefile" | "makefile.am" | "makefile.in" | "justfile" | ".justfile", _)
        | (_, "mk" | "just") => FileKind::Makefile,
        ("dockerfile" | "containerfile", _) | (_, "dockerfile") => FileKind::Dockerfile,
        (_, "ps1" | "psm1") => FileKind::PowerShell,
        (_, "bat" | "cmd") => FileKind::Batch,
        (name, _) if name.starts_with("dockerfile.") || name.starts_with("containerfile.") => {
            FileKind::Dockerfile
        }
        _ => FileKind::Script,
    }
}
