//! A lock that was written on one machine holds on another: other umask, other locale, made in another order, other
//! directory. Each machine is a process of its own.

use std::collections::BTreeSet;
use std::process::Command;

use plugward_tree_lock::{LockEntry, LockFile};

use crate::tree::Tree;

const DIRECTORY: &str = "PLUGWARD_TEST_MACHINE";
const LOCK: &str = "lock: ";

/// Makes the same plugin in one order and the other; names that locales sort differently are among them.
const MAKE: &str = r#"
set -eu
make() {
  case "$1" in
    1) mkdir -p hooks; printf 'echo hi\n' > hooks/run.sh; chmod u+x hooks/run.sh ;;
    2) printf '{"name": "p"}' > plugin.json ;;
    3) mkdir -p a; printf z > a/z ;;
    4) printf b > a-b; printf I > Ivory; printf i > island ;;
    5) printf 'e' > "$(printf 'z\303\251')"; printf 'o' > "$(printf '\303\266')" ;;
    6) ln -s a/z link ;;
  esac
}
for step in $ORDER; do make "$step"; done
"#;

/// Digests the directory in the environment variable and prints its lockfile. Does nothing without the variable.
#[test]
fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else {
        println!("skipped: started by the test beside it");
        return;
    };
    let tree = crate::tree::snapshot_of(directory.as_ref());
    let mut lock = LockFile::new();
    let mut entry = LockEntry::new(*tree.digest());
    entry.executable = tree.executables().map(str::to_owned).collect();
    lock.insert("p", entry).unwrap();
    println!("{LOCK}{}", lock.render().escape_default());
}

#[test]
fn the_lock_is_the_same_on_every_machine() {
    let mut locks = BTreeSet::new();
    for (umask, locale, order) in [
        ("022", "C", "1 2 3 4 5 6"),
        ("077", "tr_TR.UTF-8", "6 5 4 3 2 1"),
        ("002", "de_DE.UTF-8", "3 1 5 2 6 4"),
    ] {
        let directory = Tree::new();
        let made = Command::new("sh")
            .args(["-c", &format!("umask {umask}; {MAKE}")])
            .env("ORDER", order)
            .env("LC_ALL", locale)
            .current_dir(directory.path())
            .status()
            .unwrap();
        assert!(made.success());
        let child = Command::new("sh")
            .args(["-c", &format!("umask {umask}; exec \"$@\""), "sh"])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "machines::child", "--nocapture", "--test-threads=1"])
            .env(DIRECTORY, directory.path())
            .env("LC_ALL", locale)
            .output()
            .unwrap();
        let out = String::from_utf8_lossy(&child.stdout);
        let lock = out.lines().find_map(|line| line.split_once(LOCK)).unwrap_or_else(|| panic!("{out}")).1;
        assert!(lock.contains("pt1:") && lock.contains("hooks/run.sh"), "{lock}");
        locks.insert(lock.to_owned());
    }
    assert_eq!(locks.len(), 1, "{locks:#?}");
}
