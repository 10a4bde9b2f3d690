//! What a `macro_rules!` does with the types that it is passed.
//!
//! Macros are not expanded. Their bodies are searched for a parameter in a position that makes a value.
#![expect(
    clippy::arithmetic_side_effects,
    reason = "indices into a list of tokens in memory cannot overflow"
)]

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use std::collections::BTreeSet;

use crate::syntax::depth::MAX_NESTED;
use crate::syntax::name_list::NameList;
use crate::syntax::written::{Name, name};

/// The position of a parameter in a macro's body.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ParamUse {
    /// `$t { .. }`, or `Self { .. }` in an `impl` for it.
    Literal,
    /// `$t(..)`.
    Call,
    /// `= $t;` and `.map($t)`.
    Value,
    /// `$t::name`.
    Assoc(Name),
    /// `$t::$name`.
    AssocParam,
    /// `name::<$t>`.
    Turbofish(Name),
    /// `struct $t`.
    Defines,
    /// `: $t = … name(…)` and `-> $t { … name(…) }`.
    Annotation(Name),
}

/// Keywords that define a type.
pub(crate) const DEFINITIONS: NameList = NameList("struct enum union");

/// All rules of the macros of one name.
#[derive(Debug, Clone, Default)]
pub(crate) struct MacroRules {
    pub(crate) arms: Vec<MacroArm>,
}

/// One `(matcher) => { body }`.
#[derive(Debug, Clone)]
pub(crate) struct MacroArm {
    /// The parameter at each comma-separated position, if the matcher is that simple.
    pub(crate) params: Option<Vec<Option<Name>>>,
    pub(crate) uses: BTreeSet<(Name, ParamUse)>,
    pub(crate) forwards: Vec<ForwardedCall>,
}

/// A call of another macro that passes a parameter on.
#[derive(Debug, Clone)]
pub(crate) struct ForwardedCall {
    pub(crate) to: Name,
    /// The parameters in each comma-separated part of the call.
    pub(crate) parts: Vec<BTreeSet<Name>>,
}

impl MacroRules {
    pub(crate) fn read(tokens: TokenStream) -> Self {
        let list: Vec<TokenTree> = tokens.into_iter().collect();
        let mut arms = Vec::new();
        let mut rest = list.as_slice();
        while let [TokenTree::Group(matcher), after @ ..] = rest {
            let Some(at) = after.iter().position(|token| matches!(token, TokenTree::Group(_))) else { break };
            let Some(TokenTree::Group(body)) = after.get(at) else { break };
            arms.push(MacroArm::read(&matcher.stream(), &body.stream()));
            rest = after.get(at + 1..).unwrap_or_default();
            // Arms are separated by `;`.
            while let [TokenTree::Punct(_), next @ ..] = rest {
                rest = next;
            }
        }
        Self { arms }
    }

    pub(crate) fn join(&mut self, other: Self) {
        self.arms.extend(other.arms);
    }
}

impl MacroArm {
    fn read(matcher: &TokenStream, body: &TokenStream) -> Self {
        let mut arm = Self { params: params(matcher), uses: BTreeSet::new(), forwards: Vec::new() };
        arm.scan(body, None, 0);
        arm
    }

    /// Reads one level of a body. `own` is the parameter that `Self` means.
    fn scan(&mut self, tokens: &TokenStream, own: Option<&Name>, depth: u32) {
        if depth > MAX_NESTED {
            return;
        }
        let list: Vec<TokenTree> = tokens.clone().into_iter().collect();
        for (index, token) in list.iter().enumerate() {
            match token {
                TokenTree::Group(group) => {
                    let implemented = impl_of(&list, index);
                    if let Some(param) = called_in_parentheses(&list, index) {
                        self.uses.insert((param, ParamUse::Call));
                    }
                    if let Some(param) = method_argument(&list, index) {
                        self.uses.insert((param, ParamUse::Value));
                    }
                    self.scan(&group.stream(), implemented.as_ref().or(own), depth + 1);
                }
                TokenTree::Punct(punct) if punct.as_char() == '$' => self.parameter(&list, index),
                TokenTree::Ident(ident) if ident == "Self" => {
                    if let Some(own) = own {
                        self.built(own, &list, index + 1, index);
                    }
                }
                TokenTree::Ident(ident) => self.forwarded(ident, &list, index),
                _ => {}
            }
        }
    }

