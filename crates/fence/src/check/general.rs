//! F03: general constructors such as `Default`, if the type that they make is known.

use crate::resolve::RTy;

/// A constructor that many types have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum General {
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
pub(super) fn general(name: &str) -> Option<General> {
    match name {
        "default" => Some(General::Default),
        "take" => Some(General::Take),
        "from" => Some(General::From),
        "try_from" => Some(General::TryFrom),
        "into" => Some(General::IntoOther),
        "try_into" => Some(General::TryIntoOther),
        "parse" => Some(General::Parse),
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
        | "arbitrary_take_rest" => Some(General::Deserialize),
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

/// Returns a capability type that a type contains by value at any depth.
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

/// Returns `true` if the default value of a type is an empty container.
pub(super) fn empty_by_default(ty: &RTy) -> bool {
    ty.far_name().is_some_and(|name| EMPTY_BY_DEFAULT.contains(&name))
}

/// Returns a capability type that the default value of a type would contain.
pub(super) fn by_default(ty: &RTy) -> Option<usize> {
    match ty {
        RTy::Cap(id) => Some(*id),
        RTy::Far { args, .. } => {
            if empty_by_default(ty) {
                None
            } else {
                args.iter().find_map(by_default)
            }
        }
        RTy::Tuple(parts) => parts.iter().find_map(by_default),
        RTy::Array(inner) => by_default(inner),
        RTy::Own { .. } | RTy::Ref(_) | RTy::Ptr(_) | RTy::Infer | RTy::Unknown => None,
    }
}

/// Returns the capability type itself, or the one inside an `Option`, a `Result` or a future.
pub(super) fn direct(ty: &RTy) -> Option<usize> {
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
    /// Returns the capability type that the constructor makes if its result has this type.
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
