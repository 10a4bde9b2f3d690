//! Any bytes under any name: a report whose places lie in the file, twice the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plugward_scanner::{Content, Entry, Profile, RoleHint, Rules, ScanOptions, scan};
use plugward_types::Digest;

const NAMES: [&str; 10] =
    ["a.js", "a.ts", "a.tsx", "a.py", "a.sh", "build.rs", "a.json", "SKILL.md", "a.html", "a.bin"];

fuzz_target!(|data: &[u8]| {
    let Some((first, bytes)) = data.split_first() else { return };
    let path = NAMES[usize::from(*first) % NAMES.len()];
    let content = Content::Bytes { bytes, digest: Digest::from_bytes([0; 32]) };
    let entries = [Entry { path, content, role: RoleHint::NONE }];
    for profile in Profile::ALL {
        let options = ScanOptions::new(profile);
        let report = scan(Rules::builtin(), &options, &entries).expect("one small file is within every limit");
        assert_eq!(report, scan(Rules::builtin(), &options, &entries).expect("the same file again"));
        for finding in report.findings() {
            assert!(finding.span.start <= finding.span.end && finding.span.end <= bytes.len());
            assert!(finding.line > 0 && finding.column > 0);
        }
    }
});
