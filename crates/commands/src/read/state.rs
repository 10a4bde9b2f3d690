//! Variables and directories, and what branches do to them.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{Read, Reader, VALUES, Values};
use crate::word::{Parts, WordPart};
use crate::{CommandWord, PathText};

/// The values that a variable can have, each as its fields.
pub(crate) type Value = Rc<Vec<Vec<Parts>>>;

/// Directories that a shell can be in. More of them count as an unknown one.
const DIRECTORIES: usize = 8;

/// Bytes of a directory's path. A longer one counts as unknown.
const PATH: usize = 1024;

/// The directories of a shell.
#[derive(Clone, Default)]
pub(crate) struct Place {
    /// The directories that the shell can be in.
    pub(super) directories: Vec<PathText>,
    pub(super) previous: Vec<PathText>,
    /// The stack of `pushd`.
    pub(super) stack: Vec<Vec<PathText>>,
    /// The target of a `cd` whose value is not known.
    pub(super) open: Option<CommandWord>,
    /// The directories that the text adds to `PATH`.
    pub(crate) search: Vec<PathText>,
    /// An entry of `PATH` whose value is not known.
    pub(crate) search_open: Option<CommandWord>,
    /// `true` if the last `cd` cannot fail, or a failure ends the script.
    pub(super) certain: bool,
    /// `true` after `set -e`.
    pub(super) exits: bool,
}

impl Place {
    pub(super) fn new(directory: PathText) -> Self {
        Self { directories: vec![directory], ..Self::default() }
    }

    /// Adds the directories of another path through the text.
    pub(super) fn add(&mut self, other: Self) {
        let lists = [
            (&mut self.directories, other.directories),
            (&mut self.previous, other.previous),
            (&mut self.search, other.search),
        ];
        for (list, more) in lists {
            for one in more {
                if !list.contains(&one) {
                    list.push(one);
                }
            }
        }
        self.open = self.open.take().or(other.open);
        self.search_open = self.search_open.take().or(other.search_open);
        self.limit();
    }

    /// Makes the directory unknown if it has many values or a path that no system opens.
    pub(super) fn limit(&mut self) {
        if self.directories.len() > DIRECTORIES
            || self.directories.iter().any(|one| one.as_str().len() > PATH)
        {
            self.open = Some(CommandWord::dynamic("cd"));
            self.directories.retain(|one| one.as_str().len() <= PATH);
            self.directories.truncate(DIRECTORIES);
        }
        self.previous.truncate(DIRECTORIES);
    }

    pub(super) fn or(mut self, other: Self) -> Self {
        self.add(other);
        self
    }
}

/// What a branch did.
pub(super) struct Branch {
    pub(super) output: Values,
    /// The variables that it changed, with their values at its end.
    pub(super) values: BTreeMap<String, Value>,
    pub(super) place: Place,
}

