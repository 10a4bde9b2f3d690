//! E01: a result that may report a race has to be propagated, or the race has to be named.

use plugward_types::Part;
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::Visit;

use crate::LintRule;
use crate::names::resolve::{Meaning, Namespace};
use crate::rules::source::Checker;
use crate::syntax::is_one_of;
use crate::syntax::peel::{last_name, only_value, referent};
use crate::syntax::written::{Path, bare};

/// A call whose result may report a race.
#[derive(Debug, Clone)]
pub(super) struct RaceCall {
    span: Span,
    method: String,
}

/// Methods that keep the result, or change only its value.
const KEEPS: &str =
    "map and_then as_ref as_mut inspect inspect_err context with_context copied cloned as_deref and";
/// Methods that discard the error.
const DROPS: &str = "unwrap expect ok unwrap_or unwrap_or_default is_ok is_err is_ok_and map_or unwrap_unchecked iter \
                     into_iter or";
/// Methods that pass the error to a closure.
const CLOSURES: &str = "map_err unwrap_or_else or_else map_or_else is_err_and";

impl Checker<'_> {
    /// Returns the call that produces an expression's value, if its result may report a race.
    pub(super) fn race_call(&self, expr: &syn::Expr) -> Option<RaceCall> {
        let race = self.race?;
        let expr = referent(expr);
        let found = |method: String| RaceCall { span: expr.span(), method };
        match expr {
            syn::Expr::If(one) => {
                let then = only_value(&one.then_branch).and_then(|tail| self.race_call(tail));
                let otherwise = || one.else_branch.as_ref().and_then(|(_, last)| self.race_call(last));
                then.or_else(otherwise)
            }
            syn::Expr::Match(one) => one.arms.iter().find_map(|arm| self.race_call(&arm.body)),
            syn::Expr::Await(one) => self.race_call(&one.base),
            syn::Expr::Async(one) => only_value(&one.block).and_then(|tail| self.race_call(tail)),
            syn::Expr::Block(one) => only_value(&one.block).and_then(|tail| self.race_call(tail)),
            syn::Expr::Path(one) => self.local(&bare(one.path.get_ident()?))?.race.clone(),
            syn::Expr::MethodCall(one) => {
                let method = bare(&one.method);
                // A unique method name needs no receiver type.
                if race.unique_methods.contains(&method)
                    || race.methods.contains(&method) && self.is_race(&self.type_of(&one.receiver))
                {
                    return Some(found(method));
                }
                if is_one_of(KEEPS, &method) { self.race_call(&one.receiver) } else { None }
            }
            syn::Expr::Call(one) => {
                let path = match referent(&one.func) {
                    syn::Expr::Path(path) => path,
                    syn::Expr::Closure(closure) => return self.race_call(&closure.body),
                    _ => return None,
                };
                let method = last_name(&path.path);
                let written = Path::with_self(&path.path, path.qself.as_ref());
                let of_race = || match self.resolve(&written, Namespace::Value).what {
                    Meaning::Type(own) => self.is_race(&own),
                    _ => false,
                };
                let unique = race.unique_methods.contains(&method) && written.segs.len() > 1;
                (unique || race.methods.contains(&method) && of_race()).then(|| found(method))
            }
            _ => None,
        }
    }

    /// Records the call behind a local variable, when it is bound to a plain name.
    pub(super) fn hold(&mut self, pat: &syn::Pat, call: Option<RaceCall>) {
        match pat {
            syn::Pat::Type(typed) => self.hold(&typed.pat, call),
            syn::Pat::Ident(ident) => self.record_call(&bare(&ident.ident), call),
            _ => {}
        }
    }

    pub(super) fn record_call(&mut self, name: &str, call: Option<RaceCall>) {
        let own = self.locals.get_mut(self.floor..).unwrap_or_default();
        if let Some(local) = own.iter_mut().rev().find(|local| &*local.name == name) {
            local.race = call;
        }
    }

    pub(super) fn dropped(&mut self, call: &RaceCall, how: &str, route: &'static str) {
        let message = format!("`{}` may report a race, and {how} drops the result", call.method);
        self.report(LintRule::E01, route, call.span, None, message);
    }

    /// Reports `.unwrap()` and similar methods on the result.
    pub(super) fn race_method(&mut self, one: &syn::ExprMethodCall) {
        let method = bare(&one.method);
        if drops(&method, one.args.first())
            && let Some(call) = self.race_call(&one.receiver)
        {
            self.dropped(&call, &format!("`{method}`"), "method");
        }
    }

    /// Reports a call as a statement.
    pub(super) fn race_statement(&mut self, expr: &syn::Expr) {
        if !matches!(expr, syn::Expr::Path(_))
            && let Some(call) = self.race_call(expr)
        {
            self.dropped(&call, "a statement", "statement");
        }
    }

    /// Reports `for x in call`, which skips the loop for an error.
    pub(super) fn race_loop(&mut self, expr: &syn::Expr) {
        if let Some(call) = self.race_call(expr) {
            self.dropped(&call, "a loop", "loop");
        }
    }

    /// Reports `drop(call)`, and `Result::ok(call)`, a method called by its path.
    pub(super) fn race_drop_call(&mut self, one: &syn::ExprCall) {
        let (syn::Expr::Path(path), Some(first)) = (&*one.func, one.args.first()) else { return };
        let method = last_name(&path.path);
        let by_drop = matches!(method.as_str(), "drop" | "forget");
        let owner = path.path.segments.iter().rev().nth(1);
        let of_result = owner.is_some_and(|owner| owner.ident == "Result");
        if (by_drop || of_result && drops(&method, one.args.iter().nth(1)))
            && let Some(call) = self.race_call(first)
        {
            self.dropped(&call, &format!("`{method}`"), "function");
        }
    }
}

