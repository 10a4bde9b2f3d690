//! Expressions without the syntax around them.

/// Returns an expression without parentheses and invisible groups.
pub(crate) fn plain(expr: &syn::Expr) -> &syn::Expr {
    match expr {
        syn::Expr::Paren(one) => plain(&one.expr),
        syn::Expr::Group(one) => plain(&one.expr),
        other => other,
    }
}

/// Returns an expression without parentheses, invisible groups and references.
pub(crate) fn referent(expr: &syn::Expr) -> &syn::Expr {
    match plain(expr) {
        syn::Expr::Reference(one) => referent(&one.expr),
        other => other,
    }
}

/// Returns the block whose last expression is the value of a block expression.
pub(crate) const fn block_of(expr: &syn::Expr) -> Option<&syn::Block> {
    match expr {
        syn::Expr::Block(one) => Some(&one.block),
        syn::Expr::Unsafe(one) => Some(&one.block),
        syn::Expr::Async(one) => Some(&one.block),
        syn::Expr::Const(one) => Some(&one.block),
        syn::Expr::TryBlock(one) => Some(&one.block),
        _ => None,
    }
}

/// Returns the value of a block that consists of one expression.
pub(crate) fn only_value(block: &syn::Block) -> Option<&syn::Expr> {
    match block.stmts.as_slice() {
        [syn::Stmt::Expr(tail, None)] => Some(tail),
        _ => None,
    }
}

/// Returns the expression at the end of a block.
pub(crate) fn last_value(block: &syn::Block) -> Option<&syn::Expr> {
    match block.stmts.last() {
        Some(syn::Stmt::Expr(tail, None)) => Some(tail),
        _ => None,
    }
}

/// Returns the last name of a path.
pub(crate) fn last_name(path: &syn::Path) -> String {
    path.segments.last().map_or_else(String::new, |seg| crate::syntax::written::bare(&seg.ident))
}

/// Returns `true` if a path ends in `Some` or `Ok`.
pub(crate) fn is_success(path: &syn::Path) -> bool {
    matches!(last_name(path).as_str(), "Some" | "Ok")
}
