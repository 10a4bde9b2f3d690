//! `doctor`, on this system and where a mechanism is denied.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests start the program")]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up must stop")]

#[path = "home/denied.rs"]
mod denied;
#[expect(dead_code, reason = "these tests need no plugins")]
mod home;

use std::process::Output;

use denied::without;
use home::{Home, code};
use serde_json::Value;

fn doctor(args: &[&str]) -> Output {
    let path = std::env::var("PATH").unwrap();
    Home::new().command(&[&["doctor"], args].concat()).env("PATH", path).output().unwrap()
}

fn report(args: &[&str]) -> Value {
    serde_json::from_slice(&doctor(&[args, &["--format", "json"]].concat()).stdout).unwrap()
}

#[test]
fn what_this_system_enforces_fits_on_a_screen() {
    let output = doctor(&[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().count() <= 12, "{text}");
    for name in ["landlock", "capabilities", "seccomp", "pid-namespace", "sealed-exec", "openat2", "sh"] {
        assert!(text.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}: {text}");
    }
    let report = report(&[]);
    assert_eq!(report["version"], 1);
    assert_eq!(report["rows"].as_array().unwrap().len(), 9);
    let row = report["rows"].as_array().unwrap().iter().find(|row| row["name"] == "sh").unwrap();
    assert_eq!((row["result"].as_str(), row["detail"].as_str()), (Some("ok"), Some("works")));
    if report["missing"].as_array().unwrap().is_empty() {
        assert_eq!(code(&doctor(&["--require"])), 0);
        assert!(text.contains("enforced: bytes, files, network, processes, environment, end\n"), "{text}");
    }
}

#[test]
fn a_denied_mechanism_is_named_with_the_next_step() {
    without(&[libc::SYS_landlock_create_ruleset], || {
        assert_eq!(code(&doctor(&[])), 0);
        let output = doctor(&["--require"]);
        let errors = String::from_utf8(output.stderr.clone()).unwrap();
        assert_eq!(code(&output), 1, "{errors}");
        assert!(
            errors.contains("warning: landlock: ") && errors.contains("use Linux 6.7 or later"),
            "{errors}"
        );
        assert!(errors.contains("error: this system does not enforce: files, processes"), "{errors}");
        let report = report(&[]);
        assert_eq!(report["missing"][0]["word"], "files");
        assert!(!report["missing"][0]["help"].as_str().unwrap().is_empty());
    });
    // Without a namespace, programs are limited all the same.
    without(&[libc::SYS_unshare], || {
        assert_eq!(code(&doctor(&["--require"])), 0);
        assert_eq!(report(&[])["missing"][0]["word"], "end");
    });
}
