//! The types of expressions, as far as annotations, parameters, fields and signatures of the workspace show
//! them.
//!
//! No types are inferred: an expression without such evidence has the type `_`.

use crate::names::collect::FnSig;
use crate::names::resolve::{KnownType, Meaning, Namespace, Resolution, Scope, TypeLocation};
use crate::rules::source::Checker;
use crate::syntax::name_list::NameList;
use crate::syntax::peel::referent;
use crate::syntax::written::{Name, Path, WrittenType, bare, name};

/// Types that behave as the type inside.
const TRANSPARENT: NameList = NameList(
    "Box Rc Arc Cow Ref RefMut ManuallyDrop MutexGuard RwLockReadGuard RwLockWriteGuard LazyLock \
     LazyCell Lazy Pin",
);
/// Types with one element type, which is their first type argument.
const ONE_ITEM: NameList =
    NameList("Vec VecDeque Option Result HashSet BTreeSet SmallVec LinkedList BinaryHeap");
/// Types with a key and a value type.
const MAPS: NameList = NameList("HashMap BTreeMap IndexMap");
/// Methods that return their receiver, or a reference to it.
const SAME: NameList = NameList(
    "clone as_ref as_mut as_deref as_deref_mut borrow borrow_mut to_owned map_err context with_context \
     deref deref_mut cloned copied ok inspect inspect_err take by_ref",
);
/// Methods that return the value inside an `Option` or a `Result`.
const OUT: NameList = NameList("unwrap expect unwrap_or_else unwrap_or unwrap_or_default");
/// Methods that return one element of a collection.
const WITHIN: NameList = NameList("get get_mut first last pop next remove swap_remove pop_front pop_back");
/// Methods that iterate over a collection.
const WALKS: &[&str] = &["iter", "iter_mut", "into_iter", "drain"];
/// Iterator adapters that keep the items as they are.
pub(crate) const SAME_ITEMS: NameList = NameList(
    "skip filter rev inspect fuse peekable step_by take_while skip_while by_ref chain cycle cloned \
     copied take",
);
/// Methods that pass an item, or the value inside an `Option` or a `Result`, to a function.
const GIVES_ITEM: NameList = NameList(
    "map filter_map flat_map for_each any all find find_map filter map_while take_while skip_while \
     try_for_each inspect position partition is_some_and is_ok_and and_then map_or map_or_else retain \
     max_by_key min_by_key",
);

