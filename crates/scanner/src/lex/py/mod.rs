//! Python.

mod bind;
mod look;
pub(crate) mod notebook;
mod path;
mod scan;
mod scope;
mod source;
mod text;
mod token;
mod views;
mod walk;

use super::Lexed;
use crate::entry::Lens;
use crate::names::Names;
use crate::options::Limits;
use crate::sink::{EmbeddedText, Sink, Unread};
use scan::Scanner;
use token::{FIRST_WORD, KEYWORDS};
use walk::nodes;

/// Names that the walker follows although no rule need name them.
const WALKED: &[&str] = &[
    "eval",
    "exec",
    "compile",
    "__import__",
    "getattr",
    "setattr",
    "delattr",
    "vars",
    "globals",
    "locals",
    "__builtins__",
    "@builtins",
    "@os",
    "@os.environ",
    "@os.system",
    "@os.popen",
    "@sys.modules",
    "@sys.executable",
    "@importlib.import_module",
    "@importlib.__import__",
    "@operator.attrgetter",
    "@operator.itemgetter",
    "@operator.methodcaller",
    "@functools.partial",
    "@functools.partialmethod",
    "@inspect.getattr_static",
    "@shlex.split",
    "@shlex.join",
    "dict",
    "bool",
    "str",
    "list",
    "tuple",
    "iter",
    "next",
    "reversed",
    "sorted",
    "set",
    "frozenset",
    "enumerate",
    "zip",
    "@tempfile.mkdtemp",
    "@tempfile.TemporaryDirectory",
    "@contextlib.nullcontext",
    "@contextlib.closing",
    "@subprocess.getoutput",
    "@subprocess.getstatusoutput",
    "@asyncio.create_subprocess_shell",
    "@subprocess.run",
    "@subprocess.Popen",
    "@subprocess.call",
    "@subprocess.check_call",
    "@subprocess.check_output",
    "@asyncio.create_subprocess_exec",
    "@commands.getoutput",
    "@commands.getstatusoutput",
    "@pty.spawn",
    "@os.execv",
    "@os.execve",
    "@os.execvp",
    "@os.execvpe",
    "@os.execl",
    "@os.execle",
    "@os.execlp",
    "@os.execlpe",
    "@os.spawnv",
    "@os.spawnvp",
    "@os.spawnl",
    "@os.spawnlp",
    "@os.spawnve",
    "@os.spawnle",
    "@os.posix_spawn",
    "@os.posix_spawnp",
    "@popen2.popen2",
    "@posix.system",
    "@nt.system",
    "@yaml.load",
    "@yaml.load_all",
    "@torch.load",
    "@setuptools.setup",
    "@distutils.core.setup",
    "setup",
    "*.__getattribute__",
    "object.__getattribute__",
    "open",
    "@builtins.open",
    "@code.interact",
    "@timeit.timeit",
    "@timeit.repeat",
    "@cProfile.run",
    "@profile.run",
    "@pdb.run",
    "@code.InteractiveInterpreter.runsource",
    "@runpy.run_path",
    "@runpy.run_module",
];

/// Single words that the walker knows besides keywords.
const WORDS: &[&str] = &[
    "__dict__",
    "get",
    "__getitem__",
    "pop",
    "split",
    "__call__",
    "__class__",
    "format",
    "join",
    "setdefault",
    "items",
    "keys",
    "values",
    "copy",
    "cmdclass",
    "environ",
    "strip",
    "encode",
    "decode",
    "__func__",
    "__wrapped__",
    "match",
    "case",
    "type",
];

/// Starts the table of names: keywords first, so that their numbers are known.
pub(crate) fn names() -> Names {
    let mut names = Names::new();
    for keyword in KEYWORDS {
        names.words.intern(keyword.as_bytes());
    }
    debug_assert_eq!(names.words.get(b"import"), FIRST_WORD, "keywords come right after the two marks");
    for name in WALKED {
        names.intern(name);
    }
    for name in [nodes::NETWORK, nodes::PATHS, nodes::CLASSES].concat() {
        names.intern(name);
    }
    for word in [WORDS, nodes::SPACES, nodes::PATH_WORDS, nodes::REACHED].concat() {
        names.words.intern(word.as_bytes());
    }
    names
}

/// Reads a text as Python.
pub(crate) fn lex(src: &[u8], sink: &mut Sink<'_>, limits: &Limits, out: &mut Lexed) {
    if sink.depth == 0 {
        let (name, ending) = crate::inventory::names::parts(sink.path);
        if ending == "ipynb" {
            return notebook::lex(src, sink, out);
        }
        if ending == "pth" {
            return path::lex(src, sink, out);
        }
        source::look(src, sink);
        if matches!(name.as_str(), "sitecustomize.py" | "usercustomize.py") {
            sink.shape("py-setup-code", (0, src.len().min(16)), crate::view::How::NONE);
        }
    }
    let names = &sink.rules.py;
    let scanned = Scanner::new(src, &names.words, limits).run();
    if let Some(at) = scanned.stopped {
        sink.unread.push(Unread { start: at, end: src.len() });
    }
    for &(start, end) in &scanned.unsure {
        if start < end {
            sink.embed(Lens::Py, EmbeddedText::Range(start, end));
        }
    }
    views::views(src, &scanned, out);
    look::look(src, &scanned, sink);
    walk::walk(src, &scanned, names, sink);
}

/// Gives a token's bytes.
fn text_of(src: &[u8], tok: token::Tok) -> &[u8] {
    src.get(tok.start as usize..tok.end as usize).unwrap_or_default()
}
