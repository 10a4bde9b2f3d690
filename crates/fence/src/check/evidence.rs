//! What stands near an expression and tells its type: annotations, parameters, fields, signatures of the workspace.

use super::Checker;
use crate::collect::FnSig;
use crate::resolve::{Ns, PlaceOf, RTy, Res, Scope, What};
use crate::ty::{Name, Path, bare, name};

/// Types that are what is in them.
const TRANSPARENT: &[&str] = &[
    "Box",
    "Rc",
    "Arc",
    "Cow",
    "Ref",
    "RefMut",
    "ManuallyDrop",
    "MutexGuard",
    "RwLockReadGuard",
    "RwLockWriteGuard",
    "LazyLock",
    "LazyCell",
    "Lazy",
    "Pin",
];
/// Methods that give what they are called on, or a reference to it.
const SAME: &[&str] = &[
    "clone",
    "as_ref",
    "as_mut",
    "as_deref",
    "as_deref_mut",
    "borrow",
    "borrow_mut",
    "to_owned",
    "map_err",
    "context",
    "with_context",
    "deref",
    "deref_mut",
    "cloned",
    "copied",
    "ok",
    "inspect",
    "inspect_err",
    "take",
    "by_ref",
];
/// Methods that take a value out of something that may not have one.
const OUT: &[&str] = &["unwrap", "expect", "unwrap_or_else", "unwrap_or", "unwrap_or_default"];
/// Methods that give one value of a collection, or none.
const WITHIN: &[&str] =
    &["get", "get_mut", "first", "last", "pop", "next", "remove", "swap_remove", "pop_front", "pop_back"];
/// Methods that walk a collection.
const WALKS: &[&str] = &["iter", "iter_mut", "into_iter", "drain"];
/// Methods of iterators that give the items they are given.
pub(super) const SAME_ITEMS: &[&str] = &[
    "skip",
    "filter",
    "rev",
    "inspect",
    "fuse",
    "peekable",
    "step_by",
    "take_while",
    "skip_while",
    "by_ref",
    "chain",
    "cycle",
    "cloned",
    "copied",
    "take",
];
/// Methods whose function gets an item, or what an `Option` or a `Result` holds.
const GIVES_ITEM: &[&str] = &[
    "map",
    "filter_map",
    "flat_map",
    "for_each",
    "any",
    "all",
    "find",
    "find_map",
    "filter",
    "map_while",
    "take_while",
    "skip_while",
    "try_for_each",
    "inspect",
    "position",
    "partition",
    "is_some_and",
    "is_ok_and",
    "and_then",
    "map_or",
    "map_or_else",
    "retain",
    "max_by_key",
    "min_by_key",
];

