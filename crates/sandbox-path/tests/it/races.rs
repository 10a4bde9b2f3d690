//! An attacker that renames in a loop, in a thread of its own, on the same file system.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use plugward_sandbox_path::{
    Jail, MissingFile, OpenError, Perm, Policy, RaceCause, RenameMode, SandboxedFile, SandboxedPath,
    WalkEntry, WalkLimits,
};
use rustix::fs::{Mode, OFlags, RenameFlags, renameat_with};

use crate::world::{OUTSIDE, World};

/// How often each call is tried under each attack.
const TRIES: u32 = if cfg!(feature = "_test-race") { 1_000_000 } else { 20_000 };
/// How often a call that creates is tried; where it is a million, the directory for temporary files should be a tmpfs.
const CREATES: u32 = if cfg!(feature = "_test-race") { 1_000_000 } else { 4_000 };
/// How often a call that lists, renames or removes is tried.
const CHANGES: u32 = if cfg!(feature = "_test-race") { 60_000 } else { 4_000 };
/// How often a peer is tried at least.
const LEAST: u32 = if cfg!(feature = "_test-race") { TRIES } else { 1 };
/// Within how many tries the peers must have lost at least once.
const PEERS: u32 = 200_000;

/// Two names that the attacker swaps.
struct Swap {
    directory: OwnedFd,
    one: &'static str,
    two: &'static str,
}

impl Swap {
    fn new(directory: &Path, one: &'static str, two: &'static str) -> Self {
        let directory = rustix::fs::open(directory, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
        Self { directory, one, two }
    }

    fn run(&self) {
        exchange((&self.directory, self.one), (&self.directory, self.two));
    }
}

/// Swaps two names; it fails where the victim removed one of them for a moment.
fn exchange(one: (&OwnedFd, &str), two: (&OwnedFd, &str)) {
    let _swapped = renameat_with(one.0, one.1, two.0, two.1, RenameFlags::EXCHANGE).is_ok();
}

/// Runs `victim` while another thread repeats `attack`.
fn under<T>(attack: impl Fn() + Sync, victim: impl FnOnce() -> T) -> T {
    let (stop, started) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                attack();
                started.store(true, Ordering::Relaxed);
            }
        });
        while !started.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        // A victim that panics must not leave the attacker running.
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(victim));
        stop.store(true, Ordering::Relaxed);
        outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// What came of many tries.
#[derive(Default)]
struct Tally {
    inside: u32,
    escapes: u32,
    causes: BTreeMap<String, u32>,
}

impl Tally {
    fn content(&mut self, text: &str) {
        if text == OUTSIDE { self.escapes += 1 } else { self.inside += 1 }
    }

    fn file(&mut self, mut file: SandboxedFile) {
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        self.content(&text);
    }

    fn error(&mut self, error: &OpenError) {
        let cause = match error.race().map(plugward_sandbox_path::FilesystemRaceDetected::cause) {
            None => error.code().to_owned(),
            Some(RaceCause::Replaced { .. }) => "Replaced".to_owned(),
            Some(cause) => format!("{cause:?}"),
        };
        *self.causes.entry(cause).or_default() += 1;
    }

    /// Prints the counts, and holds them to what the attack may cause.
    fn show(&self, what: &str, tries: u32, allowed: &[&str], escapes: u32) {
        let Self { inside, escapes: out, causes } = self;
        println!("{what}: {tries} tries, {inside} inside, {out} escapes, {causes:?}");
        assert!(*inside > 0, "{what}: the attacker left nothing to open");
        assert!(*out <= escapes, "{what}: {out} escapes");
        for cause in causes.keys() {
            assert!(allowed.contains(&cause.as_str()), "{what}: {cause} is no name for this attack");
        }
    }
}

