//! Adding pins to a file of our own form without taking the whole of it apart.
//!
//! Most commits only enroll. What comes out is what `write::render` gives; where the file was edited into another form,
//! or more than pins were added, there is no answer, and the whole is edited.

use plugward_types::PluginId;
use toml_edit::DocumentMut;

use crate::edit::{order, shelf, table};
use crate::model::{Format, Model};
use crate::pin::Pin;
use crate::scope::Scope;
use crate::write::write_pin;

/// Puts the pins that only the new model has into the old text.
pub(crate) fn splice(text: &str, old: &Model, new: &Model) -> Option<String> {
    let same = old.format == Format::Two
        && old.locks == new.locks
        && old.revoked == new.revoked
        && old.v1 == new.v1
        && rows(old).all(|(scope, id, pin)| new.pin(scope, id) == Some(pin));
    if !same {
        return None;
    }
    let body = text.strip_suffix(&end(old))?;
    let starts: Vec<usize> = core::iter::once(0)
        .chain(
            body.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at.saturating_add(1)),
        )
        .collect();
    let there: Vec<_> = rows(old).collect();
    let mut pieces = Vec::new();
    for (scope, id, pin) in rows(new).filter(|(scope, id, _)| old.pin(scope, id).is_none()) {
        let next = there.partition_point(|(other, one, _)| (*other, *one) < (scope, id));
        let block = block(scope, id, pin)?;
        if let Some((scope, id, pin)) = there.get(next) {
            let at = before(body, &starts, pin.line, &header(scope, id))?;
            pieces.push((at, format!("{block}\n")));
            continue;
        }
        let last = there.last().map_or(0, |(_, _, pin)| pin.line);
        if !only_ours_after(body, &starts, last) {
            return None;
        }
        pieces.push((body.len(), format!("\n{block}")));
    }
    // By place; those of one place are in order already.
    pieces.sort_by_key(|(at, _)| *at);
    let mut out = String::with_capacity(text.len().saturating_add(1024));
    let mut from = 0;
    for (at, piece) in pieces {
        out.push_str(body.get(from..at)?);
        out.push_str(&piece);
        from = at;
    }
    out.push_str(body.get(from..)?);
    out.push_str(&end(new));
    Some(out)
}

fn rows(model: &Model) -> impl Iterator<Item = (&Scope, &PluginId, &Pin)> {
    model.pins.iter().flat_map(|(scope, shelf)| shelf.iter().map(move |(id, pin)| (scope, id, pin)))
}

fn end(model: &Model) -> String {
    format!("\n[end]\npins = {}\nserial = {}\n", model.said, model.serial)
}

fn header(scope: &Scope, id: &PluginId) -> String {
    match scope.as_str() {
        "user" => format!("[pins.user.\"{id}\"]"),
        workspace => format!("[pins.\"{workspace}\".\"{id}\"]"),
    }
}

/// The place before a pin's header and the comments that stand right above it.
fn before(body: &str, starts: &[usize], line: usize, header: &str) -> Option<usize> {
    let text_from = |start: usize| body.get(start..);
    let mut index = line.checked_sub(1)?;
    let rest = text_from(*starts.get(index)?)?.strip_prefix(header)?;
    if !rest.starts_with('\n') {
        return None;
    }
    while let Some(above) = index.checked_sub(1) {
        if !text_from(*starts.get(above)?)?.starts_with('#') {
            break;
        }
        index = above;
    }
    // A file that begins with a pin, or has no empty line before it, is not of our form.
    let at = *starts.get(index)?;
    body.get(..at)?.ends_with("\n\n").then_some(at)
}

/// Says whether nothing but pins, locks and revocations has a header after a line.
fn only_ours_after(body: &str, starts: &[usize], line: usize) -> bool {
    let rest = starts.get(line).and_then(|start| body.get(*start..)).unwrap_or_default();
    let ours = |line: &str| ["[pins.", "[locks]", "[[revoked]]"].iter().any(|known| line.starts_with(known));
    rest.lines().all(|line| !line.trim_start().starts_with('[') || ours(line))
        && !rest.lines().any(|line| line.starts_with('#'))
}

fn block(scope: &Scope, id: &PluginId, pin: &Pin) -> Option<String> {
    let mut doc = DocumentMut::new();
    let root = doc.as_table_mut();
    let scope = shelf(shelf(root, "pins").ok()?, scope.as_str()).ok()?;
    write_pin(table(scope, id.as_str()).ok()?, None, pin).ok()?;
    order(root, &["pins"], "pins");
    Some(doc.to_string())
}

#[cfg(test)]
#[expect(clippy::arithmetic_side_effects, reason = "small counts")]
mod tests {
    use super::*;
    use crate::facts::{Facts, Via};
    use crate::pin::PinState;
    use crate::write::render;

    fn pin(number: u8) -> Pin {
        Pin {
            state: PinState::Trusted,
            facts: Some(Facts::of_tree(plugward_types::TreeDigest::from_bytes([number; 32]))),
            via: Via::Tofu,
            at: "2026-11-21T21:48:03Z".parse().unwrap(),
            by: None,
            previous: None,
            denied: None,
            mcp: std::collections::BTreeMap::new(),
            line: 0,
        }
    }

    /// Adds pins in an order that is none, some of them two at a time; gives how often the short way was gone.
    fn grow(mut text: String, mut old: Model) -> usize {
        let mut short = 0;
        for step in 0..60_u8 {
            let mut new = old.clone();
            for number in
                [step.wrapping_mul(89), step.wrapping_mul(57)].into_iter().take(1 + usize::from(step % 2))
            {
                let scope = if number % 3 == 0 { Scope::workspace(&[number % 5]) } else { Scope::USER };
                let id = format!("claude:p{number}@team").parse().unwrap();
                new.pins.entry(scope).or_default().entry(id).or_insert_with(|| pin(number));
            }
            (new.serial, new.said) = (old.serial + 1, new.count());
            let whole = render(&text, &old, &new).unwrap();
            if let Some(quick) = splice(&text, &old, &new) {
                assert_eq!(quick, whole);
                short += 1;
            }
            old = Model::parse(whole.as_bytes()).unwrap();
            assert_eq!(old, new);
            text = whole;
        }
        short
    }

    #[test]
    fn the_short_way_gives_what_the_long_one_does() {
        let first = render("", &Model::default(), &Model::default()).unwrap();
        // But for the first pin: the comments at the top might be about what follows them.
        assert_eq!(grow(first.clone(), Model::parse(first.as_bytes()).unwrap()), 59);
        let mut with_more = Model { said: 0, ..Model::default() };
        with_more.locks.insert(Scope::USER, plugward_types::Digest::from_bytes([1; 32]));
        let text = render("", &Model::default(), &with_more).unwrap();
        assert_eq!(grow(text, with_more), 59);
    }

    #[test]
    fn a_file_that_was_edited_goes_the_long_way_or_keeps_all() {
        let first = render("", &Model::default(), &Model::default()).unwrap();
        for edited in [
            first.replace("[end]", "[later]\nx = 1\n\n[end]"),
            first.replace("[end]", "[later]\nx = \"\"\"\n[pins.user.\\\"a:b@c\\\"]\n\"\"\"\n\n[end]"),
            first.replace("\n[end]", "\n# the end\n[end]"),
            first.replace("version = 2", "version = 2 # two\nlater = \"[x]\""),
        ] {
            let model = Model::parse(edited.as_bytes()).unwrap();
            grow(edited, model);
        }
    }
}
