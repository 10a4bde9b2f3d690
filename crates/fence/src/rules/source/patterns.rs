//! E01: what patterns do with a result that may report a race.

use syn::visit::Visit;

use crate::rules::source::Checker;
use crate::rules::source::race::{Mentions, names_in};
use crate::syntax::peel::last_name;
use crate::syntax::written::bare;

/// What a pattern does with the error.
#[derive(Debug, PartialEq, Eq)]
enum ErrorPattern {
    /// `Ok(..)` alone, which does not look at the error.
    None,
    /// `Err(_)`, or `_` for the whole result, which discards the error.
    Dropped,
    /// `Err(e)`, or a name for the whole result.
    Named(String),
    /// Another pattern that looks at the error.
    Other,
}

impl Checker<'_> {
    /// Reports `let _ = call` and `let Ok(..) = call else { .. }`.
    pub(super) fn race_binding(&mut self, pat: &syn::Pat, init: &syn::LocalInit) {
        let Some(call) = self.race_call(&init.expr) else { return };
        match error_pattern(pat) {
            ErrorPattern::Dropped => self.dropped(&call, "`let _`", "let-underscore"),
            ErrorPattern::None if init.diverge.is_some() => self.dropped(&call, "`let … else`", "let-else"),
            _ => {}
        }
    }

    /// Reports `_ = call`, and records `r = call`.
    pub(super) fn race_assigned(&mut self, left: &syn::Expr, right: &syn::Expr) {
        let call = self.race_call(right);
        match (left, call) {
            (syn::Expr::Infer(_), Some(call)) => self.dropped(&call, "`_ =`", "let-underscore"),
            (syn::Expr::Path(path), call) => {
                if let Some(ident) = path.path.get_ident() {
                    self.record_call(&bare(ident), call);
                }
            }
            _ => {}
        }
    }

    /// Reports `if let` and `while let`, alone or in a chain.
    pub(super) fn race_condition(&mut self, cond: &syn::Expr, then: &syn::Block, or: Option<&syn::Expr>) {
        let mut rest = Some(cond).filter(|_| self.race.is_some());
        while let Some(part) = rest {
            let (last, before) = match part {
                syn::Expr::Binary(one) if matches!(one.op, syn::BinOp::And(_)) => {
                    (&*one.right, Some(&*one.left))
                }
                other => (other, None),
            };
            rest = before;
            let syn::Expr::Let(one) = last else { continue };
            let Some(call) = self.race_call(&one.expr) else { continue };
            let named = self.names_race(|names| {
                names.visit_expr(cond);
                let mut next = or;
                while let Some(syn::Expr::If(one)) = next {
                    names.visit_expr(&one.cond);
                    next = one.else_branch.as_ref().map(|(_, last)| &**last);
                }
            });
            let looks = match error_pattern(&one.pat) {
                ErrorPattern::Named(error) => names_in(&[error], |used| {
                    used.visit_block(then);
                    // Another condition of the chain counts as well: `if let Err(e) = r && e.is_race()`.
                    if let syn::Expr::Binary(chain) = cond {
                        used.visit_expr(&chain.right);
                    }
                }),
                ErrorPattern::Other => true,
                ErrorPattern::None | ErrorPattern::Dropped => false,
            };
            if !named && !looks {
                self.dropped(&call, "`if let`", "if-let");
            }
        }
    }

    /// Reports a `match` with an arm that discards the error.
    pub(super) fn race_match(&mut self, one: &syn::ExprMatch) {
        let Some(call) = self.race_call(&one.expr) else { return };
        let named = self.names_race(|names| one.arms.iter().for_each(|arm| names.visit_pat(&arm.pat)));
        let lost = one.arms.iter().any(|arm| {
            let (pat, guard) = match &arm.pat {
                syn::Pat::Guard(guarded) => (&*guarded.pat, Some(&*guarded.guard)),
                other => (other, None),
            };
            match error_pattern(pat) {
                ErrorPattern::Dropped => true,
                ErrorPattern::Named(error) => !names_in(&[error], |used| {
                    used.visit_expr(&arm.body);
                    if let Some(guard) = guard {
                        used.visit_expr(guard);
                    }
                }),
                ErrorPattern::None | ErrorPattern::Other => false,
            }
        });
        if lost && !named {
            self.dropped(&call, "an arm of `match`", "match");
        }
    }

    /// Returns `true` if code mentions one of the names of a race.
    fn names_race(&self, look: impl FnOnce(&mut Mentions<'_>)) -> bool {
        self.race.is_some_and(|race| names_in(&race.names, look))
    }
}

fn error_pattern(pat: &syn::Pat) -> ErrorPattern {
    match pat {
        syn::Pat::Wild(_) | syn::Pat::Rest(_) => ErrorPattern::Dropped,
        syn::Pat::Paren(one) => error_pattern(&one.pat),
        syn::Pat::Reference(one) => error_pattern(&one.pat),
        syn::Pat::Type(one) => error_pattern(&one.pat),
        syn::Pat::Ident(one) if one.subpat.is_none() => ErrorPattern::Named(bare(&one.ident)),
        syn::Pat::TupleStruct(one) => match (last_name(&one.path).as_str(), one.elems.first()) {
            ("Ok", _) => ErrorPattern::None,
            ("Err", Some(inner)) => error_pattern(inner),
            _ => ErrorPattern::Other,
        },
        _ => ErrorPattern::Other,
    }
}
