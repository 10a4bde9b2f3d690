//! `pins.on_store_error` × trust mode × who is there to answer, for each way in which the store can fail.

use std::os::unix::fs::PermissionsExt as _;

use plugward_loader::ledger::LedgerEvent;
use plugward_loader::{Decision, PinStatus, Report};
use plugward_tests::{Bench, Bit, Run, Step};

fn write(path: &str, text: &str) -> Step {
    Step::Write { path: path.to_owned(), text: text.to_owned(), executable: Bit::Off }
}

fn private(path: &str, text: &str) -> Vec<Step> {
    vec![write(path, text), Step::Mode { path: path.to_owned(), mode: 0o600 }]
}

/// Both copies of the pins are this text.
fn both(text: &str) -> Vec<Step> {
    let mut steps = private("plugins.pins.toml", text);
    steps.extend(private("plugins.pins.toml.last-good", text));
    steps
}

/// How the store fails, and the steps in the config folder that make it so.
fn faults() -> Vec<(&'static str, Vec<Step>)> {
    let remove = |path: &str| Step::Remove { path: path.to_owned() };
    vec![
        ("both copies are damaged", both("version = [")),
        ("both copies are of a newer version", both("version = 5\n")),
        (
            "both copies are writable by everybody",
            vec![
                Step::Mode { path: "plugins.pins.toml".into(), mode: 0o666 },
                Step::Mode { path: "plugins.pins.toml.last-good".into(), mode: 0o666 },
            ],
        ),
        (
            "a folder stands in the place of both copies",
            vec![
                remove("plugins.pins.toml"),
                remove("plugins.pins.toml.last-good"),
                Step::Folder { path: "plugins.pins.toml".into() },
                Step::Folder { path: "plugins.pins.toml.last-good".into() },
            ],
        ),
        (
            "what was read holds, and nothing can be written",
            vec![remove("plugins.pins.toml.lock"), Step::Folder { path: "plugins.pins.toml.lock".into() }],
        ),
    ]
}

/// Three plugins, of which one was pinned, one is new, and one has a danger finding of its own.
fn bench() -> Bench {
    let bench = Bench::new();
    let pinned = write("pinned/.claude-plugin/plugin.json", r#"{ "name": "pinned" }"#);
    assert_eq!(bench.run(&Run { plugins: vec![pinned], ..Run::default() }).exit, 0);
    plugward_tests::apply(
        &bench.plugins,
        &[
            write("new/.claude-plugin/plugin.json", r#"{ "name": "new" }"#),
            write("bad/.claude-plugin/plugin.json", r#"{ "name": "bad" }"#),
        ],
    );
    plugward_tests::apply(&bench.plugins, &plugward_tests::danger("bad"));
    bench
}

fn row(report: &Report) -> String {
    let one = |name: &str| {
        let plugin = report.plugins.iter().find(|plugin| plugin.name == name).unwrap();
        let codes: Vec<&str> = plugin.reasons.iter().map(|reason| reason.code.as_str()).collect();
        let said: Vec<&str> = plugin
            .notices
            .iter()
            .filter(|notice| notice.code.starts_with("pin/"))
            .map(|notice| notice.code.as_str())
            .collect();
        format!("{name} {} [{}] ({})", plugin.decision.as_str(), codes.join(" "), said.join(" "))
    };
    format!("exit {}: {}; {}; {}", report.exit, one("pinned"), one("new"), one("bad"))
}

#[test]
fn every_combination_has_its_answer() {
    let mut out = String::new();
    for (fault, steps) in faults() {
        out.push_str(&format!("# {fault}\n"));
        for rule in ["warn", "ask", "refuse"] {
            for trust in ["tofu", "prompt", "locked"] {
                for answer in [None, Some("yes"), Some("no")] {
                    if answer.is_some() && trust != "prompt" {
                        continue;
                    }
                    let bench = bench();
                    let run = Run {
                        config: steps.clone(),
                        trust: Some(trust.to_owned()),
                        on_store_error: Some(rule.to_owned()),
                        answer: answer.map(str::to_owned),
                        ..Run::default()
                    };
                    let report = bench.run(&run);
                    let person =
                        answer.map_or("nobody there".to_owned(), |answer| format!("answers {answer}"));
                    let used = bench
                        .recorded()
                        .iter()
                        .filter(|event| matches!(event, LedgerEvent::ExceptionUsed { .. }))
                        .count();
                    out.push_str(&format!(
                        "{rule}, {trust}, {person}\n  {}\n  exceptions on the record: {used}\n",
                        row(&report)
                    ));
                    let loads = |name: &str| {
                        report.plugins.iter().any(|p| p.name == name && p.decision == Decision::Load)
                    };
                    assert!(!loads("bad"), "no setting opens another gate");
                    assert!(rule == "warn" || used == 0, "the exception is the setting's alone");
                    assert!(trust != "locked" || !loads("new"), "locked enrolls nothing");
                }
            }
        }
    }
    insta::assert_snapshot!("store_errors", out);
}

#[test]
fn the_warning_names_the_file_the_cause_and_what_to_do() {
    let mut out = String::new();
    for (fault, steps) in faults() {
        let bench = bench();
        let run = Run { config: steps, on_store_error: Some("warn".into()), ..Run::default() };
        let report = bench.run(&run);
        out.push_str(&format!("# {fault}\n"));
        for notice in &report.notices {
            out.push_str(&format!("{} {}\n", notice.code, notice.message));
        }
        let new = report.plugins.iter().find(|plugin| plugin.name == "new").unwrap();
        for notice in new.notices.iter().filter(|notice| notice.code.starts_with("pin/")) {
            out.push_str(&format!("  {} {}\n", notice.code, notice.message));
        }
    }
    insta::assert_snapshot!("store_warnings", out);
}

#[test]
fn a_damaged_main_file_alone_is_recovered_and_nobody_is_bothered() {
    let bench = bench();
    let run = Run { config: private("plugins.pins.toml", "version = ["), ..Run::default() };
    let report = bench.run(&run);
    let codes: Vec<&str> = report.notices.iter().map(|notice| notice.code.as_str()).collect();
    assert_eq!(codes, ["pin/recovered"]);
    let pinned = report.plugins.iter().find(|plugin| plugin.name == "pinned").unwrap();
    assert_eq!((pinned.decision, pinned.pin.state), (Decision::Load, PinStatus::Same));
    let mode = std::fs::metadata(bench.config.join("plugins.pins.toml")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
