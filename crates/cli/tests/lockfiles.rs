//! What is said about lockfiles: which one covers a plugin, what is gone, and the command that leads out.

#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests write files")]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up must stop")]

#[expect(dead_code, reason = "these tests start the program in a temporary directory")]
mod home;

use std::process::Output;

use home::{Home, code};

fn said(output: &Output) -> String {
    String::from_utf8([output.stdout.as_slice(), output.stderr.as_slice()].concat()).unwrap()
}

fn locked() -> Home {
    let home = Home::new();
    home.good();
    home.write("plugins/tidy/.claude-plugin/plugin.json", "{ \"name\": \"tidy\" }\n");
    assert_eq!(code(&home.run(&["lock", "plugins"])), 0);
    home
}

#[test]
fn a_listed_plugin_that_is_gone_is_not_called_unlisted() {
    let home = locked();
    std::fs::remove_dir_all(home.path("plugins/tidy")).unwrap();
    let output = home.run(&["check", "--trust", "locked", "plugins"]);
    let text = said(&output);
    assert!(text.contains("plugins/tidy  gone, but in PLUGINS.lock"), "{text}");
    assert!(text.contains("restore the plugin, or remove its entry: plugward lock plugins"), "{text}");
    // One that is not listed is.
    home.write("plugins/new/.claude-plugin/plugin.json", "{ \"name\": \"new\" }\n");
    let text = said(&home.run(&["check", "--trust", "locked", "plugins"]));
    assert!(text.contains("plugins/new   not in PLUGINS.lock"), "{text}");
}

#[test]
fn the_lockfile_that_covers_the_plugins_is_named() {
    let home = locked();
    let output = home.run(&["lock", "--check", "."]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(said(&output).contains("All 2 plugins match plugins/PLUGINS.lock."), "{}", said(&output));
    let output = home.run(&["lock", "."]);
    assert!(said(&output).contains("plugins/PLUGINS.lock covers these plugins as well"), "{}", said(&output));
    let output = home.run(&["lock", "plugins"]);
    assert!(!said(&output).contains("as well"), "{}", said(&output));
}

#[test]
fn a_diff_of_what_only_the_lockfile_refuses_ends_with_the_lockfile() {
    let home = locked();
    home.write("plugins/good/hooks/run.sh", "echo other\n");
    let text = said(&home.run(&["diff", "plugins/good"]));
    assert!(text.ends_with("To update the lockfile with this version:\n  plugward lock plugins\n"), "{text}");
    assert_eq!(code(&home.run(&["lock", "plugins"])), 0);
    assert_eq!(code(&home.run(&["check", "plugins"])), 0);
    // A pinned plugin needs both.
    home.write("plugins/good/hooks/run.sh", "echo third\n");
    let text = said(&home.run(&["diff", "plugins/good"]));
    assert!(
        text.contains("plugward lock plugins") && text.contains("plugward accept plugins/good"),
        "{text}"
    );
}

#[test]
fn a_lockfile_without_plugins_matches_a_directory_without_plugins() {
    let home = Home::new();
    std::fs::create_dir(home.path("empty")).unwrap();
    let locked = ["check", "--trust", "locked", "empty"];
    assert_eq!(code(&home.run(&locked)), 2, "there is no lockfile");
    assert_eq!(code(&home.run(&["lock", "empty"])), 0);
    let output = home.run(&locked);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(said(&output).contains("no plugin was found, and PLUGINS.lock lists none"), "{}", said(&output));
    assert_eq!(code(&home.run(&["check", "empty"])), 2, "another trust mode reads no lockfile");
    home.write("empty/new/.claude-plugin/plugin.json", "{ \"name\": \"new\" }\n");
    assert_eq!(code(&home.run(&locked)), 4);
    std::fs::remove_dir_all(home.path("empty/new")).unwrap();
    home.write("empty/PLUGINS.lock", "broken");
    assert_ne!(code(&home.run(&locked)), 0);
}

#[test]
fn a_json_lockfile_that_differs_is_named() {
    let home = Home::new();
    home.write("plugins/fix/.claude-plugin/plugin.json", "{ \"name\": \"fix--node--npm\" }\n");
    home.write("plugins/PLUGINS.lock", &format!("{{\"fix--node--npm\": \"{}\"}}\n", "0".repeat(64)));
    let output = home.run(&["lock", "--migrate", "plugins"]);
    assert_eq!(code(&output), 4, "{}", said(&output));
    let text = said(&output);
    assert!(text.contains("cannot migrate PLUGINS.lock") && !text.contains("\\n"), "{text}");
    let text = said(&home.run(&["lock", "plugins"]));
    assert!(text.contains("the older JSON lockfile is replaced"), "{text}");
    let text = said(&home.run(&["lock", "plugins"]));
    assert!(!text.contains("JSON"), "{text}");
}

#[test]
fn a_lockfile_that_is_not_a_file_is_removed_first() {
    let home = locked();
    std::fs::rename(home.path("plugins/PLUGINS.lock"), home.path("kept.lock")).unwrap();
    std::os::unix::fs::symlink("../kept.lock", home.path("plugins/PLUGINS.lock")).unwrap();
    let text = said(&home.run(&["check", "plugins"]));
    assert!(text.contains("remove it, then write it again: plugward lock plugins"), "{text}");
}
