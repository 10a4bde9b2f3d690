//! F03: general constructors such as `Default`, if the type that they make is known.

use crate::names::resolve::KnownType;
use crate::syntax::name_list::NameList;

/// A constructor that many types have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GeneralConstructor {
    Default,
    /// `mem::take`, which leaves the default in place.
    Take,
    /// `From::from`, which makes its own type.
    From,
    TryFrom,
    /// `Into::into`, which makes its type argument.
    IntoOther,
    TryIntoOther,
    Parse,
    Deserialize,
    Collect,
}

/// Returns the general constructor of this name.
pub(crate) fn general(name: &str) -> Option<GeneralConstructor> {
    match name {
        "default" => Some(GeneralConstructor::Default),
        "take" => Some(GeneralConstructor::Take),
        "from" => Some(GeneralConstructor::From),
        "try_from" => Some(GeneralConstructor::TryFrom),
        "into" => Some(GeneralConstructor::IntoOther),
        "try_into" => Some(GeneralConstructor::TryIntoOther),
        "parse" => Some(GeneralConstructor::Parse),
        "from_str"
        | "deserialize"
        | "from_slice"
        | "from_value"
        | "from_reader"
        | "from_bytes"
        | "from_slice_mut"
        | "from_read"
        | "deserialize_from"
        | "arbitrary"
        | "arbitrary_take_rest" => Some(GeneralConstructor::Deserialize),
        "from_iter" | "collect" => Some(GeneralConstructor::Collect),
        _ => None,
    }
}

/// Containers whose default is empty.
const EMPTY_BY_DEFAULT: NameList = NameList(
    "Option Vec VecDeque HashMap BTreeMap HashSet BTreeSet LinkedList BinaryHeap IndexMap IndexSet \
     PhantomData Weak OnceCell OnceLock Sender Receiver Result",
);

/// Returns a capability type that a type contains by value at any depth.
pub(crate) fn any(ty: &KnownType) -> Option<usize> {
    match ty {
        KnownType::Cap(id) => Some(*id),
        _ => ty.owned_parts().iter().find_map(any),
    }
}

/// Returns `true` if the default value of a type is an empty container.
pub(crate) fn empty_by_default(ty: &KnownType) -> bool {
    ty.far_name().is_some_and(|name| EMPTY_BY_DEFAULT.has(name))
}

/// Returns a capability type that the default value of a type would contain.
pub(crate) fn by_default(ty: &KnownType) -> Option<usize> {
    match ty {
        KnownType::Cap(id) => Some(*id),
        KnownType::Own { .. } => None,
        _ if empty_by_default(ty) => None,
        _ => ty.owned_parts().iter().find_map(by_default),
    }
}

/// Returns the capability type itself, or the one inside an `Option`, a `Result` or a future.
pub(crate) fn direct(ty: &KnownType) -> Option<usize> {
    match ty {
        KnownType::Cap(id) => Some(*id),
        KnownType::Far { args, .. } if matches!(ty.far_name(), Some("Result" | "Option")) => {
            args.first().and_then(direct)
        }
        // `impl Future<Output = T>`.
        KnownType::Tuple(parts) => match parts.as_slice() {
            [only] => direct(only),
            _ => None,
        },
        _ => None,
    }
}

impl GeneralConstructor {
    /// Returns the capability type that the constructor makes if its result has this type.
    pub(crate) fn makes(self, wanted: &KnownType) -> Option<usize> {
        match self {
            Self::Default | Self::Take => by_default(wanted),
            Self::From | Self::IntoOther => match wanted {
                KnownType::Cap(id) => Some(*id),
                _ => None,
            },
            Self::TryFrom | Self::TryIntoOther | Self::Parse | Self::Collect => direct(wanted),
            Self::Deserialize => any(wanted),
        }
    }
}
