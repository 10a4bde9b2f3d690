//! Names that the analysis itself uses, besides those of the rules.

use crate::rules::names::{Names, Node};

/// Functions that run a text argument as code.
const JS_EVALUATORS: &[&str] =
    &["eval", "Function", "execScript", "setTimeout", "setInterval", "setImmediate"];
const JS_SHELLS: &[&str] = &["@child_process.exec", "@child_process.execSync"];
/// Functions that take a program and a list of arguments.
const JS_PROGRAMS: &[&str] = &[
    "@child_process.spawn",
    "@child_process.spawnSync",
    "@child_process.execFile",
    "@child_process.execFileSync",
];
const JS_STARTERS: &[&str] = plugward_types::words![
    "@child_process.spawn @child_process.spawnSync @child_process.fork @child_process.execFile",
    "@child_process.execFileSync *.spawn *.spawnSync *.fork *.execFile *.execFileSync",
];
const JS_WASM: &[&str] = &["WebAssembly.compile", "WebAssembly.instantiate", "WebAssembly.Module"];
/// Functions that delete a directory with its contents if an option says so.
const JS_DELETE: &[&str] = plugward_types::words![
    "*.rm *.rmSync *.rmdir *.rmdirSync @fs.rm @fs.rmSync @fs.rmdir @fs.rmdirSync @fs.promises.rm",
    "@fs.promises.rmdir @fs/promises.rm @fs/promises.rmdir",
];
/// Functions that always delete a directory with its contents.
const JS_DELETE_ALL: &[&str] = plugward_types::words![
    "@fs-extra.remove @fs-extra.removeSync @rimraf @rimraf.sync @rimraf.rimraf @rimraf.rimrafSync rimraf",
];
/// Functions that create a temporary directory.
const JS_TEMPORARY: &[&str] = plugward_types::words![
    "*.mkdtemp *.mkdtempSync @fs.mkdtemp @fs.mkdtempSync Deno.makeTempDir Deno.makeTempDirSync",
];
/// Functions that print or copy all members of their arguments.
const JS_BULK: &[&str] = plugward_types::words![
    "Object.keys Object.values Object.entries Object.fromEntries Object.getOwnPropertyNames",
    "Object.getOwnPropertyDescriptors Reflect.ownKeys JSON.stringify structuredClone console.log",
    "@util.inspect @querystring.stringify URLSearchParams",
];
/// Functions that copy all members of their arguments after the first.
const JS_COPY: &[&str] = &["Object.assign"];
const JS_ENVIRONMENT: &[&str] = &["process.env", "Deno.env", "Bun.env", "import.meta.env", "@process.env"];
const JS_ENVIRONMENT_COPY: &[&str] = &["Deno.env.toObject"];
const JS_CONSTRUCTOR: &[&str] = &["*.constructor"];

const PY_EVALUATORS: &[&str] = plugward_types::words![
    "eval exec compile @timeit.timeit @timeit.repeat @cProfile.run @profile.run @pdb.run",
    "@code.InteractiveInterpreter.runsource",
];
const PY_SHELLS: &[&str] = plugward_types::words![
    "@os.system @os.popen @posix.system @nt.system @subprocess.getoutput @subprocess.getstatusoutput",
    "@asyncio.create_subprocess_shell @commands.getoutput @commands.getstatusoutput @popen2.popen2",
    "@subprocess.run @subprocess.Popen @subprocess.call @subprocess.check_call @subprocess.check_output",
    "@pty.spawn",
];
/// Functions that take the program twice, the second time as the name of the process.
const PY_LISTED: &[&str] = plugward_types::words![
    "@os.execl @os.execlp @os.execle @os.execlpe @os.execv @os.execvp @os.execve @os.execvpe @os.spawnl",
    "@os.spawnlp @os.spawnle @os.spawnv @os.spawnvp @os.spawnve @os.posix_spawn @os.posix_spawnp",
];
const PY_PROGRAMS: &[&str] = &["@asyncio.create_subprocess_exec"];
/// Functions whose ninth argument is `shell`.
const PY_SPAWNERS: &[&str] = plugward_types::words![
    "@subprocess.run @subprocess.Popen @subprocess.call @subprocess.check_call @subprocess.check_output",
];
const PY_NETWORK: &[&str] = plugward_types::words![
    "@urllib.request.urlopen @urllib.request.urlretrieve @requests.get @requests.post @requests.request",
    "@requests.Session @httpx.get @httpx.post @httpx.Client @socket.socket @socket.create_connection",
    "@http.client.HTTPConnection @http.client.HTTPSConnection",
];
const PY_ENVIRONMENT: &[&str] = &["@os.environ", "@os.environb"];
const PY_TEMPORARY: &[&str] = &["@tempfile.mkdtemp", "@tempfile.TemporaryDirectory"];
const PY_YAML: &[&str] = &["@yaml.load", "@yaml.load_all"];
const PY_TORCH: &[&str] = &["@torch.load"];
const PY_SETUP: &[&str] = &["@setuptools.setup", "@distutils.core.setup", "setup"];
const PY_EXECUTABLE: &[&str] = &["@sys.executable"];
/// Functions that run a file.
const PY_FILES: &[&str] = &["@runpy.run_path", "@importlib.machinery.SourceFileLoader"];
/// Classes whose objects have members in the tables.
const PY_CLASSES: &[&str] = plugward_types::words![
    "@code.InteractiveInterpreter @code.InteractiveConsole @fabric.Connection @invoke.Context",
    "@zipimport.zipimporter",
];
/// Modules that are also members of the modules that import them.
const PY_REACHED: &[&str] = &["os", "subprocess", "builtins", "sys", "importlib"];

