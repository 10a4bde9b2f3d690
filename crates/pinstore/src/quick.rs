//! Reading a pins file of our own form, line by line.
//!
//! Nearly every file is as `write::render` left it, and a general TOML reader takes ten times as long for it. What is read
//! here is a small part of TOML; at the first line that is anything else there is no answer, and `doc` reads the whole
//! and says what is wrong with it. So an answer from here is always the one that the long way gives.

use std::collections::BTreeMap;

use plugward_types::PluginId;

use crate::doc::FromText;
use crate::facts::{Facts, Via};
use crate::model::{MAX_PINS, Model, VERSION};
use crate::pin::{McpPin, Pin, PinState};
use crate::revoked::Revoked;
use crate::scope::Scope;

/// One value, as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Value<'t> {
    Text(&'t str),
    Words(Vec<&'t str>),
    Map(Vec<(&'t str, &'t str)>),
    Number(i64),
    Time(crate::Timestamp),
}

/// A key is there, and says something that is not read here.
struct Other;

/// The keys of one table, each once.
#[derive(Debug, Default)]
struct Fields<'t>(Vec<(&'t str, Value<'t>)>);

/// What a header says.
enum Header<'t> {
    Pin(&'t str, &'t str),
    Mcp(&'t str, &'t str, &'t str),
    Locks,
    Revoked,
    End,
}

/// Reads a file of version 2, if every line of it is of our own form.
pub(crate) fn parse(text: &str) -> Option<Model> {
    // A control character is wrong, or white space that we never write; a file that is cut off is the long way's matter.
    // The sum is taken of many bytes at once, which a loop that may stop at each of them is not.
    let strange = |sum: u8, byte: &u8| sum | u8::from(*byte != b'\n' && (*byte < b' ' || *byte == 0x7f));
    let is_plain = |part: &[u8]| part.iter().fold(0, strange) == 0;
    if !text.ends_with('\n') || !text.as_bytes().chunks(256).all(is_plain) {
        return None;
    }
    let mut reader =
        Reader { model: Model::default(), pins: BTreeMap::new(), last: None, seen: (false, false) };
    let (mut header, mut fields, mut at, mut headless) = (None, Fields::default(), 0, true);
    for (index, line) in text.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with('[') {
            reader.table(header.take().as_ref(), &fields, at, &mut headless)?;
            fields.0.clear();
            (header, at) = (Some(read_header(line)?), index.checked_add(1)?);
        } else {
            fields.push(line)?;
        }
    }
    reader.table(header.as_ref(), &fields, at, &mut headless)?;
    reader.finish()
}

struct Reader<'t> {
    model: Model,
    pins: BTreeMap<Scope, Vec<(PluginId, Pin)>>,
    /// The names of the last pin, which tables of MCP servers must follow.
    last: Option<(&'t str, &'t str)>,
    /// Whether there were locks, and an end.
    seen: (bool, bool),
}

impl<'t> Reader<'t> {
    fn table(
        &mut self,
        header: Option<&Header<'t>>,
        fields: &Fields<'t>,
        line: usize,
        headless: &mut bool,
    ) -> Option<()> {
        match header {
            None => {
                let first = core::mem::take(headless);
                return (first && fields.only("version")? == VERSION).then_some(());
            }
            Some(Header::Pin(scope, id)) => {
                self.last = Some((*scope, *id));
                let pin = (PluginId::from_text(id)?, fields.pin(line)?);
                self.pins.entry(Scope::from_text(scope)?).or_default().push(pin);
            }
            Some(Header::Mcp(scope, id, server)) => {
                let pin = McpPin {
                    set: fields.must("set")?,
                    key: fields.must("key")?,
                    items: fields.map("items")?,
                };
                let (_, owner) = self.pins.get_mut(&Scope::from_text(scope)?)?.last_mut()?;
                let follows = self.last == Some((*scope, *id));
                let is_new = owner.mcp.insert((*server).to_owned(), pin).is_none();
                return (follows && is_new).then_some(());
            }
            Some(Header::Locks) => {
                if core::mem::replace(&mut self.seen.0, true) {
                    return None;
                }
                for (scope, value) in &fields.0 {
                    let Value::Text(digest) = value else { return None };
                    self.model.locks.insert(Scope::from_text(scope)?, FromText::from_text(digest)?);
                }
            }
            Some(Header::Revoked) => self.model.revoked.push(fields.revoked()?),
            Some(Header::End) => {
                if core::mem::replace(&mut self.seen.1, true) {
                    return None;
                }
                (self.model.said, self.model.serial) = (fields.count("pins")?, fields.count("serial")?);
            }
        }
        Some(())
    }

