//! Pins that cannot be read: what is said, what the printed commands do, and what stays denied.

#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests write files")]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up must stop")]

#[expect(dead_code, reason = "these tests start the program in a temporary directory")]
mod home;
#[path = "home/terminal.rs"]
mod terminal;

use std::process::Output;

use home::{Home, code};
use terminal::at_a_terminal;

const PINS: &str = "config/plugins.pins.toml";
const BACKUP: &str = "config/plugins.pins.toml.last-good";

fn said(output: &Output) -> String {
    String::from_utf8([output.stdout.as_slice(), output.stderr.as_slice()].concat()).unwrap()
}

/// Returns the text without line breaks.
fn flat(output: &Output) -> String {
    said(output).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A home with a pinned and a denied plugin.
fn denied() -> Home {
    let home = Home::new();
    home.good();
    home.write("plugins/tidy/.claude-plugin/plugin.json", "{ \"name\": \"tidy\" }\n");
    assert_eq!(code(&home.run(&["check", "plugins"])), 0);
    assert_eq!(code(&home.run(&["deny", "plugins/tidy"])), 0);
    home
}

fn damage(home: &Home) {
    home.write(PINS, "garbage = [");
    home.write(BACKUP, "garbage = [");
}

#[test]
fn damaged_pins_ask_at_a_terminal_also_if_nothing_was_denied() {
    let home = Home::new();
    home.good();
    assert_eq!(code(&home.run(&["check", "plugins"])), 0);
    damage(&home);
    let json = ["check", "plugins", "--format", "json"];
    let (exit, out, shown) = at_a_terminal(&home, &json, "y\n");
    assert!(exit == 7 && out.contains("\"decision\": \"load\""), "{shown}");
    let (exit, out, shown) = at_a_terminal(&home, &json, "\n");
    assert!(exit == 7 && !out.contains("\"decision\": \"load\""), "{shown}");
    // Without the ledger, nobody knows what was denied.
    std::fs::remove_dir_all(home.path("state")).unwrap();
    let (exit, _, shown) = at_a_terminal(&home, &json, "");
    assert!(exit == 7 && !shown.contains("[y]es"), "{shown}");
    let output = home.run(&["config", "explain", "pins.on_store_error"]);
    assert!(said(&output).contains("ask at a terminal"), "{}", said(&output));
}

#[test]
fn starting_over_keeps_the_denials_of_the_ledger() {
    for is_lost in [false, true] {
        let home = denied();
        if is_lost {
            std::fs::remove_file(home.path(PINS)).unwrap();
            std::fs::remove_file(home.path(BACKUP)).unwrap();
        } else {
            damage(&home);
        }
        let output = home.run(&["check", "plugins"]);
        assert_eq!(code(&output), 7);
        // The help of a denial names no command that fails in this state.
        assert!(!flat(&output).contains("to load it again: plugward undeny"), "{}", said(&output));
        let output = home.run(&["forget", "--all", "--yes"]);
        assert_eq!(code(&output), 0, "{}", said(&output));
        assert!(
            flat(&output).contains("Still denied, according to the ledger: plugins/tidy"),
            "{}",
            said(&output)
        );
        let output = home.run(&["check", "plugins"]);
        assert_eq!(code(&output), 5, "{}", said(&output));
        assert!(said(&output).contains("plugins/tidy  denied"), "{}", said(&output));
        assert_eq!(code(&home.run(&["undeny", "tidy"])), 0);
        assert_eq!(code(&home.run(&["check", "plugins"])), 0);
        // A denial that was taken back does not come back.
        damage(&home);
        let output = home.run(&["forget", "--all", "--yes"]);
        assert!(flat(&output).contains("nothing was denied"), "{}", said(&output));
        assert_eq!(code(&home.run(&["check", "plugins"])), 0);
    }
}

#[test]
fn the_end_of_a_revocation_does_not_end_a_denial() {
    let home = Home::new();
    home.write("home/.factory/plugins/cache/p/.claude-plugin/plugin.json", r#"{"name":"p"}"#);
    let record = r#"{"version":1,"plugins":{"p@m":[{"installPath":"cache/p","version":"1.0.0"}]}}"#;
    home.write("home/.factory/plugins/installed_plugins.json", record);
    assert_eq!(code(&home.run(&["check", "--no-project"])), 0);
    let verbs: [&[&str]; 3] =
        [&["deny", "droid:p@m"], &["revoke", "droid:p@m", "--reason", "r"], &["unrevoke", "droid:p@m"]];
    for verb in verbs {
        let output = home.run(verb);
        assert_eq!(code(&output), 0, "{verb:?} {}", said(&output));
    }
    damage(&home);
    let output = home.run(&["forget", "--all", "--yes"]);
    assert!(flat(&output).contains("Still denied, according to the ledger: droid:p@m"), "{}", said(&output));
}

#[test]
fn a_decision_about_unreadable_pins_changes_nothing_and_names_the_way_out() {
    let home = denied();
    let pins = std::fs::read_to_string(home.path(PINS)).unwrap();
    damage(&home);
    let tree = format!("pt1:{}", "0".repeat(64));
    for verb in [
        &["deny", "plugins/good"][..],
        &["undeny", "plugins/tidy"],
        &["accept", "plugins/good", "--tree", &tree],
        &["revoke", "good", "--reason", "test"],
    ] {
        let output = home.run(verb);
        let text = said(&output);
        if verb[0] == "accept" {
            assert!(matches!(code(&output), 4 | 7), "{text}");
        } else {
            assert_eq!(code(&output), 7, "{verb:?} {text}");
            assert_eq!(text.matches("pin/store").count(), 1, "{verb:?} {text}");
            assert!(text.contains("plugward forget --all"), "{verb:?} {text}");
            assert!(flat(&output).contains(home.path(PINS).to_str().unwrap()), "{verb:?} {text}");
        }
    }
    // The ledger and the restored pins agree.
    home.write(PINS, &pins);
    assert_eq!(code(&home.run(&["check", "plugins"])), 5);
    damage(&home);
    let output = home.run(&["forget", "--all", "--yes"]);
    assert!(!said(&output).contains("plugins/good"), "{}", said(&output));
}

#[test]
fn verbs_that_show_plugins_name_the_fault_of_the_pins() {
    let home = denied();
    damage(&home);
    for verb in [
        &["list", "plugins"][..],
        &["info", "plugins/tidy"],
        &["explain", "plugins/tidy"],
        &["lock", "plugins"],
        &["lock", "--check", "plugins"],
    ] {
        let output = home.run(verb);
        assert_eq!(code(&output), 7, "{verb:?} {}", said(&output));
        assert!(String::from_utf8_lossy(&output.stderr).contains("pin/store"), "{verb:?} {}", said(&output));
    }
}
