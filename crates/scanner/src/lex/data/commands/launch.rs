//! What a command of a manifest starts: inline code, a downloader, or a package without a version.

use plugward_commands::{
    CommandContext, CommandError, CommandLimits, CommandLine, PackagePrecision, PackageReference, PathText,
    ProgramRole, StartTarget, StartedProgram, is_downloader, read_argv, read_command,
};
use plugward_types::Address;

/// A set of properties of a hook's or server's command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::lex::data) struct Launch(u8);

impl Launch {
    /// The command contains the code for a shell or interpreter, as in `bash -c "…"`.
    pub(in crate::lex::data) const INLINE: Self = Self(1);
    /// The program downloads from an address in its arguments, as `curl` does.
    pub(in crate::lex::data) const DOWNLOADS: Self = Self(2);
    /// A package runner is used without an exact version, as in `npx server`.
    pub(in crate::lex::data) const UNPINNED: Self = Self(4);
    /// The command does more than run one file inside the plugin's root.
    pub(in crate::lex::data) const MORE: Self = Self(8);

    pub(in crate::lex::data) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Returns the properties of a command line with the arguments that follow it. The command alone is a text for a shell.
pub(in crate::lex::data) fn judge(command: &str, args: &[&str]) -> Launch {
    let root = |name: &str| match name {
        // VS Code's path separator.
        "/" => Some("/".to_owned()),
        _ => plugward_commands::is_plugin_root(name).then(|| ROOT.to_owned()),
    };
    let context =
        CommandContext { variables: &root, directory: PathText::start(), limits: CommandLimits::STANDARD };
    let line = if args.is_empty() {
        read_command(command, &context)
    } else if command.contains(' ') {
        let quoted = |arg: &&str| {
            format!(" \"{}\"", arg.replace('\\', "\\\\").replace('"', "\\\"").replace('`', "\\`"))
        };
        read_command(&format!("{command}{}", args.iter().map(quoted).collect::<String>()), &context)
    } else {
        read_argv(&[&[command], args].concat(), &context)
    };
    line.map_or_else(|_: CommandError| Launch::MORE.and(Launch::INLINE), |line| properties(&line))
}

/// The directory that stands for the plugin's root.
const ROOT: &str = "/plugin";

fn properties(line: &CommandLine) -> Launch {
    let mut launch = Launch::default();
    if line.is_compound || line.has_operators {
        // Only a shell runs several commands in one line.
        launch = launch.and(Launch::MORE).and(Launch::INLINE);
    } else if !is_own_file(line) {
        launch = launch.and(Launch::MORE);
    }
    let splits = |program: &StartedProgram| matches!(base(program).as_str(), "env" | "cmd");
    let is_nested = |program: &StartedProgram| program.depth > 0 && !program.is_wrapped;
    if line.programs.iter().any(is_nested) && !line.programs.iter().any(splits) {
        launch = launch.and(Launch::INLINE);
    }
    for program in &line.programs {
        if is_downloader(&base(program)) {
            launch = launch.and(Launch::DOWNLOADS);
        }
        for start in &program.starts {
            match start {
                // `env -S` and `cmd /c` split a text, which is code only if it has operators.
                StartTarget::Code { text, .. } if !splits(program) || text.shown().contains(OPERATORS) => {
                    launch = launch.and(Launch::INLINE);
                }
                StartTarget::Package(package) if is_floating(package) && !is_offline(program) => {
                    launch = launch.and(Launch::UNPINNED);
                }
                _ => {}
            }
        }
    }
    launch
}

/// The characters with which a text is more than a program and its arguments, in a shell or in `cmd`.
const OPERATORS: [char; 13] = ['&', '|', '<', '>', '^', '%', ';', '"', '\'', '`', '$', '(', '\n'];

fn base(program: &StartedProgram) -> String {
    let name = program.name.shown().to_ascii_lowercase();
    let name = name.rsplit(['/', '\\']).next().unwrap_or(&name);
    name.strip_suffix(".exe").unwrap_or(name).to_owned()
}

/// Returns `true` for a package without an exact version or digest.
fn is_floating(package: &PackageReference) -> bool {
    package.precision() == PackagePrecision::Floating && !is_own_package(package.reference.shown())
}

/// Returns `true` if a package runner only runs what is installed.
fn is_offline(program: &StartedProgram) -> bool {
    program.arguments.iter().any(|word| matches!(word.shown(), "--no-install" | "--no" | "--offline"))
}

/// Returns `true` if a command only runs a file inside the plugin's root, directly or with an interpreter.
fn is_own_file(line: &CommandLine) -> bool {
    let runs = |program: &&StartedProgram| program.role() != ProgramRole::Wrapper;
    let mut programs = line.programs.iter().filter(runs);
    let (Some(program), None) = (programs.next(), programs.next()) else { return false };
    let mut starts = program
        .starts
        .iter()
        .filter(|start| !matches!(start, StartTarget::Environment(path) if is_own(path)));
    let is_file = matches!(starts.next(), Some(StartTarget::File(path)) if is_own(path));
    line.open_words.is_empty() && is_file && starts.next().is_none()
}

fn is_own(path: &PathText) -> bool {
    !path.has_parent_steps() && (!path.is_absolute() || path.is_in(&PathText::new(ROOT)))
}

/// Returns `true` for a package inside the plugin's directory, which the pin covers.
fn is_own_package(reference: &str) -> bool {
    let is_path = reference == "." || reference.starts_with("./") || reference.starts_with(ROOT);
    is_path && !PathText::new(reference).has_parent_steps()
}

/// Returns `true` if a server's address uses plain HTTP to another machine.
pub(in crate::lex::data) fn is_plain_http(url: &[u8]) -> bool {
    let address = Address::parse(&String::from_utf8_lossy(url));
    matches!(address.scheme(), Some("http" | "ws"))
        && !address.is_loopback()
        && address.host() != Some("host.docker.internal")
}
