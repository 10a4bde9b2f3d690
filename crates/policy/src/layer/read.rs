//! Reads the TOML of a layer against the key table.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr as _;

use plugward_types::{PlacePath, valid_head};
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::{LayerKind, LayerValue, LayerValues, SettingsLayer};
use crate::error::{SettingsError, SettingsFault, place};
use crate::table::{
    CHECKSUM, FieldKind, KeyError, REGISTRY, RowField, SetBy, SettingId, SettingKey, SettingKind, check_name,
    check_selector, expected, in_backticks, matching, nearest_help,
};
use crate::value::{PlacedText, SettingRow, SettingValue};

/// The most faults of one text. A user fixes a few at a time, and a hostile text can have one per byte.
const FAULTS: usize = 100;
/// The longest text whose syntax errors are all collected, because the TOML reader keeps each of them in memory.
const RECOVERED: usize = 64 << 10;

type Placed<'a, 'i> = &'a Spanned<DeValue<'i>>;
/// The result of reading a value: a fault is added where it is found.
type Read<T> = Option<T>;

pub(super) fn file(kind: LayerKind, label: &str, bytes: &[u8]) -> Result<SettingsLayer, SettingsError> {
    let valid = |text: &str| {
        let mut reader = LayerReader::new(kind, label, text);
        match DeTable::parse(text) {
            Ok(table) => reader.document(table.get_ref()),
            Err(_error) => syntax_faults(&mut reader, text),
        }
        reader.finish()
    };
    let limit = usize::try_from(SettingsLayer::LIMIT).unwrap_or(usize::MAX);
    let whole = |message: String, text: &str, help: &str| {
        let mut reader = LayerReader::new(kind, label, text);
        reader.wrong(text.len(), message, help);
        reader.finish()
    };
    if bytes.len() > limit {
        return whole(format!("the file has more than {limit} bytes"), "", "make it smaller");
    }
    match core::str::from_utf8(bytes) {
        Ok(text) => valid(text),
        Err(error) => {
            let message = format!("the file is not UTF-8 at byte {}", error.valid_up_to());
            whole(message, valid_head(bytes), "save it as UTF-8")
        }
    }
}

/// Adds the syntax errors of a text.
pub(super) fn syntax_faults(reader: &mut LayerReader<'_>, text: &str) {
    let errors = if text.len() <= RECOVERED {
        DeTable::parse_recoverable(text).1
    } else {
        DeTable::parse(text).err().into_iter().collect()
    };
    for error in errors {
        let at = error.span().map_or(0, |span| span.start);
        let (message, help) = match error.message() {
            // The TOML reader's messages for a missing pair of quotes: a word can start like `nan`, `true` or `false`.
            "string values must be quoted, expected literal string"
            | "invalid float, expected `nan`"
            | "invalid float, expected `inf`"
            | "invalid boolean, expected `true`"
            | "invalid boolean, expected `false`" => {
                ("expected a string in quotes", "write the value in quotes")
            }
            message => (message, "fix the line"),
        };
        reader.wrong(at, message, help);
    }
}

/// The values and faults of a layer, while its text is read.
pub(super) struct LayerReader<'t> {
    kind: LayerKind,
    label: &'t str,
    text: &'t str,
    /// The start of the current assignment in the text.
    offset: usize,
    values: LayerValues,
    workspaces: Vec<(PlacePath, LayerValues)>,
    fixed: Vec<(SettingKey, usize)>,
    /// The checksums of which several assignments can set the parts.
    checksums: BTreeMap<SettingKey, SettingRow>,
    faults: Vec<SettingsFault>,
    fault_places: BTreeSet<usize>,
}

/// The table that the reader is in.
struct TableScope<'r> {
    rules: &'r [SettingId],
    depth: usize,
    name: String,
    is_workspace: bool,
}

impl<'t> LayerReader<'t> {
    pub(super) const fn new(kind: LayerKind, label: &'t str, text: &'t str) -> Self {
        Self {
            kind,
            label,
            text,
            offset: 0,
            values: LayerValues::new(),
            workspaces: Vec::new(),
            fixed: Vec::new(),
            checksums: BTreeMap::new(),
            faults: Vec::new(),
            fault_places: BTreeSet::new(),
        }
    }

