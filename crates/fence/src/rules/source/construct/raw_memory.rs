//! F04: unsafe code that makes a capability from bytes or pointers.

use proc_macro2::Span;
use syn::visit::Visit;

use crate::LintRule;
use crate::names::resolve::{KnownType, Meaning, Namespace};
use crate::rules::source::Checker;
use crate::rules::source::construct::literal::last_span;
use crate::syntax::name_list::NameList;
use crate::syntax::peel::{last_value, plain};
use crate::syntax::written::{Path, WrittenType, bare};

/// Functions that count by name alone.
const ANYWHERE: NameList = NameList(
    "transmute transmute_copy transmute_unchecked zeroed new_zeroed assume_init assume_init_read \
     read_from_bytes pod_read_unaligned must_cast",
);
/// Functions that count in a module or on a type.
const BELOW: &[(&str, NameList)] = &[
    ("mem", NameList("uninitialized")),
    ("MaybeUninit", NameList("uninit")),
    (
        "ptr",
        NameList(
            "read read_unaligned read_volatile null null_mut dangling dangling_mut without_provenance \
             without_provenance_mut with_exposed_provenance with_exposed_provenance_mut \
             slice_from_raw_parts slice_from_raw_parts_mut replace copy copy_nonoverlapping",
        ),
    ),
    (
        "Box",
        NameList(
            "from_raw from_raw_in from_non_null new_uninit new_zeroed new_uninit_slice new_zeroed_slice",
        ),
    ),
    ("ManuallyDrop", NameList("take")),
    ("Rc", NameList("from_raw new_uninit new_zeroed new_uninit_slice new_zeroed_slice")),
    ("Arc", NameList("from_raw new_uninit new_zeroed new_uninit_slice new_zeroed_slice")),
    ("Weak", NameList("from_raw")),
    ("Vec", NameList("from_raw_parts from_raw_parts_in")),
    ("NonNull", NameList("new new_unchecked dangling from_raw_parts")),
    ("slice", NameList("from_raw_parts from_raw_parts_mut")),
    ("bytemuck", NameList("cast cast_ref cast_mut cast_slice try_cast from_bytes")),
];
/// Methods of a pointer or a `MaybeUninit`.
const METHODS: NameList = NameList("assume_init assume_init_read read read_unaligned read_volatile");

pub(crate) fn is_unsafe_name(name: &str) -> bool {
    ANYWHERE.has(name) || BELOW.iter().any(|(_, names)| names.has(name))
}

pub(crate) fn is_unsafe(before: &str, name: &str) -> bool {
    ANYWHERE.has(name) || BELOW.iter().any(|(owner, names)| *owner == before && names.has(name))
}

