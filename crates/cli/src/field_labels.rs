//! The precision of each rule, measured on findings in real plugins that were labeled by hand.

use serde::Serialize;

/// The labels, one finding per line; `cargo xtask field judge --check` validates the file.
const LABELS: &str = include_str!("../data/field-labels.tsv");

/// The number of labeled findings of a rule, and of those that are right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct Precision {
    /// Findings that are an attack or worth a question to the user.
    pub(crate) right: usize,
    /// All labeled findings.
    pub(crate) labeled: usize,
}

/// Returns the precision of a rule, or `None` if no finding of it is labeled.
pub(crate) fn precision(rule: &str) -> Option<Precision> {
    precision_in(LABELS, rule)
}

fn precision_in(labels: &str, rule: &str) -> Option<Precision> {
    let mut sum = Precision::default();
    for line in labels.lines().skip(1) {
        let mut fields = line.split('\t').skip(3);
        let (id, _severity, verdict) = (fields.next(), fields.next(), fields.next());
        if id == Some(rule) {
            sum.labeled = sum.labeled.saturating_add(1);
            let is_right = matches!(verdict, Some("attack" | "worth-asking"));
            sum.right = sum.right.saturating_add(usize::from(is_right));
        }
    }
    (sum.labeled > 0).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "repository\tpath\tline\trule\tseverity\tverdict\treason";

    #[test]
    fn the_columns_are_those_of_the_file() {
        assert_eq!(LABELS.lines().next(), Some(HEADER));
    }

    #[test]
    fn attacks_and_findings_worth_asking_about_are_right() {
        let labels = format!(
            "{HEADER}\n\
             a/b\tx\t1\tr/one\tdanger\tattack\tsends keys\n\
             a/b\tx\t2\tr/one\twarning\tworth-asking\truns a download\n\
             a/b\tx\t3\tr/one\tdanger\tfalse\ta comment\n\
             a/b\tx\t1\tr/two\tinfo\tfalse\ta test\n"
        );
        assert_eq!(precision_in(&labels, "r/one"), Some(Precision { right: 2, labeled: 3 }));
        assert_eq!(precision_in(&labels, "r/two"), Some(Precision { right: 0, labeled: 1 }));
        assert_eq!(precision_in(&labels, "r"), None);
    }
}
