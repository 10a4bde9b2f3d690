//! All keywords in one automaton, with the matchers that each keyword runs.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use core::ops::Range;

use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use regex_automata::{Anchored as RegexAnchored, Input};

use crate::bytes::has_exact;
use crate::firewall::error::{RedactError, RedactErrorKind};
use crate::firewall::settings::{CustomAction, CustomRule, RuleSelection};
use crate::redacted::finding::{ChecksumCheck, LayerStack, RedactAction};
use crate::redacted::kind::{KINDS, SecretKind, rank};
use crate::rules::automaton::Automaton;
use crate::rules::context::{assign, cli, cloud, header, login, near, url};
use crate::rules::documents::{jwt, k8s, pem};
use crate::rules::prefixed::Prefixed;
use crate::rules::prefixed::{special, table};
use crate::rules::{MarkerEncoding, Match, MatchContext, Matcher};

/// How far a custom regex reads before and after its keyword: twice the documented reach, so that windows
/// overlap.
const CUSTOM_REACH: usize = 8 * 1024;

/// The effect of a keyword.
#[derive(Clone, Copy)]
enum Action {
    Key(usize),
    /// The reversed literal of a key.
    Backwards,
    Context(Matcher),
    /// A matcher for prefixed keys, which also applies in views that join text.
    Carried(Matcher),
    Custom(usize),
}

struct CompiledRule {
    expression: Regex,
    action: RedactAction,
}

/// The compiled rules of a firewall.
pub(crate) struct RuleSet {
    automaton: Automaton,
    longest: usize,
    actions: Vec<Vec<Action>>,
    keys: Vec<Prefixed>,
    custom: Vec<CompiledRule>,
    kinds: Vec<SecretKind>,
}

/// The offset at which a keyword ends, and the automaton state, which identifies the keyword.
pub(crate) type Mark = (usize, u16);

#[derive(Default)]
struct Plan {
    words: Vec<Vec<u8>>,
    actions: Vec<Vec<Action>>,
}

impl Plan {
    fn add(&mut self, word: &[u8], action: Action) {
        let word = word.to_ascii_lowercase();
        if let Some(list) =
            self.words.iter().position(|w| *w == word).and_then(|place| self.actions.get_mut(place))
        {
            list.push(action);
        } else {
            self.words.push(word);
            self.actions.push(vec![action]);
        }
    }
}

/// Keywords of kinds that need context.
const CONTEXTS: &[(&[&str], Matcher)] = &[
    (assign::WORDS, assign::assigned),
    (&["identified"], assign::identified),
    (&["privatekey", "presharedkey"], assign::wireguard),
    (&["private_key", "privkey", "secret_key", "seed"], assign::hex_key),
    (&["://"], url::userinfo),
    (url::QUERY_WORDS, url::query),
    (&["hooks.slack.com/", "api/webhooks/", "webhookb2"], url::webhook),
    (&["authorization"], header::authorization),
    (&["bearer "], header::bearer),
    (header::KEY_WORDS, header::key_header),
    (&["cookie:"], header::cookie),
    (&["secret_access_key", "secretaccesskey", "aws_secret"], cloud::aws_secret),
    (&["session_token", "sessiontoken", "security_token"], cloud::aws_session),
    (&["accountkey=", "sharedaccesskey="], cloud::azure),
    (near::WORDS, near::near),
    (cli::WORDS, cli::command),
    (&["kind"], k8s::secret),
    (&["\"auth\""], login::docker),
    (&["machine "], login::netrc),
    (&["_auth", "_password"], login::npmrc),
    (&[":5432:", ":5433:", ":6432:"], login::pgpass),
    (&["\"kty\""], jwt::jwk),
    (&["$2a$", "$2b$", "$2y$", "$argon2", "$6$", "$5$", "$1$", "$y$", "$scrypt$"], special::hashes),
];

/// Keywords of kinds with a literal of their own, which apply in every view.
const CARRIED: &[(&[&str], Matcher)] = &[
    (&["t3blbkfj"], special::openai),
    (&[".atlasv1."], special::atlas),
    (&["0q~", "1q~", "2q~", "3q~", "4q~", "5q~", "6q~", "7q~", "8q~", "9q~"], special::azure_ad),
    (&["+ast", "azfu", "azse", "azca", "acdb", "aiot", "jqqj99"], special::azure_marked),
    (&["apa91b"], special::firebase),
    (&["_mmk"], special::maxmind),
    (&[":aa"], special::telegram),
    (&["discord"], special::near_discord),
    (&["eyj"], jwt::jwt),
    (&["-----begin "], pem::block),
    (&["-----end "], pem::tail),
    (&["putty-user-key-file"], pem::putty),
];

/// Returns the literals that keys begin with.
pub(crate) fn literals() -> impl Iterator<Item = &'static str> {
    table::GROUPS.iter().flat_map(|group| group.iter()).map(|row| row.literal)
}