impl Checker<'_> {
    /// Returns `true` if a rule needs the types of expressions in this package.
    const fn needs_types(&self) -> bool {
        self.race_applies() || self.applies.dependent
    }

    /// Returns the type of an expression, or `_`.
    pub(crate) fn type_of(&self, expr: &syn::Expr) -> KnownType {
        if self.needs_types() { self.type_at(expr, 0) } else { KnownType::Infer }
    }

    fn type_at(&self, expr: &syn::Expr, steps: u32) -> KnownType {
        let steps = steps.saturating_add(1);
        if steps > MOST_STEPS {
            return KnownType::Infer;
        }
        match referent(expr) {
            syn::Expr::Try(one) => taken_out(&self.type_at(&one.expr, steps)),
            syn::Expr::Await(one) => self.type_at(&one.base, steps),
            syn::Expr::Unary(one) => self.type_at(&one.expr, steps),
            syn::Expr::Cast(one) => self.ty(&one.ty),
            syn::Expr::Path(one) => self.type_of_path(one),
            syn::Expr::Field(one) => self.field_type(one, steps),
            syn::Expr::Index(one) => inside(self.type_at(&one.expr, steps)),
            syn::Expr::Tuple(one) => {
                KnownType::Tuple(one.elems.iter().map(|elem| self.type_at(elem, steps)).collect())
            }
            syn::Expr::Array(one) => {
                let first = one.elems.first().map_or(KnownType::Infer, |elem| self.type_at(elem, steps));
                // All elements have the type of the first.
                KnownType::Array(Box::new(first))
            }
            syn::Expr::Struct(one) => {
                let path = Path::with_self(&one.path, one.qself.as_ref());
                let res = self.resolve(&path, Namespace::Type);
                match res.what {
                    Meaning::Type(own) if res.used == path.segs.len() => own,
                    _ => KnownType::Infer,
                }
            }
            syn::Expr::MethodCall(one) => self.type_of_method(one, steps),
            syn::Expr::Call(one) => self.type_of_call(one, steps),
            _ => KnownType::Infer,
        }
    }

    fn type_of_path(&self, one: &syn::ExprPath) -> KnownType {
        if let Some(ident) = one.path.get_ident()
            && let Some(local) = self.local(&bare(ident))
        {
            return local.ty.clone();
        }
        let written = Path::with_self(&one.path, one.qself.as_ref());
        match self.resolve(&written, Namespace::Value).what {
            Meaning::Value { module, name } => self.constant_type(module, &name).unwrap_or(KnownType::Infer),
            _ => KnownType::Infer,
        }
    }

    fn type_of_method(&self, one: &syn::ExprMethodCall, steps: u32) -> KnownType {
        let method = bare(&one.method);
        let receiver = self.type_at(&one.receiver, steps);
        if let Some(place) = place_of(&receiver)
            && let Some(sig) = self.method_sig(place, &method)
        {
            return self.in_home(place, &sig.output, &receiver);
        }
        let method = method.as_str();
        if OUT.has(method) {
            taken_out(&receiver)
        } else if WITHIN.has(method) {
            inside(receiver)
        } else if SAME.has(method) || WALKS.contains(&method) && is_collection(&receiver) {
            receiver
        } else {
            KnownType::Infer
        }
    }

    fn type_of_call(&self, one: &syn::ExprCall, steps: u32) -> KnownType {
        let syn::Expr::Path(path) = &*one.func else { return KnownType::Infer };
        let written = Path::with_self(&path.path, path.qself.as_ref());
        let res = self.resolve(&written, Namespace::Value);
        if let Some((sig, output)) = self.called_sig(&written, &res)
            && !sig.generic
        {
            return output;
        }
        let last = written.segs.last().map(|seg| seg.name.to_string()).unwrap_or_default();
        match res.what {
            // `T::create(..)` returns a T, or a T inside a `Result`.
            Meaning::Type(own) if res.used < written.segs.len() && self.is_race(&own) => {
                let race = self.config.race.as_ref();
                if race.is_some_and(|race| race.methods.contains(&last)) { KnownType::Infer } else { own }
            }
            // `Arc::new(p)`.
            Meaning::Far(_) | Meaning::Nothing | Meaning::Type(_)
                if matches!(last.as_str(), "new" | "Some" | "Ok") =>
            {
                one.args.first().map_or(KnownType::Infer, |arg| self.type_at(arg, steps))
            }
            _ => KnownType::Infer,
        }
    }

    /// Returns the signature of a called path, and its return type.
    pub(crate) fn called_sig(&self, written: &Path, res: &Resolution) -> Option<(&FnSig, KnownType)> {
        match &res.what {
            Meaning::Value { module, name } => {
                let sig = self.function_sig(*module, name)?;
                let scope = Scope { module: *module, frames: &[], own: None };
                Some((sig, self.resolver.ty(scope, &sig.output)))
            }
            Meaning::Type(own) if res.used.saturating_add(1) == written.segs.len() => {
                let place = place_of(own)?;
                let sig = self.method_sig(place, &written.segs.last()?.name)?;
                Some((sig, self.in_home(place, &sig.output, own)))
            }
            _ => None,
        }
    }

    /// Returns the argument types of a called path. A receiver is the first argument.
    pub(crate) fn called_inputs(&self, written: &Path, res: &Resolution) -> Vec<KnownType> {
        let Some((sig, _)) = self.called_sig(written, res) else { return Vec::new() };
        if sig.generic {
            return Vec::new();
        }
        match &res.what {
            Meaning::Value { module, .. } => {
                let scope = Scope { module: *module, frames: &[], own: None };
                sig.inputs.iter().map(|input| self.resolver.ty(scope, input)).collect()
            }
            Meaning::Type(own) => {
                let receiver = sig.receiver.then_some(KnownType::Unknown);
                let inputs = sig
                    .inputs
                    .iter()
                    .filter_map(|input| place_of(own).map(|place| self.in_home(place, input, own)));
                receiver.into_iter().chain(inputs).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the argument types of a workspace method, without its receiver.
    pub(crate) fn method_inputs(&self, receiver: &KnownType, method: &str) -> Vec<KnownType> {
        let Some(place) = place_of(receiver) else { return Vec::new() };
        let Some(sig) = self.method_sig(place, method).filter(|sig| !sig.generic) else { return Vec::new() };
        sig.inputs.iter().map(|input| self.in_home(place, input, receiver)).collect()
    }

    fn function_sig(&self, module: usize, name: &Name) -> Option<&FnSig> {
        self.world.table(module)?.fns.iter().find(|sig| sig.name == *name)
    }

    fn constant_type(&self, module: usize, name: &Name) -> Option<KnownType> {
        let ty = self.world.table(module)?.constants.get(name)?;
        Some(self.resolver.ty(Scope { module, frames: &[], own: None }, ty))
    }

    /// Returns the signature of a method or associated function whose `impl` is in the module of its type.
    fn method_sig(&self, place: &TypeLocation, method: &str) -> Option<&FnSig> {
        let world = self.world;
        let table = world.table(*world.homes.get(&(place.0, place.1))?)?;
        let impls = table.impls.iter().filter(|def| {
            matches!(&def.own, WrittenType::Path(path)
                if path.segs.last().is_some_and(|seg| seg.name == place.2))
        });
        impls.flat_map(|def| &def.fns).find(|sig| *sig.name == *method)
    }

    /// Resolves a type in the module of another type.
    fn in_home(&self, place: &TypeLocation, ty: &WrittenType, own: &KnownType) -> KnownType {
        let Some(module) = self.world.homes.get(&(place.0, place.1)) else {
            return KnownType::Infer;
        };
        let own = bottom(own);
        self.resolver.ty(Scope { module: *module, frames: &[], own: Some(own) }, ty)
    }

    fn field_type(&self, one: &syn::ExprField, steps: u32) -> KnownType {
        let base = self.type_at(&one.base, steps);
        let base = bottom(&base);
        if let (KnownType::Tuple(parts), syn::Member::Unnamed(index)) = (base, &one.member) {
            let at = usize::try_from(index.index).unwrap_or(usize::MAX);
            return parts.get(at).cloned().unwrap_or(KnownType::Infer);
        }
        let KnownType::Own { place, .. } = base else { return KnownType::Infer };
        self.field_of(place, &member_name(&one.member)).unwrap_or(KnownType::Infer)
    }

    /// Returns the item type of an expression in a loop or an iterator chain.
    pub(crate) fn item_of(&self, expr: &syn::Expr) -> KnownType {
        if self.needs_types() { self.item_at(expr, 0) } else { KnownType::Unknown }
    }

    fn item_at(&self, expr: &syn::Expr, steps: u32) -> KnownType {
        let steps = steps.saturating_add(1);
        if steps > MOST_STEPS {
            return KnownType::Infer;
        }
        match referent(expr) {
            syn::Expr::MethodCall(one) => {
                let method = bare(&one.method);
                let receiver = &one.receiver;
                match method.as_str() {
                    "enumerate" => KnownType::Tuple(vec![KnownType::Infer, self.item_at(receiver, steps)]),
                    "zip" => {
                        let other = one.args.first().map_or(KnownType::Infer, |arg| self.item_at(arg, steps));
                        KnownType::Tuple(vec![self.item_at(receiver, steps), other])
                    }
                    "values" | "values_mut" | "into_values" => inside(self.type_at(receiver, steps)),
                    walks if WALKS.contains(&walks) => {
                        let walked = self.type_at(receiver, steps);
                        if is_collection(&walked) { item(&walked) } else { KnownType::Infer }
                    }
                    same if SAME_ITEMS.has(same) => {
                        let known = self.item_at(receiver, steps);
                        if matches!(known, KnownType::Infer | KnownType::Unknown) {
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

    /// Returns the element type of a collection, an `Option` or a `Result`.
    fn held_item(&self, expr: &syn::Expr, steps: u32) -> KnownType {
        let known = self.type_at(expr, steps);
        if is_collection(&known) { item(&known) } else { KnownType::Infer }
    }

    /// Returns the type of the first argument of a function that is passed to a method.
    pub(crate) fn function_input(&self, one: &syn::ExprMethodCall) -> KnownType {
        let method = bare(&one.method);
        if GIVES_ITEM.has(&method) { self.item_of(&one.receiver) } else { KnownType::Unknown }
    }
}

/// The limit of nested expressions through which a type is followed.
const MOST_STEPS: u32 = 64;

/// Returns a field's name, or its index as text.
pub(crate) fn member_name(member: &syn::Member) -> Name {
    match member {
        syn::Member::Named(ident) => name(ident),
        syn::Member::Unnamed(index) => Name::from(index.index.to_string()),
    }
}

/// Returns the type behind references and transparent types.
pub(crate) fn bottom(ty: &KnownType) -> &KnownType {
    let mut ty = ty;
    loop {
        ty = match ty {
            KnownType::Ref(inner) => inner,
            KnownType::Far { args, .. } if is_transparent(ty) => match args.first() {
                Some(inner) => inner,
                None => return ty,
            },
            other => return other,
        };
    }
}

/// Returns the definition of a workspace type.
fn place_of(ty: &KnownType) -> Option<&TypeLocation> {
    match bottom(ty) {
        KnownType::Own { place, .. } => Some(place),
        _ => None,
    }
}

pub(crate) fn is_transparent(ty: &KnownType) -> bool {
    ty.far_name().is_some_and(|name| TRANSPARENT.has(name))
}

/// Returns `true` if iteration over a value of this type yields its elements.
fn is_collection(ty: &KnownType) -> bool {
    let ty = bottom(ty);
    matches!(ty, KnownType::Array(_))
        || ty.far_name().is_some_and(|name| ONE_ITEM.has(name) || MAPS.has(name))
}

/// Returns the type that `Some(..)` or `Ok(..)` takes out of a value of this type.
pub(crate) fn taken_out(ty: &KnownType) -> KnownType {
    match ty.far_name() {
        Some("Option" | "Result") => inside(ty.clone()),
        _ => match ty {
            KnownType::Ref(inner) => taken_out(inner),
            other => other.clone(),
        },
    }
}

/// Returns the item type of a collection. The items of a map are pairs.
fn item(ty: &KnownType) -> KnownType {
    let ty = bottom(ty);
    match ty {
        KnownType::Far { args, .. } if is_map(ty) => KnownType::Tuple(args.clone()),
        _ => inside(ty.clone()),
    }
}

/// Returns `true` for maps, whose items are pairs.
pub(crate) fn is_map(ty: &KnownType) -> bool {
    ty.far_name().is_some_and(|name| MAPS.has(name))
}

/// Returns the element type of a collection, an `Option` or a `Result`; other types are returned unchanged.
pub(crate) fn inside(ty: KnownType) -> KnownType {
    match ty {
        KnownType::Ref(inner) => inside(*inner),
        KnownType::Array(inner) => *inner,
        KnownType::Far { ref args, .. } => match ty.far_name() {
            Some(name) if ONE_ITEM.has(name) => args.first().cloned().unwrap_or(KnownType::Unknown),
            Some(name) if MAPS.has(name) => args.get(1).cloned().unwrap_or(KnownType::Unknown),
            Some(_) if is_transparent(&ty) => args.first().cloned().map_or(KnownType::Unknown, inside),
            _ => ty,
        },
        other => other,
    }
}
