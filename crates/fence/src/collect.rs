//! One file's names: what it defines, imports, includes, and which macros it writes.

use proc_macro2::TokenStream;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::cfg;
use crate::macros::MacroRules;
use crate::parse::start;
use crate::ty::{Lead, Name, Path, Ty, bare, name};

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
    pub(crate) params: Vec<Name>,
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
    pub(crate) values: BTreeSet<Name>,
    pub(crate) uses: Vec<Use>,
    pub(crate) mods: Vec<ModDecl>,
    pub(crate) includes: Vec<Include>,
    pub(crate) impls: Vec<ImplDef>,
    pub(crate) fns: Vec<FnSig>,
    pub(crate) traits: BTreeMap<Name, Vec<FnSig>>,
    /// Field types by struct, for crates that see a race type.
    pub(crate) fields: BTreeMap<Name, BTreeMap<Name, Ty>>,
}

/// The names of one file: its own module first, then the inline ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileTable {
    pub(crate) tables: Vec<Table>,
    pub(crate) macros: BTreeMap<Name, MacroRules>,
    pub(crate) forbids_unsafe: bool,
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
    collector.module(items, Built::Always);
    collector.out
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

struct Collector<'a> {
    out: FileTable,
    keep: Keep,
    names: &'a mut Names,
}

