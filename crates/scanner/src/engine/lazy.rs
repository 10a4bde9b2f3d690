//! One compiled pattern: lazy DFAs that run from the positions where a match can start.

use core::fmt;
use core::ops::Range;
use core::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use plugward_types::Part;
use regex_automata::hybrid::BuildError;
use regex_automata::hybrid::dfa::DFA;
use regex_automata::hybrid::regex::{Cache, Regex};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::pool::Pool;
use regex_automata::{Anchored, Input, MatchError};

use super::{MAX_AUTOMATON, MAX_STATES, syntax_config};

/// How many bytes may be read from single start positions, per byte of the haystack. It keeps the search linear.
const WORK: usize = 8;
const LEAST_WORK: usize = 8 << 10;

/// A pattern and its states, of which each thread has its own.
///
/// A [`meta::Regex`](regex_automata::meta::Regex) would fall back to a slow search when the states fill its cache. This
/// type drops the states and computes them again.
pub(super) struct Lazy {
    regex: Arc<Regex>,
    caches: Pool<Cache, Box<dyn Fn() -> Cache + Send + Sync + UnwindSafe + RefUnwindSafe>>,
}

impl fmt::Debug for Lazy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lazy").finish_non_exhaustive()
    }
}

impl Lazy {
    pub(super) fn new(source: &str) -> Result<Self, Box<BuildError>> {
        let nfa = thompson::Config::new().utf8(false).nfa_size_limit(Some(MAX_AUTOMATON));
        let nfa = nfa.which_captures(WhichCaptures::None);
        let states = DFA::config().cache_capacity(MAX_STATES).skip_cache_capacity_check(true);
        let regex = Regex::builder().syntax(syntax_config()).thompson(nfa).dfa(states).build(source)?;
        let regex = Arc::new(regex);
        let own = Arc::clone(&regex);
        Ok(Self { regex, caches: Pool::new(Box::new(move || own.create_cache())) })
    }

    /// Finds all matches that start in one of the ranges, which are in rising order.
    ///
    /// # Guarantees
    ///
    /// Time is linear in the haystack: if single starts read too much, one pass searches the rest.
    pub(super) fn find(&self, hay: &[u8], ranges: &[Range<usize>], found: &mut dyn FnMut(usize, usize)) {
        let mut cache = self.caches.get();
        let mut left = hay.len().saturating_mul(WORK).max(LEAST_WORK);
        let mut from = 0_usize;
        for range in ranges {
            from = from.max(range.start);
            while from < range.end {
                if left == 0 {
                    let rest = Input::new(hay).span(from..hay.len());
                    self.regex.find_iter(&mut cache, rest).for_each(|each| found(each.start(), each.end()));
                    return;
                }
                let (end, read) = self.at(&mut cache, hay, from).expect("no byte ends a search");
                if let Some(end) = end {
                    found(from, end);
                }
                from = end.unwrap_or(from.saturating_add(1));
                left = left.saturating_sub(read);
            }
        }
    }

    /// Returns the end of the match that starts at a position, and how many bytes were read for it.
    fn at(&self, cache: &mut Cache, hay: &[u8], from: usize) -> Result<(Option<usize>, usize), MatchError> {
        let (dfa, cache) = (self.regex.forward(), cache.as_parts_mut().0);
        let input = Input::new(hay).span(from..hay.len()).anchored(Anchored::Yes);
        let mut state = dfa.start_state_forward(cache, &input)?;
        let mut end = None;
        // A DFA reports a match one byte after its end.
        for (&byte, at) in hay.part(from..).iter().zip(from..) {
            state = dfa.next_state(cache, state, byte).map_err(|_full| MatchError::gave_up(at))?;
            if state.is_match() {
                end = Some(at);
            } else if state.is_dead() {
                return Ok((end, at.saturating_sub(from).saturating_add(1)));
            }
        }
        let state = dfa.next_eoi_state(cache, state).map_err(|_full| MatchError::gave_up(hay.len()))?;
        let end = if state.is_match() { Some(hay.len()) } else { end };
        Ok((end, hay.len().saturating_sub(from).saturating_add(1)))
    }
}
