//! Which types contain a capability by value, also through the fields of workspace types.

use std::collections::BTreeSet;

use crate::names::collect::{Table, TypeDef};
use crate::names::resolve::{KnownType, Scope, TypeLocation};
use crate::rules::source::Checker;
use crate::rules::source::construct::general::any;

/// The number of types that one search visits. Generated types may refer to thousands of others.
const MOST: usize = 256;

impl Checker<'_> {
    /// Returns a capability type that a type contains by value, including its fields.
    pub(crate) fn capability_in(&self, ty: &KnownType) -> Option<usize> {
        self.capability_below(ty, &mut BTreeSet::new())
    }

    /// Returns a capability type that a type contains by value or behind pointers and references.
    pub(crate) fn capability_behind(&self, ty: &KnownType) -> Option<usize> {
        match ty {
            KnownType::Ptr(inner) | KnownType::Ref(inner) | KnownType::Array(inner) => {
                self.capability_behind(inner)
            }
            KnownType::Far { .. } | KnownType::Tuple(_) => {
                ty.owned_parts().iter().find_map(|part| self.capability_behind(part))
            }
            _ => self.capability_in(ty),
        }
    }

    fn capability_below(&self, ty: &KnownType, seen: &mut BTreeSet<TypeLocation>) -> Option<usize> {
        any(ty).or_else(|| {
            let inside = ty.owned_parts().iter().find_map(|part| self.capability_below(part, seen));
            inside.or_else(|| match ty {
                KnownType::Own { place, .. } if seen.len() < MOST && seen.insert(place.clone()) => {
                    self.fields_of(place).iter().find_map(|field| self.capability_below(field, seen))
                }
                _ => None,
            })
        })
    }

    /// Returns the table that defines a workspace type, and the scope for the names in it.
    fn home_of(&self, place: &TypeLocation) -> Option<(&Table, Scope<'_>)> {
        if place.0 == usize::MAX {
            let frames = self.frames.get(..=place.1)?;
            let frame = frames.last()?;
            let table = frame.names.as_ref()?.tables.get(frame.table)?;
            return Some((table, Scope { frames, ..self.scope() }));
        }
        let world = self.world;
        let module = *world.homes.get(&(place.0, place.1))?;
        Some((world.table(module)?, Scope { module, frames: &[], own: None }))
    }

    pub(crate) fn fields_of(&self, place: &TypeLocation) -> Vec<KnownType> {
        let Some((table, scope)) = self.home_of(place) else { return Vec::new() };
        let fields = table.fields.get(&place.2);
        fields.into_iter().flat_map(|all| all.values()).map(|ty| self.resolver.ty(scope, ty)).collect()
    }

    /// Returns the type of one field.
    pub(crate) fn field_of(&self, place: &TypeLocation, field: &str) -> Option<KnownType> {
        let (table, scope) = self.home_of(place)?;
        let ty = table.fields.get(&place.2)?.get(field)?;
        Some(self.resolver.ty(scope, ty))
    }

    /// Returns `true` if a type is a union of the workspace.
    pub(crate) fn is_union(&self, ty: &KnownType) -> bool {
        let KnownType::Own { place, .. } = ty else { return false };
        self.home_of(place)
            .is_some_and(|(table, _)| matches!(table.types.get(&place.2), Some(TypeDef::Union)))
    }
}
