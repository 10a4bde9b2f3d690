//! Python names with a meaning of their own.

use super::intrinsic::{Intrinsic, MemberKind};
use super::name::{Name, Names};

pub(super) fn member(object: Name, key: &[u8]) -> MemberKind {
    match key {
        b"__builtins__" if object == Names::GLOBAL => MemberKind::Global,
        b"__dict__" | b"__call__" | b"__func__" | b"__wrapped__" => MemberKind::Same,
        b"__globals__" | b"func_globals" | b"f_globals" | b"f_locals" | b"f_builtins" | b"__builtins__" => {
            MemberKind::Namespace
        }
        _ => MemberKind::Plain,
    }
}

/// The intrinsics by name, sorted.
pub(super) const INTRINSICS: &[(&str, Intrinsic)] = &[
    ("@asyncio.LifoQueue", Intrinsic::Queue),
    ("@asyncio.PriorityQueue", Intrinsic::Queue),
    ("@asyncio.Queue", Intrinsic::Queue),
    ("@base64.b16decode", Intrinsic::Text),
    ("@base64.b32decode", Intrinsic::Text),
    ("@base64.b64decode", Intrinsic::Text),
    ("@base64.decodebytes", Intrinsic::Text),
    ("@base64.standard_b64decode", Intrinsic::Text),
    ("@base64.urlsafe_b64decode", Intrinsic::Text),
    ("@binascii.a2b_base64", Intrinsic::Text),
    ("@binascii.a2b_hex", Intrinsic::Text),
    ("@binascii.unhexlify", Intrinsic::Text),
    ("@codecs.decode", Intrinsic::Text),
    ("@codecs.encode", Intrinsic::Text),
    ("@collections.OrderedDict", Intrinsic::Dictionary),
    ("@collections.deque", Intrinsic::Queue),
    ("@contextlib.closing", Intrinsic::Same),
    ("@contextlib.nullcontext", Intrinsic::Same),
    ("@copy.copy", Intrinsic::Same),
    ("@copy.deepcopy", Intrinsic::Same),
    ("@functools.cached_property", Intrinsic::Property),
    ("@functools.partial", Intrinsic::Partial),
    ("@functools.partialmethod", Intrinsic::Partial),
    ("@functools.wraps", Intrinsic::Same),
    ("@importlib.__import__", Intrinsic::Load),
    ("@importlib.import_module", Intrinsic::Load),
    ("@inspect.getattr_static", Intrinsic::Get),
    ("@itertools.chain", Intrinsic::Collect),
    ("@itertools.starmap", Intrinsic::Each),
    ("@multiprocessing.JoinableQueue", Intrinsic::Queue),
    ("@multiprocessing.Queue", Intrinsic::Queue),
    ("@multiprocessing.SimpleQueue", Intrinsic::Queue),
    ("@operator.attrgetter", Intrinsic::MemberReader),
    ("@operator.itemgetter", Intrinsic::MemberReader),
    ("@operator.methodcaller", Intrinsic::MemberCaller),
    ("@os.fspath", Intrinsic::Text),
    ("@os.path.abspath", Intrinsic::Text),
    ("@os.path.expanduser", Intrinsic::Text),
    ("@os.path.expandvars", Intrinsic::Text),
    ("@os.path.join", Intrinsic::Text),
    ("@os.path.normpath", Intrinsic::Text),
    ("@os.path.realpath", Intrinsic::Text),
    ("@pathlib.Path", Intrinsic::Text),
    ("@pathlib.Path.cwd", Intrinsic::Text),
    ("@pathlib.Path.home", Intrinsic::Text),
    ("@pathlib.PosixPath", Intrinsic::Text),
    ("@pathlib.PurePath", Intrinsic::Text),
    ("@pathlib.PurePosixPath", Intrinsic::Text),
    ("@queue.LifoQueue", Intrinsic::Queue),
    ("@queue.PriorityQueue", Intrinsic::Queue),
    ("@queue.Queue", Intrinsic::Queue),
    ("@queue.SimpleQueue", Intrinsic::Queue),
    ("@shlex.join", Intrinsic::Text),
    ("@shlex.split", Intrinsic::Text),
    ("@sys.modules", Intrinsic::Modules),
    ("@types.SimpleNamespace", Intrinsic::Dictionary),
    ("@urllib.parse.unquote", Intrinsic::Text),
    ("__import__", Intrinsic::Load),
    ("bool", Intrinsic::Same),
    ("bytearray", Intrinsic::Text),
    ("bytearray.fromhex", Intrinsic::Text),
    ("bytes", Intrinsic::Text),
    ("bytes.fromhex", Intrinsic::Text),
    ("chr", Intrinsic::Text),
    ("classmethod", Intrinsic::Same),
    ("delattr", Intrinsic::Remove),
    ("dict", Intrinsic::Dictionary),
    ("enumerate", Intrinsic::Collect),
    ("filter", Intrinsic::Collect),
    ("format", Intrinsic::Text),
    ("frozenset", Intrinsic::Same),
    ("getattr", Intrinsic::Get),
    ("globals", Intrinsic::Globals),
    ("iter", Intrinsic::Same),
    ("list", Intrinsic::Same),
    ("locals", Intrinsic::Globals),
    ("map", Intrinsic::Each),
    ("max", Intrinsic::Next),
    ("min", Intrinsic::Next),
    ("next", Intrinsic::Next),
    ("object.__getattribute__", Intrinsic::Get),
    ("ord", Intrinsic::Text),
    ("property", Intrinsic::Property),
    ("repr", Intrinsic::Text),
    ("reversed", Intrinsic::Same),
    ("set", Intrinsic::Same),
    ("setattr", Intrinsic::Set),
    ("sorted", Intrinsic::Same),
    ("staticmethod", Intrinsic::Static),
    ("str", Intrinsic::Text),
    ("tuple", Intrinsic::Same),
    ("vars", Intrinsic::Members),
    ("zip", Intrinsic::Collect),
];

/// Methods of texts and paths that return a text or a path.
const TEXT_METHODS: &[&[u8]] = plugward_types::byte_words![
    "absolute decode encode expanduser format join joinpath lower lstrip removeprefix removesuffix replace",
    "resolve rstrip strip swapcase translate upper with_name with_suffix",
];

pub(super) fn is_text_method(name: &[u8]) -> bool {
    TEXT_METHODS.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn tables_are_sorted() {
        assert!(super::INTRINSICS.is_sorted_by_key(|(path, _)| *path));
        assert!(super::TEXT_METHODS.is_sorted());
    }
}
