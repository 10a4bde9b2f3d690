//! The names of one file: definitions, imports, modules and signatures.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenTree};
use syn::visit::{self, Visit};

use crate::syntax::cfg;
use crate::syntax::parse::start;
use crate::syntax::written::{Name, PathStart, WrittenType, name};

/// An import: `use a::b as c`, or a glob.
#[derive(Debug)]
pub(crate) struct Import {
    pub(crate) leading: PathStart,
    pub(crate) path: Box<[Name]>,
    /// The imported name. A glob has none.
    pub(crate) alias: Option<Name>,
}

/// The meaning of a name in the type namespace.
#[derive(Debug)]
pub(crate) enum TypeDef {
    /// A struct, a union, or an enum with its variants.
    Data(Vec<Name>),
    Alias(Box<WrittenType>),
    Trait,
}

/// A module that this file declares.
#[derive(Debug, Clone)]
pub(crate) struct ModDecl {
    pub(crate) name: Name,
    pub(crate) test: bool,
    /// `#[path]` values. One in `cfg_attr` adds to the usual place.
    pub(crate) paths: Vec<String>,
    /// The table of an inline module.
    pub(crate) inline: Option<usize>,
}

/// A function's signature.
#[derive(Debug)]
pub(crate) struct FnSig {
    pub(crate) name: Name,
    pub(crate) receiver: bool,
    pub(crate) output: WrittenType,
    pub(crate) test: bool,
}

/// An impl block.
#[derive(Debug)]
pub(crate) struct ImplDef {
    pub(crate) own: WrittenType,
    pub(crate) inherent: bool,
    pub(crate) fns: Vec<FnSig>,
}

/// The names of one module, or of a block that contains items.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// Types by name. Of several, each is under another `cfg`.
    pub(crate) types: BTreeMap<Name, Vec<TypeDef>>,
    pub(crate) uses: Vec<Import>,
    pub(crate) mods: Vec<ModDecl>,
    pub(crate) impls: Vec<ImplDef>,
    pub(crate) fns: Vec<FnSig>,
    /// The types of constants and statics.
    pub(crate) constants: BTreeMap<Name, WrittenType>,
    /// The types of fields, by type and field.
    pub(crate) fields: BTreeMap<Name, BTreeMap<Name, WrittenType>>,
    /// The tables of blocks directly in this one, with the position of their brace.
    pub(crate) blocks: Vec<((u32, u32), usize)>,
}

/// The names of one file: its own module first, then inline modules and blocks.
#[derive(Debug, Default)]
pub(crate) struct FileTable {
    pub(crate) tables: Vec<Table>,
    pub(crate) forbids_unsafe: bool,
    /// `true` if the whole file is compiled for tests only.
    pub(crate) test: bool,
}

/// Collects the names of a file.
pub(crate) fn file(file: &syn::File) -> FileTable {
    let out = FileTable {
        tables: vec![Table::default()],
        forbids_unsafe: file.attrs.iter().any(forbids_unsafe),
        test: cfg::is_test(&file.attrs),
    };
    let mut collector = Collector { out, table: 0, test: false };
    file.items.iter().for_each(|item| collector.visit_item(item));
    collector.out
}

/// Reads items into tables.
struct Collector {
    out: FileTable,
    /// The index of the current module or block.
    table: usize,
    /// `true` in code that is compiled for tests only.
    test: bool,
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let outer = self.test;
        self.test |= cfg::is_test(attrs_of(item));
        self.define(item);
        match item {
            syn::Item::Mod(one) => self.module(one),
            _ => visit::visit_item(self, item),
        }
        self.test = outer;
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        let has_items = block
            .stmts
            .iter()
            .any(|stmt| matches!(stmt, syn::Stmt::Item(item) if !matches!(item, syn::Item::Macro(_))));
        if has_items {
            let position = start(block.brace_token.span.open());
            let around = self.table;
            let inner = self.within(|this| visit::visit_block(this, block));
            self.at(around).blocks.push((position, inner));
        } else {
            visit::visit_block(self, block);
        }
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}

impl Collector {
    fn at(&mut self, index: usize) -> &mut Table {
        #[expect(clippy::indexing_slicing, reason = "tables are only added, each before its index is used")]
        &mut self.out.tables[index]
    }

    fn here(&mut self) -> &mut Table {
        self.at(self.table)
    }

    /// Collects into a new table and returns its index.
    fn within(&mut self, inside: impl FnOnce(&mut Self)) -> usize {
        let new = self.out.tables.len();
        self.out.tables.push(Table::default());
        let outer = std::mem::replace(&mut self.table, new);
        inside(self);
        self.table = outer;
        new
    }

