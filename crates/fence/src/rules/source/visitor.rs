//! The syntax visitor.
//!
//! Each kind of node is listed, so that a kind which a new version of syn adds is reported and not skipped.

use proc_macro2::TokenStream;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::names::resolve::KnownType;
use crate::rules::source::construct::general::any;
use crate::rules::source::{Checker, FnContext};
use crate::syntax::written::name;

impl<'ast> Visit<'ast> for Checker<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        self.item(item);
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.block(block);
    }

    fn visit_attribute(&mut self, attr: &'ast syn::Attribute) {
        self.attribute(attr);
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if !Self::skips(&field.attrs) {
            let known = self.ty(&field.ty);
            self.uninitialized(&field.ty, &known);
            visit::visit_field(self, field);
        }
    }

    fn visit_field_value(&mut self, field: &'ast syn::FieldValue) {
        if !Self::skips(&field.attrs) {
            visit::visit_field_value(self, field);
        }
    }

    fn visit_stmt(&mut self, stmt: &'ast syn::Stmt) {
        match stmt {
            syn::Stmt::Local(local) => {
                if !Self::skips(&local.attrs) {
                    self.binding(local);
                }
            }
            syn::Stmt::Item(item) => self.visit_item(item),
            // syn stores an attribute of a statement at the leftmost part of its expression.
            syn::Stmt::Expr(expr, _) if Self::skips(attrs_of(leftmost(expr))) => {}
            syn::Stmt::Expr(expr, semi) => {
                if semi.is_some() {
                    self.race_statement(expr);
                }
                self.visit_expr(expr);
            }
            syn::Stmt::Macro(call) => {
                if !Self::skips(&call.attrs) {
                    self.call_of_macro(&call.mac, &call.attrs);
                }
            }
        }
    }

    fn visit_expr(&mut self, expr: &'ast syn::Expr) {
        if Self::skips(attrs_of(expr)) {
            return;
        }
        match expr {
            syn::Expr::Struct(one) => self.struct_literal(one),
            syn::Expr::Path(one) => {
                self.value_path(one.qself.as_ref(), &one.path);
                visit::visit_expr_path(self, one);
            }
            syn::Expr::Call(one) => self.call(one),
            syn::Expr::MethodCall(one) => self.method_call(one),
            syn::Expr::Cast(one) => {
                self.cast(one);
                visit::visit_expr_cast(self, one);
            }
            syn::Expr::Assign(one) => self.assign(one),
            syn::Expr::Closure(one) => self.closure(one),
            syn::Expr::Return(one) => {
                if let Some(value) = &one.expr {
                    let wanted =
                        self.fns.last().map_or(KnownType::Unknown, |function| function.output.clone());
                    self.expect(value, &wanted, 0);
                    self.pointer_out(value, &wanted);
                }
                visit::visit_expr_return(self, one);
            }
            syn::Expr::Macro(one) => self.call_of_macro(&one.mac, &one.attrs),
            syn::Expr::Async(one) => {
                self.within(KnownType::Unknown, |this| visit::visit_expr_async(this, one));
            }
            syn::Expr::If(one) => self.condition(one),
            syn::Expr::While(one) => {
                self.race_condition(&one.cond, &Branches::none());
                visit::visit_expr_while(self, one);
            }
            syn::Expr::Match(one) => {
                self.race_match(one);
                self.visit_expr(&one.expr);
                let known = self.type_of(&one.expr);
                for arm in one.arms.iter().filter(|arm| !Self::skips(&arm.attrs)) {
                    self.check_destructured(&arm.pat, &one.expr);
                    let locals = self.locals.len();
                    match &arm.pat {
                        syn::Pat::Guard(guarded) => {
                            self.bind_pattern(&guarded.pat, &known);
                            self.visit_expr(&guarded.guard);
                        }
                        other => self.bind_pattern(other, &known),
                    }
                    self.visit_expr(&arm.body);
                    self.locals.truncate(locals);
                }
            }
            syn::Expr::Let(one) => {
                self.check_destructured(&one.pat, &one.expr);
                self.visit_expr(&one.expr);
                let known = self.type_of(&one.expr);
                self.bind_pattern(&one.pat, &known);
                self.race_names(&one.pat, &one.expr);
            }
            syn::Expr::Verbatim(tokens) => self.scan_tokens(tokens),
            syn::Expr::ForLoop(one) => {
                let locals = self.locals.len();
                self.race_loop(&one.expr);
                self.visit_expr(&one.expr);
                let known = self.item_of(&one.expr);
                self.bind_pattern(&one.pat, &known);
                self.visit_block(&one.body);
                self.locals.truncate(locals);
            }
            syn::Expr::Array(_)
            | syn::Expr::Await(_)
            | syn::Expr::Binary(_)
            | syn::Expr::Block(_)
            | syn::Expr::Break(_)
            | syn::Expr::Const(_)
            | syn::Expr::Field(_)
            | syn::Expr::Group(_)
            | syn::Expr::Index(_)
            | syn::Expr::Loop(_)
            | syn::Expr::Paren(_)
            | syn::Expr::Range(_)
            | syn::Expr::RawAddr(_)
            | syn::Expr::Reference(_)
            | syn::Expr::Repeat(_)
            | syn::Expr::Try(_)
            | syn::Expr::TryBlock(_)
            | syn::Expr::Tuple(_)
            | syn::Expr::Unary(_)
            | syn::Expr::Unsafe(_)
            | syn::Expr::Yield(_) => visit::visit_expr(self, expr),
            syn::Expr::Continue(_) | syn::Expr::Infer(_) | syn::Expr::Lit(_) => {}
            other => self.unknown_node(other.span(), "expression"),
        }
    }

    fn visit_type(&mut self, ty: &'ast syn::Type) {
        match ty {
            syn::Type::Macro(one) => self.call_of_macro(&one.mac, &[]),
            syn::Type::Verbatim(tokens) => self.scan_tokens(tokens),
            syn::Type::Array(_)
            | syn::Type::FnPtr(_)
            | syn::Type::Group(_)
            | syn::Type::ImplTrait(_)
            | syn::Type::Paren(_)
            | syn::Type::Path(_)
            | syn::Type::Ptr(_)
            | syn::Type::Reference(_)
            | syn::Type::Slice(_)
            | syn::Type::TraitObject(_)
            | syn::Type::Tuple(_) => visit::visit_type(self, ty),
            syn::Type::Infer(_) | syn::Type::Never(_) => {}
            other => self.unknown_node(other.span(), "type"),
        }
    }

    /// Patterns destructure values. Paths and literals in them make none.
    fn visit_pat(&mut self, pat: &'ast syn::Pat) {
        match pat {
            syn::Pat::Const(one) => visit::visit_expr_const(self, one),
            syn::Pat::Guard(one) => {
                self.visit_pat(&one.pat);
                self.visit_expr(&one.guard);
            }
            syn::Pat::Ident(one) => {
                // The new binding hides an older one of the same name, with its type.
                self.bind(name(&one.ident), KnownType::Unknown, None);
                if let Some((_, inner)) = &one.subpat {
                    self.visit_pat(inner);
                }
            }
            syn::Pat::Or(one) => visit::visit_pat_or(self, one),
            syn::Pat::Paren(one) => visit::visit_pat_paren(self, one),
            syn::Pat::Reference(one) => visit::visit_pat_reference(self, one),
            syn::Pat::Slice(one) => visit::visit_pat_slice(self, one),
            syn::Pat::Struct(one) => {
                for field in &one.fields {
                    self.visit_pat(&field.pat);
                }
            }
            syn::Pat::Tuple(one) => visit::visit_pat_tuple(self, one),
            syn::Pat::TupleStruct(one) => {
                for elem in &one.elems {
                    self.visit_pat(elem);
                }
            }
            syn::Pat::Type(one) => {
                self.visit_pat(&one.pat);
                self.visit_type(&one.ty);
            }
            syn::Pat::Lit(_)
            | syn::Pat::Macro(_)
            | syn::Pat::Path(_)
            | syn::Pat::Range(_)
            | syn::Pat::Rest(_)
            | syn::Pat::Verbatim(_)
            | syn::Pat::Wild(_) => {}
            other => self.unknown_node(other.span(), "pattern"),
        }
    }

    fn visit_token_stream(&mut self, _: &'ast TokenStream) {}
}

