//! F07, F09 and F10: look-alike types, open definitions, and construction inside the capability crate.

use proc_macro2::{Ident, Span};
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;

use crate::LintRule;
use crate::names::resolve::{KnownType, Meaning, Namespace};
use crate::rules::source::Checker;
use crate::syntax::cfg;
use crate::syntax::is_one_of;
use crate::syntax::written::{Path, WrittenType, bare};

/// Traits whose implementation makes or copies values.
const OPEN_TRAITS: &str = "Clone Copy Default Deserialize From TryFrom FromStr FromIterator Arbitrary FromBytes \
                           TryFromBytes FromZeros FromZeroes Zeroable Pod AnyBitPattern CheckedBitPattern Archive \
                           BorshDeserialize Decode SmartDefault";

impl Checker<'_> {
    /// F07 and F09 on the definition of a type.
    pub(super) fn definition(&mut self, item: &syn::Item, ident: &Ident) {
        if matches!(item, syn::Item::Const(_) | syn::Item::Static(_)) {
            return;
        }
        let name = bare(ident);
        if self.dependent && self.config.is_capability(&name) {
            let message =
                format!("`{name}` has the name of a capability and is not defined in a capability crate");
            self.report(LintRule::F07, "definition", ident.span(), None, message);
        }
        if !self.capability {
            return;
        }
        let Meaning::Type(own) = self.resolve(&Path::plain([ident]), Namespace::Type).what else { return };
        let KnownType::Cap(id) = own else { return };
        let (attrs, fields, open): (_, Vec<&syn::Field>, _) = match item {
            syn::Item::Struct(one) if one.fields.is_empty() => {
                (&one.attrs, Vec::new(), Some("has no fields"))
            }
            syn::Item::Struct(one) => (&one.attrs, one.fields.iter().collect(), None),
            syn::Item::Union(one) => (&one.attrs, one.fields.named.iter().collect(), None),
            syn::Item::Enum(one) => (&one.attrs, Vec::new(), Some("is an enum")),
            _ => return,
        };
        if let Some(open) = open {
            let message = format!("`{name}` {open}, so any code that can name it can construct it");
            self.report(LintRule::F09, "open", ident.span(), Some(id), message);
        }
        for field in fields.into_iter().filter(|field| reaches_out(&field.vis) && !cfg::is_test(&field.attrs))
        {
            let span = field.ident.as_ref().map_or_else(|| field.ty.span(), Ident::span);
            let message = format!("a field of `{name}` is visible outside its module");
            self.report(LintRule::F09, "field", span, Some(id), message);
        }
        for derived in self.derives(attrs) {
            let trait_name = self.last_name(&derived);
            if let (true, Some(last)) = (self.is_open(&trait_name), derived.segments.last()) {
                let message = format!("`{name}` derives `{trait_name}`, which makes values of it");
                self.report(LintRule::F09, "derive", last.ident.span(), Some(id), message);
            }
        }
    }

    pub(super) fn is_open(&self, trait_name: &str) -> bool {
        is_one_of(OPEN_TRAITS, trait_name)
            || self.config.extra_derives.iter().any(|extra| extra == trait_name)
    }

    /// Returns all derives on an item, including those in `cfg_attr`.
    fn derives(&self, attrs: &[syn::Attribute]) -> Vec<syn::Path> {
        let mut lists = Vec::new();
        for attr in attrs {
            let syn::Meta::List(list) = &attr.meta else { continue };
            // `derive` has other names: `#[std::prelude::v1::derive(..)]`, and `use .. derive as d`.
            if self.last_name(&list.path) == "derive" {
                lists.push(list.tokens.clone());
            } else if list.path.is_ident("cfg_attr") {
                lists.extend(cfg::attr_metas(list).into_iter().filter_map(|meta| match meta {
                    syn::Meta::List(inner) if self.last_name(&inner.path) == "derive" => Some(inner.tokens),
                    _ => None,
                }));
            }
        }
        let paths = Punctuated::<syn::Path, syn::Token![,]>::parse_terminated;
        lists.into_iter().flat_map(|list| paths.parse2(list).into_iter().flatten()).collect()
    }

    /// F09 on an `impl` that makes values of a capability type.
    pub(super) fn trait_impl_definition(&mut self, one: &syn::ItemImpl, own: &KnownType) {
        let (Some((path, _)), true) = (&one.trait_, self.capability) else { return };
        // `impl !Clone for T` takes the trait away.
        if one.modifiers.polarity.is_some() {
            return;
        }
        let name = self.last_name(path);
        let made = match own {
            KnownType::Cap(id) => Some(*id).filter(|_| self.is_open(&name)),
            // `impl Into<T> for X` converts like `impl From<X> for T`.
            _ if name == "Into" || name == "TryInto" => {
                let args = Path::of(path).segs.pop().map(|seg| seg.args).unwrap_or_default();
                args.first().and_then(|ty| self.resolver.ty(self.scope(), ty).capability())
            }
            _ => None,
        };
        if let Some(id) = made {
            let ty = self.inventory.name(id);
            let message = format!("an implementation of `{name}` makes values of `{ty}`");
            self.report(LintRule::F09, "impl", one.impl_token.span, Some(id), message);
        }
    }

    /// F09 on a constant or static, whose value every user of the name has.
    pub(super) fn constant_definition(
        &mut self,
        vis: &syn::Visibility,
        ident: &Ident,
        ty: &syn::Type,
        attrs: &[syn::Attribute],
    ) {
        let public = matches!(vis, syn::Visibility::Public(_));
        let for_tests = cfg::is_test_or_feature(attrs, &self.config.test_only_features);
        if !public || for_tests || !self.capability || !self.fns.is_empty() {
            return;
        }
        if let Some(id) = self.ty(ty).capability() {
            let message = format!("`{}` is public and contains a `{}`", bare(ident), self.inventory.name(id));
            self.report(LintRule::F09, "constant", ident.span(), Some(id), message);
        }
    }

    /// F09 on a function: a constructor outside the chokepoint that others can call.
    pub(super) fn member_definition(
        &mut self,
        sig: &syn::Signature,
        attrs: &[syn::Attribute],
        vis: &syn::Visibility,
    ) {
        if !self.capability || !self.fns.is_empty() {
            return;
        }
        let own = match self.owns.last() {
            Some(KnownType::Cap(id)) => Some(*id),
            _ => None,
        };
        // The functions of a trait are as public as the trait.
        let public = matches!(vis, syn::Visibility::Public(_)) || self.of_trait && own.is_some();
        let for_tests = cfg::is_test_or_feature(attrs, &self.config.test_only_features);
        if !public || sig.receiver().is_some() || for_tests {
            return;
        }
        let output = self.resolver.ty(self.scope(), &WrittenType::of_return(&sig.output));
        let Some(id) = output.capability().filter(|id| own.is_none_or(|own| own == *id)) else { return };
        let takes_one = sig.inputs.iter().any(|input| match input {
            syn::FnArg::Typed(typed) => {
                let ty = self.ty(&typed.ty);
                own.is_none() && ty.capability() == Some(id) || self.is_grant(&ty)
            }
            syn::FnArg::Receiver(_) => false,
        });
        if !takes_one && !self.config.is_chokepoint(&self.item_path(), &bare(&sig.ident)) {
            let ty = self.inventory.name(id);
            let message = format!("`{}` makes a `{ty}` outside the chokepoint", bare(&sig.ident));
            self.report(LintRule::F09, "constructor", sig.ident.span(), Some(id), message);
        }
    }

    pub(super) fn is_grant(&self, ty: &KnownType) -> bool {
        matches!(ty, KnownType::Own { place, .. } if self.inventory.grant.contains(place))
    }

    /// F10: reports a literal of the grant type outside the chokepoint.
    pub(super) fn grant_literal(&mut self, own: &KnownType, span: Span) {
        let excused = self.fns.last().is_some_and(|here| here.chokepoint || here.test_feature);
        if self.capability && self.is_grant(own) && !excused {
            let message = "a grant is constructed outside the chokepoint".to_owned();
            self.report(LintRule::F10, "grant", span, None, message);
        }
    }

    /// F10: reports a capability literal in a function that takes no grant.
    pub(super) fn needs_grant(&mut self, id: usize, span: Span) {
        let here = self.fns.last();
        let excused = here.is_some_and(|here| here.takes_grant || here.chokepoint || here.test_feature);
        if self.capability && self.config.grant_type.is_some() && !excused {
            let ty = self.inventory.name(id);
            let message = format!("a `{ty}` is constructed in a function that takes no grant");
            self.report(LintRule::F10, "no-grant", span, Some(id), message);
        }
    }
}

/// Returns `true` if a field is visible outside its module.
fn reaches_out(vis: &syn::Visibility) -> bool {
    let own = matches!(vis, syn::Visibility::Restricted(one) if one.path.is_ident("self"));
    !own && !matches!(vis, syn::Visibility::Inherited)
}
