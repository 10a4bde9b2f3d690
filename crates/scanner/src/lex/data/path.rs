//! The path of a value in a data file, and the patterns of `key` rules.

use std::collections::BTreeMap;

use plugward_types::Part;

use crate::text::view::Obfuscations;

/// The decoded keys and list positions from the root to a value.
#[derive(Debug, Default)]
pub(crate) struct KeyPath {
    text: Vec<u8>,
    parts: Vec<PathPart>,
    /// The path numbers of the first parts, computed on demand.
    numbers: Vec<u32>,
}

/// Numbers for paths. A path is stored as its parent's number and its last part, so that deep paths stay
/// cheap.
#[derive(Debug, Default)]
pub(crate) struct Paths(BTreeMap<(u32, Box<[u8]>), u32>);

impl Paths {
    /// Returns the number of the path that extends `before` by a part.
    fn of(&mut self, before: u32, part: &[u8]) -> u32 {
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX).saturating_add(1);
        *self.0.entry((before, Box::from(part))).or_insert(next)
    }
}

#[derive(Debug, Clone, Copy)]
struct PathPart {
    start: usize,
    /// The obfuscation that was undone in this part or an earlier one.
    how: Obfuscations,
}

impl KeyPath {
    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Appends a part.
    pub(crate) fn push(&mut self, part: &[u8], how: Obfuscations) {
        let how = self.how().and(how);
        self.parts.push(PathPart { start: self.text.len(), how });
        self.text.extend_from_slice(part);
    }

    /// Appends a position in a list.
    pub(crate) fn push_index(&mut self, index: u32) {
        self.parts.push(PathPart { start: self.text.len(), how: self.how() });
        let mut digits = [0_u8; 10];
        let mut at = digits.len();
        let mut rest = index;
        loop {
            at = at.saturating_sub(1);
            if let (Some(slot), Ok(digit)) = (digits.get_mut(at), u8::try_from(rest % 10)) {
                *slot = digit.saturating_add(b'0');
            }
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.text.extend_from_slice(digits.part(at..));
    }

    /// Drops all parts after the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        if let Some(part) = self.parts.get(len) {
            self.text.truncate(part.start);
            self.parts.truncate(len);
            self.numbers.truncate(len);
        }
    }

    /// Returns a part, or an empty slice after the last one.
    pub(crate) fn part(&self, index: usize) -> &[u8] {
        let Some(part) = self.parts.get(index) else { return &[] };
        let end = self.parts.get(index + 1).map_or(self.text.len(), |next| next.start);
        self.text.part(part.start..end)
    }

    /// Returns the last part.
    pub(crate) fn last(&self) -> &[u8] {
        self.part(self.parts.len().wrapping_sub(1))
    }

    /// Returns the obfuscation that was undone in any part.
    pub(crate) fn how(&self) -> Obfuscations {
        self.parts.last().map_or(Obfuscations::NONE, |part| part.how)
    }

    /// Returns a number that is unique to this path.
    pub(crate) fn number(&mut self, paths: &mut Paths) -> u32 {
        for index in self.numbers.len()..self.parts.len() {
            let before = self.numbers.last().copied().unwrap_or(0);
            let number = paths.of(before, self.part(index));
            self.numbers.push(number);
        }
        self.numbers.last().copied().unwrap_or(0)
    }
}

/// The number of parts in which pieces between two `**` are searched. It bounds the cost of a pattern; hosts
/// do not read settings that deep.
const DEEP: usize = 64;
/// The longest key by which patterns are indexed. Longer keys are compared with unindexed patterns only.
const LONGEST: usize = 64;

/// Patterns indexed by the last part of the path, so that each value is compared with few of them.
#[derive(Debug, Default)]
pub(crate) struct KeyIndex {
    by_name: BTreeMap<Box<[u8]>, Vec<u16>>,
    others: Vec<u16>,
}

impl KeyIndex {
    /// Adds a pattern under a number.
    pub(crate) fn add(&mut self, pattern: &KeyPattern, number: u16) {
        let Some(names) = pattern.last_names() else {
            self.others.push(number);
            return;
        };
        for name in names {
            let numbers = self.by_name.entry(Box::from(name.to_ascii_lowercase())).or_default();
            if numbers.last() != Some(&number) {
                numbers.push(number);
            }
        }
    }

