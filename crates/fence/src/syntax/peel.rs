//! Expressions without the syntax around them.

use crate::syntax::written::bare;

/// Returns an expression without parentheses, invisible groups and references.
pub(crate) fn referent(expr: &syn::Expr) -> &syn::Expr {
    match expr {
        syn::Expr::Paren(one) => referent(&one.expr),
        syn::Expr::Group(one) => referent(&one.expr),
        syn::Expr::Reference(one) => referent(&one.expr),
        other => other,
    }
}

/// Returns the value of a block that consists of one expression.
pub(crate) fn only_value(block: &syn::Block) -> Option<&syn::Expr> {
    match block.stmts.as_slice() {
        [syn::Stmt::Expr(tail, None)] => Some(tail),
        _ => None,
    }
}

/// Returns the last name of a path.
pub(crate) fn last_name(path: &syn::Path) -> String {
    path.segments.last().map_or_else(String::new, |seg| bare(&seg.ident))
}