    fn parameter(&mut self, list: &[TokenTree], index: usize) {
        if let Some(TokenTree::Group(group)) = list.get(index + 1) {
            self.repeated(&group.stream(), list, index);
            return;
        }
        let Some(TokenTree::Ident(ident)) = list.get(index + 1) else { return };
        let param = name(ident);
        // The macro defines a type of that name, which is a look-alike and not a value.
        if is_word(before(list, index), DEFINITIONS) {
            self.uses.insert((param, ParamUse::Defines));
            return;
        }
        if impl_header(list, index) {
            return;
        }
        let mut next = index + 2;
        if let Some(function) = later_argument(list, index) {
            self.uses.insert((param, ParamUse::Turbofish(function)));
            return;
        }
        for function in annotated(list, index) {
            self.uses.insert((Name::clone(&param), ParamUse::Annotation(function)));
        }
        // `<$t>::f` and `<$t as Trait>::f`.
        if before(list, index).is_some_and(|token| is(token, '<')) {
            if let Some(function) = turbofish_before(list, index.saturating_sub(1)) {
                self.uses.insert((param, ParamUse::Turbofish(function)));
                return;
            }
            if let Some(close) = closing(list, next) {
                next = close + 1;
            }
            if !list.get(next).is_some_and(|token| is_path_sep(list, next, token)) {
                return;
            }
        }
        self.built(&param, list, next, index);
    }

    /// `$($t)*(..)` and `$($t)::+ { .. }`: a repetition that ends in the parameter, followed by a group.
    fn repeated(&mut self, inner: &TokenStream, list: &[TokenTree], index: usize) {
        let inner: Vec<TokenTree> = inner.clone().into_iter().collect();
        let [.., dollar, TokenTree::Ident(param)] = inner.as_slice() else { return };
        if !is(dollar, '$') {
            return;
        }
        let after = list.get(index + 2..).unwrap_or_default();
        let end = after.iter().take(3).position(|token| is(token, '*') || is(token, '+'));
        if let Some(end) = end {
            self.built(&name(param), list, index + 3 + end, index);
        }
    }

    fn built(&mut self, param: &Name, list: &[TokenTree], next: usize, index: usize) {
        let param_use = match list.get(next) {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                if not_a_literal(list, index)
                    || is_looked_at(list, index)
                    || pattern_follows(list, next)
                    || ends_in_rest(&group.stream())
                {
                    return;
                }
                ParamUse::Literal
            }
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
                if not_a_literal(list, index) || pattern_follows(list, next) {
                    return;
                }
                ParamUse::Call
            }
            Some(token) if is_path_sep(list, next, token) => match list.get(next + 2) {
                Some(TokenTree::Ident(function)) => ParamUse::Assoc(name(function)),
                Some(token) if is(token, '$') => ParamUse::AssocParam,
                _ => return,
            },
            // `$t $arguments`: the second parameter may be bound to a group.
            Some(token) if is(token, '$') && two_parameters(list, index, next) => ParamUse::Call,
            Some(token) if is(token, ';') && assigned(list, index) => ParamUse::Value,
            _ => return,
        };
        self.uses.insert((param.clone(), param_use));
    }

    fn forwarded(&mut self, ident: &proc_macro2::Ident, list: &[TokenTree], index: usize) {
        let bang = list.get(index + 1).is_some_and(|token| is(token, '!'));
        let Some(TokenTree::Group(group)) = list.get(index + 2) else { return };
        if !bang {
            return;
        }
        let parts = split_commas(&group.stream()).iter().map(params_in).collect::<Vec<_>>();
        if parts.iter().any(|part| !part.is_empty()) {
            self.forwards.push(ForwardedCall { to: name(ident), parts });
        }
    }
}

