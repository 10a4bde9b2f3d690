//! Lookups in TOML documents with positions.

use plugward_types::Part;
use std::borrow::Cow;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Returns the line of a byte offset, from 1.
pub(crate) fn line_at(text: &str, offset: usize) -> u32 {
    let before = text.as_bytes().part(..offset);
    let lines = before.split(|byte| *byte == b'\n').count().saturating_sub(1);
    u32::try_from(lines).unwrap_or(u32::MAX).saturating_add(1)
}

/// Returns the value at a path of keys.
pub(crate) fn dig<'t, 'i>(table: &'t DeTable<'i>, path: &[&str]) -> Option<&'t Spanned<DeValue<'i>>> {
    let (first, rest) = path.split_first()?;
    let value = get(table, first)?.1;
    if rest.is_empty() { Some(value) } else { dig(value.get_ref().as_table()?, rest) }
}

/// Returns a key with its span, and its value.
pub(crate) fn get<'t, 'i>(
    table: &'t DeTable<'i>,
    key: &str,
) -> Option<(std::ops::Range<usize>, &'t Spanned<DeValue<'i>>)> {
    table.iter().find(|(name, _)| name.get_ref() == key).map(|(name, value)| (name.span(), value))
}

/// Returns the entries of the table at a path of keys.
pub(crate) fn entries<'t, 'i>(
    table: &'t DeTable<'i>,
    path: &[&str],
) -> impl Iterator<Item = (&'t Spanned<Cow<'i, str>>, &'t Spanned<DeValue<'i>>)> {
    dig(table, path).and_then(|value| value.get_ref().as_table()).into_iter().flatten()
}

/// Returns the manifest itself and its `[target.*]` tables, which all may list dependencies.
pub(crate) fn dependency_sections<'t, 'i>(table: &'t DeTable<'i>) -> Vec<&'t DeTable<'i>> {
    let targets = entries(table, &["target"]).filter_map(|(_, target)| target.get_ref().as_table());
    std::iter::once(table).chain(targets).collect()
}
