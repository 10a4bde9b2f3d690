//! What an open allocates.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests build directories by ordinary means")]

use plugward_sandbox_path::{Jail, Policy};

#[test]
fn an_open_of_a_short_path_allocates_nothing() {
    let home = tempfile::tempdir().unwrap();
    let short = "d/".repeat(126) + "fff";
    assert_eq!(short.len(), 255);
    std::fs::create_dir_all(home.path().join(&short).parent().unwrap()).unwrap();
    std::fs::write(home.path().join(&short), "").unwrap();
    std::fs::write(home.path().join(short.clone() + "f"), "").unwrap();
    let jail = Jail::open(home.path(), Policy::standard()).unwrap();
    let count = |path: &str| allocation_counter::measure(|| drop(jail.open_read(path).unwrap())).count_total;
    assert_eq!(count(&short), 0);
    // The near miss: one byte more needs a buffer for the call.
    assert_eq!(count(&(short.clone() + "f")), 1);
}
