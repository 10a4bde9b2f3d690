//! How much memory an installation needs.

use crate::support::{Home, Memory};

#[test]
fn an_installation_needs_less_than_two_mebibytes() {
    let mut home = Home::new();
    let bytes = vec![7; 50 << 20];
    home.list(&[("hi", &bytes, "official")]);
    let fetch = Memory::of(&bytes);
    let used = allocation_counter::measure(|| drop(home.install("hi", &fetch).unwrap()));
    println!("install of 50 MiB: at most {} bytes at once", used.bytes_max);
    assert!(used.bytes_max < 2 << 20, "{used:?}");
    let used = allocation_counter::measure(|| drop(home.find(&["hi"]).unwrap()));
    assert!(used.bytes_max < 1 << 20, "{used:?}");
}