macro_rules! watched {
    ($($flag:ident = $bit:literal, $js:expr, $py:expr;)*) => {
        /// The groups of a name, one bit each.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub(crate) struct Groups(u32);

        impl Groups {
            $(pub(crate) const $flag: Self = Self(1 << $bit);)*

            pub(crate) const fn has(self, other: Self) -> bool {
                self.0 & other.0 != 0
            }

            const fn and(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        fn groups(language: Language) -> Vec<(Groups, &'static [&'static str])> {
            match language {
                Language::JavaScript => vec![$((Groups::$flag, $js),)*],
                Language::Python => vec![$((Groups::$flag, $py),)*],
            }
        }
    };
}

watched! {
    EVALUATOR = 0, JS_EVALUATORS, PY_EVALUATORS;
    SHELL = 1, JS_SHELLS, PY_SHELLS;
    PROGRAM = 2, JS_PROGRAMS, PY_PROGRAMS;
    LISTED = 3, &[], PY_LISTED;
    STARTER = 4, JS_STARTERS, PY_SPAWNERS;
    ENVIRONMENT = 5, JS_ENVIRONMENT, PY_ENVIRONMENT;
    BULK = 6, JS_BULK, &[];
    ENVIRONMENT_COPY = 7, JS_ENVIRONMENT_COPY, &[];
    WASM = 8, JS_WASM, &[];
    DELETE = 9, JS_DELETE, &[];
    DELETE_ALL = 10, JS_DELETE_ALL, &[];
    TEMPORARY = 11, JS_TEMPORARY, PY_TEMPORARY;
    CONSTRUCTOR = 12, JS_CONSTRUCTOR, &[];
    NETWORK = 13, &[], PY_NETWORK;
    YAML = 14, &[], PY_YAML;
    TORCH = 15, &[], PY_TORCH;
    SETUP = 16, &[], PY_SETUP;
    EXECUTABLE = 17, &[], PY_EXECUTABLE;
    FILE = 18, &[], PY_FILES;
    CLASS = 19, &[], PY_CLASSES;
    COPY = 20, JS_COPY, &[];
}

use plugward_readers::Language;

/// Adds the names to a table.
pub(crate) fn intern(names: &mut Names, language: Language) {
    for (_, paths) in groups(language) {
        for path in paths {
            names.intern(path);
        }
    }
    if language == Language::Python {
        for module in PY_REACHED {
            names.words.intern(module.as_bytes());
        }
    }
}

/// The groups of each node of a table.
#[derive(Debug)]
pub(crate) struct Watched {
    groups: Vec<Groups>,
}

impl Watched {
    pub(crate) fn new(names: &Names, language: Language) -> Self {
        let mut all = vec![Groups::default(); names.all().count()];
        for (group, paths) in groups(language) {
            for path in paths {
                if let Some(known) = all.get_mut(names.find(path) as usize) {
                    *known = known.and(group);
                }
            }
        }
        // Node 0 is not a node.
        if let Some(none) = all.first_mut() {
            *none = Groups::default();
        }
        Self { groups: all }
    }

    pub(crate) fn of(&self, node: Node) -> Groups {
        self.groups.get(node as usize).copied().unwrap_or_default()
    }
}

/// Returns `true` if other modules have this one as a member.
pub(super) fn is_reached(module: &[u8]) -> bool {
    PY_REACHED.iter().any(|known| known.as_bytes() == module)
}
