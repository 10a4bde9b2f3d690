//! E01: the result of an open that may name a race is handed on, or the race is named.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::Visit;

use super::Checker;
use super::walk::Branches;
use crate::Rule;
use crate::config::Race;
use crate::resolve::{Ns, RTy, What};
use crate::ty::{Name, Path, bare, name};

/// A call whose result may name a race.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    span: Span,
    method: String,
}

/// Methods that keep the result as it is, or only change what is in it.
const KEEPS: &[&str] = &[
    "map",
    "and_then",
    "as_ref",
    "as_mut",
    "inspect",
    "inspect_err",
    "context",
    "with_context",
    "copied",
    "cloned",
    "as_deref",
    "and",
];
/// Methods after which the error is gone.
const DROPS: &[&str] = &[
    "unwrap",
    "expect",
    "ok",
    "unwrap_or",
    "unwrap_or_default",
    "is_ok",
    "is_err",
    "is_ok_and",
    "map_or",
    "unwrap_unchecked",
    "iter",
    "into_iter",
    "or",
];
/// Methods that get the error in a closure.
const CLOSURES: &[&str] = &["map_err", "unwrap_or_else", "or_else", "map_or_else", "is_err_and"];
/// Types that are what is in them.
const TRANSPARENT: &[&str] = &["Box", "Rc", "Arc", "Cow", "Ref", "RefMut", "ManuallyDrop", "MutexGuard"];

