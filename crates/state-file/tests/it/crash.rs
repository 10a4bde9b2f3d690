//! A writer is killed at any moment.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use plugward_state_file::Recovered;

use crate::child::command;
use crate::support::{file_in, number_of, put, record};

const KILLS: u64 = if cfg!(feature = "_test-race") { 500 } else { 60 };

#[test]
fn killed_at_random_moments() {
    let home = tempfile::tempdir().unwrap();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let (mut in_between, mut from_copy) = (0, 0);
    for _ in 0..KILLS {
        let mut child = command(&[], "write", home.path()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (want, spins) = (1 + (seed >> 60), (seed >> 40) & 0xffff);
        let mut said = 0;
        for line in lines.by_ref() {
            // The test harness prints lines of its own.
            if let Some(number) = line.unwrap().rsplit("child: ").next().and_then(|text| text.parse().ok()) {
                said = number;
                if said % 16 >= want % 16 || want == 1 {
                    break;
                }
            }
        }
        (0..spins).for_each(|spin| {
            std::hint::black_box(spin);
        });
        child.kill().unwrap();
        child.wait().unwrap();
        for line in lines {
            if let Some(number) = line.unwrap().rsplit("child: ").next().and_then(|text| text.parse().ok()) {
                said = number;
            }
        }
        let found = file_in(home.path()).recover(&|bytes| number_of(bytes).is_some()).unwrap();
        let content = match found {
            Recovered::Main(content) => content,
            Recovered::Backup { content, .. } => {
                from_copy += 1;
                content
            }
            Recovered::Absent => panic!("both copies are gone after {said}"),
        };
        let there = number_of(content.bytes()).unwrap();
        assert!(there == said || there == said + 1, "said {said}, found {there}");
        in_between += u64::from(there == said + 1);
        // Whatever was left over is no obstacle.
        put(home.path(), &record(there)).unwrap();
    }
    println!(
        "{KILLS} kills: {in_between} after the rename and before the answer, {from_copy} from the last good copy"
    );
}
