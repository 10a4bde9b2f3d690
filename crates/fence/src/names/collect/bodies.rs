//! Collects from bodies and other code: includes, macros, impls, and module declarations.

use proc_macro2::{TokenStream, TokenTree};

use crate::names::collect::items::{Collector, attrs_of};
use crate::names::collect::{BuildScope, CfgFlag, Include, PathAttr};
use crate::syntax::cfg;
use crate::syntax::macro_rules::is;
use crate::syntax::parse::{end, start};

/// Visits bodies for includes, macros and impls.
pub(super) struct Finder<'c, 'a> {
    pub(super) collector: &'c mut Collector<'a>,
    pub(super) index: usize,
    pub(super) test: BuildScope,
}

impl<'ast> syn::visit::Visit<'ast> for Finder<'_, '_> {
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let (index, test) = (self.index, self.test);
        self.collector.includes_of(index, mac, &[], test);
    }

    fn visit_stmt_macro(&mut self, call: &'ast syn::StmtMacro) {
        let (index, test) = (self.index, self.test);
        self.collector.includes_of(index, &call.mac, &call.attrs, test);
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_item(&mut self, item: &'ast syn::Item) {
        let outer = self.test;
        self.test = outer.with(attrs_of(item));
        let (index, test) = (self.index, self.test);
        match item {
            syn::Item::Macro(one) => self.collector.macro_item(index, one, test),
            syn::Item::Impl(one) => self.collector.implementation(index, one, test),
            syn::Item::Mod(one) => {
                for inner in one.content.iter().flat_map(|(_, items)| items) {
                    self.visit_item(inner);
                }
            }
            other => syn::visit::visit_item(self, other),
        }
        self.test = outer;
    }
}

/// Records the `include!` calls of a macro call: the call itself, or those in its arguments.
pub(super) fn includes_in(mac: &syn::Macro, test: BuildScope) -> Vec<Include> {
    let mut found = Vec::new();
    match mac.path.segments.last() {
        Some(last) if last.ident == "include" => found.push(include(&last.ident, &mac.tokens, test)),
        _ => includes_in_tokens(&mac.tokens, test, &mut found),
    }
    found
}

/// Finds `include!(…)` in tokens at any depth.
pub(super) fn includes_in_tokens(tokens: &TokenStream, test: BuildScope, found: &mut Vec<Include>) {
    let mut stack = vec![tokens.clone()];
    while let Some(stream) = stack.pop() {
        // The two tokens before a group: a name, and `!`.
        let mut before: [Option<TokenTree>; 2] = [None, None];
        for token in stream {
            if let TokenTree::Group(group) = &token {
                match &before {
                    [Some(TokenTree::Ident(ident)), Some(bang)] if ident == "include" && is(bang, '!') => {
                        found.push(include(ident, &group.stream(), test));
                    }
                    _ => stack.push(group.stream()),
                }
            }
            let [_, last] = before;
            before = [last, Some(token)];
        }
    }
}

fn include(ident: &proc_macro2::Ident, tokens: &TokenStream, test: BuildScope) -> Include {
    let (line, column) = start(ident.span());
    let (_, end_column) = end(ident.span());
    Include { path: literal(tokens.clone()), line, column, end_column, test: test == BuildScope::ForTests }
}

/// Returns the text if the tokens are one string literal.
fn literal(tokens: TokenStream) -> Option<String> {
    syn::parse::Parser::parse2(
        |input: syn::parse::ParseStream<'_>| {
            let text = input.parse::<syn::LitStr>()?;
            input.parse::<Option<syn::Token![,]>>()?;
            Ok(text.value())
        },
        tokens,
    )
    .ok()
}

/// Finds the `cfg`s that a build script sets, in its string literals.
pub(crate) fn flags_of(tokens: TokenStream) -> Vec<CfgFlag> {
    let mut found = Vec::new();
    let mut stack = vec![tokens];
    while let Some(stream) = stack.pop() {
        for token in stream {
            match token {
                TokenTree::Group(group) => stack.push(group.stream()),
                TokenTree::Literal(literal) => {
                    let text = literal.to_string();
                    let Some((_, flag)) = text.split_once("rustc-cfg=") else { continue };
                    let (line, column) = start(literal.span());
                    let (_, end_column) = end(literal.span());
                    found.push(CfgFlag { text: flag.to_owned(), line, column, end_column });
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }
    found
}

pub(super) fn path_attrs(attrs: &[syn::Attribute]) -> (Vec<PathAttr>, bool) {
    let mut paths = Vec::new();
    let mut usual = true;
    for attr in attrs {
        match &attr.meta {
            syn::Meta::NameValue(pair) if pair.path.is_ident("path") => {
                if let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value {
                    let (line, column) = start(text.span());
                    paths.push(PathAttr { value: text.value(), line, column });
                    usual = false;
                }
            }
            syn::Meta::List(list) if list.path.is_ident("cfg_attr") => {
                for meta in cfg::attr_metas(list) {
                    if let syn::Meta::NameValue(pair) = &meta
                        && pair.path.is_ident("path")
                        && let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value
                    {
                        let (line, column) = start(text.span());
                        paths.push(PathAttr { value: text.value(), line, column });
                    }
                }
            }
            _ => {}
        }
    }
    (paths, usual)
}
