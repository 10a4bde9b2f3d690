//! The built-in rules as they are at start: read, checked and derived before, so that a scan of one file waits for none of it.
//!
//! The table lies beside this file; `cargo xtask docs` writes it. It names the rule files that it was made of by a number
//! that the build gives them: where that is another, the rule files themselves are loaded, which gives the same rules later.
//! A test and `scan --self-check` make the table anew and compare all of it.

use plugward_types::Digest;

use super::compile::{Way, again, derived, digest};
use super::load::read;
use super::pack::{Pack, Unpack};
use super::source::Text;
use super::{Rule, Rules};
use crate::RuleError;
use crate::engine::Compiled;
use crate::error::RuleErrorKind;

/// The table's form and what it says.
const HEAD: &str = "plugward rules 2";
const TABLE: &str = include_str!("builtin.table");
/// The number of the rule files.
const FILES: &str = env!("PLUGWARD_SCANNER_RULES");

/// Gives the built-in rules; `None` where the table is none of the rule files.
pub(super) fn builtin() -> Option<Rules> {
    of(TABLE)
}

fn of(table: &'static str) -> Option<Rules> {
    let mut from = Unpack(table);
    let [head, files] = [Text::unpack(&mut from)?, Text::unpack(&mut from)?];
    if head != HEAD || files != FILES {
        return None;
    }
    let digest = Digest::unpack(&mut from)?;
    let all: Vec<(Rule, Vec<Way>)> = Pack::unpack(&mut from)?;
    if from.0.is_empty() { again(all, digest).ok() } else { None }
}

/// Makes the table from the rule files. Each pattern is compiled on the way.
pub(super) fn made() -> Result<String, RuleError> {
    let all = read(&[])?;
    let mut out = String::new();
    Text::Borrowed(HEAD).pack(&mut out);
    Text::Borrowed(FILES).pack(&mut out);
    digest(&all).pack(&mut out);
    let mut rows = Vec::new();
    for read in all {
        let way = |found| {
            let derived = derived(&found, read.speed, Compiled::ByLoader)?;
            Ok(Way { found, derived })
        };
        let ways: Result<Vec<Way>, RuleErrorKind> = read.matches.into_iter().map(way).collect();
        let ways = ways.map_err(|kind| read.place.error(read.rule.id.as_str(), kind))?;
        rows.push((read.rule, ways));
    }
    rows.pack(&mut out);
    Ok(out)
}

/// Compares the table with what the rule files give.
pub(super) fn check() -> Result<(), RuleError> {
    if made()? == TABLE {
        return Ok(());
    }
    let kind = RuleErrorKind::Parse("the table is not what the rule files give: cargo xtask docs".to_owned());
    Err(RuleError::new("builtin.table", None, kind))
}

#[cfg(test)]
mod tests {
    use super::super::load::load;
    use super::super::{CaseStore, MatcherKind};
    use super::*;
    use crate::engine::{Lines, Pattern, ShortRegex};
    use crate::entry::{Content, Entry, RoleHint};
    use crate::options::{Profile, ScanOptions};
    use crate::scan::scan;

    /// Scans one file with a table of its own; gives the patterns that were compiled for it.
    fn compiled_for(path: &str, text: &str) -> (Vec<String>, Rules) {
        let rules = builtin().unwrap();
        let content = Content::Bytes { bytes: text.as_bytes(), digest: Digest::from_bytes([0; 32]) };
        let entry = Entry { path, content, role: RoleHint::NONE };
        scan(&rules, &ScanOptions::new(Profile::StrictPlugin), &[entry]).unwrap();
        let mut all = Vec::new();
        for known in &rules.matchers {
            let short: [Option<&ShortRegex>; 2] = match &known.kind {
                MatcherKind::Name { argv, .. } => [argv.as_deref(), None],
                MatcherKind::Command(command) => [command.args.as_ref(), command.redirect.as_ref()],
                MatcherKind::Key(key) => [key.value.as_ref(), None],
                _ => [None, None],
            };
            all.extend(short.into_iter().flatten().filter_map(ShortRegex::compiled).map(str::to_owned));
        }
        for set in [&rules.bytes, &rules.text, &rules.hidden, &rules.code] {
            all.extend(set.patterns.iter().filter_map(Pattern::compiled).map(str::to_owned));
        }
        (all, rules)
    }