impl Collector<'_> {
    fn module(&mut self, items: &[syn::Item], test: Built) -> usize {
        let index = self.out.tables.len();
        self.out.tables.push(Table::default());
        for item in items {
            self.item(index, item, test);
        }
        index
    }

    fn table(&mut self, index: usize) -> &mut Table {
        if index >= self.out.tables.len() {
            self.out.tables.resize_with(index.saturating_add(1), Table::default);
        }
        #[expect(clippy::indexing_slicing, reason = "the line above makes the place")]
        &mut self.out.tables[index]
    }

    fn define(&mut self, index: usize, ident: &proc_macro2::Ident, def: TypeDef) {
        let key = self.names.of(ident);
        // Of two definitions under different `cfg`, a struct or alias says more than an opaque one.
        let table = self.table(index);
        if matches!(def, TypeDef::Opaque) && table.types.contains_key(&key) {
            return;
        }
        table.types.insert(key, def);
    }

    /// A function or constant. Only a name that could be taken for something else is kept.
    fn value(&mut self, index: usize, ident: &proc_macro2::Ident) {
        if !self.keep.signatures && !may_be_mistaken(&bare(ident)) {
            return;
        }
        let key = self.names.of(ident);
        self.table(index).values.insert(key);
    }

    fn item(&mut self, index: usize, item: &syn::Item, test: Built) {
        let test = test.with(attrs_of(item));
        match item {
            syn::Item::Const(one) => self.value(index, &one.ident),
            syn::Item::Static(one) => self.value(index, &one.ident),
            syn::Item::Fn(one) => {
                self.value(index, &one.sig.ident);
                if self.keep.signatures {
                    let sig = signature(&one.sig, test);
                    self.table(index).fns.push(sig);
                }
                self.body(index, &one.block, test);
            }
            syn::Item::Struct(one) => self.structure(index, one),
            syn::Item::Enum(one) => {
                let variants = one
                    .variants
                    .iter()
                    .map(|variant| (self.names.of(&variant.ident), Shape::of(&variant.fields)))
                    .collect();
                self.define(index, &one.ident, TypeDef::Enum(variants));
            }
            syn::Item::Union(one) => self.define(index, &one.ident, TypeDef::Union),
            syn::Item::Trait(one) => self.a_trait(index, one, test),
            syn::Item::TraitAlias(one) => self.define(index, &one.ident, TypeDef::Opaque),
            syn::Item::Type(one) => {
                let params = one.generics.type_params().map(|param| name(&param.ident)).collect();
                self.define(
                    index,
                    &one.ident,
                    TypeDef::Alias(Box::new(Alias { params, ty: Ty::of(&one.ty) })),
                );
            }
            syn::Item::Use(one) => {
                let mut prefix = Vec::new();
                let leading = Lead::of(one.leading_colon.as_ref());
                self.tree(index, leading, &mut prefix, &one.tree);
            }
            syn::Item::ExternCrate(one) => self.extern_crate(index, one),
            syn::Item::Mod(one) => self.declared(index, one, test),
            syn::Item::Macro(one) => self.macro_item(index, one, test),
            syn::Item::Impl(one) => self.implementation(index, one, test),
            _ => {}
        }
    }

    fn structure(&mut self, index: usize, one: &syn::ItemStruct) {
        self.define(index, &one.ident, TypeDef::Struct(Shape::of(&one.fields)));
        if self.keep.fields {
            let fields = one
                .fields
                .iter()
                .enumerate()
                .map(|(number, field)| {
                    let key = field.ident.as_ref().map_or_else(|| Name::from(number.to_string()), name);
                    (key, Ty::of(&field.ty))
                })
                .collect();
            let key = name(&one.ident);
            self.table(index).fields.insert(key, fields);
        }
    }

    fn a_trait(&mut self, index: usize, one: &syn::ItemTrait, test: Built) {
        self.define(index, &one.ident, TypeDef::Trait);
        for item in &one.items {
            if let syn::TraitItem::Fn(function) = item
                && let Some(body) = &function.default
            {
                self.body(index, body, test);
            }
        }
        if self.keep.signatures {
            let fns = one
                .items
                .iter()
                .filter_map(|item| match item {
                    syn::TraitItem::Fn(function) => Some(signature(&function.sig, test)),
                    _ => None,
                })
                .collect();
            let key = name(&one.ident);
            self.table(index).traits.insert(key, fns);
        }
    }

    fn extern_crate(&mut self, index: usize, one: &syn::ItemExternCrate) {
        let alias = one.rename.as_ref().map_or(&one.ident, |(_, rename)| rename);
        let alias = self.names.of(alias);
        let own = one.ident == "self";
        let path = if own { Name::from("crate") } else { self.names.of(&one.ident) };
        self.table(index).uses.push(Use {
            leading: if own { Lead::Name } else { Lead::Colons },
            path: Box::new([path]),
            alias: Some(alias),
        });
    }

    fn tree(&mut self, index: usize, leading: Lead, prefix: &mut Vec<Name>, tree: &syn::UseTree) {
        // A path of many segments nests as deep as it is long.
        let mut tree = tree;
        let before = prefix.len();
        while let syn::UseTree::Path(path) = tree {
            prefix.push(self.names.of(&path.ident));
            tree = &path.tree;
        }
        match tree {
            syn::UseTree::Path(_) => {}
            syn::UseTree::Name(one) => self.import(index, leading, prefix, &one.ident, &one.ident),
            syn::UseTree::Rename(one) => self.import(index, leading, prefix, &one.ident, &one.rename),
            syn::UseTree::Glob(_) => {
                let path = prefix.as_slice().into();
                self.table(index).uses.push(Use { leading, path, alias: None });
            }
            syn::UseTree::Group(group) => {
                for inner in &group.items {
                    self.tree(index, leading, prefix, inner);
                }
            }
        }
        prefix.truncate(before);
    }

    fn import(
        &mut self,
        index: usize,
        leading: Lead,
        prefix: &[Name],
        what: &proc_macro2::Ident,
        alias: &proc_macro2::Ident,
    ) {
        let mut path = prefix.to_vec();
        let last = self.names.of(what);
        let mut alias = self.names.of(alias);
        if &*last == "self" && !path.is_empty() {
            // `use a::b::{self}` names `b`.
            if &*alias == "self"
                && let Some(module) = path.last()
            {
                alias = Arc::clone(module);
            }
        } else {
            path.push(last);
        }
        self.table(index).uses.push(Use { leading, path: path.into(), alias: Some(alias) });
    }

    fn declared(&mut self, index: usize, one: &syn::ItemMod, test: Built) {
        let (paths, usual_place) = path_attrs(&one.attrs);
        let inline = one.content.as_ref().map(|(_, items)| self.module(items, test));
        let name = self.names.of(&one.ident);
        self.table(index).mods.push(ModDecl {
            name,
            test: test == Built::ForTests,
            paths,
            usual_place,
            inline,
        });
    }

    fn macro_item(&mut self, index: usize, one: &syn::ItemMacro, test: Built) {
        match &one.ident {
            Some(ident) if one.mac.path.is_ident("macro_rules") => {
                let key = name(ident);
                let rules = MacroRules::read(one.mac.tokens.clone());
                self.out.macros.entry(key).or_default().join(rules);
            }
            _ => self.includes_of(index, &one.mac, &one.attrs, test),
        }
    }

    fn implementation(&mut self, index: usize, one: &syn::ItemImpl, test: Built) {
        for item in &one.items {
            if let syn::ImplItem::Fn(function) = item {
                self.body(index, &function.block, test.with(&function.attrs));
            }
        }
        if !self.keep.signatures {
            return;
        }
        let mut fns = Vec::new();
        let mut types = Vec::new();
        for item in &one.items {
            match item {
                syn::ImplItem::Fn(function) => {
                    fns.push(signature(&function.sig, test.with(&function.attrs)));
                }
                syn::ImplItem::Type(assoc) => types.push(Ty::of(&assoc.ty)),
                _ => {}
            }
        }
        let def = ImplDef {
            own: Ty::of(&one.self_ty),
            of_trait: one.trait_.as_ref().map(|(path, _)| Path::of(path)),
            fns,
            types,
        };
        self.table(index).impls.push(def);
    }

    /// Finds what a body says to the whole file: includes, macros, impls of capability crates.
    fn body(&mut self, index: usize, block: &syn::Block, test: Built) {
        let mut finder = Finder { collector: self, index, test };
        syn::visit::Visit::visit_block(&mut finder, block);
    }

    fn includes_of(&mut self, index: usize, mac: &syn::Macro, attrs: &[syn::Attribute], test: Built) {
        if let Some(include) = include_of(mac, test.with(attrs)) {
            self.table(index).includes.push(include);
        }
    }
}