/// Returns the parameter of the `impl … for $t` whose braces are at `index`.
fn impl_of(list: &[TokenTree], index: usize) -> Option<Name> {
    let TokenTree::Group(group) = list.get(index)? else { return None };
    if group.delimiter() != Delimiter::Brace {
        return None;
    }
    let [dollar, TokenTree::Ident(ident)] = list.get(index.checked_sub(2)?..index)? else { return None };
    (is(dollar, '$') && impl_header(list, index.checked_sub(2)?)).then(|| name(ident))
}

/// Returns the parameter that is a method's only argument, as in `.map($f)`.
fn method_argument(list: &[TokenTree], index: usize) -> Option<Name> {
    let TokenTree::Group(group) = list.get(index)? else { return None };
    let [dot, TokenTree::Ident(_)] = list.get(index.checked_sub(2)?..index)? else { return None };
    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
    match inner.as_slice() {
        [dollar, TokenTree::Ident(param)] if is(dot, '.') && is(dollar, '$') => Some(name(param)),
        _ => None,
    }
}

/// Returns `true` if the tokens at `index` are the operand of `match`, `if`, `while` or `for … in`.
///
/// The braces after them are then a block and not a struct literal.
fn is_looked_at(list: &[TokenTree], index: usize) -> bool {
    is_word(before(list, index), NameList("match if while in"))
}

/// Returns the parameter in `($f)(..)`.
fn called_in_parentheses(list: &[TokenTree], index: usize) -> Option<Name> {
    let [TokenTree::Group(callee), TokenTree::Group(args)] = list.get(index..index.checked_add(2)?)? else {
        return None;
    };
    let both = callee.delimiter() == Delimiter::Parenthesis && args.delimiter() == Delimiter::Parenthesis;
    // `f($x)(..)` calls the result of `f`, and not `$x`.
    let argument = before(list, index)
        .is_some_and(|token| matches!(token, TokenTree::Ident(_) | TokenTree::Group(_)) || is(token, '!'));
    let inner: Vec<TokenTree> = callee.stream().into_iter().collect();
    match inner.as_slice() {
        [dollar, TokenTree::Ident(param)] if both && !argument && is(dollar, '$') => Some(name(param)),
        _ => None,
    }
}

/// Returns `true` if the parameter at `index` is a whole value, as in `= $t;` but not in `type X = $t;`.
fn assigned(list: &[TokenTree], index: usize) -> bool {
    let before = list.get(index.saturating_sub(NEAR)..index).unwrap_or_default();
    let Some((sign, rest)) = before.split_last() else { return false };
    let statement = rest.iter().rposition(|token| is(token, ';')).map_or(0, |at| at + 1);
    let alias =
        rest.iter().skip(statement).any(|token| matches!(token, TokenTree::Ident(it) if it == "type"));
    is(sign, '=') && !alias
}

/// Returns `true` if `$t $arguments` at `index` is a value that is called.
fn two_parameters(list: &[TokenTree], index: usize, next: usize) -> bool {
    let named = matches!(list.get(next + 1), Some(TokenTree::Ident(_)));
    let typed = before(list, index).is_some_and(|token| is(token, ':'));
    named && !typed && !not_a_literal(list, index)
}

/// Returns `true` if the tokens before `index` are the head of an `impl`.
fn impl_header(list: &[TokenTree], index: usize) -> bool {
    for token in list.get(..index).unwrap_or_default().iter().rev() {
        match token {
            TokenTree::Ident(ident) if ident == "impl" => return true,
            TokenTree::Ident(ident) if ident == "fn" || ident == "let" => return false,
            TokenTree::Punct(punct) if punct.as_char() == ';' || punct.as_char() == '=' => return false,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return false,
            _ => {}
        }
    }
    false
}

