//! Known names that a mistyped name resembles.
#![expect(clippy::arithmetic_side_effects, reason = "distances are at most the lengths of texts in memory")]

/// Returns the name that is most similar to a given one, or `None` if all of them are too different to be meant.
///
/// At most a third of the characters may differ, and at least one. Upper and lower case are equal.
///
/// # Examples
/// ```
/// use plugward_types::nearest;
///
/// assert_eq!(nearest("cluade", ["claude", "codex"]), Some("claude"));
/// assert_eq!(nearest("emacs", ["claude", "codex"]), None);
/// ```
#[must_use]
pub fn nearest<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let given = given.to_lowercase();
    // With more changes, a suggestion would be a guess.
    let most = (given.chars().count() / 3).max(1);
    let far = names.into_iter().map(|name| (edit_distance(&given, &name.to_lowercase()), name));
    far.filter(|(far, _)| *far <= most).min_by_key(|(far, _)| *far).map(|(_, name)| name)
}

/// Returns the number of characters to insert, delete, replace, or swap with the next, that makes one text of another.
#[must_use]
pub fn edit_distance(one: &str, two: &str) -> usize {
    let two: Vec<char> = two.chars().collect();
    // The distances from the start of `one` to each start of `two`, and those of one character less for swaps.
    let mut row: Vec<usize> = (0..=two.len()).collect();
    let mut earlier: Vec<usize> = Vec::new();
    let mut last = None;
    for (count, a) in one.chars().enumerate() {
        let mut left = count + 1;
        let mut next = vec![left];
        for (at, (pair, b)) in row.windows(2).zip(&two).enumerate() {
            let &[diagonal, above] = pair else { continue };
            left = (diagonal + usize::from(a != *b)).min(above + 1).min(left + 1);
            let before = at.checked_sub(1).filter(|at| last == Some(*b) && two.get(*at) == Some(&a));
            if let Some(distance) = before.and_then(|at| earlier.get(at)) {
                left = left.min(distance + 1);
            }
            next.push(left);
        }
        earlier = core::mem::replace(&mut row, next);
        last = Some(a);
    }
    row.last().copied().unwrap_or(0)
}
