//! Messages about problems: each must be true, and the commands that they print must work.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start the program and make folders"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up must stop")]

mod home;

use std::os::unix::fs::OpenOptionsExt as _;
use std::process::Output;

use home::{Home, code};

fn said(output: &Output) -> String {
    let all = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8(all).unwrap()
}

fn plugin(home: &Home, folder: &str, name: &str) {
    home.write(
        &format!("{folder}/.claude-plugin/plugin.json"),
        &format!("{{ \"name\": \"{name}\", \"version\": \"1.0.0\" }}\n"),
    );
    home.write(&format!("{folder}/hooks/run.sh"), "echo hello\n");
}

#[test]
fn a_lock_that_cannot_be_read_is_no_yes_even_where_no_plugin_is_left() {
    let home = Home::new();
    home.write("plugins/PLUGINS.lock", "<<<<<<< ours\n");
    for args in [
        &["lock", "--check", "plugins"][..],
        &["check", "plugins"],
        &["check", "--trust", "locked", "plugins"],
    ] {
        let output = home.run(args);
        assert_eq!(code(&output), 7, "{args:?}: {}", said(&output));
        assert!(said(&output).contains("lock/malformed"), "{args:?}: {}", said(&output));
    }
    // A plugin whose manifest does not parse is never compared with the lockfile, and the lockfile does not make it load.
    home.write("plugins/bad/.claude-plugin/plugin.json", "{");
    assert_eq!(code(&home.run(&["check", "plugins"])), 7);
    // A problem that a plugin reports is printed once for that plugin.
    std::fs::remove_dir_all(home.path("plugins/bad")).unwrap();
    home.good();
    let output = home.run(&["check", "plugins"]);
    let text = said(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(text.matches("conflict mark").count(), 1, "{text}");
}

#[test]
fn what_cannot_be_read_is_not_never_pinned() {
    let home = Home::new();
    home.good();
    assert_eq!(code(&home.run(&["check", "plugins"])), 0);
    assert_eq!(code(&home.run(&["deny", "good"])), 0);
    for name in ["plugins.pins.toml", "plugins.pins.toml.last-good"] {
        std::fs::write(home.path("config").join(name), "][").unwrap();
    }
    for verb in ["diff", "forget", "undeny"] {
        let output = home.run(&[verb, "good"]);
        assert_eq!(code(&output), 7, "{verb}: {}", said(&output));
        assert!(said(&output).contains("plugward forget --all"), "{verb}: {}", said(&output));
        assert!(!said(&output).contains("never pinned"), "{verb}: {}", said(&output));
    }
    // The denial was in the unreadable file, and the ledger has it.
    let output = home.run(&["forget", "--all", "--yes"]);
    assert_eq!(code(&output), 0);
    assert!(
        said(&output).contains("plugins/good") && !said(&output).contains("Denials and revocations stay"),
        "{}",
        said(&output)
    );
    assert_eq!(code(&home.run(&["check", "plugins"])), 5);
    assert_eq!(code(&home.run(&["undeny", "good"])), 0);
    assert_eq!(code(&home.run(&["check", "plugins"])), 0);
    // If the store can be read, a denial stays.
    assert_eq!(code(&home.run(&["deny", "good"])), 0);
    assert!(said(&home.run(&["forget", "--all", "--yes"])).contains("Denials and revocations stay"));
    assert_eq!(code(&home.run(&["check", "plugins"])), 5);
}

#[test]
fn one_name_in_two_directories_is_two_plugins() {
    let home = Home::new();
    plugin(&home, "a/plugins/x", "x");
    plugin(&home, "b/plugins/x", "x");
    // Before there is a pin, `--in` alone finds both.
    let both = "2 plugins are called x\n |\n = plugin: a/plugins/x\n = plugin: b/plugins/x\n";
    let output = home.run(&["explain", "x", "--in", "a/plugins", "--in", "b/plugins"]);
    assert_eq!(code(&output), 2);
    assert!(said(&output).contains(both), "{}", said(&output));
    let output = home.run(&["check", "a/plugins", "b/plugins"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    // A change of one is not a change of the other.
    home.write("b/plugins/x/hooks/run.sh", "echo other\n");
    assert_eq!(code(&home.run(&["check", "a/plugins"])), 0);
    assert_eq!(code(&home.run(&["check", "b/plugins"])), 4);
    let output = home.run(&["diff", "x"]);
    assert_eq!(code(&output), 2);
    assert!(said(&output).contains(both), "{}", said(&output));
    let output = home.run(&["diff", "b/plugins/x"]);
    assert_eq!(code(&output), 0);
    assert!(said(&output).contains("echo other"), "{}", said(&output));
    assert!(said(&output).contains("plugward accept b/plugins/x"), "{}", said(&output));
    assert!(said(&home.run(&["diff", "a/plugins/x"])).contains("a/plugins/x: unchanged since it was pinned"));
}

#[test]
fn a_change_of_the_lock_is_shown_below_its_plugin() {
    let home = Home::new();
    plugin(&home, "plugins/one", "one");
    plugin(&home, "plugins/two", "two");
    plugin(&home, "plugins/gone", "gone");
    assert_eq!(code(&home.run(&["lock", "plugins"])), 0);
    home.write("plugins/two/hooks/run.sh", "echo two\n");
    std::fs::remove_dir_all(home.path("plugins/gone")).unwrap();
    plugin(&home, "plugins/new", "new");
    let checked = home.shown(&["lock", "--check", "plugins"]);
    let written = home.shown(&["lock", "plugins"]);
    let broken = {
        home.write("plugins/PLUGINS.lock", "version = one\n");
        home.shown(&["lock", "plugins"])
    };
    insta::assert_snapshot!("lock_changes", [checked, written, broken].join("\n"));
    // The command that a refusal prints works as it is.
    home.write("plugins/two/hooks/run.sh", "echo three\n");
    let text = said(&home.run(&["check", "plugins"]));
    assert!(text.contains("then update the lockfile: plugward lock plugins"), "{text}");
    assert!(!text.contains("DIR"), "{text}");
}

#[test]
fn a_lock_of_a_newer_program_is_never_written_over() {
    let home = Home::new();
    home.good();
    let newer = "version = 4\nepoch = \"later\"\n";
    home.write("plugins/PLUGINS.lock", newer);
    for args in [&["lock", "plugins"][..], &["lock", "--check", "plugins"], &["check", "plugins"]] {
        let output = home.run(args);
        assert_eq!(code(&output), 7, "{args:?}: {}", said(&output));
        assert!(
            said(&output).contains("use the plugward release that wrote it, or a newer one"),
            "{}",
            said(&output)
        );
    }
    assert_eq!(std::fs::read_to_string(home.path("plugins/PLUGINS.lock")).unwrap(), newer);
}

#[test]
fn what_is_too_long_to_read_is_cut_with_a_count_and_its_label_stays() {
    let home = Home::new();
    let arguments = "\"word\",".repeat(10_000);
    home.write(
        "plugins/long/.claude-plugin/plugin.json",
        &format!(
            "{{\"name\": \"long\", \"mcpServers\": {{\"s\": {{\"command\": \"npx\", \"args\": [\"x@latest\", {arguments} \"end\"]}}}}}}"
        ),
    );
    // `npx x@latest`, ten thousand times ` word`, and ` end`.
    let more = format!("and {} more characters", 12 + 5 * 10_000 + 4 - 1200);
    for verb in ["info", "explain", "diff"] {
        let text = said(&home.run(&[verb, "long", "--in", "plugins"]));
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&more), "{verb}: {more} is not in {}", &words[..words.len().min(4000)]);
        // The label in `diff`, its sentence elsewhere.
        let covered = ["launcher-floating", "The pin does not cover the downloaded code"];
        assert!(covered.iter().any(|covered| words.contains(covered)), "{verb}");
        assert!(text.lines().count() < 200, "{verb}: {} lines", text.lines().count());
    }
    let json = said(&home.run(&["info", "long", "--format", "json", "--in", "plugins"]));
    assert!(json.contains("\"end\""), "the JSON has all of it");
}

#[test]
fn two_folders_of_one_user_each_have_their_accepted_lock() {
    let home = Home::new();
    plugin(&home, "a/plugins/one", "one");
    plugin(&home, "b/plugins/two", "two");
    for folder in ["a/plugins", "b/plugins"] {
        assert_eq!(code(&home.run(&["lock", folder])), 0);
        let output = home.run(&["lock", "--accept", folder]);
        assert!(said(&output).contains(&format!("Accepted {folder}/PLUGINS.lock")), "{}", said(&output));
    }
    // Neither asks, and both are enrolled from their lock.
    for folder in ["a/plugins", "b/plugins"] {
        let output = home.run(&["check", "--trust", "prompt", folder]);
        assert_eq!(code(&output), 0, "{}", said(&output));
    }
    let pins = std::fs::read_to_string(home.path("config/plugins.pins.toml")).unwrap();
    assert_eq!(pins.matches("via = \"lock\"").count(), 2, "{pins}");
    // A lockfile is accepted by its content, so a clone with the same file asks nothing either.
    plugin(&home, "c/plugins/one", "one");
    std::fs::copy(home.path("a/plugins/PLUGINS.lock"), home.path("c/plugins/PLUGINS.lock")).unwrap();
    assert_eq!(code(&home.run(&["forget", "one"])), 0);
    assert_eq!(code(&home.run(&["check", "--trust", "prompt", "c/plugins"])), 0);
    assert_eq!(code(&home.run(&["forget", "one"])), 0);
    assert_eq!(code(&home.run(&["check", "--trust", "prompt", "a/plugins"])), 0);
    // One more byte is another file, and covers the same trees without being accepted.
    let lock = std::fs::read_to_string(home.path("a/plugins/PLUGINS.lock")).unwrap();
    home.write("c/plugins/PLUGINS.lock", &format!("{lock}\n"));
    assert_eq!(code(&home.run(&["forget", "--all", "--yes"])), 0);
    assert_eq!(code(&home.run(&["check", "--trust", "prompt", "c/plugins"])), 3);
    for folder in ["a/plugins", "b/plugins"] {
        assert_eq!(code(&home.run(&["check", "--trust", "prompt", folder])), 3, "forget --all takes it back");
        assert_eq!(code(&home.run(&["lock", "--accept", folder])), 0);
        assert_eq!(code(&home.run(&["check", "--trust", "prompt", folder])), 0);
    }
    // It applies until the file changes.
    plugin(&home, "a/plugins/more", "more");
    assert_eq!(code(&home.run(&["lock", "a/plugins"])), 0);
    assert_eq!(code(&home.run(&["check", "--trust", "prompt", "a/plugins"])), 3);
}

#[test]
fn accepted_and_still_refused_is_said() {
    let home = Home::new();
    home.good();
    assert_eq!(code(&home.run(&["check", "plugins"])), 0);
    assert_eq!(code(&home.run(&["revoke", "claude:good", "--reason", "steals tokens"])), 0);
    home.write("plugins/good/hooks/run.sh", "echo hellO\n");
    let digest = said(&home.run(&["digest", "plugins/good"]));
    let output = home.run(&["accept", "good", "--tree", digest.trim()]);
    assert_eq!(code(&output), 0);
    assert!(said(&output).contains("still does not load: policy/revoked"), "{}", said(&output));
    let output = home.run(&["check", "plugins"]);
    assert_eq!(code(&output), 5);
    assert!(said(&output).contains("revoked: steals tokens"), "{}", said(&output));
    assert!(said(&output).contains("plugward unrevoke claude:good"), "{}", said(&output));
}

#[test]
fn what_a_lock_lets_in_says_so_and_is_not_enrolled() {
    let home = Home::new();
    home.good();
    assert_eq!(code(&home.run(&["lock", "plugins"])), 0);
    let output = home.run(&["-v", "check", "--trust", "locked", "plugins"]);
    assert_eq!(code(&output), 0);
    assert!(said(&output).contains("matches PLUGINS.lock"), "{}", said(&output));
    assert!(!home.path("config/plugins.pins.toml").exists());
}

#[test]
fn flags_that_a_verb_has_do_something() {
    let home = Home::new();
    home.good();
    for flag in [["--format", "json"], ["--trust", "locked"]] {
        let args = [&["diff", "good", "--in", "plugins"][..], &flag].concat();
        assert_eq!(code(&home.run(&args)), 2, "{flag:?}");
    }
    let info = |trust: &str| said(&home.run(&["info", "good", "--in", "plugins", "--trust", trust]));
    assert!(info("tofu").contains("decision  load"), "{}", info("tofu"));
    assert!(info("locked").contains("decision  refuse"), "{}", info("locked"));
}

#[test]
fn an_example_of_the_help_finds_what_it_names() {
    let home = Home::new();
    home.good();
    assert_eq!(code(&home.run(&["check", "plugins"])), 0);
    let help = said(&home.run(&["ledger", "show", "--help"]));
    let example = help.lines().find(|row| row.contains("--plugin path:")).unwrap().trim();
    let place = home.temp.path().canonicalize().unwrap();
    let example = example.replace("/home/me/site", place.to_str().unwrap()).replace("hookify", "good");
    let words: Vec<&str> = example.split(' ').skip(1).collect();
    assert!(said(&home.run(&words)).contains("pin_enrolled"), "{example}");
    // A revocation needs a reason.
    assert_eq!(code(&home.run(&["revoke", "claude:good", "--reason", ""])), 2);
}

#[test]
fn a_pipe_in_place_of_a_list_is_not_waited_for() {
    let home = Home::new();
    home.good();
    home.write("config/config.toml", "plugins.revocation_lists = [\"list.toml\"]\n");
    let pipe = home.path("config/list.toml");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let mut child = home.command(&["check", "plugins"]).spawn().unwrap();
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    while child.try_wait().unwrap().is_none() {
        // This open succeeds only while another process reads the pipe.
        let reader = std::fs::OpenOptions::new().write(true).custom_flags(flags).open(&pipe);
        if reader.is_ok() {
            child.kill().unwrap();
            panic!("the program reads the pipe");
        }
        std::thread::yield_now();
    }
    let output = child.wait_with_output().unwrap();
    assert!(said(&output).contains("not a regular file"), "{}", said(&output));
}

#[test]
fn a_folder_whose_name_cannot_be_read_is_named() {
    use std::os::unix::ffi::OsStrExt as _;
    let home = Home::new();
    home.good();
    let name = std::ffi::OsStr::from_bytes(b"bad\xff");
    std::fs::create_dir_all(home.path("plugins").join(name)).unwrap();
    let text = said(&home.run(&["check", "plugins"]));
    assert!(text.contains("name is not UTF-8"), "{text}");
}

/// By their text alone, a symlink and an executable look like any other file.
#[test]
fn a_diff_says_what_each_new_file_is() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let home = Home::new();
    home.good();
    for name in ["was-file", "was-plain"] {
        home.write(&format!("plugins/good/{name}"), "x\n");
    }
    symlink("was-file", home.path("plugins/good/was-link")).unwrap();
    assert_eq!(code(&home.run(&["check", "plugins"])), 0);
    let run = |path: &str| {
        std::fs::set_permissions(home.path(path), std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    for name in ["added-plain", "added-program"] {
        home.write(&format!("plugins/good/{name}"), "y\n");
    }
    symlink("was-plain", home.path("plugins/good/added-link")).unwrap();
    for name in ["was-file", "was-link"] {
        std::fs::remove_file(home.path(&format!("plugins/good/{name}"))).unwrap();
    }
    symlink("was-plain", home.path("plugins/good/was-file")).unwrap();
    home.write("plugins/good/was-link", "z\n");
    run("plugins/good/added-program");
    run("plugins/good/was-plain");
    let told = said(&home.run(&["diff", "good", "--in", "plugins"]));
    for row in [
        "  added    added-link (a symlink)\n",
        "  added    added-program (executable)\n",
        "  added    added-plain\n",
        "  mode     was-plain (now executable)\n",
        "  replaced was-file (now a symlink)\n",
        "  replaced was-link (now a file)\n",
    ] {
        assert!(told.contains(row), "{row} {told}");
    }
}