    pub(super) const fn label(&self) -> &'t str {
        self.label
    }

    pub(super) const fn text(&self) -> &'t str {
        self.text
    }

    pub(super) const fn set_offset(&mut self, offset: usize) {
        self.offset = offset;
    }

    pub(super) fn add_fault(&mut self, fault: SettingsFault) {
        if self.faults.len() < FAULTS {
            self.faults.push(fault);
        }
    }

    pub(super) fn finish(mut self) -> Result<SettingsLayer, SettingsError> {
        self.set_offset(0);
        for (key, row) in core::mem::take(&mut self.checksums) {
            if let Some(value) = self.checksum(&row) {
                self.values.insert(key, LayerValue { value, at: row.at });
            }
        }
        for (key, at) in core::mem::take(&mut self.fixed) {
            if !self.values.keys().any(|set| set.is_in(&key)) {
                let message = format!("`{key}` is final, but the file does not set it");
                self.wrong(at, message, &format!("set `{key}` in this file"));
            }
            self.fixed.push((key, at));
        }
        let Self { kind, label, text, values, mut workspaces, fixed, mut faults, .. } = self;
        faults.sort_by_key(|fault| (fault.origin.line, fault.origin.column));
        if let Some(error) = SettingsError::of(faults) {
            return Err(error);
        }
        // A directory sorts before those inside it, which are stronger.
        workspaces.sort_by(|one, two| one.0.cmp(&two.0));
        let (label, text) = (label.to_owned(), text.to_owned());
        let fixed = fixed.into_iter().map(|(key, _)| key).collect();
        Ok(SettingsLayer { kind, label, text, values, workspaces, fixed })
    }

    /// Adds a fault at a byte offset, unless there is one already.
    pub(super) fn wrong(&mut self, at: usize, message: impl Into<String>, help: &str) {
        let at = at.saturating_add(self.offset);
        if self.faults.len() >= FAULTS || !self.fault_places.insert(at) {
            return;
        }
        let (origin, source) = place(self.label, self.text, at);
        self.faults.push(SettingsFault { message: message.into(), help: help.to_owned(), origin, source });
    }

    fn wrong_key(&mut self, at: usize, error: &KeyError) {
        self.wrong(at, error.message.as_str(), &error.help);
    }

    /// Reads a whole text.
    pub(super) fn document(&mut self, table: &DeTable<'_>) {
        let scope = TableScope { rules: SettingId::ALL, depth: 0, name: String::new(), is_workspace: false };
        let mut values = core::mem::take(&mut self.values);
        self.table(table, &scope, &mut values);
        self.values = values;
    }

    fn table(&mut self, table: &DeTable<'_>, scope: &TableScope<'_>, into: &mut LayerValues) {
        for (key, value) in table {
            let (word, at) = (key.get_ref().as_ref(), key.span().start);
            let rules = match matching(scope.rules, scope.depth, word) {
                Ok(rules) => rules,
                Err(error) => {
                    self.wrong_key(at, &error);
                    continue;
                }
            };
            let Some(id) = rules.first().copied() else { continue };
            let mut name = scope.name.clone();
            if id.is_name(scope.depth) {
                if let Err(error) = check_name(id, word) {
                    self.wrong_key(at, &error);
                    continue;
                }
                word.clone_into(&mut name);
            }
            let depth = scope.depth.saturating_add(1);
            if id.rule().path.len() == depth {
                if self.may_set(id, scope, at) {
                    self.setting(SettingKey { id, name, leaf: Vec::new() }, value, into);
                }
                continue;
            }
            match value.get_ref() {
                DeValue::Table(inner) => {
                    let scope = TableScope { rules, depth, name, is_workspace: scope.is_workspace };
                    self.table(inner, &scope, into);
                }
                _ => self.wrong(
                    value.span().start,
                    format!("expected a table for `{word}`"),
                    "write a key after it",
                ),
            }
        }
    }

    /// Returns `true` if this layer can set a key. In a repository, the merge ignores such keys with a note.
    fn may_set(&mut self, id: SettingId, scope: &TableScope<'_>, at: usize) -> bool {
        let is_file = matches!(self.kind, LayerKind::Managed | LayerKind::User);
        let path = id.rule().path.join(".");
        let (message, help) = match id.rule().set_by {
            SetBy::Any => return true,
            _ if scope.is_workspace => {
                let message = format!("`{path}` cannot be set for one directory");
                (message, "set it outside of `workspaces`")
            }
            _ if self.kind.is_repository() => return true,
            SetBy::User => return true,
            SetBy::Files if is_file => return true,
            SetBy::Managed if self.kind == LayerKind::Managed => return true,
            SetBy::Files => {
                (format!("`{path}` can only be set in a settings file"), "write it to your config.toml")
            }
            SetBy::Managed => (
                format!("`{path}` can only be set in the managed file"),
                "ask your administrator, or remove it",
            ),
        };
        self.wrong(at, message, help);
        false
    }

    fn setting(&mut self, key: SettingKey, value: Placed<'_, '_>, into: &mut LayerValues) {
        let at = value.span().start;
        let read = match key.id.rule().kind {
            SettingKind::Opaque => return self.leaves(key, value, into),
            SettingKind::Checksum if matches!(self.kind, LayerKind::Env | LayerKind::Cli) => {
                return self.checksum_part(key, value);
            }
            SettingKind::Workspaces => {
                self.workspace_tables(value);
                // The tables of a repository have no effect, and the key is kept for the note.
                Some(SettingValue::Any(toml::Value::Table(toml::Table::new())))
                    .filter(|_| self.kind.is_repository())
            }
            kind => self.value(kind, value),
        };
        if key.id == SettingId::Final && self.kind == LayerKind::Managed {
            self.final_keys(read.as_ref());
        }
        if let Some(value) = read {
            let at = at.saturating_add(self.offset);
            into.insert(key, LayerValue { value, at });
        }
    }

    /// Adds each leaf of a table that can contain any TOML.
    fn leaves(&mut self, key: SettingKey, value: Placed<'_, '_>, into: &mut LayerValues) {
        if let DeValue::Table(table) = value.get_ref() {
            for (part, value) in table {
                let mut key = key.clone();
                key.leaf.push(part.get_ref().to_string());
                self.leaves(key, value, into);
            }
        } else if key.leaf.is_empty() {
            self.wrong(value.span().start, format!("expected a table for `{key}`"), "write a key after it");
        } else if let Some(plain) = self.plain(value) {
            let at = value.span().start.saturating_add(self.offset);
            if self.offset > 0 {
                // A later assignment can replace a table by a value, or a value by a table.
                into.retain(|set, _| !set.is_in(&key) && !key.is_in(set));
            }
            into.insert(key, LayerValue { value: SettingValue::Any(plain), at });
        }
    }

    fn workspace_tables(&mut self, value: Placed<'_, '_>) {
        let DeValue::Table(tables) = value.get_ref() else {
            return self.wrong(
                value.span().start,
                "expected a table",
                "write [workspaces.\"/absolute/path\"]",
            );
        };
        for (path, table) in tables {
            let text = path.get_ref().as_ref();
            let place =
                PlacePath::new(text.strip_suffix('/').filter(|rest| !rest.is_empty()).unwrap_or(text));
            let scope =
                TableScope { rules: SettingId::ALL, depth: 0, name: String::new(), is_workspace: true };
            match (place, table.get_ref()) {
                (Ok(place), DeValue::Table(table)) => {
                    let mut values = LayerValues::new();
                    self.table(table, &scope, &mut values);
                    self.workspaces.push((place, values));
                }
                (Ok(_), _) => {
                    self.wrong(table.span().start, "expected a table", "write a key after the path");
                }
                (Err(error), _) => self.wrong(path.span().start, error.to_string(), &error.help()),
            }
        }
    }

    fn final_keys(&mut self, value: Option<&SettingValue>) {
        for PlacedText { text, at } in value.and_then(SettingValue::as_list).unwrap_or_default() {
            match SettingKey::from_str(text) {
                Ok(key) if key.id.rule().set_by == SetBy::Any => self.fixed.push((key, *at)),
                Ok(key) => self.wrong(
                    *at,
                    format!("`{key}` cannot be final: repositories cannot set it"),
                    "remove it",
                ),
                Err(error) => self.wrong_key(*at, &error),
            }
        }
    }

    fn value(&mut self, kind: SettingKind, value: Placed<'_, '_>) -> Read<SettingValue> {
        let at = value.span().start;
        match kind {
            SettingKind::Words(words) => {
                let text = self.text_of(value)?;
                if words.contains(&text.as_str()) {
                    return Some(SettingValue::Text(text));
                }
                let message = format!("unknown variant `{text}`, expected {}", expected(words));
                self.wrong(at, message, &nearest_help(&text, words));
                None
            }
            SettingKind::Flag { .. } => match value.get_ref() {
                DeValue::Boolean(flag) => Some(SettingValue::Flag(*flag)),
                _ => self.refused(at, "expected `true` or `false`", "write true or false, without quotes"),
            },
            SettingKind::Number { max } => self.number(value, max).map(SettingValue::Number),
            SettingKind::Text => self.text_of(value).map(SettingValue::Text),
            SettingKind::Word => {
                let text = self.text_of(value)?;
                let rest = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
                if text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(rest) {
                    return Some(SettingValue::Text(text));
                }
                self.refused(at, &format!("`{text}` is not a prefix"), "write a-z and 0-9, first a letter")
            }
            SettingKind::Allowlist | SettingKind::Denylist => {
                let list = self.texts_of(value)?;
                for one in &list {
                    if let Err(error) = check_selector(&one.text) {
                        self.wrong(one.at.saturating_sub(self.offset), error.message, &error.help);
                    }
                }
                Some(SettingValue::List(list))
            }
            SettingKind::Texts | SettingKind::Keys => self.texts_of(value).map(SettingValue::List),
            SettingKind::Checksum => self.row(value, CHECKSUM).and_then(|row| self.checksum(&row)),
            SettingKind::Registry => {
                let row = self.row(value, REGISTRY)?;
                let url = row.text("url")?.text.clone();
                Some(SettingValue::Any(toml::Value::Table(toml::Table::from_iter([(
                    "url".to_owned(),
                    url.into(),
                )]))))
            }
            SettingKind::Rows(fields) => match value.get_ref() {
                DeValue::Array(rows) => {
                    let rows: Vec<_> = rows.iter().map(|row| self.row(row, fields)).collect();
                    rows.into_iter().collect::<Option<_>>().map(SettingValue::Rows)
                }
                _ => {
                    self.refused(at, "expected a list of tables", "write each one after its name in `[[ ]]`")
                }
            },
            SettingKind::Opaque | SettingKind::Workspaces => None,
        }
    }

    fn refused(&mut self, at: usize, message: &str, help: &str) -> Read<SettingValue> {
        self.wrong(at, message, help);
        None
    }

    fn number(&mut self, value: Placed<'_, '_>, max: u64) -> Read<u64> {
        let (number, help) = match value.get_ref() {
            DeValue::Integer(number) => {
                (integer(number).and_then(|number| u64::try_from(number).ok()), "fix the number")
            }
            _ => (None, "write it without quotes"),
        };
        let number = number.filter(|number| *number <= max);
        if number.is_none() {
            self.wrong(value.span().start, format!("expected a number from 0 to {max}"), help);
        }
        number
    }

    fn text_of(&mut self, value: Placed<'_, '_>) -> Read<String> {
        if let DeValue::String(text) = value.get_ref() {
            return Some(text.to_string());
        }
        self.wrong(value.span().start, "expected a string in quotes", "fix the line");
        None
    }

    fn texts_of(&mut self, value: Placed<'_, '_>) -> Read<Vec<PlacedText>> {
        let DeValue::Array(items) = value.get_ref() else {
            self.wrong(value.span().start, "expected a list of strings", "write it in brackets: [\"…\"]");
            return None;
        };
        let mut list = Vec::new();
        for item in items {
            let at = item.span().start.saturating_add(self.offset);
            list.push(PlacedText { text: self.text_of(item)?, at });
        }
        Some(list)
    }

    /// Adds what an assignment sets of a checksum to what earlier ones set.
    fn checksum_part(&mut self, key: SettingKey, value: Placed<'_, '_>) {
        let Some(mut row) = self.row(value, CHECKSUM) else { return };
        if let Some(earlier) = self.checksums.remove(&key) {
            let is_set = |field: &RowField| row.fields.iter().any(|(set, _)| set.name == field.name);
            let kept: Vec<_> = earlier.fields.into_iter().filter(|(field, _)| !is_set(field)).collect();
            row.fields.extend(kept);
        }
        self.checksums.insert(key, row);
    }

    fn checksum(&mut self, row: &SettingRow) -> Read<SettingValue> {
        let Some(digest) = row.text("value") else {
            return self.refused(row.at.saturating_sub(self.offset), "missing field `value`", "add `value`");
        };
        let algorithm = row.text("algorithm").map_or("sha256", |one| one.text.as_str());
        match SettingValue::checksum(algorithm, &digest.text) {
            Ok(value) => Some(value),
            Err(message) => {
                let at = digest.at.saturating_sub(self.offset);
                self.refused(at, &message, "write the digest that `plugward pin` prints")
            }
        }
    }

    fn row(&mut self, value: Placed<'_, '_>, fields: &'static [RowField]) -> Read<SettingRow> {
        let at = value.span().start;
        let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
        let DeValue::Table(table) = value.get_ref() else {
            self.wrong(
                at,
                format!("expected a table with {}", in_backticks(&names)),
                "write it in braces: { … }",
            );
            return None;
        };
        let mut row = SettingRow { at: at.saturating_add(self.offset), fields: Vec::new() };
        let mut is_good = true;
        for (key, value) in table {
            let word = key.get_ref().as_ref();
            let Some(field) = fields.iter().find(|field| field.name == word) else {
                let message = format!("unknown field `{word}`, expected {}", expected(&names));
                self.wrong(key.span().start, message, &nearest_help(word, &names));
                is_good = false;
                continue;
            };
            let at = value.span().start.saturating_add(self.offset);
            let texts = match field.kind {
                FieldKind::List => self.texts_of(value),
                FieldKind::Text => self.text_of(value).map(|text| vec![PlacedText { text, at }]),
                FieldKind::Number => {
                    let number = self.number(value, i64::MAX.unsigned_abs());
                    number.map(|number| vec![PlacedText { text: number.to_string(), at }])
                }
            };
            is_good &= texts.is_some();
            row.fields.push((field, texts.unwrap_or_default()));
        }
        for field in fields.iter().filter(|field| field.is_required) {
            if !table.iter().any(|(key, _)| key.get_ref().as_ref() == field.name) {
                self.wrong(at, format!("missing field `{}`", field.name), &format!("add `{}`", field.name));
                is_good = false;
            }
        }
        is_good.then_some(row)
    }

    /// Returns a value of any type.
    fn plain(&mut self, value: Placed<'_, '_>) -> Read<toml::Value> {
        let at = value.span().start;
        let plain = match value.get_ref() {
            DeValue::String(text) => Some(text.as_ref().into()),
            DeValue::Integer(number) => integer(number).map(toml::Value::from),
            DeValue::Float(number) => number.as_str().parse::<f64>().ok().map(toml::Value::from),
            DeValue::Boolean(flag) => Some((*flag).into()),
            DeValue::Datetime(time) => Some((*time).into()),
            DeValue::Array(items) => {
                let items: Option<Vec<_>> = items.iter().map(|item| self.plain(item)).collect();
                items.map(toml::Value::Array)
            }
            DeValue::Table(table) => {
                let pairs =
                    table.iter().map(|(key, value)| Some((key.get_ref().to_string(), self.plain(value)?)));
                pairs.collect::<Option<toml::Table>>().map(toml::Value::Table)
            }
        };
        if plain.is_none() {
            self.wrong(at, "the number is too large", "write a number of at most 64 bits");
        }
        plain
    }
}

fn integer(number: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}
