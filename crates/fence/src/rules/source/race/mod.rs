//! E01: a result that may report a race has to be propagated, or the race has to be named.

mod patterns;

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::Visit;

use crate::LintRule;
use crate::config::RaceConfig;
use crate::names::resolve::{KnownType, Meaning, Namespace};
use crate::rules::source::Checker;
use crate::syntax::name_list::NameList;
use crate::syntax::peel::{last_name, only_value, plain, referent};
use crate::syntax::written::{Path, bare};

/// A call whose result may report a race.
#[derive(Debug, Clone)]
pub(crate) struct RaceCall {
    span: Span,
    method: String,
}

/// Methods that keep the result, or change only its value.
const KEEPS: NameList = NameList(
    "map and_then as_ref as_mut inspect inspect_err context with_context copied cloned as_deref and",
);
/// Methods that discard the error.
const DROPS: NameList = NameList(
    "unwrap expect ok unwrap_or unwrap_or_default is_ok is_err is_ok_and map_or unwrap_unchecked iter \
     into_iter or",
);
/// Methods that pass the error to a closure.
const CLOSURES: NameList = NameList("map_err unwrap_or_else or_else map_or_else is_err_and");

impl Checker<'_> {
    /// Returns `true` if rule E01 applies to this package.
    pub(crate) const fn race_applies(&self) -> bool {
        self.applies.race && self.config.race.is_some()
    }

    fn race(&self) -> Option<&RaceConfig> {
        if self.applies.race { self.config.race.as_ref() } else { None }
    }

    /// Returns the call that produces an expression's value, if its result may report a race.
    pub(crate) fn race_call(&self, expr: &syn::Expr) -> Option<RaceCall> {
        let race = self.race()?;
        let expr = referent(expr);
        match expr {
            syn::Expr::If(one) => {
                let then = only_value(&one.then_branch).and_then(|tail| self.race_call(tail));
                let otherwise = || one.else_branch.as_ref().and_then(|(_, last)| self.race_call(last));
                then.or_else(otherwise)
            }
            syn::Expr::Match(one) => one.arms.iter().find_map(|arm| self.race_call(&arm.body)),
            syn::Expr::Loop(one) => crate::rules::source::types::expected::breaks_of(&one.body)
                .into_iter()
                .find_map(|value| self.race_call(value)),
            syn::Expr::Await(one) => match &*one.base {
                syn::Expr::Async(block) => only_value(&block.block).and_then(|tail| self.race_call(tail)),
                base => self.race_call(base),
            },
            syn::Expr::Block(one) => only_value(&one.block).and_then(|tail| self.race_call(tail)),
            syn::Expr::Unsafe(one) => only_value(&one.block).and_then(|tail| self.race_call(tail)),
            syn::Expr::Path(one) => {
                let ident = one.path.get_ident()?;
                self.local(&bare(ident))?.race.clone()
            }
            syn::Expr::MethodCall(one) => {
                let method = bare(&one.method);
                // A unique method name needs no receiver type.
                if race.unique_methods.contains(&method)
                    || race.methods.contains(&method) && self.is_race(&self.type_of(&one.receiver))
                {
                    return Some(RaceCall { span: expr.span(), method });
                }
                if KEEPS.has(&method) { self.race_call(&one.receiver) } else { None }
            }
            syn::Expr::Call(one) => {
                let path = match plain(&one.func) {
                    syn::Expr::Path(path) => path,
                    syn::Expr::Closure(closure) => return self.race_call(&closure.body),
                    _ => return None,
                };
                if let Some(local) = path.path.get_ident().and_then(|ident| self.local(&bare(ident))) {
                    return local.gives.clone();
                }
                let written = Path::with_self(&path.path, path.qself.as_ref());
                let method = written.segs.last().map(|seg| seg.name.to_string())?;
                if race.unique_methods.contains(&method) && written.segs.len() > 1 {
                    return Some(RaceCall { span: expr.span(), method });
                }
                if !race.methods.contains(&method) {
                    return None;
                }
                self.race_path(path).map(|_| RaceCall { span: expr.span(), method })
            }
            _ => None,
        }
    }

    /// Recognizes `T::open`, called or passed as a function.
    fn race_path(&self, path: &syn::ExprPath) -> Option<RaceCall> {
        let race = self.race()?;
        let written = Path::with_self(&path.path, path.qself.as_ref());
        let method = written.segs.last().map(|seg| seg.name.to_string())?;
        if !race.methods.contains(&method) {
            return None;
        }
        let res = self.resolve(&written, Namespace::Value);
        let (Meaning::Type(own) | Meaning::Qualified { own, .. }) = &res.what else { return None };
        (res.used < written.segs.len() && self.is_race(own)).then(|| RaceCall { span: path.span(), method })
    }

    /// Returns the call that a closure returns, for a first parameter of this type.
    pub(crate) fn race_closure(&mut self, closure: &syn::ExprClosure, given: &KnownType) -> Option<RaceCall> {
        self.race()?;
        let locals = self.locals.len();
        if let Some(first) = closure.inputs.first() {
            self.bind_pattern(first, given);
        }
        let call = self.race_call(&closure.body);
        self.locals.truncate(locals);
        call
    }

    /// Returns the call that a function argument makes for each item.
    fn race_function(&mut self, one: &syn::ExprMethodCall) -> Option<RaceCall> {
        let given = self.function_input(one);
        match one.args.last()? {
            syn::Expr::Closure(closure) => self.race_closure(closure, &given),
            syn::Expr::Path(path) => self.race_path(path),
            _ => None,
        }
    }

    /// Returns the call that produces the items of an iterator.
    fn race_items(&mut self, expr: &syn::Expr) -> Option<RaceCall> {
        self.race()?;
        let mut expr = expr;
        loop {
            match referent(expr) {
                syn::Expr::Array(one) => return one.elems.iter().find_map(|elem| self.race_call(elem)),
                syn::Expr::MethodCall(one) => match bare(&one.method).as_str() {
                    "map" => return self.race_function(one),
                    "iter" | "into_iter" | "rev" | "skip" | "take" | "chain" | "fuse" | "peekable"
                    | "filter" | "inspect" | "by_ref" => expr = &one.receiver,
                    _ => return None,
                },
                _ => return None,
            }
        }
    }

    /// Records the new value of a local variable.
    pub(crate) fn record_call(&mut self, name: &str, call: Option<RaceCall>) {
        let own = self.locals.get_mut(self.floor..).unwrap_or_default();
        if let Some(local) = own.iter_mut().rev().find(|local| &*local.name == name) {
            local.race = call;
        }
    }

    pub(crate) fn is_race(&self, ty: &KnownType) -> bool {
        match ty {
            KnownType::Own { place, .. } => self.inventory.race.contains(place),
            KnownType::Ref(inner) => self.is_race(inner),
            KnownType::Far { args, .. } => {
                crate::rules::source::types::expressions::is_transparent(ty)
                    && args.iter().any(|arg| self.is_race(arg))
            }
            _ => false,
        }
    }

    pub(crate) fn dropped(&mut self, call: &RaceCall, how: &str, route: &'static str) {
        let message = format!("`{}` may report a race, and {how} drops the result", call.method);
        self.report(LintRule::E01, route, call.span, None, message);
    }

    /// Reports `.unwrap()` and similar methods on the result.
    pub(crate) fn race_method(&mut self, one: &syn::ExprMethodCall) {
        if self.race().is_none() {
            return;
        }
        let method = bare(&one.method);
        let drops = DROPS.has(&method);
        let by_closure = CLOSURES.has(&method) && one.args.first().is_some_and(ignored);
        if (drops || by_closure)
            && let Some(call) = self.race_call(&one.receiver)
        {
            let route = if drops { "method" } else { "closure" };
            self.dropped(&call, &format!("`{method}`"), route);
        }
        let lost = match method.as_str() {
            "flatten" => self.race_items(&one.receiver),
            "flat_map" => self.race_function(one),
            "filter_map" if one.args.first().is_some_and(is_result_ok) => self.race_items(&one.receiver),
            _ => None,
        };
        if let Some(call) = lost {
            self.dropped(&call, &format!("`{method}`"), "items");
        }
    }

    /// Reports a call as a statement.
    pub(crate) fn race_statement(&mut self, expr: &syn::Expr) {
        if matches!(expr, syn::Expr::Path(_)) {
            return;
        }
        if let Some(call) = self.race_call(expr) {
            self.dropped(&call, "a statement", "statement");
        }
    }

    /// Reports `for x in call`, which skips the loop for an error.
    pub(crate) fn race_loop(&mut self, expr: &syn::Expr) {
        if let Some(call) = self.race_call(expr) {
            self.dropped(&call, "a loop", "loop");
        }
    }

    /// Reports `drop(call)`.
    pub(crate) fn race_drop_call(&mut self, one: &syn::ExprCall) {
        if self.race().is_none() {
            return;
        }
        let syn::Expr::Path(path) = &*one.func else { return };
        self.race_result_function(path, &one.args);
        let drops = matches!(last_name(&path.path).as_str(), "drop" | "forget");
        if drops
            && one.args.len() == 1
            && let Some(call) = one.args.first().and_then(|arg| self.race_call(arg))
        {
            self.dropped(&call, "`drop`", "drop");
        }
    }

    /// Reports `Result::ok(call)`, a method called by its path.
    fn race_result_function(
        &mut self,
        path: &syn::ExprPath,
        args: &syn::punctuated::Punctuated<syn::Expr, syn::Token![,]>,
    ) {
        let mut names = path.path.segments.iter().rev().map(|seg| bare(&seg.ident));
        let (Some(method), Some(owner)) = (names.next(), names.next()) else { return };
        if owner != "Result" {
            return;
        }
        let drops = DROPS.has(&method);
        let by_closure = CLOSURES.has(&method) && args.iter().nth(1).is_some_and(ignored);
        if (drops || by_closure)
            && let Some(call) = args.first().and_then(|arg| self.race_call(arg))
        {
            self.dropped(&call, &format!("`Result::{method}`"), "function");
        }
    }
}

