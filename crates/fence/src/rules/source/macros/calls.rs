//! F05: macro calls and the bodies of `macro_rules!`.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeSet;
use syn::buffer::TokenBuffer;
use syn::parse::{ParseStream, Parser};
use syn::visit::Visit;

use crate::LintRule;
use crate::names::collect::Shape;
use crate::names::resolve::{Meaning, Namespace};
use crate::rules::source::Checker;
use crate::rules::source::construct::general::general;
use crate::rules::source::construct::raw_memory::is_unsafe_name;
use crate::rules::source::macros::bodies::{Arguments, filled, idents, parsed};
use crate::syntax::depth::check_depth;
use crate::syntax::macro_rules::{ParamUse, split_commas};
use crate::syntax::name_list::NameList;
use crate::syntax::parse;
use crate::syntax::written::{Path, bare};

/// Macros whose arguments are never code.
const CLEAN: NameList = NameList(
    "stringify concat include_str include_bytes env option_env cfg line file column module_path include",
);
/// Macros whose second argument is a pattern.
const PATTERNS: NameList = NameList("matches assert_matches debug_assert_matches assert_let if_let");
/// Macros that keep their arguments as tokens.
const QUOTES: NameList = NameList("quote quote_spanned parse_quote parse_quote_spanned format_ident");
/// Macros of the standard library whose arguments are values. A path in them is not the mention of a type.
const VALUES: NameList = NameList(
    "assert assert_eq assert_ne dbg debug_assert debug_assert_eq debug_assert_ne eprint eprintln format \
     panic print println todo unreachable vec write writeln",
);

/// The meaning of an argument that is only a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathArgument {
    /// The name of a type, passed to a macro.
    Mention,
    Value,
}

