//! F03 and F04 for values whose type is known.
//!
//! The known type is passed down from a statement into its expression, to the calls that make the value.

use syn::visit::Visit;

use crate::names::resolve::{KnownType, Meaning, Namespace};
use crate::rules::source::Checker;
use crate::rules::source::construct::general::{GeneralConstructor, direct, general};
use crate::rules::source::construct::raw_memory;
use crate::rules::source::types::expressions::{SAME_ITEMS, is_map};
use crate::syntax::macro_rules::{is, split_commas};
use crate::syntax::name_list::NameList;
use crate::syntax::peel::{block_of, plain};
use crate::syntax::written::{Name, Path, WrittenType, bare, generic_args};

/// Methods that return their receiver, or the value inside it.
const LOOK_THROUGH: NameList = NameList(
    "unwrap expect ok unwrap_or unwrap_or_else map_err context with_context ok_or ok_or_else or or_else \
     unwrap_unchecked inspect_err inspect into_inner transpose expect_err unwrap_or_default boxed \
     into_iter into_boxed_slice flatten",
);

/// The limit of nested expressions into which a type is passed down.
const MAX_STEPS: u32 = 256;

impl Checker<'_> {
    pub(crate) fn expect_block(&mut self, block: &syn::Block, wanted: &KnownType) {
        self.expect_tail(block, wanted, 0);
    }

    fn expect_tail(&mut self, block: &syn::Block, wanted: &KnownType, steps: u32) {
        match block.stmts.last() {
            Some(syn::Stmt::Expr(tail, None)) => {
                self.expect(tail, wanted, steps);
                self.expect_bound(block, tail, wanted, steps.saturating_add(1));
            }
            Some(syn::Stmt::Macro(call)) if call.semi_token.is_none() => self.expect_macro(&call.mac, wanted),
            _ => {}
        }
    }

    /// Checks the calls that make the value of an expression with a known type.
    pub(crate) fn expect(&mut self, expr: &syn::Expr, wanted: &KnownType, steps: u32) {
        if !wanted.names_a_capability() && self.capability_in(wanted).is_none()
            || steps > MAX_STEPS
            || !self.applies.dependent
        {
            return;
        }
        let next = steps.saturating_add(1);
        let expr = plain(expr);
        if let Some(block) = block_of(expr) {
            self.expect_scoped(block, wanted, next);
        }
        match expr {
            syn::Expr::Try(one) => self.expect(&one.expr, wanted, next),
            syn::Expr::Await(one) => self.expect(&one.base, wanted, next),
            syn::Expr::Block(one) if one.label.is_some() => self.expect_breaks(&one.block, wanted, next),
            syn::Expr::If(one) => {
                self.expect_scoped(&one.then_branch, wanted, next);
                if let Some((_, otherwise)) = &one.else_branch {
                    self.expect(otherwise, wanted, next);
                }
            }
            syn::Expr::Match(one) => {
                for arm in one.arms.iter().filter(|arm| !Self::skips(&arm.attrs)) {
                    self.expect(&arm.body, wanted, next);
                }
            }
            syn::Expr::Loop(one) => self.expect_breaks(&one.body, wanted, next),
            syn::Expr::Tuple(one) => {
                if let KnownType::Tuple(parts) = wanted {
                    for (elem, part) in one.elems.iter().zip(parts) {
                        self.expect(elem, part, next);
                    }
                }
            }
            syn::Expr::Array(one) => {
                if let KnownType::Array(inner) = wanted {
                    for elem in &one.elems {
                        self.expect(elem, inner, next);
                    }
                }
            }
            syn::Expr::Repeat(one) => {
                if let KnownType::Array(inner) = wanted {
                    self.expect(&one.expr, inner, next);
                }
            }
            syn::Expr::Reference(one) => {
                if let KnownType::Ref(inner) = wanted {
                    self.expect(&one.expr, inner, next);
                }
            }
            syn::Expr::Unary(one) if matches!(one.op, syn::UnOp::Deref(_)) => self.pointer(&one.expr, wanted),
            syn::Expr::Macro(one) => self.expect_macro(&one.mac, wanted),
            syn::Expr::Call(one) => self.expect_call(one, wanted, next),
            syn::Expr::MethodCall(one) => self.expect_method(one, wanted, next),
            // `fn() -> T` with its value.
            syn::Expr::Path(_) | syn::Expr::Closure(_) => {
                if let Some(output) = called_for(wanted) {
                    self.expect_producer(expr, &output, next);
                }
            }
            _ => {}
        }
    }

    /// Checks a block with the items that it defines in scope.
    fn expect_scoped(&mut self, block: &syn::Block, wanted: &KnownType, steps: u32) {
        let items = block.stmts.iter().any(|stmt| matches!(stmt, syn::Stmt::Item(_)));
        if items {
            self.block_frame(&block.stmts);
        }
        self.expect_tail(block, wanted, steps);
        if items {
            self.frames.pop();
        }
    }

    fn expect_breaks(&mut self, body: &syn::Block, wanted: &KnownType, steps: u32) {
        for value in breaks_of(body) {
            self.expect(value, wanted, steps);
        }
    }

    /// Checks a function argument that returns the value when it is called.
    pub(crate) fn expect_producer(&mut self, function: &syn::Expr, wanted: &KnownType, steps: u32) {
        match plain(function) {
            syn::Expr::Closure(one) => self.expect(&one.body, wanted, steps),
            syn::Expr::Path(one) => self.expect_function(one, wanted),
            _ => {}
        }
    }

    fn expect_macro(&mut self, mac: &syn::Macro, wanted: &KnownType) {
        let Some(last) = mac.path.segments.last() else { return };
        let name = bare(&last.ident);
        if raw_memory::is_unsafe("", &name) {
            self.unsafe_wanted("", &name, wanted, last.ident.span());
        }
        if name == "vec" && wanted.far_name() == Some("Vec") {
            let parts = split_commas(&mac.tokens);
            for part in parts {
                // In `vec![value; n]` the value precedes the `;`.
                let value = part.into_iter().take_while(|token| !is(token, ';')).collect();
                if let Some(value) = self.expression(value) {
                    self.expect(&value, &element(wanted), 1);
                }
            }
        }
    }

    fn expect_call(&mut self, one: &syn::ExprCall, wanted: &KnownType, steps: u32) {
        let syn::Expr::Path(path) = plain(&one.func) else { return };
        let Some(full) = self.function_name(path) else {
            self.expect_function(path, wanted);
            return;
        };
        let name = full.last().map_or("", |name| &**name);
        if name == "replace" && full.len() > 1 {
            if let Some(value) = one.args.iter().nth(1) {
                self.expect(value, wanted, steps);
            }
        } else if let KnownType::Tuple(_) = wanted {
            self.expect_items_of_call(name, one, &element(wanted), steps);
        }
        // Wrappers take their argument as the value, or call it later.
        if let ("Ok" | "Some", _) | ("new" | "pin" | "from", 2..) = (name, full.len())
            && let (KnownType::Far { args, .. }, Some(arg)) = (wanted, one.args.first())
        {
            let inner = args.first().cloned().unwrap_or(KnownType::Unknown);
            if called_for(&inner).is_some() {
                self.expect(arg, &inner, steps);
                return;
            }
            self.expect(arg, &inner, steps);
            if name == "new" {
                self.expect_producer(arg, &inner, steps);
            }
            return;
        }
        self.expect_function(path, wanted);
    }

    /// Returns the whole path of a function of a crate that is not scanned.
    fn function_name(&self, path: &syn::ExprPath) -> Option<Vec<Name>> {
        let written = Path::with_self(&path.path, path.qself.as_ref());
        let res = self.resolve(&written, Namespace::Value);
        match res.what {
            Meaning::Far(full) => Some(full),
            Meaning::Nothing => Some(written.segs.iter().map(|seg| Name::clone(&seg.name)).collect()),
            Meaning::Qualified { of_trait, .. } => {
                let mut full = of_trait;
                full.extend(written.segs.iter().skip(res.used).map(|seg| Name::clone(&seg.name)));
                Some(full)
            }
            _ => None,
        }
    }

    /// Checks the path of a function whose return type is known.
    fn expect_function(&mut self, path: &syn::ExprPath, wanted: &KnownType) {
        let Some(last) = path.path.segments.last() else { return };
        if let Some(full) = self.function_name(path) {
            let name = full.last().map_or("", |name| &**name);
            let before = full.iter().rev().nth(1).map_or("", |name| &**name);
            if let Some(kind) = general(name) {
                let take = matches!(kind, GeneralConstructor::Take) && before != "mem";
                if generic_args_of(last).is_empty() && !take {
                    self.expect_general(kind, wanted, name, last.ident.span());
                }
            }
            if name == "unwrap_or_default" && matches!(before, "Option" | "Result") {
                self.expect_general(GeneralConstructor::Default, wanted, name, last.ident.span());
            }
            self.unsafe_wanted(before, name, wanted, last.ident.span());
            return;
        }
        let written = Path::with_self(&path.path, path.qself.as_ref());
        let res = self.resolve(&written, Namespace::Value);
        match &res.what {
            Meaning::Value { module, name } if generic_args_of(last).is_empty() => {
                self.maker_wanted(*module, name, wanted, last.ident.span());
            }
            // `Remake::remake()`, a trait function of the capability crate whose type follows from its
            // position.
            Meaning::Type(KnownType::Own { place, .. }) if res.used < written.segs.len() => {
                let Some(id) = direct(wanted) else { return };
                let function = bare(&last.ident);
                let inventory = self.inventory;
                if inventory.remakers.contains(&place.2)
                    && inventory.origin(id, &function).is_some()
                    && self.world.files.get(place.0).is_some()
                {
                    self.constructor(id, Some(last.ident.span()), &function, "trait");
                }
            }
            _ => {}
        }
    }

    fn expect_method(&mut self, one: &syn::ExprMethodCall, wanted: &KnownType, steps: u32) {
        let name = bare(&one.method);
        let kind = match name.as_str() {
            "into" | "try_into" | "parse" | "deserialize" => general(&name),
            "unwrap_or_default" | "or_default" | "get_or_insert_default" => Some(GeneralConstructor::Default),
            "collect" | "sum" | "product" => Some(GeneralConstructor::Collect),
            _ => None,
        };
        if let Some(kind) = kind
            && one.turbofish.is_none()
        {
            let by_reference = matches!(name.as_str(), "or_default" | "get_or_insert_default");
            self.expect_general(
                kind,
                if by_reference { behind(wanted) } else { wanted },
                &name,
                one.method.span(),
            );
        }
        if name == "collect" || matches!(wanted, KnownType::Tuple(_)) {
            self.expect_items(&one.receiver, &element(wanted), steps);
        }
        self.unsafe_method(one, wanted);
        if LOOK_THROUGH.has(&name) {
            self.expect(&one.receiver, wanted, steps);
        }
        let inner = match wanted {
            KnownType::Far { args, .. } if matches!(wanted.far_name(), Some("Option" | "Result")) => {
                args.first().cloned().unwrap_or(KnownType::Unknown)
            }
            other => other.clone(),
        };
        let mut args = one.args.iter();
        match (name.as_str(), args.next(), args.next()) {
            ("unwrap_or" | "or", Some(value), None) => self.expect(value, wanted, steps),
            ("then_some", Some(value), None) => self.expect(value, &inner, steps),
            ("unwrap_or_else" | "or_else" | "and_then", Some(function), None) => {
                self.expect_producer(function, wanted, steps);
            }
            ("or_insert" | "get_or_insert" | "insert", Some(value), _) => {
                self.expect(value, behind(wanted), steps);
            }
            ("or_insert_with" | "get_or_insert_with" | "get_or_init", Some(function), None) => {
                self.expect_producer(function, behind(wanted), steps);
            }
            ("map" | "then", Some(function), None) => self.expect_producer(function, &inner, steps),
            ("map_or", Some(value), Some(function)) => {
                self.expect(value, wanted, steps);
                self.expect_producer(function, wanted, steps);
            }
            ("map_or_else", Some(one), Some(other)) => {
                self.expect_producer(one, wanted, steps);
                self.expect_producer(other, wanted, steps);
            }
            _ => {}
        }
    }

    /// Checks how an iterator makes items of a known type.
    fn expect_items(&mut self, expr: &syn::Expr, item: &KnownType, steps: u32) {
        let mut rest = expr;
        loop {
            match plain(rest) {
                syn::Expr::MethodCall(one) => {
                    let name = bare(&one.method);
                    match (name.as_str(), one.args.first()) {
                        ("map" | "filter_map" | "flat_map" | "map_while", Some(function)) => {
                            if one.turbofish.is_none() {
                                self.expect_producer(function, item, steps);
                            }
                            return;
                        }
                        _ if SAME_ITEMS.has(&name) => rest = &one.receiver,
                        _ => return,
                    }
                }
                syn::Expr::Call(one) => {
                    let syn::Expr::Path(path) = &*one.func else { return };
                    let Some(full) = self.function_name(path) else { return };
                    let name = full.last().map_or("", |name| &**name).to_owned();
                    self.expect_items_of_call(&name, one, item, steps);
                    return;
                }
                _ => return,
            }
        }
    }

    fn expect_items_of_call(&mut self, name: &str, one: &syn::ExprCall, item: &KnownType, steps: u32) {
        let Some(first) = one.args.first() else { return };
        match name {
            "repeat_with" | "once_with" | "from_fn" => self.expect_producer(first, item, steps),
            "once" | "repeat" => self.expect(first, item, steps),
            _ => {}
        }
    }

    pub(crate) fn expect_general(
        &mut self,
        kind: GeneralConstructor,
        wanted: &KnownType,
        name: &str,
        span: proc_macro2::Span,
    ) {
        self.report_general("annotation", span, kind.makes(wanted), name);
    }
}

