//! F07, F09 and F10: look-alike types, open definitions, and construction inside the capability crate.

use proc_macro2::Span;

use crate::LintRule;
use crate::names::resolve::{KnownType, Meaning, Namespace};
use crate::rules::source::Checker;
use crate::rules::source::construct::general::any;
use crate::rules::source::derives::words;
use crate::syntax::cfg;
use crate::syntax::name_list::NameList;
use crate::syntax::written::{Path, WrittenType, bare};

/// Traits whose implementation makes or copies values.
const OPEN_TRAITS: NameList = NameList("Clone Copy Default Deserialize From TryFrom FromStr FromIterator");

impl Checker<'_> {
    /// F07: reports a new type with the name of a capability.
    pub(crate) fn look_alike(&mut self, ident: &proc_macro2::Ident) {
        if self.applies.dependent && self.config.is_capability(&bare(ident)) {
            let message = format!(
                "`{}` has the name of a capability and is not defined in a capability crate",
                bare(ident)
            );
            self.report(LintRule::F07, "definition", ident.span(), None, message);
        }
    }

    fn own_capability(&self, ident: &proc_macro2::Ident) -> Option<usize> {
        if !self.applies.capability {
            return None;
        }
        let path = Path::names(&[&bare(ident)]);
        match self.resolve(&path, Namespace::Type).what {
            Meaning::Type(KnownType::Cap(id)) if self.type_name(id) == bare(ident) => Some(id),
            _ => None,
        }
    }

    /// F09 on the definition of a capability type.
    pub(crate) fn definition(&mut self, item: &syn::Item) {
        let (ident, attrs) = match item {
            syn::Item::Struct(one) => (&one.ident, &one.attrs),
            syn::Item::Enum(one) => (&one.ident, &one.attrs),
            syn::Item::Union(one) => (&one.ident, &one.attrs),
            _ => return,
        };
        let Some(id) = self.own_capability(ident) else {
            if self.applies.capability {
                self.operations(item);
            }
            return;
        };
        let name = self.type_name(id);
        match item {
            syn::Item::Struct(one) => {
                if one.fields.is_empty() {
                    let message =
                        format!("`{name}` has no fields, so any code that can name it can construct it");
                    self.report(LintRule::F09, "no-fields", ident.span(), Some(id), message);
                }
                self.fields(id, one.fields.iter());
            }
            syn::Item::Union(one) => self.fields(id, one.fields.named.iter()),
            syn::Item::Enum(one) => {
                let message =
                    format!("`{name}` is an enum, so any code that can name it can construct its variants");
                self.report(LintRule::F09, "enum", ident.span(), Some(id), message);
                for variant in &one.variants {
                    self.forbidden_member(id, &variant.ident, "variant");
                }
            }
            _ => {}
        }
        for derive in self.derives(attrs) {
            if OPEN_TRAITS.has(&derive.name) || self.makes_values(&derive.name) {
                let message = format!("`{name}` derives `{}`, which makes values of it", derive.name);
                self.report(LintRule::F09, "derive", derive.span, Some(id), message);
            }
        }
    }

    /// F09 on the operations of a capability: no variant may have a forbidden name.
    fn operations(&mut self, item: &syn::Item) {
        let syn::Item::Enum(one) = item else { return };
        let path = Path::names(&[&bare(&one.ident)]);
        let Meaning::Type(KnownType::Own { place, .. }) = self.resolve(&path, Namespace::Type).what else {
            return;
        };
        if self.inventory.ops.contains(&place) {
            for variant in &one.variants {
                self.forbidden_word(None, &variant.ident, "operation");
            }
        }
    }

    fn fields<'f>(&mut self, id: usize, fields: impl Iterator<Item = &'f syn::Field>) {
        let name = self.type_name(id);
        for field in fields {
            if Self::skips(&field.attrs) {
                continue;
            }
            if reaches_out(&field.vis) {
                let span = field
                    .ident
                    .as_ref()
                    .map_or_else(|| syn::spanned::Spanned::span(&field.ty), proc_macro2::Ident::span);
                let message = format!("a field of `{name}` is visible outside its module");
                self.report(LintRule::F09, "field", span, Some(id), message);
            }
            if let Some(ident) = &field.ident {
                self.forbidden_member(id, ident, "field");
            }
        }
    }

    fn forbidden_member(&mut self, id: usize, ident: &proc_macro2::Ident, what: &str) {
        self.forbidden_word(Some(id), ident, what);
    }

    fn forbidden_word(&mut self, id: Option<usize>, ident: &proc_macro2::Ident, what: &str) {
        let found = words(ident).into_iter().find(|word| self.config.forbidden_members.contains(word));
        if let Some(word) = found {
            let message =
                format!("a {what} of a capability has the name `{}`, and `{word}` is forbidden", bare(ident));
            self.report(LintRule::F09, "forbidden-member", ident.span(), id, message);
        }
    }

    /// F09 on an `impl` for a capability type.
    pub(crate) fn trait_impl_definition(&mut self, one: &syn::ItemImpl, own: &KnownType) {
        let (Some((path, _)), true) = (&one.trait_, self.applies.capability) else { return };
        // `impl !Clone for T` takes the trait away.
        if one.modifiers.polarity.is_some() {
            return;
        }
        let KnownType::Cap(id) = own else { return self.conversion_definition(one, path) };
        let name = self.last_name(path);
        if OPEN_TRAITS.has(&name) || self.makes_values(&name) {
            let ty = self.type_name(*id);
            let message = format!("`{ty}` implements `{name}`, which makes values of it");
            self.report(LintRule::F09, "impl", one.impl_token.span, Some(*id), message);
        }
    }

    /// F09 on `impl Into<T> for X`, which converts like `impl From<X> for T`.
    fn conversion_definition(&mut self, one: &syn::ItemImpl, path: &syn::Path) {
        let name = self.last_name(path);
        if name != "Into" && name != "TryInto" {
            return;
        }
        let args = path.segments.last().map(|seg| self.segment_args(seg)).unwrap_or_default();
        if let Some(id) = args.first().and_then(any) {
            let ty = self.type_name(id);
            let message = format!("an implementation of `{name}<{ty}>` makes values of it");
            self.report(LintRule::F09, "impl", one.impl_token.span, Some(id), message);
        }
    }

    /// F09 on a constant or static, whose value every user of the name has.
    pub(crate) fn constant_definition(
        &mut self,
        vis: Option<&syn::Visibility>,
        ident: &proc_macro2::Ident,
        ty: &syn::Type,
        attrs: &[syn::Attribute],
    ) {
        let public = matches!(vis, Some(syn::Visibility::Public(_)));
        let for_tests = cfg::is_test_or_feature(attrs, &self.config.test_only_features);
        if !public || for_tests || !self.applies.capability || !self.fns.is_empty() {
            return;
        }
        if let Some(id) = any(&self.ty(ty)) {
            let name = self.type_name(id);
            let message = format!("`{}` is public and contains a `{name}`", bare(ident));
            self.report(LintRule::F09, "constant", ident.span(), Some(id), message);
        }
    }

    /// F09 on a function: a public constructor outside the chokepoint, or a forbidden name.
    pub(crate) fn member_definition(
        &mut self,
        sig: &syn::Signature,
        attrs: &[syn::Attribute],
        vis: Option<&syn::Visibility>,
    ) {
        if !self.applies.capability || self.fns.last().is_some() {
            return;
        }
        let own = match self.owns.last() {
            Some(KnownType::Cap(id)) => Some(*id),
            _ => None,
        };
        if let Some(id) = own {
            self.forbidden_member(id, &sig.ident, "function");
        }
        let public = matches!(vis, Some(syn::Visibility::Public(_)));
        let receiver = sig.receiver().is_some();
        let for_tests = cfg::is_test_or_feature(attrs, &self.config.test_only_features);
        if !public || receiver || for_tests || self.config.is_chokepoint(&self.home(), &bare(&sig.ident)) {
            return;
        }
        let output = self.resolver.ty(self.scope(), &WrittenType::of_return(&sig.output));
        let made = match own {
            Some(id) => crate::names::inventory::gives(&output, id).then_some(id),
            None => self.made_from_nothing(sig, &output),
        };
        if let Some(id) = made {
            let ty = self.type_name(id);
            let message =
                format!("`{}` is public and makes a `{ty}` outside the chokepoint", bare(&sig.ident));
            self.report(LintRule::F09, "constructor", sig.ident.span(), Some(id), message);
        }
    }

    fn made_from_nothing(&self, sig: &syn::Signature, output: &KnownType) -> Option<usize> {
        let id = any(output)?;
        let takes = sig.inputs.iter().any(|input| match input {
            syn::FnArg::Typed(typed) => any(&self.ty(&typed.ty)) == Some(id),
            syn::FnArg::Receiver(_) => false,
        });
        (!takes).then_some(id)
    }

    pub(crate) fn is_grant(&self, ty: &KnownType) -> bool {
        matches!(ty, KnownType::Own { place, .. } if self.inventory.grant.contains(place))
    }

    /// F10: collects the literals of the grant type. Exactly one may exist, in the chokepoint.
    pub(crate) fn grant_literal(&mut self, own: &KnownType, span: Option<Span>) {
        let Some(span) = span else { return };
        if !self.applies.capability || !self.is_grant(own) {
            return;
        }
        // Whether the count is right is known only after all files, so these literals are collected first.
        let here = self.fns.last();
        if here.is_some_and(|function| function.test_feature) {
            return;
        }
        let inside = here.is_some_and(|function| function.chokepoint);
        let message = if inside {
            "the grant is constructed more than once".to_owned()
        } else {
            "a grant is constructed outside the chokepoint".to_owned()
        };
        let route = if inside { "second-grant" } else { "grant" };
        let finding = self.finding(LintRule::F10, route, span, None, message);
        self.grants.push(finding);
    }

    /// F10: reports a capability literal in a function that takes no grant.
    pub(crate) fn needs_grant(&mut self, id: usize, span: Span) {
        if !self.applies.capability || self.config.grant_type.is_none() {
            return;
        }
        let excused = self
            .fns
            .last()
            .is_some_and(|function| function.takes_grant || function.chokepoint || function.test_feature);
        if !excused {
            let ty = self.type_name(id);
            let message = format!("a `{ty}` is constructed in a function that takes no grant");
            self.report(LintRule::F10, "no-grant", span, Some(id), message);
        }
    }
}

/// Returns `true` if a field is visible outside its module.
fn reaches_out(vis: &syn::Visibility) -> bool {
    match vis {
        syn::Visibility::Public(_) => true,
        syn::Visibility::Restricted(restricted) => !restricted.path.is_ident("self"),
        syn::Visibility::Inherited => false,
    }
}