impl Checker<'_> {
    /// Whether types of expressions are asked for here at all.
    const fn asks_types(&self) -> bool {
        self.race_applies() || self.applies.dependent
    }

    /// The type of an expression, as far as what stands here tells.
    pub(super) fn type_of(&self, expr: &syn::Expr) -> RTy {
        if self.asks_types() { self.type_at(expr, 0) } else { RTy::Infer }
    }

    fn type_at(&self, expr: &syn::Expr, steps: u32) -> RTy {
        let steps = steps.saturating_add(1);
        if steps > MOST_STEPS {
            return RTy::Infer;
        }
        match expr {
            syn::Expr::Paren(one) => self.type_at(&one.expr, steps),
            syn::Expr::Group(one) => self.type_at(&one.expr, steps),
            syn::Expr::Reference(one) => self.type_at(&one.expr, steps),
            syn::Expr::Try(one) => taken_out(&self.type_at(&one.expr, steps)),
            syn::Expr::Await(one) => self.type_at(&one.base, steps),
            syn::Expr::Unary(one) => self.type_at(&one.expr, steps),
            syn::Expr::Cast(one) => self.ty(&one.ty),
            syn::Expr::Path(one) => self.type_of_path(one),
            syn::Expr::Field(one) => self.field_type(one, steps),
            syn::Expr::Index(one) => inside(self.type_at(&one.expr, steps)),
            syn::Expr::Tuple(one) => {
                RTy::Tuple(one.elems.iter().map(|elem| self.type_at(elem, steps)).collect())
            }
            syn::Expr::Array(one) => {
                let first = one.elems.first().map_or(RTy::Infer, |elem| self.type_at(elem, steps));
                RTy::Array(Box::new(first))
            }
            syn::Expr::Struct(one) => {
                let path = Path::with_self(&one.path, one.qself.as_ref());
                let res = self.resolve(&path, Ns::Type);
                match res.what {
                    What::Type(own) if res.used == path.segs.len() => own,
                    _ => RTy::Infer,
                }
            }
            syn::Expr::MethodCall(one) => self.type_of_method(one, steps),
            syn::Expr::Call(one) => self.type_of_call(one, steps),
            _ => RTy::Infer,
        }
    }

    fn type_of_path(&self, one: &syn::ExprPath) -> RTy {
        if let Some(ident) = one.path.get_ident()
            && let Some(local) = self.local(&bare(ident))
        {
            return local.ty.clone();
        }
        let written = Path::with_self(&one.path, one.qself.as_ref());
        match self.resolve(&written, Ns::Value).what {
            What::Value { module, name } => self.constant_type(module, &name).unwrap_or(RTy::Infer),
            _ => RTy::Infer,
        }
    }

    fn type_of_method(&self, one: &syn::ExprMethodCall, steps: u32) -> RTy {
        let method = bare(&one.method);
        let receiver = self.type_at(&one.receiver, steps);
        if let Some(place) = place_of(&receiver)
            && let Some(sig) = self.method_sig(place, &method)
        {
            return self.in_home(place, &sig.output, &receiver);
        }
        let method = method.as_str();
        if OUT.contains(&method) {
            taken_out(&receiver)
        } else if WITHIN.contains(&method) {
            inside(receiver)
        } else if SAME.contains(&method) || WALKS.contains(&method) && is_collection(&receiver) {
            receiver
        } else {
            RTy::Infer
        }
    }

    fn type_of_call(&self, one: &syn::ExprCall, steps: u32) -> RTy {
        let syn::Expr::Path(path) = &*one.func else { return RTy::Infer };
        let written = Path::with_self(&path.path, path.qself.as_ref());
        let res = self.resolve(&written, Ns::Value);
        if let Some((sig, output)) = self.called_sig(&written, &res)
            && !sig.generic
        {
            return output;
        }
        let last = written.segs.last().map(|seg| seg.name.to_string()).unwrap_or_default();
        match res.what {
            // `T::create(..)` gives a T, or a T that can fail.
            What::Type(own) if res.used < written.segs.len() && self.is_race(&own) => {
                let race = self.config.race.as_ref();
                if race.is_some_and(|race| race.methods.contains(&last)) { RTy::Infer } else { own }
            }
            // `Arc::new(p)`.
            What::Far(_) | What::Nothing | What::Type(_)
                if matches!(last.as_str(), "new" | "Some" | "Ok") =>
            {
                one.args.first().map_or(RTy::Infer, |arg| self.type_at(arg, steps))
            }
            _ => RTy::Infer,
        }
    }

    /// The signature that a called path names, with what it gives.
    pub(super) fn called_sig(&self, written: &Path, res: &Res) -> Option<(&FnSig, RTy)> {
        match &res.what {
            What::Value { module, name } => {
                let sig = self.function_sig(*module, name)?;
                let scope = Scope { module: *module, frames: &[], own: None };
                Some((sig, self.resolver.ty(scope, &sig.output)))
            }
            What::Type(own) if res.used.saturating_add(1) == written.segs.len() => {
                let place = place_of(own)?;
                let sig = self.method_sig(place, &written.segs.last()?.name)?;
                Some((sig, self.in_home(place, &sig.output, own)))
            }
            _ => None,
        }
    }

    /// What a called path is handed, in its order; a receiver stands first, as what is known of it.
    pub(super) fn called_inputs(&self, written: &Path, res: &Res) -> Vec<RTy> {
        let Some((sig, _)) = self.called_sig(written, res) else { return Vec::new() };
        if sig.generic {
            return Vec::new();
        }
        match &res.what {
            What::Value { module, .. } => {
                let scope = Scope { module: *module, frames: &[], own: None };
                sig.inputs.iter().map(|input| self.resolver.ty(scope, input)).collect()
            }
            What::Type(own) => {
                let receiver = sig.receiver.then_some(RTy::Unknown);
                let inputs = sig
                    .inputs
                    .iter()
                    .filter_map(|input| place_of(own).map(|place| self.in_home(place, input, own)));
                receiver.into_iter().chain(inputs).collect()
            }
            _ => Vec::new(),
        }
    }

    /// What a method of a type of the workspace is handed, without its receiver.
    pub(super) fn method_inputs(&self, receiver: &RTy, method: &str) -> Vec<RTy> {
        let Some(place) = place_of(receiver) else { return Vec::new() };
        let Some(sig) = self.method_sig(place, method).filter(|sig| !sig.generic) else { return Vec::new() };
        sig.inputs.iter().map(|input| self.in_home(place, input, receiver)).collect()
    }

    fn function_sig(&self, module: usize, name: &Name) -> Option<&FnSig> {
        self.resolver.world.table(module)?.fns.iter().find(|sig| sig.name == *name)
    }

    fn constant_type(&self, module: usize, name: &Name) -> Option<RTy> {
        let ty = self.resolver.world.table(module)?.constants.get(name)?;
        Some(self.resolver.ty(Scope { module, frames: &[], own: None }, ty))
    }

    /// A method or associated function, where its `impl` stands beside the type.
    fn method_sig(&self, place: &PlaceOf, method: &str) -> Option<&FnSig> {
        let world = self.resolver.world;
        let table = world.table(*world.homes.get(&(place.0, place.1))?)?;
        let impls = table.impls.iter().filter(|def| {
            matches!(&def.own, crate::ty::Ty::Path(path)
                if path.segs.last().is_some_and(|seg| seg.name == place.2))
        });
        impls.flat_map(|def| &def.fns).find(|sig| *sig.name == *method)
    }

    /// A type as it is written in the module of another type.
    fn in_home(&self, place: &PlaceOf, ty: &crate::ty::Ty, own: &RTy) -> RTy {
        let Some(module) = self.resolver.world.homes.get(&(place.0, place.1)) else { return RTy::Infer };
        let own = bottom(own);
        self.resolver.ty(Scope { module: *module, frames: &[], own: Some(own) }, ty)
    }

    fn field_type(&self, one: &syn::ExprField, steps: u32) -> RTy {
        let base = self.type_at(&one.base, steps);
        let base = bottom(&base);
        if let (RTy::Tuple(parts), syn::Member::Unnamed(index)) = (base, &one.member) {
            let at = usize::try_from(index.index).unwrap_or(usize::MAX);
            return parts.get(at).cloned().unwrap_or(RTy::Infer);
        }
        let RTy::Own { place, .. } = base else { return RTy::Infer };
        self.field_of(place, &member_name(&one.member)).unwrap_or(RTy::Infer)
    }

    /// The type of what a loop takes out of an expression, or what a function that is handed items gets.
    pub(super) fn item_of(&self, expr: &syn::Expr) -> RTy {
        if self.asks_types() { self.item_at(expr, 0) } else { RTy::Unknown }
    }

    fn item_at(&self, expr: &syn::Expr, steps: u32) -> RTy {
        let steps = steps.saturating_add(1);
        if steps > MOST_STEPS {
            return RTy::Infer;
        }
        match expr {
            syn::Expr::Paren(one) => self.item_at(&one.expr, steps),
            syn::Expr::Reference(one) => self.item_at(&one.expr, steps),
            syn::Expr::MethodCall(one) => {
                let method = bare(&one.method);
                let receiver = &one.receiver;
                match method.as_str() {
                    "enumerate" => RTy::Tuple(vec![RTy::Infer, self.item_at(receiver, steps)]),
                    "zip" => {
                        let other = one.args.first().map_or(RTy::Infer, |arg| self.item_at(arg, steps));
                        RTy::Tuple(vec![self.item_at(receiver, steps), other])
                    }
                    "values" | "values_mut" | "into_values" => inside(self.type_at(receiver, steps)),
                    walks if WALKS.contains(&walks) => {
                        let walked = self.type_at(receiver, steps);
                        if is_collection(&walked) { item(&walked) } else { RTy::Infer }
                    }
                    same if SAME_ITEMS.contains(&same) => {
                        let known = self.item_at(receiver, steps);
                        if matches!(known, RTy::Infer | RTy::Unknown) {
                            self.held_item(expr, steps)
                        } else {
                            known
                        }
                    }
                    _ => self.held_item(expr, steps),
                }
            }
            other => self.held_item(other, steps),
        }
    }

    /// What is in a collection, an `Option` or a `Result` of a known type.
    fn held_item(&self, expr: &syn::Expr, steps: u32) -> RTy {
        let known = self.type_at(expr, steps);
        if is_collection(&known) { item(&known) } else { RTy::Infer }
    }

    /// What the function that a method is handed gets as its first argument.
    pub(super) fn given_to_function(&self, one: &syn::ExprMethodCall) -> RTy {
        let method = bare(&one.method);
        if GIVES_ITEM.contains(&method.as_str()) { self.item_of(&one.receiver) } else { RTy::Unknown }
    }
}

