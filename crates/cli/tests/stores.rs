//! The files of pins and ledger: who can write them, and what it means if they are gone.

#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests write files")]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up must stop")]

#[expect(dead_code, reason = "these tests start the program in a temporary directory")]
mod home;
#[path = "home/terminal.rs"]
mod terminal;

use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;

use home::{Home, code};
use terminal::at_a_terminal;

const PINS: &str = "config/plugins.pins.toml";
const BACKUP: &str = "config/plugins.pins.toml.last-good";
const LEDGER: &str = "state/ledger.jsonl";

fn said(output: &Output) -> String {
    String::from_utf8([output.stdout.as_slice(), output.stderr.as_slice()].concat()).unwrap()
}

fn check(home: &Home) -> (i32, String) {
    let output = home.run(&["check", "plugins"]);
    (code(&output), said(&output))
}

fn pinned() -> Home {
    let home = Home::new();
    home.good();
    assert_eq!(check(&home).0, 0);
    home
}

fn chmod(home: &Home, name: &str, mode: u32) {
    std::fs::set_permissions(home.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
}

fn remove(home: &Home, names: &[&str]) {
    for name in names {
        std::fs::remove_file(home.path(name)).unwrap();
    }
}

#[test]
fn files_are_created_for_their_owner_alone() {
    let home = pinned();
    for name in [PINS, BACKUP, LEDGER, "state/ledger.checkpoint"] {
        let mode = std::fs::metadata(home.path(name)).unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode, 0o600, "{name}");
    }
}

#[test]
fn pins_and_ledgers_that_others_can_write_are_refused() {
    for name in [PINS, LEDGER, "config", "state"] {
        let home = pinned();
        let was = std::fs::metadata(home.path(name)).unwrap().permissions().mode() & 0o7777;
        chmod(&home, name, was | 0o002);
        let (exit, text) = check(&home);
        assert_eq!(exit, 7, "{name} {text}");
        assert!(text.contains("chmod"), "{name} {text}");
        chmod(&home, name, was);
        assert_eq!(check(&home).0, 0, "{name}");
        // Its group may write it, with a warning that contains the command.
        chmod(&home, name, was | 0o020);
        let (exit, text) = check(&home);
        assert_eq!(exit, 0, "{name} {text}");
        assert!(text.contains("state/group-writable") && text.contains("chmod g-w"), "{name} {text}");
    }
}