    fn finish(mut self) -> Option<Model> {
        for (scope, pins) in self.pins {
            let many = pins.len();
            let by_id: BTreeMap<PluginId, Pin> = pins.into_iter().collect();
            // One that stands there twice is wrong.
            if by_id.len() != many {
                return None;
            }
            self.model.pins.insert(scope, by_id);
        }
        let few = self.model.count() <= u64::try_from(MAX_PINS).ok()?;
        (few && self.seen.1).then_some(self.model)
    }
}

impl<'t> Fields<'t> {
    fn push(&mut self, line: &'t str) -> Option<()> {
        let (key, rest) = read_key(line)?;
        let value = match *rest.strip_prefix(" = ")?.as_bytes() {
            [b'"', ..] => Value::Text(whole(read_text(rest.get(3..)?)?)?),
            [b'[', ..] => Value::Words(read_words(rest.get(3..)?)?),
            [b'{', ..] => Value::Map(read_map(rest.get(3..)?)?),
            // A value that is neither is wrong even where nobody asks for it.
            _ => bare(rest.get(3..)?)?,
        };
        let is_new = self.0.iter().all(|(other, _)| *other != key);
        is_new.then(|| self.0.push((key, value)))
    }

    fn get(&self, key: &str) -> Option<&Value<'t>> {
        self.0.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// Reads a string; none where the key is there and says something else.
    fn text<T: FromText>(&self, key: &str) -> Result<Option<T>, Other> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Text(text)) => T::from_text(text).map(Some).ok_or(Other),
            Some(_) => Err(Other),
        }
    }

    fn must<T: FromText>(&self, key: &str) -> Option<T> {
        self.text(key).ok()?
    }

    fn time(&self, key: &str) -> Result<Option<crate::Timestamp>, Other> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Time(time)) => Ok(Some(*time)),
            Some(_) => Err(Other),
        }
    }

    fn count(&self, key: &str) -> Option<u64> {
        match self.get(key)? {
            Value::Number(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// Reads the one key of a table that has no other.
    fn only(&self, key: &str) -> Option<i64> {
        match self.0.as_slice() {
            [(name, Value::Number(number))] if *name == key => Some(*number),
            _ => None,
        }
    }

    fn words(&self, key: &str) -> Option<Vec<String>> {
        match self.get(key) {
            None => Some(Vec::new()),
            Some(Value::Words(words)) => Some(words.iter().map(|word| (*word).to_owned()).collect()),
            Some(_) => None,
        }
    }

    fn map<V: FromText>(&self, key: &str) -> Option<BTreeMap<String, V>> {
        match self.get(key) {
            None => Some(BTreeMap::new()),
            Some(Value::Map(pairs)) => {
                pairs.iter().map(|(name, text)| Some(((*name).to_owned(), V::from_text(text)?))).collect()
            }
            Some(_) => None,
        }
    }

    fn word<T: Copy, const N: usize>(
        &self,
        key: &str,
        all: [T; N],
        name: impl Fn(T) -> &'static str,
    ) -> Option<T> {
        let Some(Value::Text(text)) = self.get(key) else { return None };
        all.into_iter().find(|one| name(*one) == *text)
    }

    fn pin(&self, line: usize) -> Option<Pin> {
        let state = self.word("state", PinState::ALL, PinState::as_str)?;
        let facts = match (self.text("tree").ok()?, state) {
            (Some(tree), _) => Some(Facts {
                manifest: self.text("manifest").ok()?,
                entry: self.text("entry").ok()?,
                tree,
                exclude: self.words("exclude")?,
                shared: self.map("shared")?,
                surface: self.text("surface").ok()?,
                signer: self.text("signer").ok()?,
            }),
            (None, PinState::Denied) => None,
            (None, PinState::Trusted) => return None,
        };
        // Servers have tables of their own.
        if self.get("mcp").is_some() {
            return None;
        }
        Some(Pin {
            state,
            facts,
            via: self.word("via", Via::ALL, Via::as_str)?,
            at: self.time("at").ok()??,
            by: self.text("by").ok()?,
            previous: self.text("previous").ok()?,
            denied: self.text("denied").ok()?,
            mcp: BTreeMap::new(),
            line,
        })
    }

    fn revoked(&self) -> Option<Revoked> {
        let found = Revoked {
            tree: self.text("tree").ok()?,
            manifest: self.text("manifest").ok()?,
            binary: self.text("binary").ok()?,
            id: self.text("id").ok()?,
            versions: self.words("versions")?,
            signer: self.text("signer").ok()?,
            reason: self.must("reason")?,
            since: self.time("since").ok()?,
        };
        found.check().ok().map(|()| found)
    }
}

/// What was read, and what follows it.
type Read<'t, T> = (T, &'t str);

fn whole<T>((read, rest): Read<'_, T>) -> Option<T> {
    rest.is_empty().then_some(read)
}

/// Reads what is neither quoted nor bracketed: a number or a time.
fn bare(text: &str) -> Option<Value<'_>> {
    match crate::Timestamp::from_text(text) {
        Some(time) => Some(Value::Time(time)),
        None => number(text).map(Value::Number),
    }
}

