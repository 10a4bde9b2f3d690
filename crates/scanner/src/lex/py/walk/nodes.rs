//! Nodes and words that the walk treats on their own.

use crate::names::{Names, Node, Word};

/// Calls that reach the network.
pub(in crate::lex::py) const NETWORK: &[&str] = &[
    "@urllib.request.urlopen",
    "@urllib.request.urlretrieve",
    "@requests.get",
    "@requests.post",
    "@requests.request",
    "@requests.Session",
    "@httpx.get",
    "@httpx.post",
    "@httpx.Client",
    "@socket.socket",
    "@socket.create_connection",
    "@http.client.HTTPConnection",
    "@http.client.HTTPSConnection",
];

/// Calls whose program stands twice, once as what it is called.
const LISTED: &[&str] = &[
    "@os.execl",
    "@os.execlp",
    "@os.execle",
    "@os.execlpe",
    "@os.execv",
    "@os.execvp",
    "@os.execve",
    "@os.execvpe",
    "@os.spawnl",
    "@os.spawnlp",
    "@os.spawnle",
    "@os.spawnv",
    "@os.spawnvp",
    "@os.spawnve",
    "@os.posix_spawn",
    "@os.posix_spawnp",
];
/// Members that are the names of another file or frame.
pub(in crate::lex::py) const SPACES: &[&str] = &["f_globals", "f_builtins", "__globals__"];
/// Methods that give a path again.
pub(in crate::lex::py) const PATH_WORDS: &[&str] = &[
    "expanduser",
    "resolve",
    "absolute",
    "joinpath",
    "as_posix",
    "with_name",
    "__str__",
    "parent",
    "parents",
];
/// Modules that other modules hold.
pub(in crate::lex::py) const REACHED: &[&str] = &["os", "subprocess", "builtins"];
/// Calls that put a path together.
pub(in crate::lex::py) const PATHS: &[&str] = &[
    "@os.path.join",
    "@os.path.expanduser",
    "@os.path.expandvars",
    "@os.path.abspath",
    "@os.path.normpath",
    "@pathlib.Path",
    "@pathlib.PosixPath",
    "@pathlib.PurePath",
    "@pathlib.Path.home",
    "@pathlib.Path.cwd",
];
/// Classes whose objects have members in the tables.
pub(in crate::lex::py) const CLASSES: &[&str] = &[
    "@code.InteractiveInterpreter",
    "@code.InteractiveConsole",
    "@fabric.Connection",
    "@invoke.Context",
    "@zipimport.zipimporter",
];

/// Nodes and words that the walk treats on their own.
#[derive(Debug)]
pub(super) struct WalkNodes {
    pub(super) builtins: Node,
    pub(super) builtins_word: Word,
    pub(super) environ: [Node; 2],
    pub(super) modules: Node,
    pub(super) imports: Vec<Node>,
    pub(super) dict: Word,
    pub(super) call: Word,
    pub(super) asked: Word,
    pub(super) getattr: Vec<Node>,
    pub(super) setattr: Node,
    pub(super) vars: Node,
    pub(super) spaces: Vec<Node>,
    pub(super) getter: Node,
    pub(super) caller: Node,
    pub(super) partial: Vec<Node>,
    pub(super) splitters: Vec<Node>,
    pub(super) dict_call: Node,
    pub(super) next: Node,
    pub(super) keepers: Vec<Node>,
    pub(super) enumerate: Node,
    pub(super) zip: Node,
    pub(super) temps: Vec<Node>,
    pub(super) bool_call: Node,
    pub(super) python: Vec<Node>,
    pub(super) shells: Vec<Node>,
    pub(super) programs: Vec<Node>,
    pub(super) spawners: Vec<Node>,
    pub(super) listed: Vec<Node>,
    pub(super) executable: Node,
    pub(super) yaml: Vec<Node>,
    pub(super) torch: Node,
    pub(super) setup: Vec<Node>,
    pub(super) network: Vec<Node>,
    pub(super) text_words: Vec<Word>,
    pub(super) ask_words: Vec<Word>,
    pub(super) list_words: Vec<Word>,
    pub(super) space_words: Vec<Word>,
    pub(super) path_words: Vec<Word>,
    /// Modules that are asked for as members of other modules.
    pub(super) reached: Vec<(Word, Node)>,
    pub(super) paths: Vec<Node>,
    pub(super) classes: Vec<Node>,
    pub(super) files: Vec<Node>,
}

