//! F01, F02 and F12: literals, paths to constructors, and paths to functions with listed callers.

use proc_macro2::Span;
use syn::visit::Visit;

use crate::LintRule;
use crate::names::callers::is_caller;
use crate::names::collect::Shape;
use crate::names::inventory::{Origin, Watched};
use crate::names::resolve::{KnownType, Meaning, Namespace, TypeLocation};
use crate::rules::source::Checker;
use crate::rules::source::construct::general::{GeneralConstructor, any, general};
use crate::rules::source::construct::raw_memory::is_unsafe;
use crate::syntax::written::{Name, Path, bare, generic_args};

impl Checker<'_> {
    /// Checks `T { .. }`, in every spelling of `T`.
    pub(crate) fn struct_literal(&mut self, one: &syn::ExprStruct) {
        let path = Path::with_self(&one.path, one.qself.as_ref());
        let res = self.resolve(&path, Namespace::Type);
        let last = one.path.segments.last().map(|seg| seg.ident.span());
        match res.what {
            Meaning::Type(KnownType::Cap(id)) if res.used == path.segs.len() => {
                self.literal(id, if one.rest.is_some() { "update" } else { "braces" }, last);
            }
            Meaning::Type(KnownType::Cap(id)) => self.variant(id, &one.path, res.used, "variant-braces"),
            Meaning::Variant(KnownType::Cap(id)) => self.literal(id, "variant-braces", last),
            Meaning::Type(own) if res.used == path.segs.len() => {
                self.union_literal(&own, last);
                self.grant_literal(&own, last);
                self.check_fields(&own, one);
            }
            Meaning::Qualified { .. }
            | Meaning::Type(_)
            | Meaning::Variant(_)
            | Meaning::Module
            | Meaning::Value { .. }
            | Meaning::Far(_)
            | Meaning::Local
            | Meaning::Nothing => {}
        }
        self.visit_path(&one.path);
        if let Some(own) = &one.qself {
            self.visit_type(&own.ty);
        }
        for field in &one.fields {
            if Self::skips(&field.attrs) {
                continue;
            }
            self.visit_expr(&field.expr);
        }
        if let Some(rest) = &one.rest {
            self.visit_expr(rest);
        }
    }

    /// Reports a literal of the type, and in a capability crate requires the grant.
    fn literal(&mut self, id: usize, route: &'static str, span: Option<Span>) {
        let Some(span) = span else { return };
        self.report_made(LintRule::F01, route, span, Some(id), |ty| format!("a literal makes a `{ty}`"));
        self.needs_grant(id, span);
    }

    fn variant(&mut self, id: usize, path: &syn::Path, used: usize, route: &'static str) {
        let variant = path.segments.iter().nth(used).map(|seg| bare(&seg.ident));
        if !variant.is_some_and(|variant| self.inventory.has_variant(id, &variant)) {
            return;
        }
        let at = used.checked_sub(1).and_then(|at| path.segments.iter().nth(at));
        let span = at.or_else(|| path.segments.last()).map(|seg| seg.ident.span());
        self.literal(id, route, span);
    }

    /// Checks a path in an expression, called or not.
    pub(crate) fn value_path(&mut self, qself: Option<&syn::QSelf>, path: &syn::Path) {
        let written = Path::with_self(path, qself);
        let res = self.resolve(&written, Namespace::Value);
        let last = path.segments.last().map(|seg| seg.ident.span());
        self.watched_path(&res, path);
        match res.what {
            Meaning::Type(KnownType::Cap(id)) if res.used == written.segs.len() => {
                match self.inventory.shape(id) {
                    Some(Shape::Tuple) => self.literal(id, "tuple", last),
                    Some(Shape::Unit) => self.literal(id, "unit", last),
                    Some(Shape::Braced) | None => {}
                }
            }
            Meaning::Type(KnownType::Cap(id)) => {
                let named = type_span(path, qself, res.used);
                self.associated(id, path, res.used, named, None);
            }
            Meaning::Variant(KnownType::Cap(id)) => self.literal(id, "variant", last),
            Meaning::Qualified { own, of_trait, args } => {
                self.qualified(&own, &of_trait, &args, path, qself, res.used);
            }
            Meaning::Type(own) if res.used == written.segs.len() => self.grant_literal(&own, last),
            Meaning::Type(own) => {
                self.general_of(&own, path, res.used);
                self.factory(&own, path, res.used);
            }
            Meaning::Value { module, name } => {
                self.free_function(module, &name, last);
                if let (Some(seg), Some(span)) = (path.segments.last(), last) {
                    let args = self.segment_args(seg);
                    self.function_maker(module, &name, &args, span);
                }
            }
            Meaning::Far(full) => self.far_function(&full, path),
            Meaning::Nothing => {
                let full: Vec<Name> = written.segs.iter().map(|seg| Name::clone(&seg.name)).collect();
                self.far_function(&full, path);
            }
            Meaning::Variant(_) | Meaning::Module | Meaning::Local => {}
        }
    }

    /// Checks `T::f`, which may be a constructor, a general constructor or a variant.
    fn associated(
        &mut self,
        id: usize,
        path: &syn::Path,
        used: usize,
        named: Option<Span>,
        of_trait: Option<&[Name]>,
    ) {
        let Some(function) = path.segments.iter().nth(used).map(|seg| &seg.ident) else { return };
        let name = bare(function);
        let origin = self.inventory.origin(id, &name);
        let route = if of_trait.is_some() { "qualified" } else { "associated" };
        if origin == Some(Origin::Inherent) && of_trait.is_none() {
            self.constructor(id, named, &name, route);
        } else if general(&name).is_some_and(|kind| !matches!(kind, GeneralConstructor::Take)) {
            self.report_general(route, function.span(), Some(id), &name);
        } else if is_unsafe("", &name) {
            self.report_raw_memory("associated", function.span(), id, &format!("`{name}`"));
        } else if origin.is_some() {
            self.constructor(id, named, &name, route);
        } else {
            self.variant(id, path, used, "variant");
        }
    }

    /// F02: reports a constructor.
    pub(crate) fn constructor(&mut self, id: usize, span: Option<Span>, function: &str, route: &'static str) {
        let Some(span) = span else { return };
        self.report_made(LintRule::F02, route, span, Some(id), |ty| {
            format!("`{function}` is a constructor of `{ty}`")
        });
    }

    /// Checks `<T as Trait>::f` and `<X as Into<T>>::into`.
    fn qualified(
        &mut self,
        own: &KnownType,
        of_trait: &[Name],
        args: &[KnownType],
        path: &syn::Path,
        qself: Option<&syn::QSelf>,
        used: usize,
    ) {
        let Some(function) = path.segments.iter().nth(used).map(|seg| &seg.ident) else { return };
        if let KnownType::Cap(id) = own {
            let named = type_span(path, qself, 0);
            self.associated(*id, path, used, named, Some(of_trait));
            return;
        }
        let name = bare(function);
        let kind = general(&name);
        let made = match kind {
            Some(GeneralConstructor::IntoOther | GeneralConstructor::TryIntoOther) => {
                args.first().and_then(any)
            }
            Some(kind) => kind.makes(own),
            None => None,
        };
        self.report_general("qualified", function.span(), made, &name);
        self.unsafe_path(own, function);
    }

    /// Checks `Box::<T>::default`, `MaybeUninit::<T>::zeroed` and similar functions of known types.
    fn general_of(&mut self, own: &KnownType, path: &syn::Path, used: usize) {
        let Some(function) = path.segments.iter().nth(used).map(|seg| &seg.ident) else { return };
        let name = bare(function);
        self.default_of_path(own, &name, function.span());
        // In `<str>::parse::<T>` the type follows the function.
        let asked = path.segments.iter().nth(used).map(|seg| self.segment_args(seg)).unwrap_or_default();
        let made = general(&name).and_then(|kind| {
            let later = || asked.iter().find_map(|arg| kind.makes(arg));
            kind.makes(own).or_else(|| if matches!(kind, GeneralConstructor::Take) { None } else { later() })
        });
        self.report_general("container", function.span(), made, &name);
        self.unsafe_path(own, function);
    }

    /// Checks `Maker::make` of a capability crate, and a generic `Own::make::<T>` of a dependent.
    fn factory(&mut self, own: &KnownType, path: &syn::Path, used: usize) {
        let Some(seg) = path.segments.iter().nth(used) else { return };
        let name = bare(&seg.ident);
        let args = self.segment_args(seg);
        if let KnownType::Own { place, .. } = own {
            let made = self.inventory.factories.get(place).and_then(|all| all.get(name.as_str()));
            self.report_factory("factory", seg.ident.span(), made.copied(), &name);
        }
        self.method_maker(&name, &args, seg.ident.span());
    }

    fn free_function(&mut self, module: usize, name: &Name, span: Option<Span>) {
        let made = self.free_constructor(module, name);
        if let Some(span) = span {
            self.report_factory("free", span, made, name);
        }
    }

    /// Returns the capability type that a free function constructs.
    pub(crate) fn free_constructor(&self, module: usize, name: &Name) -> Option<usize> {
        let world = self.world;
        let here = world.modules.get(module)?;
        self.inventory.free.iter().find_map(|((home, function), id)| {
            let home = world.modules.get(*home)?;
            (function == name && home.file == here.file && home.table == here.table).then_some(*id)
        })
    }

    fn report_factory(&mut self, route: &'static str, span: Span, made: Option<usize>, name: &str) {
        self.report_made(LintRule::F02, route, span, made, |ty| {
            format!("`{name}` returns a `{ty}` and takes none")
        });
    }

    /// Checks a function of a crate that is not scanned, by its type arguments.
    fn far_function(&mut self, full: &[Name], path: &syn::Path) {
        let (Some(last), Some(seg)) = (full.last(), path.segments.last()) else { return };
        let mut args = self.segment_args(seg);
        let before = path.segments.iter().rev().nth(1).map(|seg| self.segment_args(seg)).unwrap_or_default();
        let before_name = full.iter().rev().nth(1).map_or("", |name| &**name).to_owned();
        let own = KnownType::Far { path: vec![Name::from(before_name.as_str())], args: before.clone() };
        self.default_of_path(&own, last, seg.ident.span());
        if let Some(kind) = general(last) {
            let from_trait = matches!(kind, GeneralConstructor::IntoOther | GeneralConstructor::TryIntoOther);
            let mut made = if from_trait {
                before.first().and_then(any)
            } else if before.is_empty() {
                None
            } else {
                kind.makes(&own)
            };
            if made.is_none() && (!matches!(kind, GeneralConstructor::Take) || is_mem_take(full)) {
                made = args.iter().find_map(|arg| kind.makes(arg));
            }
            self.report_general("turbofish", seg.ident.span(), made, last);
        }
        args.extend(before);
        self.unsafe_function(&before_name, last, &args, seg.ident.span());
    }

    pub(crate) fn segment_args(&self, seg: &syn::PathSegment) -> Vec<KnownType> {
        match &seg.arguments {
            syn::PathArguments::AngleBracketed(list) => {
                generic_args(list).iter().map(|arg| self.resolver.ty(self.scope(), arg)).collect()
            }
            syn::PathArguments::None | syn::PathArguments::Parenthesized(_) => Vec::new(),
        }
    }

    /// F12: checks a path to a watched function.
    fn watched_path(&mut self, res: &crate::names::resolve::Resolution, path: &syn::Path) {
        if self.watched.is_empty() {
            return;
        }
        let Some(next) = path.segments.iter().nth(res.used) else {
            if let Meaning::Value { module, name } = &res.what {
                self.watched_free(*module, name, path);
            }
            return;
        };
        if let Meaning::Type(own) | Meaning::Qualified { own, .. } = &res.what {
            self.watched_function(own, &next.ident);
        }
    }

    /// F12: checks a function of a watched type.
    pub(crate) fn watched_function(&mut self, own: &KnownType, function: &proc_macro2::Ident) {
        let Some(place) = self.place_of(own) else { return };
        self.watched_call(&bare(function), function.span(), "path", |watched, name| {
            watched.owner.as_ref() == Some(&place) && watched.functions.contains(name)
        });
    }

    fn watched_free(&mut self, module: usize, name: &Name, path: &syn::Path) {
        let Some(info) = self.world.modules.get(module) else { return };
        let (here, last) = ((info.file, info.table), path.segments.last());
        let Some(span) = last.map(|seg| seg.ident.span()) else { return };
        self.watched_call(name, span, "path", |watched, name| {
            watched.module == Some(here) && watched.functions.contains(name)
        });
    }

    /// F12: checks a method call by the method's name, in packages that see the owner.
    pub(crate) fn watched_method(&mut self, method: &proc_macro2::Ident) {
        self.watched_call(&bare(method), method.span(), "method", |watched, name| {
            watched.methods.contains(name)
        });
    }

    fn watched_call(
        &mut self,
        name: &str,
        span: Span,
        route: &'static str,
        matches: impl Fn(&Watched, &str) -> bool,
    ) {
        let Some(watched) = self.watched.iter().find(|watched| matches(watched, name)).copied() else {
            return;
        };
        let item = self.item_path();
        if !is_caller(&item, &watched.callers) {
            let message = format!("`{item}` is not a listed caller of `{}::{name}`", watched.shown);
            self.report(LintRule::F12, route, span, None, message);
        }
    }

    fn place_of(&self, own: &KnownType) -> Option<TypeLocation> {
        match own {
            KnownType::Own { place, .. } => Some(place.clone()),
            KnownType::Cap(id) => {
                let found = self.inventory.types.get(*id)?;
                let info = self.world.modules.get(found.module)?;
                Some((info.file, info.table, Name::clone(&found.name)))
            }
            _ => None,
        }
    }
}

