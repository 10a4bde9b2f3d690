//! The names of one file: definitions, imports, includes, and macros.

mod bodies;
mod items;
mod makers;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::rules::source::is_general_name;
use crate::syntax::cfg;
use crate::syntax::macro_rules::MacroRules;
use crate::syntax::parse::{FilePart, each_part};
use crate::syntax::written::{Name, Path, PathStart, WrittenType, bare};
pub(crate) use bodies::flags_of;
use items::Collector;
pub(crate) use items::attrs_of;
pub(crate) use makers::{Maker, makes_by_bound};

/// An import: `use a::b as c`, or a glob.
#[derive(Debug, Clone)]
pub(crate) struct Import {
    pub(crate) leading: PathStart,
    pub(crate) path: Box<[Name]>,
    /// The imported name. A glob has none.
    pub(crate) alias: Option<Name>,
}

/// The meaning of a name in the type namespace.
#[derive(Debug, Clone)]
pub(crate) enum TypeDef {
    Struct(Shape),
    Enum(Box<[(Name, Shape)]>),
    Union,
    Alias(Box<Alias>),
    Trait,
    /// A generic parameter or another name that is not a type of the workspace.
    OpaqueCode,
}

/// A type alias.
#[derive(Debug, Clone)]
pub(crate) struct Alias {
    /// Its type parameters with their defaults.
    pub(crate) params: Vec<(Name, Option<WrittenType>)>,
    pub(crate) ty: WrittenType,
}

/// The syntax of a struct or a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Braced,
    Tuple,
    Unit,
}

impl Shape {
    pub(crate) fn of(fields: &syn::Fields) -> Self {
        match fields {
            syn::Fields::Named(_) => Self::Braced,
            syn::Fields::Unnamed(_) => Self::Tuple,
            syn::Fields::Unit => Self::Unit,
        }
    }
}

/// A module that this file declares.
#[derive(Debug, Clone)]
pub(crate) struct ModDecl {
    pub(crate) name: Name,
    pub(crate) test: bool,
    /// `#[path]` values, plain or in `cfg_attr`.
    pub(crate) paths: Vec<PathAttr>,
    /// `true` for a plain `#[path]`, which replaces the default file. One in `cfg_attr` adds to it.
    pub(crate) usual_place: bool,
    /// The table of an inline module.
    pub(crate) inline: Option<usize>,
}

/// A `#[path]` value with its position.
#[derive(Debug, Clone)]
pub(crate) struct PathAttr {
    pub(crate) value: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// An `include!` with its position.
#[derive(Debug, Clone)]
pub(crate) struct Include {
    /// The literal; `None` for a computed path.
    pub(crate) path: Option<String>,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) end_column: u32,
    pub(crate) test: bool,
}

/// A function's signature, kept for capability crates.
#[derive(Debug, Clone)]
pub(crate) struct FnSig {
    pub(crate) name: Name,
    pub(crate) receiver: bool,
    pub(crate) inputs: Vec<WrittenType>,
    pub(crate) output: WrittenType,
    pub(crate) test: bool,
    /// `true` for a function with type parameters, whose argument and return types depend on the caller.
    pub(crate) generic: bool,
}

/// An impl block, kept for capability crates.
#[derive(Debug, Clone)]
pub(crate) struct ImplDef {
    pub(crate) own: WrittenType,
    pub(crate) of_trait: Option<Path>,
    pub(crate) fns: Vec<FnSig>,
    /// The associated types.
    pub(crate) types: Vec<WrittenType>,
}

/// The names of one module, block or included file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub(crate) types: BTreeMap<Name, TypeDef>,
    /// Further definitions of a name under another `cfg`.
    pub(crate) also: BTreeMap<Name, Vec<TypeDef>>,
    pub(crate) values: BTreeSet<Name>,
    pub(crate) uses: Vec<Import>,
    pub(crate) mods: Vec<ModDecl>,
    pub(crate) includes: Vec<Include>,
    pub(crate) impls: Vec<ImplDef>,
    pub(crate) fns: Vec<FnSig>,
    pub(crate) traits: BTreeMap<Name, Vec<FnSig>>,
    /// Field types by struct or enum, for crates that see a race type and files that may contain a
    /// capability.
    pub(crate) fields: BTreeMap<Name, BTreeMap<Name, WrittenType>>,
    /// The types of constants and statics, kept together with signatures.
    pub(crate) constants: BTreeMap<Name, WrittenType>,
    /// Generic functions that make a value of a type that the caller chooses.
    pub(crate) makers: BTreeMap<Name, Maker>,
}

