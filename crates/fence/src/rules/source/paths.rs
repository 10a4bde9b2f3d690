//! F01, F10 and F12: literals, and uses of functions with listed callers.

use proc_macro2::{Ident, Span};

use crate::LintRule;
use crate::names::callers::is_caller;
use crate::names::inventory::{Owner, Watched};
use crate::names::resolve::{KnownType, Meaning, Namespace, Resolution};
use crate::rules::source::Checker;
use crate::syntax::written::{Path, bare};

impl Checker<'_> {
    /// Checks `T { .. }`, in every spelling of `T`.
    pub(super) fn struct_literal(&mut self, one: &syn::ExprStruct) {
        let path = Path::with_self(&one.path, one.qself.as_ref());
        let res = self.resolve(&path, Namespace::Type);
        let Some(last) = one.path.segments.last() else { return };
        match res.what {
            Meaning::Type(KnownType::Cap(id)) if res.used == path.segs.len() => {
                self.literal(id, if one.rest.is_some() { "update" } else { "braces" }, last.ident.span());
            }
            Meaning::Type(own) if res.used == path.segs.len() => self.grant_literal(&own, last.ident.span()),
            _ => {}
        }
    }

    /// Checks a path in an expression, called or not.
    pub(super) fn value_path(&mut self, qself: Option<&syn::QSelf>, path: &syn::Path) {
        let written = Path::with_self(path, qself);
        let res = self.resolve(&written, Namespace::Value);
        let idents: Vec<&Ident> = path.segments.iter().map(|seg| &seg.ident).collect();
        self.watched_path(&res, &idents);
        let Some(last) = idents.last().map(|ident| ident.span()) else { return };
        let whole = res.used == written.segs.len();
        match res.what {
            Meaning::Type(KnownType::Cap(id)) if whole => self.literal(id, "value", last),
            Meaning::Type(own) if whole => self.grant_literal(&own, last),
            _ => {}
        }
    }

    /// Reports a literal of the type, or in a capability crate requires the grant.
    fn literal(&mut self, id: usize, route: &'static str, span: Span) {
        if self.dependent {
            let message = format!("a literal makes a `{}`", self.inventory.name(id));
            self.report(LintRule::F01, route, span, Some(id), message);
        }
        self.needs_grant(id, span);
    }

    /// F12: checks a path to a watched function. `idents` are the names of the path.
    pub(super) fn watched_path(&mut self, res: &Resolution, idents: &[&Ident]) {
        let (owner, function) = match &res.what {
            Meaning::Type(own) => {
                let Some(place) = self.inventory.place_of(own) else { return };
                (Owner::Type(place), idents.get(res.used))
            }
            Meaning::Value { module, .. } => {
                let Some(info) = self.world.modules.get(*module) else { return };
                (Owner::Module(info.file, info.table), idents.last())
            }
            _ => return,
        };
        let Some(function) = function else { return };
        // An import may have renamed the function.
        let name = match &res.what {
            Meaning::Value { name, .. } => name.to_string(),
            _ => bare(function),
        };
        self.watched_use(&name, function.span(), "path", |watched| {
            watched.owner == owner && watched.functions.contains(name.as_str())
        });
    }

    /// F12: checks a method call by the method's name, in packages that see the owner.
    pub(super) fn watched_method(&mut self, method: &Ident) {
        let name = bare(method);
        self.watched_use(&name, method.span(), "method", |watched| watched.methods.contains(name.as_str()));
    }

    fn watched_use(
        &mut self,
        name: &str,
        span: Span,
        route: &'static str,
        matches: impl Fn(&Watched) -> bool,
    ) {
        let Some(watched) = self.watched.iter().find(|watched| matches(watched)).copied() else { return };
        let item = self.item_path();
        if !is_caller(&item, &watched.callers) {
            let message = format!("`{item}` is not a listed caller of `{}::{name}`", watched.shown);
            self.report(LintRule::F12, route, span, None, message);
        }
    }
}