/// Finds includes, macros and impls inside bodies.
struct Finder<'c, 'a> {
    collector: &'c mut Collector<'a>,
    index: usize,
    test: Built,
}

impl<'ast> syn::visit::Visit<'ast> for Finder<'_, '_> {
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let (index, test) = (self.index, self.test);
        self.collector.includes_of(index, mac, &[], test);
    }

    fn visit_item(&mut self, item: &'ast syn::Item) {
        match item {
            syn::Item::Macro(one) => {
                let (index, test) = (self.index, self.test);
                self.collector.macro_item(index, one, test);
            }
            syn::Item::Impl(one) => {
                let (index, test) = (self.index, self.test);
                self.collector.implementation(index, one, test);
            }
            syn::Item::Mod(_) => {}
            other => syn::visit::visit_item(self, other),
        }
    }
}

/// Reads an `include!` call.
fn include_of(mac: &syn::Macro, test: Built) -> Option<Include> {
    let last = mac.path.segments.last()?;
    if last.ident != "include" {
        return None;
    }
    let (line, column) = start(last.ident.span());
    let (_, end_column) = crate::parse::end(last.ident.span());
    Some(Include {
        path: literal(mac.tokens.clone()),
        line,
        column,
        end_column,
        test: test == Built::ForTests,
    })
}

/// Gives the text where the tokens are one string literal.
fn literal(tokens: TokenStream) -> Option<String> {
    syn::parse::Parser::parse2(
        |input: syn::parse::ParseStream<'_>| {
            let text = input.parse::<syn::LitStr>()?;
            input.parse::<Option<syn::Token![,]>>()?;
            Ok(text.value())
        },
        tokens,
    )
    .ok()
}

fn path_attrs(attrs: &[syn::Attribute]) -> (Vec<PathAttr>, bool) {
    let mut paths = Vec::new();
    let mut usual = true;
    for attr in attrs {
        match &attr.meta {
            syn::Meta::NameValue(pair) if pair.path.is_ident("path") => {
                if let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value {
                    let (line, column) = start(text.span());
                    paths.push(PathAttr { value: text.value(), line, column });
                    usual = false;
                }
            }
            syn::Meta::List(list) if list.path.is_ident("cfg_attr") => {
                for meta in cfg::attr_metas(list) {
                    if let syn::Meta::NameValue(pair) = &meta
                        && pair.path.is_ident("path")
                        && let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value
                    {
                        let (line, column) = start(text.span());
                        paths.push(PathAttr { value: text.value(), line, column });
                    }
                }
            }
            _ => {}
        }
    }
    (paths, usual)
}

/// Reads a signature.
fn signature(sig: &syn::Signature, test: Built) -> FnSig {
    let mut receiver = false;
    let mut inputs = Vec::new();
    for input in &sig.inputs {
        match input {
            syn::FnArg::Receiver(_) => receiver = true,
            syn::FnArg::Typed(typed) => inputs.push(Ty::of(&typed.ty)),
        }
    }
    FnSig {
        name: name(&sig.ident),
        receiver,
        inputs,
        output: Ty::of_return(&sig.output),
        test: test == Built::ForTests,
    }
}

/// Gives the attributes of any item.
pub(crate) fn attrs_of(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(one) => &one.attrs,
        syn::Item::Enum(one) => &one.attrs,
        syn::Item::ExternCrate(one) => &one.attrs,
        syn::Item::Fn(one) => &one.attrs,
        syn::Item::ForeignMod(one) => &one.attrs,
        syn::Item::Impl(one) => &one.attrs,
        syn::Item::Macro(one) => &one.attrs,
        syn::Item::Mod(one) => &one.attrs,
        syn::Item::Static(one) => &one.attrs,
        syn::Item::Struct(one) => &one.attrs,
        syn::Item::Trait(one) => &one.attrs,
        syn::Item::TraitAlias(one) => &one.attrs,
        syn::Item::Type(one) => &one.attrs,
        syn::Item::Union(one) => &one.attrs,
        syn::Item::Use(one) => &one.attrs,
        _ => &[],
    }
}