fn number(text: &str) -> Option<i64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| plain)
}

/// Reads a quoted text in which nothing is escaped.
fn read_text(from: &str) -> Option<Read<'_, &str>> {
    let rest = from.strip_prefix('"')?;
    let (read, after) = rest.split_once('"')?;
    // Three quotes begin a text of many lines.
    let is_long = read.is_empty() && after.starts_with('"');
    (!is_long && !read.contains('\\')).then_some((read, after))
}

/// Reads a plain or a quoted key.
fn read_key(from: &str) -> Option<Read<'_, &str>> {
    if from.starts_with('"') {
        return read_text(from);
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let end = from.bytes().position(|byte| !plain(byte)).unwrap_or(from.len());
    (end > 0).then_some((from.get(..end)?, from.get(end..)?))
}

fn read_words(from: &str) -> Option<Vec<&str>> {
    let mut rest = from.strip_prefix('[')?;
    let mut words = Vec::new();
    if rest == "]" {
        return Some(words);
    }
    loop {
        let (word, after) = read_text(rest)?;
        words.push(word);
        match after {
            "]" => return Some(words),
            more => rest = more.strip_prefix(", ")?,
        }
    }
}

fn read_map(from: &str) -> Option<Vec<(&str, &str)>> {
    let mut rest = from.strip_prefix("{ ")?;
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    let mut names = std::collections::BTreeSet::new();
    loop {
        let (key, after) = read_key(rest)?;
        let (value, after) = read_text(after.strip_prefix(" = ")?)?;
        if !names.insert(key) {
            return None;
        }
        pairs.push((key, value));
        match after {
            " }" => return Some(pairs),
            more => rest = more.strip_prefix(", ")?,
        }
    }
}