/// Returns the position of the type's name in a path: in `<T>`, or the segment before the function.
fn type_span(path: &syn::Path, qself: Option<&syn::QSelf>, used: usize) -> Option<Span> {
    if used == 0
        && let Some(own) = qself
    {
        return Some(last_span(&own.ty).unwrap_or_else(|| own.lt_token.span));
    }
    let at = used.checked_sub(1)?;
    path.segments.iter().nth(at).map(|seg| seg.ident.span())
}

/// Returns the position of a written type's last name, inside references, parentheses and pointers.
pub(crate) fn last_span(ty: &syn::Type) -> Option<Span> {
    match ty {
        syn::Type::Path(path) => path.path.segments.last().map(|seg| seg.ident.span()),
        syn::Type::Paren(inner) => last_span(&inner.elem),
        syn::Type::Group(inner) => last_span(&inner.elem),
        syn::Type::Reference(inner) => last_span(&inner.elem),
        syn::Type::Ptr(inner) => last_span(&inner.elem),
        syn::Type::Array(inner) => last_span(&inner.elem),
        syn::Type::Slice(inner) => last_span(&inner.elem),
        _ => None,
    }
}

fn is_mem_take(full: &[Name]) -> bool {
    full.iter().rev().nth(1).is_some_and(|module| &**module == "mem")
}