impl RuleSet {
    /// Compiles the rules.
    pub(crate) fn new(rules: &RuleSelection, custom: &[CustomRule]) -> Result<Self, RedactError> {
        let mut plan = Plan::default();
        let mut keys = Vec::new();
        for row in
            table::GROUPS.iter().flat_map(|group| group.iter()).filter(|row| rules.wants_rank(row.rank))
        {
            let literal = row.literal.as_bytes();
            plan.add(literal, Action::Key(keys.len()));
            if literal.len() >= 4 {
                let backwards: Vec<u8> = literal.iter().rev().copied().collect();
                plan.add(&backwards, Action::Backwards);
            }
            keys.push(*row);
        }
        for (words, matcher) in CONTEXTS {
            words.iter().for_each(|word| plan.add(word.as_bytes(), Action::Context(*matcher)));
        }
        for (words, matcher) in CARRIED {
            words.iter().for_each(|word| plan.add(word.as_bytes(), Action::Carried(*matcher)));
        }
        for head in ["eyjh", "eyj0", "t3blbkfj", ".atlasv1."] {
            let backwards: Vec<u8> = head.bytes().rev().collect();
            plan.add(&backwards, Action::Backwards);
        }
        let mut kinds: Vec<SecretKind> = KINDS.iter().map(|(name, _)| SecretKind::own(name)).collect();
        let mut compiled = Vec::new();
        for rule in custom {
            if kinds.iter().any(|kind| kind.as_str() == rule.name) || !good_name(&rule.name) {
                return Err(RedactError::new(RedactErrorKind::RuleName, &rule.name));
            }
            for word in &rule.keywords {
                plan.add(word.as_bytes(), Action::Custom(compiled.len()));
            }
            compiled.push(compile(rule)?);
            kinds.push(SecretKind::custom(&rule.name));
        }
        let automaton = Automaton::new(&plan.words)
            .map_err(|why| RedactError::because(RedactErrorKind::DeadRule, "keywords", why))?;
        let longest = plan.words.iter().map(Vec::len).max().unwrap_or(1);
        Ok(Self { automaton, longest, actions: plan.actions, keys, custom: compiled, kinds })
    }

    /// Returns how far back custom rules may look. Twice their reach, because a keyword is examined again.
    pub(crate) const fn custom_reach(&self) -> usize {
        if self.custom.is_empty() { 0 } else { 2 * CUSTOM_REACH }
    }

    /// Returns the kind of a rank.
    pub(crate) fn kind(&self, rank: u16) -> SecretKind {
        self.kinds.get(usize::from(rank)).cloned().unwrap_or(SecretKind::own("unscanned"))
    }

    /// Finds the offsets at which keywords end in a range of the text.
    ///
    /// Four lanes of the range run side by side: each step of the automaton waits for memory, and the four
    /// waits overlap.
    pub(crate) fn marks(&self, text: &[u8], range: Range<usize>, out: &mut Vec<Mark>) {
        let whole = crate::bytes::part(text, range.clone());
        let lane = whole.len() / 4;
        // Lanes shorter than this would spend more time on their seams than they save.
        if lane < self.longest * 4 {
            self.one_lane(text, range.start, range, out);
            return;
        }
        let cut = |index: usize| range.start + lane * index;
        let tail = cut(4)..range.end;
        let first = out.len();
        self.four_lanes(text, [cut(0), cut(1), cut(2), cut(3)], lane, out);
        // A keyword across a seam ends in the next lane, which did not see its start.
        for seam in [cut(0), cut(1), cut(2), cut(3)] {
            let from = seam.saturating_sub(self.longest);
            let until = (seam + self.longest).min(range.end);
            self.across(text, from, seam, until, out);
        }
        // A keyword that ends in the tail may begin before it.
        let from = tail.start.saturating_sub(self.longest);
        self.one_lane(text, from, tail, out);
        if let Some(fresh) = out.get_mut(first..) {
            fresh.sort_unstable_by_key(|mark| mark.0);
        }
    }

    fn one_lane(&self, text: &[u8], from: usize, range: Range<usize>, out: &mut Vec<Mark>) {
        let from = from.saturating_sub(self.longest);
        let mut state = self.automaton.start();
        for (place, byte) in (from + 1..).zip(crate::bytes::part(text, from..range.end)) {
            state = self.automaton.next(state, *byte);
            if self.automaton.is_match(state) && place > range.start {
                out.push((place, state));
            }
        }
    }

    /// Reports the keywords that start before a seam and end after it.
    fn across(&self, text: &[u8], from: usize, seam: usize, until: usize, out: &mut Vec<Mark>) {
        let mut state = self.automaton.start();
        for (place, byte) in (from + 1..).zip(crate::bytes::part(text, from..until)) {
            state = self.automaton.next(state, *byte);
            if place <= seam || !self.automaton.is_match(state) {
                continue;
            }
            if self.automaton.words(state).any(|(_, length)| place - length < seam) {
                out.push((place, state));
            }
        }
    }

