//! Paths and types without spans, small enough to be kept for every file.

use std::sync::Arc;

/// A name without `r#`.
pub(crate) type Name = Arc<str>;

/// One segment of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) name: Name,
    pub(crate) args: Vec<WrittenType>,
}

/// The start of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathStart {
    /// `::a`.
    Colons,
    /// `a`.
    Name,
}

impl PathStart {
    pub(crate) const fn of(colons: Option<&syn::token::PathSep>) -> Self {
        if colons.is_some() { Self::Colons } else { Self::Name }
    }
}

/// A path as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Path {
    pub(crate) leading: PathStart,
    /// The type in `<T as Trait>::f`, and the number of segments that belong to the trait.
    pub(crate) qself: Option<(Box<WrittenType>, usize)>,
    pub(crate) segs: Vec<Segment>,
}

/// A type as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WrittenType {
    Path(Path),
    /// A reference or a pointer. A function pointer is one to its return type.
    Ref(Box<Self>),
    /// A tuple, an array or a slice, or the outputs of an `impl Trait`.
    Parts(Vec<Self>),
    /// Macros and other syntax that contains nothing by value.
    Other,
}

/// Returns an identifier's text without `r#`.
pub(crate) fn bare(ident: &proc_macro2::Ident) -> String {
    let text = ident.to_string();
    match text.strip_prefix("r#") {
        Some(rest) => rest.to_owned(),
        None => text,
    }
}

/// Returns an identifier as a name.
pub(crate) fn name(ident: &proc_macro2::Ident) -> Name {
    Name::from(bare(ident))
}

impl Path {
    pub(crate) fn of(path: &syn::Path) -> Self {
        Self::with_self(path, None)
    }

    pub(crate) fn with_self(path: &syn::Path, qself: Option<&syn::QSelf>) -> Self {
        Self {
            leading: PathStart::of(path.leading_colon.as_ref()),
            qself: qself.map(|own| (Box::new(WrittenType::of(&own.ty)), own.position)),
            segs: path.segments.iter().map(Segment::of).collect(),
        }
    }

    /// Creates a path without type arguments.
    pub(crate) fn plain<'i>(idents: impl IntoIterator<Item = &'i proc_macro2::Ident>) -> Self {
        let segs = idents.into_iter().map(|one| Segment { name: name(one), args: Vec::new() }).collect();
        Self { leading: PathStart::Name, qself: None, segs }
    }
}

impl Segment {
    fn of(segment: &syn::PathSegment) -> Self {
        let args = match &segment.arguments {
            syn::PathArguments::None | syn::PathArguments::Parenthesized(_) => Vec::new(),
            syn::PathArguments::AngleBracketed(list) => generic_args(list),
        };
        Self { name: name(&segment.ident), args }
    }
}

/// Returns the type arguments of `<…>`. Other arguments are skipped.
pub(crate) fn generic_args(list: &syn::AngleBracketedGenericArguments) -> Vec<WrittenType> {
    list.args
        .iter()
        .filter_map(|arg| match arg {
            syn::GenericArgument::Type(ty) => Some(WrittenType::of(ty)),
            syn::GenericArgument::AssocType(assoc) => Some(WrittenType::of(&assoc.ty)),
            _ => None,
        })
        .collect()
}

impl WrittenType {
    pub(crate) fn of(ty: &syn::Type) -> Self {
        match ty {
            syn::Type::Array(array) => Self::Parts(vec![Self::of(&array.elem)]),
            syn::Type::Slice(slice) => Self::Parts(vec![Self::of(&slice.elem)]),
            syn::Type::Group(group) => Self::of(&group.elem),
            syn::Type::Paren(paren) => Self::of(&paren.elem),
            syn::Type::Path(path) => Self::Path(Path::with_self(&path.path, path.qself.as_ref())),
            syn::Type::Ptr(ptr) => Self::Ref(Box::new(Self::of(&ptr.elem))),
            syn::Type::FnPtr(pointer) => Self::Ref(Box::new(Self::of_return(&pointer.output))),
            syn::Type::Reference(reference) => Self::Ref(Box::new(Self::of(&reference.elem))),
            syn::Type::Tuple(tuple) => Self::Parts(tuple.elems.iter().map(Self::of).collect()),
            // `impl Future<Output = T>` produces a T.
            syn::Type::ImplTrait(bounds) => {
                Self::Parts(bounds.bounds.iter().filter_map(bound_output).flatten().collect())
            }
            _ => Self::Other,
        }
    }

    pub(crate) fn of_return(output: &syn::ReturnType) -> Self {
        match output {
            syn::ReturnType::Default => Self::Parts(Vec::new()),
            syn::ReturnType::Type(_, ty) => Self::of(ty),
        }
    }
}

fn bound_output(bound: &syn::TypeParamBound) -> Option<Vec<WrittenType>> {
    let syn::TypeParamBound::Trait(bound) = bound else { return None };
    match &bound.path.segments.last()?.arguments {
        syn::PathArguments::AngleBracketed(list) => Some(generic_args(list)),
        _ => None,
    }
}
