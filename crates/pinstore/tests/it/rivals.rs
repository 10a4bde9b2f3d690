//! Many processes at once, and one that is killed.

use core::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use plugward_pinstore::{ChangeOutcome, PinCheck, Pins, StoreCheck};

use crate::support::{Home, SAME, check, enroll, facts, now};

const TASK: &str = "PLUGWARD_TEST_TASK";
const PLACE: &str = "PLUGWARD_TEST_PLACE";
const LONG: Duration = Duration::from_secs(3600);
const LONG_SETTING: bool = cfg!(feature = "_test-race");
const WRITERS: u64 = if LONG_SETTING { 64 } else { 16 };
const EACH: u64 = if LONG_SETTING { 50 } else { 10 };
const KILLS: u64 = 200;

fn child(task: &str, place: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "rivals::child_run", "--nocapture", "--test-threads=1"])
        .env(TASK, task)
        .env(PLACE, place)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Not a test of its own: does what the parent asks for, and nothing without one.
#[test]
fn child_run() {
    let (Ok(task), Ok(place)) = (std::env::var(TASK), std::env::var(PLACE)) else { return };
    let dir = Dir::open_ambient_dir(place, ambient_authority()).unwrap();
    match task.split_once(' ').unwrap() {
        ("enroll", number) => enroll_many(&dir, number.parse().unwrap()),
        ("race", number) => enroll_one(&dir, number.parse().unwrap()),
        ("old", number) => old_program(&dir, number.parse().unwrap()),
        ("for-ever", first) => enroll_for_ever(&dir, first.parse().unwrap()),
        other => panic!("no such task: {other:?}"),
    }
}

fn open(dir: &Dir) -> Pins {
    let owner = plugward_state_file::Owner::uid(cap_std::fs::MetadataExt::uid(&dir.dir_metadata().unwrap()));
    Pins::open(&Pins::file(dir, owner).unwrap()).unwrap().0.with_wait(LONG)
}

fn plugin(number: u64) -> String {
    format!("claude:p{number}@team")
}

fn enroll_many(dir: &Dir, writer: u64) {
    let mut pins = open(dir);
    for number in (0..EACH).map(|step| writer * EACH + step) {
        let done = pins.commit(vec![enroll(&plugin(number), &facts(number))], now()).unwrap();
        assert_eq!(done.outcomes, [ChangeOutcome::Done]);
    }
}

fn enroll_one(dir: &Dir, number: u64) {
    let done = open(dir).commit(vec![enroll("path:/plugins/same", &facts(number))], now()).unwrap();
    let won = match &done.outcomes[..] {
        [ChangeOutcome::Done] => "won",
        [ChangeOutcome::Conflict(PinCheck::Changed(_))] => "lost",
        other => panic!("{other:?}"),
    };
    println!("race: {won}");
}

fn enroll_for_ever(dir: &Dir, first: u64) {
    let mut pins = open(dir);
    for number in first.. {
        let done = pins.commit(vec![enroll(&plugin(number), &facts(number))], now()).unwrap();
        assert_eq!(done.outcomes, [ChangeOutcome::Done]);
        let mut out = std::io::stdout().lock();
        writeln!(out, "pin: {number}").unwrap();
        out.flush().unwrap();
    }
}

/// Reads, changes, writes a file beside, renames: no hold, no sync, as the first implementation of ADR-003 does.
fn old_program(dir: &Dir, writer: u64) {
    for number in (0..EACH).map(|step| writer * EACH + step) {
        let mut text = dir.read_to_string("old.toml").unwrap();
        writeln!(text, "p{number} = \"{}\"", crate::support::digest(number).hex()).unwrap();
        let temp = format!("old.{writer}.tmp");
        dir.write(&temp, text).unwrap();
        dir.rename(&temp, dir, "old.toml").unwrap();
    }
}

fn all_good(children: Vec<Child>) -> Vec<String> {
    children
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(output.status.success(), "{text}");
            text
        })
        .collect()
}

#[test]
fn no_enrollment_is_lost_where_an_old_program_loses_some() {
    let home = Home::new();
    home.write("old.toml", "[pins]\n");
    let start = |task: &str| -> Vec<Child> {
        (0..WRITERS).map(|writer| child(&format!("{task} {writer}"), home.directory.path())).collect()
    };
    let (ours, theirs) = (start("enroll"), start("old"));
    all_good(ours);
    all_good(theirs);
    let (pins, found) = home.open();
    assert!(matches!(found, StoreCheck::Ready) && pins.notices().is_empty());
    for number in 0..WRITERS * EACH {
        assert_eq!(check(&pins, &plugin(number), &facts(number)), SAME, "{number}");
    }
    assert_eq!((pins.iter().count() as u64, pins.serial()), (WRITERS * EACH, WRITERS * EACH));
    let kept = home.read("old.toml").lines().filter(|line| line.starts_with('p')).count() as u64;
    println!(
        "{WRITERS} writers, {EACH} each: we lost 0, the old program {} of {}",
        WRITERS * EACH - kept,
        WRITERS * EACH
    );
    assert!(kept < WRITERS * EACH, "the rival lost nothing: this test would not see it either");
}

#[test]
fn of_two_first_sights_one_wins_and_the_others_see_a_change() {
    let home = Home::new();
    let children = (0..8).map(|number| child(&format!("race {number}"), home.directory.path())).collect();
    let said = all_good(children).concat();
    assert_eq!((said.matches("race: won").count(), said.matches("race: lost").count()), (1, 7), "{said}");
    assert_eq!(home.open().0.serial(), 1);
}

#[test]
fn killed_at_random_moments_the_store_opens_with_the_old_or_the_new_state() {
    let home = Home::new();
    let (mut seed, mut next, mut in_between) = (0x9e37_79b9_7f4a_7c15_u64, 0, 0);
    for _ in 0..KILLS {
        let mut writer = child(&format!("for-ever {next}"), home.directory.path());
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines().map(Result::unwrap);
        let number = |line: &str| line.rsplit("pin: ").next().and_then(|text| text.parse::<u64>().ok());
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let first = lines.by_ref().find_map(|line| number(&line)).unwrap();
        // From "at once" to about the length of a commit.
        (0..(seed >> 44)).for_each(|spin| {
            std::hint::black_box(spin);
        });
        writer.kill().unwrap();
        writer.wait().unwrap();
        let said = lines.filter_map(|line| number(&line)).last().unwrap_or(first);
        let (pins, found) = home.open();
        assert!(matches!(found, StoreCheck::Ready | StoreCheck::Recovered { .. }));
        let there = pins.iter().count() as u64;
        assert!(there == said + 1 || there == said + 2, "said {said}, {there} are there");
        assert!(there == pins.serial() && pins.notices().is_empty());
        in_between += u64::from(there == said + 2);
        for number in 0..there {
            assert_eq!(check(&pins, &plugin(number), &facts(number)), SAME);
        }
        next = there;
        if next > 60 {
            // Smaller files are killed in other places.
            let _all = Pins::start_over(&home.file(), Vec::new(), now(), LONG).unwrap();
            for name in home.names() {
                home.dir().remove_file(name).unwrap();
            }
            next = 0;
        }
    }
    println!("{KILLS} kills: {in_between} after the rename and before the answer");
}
