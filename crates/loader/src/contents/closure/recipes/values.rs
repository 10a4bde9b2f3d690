//! The variables and arguments of a call, and the work that the variables of a file may cause.

use std::cell::Cell;
use std::collections::BTreeSet;

use plugward_commands::{CommandWord, RecipeTool, StartedProgram};

use crate::contents::hash::sha256;

/// The variables and arguments that a call gives to the recipes of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::contents::closure) struct CallValues {
    /// Variables that replace those of the file.
    pub(super) assignments: Vec<(String, String)>,
    /// Variables of the environment, without a value if it is not known.
    pub(super) environment: Vec<(String, Option<String>)>,
    /// The arguments of the recipe. Those that are not known have no value.
    pub(super) arguments: Vec<Option<String>>,
}

impl CallValues {
    pub(in crate::contents::closure) fn of(
        program: Option<&StartedProgram>,
        assignments: &[String],
        arguments: &[CommandWord],
    ) -> Self {
        let environment = program.map_or(&[][..], |program| &program.environment).iter();
        let assignment = |text: &String| {
            let (name, value) = text.split_once('=')?;
            Some((name.trim_end_matches([':', '+', '?', '!']).to_owned(), value.to_owned()))
        };
        Self {
            assignments: assignments.iter().filter_map(assignment).collect(),
            environment: environment
                .map(|(name, value)| (name.shown().to_owned(), value.literal()))
                .collect(),
            arguments: arguments.iter().map(CommandWord::literal).collect(),
        }
    }

    /// Returns the end of the names of recipes with these values in the list of the closure.
    pub(super) fn suffix(&self) -> String {
        if *self == Self::default() {
            return String::new();
        }
        let digest = sha256(format!("{self:?}").as_bytes()).to_string();
        format!("@{}", digest.get(..12).unwrap_or(&digest))
    }

    /// Adds what a call around this one passes on: make its assignments, and each tool the environment.
    pub(super) fn inherit(&mut self, outer: &Self, tool: RecipeTool) {
        add_new(&mut self.environment, &outer.environment);
        if tool == RecipeTool::Make {
            add_new(&mut self.assignments, &outer.assignments);
        }
    }
}

fn add_new<V: Clone>(inner: &mut Vec<(String, V)>, outer: &[(String, V)]) {
    let known: BTreeSet<String> = inner.iter().map(|(name, _)| name.clone()).collect();
    inner.extend(outer.iter().filter(|(name, _)| !known.contains(name)).cloned());
}

/// The work that the variables of one file may cause. Variables that contain others several times grow exponentially.
#[derive(Debug)]
pub(super) struct Expansion {
    left: Cell<usize>,
    /// The number of the value that a variable with several has, if that is not an unknown value.
    choice: Cell<Option<usize>>,
}

/// The most steps and bytes of the variables of one file.
const MOST_WORK: usize = 4 << 20;
/// The most values of a variable that a file gets as a whole.
const CHOICES: usize = 8;

impl Default for Expansion {
    fn default() -> Self {
        Self { left: Cell::new(MOST_WORK), choice: Cell::new(None) }
    }
}

impl Expansion {
    /// Takes a step with a number of bytes, or returns `None` at the limit.
    pub(super) fn spend(&self, bytes: usize) -> Option<()> {
        let left = self.left.get().checked_sub(bytes.saturating_add(1));
        self.left.set(left.unwrap_or(0));
        left.map(drop)
    }

    pub(super) const fn is_exhausted(&self) -> bool {
        self.left.get() == 0
    }

    /// Returns the only value, or the current choice.
    pub(super) fn value<'v>(&self, values: &'v BTreeSet<String>) -> Option<&'v String> {
        match self.choice.get() {
            Some(at) => values.iter().nth(at).or(values.last()),
            None => values.first().filter(|_| values.len() == 1),
        }
    }

    /// Returns the results for each value of variables with several.
    pub(super) fn of_each_choice(&self, mut expand: impl FnMut() -> Option<String>) -> BTreeSet<String> {
        let mut one = |at: usize| {
            self.choice.set(Some(at));
            expand()
        };
        let found = (0..CHOICES).map_while(&mut one).collect();
        self.choice.set(None);
        found
    }
}
