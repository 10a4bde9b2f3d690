//! F04: unsafe code that makes a value of the type out of bytes or pointers.

use proc_macro2::Span;
use syn::visit::Visit;

use super::Checker;
use super::general::any;
use super::literal::last_span;
use crate::Rule;
use crate::resolve::{Ns, RTy, What};
use crate::ty::{Path, bare};

/// Functions by name alone.
const ANYWHERE: &[&str] = &["transmute", "transmute_copy", "zeroed", "assume_init", "transmute_unchecked"];
/// Functions below a module or on a type.
const BELOW: &[(&str, &str)] = &[
    ("mem", "uninitialized"),
    ("MaybeUninit", "uninit"),
    ("ptr", "read"),
    ("ptr", "read_unaligned"),
    ("ptr", "read_volatile"),
    ("ptr", "null"),
    ("Box", "from_raw"),
    ("Box", "from_raw_in"),
    ("Box", "from_non_null"),
    ("Box", "new_uninit"),
    ("Box", "new_zeroed"),
    ("Rc", "from_raw"),
    ("Rc", "new_uninit"),
    ("Arc", "from_raw"),
    ("Arc", "new_uninit"),
    ("Vec", "from_raw_parts"),
    ("Vec", "from_raw_parts_in"),
    ("NonNull", "new"),
    ("NonNull", "new_unchecked"),
    ("NonNull", "dangling"),
    ("NonNull", "from_raw_parts"),
    ("slice", "from_raw_parts"),
    ("slice", "from_raw_parts_mut"),
];
/// Methods on a pointer or a `MaybeUninit`.
const METHODS: &[&str] = &["assume_init", "assume_init_read", "read", "read_unaligned", "read_volatile"];

pub(super) fn is_unsafe_name(name: &str) -> bool {
    ANYWHERE.contains(&name) || BELOW.iter().any(|(_, known)| *known == name)
}

fn is_unsafe(before: &str, name: &str) -> bool {
    ANYWHERE.contains(&name) || BELOW.contains(&(before, name))
}

/// Gives a capability type that is held, or pointed to.
fn reached(ty: &RTy) -> Option<usize> {
    match ty {
        RTy::Ptr(inner) | RTy::Ref(inner) => any(inner).or_else(|| reached(inner)),
        _ => any(ty),
    }
}