impl Checker<'_> {
    pub(crate) fn report_raw_memory(&mut self, route: &'static str, span: Span, id: usize, what: &str) {
        if self.applies.dependent {
            let ty = self.type_name(id);
            self.report(
                LintRule::F04,
                route,
                span,
                Some(id),
                format!("{what} makes a `{ty}` from raw memory"),
            );
        }
    }

    /// Checks `transmute::<X, T>`, which names the type as an argument.
    pub(crate) fn unsafe_function(&mut self, before: &str, name: &str, args: &[KnownType], span: Span) {
        if is_unsafe(before, name)
            && let Some(id) = args.iter().find_map(|arg| self.capability_behind(arg))
        {
            self.report_raw_memory("named", span, id, &format!("`{name}`"));
        }
    }

    /// Checks `MaybeUninit::<T>::zeroed` and similar functions of a known type.
    pub(crate) fn unsafe_path(&mut self, own: &KnownType, function: &proc_macro2::Ident) {
        let name = bare(function);
        let before = own.far_name().unwrap_or_default().to_owned();
        if is_unsafe(&before, &name)
            && let Some(id) = self.capability_in(own)
        {
            self.report_raw_memory("named", function.span(), id, &format!("`{name}`"));
        }
    }

    /// Checks an unsafe call whose value has a known type.
    pub(crate) fn unsafe_wanted(&mut self, before: &str, name: &str, wanted: &KnownType, span: Span) {
        if is_unsafe(before, name)
            && let Some(id) = self.capability_behind(wanted)
        {
            self.report_raw_memory("annotation", span, id, &format!("`{name}`"));
        }
    }

    pub(crate) fn unsafe_method(&mut self, one: &syn::ExprMethodCall, wanted: &KnownType) {
        let name = bare(&one.method);
        let uninit = matches!(name.as_str(), "assume_init" | "assume_init_read");
        if (uninit || reads_a_pointer(one) && METHODS.has(&name))
            && let Some(id) = self.capability_in(wanted)
        {
            self.report_raw_memory("annotation", one.method.span(), id, &format!("`{name}`"));
        }
    }

    pub(crate) fn unsafe_turbofish(&mut self, method: &proc_macro2::Ident, args: &[KnownType]) {
        let name = bare(method);
        if matches!(
            name.as_str(),
            "cast" | "transmute" | "cast_mut" | "assume_init" | "align_to" | "align_to_mut"
        ) && let Some(id) = args.iter().find_map(|arg| self.capability_behind(arg))
        {
            self.report_raw_memory("named", method.span(), id, &format!("`{name}`"));
        }
    }

    /// Checks a cast to a pointer to the type.
    pub(crate) fn cast(&mut self, one: &syn::ExprCast) {
        // A cast to a function pointer has a function as its operand.
        if !matches!(&*one.ty, syn::Type::FnPtr(_))
            && let KnownType::Ptr(inner) = self.ty(&one.ty)
            && let Some(id) = self.capability_behind(&inner)
        {
            let span = self.type_span_of(&one.ty, id);
            self.report_raw_memory("cast", span, id, "a cast to a pointer");
        }
    }

    /// Checks a written type next to its value: `MaybeUninit<T>`, and pointers made by a cast.
    pub(crate) fn annotation(&mut self, ty: &syn::Type, known: &KnownType, value: &syn::Expr) {
        self.uninitialized(ty, known);
        if let KnownType::Ptr(inner) = known
            && !matches!(ty, syn::Type::FnPtr(_))
            && let Some(id) = self.capability_behind(inner)
            && is_cast(value)
        {
            let span = self.type_span_of(ty, id);
            self.report_raw_memory("cast", span, id, "a cast to a pointer");
        }
    }

    pub(crate) fn uninitialized(&mut self, ty: &syn::Type, known: &KnownType) {
        if let Some(id) = self.uninit(known) {
            let span = self.type_span_of(ty, id);
            self.report_raw_memory("uninit", span, id, "`MaybeUninit`");
        }
        if self.is_union(known)
            && let KnownType::Own { args, .. } = known
            && let Some(id) = args.iter().find_map(|arg| self.capability_in(arg))
        {
            let span = self.type_span_of(ty, id);
            self.report_raw_memory("union", span, id, "a union");
        }
    }

    /// Returns the capability inside a `MaybeUninit` at any depth.
    fn uninit(&self, ty: &KnownType) -> Option<usize> {
        if ty.far_name() == Some("MaybeUninit") {
            return self.capability_in(ty);
        }
        ty.parts().iter().find_map(|part| self.uninit(part))
    }

    /// Checks `*p` that has to be a capability or a reference to one, if `p` is a cast.
    pub(crate) fn pointer(&mut self, inner: &syn::Expr, wanted: &KnownType) {
        let inner = plain(inner);
        let span = match inner {
            syn::Expr::Cast(one) if matches!(&*one.ty, syn::Type::Ptr(_)) => one.as_token.span,
            syn::Expr::MethodCall(one) if one.method == "cast" && one.turbofish.is_none() => {
                one.method.span()
            }
            syn::Expr::Call(_) => return self.expect(inner, &KnownType::Ptr(Box::new(wanted.clone())), 0),
            _ => return,
        };
        // A cast that names the type is reported at the cast.
        let named =
            matches!(inner, syn::Expr::Cast(one) if self.capability_behind(&self.ty(&one.ty)).is_some());
        if let (Some(id), false) = (self.capability_in(wanted), named) {
            self.report_raw_memory("cast", span, id, "a cast pointer");
        }
    }

    /// Checks a literal of a generic union with a capability as type argument.
    pub(crate) fn union_literal(&mut self, own: &KnownType, span: Option<Span>) {
        if let (true, KnownType::Own { args, .. }, Some(span)) = (self.is_union(own), own, span)
            && let Some(id) = args.iter().find_map(|arg| self.capability_in(arg))
        {
            self.report_raw_memory("union", span, id, "a union");
        }
    }

    /// Returns the position of the capability's name in a written type.
    pub(crate) fn type_span_of(&self, ty: &syn::Type, id: usize) -> Span {
        let mut finder = Finder { checker: self, id, found: None };
        finder.visit_type(ty);
        finder.found.or_else(|| last_span(ty)).unwrap_or_else(|| syn::spanned::Spanned::span(ty))
    }

    /// Checks unsafe calls without a type, in a function whose return type contains a capability.
    pub(crate) fn unsafe_by_return(&mut self, one: &syn::ExprCall) {
        let Some(id) = self.returned() else { return };
        let syn::Expr::Path(path) = &*one.func else { return };
        let written = Path::with_self(&path.path, path.qself.as_ref());
        let full = match self.resolve(&written, Namespace::Value).what {
            Meaning::Far(full) => full,
            Meaning::Nothing => {
                written.segs.iter().map(|seg| crate::syntax::written::Name::clone(&seg.name)).collect()
            }
            _ => return,
        };
        let (Some(last), Some(seg)) = (full.last(), path.path.segments.last()) else { return };
        let before = full.iter().rev().nth(1).map_or("", |name| &**name);
        let explicit = path.path.segments.iter().any(|seg| {
            let args = self.segment_args(seg);
            args.iter().any(|arg| !matches!(arg, KnownType::Infer))
        });
        if is_unsafe(before, last) && !explicit {
            let name = last.to_string();
            self.report_raw_memory("return", seg.ident.span(), id, &format!("`{name}`"));
        }
    }

    pub(crate) fn unsafe_method_by_return(&mut self, one: &syn::ExprMethodCall) {
        let name = bare(&one.method);
        if one.turbofish.is_none()
            && matches!(name.as_str(), "assume_init" | "assume_init_read")
            && let Some(id) = self.returned()
        {
            self.report_raw_memory("return", one.method.span(), id, &format!("`{name}`"));
        }
    }

    /// Returns the capability in the enclosing function's return type, unless a nearer type applies.
    fn returned(&self) -> Option<usize> {
        if self.other_type > 0 || !self.applies.dependent {
            return None;
        }
        let output = self.fns.last()?.output.clone();
        self.capability_in(&output)
    }

    /// Checks a union that shares its memory with a capability.
    pub(crate) fn held_by_union(&mut self, item: &syn::Item) {
        let syn::Item::Union(one) = item else { return };
        for field in &one.fields.named {
            if Self::skips(&field.attrs) {
                continue;
            }
            let ty = self.ty(&field.ty);
            if let Some(id) = self.capability_in(&ty) {
                let span = self.type_span_of(&field.ty, id);
                self.report_raw_memory("union", span, id, "a union field");
            }
        }
    }

    /// Checks functions and statics that are defined in another language.
    pub(crate) fn foreign(&mut self, one: &syn::ItemForeignMod) {
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
            if let Some(id) = self.capability_behind(&self.ty(ty)) {
                let span = self.type_span_of(ty, id);
                self.report_raw_memory("extern", span, id, "foreign code");
            }
        }
    }
}