    /// Returns the numbers of the patterns that a path may match.
    pub(crate) fn of<'i>(&'i self, path: &KeyPath) -> impl Iterator<Item = u16> + 'i {
        let last = path.last();
        let mut lower = [0_u8; LONGEST];
        let named = lower.get_mut(..last.len()).and_then(|lower| {
            lower.copy_from_slice(last);
            lower.make_ascii_lowercase();
            self.by_name.get(&*lower)
        });
        named.into_iter().flatten().chain(&self.others).copied()
    }
}

/// The path of a `key` rule.
///
/// Parts are joined by dots: `*` matches one part, `**` any number of parts, `a|b` either name, `*a` a name
/// that ends in `a`, and `"a.b"` a part that contains a dot.
#[derive(Debug)]
pub(crate) struct KeyPattern(Vec<PatternPart>);

#[derive(Debug)]
enum PatternPart {
    One,
    Many,
    Names(Vec<Box<[u8]>>),
}

impl PatternPart {
    fn new(text: &str) -> Self {
        match text {
            "*" => Self::One,
            "**" => Self::Many,
            _ => Self::Names(text.split('|').map(|name| Box::from(name.as_bytes())).collect()),
        }
    }

    /// Case is ignored, because some hosts ignore it.
    fn fits(&self, part: &[u8]) -> bool {
        match self {
            Self::One => true,
            Self::Many => false,
            Self::Names(names) => names.iter().any(|name| match name.split_first() {
                Some((b'*', tail)) => part
                    .len()
                    .checked_sub(tail.len())
                    .and_then(|from| part.get(from..))
                    .is_some_and(|end| end.eq_ignore_ascii_case(tail)),
                _ => name.eq_ignore_ascii_case(part),
            }),
        }
    }
}

impl KeyPattern {
    pub(crate) fn parse(text: &str) -> Self {
        let mut pieces = Vec::new();
        let mut piece = String::new();
        let mut quoted = false;
        for char in text.chars() {
            match char {
                '"' => quoted = !quoted,
                '.' if !quoted => pieces.push(PatternPart::new(&core::mem::take(&mut piece))),
                other => piece.push(other),
            }
        }
        pieces.push(PatternPart::new(&piece));
        Self(pieces)
    }

    /// Returns the names in the pattern.
    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.0
            .iter()
            .flat_map(|piece| match piece {
                PatternPart::Names(names) => names.as_slice(),
                PatternPart::One | PatternPart::Many => &[],
            })
            .map(|name| &**name)
    }

    /// Returns the possible names of the last part, or `None` if it can be any.
    fn last_names(&self) -> Option<&[Box<[u8]>]> {
        match self.0.last() {
            Some(PatternPart::Names(names))
                if names.iter().all(|name| name.first() != Some(&b'*') && name.len() <= LONGEST) =>
            {
                Some(names)
            }
            _ => None,
        }
    }

    /// Returns `true` if a path matches.
    ///
    /// The match runs from the end, where most paths differ. Pieces between two `**` are searched only if the
    /// rest matches, so that the depth of a path rarely matters.
    pub(crate) fn matches(&self, path: &KeyPath) -> bool {
        let pieces = self.0.as_slice();
        let is_many = |piece: &PatternPart| matches!(piece, PatternPart::Many);
        let Some(first) = pieces.iter().position(is_many) else {
            return pieces.len() == path.len() && fit(pieces, path, 0);
        };
        let last = pieces.iter().rposition(is_many).unwrap_or(first);
        let (head, rest) = pieces.split_at(first);
        let (middle, tail) = rest.split_at(last.saturating_sub(first));
        let tail = tail.part(1..);
        let Some(tail_at) = path.len().checked_sub(tail.len()).filter(|at| *at >= head.len()) else {
            return false;
        };
        if !fit(tail, path, tail_at) || !fit(head, path, 0) {
            return false;
        }
        let mut at = head.len();
        // Each run of pieces between two `**` takes its first match after the previous run. Greedy matching
        // is correct here and keeps the search linear.
        let tail_at = tail_at.min(DEEP);
        for run in middle.split(is_many).filter(|run| !run.is_empty()) {
            let latest = tail_at.checked_sub(run.len());
            let Some(found) = latest.and_then(|latest| (at..=latest).find(|at| fit(run, path, *at))) else {
                return false;
            };
            at = found + run.len();
        }
        true
    }
}

