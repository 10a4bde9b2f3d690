//! F06: derives that make the capability inside a type.

use proc_macro2::Span;

use crate::LintRule;
use crate::names::resolve::KnownType;
use crate::rules::source::Checker;
use crate::rules::source::construct::general::{any, by_default, empty_by_default};
use crate::syntax::cfg;
use crate::syntax::name_list::NameList;
use crate::syntax::written::bare;

/// Derives that make values without a value of the field's type.
const MAKERS: NameList = NameList(
    "Deserialize Arbitrary FromBytes TryFromBytes FromZeros FromZeroes Zeroable Pod AnyBitPattern \
     CheckedBitPattern Archive BorshDeserialize Decode SmartDefault",
);

/// A derive: the last name of the path that it resolves to, and its position.
pub(crate) struct DeriveUse {
    pub(crate) name: String,
    pub(crate) span: Span,
}

impl Checker<'_> {
    /// Returns all derives on an item, including those in `cfg_attr`.
    pub(crate) fn derives(&self, attrs: &[syn::Attribute]) -> Vec<DeriveUse> {
        let mut found = Vec::new();
        for attr in attrs {
            let syn::Meta::List(list) = &attr.meta else { continue };
            if self.is_derive(&list.path) {
                self.derive_list(list, &mut found);
            } else if list.path.is_ident("cfg_attr") {
                for meta in cfg::attr_metas(list) {
                    if let syn::Meta::List(inner) = &meta
                        && self.is_derive(&inner.path)
                    {
                        self.derive_list(inner, &mut found);
                    }
                }
            }
        }
        found
    }

    /// Recognizes `derive` under other names: `#[std::prelude::v1::derive(..)]`, and `use .. derive as d`.
    fn is_derive(&self, path: &syn::Path) -> bool {
        path.is_ident("derive") || self.last_name(path) == "derive"
    }

    fn derive_list(&self, list: &syn::MetaList, found: &mut Vec<DeriveUse>) {
        let paths =
            list.parse_args_with(syn::punctuated::Punctuated::<syn::Path, syn::Token![,]>::parse_terminated);
        for path in paths.iter().flatten() {
            if let Some(last) = path.segments.last() {
                found.push(DeriveUse { name: self.last_name(path), span: last.ident.span() });
            }
        }
    }

    /// Returns the capability in the default value of a type. A generic workspace type contains its type
    /// arguments.
    fn default_makes(&self, ty: &KnownType) -> Option<usize> {
        if let KnownType::Own { place, args } = ty {
            let given = args.iter().find_map(by_default)?;
            let holds = self.fields_of(place).iter().any(has_parameter);
            return holds.then_some(given);
        }
        by_default(ty)
    }

    pub(crate) fn makes_values(&self, derive: &str) -> bool {
        MAKERS.has(derive) || self.config.extra_derives.iter().any(|extra| extra == derive)
    }

    /// F06 on a struct or enum of a dependent.
    pub(crate) fn holder(&mut self, item: &syn::Item) {
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
        if derives.iter().any(|derive| derive.name == "Deserialize") {
            self.serde_types(attrs);
        }
        for derive in derives {
            let held = fields.iter().filter(|field| !Self::skips(&field.attrs)).find_map(|field| {
                let ty = self.ty(&field.ty);
                if derive.name == "Default" || derive.name == "SmartDefault" {
                    // The default of an enum is a variant without fields.
                    return if is_enum { None } else { self.default_makes(&ty) };
                }
                if !self.makes_values(&derive.name) {
                    return None;
                }
                if derive.name == "Deserialize" && is_skipped(&field.attrs) {
                    // A skipped field is made by its default, or by a function that `default = ".."` names.
                    let named = serde_pairs(&field.attrs).iter().any(|pair| pair.path.is_ident("default"));
                    return if named { None } else { self.default_makes(&ty) };
                }
                any(&ty)
            });
            if let Some(id) = held {
                let (ty, name) = (self.type_name(id), &derive.name);
                let message = format!("the derived `{name}` makes the `{ty}` inside this type");
                self.report(LintRule::F06, "derive", derive.span, Some(id), message);
            }
        }
    }
}

