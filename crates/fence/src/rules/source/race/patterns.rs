//! E01: what patterns do with a result that may report a race, also inside a tuple, an array, or `Some(..)`.

use syn::visit::Visit;

use crate::rules::source::Checker;
use crate::rules::source::race::{Mentions, RaceCall, names_in};
use crate::rules::source::visitor::Branches;
use crate::syntax::peel::{is_success, last_name, referent};
use crate::syntax::written::bare;

/// What a pattern does with the error.
#[derive(Debug, PartialEq, Eq)]
enum ErrorPattern {
    /// `Ok(..)` alone, which does not look at the error.
    None,
    /// `Err(_)`, which discards it.
    Dropped,
    /// `_`, which discards the whole result.
    Wild,
    /// `Err(e)`, or a name for the whole result.
    Named(String),
    /// Another pattern that looks at the error.
    Other,
}

/// One step from a value to a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartStep {
    /// An index in a tuple or an array, and the length.
    At(usize, usize),
    /// The value inside `Some(..)` or `Ok(..)`.
    Within,
}

/// A part of a value that is a result that may report a race.
struct ResultPart {
    steps: Vec<PartStep>,
    call: RaceCall,
}

/// One arm of a `match`.
struct MatchArm<'a> {
    pat: &'a syn::Pat,
    guard: Option<&'a syn::Expr>,
    body: Option<&'a syn::Expr>,
}