impl Checker<'_> {
    /// Whether rule E01 is asked here.
    pub(super) const fn race_applies(&self) -> bool {
        self.applies.race && self.config.race.is_some()
    }

    fn race(&self) -> Option<&Race> {
        if self.applies.race { self.config.race.as_ref() } else { None }
    }

    /// The call behind an expression, where its result may name a race.
    pub(super) fn race_call(&self, expr: &syn::Expr) -> Option<Call> {
        let race = self.race()?;
        match expr {
            syn::Expr::Paren(one) => self.race_call(&one.expr),
            syn::Expr::Group(one) => self.race_call(&one.expr),
            syn::Expr::Reference(one) => self.race_call(&one.expr),
            syn::Expr::Await(one) => self.race_call(&one.base),
            syn::Expr::Block(one) => tail_of(&one.block).and_then(|tail| self.race_call(tail)),
            syn::Expr::Unsafe(one) => tail_of(&one.block).and_then(|tail| self.race_call(tail)),
            syn::Expr::Path(one) => {
                let ident = one.path.get_ident()?;
                self.local(&bare(ident))?.race.clone()
            }
            syn::Expr::MethodCall(one) => {
                let method = bare(&one.method);
                if race.unique_methods.contains(&method)
                    || race.methods.contains(&method) && self.is_race(&self.type_of(&one.receiver))
                {
                    return Some(Call { span: expr.span(), method });
                }
                if KEEPS.contains(&method.as_str()) { self.race_call(&one.receiver) } else { None }
            }
            syn::Expr::Call(one) => {
                let syn::Expr::Path(path) = &*one.func else { return None };
                let written = Path::with_self(&path.path, path.qself.as_ref());
                let method = written.segs.last().map(|seg| seg.name.to_string())?;
                if race.unique_methods.contains(&method) && written.segs.len() > 1 {
                    return Some(Call { span: expr.span(), method });
                }
                if !race.methods.contains(&method) {
                    return None;
                }
                let res = self.resolve(&written, Ns::Value);
                let (What::Type(own) | What::Qualified { own, .. }) = &res.what else { return None };
                (res.used < written.segs.len() && self.is_race(own))
                    .then(|| Call { span: expr.span(), method })
            }
            _ => None,
        }
    }

    fn is_race(&self, ty: &RTy) -> bool {
        match ty {
            RTy::Own { place, .. } => self.resolver.inventory.race.contains(place),
            RTy::Ref(inner) => self.is_race(inner),
            RTy::Far { args, .. } => {
                ty.far_name().is_some_and(|name| TRANSPARENT.contains(&name))
                    && args.iter().any(|arg| self.is_race(arg))
            }
            _ => false,
        }
    }

    /// The type of an expression, as far as what stands here tells.
    pub(super) fn type_of(&self, expr: &syn::Expr) -> RTy {
        if self.race().is_none() {
            return RTy::Infer;
        }
        match expr {
            syn::Expr::Paren(one) => self.type_of(&one.expr),
            syn::Expr::Group(one) => self.type_of(&one.expr),
            syn::Expr::Reference(one) => self.type_of(&one.expr),
            syn::Expr::Try(one) => taken_out(&self.type_of(&one.expr)),
            syn::Expr::Await(one) => self.type_of(&one.base),
            syn::Expr::Unary(one) => self.type_of(&one.expr),
            syn::Expr::Path(one) => one
                .path
                .get_ident()
                .and_then(|ident| self.local(&bare(ident)))
                .map_or(RTy::Infer, |local| local.ty.clone()),
            syn::Expr::Field(one) => self.field_type(one),
            syn::Expr::MethodCall(one) => {
                let method = bare(&one.method);
                let same = matches!(
                    method.as_str(),
                    "unwrap"
                        | "expect"
                        | "clone"
                        | "as_ref"
                        | "as_mut"
                        | "borrow"
                        | "borrow_mut"
                        | "to_owned"
                        | "map_err"
                        | "context"
                        | "with_context"
                        | "unwrap_or_else"
                        | "deref"
                );
                let within = matches!(
                    method.as_str(),
                    "get"
                        | "get_mut"
                        | "first"
                        | "last"
                        | "pop"
                        | "next"
                        | "remove"
                        | "swap_remove"
                        | "take"
                        | "iter"
                );
                let out = matches!(method.as_str(), "unwrap" | "expect" | "unwrap_or_else");
                if out {
                    taken_out(&self.type_of(&one.receiver))
                } else if same {
                    self.type_of(&one.receiver)
                } else if within {
                    inside(self.type_of(&one.receiver))
                } else {
                    RTy::Infer
                }
            }
            syn::Expr::Index(one) => inside(self.type_of(&one.expr)),
            syn::Expr::Call(one) => {
                let syn::Expr::Path(path) = &*one.func else { return RTy::Infer };
                let written = Path::with_self(&path.path, path.qself.as_ref());
                let res = self.resolve(&written, Ns::Value);
                match res.what {
                    // `T::create(..)` gives a T, or a T that can fail.
                    What::Type(own) if res.used < written.segs.len() && self.is_race(&own) => {
                        let method = written.segs.last().map(|seg| seg.name.to_string()).unwrap_or_default();
                        if self.race().is_some_and(|race| race.methods.contains(&method)) {
                            RTy::Infer
                        } else {
                            own
                        }
                    }
                    // `Arc::new(p)`.
                    What::Far(_) | What::Nothing | What::Type(_)
                        if written.segs.last().is_some_and(|seg| &*seg.name == "new") =>
                    {
                        one.args.first().map_or(RTy::Infer, |arg| self.type_of(arg))
                    }
                    _ => RTy::Infer,
                }
            }
            _ => RTy::Infer,
        }
    }

    fn field_type(&self, one: &syn::ExprField) -> RTy {
        let mut base = self.type_of(&one.base);
        loop {
            base = match base {
                RTy::Ref(inner) => *inner,
                RTy::Far { ref args, .. }
                    if base.far_name().is_some_and(|name| TRANSPARENT.contains(&name)) =>
                {
                    args.first().cloned().unwrap_or(RTy::Unknown)
                }
                other => {
                    base = other;
                    break;
                }
            };
        }
        let RTy::Own { place, .. } = base else { return RTy::Infer };
        let member = match &one.member {
            syn::Member::Named(ident) => name(ident),
            syn::Member::Unnamed(index) => Name::from(index.index.to_string()),
        };
        self.field_of(&place, &member).unwrap_or(RTy::Infer)
    }

    /// The type of what a loop, or `get` and its kin, takes out of a collection.
    pub(super) fn element_of(&self, expr: &syn::Expr) -> RTy {
        if self.race().is_none() {
            return RTy::Unknown;
        }
        let mut expr = expr;
        loop {
            expr = match expr {
                syn::Expr::Paren(one) => &one.expr,
                syn::Expr::Reference(one) => &one.expr,
                syn::Expr::MethodCall(one)
                    if one.args.is_empty()
                        && ["iter", "iter_mut", "into_iter", "values", "drain"]
                            .iter()
                            .any(|name| one.method == name) =>
                {
                    &one.receiver
                }
                _ => break,
            };
        }
        inside(self.type_of(expr))
    }

    fn dropped(&mut self, call: &Call, how: &str, route: &'static str) {
        let message = format!("`{}` may name a race, and {how} drops it", call.method);
        self.report(Rule::E01, route, call.span, None, message);
    }

    /// `.unwrap()` and its kin on the result.
    pub(super) fn race_method(&mut self, one: &syn::ExprMethodCall) {
        if self.race().is_none() {
            return;
        }
        let method = bare(&one.method);
        let drops = DROPS.contains(&method.as_str());
        let by_closure = CLOSURES.contains(&method.as_str()) && one.args.first().is_some_and(ignored);
        if (drops || by_closure)
            && let Some(call) = self.race_call(&one.receiver)
        {
            let route = if drops { "method" } else { "closure" };
            self.dropped(&call, &format!("`{method}`"), route);
        }
    }

    /// A call as a statement.
    pub(super) fn race_statement(&mut self, expr: &syn::Expr) {
        if matches!(expr, syn::Expr::Path(_)) {
            return;
        }
        if let Some(call) = self.race_call(expr) {
            self.dropped(&call, "a statement", "statement");
        }
    }

    /// `for x in call`: an error is no turn of the loop.
    pub(super) fn race_loop(&mut self, expr: &syn::Expr) {
        if let Some(call) = self.race_call(expr) {
            self.dropped(&call, "a loop", "loop");
        }
    }

    /// `_ = call`.
    pub(super) fn race_dropped(&mut self, expr: &syn::Expr) {
        if let Some(call) = self.race_call(expr) {
            self.dropped(&call, "`_ =`", "let-underscore");
        }
    }

    /// `let _ = call` and `let Ok(..) = call else { .. }`.
    pub(super) fn race_binding(&mut self, pat: &syn::Pat, init: &syn::LocalInit) {
        if self.race().is_none() {
            return;
        }
        let Some(call) = self.race_call(&init.expr) else { return };
        let mut pat = pat;
        while let syn::Pat::Type(typed) = pat {
            pat = &typed.pat;
        }
        match pat {
            syn::Pat::Wild(_) => self.dropped(&call, "`let _`", "let-underscore"),
            _ if init.diverge.is_some() && is_ok(pat) => self.dropped(&call, "`let … else`", "let-else"),
            _ => {}
        }
    }

    /// `drop(call)`.
    pub(super) fn race_drop_call(&mut self, one: &syn::ExprCall) {
        if self.race().is_none() {
            return;
        }
        let syn::Expr::Path(path) = &*one.func else { return };
        self.race_result_function(path, &one.args);
        let drops = path.path.segments.last().is_some_and(|seg| seg.ident == "drop" || seg.ident == "forget");
        if drops
            && one.args.len() == 1
            && let Some(call) = one.args.first().and_then(|arg| self.race_call(arg))
        {
            self.dropped(&call, "`drop`", "drop");
        }
    }

    /// `Result::ok(call)`: a method under the name of its type.
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
        let drops = DROPS.contains(&method.as_str());
        let by_closure = CLOSURES.contains(&method.as_str()) && args.iter().nth(1).is_some_and(ignored);
        if (drops || by_closure)
            && let Some(call) = args.first().and_then(|arg| self.race_call(arg))
        {
            self.dropped(&call, &format!("`Result::{method}`"), "function");
        }
    }

    /// `matches!(call, Ok(_))`.
    pub(super) fn race_matches(&mut self, value: &syn::Expr, pat: &syn::Pat, guard: Option<&syn::Expr>) {
        let Some(race) = self.race() else { return };
        let names = race.names.clone();
        let mut mentions = Mentions::of(&names);
        mentions.visit_pat(pat);
        if let Some(guard) = guard {
            mentions.visit_expr(guard);
        }
        if !mentions.found
            && let Some(call) = self.race_call(value)
        {
            self.dropped(&call, "`matches!`", "matches");
        }
    }

    /// `if let` and `while let`, alone or in a chain.
    pub(super) fn race_condition(&mut self, cond: &syn::Expr, branches: &Branches<'_>) {
        let Some(race) = self.race() else { return };
        let names = race.names.clone();
        let mut lets = Vec::new();
        collect_lets(cond, &mut lets);
        for one in lets {
            let Some(call) = self.race_call(&one.expr) else { continue };
            let mut mentions = Mentions::of(&names);
            mentions.visit_expr(cond);
            let mut rest = branches.otherwise;
            while let Some(syn::Expr::If(next)) = rest {
                mentions.visit_expr(&next.cond);
                rest = next.else_branch.as_ref().map(|(_, last)| &**last);
            }
            if mentions.found {
                continue;
            }
            match error_binding(&one.pat) {
                Binding::Named(error) => {
                    let mut used = Mentions::of(std::slice::from_ref(&error));
                    if let Some(then) = branches.then {
                        used.visit_block(then);
                    }
                    // A condition beside it counts as well, as in `if let Err(e) = r && e.is_race()`.
                    if let syn::Expr::Binary(chain) = cond {
                        used.visit_expr(&chain.right);
                    }
                    if !used.found {
                        self.dropped(&call, "`if let Err`", "if-let");
                    }
                }
                Binding::Dropped | Binding::None => self.dropped(&call, "`if let`", "if-let"),
                Binding::Other => {}
            }
        }
    }

    /// `match` with an arm that lets the error go.
    pub(super) fn race_match(&mut self, one: &syn::ExprMatch) {
        let Some(race) = self.race() else { return };
        let names = race.names.clone();
        let Some(call) = self.race_call(&one.expr) else { return };
        let mut mentions = Mentions::of(&names);
        for arm in &one.arms {
            mentions.visit_pat(&arm.pat);
        }
        if mentions.found {
            return;
        }
        let lost = one.arms.iter().any(|arm| {
            let pat = match &arm.pat {
                syn::Pat::Guard(guarded) => &*guarded.pat,
                other => other,
            };
            let cases: Vec<&syn::Pat> = match pat {
                syn::Pat::Or(or) => or.cases.iter().collect(),
                other => vec![other],
            };
            cases.into_iter().any(|case| match error_binding(case) {
                Binding::Dropped => true,
                Binding::Named(error) => {
                    let mut used = Mentions::of(std::slice::from_ref(&error));
                    used.visit_expr(&arm.body);
                    if let syn::Pat::Guard(guarded) = &arm.pat {
                        used.visit_expr(&guarded.guard);
                    }
                    !used.found
                }
                Binding::None | Binding::Other => false,
            })
        });
        if lost {
            self.dropped(&call, "an arm of `match`", "match");
        }
    }
}

