//! The keyword automaton as one table of 16-bit states.
//!
//! The automaton is built by `aho-corasick` and copied state by state. The copy has the same speed and needs
//! a third of the memory of the library's DFA, which matters because every firewall process has one.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use core::ops::Range;

use aho_corasick::automaton::{Automaton as _, StateID};
use aho_corasick::nfa::noncontiguous::NFA;
use aho_corasick::{Anchored, MatchKind};
use plugward_types::Part;

/// The maximum number of states: about 60,000 bytes of keywords without common prefixes.
const MOST: usize = u16::MAX as usize;

/// An automaton over all keywords, ASCII case folded.
pub(crate) struct Automaton {
    /// The class of each byte. Bytes that no keyword distinguishes share a class.
    classes: [u8; 256],
    /// The number of classes.
    stride: usize,
    /// The next state for each state and class.
    table: Vec<u16>,
    start: u16,
    /// States below this one end a keyword.
    matches: u16,
    /// For each of these, where its keywords are in `words`.
    ends: Vec<u32>,
    words: Vec<u16>,
    lengths: Vec<u16>,
}

impl Automaton {
    /// Builds the automaton for a list of keywords.
    ///
    /// The error is a description for the user.
    pub(crate) fn new(keywords: &[Vec<u8>]) -> Result<Self, String> {
        let nfa = NFA::builder()
            .match_kind(MatchKind::Standard)
            .ascii_case_insensitive(true)
            .prefilter(false)
            .build(keywords)
            .map_err(|error| error.to_string())?;
        let (classes, bytes) = classes(keywords);
        let states = StateTable::from(&nfa, &bytes)?;
        let mut own = Self {
            classes,
            stride: bytes.len(),
            table: states.table,
            start: states.start,
            matches: u16::try_from(states.matches).map_err(|error| error.to_string())?,
            ends: vec![0],
            words: Vec::new(),
            lengths: keywords.iter().map(|word| u16::try_from(word.len()).unwrap_or(u16::MAX)).collect(),
        };
        for state in states.order.iter().take(states.matches) {
            for index in 0..nfa.match_len(*state) {
                own.words
                    .push(u16::try_from(nfa.match_pattern(*state, index).as_usize()).unwrap_or(u16::MAX));
            }
            own.ends.push(u32::try_from(own.words.len()).unwrap_or(u32::MAX));
        }
        Ok(own)
    }

    /// Returns the state before the first byte.
    pub(crate) const fn start(&self) -> u16 {
        self.start
    }

    /// Returns the state after one more byte.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "a byte has a class")]
    pub(crate) fn next(&self, state: u16, byte: u8) -> u16 {
        let row = usize::from(state) * self.stride;
        let cell = row + usize::from(self.classes[usize::from(byte)]);
        // Every state has a row of that width.
        self.table.get(cell).copied().unwrap_or(self.start)
    }

    /// Returns `true` if a keyword ends in a state.
    #[inline]
    pub(crate) const fn is_match(&self, state: u16) -> bool {
        state < self.matches
    }

    /// Returns the index and length of each keyword that ends in a state.
    pub(crate) fn words(&self, state: u16) -> impl Iterator<Item = (usize, usize)> + '_ {
        let end = |index: usize| self.ends.get(index).and_then(|end| usize::try_from(*end).ok());
        let index = usize::from(state);
        let range: Range<usize> = end(index).unwrap_or(0)..end(index + 1).unwrap_or(0);
        self.words.part(range).iter().map(|word| {
            let word = usize::from(*word);
            (word, self.lengths.get(word).copied().map_or(0, usize::from))
        })
    }
}

fn start(nfa: &NFA) -> Result<StateID, String> {
    nfa.start_state(Anchored::No).map_err(|error| error.to_string())
}

/// Returns the class of each byte, and one byte of each class. Class 0 is for bytes that are in no keyword.
fn classes(keywords: &[Vec<u8>]) -> ([u8; 256], Vec<u8>) {
    let mut stands = [false; 256];
    for byte in keywords.iter().flatten() {
        if let Some(slot) = stands.get_mut(usize::from(byte.to_ascii_lowercase())) {
            *slot = true;
        }
    }
    let stood = |byte: u8| stands.get(usize::from(byte)).copied().unwrap_or(false);
    // If keywords distinguish all bytes, class 0 is unused, and NUL represents it.
    let other = (0..=u8::MAX).find(|byte| !stood(byte.to_ascii_lowercase())).unwrap_or(0);
    let mut bytes = vec![other];
    let mut classes = [0; 256];
    // Bytes that no keyword contains share class 0, which shrinks a row from 256 cells to one for each distinct
    // byte.
    for (byte, class) in (0..=u8::MAX).zip(classes.iter_mut()) {
        if stood(byte) && byte != other {
            *class = u8::try_from(bytes.len()).unwrap_or(0);
            bytes.push(byte);
        }
    }
    let folded = classes;
    for (byte, class) in (0..=u8::MAX).zip(classes.iter_mut()) {
        *class = folded.get(usize::from(byte.to_ascii_lowercase())).copied().unwrap_or(0);
    }
    (classes, bytes)
}

/// The reachable states of an automaton, those that end a keyword first.
struct StateTable {
    order: Vec<StateID>,
    matches: usize,
    start: u16,
    /// The next state for each state and class.
    table: Vec<u16>,
}

