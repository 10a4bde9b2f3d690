//! The syntax visitor.

use syn::visit::{self, Visit};

use crate::names::collect::attrs_of as attrs_of_item;
use crate::names::resolve::KnownType;
use crate::rules::source::{Checker, Local};
use crate::syntax::cfg::is_test;
use crate::syntax::peel::referent;
use crate::syntax::written::{Name, bare, name};

impl<'ast> Visit<'ast> for Checker<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if is_test(attrs_of_item(item)) {
            return;
        }
        match item {
            syn::Item::Const(one) => self.constant_definition(&one.vis, &one.ident, &one.ty, &one.attrs),
            syn::Item::Static(one) => self.constant_definition(&one.vis, &one.ident, &one.ty, &one.attrs),
            _ => {}
        }
        let none = syn::Generics::default();
        let (ident, generics) = match item {
            syn::Item::Const(one) => (&one.ident, &one.generics),
            syn::Item::Static(one) => (&one.ident, &none),
            syn::Item::Struct(one) => (&one.ident, &one.generics),
            syn::Item::Enum(one) => (&one.ident, &one.generics),
            syn::Item::Union(one) => (&one.ident, &one.generics),
            syn::Item::Fn(one) => return self.function(&one.sig, Some(&one.block), &one.attrs, &one.vis),
            syn::Item::Impl(one) => return self.implementation(one),
            syn::Item::Trait(one) => return self.a_trait(one),
            syn::Item::Mod(one) => return self.inline_module(one, usize::MAX),
            other => return visit::visit_item(self, other),
        };
        self.definition(item, ident);
        self.named(bare(ident), generics, |this| visit::visit_item(this, item));
    }

    fn visit_impl_item_fn(&mut self, one: &'ast syn::ImplItemFn) {
        self.function(&one.sig, Some(&one.block), &one.attrs, &one.vis);
    }

    fn visit_trait_item_fn(&mut self, one: &'ast syn::TraitItemFn) {
        self.function(&one.sig, one.default.as_ref(), &one.attrs, &syn::Visibility::Inherited);
    }

    fn visit_impl_item_const(&mut self, one: &'ast syn::ImplItemConst) {
        if !is_test(&one.attrs) {
            self.constant_definition(&one.vis, &one.ident, &one.ty, &one.attrs);
            self.named(bare(&one.ident), &one.generics, |this| visit::visit_impl_item_const(this, one));
        }
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.block(block);
    }

    /// Attributes make no value that rustc would accept.
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.call_of_macro(mac);
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if !is_test(&field.attrs) {
            visit::visit_field(self, field);
        }
    }

    fn visit_stmt(&mut self, stmt: &'ast syn::Stmt) {
        match stmt {
            // syn stores an attribute of a statement at the leftmost part of its expression.
            syn::Stmt::Expr(expr, _) if is_test(attrs_of(leftmost(expr))) => {}
            syn::Stmt::Expr(expr, semi) => {
                if semi.is_some() {
                    self.race_statement(expr);
                }
                self.visit_expr(expr);
            }
            syn::Stmt::Macro(call) if is_test(&call.attrs) => {}
            other => visit::visit_stmt(self, other),
        }
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if is_test(&local.attrs) {
            return;
        }
        let mut known = None;
        if let syn::Pat::Type(typed) = &local.pat {
            self.visit_type(&typed.ty);
            known = Some(self.ty(&typed.ty));
        }
        let Some(init) = &local.init else {
            return self.bind_pattern(&local.pat, &known.unwrap_or(KnownType::Unknown));
        };
        self.race_binding(&local.pat, init);
        self.visit_expr(&init.expr);
        if let Some((_, diverge)) = &init.diverge {
            self.visit_expr(diverge);
        }
        let known = known.unwrap_or_else(|| self.type_of(&init.expr));
        let race = self.race_call(&init.expr);
        self.bind_pattern(&local.pat, &known);
        self.hold(&local.pat, race);
    }

    fn visit_expr(&mut self, expr: &'ast syn::Expr) {
        if is_test(attrs_of(expr)) {
            return;
        }
        match expr {
            syn::Expr::Struct(one) => {
                self.struct_literal(one);
                visit::visit_expr_struct(self, one);
            }
            syn::Expr::Path(one) => {
                self.value_path(one.qself.as_ref(), &one.path);
                visit::visit_expr_path(self, one);
            }
            syn::Expr::Call(one) => {
                self.race_drop_call(one);
                visit::visit_expr_call(self, one);
            }
            syn::Expr::MethodCall(one) => self.method_call(one),
            syn::Expr::Assign(one) => {
                self.race_assigned(&one.left, &one.right);
                // Destructuring is a pattern that syn parses as an expression.
                let place = referent(&one.left);
                if matches!(place, syn::Expr::Index(_) | syn::Expr::Unary(_) | syn::Expr::Field(_)) {
                    self.visit_expr(place);
                }
                self.visit_expr(&one.right);
            }
            syn::Expr::Closure(one) => self.closure(one, &KnownType::Unknown),
            syn::Expr::If(one) => {
                let otherwise = one.else_branch.as_ref().map(|(_, otherwise)| &**otherwise);
                self.race_condition(&one.cond, &one.then_branch, otherwise);
                let locals = self.locals.len();
                self.visit_expr(&one.cond);
                self.visit_block(&one.then_branch);
                self.locals.truncate(locals);
                if let Some(otherwise) = otherwise {
                    self.visit_expr(otherwise);
                }
            }
            syn::Expr::While(one) => {
                self.race_condition(&one.cond, &one.body, None);
                visit::visit_expr_while(self, one);
            }
            syn::Expr::Match(one) => {
                self.race_match(one);
                self.visit_expr(&one.expr);
                let known = self.type_of(&one.expr);
                for arm in one.arms.iter().filter(|arm| !is_test(&arm.attrs)) {
                    let locals = self.locals.len();
                    self.bind_pattern(&arm.pat, &known);
                    self.visit_pat(&arm.pat);
                    self.visit_expr(&arm.body);
                    self.locals.truncate(locals);
                }
            }
            syn::Expr::Let(one) => {
                self.visit_expr(&one.expr);
                let known = self.type_of(&one.expr);
                self.bind_pattern(&one.pat, &known);
            }
            syn::Expr::ForLoop(one) => {
                self.race_loop(&one.expr);
                self.visit_expr(&one.expr);
                let locals = self.locals.len();
                let known = self.type_of(&one.expr);
                self.bind_pattern(&one.pat, &known);
                self.visit_block(&one.body);
                self.locals.truncate(locals);
            }
            syn::Expr::Verbatim(tokens) => self.scan_tokens(tokens),
            other => visit::visit_expr(self, other),
        }
    }

    /// Patterns destructure values. Only their guards and types contain code.
    fn visit_pat(&mut self, pat: &'ast syn::Pat) {
        if !matches!(pat, syn::Pat::Macro(_)) {
            visit::visit_pat(self, pat);
        }
    }
}

