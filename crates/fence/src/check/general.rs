//! F03: general constructors, where the type they make is in sight.

use syn::visit::Visit;

use super::Checker;
use crate::Rule;
use crate::resolve::{Ns, RTy, What};
use crate::ty::{Path, bare, generic_args};

/// A constructor that serves any type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum General {
    Default,
    /// `mem::take` leaves a default behind.
    Take,
    /// `From::from`: makes its own type.
    From,
    TryFrom,
    /// `Into::into`: makes the type it is asked for.
    IntoOther,
    TryIntoOther,
    Parse,
    Deserialize,
    Collect,
}

/// Finds a general constructor by its name.
pub(super) fn general(name: &str) -> Option<General> {
    match name {
        "default" => Some(General::Default),
        "take" => Some(General::Take),
        "from" => Some(General::From),
        "try_from" => Some(General::TryFrom),
        "into" => Some(General::IntoOther),
        "try_into" => Some(General::TryIntoOther),
        "parse" => Some(General::Parse),
        "from_str" | "deserialize" | "from_slice" | "from_value" | "from_reader" | "from_bytes" => {
            Some(General::Deserialize)
        }
        "from_iter" | "collect" => Some(General::Collect),
        _ => None,
    }
}

/// Containers whose default is empty.
const EMPTY_BY_DEFAULT: &[&str] = &[
    "Option",
    "Vec",
    "VecDeque",
    "HashMap",
    "BTreeMap",
    "HashSet",
    "BTreeSet",
    "LinkedList",
    "BinaryHeap",
    "IndexMap",
    "IndexSet",
    "PhantomData",
    "Weak",
    "OnceCell",
    "OnceLock",
    "Sender",
    "Receiver",
    "Result",
];

/// Gives a capability type that a type holds by value, at any depth.
pub(super) fn any(ty: &RTy) -> Option<usize> {
    match ty {
        RTy::Cap(id) => Some(*id),
        RTy::Far { .. } if ty.far_name() == Some("PhantomData") => None,
        RTy::Own { args, .. } | RTy::Far { args, .. } => args.iter().find_map(any),
        RTy::Tuple(parts) => parts.iter().find_map(any),
        RTy::Array(inner) => any(inner),
        RTy::Ref(_) | RTy::Ptr(_) | RTy::Infer | RTy::Unknown => None,
    }
}

/// Gives a capability type that the default value of a type would hold.
pub(super) fn by_default(ty: &RTy) -> Option<usize> {
    match ty {
        RTy::Cap(id) => Some(*id),
        RTy::Far { args, .. } => {
            let empty = ty.far_name().is_some_and(|name| EMPTY_BY_DEFAULT.contains(&name));
            if empty { None } else { args.iter().find_map(by_default) }
        }
        RTy::Tuple(parts) => parts.iter().find_map(by_default),
        RTy::Array(inner) => by_default(inner),
        RTy::Own { .. } | RTy::Ref(_) | RTy::Ptr(_) | RTy::Infer | RTy::Unknown => None,
    }
}

/// Gives the capability type itself, or inside the answer of something that can fail.
fn direct(ty: &RTy) -> Option<usize> {
    match ty {
        RTy::Cap(id) => Some(*id),
        RTy::Far { args, .. } if matches!(ty.far_name(), Some("Result" | "Option")) => {
            args.first().and_then(direct)
        }
        // `impl Future<Output = T>`.
        RTy::Tuple(parts) => match parts.as_slice() {
            [only] => direct(only),
            _ => None,
        },
        _ => None,
    }
}

impl General {
    /// Gives the capability type that is made where this type is asked for.
    pub(super) fn makes(self, wanted: &RTy) -> Option<usize> {
        match self {
            Self::Default | Self::Take => by_default(wanted),
            Self::From | Self::IntoOther => match wanted {
                RTy::Cap(id) => Some(*id),
                _ => None,
            },
            Self::TryFrom | Self::TryIntoOther | Self::Parse | Self::Collect => direct(wanted),
            Self::Deserialize => any(wanted),
        }
    }
}

