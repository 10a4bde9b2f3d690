//! Generic functions that make a value of a type parameter, for which each caller chooses the type.

use std::collections::BTreeMap;

use syn::visit::Visit;

use crate::rules::source::is_unsafe;
use crate::syntax::name_list::NameList;
use crate::syntax::written::{Name, WrittenType, bare, generic_args, name};

/// Traits whose functions make values. The constructor traits of a capability crate are added to these.
const TRAITS: NameList = NameList(
    "Default From TryFrom FromStr FromIterator Deserialize DeserializeOwned Arbitrary FromBytes \
     FromZeros Zeroable Pod AnyBitPattern",
);

/// A generic function that makes values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Maker {
    /// The type parameters that it returns by value: their position, and the names of their bounds.
    pub(crate) params: Vec<(usize, Vec<Name>)>,
    /// `true` if its body makes values from raw memory.
    pub(crate) unsafely: bool,
}

/// Returns `true` if a bound of this name lets a function make values.
pub(crate) fn makes_by_bound(bound: &str) -> bool {
    TRAITS.has(bound)
}

/// Reads a signature; `None` if it returns no type parameter that it could have made.
pub(super) fn of(sig: &syn::Signature, body: Option<&syn::Block>) -> Option<Maker> {
    if sig.generics.params.is_empty() {
        return None;
    }
    let mut bounds: BTreeMap<Name, Vec<Name>> = BTreeMap::new();
    let mut places = Vec::new();
    for param in sig.generics.type_params() {
        places.push(name(&param.ident));
        add(&WrittenType::Infer, Some(name(&param.ident)), &param.bounds, &mut bounds);
    }
    for predicate in sig.generics.where_clause.iter().flat_map(|clause| &clause.predicates) {
        if let syn::WherePredicate::Type(one) = predicate {
            let of = WrittenType::of(&one.bounded_ty);
            add(&of, None, &one.bounds, &mut bounds);
        }
    }
    for input in &sig.inputs {
        if let syn::FnArg::Typed(typed) = input
            && let syn::Type::ImplTrait(one) = &*typed.ty
        {
            add(&WrittenType::Infer, None, &one.bounds, &mut bounds);
        }
    }
    let output = WrittenType::of_return(&sig.output);
    let handed: Vec<WrittenType> = sig
        .inputs
        .iter()
        .filter_map(|input| match input {
            // `impl Into<P>` is an argument from which a P is made.
            syn::FnArg::Typed(typed) if !matches!(&*typed.ty, syn::Type::ImplTrait(_)) => {
                Some(WrittenType::of(&typed.ty))
            }
            syn::FnArg::Typed(_) | syn::FnArg::Receiver(_) => None,
        })
        .collect();
    let unsafely = body.is_some_and(|body| {
        let mut finder = UnsafeNameFinder(false);
        finder.visit_block(body);
        finder.0
    });
    let params: Vec<(usize, Vec<Name>)> = places
        .iter()
        .enumerate()
        .filter(|(_, param)| by_value(&output, param) && !handed.iter().any(|ty| by_value(ty, param)))
        .map(|(at, param)| (at, bounds.remove(param).unwrap_or_default()))
        .filter(|(_, bounds)| unsafely || !bounds.is_empty())
        .collect();
    (!params.is_empty()).then_some(Maker { params, unsafely })
}

type Bounds = syn::punctuated::Punctuated<syn::TypeParamBound, syn::Token![+]>;

/// Records `P: Trait`, and `X: Into<P>`, which makes a P as well.
fn add(of: &WrittenType, param: Option<Name>, listed: &Bounds, bounds: &mut BTreeMap<Name, Vec<Name>>) {
    let param = param.or_else(|| match of {
        WrittenType::Path(path) if path.segs.len() == 1 => {
            path.segs.first().map(|seg| Name::clone(&seg.name))
        }
        _ => None,
    });
    for bound in listed {
        let syn::TypeParamBound::Trait(one) = bound else { continue };
        let Some(last) = one.path.segments.last() else { continue };
        let bound_name = bare(&last.ident);
        if let Some(param) = &param {
            bounds.entry(Name::clone(param)).or_default().push(Name::from(bound_name.as_str()));
        }
        if bound_name == "Into" || bound_name == "TryInto" {
            let syn::PathArguments::AngleBracketed(args) = &last.arguments else { continue };
            for arg in generic_args(args) {
                if let WrittenType::Path(path) = &arg
                    && let [only] = path.segs.as_slice()
                {
                    bounds.entry(Name::clone(&only.name)).or_default().push(Name::from("From"));
                }
            }
        }
    }
}

/// Returns `true` if a type contains a parameter by value.
fn by_value(ty: &WrittenType, param: &Name) -> bool {
    match ty {
        WrittenType::Path(path) => {
            if path.segs.last().is_some_and(|last| &*last.name == "PhantomData") {
                return false;
            }
            let whole = path.qself.is_none() && path.segs.len() == 1;
            path.segs
                .iter()
                .any(|seg| whole && seg.name == *param || seg.args.iter().any(|arg| by_value(arg, param)))
        }
        WrittenType::Tuple(parts) => parts.iter().any(|part| by_value(part, param)),
        WrittenType::Array(inner) => by_value(inner, param),
        WrittenType::Ref(_) | WrittenType::Ptr(_) | WrittenType::Infer | WrittenType::Other => false,
    }
}

/// Returns `true` if a body uses a name that makes values from raw memory.
struct UnsafeNameFinder(bool);

impl<'ast> Visit<'ast> for UnsafeNameFinder {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let mut names = path.segments.iter().rev().map(|seg| bare(&seg.ident));
        let last = names.next().unwrap_or_default();
        let before = names.next().unwrap_or_default();
        self.0 |= is_unsafe(&before, &last);
        syn::visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.0 |= call.method == "assume_init";
        syn::visit::visit_expr_method_call(self, call);
    }
}