/// The number of tokens searched in each direction for the end of a type. It bounds the work per token.
const NEAR: usize = 16;
/// The number of tokens searched in a value or a body.
const FAR: usize = 256;

/// Returns the index of the `>` that closes the generics opened before `from`, if it is within the limit.
fn closing(list: &[TokenTree], from: usize) -> Option<usize> {
    let mut open = 1_u32;
    for (at, token) in list.iter().enumerate().skip(from).take(NEAR) {
        if is(token, '<') {
            open += 1;
        } else if is(token, '>') {
            open = open.saturating_sub(1);
            if open == 0 {
                return Some(at);
            }
        }
    }
    None
}

/// Returns the function in `f::<_, $t>`, for a parameter that is not the first argument.
fn later_argument(list: &[TokenTree], index: usize) -> Option<Name> {
    for at in (index.saturating_sub(NEAR)..index).rev() {
        let token = list.get(at)?;
        if is(token, '<') {
            return if at + 1 == index { None } else { turbofish_before(list, at) };
        }
        let within = is(token, ',')
            || is(token, '&')
            || is(token, '$')
            || is(token, ':')
            || matches!(token, TokenTree::Ident(_));
        if !within {
            return None;
        }
    }
    None
}

/// Returns the functions called in the value of `: $t = …;`, or at the end of `-> $t { … }`.
fn annotated(list: &[TokenTree], index: usize) -> Vec<Name> {
    let before = list.get(index.saturating_sub(NEAR)..index).unwrap_or_default();
    let mut typed = false;
    for (at, token) in before.iter().enumerate().rev() {
        let arrow =
            is(token, '>') && at.checked_sub(1).and_then(|at| before.get(at)).is_some_and(|one| is(one, '-'));
        let sep = at.checked_sub(1).and_then(|at| before.get(at)).is_some_and(|one| is(one, ':'));
        if arrow || is(token, ':') && !sep {
            typed = true;
            break;
        }
        let within =
            is(token, '<') || is(token, ':') || is(token, ',') || matches!(token, TokenTree::Ident(_));
        if !within {
            break;
        }
    }
    if !typed {
        return Vec::new();
    }
    let after = list.get(index + 2..).unwrap_or_default();
    for (at, token) in after.iter().enumerate().take(NEAR) {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '=' => {
                let value = after.get(at + 1..).unwrap_or_default();
                let value = value.get(..FAR.min(value.len())).unwrap_or_default();
                let end = value.iter().position(|token| is(token, ';')).unwrap_or(value.len());
                return called(value.get(..end).unwrap_or_default());
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let body: Vec<TokenTree> = group.stream().into_iter().take(FAR).collect();
                let tail = body.iter().rposition(|token| is(token, ';')).map_or(0, |at| at + 1);
                return called(body.get(tail..).unwrap_or_default());
            }
            TokenTree::Punct(punct) if matches!(punct.as_char(), '>' | '<' | ',') => {}
            TokenTree::Ident(_) | TokenTree::Group(_) => {}
            _ => return Vec::new(),
        }
    }
    Vec::new()
}