impl StateTable {
    fn from(nfa: &NFA, bytes: &[u8]) -> Result<Self, String> {
        let mut turns = StateNumbers::default();
        let mut order = vec![start(nfa)?];
        turns.of(start(nfa)?)?;
        // The transitions of each state in order of discovery. Each is computed once, because a lookup
        // follows failure links.
        let mut behind: Vec<u16> = Vec::new();
        let mut next = 0;
        while let Some(state) = order.get(next).copied() {
            next += 1;
            for byte in bytes {
                let to = nfa.next_state(Anchored::No, state, *byte);
                let turn = turns.of(to)?;
                // A new state always gets the next number, so equality means that it was just discovered.
                if usize::from(turn) == order.len() {
                    order.push(to);
                }
                behind.push(turn);
            }
        }
        let mut sorted: Vec<usize> = (0..order.len()).collect();
        let state_of = |turn: usize| order.get(turn).copied();
        // States that end a keyword come first, so that `is_match` is one comparison.
        sorted.sort_by_key(|turn| !state_of(*turn).is_some_and(|state| nfa.is_match(state)));
        let mut numbers = vec![0; order.len()];
        for (number, turn) in (0..=u16::MAX).zip(&sorted) {
            if let Some(slot) = numbers.get_mut(*turn) {
                *slot = number;
            }
        }
        let number = |turn: u16| numbers.get(usize::from(turn)).copied().unwrap_or(0);
        let mut table = Vec::with_capacity(behind.len());
        for turn in &sorted {
            let from = turn * bytes.len();
            let row = behind.part(from..from + bytes.len());
            table.extend(row.iter().map(|turn| number(*turn)));
        }
        let order: Vec<StateID> = sorted.into_iter().filter_map(state_of).collect();
        let matches = order.iter().take_while(|state| nfa.is_match(**state)).count();
        Ok(Self { order, matches, start: number(0), table })
    }
}

/// The order in which states were discovered.
#[derive(Default)]
struct StateNumbers {
    /// For each state one more than its number, or 0 if it is undiscovered.
    known: Vec<u32>,
    count: usize,
}

impl StateNumbers {
    /// Returns the number of a state, and numbers it if it is new.
    fn of(&mut self, state: StateID) -> Result<u16, String> {
        let index = state.as_usize();
        if self.known.len() <= index {
            self.known.resize(index + 1, 0);
        }
        let Some(known) = self.known.get_mut(index) else { return Err("a state has no index".to_owned()) };
        if *known == 0 {
            self.count += 1;
            *known = u32::try_from(self.count).map_err(|error| error.to_string())?;
        }
        let turn = *known - 1;
        // Reported as an error and not truncated: a state with a wrong number would miss keywords silently.
        let few = u16::try_from(turn).ok().filter(|turn| usize::from(*turn) < MOST);
        few.ok_or_else(|| format!("the keywords need more than {MOST} states"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aho_corasick::AhoCorasick;

    fn own(words: &[Vec<u8>], text: &[u8]) -> Vec<(usize, usize)> {
        let automaton = Automaton::new(words).unwrap();
        let mut found = Vec::new();
        let mut state = automaton.start();
        for (place, byte) in text.iter().enumerate() {
            state = automaton.next(state, *byte);
            if automaton.is_match(state) {
                found.extend(automaton.words(state).map(|(word, length)| (word, (place + 1) - length)));
            }
        }
        found.sort_unstable();
        found
    }

    #[test]
    fn it_finds_what_the_library_finds() {
        let words: Vec<Vec<u8>> =
            ["he", "she", "his", "hers", "a_b", "b_a", "\u{e9}t", "0q~", "-----begin ", "ab", "abab"]
                .iter()
                .map(|word| word.as_bytes().to_vec())
                .collect();
        let reference = AhoCorasick::builder().ascii_case_insensitive(true).build(&words).unwrap();
        let alphabet = "hesHErSi_abAB\u{e9}t0q~- begin\n\0";
        let mut state = 7_u64;
        for _ in 0..200 {
            let mut text = Vec::new();
            for _ in 0..60 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push(alphabet.as_bytes()[usize::try_from(state >> 40).unwrap() % alphabet.len()]);
            }
            let mut expected: Vec<(usize, usize)> = reference
                .find_overlapping_iter(&text)
                .map(|found| (found.pattern().as_usize(), found.start()))
                .collect();
            expected.sort_unstable();
            assert_eq!(own(&words, &text), expected);
        }
        assert_eq!(own(&words, b"SHE has a_B").len(), 3);
    }

    #[test]
    fn every_byte_may_stand_in_a_keyword() {
        let words: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte.to_ascii_lowercase(), b'!']).collect();
        assert_eq!(own(&words, b"\0!").len(), 1);
        assert_eq!(own(&words, b"\xff!z!").len(), 3, "z stands in the list twice");
    }

    #[test]
    fn too_many_states_are_told() {
        let words: Vec<Vec<u8>> =
            (0..2000_u32).map(|index| format!("{index:05}").repeat(8).into_bytes()).collect();
        let told = Automaton::new(&words).err().unwrap_or_default();
        assert!(told.contains("more than 65535 states"), "{told}");
    }
}
