//! Items: the scopes that they open, and tests.

use std::rc::Rc;
use syn::visit::{self, Visit};

use crate::LintRule;
use crate::names::collect::{self, CollectOptions, attrs_of};
use crate::names::inventory::written_name;
use crate::names::resolve::{Frame, FrameKind, KnownType, Meaning, Namespace};
use crate::rules::source::{Checker, FnContext};
use crate::syntax::cfg;
use crate::syntax::peel::is_success;
use crate::syntax::written::{Name, Path, WrittenType, bare, name};

impl Checker<'_> {
    /// Visits a module's items. Inline modules are found by their index in the list of modules.
    pub(crate) fn module_items(&mut self, items: &[syn::Item]) {
        // The first pass numbered the modules in this order. Two modules of one name are under different
        // `cfg`s.
        let mut nth = 0_usize;
        for item in items {
            if let syn::Item::Mod(module) = item {
                let declared = self.world.table(self.module).and_then(|table| table.mods.get(nth));
                let inline = declared.and_then(|declared| declared.inline);
                nth = nth.saturating_add(1);
                if !Self::skips(&module.attrs) {
                    self.inline_module(module, inline);
                }
            } else {
                self.visit_item(item);
            }
        }
    }

    fn inline_module(&mut self, module: &syn::ItemMod, inline: Option<usize>) {
        for attr in &module.attrs {
            self.attribute(attr);
        }
        let Some((_, items)) = &module.content else { return };
        let world = self.world;
        let here = world.modules.get(self.module);
        let child = here.and_then(|here| {
            let children = here.children.get(&name(&module.ident))?;
            children.iter().copied().find(|child| {
                world
                    .modules
                    .get(*child)
                    .is_some_and(|child| child.file == here.file && Some(child.table) == inline)
            })
        });
        if let Some(child) = child {
            let outer = std::mem::replace(&mut self.module, child);
            self.module_items(items);
            self.module = outer;
        } else {
            self.block_module(module, items);
        }
    }

    /// Visits a module inside a block. Its names are in a frame and not in the module tree.
    fn block_module(&mut self, module: &syn::ItemMod, items: &[syn::Item]) {
        let keep = CollectOptions { fields: true, ..CollectOptions::default() };
        let table = collect::file(items, &module.attrs, keep, &mut self.names);
        self.frames.push(Frame { names: Some(Rc::new(table)), of: FrameKind::Module, ..Frame::default() });
        self.items.push(bare(&module.ident));
        for item in items {
            self.visit_item(item);
        }
        self.items.pop();
        self.frames.pop();
    }

    pub(crate) fn item(&mut self, item: &syn::Item) {
        if Self::skips(attrs_of(item)) {
            return;
        }
        if !matches!(item, syn::Item::Fn(_) | syn::Item::Mod(_)) {
            for attr in attrs_of(item) {
                self.attribute(attr);
            }
        }
        match item {
            syn::Item::Const(one) => {
                self.constant_definition(Some(&one.vis), &one.ident, &one.ty, &one.attrs);
                self.named(&one.ident, |this| this.annotated(&one.ty, &one.expr, &one.generics));
            }
            syn::Item::Static(one) => {
                self.constant_definition(Some(&one.vis), &one.ident, &one.ty, &one.attrs);
                self.named(&one.ident, |this| {
                    this.annotated(&one.ty, &one.expr, &syn::Generics::default());
                });
            }
            syn::Item::Enum(one) => self.defined(item, &one.ident, &one.generics),
            syn::Item::Struct(one) => self.defined(item, &one.ident, &one.generics),
            syn::Item::Union(one) => self.defined(item, &one.ident, &one.generics),
            syn::Item::Fn(one) => {
                if self.is_test_function(&one.attrs) {
                    return;
                }
                for attr in &one.attrs {
                    self.attribute(attr);
                }
                self.function(&one.sig, Some(&one.block), &one.attrs, Some(&one.vis));
            }
            syn::Item::ForeignMod(one) => self.foreign(one),
            syn::Item::Impl(one) => self.implementation(one),
            syn::Item::Trait(one) => self.a_trait(one),
            syn::Item::Macro(one) => self.macro_item(one),
            syn::Item::Mod(one) => self.inline_module(one, None),
            syn::Item::Type(one) => {
                self.generic_frame(&one.generics);
                self.visit_type(&one.ty);
                self.frames.pop();
            }
            syn::Item::Verbatim(tokens) => self.scan_tokens(tokens),
            syn::Item::ExternCrate(_) | syn::Item::TraitAlias(_) | syn::Item::Use(_) => {}
            other => self.unknown_node(syn::spanned::Spanned::span(other), "item"),
        }
    }

    pub(crate) fn unknown_node(&mut self, span: proc_macro2::Span, what: &str) {
        let message = format!("this version does not know the syntax of this {what}");
        self.report(LintRule::F08, "unknown-syntax", span, None, message);
    }

    pub(crate) fn named(&mut self, ident: &proc_macro2::Ident, inside: impl FnOnce(&mut Self)) {
        self.items.push(bare(ident));
        inside(self);
        self.items.pop();
    }

    /// Checks a constant or static, whose type applies to its value.
    pub(crate) fn annotated(&mut self, ty: &syn::Type, value: &syn::Expr, generics: &syn::Generics) {
        self.generic_frame(generics);
        self.visit_type(ty);
        let wanted = self.ty(ty);
        self.annotation(ty, &wanted, value);
        self.isolated(|this| this.initializer(&wanted, value));
        self.frames.pop();
    }

    /// Runs a check with the locals of the enclosing function out of scope.
    fn isolated(&mut self, inside: impl FnOnce(&mut Self)) {
        // A nested function does not see the locals of the function around it.
        let floor = std::mem::replace(&mut self.floor, self.locals.len());
        inside(self);
        self.locals.truncate(self.floor);
        self.floor = floor;
    }

    pub(crate) fn generic_frame(&mut self, generics: &syn::Generics) {
        let names = generics
            .params
            .iter()
            .filter_map(|param| match param {
                syn::GenericParam::Type(param) => Some(name(&param.ident)),
                syn::GenericParam::Const(param) => Some(name(&param.ident)),
                syn::GenericParam::Lifetime(_) => None,
            })
            .collect();
        self.frames.push(Frame { generics: names, ..Frame::default() });
    }

    fn defined(&mut self, item: &syn::Item, ident: &proc_macro2::Ident, generics: &syn::Generics) {
        self.generic_frame(generics);
        self.visit_generics(generics);
        self.look_alike(ident);
        self.holder(item);
        self.held_by_union(item);
        self.definition(item);
        self.named(ident, |this| match item {
            syn::Item::Struct(one) => this.visit_fields(&one.fields),
            syn::Item::Union(one) => this.visit_fields_named(&one.fields),
            syn::Item::Enum(one) => {
                for variant in &one.variants {
                    if !Self::skips(&variant.attrs) {
                        this.visit_variant(variant);
                    }
                }
            }
            _ => {}
        });
        self.frames.pop();
    }

    /// Checks a function: parameters, body and return type.
    pub(crate) fn function(
        &mut self,
        sig: &syn::Signature,
        body: Option<&syn::Block>,
        attrs: &[syn::Attribute],
        vis: Option<&syn::Visibility>,
    ) {
        self.items.push(bare(&sig.ident));
        self.generic_frame(&sig.generics);
        self.visit_generics(&sig.generics);
        self.visit_return_type(&sig.output);
        self.member_definition(sig, attrs, vis);
        let output = self.resolver.ty(self.scope(), &WrittenType::of_return(&sig.output));
        let floor = std::mem::replace(&mut self.floor, self.locals.len());
        let mut takes_grant = false;
        for input in &sig.inputs {
            match input {
                syn::FnArg::Receiver(receiver) => {
                    let own = self.owns.last().cloned().unwrap_or(KnownType::Unknown);
                    takes_grant |= matches!(receiver.kind, syn::ReceiverKind::Value) && self.is_grant(&own);
                    self.bind(Name::from("self"), own, None);
                }
                syn::FnArg::Typed(typed) => {
                    if Self::skips(&typed.attrs) {
                        continue;
                    }
                    self.visit_type(&typed.ty);
                    let ty = self.ty(&typed.ty);
                    takes_grant |= self.is_grant(&ty);
                    self.bind_pattern(&typed.pat, &ty);
                }
            }
        }
        let home = self.home();
        let chokepoint = self.config.is_chokepoint(&home, &bare(&sig.ident));
        let test_feature = cfg::is_test_or_feature(attrs, &self.config.test_only_features)
            || self.fns.last().is_some_and(|outer| outer.test_feature);
        self.fns.push(FnContext { output: output.clone(), takes_grant, chokepoint, test_feature });
        if let Some(body) = body {
            self.expect_block(body, &output);
            self.pointer_tail(body, &output);
            self.visit_block(body);
        }
        self.fns.pop();
        self.locals.truncate(self.floor);
        self.floor = floor;
        self.frames.pop();
        self.items.pop();
    }

    /// Returns the path of the module or `impl` type that contains the current function.
    pub(crate) fn home(&self) -> String {
        let path = self.item_path();
        path.rsplit_once("::").map_or_else(String::new, |(home, _)| home.to_owned())
    }

    /// Binds the names of a pattern. A plain name gets the type.
    pub(crate) fn bind_pattern(&mut self, pat: &syn::Pat, ty: &KnownType) {
        match pat {
            syn::Pat::Ident(ident) => self.bind(name(&ident.ident), ty.clone(), None),
            syn::Pat::Paren(paren) => self.bind_pattern(&paren.pat, ty),
            syn::Pat::Type(typed) => {
                self.visit_type(&typed.ty);
                let ty = self.ty(&typed.ty);
                self.bind_pattern(&typed.pat, &ty);
            }
            syn::Pat::Reference(reference) => {
                let inner = match ty {
                    KnownType::Ref(inner) => (**inner).clone(),
                    _ => KnownType::Unknown,
                };
                self.bind_pattern(&reference.pat, &inner);
            }
            // `Ok(x)` and `Some(x)` bind the type inside.
            syn::Pat::TupleStruct(one) if !matches!(ty, KnownType::Infer | KnownType::Unknown) => {
                let inner = if is_success(&one.path) {
                    crate::rules::source::types::expressions::taken_out(ty)
                } else {
                    KnownType::Unknown
                };
                for elem in &one.elems {
                    self.bind_pattern(elem, &inner);
                }
            }
            syn::Pat::Tuple(one) => {
                let parts = match ty {
                    KnownType::Tuple(parts) => parts.as_slice(),
                    KnownType::Ref(inner) => match &**inner {
                        KnownType::Tuple(parts) => parts.as_slice(),
                        _ => &[],
                    },
                    _ => &[],
                };
                // After `..` the index of an element is not known.
                let plain = !one.elems.iter().any(|elem| matches!(elem, syn::Pat::Rest(_)));
                for (at, elem) in one.elems.iter().enumerate() {
                    let known = if plain { parts.get(at).cloned() } else { None };
                    self.bind_pattern(elem, &known.unwrap_or(KnownType::Unknown));
                }
            }
            syn::Pat::Struct(one) if self.race_applies() => {
                let own = match ty {
                    KnownType::Ref(inner) => inner,
                    other => other,
                };
                for field in &one.fields {
                    let known = match (own, &field.member) {
                        (KnownType::Own { place, .. }, syn::Member::Named(ident)) => {
                            self.field_of(place, &bare(ident)).unwrap_or(KnownType::Unknown)
                        }
                        _ => KnownType::Unknown,
                    };
                    self.bind_pattern(&field.pat, &known);
                }
            }
            _ => self.visit_pat(pat),
        }
    }

    fn implementation(&mut self, one: &syn::ItemImpl) {
        self.generic_frame(&one.generics);
        self.visit_generics(&one.generics);
        let own = self.ty(&one.self_ty);
        self.trait_impl_definition(one, &own);
        let shown = match &own {
            KnownType::Cap(id) => self.type_name(*id),
            _ => written_name(&WrittenType::of(&one.self_ty)),
        };
        self.owns.push(own);
        self.items.push(shown);
        self.visit_type(&one.self_ty);
        if let Some((path, _)) = &one.trait_ {
            self.visit_path(path);
        }
        for item in &one.items {
            self.impl_item(item, one);
        }
        self.items.pop();
        self.owns.pop();
        self.frames.pop();
    }

    fn impl_item(&mut self, item: &syn::ImplItem, around: &syn::ItemImpl) {
        match item {
            syn::ImplItem::Const(one) if !Self::skips(&one.attrs) => {
                let vis = around.trait_.is_none().then_some(&one.vis);
                self.constant_definition(vis, &one.ident, &one.ty, &one.attrs);
                self.named(&one.ident, |this| this.annotated(&one.ty, &one.expr, &one.generics));
            }
            syn::ImplItem::Fn(one) if !Self::skips(&one.attrs) && !self.is_test_function(&one.attrs) => {
                for attr in &one.attrs {
                    self.attribute(attr);
                }
                let vis = around.trait_.is_none().then_some(&one.vis);
                self.function(&one.sig, Some(&one.block), &one.attrs, vis);
            }
            syn::ImplItem::Macro(one) if !Self::skips(&one.attrs) => self.call_of_macro(&one.mac, &one.attrs),
            syn::ImplItem::Verbatim(tokens) => self.scan_tokens(tokens),
            syn::ImplItem::Type(one) => self.visit_type(&one.ty),
            syn::ImplItem::Const(_) | syn::ImplItem::Fn(_) | syn::ImplItem::Macro(_) => {}
            other => self.unknown_node(syn::spanned::Spanned::span(other), "impl item"),
        }
    }

    fn a_trait(&mut self, one: &syn::ItemTrait) {
        self.generic_frame(&one.generics);
        self.visit_generics(&one.generics);
        for bound in &one.supertraits {
            self.visit_type_param_bound(bound);
        }
        self.owns.push(KnownType::Unknown);
        self.items.push(bare(&one.ident));
        for item in &one.items {
            match item {
                syn::TraitItem::Const(constant) if !Self::skips(&constant.attrs) => {
                    if let Some((_, value)) = &constant.default {
                        self.named(&constant.ident, |this| {
                            this.annotated(&constant.ty, value, &constant.generics);
                        });
                    }
                }
                syn::TraitItem::Fn(function) if !Self::skips(&function.attrs) => {
                    for attr in &function.attrs {
                        self.attribute(attr);
                    }
                    self.function(&function.sig, function.default.as_ref(), &function.attrs, None);
                }
                syn::TraitItem::Macro(call) if !Self::skips(&call.attrs) => {
                    self.call_of_macro(&call.mac, &call.attrs);
                }
                syn::TraitItem::Verbatim(tokens) => self.scan_tokens(tokens),
                syn::TraitItem::Const(_)
                | syn::TraitItem::Fn(_)
                | syn::TraitItem::Type(_)
                | syn::TraitItem::Macro(_) => {}
                other => self.unknown_node(syn::spanned::Spanned::span(other), "trait item"),
            }
        }
        self.items.pop();
        self.owns.pop();
        self.frames.pop();
    }

    pub(crate) fn block(&mut self, block: &syn::Block) {
        let has_items = block
            .stmts
            .iter()
            .any(|stmt| matches!(stmt, syn::Stmt::Item(item) if !matches!(item, syn::Item::Macro(_))));
        if has_items {
            self.block_frame(&block.stmts);
        }
        let locals = self.locals.len();
        visit::visit_block(self, block);
        self.locals.truncate(locals);
        if has_items {
            self.frames.pop();
        }
    }

    /// Returns the last name of the path that a path resolves to, which an import may have renamed.
    pub(crate) fn last_name(&self, path: &syn::Path) -> String {
        let written = Path::of(path);
        match self.resolve(&written, Namespace::Type).what {
            Meaning::Far(full) => full.last().map_or_else(String::new, ToString::to_string),
            _ => written.segs.last().map_or_else(String::new, |seg| seg.name.to_string()),
        }
    }
}