impl Checker<'_> {
    fn method_call(&mut self, one: &syn::ExprMethodCall) {
        self.race_method(one);
        self.watched_method(&one.method);
        self.visit_expr(&one.receiver);
        if let Some(list) = &one.turbofish {
            self.visit_angle_bracketed_generic_arguments(list);
        }
        let known = self.type_of(&one.receiver);
        for arg in &one.args {
            match arg {
                // A closure receives the value inside the receiver, or its elements.
                syn::Expr::Closure(closure) => self.closure(closure, &known),
                other => self.visit_expr(other),
            }
        }
    }

    fn closure(&mut self, one: &syn::ExprClosure, given: &KnownType) {
        let locals = self.locals.len();
        for input in &one.inputs {
            self.visit_pat(input);
            self.bind_pattern(input, given);
        }
        visit::visit_return_type(self, &one.output);
        self.visit_expr(&one.body);
        self.locals.truncate(locals);
    }

    /// Binds the names of a pattern. Each gets the type of the value, or that of its part if it is known.
    pub(super) fn bind_pattern(&mut self, pat: &syn::Pat, ty: &KnownType) {
        match pat {
            syn::Pat::Type(one) => {
                let ty = self.ty(&one.ty);
                self.bind_pattern(&one.pat, &ty);
            }
            syn::Pat::Struct(one) => {
                for field in &one.fields {
                    let syn::Member::Named(member) = &field.member else { continue };
                    let known = self.field_of(ty, &bare(member)).unwrap_or(KnownType::Unknown);
                    self.bind_pattern(&field.pat, &known);
                }
            }
            other => {
                let mut names = BoundNames(Vec::new());
                names.visit_pat(other);
                self.locals.extend(names.0.into_iter().map(|name| Local {
                    name,
                    ty: ty.clone(),
                    race: None,
                }));
            }
        }
    }
}

/// The names that a pattern binds.
struct BoundNames(Vec<Name>);

impl<'ast> Visit<'ast> for BoundNames {
    fn visit_pat_ident(&mut self, one: &'ast syn::PatIdent) {
        self.0.push(name(&one.ident));
        visit::visit_pat_ident(self, one);
    }

    fn visit_expr(&mut self, _: &'ast syn::Expr) {}
}

fn leftmost(expr: &syn::Expr) -> &syn::Expr {
    match expr {
        syn::Expr::Assign(one) => leftmost(&one.left),
        syn::Expr::Binary(one) => leftmost(&one.left),
        syn::Expr::Cast(one) => leftmost(&one.expr),
        other => other,
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