/// Returns `true` if `p.read()` may read a pointer. A call on another call is more likely to be
/// `lock().read()`.
fn reads_a_pointer(one: &syn::ExprMethodCall) -> bool {
    one.args.is_empty() && !matches!(&*one.receiver, syn::Expr::MethodCall(_) | syn::Expr::Await(_))
}

/// Returns `true` if a value is a cast, or a call of `cast`.
fn is_cast(value: &syn::Expr) -> bool {
    match plain(value) {
        syn::Expr::Cast(_) => true,
        syn::Expr::MethodCall(call) => call.method == "cast" || call.method == "cast_mut",
        syn::Expr::Unsafe(block) => last_value(&block.block).is_some_and(is_cast),
        _ => false,
    }
}

/// A visitor that finds the name of a capability in a written type.
struct Finder<'f, 'c> {
    checker: &'f Checker<'c>,
    id: usize,
    found: Option<Span>,
}

impl<'ast> Visit<'ast> for Finder<'_, '_> {
    fn visit_type_path(&mut self, one: &'ast syn::TypePath) {
        let written = Path::with_self(&one.path, one.qself.as_ref());
        let ty = WrittenType::Path(written);
        if self.found.is_none()
            && self.checker.resolver.ty(self.checker.scope(), &ty) == KnownType::Cap(self.id)
        {
            self.found = one.path.segments.last().map(|seg| seg.ident.span());
            return;
        }
        syn::visit::visit_type_path(self, one);
    }
}