/// How far a type is followed through an expression.
const MOST_STEPS: u32 = 64;

/// A field's name, or its number.
pub(super) fn member_name(member: &syn::Member) -> Name {
    match member {
        syn::Member::Named(ident) => name(ident),
        syn::Member::Unnamed(index) => Name::from(index.index.to_string()),
    }
}

/// What is behind references and types that are what is in them.
pub(super) fn bottom(ty: &RTy) -> &RTy {
    let mut ty = ty;
    loop {
        ty = match ty {
            RTy::Ref(inner) => inner,
            RTy::Far { args, .. } if is_transparent(ty) => match args.first() {
                Some(inner) => inner,
                None => return ty,
            },
            other => return other,
        };
    }
}

/// Where a type of the workspace is defined.
fn place_of(ty: &RTy) -> Option<&PlaceOf> {
    match bottom(ty) {
        RTy::Own { place, .. } => Some(place),
        _ => None,
    }
}

pub(super) fn is_transparent(ty: &RTy) -> bool {
    ty.far_name().is_some_and(|name| TRANSPARENT.contains(&name))
}

/// Whether walking a value of this type gives what is in it.
fn is_collection(ty: &RTy) -> bool {
    match bottom(ty) {
        RTy::Array(_) => true,
        far => matches!(
            far.far_name(),
            Some(
                "Vec"
                    | "VecDeque"
                    | "Option"
                    | "Result"
                    | "HashSet"
                    | "BTreeSet"
                    | "SmallVec"
                    | "LinkedList"
                    | "BinaryHeap"
                    | "HashMap"
                    | "BTreeMap"
                    | "IndexMap"
            )
        ),
    }
}

