//! The scanner through its public API.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

mod again;
mod cache;
mod cases;
mod common;
mod copies;
mod data;
mod disguise;
mod drops;
mod encoded;
mod evades;
mod gate;
mod given;
mod hyperagent;
#[cfg(feature = "render")]
mod identity;
mod installed;
mod internal;
mod invariant;
mod kinds;
mod mufflers;
mod named;
mod negation;
mod own;
mod prose;
mod py;
mod py_grown;
mod py_scopes;
#[cfg(feature = "render")]
mod render;
mod rs;
mod runs;
mod several;
mod sh;
#[cfg(feature = "render")]
mod snippet;
mod spans;
mod timers;
mod typed;
mod wrapped;
mod written;

use plugward_scanner::{RuleFile, Rules, Taxonomy};

#[test]
fn the_built_in_rules_load_and_hold() {
    let done = Rules::builtin().self_check().unwrap();
    assert_eq!(done.rules, Rules::builtin().iter().count());
}

#[test]
fn every_built_in_rule_refers_to_known_lists_and_to_a_cwe_number_or_says_why_not() {
    let mut named = std::collections::BTreeSet::new();
    for rule in Rules::builtin().iter() {
        let has_number = rule.refs().iter().any(|id| id.starts_with("CWE-"));
        assert_ne!(has_number, rule.no_cwe().is_some(), "{}: a CWE number or a reason", rule.id());
        for id in rule.refs() {
            assert!(Taxonomy::title_of(id).is_some(), "{}: {id} is in no list", rule.id());
            named.insert(id.as_str());
        }
    }
    for list in Taxonomy::all() {
        let unused: Vec<_> = list.entries.keys().filter(|id| !named.contains(id.as_str())).collect();
        assert!(unused.is_empty(), "{}: no rule names {unused:?}", list.name);
    }
}

#[test]
fn references_of_a_rule_replace_those_of_its_file() {
    let rule = |id: &str, more: &str| {
        format!(
            "[[rule]]\nid = \"local/{id}\"\ntitle = \"x\"\nlangs = [\"all\"]\nwhy = \"x\"\nfix = \"x\"\n{more}\
             severity = {{ strict-plugin = \"info\", general = \"info\" }}\n\
             match = [{{ kind = \"bytes\", pattern = 'qq{id}' }}]\n\
             bad = [{{ path = \"a\", text = \"qq{id}\" }}, {{ path = \"b\", text = \"qq{id} x\" }}]\n\
             good = [{{ path = \"a\", text = \"q\" }}, {{ path = \"b\", text = \"r\" }}]\n"
        )
    };
    let head = "version = 1\nrefs = [\"TEAM-1\"]\nno-cwe = \"ours\"\n";
    let text = [head, &rule("plain", ""), &rule("own", "refs = [\"CWE-95\"]\n")].concat();
    let rules = Rules::with(&[RuleFile { name: "a.toml", text: &text }]).unwrap();
    let found = |id: &str| rules.get(id).map(|rule| (rule.refs().to_vec(), rule.no_cwe()));
    assert_eq!(found("local/plain"), Some((vec!["TEAM-1".to_owned()], Some("ours"))));
    assert_eq!(found("local/own"), Some((vec!["CWE-95".to_owned()], None)));
}