/// The value of a block that has nothing else in it.
fn tail_of(block: &syn::Block) -> Option<&syn::Expr> {
    match block.stmts.as_slice() {
        [syn::Stmt::Expr(tail, None)] => Some(tail),
        _ => None,
    }
}

/// What `Some(..)` or `Ok(..)` takes out of a value of this type.
pub(super) fn taken_out(ty: &RTy) -> RTy {
    match ty.far_name() {
        Some("Option" | "Result") => inside(ty.clone()),
        _ if matches!(ty, RTy::Ref(_)) => inside(ty.clone()),
        _ => ty.clone(),
    }
}

/// What a collection, or something that may be there, holds.
fn inside(ty: RTy) -> RTy {
    match ty {
        RTy::Ref(inner) => inside(*inner),
        RTy::Array(inner) => *inner,
        RTy::Far { ref args, .. } => match ty.far_name() {
            Some("Vec" | "VecDeque" | "Option" | "Result" | "HashSet" | "BTreeSet" | "SmallVec") => {
                args.first().cloned().unwrap_or(RTy::Unknown)
            }
            Some("HashMap" | "BTreeMap" | "IndexMap") => args.get(1).cloned().unwrap_or(RTy::Unknown),
            Some(name) if TRANSPARENT.contains(&name) => args.first().cloned().map_or(RTy::Unknown, inside),
            _ => ty,
        },
        other => other,
    }
}