/// Returns `true` if the pieces match the parts from `at` on, one by one.
fn fit(pieces: &[PatternPart], path: &KeyPath, at: usize) -> bool {
    pieces.iter().zip(at..).all(|(piece, at)| piece.fits(path.part(at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> KeyPath {
        let mut path = KeyPath::default();
        for part in text.split('/').filter(|part| !part.is_empty()) {
            path.push(part.as_bytes(), Obfuscations::NONE);
        }
        path
    }

    #[test]
    fn patterns_match_whole_paths() {
        for (pattern, text) in [
            ("a.b", "a/b"),
            ("a.*", "a/b"),
            ("**", "a/b"),
            ("**.b", "b"),
            ("**.b", "a/c/b"),
            ("a.**", "a"),
            ("a.**.c", "a/c"),
            ("a.**.c", "a/c/b/c"),
            ("**.a.**.c", "x/a/a/y/c"),
            ("a|b.c", "b/c"),
            ("x.\"a.b\"", "x/a.b"),
            ("A.b", "a/B"),
            ("*:b", "x:B"),
        ] {
            assert!(KeyPattern::parse(pattern).matches(&path(text)), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("a.b", "a"),
            ("a.b", "x/a/b"),
            ("a.*", "a/b/c"),
            ("**.b", "a/b/c"),
            ("**.a.**.c", "x/b/c"),
            ("a|b.c", "d/c"),
            ("x.a.b", "x/a.b"),
            ("*:b", "b"),
        ] {
            assert!(!KeyPattern::parse(pattern).matches(&path(text)), "{pattern} {text}");
        }
    }

    /// The reference implementation of matching: tries every split.
    fn plainly(pieces: &[PatternPart], path: &KeyPath, at: usize) -> bool {
        match pieces.split_first() {
            None => at == path.len(),
            Some((PatternPart::Many, rest)) => (at..=path.len()).any(|at| plainly(rest, path, at)),
            Some((piece, rest)) => {
                at < path.len() && piece.fits(path.part(at)) && plainly(rest, path, at + 1)
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn a_pattern_matches_what_trying_all_does(
            pattern in "(a|b|a\\|c|\\*|\\*\\*)(\\.(a|b|a\\|c|\\*|\\*\\*)){0,6}",
            text in "([abc]/){0,9}",
        ) {
            let (pattern, path) = (KeyPattern::parse(&pattern), path(&text));
            proptest::prop_assert_eq!(pattern.matches(&path), plainly(&pattern.0, &path, 0));
        }
    }

    #[test]
    fn the_index_leaves_out_what_cannot_match() {
        let long = "n".repeat(LONGEST + 1);
        let patterns =
            ["a.b", "**.B|c", "**", "a.*", "*:b", "x.\"a.b\"", "a.**", "B", &long].map(KeyPattern::parse);
        let mut index = KeyIndex::default();
        for (pattern, number) in patterns.iter().zip(0_u16..) {
            index.add(pattern, number);
        }
        for text in ["", "a", "b", "B", "a/b", "a/C", "x/a.b", "x:b", "z/x:B", "a/b/c/d", &long, "a/nothing"]
        {
            let path = path(text);
            let asked: Vec<u16> = index.of(&path).collect();
            for (pattern, number) in patterns.iter().zip(0_u16..) {
                assert!(asked.contains(&number) || !pattern.matches(&path), "{text} {pattern:?}");
            }
            assert_eq!(asked.len(), asked.iter().collect::<std::collections::BTreeSet<_>>().len());
        }
        assert_eq!(index.of(&path("a/nothing")).count(), index.others.len());
    }

    #[test]
    fn a_path_gives_its_parts_back() {
        let mut path = KeyPath::default();
        path.push(b"a", Obfuscations::NONE);
        path.push_index(120);
        path.push(b"b", Obfuscations::ESCAPE);
        assert_eq!((path.len(), path.part(1), path.last()), (3, b"120".as_slice(), b"b".as_slice()));
        assert_eq!(path.how(), Obfuscations::ESCAPE);
        path.truncate(2);
        assert_eq!((path.last(), path.how()), (b"120".as_slice(), Obfuscations::NONE));
        path.truncate(0);
        assert_eq!(path.last(), b"");
    }
}
