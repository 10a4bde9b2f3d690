//! One file's names: what it defines, imports, includes, and which macros it writes.

mod inside;
mod items;
mod makers;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::cfg;
use crate::macros::MacroRules;
use crate::parse::Part;
use crate::ty::{Lead, Name, Path, Ty, bare};
pub(crate) use inside::flags_of;
use items::Collector;
pub(crate) use items::attrs_of;
pub(crate) use makers::{Maker, makes_by_bound};

/// An import: `use a::b as c`, or a glob.
#[derive(Debug, Clone)]
pub(crate) struct Use {
    pub(crate) leading: Lead,
    pub(crate) path: Box<[Name]>,
    /// The name it gets here; a glob has none.
    pub(crate) alias: Option<Name>,
}

/// What a name in the type namespace is.
#[derive(Debug, Clone)]
pub(crate) enum TypeDef {
    Struct(Shape),
    Enum(Box<[(Name, Shape)]>),
    Union,
    Alias(Box<Alias>),
    Trait,
    /// A generic parameter or something else that is no type of the workspace.
    Opaque,
}

/// Another name for a type.
#[derive(Debug, Clone)]
pub(crate) struct Alias {
    /// Its parameters, and what each is where nothing is given.
    pub(crate) params: Vec<(Name, Option<Ty>)>,
    pub(crate) ty: Ty,
}

/// How a struct or a variant is written.
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
    /// A plain `#[path]` replaces the usual place; one in `cfg_attr` stands beside it.
    pub(crate) usual_place: bool,
    /// The table of an inline module.
    pub(crate) inline: Option<usize>,
}

/// A `#[path]` value and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct PathAttr {
    pub(crate) value: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// An `include!` and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Include {
    /// The literal; a computed path has none.
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
    pub(crate) inputs: Vec<Ty>,
    pub(crate) output: Ty,
    pub(crate) test: bool,
    /// It has type parameters: what it takes and gives is told by its caller.
    pub(crate) generic: bool,
}

/// An impl block, kept for capability crates.
#[derive(Debug, Clone)]
pub(crate) struct ImplDef {
    pub(crate) own: Ty,
    pub(crate) of_trait: Option<Path>,
    pub(crate) fns: Vec<FnSig>,
    /// Associated types: name and what they are.
    pub(crate) types: Vec<Ty>,
}

/// The names of one module, block or included file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub(crate) types: BTreeMap<Name, TypeDef>,
    /// Further definitions of a name, under another `cfg`.
    pub(crate) also: BTreeMap<Name, Vec<TypeDef>>,
    pub(crate) values: BTreeSet<Name>,
    pub(crate) uses: Vec<Use>,
    pub(crate) mods: Vec<ModDecl>,
    pub(crate) includes: Vec<Include>,
    pub(crate) impls: Vec<ImplDef>,
    pub(crate) fns: Vec<FnSig>,
    pub(crate) traits: BTreeMap<Name, Vec<FnSig>>,
    /// Field types by struct or enum, for crates that see a race type and files that may hold a capability.
    pub(crate) fields: BTreeMap<Name, BTreeMap<Name, Ty>>,
    /// The types of constants and statics, kept beside signatures.
    pub(crate) constants: BTreeMap<Name, Ty>,
    /// Generic functions that make a value of a type that they are asked for.
    pub(crate) makers: BTreeMap<Name, Maker>,
}

/// The names of one file: its own module first, then the inline ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileTable {
    pub(crate) tables: Vec<Table>,
    pub(crate) macros: BTreeMap<Name, MacroRules>,
    /// Generic methods and associated functions that make what they are asked for.
    pub(crate) methods: BTreeMap<Name, Maker>,
    pub(crate) forbids_unsafe: bool,
    /// The whole file is kept out of every build but a test.
    pub(crate) test: bool,
    /// Compiler flags that a build script asks for.
    pub(crate) flags: Vec<Flag>,
}

/// A `cfg` that a build script turns on, and where it says so.
#[derive(Debug, Clone)]
pub(crate) struct Flag {
    pub(crate) text: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) end_column: u32,
}

/// What is kept beyond names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Keep {
    pub(crate) signatures: bool,
    pub(crate) fields: bool,
}

/// Whether code is in every build, or in those for tests alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Built {
    Always,
    ForTests,
}

impl Built {
    fn with(self, attrs: &[syn::Attribute]) -> Self {
        if cfg::is_test(attrs) { Self::ForTests } else { self }
    }
}

/// Shares the text of names, so that a name that a crate says ten thousand times is kept once.
#[derive(Default)]
pub(crate) struct Names(BTreeSet<Name>);

impl Names {
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

/// Reads the names of a file.
pub(crate) fn file(
    items: &[syn::Item],
    attrs: &[syn::Attribute],
    keep: Keep,
    names: &mut Names,
) -> FileTable {
    let mut collector = Collector { out: FileTable::default(), keep, names };
    collector.out.forbids_unsafe = attrs.iter().any(forbids_unsafe);
    collector.out.test = cfg::is_test(attrs);
    collector.module(items, Built::Always);
    collector.out
}

/// Reads the names of a file while it is parsed, item by item.
pub(crate) fn while_parsed(
    bytes: &[u8],
    keep: Keep,
    names: &mut Names,
) -> Result<FileTable, crate::parse::Unparsed> {
    let mut collector = Collector { out: FileTable::default(), keep, names };
    collector.out.tables.push(Table::default());
    crate::parse::each_part(bytes, |part| match part {
        Part::Attributes(attrs) => {
            collector.out.forbids_unsafe = attrs.iter().any(forbids_unsafe);
            collector.out.test = cfg::is_test(attrs);
        }
        Part::Item(item) => collector.item(0, item, Built::Always),
    })?;
    Ok(collector.out)
}

/// Reads the names that a block defines.
pub(crate) fn block(stmts: &[syn::Stmt], keep: Keep, names: &mut Names) -> FileTable {
    let mut collector = Collector { out: FileTable::default(), keep, names };
    collector.out.tables.push(Table::default());
    for stmt in stmts {
        match stmt {
            syn::Stmt::Item(item) => collector.item(0, item, Built::Always),
            syn::Stmt::Macro(call) => collector.includes_of(0, &call.mac, &call.attrs, Built::Always),
            syn::Stmt::Local(_) | syn::Stmt::Expr(..) => {}
        }
    }
    collector.out
}

/// Whether a value's name could hide a type, or is that of a general constructor.
fn may_be_mistaken(name: &str) -> bool {
    let mut chars = name.chars();
    let upper = chars.next().is_some_and(char::is_uppercase);
    (upper && (chars.any(char::is_lowercase) || name.len() < 3)) || crate::check::is_general_name(name)
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
