//! Records of earlier scans change no report, and damaged records hide no finding.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use plugward_scanner::{
    Content, Entry, FileKind, Lens, MatchCache, Profile, RoleHint, RuleFile, Rules, ScanOptions, scan,
};
use plugward_types::Digest;

use crate::cases::cases;
use crate::common::digest;

#[derive(Default)]
struct Kept {
    records: Mutex<BTreeMap<Digest, Vec<u8>>>,
    hits: AtomicUsize,
    puts: AtomicUsize,
}

impl Kept {
    fn of(records: BTreeMap<Digest, Vec<u8>>) -> Self {
        Self { records: Mutex::new(records), ..Self::default() }
    }
}

impl MatchCache for Kept {
    fn get(&self, key: &Digest) -> Option<Vec<u8>> {
        let found = self.records.lock().unwrap().get(key).cloned();
        self.hits.fetch_add(usize::from(found.is_some()), Ordering::Relaxed);
        found
    }

    fn put(&self, key: &Digest, record: &[u8]) {
        self.puts.fetch_add(1, Ordering::Relaxed);
        self.records.lock().unwrap().insert(*key, record.to_vec());
    }
}

fn entry<'a>(path: &'a str, bytes: &'a [u8], role: RoleHint) -> Entry<'a> {
    Entry { path, content: Content::Bytes { bytes, digest: digest(bytes) }, role }
}

#[test]
fn cold_and_warm_are_the_same_for_every_case_of_every_rule() {
    for case in cases() {
        let files: Vec<(&str, &[u8])> =
            case.files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
        let entries: Vec<Entry<'_>> =
            files.iter().map(|(path, bytes)| entry(path, bytes, case.role())).collect();
        let kept = Kept::default();
        for (profile, warm) in Profile::ALL.into_iter().zip([0, 1]) {
            let mut options = ScanOptions::new(profile);
            let plain = scan(Rules::builtin(), &options, &entries).unwrap();
            options.cache = Some(&kept);
            let what = format!("{} {}", case.rule, case.number);
            // The second profile is served by the records of the first.
            let puts = kept.puts.load(Ordering::Relaxed);
            assert_eq!(plain, scan(Rules::builtin(), &options, &entries).unwrap(), "{what}");
            assert_eq!(kept.puts.load(Ordering::Relaxed) == puts, warm == 1, "{what}");
            assert_eq!(plain, scan(Rules::builtin(), &options, &entries).unwrap(), "{what}");
        }
        assert!(kept.hits.load(Ordering::Relaxed) >= 3 * entries.len(), "{}", case.rule);
    }
}

const FILES: [(&str, &[u8]); 5] = [
    ("a.js", b"eval('x'); fetch(u)"),
    ("b/c.ts", b"import '../../d.js'"),
    ("d.so", b"\x7fELF\x02\x01\x01\0\0\0"),
    ("e.md", b"p\xd0\xb0ssword"),
    ("f.ts", b"\xff\xfee\0v\0a\0l\0(\0x\0)\0"),
];

fn files() -> Vec<Entry<'static>> {
    FILES.iter().map(|(path, bytes)| entry(path, bytes, RoleHint::NONE)).collect()
}

#[test]
fn a_record_that_is_damaged_cut_or_of_another_file_hides_nothing() {
    let entries = files();
    let mut options = ScanOptions::new(Profile::General);
    let plain = scan(Rules::builtin(), &options, &entries).unwrap();
    let good = Kept::default();
    options.cache = Some(&good);
    assert_eq!(plain, scan(Rules::builtin(), &options, &entries).unwrap());
    let good = good.records.into_inner().unwrap();
    // One of them has the roles of all files.
    assert_eq!(good.len(), entries.len() + 1);
    let with = |records: BTreeMap<Digest, Vec<u8>>, what: &str| {
        let kept = Kept::of(records);
        let mut options = ScanOptions::new(Profile::General);
        options.cache = Some(&kept);
        assert_eq!(plain, scan(Rules::builtin(), &options, &entries).unwrap(), "{what}");
        // No record was accepted: each file was scanned and stored again.
        assert_eq!(kept.puts.load(Ordering::Relaxed), good.len(), "{what}");
        assert_eq!(*kept.records.lock().unwrap(), good, "{what}");
    };
    let longest = good.values().map(Vec::len).max().unwrap();
    for at in 0..longest {
        let flipped = |record: &Vec<u8>| {
            let mut record = record.clone();
            let at = at % record.len();
            record[at] ^= 1 << (at % 8);
            record
        };
        with(good.iter().map(|(key, record)| (*key, flipped(record))).collect(), &format!("byte {at}"));
        let cut = |record: &Vec<u8>| record[..at % record.len()].to_vec();
        with(good.iter().map(|(key, record)| (*key, cut(record))).collect(), &format!("cut at {at}"));
    }
    let longer = |record: &Vec<u8>| [record.as_slice(), &[0]].concat();
    with(good.iter().map(|(key, record)| (*key, longer(record))).collect(), "longer");
    with(good.keys().map(|key| (*key, Vec::new())).collect(), "empty");
    // Whole records, each under the key of another file: among them those of files without a finding.
    let turned: Vec<&Vec<u8>> = good.values().cycle().skip(1).take(good.len()).collect();
    with(good.keys().copied().zip(turned.into_iter().cloned()).collect(), "of another file");
}

#[test]
fn a_record_serves_what_it_was_made_of_and_nothing_else() {
    let kept = Kept::default();
    let fresh = |rules: &Rules, options: &ScanOptions<'_>, entry: Entry<'_>| {
        let before = kept.puts.load(Ordering::Relaxed);
        drop(scan(rules, options, &[entry]).unwrap());
        kept.puts.load(Ordering::Relaxed) - before
    };
    let mut options = ScanOptions::new(Profile::General);
    options.cache = Some(&kept);
    let bytes: &[u8] = b"import 'left-pad'; eval(x)";
    let first = entry("a/b.js", bytes, RoleHint::NONE);
    let builtin = Rules::builtin();
    assert_eq!((fresh(builtin, &options, first), fresh(builtin, &options, first)), (2, 0));
    let others = [
        entry("a/b.js", b"import 'left-pad'; eval(y)", RoleHint::NONE),
        entry("b.js", bytes, RoleHint::NONE),
        entry("a/b.md", bytes, RoleHint::NONE),
        entry("a/b.js", bytes, RoleHint::role(FileKind::Prompt)),
        entry("a/b.js", bytes, RoleHint::lens(Lens::Py)),
    ];
    for other in others {
        assert_eq!((fresh(builtin, &options, other), fresh(builtin, &options, other)), (2, 0), "{other:?}");
    }
    // The roles do not depend on rules, packages and limits, unless these change what a file names.
    let packages = ["left-pad".to_owned()];
    let (mut allowed, mut short, mut spent) = (options, options, options);
    allowed.packages = &packages;
    short.limits.file = 8;
    // The plugin's limit of lexed bytes is met before the file.
    spent.limits.lexed = 1;
    for other in [allowed, short, spent] {
        assert_eq!((fresh(builtin, &other, first), fresh(builtin, &other, first)), (1, 0), "{other:?}");
    }
    let more = Rules::with(&[RuleFile { name: "own.toml", text: crate::invariant::RULE }]).unwrap();
    assert_eq!((fresh(&more, &options, first), fresh(&more, &options, first)), (1, 0));
    // The profile weighs what was found, and another number of threads finds the same.
    options.profile = Profile::StrictPlugin;
    options.jobs = std::num::NonZeroUsize::new(4).unwrap();
    assert_eq!(fresh(builtin, &options, first), 0);
}
