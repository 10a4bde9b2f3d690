//! One case for each code that a report can hold, with the whole report kept beside it; and for each other code of a
//! verb, the test file that shows it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use plugward_loader::{Report, codes, hook_events};
use plugward_tests::{Bench, Case};

/// Codes that a folder and a pins file cannot bring about in a report, and the codes of hooks, each with the file that
/// shows it instead.
const ELSEWHERE: &[(&str, &str)] = &include!("elsewhere.in");

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts")
}

fn cases() -> Vec<(String, PathBuf)> {
    let mut cases: Vec<_> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|path| (path.file_name().unwrap().to_str().unwrap().replacen("--", "/", 1), path))
        .collect();
    cases.sort();
    cases
}

/// The codes of a report, those of the causes that a message names in brackets among them.
fn said(report: &Report) -> BTreeSet<&str> {
    let plugins = report.plugins.iter();
    let reasons = plugins.clone().flat_map(|p| &p.reasons).flat_map(|reason| {
        let cause = reason.message.rsplit_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
        core::iter::once(reason.code.as_str()).chain(cause)
    });
    let notices = plugins.flat_map(|p| p.notices.iter().map(|notice| notice.code.as_str()));
    reasons.chain(notices).chain(report.notices.iter().map(|notice| notice.code.as_str())).collect()
}

#[test]
fn each_case_says_its_code_and_the_report_is_as_kept() {
    for (code, path) in cases() {
        let text = std::fs::read_to_string(path.join("case.toml")).unwrap();
        let case: Case = toml::from_str(&text).unwrap_or_else(|error| panic!("{code}: {error}"));
        let bench = Bench::new();
        let base = bench.base.to_str().unwrap();
        let mut out = String::new();
        let (mut last, mut answered) = (None, Vec::new());
        for (number, run) in case.run.iter().enumerate() {
            let mut report = bench.run(run);
            // Each new rule changes the digest, and no verdict here.
            "sha256:(the rules)".clone_into(&mut report.tool.rules);
            let again = serde_json::to_string_pretty(&report).unwrap();
            assert!(!again.contains(base), "{code}: a report contains no absolute path: {again}");
            out.push_str(&format!("run {}: {}\n{again}\n", number + 1, case.shows));
            answered.clear();
            for deed in &run.deeds {
                let answers = bench.act(run, &report, deed);
                out.push_str(&format!("{deed:?}\n"));
                answers.lines.iter().for_each(|line| out.push_str(&format!("  {line}\n")));
                answered.extend(answers.codes);
            }
            last = Some(report);
        }
        let out = out.replace(base, "(base)");
        let last = last.unwrap_or_else(|| panic!("{code}: a case has at least one run"));
        let mut said = said(&last);
        said.extend(answered.iter().map(String::as_str));
        assert!(said.contains(code.as_str()), "{code} is not said; the last run says {said:?}");
        insta::with_settings!({
            snapshot_path => &path,
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!("expect", out);
        });
    }
}

#[test]
fn codes_and_cases_are_the_same_set() {
    let cases: BTreeSet<String> = cases().into_iter().map(|(code, _)| code).collect();
    // No report of a check has codes of hooks; those of `plugward hook` do.
    let codes = codes::reported().into_iter().chain(hook_events::CODES.iter().copied());
    let codes: BTreeSet<String> = codes.map(|(code, _)| code.to_owned()).collect();
    let elsewhere: BTreeSet<String> = ELSEWHERE.iter().map(|(code, _)| (*code).to_owned()).collect();
    let missing: Vec<_> = codes.difference(&cases).filter(|code| !elsewhere.contains(*code)).collect();
    let unknown: Vec<_> = cases.difference(&codes).collect();
    for (code, file) in ELSEWHERE {
        let text = std::fs::read_to_string(folder().join("../..").join(file)).unwrap();
        assert!(text.contains(code.rsplit('/').next().unwrap()), "{file} does not show {code}");
    }
    let stale: Vec<_> =
        elsewhere.iter().filter(|code| !codes.contains(*code) || cases.contains(*code)).collect();
    assert!(missing.is_empty(), "codes without a case: {missing:?}");
    assert!(unknown.is_empty(), "cases without a code: {unknown:?}");
    assert!(stale.is_empty(), "listed as shown elsewhere, and either shown here or no code: {stale:?}");
}
