//! F03 and F04 for values whose type is known from a signature, a field or a pattern of the workspace.

use crate::names::resolve::{KnownType, Meaning, Namespace};
use crate::rules::source::Checker;
use crate::rules::source::construct::general::GeneralConstructor;
use crate::rules::source::types::expressions::{bottom, inside, member_name};
use crate::syntax::peel::{is_success, last_value};
use crate::syntax::written::{Name, Path, bare};

impl Checker<'_> {
    /// Checks the fields of a literal of a workspace type.
    pub(crate) fn check_fields(&mut self, own: &KnownType, one: &syn::ExprStruct) {
        let KnownType::Own { place, .. } = own else { return };
        if !self.applies.dependent {
            return;
        }
        for field in one.fields.iter().filter(|field| !Self::skips(&field.attrs)) {
            if let Some(wanted) = self.field_of(place, &member_name(&field.member)) {
                self.expect(&field.expr, &wanted, 0);
            }
        }
    }

    /// Checks the arguments of a workspace function or tuple struct.
    pub(crate) fn check_arguments(&mut self, one: &syn::ExprCall) {
        let syn::Expr::Path(path) = &*one.func else { return };
        if !self.applies.dependent || one.args.is_empty() {
            return;
        }
        let written = Path::with_self(&path.path, path.qself.as_ref());
        let res = self.resolve(&written, Namespace::Value);
        let wanted: Vec<KnownType> = match &res.what {
            Meaning::Type(KnownType::Own { place, .. }) if res.used == written.segs.len() => {
                (0..one.args.len())
                    .map(|at| self.field_of(place, &at.to_string()).unwrap_or(KnownType::Unknown))
                    .collect()
            }
            _ => self.called_inputs(&written, &res),
        };
        for (arg, wanted) in one.args.iter().zip(&wanted) {
            self.expect(arg, wanted, 0);
        }
    }

    /// Checks the arguments of a method, by its signature for workspace types and by the element type for
    /// collections.
    pub(crate) fn check_method_arguments(&mut self, one: &syn::ExprMethodCall) {
        if !self.applies.dependent {
            return;
        }
        self.closure_type(one);
        let name = bare(&one.method);
        if name == "or_default" || name == "or_insert_with" || name == "or_insert" {
            self.check_entry(one, &name);
            return;
        }
        if one.args.is_empty() {
            return;
        }
        let receiver = self.type_of(&one.receiver);
        let wanted = self.method_inputs(&receiver, &name);
        for (arg, wanted) in one.args.iter().zip(&wanted) {
            self.expect(arg, wanted, 0);
        }
        let receiver = bottom(&receiver).clone();
        let held = match receiver.far_name() {
            Some("OnceLock" | "OnceCell" | "Cell" | "RefCell" | "Mutex" | "RwLock") => match &receiver {
                KnownType::Far { args, .. } => args.first().cloned().unwrap_or(KnownType::Unknown),
                _ => KnownType::Unknown,
            },
            Some(_) => inside(receiver),
            None => return,
        };
        let last = one.args.last();
        match (name.as_str(), last) {
            (
                "push" | "push_back" | "push_front" | "insert" | "resize" | "replace" | "get_or_insert"
                | "unwrap_or" | "set" | "fill",
                Some(value),
            ) => self.expect(value, &held, 0),
            (
                "resize_with" | "get_or_insert_with" | "get_or_init" | "unwrap_or_else" | "fill_with"
                | "replace_with",
                Some(function),
            ) => self.expect_producer(function, &held, 0),
            _ => {}
        }
    }

    /// Checks `map.entry(k).or_default()`.
    fn check_entry(&mut self, one: &syn::ExprMethodCall, name: &str) {
        let syn::Expr::MethodCall(entry) = &*one.receiver else { return };
        if entry.method != "entry" {
            return;
        }
        let held = inside(self.type_of(&entry.receiver));
        match (name, one.args.first()) {
            ("or_default", None) => {
                self.expect_general(GeneralConstructor::Default, &held, name, one.method.span());
            }
            ("or_insert", Some(value)) => self.expect(value, &held, 0),
            ("or_insert_with", Some(function)) => self.expect_producer(function, &held, 0),
            _ => {}
        }
    }

    /// Checks `value.map(|p: T| ..)`, in which the closure names the type inside the value.
    fn closure_type(&mut self, one: &syn::ExprMethodCall) {
        let Some(syn::Expr::Closure(closure)) = one.args.last() else { return };
        let Some(syn::Pat::Type(typed)) = closure.inputs.first() else { return };
        let known = self.ty(&typed.ty);
        if known.names_a_capability() {
            self.expect(&one.receiver, &holding("Option", known), 0);
        }
    }

    /// Returns the type that a pattern requires of its value.
    pub(crate) fn pattern_type(&self, pat: &syn::Pat) -> Option<KnownType> {
        match pat {
            syn::Pat::Paren(one) => self.pattern_type(&one.pat),
            syn::Pat::Or(one) => one.cases.iter().find_map(|case| self.pattern_type(case)),
            syn::Pat::Struct(one) => self.pattern_path_type(&one.path),
            syn::Pat::TupleStruct(one) => {
                let last = one.path.segments.last()?;
                if is_success(&one.path) {
                    let written = self.segment_args(last).into_iter().next();
                    let inner =
                        written.or_else(|| one.elems.first().and_then(|pat| self.pattern_type(pat)))?;
                    return Some(holding(if last.ident == "Ok" { "Result" } else { "Option" }, inner));
                }
                self.pattern_path_type(&one.path)
            }
            _ => None,
        }
        .filter(KnownType::names_a_capability)
    }

    fn pattern_path_type(&self, path: &syn::Path) -> Option<KnownType> {
        match self.resolve(&Path::of(path), Namespace::Type).what {
            Meaning::Type(own @ KnownType::Cap(_)) | Meaning::Variant(own @ KnownType::Cap(_)) => Some(own),
            _ => None,
        }
    }

    /// Checks a value that a pattern destructures.
    pub(crate) fn check_destructured(&mut self, pat: &syn::Pat, value: &syn::Expr) {
        if self.applies.dependent
            && let Some(wanted) = self.pattern_type(pat)
        {
            self.expect(value, &wanted, 0);
        }
    }

    /// Checks a pointer to a capability that is the result of a cast without a type.
    pub(crate) fn pointer_out(&mut self, value: &syn::Expr, wanted: &KnownType) {
        let KnownType::Ptr(inner) = wanted else { return };
        let span = match value {
            syn::Expr::Cast(one) if matches!(&*one.ty, syn::Type::Infer(_)) => one.as_token.span,
            syn::Expr::MethodCall(one)
                if one.turbofish.is_none() && (one.method == "cast" || one.method == "cast_mut") =>
            {
                one.method.span()
            }
            syn::Expr::Unsafe(one) => return self.pointer_tail(&one.block, wanted),
            syn::Expr::Block(one) => return self.pointer_tail(&one.block, wanted),
            _ => return,
        };
        if let Some(id) = self.capability_in(inner) {
            self.report_raw_memory("cast", span, id, "a cast pointer");
        }
    }

    pub(crate) fn pointer_tail(&mut self, block: &syn::Block, wanted: &KnownType) {
        if let Some(tail) = last_value(block) {
            self.pointer_out(tail, wanted);
        }
    }

    /// Checks `let p = ..; p` and `let p = ..; Ok(p)`, in which the block's type applies to an earlier
    /// binding.
    pub(crate) fn expect_bound(
        &mut self,
        block: &syn::Block,
        tail: &syn::Expr,
        wanted: &KnownType,
        steps: u32,
    ) {
        let (name, wanted) = match tail {
            syn::Expr::Path(path) => (path.path.get_ident(), wanted.clone()),
            syn::Expr::Call(one) => match (&*one.func, one.args.first(), wanted) {
                (syn::Expr::Path(func), Some(syn::Expr::Path(arg)), KnownType::Far { args, .. })
                    if func.path.is_ident("Ok") || func.path.is_ident("Some") =>
                {
                    (arg.path.get_ident(), args.first().cloned().unwrap_or(KnownType::Unknown))
                }
                _ => return,
            },
            _ => return,
        };
        let Some(name) = name else { return };
        let bound = block.stmts.iter().rev().find_map(|stmt| match stmt {
            syn::Stmt::Local(local) => match &local.pat {
                syn::Pat::Ident(ident) if ident.ident == *name && !Self::skips(&local.attrs) => {
                    Some(&local.init)
                }
                _ => None,
            },
            _ => None,
        });
        if let Some(Some(init)) = bound {
            self.expect(&init.expr, &wanted, steps);
        }
    }
}

fn holding(what: &str, inner: KnownType) -> KnownType {
    KnownType::Far { path: vec![Name::from(what)], args: vec![inner] }
}