    fn define(&mut self, item: &syn::Item) {
        match item {
            syn::Item::Const(one) => self.constant(&one.ident, &one.ty),
            syn::Item::Static(one) => self.constant(&one.ident, &one.ty),
            syn::Item::Fn(one) => {
                let sig = self.signature(&one.sig, &[]);
                self.here().fns.push(sig);
            }
            syn::Item::Struct(one) => {
                self.define_type(&one.ident, TypeDef::Data(Vec::new()));
                let all = one.fields.iter().enumerate().map(|(number, field)| {
                    let key = field.ident.as_ref().map_or_else(|| Name::from(number.to_string()), name);
                    (key, WrittenType::of(&field.ty))
                });
                let fields = all.collect();
                self.here().fields.insert(name(&one.ident), fields);
            }
            syn::Item::Enum(one) => {
                let variants = one.variants.iter().map(|variant| name(&variant.ident)).collect();
                self.define_type(&one.ident, TypeDef::Data(variants));
            }
            syn::Item::Union(one) => self.define_type(&one.ident, TypeDef::Data(Vec::new())),
            syn::Item::Trait(one) => self.define_type(&one.ident, TypeDef::Trait),
            syn::Item::TraitAlias(one) => self.define_type(&one.ident, TypeDef::Trait),
            syn::Item::Type(one) => {
                self.define_type(&one.ident, TypeDef::Alias(Box::new(WrittenType::of(&one.ty))));
            }
            syn::Item::Use(one) => {
                self.tree(PathStart::of(one.leading_colon.as_ref()), &mut Vec::new(), &one.tree);
            }
            syn::Item::ExternCrate(one) => {
                let alias = one.rename.as_ref().map_or(&one.ident, |(_, rename)| rename);
                let own = one.ident == "self";
                let path = Box::new([if own { Name::from("crate") } else { name(&one.ident) }]);
                let leading = if own { PathStart::Name } else { PathStart::Colons };
                self.here().uses.push(Import { leading, path, alias: Some(name(alias)) });
            }
            syn::Item::Impl(one) => self.implementation(one),
            _ => {}
        }
    }

    fn define_type(&mut self, ident: &Ident, def: TypeDef) {
        self.here().types.entry(name(ident)).or_default().push(def);
    }

    fn constant(&mut self, ident: &Ident, ty: &syn::Type) {
        self.here().constants.insert(name(ident), WrittenType::of(ty));
    }

    fn signature(&self, sig: &syn::Signature, attrs: &[syn::Attribute]) -> FnSig {
        FnSig {
            name: name(&sig.ident),
            receiver: sig.receiver().is_some(),
            output: WrittenType::of_return(&sig.output),
            test: self.test || cfg::is_test(attrs),
        }
    }

    fn implementation(&mut self, one: &syn::ItemImpl) {
        let fns = one.items.iter().filter_map(|item| match item {
            syn::ImplItem::Fn(function) => Some(self.signature(&function.sig, &function.attrs)),
            _ => None,
        });
        let def = ImplDef {
            own: WrittenType::of(&one.self_ty),
            inherent: one.trait_.is_none(),
            fns: fns.collect(),
        };
        self.here().impls.push(def);
    }

    fn tree(&mut self, leading: PathStart, prefix: &mut Vec<Name>, tree: &syn::UseTree) {
        let before = prefix.len();
        let mut tree = tree;
        // Each segment of a path adds a level of nesting to the `use` tree.
        while let syn::UseTree::Path(path) = tree {
            prefix.push(name(&path.ident));
            tree = &path.tree;
        }
        match tree {
            syn::UseTree::Path(_) => {}
            syn::UseTree::Name(one) => self.import(leading, prefix, &one.ident, &one.ident),
            syn::UseTree::Rename(one) => self.import(leading, prefix, &one.ident, &one.rename),
            syn::UseTree::Glob(_) => {
                let path = prefix.as_slice().into();
                self.here().uses.push(Import { leading, path, alias: None });
            }
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|inner| self.tree(leading, prefix, inner));
            }
        }
        prefix.truncate(before);
    }

    fn import(&mut self, leading: PathStart, prefix: &[Name], what: &Ident, alias: &Ident) {
        let mut path = prefix.to_vec();
        let mut alias = name(alias);
        if what == "self" && !path.is_empty() {
            // `use a::b::{self}` imports `b`.
            if &*alias == "self"
                && let Some(module) = path.last()
            {
                alias = Name::clone(module);
            }
        } else {
            path.push(name(what));
        }
        self.here().uses.push(Import { leading, path: path.into(), alias: Some(alias) });
    }

    fn module(&mut self, one: &syn::ItemMod) {
        let items = one.content.as_ref().map(|(_, items)| items);
        let inline =
            items.map(|items| self.within(|this| items.iter().for_each(|item| this.visit_item(item))));
        let test = self.test;
        self.here().mods.push(ModDecl { name: name(&one.ident), test, paths: paths_of(&one.attrs), inline });
    }
}

/// Returns the `#[path]` values of a module, plain or in `cfg_attr`.
fn paths_of(attrs: &[syn::Attribute]) -> Vec<String> {
    let mut found = Vec::new();
    let mut note = |meta: &syn::Meta| {
        if let syn::Meta::NameValue(pair) = meta
            && let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value
            && pair.path.is_ident("path")
        {
            found.push(text.value());
        }
    };
    for attr in attrs {
        match &attr.meta {
            syn::Meta::List(list) if list.path.is_ident("cfg_attr") => {
                cfg::attr_metas(list).iter().for_each(&mut note);
            }
            meta => note(meta),
        }
    }
    found
}

fn forbids_unsafe(attr: &syn::Attribute) -> bool {
    let syn::Meta::List(list) = &attr.meta else { return false };
    let mut tokens = list.tokens.clone().into_iter();
    list.path.is_ident("forbid")
        && tokens.any(|token| matches!(&token, TokenTree::Ident(ident) if ident == "unsafe_code"))
}

/// Returns the attributes of any item.
pub(crate) fn attrs_of(item: &syn::Item) -> &[syn::Attribute] {
    macro_rules! attrs {
        ($($kind:ident)*) => { match item { $(syn::Item::$kind(one) => &one.attrs,)* _ => &[] } };
    }
    attrs!(
        Const Enum ExternCrate Fn ForeignMod Impl Macro Mod Static Struct Trait TraitAlias Type Union Use
    )
}