impl Checker<'_> {
    /// Returns the calls in a tuple, an array or a wrapper, each with the steps to it.
    fn race_parts(&self, expr: &syn::Expr) -> Vec<ResultPart> {
        let mut out = Vec::new();
        if self.race_applies() {
            self.race_parts_below(expr, &mut Vec::new(), &mut out);
        }
        out
    }

    fn race_parts_below(&self, expr: &syn::Expr, steps: &mut Vec<PartStep>, out: &mut Vec<ResultPart>) {
        if steps.len() > MOST_STEPS {
            return;
        }
        let expr = referent(expr);
        let several: Vec<&syn::Expr> = match expr {
            syn::Expr::Tuple(one) => one.elems.iter().collect(),
            syn::Expr::Array(one) => one.elems.iter().collect(),
            syn::Expr::Call(one) => {
                if let Some(inner) = wrapped(one) {
                    steps.push(PartStep::Within);
                    self.race_parts_below(inner, steps, out);
                    steps.pop();
                    return;
                }
                Vec::new()
            }
            _ => Vec::new(),
        };
        if several.is_empty() {
            if let Some(call) = self.race_call(expr) {
                out.push(ResultPart { steps: steps.clone(), call });
            }
            return;
        }
        for (at, elem) in several.iter().enumerate() {
            steps.push(PartStep::At(at, several.len()));
            self.race_parts_below(elem, steps, out);
            steps.pop();
        }
    }

    /// Reports `let _ = call` and `let Ok(..) = call else { .. }`.
    pub(crate) fn race_binding(&mut self, pat: &syn::Pat, init: &syn::LocalInit) {
        for part in self.race_parts(&init.expr) {
            for case in reached(pat, &part.steps) {
                match error_binding(case) {
                    ErrorPattern::Wild => self.dropped(&part.call, "`let _`", "let-underscore"),
                    ErrorPattern::None if init.diverge.is_some() => {
                        self.dropped(&part.call, "`let … else`", "let-else");
                    }
                    _ => {}
                }
            }
        }
    }

    /// Records the calls behind the names that a pattern binds.
    pub(crate) fn race_names(&mut self, pat: &syn::Pat, value: &syn::Expr) {
        for part in self.race_parts(value) {
            for case in reached(pat, &part.steps) {
                if let syn::Pat::Ident(ident) = case {
                    self.record_call(&bare(&ident.ident), Some(part.call.clone()));
                }
            }
        }
    }

    /// Reports `_ = call`, also in a tuple or an array, and records `r = call`.
    pub(crate) fn race_assigned(&mut self, left: &syn::Expr, right: &syn::Expr) {
        if !self.race_applies() {
            return;
        }
        match (left, right) {
            (syn::Expr::Paren(left), _) => self.race_assigned(&left.expr, right),
            (_, syn::Expr::Paren(right)) => self.race_assigned(left, &right.expr),
            (syn::Expr::Tuple(left), syn::Expr::Tuple(right)) => {
                for (left, right) in left.elems.iter().zip(&right.elems) {
                    self.race_assigned(left, right);
                }
            }
            (syn::Expr::Array(left), syn::Expr::Array(right)) => {
                for (left, right) in left.elems.iter().zip(&right.elems) {
                    self.race_assigned(left, right);
                }
            }
            (syn::Expr::Infer(_), _) => {
                if let Some(call) = self.race_call(right) {
                    self.dropped(&call, "`_ =`", "let-underscore");
                }
            }
            (syn::Expr::Path(path), _) => {
                if let Some(ident) = path.path.get_ident() {
                    let call = self.race_call(right);
                    self.record_call(&bare(ident), call);
                }
            }
            _ => {}
        }
    }

    /// Reports `matches!(call, Ok(_))`.
    pub(crate) fn race_matches(&mut self, value: &syn::Expr, pat: &syn::Pat, guard: Option<&syn::Expr>) {
        let parts = self.race_parts(value);
        if parts.is_empty()
            || self.names_race(|names| {
                names.visit_pat(pat);
                if let Some(guard) = guard {
                    names.visit_expr(guard);
                }
            })
        {
            return;
        }
        for part in parts {
            self.dropped(&part.call, "`matches!`", "matches");
        }
    }

    /// Reports `if let` and `while let`, alone or in a chain.
    pub(crate) fn race_condition(&mut self, cond: &syn::Expr, branches: &Branches<'_>) {
        if !self.race_applies() {
            return;
        }
        let mut lets = Vec::new();
        collect_lets(cond, &mut lets);
        for one in lets {
            let parts = self.race_parts(&one.expr);
            let named = !parts.is_empty()
                && self.names_race(|names| {
                    names.visit_expr(cond);
                    let mut rest = branches.otherwise;
                    while let Some(syn::Expr::If(next)) = rest {
                        names.visit_expr(&next.cond);
                        rest = next.else_branch.as_ref().map(|(_, last)| &**last);
                    }
                });
            if named {
                continue;
            }
            for part in parts {
                let cases = reached(&one.pat, &part.steps);
                // A pattern of another shape looks at nothing.
                let looks = !cases.is_empty()
                    && cases.iter().all(|case| match error_binding(case) {
                        ErrorPattern::Named(error) => {
                            let chain = match cond {
                                syn::Expr::Binary(chain) => Some(&*chain.right),
                                _ => None,
                            };
                            names_in(&error, |used| {
                                if let Some(then) = branches.then {
                                    used.visit_block(then);
                                }
                                // Another condition of the chain counts as well: `if let Err(e) = r &&
                                // e.is_race()`.
                                if let Some(right) = chain {
                                    used.visit_expr(right);
                                }
                            })
                        }
                        ErrorPattern::Other => true,
                        ErrorPattern::None | ErrorPattern::Dropped | ErrorPattern::Wild => false,
                    });
                if !looks {
                    let how = match (branches.then, cases.first()) {
                        (Some(_), Some(syn::Pat::TupleStruct(one))) if matches!(one.path.segments.last(), Some(last) if last.ident == "Err") => {
                            "`if let Err`"
                        }
                        _ => "`if let`",
                    };
                    self.dropped(&part.call, how, "if-let");
                }
            }
        }
    }

    /// Reports a `match` with an arm that discards the error.
    pub(crate) fn race_match(&mut self, one: &syn::ExprMatch) {
        let parts = self.race_parts(&one.expr);
        let all = one.arms.iter();
        let arms: Vec<MatchArm<'_>> = all
            .map(|arm| match &arm.pat {
                syn::Pat::Guard(guarded) => {
                    MatchArm { pat: &guarded.pat, guard: Some(&guarded.guard), body: Some(&arm.body) }
                }
                other => MatchArm { pat: other, guard: None, body: Some(&arm.body) },
            })
            .collect();
        for part in parts {
            let named = self.names_race(|names| one.arms.iter().for_each(|arm| names.visit_pat(&arm.pat)));
            if !named && lost(&arms, &part.steps) {
                self.dropped(&part.call, "an arm of `match`", "match");
            }
        }
    }

    /// Returns `true` if code mentions one of the names of a race.
    fn names_race(&self, look: impl FnOnce(&mut Mentions<'_>)) -> bool {
        let Some(race) = self.config.race.as_ref() else { return false };
        let mut mentions = Mentions::of(&race.names);
        look(&mut mentions);
        mentions.found
    }
}

/// The limit of nested tuples and wrappers that are searched.
const MOST_STEPS: usize = 16;

/// Returns the argument of `Some(..)` or `Ok(..)`.
fn wrapped(one: &syn::ExprCall) -> Option<&syn::Expr> {
    let syn::Expr::Path(path) = &*one.func else { return None };
    is_success(&path.path).then(|| one.args.first()).flatten()
}