/// The branches of an `if let`, for E01.
pub(crate) struct Branches<'a> {
    pub(crate) then: Option<&'a syn::Block>,
    pub(crate) otherwise: Option<&'a syn::Expr>,
}

impl Branches<'_> {
    pub(crate) const fn none() -> Self {
        Self { then: None, otherwise: None }
    }
}

impl Checker<'_> {
    /// Runs a check inside a closure or an async block, which has its own return type.
    fn within(&mut self, output: KnownType, inside: impl FnOnce(&mut Self)) {
        let outer = self.fns.last().cloned();
        self.fns.push(FnContext {
            output,
            takes_grant: outer.as_ref().is_some_and(|outer| outer.takes_grant),
            chokepoint: outer.as_ref().is_some_and(|outer| outer.chokepoint),
            test_feature: outer.as_ref().is_some_and(|outer| outer.test_feature),
        });
        inside(self);
        self.fns.pop();
    }

    fn closure(&mut self, one: &syn::ExprClosure) {
        let locals = self.locals.len();
        let mut handed = std::mem::replace(&mut self.closure_input, KnownType::Unknown);
        for input in &one.inputs {
            self.bind_pattern(input, &handed);
            handed = KnownType::Unknown;
        }
        let output = match &one.output {
            syn::ReturnType::Default => KnownType::Unknown,
            syn::ReturnType::Type(_, ty) => {
                self.visit_type(ty);
                self.ty(ty)
            }
        };
        self.expect(&one.body, &output, 0);
        self.within(output, |this| this.visit_expr(&one.body));
        self.locals.truncate(locals);
    }

    /// Checks `if` with its `else if` chain.
    ///
    /// A chain nests once per condition. The loop keeps the recursion depth constant.
    fn condition(&mut self, one: &syn::ExprIf) {
        let mut next = Some(one);
        while let Some(one) = next {
            let otherwise = one.else_branch.as_ref().map(|(_, otherwise)| &**otherwise);
            self.race_condition(&one.cond, &Branches { then: Some(&one.then_branch), otherwise });
            let locals = self.locals.len();
            self.visit_expr(&one.cond);
            self.visit_block(&one.then_branch);
            self.locals.truncate(locals);
            next = match otherwise {
                Some(syn::Expr::If(inner)) => Some(inner),
                Some(other) => {
                    self.visit_expr(other);
                    None
                }
                None => None,
            };
        }
    }

    fn assign(&mut self, one: &syn::ExprAssign) {
        self.race_assigned(&one.left, &one.right);
        let place = match &*one.left {
            syn::Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => &unary.expr,
            other => other,
        };
        if matches!(place, syn::Expr::Path(_) | syn::Expr::Field(_) | syn::Expr::Index(_)) {
            let wanted = self.type_of(place);
            let value = match wanted {
                KnownType::Ref(inner) => *inner,
                other => other,
            };
            self.expect(&one.right, &value, 0);
        }
        self.target(&one.left);
        self.visit_expr(&one.right);
    }

    /// Checks the left side of an assignment, a pattern that syn parses as an expression.
    fn target(&mut self, left: &syn::Expr) {
        match left {
            syn::Expr::Struct(one) => one.fields.iter().for_each(|field| self.target(&field.expr)),
            syn::Expr::Call(one) => one.args.iter().for_each(|arg| self.target(arg)),
            syn::Expr::Tuple(one) => one.elems.iter().for_each(|elem| self.target(elem)),
            syn::Expr::Array(one) => one.elems.iter().for_each(|elem| self.target(elem)),
            syn::Expr::Paren(one) => self.target(&one.expr),
            syn::Expr::Path(_) | syn::Expr::Infer(_) => {}
            other => self.visit_expr(other),
        }
    }

    fn binding(&mut self, local: &syn::Local) {
        for attr in &local.attrs {
            self.attribute(attr);
        }
        let (pat, ty) = match &local.pat {
            syn::Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            other => (other, None),
        };
        let mut known = KnownType::Infer;
        if let Some(ty) = ty {
            self.visit_type(ty);
            known = self.ty(ty);
        }
        let (mut race, mut gives) = (None, None);
        if let Some(init) = &local.init {
            if let Some(ty) = ty {
                self.annotation(ty, &known, &init.expr);
            }
            self.race_binding(&local.pat, init);
            self.check_destructured(pat, &init.expr);
            self.initializer(&known, &init.expr);
            if let Some((_, diverge)) = &init.diverge {
                self.visit_expr(diverge);
            }
            if ty.is_none() {
                known = self.type_of(&init.expr);
            }
            race = self.race_call(&init.expr);
            if let syn::Expr::Closure(closure) = &*init.expr {
                gives = self.race_closure(closure, &KnownType::Unknown);
            }
        } else if let Some(ty) = ty {
            self.uninitialized(ty, &known);
        }
        match pat {
            syn::Pat::Ident(ident) if ident.subpat.is_none() => {
                self.bind(name(&ident.ident), known, race);
                if let Some(local) = self.locals.last_mut() {
                    local.gives = gives;
                }
            }
            other => {
                self.bind_pattern(other, &known);
                if let Some(init) = &local.init {
                    self.race_names(other, &init.expr);
                }
            }
        }
    }

    /// Checks a value with a known type, then visits it.
    pub(crate) fn initializer(&mut self, wanted: &KnownType, value: &syn::Expr) {
        self.expect(value, wanted, 0);
        let other = !matches!(wanted, KnownType::Infer | KnownType::Unknown) && any(wanted).is_none();
        if other {
            self.other_type = self.other_type.saturating_add(1);
        }
        self.visit_expr(value);
        if other {
            self.other_type = self.other_type.saturating_sub(1);
        }
    }
}

fn leftmost(expr: &syn::Expr) -> &syn::Expr {
    let mut expr = expr;
    loop {
        expr = match expr {
            syn::Expr::Assign(one) => &one.left,
            syn::Expr::Binary(one) => &one.left,
            syn::Expr::Cast(one) => &one.expr,
            other => return other,
        };
    }
}

/// Returns the attributes of any expression.
fn attrs_of(expr: &syn::Expr) -> &[syn::Attribute] {
    macro_rules! attrs {
        ($($kind:ident)*) => { match expr { $(syn::Expr::$kind(one) => &one.attrs,)* _ => &[] } };
    }
    attrs!(
        Array Assign Async Await Binary Block Break Call Cast Closure Const Continue Field ForLoop Group If Index Infer
        Let Lit Loop Macro Match MethodCall Paren Path Range RawAddr Reference Repeat Return Struct Try TryBlock Tuple
        Unary Unsafe While Yield
    )
}
