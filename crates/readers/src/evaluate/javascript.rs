//! JavaScript names with a meaning of their own.

use super::intrinsic::{Intrinsic, MemberKind};
use super::name::{Name, Names};

/// Names of the global object.
const GLOBALS: &[&[u8]] =
    &[b"globalThis", b"window", b"self", b"global", b"top", b"parent", b"frames", b"GLOBAL", b"root"];

pub(super) fn member(object: Name, key: &[u8]) -> MemberKind {
    if object == Names::GLOBAL && GLOBALS.contains(&key) {
        return MemberKind::Global;
    }
    match key {
        b"default" if object != Names::GLOBAL && object != Names::ANY => MemberKind::Default,
        _ => MemberKind::Plain,
    }
}

/// The intrinsics by name, sorted.
pub(super) const INTRINSICS: &[(&str, Intrinsic)] = &[
    ("@buffer.Buffer.from", Intrinsic::Text),
    ("@module.Module._load", Intrinsic::Load),
    ("@module._load", Intrinsic::Load),
    ("@module.createRequire", Intrinsic::LoaderMaker),
    ("@path.join", Intrinsic::Text),
    ("@path.normalize", Intrinsic::Text),
    ("@path.posix.join", Intrinsic::Text),
    ("@path.resolve", Intrinsic::Text),
    ("@util.promisify", Intrinsic::Same),
    ("Array.from", Intrinsic::Same),
    ("Buffer", Intrinsic::Text),
    ("Buffer.from", Intrinsic::Text),
    ("DataView", Intrinsic::Same),
    ("Function.prototype.apply", Intrinsic::Unknown),
    ("Function.prototype.bind", Intrinsic::Unknown),
    ("Function.prototype.call", Intrinsic::Unknown),
    ("Int8Array", Intrinsic::Same),
    ("JSON.parse", Intrinsic::Text),
    ("JSON.stringify", Intrinsic::Text),
    ("Map", Intrinsic::Queue),
    ("Object.assign", Intrinsic::Copy),
    ("Object.create", Intrinsic::Create),
    ("Object.defineProperties", Intrinsic::Copy),
    ("Object.defineProperty", Intrinsic::Define),
    ("Object.entries", Intrinsic::Same),
    ("Object.freeze", Intrinsic::Same),
    ("Object.fromEntries", Intrinsic::Same),
    ("Object.getOwnPropertyDescriptor", Intrinsic::Describe),
    ("Object.getPrototypeOf", Intrinsic::Prototype),
    ("Object.seal", Intrinsic::Same),
    ("Object.setPrototypeOf", Intrinsic::Inherit),
    ("Object.values", Intrinsic::Same),
    ("Promise.resolve", Intrinsic::Same),
    ("Proxy", Intrinsic::Same),
    ("Reflect.apply", Intrinsic::Apply),
    ("Reflect.construct", Intrinsic::Construct),
    ("Reflect.defineProperty", Intrinsic::Define),
    ("Reflect.deleteProperty", Intrinsic::Remove),
    ("Reflect.get", Intrinsic::Get),
    ("Reflect.getOwnPropertyDescriptor", Intrinsic::Describe),
    ("Reflect.getPrototypeOf", Intrinsic::Prototype),
    ("Reflect.set", Intrinsic::Set),
    ("Reflect.setPrototypeOf", Intrinsic::Inherit),
    ("Set", Intrinsic::Queue),
    ("String", Intrinsic::Text),
    ("String.fromCharCode", Intrinsic::Text),
    ("String.fromCodePoint", Intrinsic::Text),
    ("String.raw", Intrinsic::Text),
    ("Uint16Array", Intrinsic::Same),
    ("Uint32Array", Intrinsic::Same),
    ("Uint8Array", Intrinsic::Same),
    ("Uint8Array.from", Intrinsic::Same),
    ("atob", Intrinsic::Text),
    ("btoa", Intrinsic::Text),
    ("createRequire", Intrinsic::LoaderMaker),
    ("decodeURI", Intrinsic::Text),
    ("decodeURIComponent", Intrinsic::Text),
    ("encodeURI", Intrinsic::Text),
    ("encodeURIComponent", Intrinsic::Text),
    ("escape", Intrinsic::Text),
    ("importScripts", Intrinsic::Load),
    ("module.constructor._load", Intrinsic::Load),
    ("module.createRequire", Intrinsic::LoaderMaker),
    ("module.require", Intrinsic::Load),
    ("path.join", Intrinsic::Text),
    ("path.resolve", Intrinsic::Text),
    ("process.getBuiltinModule", Intrinsic::Load),
    ("process.mainModule.require", Intrinsic::Load),
    ("require", Intrinsic::Load),
    ("require.main.require", Intrinsic::Load),
    ("structuredClone", Intrinsic::Same),
    ("unescape", Intrinsic::Text),
];

/// Methods of texts that return a text.
const TEXT_METHODS: &[&[u8]] = plugward_types::byte_words![
    "at charAt concat normalize padEnd padStart repeat replace replaceAll slice substr substring",
    "toLocaleLowerCase toLocaleUpperCase toLowerCase toString toUpperCase toWellFormed trim trimEnd trimLeft",
    "trimRight trimStart valueOf",
];

/// Methods that return a text for every receiver, because only texts have them.
const ALWAYS_TEXT: &[&[u8]] =
    &[b"toLowerCase", b"toString", b"toUpperCase", b"trim", b"trimEnd", b"trimStart"];

pub(super) fn is_text_method(name: &[u8]) -> bool {
    TEXT_METHODS.binary_search(&name).is_ok()
}

pub(super) fn is_always_text(name: &[u8]) -> bool {
    ALWAYS_TEXT.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn tables_are_sorted() {
        assert!(super::INTRINSICS.is_sorted_by_key(|(path, _)| *path));
        assert!(super::TEXT_METHODS.is_sorted());
        assert!(super::ALWAYS_TEXT.is_sorted());
    }
}