    fn four_lanes(&self, text: &[u8], starts: [usize; 4], lane: usize, out: &mut Vec<Mark>) {
        let lanes = starts.map(|start| crate::bytes::part(text, start..start + lane));
        let [mut a, mut b, mut c, mut d] = [self.automaton.start(); 4];
        let bytes = lanes[0].iter().zip(lanes[1]).zip(lanes[2].iter().zip(lanes[3]));
        for (place, ((at_a, at_b), (at_c, at_d))) in (1_usize..).zip(bytes) {
            a = self.automaton.next(a, *at_a);
            b = self.automaton.next(b, *at_b);
            c = self.automaton.next(c, *at_c);
            d = self.automaton.next(d, *at_d);
            // One test for all four lanes, since keywords are rare.
            if self.automaton.is_match(a.min(b).min(c).min(d)) {
                for (state, start) in [a, b, c, d].into_iter().zip(starts) {
                    if self.automaton.is_match(state) {
                        out.push((start + place, state));
                    }
                }
            }
        }
    }

    /// Runs the matchers of the keywords at a mark. Collects the places of reversed literals.
    pub(crate) fn look(
        &self,
        ctx: &MatchContext<'_>,
        mark: Mark,
        hits: &mut Vec<Match>,
        backwards: &mut Vec<Range<usize>>,
    ) {
        let (end, state) = mark;
        for (word, length) in self.automaton.words(state) {
            let at = end - length..end;
            for action in self.actions.get(word).map(Vec::as_slice).unwrap_or_default() {
                match *action {
                    Action::Key(index) => self.look_key(ctx, index, at.start, hits),
                    Action::Backwards => backwards.push(at.clone()),
                    Action::Carried(matcher) => matcher(ctx, at.clone(), hits),
                    Action::Context(matcher) if !ctx.prefixed_only => matcher(ctx, at.clone(), hits),
                    Action::Context(_) => {}
                    Action::Custom(index) => self.look_custom(ctx, index, &at, hits),
                }
            }
        }
    }

    fn look_key(&self, ctx: &MatchContext<'_>, index: usize, start: usize, hits: &mut Vec<Match>) {
        let Some(row) = self.keys.get(index) else { return };
        if !has_exact(ctx.text, start, row.literal) || ctx.memo.seen_key(start) || row.is_dull(ctx, start) {
            return;
        }
        if let Some((end, sum)) = row.look(ctx, start)
            && special::key_stands(ctx, row, start, sum)
        {
            ctx.memo.note_key(end);
            ctx.take(row.rank, start..end, sum, hits);
            if row.rank == rank("aws-key-id") {
                cloud::aws_beside(ctx, end, hits);
            }
        }
    }

    fn look_custom(&self, ctx: &MatchContext<'_>, index: usize, at: &Range<usize>, hits: &mut Vec<Match>) {
        let Some(rule) = self.custom.get(index) else { return };
        // A window that was read also covers a keyword in its first three quarters.
        let read = ctx.memo.custom_read(index);
        if read > 0 && at.end + CUSTOM_REACH / 2 <= read {
            return;
        }
        let until = (at.end + CUSTOM_REACH).min(ctx.text.len());
        ctx.memo.custom(index, if until == ctx.text.len() { usize::MAX } else { until });
        let input = Input::new(ctx.text)
            .range(at.start.saturating_sub(CUSTOM_REACH)..until)
            .anchored(RegexAnchored::No);
        let rank = u16::try_from(KINDS.len() + index).unwrap_or(u16::MAX);
        for found in rule.expression.find_iter(input).filter(|found| !found.is_empty()) {
            if !crate::redacted::marker::is_marker(crate::bytes::part(ctx.text, found.range())) {
                let (sum, via) = (ChecksumCheck::None, LayerStack::default());
                hits.push(Match {
                    at: found.range(),
                    rank,
                    sum,
                    via,
                    wide: MarkerEncoding::Bytes,
                    action: rule.action,
                    known: false,
                });
            }
        }
    }
}

impl core::fmt::Debug for RuleSet {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("RuleSet").field("keywords", &self.actions.len()).finish_non_exhaustive()
    }
}

fn good_name(name: &str) -> bool {
    let fits = (1..=40).contains(&name.len());
    fits && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

fn compile(rule: &CustomRule) -> Result<CompiledRule, RedactError> {
    if rule.keywords.is_empty() || rule.keywords.iter().any(|word| word.len() < 2 || word.len() > 64) {
        let why = "it needs at least one keyword of 2 to 64 bytes".to_owned();
        return Err(RedactError::because(RedactErrorKind::DeadRule, &rule.name, why));
    }
    let config =
        Regex::config().nfa_size_limit(Some(1 << 20)).hybrid_cache_capacity(1 << 20).utf8_empty(false);
    let expression = Regex::builder()
        .syntax(syntax::Config::new().unicode(false).utf8(false))
        .configure(config)
        .build(&rule.pattern)
        .map_err(|error| RedactError::because(RedactErrorKind::DeadRule, &rule.name, error.to_string()))?;
    let action = match rule.action {
        CustomAction::Redact => RedactAction::Removed,
        CustomAction::Note => RedactAction::Noted,
        CustomAction::Withhold => RedactAction::Withheld,
    };
    Ok(CompiledRule { expression, action })
}