/// Methods that hand on what they are called on, or what is in it.
const LOOK_THROUGH: &[&str] = &[
    "unwrap",
    "expect",
    "ok",
    "unwrap_or",
    "unwrap_or_else",
    "map_err",
    "context",
    "with_context",
    "ok_or",
    "ok_or_else",
    "or",
    "or_else",
    "unwrap_unchecked",
    "inspect_err",
    "inspect",
    "into_inner",
    "transpose",
    "expect_err",
    "unwrap_or_default",
    "boxed",
];

/// How far a wanted type is followed into an expression.
const MAX_STEPS: u32 = 256;

impl Checker<'_> {
    pub(super) fn expect_block(&mut self, block: &syn::Block, wanted: &RTy) {
        self.expect_tail(block, wanted, 0);
    }

    fn expect_tail(&mut self, block: &syn::Block, wanted: &RTy, steps: u32) {
        match block.stmts.last() {
            Some(syn::Stmt::Expr(tail, None)) => self.expect(tail, wanted, steps),
            Some(syn::Stmt::Macro(call)) if call.semi_token.is_none() => {}
            _ => {}
        }
    }

    /// Asks what makes the value of an expression whose type is known.
    pub(super) fn expect(&mut self, expr: &syn::Expr, wanted: &RTy, steps: u32) {
        if any(wanted).is_none() || steps > MAX_STEPS || !self.applies.dependent {
            return;
        }
        let next = steps.saturating_add(1);
        match expr {
            syn::Expr::Paren(one) => self.expect(&one.expr, wanted, next),
            syn::Expr::Group(one) => self.expect(&one.expr, wanted, next),
            syn::Expr::Try(one) => self.expect(&one.expr, wanted, next),
            syn::Expr::Await(one) => self.expect(&one.base, wanted, next),
            syn::Expr::Block(one) => self.expect_scoped(&one.block, wanted, next),
            syn::Expr::Unsafe(one) => self.expect_scoped(&one.block, wanted, next),
            syn::Expr::Async(one) => self.expect_scoped(&one.block, wanted, next),
            syn::Expr::Const(one) => self.expect_scoped(&one.block, wanted, next),
            syn::Expr::TryBlock(one) => self.expect_scoped(&one.block, wanted, next),
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
                if let RTy::Tuple(parts) = wanted {
                    for (elem, part) in one.elems.iter().zip(parts) {
                        self.expect(elem, part, next);
                    }
                }
            }
            syn::Expr::Array(one) => {
                if let RTy::Array(inner) = wanted {
                    for elem in &one.elems {
                        self.expect(elem, inner, next);
                    }
                }
            }
            syn::Expr::Call(one) => self.expect_call(one, wanted, next),
            syn::Expr::MethodCall(one) => self.expect_method(one, wanted, next),
            _ => {}
        }
    }

    /// A block may bring names of its own, and a `let` in it may rename nothing that matters here.
    fn expect_scoped(&mut self, block: &syn::Block, wanted: &RTy, steps: u32) {
        let items = block.stmts.iter().any(|stmt| matches!(stmt, syn::Stmt::Item(_)));
        if items {
            let table = crate::collect::block(&block.stmts, crate::collect::Keep::default(), &mut self.names);
            self.frames.push(crate::resolve::Frame {
                names: Some(std::rc::Rc::new(table)),
                generics: std::collections::BTreeSet::new(),
            });
        }
        self.expect_tail(block, wanted, steps);
        if items {
            self.frames.pop();
        }
    }

    fn expect_breaks(&mut self, body: &syn::Block, wanted: &RTy, steps: u32) {
        for stmt in &body.stmts {
            if let syn::Stmt::Expr(syn::Expr::Break(one), _) = stmt
                && let Some(value) = &one.expr
            {
                self.expect(value, wanted, steps);
            }
        }
    }

    fn expect_call(&mut self, one: &syn::ExprCall, wanted: &RTy, steps: u32) {
        let mut func = &*one.func;
        while let syn::Expr::Paren(inner) = func {
            func = &inner.expr;
        }
        let syn::Expr::Path(path) = func else { return };
        let Some(last) = path.path.segments.last() else { return };
        let written = Path::with_self(&path.path, path.qself.as_ref());
        let res = self.resolve(&written, Ns::Value);
        let full = match &res.what {
            What::Far(full) => full.clone(),
            What::Nothing => written.segs.iter().map(|seg| crate::ty::Name::clone(&seg.name)).collect(),
            What::Qualified { of_trait, .. } => {
                let mut full = of_trait.clone();
                full.extend(written.segs.iter().skip(res.used).map(|seg| crate::ty::Name::clone(&seg.name)));
                full
            }
            _ => return,
        };
        let name = full.last().map_or("", |name| &**name).to_owned();
        // Wrappers hand their argument on.
        match name.as_str() {
            "Ok" | "Some" => {
                if let (RTy::Far { args, .. }, Some(arg)) = (wanted, one.args.first()) {
                    let inner = args.first().cloned().unwrap_or(RTy::Unknown);
                    self.expect(arg, &inner, steps);
                }
                return;
            }
            "new" | "pin" if full.len() > 1 => {
                if let (RTy::Far { args, .. }, Some(arg)) = (wanted, one.args.first()) {
                    let inner = args.first().cloned().unwrap_or(RTy::Unknown);
                    self.expect(arg, &inner, steps);
                }
                return;
            }
            _ => {}
        }
        let explicit = !generic_args_of(last).is_empty();
        if let Some(kind) = general(&name) {
            let take = matches!(kind, General::Take);
            let in_mem = full.iter().rev().nth(1).is_some_and(|module| &**module == "mem");
            if !explicit && (!take || in_mem) {
                self.made_generally(kind, wanted, &name, last.ident.span());
            }
        }
        let before = full.iter().rev().nth(1).map_or("", |name| &**name).to_owned();
        self.unsafe_wanted(&before, &name, wanted, last.ident.span());
    }

    fn expect_method(&mut self, one: &syn::ExprMethodCall, wanted: &RTy, steps: u32) {
        let name = bare(&one.method);
        let kind = match name.as_str() {
            "into" | "try_into" | "parse" | "deserialize" => general(&name),
            "unwrap_or_default" => Some(General::Default),
            "collect" => Some(General::Collect),
            _ => None,
        };
        if let Some(kind) = kind
            && one.turbofish.is_none()
        {
            self.made_generally(kind, wanted, &name, one.method.span());
        }
        self.unsafe_method(one, wanted);
        if LOOK_THROUGH.contains(&name.as_str()) {
            self.expect(&one.receiver, wanted, steps);
        }
    }

    fn made_generally(&mut self, kind: General, wanted: &RTy, name: &str, span: proc_macro2::Span) {
        if let Some(id) = kind.makes(wanted) {
            let ty = self.type_name(id);
            let message = format!("`{name}` makes a `{ty}` here");
            self.report(Rule::F03, "annotation", span, Some(id), message);
        }
    }

    /// A call: its path, then what it is called with.
    pub(super) fn call(&mut self, one: &syn::ExprCall) {
        self.race_drop_call(one);
        self.unsafe_by_return(one);
        self.visit_expr(&one.func);
        for arg in &one.args {
            self.visit_expr(arg);
        }
    }

    /// A method call: a chain of them is as deep as it is long, and is walked from its root.
    pub(super) fn method_call(&mut self, one: &syn::ExprMethodCall) {
        self.race_method(one);
        self.watched_method(&one.method);
        if let Some(list) = &one.turbofish {
            let args: Vec<RTy> =
                generic_args(list).iter().map(|arg| self.resolver.ty(self.scope(), arg)).collect();
            let name = bare(&one.method);
            let made = general(&name).and_then(|kind| args.iter().find_map(|arg| kind.makes(arg)));
            if let Some(id) = made
                && self.applies.dependent
            {
                let ty = self.type_name(id);
                let message = format!("`{name}` makes a `{ty}` here");
                self.report(Rule::F03, "turbofish", one.method.span(), Some(id), message);
            }
            self.unsafe_turbofish(&one.method, &args);
            self.visit_angle_bracketed_generic_arguments(list);
        }
        self.unsafe_method_by_return(one);
        self.visit_expr(&one.receiver);
        for arg in &one.args {
            self.visit_expr(arg);
        }
    }
}

fn generic_args_of(seg: &syn::PathSegment) -> Vec<crate::ty::Ty> {
    match &seg.arguments {
        syn::PathArguments::AngleBracketed(list) => {
            let mut args = generic_args(list);
            args.retain(|arg| *arg != crate::ty::Ty::Infer);
            args
        }
        syn::PathArguments::None | syn::PathArguments::Parenthesized(_) => Vec::new(),
    }
}