    #[test]
    fn a_plain_small_file_has_nothing_compiled_and_no_rule_file_read() {
        let js = "// The days.\nexport const DAYS = ['Sun', 'Mon'];\nexport const day = (at) => DAYS[at.getDay()];\n";
        let py = "DAYS = ['Sun', 'Mon']\n\ndef day(at):\n    return DAYS[at.weekday()]\n";
        let md = "# Days\n\nSay which day it is, in one word.\n";
        let sh = "#!/bin/sh\ndate +%A\n";
        let json = "{ \"name\": \"days\", \"short\": [\"Sun\", \"Mon\"] }\n";
        for (path, text) in
            [("days.js", js), ("days.py", py), ("days.md", md), ("days.sh", sh), ("days.json", json)]
        {
            let (compiled, rules) = compiled_for(path, text);
            // One rule asks every value of data whether it is one of two words.
            let least = usize::from(path == "days.json");
            assert_eq!(compiled.len(), least, "{path}: {compiled:?}");
            assert!(matches!(&rules.cases, CaseStore::InFiles(cases) if cases.get().is_none()), "{path}");
        }
    }

    #[test]
    fn a_pattern_is_compiled_for_a_file_that_holds_what_it_requires() {
        let token = ["hf", "_", &"aB3".repeat(12)].concat();
        for (path, text, pattern) in [
            ("a.js", "get('https://h.example/')", "://"),
            ("a.txt", token.as_str(), "hf_"),
            ("a.sh", "curl -d @- https://h.example", "--insecure"),
            (".npmrc", "registry=https://h.example/", "://"),
        ] {
            let (compiled, rules) = compiled_for(path, text);
            assert!(compiled.iter().any(|one| one.contains(pattern)), "{path}: {compiled:?}");
            assert!(compiled.len() < rules.matchers.len() / 20, "{path}: {compiled:?}");
        }
    }

    #[test]
    fn no_match_over_text_goes_over_a_line_feed() {
        let rules = builtin().expect("the table reads");
        for set in [&rules.text, &rules.hidden] {
            let over: Vec<&str> = set
                .patterns
                .iter()
                .filter(|known| known.lines == Lines::Many)
                .map(|known| &*known.source)
                .collect();
            assert_eq!(over, [""; 0], "pieces of text are parted by line feeds");
        }
    }

    #[test]
    fn the_table_is_what_the_rule_files_give() {
        check().unwrap();
        let (table, files) = (builtin().expect("the table reads"), load(&[], Compiled::ByLoader).unwrap());
        // Every name, literal, number and bit, in order.
        for part in [
            |rules: &Rules| format!("{:?}", rules.table),
            |rules: &Rules| format!("{:?}", rules.matchers),
            |rules: &Rules| format!("{:?}", [&rules.bytes, &rules.text, &rules.hidden, &rules.code]),
            |rules: &Rules| format!("{:?}", [&rules.js, &rules.py, &rules.rs]),
            |rules: &Rules| format!("{:?} {:?} {:?}", rules.data, rules.modules, rules.shapes),
            |rules: &Rules| format!("{:?} {:?} {:?}", rules.commands, rules.keys, rules.key_index),
        ] {
            let (table, files) = (part(&table), part(&files));
            assert!(table == files && table.len() > 200, "{table}");
        }
        assert_eq!(table.digest(), files.digest());
    }

    #[test]
    fn a_table_that_is_another_in_one_place_is_not_the_table() {
        let cut = |at: usize| TABLE.get(..at).unwrap();
        for at in [0, 1, 20, 60, 300, TABLE.len() / 2, TABLE.len() - 1] {
            assert!(of(cut(at)).is_none(), "{at}");
        }
        let more: &str = format!("{TABLE}\n").leak();
        assert!(of(more).is_none());
        let other: &str = TABLE.replacen(FILES, "0000000000000000", 1).leak();
        assert!(of(other).is_none(), "made of other rule files");
    }
}