impl Checker<'_> {
    pub(crate) fn macro_item(&mut self, one: &syn::ItemMacro) {
        if let (Some(_), true) = (&one.ident, one.mac.path.is_ident("macro_rules")) {
            self.scan_rules(&one.mac.tokens);
        } else {
            self.call_of_macro(&one.mac, &[]);
        }
    }

    /// Checks the bodies of a `macro_rules!`. Its matchers make no values.
    fn scan_rules(&mut self, tokens: &TokenStream) {
        let list: Vec<TokenTree> = tokens.clone().into_iter().collect();
        let groups = list.iter().filter_map(|token| match token {
            TokenTree::Group(group) => Some(group.stream()),
            _ => None,
        });
        for (index, body) in groups.enumerate() {
            // Matchers and bodies alternate.
            if index % 2 == 1 {
                self.rule_body(&filled(&body, 0));
            }
        }
    }

    /// Checks one body twice, first as tokens and then as code if it parses. Parameters are replaced by
    /// unknown names.
    fn rule_body(&mut self, body: &TokenStream) {
        let start = self.out.len();
        self.scan_tokens(body);
        let reported: BTreeSet<u32> = self.out.iter().skip(start).map(|finding| finding.site.line).collect();
        let Some((code, cost)) = self.code(body) else { return };
        let middle = self.out.len();
        self.as_tokens(|this| this.walk(code, PathArgument::Mention));
        self.budget = self.budget.saturating_add(cost);
        // A line that the token scan reported is not reported again.
        let more = self.out.split_off(middle);
        self.out.extend(
            more.into_iter().filter(|one| one.rule != LintRule::F05 || !reported.contains(&one.site.line)),
        );
    }

    /// Checks a macro call. Arguments that parse are walked as code.
    pub(crate) fn call_of_macro(&mut self, mac: &syn::Macro, attrs: &[syn::Attribute]) {
        if Self::skips(attrs) {
            return;
        }
        let Some(last) = mac.path.segments.last() else { return };
        let written = bare(&last.ident);
        let path = Path::of(&mac.path);
        let known = match self.resolve(&path, Namespace::Type).what {
            Meaning::Far(full) => full.last().map_or_else(|| written.clone(), ToString::to_string),
            _ => written.clone(),
        };
        if known == "include" && written != "include" && self.applies.dependent {
            let message = "`include!` under another name is not read".to_owned();
            self.report(LintRule::F08, "include-renamed", last.ident.span(), None, message);
            return;
        }
        if known == "macro_rules" {
            self.scan_rules(&mac.tokens);
            return;
        }
        // A macro of the workspace may have the name of a standard one, and its arguments may become code.
        let own_macro = self.macros.find(self.world.package_of(self.module), &known);
        if own_macro.is_none() && CLEAN.has(&known) {
            return;
        }
        if own_macro.is_none() && QUOTES.has(&known) {
            self.scan_tokens(&mac.tokens);
            return;
        }
        if PATTERNS.has(&known) {
            self.matching(&mac.tokens);
            return;
        }
        self.macro_type_arguments(&known, &mac.tokens);
        let values = own_macro.is_none() && VALUES.has(&known);
        self.arguments(&mac.tokens, if values { PathArgument::Value } else { PathArgument::Mention });
    }

    fn arguments(&mut self, tokens: &TokenStream, bare: PathArgument) {
        if tokens.is_empty() {
            return;
        }
        match self.code(tokens) {
            Some((code, cost)) => {
                self.walk(code, bare);
                self.budget = self.budget.saturating_add(cost);
            }
            None => self.scan_tokens(tokens),
        }
    }

    /// Parses tokens that are not nested too deeply, and returns the depth that they use up.
    fn code(&mut self, tokens: &TokenStream) -> Option<(Arguments, u32)> {
        let buffer = TokenBuffer::new2(tokens.clone());
        let cost = check_depth(buffer.begin()).ok().filter(|cost| *cost < self.budget)?;
        let code = parsed(tokens)?;
        self.budget = self.budget.saturating_sub(cost);
        Some((code, cost))
    }

    /// Parses tokens as one expression that is not nested too deeply.
    pub(crate) fn expression(&self, tokens: TokenStream) -> Option<syn::Expr> {
        let buffer = TokenBuffer::new2(tokens.clone());
        check_depth(buffer.begin()).ok().filter(|cost| *cost < self.budget)?;
        syn::parse2(tokens).ok()
    }

    fn walk(&mut self, code: Arguments, bare: PathArgument) {
        match code {
            Arguments::Expressions(list) => {
                for expr in &list {
                    // A lone path may be the name of a type that is passed to the macro.
                    if bare == PathArgument::Value || !self.is_type_mention(expr) {
                        self.visit_expr(expr);
                    }
                }
            }
            Arguments::Statements(list) => {
                let open = proc_macro2::Group::new(proc_macro2::Delimiter::Brace, TokenStream::new());
                let block =
                    syn::Block { brace_token: syn::token::Brace { span: open.delim_span() }, stmts: list };
                self.visit_block(&block);
            }
            Arguments::Items(list) => {
                for item in &list {
                    self.visit_item(item);
                }
            }
        }
    }

    fn is_type_mention(&self, expr: &syn::Expr) -> bool {
        let syn::Expr::Path(path) = expr else { return false };
        let written = Path::with_self(&path.path, path.qself.as_ref());
        let res = self.resolve(&written, Namespace::Value);
        matches!(res.what, Meaning::Type(_)) && res.used == written.segs.len()
    }

    /// Checks `matches!(value, pattern if guard)`.
    fn matching(&mut self, tokens: &TokenStream) {
        let parts = (|input: ParseStream<'_>| {
            let value = input.parse::<syn::Expr>()?;
            input.parse::<syn::Token![,]>()?;
            let pat = syn::Pat::parse_multi_with_leading_vert(input)?;
            let guard = if input.parse::<Option<syn::Token![if]>>()?.is_some() {
                Some(input.parse::<syn::Expr>()?)
            } else {
                None
            };
            input.parse::<TokenStream>()?;
            Ok((value, pat, guard))
        })
        .parse2(tokens.clone());
        if let Ok((value, pat, guard)) = parts {
            self.race_matches(&value, &pat, guard.as_ref());
            self.visit_expr(&value);
            if let Some(guard) = &guard {
                self.visit_expr(guard);
            }
        } else if let Some(first) = split_commas(tokens).first() {
            self.scan_tokens(first);
        }
    }

    /// Reports types that a call passes to a macro which makes a value of them.
    fn macro_type_arguments(&mut self, called: &str, tokens: &TokenStream) {
        if !self.applies.dependent {
            return;
        }
        let package = self.world.package_of(self.module);
        let Some(rules) = self.macros.find(package, called) else { return };
        let parts = split_commas(tokens);
        let defines =
            rules.iter().any(|arm| arm.uses.iter().any(|(_, param_use)| *param_use == ParamUse::Defines));
        let mut hits: BTreeSet<(usize, u32, u32)> = BTreeSet::new();
        let mut findings = Vec::new();
        for arm in rules {
            // Arms are not matched as rustc does. An arm with another number of arguments counts for every
            // argument.
            let by_place = arm.params.as_ref().filter(|params| params.len() == parts.len());
            for (at, part) in parts.iter().enumerate() {
                let param = by_place.and_then(|params| params.get(at).cloned());
                let uses: Vec<&ParamUse> = arm
                    .uses
                    .iter()
                    .filter(|(name, _)| match &param {
                        Some(Some(bound)) => bound == name,
                        Some(None) => false,
                        None => true,
                    })
                    .map(|(_, param_use)| param_use)
                    .collect();
                if uses.is_empty() {
                    continue;
                }
                for (id, span) in self.types_in(part) {
                    let (line, column) = parse::start(span);
                    if uses.iter().any(|param_use| self.makes(id, param_use, tokens))
                        && hits.insert((id, line, column))
                    {
                        findings.push((id, span));
                    }
                }
            }
        }
        if defines {
            for part in &parts {
                let mut part = part.clone().into_iter();
                if let (Some(TokenTree::Ident(only)), None) = (part.next(), part.next()) {
                    self.look_alike(&only);
                }
            }
        }
        for (id, span) in findings {
            let ty = self.type_name(id);
            let message = format!("`{called}!` makes a value of the type that is passed to it, here `{ty}`");
            self.report(LintRule::F05, "macro-rules", span, Some(id), message);
        }
    }

    /// Returns `true` if the use of a macro parameter makes a value of this type.
    fn makes(&self, id: usize, param_use: &ParamUse, call: &TokenStream) -> bool {
        match param_use {
            ParamUse::Literal | ParamUse::Call => true,
            ParamUse::Defines => false,
            ParamUse::Value => {
                matches!(self.inventory.shape(id), Some(Shape::Tuple | Shape::Unit))
            }
            ParamUse::Assoc(name) => self.constructs(id, name) || self.inventory.has_variant(id, name),
            ParamUse::AssocParam => idents(call).iter().any(|ident| self.constructs(id, ident)),
            ParamUse::Turbofish(name) => {
                general(name).is_some() || is_unsafe_name(name) || matches!(&**name, "cast" | "cast_mut")
            }
            ParamUse::Annotation(name) => general(name).is_some() || is_unsafe_name(name),
        }
    }
}
