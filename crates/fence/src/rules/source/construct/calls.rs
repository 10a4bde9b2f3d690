//! Calls of functions and methods, including generic ones that make a value of a type argument.

use proc_macro2::Span;
use syn::visit::Visit;

use crate::LintRule;
use crate::names::collect::{Maker, makes_by_bound};
use crate::names::resolve::KnownType;
use crate::rules::source::Checker;
use crate::rules::source::construct::general::{GeneralConstructor, by_default, general};
use crate::syntax::written::{Name, bare, generic_args};

impl Checker<'_> {
    /// Checks a call: its path, then its arguments.
    pub(crate) fn call(&mut self, one: &syn::ExprCall) {
        self.race_drop_call(one);
        self.called_macro(one);
        self.unsafe_by_return(one);
        self.check_wrapper_argument(one);
        self.check_arguments(one);
        self.visit_expr(&one.func);
        for arg in &one.args {
            self.visit_expr(arg);
        }
    }

    /// Checks `path!(T)(..)`, in which a macro expands to the called path.
    fn called_macro(&mut self, one: &syn::ExprCall) {
        let syn::Expr::Macro(mac) = &*one.func else { return };
        let Ok(path) = syn::parse2::<syn::ExprPath>(mac.mac.tokens.clone()) else { return };
        self.value_path(path.qself.as_ref(), &path.path);
    }

    /// Checks `Some::<T>(..)` and `Box::<T>::new(..)`, which name the type of their argument.
    fn check_wrapper_argument(&mut self, one: &syn::ExprCall) {
        let (syn::Expr::Path(path), Some(arg)) = (&*one.func, one.args.first()) else { return };
        let mut segments = path.path.segments.iter().rev();
        let Some(last) = segments.next() else { return };
        let asked = match bare(&last.ident).as_str() {
            "Ok" | "Some" => self.segment_args(last).into_iter().next(),
            "from_fn" | "repeat_with" | "once_with" => {
                let asked = self.segment_args(last).into_iter().next();
                if let Some(asked) = asked {
                    self.expect_producer(arg, &asked, 0);
                }
                None
            }
            "new" | "pin" => segments.next().and_then(|seg| self.segment_args(seg).into_iter().next()),
            _ => None,
        };
        if let Some(asked) = asked {
            self.expect(arg, &asked, 0);
        }
    }

    /// Checks a method call.
    pub(crate) fn method_call(&mut self, one: &syn::ExprMethodCall) {
        self.race_method(one);
        self.watched_method(&one.method);
        if let Some(list) = &one.turbofish {
            let args: Vec<KnownType> =
                generic_args(list).iter().map(|arg| self.resolver.ty(self.scope(), arg)).collect();
            let name = bare(&one.method);
            let kind = match name.as_str() {
                // `Iterator::sum`, and serde_json's `into_iter::<T>()`, which deserializes a stream.
                "sum" | "product" => Some(GeneralConstructor::Collect),
                "into_iter" => Some(GeneralConstructor::Deserialize),
                other => general(other),
            };
            let made = kind.and_then(|kind| args.iter().find_map(|arg| kind.makes(arg)));
            self.report_general("turbofish", one.method.span(), made, &name);
            if let ("map" | "then" | "map_or" | "and_then", Some(asked), Some(function)) =
                (name.as_str(), args.first(), one.args.last())
            {
                self.expect_producer(function, asked, 0);
            }
            self.unsafe_turbofish(&one.method, &args);
            self.method_maker(&name, &args, one.method.span());
            self.visit_angle_bracketed_generic_arguments(list);
        }
        if one.method == "unwrap_or_default" {
            self.default_of_receiver(one);
        }
        self.unsafe_method_by_return(one);
        self.check_method_arguments(one);
        self.visit_expr(&one.receiver);
        // A closure as last argument receives the value inside the receiver.
        let given = match one.args.last() {
            Some(syn::Expr::Closure(_)) => self.function_input(one),
            _ => KnownType::Unknown,
        };
        for (at, arg) in one.args.iter().enumerate() {
            if at.saturating_add(1) == one.args.len() && matches!(arg, syn::Expr::Closure(_)) {
                self.closure_input.clone_from(&given);
            }
            self.visit_expr(arg);
        }
    }

    /// Checks `unwrap_or_default` on `None::<T>` and on a value that is known to be an `Option<T>`.
    fn default_of_receiver(&mut self, one: &syn::ExprMethodCall) {
        let written = match &*one.receiver {
            syn::Expr::Path(path) => path.path.segments.last().and_then(|last| {
                let asked = self.segment_args(last);
                asked.into_iter().next()
            }),
            _ => None,
        };
        let asked = written.or_else(|| {
            let known = self.type_of(&one.receiver);
            matches!(known.far_name(), Some("Option" | "Result"))
                .then(|| crate::rules::source::types::expressions::inside(known))
        });
        if let Some(asked) = asked
            && self.applies.dependent
        {
            self.expect_general(GeneralConstructor::Default, &asked, "unwrap_or_default", one.method.span());
        }
    }

    /// Checks the path `Option::<T>::unwrap_or_default`.
    pub(crate) fn default_of_path(&mut self, own: &KnownType, name: &str, span: Span) {
        if let (KnownType::Far { args, .. }, "unwrap_or_default" | "get_or_insert_default") = (own, name)
            && matches!(own.far_name(), Some("Option" | "Result"))
            && let Some(asked) = args.first().cloned()
            && self.applies.dependent
        {
            self.expect_general(GeneralConstructor::Default, &asked, name, span);
        }
    }

    /// Checks a generic method or associated function of the scanned crates with a capability as type
    /// argument.
    pub(crate) fn method_maker(&mut self, name: &str, args: &[KnownType], span: Span) {
        // The receiver's type is not known, so every generic method of that name counts.
        let makers = self.macros.methods(name).to_vec();
        for maker in makers {
            self.check_type_arguments(&maker, name, args, span);
        }
    }

    /// Checks a generic function of the scanned crates with a capability as type argument.
    pub(crate) fn function_maker(&mut self, module: usize, name: &Name, args: &[KnownType], span: Span) {
        if let Some(maker) = self.maker(module, name) {
            self.check_type_arguments(&maker, name, args, span);
        }
    }

    /// Checks the same function if the type follows from its position.
    pub(crate) fn maker_wanted(&mut self, module: usize, name: &Name, wanted: &KnownType, span: Span) {
        let Some(maker) = self.maker(module, name) else { return };
        if maker.params.len() == 1 {
            let args = vec![wanted.clone(); maker.params.first().map_or(0, |(at, _)| at.saturating_add(1))];
            self.check_type_arguments(&maker, name, &args, span);
        }
    }

    fn maker(&self, module: usize, name: &Name) -> Option<Maker> {
        self.world.table(module)?.makers.get(name).cloned()
    }

    fn check_type_arguments(&mut self, maker: &Maker, name: &str, args: &[KnownType], span: Span) {
        if !self.applies.dependent {
            return;
        }
        for (at, bounds) in &maker.params {
            let Some(asked) = args.get(*at) else { continue };
            if maker.unsafely
                && let Some(id) = self.capability_in(asked)
            {
                let ty = self.type_name(id);
                let message = format!("`{name}` makes a `{ty}` from raw memory");
                self.report(LintRule::F04, "generic", span, Some(id), message);
                return;
            }
            let remakes = |bound: &Name| makes_by_bound(bound) || self.inventory.remakers.contains(bound);
            if bounds.iter().any(remakes)
                && let Some(id) = by_default(asked)
            {
                let ty = self.type_name(id);
                let message = format!("`{name}` makes a `{ty}`, its type argument here");
                self.report(LintRule::F03, "generic", span, Some(id), message);
                return;
            }
        }
    }
}
