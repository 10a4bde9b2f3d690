//! `cfg` predicates: which code is compiled for tests only.

use syn::punctuated::Punctuated;

/// A `cfg` predicate.
enum Predicate {
    Test,
    /// Any other option, such as `feature = "…"`.
    Atom(Option<String>),
    Not(Box<Self>),
    All(Vec<Self>),
    Any(Vec<Self>),
}

/// Returns `true` if attributes restrict an item to test builds.
///
/// A predicate that never holds does not count as test code: one edit would compile what it hides.
pub(crate) fn is_test(attrs: &[syn::Attribute]) -> bool {
    is_test_or_feature(attrs, &[])
}

/// Returns `true` if attributes restrict an item to test builds or to one of the features.
pub(crate) fn is_test_or_feature(attrs: &[syn::Attribute], features: &[String]) -> bool {
    attrs.iter().any(|attr| match &attr.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => predicate_of(list).is_some_and(|p| {
            let off = CfgValues { test: false, features };
            let on = CfgValues { test: true, features };
            !p.can(true, off) && p.can(true, on)
        }),
        _ => false,
    })
}

/// Returns the attributes that a `cfg_attr` adds, including those of nested ones.
pub(crate) fn attr_metas(list: &syn::MetaList) -> Vec<syn::Meta> {
    let mut found = Vec::new();
    let mut stack = vec![list.tokens.clone()];
    while let Some(tokens) = stack.pop() {
        let all =
            syn::parse::Parser::parse2(Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated, tokens);
        for meta in all.map(|metas| metas.into_iter().skip(1).collect::<Vec<_>>()).unwrap_or_default() {
            match meta {
                syn::Meta::List(inner) if inner.path.is_ident("cfg_attr") => stack.push(inner.tokens),
                other => found.push(other),
            }
        }
    }
    found
}

fn predicate_of(list: &syn::MetaList) -> Option<Predicate> {
    let parsed = list.parse_args_with(Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated).ok()?;
    let mut parsed = parsed.into_iter();
    let first = parsed.next()?;
    if parsed.next().is_some() { None } else { predicate(&first) }
}

fn predicate(meta: &syn::Meta) -> Option<Predicate> {
    match meta {
        syn::Meta::Path(path) if path.is_ident("test") => Some(Predicate::Test),
        syn::Meta::Path(_) => Some(Predicate::Atom(None)),
        syn::Meta::NameValue(pair) => {
            let feature = match &pair.value {
                syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. })
                    if pair.path.is_ident("feature") =>
                {
                    Some(text.value())
                }
                _ => None,
            };
            Some(Predicate::Atom(feature))
        }
        syn::Meta::List(list) => {
            let inner = list
                .parse_args_with(Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated)
                .ok()?
                .iter()
                .map(predicate)
                .collect::<Option<Vec<_>>>()?;
            if list.path.is_ident("all") {
                Some(Predicate::All(inner))
            } else if list.path.is_ident("any") {
                Some(Predicate::Any(inner))
            } else if list.path.is_ident("not") {
                inner.into_iter().next().map(|one| Predicate::Not(Box::new(one)))
            } else {
                Some(Predicate::Atom(None))
            }
        }
    }
}

/// The options that are fixed during an evaluation. Every other option may be on or off.
#[derive(Clone, Copy)]
struct CfgValues<'a> {
    test: bool,
    /// Features that are on exactly when `test` is.
    features: &'a [String],
}

impl Predicate {
    /// Returns `true` if the predicate can have this value.
    fn can(&self, value: bool, world: CfgValues<'_>) -> bool {
        match self {
            Self::Test => world.test == value,
            Self::Atom(Some(feature)) if world.features.contains(feature) => world.test == value,
            Self::Atom(_) => true,
            Self::Not(inner) => inner.can(!value, world),
            // `all` is false, and `any` is true, as soon as one part is.
            Self::All(parts) if value => parts.iter().all(|part| part.can(value, world)),
            Self::Any(parts) if !value => parts.iter().all(|part| part.can(value, world)),
            Self::All(parts) | Self::Any(parts) => parts.iter().any(|part| part.can(value, world)),
        }
    }
}
