//! Paths in tokens that do not parse as code.
#![expect(
    clippy::arithmetic_side_effects,
    reason = "indices into a list of tokens in memory cannot overflow"
)]

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

use crate::LintRule;
use crate::names::collect::Shape;
use crate::names::resolve::{KnownType, Meaning, Namespace};
use crate::rules::source::Checker;
use crate::rules::source::construct::general::general;
use crate::rules::source::construct::raw_memory::is_unsafe_name;
use crate::syntax::depth::MAX_NESTED;
use crate::syntax::macro_rules::{
    DEFINITIONS, ends_in_rest, is, is_path_sep, not_a_literal, pattern_follows,
};
use crate::syntax::written::{Name, Path, PathStart, Segment, bare, name};

/// A path in tokens, with the index of the token after it.
struct TokenPath {
    path: Path,
    idents: Vec<proc_macro2::Ident>,
    next: usize,
}

impl Checker<'_> {
    /// Reports tokens that make a capability.
    pub(crate) fn scan_tokens(&mut self, tokens: &TokenStream) {
        if self.applies.dependent || self.applies.macros {
            self.scan_level(tokens, 0);
        }
    }

    fn scan_level(&mut self, tokens: &TokenStream, depth: u32) {
        if depth > MAX_NESTED {
            return;
        }
        let list: Vec<TokenTree> = tokens.clone().into_iter().collect();
        self.token_annotations(&list);
        let mut index = 0;
        while let Some(token) = list.get(index) {
            match token {
                TokenTree::Group(group) => {
                    self.scan_level(&group.stream(), depth + 1);
                    index += 1;
                }
                TokenTree::Ident(ident) => {
                    self.token_definition(&list, index, ident);
                    index = self.path_at(&list, index, index);
                }
                TokenTree::Punct(_) if is_crate(&list, index) => {
                    index = self.path_at(&list, index, index + 1);
                }
                TokenTree::Punct(_) => {
                    self.token_method(&list, index);
                    index += 1;
                }
                TokenTree::Literal(_) => index += 1,
            }
        }
    }

    /// Checks `.mint(…)` in tokens.
    fn token_method(&mut self, list: &[TokenTree], index: usize) {
        let rest = list.get(index..).unwrap_or_default();
        if let [dot, TokenTree::Ident(method), TokenTree::Group(args), ..] = rest
            && is(dot, '.')
            && args.delimiter() == Delimiter::Parenthesis
        {
            self.watched_method(method);
        }
    }

    /// Checks the value of `: T = value;` in tokens.
    fn token_annotations(&mut self, list: &[TokenTree]) {
        if !self.applies.dependent {
            return;
        }
        for (at, token) in list.iter().enumerate() {
            let alone = is(token, ':')
                && !is_path_sep(list, at, token)
                && !at
                    .checked_sub(1)
                    .and_then(|before| Some((before, list.get(before)?)))
                    .is_some_and(|(before, token)| is_path_sep(list, before, token));
            if !alone {
                continue;
            }
            let after = list.get(at + 1..).unwrap_or_default();
            // Without the limit a file of colons would take quadratic time.
            let near = after.iter().take(MOST_IN_TYPE);
            let Some(equals) = near.clone().position(|token| is(token, '=')) else { continue };
            let written: TokenStream = after.iter().take(equals).cloned().collect();
            let Ok(ty) = syn::parse2::<syn::Type>(written) else { continue };
            let wanted = self.ty(&ty);
            if !wanted.names_a_capability() {
                continue;
            }
            let value = after.get(equals + 1..).unwrap_or_default();
            let value = value.get(..MOST_IN_VALUE.min(value.len())).unwrap_or_default();
            let end = value.iter().position(|token| is(token, ';')).unwrap_or(value.len());
            let value: TokenStream = value.iter().take(end).cloned().collect();
            if let Some(value) = self.expression(value) {
                self.as_tokens(|this| {
                    this.annotation(&ty, &wanted, &value);
                    this.expect(&value, &wanted, 0);
                });
            }
        }
    }

    /// Runs a check whose findings count as findings in a macro.
    pub(crate) fn as_tokens(&mut self, inside: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.in_rules, true);
        inside(self);
        self.in_rules = outer;
    }

    /// Reports `struct XCapability` in tokens as a look-alike.
    fn token_definition(&mut self, list: &[TokenTree], index: usize, ident: &proc_macro2::Ident) {
        if DEFINITIONS.has_ident(ident)
            && let Some(TokenTree::Ident(name)) = list.get(index + 1)
        {
            self.look_alike(name);
        }
    }

    /// Checks the path whose first name is at `first`, and returns the index to continue at.
    fn path_at(&mut self, list: &[TokenTree], start: usize, first: usize) -> usize {
        let Some(found) = read_path(list, first) else { return first + 1 };
        let after = first + 1;
        let res = self.resolve(&found.path, Namespace::Type);
        let before_path = lead(list, start);
        match res.what {
            Meaning::Type(KnownType::Cap(id)) => {
                self.token_type(id, list, before_path, &found, res.used);
            }
            Meaning::Variant(KnownType::Cap(id)) => {
                let span = found.idents.last().map(proc_macro2::Ident::span);
                self.token_variant(id, list, before_path, found.next, span);
            }
            Meaning::Far(_) | Meaning::Nothing => self.token_turbofish(list, &found),
            Meaning::Type(own) => self.token_watched(&own, &found, res.used),
            Meaning::Variant(_)
            | Meaning::Qualified { .. }
            | Meaning::Module
            | Meaning::Value { .. }
            | Meaning::Local => {}
        }
        found.next.max(after)
    }

    fn token_type(&mut self, id: usize, list: &[TokenTree], start: usize, found: &TokenPath, used: usize) {
        let named = used.checked_sub(1).and_then(|at| found.idents.get(at)).map(proc_macro2::Ident::span);
        let Some(span) = named else { return };
        if let Some(function) = found.idents.get(used) {
            let function = bare(function);
            if self.inventory.has_variant(id, &function) {
                self.token_variant(id, list, start, found.next, Some(span));
            } else if self.constructs(id, &function) {
                self.in_tokens(id, span, "constructor", &format!("`{function}`"));
            }
            return;
        }
        if let Some(function) = qualified(list, start, found.next) {
            let name = bare(function);
            if self.constructs(id, &name) {
                self.in_tokens(id, span, "constructor", &format!("`{name}`"));
            }
            return;
        }
        self.token_literal(id, list, start, found.next, Some(span));
    }

    /// Checks a variant. A unit variant is followed by no group, so only its position can show that it is a
    /// pattern.
    fn token_variant(
        &mut self,
        id: usize,
        list: &[TokenTree],
        start: usize,
        next: usize,
        span: Option<Span>,
    ) {
        if matches!(list.get(next), Some(TokenTree::Group(_))) {
            return self.token_literal(id, list, start, next, span);
        }
        let before = next.saturating_sub(1);
        if let Some(span) = span
            && !not_a_literal(list, start)
            && !pattern_follows(list, before)
        {
            self.in_tokens(id, span, "tokens", "a variant");
        }
    }

    /// Checks `Mint::new` in tokens.
    fn token_watched(&mut self, own: &KnownType, found: &TokenPath, used: usize) {
        if let Some(function) = found.idents.get(used) {
            self.watched_function(own, function);
        }
    }

    fn token_literal(
        &mut self,
        id: usize,
        list: &[TokenTree],
        start: usize,
        next: usize,
        span: Option<Span>,
    ) {
        let Some(span) = span else { return };
        let Some(TokenTree::Group(group)) = list.get(next) else { return };
        let shape = self.inventory.shape(id);
        let tuple = !matches!(shape, Some(Shape::Braced | Shape::Unit));
        let fits = match group.delimiter() {
            Delimiter::Brace => true,
            Delimiter::Parenthesis => tuple,
            Delimiter::Bracket | Delimiter::None => false,
        };
        if fits
            && !not_a_literal(list, start)
            && !pattern_follows(list, next)
            && !ends_in_rest(&group.stream())
        {
            self.in_tokens(id, span, "tokens", "a literal");
        }
    }

    /// Checks `from_str::<T>` in tokens.
    fn token_turbofish(&mut self, list: &[TokenTree], found: &TokenPath) {
        let Some(function) = found.idents.last() else { return };
        let function_name = bare(function);
        let asked = general(&function_name).is_some()
            || is_unsafe_name(&function_name)
            || matches!(function_name.as_str(), "cast" | "cast_mut");
        let sep = list.get(found.next).is_some_and(|token| is_path_sep(list, found.next, token));
        if !asked || !sep {
            return;
        }
        let mut open = 0_u32;
        for (at, token) in list.iter().enumerate().skip(found.next + 2) {
            if is(token, '<') {
                open += 1;
            } else if is(token, '>') {
                open = open.saturating_sub(1);
                if open == 0 {
                    return;
                }
            } else if let TokenTree::Ident(_) = token
                && let Some(inner) = read_path(list, at)
                && let Meaning::Type(KnownType::Cap(id)) = self.resolve(&inner.path, Namespace::Type).what
            {
                let span = function.span();
                self.in_tokens(id, span, "turbofish", &format!("`{function_name}`"));
                return;
            }
        }
    }

    fn in_tokens(&mut self, id: usize, span: Span, route: &'static str, what: &str) {
        let ty = self.type_name(id);
        let message = format!("{what} in macro tokens makes a `{ty}`");
        self.report(LintRule::F05, route, span, Some(id), message);
    }

    /// Returns the capability types that tokens name, with their positions.
    pub(crate) fn types_in(&self, tokens: &TokenStream) -> Vec<(usize, Span)> {
        let mut found = Vec::new();
        self.types_at(tokens, &mut found, 0);
        found
    }

    fn types_at(&self, tokens: &TokenStream, out: &mut Vec<(usize, Span)>, depth: u32) {
        if depth > MAX_NESTED {
            return;
        }
        let list: Vec<TokenTree> = tokens.clone().into_iter().collect();
        let mut index = 0;
        while let Some(token) = list.get(index) {
            let mut next = index + 1;
            match token {
                TokenTree::Group(group) => self.types_at(&group.stream(), out, depth + 1),
                TokenTree::Ident(_) => {
                    if let Some(found) = read_path(&list, index) {
                        let res = self.resolve(&found.path, Namespace::Type);
                        if let (Meaning::Type(KnownType::Cap(id)), Some(last)) =
                            (res.what, found.idents.last())
                            && res.used == found.idents.len()
                        {
                            out.push((id, last.span()));
                        }
                        next = next.max(found.next);
                    }
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            index = next;
        }
    }
}

/// The number of tokens that are searched for the end of a type.
const MOST_IN_TYPE: usize = 48;
/// The number of tokens that are searched for the end of a value.
const MOST_IN_VALUE: usize = 256;

/// Returns the function in `<T>::f` and `<T as Trait>::f`. The path of T starts at `start` and ends before
/// `next`.
fn qualified(list: &[TokenTree], start: usize, next: usize) -> Option<&proc_macro2::Ident> {
    if !start.checked_sub(1).and_then(|before| list.get(before)).is_some_and(|token| is(token, '<')) {
        return None;
    }
    let mut at = next;
    if matches!(list.get(at), Some(TokenTree::Ident(ident)) if ident == "as") {
        let rest = list.get(at..)?.iter().take(MOST_IN_TYPE);
        let mut open = 0_u32;
        for token in rest {
            if is(token, '<') {
                open += 1;
            } else if is(token, '>') {
                if open == 0 {
                    break;
                }
                open = open.saturating_sub(1);
            }
            at += 1;
        }
    }
    let close = list.get(at)?;
    let sep = at + 1;
    match list.get(at + 3) {
        Some(TokenTree::Ident(function)) if is(close, '>') && is_path_sep(list, sep, list.get(sep)?) => {
            Some(function)
        }
        _ => None,
    }
}

/// Returns the index after `::<…>::` in the middle of a path that starts at `at`.
fn after_generics(list: &[TokenTree], at: usize) -> Option<usize> {
    let open = at + 2;
    if !is_path_sep(list, at, list.get(at)?) || !is(list.get(open)?, '<') {
        return None;
    }
    let mut depth = 0_u32;
    for (index, token) in list.iter().enumerate().skip(open).take(MOST_IN_TYPE) {
        if is(token, '<') {
            depth += 1;
        } else if is(token, '>') {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                let sep = index + 1;
                let follows = is_path_sep(list, sep, list.get(sep)?);
                return follows.then(|| sep + 2);
            }
        }
    }
    None
}