impl WalkNodes {
    pub(super) fn new(names: &Names) -> Self {
        let word = |text: &str| names.words.get(text.as_bytes());
        let node = |path: &str| names.find(path);
        let all = |paths: &[&str]| paths.iter().map(|path| node(path)).filter(|node| *node != 0).collect();
        Self {
            builtins: node("@builtins"),
            builtins_word: word("__builtins__"),
            environ: [node("@os.environ"), node("@os.environb")],
            modules: node("@sys.modules"),
            imports: all(&["__import__", "@importlib.import_module", "@importlib.__import__"]),
            dict: word("__dict__"),
            call: word("__call__"),
            asked: word("__getattribute__"),
            getattr: all(&["getattr", "@inspect.getattr_static", "object.__getattribute__"]),
            setattr: node("setattr"),
            vars: node("vars"),
            spaces: all(&["globals", "locals", "vars"]),
            getter: node("@operator.attrgetter"),
            caller: node("@operator.methodcaller"),
            partial: all(&["@functools.partial", "@functools.partialmethod"]),
            splitters: all(&["@shlex.split", "str"]),
            dict_call: node("dict"),
            next: node("next"),
            keepers: all(&[
                "list",
                "tuple",
                "iter",
                "reversed",
                "sorted",
                "set",
                "frozenset",
                "@contextlib.nullcontext",
                "@contextlib.closing",
            ]),
            enumerate: node("enumerate"),
            zip: node("zip"),
            temps: all(&["@tempfile.mkdtemp", "@tempfile.TemporaryDirectory"]),
            bool_call: node("bool"),
            python: all(&[
                "eval",
                "exec",
                "compile",
                "@timeit.timeit",
                "@timeit.repeat",
                "@cProfile.run",
                "@profile.run",
                "@pdb.run",
                "@code.InteractiveInterpreter.runsource",
            ]),
            shells: all(&[
                "@os.system",
                "@os.popen",
                "@posix.system",
                "@nt.system",
                "@subprocess.getoutput",
                "@subprocess.getstatusoutput",
                "@asyncio.create_subprocess_shell",
                "@commands.getoutput",
                "@commands.getstatusoutput",
                "@popen2.popen2",
                "@subprocess.run",
                "@subprocess.Popen",
                "@subprocess.call",
                "@subprocess.check_call",
                "@subprocess.check_output",
                "@pty.spawn",
            ]),
            programs: all(&[&["@asyncio.create_subprocess_exec"][..], LISTED].concat()),
            spawners: all(&[
                "@subprocess.run",
                "@subprocess.Popen",
                "@subprocess.call",
                "@subprocess.check_call",
                "@subprocess.check_output",
            ]),
            listed: all(LISTED),
            executable: node("@sys.executable"),
            yaml: all(&["@yaml.load", "@yaml.load_all"]),
            torch: node("@torch.load"),
            setup: all(&["@setuptools.setup", "@distutils.core.setup", "setup"]),
            network: all(NETWORK),
            text_words: ["split", "format", "strip", "encode", "decode"]
                .iter()
                .map(|text| word(text))
                .collect(),
            ask_words: ["get", "__getitem__", "pop", "setdefault"].iter().map(|text| word(text)).collect(),
            list_words: ["items", "values", "copy"].iter().map(|text| word(text)).collect(),
            space_words: SPACES.iter().map(|text| word(text)).collect(),
            path_words: PATH_WORDS.iter().map(|text| word(text)).collect(),
            reached: REACHED.iter().map(|text| (word(text), names.module(text.as_bytes()))).collect(),
            paths: all(PATHS),
            classes: all(CLASSES),
            files: all(&["@runpy.run_path", "@importlib.machinery.SourceFileLoader"]),
        }
    }

    /// Says whether a list's method gives the items again.
    pub(super) fn keeps_list(&self, word: Word) -> bool {
        word != 0 && self.list_words.contains(&word)
    }

    /// Says whether a text's method gives the text again, in parts or another form.
    pub(super) fn keeps_text(&self, word: Word) -> bool {
        word != 0 && self.text_words.contains(&word)
    }

    /// Says whether a path's method gives a path again.
    pub(super) fn keeps_path(&self, word: Word) -> bool {
        word != 0 && self.path_words.contains(&word)
    }

    /// Says whether a member is the names of another file.
    pub(super) fn is_space(&self, word: Word) -> bool {
        word != 0 && self.space_words.contains(&word)
    }

    /// Gives the module that other modules hold under a name.
    pub(super) fn reached(&self, word: Word) -> Node {
        self.reached.iter().find(|(known, _)| word != 0 && *known == word).map_or(0, |(_, node)| *node)
    }

    /// Says whether a method asks a dictionary by a key.
    pub(super) fn asks(&self, word: Word) -> bool {
        word != 0 && self.ask_words.contains(&word)
    }
}
