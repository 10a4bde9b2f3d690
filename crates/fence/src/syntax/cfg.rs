//! `cfg` predicates: which code is compiled for tests only.

use syn::punctuated::Punctuated;

type Metas = Punctuated<syn::Meta, syn::Token![,]>;

/// Returns `true` if attributes restrict an item to test builds.
///
/// A predicate that never holds does not count as test code: one edit would compile what it hides.
pub(crate) fn is_test(attrs: &[syn::Attribute]) -> bool {
    is_test_or_feature(attrs, &[])
}

/// Returns `true` if attributes restrict an item to test builds or to one of the features.
pub(crate) fn is_test_or_feature(attrs: &[syn::Attribute], features: &[String]) -> bool {
    attrs.iter().any(|attr| match &attr.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => {
            list.parse_args::<syn::Meta>().is_ok_and(|predicate| {
                let can_hold = |test: bool| outcomes(&predicate, CfgValues { test, features }).can_hold;
                !can_hold(false) && can_hold(true)
            })
        }
        _ => false,
    })
}

/// Returns the attributes that a `cfg_attr` adds, including those of nested ones.
pub(crate) fn attr_metas(list: &syn::MetaList) -> Vec<syn::Meta> {
    let mut found = Vec::new();
    let mut stack = vec![list.tokens.clone()];
    while let Some(tokens) = stack.pop() {
        let all = syn::parse::Parser::parse2(Metas::parse_terminated, tokens);
        for meta in all.into_iter().flat_map(|metas| metas.into_iter().skip(1)) {
            match meta {
                syn::Meta::List(inner) if inner.path.is_ident("cfg_attr") => stack.push(inner.tokens),
                other => found.push(other),
            }
        }
    }
    found
}

/// The options that are fixed during an evaluation. Every other option may be on or off.
#[derive(Clone, Copy)]
struct CfgValues<'a> {
    test: bool,
    /// Features that are on exactly when `test` is.
    features: &'a [String],
}

/// The values that a predicate can have.
struct Outcomes {
    can_hold: bool,
    can_fail: bool,
}

fn outcomes(predicate: &syn::Meta, world: CfgValues<'_>) -> Outcomes {
    let fixed = match predicate {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::NameValue(pair) => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => {
                pair.path.is_ident("feature") && world.features.contains(&text.value())
            }
            _ => false,
        },
        syn::Meta::List(list) => {
            let inner = list.parse_args_with(Metas::parse_terminated);
            let parts: Vec<Outcomes> = inner.iter().flatten().map(|part| outcomes(part, world)).collect();
            let (mut hold, mut fail) =
                (parts.iter().map(|one| one.can_hold), parts.iter().map(|one| one.can_fail));
            if list.path.is_ident("all") {
                return Outcomes { can_hold: hold.all(|one| one), can_fail: fail.any(|one| one) };
            } else if list.path.is_ident("any") {
                return Outcomes { can_hold: hold.any(|one| one), can_fail: fail.all(|one| one) };
            } else if list.path.is_ident("not") {
                return Outcomes { can_hold: fail.any(|one| one), can_fail: hold.any(|one| one) };
            }
            false
        }
    };
    Outcomes { can_hold: !fixed || world.test, can_fail: !fixed || !world.test }
}