/// Returns the names that are called in tokens, including those in groups of braces.
fn called(list: &[TokenTree]) -> Vec<Name> {
    let mut found = Vec::new();
    for (at, token) in list.iter().enumerate() {
        match token {
            TokenTree::Ident(ident) => {
                let next = list.get(at + 1);
                let call = matches!(next, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
                if call {
                    found.push(name(ident));
                }
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().take(FAR).collect();
                found.extend(called(&inner));
            }
            _ => {}
        }
    }
    found
}

fn turbofish_before(list: &[TokenTree], open: usize) -> Option<Name> {
    let before = list.get(open.checked_sub(3)?..open)?;
    match before {
        [TokenTree::Ident(function), one, two] if is(one, ':') && is(two, ':') => Some(name(function)),
        _ => None,
    }
}

fn params(matcher: &TokenStream) -> Option<Vec<Option<Name>>> {
    split_commas(matcher)
        .into_iter()
        .map(|part| {
            let list: Vec<TokenTree> = part.into_iter().collect();
            match list.as_slice() {
                [dollar, TokenTree::Ident(param), colon, TokenTree::Ident(_)]
                    if is(dollar, '$') && is(colon, ':') =>
                {
                    Some(Some(name(param)))
                }
                // A repetition or a group has no fixed position, so any argument may be the parameter.
                _ if list.iter().any(|token| is(token, '$') || matches!(token, TokenTree::Group(_))) => None,
                _ => Some(None),
            }
        })
        .collect()
}

/// Splits tokens at the commas of their own level.
pub(crate) fn split_commas(tokens: &TokenStream) -> Vec<TokenStream> {
    let mut parts = vec![Vec::new()];
    for token in tokens.clone() {
        if is(&token, ',') {
            parts.push(Vec::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(token);
        }
    }
    if parts.last().is_some_and(Vec::is_empty) {
        parts.pop();
    }
    parts.into_iter().map(|part| part.into_iter().collect()).collect()
}

fn params_in(tokens: &TokenStream) -> BTreeSet<Name> {
    let list: Vec<TokenTree> = tokens.clone().into_iter().collect();
    list.iter()
        .zip(list.iter().skip(1))
        .filter_map(|pair| match pair {
            (dollar, TokenTree::Ident(ident)) if is(dollar, '$') => Some(name(ident)),
            _ => None,
        })
        .collect()
}

/// Returns `true` if a token is this punctuation character.
pub(crate) fn is(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

/// Returns the token before `index`.
pub(crate) fn before(list: &[TokenTree], index: usize) -> Option<&TokenTree> {
    list.get(index.checked_sub(1)?)
}

/// Returns `true` if a token is one of these words.
pub(crate) fn is_word(token: Option<&TokenTree>, words: NameList) -> bool {
    matches!(token, Some(TokenTree::Ident(ident)) if words.has_ident(ident))
}

/// Returns `true` if `::` starts at `index`.
pub(crate) fn is_path_sep(list: &[TokenTree], index: usize, token: &TokenTree) -> bool {
    is(token, ':')
        && matches!(token, TokenTree::Punct(punct) if punct.spacing() == Spacing::Joint)
        && list.get(index + 1).is_some_and(|next| is(next, ':'))
}

/// Returns `true` if the path at `index` is in the position of a type or a pattern.
pub(crate) fn not_a_literal(list: &[TokenTree], index: usize) -> bool {
    let Some(token) = before(list, index) else { return false };
    match token {
        TokenTree::Ident(_) => {
            is_word(Some(token), NameList("for impl dyn let struct enum union as mod trait fn"))
        }
        TokenTree::Punct(punct) if punct.as_char() == '>' => {
            // `->` and the end of generics, but neither `=>` nor a comparison with a literal.
            let operator = index.checked_sub(2).and_then(|at| list.get(at));
            !operator.is_some_and(|token| {
                is(token, '=')
                    && matches!(token, TokenTree::Punct(punct) if punct.spacing() == Spacing::Joint)
            })
        }
        _ => false,
    }
}

/// Returns `true` if the token after the group at `index` can only follow a pattern.
pub(crate) fn pattern_follows(list: &[TokenTree], index: usize) -> bool {
    let Some(TokenTree::Punct(punct)) = list.get(index + 1) else { return false };
    let joint = punct.spacing() == Spacing::Joint;
    let second = list.get(index + 2);
    match punct.as_char() {
        // `=>` and `=`, but not `==`.
        '=' => !(joint && second.is_some_and(|token| is(token, '='))),
        '|' => !(joint && second.is_some_and(|token| is(token, '|'))),
        _ => false,
    }
}

/// Returns `true` if a group's tokens end in a bare `..`.
pub(crate) fn ends_in_rest(tokens: &TokenStream) -> bool {
    let list: Vec<TokenTree> = tokens.clone().into_iter().collect();
    matches!(list.as_slice(), [.., one, two] if is(one, '.') && is(two, '.'))
}
