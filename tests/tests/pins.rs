//! What is noticed after a plugin was enrolled, and what stays as it is.

use plugward_loader::{Decision, PinStatus, PluginReport, Report};
use plugward_tests::{Bench, Bit, Run, Step, apply, danger};

fn write(path: &str, text: &str) -> Step {
    Step::Write { path: path.to_owned(), text: text.to_owned(), executable: Bit::Off }
}

fn two() -> Vec<Step> {
    vec![
        write("one/.claude-plugin/plugin.json", r#"{ "name": "one", "version": "1.0.0" }"#),
        write(
            "one/hooks/hooks.json",
            r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"sh ${CLAUDE_PLUGIN_ROOT}/hooks/stop.sh"}]}]}}"#,
        ),
        write("one/hooks/stop.sh", "echo bye\n"),
        write("one/lib/helper.sh", "echo helper\n"),
        write("two/.claude-plugin/plugin.json", r#"{ "name": "two" }"#),
    ]
}

fn plugin<'a>(report: &'a Report, name: &str) -> &'a PluginReport {
    report.plugins.iter().find(|plugin| plugin.name == name).unwrap()
}

/// Enrolls two plugins, changes the first, and checks again.
fn after(change: &[Step]) -> Report {
    let bench = Bench::new();
    let first = bench.run(&Run { plugins: two(), ..Run::default() });
    assert_eq!((first.exit, first.summary.load), (0, 2), "{first:?}");
    let pins = bench.pins().unwrap();
    apply(&bench.plugins, change);
    let second = bench.check(&Run::default());
    assert_eq!(bench.pins().unwrap(), pins, "a refusal changed the pins");
    assert_eq!(plugin(&second, "two").decision, Decision::Load);
    second
}

fn is_changed(report: &Report) {
    let one = plugin(report, "one");
    assert_eq!((one.decision, report.exit), (Decision::Refuse, 4), "{one:?}");
    assert_eq!(one.reasons.len(), 1, "{:?}", one.reasons);
    let reason = &one.reasons[0];
    assert_eq!(reason.code, "pin/changed");
    assert_eq!(one.pin.state, PinStatus::Changed);
    let (pinned, actual) = (one.pin.tree.as_ref().unwrap(), one.tree.as_ref().unwrap());
    assert!(reason.message.contains(pinned) && reason.message.contains(actual), "{}", reason.message);
    assert!(reason.help.starts_with("review what changed"), "{}", reason.help);
    let accept = reason.accept.as_ref().map(|digests| digests.tree.to_string());
    assert_eq!(accept.as_ref(), Some(actual), "the tree to accept is the present one");
}

#[test]
fn nothing_changed_is_silent() {
    let report = after(&[]);
    let one = plugin(&report, "one");
    assert_eq!((one.pin.state, report.exit), (PinStatus::Same, 0));
    assert!(!one.notices.iter().any(|notice| notice.code.starts_with("pin/")), "{:?}", one.notices);
}

#[test]
fn one_byte_of_the_manifest() {
    is_changed(&after(&[write(
        "one/.claude-plugin/plugin.json",
        r#"{ "name": "one", "version": "1.0.1" }"#,
    )]));
}

#[test]
fn one_byte_of_a_script_that_no_manifest_names() {
    is_changed(&after(&[write("one/lib/helper.sh", "echo helpeR\n")]));
}

#[test]
fn an_executable_bit() {
    is_changed(&after(&[Step::Mode { path: "one/hooks/stop.sh".into(), mode: 0o755 }]));
}

#[test]
fn a_group_bit_alone_is_no_change() {
    let report = after(&[Step::Mode { path: "one/hooks/stop.sh".into(), mode: 0o654 }]);
    assert_eq!(plugin(&report, "one").pin.state, PinStatus::Same);
}

#[test]
fn a_link_to_a_copy_of_the_same_bytes() {
    is_changed(&after(&[
        Step::Copy { from: "one/hooks/stop.sh".into(), to: "one/hooks/copy.sh".into() },
        Step::Remove { path: "one/hooks/stop.sh".into() },
        Step::Link { path: "one/hooks/stop.sh".into(), target: "copy.sh".into() },
    ]));
}

#[test]
fn a_compiled_cache_file() {
    // The four bytes are a CPython magic number; what follows is no code object.
    let report = after(&[Step::Hex {
        path: "one/lib/__pycache__/a.cpython-311.pyc".into(),
        hex: "a70d0d0a00".into(),
    }]);
    let codes: Vec<&str> = plugin(&report, "one").reasons.iter().map(|reason| reason.code.as_str()).collect();
    assert!(codes.contains(&"pin/changed"), "{codes:?}");
}

