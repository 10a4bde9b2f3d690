//! Macro bodies and arguments as code.

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;

use crate::syntax::macro_rules::is;
use crate::syntax::written::bare;

/// The parsed arguments of a macro.
pub(crate) enum Arguments {
    Expressions(Punctuated<syn::Expr, syn::Token![,]>),
    Statements(Vec<syn::Stmt>),
    Items(Vec<syn::Item>),
}

/// The limit of nested groups for [`filled`].
const MOST_FILLED: u32 = 128;

/// Returns a macro's body with `$name` as an unknown name, `$crate` as `crate`, and `$( … )*` repeated once.
pub(crate) fn filled(body: &TokenStream, depth: u32) -> TokenStream {
    let mut out = Vec::new();
    let mut rest = body.clone().into_iter().peekable();
    while let Some(token) = rest.next() {
        match (&token, rest.peek()) {
            (TokenTree::Punct(dollar), Some(TokenTree::Ident(ident))) if dollar.as_char() == '$' => {
                let text =
                    if ident == "crate" { "crate".to_owned() } else { format!("__given_{}", bare(ident)) };
                let given = ident != "crate";
                out.push(TokenTree::Ident(proc_macro2::Ident::new(&text, ident.span())));
                rest.next();
                // In `$module::T` the name after the parameter is kept, since it may be a capability in any
                // module.
                if given && is_path(&rest) {
                    out.pop();
                    rest.next();
                    rest.next();
                }
            }
            (TokenTree::Punct(dollar), Some(TokenTree::Group(group)))
                if dollar.as_char() == '$' && depth < MOST_FILLED =>
            {
                out.extend(filled(&group.stream(), depth.saturating_add(1)));
                rest.next();
                // The optional separator, and `*`, `+` or `?`.
                for _ in 0..2 {
                    if let Some(TokenTree::Punct(punct)) = rest.peek() {
                        let last = matches!(punct.as_char(), '*' | '+' | '?');
                        rest.next();
                        if last {
                            break;
                        }
                    }
                }
            }
            (TokenTree::Group(group), _) if depth < MOST_FILLED => {
                let mut inner = proc_macro2::Group::new(
                    group.delimiter(),
                    filled(&group.stream(), depth.saturating_add(1)),
                );
                inner.set_span(group.span());
                out.push(TokenTree::Group(inner));
            }
            _ => out.push(token),
        }
    }
    out.into_iter().collect()
}

/// Returns `true` if `::` and a name with a capital letter follow.
fn is_path(rest: &std::iter::Peekable<proc_macro2::token_stream::IntoIter>) -> bool {
    let next: Vec<TokenTree> = rest.clone().take(3).collect();
    match next.as_slice() {
        [one, two, TokenTree::Ident(ident)] => {
            is(one, ':') && is(two, ':') && ident.to_string().starts_with(char::is_uppercase)
        }
        _ => false,
    }
}

pub(crate) fn parsed(tokens: &TokenStream) -> Option<Arguments> {
    // Most macros take expressions. The other forms are tried only if that fails.
    if let Ok(list) = Punctuated::parse_terminated.parse2(tokens.clone()) {
        return Some(Arguments::Expressions(list));
    }
    if let Ok(list) = syn::Block::parse_within.parse2(tokens.clone()) {
        return Some(Arguments::Statements(list));
    }
    let items = |input: ParseStream<'_>| {
        let mut items = Vec::new();
        while !input.is_empty() {
            items.push(input.parse::<syn::Item>()?);
        }
        Ok(items)
    };
    items.parse2(tokens.clone()).ok().map(Arguments::Items)
}

pub(crate) fn idents(tokens: &TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    let mut stack = vec![tokens.clone()];
    while let Some(stream) = stack.pop() {
        for token in stream {
            match token {
                TokenTree::Ident(ident) => found.push(bare(&ident)),
                TokenTree::Group(group) => stack.push(group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
    found
}
