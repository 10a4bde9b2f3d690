//! Collects items: definitions, imports, modules, macros, impls.

use std::collections::btree_map::Entry;
use std::sync::Arc;

use crate::names::collect::bodies::{Finder, includes_in, includes_in_tokens, path_attrs};
use crate::names::collect::{
    Alias, BuildScope, CollectOptions, FileTable, FnSig, ImplDef, Import, ModDecl, NameInterner, Shape,
    Table, TypeDef, makers, may_be_mistaken,
};
use crate::syntax::macro_rules::MacroRules;
use crate::syntax::written::{Name, Path, PathStart, WrittenType, bare, name};

/// Reads items into tables.
pub(super) struct Collector<'a> {
    pub(super) out: FileTable,
    pub(super) keep: CollectOptions,
    pub(super) names: &'a mut NameInterner,
}

impl Collector<'_> {
    pub(super) fn module(&mut self, items: &[syn::Item], test: BuildScope) -> usize {
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
        let table = self.table(index);
        match table.types.entry(key) {
            Entry::Vacant(free) => {
                free.insert(def);
            }
            // Two definitions of one name are under different `cfg`s.
            Entry::Occupied(_) if matches!(def, TypeDef::OpaqueCode) => {}
            Entry::Occupied(taken) => {
                let key = Name::clone(taken.key());
                table.also.entry(key).or_default().push(def);
            }
        }
    }

    /// Records a function or constant, if its name could be mistaken for another item.
    fn value(&mut self, index: usize, ident: &proc_macro2::Ident) {
        if !self.keep.signatures && !may_be_mistaken(&bare(ident)) {
            return;
        }
        let key = self.names.of(ident);
        self.table(index).values.insert(key);
    }

    fn constant(&mut self, index: usize, ident: &proc_macro2::Ident, ty: &syn::Type) {
        if self.keep.signatures {
            let key = self.names.of(ident);
            self.table(index).constants.insert(key, WrittenType::of(ty));
        }
    }

    pub(super) fn item(&mut self, index: usize, item: &syn::Item, test: BuildScope) {
        let test = test.with(attrs_of(item));
        match item {
            syn::Item::Const(one) => {
                self.value(index, &one.ident);
                self.constant(index, &one.ident, &one.ty);
                self.inside(index, item, test);
            }
            syn::Item::Static(one) => {
                self.value(index, &one.ident);
                self.constant(index, &one.ident, &one.ty);
                self.inside(index, item, test);
            }
            syn::Item::Fn(one) => {
                self.value(index, &one.sig.ident);
                if let Some(maker) = makers::of(&one.sig, Some(&one.block)) {
                    let key = self.names.of(&one.sig.ident);
                    let table = self.table(index);
                    table.values.insert(Name::clone(&key));
                    table.makers.insert(key, maker);
                }
                if self.keep.signatures {
                    let sig = signature(&one.sig, test);
                    self.table(index).fns.push(sig);
                }
                self.body(index, &one.block, test);
            }
            syn::Item::Struct(one) => {
                self.structure(index, one);
                self.inside(index, item, test);
            }
            syn::Item::Enum(one) => {
                self.inside(index, item, test);
                let variants = one
                    .variants
                    .iter()
                    .map(|variant| (self.names.of(&variant.ident), Shape::of(&variant.fields)))
                    .collect();
                self.define(index, &one.ident, TypeDef::Enum(variants));
                if self.keep.fields {
                    let all = one.variants.iter().flat_map(|variant| {
                        variant
                            .fields
                            .iter()
                            .enumerate()
                            .map(|(number, field)| (&variant.ident, number, field))
                    });
                    let fields = all.map(|(variant, number, field)| {
                        (Name::from(format!("{variant}.{number}")), WrittenType::of(&field.ty))
                    });
                    let fields = fields.collect();
                    let key = name(&one.ident);
                    self.table(index).fields.insert(key, fields);
                }
            }
            syn::Item::Union(one) => {
                self.define(index, &one.ident, TypeDef::Union);
                self.inside(index, item, test);
            }
            syn::Item::Trait(one) => self.a_trait(index, one, test),
            syn::Item::TraitAlias(one) => self.define(index, &one.ident, TypeDef::OpaqueCode),
            syn::Item::Type(one) => {
                let params = one.generics.type_params();
                let params = params
                    .map(|param| {
                        (name(&param.ident), param.default.as_ref().map(|(_, ty)| WrittenType::of(ty)))
                    })
                    .collect();
                self.inside(index, item, test);
                self.define(
                    index,
                    &one.ident,
                    TypeDef::Alias(Box::new(Alias { params, ty: WrittenType::of(&one.ty) })),
                );
            }
            syn::Item::Use(one) => {
                let mut prefix = Vec::new();
                let leading = PathStart::of(one.leading_colon.as_ref());
                self.tree(index, leading, &mut prefix, &one.tree);
            }
            syn::Item::ExternCrate(one) => self.extern_crate(index, one),
            syn::Item::Mod(one) => self.declared(index, one, test),
            syn::Item::Macro(one) => self.macro_item(index, one, test),
            syn::Item::Impl(one) => self.implementation(index, one, test),
            syn::Item::ForeignMod(_) => self.inside(index, item, test),
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
                    (key, WrittenType::of(&field.ty))
                })
                .collect();
            let key = name(&one.ident);
            self.table(index).fields.insert(key, fields);
        }
    }

    fn a_trait(&mut self, index: usize, one: &syn::ItemTrait, test: BuildScope) {
        self.define(index, &one.ident, TypeDef::Trait);
        for item in &one.items {
            let attrs: &[syn::Attribute] = match item {
                syn::TraitItem::Fn(function) => {
                    self.method(&function.sig, function.default.as_ref());
                    &function.attrs
                }
                syn::TraitItem::Const(constant) => &constant.attrs,
                syn::TraitItem::Macro(call) => &call.attrs,
                _ => &[],
            };
            let mut finder = Finder { collector: self, index, test: test.with(attrs) };
            syn::visit::Visit::visit_trait_item(&mut finder, item);
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
        self.table(index).uses.push(Import {
            leading: if own { PathStart::Name } else { PathStart::Colons },
            path: Box::new([path]),
            alias: Some(alias),
        });
    }

    fn tree(&mut self, index: usize, leading: PathStart, prefix: &mut Vec<Name>, tree: &syn::UseTree) {
        // Each segment of a path adds a level of nesting to the `use` tree.
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
                self.table(index).uses.push(Import { leading, path, alias: None });
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
        leading: PathStart,
        prefix: &[Name],
        what: &proc_macro2::Ident,
        alias: &proc_macro2::Ident,
    ) {
        let mut path = prefix.to_vec();
        let last = self.names.of(what);
        let mut alias = self.names.of(alias);
        if &*last == "self" && !path.is_empty() {
            // `use a::b::{self}` imports `b`.
            if &*alias == "self"
                && let Some(module) = path.last()
            {
                alias = Arc::clone(module);
            }
        } else {
            path.push(last);
        }
        self.table(index).uses.push(Import { leading, path: path.into(), alias: Some(alias) });
    }

    fn declared(&mut self, index: usize, one: &syn::ItemMod, test: BuildScope) {
        let (paths, usual_place) = path_attrs(&one.attrs);
        let inline = one.content.as_ref().map(|(_, items)| self.module(items, test));
        let name = self.names.of(&one.ident);
        self.table(index).mods.push(ModDecl {
            name,
            test: test == BuildScope::ForTests,
            paths,
            usual_place,
            inline,
        });
    }

    pub(super) fn macro_item(&mut self, index: usize, one: &syn::ItemMacro, test: BuildScope) {
        match &one.ident {
            Some(ident) if one.mac.path.is_ident("macro_rules") => {
                let key = name(ident);
                let rules = MacroRules::read(one.mac.tokens.clone());
                self.out.macros.entry(key).or_default().join(rules);
                let mut found = Vec::new();
                includes_in_tokens(&one.mac.tokens, test.with(&one.attrs), &mut found);
                if !found.is_empty() {
                    self.table(index).includes.extend(found);
                }
            }
            _ => self.includes_of(index, &one.mac, &one.attrs, test),
        }
    }

    pub(super) fn implementation(&mut self, index: usize, one: &syn::ItemImpl, test: BuildScope) {
        for item in &one.items {
            let attrs: &[syn::Attribute] = match item {
                syn::ImplItem::Fn(function) => {
                    self.method(&function.sig, Some(&function.block));
                    &function.attrs
                }
                syn::ImplItem::Const(constant) => &constant.attrs,
                syn::ImplItem::Macro(call) => &call.attrs,
                _ => &[],
            };
            let mut finder = Finder { collector: self, index, test: test.with(attrs) };
            syn::visit::Visit::visit_impl_item(&mut finder, item);
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
                syn::ImplItem::Type(assoc) => types.push(WrittenType::of(&assoc.ty)),
                _ => {}
            }
        }
        let def = ImplDef {
            own: WrittenType::of(&one.self_ty),
            of_trait: one.trait_.as_ref().map(|(path, _)| Path::of(path)),
            fns,
            types,
        };
        self.table(index).impls.push(def);
    }

    fn method(&mut self, sig: &syn::Signature, body: Option<&syn::Block>) {
        if let Some(maker) = makers::of(sig, body) {
            let key = self.names.of(&sig.ident);
            self.out.methods.insert(key, maker);
        }
    }

    /// Collects the parts of a body that affect the whole file: includes, macros, impls of capability crates.
    fn body(&mut self, index: usize, block: &syn::Block, test: BuildScope) {
        let mut finder = Finder { collector: self, index, test };
        syn::visit::Visit::visit_block(&mut finder, block);
    }

    /// Does the same for an item that is not a function: a value, an array length, a discriminant.
    fn inside(&mut self, index: usize, item: &syn::Item, test: BuildScope) {
        let mut finder = Finder { collector: self, index, test };
        syn::visit::visit_item(&mut finder, item);
    }

    pub(super) fn includes_of(
        &mut self,
        index: usize,
        mac: &syn::Macro,
        attrs: &[syn::Attribute],
        test: BuildScope,
    ) {
        let found = includes_in(mac, test.with(attrs));
        if !found.is_empty() {
            self.table(index).includes.extend(found);
        }
    }
}

/// Reads a signature.
fn signature(sig: &syn::Signature, test: BuildScope) -> FnSig {
    let mut receiver = false;
    let mut inputs = Vec::new();
    for input in &sig.inputs {
        match input {
            syn::FnArg::Receiver(_) => receiver = true,
            syn::FnArg::Typed(typed) => inputs.push(WrittenType::of(&typed.ty)),
        }
    }
    FnSig {
        name: name(&sig.ident),
        receiver,
        inputs,
        output: WrittenType::of_return(&sig.output),
        test: test == BuildScope::ForTests,
        generic: sig.generics.type_params().next().is_some(),
    }
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