/// The names of one file: its own module first, then the inline ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileTable {
    pub(crate) tables: Vec<Table>,
    pub(crate) macros: BTreeMap<Name, MacroRules>,
    /// Generic methods and associated functions that make a value of a type that the caller chooses.
    pub(crate) methods: BTreeMap<Name, Maker>,
    pub(crate) forbids_unsafe: bool,
    /// `true` if the whole file is compiled for tests only.
    pub(crate) test: bool,
    /// Compiler flags that a build script sets.
    pub(crate) flags: Vec<CfgFlag>,
}

/// A `cfg` that a build script sets, with its position.
#[derive(Debug, Clone)]
pub(crate) struct CfgFlag {
    pub(crate) text: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) end_column: u32,
}

/// The data that is collected beyond names.
///
/// Signatures and fields are large and only some packages need them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct CollectOptions {
    pub(crate) signatures: bool,
    pub(crate) fields: bool,
}

/// The builds that code is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuildScope {
    Always,
    ForTests,
}

impl BuildScope {
    fn with(self, attrs: &[syn::Attribute]) -> Self {
        if cfg::is_test(attrs) { Self::ForTests } else { self }
    }
}

/// An interner for names, so that a name that occurs ten thousand times is stored once.
#[derive(Default)]
pub(crate) struct NameInterner(BTreeSet<Name>);

impl NameInterner {
    pub(crate) fn of(&mut self, ident: &proc_macro2::Ident) -> Name {
        let text = bare(ident);
        if let Some(known) = self.0.get(text.as_str()) {
            return Arc::clone(known);
        }
        let fresh = Name::from(text);
        self.0.insert(Arc::clone(&fresh));
        fresh
    }
}

/// Collects the names of a file.
pub(crate) fn file(
    items: &[syn::Item],
    attrs: &[syn::Attribute],
    keep: CollectOptions,
    names: &mut NameInterner,
) -> FileTable {
    let mut collector = Collector { out: FileTable::default(), keep, names };
    collector.out.forbids_unsafe = attrs.iter().any(forbids_unsafe);
    collector.out.test = cfg::is_test(attrs);
    collector.module(items, BuildScope::Always);
    collector.out
}

/// Collects the names of a file item by item while it is parsed, to bound memory use.
pub(crate) fn while_parsed(
    bytes: &[u8],
    keep: CollectOptions,
    names: &mut NameInterner,
) -> Result<FileTable, crate::syntax::parse::Unparsed> {
    let mut collector = Collector { out: FileTable::default(), keep, names };
    collector.out.tables.push(Table::default());
    each_part(bytes, |part| match part {
        FilePart::Attributes(attrs) => {
            collector.out.forbids_unsafe = attrs.iter().any(forbids_unsafe);
            collector.out.test = cfg::is_test(attrs);
        }
        FilePart::Item(item) => collector.item(0, item, BuildScope::Always),
    })?;
    Ok(collector.out)
}

/// Collects the names that a block defines.
pub(crate) fn block(stmts: &[syn::Stmt], keep: CollectOptions, names: &mut NameInterner) -> FileTable {
    let mut collector = Collector { out: FileTable::default(), keep, names };
    collector.out.tables.push(Table::default());
    for stmt in stmts {
        match stmt {
            syn::Stmt::Item(item) => collector.item(0, item, BuildScope::Always),
            syn::Stmt::Macro(call) => collector.includes_of(0, &call.mac, &call.attrs, BuildScope::Always),
            syn::Stmt::Local(_) | syn::Stmt::Expr(..) => {}
        }
    }
    collector.out
}

/// Returns `true` if a value of this name could hide a type, or if the name is that of a general constructor.
fn may_be_mistaken(name: &str) -> bool {
    let mut chars = name.chars();
    let upper = chars.next().is_some_and(char::is_uppercase);
    (upper && (chars.any(char::is_lowercase) || name.len() < 3)) || is_general_name(name)
}

fn forbids_unsafe(attr: &syn::Attribute) -> bool {
    let syn::Meta::List(list) = &attr.meta else { return false };
    list.path.is_ident("forbid")
        && list
            .tokens
            .clone()
            .into_iter()
            .any(|token| matches!(&token, proc_macro2::TokenTree::Ident(ident) if ident == "unsafe_code"))
}