impl Checker<'_> {
    /// Checks `#[serde(remote = "T")]`, which deserializes into a T, and `from = "T"`, which deserializes a
    /// T first.
    fn serde_types(&mut self, attrs: &[syn::Attribute]) {
        for pair in serde_pairs(attrs) {
            let named = ["remote", "from", "try_from"].iter().any(|key| pair.path.is_ident(key));
            let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value else { continue };
            let written = text.value();
            if !named || written.len() > crate::rules::source::macros::attributes::MOST_IN_TEXT {
                continue;
            }
            let Ok(ty) = syn::parse_str::<syn::Type>(&written) else { continue };
            if let Some(id) = any(&self.ty(&ty)) {
                let name = self.type_name(id);
                let message = format!("the derived `Deserialize` makes a `{name}`, which is named here");
                self.report(LintRule::F06, "serde", text.span(), Some(id), message);
            }
        }
    }
}

/// Returns `true` if the default of a field makes a value of a type parameter.
fn has_parameter(field: &KnownType) -> bool {
    match field {
        KnownType::Unknown => true,
        // An unresolved name that is written as parameters are: `T`, `K2`.
        KnownType::Far { path, args } if args.is_empty() && path.len() == 1 => path
            .first()
            .is_some_and(|name| name.chars().all(|one| one.is_ascii_uppercase() || one.is_ascii_digit())),
        KnownType::Own { .. } => false,
        _ => !empty_by_default(field) && field.owned_parts().iter().any(has_parameter),
    }
}

/// Returns the `key = value` parts of `#[serde(…)]`.
fn serde_pairs(attrs: &[syn::Attribute]) -> Vec<syn::MetaNameValue> {
    let mut lists: Vec<proc_macro2::TokenStream> = Vec::new();
    for attr in attrs {
        let syn::Meta::List(list) = &attr.meta else { continue };
        if list.path.is_ident("serde") {
            lists.push(list.tokens.clone());
        } else if list.path.is_ident("cfg_attr") {
            lists.extend(cfg::attr_metas(list).into_iter().filter_map(|meta| match meta {
                syn::Meta::List(inner) if inner.path.is_ident("serde") => Some(inner.tokens),
                _ => None,
            }));
        }
    }
    let metas = lists.into_iter().flat_map(|tokens| {
        let parser = syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated;
        let all = syn::parse::Parser::parse2(parser, tokens);
        all.map(|metas| metas.into_iter().collect::<Vec<_>>()).unwrap_or_default()
    });
    metas
        .filter_map(|meta| match meta {
            syn::Meta::NameValue(pair) => Some(pair),
            _ => None,
        })
        .collect()
}

/// Returns `true` if serde skips a field when it deserializes.
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

/// Returns the words of a `snake_case` or `CamelCase` name, in lower case.
pub(crate) fn words(ident: &proc_macro2::Ident) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let text: Vec<char> = bare(ident).chars().collect();
    for (at, one) in text.iter().copied().enumerate() {
        if one == '_' {
            words.push(String::new());
            continue;
        }
        let before = at.checked_sub(1).and_then(|before| text.get(before)).copied();
        let next = text.get(at.saturating_add(1)).copied();
        // A word starts at a capital (`gitPush`), after an acronym (`HTTPPush`) and at a number (`push2`).
        let hump = one.is_uppercase() && before.is_some_and(|before| !before.is_uppercase());
        let acronym = one.is_uppercase() && next.is_some_and(char::is_lowercase);
        let number = one.is_numeric() != before.is_some_and(char::is_numeric);
        if words.is_empty() || hump || acronym || number {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(one.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
