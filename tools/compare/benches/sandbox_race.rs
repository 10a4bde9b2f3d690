//! How often an attacker who renames in a loop gets a file of his choice opened, by way and by attack.
//!
//! `cargo bench -p plugward-compare --bench sandbox_race`; `-- --long` runs a million tries a cell, `-- --gate` fails at an
//! escape of ours.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::arithmetic_side_effects,
    reason = "a benchmark prints, and stops at the first surprise"
)]

#[cfg(target_os = "linux")]
mod common;

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::io::Read as _;
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::symlink;
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::fs::{Mode, OFlags, RenameFlags, renameat_with};

    use super::common::{self, FLOOR, Way};

    /// What an attacker does in a loop, and the path that the victim opens.
    struct Attack {
        name: &'static str,
        path: &'static str,
        tries: u32,
        step: Box<dyn Fn() + Sync>,
    }

    fn handle(directory: &Path) -> OwnedFd {
        rustix::fs::open(directory, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap()
    }

    fn exchange(directory: &OwnedFd, one: &str, two: &str) {
        let _swapped = renameat_with(directory, one, directory, two, RenameFlags::EXCHANGE).is_ok();
    }

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn swap(
        name: &'static str,
        path: &'static str,
        tries: u32,
        at: &Path,
        names: [&'static str; 2],
    ) -> Attack {
        let directory = handle(at);
        Attack { name, path, tries, step: Box::new(move || exchange(&directory, names[0], names[1])) }
    }

    fn attacks(home: &Path) -> Vec<Attack> {
        let tries = if common::flag("--long") { 1_000_000 } else { 50_000 };
        let (jail, outside) = (home.join("jail"), home.join("outside"));
        for path in ["mid/b/f", "rel/b/f", "1/2/3/4/5/6/f", "final/f", "moved/b/f"] {
            write(&jail.join(path), "inside");
        }
        for path in ["f", "b/f", "5/6/f"] {
            write(&outside.join(path), "outside");
        }
        write(&home.join("parked/f"), "outside");
        symlink(&outside, jail.join("mid.link")).unwrap();
        symlink("../outside", jail.join("rel.link")).unwrap();
        symlink(&outside, jail.join("1/2/3/4.link")).unwrap();
        symlink("../../outside/f", jail.join("final/f.link")).unwrap();
        let (moved, parked, there) =
            (jail.join("moved"), home.join("parked/moved"), handle(&home.join("parked")));
        let moveout = move || {
            drop(fs::rename(&moved, &parked));
            exchange(&there, "moved/b/f", "f");
            exchange(&there, "moved/b/f", "f");
            drop(fs::rename(&parked, &moved));
        };
        vec![
            swap("mid", "mid/b/f", tries, &jail, ["mid", "mid.link"]),
            swap("rel", "rel/b/f", tries, &jail, ["rel", "rel.link"]),
            swap("deep", "1/2/3/4/5/6/f", tries, &jail.join("1/2/3"), ["4", "4.link"]),
            swap("final", "final/f", tries, &jail.join("final"), ["f", "f.link"]),
            Attack { name: "moveout", path: "moved/b/f", tries: tries * 3, step: Box::new(moveout) },
        ]
    }

    /// Counts what was opened inside and outside while the attack runs.
    fn run(way: &Way, attack: &Attack) -> (u32, u32) {
        let (stop, started) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    (attack.step)();
                    started.store(true, Ordering::Relaxed);
                }
            });
            while !started.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            let (mut inside, mut escapes) = (0, 0);
            for _ in 0..attack.tries {
                let mut text = String::new();
                if let Some(mut file) = (way.open)(attack.path) {
                    file.read_to_string(&mut text).unwrap();
                }
                match text.as_str() {
                    "inside" => inside += 1,
                    "outside" => escapes += 1,
                    _ => {}
                }
            }
            stop.store(true, Ordering::Relaxed);
            (inside, escapes)
        })
    }

    pub(super) fn main() {
        let home = tempfile::tempdir().unwrap();
        let attacks = attacks(home.path());
        let ways = common::ways(&home.path().join("jail"));
        println!("opens that gave the outside file, of so many that gave a file");
        print!("{:<32}", "");
        for attack in &attacks {
            print!("{:>20}", format!("{} {}", attack.name, attack.tries));
        }
        println!();
        let mut failed = false;
        for way in ways.iter().filter(|way| way.name != FLOOR) {
            print!("{:<32}", way.name);
            for attack in &attacks {
                let (inside, escapes) = run(way, attack);
                print!("{:>20}", format!("{escapes} of {}", inside + escapes));
                // The walk may miss as many as its documentation states.
                let allowed = if way.name == common::WALK && attack.name == "moveout" {
                    attack.tries / 300_000 + 1
                } else {
                    0
                };
                failed |= way.name.starts_with("ours") && (escapes > allowed || inside == 0);
                failed |= way.name == common::SEED && attack.name == "mid" && escapes == 0;
            }
            println!();
        }
        if common::flag("--gate") && failed {
            println!("a target was missed");
            std::process::exit(1);
        }
    }
}
