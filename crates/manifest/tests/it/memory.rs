//! Measures the peak memory of parsing a hostile file of 1 MiB. The test starts itself as a child process and asks the
//! kernel.

use std::process::Command;

use plugward_manifest::json::{ParseLimits, parse};
use plugward_manifest::{Dialect, FileMode, MapFiles, PluginContext, read};

const NAME: &str = "PLUGWARD_TEST_HOSTILE";
const BYTES: &str = "peak bytes: ";
/// The limit for the JSON parser.
const PARSED_MOST: u64 = 40 << 20;
/// The limit including the parsed manifest, in which each string of a list is allocated on its own.
const READ_MOST: u64 = 64 << 20;

/// Files of 1 MiB, each the worst of its kind.
fn hostile(name: &str) -> Option<String> {
    let size = ParseLimits::standard().bytes();
    let keys = |count: usize, key: &dyn Fn(usize) -> String| {
        let keys = (0..count).map(|index| format!("\"{}\":0,", key(index))).collect::<Vec<_>>().concat();
        format!("{{{keys}\"z\":0}}")
    };
    let text = match name {
        "nested" => "[".repeat(size),
        "repeated" => keys(170_000, &|_| "a".to_owned()),
        "different" => keys(80_000, &|index| format!("k{index}")),
        "alike" => keys(54_000, &|index| format!("prefixes{index:06}")),
        "case" => keys(60_000, &|index| {
            if index % 2 == 0 { format!("k{}", index / 2) } else { format!("K{}", index / 2) }
        }),
        "values" => format!("[{}0]", "0,".repeat(199_990)),
        "lists" => format!("[{}0]", "[0],".repeat(99_990)),
        "objects" => format!("[{}0]", "{\"\":0},".repeat(99_990)),
        "escaped" => format!("[{}0]", format!("\"{}\",", "\\u0041".repeat(40_000)).repeat(4)),
        "halves" => format!("[{}0]", "\"\\ud800\",".repeat(100_000)),
        "arguments" => {
            let words = "\"a b\",".repeat(150_000);
            format!(
                "{{\"name\":\"a\",\"mcpServers\":{{\"s\":{{\"command\":\"x\",\"args\":[{words}\"\"]}}}}}}"
            )
        }
        "servers" => {
            let one = |index: usize| format!("\"s{index}\":{{\"command\":\"npx\",\"args\":[\"x\"]}},");
            let all = (0..9_900).map(one).collect::<Vec<_>>().concat();
            format!("{{\"name\":\"a\",\"mcpServers\":{{{all}\"z\":{{\"command\":\"x\"}}}}}}")
        }
        "hooks" => {
            let one = "{\"hooks\":[{\"command\":\"a;b|c&d\"}]},".repeat(9_900);
            format!("{{\"name\":\"a\",\"hooks\":{{\"Stop\":[{one}{{\"hooks\":[]}}]}}}}")
        }
        _ => return None,
    };
    Some(text)
}

const PARSED: [&str; 10] =
    ["nested", "repeated", "different", "alike", "case", "values", "lists", "objects", "escaped", "halves"];
/// The files that reach the adapter of a dialect.
const READ: [&str; 3] = ["arguments", "servers", "hooks"];

fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// Parses the file in the environment variable and prints the peak memory. Does nothing without the variable.
#[test]
fn child() {
    let Ok(name) = std::env::var(NAME) else {
        println!("skipped: started by the test beside it");
        return;
    };
    let text = hostile(&name).unwrap();
    assert!(text.len() <= ParseLimits::standard().bytes(), "{} bytes", text.len());
    // Memory that any first use of the parser needs is not counted.
    assert!(parse(b"{\"a\":[1,\"\\u0041\"]}", &ParseLimits::standard()).is_ok());
    let mut files = MapFiles::new();
    files.insert(".claude-plugin/plugin.json", text.into_bytes(), FileMode::Plain);
    let before = peak();
    let answer = if PARSED.contains(&name.as_str()) {
        let view = plugward_manifest::Files::get(&files, ".claude-plugin/plugin.json").unwrap();
        match parse(view.bytes, &ParseLimits::standard()) {
            Ok(_) => "read".to_owned(),
            Err(errors) => errors.iter().next().unwrap().code().to_owned(),
        }
    } else {
        match read(Dialect::Claude, &files, &PluginContext::for_directory("a")) {
            Ok(manifest) => format!("read, {} items", manifest.surface().len()),
            Err(errors) => errors.first().code().to_owned(),
        }
    };
    println!("{BYTES}{} {name} {answer}", peak() - before);
}

#[test]
fn a_hostile_file_takes_little_memory() {
    if !std::fs::exists("/proc/self/status").unwrap() {
        println!("skipped: no /proc here");
        return;
    }
    for name in PARSED.into_iter().chain(READ) {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "memory::child", "--nocapture", "--test-threads=1"])
            .env(NAME, name)
            .output()
            .unwrap();
        let out = String::from_utf8_lossy(&child.stdout);
        let line = out.lines().find_map(|line| line.split_once(BYTES)).unwrap_or_else(|| panic!("{out}")).1;
        let bytes: u64 = line.split_once(' ').unwrap().0.parse().unwrap();
        println!("{line}");
        assert!(bytes <= if READ.contains(&name) { READ_MOST } else { PARSED_MOST }, "{line}");
    }
}