#[test]
fn two_reports_over_the_same_bytes_are_equal() {
    let bench = Bench::new();
    let _first = bench.run(&Run { plugins: two(), ..Run::default() });
    let texts: Vec<String> =
        (0..2).map(|_| serde_json::to_string(&bench.check(&Run::default())).unwrap()).collect();
    assert_eq!(texts[0], texts[1]);
}

#[test]
fn a_refused_plugin_is_never_enrolled() {
    let bench = Bench::new();
    let mut steps = vec![write("x/.claude-plugin/plugin.json", r#"{ "name": "x" }"#)];
    steps.extend(danger("x"));
    let report = bench.run(&Run { plugins: steps, ..Run::default() });
    assert_eq!((report.exit, plugin(&report, "x").pin.state), (6, PinStatus::None));
    assert!(bench.pins().is_none());
}

#[test]
fn nobody_to_ask_is_a_question_and_writes_nothing() {
    let bench = Bench::new();
    let run = Run { plugins: two(), trust: Some("prompt".into()), ..Run::default() };
    let report = bench.run(&run);
    assert_eq!((report.exit, report.summary.ask), (3, 2));
    assert!(bench.pins().is_none());
    let yes = Run { trust: Some("prompt".into()), answer: Some("yes".into()), ..Run::default() };
    assert_eq!(bench.check(&yes).exit, 0);
    assert_eq!(bench.check(&Run { trust: Some("locked".into()), ..Run::default() }).exit, 0);
}

#[test]
fn prompts_behind_a_link_to_a_folder_are_in_the_surface() {
    let bench = Bench::new();
    let steps = vec![
        write("x/.claude-plugin/plugin.json", r#"{ "name": "x" }"#),
        write("x/real/greet/SKILL.md", "---\nname: greet\n---\nSay hello.\n"),
        Step::Link { path: "x/skills".into(), target: "real".into() },
    ];
    let report = bench.run(&Run { plugins: steps, ..Run::default() });
    let names: Vec<_> = plugin(&report, "x").surface.iter().filter_map(|item| item.name.as_deref()).collect();
    assert!(names.contains(&"skills/greet/SKILL.md"), "{names:?}");
}

#[test]
fn a_folder_of_main_files_is_no_plugin_of_its_own() {
    let bench = Bench::new();
    let market =
        r#"{ "name": "m", "owner": { "name": "o" }, "plugins": [{ "name": "in", "source": "./in" }] }"#;
    let steps = vec![
        write(".claude-plugin/plugin.json", r#"{ "name": "top", "version": "1.0.0" }"#),
        write(".claude-plugin/marketplace.json", market),
        write("in/.claude-plugin/plugin.json", r#"{ "name": "in" }"#),
    ];
    let report = bench.run(&Run { plugins: steps, ..Run::default() });
    let ids: Vec<&str> = report.plugins.iter().map(|plugin| plugin.id.as_str()).collect();
    assert_eq!(ids, ["plugins", "plugins/in"]);
}

const MARKET: &str =
    r#"{ "name": "m", "owner": { "name": "o" }, "plugins": [{ "name": "x", "source": "./p/x" }] }"#;

fn of_market() -> Vec<Step> {
    vec![
        write("p/x/.claude-plugin/plugin.json", r#"{ "name": "x" }"#),
        write(".claude-plugin/marketplace.json", MARKET),
    ]
}

#[test]
fn a_broken_marketplace_makes_no_new_plugin_of_a_known_one() {
    let bench = Bench::new();
    assert_eq!(bench.run(&Run { plugins: of_market(), ..Run::default() }).plugins[0].id, "plugins/p/x");
    let pins = bench.pins();
    let report =
        bench.run(&Run { plugins: vec![write(".claude-plugin/marketplace.json", "{bad")], ..Run::default() });
    assert_eq!((plugin(&report, "x").decision, report.exit), (Decision::Refuse, 4));
    assert_eq!(bench.pins(), pins);
}

#[test]
fn a_plugin_does_not_choose_its_own_key() {
    let bench = Bench::new();
    let market =
        r#"{ "name": "official", "owner": { "name": "o" }, "plugins": [{ "name": "x", "source": "./" }] }"#;
    let steps = vec![
        write("x/.claude-plugin/plugin.json", r#"{ "name": "x" }"#),
        write("x/.claude-plugin/marketplace.json", market),
    ];
    let report = bench.run(&Run { plugins: steps, ..Run::default() });
    assert_eq!(
        (report.plugins[0].id.as_str(), &report.plugins[0].key),
        ("plugins/x", &bench.key("plugins/x"))
    );
}

#[test]
fn a_marketplace_of_one_plugin_at_its_root() {
    let bench = Bench::new();
    let market = r#"{ "name": "m", "owner": { "name": "o" }, "plugins": [{ "name": "x", "source": "./" }] }"#;
    let steps = vec![
        write(".claude-plugin/plugin.json", r#"{ "name": "x" }"#),
        write(".claude-plugin/marketplace.json", market),
    ];
    let report = bench.run(&Run { plugins: steps, ..Run::default() });
    let seen: Vec<(&str, &str)> = report.plugins.iter().map(|p| (p.id.as_str(), p.path.as_str())).collect();
    assert_eq!((seen, report.exit), (vec![("plugins", "plugins")], 0));
}

#[test]
fn a_plugin_inside_of_a_plugin_is_said() {
    let bench = Bench::new();
    let steps = vec![
        write("outer/plugin.json", r#"{ "name": "outer", "version": "1.0.0", "capabilities": {} }"#),
        write("outer/inner/.claude-plugin/plugin.json", r#"{ "name": "inner" }"#),
    ];
    let report = bench.run(&Run { plugins: steps, ..Run::default() });
    assert_eq!(report.skipped.len(), 1, "{:?}", report.skipped);
    assert!(report.skipped[0].why.contains("inside the plugin in outer"));
}

#[test]
fn what_was_not_looked_at_is_no_yes() {
    let bench = Bench::new();
    let at = |levels: usize| {
        write(&format!("{}/.claude-plugin/plugin.json", vec!["d"; levels].join("/")), r#"{ "name": "deep" }"#)
    };
    let report = bench.run(&Run { plugins: vec![at(18)], ..Run::default() });
    assert_eq!((report.exit, report.plugins.len()), (1, 0), "{report:?}");
    assert_eq!(report.notices[0].code, "discover/too-many");
    // The near miss.
    let report = Bench::new().run(&Run { plugins: vec![at(16)], ..Run::default() });
    assert_eq!((report.exit, report.summary.load), (0, 1), "{report:?}");
}

#[test]
fn a_never_is_kept_whatever_becomes_of_the_others() {
    let bench = Bench::new();
    let run = Run {
        plugins: two(),
        trust: Some("prompt".into()),
        answer: Some("never".into()),
        all_or_nothing: Bit::On,
        ..Run::default()
    };
    assert_eq!(bench.run(&run).exit, 5);
    assert_eq!(bench.check(&Run::default()).exit, 5);
}

/// An entry names a directory; in version 1 too, which has an id besides.
#[test]
fn an_entry_is_missing_if_its_directory_is() {
    let bench = Bench::new();
    let zero = "0".repeat(64);
    let of = |text: &str, lock: &str| {
        let plugins = vec![write("p/.claude-plugin/plugin.json", text), write("PLUGINS.lock", lock)];
        let report = bench.run(&Run { plugins, ..Run::default() });
        let codes = report.plugins.iter().map(|plugin| {
            let codes: Vec<&str> = plugin.reasons.iter().map(|reason| reason.code.as_str()).collect();
            format!("{} {}", plugin.id, codes.join(" "))
        });
        codes.collect::<Vec<_>>()
    };
    let one = |id: &str, path: &str| {
        format!("version = 1\n[plugin.\"{id}\"]\npath = \"{path}\"\ntree = [\"pt1:{zero}\"]\n")
    };
    let two = |path: &str| {
        format!("version = 2\n[plugin.\"{path}\"]\ndialects = [\"claude\"]\ntree = [\"pt1:{zero}\"]\n")
    };
    let good = r#"{ "name": "p", "version": "1.0.0" }"#;
    let missing = ["plugins/gone lock/missing", "plugins/p lock/unlisted"];
    assert_eq!(of(good, &two("gone")), missing);
    assert_eq!(of(good, &one("claude:p@plugins", "gone")), missing);
    // The near misses: it is there with other bytes, and it is there and cannot be read.
    assert_eq!(of(good, &two("p")), ["plugins/p lock/mismatch"]);
    assert_eq!(of(good, &one("claude:gone@plugins", "p")), ["plugins/p lock/mismatch"]);
    assert_eq!(of("{", &two("p")), ["plugins/p manifest/syntax"]);
}