/// Returns `true` if a method of a result discards the error, itself or in its closure.
fn drops(method: &str, argument: Option<&syn::Expr>) -> bool {
    is_one_of(DROPS, method)
        || is_one_of(CLOSURES, method)
            && argument.is_some_and(|function| match function {
                syn::Expr::Closure(closure) => {
                    closure.inputs.first().is_none_or(|input| is_ignored(input, &closure.body))
                }
                syn::Expr::Path(path) => matches!(last_name(&path.path).as_str(), "drop" | "forget"),
                _ => false,
            })
}

/// Returns `true` if a closure does not use its argument.
fn is_ignored(pat: &syn::Pat, body: &syn::Expr) -> bool {
    match pat {
        syn::Pat::Wild(_) | syn::Pat::Rest(_) => true,
        syn::Pat::Type(typed) => is_ignored(&typed.pat, body),
        syn::Pat::Ident(ident) => !names_in(&[bare(&ident.ident)], |used| used.visit_expr(body)),
        _ => false,
    }
}

/// A search for one of several names in code.
pub(super) struct Mentions<'n> {
    names: &'n [String],
    found: bool,
}

/// Returns `true` if code mentions one of the names.
pub(super) fn names_in(names: &[String], look: impl FnOnce(&mut Mentions<'_>)) -> bool {
    let mut mentions = Mentions { names, found: false };
    look(&mut mentions);
    mentions.found
}

impl Mentions<'_> {
    fn tokens(&mut self, tokens: &TokenStream) {
        for token in tokens.clone() {
            match token {
                TokenTree::Ident(ident) => self.visit_ident(&ident),
                TokenTree::Group(group) => self.tokens(&group.stream()),
                // A format string such as `"{e}"` mentions a name as well.
                TokenTree::Literal(literal) => {
                    let text = literal.to_string();
                    let inner = text.split('{').skip(1).map(|part| {
                        let end = part.find(|one: char| !one.is_alphanumeric() && one != '_');
                        part.part(..end.unwrap_or(part.len()))
                    });
                    self.found |= inner.into_iter().any(|inner| self.names.iter().any(|name| name == inner));
                }
                TokenTree::Punct(_) => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Mentions<'_> {
    fn visit_ident(&mut self, ident: &'ast proc_macro2::Ident) {
        self.found |= self.names.contains(&bare(ident));
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.tokens(&mac.tokens);
    }
}
