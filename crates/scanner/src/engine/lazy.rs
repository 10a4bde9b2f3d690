//! One pattern as lazy automata, for searches between two places.

use core::fmt;
use core::ops::RangeInclusive;
use core::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, OnceLock};

use regex_automata::hybrid::BuildError;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::pool::Pool;
use regex_automata::{Anchored, Input, MatchError, MatchKind};

use super::{MAX_AUTOMATON, MAX_STATES, syntax_config};

/// A way to a match: on to its end, or back from there to its start. A [`regex_automata::meta::Regex`] holds both, and tables for
/// other ways of search besides.
struct Half {
    dfa: Arc<DFA>,
    caches: Pool<Cache, Box<dyn Fn() -> Cache + Send + Sync + UnwindSafe + RefUnwindSafe>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    On,
    Back,
}

impl Half {
    fn new(source: &str, way: Way) -> Result<Self, Box<BuildError>> {
        let back = way == Way::Back;
        let nfa = thompson::Config::new()
            .utf8(false)
            .nfa_size_limit(Some(MAX_AUTOMATON))
            .which_captures(thompson::WhichCaptures::None)
            .reverse(back);
        let kind = if back { MatchKind::All } else { MatchKind::LeftmostFirst };
        let states =
            DFA::config().match_kind(kind).cache_capacity(MAX_STATES).skip_cache_capacity_check(true);
        let dfa = DFA::builder().syntax(syntax_config()).thompson(nfa).configure(states).build(source)?;
        let dfa = Arc::new(dfa);
        let of = Arc::clone(&dfa);
        Ok(Self { dfa, caches: Pool::new(Box::new(move || of.create_cache())) })
    }
}

/// A pattern. Its way back is made when a match is found whose start is not known.
pub(super) struct Lazy {
    on: Half,
    back: OnceLock<Half>,
}

impl fmt::Debug for Lazy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lazy").finish_non_exhaustive()
    }
}

/// Why a search failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The pattern does not compile.
    Build(#[expect(dead_code, reason = "a panic shows it")] Box<BuildError>),
    /// The search was given up.
    Search(#[expect(dead_code, reason = "a panic shows it")] MatchError),
}

impl Lazy {
    pub(super) fn new(source: &str) -> Result<Self, Box<BuildError>> {
        Ok(Self { on: Half::new(source, Way::On)?, back: OnceLock::new() })
    }

    /// Finds the first match that starts between two places, ends included, and ends before a third one.
    pub(super) fn find(
        &self,
        source: &str,
        hay: &[u8],
        starts: RangeInclusive<usize>,
        end: usize,
    ) -> Result<Option<(usize, usize)>, Failure> {
        let (from, last) = starts.into_inner();
        let known = from == last;
        let anchored = if known { Anchored::Yes } else { Anchored::No };
        let input = Input::new(hay).span(from..end).anchored(anchored);
        let found = self.on.dfa.try_search_fwd(&mut self.on.caches.get(), &input).map_err(Failure::Search)?;
        let Some(end) = found.map(|half| half.offset()) else { return Ok(None) };
        if known {
            return Ok(Some((from, end)));
        }
        if self.back.get().is_none() {
            let back = Half::new(source, Way::Back).map_err(Failure::Build)?;
            // Where two threads make it, the first one's stays.
            drop(self.back.set(back));
        }
        let Some(back) = self.back.get() else { return Ok(None) };
        let input = Input::new(hay).span(from..end).anchored(Anchored::Yes);
        let found = back.dfa.try_search_rev(&mut back.caches.get(), &input).map_err(Failure::Search)?;
        // What starts later belongs to a later window, where its end is not cut off.
        Ok(found.map(|half| (half.offset(), end)).filter(|(start, _)| *start <= last))
    }
}