/// What `Some(..)` or `Ok(..)` takes out of a value of this type.
pub(super) fn taken_out(ty: &RTy) -> RTy {
    match ty.far_name() {
        Some("Option" | "Result") => inside(ty.clone()),
        _ => match ty {
            RTy::Ref(inner) => taken_out(inner),
            other => other.clone(),
        },
    }
}

/// The items of a collection: of a map, both parts.
fn item(ty: &RTy) -> RTy {
    let ty = bottom(ty);
    match (ty, ty.far_name()) {
        (RTy::Far { args, .. }, Some("HashMap" | "BTreeMap" | "IndexMap")) => RTy::Tuple(args.clone()),
        _ => inside(ty.clone()),
    }
}

/// What a collection, or something that may be there, holds.
pub(super) fn inside(ty: RTy) -> RTy {
    match ty {
        RTy::Ref(inner) => inside(*inner),
        RTy::Array(inner) => *inner,
        RTy::Far { ref args, .. } => match ty.far_name() {
            Some(
                "Vec" | "VecDeque" | "Option" | "Result" | "HashSet" | "BTreeSet" | "SmallVec" | "LinkedList"
                | "BinaryHeap",
            ) => args.first().cloned().unwrap_or(RTy::Unknown),
            Some("HashMap" | "BTreeMap" | "IndexMap") => args.get(1).cloned().unwrap_or(RTy::Unknown),
            Some(_) if is_transparent(&ty) => args.first().cloned().map_or(RTy::Unknown, inside),
            _ => ty,
        },
        other => other,
    }
}