fn tiers(world: &World, policy: Policy) -> [(&'static str, Jail); 2] {
    let [kernel, walk] = world.jails(policy).try_into().unwrap();
    [("kernel", kernel), ("walk", walk)]
}

/// Opens a path in one call, and by `create` and `open`, on both tiers.
fn both_ways(
    attack: &str,
    (world, swap, path): (&World, &(dyn Fn() + Sync), &str),
    (one_shot, pinned): (&[&str], &[&str]),
) {
    for (tier, jail) in tiers(world, Policy::standard()) {
        let (tally, tries) = under(swap, || {
            repeat(TRIES, one_shot, |tally, _| match jail.open_read(path) {
                Ok(file) => tally.file(file),
                Err(error) => tally.error(&error),
            })
        });
        let missed = if attack == "moveout" && tier == "walk" { tries / 300_000 + 1 } else { 0 };
        tally.show(&format!("{attack} {tier} open_read"), tries, one_shot, missed);
        let (tally, tries) = under(swap, || {
            repeat(TRIES, pinned, |tally, _| match SandboxedPath::create(&jail, path) {
                Ok(seen) => match seen.open() {
                    Ok(file) => tally.file(file),
                    Err(error) => tally.error(&error),
                },
                Err(error) => *tally.causes.entry(error.code().to_owned()).or_default() += 1,
            })
        });
        tally.show(&format!("{attack} {tier} create + open"), tries, pinned, 0);
    }
}

/// Tries a call `tries` times, and on until it has met both sides of the attack.
fn repeat(tries: u32, causes: &[&str], mut call: impl FnMut(&mut Tally, u32)) -> (Tally, u32) {
    let (mut tally, mut done) = (Tally::default(), 0);
    let one_sided = |tally: &Tally| tally.inside == 0 || (tally.causes.is_empty() && !causes.is_empty());
    while done < tries || (one_sided(&tally) && done < tries.saturating_mul(100)) {
        call(&mut tally, done);
        done += 1;
    }
    (tally, done)
}

const LINK: &[&str] = &["path/symlink"];
const LINK_SINCE: &[&str] = &["path/symlink", "SymlinkAppeared"];

/// Makes `a/b/f` inside and outside, and a link `a.link` that leads outside.
fn swapped(target: impl Fn(&World) -> PathBuf) -> (World, Swap) {
    let world = World::new();
    world.file("a/b/f", "in").link(target(&world), "a.link");
    fs::create_dir(world.at("../outside/b")).unwrap();
    fs::write(world.at("../outside/b/f"), OUTSIDE).unwrap();
    let swap = Swap::new(&world.at(""), "a", "a.link");
    (world, swap)
}

/// Opens as the first design did: resolve, compare, open without following the last component.
fn resolve_compare_open(jail: &Path, path: &str) -> Option<String> {
    let jail = fs::canonicalize(jail).ok()?;
    let resolved = fs::canonicalize(jail.join(path)).ok().filter(|resolved| resolved.starts_with(&jail))?;
    let no_follow = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap();
    let mut file = fs::OpenOptions::new().read(true).custom_flags(no_follow).open(resolved).ok()?;
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    Some(text)
}

/// Tries a peer at least so often, and until it has lost once.
fn loses(name: &str, least: u32, open: impl Fn() -> Option<String>) {
    if std::thread::available_parallelism().unwrap().get() == 1 {
        println!("{name}: skipped, one processor runs no race");
        return;
    }
    let (mut tries, mut escapes) = (0, 0);
    while (escapes == 0 && tries < PEERS) || tries < least {
        tries += 1;
        escapes += u32::from(open().as_deref() == Some(OUTSIDE));
    }
    println!("{name}: {tries} tries, {escapes} escapes");
    assert!(escapes > 0, "{name}: the attack does not work, so that our own count says nothing");
}

#[test]
fn mid() {
    let (world, swap) = swapped(|world| world.at("../outside"));
    both_ways("mid", (&world, &|| swap.run(), "a/b/f"), (LINK, LINK_SINCE));
    let jail = world.at("");
    under(
        || swap.run(),
        || {
            loses("mid, std open of the joined path", LEAST, || fs::read_to_string(jail.join("a/b/f")).ok());
            loses("mid, resolve + compare + O_NOFOLLOW", LEAST, || resolve_compare_open(&jail, "a/b/f"));
        },
    );
}

#[test]
fn rel() {
    let (world, swap) = swapped(|_| "../outside".into());
    both_ways("rel", (&world, &|| swap.run(), "a/b/f"), (LINK, LINK_SINCE));
}

#[test]
fn deep() {
    let world = World::new();
    world.file("1/2/3/4/5/6/f", "in").link(world.at("../outside"), "1/2/3/4.link");
    fs::create_dir_all(world.at("../outside/5/6")).unwrap();
    fs::write(world.at("../outside/5/6/f"), OUTSIDE).unwrap();
    let swap = Swap::new(&world.at("1/2/3"), "4", "4.link");
    both_ways("deep", (&world, &|| swap.run(), "1/2/3/4/5/6/f"), (LINK, LINK_SINCE));
}

#[test]
fn last() {
    let world = World::new();
    world.file("a/f", "in").link("../../outside/f", "a/f.link");
    let swap = Swap::new(&world.at("a"), "f", "f.link");
    both_ways("final", (&world, &|| swap.run(), "a/f"), (LINK, LINK_SINCE));
}

#[test]
fn moveout() {
    let world = World::new();
    world.file("a/b/f", "in").directory("../parked");
    fs::write(world.at("../parked/f"), OUTSIDE).unwrap();
    let (inside, parked) = (world.at("a"), world.at("../parked/a"));
    let attack = || {
        // Out of the jail, another file in, the first file back, into the jail.
        drop(fs::rename(&inside, &parked));
        let swap = |directory: &Path| {
            let there = rustix::fs::open(directory, OFlags::PATH, Mode::empty()).unwrap();
            exchange((&there, "a/b/f"), (&there, "f"));
        };
        let directory = parked.parent().unwrap();
        swap(directory);
        swap(directory);
        drop(fs::rename(&parked, &inside));
    };
    both_ways(
        "moveout",
        (&world, &attack, "a/b/f"),
        // `ReplaceOutcome`: the walk reached the outside file, and its identity was another's.
        (
            &["path/not-found", "path/outside"],
            &["path/not-found", "path/outside", "Vanished", "LeftJail", "Replaced"],
        ),
    );
}

#[test]
fn create() {
    let world = World::new();
    world.directory("a").link("../outside", "a.link");
    fs::remove_file(world.at("../outside/f")).unwrap();
    let swap = Swap::new(&world.at(""), "a", "a.link");
    let outside = || fs::read_dir(world.at("../outside")).unwrap().count();
    for (tier, jail) in tiers(&world, Policy::standard()) {
        let (tally, tries) = under(
            || swap.run(),
            || {
                repeat(CREATES, LINK, |tally, number| {
                    let name = format!("a/{tier}{number}");
                    let made = match number % 4 {
                        0 => jail.create_new(&name, Perm::PRIVATE_FILE).map(drop),
                        1 => jail.create_dir(&name, Perm::PRIVATE_DIRECTORY),
                        2 => jail.replace(&name, b"in", Perm::PRIVATE_FILE).map(|_| ()),
                        _ => jail.append(&name, MissingFile::Create(Perm::PRIVATE_FILE)).map(drop),
                    };
                    match made {
                        Ok(()) => tally.inside += 1,
                        Err(error) => tally.error(&error),
                    }
                })
            },
        );
        assert_eq!(outside(), 0, "something was made outside on tier {tier}");
        tally.show(&format!("create {tier}"), tries, LINK, 0);
    }
    let jail = world.at("");
    let number = std::sync::atomic::AtomicU32::new(0);
    under(
        || swap.run(),
        || {
            loses("create, std create of the joined path", 1, || {
                let name = format!("a/std{}", number.fetch_add(1, Ordering::Relaxed));
                let before = outside();
                fs::File::create_new(jail.join(name)).ok()?;
                (outside() > before).then(|| OUTSIDE.to_owned())
            });
        },
    );
}

#[test]
fn fifo() {
    let world = World::new();
    world.file("f", "in");
    rustix::fs::mkfifoat(rustix::fs::CWD, world.at("pipe"), Mode::RWXU).unwrap();
    let swap = Swap::new(&world.at(""), "f", "pipe");
    let allowed = (&["path/not-regular"][..], &["path/not-regular", "KindChanged { is: Fifo }"][..]);
    both_ways("fifo", (&world, &|| swap.run(), "f"), allowed);
}

#[test]
fn replace() {
    let world = World::new();
    world.file("f", "in").file("g", "in too");
    let swap = Swap::new(&world.at(""), "f", "g");
    both_ways("replace", (&world, &|| swap.run(), "f"), (&[], &["Replaced"]));
    let jail = Jail::open(world.at(""), Policy::standard()).unwrap();
    let seen = SandboxedPath::create(&jail, "f").unwrap();
    under(|| swap.run(), || (0..1000).for_each(|_| drop(seen.open_current().unwrap())));
}

#[test]
fn list() {
    let world = World::new();
    world.file("t/a/inside", "in").link("../../outside", "t/a.link");
    let swap = Swap::new(&world.at("t"), "a", "a.link");
    let limits = WalkLimits { entries: 100, depth: 9 };
    for (tier, jail) in tiers(&world, Policy::standard()) {
        let (tally, tries) = under(
            || swap.run(),
            || {
                repeat(CHANGES, LINK, |tally, _| {
                    match jail.list("t/a", 9) {
                        Ok(list) => {
                            let inside = list.entries().iter().all(|entry| entry.name() == b"inside");
                            tally.content(if inside { "in" } else { OUTSIDE });
                        }
                        Err(error) => tally.error(&error),
                    }
                    for item in jail.walk("t", limits).unwrap() {
                        let outside = |entry: &WalkEntry| entry.path().as_bytes().ends_with(b"/f");
                        match item {
                            Ok(entry) => tally.content(if outside(&entry) { OUTSIDE } else { "in" }),
                            Err(error) => tally.error(&error),
                        }
                    }
                })
            },
        );
        tally.show(&format!("list and walk {tier}"), tries, LINK, 0);
    }
}

#[test]
fn remove() {
    let world = World::new();
    world.link("../outside", "link");
    for number in 0..20 {
        fs::write(world.at(&format!("../outside/{number}")), OUTSIDE).unwrap();
    }
    world.directory("t");
    let home = rustix::fs::open(world.at(""), OFlags::PATH, Mode::empty()).unwrap();
    let attack = || exchange((&home, "t/a"), (&home, "link"));
    let limits = WalkLimits { entries: 10_000, depth: 9 };
    for (tier, jail) in tiers(&world, Policy::standard()) {
        let mut tally = Tally::default();
        let rounds = CHANGES / 4;
        under(attack, || {
            for _ in 0..rounds {
                for name in ["t/a/b", "t/c"] {
                    // The attacker may have put its link there.
                    drop(fs::create_dir_all(world.at(name)));
                }
                drop(fs::write(world.at("t/a/b/x"), "in"));
                if !world.at("link").symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
                    drop(fs::remove_dir_all(world.at("link")));
                    drop(symlink("../outside", world.at("link")));
                }
                match jail.remove_tree("t", limits) {
                    Ok(_) => tally.inside += 1,
                    Err(error) => tally.error(&error),
                }
            }
        });
        // The test's own `create_dir_all` goes through the link when it is there: only what was there counts.
        let left = (0..20).filter(|number| world.at(&format!("../outside/{number}")).exists()).count();
        assert_eq!(left, 20, "outside entries were removed on tier {tier}");
        tally.show(&format!("remove {tier}"), rounds, &["path/not-empty", "path/contended"], 0);
    }
}

#[test]
fn rename() {
    let world = World::new();
    world.file("a/x", "in").link("../outside", "a.link");
    fs::write(world.at("../outside/x"), OUTSIDE).unwrap();
    let swap = Swap::new(&world.at(""), "a", "a.link");
    for (tier, jail) in tiers(&world, Policy::standard()) {
        let (tally, tries) = under(
            || swap.run(),
            || {
                repeat(CHANGES, LINK, |tally, number| {
                    let (from, to) = if number % 2 == 0 { ("a/x", "a/y") } else { ("a/y", "a/x") };
                    match jail.rename(from, to, RenameMode::Replace) {
                        Ok(()) => tally.inside += 1,
                        Err(error) => tally.error(&error),
                    }
                })
            },
        );
        let names: Vec<_> =
            fs::read_dir(world.at("../outside")).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert!(
            names.len() == 2 && fs::read_to_string(world.at("../outside/x")).unwrap() == OUTSIDE,
            "{names:?}"
        );
        // The source may be under its other name after a round that was refused.
        tally.show(&format!("rename {tier}"), tries, &["path/symlink", "path/not-found"], 0);
    }
}
