//! The types of receivers for E01, as far as annotations, fields and signatures show them.
//!
//! A wrapper, a collection and their elements all count as the same type: `Vec<T>` where a T is wanted is not code
//! that rustc accepts.

use crate::names::resolve::{KnownType, Meaning, Namespace, Scope};
use crate::rules::source::Checker;
use crate::syntax::is_one_of;
use crate::syntax::peel::{last_name, referent};
use crate::syntax::written::{Path, WrittenType, bare};

/// Methods that return their receiver, the value in it, or elements of it.
const KEEPS_TYPE: &str = "clone as_ref as_mut as_deref as_deref_mut borrow borrow_mut to_owned map_err context \
                          with_context deref deref_mut cloned copied ok inspect inspect_err take by_ref unwrap expect \
                          unwrap_or_else unwrap_or unwrap_or_default get get_mut first last pop next remove \
                          swap_remove pop_front pop_back iter iter_mut into_iter drain values values_mut into_values \
                          skip filter rev fuse peekable step_by take_while skip_while chain cycle enumerate zip lock \
                          read write";
/// The limit of nested expressions through which a type is followed.
const MOST_STEPS: u32 = 64;

impl Checker<'_> {
    /// Returns the type of an expression. Only E01 needs it.
    pub(super) fn type_of(&self, expr: &syn::Expr) -> KnownType {
        if self.race.is_some() { self.type_at(expr, 0) } else { KnownType::Unknown }
    }

    fn type_at(&self, expr: &syn::Expr, steps: u32) -> KnownType {
        if steps > MOST_STEPS {
            return KnownType::Unknown;
        }
        let below = |expr: &syn::Expr| self.type_at(expr, steps.saturating_add(1));
        match referent(expr) {
            syn::Expr::Try(one) => below(&one.expr),
            syn::Expr::Await(one) => below(&one.base),
            syn::Expr::Unary(one) => below(&one.expr),
            syn::Expr::Index(one) => below(&one.expr),
            syn::Expr::Field(one) => {
                let field = match &one.member {
                    syn::Member::Named(ident) => bare(ident),
                    syn::Member::Unnamed(index) => index.index.to_string(),
                };
                self.field_of(&below(&one.base), &field).unwrap_or(KnownType::Unknown)
            }
            syn::Expr::Path(one) => self.type_of_path(one),
            syn::Expr::MethodCall(one) => {
                let receiver = below(&one.receiver);
                let method = bare(&one.method);
                let kept =
                    || if is_one_of(KEEPS_TYPE, &method) { receiver.clone() } else { KnownType::Unknown };
                self.method_output(&receiver, &method).unwrap_or_else(kept)
            }
            syn::Expr::Call(one) => {
                let syn::Expr::Path(path) = &*one.func else { return KnownType::Unknown };
                // `Arc::new(p)` has the type of its argument as far as E01 needs it.
                let wraps = || matches!(last_name(&path.path).as_str(), "new" | "Some" | "Ok" | "from");
                let wrapped = || one.args.first().filter(|_| wraps()).map_or(KnownType::Unknown, below);
                self.call_output(path).unwrap_or_else(wrapped)
            }
            _ => KnownType::Unknown,
        }
    }

    fn type_of_path(&self, one: &syn::ExprPath) -> KnownType {
        if let Some(local) = one.path.get_ident().and_then(|ident| self.local(&bare(ident))) {
            return local.ty.clone();
        }
        let written = Path::with_self(&one.path, one.qself.as_ref());
        match self.resolve(&written, Namespace::Value).what {
            Meaning::Value { module, name } => {
                let ty = self.world.table(module).and_then(|table| table.constants.get(&name));
                ty.map_or(KnownType::Unknown, |ty| self.resolver.ty(Scope::of(module), ty))
            }
            _ => KnownType::Unknown,
        }
    }

    fn call_output(&self, path: &syn::ExprPath) -> Option<KnownType> {
        let written = Path::with_self(&path.path, path.qself.as_ref());
        let res = self.resolve(&written, Namespace::Value);
        match res.what {
            Meaning::Value { module, name } => {
                let sig = self.world.table(module)?.fns.iter().find(|sig| sig.name == name)?;
                Some(self.resolver.ty(Scope::of(module), &sig.output))
            }
            Meaning::Type(own) => self.method_output(&own, &written.segs.get(res.used)?.name),
            _ => None,
        }
    }

    /// Returns the output of a method or associated function whose `impl` is in the module of its type.
    fn method_output(&self, own: &KnownType, method: &str) -> Option<KnownType> {
        let own = workspace_type(own)?;
        let place = self.inventory.place_of(own)?;
        let home = *self.world.homes.get(&(place.0, place.1))?;
        let impls = self.world.table(home)?.impls.iter().filter(|def| {
            matches!(&def.own, WrittenType::Path(path)
                if path.segs.last().is_some_and(|seg| seg.name == place.2))
        });
        let sig = impls.flat_map(|def| &def.fns).find(|sig| *sig.name == *method)?;
        Some(self.resolver.ty(Scope { own: Some(own), ..Scope::of(home) }, &sig.output))
    }

    /// Returns the type of a field, or of a part of a tuple.
    pub(super) fn field_of(&self, ty: &KnownType, field: &str) -> Option<KnownType> {
        match ty {
            KnownType::Ref(inner) => self.field_of(inner, field),
            KnownType::Parts(parts) if parts.len() > 1 => parts.get(field.parse::<usize>().ok()?).cloned(),
            _ => {
                let (file, table, name) = self.inventory.place_of(workspace_type(ty)?)?;
                let home = *self.world.homes.get(&(file, table))?;
                let ty = self.world.table(home)?.fields.get(&name)?.get(field)?;
                Some(self.resolver.ty(Scope::of(home), ty))
            }
        }
    }

    /// Returns `true` for the race type, in any wrapper.
    pub(super) fn is_race(&self, ty: &KnownType) -> bool {
        let own = self.inventory.place_of(ty);
        own.as_ref().is_some_and(|place| self.inventory.race.contains(place))
            || own.is_none() && ty.parts().iter().any(|part| self.is_race(part))
    }
}

/// Returns the type of the workspace in references and wrappers.
fn workspace_type(ty: &KnownType) -> Option<&KnownType> {
    match ty {
        KnownType::Cap(_) | KnownType::Own { .. } => Some(ty),
        _ => ty.parts().iter().find_map(workspace_type),
    }
}
