//! Items: the scopes that they open, and tests.

use syn::visit::{self, Visit};

use crate::names::inventory::type_name;
use crate::names::resolve::{KnownType, Meaning, Namespace};
use crate::rules::source::{Checker, FnContext, Local};
use crate::syntax::cfg;
use crate::syntax::parse::start;
use crate::syntax::written::{Name, Path, bare, name};

impl Checker<'_> {
    /// Visits a module's items. Inline modules are found by their index in the list of modules.
    pub(super) fn module_items(&mut self, items: &[syn::Item]) {
        // The first pass numbered the modules in this order. Two modules of one name are under different
        // `cfg`s.
        let mut nth = 0_usize;
        for item in items {
            if let syn::Item::Mod(module) = item {
                self.inline_module(module, nth);
                nth = nth.saturating_add(1);
            } else {
                self.visit_item(item);
            }
        }
    }

    pub(super) fn inline_module(&mut self, module: &syn::ItemMod, nth: usize) {
        let Some((_, items)) = module.content.as_ref().filter(|_| !cfg::is_test(&module.attrs)) else {
            return;
        };
        let declared = self.world.table(self.module).and_then(|table| table.mods.get(nth));
        let table = declared.and_then(|declared| declared.inline);
        self.in_table(table, |this| this.module_items(items));
    }

    /// Runs a check in the module or block of a table of this file.
    fn in_table(&mut self, table: Option<usize>, inside: impl FnOnce(&mut Self)) {
        let world = self.world;
        let here = world.modules.get(self.module);
        // One file may be several modules, so the table has to be that of a child of this one.
        let child = here.zip(table).and_then(|(here, table)| {
            let below = here.children.values().flatten().chain(&here.blocks).copied();
            { below }.find(|child| {
                world.modules.get(*child).is_some_and(|one| one.file == here.file && one.table == table)
            })
        });
        let outer = self.module;
        self.module = child.unwrap_or(outer);
        inside(self);
        self.module = outer;
    }

    pub(super) fn block(&mut self, block: &syn::Block) {
        let position = start(block.brace_token.span.open());
        let blocks = self.world.table(self.module).map(|table| table.blocks.as_slice()).unwrap_or_default();
        let table = blocks.iter().find(|(at, _)| *at == position).map(|(_, table)| *table);
        let locals = self.locals.len();
        let inside = |this: &mut Self| {
            let mut nth = 0_usize;
            for stmt in &block.stmts {
                if let syn::Stmt::Item(syn::Item::Mod(module)) = stmt {
                    this.items.push(bare(&module.ident));
                    this.inline_module(module, nth);
                    this.items.pop();
                    nth = nth.saturating_add(1);
                } else {
                    this.visit_stmt(stmt);
                }
            }
        };
        self.in_table(table, inside);
        self.locals.truncate(locals);
    }

    /// Runs a check below an item.
    pub(super) fn named(&mut self, item: String, generics: &syn::Generics, inside: impl FnOnce(&mut Self)) {
        let outer = self.generics.len();
        self.generics.extend(generics.params.iter().filter_map(|param| match param {
            syn::GenericParam::Type(param) => Some(name(&param.ident)),
            syn::GenericParam::Const(param) => Some(name(&param.ident)),
            syn::GenericParam::Lifetime(_) => None,
        }));
        self.items.push(item);
        // A nested function does not see the locals of the function around it.
        let floor = std::mem::replace(&mut self.floor, self.locals.len());
        inside(self);
        self.locals.truncate(self.floor);
        self.floor = floor;
        self.items.pop();
        self.generics.truncate(outer);
    }

    /// Checks a function: parameters, body and return type.
    pub(super) fn function(
        &mut self,
        sig: &syn::Signature,
        body: Option<&syn::Block>,
        attrs: &[syn::Attribute],
        vis: &syn::Visibility,
    ) {
        if cfg::is_test(attrs) || self.is_test_function(attrs) {
            return;
        }
        let chokepoint = self.config.is_chokepoint(&self.item_path(), &bare(&sig.ident));
        self.member_definition(sig, attrs, vis);
        self.named(bare(&sig.ident), &sig.generics, |this| {
            visit::visit_signature(this, sig);
            let mut takes_grant = false;
            for input in &sig.inputs {
                match input {
                    syn::FnArg::Receiver(receiver) => {
                        let own = this.owns.last().cloned().unwrap_or(KnownType::Unknown);
                        takes_grant |=
                            matches!(receiver.kind, syn::ReceiverKind::Value) && this.is_grant(&own);
                        this.locals.push(Local { name: Name::from("self"), ty: own, race: None });
                    }
                    syn::FnArg::Typed(typed) => {
                        let ty = this.ty(&typed.ty);
                        takes_grant |= this.is_grant(&ty);
                        this.bind_pattern(&typed.pat, &ty);
                    }
                }
            }
            let test_feature = cfg::is_test_or_feature(attrs, &this.config.test_only_features)
                || this.fns.last().is_some_and(|outer| outer.test_feature);
            this.fns.push(FnContext { takes_grant, chokepoint, test_feature });
            if let Some(body) = body {
                this.visit_block(body);
            }
            this.fns.pop();
        });
    }

    pub(super) fn implementation(&mut self, one: &syn::ItemImpl) {
        self.named(String::new(), &one.generics, |this| {
            let own = this.ty(&one.self_ty);
            this.items.pop();
            this.items.push(type_name(this.inventory, &own));
            this.trait_impl_definition(one, &own);
            this.owns.push(own);
            // The functions of an open trait are reported with its `impl`.
            let of_trait = one.trait_.as_ref().is_some_and(|(path, _)| !this.is_open(&this.last_name(path)));
            let of_trait = std::mem::replace(&mut this.of_trait, of_trait);
            visit::visit_item_impl(this, one);
            this.of_trait = of_trait;
            this.owns.pop();
        });
    }

    pub(super) fn a_trait(&mut self, one: &syn::ItemTrait) {
        self.owns.push(KnownType::Unknown);
        self.named(bare(&one.ident), &one.generics, |this| visit::visit_item_trait(this, one));
        self.owns.pop();
    }

    /// Returns `true` if attributes mark a function as a test.
    fn is_test_function(&self, attrs: &[syn::Attribute]) -> bool {
        attrs.iter().any(|attr| {
            let path = Path::of(attr.path());
            let (names, far): (Vec<Name>, _) = match self.resolve(&path, Namespace::Both).what {
                Meaning::Far(full) => (full, true),
                _ => (path.segs.iter().map(|seg| Name::clone(&seg.name)).collect(), false),
            };
            // An import of the workspace may have brought an attribute of this name.
            let uses = self.world.table(self.module).into_iter().flat_map(|table| &table.uses);
            let hidden = !far && uses.into_iter().any(|one| one.alias.as_ref() == names.first());
            let text = names.join("::");
            let builtin = text.strip_prefix("std::prelude::v1::").unwrap_or(&text);
            !hidden && (matches!(builtin, "test" | "bench") || self.config.test_attributes.contains(&text))
        })
    }
}
