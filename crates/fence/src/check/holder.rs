//! F06: derives that make the capability that a type holds.

use proc_macro2::Span;

use super::Checker;
use super::general::{any, by_default};
use crate::Rule;
use crate::cfg;
use crate::ty::bare;

/// Derives that make values: what they need is not asked of anybody.
const MAKERS: &[&str] = &["Deserialize", "Arbitrary", "FromBytes", "Zeroable", "Pod", "Archive"];

/// A derive as written: the last name of what it means, and its place.
pub(super) struct Derive {
    pub(super) name: String,
    pub(super) span: Span,
}

impl Checker<'_> {
    /// All derives on an item, those in `cfg_attr` among them.
    pub(super) fn derives(&self, attrs: &[syn::Attribute]) -> Vec<Derive> {
        let mut found = Vec::new();
        for attr in attrs {
            let syn::Meta::List(list) = &attr.meta else { continue };
            if list.path.is_ident("derive") {
                self.derive_list(list, &mut found);
            } else if list.path.is_ident("cfg_attr") {
                for meta in cfg::attr_metas(list) {
                    if let syn::Meta::List(inner) = &meta
                        && inner.path.is_ident("derive")
                    {
                        self.derive_list(inner, &mut found);
                    }
                }
            }
        }
        found
    }

    fn derive_list(&self, list: &syn::MetaList, found: &mut Vec<Derive>) {
        let paths =
            list.parse_args_with(syn::punctuated::Punctuated::<syn::Path, syn::Token![,]>::parse_terminated);
        for path in paths.iter().flatten() {
            if let Some(last) = path.segments.last() {
                found.push(Derive { name: self.last_name(path), span: last.ident.span() });
            }
        }
    }

    pub(super) fn makes_values(&self, derive: &str) -> bool {
        MAKERS.contains(&derive) || self.config.extra_derives.iter().any(|extra| extra == derive)
    }

    /// F06 on a struct or enum of a dependent.
    pub(super) fn holder(&mut self, item: &syn::Item) {
        if !self.applies.dependent {
            return;
        }
        let (attrs, fields): (_, Vec<&syn::Field>) = match item {
            syn::Item::Struct(one) => (&one.attrs, one.fields.iter().collect()),
            syn::Item::Enum(one) => {
                let live = one.variants.iter().filter(|variant| !Self::skips(&variant.attrs));
                (&one.attrs, live.flat_map(|variant| variant.fields.iter()).collect())
            }
            _ => return,
        };
        let is_enum = matches!(item, syn::Item::Enum(_));
        let derives = self.derives(attrs);
        for derive in derives {
            let held = fields.iter().filter(|field| !Self::skips(&field.attrs)).find_map(|field| {
                let ty = self.ty(&field.ty);
                if derive.name == "Default" {
                    // The default of an enum is a variant without fields.
                    return if is_enum { None } else { by_default(&ty) };
                }
                if !self.makes_values(&derive.name) {
                    return None;
                }
                if derive.name == "Deserialize" && is_skipped(&field.attrs) {
                    return None;
                }
                any(&ty)
            });
            if let Some(id) = held {
                let (ty, name) = (self.type_name(id), &derive.name);
                let message = format!("the derived `{name}` makes the `{ty}` that this type holds");
                self.report(Rule::F06, "derive", derive.span, Some(id), message);
            }
        }
    }
}

/// Whether serde leaves a field out when it reads.
fn is_skipped(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|attr| {
        let syn::Meta::List(list) = &attr.meta else { return false };
        if !list.path.is_ident("serde") {
            return false;
        }
        let metas =
            list.parse_args_with(syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated);
        metas
            .iter()
            .flatten()
            .any(|meta| meta.path().is_ident("skip") || meta.path().is_ident("skip_deserializing"))
    })
}

/// The words of a `snake_case` or `CamelCase` name, in lower case.
pub(super) fn words(ident: &proc_macro2::Ident) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last_lower = false;
    for one in bare(ident).chars() {
        if one == '_' {
            words.push(String::new());
            last_lower = false;
            continue;
        }
        if (one.is_uppercase() && last_lower) || words.is_empty() {
            words.push(String::new());
        }
        last_lower = one.is_lowercase() || one.is_numeric();
        if let Some(word) = words.last_mut() {
            word.extend(one.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