fn is_crate(list: &[TokenTree], index: usize) -> bool {
    list.get(index).is_some_and(|token| is(token, '$'))
        && matches!(list.get(index + 1), Some(TokenTree::Ident(ident)) if ident == "crate")
}

/// Returns the start of a path, including a leading `::`.
fn lead(list: &[TokenTree], start: usize) -> usize {
    let Some(before) = start.checked_sub(2) else { return start };
    match list.get(before) {
        Some(token) if is_path_sep(list, before, token) => before,
        _ => start,
    }
}

/// Reads `a::b::<..>::c`, starting at `first`.
fn read_path(list: &[TokenTree], first: usize) -> Option<TokenPath> {
    let mut segs = Vec::new();
    let mut idents = Vec::new();
    let mut at = first;
    while let Some(TokenTree::Ident(ident)) = list.get(at) {
        segs.push(Segment { name: Name::clone(&name(ident)), args: Vec::new() });
        idents.push(ident.clone());
        at += 1;
        let Some(token) = list.get(at) else { break };
        if !is_path_sep(list, at, token) {
            break;
        }
        match list.get(at + 2) {
            Some(TokenTree::Ident(_)) => at += 2,
            // `Id::<T>::new`, but not the turbofish of a function, which no name follows.
            _ => match after_generics(list, at) {
                Some(next) if matches!(list.get(next), Some(TokenTree::Ident(_))) => at = next,
                _ => break,
            },
        }
    }
    let leading = first
        .checked_sub(2)
        .and_then(|before| list.get(before).map(|token| is_path_sep(list, before, token)))
        .unwrap_or(false)
        && !first
            .checked_sub(3)
            .and_then(|before| list.get(before))
            .is_some_and(|token| matches!(token, TokenTree::Ident(_)) || is(token, '>'));
    (!idents.is_empty()).then_some(TokenPath {
        path: Path { leading: if leading { PathStart::Colons } else { PathStart::Name }, qself: None, segs },
        idents,
        next: at,
    })
}