/// Returns `true` if the arms discard the error of a part.
///
/// In a tuple, `_` discards nothing if another arm looks at the same part.
fn lost(arms: &[MatchArm<'_>], steps: &[PartStep]) -> bool {
    let (mut dropped, mut wild, mut looked) = (false, false, false);
    for arm in arms {
        for case in reached(arm.pat, steps) {
            match error_binding(case) {
                ErrorPattern::Dropped => dropped = true,
                ErrorPattern::Wild => wild = true,
                ErrorPattern::Named(error) => {
                    let used = names_in(&error, |used| {
                        arm.body.into_iter().chain(arm.guard).for_each(|expr| used.visit_expr(expr));
                    });
                    dropped |= !used;
                    looked |= used;
                }
                ErrorPattern::Other => looked = true,
                ErrorPattern::None => {}
            }
        }
    }
    dropped || wild && (steps.is_empty() || !looked)
}

/// Returns the patterns that a part of a value is matched with, in all alternatives.
fn reached<'p>(pat: &'p syn::Pat, steps: &[PartStep]) -> Vec<&'p syn::Pat> {
    let mut out = Vec::new();
    reach(pat, steps, &mut out);
    out
}

fn reach<'p>(pat: &'p syn::Pat, steps: &[PartStep], out: &mut Vec<&'p syn::Pat>) {
    match (pat, steps) {
        (syn::Pat::Paren(one), _) => reach(&one.pat, steps, out),
        (syn::Pat::Reference(one), _) => reach(&one.pat, steps, out),
        (syn::Pat::Type(one), _) => reach(&one.pat, steps, out),
        (syn::Pat::Or(one), _) => one.cases.iter().for_each(|case| reach(case, steps, out)),
        (_, []) | (syn::Pat::Wild(_) | syn::Pat::Rest(_), _) => out.push(pat),
        // `None` parses as a binding.
        (syn::Pat::Ident(one), _) if one.ident.to_string().starts_with(char::is_uppercase) => {}
        (syn::Pat::Ident(_), _) => out.push(pat),
        (syn::Pat::Tuple(one), [PartStep::At(at, of), rest @ ..]) => {
            if let Some(pat) = element(&one.elems.iter().collect::<Vec<_>>(), *at, *of) {
                reach(pat, rest, out);
            }
        }
        (syn::Pat::Slice(one), [PartStep::At(at, of), rest @ ..]) => {
            if let Some(pat) = element(&one.elems.iter().collect::<Vec<_>>(), *at, *of) {
                reach(pat, rest, out);
            }
        }
        (syn::Pat::TupleStruct(one), [PartStep::Within, rest @ ..]) => {
            if let (true, Some(inner)) = (is_success(&one.path), one.elems.first()) {
                reach(inner, rest, out);
            }
        }
        _ => {}
    }
}

/// Returns the pattern at an index. `..` matches any number of elements.
fn element<'p>(elems: &[&'p syn::Pat], at: usize, of: usize) -> Option<&'p syn::Pat> {
    let Some(rest) = elems.iter().position(|pat| matches!(pat, syn::Pat::Rest(_))) else {
        return elems.get(at).copied();
    };
    let after = elems.len().saturating_sub(rest).saturating_sub(1);
    if at < rest {
        elems.get(at).copied()
    } else if at.saturating_add(after) < of {
        elems.get(rest).copied()
    } else {
        elems.len().checked_sub(of.saturating_sub(at)).and_then(|at| elems.get(at)).copied()
    }
}

fn error_binding(pat: &syn::Pat) -> ErrorPattern {
    match pat {
        syn::Pat::Wild(_) | syn::Pat::Rest(_) => ErrorPattern::Wild,
        syn::Pat::Paren(one) => error_binding(&one.pat),
        syn::Pat::Reference(one) => error_binding(&one.pat),
        syn::Pat::Ident(one) if one.subpat.is_none() => ErrorPattern::Named(bare(&one.ident)),
        syn::Pat::TupleStruct(one) => {
            match (last_name(&one.path).as_str(), one.elems.first()) {
                ("Ok", _) => ErrorPattern::None,
                ("Err", Some(inner)) => match error_binding(inner) {
                    // A name with a leading underscore may still be used.
                    ErrorPattern::Named(error) => ErrorPattern::Named(error),
                    ErrorPattern::Wild => ErrorPattern::Dropped,
                    _ => ErrorPattern::Other,
                },
                _ => ErrorPattern::Other,
            }
        }
        _ => ErrorPattern::Other,
    }
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