/// What a pattern does with the error.
enum Binding {
    /// `Ok(..)` alone: the error is not looked at here.
    None,
    /// `Err(_)`, `_`: it is let go.
    Dropped,
    /// `Err(e)`, or a name for the whole.
    Named(String),
    /// Something else that looks at it.
    Other,
}

fn error_binding(pat: &syn::Pat) -> Binding {
    match pat {
        syn::Pat::Wild(_) => Binding::Dropped,
        syn::Pat::Paren(one) => error_binding(&one.pat),
        syn::Pat::Reference(one) => error_binding(&one.pat),
        syn::Pat::Ident(one) if one.subpat.is_none() => Binding::Named(bare(&one.ident)),
        syn::Pat::TupleStruct(one) => {
            let last = one.path.segments.last().map(|seg| bare(&seg.ident)).unwrap_or_default();
            match (last.as_str(), one.elems.first()) {
                ("Ok", _) => Binding::None,
                ("Err", Some(syn::Pat::Wild(_) | syn::Pat::Rest(_))) => Binding::Dropped,
                ("Err", Some(inner)) => match error_binding(inner) {
                    Binding::Named(error) if error.starts_with('_') && error.len() > 1 => {
                        // A name that says it is not used may still be used.
                        Binding::Named(error)
                    }
                    Binding::Named(error) => Binding::Named(error),
                    _ => Binding::Other,
                },
                _ => Binding::Other,
            }
        }
        _ => Binding::Other,
    }
}

