//! The reader for pins files of version 1.
//!
//! That version stored neither places nor trees, so a plugin of the same name still is a new one.

use plugward_types::Digest;

use crate::error::FormatError;
use crate::format::model::{Format, Model};
use crate::format::reader::{FromText as _, Node};

/// Reads a version 1 file, which contains the manifest digest of each plugin by name.
pub(crate) fn parse_v1(root: &Node<'_, '_>) -> Result<Model, FormatError> {
    const EXPECTED: &str = "64 lower-case hex digits";
    let Some(pins) = root.table("pins")? else { return Err(root.missing("version")) };
    let mut model = Model { format: Format::One, ..Model::default() };
    for (name, hex, span) in pins.strings(EXPECTED)? {
        let manifest = Digest::from_text(&format!("{}{hex}", Digest::PREFIX))
            .ok_or_else(|| pins.wrong(&span, name, EXPECTED))?;
        model.v1.insert(name.to_owned(), manifest);
    }
    Ok(model)
}