impl Reader<'_> {
    /// Reads a part of the text, and undoes its assignments.
    pub(super) fn branch(&mut self, read: impl FnOnce(&mut Self) -> Read<Values>) -> Read<Branch> {
        self.logs.push(BTreeMap::new());
        let output = read(self)?;
        let values = self.end_branch();
        Ok(Branch { output, values, place: self.place.clone() })
    }

    /// Undoes the assignments since the start of the branch, and returns their values.
    pub(super) fn end_branch(&mut self) -> BTreeMap<String, Value> {
        let mut values = BTreeMap::new();
        for (name, old) in self.logs.pop().unwrap_or_default() {
            let new = match old {
                Some(old) => self.variables.insert(name.clone(), old),
                None => self.variables.remove(&name),
            };
            values.extend(new.map(|new| (name, new)));
        }
        self.version = self.version.saturating_add(1);
        values
    }

    /// Sets each variable to the values of all branches; returns `true` if one has a new value.
    ///
    /// A branch that does not change a variable keeps its value from before.
    pub(super) fn merge(&mut self, branches: Vec<BTreeMap<String, Value>>) -> bool {
        let count = branches.len();
        let mut merged: BTreeMap<String, (usize, Vec<Vec<Parts>>)> = BTreeMap::new();
        for branch in branches {
            for (name, value) in branch {
                let (seen, all) = merged.entry(name).or_default();
                *seen = seen.saturating_add(1);
                all.extend(value.iter().cloned());
            }
        }
        let mut changed = false;
        for (name, (seen, mut all)) in merged {
            let before = self.variables.get(&name).cloned().or_else(|| self.given(&name));
            if let Some(before) = before.filter(|_| seen < count) {
                all.extend(before.iter().cloned());
            }
            all.sort();
            all.dedup();
            if all.len() > VALUES {
                all = vec![vec![vec![WordPart::Dynamic(name.clone())]]];
            }
            changed |= self.assign(&name, Rc::new(all));
        }
        changed
    }

    /// Sets a variable; returns `true` if it had another value.
    pub(super) fn assign(&mut self, name: &str, value: Value) -> bool {
        let value = if self.widened.contains(name) {
            Rc::new(vec![vec![vec![WordPart::Dynamic(name.to_owned())]]])
        } else {
            value
        };
        let same = self.variables.get(name).is_some_and(|old| *old == value);
        let old = self.variables.insert(name.to_owned(), value);
        if let Some(log) = self.logs.last_mut() {
            log.entry(name.to_owned()).or_insert(old);
        }
        if !same {
            self.version = self.version.saturating_add(1);
        }
        !same
    }

    /// Returns the value that the caller gives to a variable.
    pub(super) fn given(&self, name: &str) -> Option<Value> {
        let text = (self.context.variables)(name).or_else(|| match name {
            "BASH_SOURCE" => (self.context.variables)("0"),
            _ => None,
        });
        text.map(|text| Rc::new(vec![vec![vec![WordPart::Text(text)]]]))
    }

    /// Returns the values of a variable; unknown ones have an unknown part.
    pub(super) fn lookup(&self, name: &str) -> Vec<Vec<Parts>> {
        let (base, all) = match name.strip_suffix("[@]") {
            Some(base) => (base, true),
            None => (name.strip_suffix("[]").unwrap_or(name), false),
        };
        let unknown = |part: WordPart| vec![vec![vec![part]]];
        let moved = self.place.directories.iter().any(|one| *one != super::inside(&self.context.directory));
        if base == "PWD" && (moved || (self.context.variables)("PWD").is_none()) {
            return self.directory_values().into_iter().map(|one| vec![one]).collect();
        }
        if let Ok(index) = base.parse::<usize>()
            && index > 0
        {
            let positional = self.variables.get("@");
            let Some(positional) = positional else { return unknown(WordPart::Variable(base.to_owned())) };
            let one =
                |fields: &Vec<Parts>| vec![fields.get(index.saturating_sub(1)).cloned().unwrap_or_default()];
            return positional.iter().map(one).collect();
        }
        let base = if base == "*" { "@" } else { base };
        let value = self.variables.get(base).cloned().or_else(|| self.given(base));
        match value {
            Some(value) if all || base == "@" => value.to_vec(),
            Some(value) if name.ends_with("[]") => {
                value.iter().flatten().map(|field| vec![field.clone()]).collect()
            }
            Some(value) => {
                value.iter().map(|fields| vec![fields.first().cloned().unwrap_or_default()]).collect()
            }
            None if matches!(base, "?" | "$" | "!" | "#" | "-" | "RANDOM" | "LINENO" | "SECONDS") => {
                unknown(WordPart::Dynamic(format!("${base}")))
            }
            None => unknown(WordPart::Variable(base.to_owned())),
        }
    }

    /// Returns the current directories as values.
    pub(super) fn directory_values(&self) -> Values {
        if let Some(word) = &self.place.open {
            return word.values().map(<[WordPart]>::to_vec).collect();
        }
        self.place.directories.iter().map(|one| vec![WordPart::Text(one.to_string())]).collect()
    }
}