fn is_ok(pat: &syn::Pat) -> bool {
    matches!(pat, syn::Pat::TupleStruct(one) if one.path.segments.last().is_some_and(|seg| seg.ident == "Ok"))
}

fn collect_lets<'e>(cond: &'e syn::Expr, out: &mut Vec<&'e syn::ExprLet>) {
    let mut rest = cond;
    loop {
        match rest {
            syn::Expr::Binary(one) if matches!(one.op, syn::BinOp::And(_)) => {
                if let syn::Expr::Let(found) = &*one.right {
                    out.push(found);
                }
                rest = &one.left;
            }
            syn::Expr::Let(found) => {
                out.push(found);
                return;
            }
            _ => return,
        }
    }
}

/// Whether a function that is handed the error has no use for it.
fn ignored(function: &syn::Expr) -> bool {
    match function {
        syn::Expr::Closure(closure) => ignores(closure),
        syn::Expr::Path(path) => {
            path.path.segments.last().is_some_and(|seg| seg.ident == "drop" || seg.ident == "forget")
        }
        _ => false,
    }
}

/// Whether a closure has no use for its argument.
fn ignores(closure: &syn::ExprClosure) -> bool {
    let Some(first) = closure.inputs.first() else { return true };
    let mut pat = first;
    loop {
        match pat {
            syn::Pat::Wild(_) => return true,
            syn::Pat::Type(typed) => pat = &typed.pat,
            syn::Pat::Ident(ident) => {
                let wanted = bare(&ident.ident);
                let mut used = Mentions::of(std::slice::from_ref(&wanted));
                used.visit_expr(&closure.body);
                return !used.found;
            }
            _ => return false,
        }
    }
}

/// Whether code says one of some names.
struct Mentions<'n> {
    names: &'n [String],
    found: bool,
}

impl<'n> Mentions<'n> {
    const fn of(names: &'n [String]) -> Self {
        Self { names, found: false }
    }

    fn said(&mut self, ident: &proc_macro2::Ident) {
        self.found |= self.names.contains(&bare(ident));
    }

    fn tokens(&mut self, tokens: &TokenStream) {
        let mut stack = vec![tokens.clone()];
        while let Some(stream) = stack.pop() {
            for token in stream {
                match token {
                    TokenTree::Ident(ident) => self.said(&ident),
                    TokenTree::Group(group) => stack.push(group.stream()),
                    // `"{e}"` names it as well.
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
        self.said(ident);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.tokens(&mac.tokens);
    }
}