#[test]
fn lost_pins_are_not_made_again_as_if_everything_were_new() {
    let home = pinned();
    home.write("plugins/good/hooks/run.sh", "echo other\n");
    remove(&home, &[PINS, BACKUP]);
    let (exit, text) = check(&home);
    assert_eq!(exit, 7, "{text}");
    assert!(
        text.contains("pin/lost") && text.contains("1 plugin)") && text.contains("forget --all"),
        "{text}"
    );
    assert!(!home.path(PINS).exists(), "nothing was pinned");
    for verb in
        [&["list", "plugins"][..], &["explain", "plugins/good"], &["forget", "good"], &["deny", "good"]]
    {
        let output = home.run(verb);
        assert!(said(&output).contains("gone") || code(&output) == 7, "{verb:?} {}", said(&output));
    }
    // The whole directory can be deleted as well.
    std::fs::remove_dir_all(home.path("config")).unwrap();
    assert_eq!(check(&home).0, 7);
    // A symlink to an empty directory is the same place for the ledger.
    std::fs::remove_dir_all(home.path("config")).unwrap();
    std::fs::create_dir(home.path("empty")).unwrap();
    std::os::unix::fs::symlink(home.path("empty"), home.path("config")).unwrap();
    let (exit, text) = check(&home);
    assert!(exit == 7 && text.contains("pin/lost"), "{text}");
    let output = home.run(&["forget", "--all", "--yes"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let (exit, text) = check(&home);
    assert!(exit == 0 && text.contains("pinned on first use"), "{text}");
}

#[test]
fn pins_that_moved_to_the_target_of_a_symlink_are_not_lost() {
    let home = pinned();
    std::fs::rename(home.path("config"), home.path("moved")).unwrap();
    std::os::unix::fs::symlink(home.path("moved"), home.path("config")).unwrap();
    let (exit, text) = check(&home);
    assert_eq!(exit, 0, "{text}");
}

#[test]
fn only_pins_that_the_ledger_knows_at_this_path_are_lost() {
    // The backup is enough.
    let home = pinned();
    remove(&home, &[PINS]);
    let (exit, text) = check(&home);
    assert!(exit == 0 && text.contains("pin/recovered"), "{text}");
    // Another file of pins, with the same state.
    let output = home.run(&["--config-dir", "other", "check", "plugins"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    // A machine without a ledger: baselines and caches alone say nothing.
    remove(&home, &[BACKUP, LEDGER, "state/ledger.checkpoint"]);
    assert_eq!(check(&home).0, 0);
    // No pin is left, so none is lost.
    assert_eq!(code(&home.run(&["forget", "--all", "--yes"])), 0);
    remove(&home, &[PINS, BACKUP]);
    assert_eq!(check(&home).0, 0);
    // A check without a change records the pins too, so those of an older version are known.
    let text = std::fs::read_to_string(home.path(LEDGER)).unwrap();
    let stored = text.matches("pins_stored").count();
    assert_eq!(check(&home).0, 0);
    let text = std::fs::read_to_string(home.path(LEDGER)).unwrap();
    assert_eq!(text.matches("pins_stored").count(), stored + 1);
    assert_eq!(code(&home.run(&["ledger", "verify"])), 0);
}

#[test]
fn at_a_terminal_the_user_decides_about_lost_pins() {
    let home = pinned();
    remove(&home, &[PINS, BACKUP]);
    let (exit, _, shown) = at_a_terminal(&home, &["check", "plugins"], "\n");
    assert!(exit == 7 && shown.contains("are gone (1 plugin)") && shown.contains("Start over?"), "{shown}");
    assert!(!home.path(PINS).exists());
    let (exit, _, shown) = at_a_terminal(&home, &["check", "--trust", "locked", "plugins"], "");
    assert!(exit == 7 && !shown.contains("Start over?"), "{shown}");
    let (exit, _, shown) = at_a_terminal(&home, &["check", "plugins"], "y\n");
    assert_eq!(exit, 0, "{shown}");
    assert!(home.path(PINS).exists());
    assert_eq!(check(&home).0, 0);
}

/// A home with a tampered and a denied plugin, whose pins are damaged.
fn damaged() -> Home {
    let home = pinned();
    home.write("plugins/bad/.claude-plugin/plugin.json", "{ \"name\": \"bad\" }\n");
    assert_eq!(check(&home).0, 0);
    let output = home.run(&["deny", "plugins/bad"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    home.write("plugins/good/hooks/run.sh", "echo other\n");
    home.write(PINS, "garbage = [");
    home.write(BACKUP, "garbage = [");
    home
}

/// Returns the ids of the plugins that load.
fn loading(json: &str) -> Vec<String> {
    let report: serde_json::Value = serde_json::from_str(json).unwrap();
    let plugins = report.get("plugins").unwrap().as_array().unwrap().iter();
    let loads = plugins.filter(|plugin| plugin["decision"] == "load");
    loads.map(|plugin| plugin["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn at_a_terminal_the_user_decides_about_damaged_pins() {
    let home = damaged();
    let json = ["check", "plugins", "--format", "json"];
    let (exit, out, shown) = at_a_terminal(&home, &json, "\n");
    assert_eq!((exit, loading(&out)), (7, vec![]), "{shown}");
    assert!(shown.contains("The pins cannot be read") && shown.contains("plugins/good"), "{shown}");
    // The denied plugin is no part of the question, and no answer starts it.
    assert!(!shown.contains("  plugins/bad"), "{shown}");
    let (exit, out, shown) = at_a_terminal(&home, &json, "y\n");
    assert_eq!((exit, loading(&out)), (7, vec!["plugins/good".to_owned()]), "{shown}");
    assert!(out.contains("policy/denied"), "{out}");
    assert_eq!(std::fs::read_to_string(home.path(PINS)).unwrap(), "garbage = [", "nothing was pinned");
    let ledger = said(&home.run(&["ledger", "show", "--type", "exception_used", "--format", "json"]));
    assert_eq!(ledger.matches("exception_used").count(), 1, "{ledger}");
    // Under `locked`, without a terminal, and with another setting, nothing is asked.
    for more in [&["--trust", "locked"][..], &["--no-input"], &["--cfg", "pins.on_store_error=refuse"]] {
        let (exit, out, shown) = at_a_terminal(&home, &[&json, more].concat(), "");
        assert_eq!((exit, loading(&out)), (7, vec![]), "{more:?} {shown}");
        assert!(!shown.contains("[y]es"), "{more:?} {shown}");
    }
    assert_eq!(code(&home.run(&["check", "plugins", "--cfg", "pins.on_store_error=ask"])), 7);
}

#[test]
fn without_a_whole_ledger_nothing_is_asked() {
    let json = ["check", "plugins", "--format", "json"];
    for spoil in ["garbage", "changed", "undenied"] {
        let home = damaged();
        let ledger = std::fs::read_to_string(home.path(LEDGER)).unwrap();
        match spoil {
            "garbage" => home.write(LEDGER, "garbage\n"),
            "changed" => home.write(LEDGER, &ledger.replace("plugin_denied", "plugin_denies")),
            _ => {
                // A denial that was taken back is known, and does not apply.
                std::fs::remove_file(home.path(PINS)).unwrap();
                std::fs::remove_file(home.path(BACKUP)).unwrap();
                assert_eq!(code(&home.run(&["forget", "--all", "--yes"])), 0);
                assert_eq!(check(&home).0, 5);
                assert_eq!(code(&home.run(&["undeny", "plugins/bad"])), 0);
                assert_eq!(check(&home).0, 0);
                home.write(PINS, "garbage = [");
                home.write(BACKUP, "garbage = [");
                let (exit, out, shown) = at_a_terminal(&home, &json, "y\n");
                assert_eq!((exit, loading(&out).len()), (7, 2), "{shown}");
                continue;
            }
        }
        let (exit, out, shown) = at_a_terminal(&home, &json, "");
        assert_eq!((exit, loading(&out)), (7, vec![]), "{spoil} {shown}");
        assert!(!shown.contains("[y]es"), "{spoil} {shown}");
    }
}

#[test]
fn damaged_pins_load_nothing_at_a_terminal_either() {
    let home = pinned();
    home.write(PINS, "garbage = [");
    home.write(BACKUP, "garbage = [");
    let (exit, out, shown) = at_a_terminal(&home, &["check", "plugins", "--format", "json"], "\n");
    assert_eq!(exit, 7, "{shown}");
    assert!(!out.contains("\"decision\": \"load\""), "{out}");
    // The user can choose otherwise, and the exit code stays.
    let words = ["--cfg", "pins.on_store_error=warn", "check", "plugins", "--format", "json"];
    let (exit, out, shown) = at_a_terminal(&home, &words, "");
    assert_eq!(exit, 7, "{shown}");
    assert!(out.contains("\"decision\": \"load\""), "{out}");
}

#[test]
fn the_reason_for_a_pin_that_was_not_saved_is_always_printed() {
    let home = Home::new();
    home.good();
    std::fs::create_dir_all(home.path("config/plugins.pins.toml.lock")).unwrap();
    chmod(&home, "config", 0o700);
    let warn = ["check", "--cfg", "pins.on_store_error=warn", "plugins"];
    let output = home.run(&warn);
    let text = said(&output);
    assert_eq!(code(&output), 7, "{text}");
    assert!(text.contains("load  plugins/good") && text.contains("note[pin/not-saved]"), "{text}");
    std::fs::remove_dir(home.path("config/plugins.pins.toml.lock")).unwrap();
    let output = home.run(&warn);
    assert!(code(&output) == 0 && !said(&output).contains("not-saved"), "{}", said(&output));
}