/// Returns `true` if a function argument ignores the error.
fn ignored(function: &syn::Expr) -> bool {
    match function {
        syn::Expr::Closure(closure) => ignores(closure),
        syn::Expr::Path(path) => {
            matches!(last_name(&path.path).as_str(), "drop" | "forget")
        }
        _ => false,
    }
}

/// Returns `true` if a closure ignores its argument.
fn ignores(closure: &syn::ExprClosure) -> bool {
    let Some(first) = closure.inputs.first() else { return true };
    let mut pat = first;
    loop {
        match pat {
            syn::Pat::Wild(_) | syn::Pat::Rest(_) => return true,
            syn::Pat::Type(typed) => pat = &typed.pat,
            syn::Pat::Ident(ident) => {
                return !names_in(&bare(&ident.ident), |used| used.visit_expr(&closure.body));
            }
            _ => return false,
        }
    }
}

/// A search for one of several names in code.
pub(crate) struct Mentions<'n> {
    names: &'n [String],
    pub(crate) found: bool,
}

/// Returns `true` if code mentions a name.
pub(crate) fn names_in(name: &str, look: impl FnOnce(&mut Mentions<'_>)) -> bool {
    let names = [name.to_owned()];
    let mut mentions = Mentions::of(&names);
    look(&mut mentions);
    mentions.found
}

/// Recognizes `Result::ok` as a function argument.
fn is_result_ok(function: &syn::Expr) -> bool {
    let syn::Expr::Path(path) = function else { return false };
    path.path.segments.last().is_some_and(|seg| seg.ident == "ok")
}

impl<'n> Mentions<'n> {
    pub(crate) const fn of(names: &'n [String]) -> Self {
        Self { names, found: false }
    }

    fn note(&mut self, ident: &proc_macro2::Ident) {
        self.found |= self.names.contains(&bare(ident));
    }

    fn tokens(&mut self, tokens: &TokenStream) {
        let mut stack = vec![tokens.clone()];
        while let Some(stream) = stack.pop() {
            for token in stream {
                match token {
                    TokenTree::Ident(ident) => self.note(&ident),
                    TokenTree::Group(group) => stack.push(group.stream()),
                    // A format string such as `"{e}"` mentions a name as well.
                    TokenTree::Literal(literal) => self.text(&literal.to_string()),
                    TokenTree::Punct(_) => {}
                }
            }
        }
    }

    fn text(&mut self, literal: &str) {
        for part in literal.split('{').skip(1) {
            let end = part.find(|one: char| !one.is_alphanumeric() && one != '_').unwrap_or(part.len());
            let inner = part.get(..end).unwrap_or_default();
            self.found |= self.names.iter().any(|name| name == inner);
        }
    }
}

impl<'ast> Visit<'ast> for Mentions<'_> {
    fn visit_ident(&mut self, ident: &'ast proc_macro2::Ident) {
        self.note(ident);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.tokens(&mac.tokens);
    }
}