impl Checker<'_> {
    fn unsafely(&mut self, route: &'static str, span: Span, id: usize, what: &str) {
        if self.applies.dependent {
            let ty = self.type_name(id);
            self.report(Rule::F04, route, span, Some(id), format!("{what} makes a `{ty}` out of memory"));
        }
    }

    /// `transmute::<X, T>`: the type stands in the path.
    pub(super) fn unsafe_function(&mut self, before: &str, name: &str, args: &[RTy], span: Span) {
        if is_unsafe(before, name)
            && let Some(id) = args.iter().find_map(reached)
        {
            self.unsafely("named", span, id, &format!("`{name}`"));
        }
    }

    /// `MaybeUninit::<T>::zeroed` and the like on a type that is known.
    pub(super) fn unsafe_path(&mut self, own: &RTy, function: &proc_macro2::Ident) {
        let name = bare(function);
        let before = own.far_name().unwrap_or_default().to_owned();
        if is_unsafe(&before, &name)
            && let Some(id) = any(own)
        {
            self.unsafely("named", function.span(), id, &format!("`{name}`"));
        }
    }

    /// The value of an unsafe call has a written type.
    pub(super) fn unsafe_wanted(&mut self, before: &str, name: &str, wanted: &RTy, span: Span) {
        if is_unsafe(before, name)
            && let Some(id) = any(wanted)
        {
            self.unsafely("annotation", span, id, &format!("`{name}`"));
        }
    }

    pub(super) fn unsafe_method(&mut self, one: &syn::ExprMethodCall, wanted: &RTy) {
        let name = bare(&one.method);
        let uninit = matches!(name.as_str(), "assume_init" | "assume_init_read");
        if (uninit || reads_a_pointer(one) && METHODS.contains(&name.as_str()))
            && let RTy::Cap(id) = wanted
        {
            self.unsafely("annotation", one.method.span(), *id, &format!("`{name}`"));
        }
    }

    pub(super) fn unsafe_turbofish(&mut self, method: &proc_macro2::Ident, args: &[RTy]) {
        let name = bare(method);
        if matches!(name.as_str(), "cast" | "transmute" | "cast_mut" | "assume_init")
            && let Some(id) = args.iter().find_map(reached)
        {
            self.unsafely("named", method.span(), id, &format!("`{name}`"));
        }
    }

    /// A cast to a pointer to the type.
    pub(super) fn cast(&mut self, one: &syn::ExprCast) {
        if let RTy::Ptr(inner) = self.ty(&one.ty)
            && let Some(id) = reached(&inner)
        {
            let span = self.type_span_of(&one.ty, id);
            self.unsafely("cast", span, id, "a cast to a pointer");
        }
    }

    /// Looks at a written type beside its value: `MaybeUninit<T>`, and pointers that are cast.
    pub(super) fn annotation(&mut self, ty: &syn::Type, known: &RTy, value: &syn::Expr) {
        self.uninitialized(ty, known);
        if let RTy::Ptr(inner) = known
            && let Some(id) = any(inner)
            && is_cast(value)
        {
            let span = self.type_span_of(ty, id);
            self.unsafely("cast", span, id, "a cast to a pointer");
        }
    }

    pub(super) fn uninitialized(&mut self, ty: &syn::Type, known: &RTy) {
        if known.far_name() == Some("MaybeUninit")
            && let Some(id) = any(known)
        {
            let span = self.type_span_of(ty, id);
            self.unsafely("uninit", span, id, "`MaybeUninit`");
        }
    }

    /// The place of the capability's own name inside a written type.
    pub(super) fn type_span_of(&self, ty: &syn::Type, id: usize) -> Span {
        let mut finder = Finder { checker: self, id, found: None };
        finder.visit_type(ty);
        finder.found.or_else(|| last_span(ty)).unwrap_or_else(|| syn::spanned::Spanned::span(ty))
    }

    /// Unsafe calls that name no type, in a function whose return type holds one.
    pub(super) fn unsafe_by_return(&mut self, one: &syn::ExprCall) {
        let Some(id) = self.returned() else { return };
        let syn::Expr::Path(path) = &*one.func else { return };
        let written = Path::with_self(&path.path, path.qself.as_ref());
        let full = match self.resolve(&written, Ns::Value).what {
            What::Far(full) => full,
            What::Nothing => written.segs.iter().map(|seg| crate::ty::Name::clone(&seg.name)).collect(),
            _ => return,
        };
        let (Some(last), Some(seg)) = (full.last(), path.path.segments.last()) else { return };
        let before = full.iter().rev().nth(1).map_or("", |name| &**name);
        let explicit = path.path.segments.iter().any(|seg| {
            let args = self.segment_args(seg);
            args.iter().any(|arg| !matches!(arg, RTy::Infer))
        });
        if is_unsafe(before, last) && !explicit {
            let name = last.to_string();
            self.unsafely("return", seg.ident.span(), id, &format!("`{name}`"));
        }
    }

    pub(super) fn unsafe_method_by_return(&mut self, one: &syn::ExprMethodCall) {
        let name = bare(&one.method);
        if one.turbofish.is_none()
            && matches!(name.as_str(), "assume_init" | "assume_init_read")
            && let Some(id) = self.returned()
        {
            self.unsafely("return", one.method.span(), id, &format!("`{name}`"));
        }
    }

    /// The capability that the function around returns, where nothing nearer says another type.
    fn returned(&self) -> Option<usize> {
        if self.other_type > 0 || !self.applies.dependent {
            return None;
        }
        any(&self.fns.last()?.output)
    }

    /// A union that shares its memory with a capability.
    pub(super) fn held_by_union(&mut self, item: &syn::Item) {
        let syn::Item::Union(one) = item else { return };
        for field in &one.fields.named {
            if Self::skips(&field.attrs) {
                continue;
            }
            let ty = self.ty(&field.ty);
            if let Some(id) = any(&ty) {
                let span = self.type_span_of(&field.ty, id);
                self.unsafely("union", span, id, "a union field");
            }
        }
    }

    /// Functions and statics that another language defines.
    pub(super) fn foreign(&mut self, one: &syn::ItemForeignMod) {
        for item in &one.items {
            let ty = match item {
                syn::ForeignItem::Fn(function) if !Self::skips(&function.attrs) => {
                    match &function.sig.output {
                        syn::ReturnType::Type(_, ty) => ty,
                        syn::ReturnType::Default => continue,
                    }
                }
                syn::ForeignItem::Static(value) if !Self::skips(&value.attrs) => &value.ty,
                syn::ForeignItem::Macro(call) if !Self::skips(&call.attrs) => {
                    self.call_of_macro(&call.mac, &call.attrs);
                    continue;
                }
                syn::ForeignItem::Verbatim(tokens) => {
                    self.scan_tokens(tokens);
                    continue;
                }
                syn::ForeignItem::Fn(_)
                | syn::ForeignItem::Static(_)
                | syn::ForeignItem::Type(_)
                | syn::ForeignItem::Macro(_) => continue,
                other => {
                    self.unknown_node(syn::spanned::Spanned::span(other), "foreign item");
                    continue;
                }
            };
            if let Some(id) = any(&self.ty(ty)) {
                let span = self.type_span_of(ty, id);
                self.unsafely("extern", span, id, "foreign code");
            }
        }
    }
}

/// `p.read()` takes nothing where `p` is a pointer, and what it is called on is no guard of a lock.
fn reads_a_pointer(one: &syn::ExprMethodCall) -> bool {
    one.args.is_empty() && !matches!(&*one.receiver, syn::Expr::MethodCall(_) | syn::Expr::Await(_))
}

/// Whether a value is a cast, or a call of `cast`.
fn is_cast(value: &syn::Expr) -> bool {
    match value {
        syn::Expr::Cast(_) => true,
        syn::Expr::Paren(inner) => is_cast(&inner.expr),
        syn::Expr::MethodCall(call) => call.method == "cast" || call.method == "cast_mut",
        syn::Expr::Unsafe(block) => {
            matches!(block.block.stmts.last(), Some(syn::Stmt::Expr(tail, None)) if is_cast(tail))
        }
        _ => false,
    }
}

/// Finds the name of a capability in a written type.
struct Finder<'f, 'c> {
    checker: &'f Checker<'c>,
    id: usize,
    found: Option<Span>,
}

impl<'ast> Visit<'ast> for Finder<'_, '_> {
    fn visit_type_path(&mut self, one: &'ast syn::TypePath) {
        let written = Path::with_self(&one.path, one.qself.as_ref());
        let ty = crate::ty::Ty::Path(written);
        if self.found.is_none() && self.checker.resolver.ty(self.checker.scope(), &ty) == RTy::Cap(self.id) {
            self.found = one.path.segments.last().map(|seg| seg.ident.span());
            return;
        }
        syn::visit::visit_type_path(self, one);
    }
}