/// Returns the type behind references.
fn behind(wanted: &KnownType) -> &KnownType {
    match wanted {
        KnownType::Ref(inner) => behind(inner),
        other => other,
    }
}

/// Returns the return type of a function pointer or of `impl Fn() -> T`.
fn called_for(wanted: &KnownType) -> Option<KnownType> {
    match wanted {
        KnownType::Ptr(output) => Some((**output).clone()),
        KnownType::Tuple(parts) => match parts.as_slice() {
            [KnownType::Ptr(output)] => Some((**output).clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the item type of a collection or an iterator.
fn element(wanted: &KnownType) -> KnownType {
    match wanted {
        KnownType::Far { args, .. } => match args.as_slice() {
            [key, value, ..] if is_map(wanted) => KnownType::Tuple(vec![key.clone(), value.clone()]),
            [first, ..] => element(first),
            [] => KnownType::Unknown,
        },
        KnownType::Array(inner) => element(inner),
        KnownType::Tuple(parts) => match parts.as_slice() {
            [only] => element(only),
            _ => wanted.clone(),
        },
        other => other.clone(),
    }
}

/// Returns the type arguments that are not `_`.
pub(crate) fn generic_args_of(seg: &syn::PathSegment) -> Vec<WrittenType> {
    match &seg.arguments {
        syn::PathArguments::AngleBracketed(list) => {
            let mut args = generic_args(list);
            args.retain(|arg| *arg != WrittenType::Infer);
            args
        }
        syn::PathArguments::None | syn::PathArguments::Parenthesized(_) => Vec::new(),
    }
}

/// Returns the values of the `break`s in a loop body.
pub(crate) fn breaks_of(body: &syn::Block) -> Vec<&syn::Expr> {
    let mut breaks = Breaks(Vec::new());
    breaks.visit_block(body);
    breaks.0
}

struct Breaks<'e>(Vec<&'e syn::Expr>);

impl<'ast> Visit<'ast> for Breaks<'ast> {
    fn visit_expr_break(&mut self, one: &'ast syn::ExprBreak) {
        self.0.extend(one.expr.as_deref());
    }

    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
