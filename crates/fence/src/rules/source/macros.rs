//! Macro calls and the bodies of `macro_rules!`.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::buffer::TokenBuffer;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit::Visit;

use crate::LintRule;
use crate::names::resolve::{Meaning, Namespace};
use crate::rules::source::Checker;
use crate::syntax::depth::{MAX_NESTED, check_depth};
use crate::syntax::is_one_of;
use crate::syntax::written::Path;

/// Macros whose arguments are never code.
const CLEAN: &str =
    "stringify concat include_str include_bytes env option_env cfg line file column module_path";
/// Macros whose second argument is a pattern.
const PATTERNS: &str = "matches assert_matches debug_assert_matches";

impl Checker<'_> {
    /// Checks a macro call. Arguments that parse are visited as code, others are searched for paths.
    pub(super) fn call_of_macro(&mut self, mac: &syn::Macro) {
        let known = self.last_name(&mac.path);
        if known == "include" {
            mac.path.segments.last().into_iter().for_each(|last| self.included(&last.ident));
        } else if is_one_of(PATTERNS, &known) {
            self.matching(&mac.tokens);
        } else if known == "macro_rules" {
            self.scan_tokens(&mac.tokens);
        } else if !is_one_of(CLEAN, &known) {
            self.arguments(&mac.tokens);
        }
    }

    fn included(&mut self, ident: &Ident) {
        if self.dependent || self.capability {
            let message = "the code of an `include!` is not read".to_owned();
            self.report(LintRule::F08, "include", ident.span(), None, message);
        }
    }

    fn arguments(&mut self, tokens: &TokenStream) {
        let buffer = TokenBuffer::new2(tokens.clone());
        let cost = check_depth(buffer.begin()).ok().filter(|cost| *cost < self.budget);
        let parsed = cost.and_then(|cost| Some((cost, parsed(tokens)?)));
        let Some((cost, code)) = parsed else { return self.scan_tokens(tokens) };
        self.budget = self.budget.saturating_sub(cost);
        match code {
            Arguments::Expressions(list) => {
                // A lone path may be the name of a type that is passed to the macro.
                for expr in &list {
                    if !self.is_type(expr) {
                        self.visit_expr(expr);
                    }
                }
            }
            Arguments::Statements(list) => {
                let locals = self.locals.len();
                for stmt in &list {
                    self.visit_stmt(stmt);
                }
                self.locals.truncate(locals);
            }
            Arguments::Items(list) => list.iter().for_each(|item| self.visit_item(item)),
        }
        self.budget = self.budget.saturating_add(cost);
    }

    fn is_type(&self, expr: &syn::Expr) -> bool {
        let syn::Expr::Path(path) = expr else { return false };
        let written = Path::with_self(&path.path, path.qself.as_ref());
        let res = self.resolve(&written, Namespace::Value);
        matches!(res.what, Meaning::Type(_)) && res.used == written.segs.len()
    }

    /// Checks the value of `matches!(value, pattern if guard)`. A pattern does not parse as an expression.
    fn matching(&mut self, tokens: &TokenStream) {
        let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
        let value = tokens.clone().into_iter().take_while(|token| !is_comma(token)).collect();
        self.arguments(&value);
        let rest = tokens.clone().into_iter().skip_while(|token| !is_comma(token)).collect();
        self.scan_tokens(&rest);
    }

    /// F08 and F12 in tokens that are not visited as code.
    pub(super) fn scan_tokens(&mut self, tokens: &TokenStream) {
        self.scan_level(tokens, 0);
    }

    fn scan_level(&mut self, tokens: &TokenStream, depth: u32) {
        let mut path: Vec<Ident> = Vec::new();
        // The punctuation before the current token.
        let mut before = String::new();
        let mut tokens = tokens.clone().into_iter().peekable();
        while let Some(token) = tokens.next() {
            match &token {
                TokenTree::Group(group) if depth < MAX_NESTED => {
                    self.scan_level(&group.stream(), depth.saturating_add(1));
                }
                TokenTree::Ident(ident) => {
                    if !before.ends_with("::") {
                        path.clear();
                    }
                    path.push(ident.clone());
                    let next = tokens.peek();
                    let is =
                        |wanted| matches!(next, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted);
                    if *ident == "include" && is('!') {
                        self.included(ident);
                    }
                    let called = matches!(next, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
                    if before.ends_with('.') && called {
                        self.watched_method(ident);
                    }
                    if !is(':') {
                        self.token_path(&path);
                    }
                }
                _ => {}
            }
            match token {
                TokenTree::Punct(punct) => before.push(punct.as_char()),
                _ => before.clear(),
            }
        }
    }

    /// Checks `a::b::c` in tokens.
    fn token_path(&mut self, idents: &[Ident]) {
        if self.watched.is_empty() {
            return;
        }
        let path = Path::plain(idents);
        let res = self.resolve(&path, Namespace::Value);
        self.watched_path(&res, &idents.iter().collect::<Vec<_>>());
    }
}

/// The parsed arguments of a macro.
enum Arguments {
    Expressions(Punctuated<syn::Expr, syn::Token![,]>),
    Statements(Vec<syn::Stmt>),
    Items(Vec<syn::Item>),
}

fn parsed(tokens: &TokenStream) -> Option<Arguments> {
    // Most macros take expressions. The other forms are tried only if that fails.
    if let Ok(list) = Punctuated::parse_terminated.parse2(tokens.clone()) {
        return Some(Arguments::Expressions(list));
    }
    if let Ok(list) = syn::Block::parse_within.parse2(tokens.clone()) {
        return Some(Arguments::Statements(list));
    }
    let items = syn::parse2::<syn::File>(tokens.clone());
    items.ok().map(|file| Arguments::Items(file.items))
}