fn read_header(line: &str) -> Option<Header<'_>> {
    match line {
        "[locks]" => return Some(Header::Locks),
        "[[revoked]]" => return Some(Header::Revoked),
        "[end]" => return Some(Header::End),
        _ => {}
    }
    let (scope, rest) = read_key(line.strip_prefix("[pins.")?)?;
    let (id, rest) = read_key(rest.strip_prefix('.')?)?;
    if rest == "]" {
        return Some(Header::Pin(scope, id));
    }
    let (server, rest) = read_key(rest.strip_prefix(".mcp.")?)?;
    (rest == "]").then_some(Header::Mcp(scope, id, server))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::change::{Change, apply};
    use crate::write::render;

    fn digest(number: u8) -> plugward_types::Digest {
        plugward_types::Digest::from_bytes([number; 32])
    }

    fn full() -> (String, Model) {
        let mut model = Model::default();
        for number in 0..12_u8 {
            let mut facts = Facts::of_tree(plugward_types::TreeDigest::from_bytes([number; 32]));
            facts.manifest = (number % 2 == 0).then(|| digest(number));
            facts.signer = (number % 3 == 0).then(|| "RWQ key".to_owned());
            facts.exclude = (number % 4 == 0).then(|| ".git".to_owned()).into_iter().collect();
            if number % 5 == 0 {
                facts.shared.insert("../shared".to_owned(), plugward_types::TreeDigest::from_bytes([9; 32]));
                facts.shared.insert("plain".to_owned(), plugward_types::TreeDigest::from_bytes([8; 32]));
            }
            let scope = if number % 3 == 1 { Scope::workspace(&[number % 2]) } else { Scope::USER };
            let id: PluginId = format!("claude:p{number}@team").parse().unwrap();
            let by = (number % 2 == 1).then(|| "anna b".to_owned());
            let now = crate::Timestamp::from_unix(1_800_000_000).unwrap();
            let _done = apply(
                &mut model,
                Change::Enroll { scope: scope.clone(), id: id.clone(), facts, via: Via::Tofu, by },
                now,
            );
            if number % 4 == 1 {
                let pin = model.pins.get_mut(&scope).unwrap().get_mut(&id).unwrap();
                let items = BTreeMap::from([("tool get_issue".to_owned(), digest(3))]);
                for server in ["git-hub", "with space"] {
                    let items = if server == "git-hub" { items.clone() } else { BTreeMap::new() };
                    pin.mcp.insert(server.to_owned(), McpPin { set: digest(1), key: digest(2), items });
                }
            }
        }
        model.locks.insert(Scope::USER, digest(7));
        model.locks.insert(Scope::workspace(b"x"), digest(6));
        model.revoked.push(Revoked {
            id: "claude:x@y".parse().ok(),
            versions: vec!["1.0".to_owned()],
            ..Revoked::because("it lies")
        });
        (model.serial, model.said) = (3, model.count());
        (render("", &Model::default(), &model).unwrap(), model)
    }

    /// Both ways, where the short one has an answer; lines are compared too, which a pin's equality leaves out.
    fn agree(text: &str) -> bool {
        let Some(quick) = parse(text) else { return false };
        let long = Model::parse_long(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(quick, long, "{text}");
        let lines = |model: &Model| -> Vec<usize> {
            model.pins.values().flat_map(|shelf| shelf.values().map(|pin| pin.line)).collect()
        };
        assert_eq!(lines(&quick), lines(&long), "{text}");
        true
    }

    #[test]
    fn what_we_write_is_read_the_short_way() {
        let (text, model) = full();
        assert!(agree(&text), "{text}");
        assert_eq!(parse(&text), Some(model));
    }

    #[test]
    fn anything_else_is_left_to_the_long_way() {
        let (text, _) = full();
        let id = "[pins.user.\"claude:p0@team\"]";
        let block = text.split("\n\n").find(|block| block.starts_with(id)).unwrap();
        for (what, other) in [
            ("cut off", text.trim_end().to_owned()),
            ("twice", format!("{text}\n{block}\n")),
            ("no end", text.replace("[end]", "[start]")),
            ("two ends", format!("{text}\n[end]\npins = 1\nserial = 1\n")),
            (
                "a key twice",
                text.replace("state = \"trusted\"\n", "state = \"trusted\"\nstate = \"trusted\"\n"),
            ),
            ("an escape", text.replace("anna b", "anna \\\"b")),
            ("a tab", text.replace("anna b", "anna\tb")),
            ("many lines", text.replace("\"anna b\"", "\"\"\"\nanna\"\"\"")),
            ("a comment behind", text.replace("serial = 3", "serial = 3 # three")),
            ("a sign", text.replace("serial = 3", "serial = +3")),
            ("a zero before", text.replace("serial = 3", "serial = 03")),
            ("a newer version", text.replace("version = 2", "version = 3")),
            ("a word that is none", text.replace("serial = 3", "serial = 3\nlater = soon")),
            ("version 1", "[pins]\nfs = \"00\"\n".to_owned()),
            ("nothing", String::new()),
        ] {
            assert_ne!(other, text, "{what}");
            assert_eq!(parse(&other), None, "{what}");
        }
        // A table that we do not know is for the long way, which keeps it.
        assert_eq!(parse(&text.replace("[end]", "[later]\nx = 1\n\n[end]")), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever becomes of a file: where the short way has an answer it is the long way's.
        #[test]
        fn the_short_way_never_differs(
            edits in proptest::collection::vec((any::<proptest::sample::Index>(), any::<proptest::sample::Index>(), 0..8_u8), 1..4),
        ) {
            let (mut text, _) = full();
            for (at, other, how) in edits {
                let lines: Vec<&str> = text.split_inclusive('\n').collect();
                if lines.is_empty() {
                    break;
                }
                let (at, other) = (at.index(lines.len()), other.index(lines.len()));
                let mut lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
                let (one, two) = (lines[at].clone(), lines[other].clone());
                match how {
                    0 => drop(lines.remove(at)),
                    1 => lines.insert(at, two),
                    2 => lines.swap(at, other),
                    3 => lines[at] = one.replacen('"', "'", 2),
                    4 => lines[at] = one.replacen('"', "", 1),
                    5 => lines[at] = one.replacen(['[', '.', '='], "\"", 1),
                    6 => lines[at] = format!("{}{two}", one.trim_end()),
                    _ => lines[at] = one.replacen(char::is_alphanumeric, ".", 1),
                }
                text = lines.concat();
            }
            let _answered = agree(&text);
        }
    }
}
